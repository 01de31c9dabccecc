"""`dpfda check`: everything that is wrong with some files, for the data holder alone.

Nothing here is private, and nothing of it is for anybody else: no other command runs it or depends on it.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

import typer

from dpfda.cli import options, outputs, parsing, sources
from dpfda.cli.check_words import MOST_NAMES, Finding, findings, many, uneven
from dpfda.cli.commands import command
from dpfda.cli.console import out
from dpfda.core.checks import check_choice
from dpfda.engines.gathering import MOST_BYTES, SMALL_FILES
from dpfda.reading.dialect import SEPARATORS
from dpfda.reading.findings import BROKEN, Inspection
from dpfda.reading.found import FileFacts, Report
from dpfda.reading.names import owners_among
from dpfda.reading.places import Place, expanded
from dpfda.reading.scans import Scan
from dpfda.reading.source import Source
from dpfda.reading.text_layout import TextLayout
from dpfda.spaces.grid import Grid

NOTICE = (
    "This is for you, who may see the data. It releases nothing, and is no release: do not publish it. Nothing was "
    "written or charged."
)


@command(first="columns unit by groups separator decimal encoding")
def check_command(
    files: sources.Files,
    *,
    units: sources.Units,
    labels: sources.Labels,
    gaps: sources.Gaps,
    grid: options.GridText = None,
    invalid: options.Invalid = "raise",
    layout: sources.Layout = None,
    table: sources.Table,
    as_json: outputs.AsJson = False,
) -> None:
    """Report every problem of some files at once, as counts and line numbers. For you alone: it releases nothing.

    Exit code 0: all of it would be read. 1: there are problems.

    Example: dpfda check curves.csv --fill 2
    """
    check_choice("invalid", invalid, ("raise", "center"))
    unit = units.keywords()["unit"]
    source = Source(
        sources.data_of(files), table.chosen, lenient=invalid == "center", by=labels.by,
        layout=sources.parse_layout(layout), ignore=table.ignored,
        unit=None if unit is None else unit.name, order=None if unit is None else unit.order, **table.facts,
    )  # fmt: skip
    rules = gaps.keywords()
    public = parsing.if_given(parsing.parse_grid, grid)
    points = public if isinstance(public, Grid) else None
    inspection = Inspection(source, sources.groups_of(labels.groups), rules["fill"], rules["align"], points)
    with table.data(files) as data:
        query = isinstance(data, Scan)
        if isinstance(data, Scan):
            found = inspection.ask(data, Place(files[0]).name)
        else:
            found = inspection.look(expanded(data))
    any_order = _any_order(files, query, invalid)
    said = findings(found, invalid, table.header is not None, public, any_order)
    suggested = _Given(units, labels, gaps, table, invalid, layout, grid, any_order).suggestion(found, files)
    if as_json:
        out.print_json(data=_plain(found, said, suggested))
    else:
        out.print(_spelt(found, said, suggested))
    if any(finding.problem for finding in said):
        raise typer.Exit(1)


def _written(file: FileFacts) -> str:
    """How a file is written, and what it has."""
    if file.layout is None:
        how = file.kind if file.names else "not read"
    else:
        marks = f"decimal {'commas' if file.layout.decimal == ',' else 'points'}"
        how = f"{SEPARATORS[file.layout.delimiter]}, {marks}, {file.layout.encoding}"
    return f"{how}; {many(len(file.names), 'column', 'columns')}, {len(file.values):,} of values"


def _listed(report: Report) -> str:
    """The files; many of them by how they are written."""
    if len(report.files) <= MOST_NAMES:
        return "\n".join(f"{file.name}: {_written(file)}; {file.records:,} records" for file in report.files)
    alike: dict[str, list[FileFacts]] = {}
    for file in report.files:
        alike.setdefault(_written(file), []).append(file)
    return "\n".join(
        f"{many(len(files), 'file', 'files')}: {how}; {sum(file.records for file in files):,} records"
        for how, files in alike.items()
    )


def _spelt(report: Report, said: list[Finding], suggested: str | None) -> str:
    problems = [finding for finding in said if finding.problem]
    facts = [finding for finding in said if not finding.problem]
    verdict = f"{many(len(problems), 'problem', 'problems')}:" if problems else "No problems: all of it would be read."
    parts = [
        NOTICE,
        _listed(report),
        "\n".join([verdict, *(finding.spelt() for finding in problems)]),
        "\n".join(finding.spelt() for finding in facts),
        f"{_when(report)}, with an epsilon and a range of your own:\n  {suggested}" if suggested else "",
    ]
    return "\n\n".join(filter(None, parts))


def _plain(report: Report, said: list[Finding], suggested: str | None) -> dict[str, object]:
    return {
        "notice": NOTICE,
        "files": [
            {"name": file.name, "columns": len(file.names), "values": len(file.values), "records": file.records}
            for file in report.files
        ],
        "records": report.records,
        "problems": [_as_dict(finding) for finding in said if finding.problem],
        "facts": [_as_dict(finding) for finding in said if not finding.problem],
        "suggested": suggested,
    }


def _as_dict(finding: Finding) -> dict[str, str]:
    return {"what": finding.what, "where": finding.where, "cure": finding.cure}


def _any_order(files: list[str], query: bool, invalid: str) -> str:
    """Why units may come in any order, if they may."""
    if invalid == "center":
        return "with --invalid center any order will do"
    if query:
        return f"up to {MOST_BYTES >> 30} GB of rows are put in order"
    small = sum(place.size for place in expanded(sources.data_of(files))) <= SMALL_FILES
    return f"files of up to {SMALL_FILES >> 20} MB together are put in order" if small else ""


def _when(report: Report) -> str:
    """What comes before the command that is suggested: some things no option mends."""
    cells = any(report.cells.get(kind) for kind in ("no_number", "infinite"))
    labels = any(tally.count for tally in report.cells.get("unlabelled", {}).values())
    lines = any(report.tally(kind).count for kind in BROKEN) or report.torn
    unread = any(file.problem for file in report.files)
    return "When that is mended" if cells or labels or lines or unread or report.unsure else "Then"


@dataclass(frozen=True)
class _Given:
    """What was said of the files, and is said again in the command that is suggested."""

    units: sources.Units
    labels: sources.Labels
    gaps: sources.Gaps
    table: sources.Table
    invalid: str
    layout: str | None
    grid: str | None
    any_order: str

    def suggestion(self, report: Report, files: list[str]) -> str | None:
        """A command line for a mean, of names and options only; none where nothing could be read."""
        first = next((file for file in report.files if file.names and not file.problem), None)
        if first is None:
            return None
        table, words = self.table, ["dpfda", "mean", *files]
        if first.layout is not None:
            mark, decimal = first.layout.delimiter, first.layout.decimal
            words += [] if mark == "," else ["--separator", "tab" if mark == "\t" else mark]
            words += [] if decimal == "." else ["--decimal", decimal]
            words += self._header(report, first.layout)
        given = {
            "--encoding": table.encoding or report.guessed or None, "--sql": table.sql, "--layout": self.layout,
            **self._columns(report, first), "--unit": self._unit(first), "--most": self.units.most,
            "--order": self.units.order, "--by": self.labels.by, "--groups": self.labels.groups,
            "--grid": self.grid or ("header" if uneven(first) else None),
            "--align": self.gaps.align, "--fill": self.gaps.fill or _fill(report, self.gaps),
            "--invalid": None if self.invalid == "raise" else self.invalid,
            "--engine": None if report.in_order or self.any_order else "dask",
        }  # fmt: skip
        for option, value in given.items():
            words += [] if value is None else [option, str(value)]
        rest = "--epsilon ... --range low:high --out mean.json --plot mean.png"
        return f"{' '.join(shlex.quote(word) for word in words)} {rest}"

    def _header(self, report: Report, written: TextLayout) -> list[str]:
        sure = not report.unsure or {self.units.unit, self.labels.by} & set(written.names or ())
        if self.table.header is None and (not sure or (self.invalid == "raise" and not report.unsure)):
            return []
        return ["--no-header" if self.table.header is False or written.names is None else "--header"]

    def _unit(self, file: FileFacts) -> str | None:
        """The column that says whose a curve is, as was said or as its name says."""
        found = [] if self.layout or self.table.ignore else owners_among(file.names)
        return self.units.unit or (found[0] if len(found) == 1 and found[0] != self.labels.by else None)

    def _columns(self, report: Report, file: FileFacts) -> dict[str, str | None]:
        """The value columns, where they must be named: by what their names begin with, or by what the others are."""
        said = {"--columns": self.table.columns, "--ignore": self.table.ignore}
        unit = self._unit(file)
        others = [name for name in [*report.texts, *file.types] if name != unit]
        values = [name for name in file.values if name not in (*others, unit)]
        if self.table.columns or not others or not report.shows_names or not values:
            return said
        start = re.sub(r"\d+$", "", "".join(_shared(values)))
        if start and not set("*?[,") & set(start) and fnmatch.filter(file.names, f"{start}*") == values:
            return said | {"--columns": f"{start}*"}
        if len(others) <= MOST_NAMES and not any("," in name for name in others):
            return said | {"--ignore": ",".join([*filter(None, [self.table.ignore]), *others])}
        return said | {"--columns": "..."}


def _fill(report: Report, gaps: sources.Gaps) -> int | None:
    """A short gap, if bridging it is enough."""
    if gaps.align is not None or not report.longest or report.never or max(report.longest) > 3:
        return None
    return max(report.longest)


def _shared(names: list[str]) -> Iterable[str]:
    """The characters that all names begin with."""
    return (letters[0] for letters in takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False)))
