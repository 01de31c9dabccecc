"""Names of columns, as a table of any kind tells them: no record is looked at."""

from __future__ import annotations

from dpfda.reading.lazy_frames import is_lazy
from dpfda.reading.scans import Scan


def names_of(data: object) -> list[str] | None:
    """All columns of a table, a query or a frame of a cluster; None of what has no names, such as an array."""
    if isinstance(data, Scan):
        return list(data.schema().names)
    if is_lazy(data):
        try:
            return list(data.collect_schema())
        except Exception:  # whoever reads the data finds out again, and says so in our words
            return None
    names = getattr(getattr(data, "schema", None), "names", None)  # of Arrow and Spark; of others, a function
    names = getattr(data, "columns", None) if names is None or callable(names) else names
    return None if names is None or callable(names) else [str(name) for name in names]
