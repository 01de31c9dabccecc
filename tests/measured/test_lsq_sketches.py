"""Sketches of kernel densities change by no more than their noise allows for."""

from __future__ import annotations

import numpy as np
import pytest

from measured.peers import beside, largest_change


@pytest.fixture(scope="module")
def lsq():
    return beside("lsq_sketches")


def points_at_edges(dimension):
    """Corners, middles, borders of boxes, points outside and far away."""
    values = (0.0, 0.25, 0.375, 0.5, np.nextafter(0.5, 0), 1.0, -3.0, 2.0, 1e9, -1e9)
    line = [np.full(dimension, value) for value in values]
    return [*line, np.arange(dimension) % 2 * 1.0, np.arange(1, dimension + 1) % 2 * 1.0]


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize(("boxes", "terms"), [(4, 1), (4, 3), (1, 2)])
def test_sensitivity_of_the_fast_gauss_transform(lsq, dimension, boxes, terms):
    sketch = lsq.Hermite(np.zeros(dimension), np.ones(dimension), boxes, terms, 0.3)
    base = np.random.default_rng(0).uniform(0, 1, (5, dimension))
    found, _ = largest_change(sketch.totals, base, points_at_edges(dimension))
    assert found <= sketch.sensitivity * (1 + 1e-9)
    if boxes > 1:
        assert found >= 0.99 * sketch.sensitivity, "points at two corners reach it"


def test_sensitivity_of_fourier_features(lsq):
    rng = np.random.default_rng(0)
    sketch = lsq.Fourier.drawn(3, 0.2, 1, rng)
    one = lsq.Fourier(sketch.frequencies[:, :1], sketch.phases[:1])
    records = [*points_at_edges(1), *rng.uniform(-9, 9, (200, 1))]
    base = rng.uniform(0, 1, (5, 1))
    for features in (sketch, one):
        found, _ = largest_change(lambda points, f=features: f.encoded(points).sum(axis=0), base, records)
        assert found <= features.sensitivity * (1 + 1e-9)
    assert found >= 0.99 * one.sensitivity, "one feature reaches it"


@pytest.mark.parametrize("kind", ["fourier", "hermite"])
def test_noise_of_sketches_has_the_scale_of_their_sensitivity(lsq, kind):
    """Laplace noise has mean size sensitivity / epsilon, within six standard errors: 2e-9 of false alarms."""
    rng, points, epsilon = np.random.default_rng(4), np.random.default_rng(5).uniform(0, 1, (10, 1)), 0.7
    if kind == "fourier":
        sketch = lsq.Fourier.drawn(20_000, 0.2, 1, rng)
        exact = sketch.encoded(points).sum(axis=0)
    else:
        sketch = lsq.Hermite(np.zeros(1), np.ones(1), 10_000, 2, 0.2)
        exact = sketch.totals(points)
    noise = np.abs(sketch.sketch(points, epsilon, rng) * len(points) - exact) * epsilon / sketch.sensitivity
    assert noise.mean() == pytest.approx(1, abs=6 / np.sqrt(noise.size))


def test_sketches_without_noise_are_the_kernel_estimate(lsq):
    rng = np.random.default_rng(6)
    for dimension, boxes, terms in ((1, 8, 10), (2, 6, 8), (3, 4, 6)):
        points, queries = rng.uniform(0, 1, (300, dimension)), rng.uniform(0, 1, (20, dimension))
        truth = lsq.exact(points, queries, 0.3)
        sketch = lsq.Hermite(np.zeros(dimension), np.ones(dimension), boxes, terms, 0.3)
        assert np.abs(sketch.answers(sketch.sketch(points, 1e12, rng), queries) - truth).max() < 1e-4
    # An answer is a mean of features of size two at most: six of its standard errors.
    features = lsq.Fourier.drawn(40_000, 0.3, 1, rng)
    points, queries = rng.uniform(0, 1, (50, 1)), rng.uniform(0, 1, (20, 1))
    found = features.answers(features.sketch(points, 1e15, rng), queries)
    assert np.abs(found - lsq.exact(points, queries, 0.3)).max() < 6 * 2 / np.sqrt(40_000)
