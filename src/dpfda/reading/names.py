"""Names of columns, as a table of any kind tells them, and what they tell: no record is looked at."""

from __future__ import annotations

from collections.abc import Sequence

from dpfda.reading.lazy_frames import is_lazy
from dpfda.reading.scans import Scan

#: What any table may call whoever a record belongs to.
OWNERS = (
    "id", "household", "home", "person", "patient", "subject", "customer", "user", "meter", "member", "participant",
    "pid", "index_level_0",  # the last is an index that pandas writes into Parquet
)  # fmt: skip


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


def owners_among(names: Sequence[str]) -> list[str]:
    """Those of the names that any table may use for whoever a record belongs to.

    >>> owners_among(["h0", "Patient", "site_id"])
    ['Patient', 'site_id']
    """
    return [n for n in names if is_common(n) or n.lower().endswith(("_id", " id", "-id"))]


def is_common(name: str) -> bool:
    """Whether a name is one that any table may have. Only such are shown: a first record may have been taken for names.

    >>> [is_common(name) for name in ("Patient", "ann_id")]
    [True, False]
    """
    return name.lower().strip("_ ") in OWNERS
