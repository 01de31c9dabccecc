"""What the arguments of the verbs may be."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

from dpfda.core.checks import Epsilon, Invalid, Neighbors
from dpfda.ledger import Ledger
from dpfda.methods import Method
from dpfda.reading.headers import FromHeader
from dpfda.spaces.grid import AnyGrid
from dpfda.spaces.kernels import Kernel
from dpfda.spaces.units import Unit

Outside: TypeAlias = Literal["raise", "clip"]
__all__ = [
    "By",
    "CurveOptions",
    "DensityOptions",
    "Epsilon",
    "GridLike",
    "Invalid",
    "KernelLike",
    "LedgerLike",
    "Neighbors",
    "Outside",
    "PercentileOptions",
    "ReleaseOptions",
    "Sizes",
    "SurvivalOptions",
    "UnitLike",
]  # fmt: skip

#: A grid, a number of points on [0, 1], or the numbers in the header.
GridLike: TypeAlias = AnyGrid | int | Literal["header"] | FromHeader
KernelLike: TypeAlias = Kernel | Callable[..., Any]
#: A column's name, or one label per record.
By: TypeAlias = str | Sequence[Any]
#: A column's name, a rule, or one label per record.
UnitLike: TypeAlias = str | Unit | Sequence[Any]
#: The public number of records, or of each group's.
Sizes: TypeAlias = int | Mapping[str, int]
LedgerLike: TypeAlias = Ledger | str | os.PathLike[str]


class ReleaseOptions(TypedDict, total=False):
    """What every verb may be told."""

    method: Method | None
    neighbors: Neighbors
    invalid: Invalid
    ledger: LedgerLike | None
    query: str
    postprocess: bool
    record: str | None


class CurveOptions(ReleaseOptions, total=False):
    """What verbs about curves may be told."""

    unit: UnitLike | None
    grid: GridLike | None
    standardize: bool
    kernel: KernelLike | None
    value: str | None


class PercentileOptions(TypedDict, total=False):
    """What the verb about percentile curves may be told."""

    levels: Sequence[float]
    unit: UnitLike | None
    grid: GridLike | None
    cells: int | None
    neighbors: Neighbors
    invalid: Invalid
    ledger: LedgerLike | None
    query: str
    value: str | None
    record: str | None


class DensityOptions(ReleaseOptions, total=False):
    """What the verb about densities may be told."""

    cells: int | Sequence[int] | None
    edges: Any
    axes: Sequence[str] | None
    kernel: Kernel | None
    bandwidth: float | Sequence[float] | None
    eta: float | None
    outside: Outside


class SurvivalOptions(TypedDict, total=False):
    """What the verb about survival curves may be told."""

    unit: UnitLike | None
    axis: str
    method: Method | None
    neighbors: Neighbors
    invalid: Invalid
    ledger: LedgerLike | None
    query: str
    record: str | None
