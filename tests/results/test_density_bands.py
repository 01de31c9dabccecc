"""Bands of densities hold what they say: noise and points come from seeded generators here, so nothing is by chance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dpfda as dp
from dpfda.errors import ParameterError
from dpfda.results.bands import NOISE_ONLY
from dpfda.results.counts import NoisyCounts, NoisyRound

SAVED = Path(__file__).parents[1] / "saved"
SHARES = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
RELATIONS = ("replace", "add-remove")


def simulated(plan, points, rng, louder=1.0):
    """A release whose noise is from a seeded generator, and so many times too large for what it is told to be."""
    summary, drawn, stage = plan.summarize(points), [], plan.schedule.first
    while stage is not None:
        drawn.append(stage.statistic(summary) + louder * stage.parts[0].law.simulate(1, rng)[0])
        stage = plan.schedule.next(drawn)
    raw = plan.schedule.combine(drawn)
    release = plan.release_type(plan=plan, coefficients=raw, raw=raw, drawn=tuple(drawn))
    return plan.postprocessed(release)


def both_sides(plan):
    """Every edge of cells, and the last number below it: what holds there holds everywhere."""
    edges = plan.problem.atom_edges
    return np.unique(np.concatenate([edges, np.nextafter(edges[1:], edges[0])]))


def own_cdf(points, x):
    return np.searchsorted(np.sort(points), x, side="right") / len(points)


def holds(band, target, slack=1e-9):
    return bool(((band.lower <= target + slack) & (target <= band.upper + slack)).all())


def coarse(relation, n=400, epsilon=1):
    return dp.DensityPlan(n=n, epsilon=epsilon, domain=[(0, 1)], cells=64, neighbors=relation)


@pytest.mark.parametrize("relation", RELATIONS)
def test_distribution_functions_and_quantiles_are_held(relation):
    rng, plan = np.random.default_rng(1), coarse(relation)
    x, held, runs = both_sides(plan), [], 60
    for _ in range(runs):
        points = rng.beta(2, 5, 400 if relation == "replace" else rng.poisson(400))
        release, median = simulated(plan, points, rng), np.sort(points)[(len(points) + 1) // 2 - 1]
        held.append(
            [
                holds(release.cdf_band(0.8, x, of="points"), own_cdf(points, x)),
                holds(release.cdf_band(0.8, x), 1 - (1 - x) ** 5 * (1 + 5 * x)),
                holds(release.quantile_band(0.5, 0.8, of="points"), median),
            ]
        )
    own, population, quantiles = np.mean(held, axis=0)
    assert own >= 0.7  # .8 is promised
    assert population >= 0.7
    assert quantiles >= 0.7


def test_counts_alone_are_held_as_often_as_promised():
    """Many seeded draws of noise on known shares: two-sided, and noise that is louder than told is found out."""
    rng, edges = np.random.default_rng(2), np.linspace(0, 1, 33)
    shares, starts = np.full(16, 1 / 16), np.arange(0, 32, 2)
    truth = np.interp(edges, np.append(edges[starts], 1.0), np.append(0, np.cumsum(shares)))

    def coverage(louder, known):
        seen = []
        for _ in range(1500):
            noise = rng.laplace(0, 0.01 * louder, 16)
            counts = NoisyCounts((NoisyRound(starts, shares + noise, 0.01),), edges, 200, known)
            lower, upper = counts.distribution(0.9, sampled=False)
            seen.append(((lower <= truth) & (truth <= upper)).all())
        return np.mean(seen)

    assert 0.88 < coverage(1.0, True) < 0.95
    assert coverage(1.0, False) > 0.9
    assert coverage(1.5, True) < 0.7


def test_sampling_is_held_by_massarts_inequality():
    rng, edges, seen = np.random.default_rng(3), np.linspace(0, 1, 33), []
    for _ in range(1000):
        counted = np.histogram(rng.random(100), edges)[0] / 100
        counts = NoisyCounts((NoisyRound(np.arange(32), counted, 1e-9),), edges, 100, True)
        lower, upper = counts.distribution(0.9, sampled=True)
        seen.append(((lower <= edges) & (edges <= upper)).all())
    assert 0.9 <= np.mean(seen) < 1


@pytest.mark.parametrize("relation", RELATIONS)
def test_without_noise_the_band_is_the_distribution_function_at_edges(relation):
    """Points on the very edges of cells, which floats may place on either side: a step there is a hundredth.

    A band of 95 % may miss by the noise, which is far below half a step.
    """
    plan = dp.DensityPlan(n=100, epsilon=10**4, domain=[(0, 1)], cells=100, neighbors=relation)
    points = np.round(np.linspace(0, 1, 100), 2)
    release = plan.release(points)
    x = np.concatenate([points, both_sides(plan)])
    band = release.cdf_band(0.95, x, of="points")
    assert holds(band, own_cdf(points, x), 0.005)
    assert np.mean(band.upper - band.lower) < 0.05
    quantiles = np.sort(points)[np.ceil(SHARES * 100 - 1e-9).astype(int) - 1]
    assert holds(release.quantile_band(SHARES, of="points"), quantiles, 0.005)
    counted = np.searchsorted(
        release.plan.schedule.last(release.drawn).problem.starts, plan.problem.places(points), "right"
    )
    inner = release.band(0.95, plan.grid.points)
    share = np.bincount(counted - 1)[0] / 100 / (plan.schedule.last(release.drawn).problem.basis.lengths[0])
    assert inner.lower[0] - 0.1 <= share <= inner.upper[0] + 0.1  # a point more or less is one


def test_bands_only_rise_and_quantiles_are_the_same_band_read_the_other_way():
    rng, plan = np.random.default_rng(4), coarse("replace", 2000)
    release = simulated(plan, rng.beta(2, 5, 2000), rng)
    x, p = np.linspace(-0.5, 1.5, 401), np.linspace(0, 1, 41)
    band, places = release.cdf_band(0.95, x), release.quantile_band(p)
    for curve in (*band, *places):
        assert (np.diff(curve) >= 0).all()
    assert band.lower[0] == band.upper[0] == 0
    assert band.lower[-1] == band.upper[-1] == 1
    assert (release.cdf_band(0.95, places.upper).upper >= p).all()
    assert (release.cdf_band(0.95, places.upper[:-1] + 1e-9).lower >= p[:-1] - 1e-9).sum() > 30
    assert holds(places, release.quantile(p))
    assert holds(band, release.cdf(x))
    assert (release.cdf_band(0.5, x).half_width <= band.half_width + 1e-12).all()
    assert (release.cdf_band(0.95, x, of="points").half_width <= band.half_width + 1e-12).all()


def test_where_nothing_is_known_bands_say_so():
    rng = np.random.default_rng(5)
    widths = []
    for epsilon in ("1/100", "1/10", 1, 100):
        plan = dp.DensityPlan(n=20, epsilon=epsilon, domain=[(0, 1)])
        release = simulated(plan, rng.normal(0.5, 0.02, 20).clip(0, 1), rng)
        widths.append(np.mean(release.cdf_band(0.95).half_width))
        if epsilon in ("1/100", "1/10"):
            lower, upper = release.confidence_band()
            assert not lower.any()
            assert upper.max() > 15  # the peak is at 20, and nothing like it was published
            assert release.values.max() < 5
    assert widths[0] == widths[1] == 0.5 > widths[2] > widths[3]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("shape", ["jumps", "peaks"])
def test_densities_are_held(shape, relation):
    rng, held = np.random.default_rng(6), []
    plan = dp.DensityPlan(n=3000, epsilon=1, domain=[(0, 1)], cells=128, neighbors=relation)
    t = plan.grid.points
    for _ in range(15):
        if shape == "jumps":
            points, truth = rng.uniform(0.2, 0.7, 3000), np.where((t > 0.2) & (t < 0.7), 2.0, 0.0)
        else:
            points = np.append(rng.normal(0.3, 0.04, 1500), rng.normal(0.7, 0.1, 1500)).clip(0, 1)
            parts = [np.exp(-(((t - m) / s) ** 2) / 2) / s for m, s in ((0.3, 0.04), (0.7, 0.1))]
            truth = sum(parts) / (2 * np.sqrt(2 * np.pi))
        band = simulated(plan, points, rng).confidence_band(0.95)
        held.append(holds(band, truth))
        assert np.mean(band.half_width) < 1.5
    assert np.mean(held) > 0.9


def test_bands_say_what_they_cover_and_where_there_is_none():
    rng = np.random.default_rng(7)
    release = simulated(coarse("replace"), rng.beta(2, 5, 400), rng)
    assert release.shown_band().covers == release.confidence_band().covers == "density of the population"
    assert release.band().covers == "histogram of the points"
    assert release.cdf_band(of="points").covers == "distribution function of the points"
    assert release.quantile_band(0.5).covers == "quantiles of the population"
    assert holds(release.shown_band(0.9, [0.0, 0.31, 1.0]), release([0.0, 0.31, 1.0]))
    assert "density of the population" in release.plot().get_legend_handles_labels()[1][1]
    lower = [float(line.split(",")[2]) for line in release.to_csv().splitlines()[1:]]
    assert np.allclose(lower, release.confidence_band().lower)
    parts = release.statement_parts
    assert "density of the population" in parts.bands
    assert "1/32 of the domain" in parts.bands
    with pytest.raises(ParameterError, match="of must be"):
        release.cdf_band(of="sample")
    with pytest.raises(ParameterError, match="between 0 and 1"):
        release.quantile_band(1.5)
    with pytest.raises(ParameterError, match="level"):
        release.cdf_band(1.5)

    plain = dp.density(rng.beta(2, 5, 400), epsilon=1, domain=[(0, 1)], method=dp.methods.KNorm(6))
    plane = dp.density(rng.beta(2, 5, (400, 2)), epsilon=1, domain=[(0, 1)] * 2, cells=8)
    for other in (plain, plain.derivative(), plane):
        assert other.shown_band().covers == NOISE_ONLY
        assert "noise only" in other.statement_parts.bands
        for asked in (other.band, other.confidence_band, other.cdf_band):
            with pytest.raises(ParameterError, match=r"noise_band\(\)"):
                asked()
        with pytest.raises(ParameterError, match=r"noise_band\(\)"):
            other.quantile_band(0.5)
    with pytest.raises(ParameterError, match=r"noise_band\(\)"):
        release.derivative().confidence_band()


@pytest.mark.parametrize("relation", RELATIONS)
def test_tables_of_counts_have_bands_at_their_own_edges(relation):
    edges, table = [0, 1, 5, 18, 40, 67, 90, 110], [3, 40, 300, 400, 700, 300, 57]
    plan = dp.DensityPlan(n=1800, epsilon=10**4, domain=[(0, 110)], cells=70, edges=edges, neighbors=relation)
    release = plan.release(counts=table)
    below = np.cumsum(table) / 1800
    before = np.nextafter(np.array(edges[1:-1], dtype=float), 0)
    band = release.cdf_band(0.95, before, of="points")
    assert (band.lower <= below[:-1] + 1e-9).all()
    assert np.allclose(release._limits(0.95, "points")[1][1:-1], below[:-1], atol=1e-2)
    assert np.isfinite(release.confidence_band().upper).all()


def test_saved_releases_have_a_band_or_say_that_there_is_none():
    release = dp.load(SAVED / "density-histogram.release.json")
    assert release.shown_band().covers == "density of the population"
    assert holds(release.cdf_band(), release.cdf(release.grid.points))
    for name in ("density", "density-bernstein", "density-plane-add-remove"):
        old = dp.load(SAVED / f"{name}.release.json")
        assert old.shown_band().covers == NOISE_ONLY
        with pytest.raises(ParameterError, match=r"noise_band\(\)"):
            old.confidence_band()


def test_differences_of_densities_have_bands_and_a_test():
    rng, plan, held = np.random.default_rng(8), coarse("replace", 3000), []
    t, both = plan.grid.points, dp.plans.GroupPlan(("a", "b"), (plan, plan))
    truth = 20 * t * (1 - t) ** 3 - 30 * t * (1 - t) ** 4
    for _ in range(15):
        left, right = (simulated(plan, rng.beta(2, b, 3000), rng) for b in (4, 5))
        gap = dp.results.Difference("a", "b", left, right, both)
        lower, upper = gap.confidence_band(0.95)
        held.append(((lower <= truth) & (truth <= upper)).all())
    assert np.mean(held) > 0.9
    with pytest.raises(ParameterError, match="confidence_band"):
        gap.band()
    far = dp.results.Difference("a", "b", simulated(plan, rng.beta(2, 30, 3000), rng), left, both)
    assert far.test().p_value < 0.01 < dp.results.Difference("a", "b", left, left, both).test().p_value
