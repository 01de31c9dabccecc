"""Reports of every kind: valid pages that stand alone, whose numbers are those of the release."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dpfda as dp
from dpfda.reports.numbers import fixed
from dpfda.reports.parts import Code, Table
from dpfda.reports.saved import read_subject
from reports.html_pages import Page, check

SAVED = Path(__file__).parents[1] / "saved"
FILES = sorted(path.name for kind in ("release", "plan") for path in SAVED.glob(f"*.{kind}.json"))
MADE = [
    "mean", "groups of means", "percentiles", "groups of percentiles", "survival", "groups of survival", "function",
    "density of three", "radius", "covariance", "slope", "difference of means", "difference of percentiles",
    "difference of survival",
]  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_report_of_any_saved_file(name):
    found = check(dp.report(SAVED / name))
    plan = name.endswith("plan.json")
    thing = read_subject(SAVED / name)
    heads = [section.title for section in dp.reports.sections(thing)]
    assert heads[0] == ("What would be released" if plan else "What was released")
    assert heads[-1] == "Check it yourself"
    assert f"dpfda show {name}" in found.text
    assert ("Nothing has been released" in found.text) is plan
    price = thing if plan else thing.plan
    assert f"epsilon = {float(price.epsilon):g}" in found.text
    assert price.digest[:12] in found.text


@pytest.mark.parametrize("name", MADE)
def test_a_report_of_what_was_just_made(name, made):
    found = check(dp.report(made[name]))
    assert "No ledger was charged" in found.text


def cells(release, rows) -> Table:
    found = dp.reports.table(release, rows)
    assert all(len(row) == len(found.head) for row in found.rows)
    return found


def number(text: str) -> float:
    return float(text.replace("\u2212", "-").replace(",", ""))


CURVES = [name for name in FILES if name.startswith("mean-") and "release" in name and "surface" not in name]


@pytest.mark.parametrize("name", [name for name in CURVES if "components" not in name])
@pytest.mark.parametrize("rows", [None, 12])
def test_the_cells_of_a_table_are_the_rounded_values(name, rows):
    release = dp.load(SAVED / name)
    found, points = cells(release, rows), release.grid.points
    assert len(found.rows) == points.size if rows is None else len(found.rows) <= 12
    assert f"{len(found.rows)} of {points.size}" in found.caption or "All" in found.caption
    band = release.shown_band()
    for row in found.rows:
        place = int(np.abs(points - number(row[0])).argmin())
        assert number(row[0]) == pytest.approx(points[place], rel=1e-4)
        decimals = len(row[1].partition(".")[2])
        assert row[1] == fixed(float(release.values[place]), decimals)
        low, high = row[-1].split(" to ")
        assert (low, high) == (fixed(float(band.lower[place]), decimals), fixed(float(band.upper[place]), decimals))


@pytest.mark.parametrize(
    "name", [*MADE, "classes.release.json", "mean-surface.release.json", "classifier.release.json"]
)
def test_a_page_shows_the_tables_as_they_are(name, made):
    release = made[name] if name in made else dp.load(SAVED / name)
    shown = Page(dp.report(release)).tables
    expected = cells(release, None if name == "radius" else 12)
    assert [list(expected.head), *map(list, expected.rows)] in shown


def test_several_curves_side_by_side(made):
    release = made["percentiles"]
    found = cells(release, None)
    assert found.head == ("hour (h)", "5 %", "25 %", "50 %", "75 %", "95 %")
    middle = [number(row[3].partition(" ")[0]) for row in found.rows]
    assert middle == pytest.approx(release.curve(0.5), abs=0.51)
    groups = cells(made["groups of means"], None)
    assert groups.head[1:] == tuple(made["groups of means"])
    first = next(iter(made["groups of means"].values()))
    assert [number(row[1].partition(" ")[0]) for row in groups.rows] == pytest.approx(first.values, abs=0.51)


def test_survival_tells_times_and_numbers_at_risk(made):
    release = made["survival"]
    (section, *_) = dp.reports.sections(release)
    times, values = (block for block in section.blocks if isinstance(block, Table))
    median = release.median()
    assert number(times.rows[0][1]) == pytest.approx(median.value, abs=0.6)
    assert number(times.rows[1][1]) == pytest.approx(release.rmst().value, abs=0.6)
    assert number(values.rows[0][-1]) == round(float(release.at_risk(0.0)))


def test_a_covariance_tells_its_components():
    release = dp.load(SAVED / "covariance-centred.release.json")
    (section, *_) = dp.reports.sections(release)
    found = next(block for block in section.blocks if isinstance(block, Table))
    shares = release.explained_variance_ratio(len(found.rows))
    assert [row[2] for row in found.rows] == [f"{100 * share:.1f} %" for share in shares]
    drawn = dp.reports.pictures(release)
    assert np.array_equal(drawn[0].values, release.values.T)
    assert np.allclose(drawn[1].lines[0].y, release.eigenfunctions(1)[0])


def test_pictures_draw_the_release(made):
    (chart,) = dp.reports.pictures(made["mean"])
    assert np.array_equal(chart.lines[0].y, made["mean"].values)
    wide, dark = chart.shades
    assert np.array_equal(wide.lower, made["mean"].confidence_band().lower)
    assert np.array_equal(dark.upper, made["mean"].noise_band().upper)
    assert chart.ylabel == "glucose (mg/dL)"
    assert chart.span == made["mean"].grid.span
    (slope,) = dp.reports.pictures(made["slope"])
    assert [shade.look for shade in slope.shades] == ["band"]
    assert dp.reports.pictures(made["radius"]) == []
    assert len(dp.reports.pictures(made["density of three"])) == 3


def test_groups_are_drawn_alike_and_compared(made):
    release = made["groups of means"]
    one, two = dp.reports.pictures(release)
    assert (one.height, one.xlabel) == (two.height, two.xlabel)
    (section,) = (part for part in dp.reports.sections(release) if part.title == "How the groups differ")
    gap = release.difference(*release)
    assert str(gap.test()) in section.text


@pytest.mark.parametrize("kind", ["means", "survival"])
def test_what_differs_is_marked(kind, made):
    gap = made[f"difference of {kind}"]
    (chart,) = dp.reports.pictures(gap)
    assert chart.zero
    assert list(chart.marks) == gap.test().intervals


def test_commands_name_the_file_as_a_shell_takes_it(made, tmp_path):
    path = made["mean"].save(tmp_path / "a mean; rm x.json")
    (last,) = (
        block for block in dp.reports.sections(read_subject(path), file=path.name)[-1].blocks if isinstance(block, Code)
    )
    assert last.lines[0] == "dpfda show 'a mean; rm x.json'"


def test_a_report_is_written_whole(made, tmp_path):
    path = tmp_path / "report.html"
    assert dp.report(made["radius"], path=path) == path.read_text()
    with pytest.raises(dp.errors.FileError, match="folder"):
        dp.report(made["radius"], path=tmp_path / "none" / "report.html")


@pytest.mark.parametrize("wrong", [3, None, [1], object()])
def test_a_report_of_something_else_is_refused(wrong):
    with pytest.raises(dp.errors.ParameterError, match="a report is of a release or a plan"):
        dp.report(wrong)


def test_files_that_hold_neither_are_refused(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(dp.errors.FileError):
        dp.report(tmp_path / "x.json")
    with pytest.raises(dp.errors.DpfdaError):
        dp.report(SAVED / "mean-default.summary.json")
    with pytest.raises(dp.errors.FileError, match="cannot be read"):
        dp.report(tmp_path / "none.json")
