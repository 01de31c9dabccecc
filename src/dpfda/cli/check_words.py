"""What `dpfda check` says of what it found: sentences with counts and places, never with cells or labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dpfda.cli.console import as_options
from dpfda.core.errors import printable
from dpfda.core.labels import MOST_GROUPS
from dpfda.reading.findings import MOST_UNITS
from dpfda.reading.found import FileFacts, Report, Tally
from dpfda.reading.headers import FromHeader, evenly, rising
from dpfda.spaces.grid import Grid

#: Columns that are listed by name, at most.
MOST_NAMES = 8
NAME_THEM = "Name what they are (--unit, --by, --order), or choose the value columns with --columns."
#: What lines can be like: in words for one and for several, and what to do.
LINES = {
    "few": ("line has too few cells.", "lines have too few cells.", "Cells are missing, or the separator is another."),
    "many": (
        "line has too many cells.", "lines have too many cells.",
        "Cells that hold the separator need quotes; decimal commas need another separator.",
    ),
    "unclosed": (
        "line has a quote that is not closed.", "lines have a quote that is not closed.",
        "One line is one record: close it.",
    ),
    "long": ("line is too long to be a record.", "lines are too long to be a record.", "Write one row per record."),
    "foreign": (
        "line has bytes that are no text.", "lines have bytes that are no text.",
        "Say how the file is encoded: --encoding cp1252, say.",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """Something worth knowing: a problem, or a mere fact."""

    problem: bool
    what: str
    where: str = ""
    cure: str = ""

    def spelt(self) -> str:
        words = "  ".join(filter(None, [self.what, self.where]))
        return f"{'✗' if self.problem else '·'} {words}" + (f"\n    {self.cure}" if self.cure else "")


def findings(
    report: Report, invalid: str, said_header: bool, grid: Grid | FromHeader | None, any_order: str
) -> list[Finding]:
    """All that is worth knowing. `any_order` says why units may come in any order, if they may."""
    return [
        *_of_names(report, invalid, said_header),
        *_of_columns(report, grid),
        *_of_lines(report),
        *_of_cells(report),
        *_of_rows(report, invalid),
        *_of_labels(report, any_order),
    ]


def _of_names(report: Report, invalid: str, said_header: bool) -> Iterable[Finding]:
    for file in report.files:
        if file.problem:
            said = as_options(file.problem)
            yield Finding(True, said if f"{file.name!r}" in said else f"{file.name}: {said}")
    alike: dict[str, list[str]] = {}
    for file in report.files:
        if file.types:
            listed = list(file.types.items())[:MOST_NAMES]
            named = ", ".join(f"{column_words(report, file, name)} ({kind})" for name, kind in listed)
            count = many(len(file.types), "column holds no numbers:", "columns hold no numbers:")
            alike.setdefault(f"{count}  {named}", []).append(file.name)
    for words, names in alike.items():
        which = names[0] if len(names) == 1 else f"{len(names):,} files"
        yield Finding(True, f"{which}: {words}", "", NAME_THEM)
    if report.guessed:
        cure = f"It is read as {report.guessed} here: pass --encoding {report.guessed}, or save it as UTF-8."
        yield Finding(True, "The text is not in UTF-8.", "", cure)
    if report.unsure:
        yield Finding(True, "The first line could be names or a record.", "", "Pass --header or --no-header.")
    elif invalid == "center" and not said_header and any(file.layout for file in report.files):
        cure = "Pass --header, or --no-header: a first record must not decide it."
        yield Finding(True, "With --invalid center a text file must say whether it begins with names.", "", cure)
    if report.repeated_names:
        count = many(len(report.repeated_names), "column name repeats:", "column names repeat:")
        more = ", ..." if len(report.repeated_names) > MOST_NAMES else ""
        listed_numbers = ", ".join(map(str, report.repeated_names[:MOST_NAMES]))
        yield Finding(True, count, f"columns {listed_numbers}{more}", "Give every column its own name.")


def _of_columns(report: Report, grid: Grid | FromHeader | None) -> Iterable[Finding]:
    first = report.files[0]
    others = [file.name for file in report.files[1:] if not file.problem and set(file.values) != set(first.values)]
    if others:
        count = many(len(others), "file has", "files have")
        cure = "Files of one release need the same."
        yield Finding(True, f"{count} other value columns than {first.name}.", ", ".join(others[:MOST_NAMES]), cure)
    if report.roles and not report.texts:
        yield Finding(True, as_options(report.roles))
    if report.texts:
        count = many(len(report.texts), "column holds texts:", "columns hold texts:")
        yield Finding(True, count, _columns(report, first, report.texts), NAME_THEM)
    if report.others:
        count = many(len(report.others), "column is neither values nor named:", "columns are neither values nor named:")
        cure = "If one says whose a curve is, name it: --unit protects whoever has several." if not report.units else ""
        yield Finding(False, count, _columns(report, first, report.others), cure)
    points = _points(first)
    if points is not None and grid is None:
        spaced = "equally spaced" if evenly(points) else "not equally spaced"
        what = f"The value columns are named by increasing numbers, {spaced}."
        yield Finding(not evenly(points), what, "", "Pass --grid header to make them the grid.")
    if isinstance(grid, FromHeader) and points is None:
        yield Finding(True, "The value columns are not named by increasing numbers.", "", "Leave out --grid header.")
    if isinstance(grid, Grid) and first.values and grid.size != len(first.values):
        what = f"The grid has {grid.size:,} points and a curve {len(first.values):,} values."
        yield Finding(True, what, "", "Check --grid and --columns.")


def _points(file: FileFacts) -> np.ndarray | None:
    """The value columns' names as increasing numbers, if they are."""
    decimal = "." if file.layout is None else file.layout.decimal
    return rising(file.values, decimal) if file.layout is None or file.layout.names else None


