"""Objects of other packages, in and out: xarray arrays, scikit-fda data, polars and Arrow tables."""

from __future__ import annotations

import numpy as np
import pytest

import dpfda as dp

FACTS = {"epsilon": 1e4, "bound": dp.L2Ball(10.0), "method": dp.methods.FRL(components=12)}


@pytest.fixture
def curves(rng):
    return rng.normal(0, 0.1, (40, 12)) + np.sin(np.linspace(0, 3, 12))


def test_an_array_with_a_time_coordinate(curves):
    xr = pytest.importorskip("xarray", reason="xarray is not installed")
    hours = np.linspace(0, 22, 12)
    data = xr.DataArray(curves, {"time": hours}, ("house", "time"))
    release = dp.mean(data, **FACTS)
    assert release.grid.points.tolist() == hours.tolist()
    assert release.grid.name == "time"
    assert release.values == pytest.approx(curves.mean(axis=0), abs=1e-2)
    turned = dp.MeanPlan(n=40, grid=release.grid, **FACTS)
    assert turned.summarize(data.T) == turned.summarize(curves)
    stamps = np.datetime64("2026-04-05T00:30") + np.arange(12) * np.timedelta64(2, "h")
    dated = dp.mean(xr.DataArray(curves, {"time": stamps}, ("house", "time")), **FACTS)
    assert dated.grid.points == pytest.approx(0.5 + 2 * np.arange(12))
    spans = dp.mean(xr.DataArray(curves, {"t": np.arange(12) * np.timedelta64(30, "m")}, ("house", "t")), **FACTS)
    assert spans.grid.points == pytest.approx(np.arange(12) / 2)
    with pytest.raises(dp.errors.RecordError, match="two dimensions"):
        dp.mean(xr.DataArray(np.zeros((2, 2, 2))), **FACTS)


def test_an_array_on_another_grid_is_aligned_or_refused(curves):
    xr = pytest.importorskip("xarray", reason="xarray is not installed")
    data = xr.DataArray(curves, {"time": np.linspace(0, 1, 12)}, ("house", "time"))
    with pytest.raises(dp.errors.ParameterError, match="brings them to the grid"):
        dp.mean(data, grid=24, **FACTS)
    assert dp.mean(dp.read(data, align="linear"), grid=24, **FACTS).grid.size == 24


def test_a_release_as_an_array(curves):
    pytest.importorskip("xarray", reason="xarray is not installed")
    release = dp.mean(curves, grid=dp.Grid.uniform(0, 24, 12, name="hour", unit="h"), **FACTS)
    array = release.to_xarray()
    assert array.dims == ("hour",)
    assert array.sel(hour=24.0) == release.values[-1]
    assert array.attrs["epsilon"] == 1e4
    assert array.coords["hour"].attrs["units"] == "h"
    surface = dp.covariance(curves, epsilon=1, bound=dp.L2Ball(10.0)).to_xarray()
    assert surface.shape == (12, 12)
    assert len(set(surface.dims)) == 2


def test_functions_in_a_basis_are_evaluated_on_the_grid():
    skfda = pytest.importorskip("skfda", reason="the fda extra is not installed")
    basis = skfda.representation.basis.MonomialBasis(n_basis=3, domain_range=(0, 1))
    data = skfda.FDataBasis(basis, np.tile([1.0, 0.0, 2.0], (30, 1)))
    release = dp.mean(data, grid=12, **FACTS)
    assert release.values == pytest.approx(1 + 2 * np.linspace(0, 1, 12) ** 2, abs=1e-2)
    with pytest.raises(dp.errors.ParameterError, match="need a grid"):
        dp.mean(data, **FACTS)


def test_polars_frames_lazy_or_not(curves):
    import polars as pl

    frame = pl.DataFrame(curves, schema=[f"h{i}" for i in range(12)], orient="row").with_columns(note=pl.lit("x"))
    plan = dp.MeanPlan(n=40, grid=12, **FACTS)
    whole = plan.summarize(curves)
    assert plan.summarize(dp.read(frame, columns="h*")) == plan.summarize(dp.read(frame.lazy(), columns="h*")) == whole
