"""Sources of records: where they are and how to read them, and what is known of them without reading a record.

Names, types and shapes are public; what records hold is not looked at here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from dpfda.core.errors import FileError
from dpfda.core.labels import Coder
from dpfda.reading import functional, parquet, text_layout
from dpfda.reading.arrow import arrow_loaded, pa
from dpfda.reading.blocks import Raw
from dpfda.reading.dialect import Dialect
from dpfda.reading.lakes import Partition, check_alike
from dpfda.reading.layouts import Layout, Long
from dpfda.reading.lazy_frames import is_lazy
from dpfda.reading.names import names_of
from dpfda.reading.places import DATABASES, PARQUET, TEXT, Place, expanded, is_path
from dpfda.reading.roles import Columns, Roles
from dpfda.reading.scans import Scan
from dpfda.reading.tables import TEXT_LABELS, label_kind


@dataclass(frozen=True, repr=False)
class SourceFacts:
    """Where records come from and how to read them: all public.

    `columns` picks value columns of tables and files; `header` says whether a text file begins
    with names (None looks at the first line, which `lenient` reading must not do); `width` is the
    number of values a usable record has, `points` the grid they must live on. `by` is a column of
    public labels, or one label per record; `coder` numbers them. `unit` (and `order`) name the columns that
    say whose a record is, or `units` says it for each record. `file` is the name of one of several files, for
    messages; `partition` is what the folders of one file say of its records; `held` are the blocks of a source that
    is used up by reading; `text` is how text files are written.
    """

    data: Any
    columns: Columns = None
    header: bool | None = None
    lenient: bool = False
    width: int | None = None
    points: np.ndarray | None = None
    by: Any = None
    coder: Coder | None = None
    layout: Layout = None
    unit: str | None = None
    order: str | None = None
    units: Any = None
    file: str = ""
    partition: Partition = ()
    held: list[Raw] | None = None
    ignore: Columns = None
    text: Dialect = field(default_factory=Dialect)

    @property
    def labels_beside(self) -> bool:  # beside the data, one per record
        return self.units is not None or not (self.by is None or isinstance(self.by, str))

    @property
    def roles(self) -> Roles:
        by = self.by if isinstance(self.by, str) else None
        folders = tuple(name for name, _ in self.partition)
        return Roles(
            self.layout, self.columns, by, self.unit, self.order, self.coder, self.lenient, self.width,
            self.ignore, folders,
        )  # fmt: skip

    def at(self, place: Place) -> Self:
        """One of its files."""
        return replace(self, data=place.path, partition=place.partition)

    def first(self) -> Self:
        """The first of its files, which has the columns of all; anything else as it is."""
        return self.at(expanded(self.data)[0]) if is_path(self.data) else self

    @property
    def key_name(self) -> str:  # the column whose equal labels belong together, the outermost of them
        return self.unit or (self.layout.id if isinstance(self.layout, Long) else "unit")

    @property
    def labels(self) -> tuple[str, str]:  # that column, and what it is compared as (in files, where it can be told)
        name = "" if self.units is not None else self.key_name
        if self.units is not None or not is_path(self.data):
            return name, ""
        return name, dict(zip(self.roles.asides, self.first().label_kinds(), strict=True)).get(name, "")

    @property
    def in_memory(self) -> bool:  # so that records can be put in order
        return not (is_path(self.data) or self.single_use or isinstance(self.data, Scan))

    def parts(self) -> list[Self]:
        """The same data in pieces that can be read apart: file by file."""
        if not is_path(self.data) or self.labels_beside:
            return [self]
        places = expanded(self.data)
        check_alike([(place.name, place.partition) for place in places])
        files = [self.at(place) for place in places]
        if len(files) == 1:
            return files
        values, kinds = [file.value_names() for file in files], [file.label_kinds() for file in files]
        for place, names, kind in zip(places, values, kinds, strict=True):
            if (names is None) != (values[0] is None) or (names and set(names) != set(values[0] or ())):
                raise FileError(
                    f"{place.name!r} has other columns than {places[0].name!r}. Files of one release need the same."
                )
            if kind != kinds[0]:
                raise FileError(
                    f"{place.name!r} has labels of another type ({', '.join(kind)}) than {places[0].name!r} "
                    f"({', '.join(kinds[0])}). They are not compared: store them alike."
                )
        chosen = values[0] if self.layout is None else self.columns
        return [replace(file, columns=chosen, file=place.name) for file, place in zip(files, places, strict=True)]

    # -- columns: of a table, a query, or one file -------------------------------------------

    def names(self) -> list[str] | None:
        """All columns that it holds, which its folders must not have too; None where they have no names."""
        if not is_path(self.data):
            return names_of(self.data)
        place = Place(self.data)
        found = self._names_in(place)
        for name, _ in self.partition:
            if name in (found or ()):
                raise FileError(
                    f"{name!r} is a column of {place.name!r} and the name of its folder. Drop or rename the column."
                )
        return found

    def _names_in(self, place: Place) -> list[str] | None:
        if place.suffix in PARQUET:
            return parquet.names(place)
        place.open().close()  # what is not there is said first
        if place.suffix in DATABASES:
            raise FileError(f"{place.name!r} is a database. Pass dp.sql('select * from TABLE', connection) instead.")
        if place.suffix not in TEXT:
            raise FileError(
                "Files must end in .csv, .tsv or .txt (also .gz or .zst after it), .parquet or .pq, and "
                f"{place.name!r} does not. Save it as one of these."
            )
        if self.header is False:  # what it begins with is a record, which is not looked at here
            return None
        return text_layout.layout(place, self.header, self.lenient, self.width, self.text).names

    def value_names(self) -> list[str] | None:
        """Columns of values; None where they have no names."""
        names = self.names()
        return None if names is None else self.roles.values(names)

    def unnamed(self) -> list[str]:
        """Columns of which nothing was said: none where all others are values."""
        names, folders = self.names(), [name for name, _ in self.partition]
        if names is None or not (self._chooses or folders):
            return []
        return self.roles.unnamed([*names, *folders])

    def schema(self) -> pa.Schema | None:
        """Names and declared types, where there are such."""
        if isinstance(self.data, Scan):
            return self.data.schema()
        if is_path(self.data):
            place = Place(self.data)
            return parquet.schema(place) if place.suffix in PARQUET else None
        found = None if is_lazy(self.data) else getattr(self.data, "schema", None)
        return found if arrow_loaded() and isinstance(found, pa.Schema) else None

    def label_kinds(self) -> list[str]:
        """What columns of labels are compared as: texts in text files and folders, else by their type."""
        names, folders = self.roles.asides, dict(self.partition)
        schema = None if set(names) <= set(folders) else self.schema()
        return [
            TEXT_LABELS if schema is None or name in folders else label_kind(schema.field(name).type) for name in names
        ]

    def curve_width(self) -> int | None:
        """Values of a curve, as names, types or the shape say; None where only records do."""
        if self.layout is not None:
            return None
        values = self.value_names()
        if values is None:
            shape: Any = getattr(self.data, "shape", ())
            return int(shape[1]) if len(shape) == 2 else None
        if len(values) > 1:
            return len(values)
        schema = self.schema()
        if schema is None or values[0] not in schema.names:
            return None
        kind = schema.field(values[0]).type  # one column may hold whole curves
        return kind.list_size if pa.types.is_fixed_size_list(kind) else None

    @property
    def by_records(self) -> bool:
        """Whether the records themselves say how many values they have, each its own number maybe."""
        if self.layout is not None or is_path(self.data) or isinstance(self.data, list | tuple):
            return True
        kind = getattr(self.data, "dtype", np.dtype(float))
        return names_of(self.data) is not None or getattr(kind, "kind", "O") == "O"

    # -- what kind of a source it is -----------------------------------------------------------

    @property
    def irregular(self) -> bool:
        """Whether curves come at their own times."""
        own = self.layout is not None and (isinstance(self.layout, Long) or self.layout.times is not None)
        return own or functional.is_irregular(self.data)

    @property
    def single_use(self) -> bool:
        """Whether reading once uses the data up."""
        if functional.cluster_of(self.data) is not None:
            return False
        stream = hasattr(self.data, "__arrow_c_stream__") and not hasattr(self.data, "__len__")
        return stream or hasattr(self.data, "__next__")

    def size_hint(self) -> int | None:
        """Number of rows if the source knows it without being read, for progress bars."""
        data = self.data
        if functional.cluster_of(data) is not None:
            return None  # counting would be a pass of its own
        if is_path(data):
            try:
                places = expanded(data)
            except FileError:
                return None
            return parquet.count(places) if all(place.suffix in PARQUET for place in places) else None
        return None if getattr(data, "ndim", 1) == 0 or not hasattr(data, "__len__") else len(data)

    def record_count(self) -> int | None:
        """Number of records where every row is one and shapes or footers say how many: of no other data."""
        data = self.data
        table = (hasattr(data, "iloc") or hasattr(data, "get_columns")) and hasattr(data, "columns")
        array = isinstance(data, np.ndarray) and (data.ndim == 2 or (data.ndim == 1 and self.width == 1))
        arrow = not array and arrow_loaded() and isinstance(data, pa.Table | pa.RecordBatch)
        counts = array or arrow or (table and not hasattr(data, "collect"))
        return self.size_hint() if counts or is_path(data) else None

    @property
    def _chooses(self) -> bool:
        chosen = self.columns is not None or self.ignore is not None
        return chosen or bool(self.roles.asides) or self.roles.layout is not None

    def chosen(self, names: Sequence[str]) -> list[str]:  # value columns, then those of labels
        roles = self.roles
        return list(dict.fromkeys([*roles.values(names), *roles.asides]))
