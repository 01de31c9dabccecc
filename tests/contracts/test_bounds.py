"""Every bound: clip is total and idempotent, the support function equals a numerical maximum."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from conftest import BOUNDS, GRID, hostile, plan_of, stage_loss
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import dpfda as dp
from dpfda.bounds.lattice import RADIUS, clip_euclidean
from dpfda.bounds.sensitivities import BoxSensitivity, EuclideanSensitivity, ManhattanSensitivity

lattice_rows = st.lists(st.lists(st.floats(-1e300, 1e300).map(np.rint), min_size=5, max_size=5), min_size=1, max_size=4)


def inside(bound: object, row: np.ndarray) -> bool:
    integers = [int(x) for x in row]
    limit = int(RADIUS)
    if isinstance(bound, dp.L2Ball | dp.bounds.Ellipsoid):
        return sum(k * k for k in integers) <= limit**2
    if isinstance(bound, dp.bounds.L1Ball):
        return sum(abs(k) for k in integers) <= limit
    return max(abs(k) for k in integers) <= limit


@pytest.mark.parametrize("name", ["L2", "L1", "Ellipsoid", "Box"])
@given(rows=lattice_rows)
def test_clip_is_total_and_idempotent(name, rows):
    bound = BOUNDS[name]
    once = bound.clip_lattice(np.array(rows))
    assert all(inside(bound, row) for row in once)
    assert np.array_equal(bound.clip_lattice(once), once)


@pytest.mark.parametrize("name", ["L2", "L1", "Ellipsoid", "Box"])
@given(scale=st.floats(0.9, 1.1), seed=st.integers(0, 2**32 - 1))
def test_clip_decides_the_surface_in_integers(name, scale, seed):
    bound = BOUNDS[name]
    row = np.random.default_rng(seed).normal(size=8)
    norms = {"L2": 2, "Ellipsoid": 2, "L1": 1, "Box": np.inf}
    row = np.rint(scale * RADIUS * row / np.linalg.norm(row, norms[name]))
    clipped = bound.clip_lattice(row[None])[0]
    if inside(bound, row):
        assert np.array_equal(clipped, row)
    else:
        assert inside(bound, clipped)
        assert np.abs(clipped).max() > 0.8 * RADIUS / 8


@pytest.mark.parametrize("name", BOUNDS)
@given(seed=st.integers(0, 2**32 - 1), size=st.floats(-3, 300))
def test_clipped_records_are_inside_and_stay_as_they_are(name, seed, size):
    """In real units, about any centre: total on finite records, idempotent to the bit."""
    bound = BOUNDS[name]
    length = bound.size or GRID.size
    records = np.random.default_rng(seed).standard_cauchy((3, length)).clip(-1e6, 1e6) * 10.0**size
    if bound.center is not None and bound.center.size > 1 and bound.size:
        bound = replace(bound, center=0.25)
    grid = GRID if bound.on_grid else None
    once = bound.clip(records, grid)
    assert np.array_equal(bound.clip(once, grid), once)
    about = (once - bound.center_on(length)) / (bound.lengths(length) if not bound.on_grid else bound.radius)
    norms = {dp.L2Ball: GRID.norm, dp.bounds.Ellipsoid: lambda x: np.linalg.norm(x, axis=1)}
    norms |= {dp.bounds.L1Ball: lambda x: np.abs(x).sum(axis=1), dp.bounds.Box: lambda x: np.abs(x).max(axis=1)}
    assert (norms[type(bound)](about) <= 1 + 1e-6).all()


def test_clip_refuses_what_it_cannot_judge():
    with pytest.raises(dp.errors.RecordError, match="finite"):
        dp.L2Ball(1.0).clip([np.nan, 1.0])
    with pytest.raises(dp.errors.ParameterError, match="coefficients, not curves"):
        dp.bounds.L1Ball(1.0).clip(np.ones(21), GRID)
    with pytest.raises(dp.errors.ParameterError, match="12 coordinates"):
        BOUNDS["Box"].clip(np.ones(5))


@pytest.mark.parametrize("name", BOUNDS)
def test_encoded_records_are_inside_and_encoding_is_idempotent(name):
    plan = plan_of("QR", name, invalid="center")
    problem = plan.problem
    records = np.array([*hostile(GRID.size), *np.random.default_rng(0).normal(0, 2, (50, GRID.size))])
    encoded = problem.encode(records)
    assert np.isfinite(encoded).all()
    assert all(inside(plan.bound, row) for row in encoded)
    if plan.bound.on_grid:  # decoding and encoding again gives the same integers
        decoded = problem.center + encoded / problem.lattice_weights
        assert np.array_equal(problem.encode(decoded), encoded)


@pytest.mark.parametrize("name", BOUNDS)
def test_records_inside_the_body_are_not_moved(name):
    plan = plan_of("FRL", name)
    lengths = plan.bound.lengths(plan.basis.size)
    c = np.random.default_rng(3).normal(size=lengths.size)
    norm = {dp.L2Ball: 2, dp.bounds.Ellipsoid: 2, dp.bounds.L1Ball: 1, dp.bounds.Box: np.inf}[type(plan.bound)]
    c = 0.999 * lengths * c / np.linalg.norm(c, norm)
    curve = plan.problem.center + plan.basis.synthesize(c)
    summary = plan.summarize(np.vstack([curve] * plan.n))
    estimate = np.array([float(x) for x in plan.problem.estimate(summary)])
    assert np.allclose(estimate, c, atol=3e-6 * lengths.max())


SENSITIVITIES = {"euclidean": EuclideanSensitivity, "manhattan": ManhattanSensitivity, "box": BoxSensitivity}


def largest(kind: str, lengths: np.ndarray, value, rng: np.random.Generator) -> float:
    """Numerical maximum of a convex function over the body, by projected random restarts."""
    best = 0.0
    norm = {"euclidean": 2, "manhattan": 1, "box": np.inf}[kind]
    for _ in range(40):

        def negative(x):
            return -value(lengths * x / max(np.linalg.norm(x, norm), 1e-12))

        start = rng.normal(size=lengths.size)
        if kind == "manhattan":
            start = start * 10.0 ** rng.uniform(-6, 1, lengths.size)
        best = max(best, -minimize(negative, start, method="Nelder-Mead", options={"maxiter": 400}).fun)
    if kind == "box":  # maxima of convex functions are at corners
        best = max(best, value(lengths))
    return best


@pytest.mark.parametrize("kind", SENSITIVITIES)
def test_support_and_radius_equal_a_numerical_maximum(kind, rng):
    lengths = np.array([1.0, 0.7, 0.3])
    sensitivity = SENSITIVITIES[kind](lengths, 2.0)
    u, axes = np.array([0.5, 2.0, 1.0]), np.array([1.0, 0.5, 2.0])
    assert sensitivity.support(u) == pytest.approx(
        2 * largest(kind, lengths, lambda h: (u * np.abs(h)).sum(), rng), rel=1e-3
    )
    assert sensitivity.radius(axes) == pytest.approx(
        2 * largest(kind, lengths, lambda h: np.sqrt(((h / axes) ** 2).sum()), rng), rel=1e-3
    )


@pytest.mark.parametrize("kind", SENSITIVITIES)
def test_matched_noise_is_feasible_and_no_other_shape_is_better(kind, rng):
    lengths, a = np.array([1.0, 0.7, 0.3, 0.2]), np.array([1.0, 0.9, 0.5, 0.1])
    sensitivity = SENSITIVITIES[kind](lengths, 0.5)
    b = sensitivity.matched(a)
    assert sensitivity.support(a / b) == pytest.approx(1.0)
    for _ in range(200):
        other = b * np.exp(rng.normal(0, 0.3, 4))
        other = other * sensitivity.support(a / other)
        assert (other**2).sum() >= (b**2).sum() * (1 - 1e-9)


@pytest.mark.parametrize("kind", SENSITIVITIES)
def test_balance_spends_the_budget_and_beats_random_allocations(kind, rng):
    lengths, guess = np.array([1.0, 0.7, 0.3, 0.2, 0.1]), np.array([0.5, 0.2, 0.05, 0.01, 1e-5])
    sensitivity = SENSITIVITIES[kind](lengths, 0.3)

    def risk(u):
        return (2 * guess / (2 + guess * u**2)).sum()

    u = sensitivity.balance(guess)
    assert sensitivity.support(u) == pytest.approx(1.0)
    for _ in range(500):
        other = np.abs(rng.standard_cauchy(5)) * 10.0 ** rng.uniform(-2, 2, 5)
        other = other / sensitivity.support(other)
        assert risk(u) <= risk(other) * (1 + 1e-6)


@dataclass(frozen=True, eq=False)
class UpperBall(dp.L2Ball):
    """An L2 ball whose curves lie above the centre: records below it are brought up to it."""

    @staticmethod
    def clip_lattice(lattice):
        return clip_euclidean(np.maximum(lattice, 0))

    def sensitivity(self, lengths, diameter):
        return EuclideanSensitivity(lengths, diameter / np.sqrt(2))  # two such records are at most so far apart


def test_a_bound_that_clips_in_its_own_way_is_not_clipped_in_another(rng):
    """The quick loop knows the Euclidean ball only; the sensitivity is the bound's own."""
    plan = dp.MeanPlan(n=10, epsilon=1, bound=UpperBall(1.0), grid=GRID, method=dp.methods.FRL(8))
    base = 0.1 * rng.normal(size=(9, GRID.size))
    part = plan.stage.parts[0]
    worst = plan.basis.functions[:, part.where] @ (part.filter / part.law.scales)  # where noise hides least
    pair = [np.vstack([base, sign * worst / GRID.norm(worst)]) for sign in (1, -1)]
    assert 0.5 < stage_loss(plan.stage, *pair) <= 1
