"""Rows of other programs that can be read again: datasets of Arrow, tables and queries of databases.

Names and types come first, without a record; then rows come in batches, of the chosen columns alone, anew for every
pass. What other programs say when they balk may quote a cell, and stays unsaid.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from dpfda.core.errors import DpfdaError, FileError
from dpfda.reading.arrow import file_schemas
from dpfda.reading.streams import quietly

if TYPE_CHECKING:
    from dpfda.reading.arrow import pa

T = TypeVar("T")
#: Bytes of numbers in a batch, about.
BATCH_BYTES = 1 << 23


class Scan(ABC):
    """Rows that can be read again and again."""

    #: What to call it in messages.
    what = "table"
    #: How to have units, whose rows must meet, where there are too many rows to gather them.
    sort_cure = "sort it by {key}"

    @property
    def guessed(self) -> str:
        """What it is where one record may decide how others are read, and the cure; empty where types are declared."""
        return ""

    @abstractmethod
    def schema(self) -> pa.Schema:
        """Names and types of the columns; no record is looked at."""

    @abstractmethod
    def rows(self, numbers: Sequence[str], texts: Sequence[str], count: int) -> Iterator[pa.RecordBatch]:
        """About `count` rows at a time: columns that are numbers, then those that are labels."""

    def batches(self, numbers: Sequence[str], texts: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The same without the words of others."""
        count = max(1, BATCH_BYTES // (8 * max(1, len(numbers) + len(texts))))
        cure = "Check what it reads; a cell that a cast or a type cannot take stops it."
        return quietly(self.rows(numbers, texts, count), f"The {self.what} breaks off", cure)

    def __repr__(self) -> str:
        return self.what


def told(step: Callable[[], T], problem: str, cure: str) -> T:
    """What a step of another package gives; whatever it raises is said by its kind alone."""
    try:
        return step()
    except DpfdaError:
        raise
    except Exception as error:  # its text may quote a cell, so it must not become our error's context
        kind = type(error).__name__
    raise FileError(f"{problem} ({kind}). {cure}")


class Dataset(Scan):
    """A dataset of Arrow, or a scanner of one: as it is, rows in their order."""

    what = "dataset"

    def __init__(self, data: object):
        self._data: Any = data
        self._whole = not hasattr(data, "projected_schema")  # else a scanner, which has chosen already

    @property
    def guessed(self) -> str:
        if not self._whole:
            return "a scanner, which does not say where its rows come from. Pass the dataset itself"
        if {"csv", "json"} & set(_formats(self._data)):
            return "a dataset of text files, whose types Arrow guesses from rows. Name the files instead"
        if not told(self._declares_its_files, "The dataset cannot be read", "Check its files."):
            return "a dataset whose files have other types than it, so that a cell decides. Name the files instead"
        return ""

    def _declares_its_files(self) -> bool:
        """Whether every file has the types of the dataset: from others Arrow casts cells, and stops at one."""
        declared = {column.name: column.type for column in self._data.schema}
        return all(
            column.type == declared.get(column.name, column.type)
            for schema in file_schemas(self._data, self._data.schema)
            for column in schema
        )

    def schema(self) -> pa.Schema:
        return self._data.schema if self._whole else self._data.projected_schema

    def rows(self, numbers: Sequence[str], texts: Sequence[str], count: int) -> Iterator[pa.RecordBatch]:
        if not self._whole:
            return (batch for batch in self._data.to_reader())
        near = {"batch_readahead": 1, "fragment_readahead": 1, "use_threads": False, "cache_metadata": False}
        return iter(self._data.scanner(columns=[*numbers, *texts], batch_size=count, **near).to_batches())


def _formats(dataset: object) -> list[str]:
    """The formats of a dataset and of those that it is made of."""
    own = getattr(getattr(dataset, "format", None), "default_extname", None)
    inner = [kind for child in getattr(dataset, "children", None) or () for kind in _formats(child)]
    return inner if own is None else [str(own), *inner]
