"""Mechanisms that are broken on purpose: the contract must catch each of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from conftest import GRID, plan_of

import dpfda as dp


def worst_loss(plan: dp.MeanPlan, stage: object, summarize) -> float:
    """Largest loss over pairs along the plan's own worst direction, for a possibly broken stage."""
    part = stage.parts[0]
    direction = np.zeros(plan.basis.size)
    direction[part.where] = (
        part.filter / part.law.scales if isinstance(part.law, dp.noise.Laplace) else np.ones(part.where.size)
    )
    direction *= plan.bound.radius / np.linalg.norm(direction)
    base = np.zeros((plan.n, GRID.size))
    pair = [np.vstack([base[1:], sign * plan.basis.synthesize(direction)]) for sign in (1, -1)]
    return stage.loss(stage.statistic(summarize(pair[0])) - stage.statistic(summarize(pair[1])))


@pytest.mark.parametrize("method", ["QR", "Minimax", "KNorm"])
def test_sound_mechanisms_pass(method):
    plan = plan_of(method)
    assert 0.98 < worst_loss(plan, plan.stage, plan.summarize) <= 1.0


@pytest.mark.parametrize("method", ["QR", "Minimax", "KNorm"])
def test_noise_short_by_root_two_is_caught(method):
    plan = plan_of(method)
    part = plan.stage.parts[0]
    if isinstance(part.law, dp.noise.Laplace):
        law = replace(part.law, sensitivity=int(part.law.sensitivity / np.sqrt(2)))
    else:
        law = replace(part.law, diameter=part.law.diameter / np.sqrt(2))
    short = replace(plan.stage, parts=(replace(part, law=law),))
    assert worst_loss(plan, short, plan.summarize) > 1.3


def test_full_epsilon_on_every_coordinate_is_caught():
    plan = plan_of("FRL-5")
    part = plan.stage.parts[0]
    law = replace(part.law, sensitivity=part.law.sensitivity // 5)
    assert worst_loss(plan, replace(plan.stage, parts=(replace(part, law=law),)), plan.summarize) > 2


def test_a_bound_read_from_the_data_is_caught():
    """The radius is the largest norm in the sample: one record then moves every other one's lattice."""
    plan = plan_of("QR")

    def mean_over_largest(data: np.ndarray) -> np.ndarray:
        radius = GRID.norm(data).max()
        scaled = replace(plan, bound=dp.L2Ball(float(radius)))
        return scaled.statistic(scaled.summarize(data)) / radius * plan.bound.radius

    base = np.tile(0.5 * np.sin(GRID.points), (plan.n, 1))
    outlier = base.copy()
    outlier[0] *= 50
    assert plan.loss(mean_over_largest(base) - mean_over_largest(outlier)) > 1.3
