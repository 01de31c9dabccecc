"""Arrow, loaded when a table or a file is first read."""

from __future__ import annotations

import sys
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

__all__ = ["arrow_loaded", "compute", "csv", "load_arrow", "pa", "parquet"]


def load_arrow() -> None:
    """Before a file is opened. Arrow loads pandas, if it is installed, for the first numbers that it hands over, and
    whoever interrupts it there is not heard."""
    for name in ("pyarrow.csv", "pyarrow.parquet"):
        import_module(name)
    with suppress(ImportError):
        import_module("pandas")


def arrow_loaded() -> bool:
    """Before that, nothing is of a kind that Arrow makes, and none need be looked at."""
    return "pyarrow" in sys.modules
