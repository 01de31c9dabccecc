"""Bands of means: what they cover, what they rest on, and that they never get narrower for want of data."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import near

import dpfda as dp
from dpfda.release.door import Receipt
from dpfda.results.bands import NOISE_ONLY
from dpfda.results.left_out import measured
from dpfda.results.mean_bands import Evidence, Length

SAVED = Path(__file__).parents[1] / "saved"
GRID = dp.Grid.midpoints(0, 1, 48)
T = GRID.points


def rough(n: int, rng: np.random.Generator) -> np.ndarray:
    """Curves whose mean has a step, which few functions cannot follow."""
    return 1.0 + (T > 0.5) + 0.3 * np.sin(9 * T) + 0.3 * rng.normal(size=(n, 1)) + 0.2 * rng.normal(size=(n, 48))


TRUTH = 1.0 + (T > 0.5) + 0.3 * np.sin(9 * T)


def released(n: int, epsilon: float, rng: np.random.Generator, **more: object) -> tuple[np.ndarray, object]:
    curves = rough(n, rng)
    return curves, dp.mean(curves, epsilon=epsilon, grid=GRID, **({"bound": dp.L2Ball(4.0)} | more))


def holds(band: object, curve: np.ndarray) -> bool:
    return bool(((band.lower <= curve) & (curve <= band.upper)).all())


@pytest.mark.parametrize(("n", "epsilon"), [(100, 1.0), (400, 1.0), (2000, 1.0)])
def test_bands_hold_the_mean_of_curves_and_population(n, epsilon):
    """A step that few functions miss. At 85 % a band each, fewer than 15 of 40 hold once in 10^11 times."""
    rng, held = np.random.default_rng(n), []
    for _ in range(40):
        curves, release = released(n, epsilon, rng)
        held.append((holds(release.band(), curves.mean(axis=0)), holds(release.confidence_band(), TRUTH)))
    assert np.sum(held, axis=0).min() >= 15, held
    assert release.confidence_band().covers == "mean of the population"
    assert release.band().covers == "mean of these curves"


@pytest.mark.parametrize("n", [100, 400])
def test_bands_hold_where_the_number_of_curves_is_private(n):
    """The noise of the count is in them. At 85 % a band, fewer than 10 of 30 hold once in 10^11 times."""
    rng, held = np.random.default_rng(n), []
    plan = dp.MeanPlan(n=n, epsilon=2, bound=dp.L2Ball(4.0), grid=GRID, neighbors="add-remove")
    for _ in range(30):
        curves = rough(n, rng)
        held.append(holds(plan.release(curves).band(), curves.mean(axis=0)))
    assert sum(held) >= 10, held


def test_noise_bands_alone_do_not():
    """What bands were: at n = 400 twelve functions cannot follow the step, and the noise knows nothing of it."""
    rng, held = np.random.default_rng(0), []
    for _ in range(20):
        curves, release = released(400, 4.0, rng, method=dp.methods.KNorm(12))
        held.append(holds(release.noise_band(), curves.mean(axis=0)))
    assert not any(held)
    assert release.noise_band().covers == NOISE_ONLY


def test_bands_are_widened_to_hold_what_is_published():
    for seed in range(5):
        _, release = released(60, 1.0, np.random.default_rng(seed))
        for band in (release.band(), release.confidence_band()):
            assert holds(band, release.values)
            t = np.linspace(0, 1, 301)
            fine = release.confidence_band(0.95, t)
            assert holds(fine, release(t))
            assert fine.t.tolist() == t.tolist()


def test_scarce_data_never_makes_a_band_narrower():
    """Half-widths grow as n or epsilon fall, up to all that the public bound leaves: three times it, both ways."""
    rng, widths = np.random.default_rng(3), []
    for n, epsilon in ((3000, 4.0), (3000, 1.0), (500, 1.0), (100, 1.0), (20, 0.5), (3, 0.01)):
        found = [released(n, epsilon, rng)[1] for _ in range(5)]
        widths.append(
            np.median([[r.band().half_width.mean(), r.confidence_band().half_width.mean()] for r in found], 0)
        )
    widths = np.array(widths)
    far = 3 * 4.0  # where all is cut off; a band about a noisy curve may end before that on one side
    assert (np.diff(np.minimum(widths, far / 4), axis=0) >= -1e-9).all(), widths
    assert widths[-1].min() > 0.7 * far
    assert (widths[:, 1] >= widths[:, 0] - 1e-9).all()


def test_a_check_can_be_left_out_or_asked_for():
    rng = np.random.default_rng(0)
    curves, checked = released(600, 1.0, rng)
    assert "check" in checked.plan.chosen.steps
    left = checked.left_out
    assert left.scale > 0
    assert not left.saturated
    bare = dp.mean(curves, epsilon=1, bound=dp.L2Ball(4.0), grid=GRID, method=dp.Auto(check=False))
    assert bare.left_out is None
    assert "check" not in bare.plan.chosen.steps
    assert bare.band().half_width.mean() > 3 * checked.band().half_width.mean()  # the public bound
    assert "public bound is taken" in bare.statement
    assert "measured" in checked.statement
    for method in (dp.methods.KNorm(6), dp.methods.Minimax(), dp.methods.QR(), dp.methods.FRL(5), dp.methods.Blocks(9)):
        fixed = dp.mean(curves, epsilon=1, bound=dp.L2Ball(4.0), grid=GRID, method=replace(method, check=True))
        assert fixed.left_out is not None
        assert fixed.plan.epsilon == 1
        assert sum(stage.epsilon for stage in fixed.plan.schedule.stages(fixed.drawn)) == 1
        assert near(fixed.band(0.999), curves.mean(axis=0))
        assert fixed.plan.method.check
        assert "check=True" in repr(fixed.plan.method)
        assert dp.MeanPlan.from_json(fixed.plan.to_json()) == fixed.plan


def test_the_left_out_length_is_that_of_the_sample(rng):
    """KNorm(6) on a step: what is left out is known, and noise of scale b strays by 30 b once in 10^13 times."""
    curves = rough(20_000, rng)
    release = dp.mean(curves, epsilon=4, bound=dp.L2Ball(4.0), grid=GRID, method=dp.methods.KNorm(6, check=True))
    basis = release.plan.basis.first(6)
    missing = curves.mean(axis=0) - basis.synthesize(basis.coefficients(curves.mean(axis=0)))
    size = float(GRID.norm(missing))
    assert size > 0.1
    assert abs(release.left_out.value - size) < 30 * release.left_out.scale + 1e-4


#: Beyond a bound of 1, with a shape that is large beside any noise. At epsilon 40 the smallest radii are chosen but for
#: once in 10^7 times (3 rungs, 18 scales of the choice), and lengths are more than 70 scales from where they would be
#: taken for others.
BEYOND = 8 + 2 * np.sin(6 * T) + 0.5 * np.random.default_rng(0).normal(size=(600, 48))


def test_a_bound_that_is_too_small_is_told():
    with pytest.warns(dp.errors.LeftOutWarning, match="Most curves reach beyond the bound"):
        release = dp.mean(BEYOND, epsilon=40, bound=dp.L2Ball(1.0), grid=GRID)
    assert release.left_out.beyond
    assert "Most curves reach beyond the bound: it is too small" in release.statement
    assert release.cautions
    fine = dp.mean(BEYOND, epsilon=40, bound=dp.L2Ball(12.0), grid=GRID)
    assert not fine.cautions
    assert not fine.left_out.beyond


def test_a_warning_never_costs_a_release(recwarn):
    """Where warnings are errors, what was charged is still handed over."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", dp.errors.LeftOutWarning)
        assert dp.mean(BEYOND, epsilon=40, bound=dp.L2Ball(1.0), grid=GRID).cautions


