"""What is done to one row, compiled: what the kernels of `compiled` are made of.

Only reassociation is allowed to the compiler, and only for sums that are exact in any order or that decide nothing by
themselves: NaN, infinities and the rounding of single operations stay as they are.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np

from dpfda.bounds.lattice import EXACT, HUGE, LIMIT, RADIUS_BITS, SHRUNK

#: What compiled code is made of: what was made of other sources is not used.
SOURCES = ("lattice.py", "compiled.py", "compiled_pieces.py", "compiled_rows.py")
F = TypeVar("F", bound=Callable[..., object])
config: Any = numba.config
njit: Any = numba.njit


def _home() -> str:
    """Where the compiled code of these very sources is kept: in the package, or among the user's own files."""
    here = Path(__file__).parent
    made_of = sha256(b"".join((here / name).read_bytes() for name in SOURCES)).hexdigest()[:16]
    own = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dpfda"
    place = config.CACHE_DIR or (here / "__pycache__" if os.access(here, os.W_OK) else own)
    return str(Path(place) / f"dpfda-{made_of}")


HOME = _home()


def _compiled(**options: object) -> Callable[[F], F]:
    """A decorator that compiles a function for its arguments when it is first called, or finds it at home."""

    def decorated(function: F) -> F:
        before, config.CACHE_DIR = config.CACHE_DIR, HOME
        try:
            made: F = njit(cache=True, nogil=True, **options)(function)
            return made
        finally:
            config.CACHE_DIR = before

    return decorated


compiled = _compiled()
any_order = _compiled(fastmath={"reassoc"}, inline="never")


def sealed(rows: np.ndarray) -> np.ndarray:
    """The rows of a block, contiguous and to read only: one type for the compiler, whatever they were."""
    view = np.ascontiguousarray(rows).view()
    view.flags.writeable = False
    return view


@any_order
def squares_of(row: np.ndarray) -> float:
    total = 0.0
    for i in range(row.size):
        total += row[i] * row[i]
    return total


@_compiled(fastmath={"reassoc", "nnan", "nsz"}, inline="never")
def largest(row: np.ndarray) -> float:  # rows that get here hold no NaN
    largest = 0.0
    for i in range(row.size):
        largest = max(largest, abs(row[i]))
    return largest


@any_order
def far_squares_of(row: np.ndarray) -> float:
    high_total, low_total = 0.0, 0.0
    for i in range(row.size):
        square = row[i] * row[i]
        high = np.floor(square * 2.0**-26)
        high_total += high
        low_total += square - high * 2.0**26
    return high_total * 2.0**26 + low_total


@compiled
def clip_row(row: np.ndarray) -> None:
    """One row of integers, or of values that overflowed, brought inside the ball, in place."""
    energy = squares_of(row)
    if energy <= LIMIT:
        return
    if energy >= EXACT:
        for i in range(row.size):
            row[i] = min(max(row[i], -HUGE), HUGE)
        factor = 2.0 ** float(RADIUS_BITS - math.frexp(largest(row))[1])
        for i in range(row.size):
            row[i] = np.trunc(row[i] * factor)
        energy = far_squares_of(row)
    if energy > LIMIT:
        factor = SHRUNK / np.sqrt(energy)
        for i in range(row.size):
            row[i] = np.trunc(row[i] * factor)


@compiled
def place_row(values: np.ndarray, center: np.ndarray, weights: np.ndarray, limit: float, row: np.ndarray) -> None:
    for i in range(weights.size):
        row[i] = min(max(np.rint((values[i] - center[i]) * weights[i]), -limit), limit)


@any_order
def trace(values: np.ndarray) -> float:
    """Zero, or NaN if a value is missing or infinite."""
    total = 0.0
    for i in range(values.size):
        total += np.float64(values[i]) * 0.0
    return total
