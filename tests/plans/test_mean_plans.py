import copy
import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
from conftest import BOUNDS, GRID, METHODS, plan_of
from hypothesis import given
from hypothesis import strategies as st

import dpfda as dp


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("method", METHODS)
def test_plans_travel_as_json_and_stay_equal(method, bound):
    plan = plan_of(method, bound)
    again = dp.MeanPlan.from_json(plan.to_json())
    assert again == plan
    assert hash(again) == hash(plan)
    assert again.digest == plan.digest
    assert np.array_equal(again.scales, plan.scales)


@given(
    n=st.integers(2, 10**9),
    epsilon=st.fractions(Fraction(1, 1000), 50, max_denominator=10**12),
    radius=st.floats(1e-6, 1e6),
    size=st.integers(4, 30),
    neighbors=st.sampled_from(["replace", "add-remove"]),
    standardize=st.booleans(),
    fill=st.none() | st.integers(1, 5),
)
def test_round_trip_property(n, epsilon, radius, size, neighbors, standardize, fill):
    plan = dp.MeanPlan(
        n=n,
        epsilon=epsilon,
        bound=dp.L2Ball(radius),
        grid=size,
        neighbors=neighbors,
        standardize=standardize,
        fill=fill,
        method=dp.methods.Minimax(),
    )
    assert dp.MeanPlan.from_json(plan.to_json()) == plan
    assert plan.stage.epsilon == epsilon
    assert plan.expected_risk * (1 + 1e-12) >= plan.expected_error > 0  # sums in another order


def test_custom_kernels_travel_as_tables():
    plan = dp.MeanPlan(
        n=50, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID, kernel=lambda s, t: np.minimum.outer(s, t) + 0.1
    )
    again = dp.MeanPlan.from_json(plan.to_json())
    assert again == plan
    assert again.digest == plan.digest
    assert again.basis.evaluate([0.5]) == pytest.approx(plan.basis.evaluate([0.5]), abs=0.05)
    mixed = dp.MeanPlan(
        n=50,
        epsilon=1,
        bound=dp.L2Ball(1.0),
        grid=GRID,
        kernel=dp.kernels.Custom(lambda s, t: np.minimum.outer(s, t)) + dp.kernels.Matern(),
    )
    assert dp.MeanPlan.from_json(mixed.to_json()) == mixed


def test_edited_plans_are_refused():
    text = plan_of().to_json()
    with pytest.raises(dp.errors.FileError, match="checksum"):
        dp.MeanPlan.from_json(text.replace('"n": 40', '"n": 41'))
    with pytest.raises(dp.errors.FileError, match="not JSON"):
        dp.MeanPlan.from_json(text[:-5])
    with pytest.raises(dp.errors.FileError, match="format version"):
        dp.MeanPlan.from_json(json.dumps({"dpfda": "plan", "version": 99}))


def test_expected_errors_are_the_closed_forms():
    """Derivations, matched noise and ball noise, up to the widening of the lattice (below 1e-6)."""
    n, tau, epsilon = 200, 2.0, 0.5
    unit = (2 * tau / (n * epsilon)) ** 2
    plan = lambda method: dp.MeanPlan(n=n, epsilon=epsilon, bound=dp.L2Ball(tau), grid=40, method=method)  # noqa: E731
    assert plan(dp.methods.FRL(components=7)).expected_error == pytest.approx(2 * unit * 49, rel=1e-5)
    assert plan(dp.methods.KNorm(components=7)).expected_error == pytest.approx(unit * 56, rel=1e-5)
    qr = plan(dp.methods.QR(eta=1.5, psi=0.01))
    assert qr.expected_error == pytest.approx(2 * unit * qr.filter.sum() ** 2, rel=1e-5)
    root = np.sqrt(qr.basis.eigenvalues)
    kernel = plan(dp.methods.QR(eta=1.5, psi=0.01, noise="kernel"))
    delta = 2 * tau / n * np.sqrt(((qr.filter / root) ** 2).sum())
    assert kernel.expected_error == pytest.approx(2 * (root**2).sum() * (delta / epsilon) ** 2, rel=1e-5)
    paper = plan(dp.methods.QR(eta=1.5, psi=0.01, noise="kernel", sensitivity="paper"))
    delta = 2 * tau / n * (qr.filter / root).sum()
    assert paper.expected_error == pytest.approx(2 * (root**2).sum() * (delta / epsilon) ** 2, rel=1e-5)


def test_minimax_filter_is_the_bisection_of_the_derivation():
    plan = dp.MeanPlan(n=200, epsilon=0.5, bound=dp.L2Ball(2.0), grid=40, method=dp.methods.Minimax())
    m, c = plan.problem.prior_energy / 4.0, 2 * (2 / (200 * 0.5)) ** 2
    low, high = 0.0, 40.0
    for _ in range(100):
        s = (low + high) / 2
        low, high = (s, high) if np.maximum(0, 1 - c * s / m).sum() > s else (low, s)
    assert plan.filter == pytest.approx(np.maximum(0, 1 - c * low / m), abs=1e-6)


@pytest.mark.parametrize("method", ["FRL", "QR", "AR", "KNorm"])
def test_selection_is_at_least_as_good_as_a_dense_scan(method):
    plan = plan_of(method, n=500)
    if method in ("FRL", "KNorm"):
        kind = dp.methods.FRL if method == "FRL" else dp.methods.KNorm
        rivals = [
            plan_of(method, n=500).__class__(
                n=500, epsilon=1, bound=plan.bound, grid=GRID, kernel=plan.kernel, method=kind(components=m)
            )
            for m in range(1, plan.basis.size + 1)
        ]
    else:
        kind = dp.methods.QR if method == "QR" else dp.methods.AR
        rivals = [
            dp.MeanPlan(n=500, epsilon=1, bound=plan.bound, grid=GRID, kernel=plan.kernel, method=kind(psi=float(psi)))
            for psi in np.geomspace(1e-7, 0.05, 60)
        ]
    assert plan.stage.risk <= min(r.stage.risk for r in rivals) * 1.001