def test_what_was_left_out_is_large_only_beside_its_noise_and_the_curve():
    def told(drawn, scale, cap, shown, beyond=False):
        return measured(Evidence(np.arange(9), left=Length(drawn, scale, cap)), 1.0, shown, beyond)

    assert not told(0.2, 0.1, 1.0, 0.1).large  # may be noise
    assert told(0.5, 0.1, 2.0, 0.1).large
    assert not told(0.5, 0.1, 2.0, 5.0).large
    assert told(0.9, 0.01, 1.0, 5.0).large  # nearly all curves were cut
    assert told(0.9, 0.01, 1.0, 1.0, True).beyond
    assert told(0.6, 0.01, 1.0, 1.0).saturated
    assert "may be more" in str(told(0.6, 0.01, 1.0, 1.0))
    assert "and more" in told(0.6, 0.01, 1.0, 1.0).caution
    assert measured(Evidence(np.arange(9)), 1.0, 1.0, True) is None
    height = measured(Evidence(np.arange(9), left=Length(2.0, 0.1, 8.0)), 4.0, 1.0, False).value
    assert height == 0.5  # over a domain of length 16


@pytest.mark.parametrize("n", [20, 100, 300, 1000, 5000])
def test_a_bound_that_is_too_small_leaves_no_narrow_band(n):
    """Curves at 8 and a bound of 1: bands are as wide as the bound lets them be, not a tidy line.

    Noise makes it look measured in about one of a hundred releases: in six of ten, once in 10^10 times.
    """
    curves = 8 + 0.5 * np.random.default_rng(0).normal(size=(n, 48))
    plan = dp.MeanPlan(n=n, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dp.errors.LeftOutWarning)
        found = [plan.release(curves) for _ in range(10)]
    assert sum(release.band().half_width.mean() > 1.0 for release in found) >= 5
    if n >= 1000:
        told = [release for release in found if release.left_out.beyond]
        assert len(told) >= 4
        assert told[0].plot().texts  # the picture says so


def test_tables_and_pictures_show_the_confidence_band():
    _, release = released(500, 1.0, np.random.default_rng(0))
    band = release.confidence_band(0.95)
    frame = release.to_dataframe()
    assert np.allclose(frame["lower"], band.lower)
    assert np.allclose(frame["upper"], band.upper)
    assert "95 % band, mean of the population" in release.plot().get_legend_handles_labels()[1]
    slope = release.derivative()
    assert slope.shown_band().covers == NOISE_ONLY


