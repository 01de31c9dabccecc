"""Error bars of covariances: what the check measures, what bands and angles say of it, and where nothing was paid."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpfda as dp
from dpfda import engines
from dpfda.problems.surface_check import CUT, EDGE, SurfaceCheck, pieces_of, schatten16
from dpfda.results.covariance_bands import laplace_quantile, largest_angles, over_pieces, plane_angle

SAVED = Path(__file__).parents[1] / "saved"
GRID = dp.Grid.midpoints(0, 1, 24)


def curves(n: int, rng: np.random.Generator) -> np.ndarray:
    """Two strong directions, one of them nine times as strong, and something rough beyond what is released."""
    t = GRID.points
    scores = rng.standard_normal((n, 2)) * [0.6, 0.2]
    smooth = scores @ (np.sqrt(2) * np.array([np.sin(np.pi * t), np.cos(2 * np.pi * t)]))
    return np.asarray(1.0 + smooth + 0.1 * rng.standard_normal((n, t.size)))


@pytest.fixture(scope="module")
def data() -> np.ndarray:
    return curves(20_000, np.random.default_rng(2))


@pytest.fixture(scope="module")
def release(data) -> dp.results.CovarianceRelease:
    return dp.covariance(data, epsilon=8.0, bound=dp.L2Ball(3.0, 1.0), grid=GRID)


def checked_problem(rng, surface, n=30, points=24, radius=1.0, heights=0.3, weights=(Fraction(1, 2), Fraction(1, 4))):
    grid = dp.Grid.midpoints(0, 1, points)
    inner = dp.MeanPlan(n=n, epsilon=1, bound=dp.L2Ball(1.0, 0.2), grid=grid, invalid="center").problem
    size = len(set(pieces_of(points).tolist()))
    return SurfaceCheck(inner, surface, radius, np.full(size, heights), weights)


def test_the_check_is_the_distance_of_second_moments(rng):
    """Of records that nothing is cut of: against a plain computation, to the lattice's rounding."""
    records = 0.2 + 0.3 * rng.normal(size=(30, 24))
    records -= records.mean(axis=0) - 0.2
    surface = np.cov(rng.normal(size=(24, 60))) / 24 / 9
    check = checked_problem(rng, surface, radius=2.0, heights=0.6)
    rows, cut = check.encode(records)
    assert (cut == 0).all()
    about = (records - 0.2) / np.sqrt(24)
    assert np.allclose(rows * check.unit, about, atol=1.01 * check.unit)
    largest, operator = map(float, check.estimate(engines.summarize(check, records)))
    off = about.T @ about / 30 - surface
    assert largest == pytest.approx(np.abs(off).max() / 0.36, rel=1e-2)
    assert operator == pytest.approx(np.abs(np.linalg.eigvalsh(off)).max() / 4, rel=0.05)
    assert operator >= 0.999 * np.abs(np.linalg.eigvalsh(off)).max() / 4


def test_what_is_cut_is_counted_and_bounds_what_products_lose(rng):
    """For any two places the mean of products loses no more than half of what both squares do, up to the cap."""
    records = 0.2 + rng.standard_t(3, size=(400, 24)) * 0.3
    check = checked_problem(rng, np.zeros((24, 24)), n=400, radius=0.5, heights=0.15)
    rows, cut = check.encode(records)
    assert np.abs(rows).max() <= check.edges.max()
    assert (rows**2).sum(axis=1).max() <= EDGE**2
    assert 0 < (cut > 0).mean() < 1
    assert cut.max() == CUT
    about, heights = (records - 0.2) / np.sqrt(24), check.edges * check.unit
    small = (cut < CUT).all(axis=1)
    lost = np.abs(about.T[:, None] * about.T - (rows * check.unit).T[:, None] * (rows * check.unit).T)[:, :, small]
    shares = (cut[small].T / CUT)[:, None] / 2 + (cut[small].T / CUT) / 2
    assert (lost / np.multiply.outer(heights, heights)[..., None] <= shares + 1e-3).all()


def test_batches_and_pieces_do_not_change_the_bits(rng):
    check = checked_problem(rng, np.zeros((104, 104)), points=130, heights=0.05)
    records = 0.2 + rng.normal(size=(30, 130))
    parts = sum(check.total(records[i : i + 7]) for i in range(0, 30, 7))
    assert (parts == check.total(records)).all()
    assert (check.total(records[::-1]) == check.total(records)).all()
    surface = np.cos(np.subtract.outer(np.arange(130), np.arange(130)) / 130)
    assert np.trace(over_pieces(surface, check.inner.grid.weights)) == pytest.approx(1.0, rel=1e-3)


