"""Figures of the page and the report, part by part: what each part found is kept beside what the others found.

    python benchmarks/page.py screen report hypothetical

`screen`: planner updates of the studio on the server and in Chromium, and its memory. `report`: size and printed pages.
`hypothetical`: errors of hypothetical releases held against those of real ones, and how long they take.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

import common
import page_hypothetical
import page_report
import page_screen

PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "screen": page_screen.run,
    "report": page_report.run,
    "hypothetical": page_hypothetical.run,
}


def kept() -> dict[str, Any]:
    """What other parts found earlier, each with the code that it is of."""
    path = common.RESULTS / "page.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {name: value for name, value in found.items() if name not in ("python", "packages", "code")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all of them if none")
    for name in parser.parse_args().parts or PARTS:
        figures = {"code": common.digest(), **PARTS[name]()}
        common.save("page", {**kept(), name: figures})


if __name__ == "__main__":
    main()
