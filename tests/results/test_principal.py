"""The posterior mean of a covariance, and what a clip takes: against slow truths."""

from __future__ import annotations

import numpy as np
import pytest

import dpfda as dp
from dpfda.results.principal import BELIEFS, DECAYS, FREEDOM, LEVELS, clip_loss, most_likely

INDEX = np.array([[0, 0], [0, 1], [1, 1], [0, 2], [1, 2], [2, 2]])
HEIGHTS = np.where(INDEX[:, 0] == INDEX[:, 1], 1.0, np.sqrt(2.0))


def draws_of_the_prior(size: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Covariances as they are guessed: a level, a decay and a size, then Gaussian about their mean."""
    level = rng.choice(LEVELS, size)[:, None]
    decay = rng.choice(DECAYS, size, p=BELIEFS)[:, None]
    rest = np.arange(1.0, 3.0) ** -decay
    shape = np.concatenate([level, (1 - level) * rest / rest.sum(axis=1, keepdims=True)], axis=1)
    shape = shape * 2.0 ** -rng.integers(0, count, size)[:, None]
    j, k = INDEX.T
    mean = np.where(j == k, shape[:, j], 0.0)
    return mean + rng.standard_normal(mean.shape) * np.sqrt(2 / FREEDOM * shape[:, j] * shape[:, k])


@pytest.mark.parametrize(
    "seen", [(0.5, 0.1, 0.2, 0.0, -0.1, 0.05), (0.02, 0.3, -0.2, 0.1, 0.0, 0.1), (0.15, -0.1, 0.05, 0.15, -0.12, 0.1)]
)
def test_the_posterior_mean_is_that_of_the_guesses_and_the_noise(seen):
    """Against importance sampling: guesses weighed by the density of ball noise that the rest would be."""
    rng, scale, values = np.random.default_rng(5), 0.05, np.array(seen)
    count = int(np.ceil(np.log2(1 / (0.1 * np.sqrt(7) * scale)))) + 1
    guesses = draws_of_the_prior(2_000_000, count, rng)
    weight = np.exp(-np.linalg.norm(values - guesses, axis=1) / scale)
    slow = weight @ guesses / weight.sum()
    effective = weight.sum() ** 2 / (weight**2).sum()
    spread = np.sqrt(weight @ (guesses - slow) ** 2 / weight.sum() / effective)
    assert effective > 500
    assert (np.abs(most_likely(values, INDEX, scale, 1.0) - slow) < 6 * spread + 1e-3).all()  # one in a million


def test_units_do_not_matter_and_little_noise_changes_little(rng):
    values = HEIGHTS * np.array([2.0, 0.3, 1.0, -0.2, 0.1, 0.4])
    whole = most_likely(values, INDEX, 0.1, 9.0)
    assert np.allclose(most_likely(1e40 * values, INDEX, 1e39, 9e40), 1e40 * whole, rtol=1e-9)
    assert np.allclose(most_likely(values, INDEX, 1e-9, 9.0), values, atol=1e-6)
    hidden = most_likely(values, INDEX, 1e6, 9.0)
    assert np.isfinite(hidden).all()
    assert np.linalg.norm(hidden) < 9


@pytest.mark.parametrize("variances", [(1.0,), (1.0, 0.5, 0.2), (0.1,) * 20])
@pytest.mark.parametrize("outside", [0.02, 0.2])
def test_what_the_clip_took_is_given_back(variances, outside, rng):
    curves = rng.standard_normal((400_000, len(variances))) * np.sqrt(variances)
    distance = np.linalg.norm(curves, axis=1)
    radius = float(np.quantile(distance, 1 - outside))
    clipped = (curves * np.minimum(1, radius / distance)[:, None]).var(axis=0)
    assert clip_loss(clipped, radius) * clipped.sum() == pytest.approx(sum(variances), rel=0.03)


def test_nothing_and_too_much_are_given_back_with_reason():
    assert clip_loss(np.zeros(3), 1.0) == 1.0
    assert clip_loss(np.array([1e-6]), 1.0) == pytest.approx(1.0, abs=1e-6)
    assert clip_loss(np.array([0.999]), 1.0) == pytest.approx(2.0)  # no more than twice, whatever noise says


def test_components_are_found_where_five_cosines_fail():
    """Two smooth directions in much noise. Twenty degrees are many standard errors of either mean angle."""
    t, rng = (np.arange(48) + 0.5) / 48, np.random.default_rng(8)
    curves = rng.normal(size=(1000, 1)) + 0.5 * rng.normal(size=(1000, 1)) * np.sqrt(2) * np.cos(np.pi * t)
    facts = {"n": 1000, "epsilon": 1, "bound": dp.L2Ball(4.0), "grid": dp.Grid.midpoints(0, 1, 48)}
    plain = {"method": dp.methods.Leading(5), "postprocess": False}
    angles = {}
    for name, way in (("default", {}), ("plain", plain)):
        found = []
        for _ in range(12):
            surface = dp.CovariancePlan(**facts, **way).release(curves).values
            vectors = np.linalg.eigh(surface)[1][:, :-3:-1]
            true = np.linalg.eigh(np.cov(curves.T))[1][:, :-3:-1]
            found.append(np.degrees(np.arccos(np.linalg.svd(vectors.T @ true)[1].min())))
        angles[name] = np.mean(found)
    assert angles["default"] + 20 < angles["plain"]