def test_schatten_norms_are_exact(rng):
    matrix = rng.integers(-(10**9), 10**9, (6, 6))
    matrix += matrix.T
    values = np.abs(np.linalg.eigvalsh(matrix.astype(float)))
    exact = (values**16).sum() ** (1 / 16)
    assert schatten16(matrix.astype(object)) == pytest.approx(exact, abs=1.001)


def test_bands_hold_the_sample_and_say_so(release, data):
    """At 0.999 the chance of a false alarm of the check's noise is one in a thousand: the release itself is drawn once.

    Laplace noise of 18 scales is one in ten million, which is what is asked for.
    """
    sample, level = np.cov(data.T, bias=True), 1 - 1e-7
    band = release.band(level)
    assert band.covers == "covariance of the sample"
    assert (band.lower <= sample).all()
    assert (sample <= band.upper).all()
    assert (band.lower <= release.values).all()
    assert (release.values <= band.upper).all()
    wider = release.confidence_band(level)
    assert wider.covers == "covariance of the population"
    assert (wider.half_width > 0.999 * band.half_width).all()
    assert release.band(0.95).half_width.mean() < band.half_width.mean()
    assert np.diag(band.lower).min() >= 0
    points = GRID.points[[3, 17]]
    here = release.band(0.95, [points])
    assert here.half_width == pytest.approx(release.band(0.95).half_width[3, 17])
    assert "everywhere at once" in release.band_promise


def test_tables_hold_the_population_band(release):
    rows = release.to_csv().splitlines()
    lower, upper = release.confidence_band(0.95)
    first = dict(zip(rows[0].split(","), map(float, rows[1].split(",")), strict=True))
    assert (first["lower"], first["upper"]) == (lower[0, 0], upper[0, 0])


def test_angles_and_functions_hold_at_a_sure_level(release, data):
    sample, level = np.cov(data.T, bias=True) / 24, 1 - 1e-7
    true = np.linalg.eigh(sample)[1][:, :-3:-1].T * np.sqrt(24)
    released = release.eigenfunctions(2)
    found = np.degrees(np.arccos(np.minimum(np.abs((true * released).sum(axis=1)) / 24, 1.0)))
    limits = release.eigenfunction_angles(2, level, of="sample")
    assert (found <= limits + 1e-6).all()
    assert (release.eigenfunction_angles(2) >= release.eigenfunction_angles(2, of="sample")).all()
    assert release.eigenfunction_angles(1)[0] < 45
    assert release.plane_angle(1) == pytest.approx(release.eigenfunction_angles(1)[0])
    band = release.eigenfunction_band(2, level, of="sample")
    assert band.lower.shape == (2, 24)
    aligned = true * np.sign((true * released).sum(axis=1, keepdims=True))
    assert (band.lower <= aligned).all()
    assert (aligned <= band.upper).all()
    with pytest.raises(dp.errors.ParameterError, match="of must be"):
        release.eigenfunction_angles(1, of="people")


def test_a_component_that_cannot_be_told_from_noise_says_so(rng):
    noisy = dp.covariance(curves(400, rng), epsilon=1.0, bound=dp.L2Ball(3.0, 1.0), grid=GRID)
    if noisy.rank:
        assert noisy.eigenfunction_angles(1).tolist() == [90.0]
        band = noisy.eigenfunction_band(1)
        assert np.allclose(band.half_width, np.sqrt(24))  # any function of length one
        labels = [text.get_text() for text in noisy.plot_eigenfunctions(1).get_legend().get_texts()]
        assert "may be noise" in labels[0]


def test_pictures_draw_bands_of_what_is_known(release):
    ax = release.plot_eigenfunctions(2)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "off by at most" in labels[0]
    assert labels[-1] == "95 % band, components of the population"


