"""Public bounds on one record: the reason a single person cannot move the answer far.

Every record is clipped to a public convex body about a public centre before it is added up.
On the lattice of encoded records each body is a ball of one and the same radius in one of three
norms, so clipping is decided in exact integers, and no order of summation can change it
(derivations: integer clip). What two records of a body can differ by is its *sensitivity*.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpfda.bounds.lattice import RADIUS, SHRUNK, clip_euclidean, rescale_far_rows
from dpfda.bounds.sensitivities import BoxSensitivity, EuclideanSensitivity, ManhattanSensitivity
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.core.codec import Fact, frozen_array
from dpfda.core.errors import ParameterError, RecordError, shown
from dpfda.spaces.grid import Grid


class Bound(Fact, ABC):
    """A convex body about an optional public centre, a number or a curve on the grid (derivations: bounded records).

    Every record is clipped to it before it is added up.

    Examples
    --------
    >>> isinstance(Box([1.0, 0.5]), Bound)
    True
    """

    norm: ClassVar[str]
    #: Whether records are clipped as curves on the grid (True) or as coefficients (False).
    on_grid: ClassVar[bool] = False
    center: np.ndarray | None

    @staticmethod
    @abstractmethod
    def clip_lattice(lattice: np.ndarray) -> np.ndarray:
        """Encoded records (integers in floats, one per row) brought inside; inside ones unchanged.

        Parameters
        ----------
        lattice : array of shape (records, coordinates)
            Encoded records: whole numbers, kept as floats.
        """

    def clip(self, records: ArrayLike, grid: Grid | None = None) -> np.ndarray:
        """Records brought inside the body, on the lattice that releases use.

        Every finite record comes inside, and clipping twice changes nothing (to the bit, while the centre is less than
        a million radii away, where floats still tell points apart).

        With a grid, records are curves and lengths are measured in its inner product (L2 balls only); without, they are
        coefficients in an orthonormal basis.

        Parameters
        ----------
        records : array of shape (records, points)
            Finite records, one in each row; or a single one, as a vector.
        grid : Grid, optional
            Where curves have their values. Default: none, records are coefficients.
        """
        values = np.array(records, dtype=float)
        rows = np.atleast_2d(values)
        if not np.isfinite(rows).all():
            raise RecordError("Only finite records can be clipped", cure="Repair or drop the others.")
        if grid is not None and not self.on_grid:
            raise ParameterError("this body bounds coefficients, not curves", "a grid", "Pass coefficients.")
        size = rows.shape[1]
        if size != (self.size or size):
            raise ParameterError(f"records of this body have {self.size} coordinates", size, "Pass as many.")
        scale = (RADIUS - self.widening(size)) / self.lengths(size)
        scale = scale if grid is None else scale * np.sqrt(grid.weights)
        center = self.center_on(size)
        with np.errstate(over="ignore"):
            lattice = self.clip_lattice(np.rint((rows - center) * scale))
        return (center + lattice / scale).reshape(values.shape)

    def support(self, weights: ArrayLike) -> float:
        """The largest ``sum_j weights_j |c_j|`` over the body about its centre; two records differ by twice that.

        Parameters
        ----------
        weights : array of shape (coordinates,)
            One weight for each coordinate; signs do not count.
        """
        u = np.abs(np.asarray(weights, dtype=float))
        return self.sensitivity(self.lengths(u.size), 1.0).support(u)

    @staticmethod
    @abstractmethod
    def widening(size: int) -> float:
        """How far rounding `size` coordinates to integers can push a record outwards.

        Parameters
        ----------
        size : int
            The number of coordinates.
        """

    @abstractmethod
    def lengths(self, size: int) -> np.ndarray:
        """Semi-axes of the body in `size` orthonormal coordinates.

        Parameters
        ----------
        size : int
            The number of coordinates.
        """

    @abstractmethod
    def sensitivity(self, lengths: np.ndarray, diameter: float) -> Sensitivity:
        """Differences of `diameter` times half the body with these semi-axes.

        Parameters
        ----------
        lengths : array of shape (coordinates,)
            Semi-axes of the body, one for each coordinate.
        diameter : float
            How far apart two records can be, in halves of the body: 2 for any two records inside it.
        """

    @property
    def size(self) -> int | None:
        """Number of coordinates, for bodies that fix it."""
        return None

    @property
    @abstractmethod
    def outer(self) -> float:
        """Radius of the smallest centred Euclidean ball that holds the body."""

    def _freeze_center(self) -> None:
        if self.center is None:
            return
        try:
            center = frozen_array(self.center)
        except (TypeError, ValueError):
            center = frozen_array([[np.nan]])
        if center.ndim > 2 or not np.isfinite(center).all():
            raise ParameterError(
                "center must be a finite number or curve",
                f"shape {center.shape}",
                "Pass one value, or one per grid point.",
            )
        object.__setattr__(self, "center", center if center.ndim < 2 else frozen_array(center.ravel()))

    def center_on(self, size: int) -> np.ndarray:
        """The centre as a curve on `size` grid points.

        Parameters
        ----------
        size : int
            The number of grid points.
        """
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
    try:
        lengths = np.atleast_1d(frozen_array(values))
    except (TypeError, ValueError):
        lengths = np.zeros(1)
    if lengths.ndim != 1 or not lengths.size or not ((lengths > 1e-60) & (lengths < 1e60)).all():
        raise ParameterError(
            f"{name} must be positive finite numbers, one per coefficient",
            f"shape {lengths.shape}",
            f"Pass {name}=[1.0, 0.5, 0.25], say.",
        )
    return lengths


@dataclass(frozen=True, eq=False)
class L2Ball(Bound):
    """Curves within `radius` of the centre in the grid's L2 norm (derivations: bounded records).

    Parameters
    ----------
    radius : float
        A positive public number, that you can defend without looking at the data.
    center : float or array, optional
        A public centre: a number, or one value per grid point. Default: zero.

    Examples
    --------
    >>> L2Ball(2.0).support([3.0, 4.0, 0.0])
    10.0
    >>> L2Ball(1.0).clip([3.0, 4.0]).round(6).tolist()
    [0.6, 0.8]
    """

    radius: float
    center: np.ndarray | None = None
    norm: ClassVar[str] = "L2 norm"
    on_grid: ClassVar[bool] = True
    clip_lattice = staticmethod(clip_euclidean)

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _radius(self.radius))
        self._freeze_center()

    @staticmethod
    def widening(size: int) -> float:
        return 0.5 * np.sqrt(size)

    def lengths(self, size: int) -> np.ndarray:
        return np.full(size, self.radius)

    def sensitivity(self, lengths: np.ndarray, diameter: float) -> Sensitivity:
        return EuclideanSensitivity(lengths, diameter)

    @property
    def outer(self) -> float:
        return self.radius


@dataclass(frozen=True, eq=False)
class Ellipsoid(Bound):
    """Coefficients with ``sum (c_j / axes_j)^2 <= 1``; as many coefficients as axes (derivations: bounded records).

    Parameters
    ----------
    axes : array of float
        Positive public semi-axes, one per coefficient.
    center : float or array, optional
        A public centre: a number, or one value per grid point. Default: zero.

    Examples
    --------
    >>> Ellipsoid([2.0, 1.0]).support([3.0, 8.0])
    10.0
    """

    axes: np.ndarray
    center: np.ndarray | None = None
    norm: ClassVar[str] = "ellipsoid norm of the coefficients"
    clip_lattice = staticmethod(clip_euclidean)
    widening = staticmethod(L2Ball.widening)

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", _lengths(self.axes, "axes"))
        self._freeze_center()

    def lengths(self, size: int) -> np.ndarray:
        return self.axes

    def sensitivity(self, lengths: np.ndarray, diameter: float) -> Sensitivity:
        return EuclideanSensitivity(lengths, diameter)

    @property
    def size(self) -> int:
        return self.axes.size

    @property
    def outer(self) -> float:
        return float(self.axes.max())


@dataclass(frozen=True, eq=False)
class L1Ball(Bound):
    """Coefficients with ``sum |c_j| <= radius`` (derivations: bounded records).

    Parameters
    ----------
    radius : float
        A positive public number, that you can defend without looking at the data.
    center : float or array, optional
        A public centre: a number, or one value per grid point. Default: zero.

    Examples
    --------
    >>> L1Ball(1.0).support([3.0, 4.0])
    4.0
    """

    radius: float
    center: np.ndarray | None = None
    norm: ClassVar[str] = "sum of absolute coefficients"

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _radius(self.radius))
        self._freeze_center()

    @staticmethod
    def clip_lattice(lattice: np.ndarray) -> np.ndarray:
        inside = lattice.copy()
        far = np.abs(inside).max(axis=1) > RADIUS
        inside[far] = rescale_far_rows(inside[far])
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

    def sensitivity(self, lengths: np.ndarray, diameter: float) -> Sensitivity:
        return ManhattanSensitivity(lengths, diameter)

    @property
    def outer(self) -> float:
        return self.radius


@dataclass(frozen=True, eq=False)
class Box(Bound):
    """Coefficients with ``|c_j| <= sides_j``; as many coefficients as sides (derivations: bounded records).

    Parameters
    ----------
    sides : array of float
        Positive public bounds, one per coefficient.
    center : float or array, optional
        A public centre: a number, or one value per grid point. Default: zero.

    Examples
    --------
    >>> Box([1.0, 0.5]).support([3.0, 4.0])
    5.0
    """

    sides: np.ndarray
    center: np.ndarray | None = None
    norm: ClassVar[str] = "size of each coefficient"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sides", _lengths(self.sides, "sides"))
        self._freeze_center()

    @staticmethod
    def clip_lattice(lattice: np.ndarray) -> np.ndarray:
        return np.clip(lattice, -RADIUS, RADIUS)

    @staticmethod
    def widening(size: int) -> float:
        return 0.0

    def lengths(self, size: int) -> np.ndarray:
        return self.sides

    def sensitivity(self, lengths: np.ndarray, diameter: float) -> Sensitivity:
        return BoxSensitivity(lengths, diameter)

    @property
    def size(self) -> int:
        return self.sides.size

    @property
    def outer(self) -> float:
        return float(np.sqrt((self.sides**2).sum()))
