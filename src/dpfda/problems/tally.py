"""Counts of distinct encoded records, where no sum of them would do.

A minimiser of a loss needs every record, but only once per distinct one: inputs and responses
are snapped to small integers, so a tally of distinct rows is a sufficient, exact and mergeable summary.
"""

from __future__ import annotations

import numpy as np

from dpfda.problems.summary import Summary


class Tally(Summary):
    """Totals are rows of integers, the last of each how often it occurs; sorted, so that equal tallies are equal."""

    def _joined(self, other: Summary) -> np.ndarray:
        return counted(np.concatenate([self.totals, other.totals]))


def counted(rows: np.ndarray) -> np.ndarray:
    """Rows that are equal up to their count (the last column) as one, in order.

    >>> counted(np.array([[7, 1], [3, 2], [7, 4]])).tolist()
    [[3, 2], [7, 5]]
    """
    if not len(rows):
        return rows
    order = np.lexsort(rows[:, -2::-1].T)
    rows = rows[order]
    new = np.append(True, (rows[1:, :-1] != rows[:-1, :-1]).any(axis=1))
    merged = rows[new]
    merged[:, -1] = np.add.reduceat(rows[:, -1], np.flatnonzero(new))
    return merged


def is_canonical(rows: np.ndarray) -> bool:
    """Whether rows are distinct, in order, and occur at least once each."""
    return bool((rows[:, -1] > 0).all()) and np.array_equal(counted(rows), rows)
