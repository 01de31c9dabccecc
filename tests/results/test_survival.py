"""Survival curves: what a release says, how wide and how right its bands are, and what two groups differ by."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dpfda as dp
from dpfda.noise import laplace
from dpfda.results.event_cells import NoisyEvents, cells_of
from dpfda.results.hazard_draws import noisy_likelihood, simulated
from dpfda.results.hazards import fitted
from dpfda.results.survival_bands import crossing, limits, restricted_means

DAYS, DIED, ARMS = dp.datasets.survival(12_000, np.random.default_rng(0))
FACTS = {"epsilon": 1.0, "horizon": 900, "axis": "time (days)"}


@cache
def made(kind: str) -> object:
    if kind == "groups":
        return dp.survival(DAYS, DIED, by=ARMS.tolist(), groups=["old", "new"], **FACTS)
    if kind == "private":
        return dp.survival(DAYS, DIED, n=10_000, neighbors="add-remove", invalid="center", **FACTS)
    return dp.survival(DAYS, DIED, **FACTS)


def kaplan_meier(times: np.ndarray, events: np.ndarray, at: np.ndarray) -> np.ndarray:
    order = np.unique(times[events])
    share = [1 - (times[events] == t).sum() / (times >= t).sum() for t in order]
    return np.append(1.0, np.cumprod(share))[np.searchsorted(order, at, side="right")]


@pytest.mark.parametrize("kind", ["public", "private"])
def test_a_curve_and_what_is_made_of_it(kind):
    release = made(kind)
    assert (release(0), release.values[0], release.grid.size) == (1, 1, 193)
    assert (np.diff(release.values) <= 0).all()
    t = np.array([90.0, 365.0, 900.0])
    assert np.abs(release(t) - kaplan_meier(DAYS, DIED, t)).max() < 0.03
    assert release.incidence(t) == pytest.approx(1 - release(t))
    assert release.cumulative_hazard(t) == pytest.approx(-np.log(release(t)))
    assert np.array_equal(release.survival(t), release(t))
    at_risk = np.array([(day <= DAYS).sum() for day in t])
    assert np.abs(release.at_risk(t) - at_risk).max() < 300
    assert release.rmst().lower < release.rmst().value < release.rmst().upper < 900
    assert release.rmst(450).value < 450
    assert abs(release.rmst().value - np.minimum(DAYS, 900)[DIED | (DAYS >= 900)].mean()) < 200
    lower, upper = release.median()
    assert lower <= release.median().value <= upper
    assert "interval: from" in str(release.median())
    assert float(release.quantile(0.25)) < float(release.median())
    assert release.unprocessed().values[-1] == release.raw[-1]


def test_a_median_that_is_not_reached():
    release = dp.survival(DAYS, DIED & (DAYS < 60), **FACTS)
    assert release.median().value == np.inf
    assert "not reached before the horizon" in str(release.median())
    assert release.rmst().upper <= 900


def test_bands_hold_the_curve_and_say_what_they_cover():
    release = made("public")
    band = release.confidence_band(0.95)
    assert (band.lower <= release.values).all()
    assert (band.upper >= release.values).all()
    assert (np.diff(band.lower) <= 1e-12).all()
    assert band.covers == "survival of the population"
    assert np.array_equal(release.band(0.95).lower, band.lower)
    assert (release.band(0.5).half_width <= band.half_width + 1e-12).all()
    assert release.incidence_band().upper == pytest.approx(1 - band.lower)
    assert release.hazard_band().covers == "cumulative hazard of the population"
    assert release.shown_band(0.95, [365.0]).t.tolist() == [365.0]
    assert release.noise_band().upper.max() <= 1
    assert release.unprocessed().shown_band().covers == "noise only"
    assert "holds the survival curve of the population" in release.statement


@pytest.mark.parametrize(("call", "rule"), [
    (lambda r: r(901), "points must lie in the domain"),
    (lambda r: r.rmst(0), "tau is a time up to the horizon"),
    (lambda r: r.rmst(1000), "tau is a time up to the horizon"),
    (lambda r: r.quantile(0), "strictly between 0 and 1"),
    (lambda r: r.median(1.5), "level must lie"),
    (lambda r: r.derivative(), "slopes"),
    (lambda r: r.shrink(), "not shrunk"),
    (lambda r: r.plot(kind="bars"), "kind must be"),
    (lambda r: r.plot(of="deaths"), "of must be"),
])  # fmt: skip
def test_what_is_refused(call, rule):
    with pytest.raises(dp.errors.ParameterError, match=rule):
        call(made("public"))


def test_groups_differ_and_say_by_how_much(tmp_path):
    both = made("groups")
    gap = both.difference("new", "old")
    assert isinstance(gap, dp.results.SurvivalDifference)
    test = gap.test()
    assert test.p_value < 0.01
    assert test.where.any()
    band = gap.confidence_band()
    assert (band.lower <= gap.values).all()
    assert (band.upper >= gap.values).all()
    assert gap.rmst().lower > 0
    assert gap.rmst(300).value < gap.rmst().value
    assert "at_risk" not in gap.to_csv().partition("\n")[0]
    assert "p = " in gap.statement
    again = dp.load(gap.save(tmp_path / "gap.json"))
    assert isinstance(again, dp.results.SurvivalDifference)
    assert again.test().p_value == pytest.approx(test.p_value)
    assert both.difference("old", "new").test().p_value == pytest.approx(test.p_value, rel=0.5)


def test_saved_and_read_again(tmp_path):
    for kind in ("public", "private"):
        release = made(kind)
        again = dp.load(release.save(tmp_path / "survival.json"))
        assert np.array_equal(again.values, release.values)
        assert np.allclose(again.band().lower, release.band().lower)
        assert again.plan == release.plan
    both = dp.load(made("groups").save(tmp_path / "groups.json"))
    assert sorted(both) == ["new", "old"]
    assert release.to_csv().splitlines()[0] == "time,value,lower,upper,at_risk"
    assert list(both.to_dataframe()) == ["group", "time", "value", "lower", "upper", "at_risk"]


def test_pictures_have_numbers_at_risk():
    release, both = made("public"), made("groups")
    texts = [text.get_text() for text in release.plot().texts]
    assert texts[:2] == ["about so many at risk", "12,000"]
    assert not release.plot(at_risk=False).texts
    axes = release.plot(kind="steps", of="incidence")
    assert axes.get_ylabel() == "cumulative incidence"
    assert axes.get_lines()[0].get_drawstyle() == "steps-post"
    assert release.plot(of="hazard").get_ylim()[1] > 0.5
    assert release.plot().get_ylim() == (0, 1)
    assert {"old", "new", "6,000"} <= {text.get_text() for text in both.plot().texts}
    assert both.difference("new", "old").plot().get_ylabel() == "difference in survival probability"


def test_pictures_of_groups_and_steps():
    release, both = made("public"), made("groups")
    axes = both.plot(kind="steps", of="incidence")
    assert axes.get_ylabel() == "cumulative incidence"
    assert axes.get_title(loc="left").startswith("Cumulative incidence by group")
    steps = axes.get_lines()[0]
    assert steps.get_drawstyle() == "steps-post"
    assert 5 < steps.get_xdata().size <= 52
    _, band = release.drawn_as(0.95, True, "survival")
    t = np.linspace(0, release.horizon, 2000)[1:-1]
    smooth = release.confidence_band(0.95, t)
    place = np.searchsorted(band.t, t, side="right") - 1
    assert (band.lower[place] <= smooth.lower + 1e-9).all()
    assert (smooth.upper <= band.upper[place] + 1e-9).all()
    with pytest.raises(dp.errors.ParameterError, match="kind must be one of"):
        both.plot(kind="stairs")
    with pytest.raises(dp.errors.ParameterError, match="of must be one of"):
        both.plot(of="death")
    with pytest.raises(dp.errors.ParameterError, match="of is for pictures of survival curves"):
        dp.mean(np.zeros((4, 9)), epsilon=1, bound=dp.Range(0, 1), by=list("aabb"), groups=["a", "b"]).plot(
            of="incidence"
        )


# -- what is fitted -------------------------------------------------------------------------


def noisy(rng: np.random.Generator, n: int, scale: float, hazard: float, lost: float) -> NoisyEvents:
    """Noisy counts of exponential times, in twelve and four bins of 48 cells."""
    times, ends = rng.exponential(1 / hazard, n), rng.exponential(1 / lost, n)
    seen, cells = np.minimum(times, ends), 48
    place = np.where(times <= ends, 0, cells) + (np.minimum(seen, 0.999) * cells).astype(int)
    counts = np.bincount(np.where(seen >= 1, 2 * cells, place), minlength=2 * cells + 1)
    starts = np.append(np.arange(0, 48, 4), np.append(np.arange(48, 96, 12), 96))
    noise = laplace((starts.size,), rng) * scale
    return NoisyEvents(cells, starts, np.add.reduceat(counts, starts) + noise, scale, float(n))


def test_probabilities_and_their_slopes(rng):
    cells = cells_of(12)
    logs = rng.normal(-0.5, 1.0, (3, 24))
    assert cells.probabilities(logs).sum(axis=1) == pytest.approx(1)
    step = 1e-6 * np.eye(24)
    numeric = (cells.probabilities(logs[0] + step) - cells.probabilities(logs[0] - step)) / 2e-6
    assert cells.slopes(logs[0]) == pytest.approx(numeric.T, abs=1e-8)
    weights = rng.normal(size=(3, 25))
    assert cells.pulled(logs, weights)[1] == pytest.approx(weights[1] @ cells.slopes(logs[1]))


def test_the_law_of_noisy_counts():
    x = np.linspace(-60, 60, 200001)[:, None]
    density = np.exp(noisy_likelihood(x, np.array([4.0]), 2.0)) / (2 * 2.0)
    assert np.trapezoid(density, x[:, 0]) == pytest.approx(1, abs=1e-6)
    assert np.trapezoid(density * x[:, 0] ** 2, x[:, 0]) == pytest.approx(4 + 8, rel=1e-5)


def test_coverage_of_bands_and_intervals():
    """Of exponential survival: 40 bands, of which binomially fewer than 31 hold with a chance below 1e-6."""
    held, means, medians = 0, 0, 0
    t = np.linspace(0, 1, 49)
    for seed in range(40):
        events = noisy(np.random.default_rng(seed), 800, 2.0, 1.0, 0.6)
        draws = simulated(fitted(events))
        lower, upper = limits(events, draws, 0.95)
        held += bool(((lower <= np.exp(-t)) & (np.exp(-t) <= upper)).all())
        area, half = restricted_means(draws, t, 1.0), crossing(draws, t, 0.5)
        means += bool(np.quantile(area, 0.025) <= 1 - np.exp(-1) <= np.quantile(area, 0.975))
        medians += bool(np.quantile(half, 0.025) <= np.log(2) <= np.quantile(half, 0.975))
    assert min(held, means, medians) >= 31, (held, means, medians)


@pytest.mark.parametrize("counts", [np.zeros(17), np.full(17, -50.0), np.full(17, 1e9), np.eye(1, 17, 16)[0] * 800])
def test_absurd_counts_are_fitted_all_the_same(counts):
    starts = np.append(np.arange(0, 48, 4), np.append(np.arange(48, 96, 12), 96))
    found = fitted(NoisyEvents(48, starts, counts, 2.0, 800.0))
    lower, upper = limits(found.events, simulated(found), 0.95)
    for values in (found.survival, found.population, found.at_risk, lower, upper):
        assert np.isfinite(values).all()
    assert (np.diff(found.survival) <= 1e-12).all()
