"""OpenDP's blocks put together for curves: sensitivities by brute force."""

from __future__ import annotations

import numpy as np
import pytest

from measured.peers import beside, hostile, largest_change


@pytest.fixture(scope="module")
def ways():
    return beside("opendp_ways")


class Asked:
    """Stands in for noise: keeps what it was asked for, and adds none."""

    def __init__(self):
        self.values, self.sensitivity = None, None

    def __call__(self, values, sensitivity, budget):
        self.values, self.sensitivity, self.budget = values, sensitivity, budget
        return values


@pytest.fixture
def asked(ways, monkeypatch):
    found = Asked()
    monkeypatch.setattr(ways, "noised", found)
    monkeypatch.setattr(ways, "noised_gaussian", found)
    return found


def seen(asked, run):
    """What noise is added to, as a function of curves."""

    def statistic(curves):
        with np.errstate(over="ignore"):
            run(curves)
        return asked.values

    return statistic


def test_sensitivity_of_the_mean_of_points(ways, asked):
    base = np.random.default_rng(18).normal(size=(5, 12))
    found, _ = largest_change(seen(asked, lambda rows: ways.mean_of_points(rows, -2.0, 3.0, 1.0)), base, hostile(12))
    assert 0.99 * asked.sensitivity <= found <= asked.sensitivity * (1 + 1e-9)


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("count", [1, 3, 12])
def test_sensitivity_of_the_mean_in_cosines(ways, asked, count, gaussian):
    size, basis = 12, ways.cosines(12, count)
    assert np.abs(basis @ basis.T / size - np.eye(count)).max() < 1e-12
    base = np.random.default_rng(19).normal(size=(5, size))
    # The worst records: all cosines at once.
    records = [*hostile(size), 1e9 * np.ones(count) @ basis, -1e9 * np.ones(count) @ basis]
    run = seen(asked, lambda rows: ways.mean_in_cosines(rows, 0.3, 0.8, count, 1.4, gaussian))
    total, length = largest_change(run, base, records)
    found = length if gaussian else total
    assert 0.99 * asked.sensitivity <= found <= asked.sensitivity * (1 + 1e-9)
    assert asked.budget == pytest.approx(1.4**2 / 2 if gaussian else 1.4)


def test_curves_are_shortened_to_the_ball(ways):
    curves = np.array(hostile(12))
    with np.errstate(over="ignore"):
        found = ways.in_ball(curves, 0.3, 0.8)
    assert np.isfinite(found).all()
    assert np.sqrt((found**2).mean(axis=1)).max() <= 0.8 * (1 + 1e-12)
    inside = np.full((1, 12), 0.5)
    assert np.allclose(ways.in_ball(inside, 0.3, 0.8), 0.2)


def test_scale_of_opendp_noise(ways):
    """Mean sizes within six standard errors: Laplace noise s / epsilon, normal noise s / sqrt(2 rho) sqrt(2 / pi)."""
    zeros = np.zeros(3000)
    laplace = np.abs(ways.noised(zeros, 0.6, 1.5)).mean() / (0.6 / 1.5)
    assert laplace == pytest.approx(1, abs=6 / np.sqrt(3000))
    normal = np.abs(ways.noised_gaussian(zeros, 0.6, 0.3)).mean() / (0.6 / np.sqrt(0.6) * np.sqrt(2 / np.pi))
    assert normal == pytest.approx(1, abs=6 * 0.756 / np.sqrt(3000))


@pytest.mark.parametrize("dimension", [1, 2])
def test_histograms_are_densities_and_move_by_two(ways, dimension):
    domain, bins = ((0.0, 2.0),) * dimension, 4
    rng = np.random.default_rng(20)
    points = rng.uniform(0, 2, (500, dimension))
    heights = ways.histogram(points, domain, bins, 1.0)
    assert heights.shape == (bins,) * dimension
    assert heights.min() >= 0
    assert heights.sum() * (2 / bins) ** dimension == pytest.approx(1)
    # With hardly any noise: the counts, which move by at most two when a point is replaced.
    records = [np.full(dimension, x) for x in (0.0, 0.5, 1.0, 2.0, -1.0, 9.0)]

    def counts(rows):
        return ways.histogram(rows, domain, bins, 1e6) * (2 / bins) ** dimension * inside(rows)

    def inside(rows):
        return ((rows >= 0) & (rows <= 2)).all(axis=1).sum()

    found, _ = largest_change(counts, points, records)
    assert found == pytest.approx(2)


def test_percentiles_have_their_share_of_epsilon(ways):
    """OpenDP's own map of the mechanism, for one record replaced: a symmetric distance of two."""
    own = 1.0 / (4 * 3)
    mechanism = ways._quantile(100, tuple(np.linspace(0, 10, 11).tolist()), 0.5, own)
    assert 0.999 * own <= mechanism.map(2) <= own


def test_percentiles_without_noise_are_those_of_the_sample(ways):
    curves = np.random.default_rng(21).uniform(2, 8, (400, 2))
    levels = np.array([0.25, 0.5, 0.75])
    found = ways.percentiles(curves, levels, 0.0, 10.0, 201, 1e5)
    assert np.abs(found - np.quantile(curves, levels, axis=0)).max() < 0.1
    noisy = ways.percentiles(curves, levels, 0.0, 10.0, 21, 0.1)
    assert (np.diff(noisy, axis=0) >= 0).all()
