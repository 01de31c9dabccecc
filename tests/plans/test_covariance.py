"""Covariance surfaces: symmetric, positive, as accurate as planned; components, correlations, files, bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dpfda as dp

GRID = dp.Grid.uniform(0, 1, 30)
T = GRID.points


def curves(n: int, rng: np.random.Generator) -> np.ndarray:
    directions = np.array([np.sin(np.pi * T), np.cos(2 * np.pi * T), np.sin(3 * np.pi * T)])
    return 0.5 + (rng.uniform(-1, 1, (n, 3)) * [1.2, 0.7, 0.3]) @ directions


@pytest.fixture(scope="module")
def data() -> np.ndarray:
    return curves(20_000, np.random.default_rng(1))


@pytest.fixture(scope="module")
def release(data) -> dp.results.CovarianceRelease:
    return dp.covariance(data, epsilon=4.0, bound=dp.L2Ball(1.6, 0.5), grid=GRID)


def test_the_basis_is_an_isometry(rng):
    basis = dp.CovariancePlan(n=9, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID, method=dp.methods.KNorm(5)).basis
    matrix = rng.normal(size=(basis.line.size, basis.line.size))
    matrix += matrix.T
    coefficients = basis.from_matrix(matrix)
    assert np.isclose((coefficients**2).sum(), (matrix**2).sum())
    assert np.allclose(basis.matrix(coefficients), matrix)
    surface = basis.synthesize(coefficients)
    assert np.isclose((surface**2 * basis.grid.weights).sum(), (matrix**2).sum())
    assert np.allclose(basis.coefficients(surface), coefficients)
    points = basis.grid.points[::37]
    assert np.allclose(basis.evaluate(points) @ coefficients, surface[::37], atol=1e-8)
    assert (np.diff(basis.eigenvalues) <= 0).all()


def test_the_statistic_is_the_sample_covariance(data):
    plan = dp.CovariancePlan(n=500, epsilon=1, bound=dp.L2Ball(9.0), grid=GRID, method=dp.methods.FRL(465))
    statistic = plan.statistic(plan.summarize(data[:500]))
    expected = plan.basis.coefficients(np.cov(data[:500].T, bias=True).ravel())
    assert np.allclose(statistic, expected, atol=2e-4)  # sixteen bits a coefficient
    count_is_private = dp.CovariancePlan(
        n=400, epsilon=1, bound=dp.L2Ball(9.0), grid=GRID, method=dp.methods.FRL(465), neighbors="add-remove"
    )
    scatter = count_is_private.statistic(count_is_private.summarize(data[:500]))
    assert np.allclose(scatter[:-1], 500 / 400 * expected, atol=2e-4)
    assert scatter[-1] == pytest.approx(500 / 400)


def test_noise_lies_on_the_free_numbers_only():
    plan = dp.CovariancePlan(n=10**6, epsilon=50, bound=dp.L2Ball(1.0), grid=GRID, method=dp.methods.QR())
    size = plan.basis.line.size
    assert plan.basis.size == size * (size + 1) // 2 == plan.filter.size
    power = np.outer(plan.basis.line.eigenvalues, plan.basis.line.eigenvalues) ** plan.chosen.eta
    filter = power / (power + plan.chosen.psi)
    assert np.allclose(plan.filter, filter[plan.basis.index[:, 0], plan.basis.index[:, 1]])


def test_a_release_is_symmetric_and_positive(release):
    assert np.allclose(release.values, release.values.T)
    root = np.sqrt(GRID.weights)
    assert np.linalg.eigvalsh(root[:, None] * release.values * root).min() > -1e-9
    assert release.steps == (
        "shrinkage by the posterior mean", "projection onto covariances", "size from before the clip",
    )  # fmt: skip
    raw = release.unprocessed()
    assert np.allclose(raw.values, raw.values.T)
    assert np.linalg.eigvalsh(raw.plan.basis.matrix(raw.coefficients)).min() < 0
    assert release.project() is release


def test_components_and_explained_variance(release, data):
    true = np.linalg.eigh(np.sqrt(GRID.weights)[:, None] * np.cov(data.T, bias=True) * np.sqrt(GRID.weights))
    leading = true[1][:, ::-1][:, :2].T / np.sqrt(GRID.weights)
    found = release.eigenfunctions(2)
    assert np.allclose([[GRID.inner(a, b) for a in found] for b in found], np.eye(2), atol=1e-8)
    # The noise is half a percent of the leading variance; ten degrees would be many standard deviations.
    assert all(abs(GRID.inner(a, b)) > np.cos(np.radians(10)) for a, b in zip(found, leading))
    assert np.allclose(release.explained_variance(2), true[0][::-1][:2], rtol=0.2)
    ratio = release.explained_variance_ratio(2)
    assert (np.diff(ratio) <= 0).all()
    assert ratio.sum() <= 1 + 1e-12
    assert np.allclose(release.eigenfunctions(2, T), found, atol=1e-6)
    for wrong in (0, 1.5, release.rank + 1):
        with pytest.raises(dp.errors.ParameterError, match=r"components|directions"):
            release.eigenfunctions(wrong)


def test_a_surface_that_noise_hides_has_no_components(data):
    hidden = dp.covariance(np.full((100, 30), 0.5), epsilon=0.01, bound=dp.L2Ball(50.0), grid=GRID).unprocessed()
    nothing = replace(hidden, coefficients=0 * hidden.coefficients)
    assert nothing.rank == 0
    with pytest.raises(dp.errors.ParameterError, match="0 directions"):
        nothing.eigenfunctions(1)
    assert "noise hides" in nothing.plot_eigenfunctions(3).get_title(loc="left")
    assert not nothing.correlation().any()


def test_correlations(release):
    correlation = release.correlation()
    assert np.abs(correlation).max() <= 1
    known = np.diag(release.values) > 1e-3
    assert np.allclose(np.diag(correlation)[known], 1)
    at = release.correlation([[T[4], T[9]], [T[9], T[4]]])
    assert np.allclose(at, correlation[4, 9], atol=1e-6)


def test_calling_bands_files_and_pictures(release, tmp_path):
    assert np.allclose(release([[T[3], T[7]]]), release.values[3, 7], atol=1e-8)
    band = release.band(0.9)
    assert band.lower.shape == (30, 30)
    path = release.save(tmp_path / "c.json")
    again = dp.load(path)
    assert isinstance(again, dp.results.CovarianceRelease)
    assert np.array_equal(again.values, release.values)
    assert "covariance surface" in release.statement
    assert release.to_csv().splitlines()[0] == "t,t',value,lower,upper"
    for ax in (release.plot(), release.plot(kind="surface"), release.plot_eigenfunctions(2)):
        assert len(ax.figure.axes) >= 1
    assert len(release.plot_eigenfunctions(2).lines) == 2


def test_expected_error_is_that_of_the_noise(rng):
    plan = dp.CovariancePlan(n=1000, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID, method=dp.methods.Minimax())
    draws = dp.noise.simulate(plan, np.zeros(plan.problem.size), 4000, rng)
    assert (draws**2).sum(axis=1).mean() == pytest.approx(plan.expected_error, rel=0.1)


def test_processing_helps_on_average(data, rng):
    plan = dp.CovariancePlan(n=20_000, epsilon=1, bound=dp.L2Ball(1.6, 0.5), grid=GRID, method=dp.Auto(passes=1))
    statistic = plan.statistic(plan.summarize(data))
    raw, polished = [], []
    for row in dp.noise.simulate(plan, statistic, 20, rng):
        sealed = plan.release_type(plan=plan, coefficients=row, raw=row)
        raw.append(((row - statistic) ** 2).sum())
        polished.append(((plan.postprocessed(sealed).coefficients - statistic) ** 2).sum())
    assert np.mean(polished) < 0.7 * np.mean(raw)


@pytest.mark.parametrize("method", [dp.methods.FRL(), dp.methods.QR(), dp.methods.Minimax(), dp.methods.KNorm()])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_every_method_and_relation_releases(method, neighbors, data):
    release = dp.covariance(
        data[:2000], epsilon=1, bound=dp.L2Ball(1.6, 0.5), grid=GRID, method=method, neighbors=neighbors,
        n=None if neighbors == "replace" else 2500,
    )  # fmt: skip
    assert release.values.shape == (30, 30)
    plan = release.plan
    assert dp.CovariancePlan.from_json(plan.to_json()) == plan
    if neighbors == "add-remove":
        assert not any(word in release.statement for word in ("2,000", "2000 "))


def test_compare_and_solve():
    plan = dp.CovariancePlan(n=5000, epsilon=1, bound=dp.L2Ball(1.0), grid=20)
    table = dp.compare(plan, [dp.methods.KNorm(), dp.methods.Minimax()], epsilons=[1, 2])
    assert all(row[0].expected_risk > row[1].expected_risk for row in table.values())
    assert replace(plan, epsilon=plan.solve(0.01)).expected_risk <= 0.01


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bound": dp.bounds.L1Ball(1.0)}, "an L2 ball"),
        ({"bound": None}, "public bound"),
        ({"epsilon": None}, "epsilon must be given"),
        ({"n": 1}, "at least 2"),
        ({"n": 2**31}, "at most"),
        ({"grid": dp.Grid.product(GRID, GRID)}, "for curves"),
        ({"method": dp.methods.Bernstein(5)}, "means and densities"),
        ({"method": "qr"}, "must be a dpfda method"),
        ({"postprocess": "yes"}, "postprocess"),
    ],
)
def test_bad_plans(change, words):
    facts = {"n": 100, "epsilon": 1, "bound": dp.L2Ball(1.0), "grid": GRID} | change
    with pytest.raises(dp.errors.ParameterError, match=words):
        dp.CovariancePlan(**facts)


def test_bad_data(data, tmp_path):
    ledger = dp.Ledger.create(tmp_path / "l", epsilon=5, study="s")
    facts = {"epsilon": 1, "bound": dp.L2Ball(1.0), "ledger": ledger}
    with pytest.raises(dp.errors.RecordError, match="no curves"):
        dp.covariance(np.empty((0, 30)), grid=GRID, **facts)
    bad = data[:50].copy()
    bad[7, 3] = np.nan
    with pytest.raises(dp.errors.RecordError, match="row 8"):
        dp.covariance(bad, grid=GRID, **facts)
    with pytest.raises(dp.errors.RecordError, match="expects 30"):
        dp.covariance(data[:50, :20], grid=GRID, **facts)
    plan = dp.CovariancePlan(n=50, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID, method=dp.Auto(passes=1))
    other = replace(plan, bound=dp.L2Ball(2.0))
    with pytest.raises(dp.errors.PlanMismatch, match="another plan"):
        plan.release(other.summarize(data[:50]), ledger)
    with pytest.raises(dp.errors.PlanMismatch, match="n = 50"):
        plan.release(plan.summarize(data[:49]), ledger)
    forged = dp.engines.Summary(plan.problem.key, 50, np.full(495, 2**62))
    with pytest.raises(dp.errors.PlanMismatch, match="damaged"):
        plan.release(forged, ledger)
    assert ledger.spent == 0
