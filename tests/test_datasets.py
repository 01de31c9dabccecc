import numpy as np
import pytest

import dpfda as dp


@pytest.mark.parametrize("error", ["uniform", "gp", "t"])
@pytest.mark.parametrize("name", dp.datasets.RADII)
def test_scenarios_scatter_about_their_mean(name, error):
    sample = dp.datasets.scenario(name, 4000, np.random.default_rng(1), error=error)
    again = dp.datasets.scenario(name, 4000, np.random.default_rng(1), error=error)
    assert np.array_equal(sample.curves, again.curves)
    spread = sample.curves.std(axis=0) / np.sqrt(4000)
    assert (np.abs(sample.curves.mean(axis=0) - sample.mean) < 6 * spread).all()
    if error == "uniform":  # the public radius holds nearly every curve
        assert (sample.grid.norm(sample.curves) <= dp.datasets.RADII[name]).mean() > 0.95


def test_known_means():
    sample = dp.datasets.scenario("S-1", 2, np.random.default_rng(0))
    assert sample.mean[50] == pytest.approx(5 * np.exp(-0.5))
    with pytest.raises(dp.errors.ParameterError, match="scenario must be"):
        dp.datasets.scenario("S-9", 2, np.random.default_rng(0))
    with pytest.raises(dp.errors.ParameterError, match="error must be"):
        dp.datasets.scenario("S-1", 2, np.random.default_rng(0), error="cauchy")


def test_load_curves_look_like_households():
    sample = dp.datasets.load_curves(2000, np.random.default_rng(0))
    assert (sample.curves > 0).all()
    hours = sample.grid.points
    assert 17 < hours[sample.mean.argmax()] < 21
    assert sample.mean[(hours > 2) & (hours < 4)].max() < 0.5 * sample.mean.max()
    assert (sample.grid.norm(sample.curves - 0.5) < 5).mean() > 0.95


def test_glucose_scatters_about_its_mean():
    sample = dp.datasets.glucose(4000, np.random.default_rng(0))
    spread = sample.curves.std(axis=0) / np.sqrt(4000)
    assert (np.abs(sample.curves.mean(axis=0) - sample.mean) < 6 * spread).all()
    assert ((sample.curves > 40) & (sample.curves < 400)).mean() > 0.999