def uneven(file: FileFacts) -> bool:
    """Whether the value columns are named by increasing numbers that are not equally spaced."""
    points = _points(file)
    return points is not None and not evenly(points)


def _of_lines(report: Report) -> Iterable[Finding]:
    for kind, (one, several, cure) in LINES.items():
        if (tally := report.tally(kind)).count:
            yield Finding(True, many(tally.count, one, several), _where(report, tally), cure)
    if (empty := report.tally("empty")).count:
        what = many(empty.count, "line is empty, and is passed over.", "lines are empty, and are passed over.")
        yield Finding(False, what, _where(report, empty))


def _of_cells(report: Report) -> Iterable[Finding]:
    if report.decimal_commas:
        yield Finding(True, "Numbers are written with decimal commas.", "", "Pass --decimal ','.")
    elif report.commas:
        what = many(report.commas, "cell looks like a decimal comma.", "cells look like decimal commas.")
        yield Finding(True, what, "", "Pass --decimal ',' if all are written so.")
    for what, words in (("no_number", "no number"), ("infinite", "an infinite number")):
        found = report.cells.get(what, {})
        for name, tally in list(found.items())[:MOST_NAMES]:
            count = many(tally.count, "cell holds", "cells hold")
            column = column_words(report, report.files[0], name)
            yield Finding(True, f"{column}: {count} {words}.", _where(report, tally))
        if len(found) > MOST_NAMES:
            left = sum(tally.count for tally in list(found.values())[MOST_NAMES:])
            count = many(left, "such cell.", "such cells.")
            yield Finding(True, f"{len(found) - MOST_NAMES:,} more columns have {count}")