def test_older_releases_take_the_public_bound():
    for name in ("mean-default", "mean-qr", "mean-stages", "mean-frl-l1", "mean-surface", "mean-components"):
        release = dp.load(SAVED / f"{name}.release.json")
        assert release.left_out is None
        noise, band = release.noise_band(), release.confidence_band()
        assert band.half_width.mean() > 2 * noise.half_width.mean()
        assert np.isclose(band.half_width.max(), 3 * release.plan.bound.outer)  # on a domain of length one
        assert holds(band, release.values)
    with pytest.raises(dp.errors.ParameterError, match="thresholds"):
        dp.load(SAVED / "mean-ar-add-remove.release.json").band()


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_groups_of_any_size_have_a_difference(relation):
    rng = np.random.default_rng(5)
    curves = np.vstack([rough(1500, rng), rough(300, rng) + 2.5])
    labels = np.repeat(["a", "b"], [1500, 300])
    sizes = {"n": {"a": 1500, "b": 300}} if relation == "add-remove" else {}
    both = dp.mean(
        curves, by=labels, groups=["a", "b"], epsilon=8, bound=dp.L2Ball(6.0), grid=GRID, neighbors=relation, **sizes
    )
    gap = both.difference("b", "a")
    truth = curves[1500:].mean(axis=0) - curves[:1500].mean(axis=0)
    assert gap.noise_band().lower.shape == (48,)
    assert near(gap.band(0.999), truth)
    assert near(gap.confidence_band(0.999), np.full(48, 2.5))
    test = gap.test()
    assert test.p_value < 0.05
    assert test.where.any()
    assert all(start <= stop for start, stop in test.intervals)
    assert "differ at" in str(test)
    none = replace(gap, right=both["b"]).test()
    assert none.p_value > 0.5
    assert not none.where.any()
    assert "nowhere" in str(none)
    assert "95 % band, difference of the populations" in gap.plot().get_legend_handles_labels()[1]
    assert np.allclose(gap.to_dataframe()["upper"], gap.confidence_band().upper)
    for band in (both.band("a"), both.confidence_band("a"), both.noise_band("a")):
        assert band.lower.shape == (48,)


def test_the_test_and_the_band_agree():
    """Where the 97.5 % band leaves zero somewhere, p is at most 0.05: of two looks that one would do."""
    rng, seen = np.random.default_rng(6), set()
    for shift in (0.0, 0.3, 0.6, 1.0, 1.5):
        curves = np.vstack([rough(400, rng), rough(400, rng) + shift])
        both = dp.mean(
            curves, by=np.repeat(["a", "b"], 400), groups=["a", "b"], epsilon=4, bound=dp.L2Ball(4.0), grid=GRID
        )
        test = both.difference("b", "a").test(0.975)
        assert bool(test.where.any()) <= (test.p_value <= 0.051)
        seen.add(bool(test.where.any()))
    assert seen == {True, False}


def test_a_shift_of_everything_is_seen_by_its_length():
    """Half a standard deviation of level, everywhere: nearly always seen, and ten of twenty misses would be chance."""
    rng, plan = np.random.default_rng(8), dp.MeanPlan(n=2000, epsilon=4, bound=dp.L2Ball(4.0), grid=GRID)
    found = []
    for _ in range(20):
        left, right = plan.release(rough(2000, rng) + 0.15), plan.release(rough(2000, rng))
        both = dp.plans.GroupPlan(("a", "b"), (plan, plan))
        found.append(dp.results.Difference("a", "b", left, right, both).test().p_value)
    assert sum(p < 0.05 for p in found) >= 10, found


def test_equal_groups_are_rarely_told_apart():
    """The test allows for all that may have been left out: 8 of 40 below 0.05, at 5 % each, are seen once in 10^3;
    at the 1 % that it really has, once in 10^9."""
    rng, plan = np.random.default_rng(7), None
    found = []
    for _ in range(40):
        releases = []
        for _ in range(2):
            curves = rough(300, rng)
            plan = plan or dp.MeanPlan(n=300, epsilon=1, bound=dp.L2Ball(4.0), grid=GRID)
            releases.append(plan.release(curves))
        both = dp.plans.GroupPlan(("a", "b"), (plan, plan))
        found.append(dp.results.Difference("a", "b", *releases, both).test().p_value)
    assert np.sum(np.array(found) < 0.05) < 8


def test_surfaces_have_bands_too():
    square = dp.Grid.product(dp.Grid.midpoints(0, 1, 12), dp.Grid.midpoints(0, 1, 10))
    truth = np.add.outer(square.axes[0].points, square.axes[1].points)
    curves = truth + 0.1 * np.random.default_rng(0).normal(size=(3000, 1, 1))
    release = dp.mean(curves.reshape(3000, -1), epsilon=1, bound=dp.L2Ball(2.0), grid=square)
    band = release.confidence_band(0.999)
    assert band.lower.shape == (12, 10)
    assert holds(band, truth)
    assert release.left_out.scale > 0
    again = release.plan.build_release(release.drawn, Receipt("mean", ""))
    assert np.array_equal(again.confidence_band().upper, release.confidence_band().upper)
