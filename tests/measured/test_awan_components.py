"""Components by the exponential mechanism are drawn from its law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from measured.peers import ALARM, beside, hostile, largest_change


@pytest.fixture(scope="module")
def awan():
    return beside("awan_components")


@pytest.mark.parametrize("k", [1, 2, 3])
def test_draws_are_orthonormal(awan, k):
    rng = np.random.default_rng(8)
    for q in (3, 5, 9):
        matrix = rng.normal(size=(q, q)) * 5
        found = awan.bingham(matrix + matrix.T, k, rng)
        assert found.shape == (q, k)
        assert np.abs(found.T @ found - np.eye(k)).max() < 1e-12


@pytest.mark.parametrize("size", [1.0, 6.0])
def test_angles_in_the_plane_have_the_density(awan, size):
    """exp(v' A v) at v = (cos t, sin t): twenty bins of equal chance, by integration over all directions."""
    rng, turn = np.random.default_rng(9), 0.7
    axis = np.array([np.cos(turn), np.sin(turn)])
    matrix = size * np.outer(axis, axis) - 3 * np.eye(2)
    drawn = np.array([awan.bingham(matrix, 1, rng)[:, 0] for _ in range(3000)])
    fine = (np.arange(200_000) + 0.5) / 200_000 * 2 * np.pi
    reached = np.exp(size * np.cos(fine - turn) ** 2).cumsum()
    edges = np.interp(np.linspace(0, 1, 21), reached / reached[-1], fine + np.pi / 200_000)
    edges[0], edges[-1] = 0, 2 * np.pi
    counts = np.histogram(np.arctan2(drawn[:, 1], drawn[:, 0]) % (2 * np.pi), edges)[0]
    assert stats.chisquare(counts).pvalue > ALARM


def test_bases_of_drawn_spans_tell_nothing_more(awan):
    """All bases of a span have one density: neither columns nor signs prefer an axis, within 6 standard errors."""
    rng = np.random.default_rng(10)
    matrix = np.diag([0.0, 0.0, 0.0, 2.0, 8.0])
    drawn = np.array([awan.bingham(matrix, 2, rng) for _ in range(1500)])
    for apart in (drawn[:, -1, 0] ** 2 - drawn[:, -1, 1] ** 2, drawn[:, -1, 0], drawn[:, -1, 0] * drawn[:, -1, 1]):
        assert abs(apart.mean()) < 6 * apart.std() / np.sqrt(apart.size)
    whole = [awan.bingham(np.diag(values), 3, rng) for values in ([3.0, 2.0, 1.0], [1.0, 2.0, 3.0])]
    assert np.array_equal(*whole), "the whole space has one basis, whatever the data"


@pytest.mark.parametrize(("k", "eigenvalues"), [(1, "0 1 -1 3"), (2, "0 1 -1 3"), (3, "0 1 -1 3"), (2, "0 -2 9 4")])
def test_spans_have_the_moments_of_the_density(awan, k, eigenvalues):
    """Mean squares of projections, against uniform spans with the density as weights: 6 standard errors."""
    rng, matrix = np.random.default_rng(11), np.diag([float(value) for value in eigenvalues.split()])
    drawn = np.array([awan.bingham(matrix, k, rng) for _ in range(1200)])
    squares = (drawn**2).sum(axis=2)
    other = (np.linalg.qr(rng.normal(size=(40_000, 4, k)))[0] ** 2).sum(axis=2)
    weights = np.exp(other @ np.diag(matrix))
    weights /= weights.sum()
    wanted = weights @ other
    noise = squares.var(axis=0) / len(squares) + (weights**2) @ (other - wanted) ** 2
    assert (np.abs(squares.mean(axis=0) - wanted) < 6 * np.sqrt(noise)).all()


def test_the_bound_of_the_rejection_holds(awan, monkeypatch):
    """Chances to accept, seen where they are compared: never above one, and near one somewhere."""
    seen, rng = [], np.random.default_rng(12)
    for _ in range(200):
        q = int(rng.integers(2, 9))
        costs = rng.exponential(rng.choice([0.1, 3.0, 200.0]), q)
        costs -= costs.min()
        k = int(rng.integers(1, q + 1))
        easy = awan.relaxed(costs, k)
        shift = awan.envelope(easy)
        assert (1 / (shift + 2 * easy)).sum() == pytest.approx(1, rel=1e-9)
        spans = awan.frame(rng.normal(size=(300, q, k)) / np.sqrt(shift + 2 * easy)[:, None])
        seen.append(awan.chances(spans, costs, shift).max())
        # Spans that are hard for the bound: axes, and pairs of axes turned a little.
        cheap = np.eye(q)[:, np.argsort(costs)[:k]]
        turned = np.linalg.qr(cheap + 0.1 * rng.normal(size=(100, q, k)))[0]
        seen.append(max(awan.chances(cheap[None], costs, shift)[0], awan.chances(turned, costs, shift).max()))
        # The peak of a single eigenvalue, where it is in the range of the costs.
        peak = (q - shift) / 2
        if k == 1 and 0 < peak < costs.max():
            share = peak / costs.max()
            top = np.zeros((1, q, 1))
            top[0, costs.argmin(), 0], top[0, costs.argmax(), 0] = np.sqrt(1 - share), np.sqrt(share)
            assert awan.chances(top, costs, shift)[0] == pytest.approx(0, abs=1e-9)
    assert max(seen) <= 1e-9
    assert max(seen) > -0.01


@pytest.mark.parametrize("k", [1, 2, 3])
def test_draws_need_no_chain_where_the_law_is_narrow(awan, k, monkeypatch):
    """Five eigenfunctions, and leading ones that are far apart."""
    monkeypatch.delattr(awan, "_chain")
    rng = np.random.default_rng(22)
    for size in (1.0, 30.0, 1000.0):
        for _ in range(20):
            awan.bingham(np.diag(size * np.array([0.0, 0.1, 0.4, 1.0, 2.0])), k, rng)


@pytest.mark.parametrize("way", ["public", "mean", "pairs"])
def test_coordinates_stay_in_the_unit_ball(awan, way):
    rng, size = np.random.default_rng(13), 24
    basis = awan.base((np.arange(size) + 0.5) / size, 0.2)
    curves = np.array([*hostile(size), *rng.normal(0, 1, (20, size))])
    with np.errstate(over="ignore"):
        scores, left = awan.coordinates(curves, basis, way, 0.1, 0.8, 1.0, rng)
    assert np.isfinite(scores).all()
    assert np.linalg.norm(scores, axis=1).max() <= 1 + 1e-12
    assert left == (0.8 if way == "mean" else 1.0)


def test_the_mean_before_components_has_the_noise_of_its_sensitivity(awan):
    """Its L1 change for hostile rows, and the scale that the generator is asked for."""
    size, epsilon = 24, 1.0
    basis = awan.base((np.arange(size) + 0.5) / size, 0.2)
    rng = np.random.default_rng(14)
    base = rng.normal(0, 1, (5, size))

    def mean(curves):
        with np.errstate(over="ignore"):
            return awan.clipped((curves - 0.1) @ basis.functions.T / size / 0.8).mean(axis=0)

    class Watched:
        def laplace(self, middle, scale, count):
            self.scale = scale
            return np.zeros(count)

    watched = Watched()
    awan.coordinates(np.vstack([base, base[:1]]), basis, "mean", 0.1, 0.8, epsilon, watched)
    records = [*hostile(size), *(sign * basis.functions.T @ np.ones(basis.penalties.size) for sign in (-1e9, 1e9))]
    found, _ = largest_change(mean, base, records)
    limit = watched.scale * awan.MEAN_SHARE * epsilon
    assert 0.99 * limit <= found <= limit * (1 + 1e-9)


def test_utility_moves_by_one_at_most(awan):
    """Of any span, when one row in the unit ball is replaced: A moves by epsilon / 2 at most along it."""
    rng = np.random.default_rng(15)
    rows = awan.clipped(rng.normal(size=(6, 5)) * 3)
    for k in (1, 3):
        span = awan.frame(rng.normal(size=(5, k)))
        other = rows.copy()
        for record in (span[:, 0], -span[:, 0], np.zeros(5), np.eye(5)[0]):
            other[0] = record
            apart = awan.exponent(rows, np.ones(5), 2.0) - awan.exponent(other, np.ones(5), 2.0)
            assert abs(np.trace(span.T @ apart @ span)) <= 1 + 1e-12
    other[0], rows[0] = span[:, 0], 0
    apart = awan.exponent(rows, np.ones(5), 2.0) - awan.exponent(other, np.ones(5), 2.0)
    assert abs(np.trace(span.T @ apart @ span)) == pytest.approx(1)


def test_a_base_as_large_as_the_answer_reads_no_data(awan):
    rng, points = np.random.default_rng(16), (np.arange(30) + 0.5) / 30
    basis = awan.base(points, 0.4)
    assert basis.penalties.size == 3
    assert np.abs(basis.functions @ basis.functions.T / 30 - np.eye(3)).max() < 1e-12
    found = [
        awan.components(curves, 3, 4.0, basis, "public", 0.0, 1.0, rng)
        for curves in (rng.normal(size=(50, 30)), np.outer(np.ones(50), points))
    ]
    assert np.array_equal(*found)


def test_ways_that_read_no_data_are_left_out(awan):
    field = beside("field_components")
    curves = field.Curves("invented", np.random.default_rng(17).normal(size=(20, 30)), 0.0, 2.0)
    for k in (1, 2, 3):
        lengths = {name.partition(",")[0] for name in field.peer_ways(curves, k, 1.0, None)}
        assert lengths == {"length 0.1", "length 0.2"} | ({"length 0.4"} if k < 3 else set())
