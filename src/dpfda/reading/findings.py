"""Everything that is wrong with some files, at once: for the data holder, never for a release.

Only `dpfda check` comes here. What is found is counted and placed by file and line; cells and labels are not kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from dpfda.core.errors import DpfdaError, FileError, ParameterError, RecordError
from dpfda.core.labels import MOST_GROUPS, label_text, owners, texts
from dpfda.reading import delimited, parquet, text_layout
from dpfda.reading.blocks import Order
from dpfda.reading.found import FileFacts, Report
from dpfda.reading.inspection import Batches, Facts, Schema, Wanted, batch_facts, holds_numbers, text_facts
from dpfda.reading.lakes import Partition
from dpfda.reading.layouts import Lists
from dpfda.reading.places import PARQUET, TEXT, Place
from dpfda.reading.roles import pick
from dpfda.reading.scans import Scan
from dpfda.reading.source import Source
from dpfda.reading.tables import numeric
from dpfda.reading.text_layout import Beginning, TextLayout
from dpfda.spaces.grid import Grid
from dpfda.spaces.own_times import Align

#: Labels of units that are kept (as hashes) to find repeats.
MOST_UNITS = 10_000_000
BLOCK, WORKERS = 1 << 23, 2
#: What is tried where a file is not in UTF-8.
WESTERN = "cp1252"
#: What makes a line unusable, whatever its cells hold.
BROKEN = ("many", "few", "unclosed", "long")


class Inspection:
    """Looks at file after file. What is asked of records is what a release would ask of them."""

    def __init__(
        self, source: Source, groups: Iterable[str] | None, fill: int | None, align: Align | None, grid: Grid | None
    ):
        self.source, self.fill, self.align, self.grid = source, fill, align, grid
        self.groups = None if groups is None else {label_text(name) for name in groups}
        self.report = Report()
        self.hashes: list[np.ndarray] = []
        self.spots: list[tuple[str, np.ndarray]] = []
        self.sides: list[np.ndarray] = []  # groups (as hashes) of the same records
        self.order = Order("unit")

    @property
    def unit(self) -> str | None:
        return next(iter(self.source.roles.owners), None)

    def look(self, places: list[Place]) -> Report:
        """Into all of them."""
        for place, name in zip(places, _names_apart(places), strict=True):
            file = FileFacts(name)
            self.report.files.append(file)
            try:
                self._parquet(place, file) if place.suffix in PARQUET else self._text(place, file)
            except DpfdaError as error:
                file.problem = str(error)
        self._count_units()
        return self.report

    def ask(self, rows: Scan, name: str) -> Report:
        """Into the rows of a query, or of another table."""
        file = FileFacts(name, kind=rows.what)
        self.report.files.append(file)
        self._table(rows.schema(), file, self.source, lambda plain, labels: rows.batches(plain, labels))
        self._count_units()
        return self.report

    # -- files --------------------------------------------------------------------------------------------------

    def _text(self, place: Place, file: FileFacts) -> None:
        if place.suffix not in TEXT:
            self.source.at(place).names()  # says so
        first = self._beginning(place)
        names = self._names(first, file)
        file.layout = TextLayout(
            first.delimiter, names, len(first.cells), first.returns, self.source.text.decimal, first.encoding
        )
        wanted = Wanted(file.layout, [], [])
        file.names = wanted.layout.columns
        wanted.values, wanted.labels = self._roles(file, self.source.at(place))
        blocks = delimited.line_blocks(place, file.layout, BLOCK)
        line, begun = 1 + (names is not None), False
        for lines, facts in _in_turns(blocks, lambda block: _facts(block, wanted)):
            if not begun and lines is not None:
                if self._finds_decimal_commas(facts, wanted):
                    facts = text_facts(lines, wanted)
                if self._sets_texts_aside(facts, wanted):
                    facts = text_facts(lines, wanted)
                begun = True
            self._add(facts, file, line, place.partition)
            line += facts.lines
        file.values, file.layout = wanted.values, wanted.layout

    def _beginning(self, place: Place) -> Beginning:
        """The first line, also where the file is as spreadsheets of Western Europe save it and nobody said so."""
        text = self.source.text
        try:
            found = text_layout.beginning(place, self.source.header, False, None, text)
        except FileError as error:
            if text.encoding is not None:
                raise
            try:
                found = text_layout.beginning(place, self.source.header, False, None, replace(text, encoding=WESTERN))
            except FileError:
                raise error from None
            self.report.guessed = WESTERN
        assert isinstance(found, Beginning)
        return found

    def _names(self, first: Beginning, file: FileFacts) -> list[str] | None:
        """Names of the columns, each its own, if the first line is names."""
        header = self.source.header
        if len(first.cells) > text_layout.MOST_COLUMNS:
            raise FileError(f"There are more than {text_layout.MOST_COLUMNS:,} columns.")
        if not first.closed:
            file.problem = "The first line has a quote that is not closed. Close it."
        elif len(first.cells) == 1:
            file.problem = "The file has one column. Pass separator=';', say."
        if header is None:
            try:
                header = text_layout.looks_like_names(first.cells, self.source.text.decimal)
            except ParameterError:
                self.report.unsure = header = True
            self.report.shows_names &= text_layout.surely_names(first.cells, self.source.text.decimal)
        if not header:
            return None
        found: dict[str, int] = {}
        for i, name in enumerate(first.cells):
            if name in found:
                self.report.repeated_names.append(i + 1)
            while name in found:
                name = f"{name} ({i + 1})"
            found[name] = i
        return list(found)

    def _roles(self, file: FileFacts, source: Source) -> tuple[list[str], list[str]]:
        """Columns of values and of labels, as far as there are such."""
        try:
            source.chosen(file.names)
        except DpfdaError as error:
            self.report.roles = str(error)
        labels = [name for name in source.roles.asides if name in file.names]
        others = [name for name in file.names if name not in (*labels, *self._ignored(file.names))]
        layout = source.layout
        if layout is not None:
            if isinstance(layout, Lists):
                wanted = [layout.values]
            else:
                wanted = [layout.value] if layout.day is not None else [layout.time, layout.value]
            return [name for name in wanted if name in others], labels
        try:
            values = pick(others, self.source.columns)
        except ParameterError:
            values = others
        if self.source.columns is not None:
            self.report.others = [name for name in others if name not in values]
        return values, labels

    def _ignored(self, names: list[str]) -> list[str]:
        try:
            return [] if self.source.ignore is None else pick(names, self.source.ignore, "ignore")
        except ParameterError:  # said with the roles
            return []

    def _finds_decimal_commas(self, facts: Facts, wanted: Wanted) -> bool:
        """Whether most cells of some column, in the first rows, have one: the rest is read so, to see what is left."""
        if 2 * max(facts.commas.values(), default=0) <= facts.records:
            return False
        wanted.layout, wanted.suspects = replace(wanted.layout, decimal=","), set()
        self.report.decimal_commas = True
        return True

    def _sets_texts_aside(self, facts: Facts, wanted: Wanted) -> bool:
        """Columns that nobody called values and that hold texts, in most of the first rows, are said once."""
        if self.source.columns is not None or self.source.layout is not None:
            return False
        words = [
            name
            for name, places in facts.no_number.items()
            if 2 * (places.size - facts.commas.get(name, 0)) > facts.records
        ]
        self.report.texts = list(dict.fromkeys([*self.report.texts, *words]))
        wanted.values = [name for name in wanted.values if name not in words]
        return bool(words)

    def _parquet(self, place: Place, file: FileFacts) -> None:
        file.kind = "Parquet"
        at = self.source.at(place)
        self._table(parquet.schema(place), file, at, lambda plain, labels: parquet.batches(place, [*plain, *labels]))

    def _table(self, schema: Schema, file: FileFacts, source: Source, batches: Batches) -> None:
        """A table of typed columns."""
        file.names = list(schema.names)
        values, labels = self._roles(file, source)
        file.types = {
            name: str(schema.field(name).type) for name in values if not holds_numbers(schema.field(name).type)
        }
        file.values = [name for name in values if name not in file.types]
        plain = [
            name for name in file.values if numeric(schema.field(name).type)
        ]  # of lists, types are all that is seen
        line = 1
        for batch in batches(plain, labels) if plain or labels else ():
            facts = batch_facts(batch, plain, labels)
            self._add(facts, file, line, source.partition)
            line += facts.lines

    # -- records ------------------------------------------------------------------------------------------------

    def _add(self, facts: Facts, file: FileFacts, line: int, partition: Partition) -> None:
        report, name = self.report, file.name
        for folder, label in partition:  # one label for all of the file
            if folder in self.source.roles.asides and folder not in facts.labels:
                facts.labels[folder] = owners(texts([label] * facts.records))
        broken = sum(facts.troubles[kind].size for kind in BROKEN if kind in facts.troubles)
        file.records += facts.records + broken
        for kind, places in facts.troubles.items():
            report.tally(kind).add(name, places + line)
        for what, found in (("no_number", facts.no_number), ("infinite", facts.infinite)):
            for column, places in found.items():
                report.column(what, column).add(name, places + line)
        report.commas += sum(facts.commas.values())
        usable = self._usable(facts)
        if facts.place.size:
            self._gaps(facts, usable, name, line)
        lost = [facts.troubles[kind] for kind in BROKEN if kind in facts.troubles]
        lost += [*facts.infinite.values(), facts.place[~usable]]
        report.tally("centred").add(name, np.unique(np.concatenate(lost)) + line)
        for column, labels in facts.labels.items():
            missing = facts.labelled[labels == ""]
            report.column("unlabelled", column).add(name, missing + line)
            if column == self.source.by:
                self._group(labels, name, facts.labelled + line)
        if self.unit in facts.labels:
            units = facts.labels[self.unit]
            groups = facts.labels.get(self.source.by, np.full(units.size, ""))
            self._unit(units, groups, name, facts.labelled + line)

    def _gaps(self, facts: Facts, usable: np.ndarray, file: str, line: int) -> None:
        some = facts.gaps.any(axis=1)
        if self.source.layout is not None:
            return
        self.report.tally("gaps").add(file, facts.place[some] + line)
        self.report.tally("open").add(file, facts.place[some & ~usable] + line)
        runs, empty = _longest(facts.gaps[some]), facts.gaps[some].all(axis=1)
        self.report.never += int(empty.sum())
        self.report.longest.update(runs[~empty].tolist())

    def _usable(self, facts: Facts) -> np.ndarray:
        """Which rows with missing cells are mended, by the rules that were given; cells of no number are missing too,
        or stop a release."""
        holes = facts.holes
        usable = np.zeros(len(holes), dtype=bool)
        if self.fill is not None and holes.size:
            usable = (_longest(holes) <= self.fill) & ~holes.all(axis=1)
        if self.align is not None and holes.size:
            grid = self.grid if self.grid is not None else Grid.uniform(0, 1, max(2, holes.shape[1]))
            if grid.size == holes.shape[1]:
                left = np.flatnonzero(~usable)
                usable[left] = [not self.align.sparse(grid.points[~holes[row]], grid) for row in left]
        return usable if self.source.lenient else usable & ~(holes & ~facts.gaps).any(axis=1)

    def _group(self, labels: np.ndarray, file: str, places: np.ndarray) -> None:
        if self.groups is not None:
            other = np.array([label != "" and label not in self.groups for label in labels.tolist()], dtype=bool)
            self.report.tally("other_groups").add(file, places[other])
        if not self.report.many_groups:
            self.report.groups.update(label for label in labels.tolist() if label != "")
            self.report.many_groups = len(self.report.groups) > MOST_GROUPS

    def _unit(self, labels: np.ndarray, groups: np.ndarray, file: str, places: np.ndarray) -> None:
        known = labels != ""
        room = MOST_UNITS - sum(part.size for part in self.hashes)
        self.report.all_units &= room >= known.sum()
        self.hashes.append(np.array([hash(label) for label in labels[known].tolist()[:room]], dtype=np.int64))
        sides = [hash(label) if label != "" else 0 for label in groups[known].tolist()[:room]]
        self.sides.append(np.array(sides, dtype=np.int64))
        self.spots.append((file, places[known][:room]))
        if self.report.in_order:
            try:
                self.order.follow(labels[known], SimpleNamespace(file=""))
            except RecordError:
                self.report.in_order = False

    def _count_units(self) -> None:
        if self.unit is None or not self.hashes:
            return
        whole, sides = np.concatenate(self.hashes), np.concatenate(self.sides)
        _, first, which, counts = np.unique(whole, return_index=True, return_inverse=True, return_counts=True)
        self.report.units, self.report.several = counts.size, int((counts > 1).sum())
        again = np.ones(whole.size, dtype=bool)
        again[first] = False
        of_first = sides[first][which]
        torn = (sides != of_first) & (sides != 0) & (of_first != 0)
        self.report.torn = np.unique(which[torn]).size
        at = 0
        for file, places in self.spots:
            self.report.tally("again").add(file, places[again[at : at + places.size]])
            self.report.tally("torn").add(file, places[torn[at : at + places.size]])
            at += places.size


def _names_apart(places: list[Place]) -> list[str]:
    """Names of files, with their numbers where they are not their own; no folders, which may be labels."""
    names = [place.name for place in places]
    if len(set(names)) == len(names):
        return names
    return [f"{name} (file {number} of {len(names):,})" for number, name in enumerate(names, 1)]


def _facts(lines: bytes | None, wanted: Wanted) -> Facts:
    if lines is None:
        return Facts(1, troubles={"long": np.zeros(1, dtype=np.int64)})
    return text_facts(lines, wanted)


def _in_turns(
    blocks: Iterable[bytes | None], work: Callable[[bytes | None], Facts]
) -> Iterator[tuple[bytes | None, Facts]]:
    """Block after block with its facts, some of them at work at a time; the first alone, which says what texts are."""
    waiting: deque[tuple[bytes | None, Future[Facts]]] = deque()
    with ThreadPoolExecutor(WORKERS) as pool:
        for number, lines in enumerate(blocks):
            waiting.append((lines, pool.submit(work, lines)))
            while waiting and (number == 0 or len(waiting) > WORKERS):
                done, facts = waiting.popleft()
                yield done, facts.result()
        while waiting:
            done, facts = waiting.popleft()
            yield done, facts.result()


def _longest(holes: np.ndarray) -> np.ndarray:
    """The longest run of holes in each row."""
    run = best = np.zeros(len(holes), dtype=np.int64)
    for column in holes.T:
        run = (run + 1) * column
        best = np.maximum(best, run)
    return best
