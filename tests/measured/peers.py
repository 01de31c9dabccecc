"""What tests of the peers share: how their modules are found, hostile records, and the largest change one can make."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
#: Every chance is checked at this rate of false alarms.
ALARM = 1e-7


def beside(name):
    """A module of the benchmarks, which import each other by bare names."""
    paths = [str(BENCHMARKS), str(BENCHMARKS / "field")]
    sys.path[:0] = paths
    try:
        return importlib.import_module(name)
    finally:
        for path in paths:
            sys.path.remove(path)


def hostile(size):
    """Finite records that break careless code: huge, tiny, alternating, and one of a single spike."""
    spike = np.zeros(size)
    spike[size // 3] = 1e200
    return [
        np.zeros(size), np.full(size, 1e300), np.full(size, -1e300), np.full(size, 5e-324), spike, -spike,
        np.where(np.arange(size) % 2, 1e150, -1e150), np.full(size, 7.0), 1e-160 * np.sin(np.arange(size)),
    ]  # fmt: skip


def largest_change(statistic, base, records):
    """The largest L1 and L2 norms of the change of a statistic when one record is replaced by another."""
    found = [statistic(np.concatenate([base, record[None]])) for record in records]
    apart = [(a - b).ravel() for i, a in enumerate(found) for b in found[:i]]
    return max(np.abs(d).sum() for d in apart), max(np.linalg.norm(d) for d in apart)
