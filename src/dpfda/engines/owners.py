"""A word, before anything is read, about tables that may hold several records of one person.

It is decided by the names of columns alone, so that it tells nothing of what is in them.
"""

from __future__ import annotations

import warnings

from dpfda.core.errors import UnitWarning, outside
from dpfda.reading.layouts import Long
from dpfda.reading.names import is_common
from dpfda.reading.source import Source

DANGER = (
    "If somebody has several records here, the guarantee is about one of them, not about all: k of them together are "
    "protected at k times epsilon only."
)


def warn_of_owners(source: Source, has_units: bool) -> None:
    """Warn where a table has columns of which nothing was said; `has_units` where records may belong to a unit."""
    unnamed, layout = source.first().unnamed(), source.layout
    if source.unit is not None or source.units is not None:
        return
    if isinstance(layout, Long) and layout.day is not None and has_units:
        cure = f"Pass unit={layout.id!r} to protect all days of one."
        _warn(f"Every day of one {layout.id!r} is a record of its own. {DANGER} {cure}")
    elif unnamed:
        # A first record may have been taken for names: only a name that any table may have is shown.
        known = [name for name in unnamed if is_common(name)]
        count = "a column that is" if len(unnamed) == 1 else f"{len(unnamed)} columns that are"
        found = f", {known[0]!r} among them" if known and len(unnamed) > 1 else f", {known[0]!r}" if known else ""
        role = "neither values nor named in unit= or by=" if has_units else "not used"
        owner = repr(known[0]) if known else "<the column that says whose a record is>"
        protect = f"Pass unit={owner} to protect whoever has them" if has_units else "Keep one record of each person"
        _warn(f"The table has {count} {role}{found}. {DANGER} {protect}; pass ignore= to dp.read for columns that "
              "play no part.")  # fmt: skip


def _warn(message: str) -> None:
    warnings.warn(message, UnitWarning, stacklevel=outside())
