"""Write `docs/project/coverage.md` from what `make coverage` measured: a row for each room, and what is not reached."""

from __future__ import annotations

import json
import platform
import sys
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MEASURED = ROOT / "build" / "coverage" / "coverage.json"
PAGE = ROOT / "docs" / "project" / "coverage.md"
#: A module with less than this share reached, in percent, is named with its reason.
ENOUGH = 90
#: Why a module is below, for a reader; who adds one has looked at the lines.
REASONS: dict[str, str] = {
    **dict.fromkeys(("audits/children.py", "audits/steps.py"), "work of children that are forked and then killed"),
    **dict.fromkeys(
        ("audits/conduct.py", "audits/doors.py", "audits/functions.py"),
        "answers to plans that are broken: `make test-long` breaks them",
    ),
    "cli/auditing.py": "a bar of progress, which is drawn on terminals only",
    "cli/databases.py": "drivers that are missing or fail",
    "engines/answers.py": "errors of workers, in processes of an engine",
    **dict.fromkeys(("engines/spark_engine.py", "engines/spark_session.py"), "Spark needs Java: `make test-long`"),
    "methods/select.py": "what is only asked for before data: which candidate would do best",
    "plans/solving.py": "plans whose errors take long to forecast",
    "reading/ahead.py": "a machine without another thread, and a reader that is far behind",
    "spaces/hats.py": "what a basis of hats refuses",
    "spaces/stacked.py": "values of several curves between the points of their grid",
    **{f"studio/{name}.py": "screens: `make test-browser` and long tests walk through them" for name in (
        "accounts", "choosing", "kinds/base", "kinds/models", "kinds/points", "kinds/radii", "ledger_screen",
        "release_screen", "results_screen")},
}  # fmt: skip
UNKNOWN = "nobody has said why yet: a test is missing"
TEXT = """# Coverage

What the short tests (`make test`) reach of the package, in lines of code that can run. `make coverage` measures it, in
all processes that tests start, and writes this page. Reached does not mean proved: the promises and their tests are in
the [threat model](../explanations/threat-model.md).

Measured on {date} with dpfda {version}, coverage.py {tool}, Python {python}.

| room | modules | lines | not reached | reached |
|---|---|---|---|---|
{rooms}

## Below {enough} %

{below}

## Not reached, by function

With the number of lines in each. Modules that are not listed are reached in every line.

| module | lines not reached |
|---|---|
{lines}

## What is not counted here

- **Compiled kernels.** What numba compiles cannot be traced. Tests of `bounds/` run a second time with
  `NUMBA_DISABLE_JIT=1`, so that the same code is counted as Python; that the compiled and the plain loop give the same
  bits is tested on the compiled code.
- **Long tests and the browser.** `make test-long` (Spark, audits of broken mechanisms, the paper's experiments) and
  `make test-browser` reach more; they are not counted.
- **Type checks.** Blocks under `if TYPE_CHECKING:` and overloads never run.
"""


def room_of(name: str) -> str:
    """The folder of a module below the package, or the package itself."""
    parts = Path(name).parts[2:]
    return f"{parts[0]}/" if len(parts) > 1 else "(top)"


def percent(lines: int, missing: int) -> str:
    """Rounded down, so that 100 % means every line."""
    return f"{1000 * (lines - missing) // lines / 10:.1f} %" if lines else "-"


def places(file: dict[str, Any]) -> str:
    """In which functions of a module lines are not reached, and how many; line numbers would be wrong too soon."""
    missed = {name: len(found["missing_lines"]) for name, found in file["functions"].items() if found["missing_lines"]}
    return ", ".join(f"`{name}` {count}" if name else f"outside functions {count}" for name, count in missed.items())


def page(measured: dict[str, Any], version: str) -> str:
    files = {
        name: file
        for name, file in sorted(measured["files"].items())
        if name.startswith("src/dpfda/") and file["summary"]["num_statements"]
    }
    rooms: dict[str, list[int]] = {}
    for name, file in files.items():
        row = rooms.setdefault(room_of(name), [0, 0, 0])
        for i, count in enumerate((1, file["summary"]["num_statements"], file["summary"]["missing_lines"])):
            row[i] += count
    total = [sum(row[i] for row in rooms.values()) for i in range(3)]
    rows = [
        f"| `{room}` | {n} | {lines:,} | {gone:,} | {percent(lines, gone)} |"
        for room, (n, lines, gone) in rooms.items()
    ]
    rows.append(f"| **all** | {total[0]} | {total[1]:,} | {total[2]:,} | {percent(total[1], total[2])} |")
    below, lines = [], []
    for name, file in files.items():
        module, summary = name.removeprefix("src/dpfda/"), file["summary"]
        if summary["percent_covered"] < ENOUGH:
            share = percent(summary["num_statements"], summary["missing_lines"])
            below.append(f"| `{module}` | {share} | {REASONS.get(module, UNKNOWN)} |")
        if file["missing_lines"]:
            lines.append(f"| `{module}` | {places(file)} |")
    return TEXT.format(
        date=f"{datetime.fromisoformat(measured['meta']['timestamp']):%Y-%m-%d}",
        version=version,
        tool=measured["meta"]["version"],
        python=platform.python_version(),
        rooms="\n".join(rows),
        enough=ENOUGH,
        below="\n".join(["| module | reached | why |", "|---|---|---|", *below]) if below else "No module.",
        lines="\n".join(lines) or "| none | - |",
    )


def main() -> int:
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    PAGE.write_text(page(measured, version), encoding="utf-8")
    totals = measured["totals"]
    print(
        f"{percent(totals['num_statements'], totals['missing_lines'])} of {totals['num_statements']} lines: {PAGE.name}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
