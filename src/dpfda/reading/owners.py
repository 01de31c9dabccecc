"""Names of columns that say whose a record is."""

from __future__ import annotations

from collections.abc import Sequence

OWNERS = (
    "id", "household", "home", "person", "patient", "subject", "customer", "user", "meter", "member", "participant",
    "pid",
)  # fmt: skip


def owners_among(names: Sequence[str]) -> list[str]:
    """Those of the names that any table may use for whoever a record belongs to.

    >>> owners_among(["h0", "Patient", "site_id"])
    ['Patient', 'site_id']
    """
    return [n for n in names if n.lower().strip("_ ") in OWNERS or n.lower().endswith(("_id", " id", "-id"))]
