"""The one loop: kernels, threads, blocks and layouts change no bit, and nothing gets lost on the way."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import BOUNDS, GRID, drawn_without_noise, hostile, plan_of

import dpfda as dp
from dpfda.bounds import lattice, loops
from dpfda.bounds.products import ExactProduct
from dpfda.problems.ellipsoid_stages import InsideProblem
from dpfda.problems.mean import MeanProblem
from dpfda.problems.norms import NormProblem

compiled = pytest.mark.skipif(loops.compiled_kernels() is None, reason="the fast extra is not installed")
KERNELS = ["plain", pytest.param("compiled", marks=compiled)]
WAYS = list(itertools.product(["plain", "compiled"], [1, 3]))


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few rows, and threads for anything."""
    monkeypatch.setattr(loops, "VALUES", 7 * GRID.size)
    monkeypatch.setattr(loops, "PER_THREAD", 1)
    monkeypatch.setattr(loops.plain, "LIGHT_VALUES", 5 * GRID.size)
    if loops.compiled_kernels() is not None:
        monkeypatch.setattr(loops.compiled_kernels(), "LIGHT_VALUES", 5 * GRID.size)


def curve_problems() -> dict[str, object]:
    """A problem of every kind that reads curves, as its stage has it."""
    facts = {"epsilon": 1.0, "grid": GRID, "kernel": dp.kernels.Matern(1.5, 0.2), "invalid": "center"}
    base = 0.3 + 0.2 * np.random.default_rng(3).normal(size=(900, GRID.size))
    plans = {
        "auto": dp.MeanPlan(n=900, bound=BOUNDS["L2"], **facts),
        "one pass": dp.MeanPlan(n=900, bound=BOUNDS["L2-centred"], method=dp.Auto(passes=1), **facts),
        "box": plan_of("QR", "Box-centred", invalid="center"),
        "L1": plan_of("QR", "L1", invalid="center"),
        "filled": plan_of("QR", "L2-centred", invalid="center", fill=2),
        "standardised": plan_of("QR", "Ellipsoid", invalid="center", standardize=True),
        "covariance": dp.CovariancePlan(n=900, bound=dp.L2Ball(0.8), **facts),
        "fixed covariance": dp.CovariancePlan(n=900, bound=dp.L2Ball(0.8), method=dp.methods.KNorm(), **facts),
    }
    found = {}
    for name, plan in plans.items():
        drawn = drawn_without_noise(plan, base)
        stages = [plan.stage, *(plan.schedule.next(drawn[:done]) for done in range(1, len(drawn)))]
        encoders = {stage.encoder.key: stage.encoder for stage in stages}
        found |= {f"{name} {place} {type(e).__name__}": e for place, e in enumerate(encoders.values())}
    return found


CURVES = curve_problems()


def curve_records(rng: np.random.Generator) -> np.ndarray:
    return np.vstack([*(rng.normal(0, scale, (40, GRID.size)) for scale in (1e-9, 0.5, 3.0)), *hostile(GRID.size)])


def other_problems(rng: np.random.Generator) -> dict[str, tuple[object, np.ndarray]]:
    """Points, and records of inputs and responses."""
    box = {"n": 100, "epsilon": 1.0, "invalid": "center"}
    line, odd = rng.gamma(4.0, 8.0, 300), [np.nan, np.inf, -np.inf, 1e308, -0.0, 110.0, 110.0000001, -1e-9]
    points = np.concatenate([line, odd])[:, None]
    plane = np.column_stack([points[:, 0], rng.permutation(points[:, 0])])
    facts = {"n": 50_000, "epsilon": 1.0, "bound": dp.L2Ball(1.0), "grid": GRID, "invalid": "center"}
    regression = dp.plans.RegressionPlan(covariates=2, covariate_bound=[(-1, 1), (0, 2)], **facts)
    records = np.hstack([rng.normal(size=(134, 2)), curve_records(rng)])
    records[5, 0], records[9, 1] = np.nan, np.inf
    drawn = drawn_without_noise(regression, np.hstack([rng.uniform(0, 1, (100, 2)), rng.normal(size=(100, GRID.size))]))
    stages = [regression.stage, *(regression.schedule.next(drawn[:done]) for done in range(1, len(drawn)))]
    found = {f"regression {k} {type(s.problem).__name__}": (s.encoder, records) for k, s in enumerate(stages)}
    edges = [0, 1, 5, 10, 20, 40, 60, 80, 95, 110]
    return found | {
        "line": (dp.DensityPlan(domain=[(0.0, 110.0)], cells=24, **box).stage.encoder, points),
        "clipped": (dp.DensityPlan(domain=[(0.0, 110.0)], cells=24, outside="clip", **box).stage.encoder, points),
        "bins": (dp.DensityPlan(domain=[(0.0, 110.0)], cells=220, edges=edges, **box).stage.encoder, points),
        "plane": (dp.DensityPlan(domain=[(0, 110), (0, 60)], cells=(8, 9), **box).stage.encoder, plane),
    }


