"""Two-sided tests of both exact samplers and of the simulator: the right scale passes, 0.7 and 1.3 fail.

Every acceptance region is 5.5 standard errors wide on each side: a false alarm has probability
below 4e-8 per statistic, below 1e-6 for the file.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpfda as dp
from dpfda.noise import Ball, Laplace
from dpfda.noise.ball import _rounded_ball
from dpfda.noise.rounding import Placed

SIGMAS = 5.5


def close(sample: np.ndarray, expected: float) -> bool:
    """Whether the sample mean is what it should be, up to its own standard error."""
    error = sample.std() / np.sqrt(sample.size)
    return abs(sample.mean() - expected) < SIGMAS * error


@pytest.fixture(scope="module")
def laplace_draws() -> tuple[Laplace, np.ndarray]:
    law = Laplace(Fraction(1, 2), np.full(20_000, 2.0**-40), 2**40)
    return law, law.draw([0] * 20_000)


def test_exact_laplace_has_its_scale(laplace_draws):
    law, draws = laplace_draws
    sizes = np.abs(draws) / law.scales
    assert close(sizes, 1.0)
    assert close((sizes < np.log(2)).astype(float), 0.5)
    assert close((draws > 0).astype(float), 0.5)
    assert close((sizes > 3).astype(float), np.exp(-3))


@pytest.mark.parametrize("factor", [0.7, 1.3])
def test_wrong_laplace_scales_are_rejected(laplace_draws, factor):
    law, draws = laplace_draws
    assert not close(factor * np.abs(draws) / law.scales, 1.0)


@pytest.fixture(scope="module")
def ball_draws() -> tuple[Ball, np.ndarray]:
    law = Ball(Fraction(2), np.array([1.0, 0.5, 2.0, 1.0, 1.0]), 0.3)
    return law, np.array([law.draw([Fraction(0)] * 5) for _ in range(4000)])


def test_exact_ball_noise_has_its_law(ball_draws):
    law, draws = ball_draws
    radius = np.sqrt(((draws / law.scales) ** 2).sum(axis=1))
    assert close(radius, 5.0)  # Gamma(5, 1)
    assert close(radius**2, 30.0)
    assert close(1 / radius, 0.25)
    for j in range(5):
        share = (draws[:, j] / law.scales[j] / radius) ** 2
        assert close(share, 0.2)  # uniform direction
        assert close(share**2, 3 / 35)
        assert close((draws[:, j] > 0).astype(float), 0.5)
        assert close(draws[:, j] ** 2, float(law.variance[j]))


@pytest.mark.parametrize("factor", [0.7, 1.3])
def test_wrong_ball_scales_are_rejected(ball_draws, factor):
    law, draws = ball_draws
    assert not close(factor * np.sqrt(((draws / law.scales) ** 2).sum(axis=1)), 5.0)


def test_ball_noise_in_one_dimension_is_laplace():
    zero, ratio = [Placed.of(Fraction(0), Fraction(1))], [Fraction(2**30)]
    draws = np.array([_rounded_ball(zero, ratio) for _ in range(3000)], dtype=float) / 2**30
    assert close(np.abs(draws), 1.0)
    assert close((draws > 0).astype(float), 0.5)


def test_ball_noise_is_added_to_the_statistic():
    law = Ball(Fraction(1), np.ones(3), 1e-6)
    assert law.draw([Fraction(5), Fraction(-1, 3), Fraction(10**9)]) == pytest.approx([5, -1 / 3, 1e9], abs=1e-3)


@pytest.mark.parametrize("method", [dp.methods.Minimax(), dp.methods.KNorm(), dp.methods.QR(noise="kernel")])
def test_simulation_and_release_share_one_law(method):
    """Sizes in units of the plan's scales have mean one (Laplace) or the dimension (ball): both doors, both ways.

    300 releases of at least 8 numbers: a wrong scale is 0.3 off, more than ten standard errors.
    """
    plan = dp.MeanPlan(n=50, epsilon=2, bound=dp.L2Ball(1.0), grid=12, method=method, postprocess=False)
    part = plan.stage.parts[0]
    simulated = dp.noise.simulate(plan, np.zeros(plan.basis.size), 20_000, np.random.default_rng(5))
    summary = plan.summarize(np.zeros((50, 12)))
    released = np.array([plan.release(summary).coefficients for _ in range(300)])
    for draws in (simulated, released):
        units = draws[:, part.where] / part.law.scales
        if isinstance(part.law, Laplace):
            sizes, expected = np.abs(units).ravel(), 1.0
        else:
            sizes, expected = np.sqrt((units**2).sum(axis=1)), float(part.where.size)
        assert close(sizes, expected)
        assert not close(0.7 * sizes, expected)
        assert not close(1.3 * sizes, expected)


def test_process_has_the_eigenvalues_as_variances(rng):
    basis = dp.kernels.Cosine(dp.kernels.Matern(1.5, 0.2)).basis(dp.Grid.midpoints(0, 2, 32))
    coefficients = basis.coefficients(dp.noise.process(basis, 20_000, rng))
    assert all(close(coefficients[:, j] ** 2, basis.eigenvalues[j]) for j in range(0, 32, 4))
    assert close(np.abs(coefficients[:, 0]), np.sqrt(basis.eigenvalues[0] / 2))


def test_releases_of_the_same_data_differ():
    plan = dp.MeanPlan(n=50, epsilon=1, bound=dp.L2Ball(1.0), grid=12)
    summary = plan.summarize(np.zeros((50, 12)))
    assert not np.array_equal(plan.release(summary).coefficients, plan.release(summary).coefficients)
