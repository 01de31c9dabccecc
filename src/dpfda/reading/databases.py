"""Queries of databases as rows that can be read again: DuckDB, and whatever an ADBC driver connects to.

No driver is imported here: a connection is known by its kind. Rows come as Arrow, batch by batch, and every pass runs
the query anew. Databases say with their errors what stands in a cell, so none of their texts gets through.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from dpfda.core.errors import ParameterError, shown
from dpfda.reading.arrow import is_dataset
from dpfda.reading.scans import Dataset, Scan, told
from dpfda.reading.sqlite_cells import quoted, typed_query, without_first

if TYPE_CHECKING:
    from dpfda.reading.arrow import pa

#: ADBC's databases (by the name that they give) in which every column has a declared type.
TYPED = ("postgresql", "duckdb", "snowflake", "bigquery", "redshift", "mysql", "microsoft sql server", "trino")
#: How to open what another driver has opened, by that driver's package.
OPENED_BY = {
    "sqlite3": "adbc_driver_sqlite.dbapi.connect('study.db')",
    "psycopg": "adbc_driver_postgresql.dbapi.connect('postgresql://...')",
    "psycopg2": "adbc_driver_postgresql.dbapi.connect('postgresql://...')",
    "asyncpg": "adbc_driver_postgresql.dbapi.connect('postgresql://...')",
    "snowflake": "adbc_driver_snowflake.dbapi.connect(...)",
}
ANY_DRIVER = "duckdb.connect('study.duckdb'), or the ADBC driver of your database (adbc_driver_postgresql, ...)"
#: How a query begins, after its comments.
COMMENTS = re.compile(r"--[^\n]*(?:\n|$)|/\*.*?\*/", re.DOTALL)
QUERIES = ("select", "with", "values", "from", "table")
RUN = "Run it in the database itself to see why: what it says may quote a cell, so it is not repeated here."


class Relation(Scan):
    """Rows of DuckDB: a relation, made anew by `make` where it is asked for."""

    what = "query"
    sort_cure = "add ORDER BY {key} to the query"

    def __init__(self, make: Callable[[], object]):
        self._make = make

    def schema(self) -> pa.Schema:
        relation: Any = told(self._make, "The query cannot be run", RUN)
        found: pa.Schema = told(lambda: relation.limit(0).to_arrow_table().schema, "The query cannot be run", RUN)
        return found

    def rows(self, numbers: Sequence[str], texts: Sequence[str], count: int) -> Iterator[pa.RecordBatch]:
        relation: Any = told(self._make, "The query cannot be run", RUN)
        chosen = relation.project(", ".join(quoted(name) for name in [*numbers, *texts]))
        read = chosen.to_arrow_reader if hasattr(chosen, "to_arrow_reader") else chosen.fetch_arrow_reader
        yield from read(count)


class AdbcQuery(Scan):
    """Rows of a query through an ADBC connection."""

    what = "query"
    sort_cure = Relation.sort_cure

    def __init__(self, query: str, connection: object):
        self._query = query
        self._connection: Any = connection

    @property
    def _vendor(self) -> str:
        info = told(self._connection.adbc_get_info, "The connection cannot be used", "Open it again.")
        return str(info.get("vendor_name", "")).lower()

    @property
    def guessed(self) -> str:
        if self._vendor in (*TYPED, "sqlite"):
            return ""
        return "a database that is not known to declare types. Copy the rows to DuckDB or Parquet, with types"

    def schema(self) -> pa.Schema:
        def declared() -> pa.Schema:
            with suppress(Exception), self._connection.cursor() as cursor:  # not every driver can tell before it runs
                return cursor.adbc_execute_schema(self._query)
            with self._connection.cursor() as cursor:
                cursor.execute(self._none() if self._vendor == "sqlite" else self._query)
                return cursor.fetch_record_batch().schema

        found: pa.Schema = told(declared, "The query cannot be run", RUN)
        return found

    def _none(self) -> str:
        return f"SELECT * FROM (\n{self._query}\n) LIMIT 0"

    def rows(self, numbers: Sequence[str], texts: Sequence[str], count: int) -> Iterator[pa.RecordBatch]:
        chosen, lite = [*numbers, *texts], self._vendor == "sqlite"
        with self._connection.cursor() as cursor:
            if lite:
                cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(count)})
            cursor.execute(typed_query(self._query, numbers, texts) if lite else self._query)
            batches = iter(cursor.fetch_record_batch())
            for batch in without_first(batches) if lite else batches:
                yield batch.select(chosen)


def as_query(query: object, connection: object) -> Scan:
    """A query of a connection; what is no connection, or one that gives no Arrow, is refused with the cure."""
    if not isinstance(query, str) or not query.strip():
        raise ParameterError("sql takes a query", shown(query), "Pass dp.sql('select * from days', connection).")
    text = query.strip().rstrip(";")
    home = type(connection).__module__.split(".")[0]
    if _is_duckdb(connection, "DuckDBPyConnection"):
        return Relation(lambda: _selected(connection, text))
    if hasattr(connection, "adbc_get_info") and hasattr(connection, "cursor"):
        if not COMMENTS.sub("", text).lstrip("( \t\r\n").lower().startswith(QUERIES):
            raise _no_query()
        return AdbcQuery(text, connection)
    cure = f"Open it with {OPENED_BY.get(home, ANY_DRIVER)}, and pass that."
    raise ParameterError("sql takes a connection of DuckDB or of an ADBC driver", type(connection).__name__, cure)


def _selected(connection: object, query: str) -> object:
    """The query, bound and not yet run; nothing but one query, so that reading changes nothing."""
    duck: Any = connection
    statements = duck.extract_statements(query)
    if len(statements) != 1 or statements[0].type.name != "SELECT":
        raise _no_query()
    return duck.sql(query)


def _no_query() -> ParameterError:
    return ParameterError(
        "sql takes one query that gives rows", "another statement, or several", "Pass a SELECT alone."
    )


def _is_duckdb(data: object, name: str) -> bool:
    return type(data).__module__.split(".")[0] in ("duckdb", "_duckdb") and type(data).__name__ == name


def as_scan(data: object) -> object:
    """Rows of other programs as a `Scan`; anything else as it is, except a connection, which holds no records."""
    if isinstance(data, Scan):
        return data
    if _is_duckdb(data, "DuckDBPyRelation"):
        return Relation(lambda: data)
    if _is_duckdb(data, "DuckDBPyConnection") or _connects(data):
        raise ParameterError(
            "records are rows, not a database", type(data).__name__, "Pass dp.sql('select * from days', connection)."
        )
    return Dataset(data) if is_dataset(data) else data


def _connects(data: object) -> bool:
    """Whether something is a connection to a database, or what makes or uses one, by its methods."""
    kind = type(data)
    if isinstance(data, str | list | tuple | dict) or kind.__module__.split(".")[0] in ("numpy", "pandas", "pyspark"):
        return False
    connection = hasattr(kind, "cursor") and hasattr(kind, "commit")
    return connection or hasattr(kind, "fetchone") or (hasattr(kind, "connect") and hasattr(kind, "dialect"))
