"""PLAN spends its budgets and no more."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from measured.peers import ALARM, beside


@pytest.fixture(scope="module")
def plan():
    return beside("plan_mean")


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("share", [0.1, 0.25, 0.5])
def test_budgets_of_plan_add_up(plan, share, scaled):
    budget = plan.budgets(0.7, share, scaled)
    assert budget.total == pytest.approx(0.7, rel=1e-12)
    assert min(budget.centres, budget.quantile, budget.noise) > 0
    assert (budget.spreads > 0) == scaled


@pytest.mark.parametrize("scaled", [True, False])
def test_plan_spends_its_budgets_and_no_more(plan, scaled, monkeypatch):
    """What its steps ask for, counted where they draw."""
    spent, own, scale = [], plan.quantiles, plan.noise_scale

    def quantiles(data, rank, low, high, rho, rng):
        spent.append(rho * data.shape[1])
        return own(data, rank, low, high, rho, rng)

    def noise_scale(radius, n, rho):
        spent.append(rho)
        return scale(radius, n, rho)

    monkeypatch.setattr(plan, "quantiles", quantiles)
    monkeypatch.setattr(plan, "noise_scale", noise_scale)
    rng = np.random.default_rng(0)
    plan.mean(rng.normal(size=(200, 5)), 0.7, np.full(5, -9.0), np.full(5, 9.0), rng, 0.25, scaled)
    assert sum(spent) == pytest.approx(0.7, rel=1e-12)
    assert len(spent) == (4 if scaled else 3)


def test_noise_of_plan_is_zcdp(plan):
    """Renyi divergences of normal laws 2 radius / n apart are alpha times rho, by integration."""
    radius, n, rho, alpha = 3.0, 50, 0.4, 2.5
    scale, apart = plan.noise_scale(radius, n, rho), 2 * radius / n
    limit = 40 * scale
    whole, _ = integrate.quad(
        lambda x: np.exp(alpha * stats.norm.logpdf(x, 0, scale) + (1 - alpha) * stats.norm.logpdf(x, apart, scale)),
        -limit, limit, points=[-2 * apart, 0, apart],
    )  # fmt: skip
    assert np.log(whole) / (alpha - 1) == pytest.approx(alpha * rho, rel=1e-6)


def test_quantiles_of_plan_lose_no_more_than_their_epsilon(plan):
    """Exact chances of gaps, for all pairs of a few hostile neighbours; a range of losses of epsilon is epsilon^2/8."""
    rho, low, high, rank = 0.5, 0.0, 1.0, 2.5

    def density(values, at):
        edges = np.concatenate([[low], np.clip(np.sort(values), low, high), [high]])
        lengths, utility = np.diff(edges), -np.abs(np.arange(edges.size - 1) - rank)
        weights = lengths * np.exp(plan.epsilon_of_exponential(rho) / 2 * utility)
        height = np.exp(plan.epsilon_of_exponential(rho) / 2 * utility) / weights.sum()
        return height[np.searchsorted(edges[1:-1], at)]

    at = (np.arange(997) + 0.5) / 997
    base = [0.2, 0.25, 0.9, 0.91]
    found = [np.log(density([*base, x], at)) for x in (-1e300, 0.0, 0.21, 0.5, 0.9, 1.0, 7.0)]
    losses = [a - b for a in found for b in found]
    assert max(loss.max() - loss.min() for loss in losses) == pytest.approx(np.sqrt(8 * rho), rel=1e-9)
    # The density is that of the draws.
    rng, values = np.random.default_rng(3), np.array([*base, 0.5])
    limits = np.full(4000, low), np.full(4000, high)
    drawn = plan.quantiles(np.tile(values[:, None], 4000), rank, *limits, rho, rng)
    edges = np.linspace(0, 1, 21)
    fine = (np.arange(20_000) + 0.5) / 20_000
    wanted = density(values, fine).reshape(20, -1).mean(axis=1) / 20 * 4000
    counts = np.histogram(drawn, edges)[0]
    assert stats.chisquare(counts, wanted * counts.sum() / wanted.sum()).pvalue > ALARM


def test_quantiles_of_plan_are_near_on_easy_data(plan):
    """With epsilon 6.3, a rank is missed by k or more with a chance of about exp(-3.2 k): 20 of 2000 never are."""
    rng = np.random.default_rng(1)
    data = rng.uniform(2, 4, (2000, 3))
    for level in (0.1, 0.5, 0.95):
        found = plan.quantiles(data, level * 2000, np.zeros(3), np.full(3, 10.0), 5.0, rng)
        assert np.abs((data < found).mean(axis=0) - level).max() <= 0.01


@pytest.mark.parametrize("scaled", [True, False])
def test_plan_without_noise_is_the_mean(plan, scaled):
    rng = np.random.default_rng(2)
    data = rng.uniform(-1, 1, (4000, 4)) * [0.1, 1, 1, 10] + [0, 1, -1, 5]
    found = plan.mean(data, 1e9, np.full(4, -20.0), np.full(4, 20.0), rng, 0.25, scaled, 0.0)
    assert np.abs(found - data.mean(axis=0)).max() < 0.02
