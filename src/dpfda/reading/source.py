"""Data from anywhere as blocks of records: arrays, tables, streams and files, whole or in parts.

Readers never clip, average or repair; they only bring numbers in, a batch at a time. Their
errors name rows and columns, never contents. With `lenient` set (for ``invalid="center"``) what a
record becomes depends on that record alone: an unusable one becomes missing values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpfda.core.errors import DpfdaError, FileError, ParameterError, RecordError, shown
from dpfda.core.labels import owners, texts
from dpfda.reading import delimited, frames, functional, lazy_frames, parquet, text_layout
from dpfda.reading.absent import no_names
from dpfda.reading.ahead import ahead
from dpfda.reading.arrays import AS_THEY_ARE, rows_at_once, rows_of
from dpfda.reading.arrow import arrow_loaded, load_arrow, pa
from dpfda.reading.blocks import Block, Raw, wrong_width
from dpfda.reading.cells import number
from dpfda.reading.facts import SourceFacts
from dpfda.reading.items import Batches, classify_items
from dpfda.reading.layouts import Long
from dpfda.reading.names import names_of
from dpfda.reading.places import PARQUET, TEXT, Place, expanded, is_path
from dpfda.reading.roles import Columns, pick
from dpfda.reading.scans import Scan
from dpfda.reading.streams import check_kinds, check_whole, quietly
from dpfda.reading.tables import Room, arrow_block, stamps
from dpfda.spaces.own_times import Pieces

__all__ = ["Columns", "Progress", "Source", "pick"]
Progress = Callable[[int, int | None], None]
BATCH_BYTES = 1 << 24


class Source(SourceFacts):
    """A described source, read as blocks of records."""

    # -- records ------------------------------------------------------------------------------

    def blocks(
        self, on_file: Callable[[int, int], None] | None = None, *, read_ahead: bool = False
    ) -> Generator[Raw, None, None]:
        """Blocks of records with their labels; `on_file(done, all)` is called after each file.

        Told to `read_ahead`, files are decoded in a thread of their own.
        """
        if self.held is not None:
            yield from self.held
        else:
            yield from self._from_labels(read_ahead) if self.labels_beside else self._blocks(on_file, read_ahead)

    def _from_labels(self, read_ahead: bool) -> Iterator[Raw]:
        """Data and labels side by side."""
        if self.lenient and is_path(self.data) and expanded(self.data)[0].suffix in TEXT:
            raise ParameterError(
                "with invalid='center' labels of a text file are in it: an empty line is no record, and has no label",
                "labels beside it",
                "Name their column.",
            )
        if isinstance(self.data, Scan):
            raise ParameterError(
                "labels of a query or a dataset are in it: its rows may come in another order each time",
                "labels beside it",
                "Name their column.",
            )
        named = isinstance(self.by, str)
        plain = replace(self, by=self.by if named else None, units=None)
        if self.units is not None:  # whose a record is has been said
            plain = replace(plain, unit=None)
        beside = [("groups", None if named else self.by), ("units", self.units)]
        labels = {role: texts(_as_list(given)) for role, given in beside if given is not None}
        done = 0
        for raw in plain.blocks(read_ahead=read_ahead):
            if not isinstance(raw, Block):
                raise ParameterError("a long table holds its labels", "labels beside it", "Name the column instead.")
            place = slice(done, done + len(raw))
            done += len(raw)
            if any(done > len(column) for column in labels.values()):
                raise RecordError("There must be one label per record", cure="There are fewer.")
            more: dict[str, Any] = {}
            if "groups" in labels:
                assert self.coder is not None
                more["groups"] = self.coder.column(labels["groups"][place])
            if "units" in labels:
                more["units"] = owners(labels["units"][place])
            yield replace(raw, **more)
        if any(done != len(column) for column in labels.values()):
            raise RecordError("There must be one label per record", cure="There are more.")

    def _blocks(self, on_file: Callable[[int, int], None] | None, read_ahead: bool) -> Iterator[Raw]:
        data = self.data
        if is_path(data):
            load_arrow()
            parts = self.parts()
            files = _each(parts)
            for raw, done in ahead(files) if read_ahead else files:
                if raw is not None:
                    yield raw
                elif on_file is not None:
                    on_file(done, len(parts))
        elif isinstance(data, Scan):
            yield from self._scanned(data)
        elif (curves := functional.curves_of(data, self.points, self.lenient)) is not None:
            yield from self._pieces(curves) if isinstance(curves, Pieces) else self._array(curves)
        elif hasattr(data, "iloc") and hasattr(data, "columns"):
            yield from self._pandas(data)
        elif hasattr(data, "to_numpy") and hasattr(data, "dtype") and self.columns is None:  # one column
            yield from self._array(data.to_numpy())
        elif hasattr(data, "__arrow_c_stream__") or _is_batch(data) or hasattr(data, "collect"):
            yield from self._arrow(data)
        elif hasattr(data, "__next__"):
            yield from self._batches_of(data)
        elif self._chooses:
            raise no_names(*self._asked, data)
        else:
            yield from self._array(data)

    @property
    def _asked(self) -> tuple[str, object]:  # the first option that names columns, and what it says
        asked = {
            "columns": self.columns, "ignore": self.ignore, "layout": self.layout, "by": self.by, "unit": self.unit
        }  # fmt: skip
        return next((name, value) for name, value in asked.items() if value is not None)

    def batches(self) -> Iterator[np.ndarray]:  # values of blocks of rows
        for raw in self.blocks():
            assert isinstance(raw, Block)
            yield np.asarray(raw.values, dtype=float)

    def labelled(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:  # values, and the number of each record's group
        for raw in self.blocks():
            assert isinstance(raw, Block) and raw.groups is not None  # noqa: PT018
            yield np.asarray(raw.values, dtype=float), raw.groups

    def values_per_curve(self) -> int:
        """Number of values per curve, as names, types or the shape say, else the first records."""
        if (width := self.first().curve_width()) is not None:
            return width
        first = next(iter(self.blocks()), None)
        if first is None:
            raise RecordError("The data holds no records", cure="Check the path and the columns.")
        if not isinstance(first, Block) or first.starts is not None:
            raise ParameterError(
                "curves at their own times need a grid", "none", "Pass grid=dp.Grid.uniform(0, 24, 48)."
            )
        return int(first.values.shape[1])

    # -- in memory ------------------------------------------------------------------------

    def _array(self, values: object, first: int = 0) -> Iterator[Block]:
        array = rows_of(values, self.width, self.lenient)
        if isinstance(values, np.ndarray) and self.width not in (None, array.shape[1]):
            raise wrong_width(array.shape[1], self.width)
        plain = array.dtype in AS_THEY_ARE
        rows = rows_at_once(array.shape[1]) if plain else _rows_per_batch(array.shape[1])
        for start in range(0, len(array), rows):
            batch = array[start : start + rows]
            if not plain:
                with np.errstate(all="ignore"):  # what a value does in a cast is nobody's business
                    batch = np.asarray(batch, dtype=float)
            yield Block(batch, np.arange(first + start, first + start + len(batch)))

    def _pieces(self, pieces: Pieces) -> Iterator[Block]:
        count = max(1, BATCH_BYTES // (8 * (self.width or 1)))
        for start in range(0, len(pieces), count):
            starts = pieces.starts[start : start + count + 1]
            where = slice(int(starts[0]), int(starts[-1]))
            rows = np.arange(start, start + starts.size - 1)
            yield Block(pieces.values[where], rows, pieces.times[where], starts - starts[0])

    def _pandas(self, frame: Any) -> Iterator[Raw]:
        names, roles = [str(name) for name in frame.columns], self.roles
        if self._chooses:
            _check_different(names)
        values = roles.values(names) if self._chooses else names
        yield from frames.blocks(frame, roles, values, roles.asides, _rows_per_batch(len(values)))

    def _arrow(self, data: Any) -> Iterator[Raw]:
        """Anything that speaks Arrow; a polars frame gives only its chosen columns away."""
        batches: Any = None
        try:
            check_kinds(data)
            if lazy_frames.is_lazy(data):
                names = list(data.collect_schema())
                names = self.chosen(names) if self._chooses else names
                batches = lazy_frames.batches(data, names)
            else:
                data = data.collect() if hasattr(data, "collect") else data
                if hasattr(data, "get_columns") and self._chooses:
                    data = data.select(self.chosen(list(data.columns)))
                data = pa.Table.from_batches([data]) if _is_batch(data) else data
                batches = data.to_batches() if _is_table(data) else pa.RecordBatchReader.from_stream(data)
                names = (data if _is_table(data) else batches).schema.names
        except DpfdaError:
            raise
        except Exception:  # of another package: its text may quote a cell, so it must not become our error's context
            batches = None
        if batches is None:
            raise FileError("The table cannot be read: a cell, or the type of a column. Choose numeric columns.")
        yield from self._record_batches(names, quietly(batches), Room())

    def _scanned(self, scan: Scan) -> Iterator[Raw]:
        """Rows of another program, anew, of the chosen columns alone."""
        load_arrow()
        names = list(scan.schema().names)
        _check_different(names)
        chosen = self.chosen(names)
        numbers = [name for name in self.roles.values(names) if name != self.roles.stamped]
        words = [name for name in chosen if name not in numbers]
        batches = (batch.select(chosen) for batch in scan.batches(numbers, words))
        yield from self._record_batches(chosen, batches, Room())

    def _record_batches(self, names: list[str], batches: Iterable[pa.RecordBatch], room: Room) -> Iterator[Raw]:
        roles, first = self.roles, 0
        if self._chooses:
            _check_different(names)
        elif len(set(names)) < len(names):
            unique = [f"{i} {name}" for i, name in enumerate(names)]
            batches, names = (batch.rename_columns(unique) for batch in batches), unique
        values, chosen = roles.values(names), self.chosen(names)
        for batch in batches:
            batch = batch if batch.schema.names == chosen else batch.select(chosen)
            check_whole(batch)
            step = _rows_per_batch(len(values))
            for start in range(0, batch.num_rows, step):
                part = batch.slice(start, step)
                yield arrow_block(part, values, roles, first, self.file, room)
                first += part.num_rows
            batch = part = None  # what was decoded goes before more is

    def _batches_of(self, items: Iterator[Any]) -> Iterator[Raw]:
        """An iterator of batches (arrays, tables) or of single records: the first item says which.

        Where no record may decide how others are read they are records, unless the source says that they are batches,
        or columns are named, which only tables have.
        """
        first, own = 0, self
        batched = (isinstance(items, Batches) or self._chooses) if self.lenient else None
        for kind, item in classify_items(items, batched, self.lenient):
            if kind == "records":
                yield from self._array(item, first)
                first += len(item)
            elif kind == "lost":
                if not self.roles.asides:  # else nobody can say whose it is
                    yield Block(np.full((1, self.width or 1), np.nan), np.array([first]))
                first += 1
            else:
                start = first
                if own is self and self.layout is None and (names := names_of(item)) is not None:
                    own = replace(self, columns=self.roles.values(names))  # later batches are matched by name
                for raw in replace(own, data=item).blocks():
                    yield replace(raw, rows=raw.rows + start)
                    first = start + int(raw.rows[-1]) + 1

    # -- files ----------------------------------------------------------------------------

    def _file(self, place: Place, room: Room) -> Iterator[Raw]:
        """Blocks of one file; errors about its records name it where it is one of several."""
        try:
            if place.suffix in PARQUET:
                chosen = self.chosen(self.names() or [])
                held = _held(chosen, dict(self.partition))
                batches = (self._with_folders(batch, chosen) for batch in parquet.batches(place, held))
                yield from self._record_batches(chosen, batches, room)
                return
            if place.suffix not in TEXT:
                self.names()  # says so
            yield from self._text(place)
        except RecordError as error:
            raise error.within(self.file) if self.file else error from None

    def _with_folders(self, batch: pa.RecordBatch, chosen: list[str]) -> pa.RecordBatch:
        """The batch with the labels of its folders that were asked for, as columns."""
        values = self.roles.values(chosen)
        for name, label in self.partition:
            if name in chosen:
                counts = name in values and name != self.roles.stamped
                cell = pa.scalar(_as_number(label, name, self.lenient)) if counts else pa.scalar(label, pa.string())
                batch = batch.append_column(name, pa.repeat(cell, batch.num_rows))
        return batch

    def _text(self, place: Place) -> Iterator[Raw]:
        roles, folders = self.roles, dict(self.partition)
        width = self.width if roles.layout is None else None
        layout = text_layout.layout(place, self.header, self.lenient, width, self.text)
        chosen = self.columns is not None or self.ignore is not None or roles.layout is not None
        named = chosen or bool(set(roles.asides) - set(folders))
        if layout.names is None and named:
            asked, wanted = self._asked
            raise ParameterError(
                "columns can be named where a file has a header line",
                f"{asked}={shown(wanted)}",
                "Add one to the file, or leave this out.",
            )
        self.names()  # none of which is a folder's
        numbers = roles.values(layout.names) if layout.names else None
        if self.lenient and numbers and roles.layout is None and self.width not in (None, len(numbers)):
            raise wrong_width(len(numbers), self.width)
        words = roles.asides
        if roles.stamped is not None:
            assert isinstance(roles.layout, Long)
            words, numbers = [*words, roles.stamped], [roles.layout.value]
        held = None if numbers is None else _held(numbers, folders)
        first = 0
        for values, columns in delimited.rows(
            place,
            layout,
            held,
            [word for word in words if word not in folders],
            self.lenient,
            BATCH_BYTES,
            roles.owners,
        ):
            own = iter(columns)
            labels = {word: [folders[word]] * len(values) if word in folders else next(own) for word in words}
            if numbers is not None and held != numbers:
                cells = iter(values.T)
                full = [
                    np.full(len(values), _as_number(folders[name], name, self.lenient))
                    if name in folders
                    else next(cells)
                    for name in numbers
                ]
                values = np.column_stack(full)
            if roles.stamped is not None:
                times = stamps(pa.array(labels.pop(roles.stamped), pa.string()), roles.zone, self.lenient)
                values = np.column_stack([times, values])
            yield roles.block(values, {word: texts(column) for word, column in labels.items()}, first, self.file)
            first += len(values)


def _check_different(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise FileError("Column names repeat; every column needs its own.")


def _held(chosen: list[str], folders: Container[str]) -> list[str]:
    """Those of the chosen columns that are in the file itself."""
    held = [name for name in chosen if name not in folders]
    if not held:
        raise ParameterError("some column of values is in the files", "folders alone", "Name one: columns=['value'].")
    return held


def _as_number(label: str | None, name: str, lenient: bool) -> float:
    """The label of a folder as a value."""
    value = math.nan if label is None else number(label)
    if value is None and not lenient:
        raise RecordError("A folder does not hold a number", column=name, cure="Name other columns of values.")
    return math.nan if value is None else value


def _each(parts: list[Source]) -> Generator[tuple[Raw | None, int], None, None]:
    """Blocks of file after file, and how many files are done; after each of them, a word without a block."""
    room = Room()  # for all of them
    for place, part in enumerate(parts):
        for raw in part._file(Place(part.data), room):
            yield raw, place
        yield None, place + 1


def _as_list(labels: Any) -> list[Any]:
    try:
        return list(labels)
    except TypeError:
        raise ParameterError("labels are one per record", shown(labels), "Pass a column's name, or a list.") from None


def _rows_per_batch(width: int) -> int:
    return max(1, BATCH_BYTES // (8 * max(1, width)))


def _is_batch(data: object) -> bool:
    return arrow_loaded() and isinstance(data, pa.RecordBatch)


def _is_table(data: object) -> bool:
    return arrow_loaded() and isinstance(data, pa.Table)
