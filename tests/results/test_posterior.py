"""The posterior mean: against integrals, for every noise law, and where numbers are extreme."""

from __future__ import annotations

import numpy as np
import pytest

import dpfda as dp
from dpfda.results.posterior import Prior, Seen, mixture, posterior, sizes_and_shapes
from dpfda.results.postprocess import posterior_of

PRIOR = Prior(np.array([[2.0], [0.1], [0.0]]), np.log([0.2, 0.3, 0.5]))


def integrated(seen: float, log_noise) -> tuple[float, float]:
    """Posterior mean and variance of one number by quadrature over the signal, atom at zero included."""
    signal = np.linspace(-30, 30, 600_001)
    step = signal[1] - signal[0]
    density = sum(
        np.exp(w) * np.exp(-0.5 * signal**2 / v) / np.sqrt(2 * np.pi * v)
        for w, v in zip(PRIOR.log_weights[:2], (2.0, 0.1), strict=True)
    )
    weight = density * np.exp(log_noise(seen - signal)) * step
    nothing = np.exp(PRIOR.log_weights[2] + log_noise(np.array([seen]))[0])
    mass = weight.sum() + nothing
    mean = float((weight * signal).sum() / mass)
    return mean, float((weight * signal**2).sum() / mass) - mean**2


@pytest.mark.parametrize("seen", [0.0, 0.2, 1.0, -3.0, 8.0])
def test_laplace_noise_is_a_block_of_one(seen):
    mean, variance = integrated(seen, lambda x: -np.abs(x) / 0.3 - np.log(0.6))
    found = posterior([Seen(np.array([0]), np.array([seen]), np.array([0.3]))], PRIOR)
    assert found.mean[0] == pytest.approx(mean, abs=0.01)  # the nodes are Gaussian: a kink is smoothed a little
    assert found.variance[0] == pytest.approx(variance, abs=0.02)


@pytest.mark.parametrize("seen", [0.0, 0.2, 1.0, -3.0])
def test_gaussian_noise_is_exact(seen):
    mean, variance = integrated(seen, lambda x: -0.5 * (x / 0.3) ** 2 - np.log(0.3 * np.sqrt(2 * np.pi)))
    found = posterior([Seen(np.array([0]), np.array([seen]), np.array([0.3]), gaussian=True)], PRIOR)
    assert found.mean[0] == pytest.approx(mean, abs=1e-6)
    assert found.variance[0] == pytest.approx(variance, abs=1e-6)


def test_blocks_may_come_in_any_order_and_length():
    rng = np.random.default_rng(0)
    prior = sizes_and_shapes(np.array([np.full(7, 1 / 7), np.arange(7, 0, -1) / 28]), 1.0, 1e-4, 0.5)
    values, scales = rng.normal(size=7), np.full(7, 0.2)
    blocks = [Seen(np.arange(a, b), values[a:b], scales[a:b]) for a, b in ((0, 1), (1, 2), (2, 4), (4, 7))]
    one, other = posterior(blocks, prior), posterior(blocks[::-1], prior)
    assert np.allclose(one.mean, other.mean, rtol=1e-12)
    assert np.allclose(one.weights, other.weights, rtol=1e-12)
    partly = posterior(blocks[:2], prior)
    assert (partly.mean[2:] == 0).all()
    assert (partly.variance[2:] > 0).all()


def test_large_signals_stay_and_noise_goes():
    prior = sizes_and_shapes(np.full((1, 12), 1 / 12), 100.0, 1e-6, 0.5)
    scales, where = np.full(12, 0.01), np.arange(12)
    assert np.allclose(posterior([Seen(where, np.ones(12), scales)], prior).mean, 1, atol=0.01)
    faint = posterior([Seen(where, 0.03 * np.ones(12), scales)], prior)  # as long as the noise is
    assert np.abs(faint.mean).max() < 0.02


@pytest.mark.parametrize("length", [1, 2, 50, 2000, 100_000])
def test_nodes_hold_the_mean_and_the_spread_of_every_length(length):
    nodes, log_weights = mixture(length)
    weights = np.exp(log_weights)
    assert weights.sum() == pytest.approx(1)
    assert nodes @ weights == pytest.approx(length + 1)
    assert (nodes - length - 1) ** 2 @ weights == pytest.approx(2 * (length + 1))


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("method", [dp.methods.KNorm(5), dp.methods.Blocks(9), dp.methods.FRL(4), dp.methods.QR()])
def test_units_change_nothing(unit, method):
    plan = dp.MeanPlan(n=100, epsilon=1, bound=dp.L2Ball(unit), grid=16, method=method)
    about = 0.3 * unit * np.random.default_rng(1).normal(size=plan.basis.size)
    found = posterior_of(about, plan.stage, plan.problem)
    plain = dp.MeanPlan(n=100, epsilon=1, bound=dp.L2Ball(1.0), grid=16, method=method)
    assert np.allclose(found.mean / unit, posterior_of(about / unit, plain.stage, plain.problem).mean, rtol=1e-6)
    assert np.isfinite(found.variance).all()