def coefficients(problem: MeanProblem, curves: np.ndarray) -> np.ndarray:
    return loops.plain.coefficients(*problem.to_coefficients(loops.Block(curves)))


def in_every_way(problem: object, batch: np.ndarray) -> list[np.ndarray]:
    found = []
    for kernels, threads in WAYS:
        with loops.using(kernels, threads):
            found.append(problem.total(batch))
    return found


@pytest.mark.parametrize("name", CURVES)
def test_no_way_changes_a_bit(name, small_blocks, rng):
    problem, batch = CURVES[name], curve_records(rng)
    with loops.using("plain", 1):
        one_by_one = sum(problem.total(row[None]) for row in batch)
    sealed = np.repeat(batch, 2, axis=1)[:, ::2]
    sealed.flags.writeable = False
    for layout in (batch, np.asfortranarray(batch), sealed, batch[::-1]):
        assert all(np.array_equal(one_by_one, found) for found in in_every_way(problem, layout))
    assert one_by_one.any()


@pytest.mark.parametrize("name", other_problems(np.random.default_rng(5)))
def test_no_way_changes_a_bit_of_other_totals(name, small_blocks, monkeypatch, rng):
    problem, batch = other_problems(np.random.default_rng(5))[name]
    monkeypatch.setattr("dpfda.problems.density.POINTS", 11)
    monkeypatch.setattr("dpfda.problems.design.Design.chunk", 13)
    with loops.using("plain", 1):
        one_by_one = sum(problem.total(row[None]) for row in batch)
    for layout in (batch, np.asfortranarray(batch)):
        assert all(np.array_equal(one_by_one, found) for found in in_every_way(problem, layout))


@pytest.mark.parametrize("name", CURVES)
def test_single_precision_is_read_as_the_doubles_it_stands_for(name, rng):
    with np.errstate(over="ignore"):
        batch = curve_records(rng).astype(np.float32)
    problem = CURVES[name]
    expected = in_every_way(problem, batch.astype(float))[0]
    assert all(np.array_equal(expected, found) for found in in_every_way(problem, batch))


@pytest.mark.parametrize("kernels", KERNELS)
def test_nothing_missing_is_lost_in_any_thread(kernels, small_blocks, rng):
    problems = [plan_of("QR", bound).problem for bound in ("L2", "L2-centred", "Ellipsoid", "L1")]
    problems.append(dp.MeanPlan(n=900, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID).stage.problem)
    batch = rng.normal(size=(83, GRID.size))
    for problem, bad in itertools.product(problems, (np.nan, np.inf, -np.inf)):
        for places in ([0], [82], [41, 44], [17, 60, 81]):
            broken = batch.copy()
            broken[places, rng.integers(GRID.size, size=len(places))] = bad
            with loops.using(kernels, 3), pytest.raises(dp.errors.RecordError) as caught:
                problem.total(broken)
            assert caught.value.rows[0] == places[0]  # the first one, whoever finds another first


def test_threads_end_and_linear_algebra_gets_its_own_back(small_blocks, rng):
    from threadpoolctl import threadpool_info

    def blas() -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before, running = blas(), threading.active_count()
    problem = plan_of("QR", "Ellipsoid").problem
    with loops.using(threads=3):
        problem.total(rng.normal(size=(99, GRID.size)))
        with pytest.raises(dp.errors.RecordError):
            problem.total(np.full((99, GRID.size), np.nan))
    assert (blas(), threading.active_count()) == (before, running)


