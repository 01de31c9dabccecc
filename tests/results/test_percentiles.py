"""Released percentile curves: they never cross, agree with their distribution function, and come back from files."""

from __future__ import annotations

import json
import warnings
from itertools import pairwise

import numpy as np
import pytest

import dpfda as dp
from dpfda.results.percentile_table import CONFIDENCE, PercentileTable, table_levels

GRID = dp.Grid.midpoints(0, 24, 24, "hour", "h")
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
FACTS = {"epsilon": 1.0, "range": (40, 400), "grid": GRID}


def days(n: int, seed: int) -> np.ndarray:
    return dp.datasets.glucose(n, np.random.default_rng(seed)).curves[:, ::2]


@pytest.fixture(scope="module")
def release() -> dp.results.PercentileRelease:
    return dp.percentiles(days(4000, 0), value="glucose (mg/dL)", **FACTS)


@pytest.fixture(scope="module")
def arms() -> dp.results.GroupRelease:
    curves = days(6000, 1)
    curves[:3000] -= 30
    return dp.percentiles(curves, by=["low"] * 3000 + ["high"] * 3000, groups=["low", "high"], **FACTS)


def test_curves_are_near_those_of_the_records_and_never_cross(release):
    """Noise of this size is missed by four times the expected error less than once in a million."""
    truth = np.quantile(days(4000, 0), LEVELS, axis=0)
    assert np.abs(release.values - truth).mean() < 4 * release.plan.accuracy.typical_error
    every = release(np.linspace(0.001, 0.999, 400), np.linspace(0, 24, 97))
    assert (np.diff(every, axis=0) >= 0).all()
    assert every.min() >= 40
    assert every.max() <= 400


def test_levels_and_times_as_numbers_or_several(release):
    assert release(0.5, 3.0).shape == ()
    assert release(0.5, [3.0, 4.0]).shape == (2,)
    assert release([0.1, 0.5, 0.9], 3.0).shape == (3,)
    assert release([0.1, 0.5, 0.9], [3.0, 4.0]).shape == (3, 2)
    assert release.curve(0.95).tolist() == release.values[-1].tolist()
    assert release(0.5).tolist() == release.values[2].tolist()
    assert np.asarray(release).shape == (5, 24)
    for wrong in (0.0, 1.0, 95, np.nan, "a", [[0.5]]):
        with pytest.raises(dp.errors.ParameterError, match="strictly between 0 and 1"):
            release(wrong)
    with pytest.raises(dp.errors.ParameterError, match="outside"):
        release(0.5, 25.0)
    with pytest.raises(dp.errors.ParameterError, match="one level"):
        release.curve([0.5, 0.6])


def test_the_distribution_function_turns_percentiles_around(release):
    for t in (0.1, 7.25, 24.0):
        shares = np.linspace(0.002, 0.998, 60)
        assert release.cdf(t, release(shares, t)) == pytest.approx(shares, abs=1e-6)
    assert release.cdf(3.0, [39.0, 400.0, 1e9, -np.inf]).tolist() == [0.0, 1.0, 1.0, 0.0]
    assert release.cdf([3.0, 4.0], 120.0).shape == (2,)
    with pytest.raises(dp.errors.ParameterError, match="must be numbers"):
        release.cdf(3.0, np.nan)


def test_atoms_have_a_largest_level():
    """Where many percentiles are one value, the share up to it counts all of them."""
    asked = (0.5,)
    quantiles = np.tile(np.clip(table_levels(asked), 0.3, 0.7)[:, None], 2)
    table = PercentileTable(asked, 0.0, 1.0, quantiles, np.full((CONFIDENCE.size, 2, 1, 2), 0.5))
    curves = table.whole_quantiles
    assert table.shares_below(curves, np.array([0.3, 0.7])) == pytest.approx([0.3, 0.999], abs=0.01)


def test_bands_hold_the_curves_and_widen_with_confidence(release):
    widths = []
    for level in (0.1, 0.5, 0.9, 0.95, 0.99, 0.9999):
        lower, upper = release.band(level)
        assert lower.shape == upper.shape == (5, 24)
        assert (lower <= release.values).all()
        assert (release.values <= upper).all()
        assert lower.min() >= 40
        assert upper.max() <= 400
        widths.append((upper - lower).mean())
    assert all(a <= b + 1e-9 for a, b in pairwise(widths))
    assert release.band(0.9, [1.0, 2.0]).lower.shape == (5, 2)
    assert release.confidence_band().covers == "percentiles of the population"
    for wrong in (0, 1, 95):
        with pytest.raises(dp.errors.ParameterError, match="level must lie"):
            release.band(wrong)
    with pytest.raises(dp.errors.ParameterError, match=r"Use band\(\)"):
        release.noise_band()


def test_files_show_the_same_curves(release, tmp_path):
    again = dp.load(release.save(tmp_path / "p.json"))
    assert isinstance(again, dp.results.PercentileRelease)
    assert again.values.tolist() == release.values.tolist()
    assert again(0.33, 5.1) == release(0.33, 5.1)
    assert again.band(0.9).upper.tolist() == release.band(0.9).upper.tolist()
    assert again.statement == release.statement
    assert again.plan == release.plan


def crossed(body: dict) -> None:
    body["coefficients"] = body["coefficients"][::-1]


def cut(body: dict) -> None:
    body["coefficients"] = body["coefficients"][1:]


