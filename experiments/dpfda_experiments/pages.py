"""What an experiment leaves behind: a picture, a table of all rows, a short page; and one page of all of them."""

from __future__ import annotations

import base64
import csv
import html
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from .study import Rows, write

HOLDS, PARTLY, FAILS = "holds", "holds only in this sense", "does not hold"
#: Colours that can be told apart by everybody, one per mechanism everywhere.
COLORS = {
    "FRL": "#0072b2", "AR": "#cc79a7", "QR": "#d55e00", "Bernstein": "#009e73", "GP-ADP": "#8c8c8c",
    "authors' QR": "#e69f00", "default": "#000000",
}  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """A published sentence (or one of `ours`), what became of it, and the number that shows it."""

    text: str
    verdict: str
    number: str
    ours: bool = False


@dataclass(frozen=True)
class Table:
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Report:
    """What an experiment says: paragraphs, a picture, tables, and claims with verdicts."""

    words: Sequence[str]
    figure: Figure | None = None
    tables: Sequence[Table] = ()
    claims: Sequence[Claim] = field(default=())


def judge(text: str, holds: bool, partly: bool, number: str, sense: str = "") -> Claim:
    """A claim of the paper with the verdict that the numbers give it; `sense` says in which it holds if only in one."""
    if holds:
        return Claim(text, HOLDS, number)
    return Claim(text, PARTLY, f"{sense}: {number}" if sense else number) if partly else Claim(text, FAILS, number)


def judge_ours(text: str, holds: bool, partly: bool, number: str, sense: str = "") -> Claim:
    """The same for a claim that we make about ourselves."""
    return replace(judge(text, holds, partly, number, sense), ours=True)


def most(cells: Sequence[bool]) -> bool:
    """Whether something is true of more than half of the cells: enough to hold in some sense."""
    return 2 * sum(cells) > len(cells)


def number(value: Any) -> str:
    """A figure for a table: three digits."""
    if not isinstance(value, float):
        return str(value)
    if not math.isfinite(value):
        return "-"
    if value == 0 or 1e-4 <= abs(value) < 1e5:
        digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
        return f"{value:.{digits}f}"
    return f"{value:.2e}"


def spread(mean: float, error: float) -> str:
    """A mean with its standard error, in digits that mean something."""
    digits = max(0, 1 - math.floor(math.log10(error))) if error > 0 else 4
    return f"{mean:.{digits}f} ± {error:.{digits}f}" if 1e-4 <= error < 1e3 else f"{number(mean)} ± {error:.1e}"


def picture(rows: int, columns: int, width: float = 3.0, height: float = 2.4, **options: Any) -> tuple[Figure, Any]:
    """A figure without a window, and its axes in a grid."""
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


# -- on disk ---------------------------------------------------------------------------------------


def save(name: str, title: str, source: str, how: str, report: Report, rows: Rows, folder: Path) -> None:
    """The picture, the rows and the page of one experiment."""
    folder.mkdir(parents=True, exist_ok=True)
    if report.figure:
        report.figure.savefig(folder / f"{name}.png", dpi=110, metadata={"Software": None})
    write(folder / f"{name}.csv", _csv(rows))
    write(folder / f"{name}.md", "\n".join(_markdown(name, title, source, how, report, "#")))


def save_skipped(name: str, title: str, why: str, folder: Path) -> None:
    write(folder / f"{name}.md", f"# {title}\n\nNot run: {why}.\n")


def assemble(
    parts: Iterable[tuple[str, str, str, Report]], skipped: dict[str, str], how: str, folder: Path
) -> tuple[Path, Path]:
    """One page, in Markdown and (with the saved pictures inside) for a browser."""
    parts = list(parts)
    claims = [(title, claim) for _, title, _, report in parts for claim in report.claims]
    summaries = [_verdicts([pair for pair in claims if pair[1].ours is ours], ours) for ours in (False, True)]
    lines = ["# The paper, reproduced and corrected", "", INTRODUCTION, "", how, ""]
    lines += [f"Not run: {title} ({why})." for title, why in skipped.items()]
    lines += ["", *(line for summary in summaries for line in _table(summary, "##"))]
    for name, title, source, report in parts:
        lines += _markdown(name, title, source, "", report, "##", claims=False)
    write(folder / "report.md", "\n".join(lines))
    body = [
        "<h1>The paper, reproduced and corrected</h1>", _paragraph(INTRODUCTION), _paragraph(how),
        *(_paragraph(f"Not run: {title} ({why}).") for title, why in skipped.items()), *map(_html_table, summaries),
    ]  # fmt: skip
    for name, title, source, report in parts:
        body += [f"<h2>{html.escape(title)}</h2>", _paragraph(source), *map(_paragraph, report.words)]
        if report.figure:
            saved = base64.b64encode((folder / f"{name}.png").read_bytes()).decode()
            body.append(f'<img alt="{html.escape(title)}" src="data:image/png;base64,{saved}">')
        body += map(_html_table, report.tables)
    write(folder / "report.html", PAGE.format(body="\n".join(body)))
    return folder / "report.md", folder / "report.html"