@pytest.mark.parametrize("kernels", KERNELS)
def test_a_quick_sum_decides_nothing_that_is_close(kernels, rng):
    """Records on a surface, and a last bit to either side: as the sum in a fixed order has it."""
    norms = next(p for p in CURVES.values() if isinstance(p, NormProblem))
    inside = next(p for p in CURVES.values() if isinstance(p, InsideProblem))
    around = [1.0, 1 - 2.0**-52, 1 + 2.0**-52, 1 - 2.0**-40, 1 + 2.0**-40, 1 - 2.0**-23, 1 + 2.0**-23, 0.3]
    shapes = rng.normal(size=(60, GRID.size))
    shapes /= GRID.norm(shapes)[:, None]
    curves = np.vstack([norms.inner.center + r * a * shapes for r in norms.radii for a in around])
    block = loops.Block(curves)
    fixed = np.bincount(np.searchsorted(norms.radii, norms._norms(block)), minlength=norms.radii.size + 1)
    basis = inside.inner.basis
    waves = basis.synthesize(rng.normal(size=(60, basis.size)))
    energies = coefficients(inside.inner, inside.inner.center + waves) / inside.inner.inner_radius
    sizes = np.sqrt(np.add.reduceat(energies**2, inside.starts, axis=1) @ inside.candidates.T**-2.0)
    on_them = np.vstack([inside.inner.center + waves / sizes[:, [c]] * a for c in range(inside.size) for a in around])
    found = coefficients(inside.inner, on_them)
    with loops.using(kernels):
        assert np.array_equal(norms.total(curves), fixed)
        assert np.array_equal(inside.total(on_them), inside._inside(found))


def test_margins_are_wide_enough(rng):
    """Sums of a thousand squares in any order differ by far less than the margin that asks for a closer look."""
    squares = rng.lognormal(0, 20, (200, 1000))
    exact = np.array([float(sum(map(int, (row * 2.0**200).astype(object)))) * 2.0**-200 for row in squares])
    for order in (squares, squares[:, ::-1], np.sort(squares, axis=1)):
        error = np.abs(order.sum(axis=1) / exact - 1).max()
        assert error < loops.plain.MARGIN / 1000