def _of_rows(report: Report, invalid: str) -> Iterable[Finding]:
    centred = report.tally("centred")
    if (gaps := report.tally("gaps")).count:
        what = many(gaps.count, "row has gaps.", "rows have gaps.")
        yield Finding(report.tally("open").count > 0, what, _where(report, gaps), _filled(report))
    if centred.count and invalid == "center":
        what = f"{centred.count:,} of {report.records:,} rows would be centred."
        yield Finding(True, what, _where(report, centred))
    elif centred.count:
        what = f"{centred.count:,} of {report.records:,} rows cannot be used, and would stop a release."
        cure = "Repair them, or pass --invalid center: they count as the public centre."
        yield Finding(True, what, _where(report, centred), cure)


def _filled(report: Report) -> str:
    """What rules for gaps would do."""
    if not report.longest:
        return "They have no value at all."
    longest, steps, done = max(report.longest), [], 0
    for size in sorted(report.longest):
        done += report.longest[size]
        if size in (1, 2, 3, 5, 10, longest):
            steps.append(f"--fill {size} would bridge {done:,}")
    never = many(report.never, "has no value at all", "have no value at all")
    rest = f"; {never}" if report.never else ""
    return f"The longest gap is {many(longest, 'point', 'points')}. {', '.join(steps)}{rest}."


def _of_labels(report: Report, any_order: str) -> Iterable[Finding]:
    for name, tally in report.cells.get("unlabelled", {}).items():
        if tally.count:
            count = many(tally.count, "label is", "labels are")
            yield Finding(
                True, f"{column_words(report, report.files[0], name)}: {count} missing.", _where(report, tally)
            )
    if report.many_groups:
        what = f"There are more than {MOST_GROUPS:,} groups."
        yield Finding(True, what, "", "Check that --by names the right column.")
    elif report.groups:
        sizes = sorted(report.groups.values())
        held = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}"
        yield Finding(False, f"{many(len(sizes), 'group', 'groups')} of {held} records.")
        if few := sum(size < 2 for size in sizes):
            yield Finding(True, many(few, "group has fewer than two records.", "groups have fewer than two records."))
    if (other := report.tally("other_groups")).count:
        yield Finding(True, f"{many(other.count, 'label is', 'labels are')} not in --groups.", _where(report, other))
    if report.units:
        seen = "" if report.all_units else f" (of the first {MOST_UNITS:,} records)"
        several = many(report.several, "has several records.", "have several records.")
        what = f"{many(report.units, 'unit', 'units')}{seen}; {several}"
        yield Finding(False, what, _where(report, report.tally("again")))
        if report.torn:
            what = many(report.torn, "unit belongs", "units belong")
            cure = "Each must have one group throughout."
            yield Finding(True, f"{what} to more than one group.", _where(report, report.tally("torn")), cure)
        if not report.in_order and any_order:
            yield Finding(False, f"The units are not in order, and need not be: {any_order}.")
        elif not report.in_order:
            cure = "Sort the files by unit (over all of them), or pass --engine dask."
            yield Finding(True, "The units are not in order.", "", cure)


def many(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"


def _where(report: Report, tally: Tally) -> str:
    """The first places: lines of text files as an editor counts them, rows of Parquet files from 1."""
    if not tally.where:
        return ""
    several = len(report.files) > 1
    parts: dict[str, list[str]] = {}
    for file, place in tally.where:
        parts.setdefault(file, []).append(str(place))
    kinds = {file.name: "row" if file.layout is None else "line" for file in report.files}
    said = [
        f"{file + ', ' if several else ''}{kinds[file]}{'s' if len(places) > 1 else ''} {', '.join(places)}"
        for file, places in parts.items()
    ]
    return f"({'; '.join(said)}{', ...' if tally.count > len(tally.where) else ''})"


def column_words(report: Report, file: FileFacts, name: str) -> str:
    """A column by its number, and by its name where that is surely no record's."""
    number = f"column {file.names.index(name) + 1}" if name in file.names else "a column"
    named = report.shows_names and (file.layout is None or file.layout.names is not None)
    return f"{number} {printable(name)[:40]!r}" if named else number


def _columns(report: Report, file: FileFacts, names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    return ", ".join(column_words(report, file, name) for name in names[:MOST_NAMES]) + more