@pytest.mark.parametrize("size", [3, 6])
def test_no_perturbation_turns_functions_further_than_the_limit(size, rng):
    """The theorem on doubled angles, at random and where it is attained: turns in the plane of two functions."""
    closest = 0.0
    for trial in range(400):
        values = np.sort(rng.exponential(size=size))[::-1]
        vectors = np.linalg.qr(rng.normal(size=(size, size)))[0]
        released = (vectors * values) @ vectors.T
        off = rng.normal(size=(size, size))
        off = off + off.T
        if trial % 2:  # within the plane of two neighbours
            i = int(rng.integers(size - 1))
            corner = rng.normal(size=2)
            plane = vectors[:, i : i + 2]
            off = plane @ np.array([[-abs(corner[0]), corner[1]], [corner[1], abs(corner[0])]]) @ plane.T
        off *= rng.random() * np.min(-np.diff(values)) / 2 / np.abs(np.linalg.eigvalsh(off)).max()
        limit = np.abs(np.linalg.eigvalsh(off)).max()
        turned = np.linalg.eigh(released + off)[1][:, ::-1]
        found = np.degrees(np.arccos(np.minimum(np.abs((turned * vectors).sum(axis=0)), 1.0)))
        k = size - 1
        limits = largest_angles(values, limit, k)
        assert (found[:k] <= limits + 1e-6).all()
        closest = max(closest, float((found[:k] / limits).max()))
        both = np.linalg.svd(turned[:, :2].T @ vectors[:, :2], compute_uv=False).min()
        assert np.degrees(np.arccos(min(both, 1.0))) <= plane_angle(values, limit, 2) + 1e-6
    assert closest > 0.9


def test_laplace_quantiles():
    for chance in (0.01, 0.3, 0.5, 0.8):
        q = laplace_quantile(chance)
        assert (0.5 * np.exp(-q) if q > 0 else 1 - 0.5 * np.exp(q)) == pytest.approx(chance)


def test_an_empty_answer_is_as_wide_as_the_public_bound_and_less_data_never_narrows(rng):
    """Widths without noise: what the same records would give in smaller numbers."""
    widths = []
    for n in (60, 600, 6000):
        plan = dp.CovariancePlan(n=n, epsilon=1.0, bound=dp.L2Ball(3.0, 1.0), grid=GRID)
        halves = [plan.release(curves(n, rng)).band(0.95).half_width.mean() for _ in range(3)]
        widths.append(np.median(halves))
    assert widths[0] > widths[1] > widths[2]
    assert widths[0] > 9.0  # the squared bound, where curves have a variance of about a half


def test_raw_surfaces_have_bands_about_themselves(release, data):
    raw = release.unprocessed()
    level = 1 - 1e-7
    sample = np.cov(data.T, bias=True)
    band = raw.band(level)
    assert (band.lower <= sample).all()
    assert (sample <= band.upper).all()
    assert raw.band().half_width.mean() > release.band().half_width.mean()


def test_a_private_count_has_bands_too(data):
    counted = dp.covariance(data, epsilon=8.0, bound=dp.L2Ball(3.0, 1.0), grid=GRID, n=15_000, neighbors="add-remove")
    band, sample = counted.band(1 - 1e-7), np.cov(data.T, bias=True)
    assert (band.lower <= sample).all()
    assert (sample <= band.upper).all()
    assert counted.band().half_width.mean() < 1.0


@pytest.mark.parametrize("name", ["covariance", "covariance-add-remove", "covariance-centred"])
def test_releases_of_before_have_the_public_bound(name):
    release = dp.load(SAVED / f"{name}.release.json")
    band = release.band(0.9)
    most = 9 * release.plan.bound.radius**2 / release.plan.grid.length
    assert np.allclose(band.upper, most)
    assert (np.diag(band.lower) == 0).all()
    assert release.noise_band(0.9).half_width.max() < most
    assert "public bound" in release.band_promise
    if release.rank:
        assert release.eigenfunction_angles(1).tolist() == [90.0]


def test_files_keep_the_check(release, tmp_path):
    release.save(tmp_path / "c.json")
    again = dp.load(tmp_path / "c.json")
    assert np.allclose(again.band().half_width, release.band().half_width, rtol=1e-9)
    assert again.plan.method.check == Fraction(1, 20)
    before = replace(release.plan, method=dp.Auto(passes=4))
    assert before.chosen.check is None
    assert before.schedule.passes == 4


def test_a_check_needs_a_first_method():
    with pytest.raises(dp.errors.ParameterError, match="check needs"):
        dp.methods.Centred(check="1/20")


def test_the_compared_surface_is_symmetric_to_the_last_bit():
    """Products of matrices are not: entries on either side of a step would make the norm none."""
    surface = np.eye(GRID.size) * 0.01
    check = checked_problem(None, surface)
    surface = surface.copy()
    surface[3, 5] += check.unit**2
    lopsided = checked_problem(None, surface)
    assert np.array_equal(lopsided.target, lopsided.target.T)