@pytest.mark.parametrize("size", [1, 2, 5, 8, 21])
@pytest.mark.parametrize("mirrored", ["wholly", "nearly", "not"])
def test_products_are_exact_folded_or_not(size, mirrored, rng):
    columns = rng.integers(-(2**21), 2**21, (size, 36)).astype(float)
    if mirrored != "not":
        columns += np.where(np.arange(36) % 2, 1, -1) * columns[::-1]
    if mirrored == "nearly":
        columns[size - 1, 4] += 1
        columns[size // 2, 7] -= 3
    product, rows = ExactProduct(columns), rng.integers(-(2**25), 2**25, (9, size)).astype(float)
    as_integers = [np.vectorize(int, otypes=[object])(matrix) for matrix in (rows, columns)]
    whole = (as_integers[0] @ as_integers[1]).astype(float)
    assert (product.times(rows) == whole).all()
    if size > 4:
        assert (product.folded is None) == (mirrored == "not")
        assert mirrored != "nearly" or product.folded.off[0].size > 0
    if loops.compiled_kernels() is not None:
        facts = np.ones(9, dtype=bool), np.zeros(size), np.ones(size)
        steps = 2.0**25, product, np.ones(36)
        assert (loops.compiled_kernels().coefficients(rows, *facts, *steps) == whole).all()
        inside = rng.integers(-(2**20), 2**20, (9, 36)).astype(float)
        steps = inside, np.arange(36), np.full(36, 2.0**-3), product, 2.0**-30, 2.0**14
        assert (
            loops.plain.sum_rest(rows, *facts, *steps) == loops.compiled_kernels().sum_rest(rows, *facts, *steps)
        ).all()


@compiled
def test_nothing_is_compiled_twice(rng):
    """Other plans, sizes and layouts use what was compiled for their type of numbers, whatever ran here before."""
    made = [thing for thing in vars(loops.compiled_kernels()).values() if hasattr(thing, "signatures")]
    before = [set(thing.signatures) for thing in made]
    with loops.using("compiled", 1):
        for bound in ("L2", "L2-centred", "Ellipsoid", "Ellipsoid-centred"):
            batch = rng.normal(size=(5, GRID.size))
            for rows in (batch, batch.astype(np.float32), np.asfortranarray(batch), batch[:, ::-1][:, ::-1]):
                plan_of("QR", bound).problem.total(rows)
                plan_of("QR", bound, fill=2).problem.total(rows)
    assert len(made) > 10
    assert max(len(set(thing.signatures) - old) for thing, old in zip(made, before, strict=True)) <= 2


def test_small_inputs_never_pay_for_compilation():
    script = (
        "import sys, numpy as np, dpfda as dp\n"
        "x = np.random.default_rng(0).normal(size=(2000, 30))\n"
        "dp.mean(x, epsilon=1, bound=dp.L2Ball(1.0)); dp.density(x[:, 0], epsilon=1, domain=(-5, 5), outside='clip')\n"
        "print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


@compiled
def test_a_compiler_that_fails_costs_nothing_but_time(monkeypatch, caplog, rng):
    """Unless it was asked for by name: then it is a test that must see it."""
    problem, batch = plan_of("QR", "Ellipsoid").problem, rng.normal(size=(40, GRID.size))
    expected = problem.total(batch)

    def fails(*given: object) -> None:
        raise OSError("no space left, for 0.123 of what was there")

    monkeypatch.setattr(loops.compiled_kernels(), "_scale", fails)
    monkeypatch.setattr(loops, "WORTH", 0)
    monkeypatch.setattr(loops._Seen, "broken", False)
    with loops.using("compiled"), pytest.raises(OSError, match="no space"):
        problem.total(batch)
    for _ in range(2):
        assert np.array_equal(problem.total(batch), expected)
    assert not caplog.records  # it would tell how many values there were


def test_a_thread_that_cannot_start_is_not_needed(monkeypatch, small_blocks, rng):
    problem, batch = plan_of("QR", "Ellipsoid").problem, rng.normal(size=(40, GRID.size))
    expected = problem.total(batch)

    def refuses(*given: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuses)
    with loops.using(threads=3):
        assert np.array_equal(problem.total(batch), expected)


def test_the_number_of_threads_can_be_asked_for(monkeypatch):
    monkeypatch.setenv(loops.VARIABLE, "5")
    assert loops.threads() == 5
    with loops.using(threads=2):
        assert loops.threads() == 2
    monkeypatch.setenv(loops.VARIABLE, "many")
    assert loops.threads() >= 1


@pytest.mark.parametrize("kernels", KERNELS)
def test_comparisons_near_the_limits_are_exact(kernels):
    """Sums of squares around the limit (inside or not) and 2^53 (near or far), in both kernels and in the clip."""
    radius, far = lattice.RADIUS, 2.0**26
    rows = np.array(
        [
            [radius - 1, 0, 0, 0],
            [radius, 0, 0, 0],
            [radius, 1, 0, 0],
            [far, far - 1, 0, 0],
            [far, far, 0, 0],
            [far, far, 1, 1],
            [far + 7, radius, 1e9, 1e300],
            [1e150, -1e150, 3, 0],
        ]
    )
    clipped = dp.L2Ball(1.0).clip_lattice(rows)
    assert np.array_equal(clipped[:2], rows[:2])
    assert not np.array_equal(clipped[2], rows[2])
    assert all(sum(int(x) ** 2 for x in row) <= lattice.LIMIT for row in clipped)
    with loops.using(kernels):
        chosen = loops.choose_kernels(0)
    for row in rows[[0, 1, 2, 3, 4, 5, 7]]:  # one at a time, and in another order of coordinates
        for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
            totals, unusual = chosen.sum_clipped(row[None, order], np.zeros(4), np.ones(4))
            assert np.array_equal(totals, dp.L2Ball(1.0).clip_lattice(row[None])[0, order])
            assert unusual.size == 0
            assert np.array_equal(chosen.clip(row[None, order])[0], totals)
    assert chosen.sum_clipped(rows, np.zeros(4), np.ones(4))[1].tolist() == [6]
