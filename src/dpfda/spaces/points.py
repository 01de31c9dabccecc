"""Points at which something on a grid is asked for, and values between the grid's own points."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError
from dpfda.spaces.grid import AnyGrid, Grid


def as_points(t: ArrayLike, grid: AnyGrid) -> np.ndarray:
    """Points of a line as a vector, points of a box as one row each; all finite and inside the domain."""
    dimension = len(grid.axes)
    try:
        points = np.asarray(t, dtype=float)
    except (TypeError, ValueError):
        raise ParameterError("points must be numbers", type(t).__name__, "Pass a number or a list of them.") from None
    if not np.isfinite(points).all():
        raise ParameterError("points must be finite", "some that are not", "Drop them.")
    if dimension > 1 or (points.ndim == 2 and points.shape[1] == 1):
        points = np.atleast_2d(points)
        if points.ndim != 2 or points.shape[1] != dimension:
            raise ParameterError(
                f"points here have {dimension} coordinates each", f"shape {points.shape}", "Pass one row per point."
            )
    columns = list(points.T) if points.ndim == 2 else [np.atleast_1d(points)]
    for axis, column in zip(grid.axes, columns, strict=True):
        low, high = axis.span
        slack = 1e-9 * axis.length
        if not ((column >= low - slack) & (column <= high + slack)).all():
            raise ParameterError(
                f"points must lie in the domain [{low:g}, {high:g}]", "points outside", "A release says nothing there."
            )
    return np.stack(columns, axis=-1) if dimension > 1 else columns[0]


def like(t: ArrayLike, values: np.ndarray, grid: AnyGrid) -> np.ndarray:
    """A number for a single point, a vector for several."""
    return values[0] if np.ndim(t) == (0 if len(grid.axes) == 1 else 1) else values


def interpolated(grid: AnyGrid, values: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Values on a grid, linear between its points and constant beyond its outermost ones.

    At midpoints this keeps integrals: what an end cell gains on one side it has on the other.
    """
    if isinstance(grid, Grid):
        return np.interp(points, grid.points, values.ravel())
    inside = [np.clip(x, axis.points[0], axis.points[-1]) for x, axis in zip(points.T, grid.axes, strict=True)]
    lines = tuple(axis.points for axis in grid.axes)
    return scipy.interpolate.RegularGridInterpolator(lines, values.reshape(grid.shape))(np.stack(inside, axis=-1))
