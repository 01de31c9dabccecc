"""Lakes: files in folders called ``name=value``, as Hive, Spark, DuckDB and pandas write them.

Such a folder is a column of every file below it, the same for all rows: a label, compared as text. Labels of folders
are labels of records: no message shows one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from urllib.parse import unquote

from dpfda.core.errors import FileError

#: The folder of records without a label.
NO_LABEL = "__HIVE_DEFAULT_PARTITION__"
#: Folders in which tables keep their history, and what reads such a table as it is now.
TABLES = {
    "_delta_log": ("Delta Lake", "DeltaTable(...).to_pyarrow_dataset(), of the package deltalake"),
    ".hoodie": ("Hudi", "a query of Spark"),
}
Partition = tuple[tuple[str, str | None], ...]


def is_partition(folder: str) -> bool:
    """Whether a folder is called ``name=value``.

    >>> [is_partition(name) for name in ("region=north", "north", "_region=north", "=north")]
    [True, False, False, False]
    """
    return "=" in folder[1:] and not folder.startswith(("_", ".", "="))


def labels_of(path: str) -> Partition:
    """Names and labels of the folders that a file lies in, the outermost first; a label may be missing.

    >>> labels_of("lake/region=new%20york/month=3/part-0.parquet")
    (('region', 'new york'), ('month', '3'))
    """
    folders = path.partition("://")[2].split("/")[:-1] if "://" in path else PurePath(path).parts[:-1]
    pairs = [folder.partition("=") for folder in folders if is_partition(folder)]
    return tuple((unquote(name), None if value in (NO_LABEL, "") else unquote(value)) for name, _, value in pairs)


def offered(
    names: Sequence[str], folders: Sequence[str], asides: Sequence[str], columns: str | Sequence[str] | None
) -> list[str]:
    """Columns that may be values: none that has another role, and a folder only where it is named."""
    named = () if columns is None or isinstance(columns, str) else columns
    hidden = {*asides, *(name for name in folders if name not in named)}
    return [name for name in dict.fromkeys([*names, *folders]) if name not in hidden]


def _called(names: Sequence[str]) -> str:
    return "/".join(f"{name}=..." for name in names) or "no name=value"


def check_alike(files: Sequence[tuple[str, Partition]]) -> None:
    """Refuse files, each with its partition, that do not lie in folders of the same names."""
    first = [name for name, _ in files[0][1]]
    for file, partition in files:
        names = [name for name, _ in partition]
        if len(set(names)) < len(names):
            raise FileError(f"{file!r} lies in two folders of one name. Every level of folders needs its own.")
        if names != first:
            raise FileError(
                f"{file!r} lies in folders called {_called(names)}, and {files[0][0]!r} in {_called(first)}. Files of "
                "one release lie in folders of the same names, equally deep."
            )


def check_plain_files(folder: str, inside: Sequence[str]) -> None:
    """Refuse a table that keeps old rows beside those that count: they would count twice."""
    for name in inside:
        if name in TABLES:
            (kind, cure), called = TABLES[name], PurePath(folder).name
            called = f"{called.partition('=')[0]}=..." if is_partition(called) else called
            raise FileError(
                f"The folder {called!r} is a table of {kind}: some of its files hold rows that have "
                f"been replaced or removed. Read it as it is now: {cure}."
            )
