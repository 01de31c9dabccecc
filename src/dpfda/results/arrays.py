"""What numpy, xarray and scikit-fda make of a release: its values, with the grid where they hold one."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

from dpfda.results.columns import axis_names

if TYPE_CHECKING:
    from xarray import DataArray

    from dpfda.results.base import Release


class AsArray:
    """Something that ``np.asarray`` makes an array of."""

    @property
    @abstractmethod
    def _array(self) -> np.ndarray:
        """The released values."""

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        """The released values. They are computed when they are asked for, so there is nothing to share."""
        if copy is False:
            raise ValueError("The values of a release are computed when they are asked for: pass copy=None or True.")
        return np.array(self._array, dtype=dtype)


def data_array(release: Release) -> DataArray:
    """The released values in xarray's manner, with the grid as coordinates."""
    import xarray

    names, plan = axis_names(release.grid), release.plan
    named = {} if plan.value is None else release.measure.attributes
    facts = {"epsilon": float(plan.epsilon), "plan": plan.digest, "created": release.created, **named}
    coordinates = {
        name: (name, axis.points, {"units": axis.unit} if axis.unit else {})
        for name, axis in zip(names, release.grid.axes, strict=True)
    }
    return xarray.DataArray(release.values, coordinates, names, release.query, facts)


def data_grid(release: Release) -> object:
    """The released values in the manner of scikit-fda: one sample on the grid."""
    import skfda

    axes = release.grid.axes
    return skfda.FDataGrid(
        release.values[None],
        [axis.points for axis in axes],
        domain_range=[axis.span for axis in axes],
        argument_names=[axis.name for axis in axes],
        sample_names=[release.query],
    )
