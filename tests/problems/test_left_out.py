"""What a mean leaves out: exactly what separates it from the mean of the curves, cut in integers, one record alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from conftest import BOUNDS, GRID, hostile

import dpfda as dp
from dpfda.bounds.lattice import RADIUS
from dpfda.problems.left_out import LeftOutProblem
from dpfda.problems.together import Together

KEPT = np.array([0, 1, 2, 4, 7])


def problem_of(bound: object, cap: float = 1e6, **more: object) -> LeftOutProblem:
    plan = dp.MeanPlan(n=30, epsilon=1.0, bound=bound, grid=GRID, invalid="center", **more)
    return LeftOutProblem(plan.problem, KEPT[plan.basis.size > KEPT], cap)


@pytest.mark.parametrize("bound", BOUNDS)
def test_it_is_the_mean_of_the_curves_less_what_the_round_counts(bound, rng):
    """Sample mean minus the noise-free release, to the lattice's own rounding, whatever was clipped."""
    problem = problem_of(BOUNDS[bound], cap=30.0)
    inner, data = problem.inner, rng.normal(0.2, 1.0, (30, GRID.size))
    summary = dp.engines.Summary(inner.key, 30, inner.total(data))
    counted = (
        inner.center
        + inner.basis.functions[:, problem.kept]
        @ np.array([float(x) for x in inner.estimate(summary)[: inner.basis.size]])[problem.kept]
    )
    rest = (data.mean(axis=0) - counted) * np.sqrt(GRID.weights)
    found = problem.total(data) * (problem.cap / RADIUS / 30)
    assert np.allclose(found, rest, atol=3e-6 * inner.bound.outer + problem.cap / RADIUS)
    length = float(problem.estimate(dp.engines.Summary(problem.key, 30, problem.total(data)))[0])
    assert length == pytest.approx(np.linalg.norm(rest), abs=2 * GRID.size * problem.cap / RADIUS)
    assert np.linalg.norm(rest) > 0.1  # there is something to find


@pytest.mark.parametrize("bound", ["L2", "Ellipsoid", "Box-centred"])
def test_every_record_is_cut_in_integers(bound, rng):
    problem = problem_of(BOUNDS[bound], cap=0.05)
    rows = np.vstack([hostile(GRID.size), rng.normal(0, 10.0, (40, GRID.size)), rng.normal(0, 1e-9, (5, GRID.size))])
    for row in rows:
        total = [int(x) for x in problem.total(row[None])]
        assert sum(x * x for x in total) <= int(RADIUS) ** 2


def test_a_record_counts_for_itself_alone(rng):
    problem = problem_of(dp.L2Ball(0.8), cap=0.2)
    data = np.vstack([rng.normal(0, 1.0, (997, GRID.size)), hostile(GRID.size)])
    alone = sum(problem.total(row[None]) for row in data)
    assert np.array_equal(alone, problem.total(data))
    assert np.array_equal(alone, problem.total(data[rng.permutation(len(data))]))


def test_an_unusable_record_leaves_nothing_out():
    problem = problem_of(dp.L2Ball(0.8), cap=0.2)
    assert not problem.total(np.full((3, GRID.size), np.nan)).any()


def test_a_length_is_rounded_down_to_whole_steps():
    problem = problem_of(dp.L2Ball(0.8), cap=0.2)
    totals = np.zeros(GRID.size, dtype=np.int64)
    totals[:2] = 3, 5
    found = problem.estimate(dp.engines.Summary(problem.key, 30, totals))[0]
    assert found == math.isqrt(34) * dp.problems.left_out.Fraction(0.2) / (int(RADIUS) * 30)


def test_totals_that_no_records_can_have_are_refused():
    problem = problem_of(dp.L2Ball(0.8), cap=0.2)
    totals = np.zeros(GRID.size, dtype=np.int64)
    totals[0] = 30 * int(RADIUS) + 1
    with pytest.raises(dp.errors.PlanMismatch, match="damaged"):
        problem.check(dp.engines.Summary(problem.key, 30, totals))
    with pytest.raises(dp.errors.PlanMismatch, match="shape"):
        problem.check(dp.engines.Summary(problem.key, 30, totals[1:]))
    with pytest.raises(dp.errors.PlanMismatch, match="another plan"):
        problem.check(dp.engines.Summary("x", 30, totals))


def test_problems_that_are_read_together_keep_their_own_totals(rng):
    problem = problem_of(dp.L2Ball(0.8), cap=0.2)
    both, data = Together((problem.inner, problem)), rng.normal(0, 1.0, (30, GRID.size))
    summary = dp.engines.Summary(both.key, 30, both.total(data))
    both.check(summary)
    for place, one in enumerate((problem.inner, problem)):
        own = both.own(summary, place)
        assert own.key == one.key
        assert np.array_equal(own.totals, one.total(data))
    with pytest.raises(dp.errors.PlanMismatch, match="another plan"):
        both.check(dp.engines.Summary(problem.key, 30, problem.total(data)))
    assert Together((problem, problem.inner)).key != both.key


def test_the_check_is_for_means_and_for_filters_that_can_be_undone():
    for plan in (
        lambda: dp.CovariancePlan(
            n=50, epsilon=1, bound=dp.L2Ball(1.0), grid=12, method=dp.methods.KNorm(3, check=True)
        ),
        lambda: dp.DensityPlan(n=50, epsilon=1, domain=[(0, 1)], method=dp.methods.QR(check=True)),
    ):
        with pytest.raises(dp.errors.ParameterError, match="checked for means"):
            plan()
    with pytest.raises(TypeError):
        dp.methods.AR(check=True)
    with pytest.raises(dp.errors.ParameterError, match="check"):
        dp.MeanPlan(n=50, epsilon=1, bound=dp.L2Ball(1.0), grid=12, method=dp.methods.KNorm(3, check="yes"))


def test_a_count_that_is_no_whole_number_is_refused(rng):
    problem = problem_of(dp.L2Ball(0.8), cap=0.2)
    both, data = Together((problem.inner, problem)), rng.normal(0, 1.0, (30, GRID.size))
    with pytest.raises(dp.errors.PlanMismatch):
        both.check(dp.engines.Summary(both.key, 30.0, both.total(data)))


def test_the_key_does_not_hang_on_the_last_bits_of_the_basis(monkeypatch):
    """Linear algebra leaves them to the machine; summaries of one plan merge all the same."""
    key = problem_of(dp.L2Ball(0.8), cap=0.2).key
    other = problem_of(dp.L2Ball(0.8), cap=0.2)
    vectors = other.inner.code_basis.vectors
    monkeypatch.setitem(other.inner.code_basis.__dict__, "vectors", vectors * (1 + 2.0**-50))
    assert not np.array_equal(vectors, other.inner.code_basis.vectors)
    assert other.key == key


def test_one_round_without_a_check_reads_what_earlier_versions_read():
    """Their summaries have the same key and the same totals."""
    method = dp.methods.Staged(dp.methods.KNorm(4), shares=("1",), radius="1/5")
    plan = dp.MeanPlan(n=30, epsilon=1.0, bound=dp.L2Ball(0.8), grid=GRID, method=method)
    radii = plan.schedule.radii.radii.tolist()
    assert plan.stage.encoder.key == dp.core.codec.digest(["ladder", plan.problem.key, radii])
    checked = dp.methods.Staged(dp.methods.KNorm(4), shares=("1",), radius="1/5", check="1/20")
    other = dp.MeanPlan(n=30, epsilon=1.0, bound=dp.L2Ball(0.8), grid=GRID, method=checked)
    assert other.stage.encoder.key != plan.stage.encoder.key
