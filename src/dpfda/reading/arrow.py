"""Arrow, loaded when a table or a file is first read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from dpfda.core.lazy import lazy

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as compute
    import pyarrow.csv as csv
    import pyarrow.parquet as parquet
else:
    pa = lazy("pyarrow")
    compute, csv, parquet = lazy("pyarrow.compute"), lazy("pyarrow.csv"), lazy("pyarrow.parquet")

__all__ = ["arrow_loaded", "compute", "csv", "file_schemas", "is_dataset", "load_arrow", "pa", "parquet"]


def load_arrow() -> None:
    """Before a file is opened. Arrow loads pandas, if it is installed, for the first numbers that it hands over, and
    whoever interrupts it there is not heard."""
    for name in ("pyarrow.csv", "pyarrow.parquet"):
        import_module(name)
    with suppress(ImportError):
        import_module("pandas")


def is_dataset(data: object) -> bool:
    """Whether data is a dataset of Arrow, or a scanner of one; what is not loaded has made none."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(data, module.Dataset | module.Scanner)


def file_schemas(dataset: object, schema: pa.Schema) -> Iterator[pa.Schema]:
    """What every file of a dataset of this schema has by itself, also of those that a filter leaves out."""
    whole = import_module("pyarrow.dataset").UnionDataset(schema, [dataset])  # which knows no filter
    return (file.physical_schema for file in whole.get_fragments())


def arrow_loaded() -> bool:
    """Before that, nothing is of a kind that Arrow makes, and none need be looked at."""
    return "pyarrow" in sys.modules
