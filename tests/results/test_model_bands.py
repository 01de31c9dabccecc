"""What bands of regressions and kernel models hold, what they are called, and what they fall back to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dpfda as dp
from dpfda.engines import summarize
from dpfda.results.bands import NOISE_ONLY
from dpfda.results.coefficient_bands import CheckedFit, floored_inverse

SAVED = Path(__file__).parents[1] / "saved"
T = np.linspace(0, 1, 30)
TRUTH = np.array([np.sin(3 * T), np.cos(3 * T)])


def plan_for(n: int, **options: object) -> dp.plans.RegressionPlan:
    facts = {"n": n, "epsilon": 1.0, "bound": dp.L2Ball(4.0), "covariates": 1, "covariate_bound": 3.0, "grid": 30}
    return dp.plans.RegressionPlan(**(facts | options))


def records(n: int, rng: np.random.Generator) -> np.ndarray:
    x = rng.uniform(-2, 2, (n, 1))
    return np.column_stack([x, TRUTH[0] + x * TRUTH[1] + rng.normal(size=(n, 1)) * (0.3 + T) * 0.5])


def fitted(data: np.ndarray) -> np.ndarray:
    rows = np.column_stack([np.ones(len(data)), data[:, :1]])
    return np.linalg.lstsq(rows, data[:, 1:], rcond=None)[0]


def holds(band: dp.results.Band, curves: np.ndarray) -> bool:
    return bool(((curves >= band.lower) & (curves <= band.upper)).all())


# -- regressions of curves ------------------------------------------------------------------------


def test_bands_of_coefficients_hold_the_sample_and_the_population(rng):
    """30 releases: at a coverage of .95 fewer than 20 hold with a probability below 1e-7."""
    plan, sample, population, inside = plan_for(5000), 0, 0, []
    for _ in range(30):
        data = records(5000, rng)
        release = plan.release(data)
        band, wide = release.band(), release.confidence_band()
        sample += holds(band, fitted(data))
        population += holds(wide, TRUTH)
        inside.append((wide.half_width >= band.half_width - 1e-9).mean())
    assert min(sample, population) >= 20
    assert np.mean(inside) > 0.9  # sampling widens; a cut to what is published may hide it here and there
    assert wide.half_width.max() < 1.0  # of coefficients of height one


def test_what_a_band_covers_is_said_and_shown(rng):
    release = plan_for(5000).release(records(5000, rng))
    assert release.confidence_band().covers == "coefficients of the population"
    assert release.band().covers == "least squares on these records"
    assert release.noise_band().covers == NOISE_ONLY
    shown = release.shown_band(0.9)
    assert np.array_equal(shown.lower, release.confidence_band(0.9).lower)
    assert "lie inside the confidence band everywhere at once" in release.band_promise
    table = np.array([line.split(",")[3:] for line in release.to_csv(level=0.9).splitlines()[1:]], dtype=float)
    assert np.allclose(table[:, 0], shown.lower.ravel())
    assert (release.values >= shown.lower).all()
    assert (release.values <= shown.upper).all()
    at = release.confidence_band(0.9, [0.0, 0.5, 1.0])
    assert at.lower.shape == (2, 3)
    assert np.allclose(at.lower[:, [0, 2]], shown.lower[:, [0, -1]], atol=0.2 * shown.half_width.max())


def test_a_model_hands_its_bands_on(rng):
    data = records(5000, rng)
    model = dp.FunctionOnScalarRegression(epsilon=1.0, bound=dp.L2Ball(4.0), covariate_bound=3.0)
    model.fit(data[:, :1], data[:, 1:])
    for name in ("band", "confidence_band", "noise_band"):
        whole = getattr(model.release_, name)(0.8)
        assert np.array_equal(getattr(model.coef_, name)(0.8).upper, whole.upper[1:])
        assert np.array_equal(getattr(model.intercept_, name)(0.8).lower, whole.lower[0])
        assert getattr(model.coef_, name)(0.8).covers == whole.covers


@pytest.mark.parametrize("options", [{"n": 100}, {"passes": 4}, {"rule": 2}, {"rule": None}])
def test_without_a_check_a_band_is_as_wide_as_the_public_bounds(options, rng):
    n = options.get("n", 2000)
    release = plan_for(**({"n": n} | options)).release(records(n, rng))
    band = release.band()
    assert np.allclose(band.half_width[0], 3 * 4.0)  # three times the radius, on a domain of length one
    assert np.allclose(band.half_width[1], 3 * 4.0 / 1.0)  # over a third of the covariate's bound
    assert np.array_equal(release.confidence_band().lower, band.lower)
    if "n" in options:  # few records: slopes at zero, and no narrow band about them
        assert np.array_equal(release.shown_band().lower, band.lower)
        assert "as wide as the public bounds" in release.band_promise
    else:
        assert release.shown_band().covers == NOISE_ONLY
        assert "noise only" in release.band_promise


def test_bands_never_narrow_when_records_get_scarcer(rng):
    widths = [plan_for(n).release(records(n, rng)).confidence_band().half_width[1].mean() for n in (20_000, 2000, 100)]
    assert widths[0] < widths[1] <= widths[2]


def fit_of(release: dp.results.RegressionRelease) -> CheckedFit:
    found = release.plan.schedule.checked(release.drawn)
    assert found is not None
    return found


def test_the_check_measures_what_is_left_out():
    """A coefficient with a jump has more in other functions than released ones hold; the check tells how much."""
    rng = np.random.default_rng(4)
    data = records(40_000, rng)
    data[:, 1:] += data[:, :1] * np.where(T < 0.5, 0.6, -0.6)
    release = plan_for(40_000, epsilon=4.0).release(data)
    fit = fit_of(release)
    missing = fitted(data) - release._at(release.plan.restored(fit.middle), None)
    length = np.sqrt((missing**2).mean(axis=1))
    assert length[1] > 0.05
    # Lengths carry the units of pulls; noise is a few hundredths of these.
    assert fit.lengths[1] * fit.units[1] == pytest.approx(length[1], abs=6 * fit.length_noise[1] * fit.units[1])
    assert holds(release.band(), fitted(data))


def test_a_check_that_was_cut_short_tells_nothing(rng):
    fit = fit_of(plan_for(5000).release(records(5000, rng)))
    assert not fit.is_saturated
    assert replace(fit, lengths=np.array([0.0, 0.6 * fit.cap])).is_saturated


def test_sizes_of_residuals_say_how_far_a_sample_strays(rng):
    """Variances by sampling are those of the sandwich, up to the noise of energies and what neighbours lend."""
    data = records(200_000, rng)
    fit = fit_of(plan_for(200_000, epsilon=4.0).release(data))
    rows = np.column_stack([np.ones(len(data)), data[:, :1]])
    residuals = data[:, 1:] - rows @ fitted(data)
    pulls = rows @ np.linalg.inv(rows.T @ rows / len(rows))
    truth = (pulls**2).T @ residuals**2 / len(rows) ** 2
    found = fit.sampling(np.minimum((T * 4).astype(int), 3))
    assert (found > 0.75 * truth).all()  # they rise within a piece, too
    assert (found.mean(axis=1) < 3 * truth.mean(axis=1)).all()


def test_a_first_moment_of_noise_has_an_inverse():
    grams = np.stack([np.diag([1.0, -0.2]), np.zeros((2, 2)), np.diag([2.0, 1.0])])
    found = floored_inverse(grams)
    assert np.isfinite(found).all()
    assert np.allclose(found[2], np.diag([0.5, 1.0]))
    assert found[0, 1, 1] > 1e3


@pytest.mark.parametrize("name", ["regression", "regression-rounds"])
def test_older_regressions_keep_noise_bands_and_fall_back(name):
    release = dp.load(SAVED / f"{name}.release.json")
    assert release.noise_band().covers == release.shown_band().covers == NOISE_ONLY
    assert (release.confidence_band().half_width >= 3 * release.plan.bound.radius - 1e-9).all()
    assert "noise only" in release.band_promise


# -- kernel models --------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"criterion": "huber", "bound": (-2.0, 2.0)}, {"psi": 0.05}, {}])
def test_noise_bands_of_kernel_models_hold_what_was_minimised(options, rng):
    """400 simulated releases against the numbers right before noise; .95 of them hold, and not nearly all."""
    facts = {"n": 2000, "epsilon": 1.0, "domain": [(0.0, 1.0)]} | options
    if "bound" not in options:
        facts["classes"] = ("no", "yes")
    plan = dp.plans.KernelPlan(**facts)
    x = rng.uniform(0, 1, 2000)
    data = np.column_stack([x, np.sin(6 * x) if "bound" in options else x > 0.4])
    statistic = plan.statistic(plan.summarize(data))
    release = plan.release(data)
    width = release.noise_band().half_width
    size = plan.basis.size
    errors = (dp.noise.simulate(plan, statistic, 400, rng)[:, :size] - statistic[:size]) @ plan.basis.functions.T
    held = (np.abs(errors) <= width).all(axis=1).mean()
    assert 0.90 < held < 0.99  # four standard errors and more on either side
    assert release.noise_band().covers == release.shown_band().covers == NOISE_ONLY
    assert "noise only" in release.band_promise
    assert ("densities" in release.band_promise) == (plan.way == "densities")
    for refused in (release.band, release.confidence_band):
        with pytest.raises(dp.errors.ParameterError, match="Use noise_band"):
            refused()


def test_a_kernel_regression_is_called_noise_only(rng):
    x = rng.uniform(0, 1, (3000, 1))
    model = dp.KernelRegressor(epsilon=1.0, domain=[(0, 1)], bound=(-1, 1)).fit(x, np.sin(6 * x[:, 0]))
    assert model.release_.shown_band().covers == NOISE_ONLY
    assert "noise only" in model.release_.band_promise
    assert "noise only" in model.plot().get_legend_handles_labels()[1][1]
    with pytest.raises(dp.errors.ParameterError, match="Use noise_band"):
        model.release_.confidence_band()


@pytest.mark.parametrize("name", ["classes", "classifier", "huber", "smoother", "smoother-rounds"])
def test_older_kernel_models_are_noise_only(name):
    release = dp.load(SAVED / f"{name}.release.json")
    assert "noise only" in release.band_promise
    parts = list(release.values()) if name == "classes" else [release]
    assert all(part.shown_band().covers == NOISE_ONLY for part in parts if part.dimension == 1)


# -- the numbers of the check ---------------------------------------------------------------------


def test_the_bounds_of_the_check_are_met():
    """Opposite residuals far beyond the cap use up the share of lengths; one record's energies go from none to all."""
    plan = plan_for(40, epsilon=60.0)
    rng = np.random.default_rng(8)
    data = records(40, rng)
    drawn, stage = [], plan.stage
    while (following := plan.schedule.next([*drawn, stage.statistic(summarize(stage.problem, data))])) is not None:
        drawn.append(stage.statistic(summarize(stage.problem, data)))
        stage = following
    assert len(drawn) == 4
    drawn[2] = np.eye(96)[60]  # residuals are said to be small, so that the cap is
    stage = plan.schedule.next(drawn)
    rough = plan.response.code.basis.functions[:, -1]  # a function that is not released
    predicted = np.array([plan.design.constant, 1.0]) @ stage.problem.rough @ plan.response.code.basis.functions.T
    calm = np.tile(np.append([3.0], predicted), (40, 1))  # no residuals at the largest covariate
    met = []
    for one, other in ((2 * rough, -2 * rough), (0 * rough, 2 * rough)):
        base, moved = calm.copy(), calm.copy()
        base[:, 1:] += 2 * rough  # all of them leave out the same: a length grows by what is added
        base[0, 1:], moved[:] = calm[0, 1:] + one, base
        moved[0, 1:] = calm[0, 1:] + other
        first, second = (stage.statistic(summarize(stage.problem, x)) for x in (base, moved))
        met.append([p.law.loss((first - second)[p.where]) / float(p.law.epsilon) for p in stage.parts[1:]])
    assert max(max(row) for row in met) <= 1
    assert met[0][0] > 0.9
    assert met[1][1] > 0.4  # shares of both kinds of energy, each at most a half


def test_the_check_does_not_depend_on_order_or_batches(rng):
    plan, data = plan_for(3000), records(3000, rng)
    drawn = [np.eye(11)[9]]
    for _ in range(3):
        stage = plan.schedule.next(drawn)
        drawn.append(stage.statistic(summarize(stage.problem, data)))
    problem = plan.schedule.next(drawn).problem
    whole = summarize(problem, data)
    parts = [summarize(problem, part) for part in (data[2500:], data[:7], data[7:2500])]
    assert parts[0].merge(parts[1]).merge(parts[2]) == whole == summarize(problem, data[::-1])
    assert summarize(replace(problem, coded=True), problem.code(data)).totals.tolist() == whole.totals.tolist()
