"""Public bounds on one record: the reason a single person cannot move the answer far.

Every record is clipped to a public convex body about a public centre before it is added up.
On the lattice of encoded records each body is a ball of one and the same radius in one of three
norms, so clipping is decided in exact integers, and no order of summation can change it
(derivations: integer clip). What two records of a body can differ by is its *reach*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .codec import Fact, frozen_array
from .errors import ParameterError, shown
from .lattice import RADIUS, SHRUNK, clip_euclidean
from .protocol import Reach
from .reach import BoxReach, EuclideanReach, ManhattanReach


class Bound(Fact):
    """A convex body about an optional public centre (a number or a curve on the grid)."""

    norm: ClassVar[str]
    #: Whether records are clipped as curves on the grid (True) or as coefficients (False).
    on_grid: ClassVar[bool] = False
    center: np.ndarray | None

    @staticmethod
    def clip(lattice: np.ndarray) -> np.ndarray:
        """Encoded records (integers in floats, one per row) brought inside; inside ones unchanged."""
        raise NotImplementedError  # pragma: no cover

    @staticmethod
    def widening(size: int) -> float:
        """How far rounding `size` coordinates to integers can push a record outwards."""
        raise NotImplementedError  # pragma: no cover

    def lengths(self, size: int) -> np.ndarray:
        """Semi-axes of the body in `size` orthonormal coordinates."""
        raise NotImplementedError  # pragma: no cover

    def reach(self, lengths: np.ndarray, diameter: float) -> Reach:
        """Differences of `diameter` times half the body with these semi-axes."""
        raise NotImplementedError  # pragma: no cover

    @property
    def size(self) -> int | None:
        """Number of coordinates, for bodies that fix it."""
        return None

    @property
    def outer(self) -> float:
        """Radius of the smallest centred Euclidean ball that holds the body."""
        raise NotImplementedError  # pragma: no cover

    def _freeze_center(self) -> None:
        if self.center is None:
            return
        center = frozen_array(self.center)
        if center.ndim > 1 or not np.isfinite(center).all():
            raise ParameterError(
                "center must be a finite number or curve",
                f"shape {center.shape}",
                "Pass one value, or one per grid point.",
            )
        object.__setattr__(self, "center", center)

    def center_on(self, size: int) -> np.ndarray:
        """The centre as a curve on `size` grid points."""
        center = np.zeros(1) if self.center is None else np.atleast_1d(self.center)
        if center.size not in (1, size):
            raise ParameterError(
                f"center must have one value per grid point ({size})",
                center.size,
                "Evaluate the public centre on the plan's grid.",
            )
        return np.broadcast_to(center, (size,)).astype(float)


def _radius(value: float, name: str = "radius") -> float:
    cure = f"Pass a public {name} that you can defend without looking at the data."
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise ParameterError(f"{name} must be a positive finite number (1e-60 to 1e60)", shown(value), cure)
    if not 1e-60 < float(value) < 1e60:
        raise ParameterError(f"{name} must be a positive finite number (1e-60 to 1e60)", value, cure)
    return float(value)


def _lengths(values: ArrayLike, name: str) -> np.ndarray:
    lengths = np.atleast_1d(frozen_array(values))
    if lengths.ndim != 1 or not lengths.size or not ((lengths > 1e-60) & (lengths < 1e60)).all():
        raise ParameterError(
            f"{name} must be positive finite numbers, one per coefficient",
            f"shape {lengths.shape}",
            f"Pass {name}=[1.0, 0.5, 0.25], say.",
        )
    return lengths


@dataclass(frozen=True, eq=False)
class L2Ball(Bound):
    """Curves within `radius` of the centre in the grid's L2 norm.

    >>> L2Ball(2.0).reach(L2Ball(2.0).lengths(3), 2.0).support(np.array([3.0, 4.0, 0.0]))
    20.0
    """

    radius: float
    center: np.ndarray | None = None
    norm: ClassVar[str] = "L2 norm"
    on_grid: ClassVar[bool] = True
    clip = staticmethod(clip_euclidean)

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _radius(self.radius))
        self._freeze_center()

    @staticmethod
    def widening(size: int) -> float:
        return 0.5 * np.sqrt(size)

    def lengths(self, size: int) -> np.ndarray:
        return np.full(size, self.radius)

    def reach(self, lengths: np.ndarray, diameter: float) -> Reach:
        return EuclideanReach(lengths, diameter)

    @property
    def outer(self) -> float:
        return self.radius


@dataclass(frozen=True, eq=False)
class Ellipsoid(Bound):
    """Coefficients with ``sum (c_j / axes_j)^2 <= 1``; as many coefficients as axes.

    >>> Ellipsoid([2.0, 1.0]).size
    2
    """

    axes: np.ndarray
    center: np.ndarray | None = None
    norm: ClassVar[str] = "ellipsoid norm of the coefficients"
    clip = staticmethod(clip_euclidean)
    widening = staticmethod(L2Ball.widening)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", _lengths(self.axes, "axes"))
        self._freeze_center()

    def lengths(self, size: int) -> np.ndarray:
        return self.axes

    def reach(self, lengths: np.ndarray, diameter: float) -> Reach:
        return EuclideanReach(lengths, diameter)

    @property
    def size(self) -> int:
        return self.axes.size

    @property
    def outer(self) -> float:
        return float(self.axes.max())


@dataclass(frozen=True, eq=False)
class L1Ball(Bound):
    """Coefficients with ``sum |c_j| <= radius``.

    >>> L1Ball(1.0).reach(np.ones(2), 2.0).support(np.array([3.0, 4.0]))
    8.0
    """

    radius: float
    center: np.ndarray | None = None
    norm: ClassVar[str] = "sum of absolute coefficients"

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _radius(self.radius))
        self._freeze_center()

    @staticmethod
    def clip(lattice: np.ndarray) -> np.ndarray:
        inside = np.clip(lattice, -RADIUS, RADIUS)
        total = np.abs(inside).sum(axis=1)  # integers below 2^53 up to 2^27 coordinates: exact in any order
        outside = total > RADIUS
        factor = SHRUNK / total[outside]
        inside[outside] = np.trunc(inside[outside] * factor[:, None])
        return inside

    @staticmethod
    def widening(size: int) -> float:
        return 0.5 * size

    def lengths(self, size: int) -> np.ndarray:
        return np.full(size, self.radius)

    def reach(self, lengths: np.ndarray, diameter: float) -> Reach:
        return ManhattanReach(lengths, diameter)

    @property
    def outer(self) -> float:
        return self.radius


@dataclass(frozen=True, eq=False)
class Box(Bound):
    """Coefficients with ``|c_j| <= sides_j``; as many coefficients as sides.

    >>> Box([1.0, 0.5]).reach(np.array([1.0, 0.5]), 2.0).support(np.array([3.0, 4.0]))
    10.0
    """

    sides: np.ndarray
    center: np.ndarray | None = None
    norm: ClassVar[str] = "size of each coefficient"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sides", _lengths(self.sides, "sides"))
        self._freeze_center()

    @staticmethod
    def clip(lattice: np.ndarray) -> np.ndarray:
        return np.clip(lattice, -RADIUS, RADIUS)

    @staticmethod
    def widening(size: int) -> float:
        return 0.0

    def lengths(self, size: int) -> np.ndarray:
        return self.sides

    def reach(self, lengths: np.ndarray, diameter: float) -> Reach:
        return BoxReach(lengths, diameter)

    @property
    def size(self) -> int:
        return self.sides.size

    @property
    def outer(self) -> float:
        return float(np.sqrt((self.sides**2).sum()))