def test_more_budget_or_more_people_never_hurt():
    for method in METHODS:
        risks = [plan_of(method, epsilon=e).expected_risk for e in (0.25, 0.5, 1, 2)]
        assert risks == sorted(risks, reverse=True)
        assert plan_of(method, n=400).expected_risk < plan_of(method, n=40).expected_risk


@pytest.mark.parametrize("measure", ["risk", "error"])
def test_solve_reaches_the_target(measure):
    plan = plan_of("Minimax", n=500)
    epsilon = plan.solve(0.02, measure=measure)
    at = lambda e: getattr(plan_of("Minimax", n=500, epsilon=e), f"expected_{measure}")  # noqa: E731
    assert at(epsilon) <= 0.02 < at(epsilon * 0.999)
    people = plan.solve(0.02, vary="n", measure=measure)
    of = lambda n: getattr(plan_of("Minimax", n=n), f"expected_{measure}")  # noqa: E731
    assert of(people) <= 0.02 < of(people - 1)
    with pytest.raises(dp.errors.ParameterError, match="target must be"):
        plan.solve(0)
    with pytest.raises(dp.errors.ParameterError, match="reachable"):
        plan_of("FRL-5").solve(1e-6)


def test_pointwise_sd_and_band_follow_the_noise(rng):
    plan = plan_of("KNorm")
    draws = dp.noise.simulate(plan, np.zeros(plan.basis.size), 20_000, rng) @ plan.basis.functions.T
    assert plan.accuracy.pointwise_sd() == pytest.approx(draws.std(axis=0), rel=0.05)
    assert plan.accuracy.pointwise_sd([0.5])[0] == pytest.approx(plan.accuracy.pointwise_sd()[10], rel=1e-6)
    band = plan.accuracy.noise_band(0.9)
    covered = (np.abs(draws) <= band.half_width).all(axis=1).mean()
    assert 0.885 < covered < 0.915  # 20,000 draws: 0.015 is seven standard errors
    with pytest.raises(dp.errors.ParameterError, match="level"):
        plan.accuracy.noise_band(95)


def test_add_remove_splits_exactly_and_costs_its_share():
    plan = plan_of("QR", neighbors="add-remove", epsilon="1/3")
    assert len(plan.stage.parts) == 2
    assert plan.stage.epsilon == Fraction(1, 3)
    assert plan.scales.size == plan.basis.size + 1


def test_words_and_tables():
    plan = plan_of(epsilon=0.5, standardize=True, fill=2)
    assert "expected risk" in repr(plan)
    assert "<table>" in plan._repr_html_()
    text = plan.explain()
    for phrase in (
        "factor of 1.649",
        "clipped to a public bound",
        "not protected",
        "of the bound's radius",
        "own mean",
        "Gaps of at most 2 points",
    ):
        assert phrase in text
    private = plan_of(neighbors="add-remove", invalid="center").explain()
    assert "added to the data or removed" in private
    assert "counts as the public centre" in private


def test_pss_follows_the_papers_windows():
    grid = dp.Grid.uniform(0, 24, 48)
    plan = dp.MeanPlan(n=10**6, epsilon=1, bound=dp.L2Ball(2.0), grid=grid)
    trace = plan.basis.eigenvalues.sum()
    qr = dp.selection.pss(dp.methods.QR(), plan)
    assert qr.eta == 1.5
    assert qr.psi == pytest.approx(trace**1.5 / 10**6)
    ar = dp.selection.pss(dp.methods.AR(), plan)
    assert (ar.eta, ar.psi) == (3.0, pytest.approx(2.0 * trace**1.5 / 10**6))
    assert dp.selection.pss(dp.methods.FRL(), plan).components == 48
    assert (
        dp.selection.pss(dp.methods.FRL(), dp.MeanPlan(n=1000, epsilon=1, bound=dp.L2Ball(1.0), grid=48)).components
        == 10
    )
    small = dp.MeanPlan(n=1000, epsilon=0.1, bound=dp.L2Ball(1.0), grid=48)
    assert dp.selection.pss(dp.methods.QR(), small).psi is None
    with pytest.raises(dp.errors.ParameterError, match="polynomially"):
        dp.selection.pss(
            dp.methods.QR(), dp.MeanPlan(n=9, epsilon=1, bound=dp.L2Ball(1.0), grid=48, kernel=dp.kernels.Gaussian())
        )
    with pytest.raises(dp.errors.ParameterError, match="FRL, AR and QR"):
        dp.selection.pss(dp.methods.KNorm(), plan)


def test_compare_needs_no_data():
    table = dp.compare(plan_of(), epsilons=["1/2", 1])
    assert all(len(row) == 2 for row in table.values())
    labels = dp.compare(plan_of(), methods=[dp.methods.QR(), dp.methods.QR(noise="kernel")], epsilons=[1])
    assert len(labels) == 2


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_plans_and_releases_can_be_copied_after_use(copied):
    plan = plan_of("QR")
    release = plan.release(np.zeros((40, GRID.size)))
    assert copied(plan) == plan
    assert np.array_equal(copied(release).values, release.values)
