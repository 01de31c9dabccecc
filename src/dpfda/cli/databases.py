"""Database files on the command line: opened for reading only, by what they are and not by what they are called."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from dpfda.core.errors import FileError, ParameterError
from dpfda.reading.databases import as_query
from dpfda.reading.places import Place
from dpfda.reading.scans import Scan

#: What the file of a database begins with, and where.
MARKS = {"DuckDB": (8, b"DUCK"), "SQLite": (0, b"SQLite format 3\x00")}
#: What DuckDB holds at a time; what it sorts beyond that goes to its own files.
MEMORY = "2GB"


def database_of(files: list[str]) -> str | None:
    """What kind of a database the one file is, if it is one."""
    if len(files) != 1 or not os.path.isfile(files[0]):
        return None
    with Place(files[0]).open() as file:
        start = file.read(16)
    return next((kind for kind, (at, mark) in MARKS.items() if start[at : at + len(mark)] == mark), None)


def check_sql(files: list[str], query: str | None) -> None:
    """A database needs a query, and anything else has none."""
    kind = database_of(files)
    if kind is not None and query is None:
        raise ParameterError(f"{Place(files[0]).name!r} is a database of {kind}", "no query", CURE)
    if kind is None and query is not None:
        for path in files:
            Place(path).open().close()  # what is not there is said first
        raise ParameterError(
            "--sql asks a database of DuckDB or SQLite, one file", "other files", "Drop it, or name the database."
        )


CURE = "Pass --sql 'select * from TABLE', with the columns that are to be read."


@contextmanager
def asked(path: str, query: str) -> Iterator[Scan]:
    """The rows of a query, while the database is open for reading."""
    connection: Any = None
    try:
        connection = _opened(path)
    except ImportError:
        raise ParameterError("a database needs its driver", "none installed", "Install dpfda[sql].") from None
    except Exception as error:  # of another package; its text may quote anything
        kind = type(error).__name__
    if connection is None:
        raise FileError(f"{Place(path).name!r} cannot be opened ({kind}). Close whatever writes to it, or copy it.")
    try:
        yield as_query(query, connection)
    finally:
        connection.close()


def _opened(path: str) -> object:
    if database_of([path]) == "DuckDB":
        import duckdb

        return duckdb.connect(path, read_only=True, config={"memory_limit": MEMORY})
    import adbc_driver_sqlite.dbapi

    return adbc_driver_sqlite.dbapi.connect(f"file:{quote(os.path.abspath(path))}?mode=ro")
