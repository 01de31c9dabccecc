"""Iterators of records, or of batches of them: which of the two, and what to do with an item that is neither."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from dpfda.core.errors import RecordError

#: Single records that are put together before they are read.
AT_ONCE = 1024


class Batches:
    """An iterator whose items are batches (arrays of one row per record, or tables), never single records.

    Only needed with ``invalid="center"``: elsewhere the first item says what all of them are.

    Parameters
    ----------
    items : iterable
        The batches; they can be read once.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> plan = dp.MeanPlan(n=6, epsilon=1, bound=dp.L2Ball(1.0), grid=4, method=dp.methods.KNorm(2), invalid="center")
    >>> plan.summarize(dp.reading.Batches(np.zeros((3, 4)) for _ in range(2))).count
    6
    """

    def __init__(self, items: Iterable[Any]):
        self._items = iter(items)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._items)


def is_table(item: object) -> bool:
    """Whether an item holds several records."""
    array = isinstance(item, np.ndarray) and item.ndim == 2
    return array or hasattr(item, "__arrow_c_stream__") or hasattr(item, "iloc")


def classify_items(items: Iterable[Any], batched: bool | None, lenient: bool) -> Iterator[tuple[str, Any]]:
    """Each table as ("table", item), single records as ("records", list), what cannot be a batch as ("lost", item).

    With `batched` None the first item says what all are.
    """
    single: list[Any] = []
    for item in items:
        batched = is_table(item) if batched is None else batched
        if not batched:
            single.append(item)
            if len(single) == AT_ONCE:
                yield "records", single
                single = []
        elif is_table(item):
            yield "table", item
        elif lenient:
            yield "lost", item
        else:
            raise RecordError("An iterator gives batches or records, not both", cure="Pass batches of one kind.")
    if single:
        yield "records", single
