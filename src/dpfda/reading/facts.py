"""Sources of records: where they are and how to read them, and what is known of them without reading a record.

Names, types and shapes are public; what records hold is not looked at here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from dpfda.core.errors import FileError, ParameterError
from dpfda.core.labels import Coder
from dpfda.reading import delimited, functional, parquet
from dpfda.reading.arrow import arrow_loaded, pa
from dpfda.reading.blocks import Raw
from dpfda.reading.layouts import Long, as_layout
from dpfda.reading.places import PARQUET, TEXT, Place, expanded, is_path
from dpfda.reading.tables import TEXT_LABELS, Columns, Roles, label_kind


@dataclass(frozen=True, repr=False)
class SourceFacts:
    """Where records come from and how to read them: all public.

    `columns` picks value columns of tables and files; `header` says whether a text file begins
    with names (None looks at the first line, which `lenient` reading must not do); `width` is the
    number of values a usable record has, `points` the grid they must live on. `by` is a column of
    public labels, or one label per record; `coder` numbers them. `unit` (and `order`) name the columns that
    say whose a record is, or `units` says it for each record. `file` is the name of one of several files, for
    messages; `held` are the blocks of a source that is used up by reading.
    """

    data: Any
    columns: Columns = None
    header: bool | None = None
    lenient: bool = False
    width: int | None = None
    points: np.ndarray | None = None
    by: Any = None
    coder: Coder | None = None
    layout: Any = None
    unit: str | None = None
    order: str | None = None
    units: Any = None
    file: str = ""
    held: list[Raw] | None = None
    ignore: Columns = None

    @property
    def labels_beside(self) -> bool:  # beside the data, one per record
        return self.units is not None or not (self.by is None or isinstance(self.by, str))

    @property
    def _roles(self) -> Roles:
        by = self.by if isinstance(self.by, str) else None
        return Roles(
            as_layout(self.layout), self.columns, by, self.unit, self.order, self.coder, self.lenient, self.width,
            self.ignore,
        )  # fmt: skip

    @property
    def key_name(self) -> str:  # the column whose equal labels belong together, the outermost of them
        layout = as_layout(self.layout)
        name = self.unit or (layout.id if isinstance(layout, Long) else None)
        assert name is not None
        return name

    @property
    def labels(self) -> tuple[str, str]:  # that column, and what it is compared as (in files, where it can be told)
        name = "" if self.units is not None else self.key_name
        if self.units is not None or not is_path(self.data):
            return name, ""
        place = expanded(self.data)[0]
        return name, dict(zip(self._roles.asides, self.label_kinds(place), strict=True)).get(name, "")

    @property
    def in_memory(self) -> bool:  # so that records can be put in order
        return not (is_path(self.data) or self.single_use)

    def parts(self) -> list[Self]:
        """The same data in pieces that can be read apart: file by file."""
        if not is_path(self.data) or self.labels_beside:
            return [self]
        places = expanded(self.data)
        if len(places) == 1:
            return [replace(self, data=places[0].path)]
        values, kinds = [self.value_names(place) for place in places], [self.label_kinds(place) for place in places]
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
        chosen = values[0] if as_layout(self.layout) is None else self.columns
        return [replace(self, data=place.path, columns=chosen, file=place.name) for place in places]

    def value_names(self, place: Place) -> list[str] | None:  # none in a text file without names
        names = self._names_in(place)
        return None if names is None else self._roles.values(names)

    def width_of(self, place: Place) -> int:  # values of a curve, as names and types say
        names = self.value_names(place) or []
        if place.suffix in PARQUET and len(names) == 1:
            kind = parquet.schema(place).field(names[0]).type
            return kind.list_size if pa.types.is_fixed_size_list(kind) else 1
        return len(names)

    def label_kinds(self, place: Place) -> list[str]:
        """What the columns of labels in a file are compared as: texts in text files, else by their type."""
        names = self._roles.asides
        if not names or place.suffix not in PARQUET:
            return [TEXT_LABELS] * len(names)
        schema = parquet.schema(place)
        return [label_kind(schema.field(name).type) for name in names]

    def _names_in(self, place: Place) -> list[str] | None:
        if place.suffix in PARQUET:
            return parquet.names(place)
        place.open().close()  # what is not there is said first
        if place.suffix not in TEXT:
            raise FileError(f"Files must end in .csv, .tsv, .txt, .parquet or .pq, and {place.name!r} does not.")
        return delimited.layout(place, self.header, self.lenient, self.width).names

    def column_names(self) -> list[str]:
        """Names of the columns of a file, the first of several."""
        names = replace(self, width=None)._names_in(expanded(self.data)[0])
        if names is None:
            raise ParameterError("columns need a header line", "a file without names", "Add one.")
        return names

    @property
    def by_records(self) -> bool:
        """Whether only the records themselves say how many values they have (no shape, no schema)."""
        if as_layout(self.layout) is not None or isinstance(self.data, list | tuple):
            return True
        if hasattr(self.data, "iloc"):
            return len(self._roles.values([str(name) for name in self.data.columns])) == 1
        if not is_path(self.data):
            return self._lists_only(getattr(self.data, "schema", None))
        place = expanded(self.data)[0]
        if place.suffix in PARQUET:
            return self._lists_only(parquet.schema(place))
        return self.header is False or self.value_names(place) is None  # names say how many columns there are

    def _lists_only(self, schema: object) -> bool:
        """Whether a schema does not say how long a curve is: one column of values, lists of any length."""
        if not (arrow_loaded() and isinstance(schema, pa.Schema)):
            return False
        values = self._roles.values(schema.names)
        return len(values) == 1 and not pa.types.is_fixed_size_list(schema.field(values[0]).type)

    @property
    def irregular(self) -> bool:
        """Whether curves come at their own times."""
        layout = as_layout(self.layout)
        own = layout is not None and (isinstance(layout, Long) or layout.times is not None)
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
        table = hasattr(data, "columns") and (hasattr(data, "iloc") or hasattr(data, "get_columns"))
        array = isinstance(data, np.ndarray) and (data.ndim == 2 or (data.ndim == 1 and self.width == 1))
        arrow = not array and arrow_loaded() and isinstance(data, pa.Table | pa.RecordBatch)
        counts = array or arrow or (table and not hasattr(data, "collect"))
        return self.size_hint() if counts or is_path(data) else None

    def unnamed(self) -> list[str]:
        """Columns of which nothing was said, as the names of a table or file tell: none where all others are values."""
        names = self._public_names()
        return [] if names is None or not self._chooses else self._roles.unnamed(names)

    def _public_names(self) -> list[str] | None:
        if is_path(self.data):
            return self._names_in(expanded(self.data)[0])
        return functional.names_of(self.data)

    @property
    def _chooses(self) -> bool:
        chosen = self.columns is not None or self.ignore is not None
        return chosen or bool(self._roles.asides) or self._roles.layout is not None

    def chosen(self, names: Sequence[str]) -> list[str]:  # value columns, then those of labels
        roles = self._roles
        return list(dict.fromkeys([*roles.values(names), *roles.asides]))
