"""SQLite by ADBC, cell by cell.

SQLite gives every cell a type of its own, and its driver guesses that of a column from the first rows: a text among
numbers would make texts of them all, or stop the run, for everybody. So the query is asked for cells that have one
type: numbers where a cell holds one (else nothing), labels as texts. A row that is nobody's comes first, to show the
driver what the types are, and is taken away again. (A label that is a number is spelt as it is elsewhere: 3.0 is 3.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dpfda.core.errors import FileError

if TYPE_CHECKING:
    from dpfda.reading.arrow import pa


def typed_query(query: str, numbers: Sequence[str], texts: Sequence[str]) -> str:
    """The query with typed cells, after one row that shows the types."""
    names = [quoted(name) for name in [*numbers, *texts]]
    kinds = ["0.5"] * len(numbers) + ["'x'"] * len(texts)
    first = ", ".join(f"{kind} AS {name}" for kind, name in zip(kinds, names, strict=True))
    cells = [*map(_number, names[: len(numbers)]), *map(_text, names[len(numbers) :])]
    return f"SELECT {first} UNION ALL SELECT {', '.join(cells)} FROM (\n{query}\n)"


def without_first(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches of such a query without the row that shows the types."""
    first = next(batches, None)
    shown = [0.5, "x"]
    if first is None or not first.num_rows or any(column[0].as_py() not in shown for column in first.columns):
        raise FileError("SQLite gave the rows of the query in an unforeseen order. Copy them to DuckDB or Parquet.")
    yield first.slice(1)
    yield from batches


def quoted(name: str) -> str:
    """A name of a column as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _number(name: str) -> str:
    return f"CASE typeof({name}) WHEN 'integer' THEN CAST({name} AS REAL) WHEN 'real' THEN {name} END"


def _text(name: str) -> str:
    whole = f"{name} = CAST({name} AS INTEGER) AND abs({name}) < 9.2e18"
    real = f"CASE WHEN {whole} THEN CAST(CAST({name} AS INTEGER) AS TEXT) ELSE CAST({name} AS TEXT) END"
    return f"CASE typeof({name}) WHEN 'real' THEN {real} ELSE CAST({name} AS TEXT) END"
