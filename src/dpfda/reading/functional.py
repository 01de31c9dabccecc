"""Functional data objects of other packages: scikit-fda's grids and irregular curves, xarray's arrays, ragged lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfda.core.errors import ParameterError, RecordError
from dpfda.reading.tables import as_cells, as_record
from dpfda.spaces.components import with_components
from dpfda.spaces.grid import AnyGrid, Grid
from dpfda.spaces.own_times import Pieces

#: Names of an array's dimension along which a curve runs.
ALONG = ("time", "t", "hour", "x")


@dataclass(frozen=True, eq=False, repr=False)
class Irregular:
    """Ragged curves: the times and the values of each, any number of them.

    Parameters
    ----------
    times : sequence of sequences of float
        The times of each curve.
    values : sequence of sequences of float
        Its values, as many.

    Raises
    ------
    dpfda.errors.ParameterError
        Where there are more of the one than of the other.

    Examples
    --------
    >>> import dpfda as dp
    >>> ragged = dp.reading.Irregular([[0.0, 0.5, 1.0], [0.2, 0.9]], [[1.0, 2.0, 1.5], [0.5, 0.7]])
    >>> len(ragged)
    2
    """

    times: Sequence[Any]
    values: Sequence[Any]

    def __post_init__(self) -> None:
        if len(self.times) != len(self.values):
            raise ParameterError("every curve has times and values", "more of one", "Pass one list of each per curve.")

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return "Irregular(curves at their own times)"


def cluster_of(data: object) -> str | None:
    """The engine that data belongs to by its kind, if it lives on a cluster."""
    home = type(data).__module__.split(".")[0]
    return {"dask": "dask", "dask_expr": "dask", "pyspark": "spark"}.get(home)


def is_irregular(data: object) -> bool:
    """Whether curves come at their own times."""
    return isinstance(data, Irregular) or hasattr(data, "start_indices")


def curves_of(data: object, points: np.ndarray | None, lenient: bool) -> np.ndarray | Pieces | None:
    """Curves of such an object as rows (or at their own times, where they have some); None for anything else."""
    if isinstance(data, Irregular):
        return ragged(data.times, data.values, lenient)
    if hasattr(data, "start_indices") and hasattr(data, "points"):
        return _irregular(data)
    if hasattr(data, "data_matrix") and hasattr(data, "grid_points"):
        return _rows(_matrix(data), [np.asarray(axis, dtype=float) for axis in data.grid_points], points)
    if hasattr(data, "basis") and hasattr(data, "coefficients") and callable(data):
        return _evaluated(data, points)
    if hasattr(data, "dims") and hasattr(data, "coords"):
        values, along = _array(data)
        return _rows(values, [along], points)
    return None


def grid_of(data: object) -> AnyGrid | None:
    """The grid that such an object lives on; None for anything else, and for curves at their own times."""
    if hasattr(data, "data_matrix") and hasattr(data, "grid_points"):
        spans = getattr(data, "domain_range", None) or [None] * len(data.grid_points)
        axes = [Grid(np.asarray(p, dtype=float), span=span) for p, span in zip(data.grid_points, spans, strict=True)]
        return with_components(axes[0], data) if len(axes) == 1 else Grid.product(*axes)
    if hasattr(data, "dims") and hasattr(data, "coords"):
        return Grid(_array(data)[1], name=str(_along(data)))
    return None


def ragged(times: Sequence[Any], values: Sequence[Any], lenient: bool) -> Pieces:
    """Lists of times and of values, one of each per curve; a curve that does not fit is an error, or empty, alone."""
    curves: list[tuple[np.ndarray, np.ndarray]] = []
    bad: list[int] = []
    for i, pair in enumerate(zip(times, values, strict=True)):
        own = [as_cells(part) for part in pair]
        if own[0] is None or own[1] is None or len(own[0]) != len(own[1]):
            bad.append(i)
            own = [[], []]
        first, second = (as_record(part, len(part or ()), lenient) for part in own)
        if first is None or second is None:
            bad.append(i)
            first = second = np.empty(0)
        curves.append((first, second))
    if bad and not lenient:
        raise RecordError("A curve has as many times as values, all of them numbers", bad, "Repair it.")
    starts = np.concatenate([[0], np.cumsum([len(t) for t, _ in curves], dtype=np.int64)])
    flat: list[Any] = [np.concatenate([np.empty(0), *(curve[side] for curve in curves)]) for side in (0, 1)]
    return Pieces(flat[0], flat[1], starts)


def _irregular(data: Any) -> Pieces:
    """A scikit-fda FDataIrregular of curves."""
    times, values = np.asarray(data.points, dtype=float), np.asarray(data.values, dtype=float)
    if times.ndim != 2 or times.shape[1] != 1 or values.ndim != 2 or values.shape[1] != 1:
        raise RecordError("Irregular data must be curves with one component", cure="Select one component first.")
    return Pieces(times[:, 0], values[:, 0], np.append(np.asarray(data.start_indices, dtype=np.int64), len(times)))


def _evaluated(data: Any, points: np.ndarray | None) -> np.ndarray:
    """A scikit-fda FDataBasis, which is known everywhere, on the plan's grid."""
    if points is None:
        raise ParameterError("functions in a basis need a grid", "none", "Pass grid=dp.Grid.uniform(0, 1, 48), say.")
    functions = np.asarray(data.basis(points))  # public: the same whatever the records are
    if functions.ndim != 3 or functions.shape[2] != 1:
        raise RecordError("Functional data must have one component", cure="Select one first.")
    coefficients = np.asarray(data.coefficients, dtype=float)
    values = np.zeros((len(coefficients), functions.shape[1]))
    with np.errstate(all="ignore"):  # term by term, so that a record's bits do not depend on the others
        for column, function in zip(coefficients.T, functions[..., 0], strict=True):
            values += column[:, None] * function
    return values