def redrawn(body: dict) -> None:
    body["raw"] = [0.0] * len(body["raw"])


def missing(body: dict) -> None:
    body["drawn"] = body["drawn"][:1]


@pytest.mark.parametrize("damage", [crossed, cut, redrawn, missing])
def test_damaged_files_are_refused(release, damage, tmp_path):
    body = release.body()
    damage(body)
    path = tmp_path / "p.json"
    path.write_text(dp.core.codec.seal("release", 1, body))
    with pytest.raises(dp.errors.FileError, match="whole release"):
        dp.load(path)


def test_tables_name_the_percentile(release, arms):
    frame = release.to_dataframe()
    assert frame.columns.tolist() == ["percentile", "hour", "value", "lower", "upper"]
    assert frame.percentile.unique().tolist() == [5.0, 25.0, 50.0, 75.0, 95.0]
    assert release.to_csv().startswith("percentile,hour,value,lower,upper\n5.0,0.5,")
    assert arms.to_csv().startswith("group,percentile,hour,value,lower,upper\nlow,5.0,")
    table = release.to_xarray()
    assert table.dims == ("level", "hour")
    assert table.attrs["units"] == "mg/dL"


def test_differences_of_groups(arms, tmp_path):
    """Thirty apart, with a band of about ten: not to see it has odds far below one in a million."""
    gap = arms.difference("high", "low")
    assert gap.values.shape == (5, 24)
    assert gap.test().p_value < 0.01
    assert gap.test().where[2].any()
    lower, upper = gap.confidence_band(0.95)
    assert (lower <= gap.values).all()
    assert (gap.values <= upper).all()
    assert gap(0.5, [3.0]).shape == (1,)
    again = dp.load(gap.save(tmp_path / "gap.json"))
    assert again.values.tolist() == gap.values.tolist()
    assert "percentile curves" in gap.statement
    with pytest.raises(dp.errors.ParameterError, match="Use confidence_band"):
        gap.band()


def test_pictures(release, arms):
    ax = release.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0] == "median"
    assert {"25 to 75 %", "5 to 95 %", "95 % band of the median"} == set(labels[1:])
    assert len(ax.lines) == 3
    low, high = ax.get_ylim()
    reached = np.concatenate([release.values.ravel(), release.band().upper[2]]).max()
    assert 40 <= low < high <= 400
    assert high <= reached + 0.1 * (high - low)
    assert ax.get_ylabel() == "glucose (mg/dL)"
    lone = dp.percentiles(days(500, 2), levels=(0.1, 0.5, 0.8), **FACTS).plot()
    assert [line.get_label() for line in lone.lines if line.get_label()[0] != "_"][:3] == ["median", "10 %", "80 %"]
    assert len(arms.plot().figure.axes) == 2
    overlaid = arms.plot(ax=lone.figure.add_subplot())
    assert "low (n = 3,000), median" in [line.get_label() for line in overlaid.lines]
    assert len(arms.difference("low", "high").plot().figure.axes) == 5


def test_one_level(tmp_path):
    curves = days(1000, 3)
    one = dp.percentiles(curves, levels=[0.5], by=["a", "b"] * 500, groups=["a", "b"], **FACTS)
    assert one["a"].values.shape == (1, 24)
    gap = one.difference("a", "b")
    assert gap.test().where.shape == (24,)
    gap.plot()
    one.plot()
    assert isinstance(dp.load(one.save(tmp_path / "one.json"))["b"], dp.results.PercentileRelease)


def test_words(release):
    text = release.statement
    assert "from 40 to 400" in text
    assert "never cross" in text
    assert "percentiles of the population" not in release.title
    assert "K-norm" in release.methods_text()
    assert repr(release).startswith("PercentileRelease(set of percentile curves on [0, 24], epsilon 1")
    assert json.loads(release.to_json())


def test_engines_agree(tmp_path):
    """Streams, parts and tasks give the same integers."""
    pandas = pytest.importorskip("pandas")
    plan = dp.PercentilePlan(n=300, **FACTS)
    curves = days(300, 4)
    names = [f"h{i:02d}" for i in range(24)]
    for part in range(3):
        frame = pandas.DataFrame(curves[part * 100 : part * 100 + 100], columns=names)
        frame.to_parquet(tmp_path / f"{part}.parquet")
    whole = plan.summarize(curves)
    streamed = plan.summarize(dp.read(str(tmp_path / "*.parquet")))
    assert whole.totals.tolist() == streamed.totals.tolist()
    halves = [plan.summarize(curves[:120]), plan.summarize(curves[120:])]
    assert halves[0].merge(halves[1]) == whole
    array = pytest.importorskip("dask.array")
    assert plan.summarize(array.from_array(curves, chunks=(100, 24))).totals.tolist() == whole.totals.tolist()


def test_nothing_is_said_about_records():
    """With invalid="center" a record decides nothing but its share of the noise's centre."""
    curves = days(60, 5)
    curves[3], curves[4, 2], curves[5] = np.nan, np.inf, 1e300
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        for more in ({}, {"neighbors": "add-remove"}, {"unit": [f"p{i // 3}" for i in range(60)]}):
            n = 20 if "unit" in more else 60
            dp.percentiles(curves, invalid="center", n=n, **more, **FACTS)
    with pytest.raises(dp.errors.RecordError, match="rows 4, 5"):
        dp.percentiles(curves, **FACTS)