INTRODUCTION = (
    "Every experiment of Lin and Reimherr, Pure Differential Privacy for Functional Summaries with a Laplace-like "
    "Process (JMLR 2024), in two modes. `paper`: the paper's sensitivities, kernel noise and privacy-safe selection, "
    "with noise as large as epsilon asks for. `dpfda`: the defaults of this library. Rows called authors' use their "
    "formulas (bounds read from the data and, for ICLP-QR, noise short by the square root of two); they are not "
    "private and are there to show how the printed numbers came about. Errors are squared L2 distances."
)
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>The paper, reproduced and corrected</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222; }}
table {{ border-collapse: collapse; font-size: 0.85rem; margin: 1rem 0; display: block; overflow-x: auto; }}
caption {{ text-align: left; font-weight: 600; padding: 0.3rem 0; }}
th, td {{ border-bottom: 1px solid #ddd; padding: 0.25rem 0.6rem; text-align: left; vertical-align: top; }}
img {{ max-width: 100%; }}
.holds {{ color: #00703c; font-weight: 600; }}
.partly {{ color: #8a5a00; }}
.fails {{ color: #b10e1e; font-weight: 600; }}
</style></head><body>
{body}
</body></html>
"""


def _csv(rows: Rows) -> str:
    keys = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, keys, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _cell(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """A cell that no spreadsheet runs as a formula; numbers stay."""
    formula = isinstance(value, str) and value.lstrip(" \t\r\n'\"")[:1] in tuple("=+-@")
    return f"'{value}" if formula else value


def _markdown(
    name: str, title: str, source: str, how: str, report: Report, level: str, claims: bool = True
) -> list[str]:
    lines = [f"{level} {title}", "", source, ""]
    for paragraph in report.words:
        lines += [paragraph, ""]
    if report.figure:
        lines += [f"![{title}]({name}.png)", ""]
    for table in report.tables:
        lines += _table(table, level + "#")
    for ours in (False, True) if claims else ():
        some = [(title, claim) for claim in report.claims if claim.ours is ours]
        if some:
            lines += _table(_verdicts(some, ours), level + "#")
    lines += [f"All rows: [{name}.csv]({name}.csv). {how}".rstrip(), ""]
    return lines


def _verdicts(claims: Sequence[tuple[str, Claim]], ours: bool) -> Table:
    title = "What we say of our defaults, held to the same" if ours else "What the paper says, and what became of it"
    rows = [[where, claim.text, claim.verdict, claim.number] for where, claim in claims]
    return Table(title, ["", "claim", "verdict", "the number that shows it"], rows)


def _table(table: Table, level: str) -> list[str]:
    def line(cells: Iterable[Any]) -> str:
        return "| " + " | ".join(number(cell).replace("|", "\\|") for cell in cells) + " |"

    rule = "|" + "---|" * len(table.head)
    return [f"{level} {table.title}", "", line(table.head), rule, *map(line, table.rows), ""]


def _html_table(table: Table) -> str:
    def line(cells: Iterable[Any], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}{_mark(cell)}>{html.escape(number(cell))}</{tag}>" for cell in cells) + "</tr>"

    rows = "\n".join(line(row, "td") for row in table.rows)
    return f"<table><caption>{html.escape(table.title)}</caption>\n{line(table.head, 'th')}\n{rows}</table>"


def _mark(cell: Any) -> str:
    """A verdict stands out by its colour."""
    kinds = {HOLDS: "holds", PARTLY: "partly", FAILS: "fails"}
    return f' class="{kinds[cell]}"' if cell in kinds else ""


def _paragraph(text: str) -> str:
    return "<p>" + re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text)) + "</p>"