def _matrix(data: Any) -> np.ndarray:
    matrix = np.asarray(data.data_matrix)
    if matrix.shape[-1] != 1:
        raise RecordError(
            "Functional data must be curves with one component",
            cure="Select one, or plan on a dp.spaces.ComponentGrid.",
        )
    return matrix[..., 0].reshape(len(matrix), int(np.prod(matrix.shape[1:-1])))


def _rows(values: np.ndarray, own: list[np.ndarray], points: np.ndarray | None) -> np.ndarray | Pieces:
    """Rows if they live on the plan's grid, else curves at their own times."""
    if points is None or len(own) > 1 or (own[0].size == points.size and np.allclose(own[0], points, 1e-9, 1e-12)):
        return values
    starts = np.arange(len(values) + 1) * own[0].size
    return Pieces(np.tile(own[0], len(values)), values.ravel(), starts)


def _along(data: Any) -> Any:
    """The dimension along which curves run: one that is called time, else the last."""
    return next((d for d in data.dims if str(d).lower() in ALONG), data.dims[-1])


def _array(data: Any) -> tuple[np.ndarray, np.ndarray]:
    """An xarray DataArray of two dimensions: curves as rows, and the coordinate along them as numbers."""
    if len(data.dims) != 2:
        raise RecordError("An array of curves has two dimensions", cure="One for curves, one for time.")
    along = _along(data)
    values = np.asarray(data.transpose(..., along).values)
    if along not in data.coords:
        return values, np.arange(values.shape[1], dtype=float)
    stamps = np.asarray(data.coords[along].values)
    if stamps.dtype.kind == "M":  # instants: hours since the first midnight
        stamps = stamps - stamps[0].astype("datetime64[D]")
    hours = stamps.dtype.kind == "m"
    if not (hours or stamps.dtype.kind in "fiub"):
        raise ParameterError("curves run along numbers or times", "other coordinates", "Give them numbers.")
    return values, (stamps / np.timedelta64(1, "h") if hours else stamps).astype(float)
