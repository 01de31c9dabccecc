"""Pictures for papers: they can be read at any size, say what they show, and are the same bytes every time."""

from __future__ import annotations

import hashlib
import itertools
import os
import pickle
import re
import subprocess
import sys
import warnings
import zlib
from functools import cache

import matplotlib.figure
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.ticker import MaxNLocator

import dpfda as dp
from dpfda.errors import ParameterError
from dpfda.results import plots
from dpfda.results.measures import Measure

RNG = np.random.default_rng(5)
#: Inches of a figure: of one column of a journal, as matplotlib makes them, and of two panels.
SMALL, USUAL, TWO = (3.3, 2.3), (6.4, 4.8), (6.4, 2.6)


@cache
def made():
    """One release of every kind, with what draws it and how many axes it takes."""
    sample = dp.datasets.glucose(2000, RNG)
    arms = np.where(np.arange(2000) % 2, "treated", "control")
    higher = sample.curves + 60 * (arms == "treated")[:, None] * (sample.grid.points > 12)
    facts = {"epsilon": 1.0, "bound": dp.Range(40, 300), "grid": sample.grid, "value": "glucose (mg/dL)"}
    mean = dp.mean(sample.curves, **facts)
    both = dp.mean(higher, by=arms, groups=["control", "treated"], **facts)
    covariance = dp.covariance(sample.curves, **facts)
    ages, _ = dp.datasets.lifetimes(3000, RNG)
    line, plane = RNG.uniform(0, 10, (2000, 1)), RNG.uniform(0, 10, (2000, 2))
    inputs = {"age (years)": (0, 10), "dose (mg)": (0, 10)}
    one = {"age (years)": (0, 10)}
    three = np.array(["low", "middle", "high"])
    t = np.linspace(0, 1, 30)
    paths = RNG.normal(1, 0.3, (1000, 1, 1)) * np.array([np.cos(3 * t), np.sin(3 * t)])
    walk = dp.spaces.ComponentGrid(("x", "y"), dp.Grid(t, name="time", unit="s"))
    week = dp.Grid.product(dp.Grid.midpoints(0, 24, 8, name="hour", unit="h"), dp.Grid.midpoints(0, 7, 7, name="day"))
    covariates, loads, grid = dp.datasets.homes(4000, RNG)
    regression = dp.plans.RegressionPlan(
        n=4000, epsilon=1, bound=dp.L2Ball(6.0), covariates=2, covariate_bound=[(0, 6), (0, 1)], grid=grid,
        names=["people", "heating"], value="load (kW)",
    ).release(np.column_stack([covariates, loads]))  # fmt: skip
    classifier = {"epsilon": 1.0, "classes": ["healthy", "sick"]}
    return {
        "mean": mean,
        "slope": mean.derivative(),
        "caution": dp.mean(sample.curves, **facts | {"bound": dp.L2Ball(30.0)}),
        "groups": both,
        "difference": both.difference("treated", "control"),
        "covariance": covariance,
        "density": dp.density(ages, epsilon=1.0, domain=[(0, 110)], axes=["age (years)"]),
        "map": dp.density(plane, epsilon=1.0, domain=[(0, 10)] * 2, axes=["east (km)", "north (km)"]),
        "cube": dp.density(RNG.beta(2, 3, (1000, 3)), epsilon=1.0, domain=[(0, 1)] * 3, cells=8),
        "week": dp.mean(np.zeros((500, 56)), epsilon=1.0, bound=dp.L2Ball(20.0), grid=week, value="load (kW)"),
        "paths": dp.mean(paths, epsilon=1.0, bound=dp.L2Ball(2.0), grid=walk, value="position (m)"),
        "regression": regression,
        "smoother": dp.KernelRegressor(epsilon=1.0, domain=one, bound=(0, 20), value="glucose (mmol/L)").fit(
            line, 5 + 3 * np.sin(line[:, 0])
        ),
        "smoother map": dp.KernelRegressor(epsilon=1.0, domain=inputs, bound=(0, 20), value="glucose (mmol/L)").fit(
            plane, 5 + 3 * np.sin(plane[:, 0])
        ),
        "classifier": dp.KernelClassifier(domain=one, **classifier).fit(line, SICK[(line[:, 0] > 4).astype(int)]),
        "classifier map": dp.KernelClassifier(domain=inputs, **classifier).fit(
            plane, SICK[(plane[:, 0] > 4).astype(int)]
        ),
        "classes": dp.KernelClassifier(epsilon=2.0, domain=one, classes=list(three)).fit(
            line, three[(line[:, 0] / 3.4).astype(int)]
        ),
        "regions": dp.KernelClassifier(epsilon=2.0, domain=inputs, classes=list(three)).fit(
            plane, three[(plane[:, 0] / 3.4).astype(int)]
        ),
    }


SICK = np.array(["healthy", "sick"])
KINDS = (
    "mean", "slope", "caution", "groups", "difference", "covariance", "components", "density", "map", "week", "paths",
    "smoother", "smoother map", "classifier", "classifier map", "classes", "regions", "surface",
)  # fmt: skip


def draw(kind, ax=None, **words):
    if kind == "components":
        return made()["covariance"].plot_eigenfunctions(ax=ax, **words)
    if kind == "surface":
        return made()["map"].plot(ax, kind="surface", **words)
    return made()[kind].plot(ax, **words)


@cache
def drawn(kind):
    """The picture as it is drawn by default, which no test changes."""
    return draw(kind)


def figure_of(size, *kinds):
    """A figure of this size with these pictures side by side."""
    whole = matplotlib.figure.Figure(figsize=size, layout="constrained" if len(kinds) > 1 else None)
    for number, kind in enumerate(kinds):
        space = "3d" if kind == "surface" else None
        draw(kind, whole.add_subplot(1, len(kinds), number + 1, projection=space))
    return whole


def words_of(whole):
    """All that can be read: what it is, its text, and where it stands in dots."""
    whole.draw_without_rendering()
    found = []
    for ax in [*whole.axes, *(bar for each in whole.axes for bar in each.child_axes)]:
        found += [("title", ax.title), ("title", ax._left_title), ("x", ax.xaxis.label), ("y", ax.yaxis.label)]
        found += [("text", text) for text in ax.texts]
        if ax.name != "3d":
            for axis in (ax.xaxis, ax.yaxis):
                low, high = sorted(axis.get_view_interval())
                edge = 1e-9 * (high - low)
                numbers = [tick for tick in axis.get_major_ticks() if low - edge <= tick.get_loc() <= high + edge]
                found += [("tick", label) for tick in numbers for label in (tick.label1, tick.label2)]
        if ax.get_legend() is not None:
            found += [("legend", text) for text in ax.get_legend().get_texts()]
    for legend in whole.legends:
        found += [("legend", text) for text in legend.get_texts()]
    found += [("title", whole._suptitle)] if whole._suptitle is not None else []
    shown = [(what, text) for what, text in found if text.get_visible() and text.get_text().strip()]
    return [(what, text, text.get_window_extent()) for what, text in shown]


def check_readable(whole):
    words = words_of(whole)
    assert words
    for _, text, box in words:
        assert text.get_fontsize() >= 6, text
        assert box.x0 >= -0.5, text
        assert box.y0 >= -0.5, text
        assert box.x1 <= whole.bbox.width + 0.5, text
        assert box.y1 <= whole.bbox.height + 0.5, text
    for (_, one, box), (_, other, its) in itertools.combinations(words, 2):
        across = min(box.x1, its.x1) - max(box.x0, its.x0)
        down = min(box.y1, its.y1) - max(box.y0, its.y0)
        assert min(across, down) <= 1.0, (one, other)


# -- sizes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [SMALL, USUAL], ids=["small", "usual"])
@pytest.mark.parametrize("kind", KINDS)
def test_everything_can_be_read(kind, size):
    whole = figure_of(size, kind)
    check_readable(whole)
    check_legend_is_free(whole)


@pytest.mark.parametrize("kinds", list(zip(KINDS[::2], KINDS[1::2], strict=True)), ids=" and ".join)
def test_two_panels_can_be_read(kinds):
    whole = figure_of(TWO, *kinds)
    check_readable(whole)
    check_legend_is_free(whole)


def check_legend_is_free(whole):
    for ax in whole.axes:
        legend = ax.get_legend()
        for line in ax.lines if legend is not None else ():
            path = line.get_transform().transform_path(line.get_path())
            assert not path.intersects_bbox(legend.get_window_extent(), filled=False), "the legend covers a curve"


@pytest.mark.parametrize("kind", ["mean", "covariance", "surface", "regression", "cube"])
def test_a_picture_of_our_own_can_be_read(kind):
    ax = drawn(kind)
    check_readable(ax.figure)
    if kind not in ("regression", "cube"):
        assert ax.figure.get_size_inches() == pytest.approx((7.2, 4.2))


def test_pictures_side_by_side_take_axes_of_a_user():
    whole = matplotlib.figure.Figure(figsize=(6.6, 2.3), layout="constrained")
    places = whole.subplots(1, 3)
    assert made()["regression"].plot(places) is places[0]
    check_readable(whole)
    assert [ax.get_title(loc="left") for ax in places] == ["intercept", "people", "heating"]
    assert [ax.get_ylabel() for ax in places] == ["load (kW)", "load (kW) per unit", "load (kW) per unit"]
    assert "coefficients of the population" in places[0].get_legend().get_texts()[0].get_text().replace("\n", " ")
    for few in (places[0], places[:2]):
        with pytest.raises(ParameterError, match="3 pictures side by side"):
            made()["regression"].plot(few)
    with pytest.raises(ParameterError, match="ax must be axes of matplotlib"):
        made()["mean"].plot(0.9)


def test_many_groups_stand_side_by_side_on_the_same_scales():
    names = [f"site {i}" for i in range(6)]
    plan = made()["mean"].plan
    part = made()["mean"]
    six = dp.results.GroupRelease(dp.plans.GroupPlan(names, [plan] * 6), dict.fromkeys(names, part))
    whole = six.plot(title="Six sites").figure
    check_readable(whole)
    assert len(whole.axes) == 6
    assert len({ax.get_ylim() for ax in whole.axes}) == 1
    assert all(len(ax.collections) == 1 for ax in whole.axes)
    assert whole.get_suptitle() == "Six sites"
    assert [text.get_text() for text in whole.legends[0].get_texts()] == ["95 % band, mean of the population"]
    one = matplotlib.figure.Figure().add_subplot()
    assert not six.plot(one).collections
    assert len(one.get_legend().get_texts()) == 6


def test_long_names_are_broken_and_never_leave_the_picture():
    plan = dp.MeanPlan(
        n=500, epsilon=1, bound=dp.L2Ball(1.0), grid=dp.Grid.uniform(0, 1, 8, name="a" * 200), value="v" * 100
    )
    release = plan.release(np.zeros((500, 8)), query="a name of a query that is quite long " * 3)
    whole = matplotlib.figure.Figure(figsize=(3.3, 2.3))
    release.plot(whole.subplots())
    check_readable(whole)


def test_what_a_user_changes_on_the_axes_stays():
    whole = matplotlib.figure.Figure(figsize=(6.4, 2.6), layout="constrained")
    left, right = whole.subplots(1, 2)
    made()["mean"].plot(left)
    left.set_ylabel("sugar")
    left.xaxis.set_major_locator(MaxNLocator(2))
    left.get_legend().remove()
    left.set_ylim(0, 300)
    made()["mean"].plot(right)
    assert left.get_ylabel() == "sugar"
    assert isinstance(left.xaxis.get_major_locator(), MaxNLocator)
    assert left.get_legend() is None
    assert left.get_ylim() == (0, 300)


# -- words --------------------------------------------------------------------------------------


def test_the_six_words():
    words = {"xlabel": "time of day", "ylabel": "", "title": "Glucose\nin spring", "legend": False}
    ax = draw("mean", label="spring", color="darkred", **words)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")) == ("time of day", "", "Glucose\nin spring")
    assert ax.get_legend() is None
    assert ax.lines[0].get_color() == "darkred"
    assert ax.lines[0].get_label() == "spring"
    assert draw("mean", title="").get_title(loc="left") == ""
    assert draw("mean", ylabel="mmol L$^{-1}$").yaxis.label.get_parse_math()
    assert not draw("mean").yaxis.label.get_parse_math()
    assert not draw("covariance", legend=False).child_axes
    assert draw("covariance", label="mine").child_axes[0].get_ylabel() == "mine"
    assert draw("covariance", color="viridis").images[0].get_cmap().name == "viridis"


def test_two_releases_share_axes_and_a_legend():
    both, ax = made()["groups"], matplotlib.figure.Figure(figsize=(3.3, 2.3)).subplots()
    both["control"].plot(ax, label="before", color="black")
    both["treated"].plot(ax, label="after")
    assert [line.get_label() for line in ax.lines] == ["before", "after"]
    assert len({to_hex(line.get_color()) for line in ax.lines}) == 2
    assert labels(ax) == ["before", "after", "95 % band, mean of the population"]
    assert ax.get_title(loc="left") == "Mean curve, epsilon 1"
    check_readable(ax.figure)


def labels(ax):
    return [text.get_text().replace("\n", " ") for text in ax.get_legend().get_texts()]


def test_several_lines_take_words_by_name_or_in_order():
    groups = made()["groups"]
    ax = groups.plot(label={"control": "placebo"}, color=["black", "#ff0000"])
    assert labels(ax)[:2] == ["placebo", "treated (n = 1,000)"]
    assert [to_hex(line.get_color()) for line in ax.lines] == ["#000000", "#ff0000"]
    assert labels(draw("paths", label=["east", "north"]))[:2] == ["east", "north"]
    assert labels(draw("components", label={"1": "level"}))[0] == "level"


@pytest.mark.parametrize(
    ("kind", "words", "told"),
    [
        ("mean", {"color": "no colour"}, "color is a colour that matplotlib knows"),
        ("mean", {"color": 3}, "color is a colour that matplotlib knows"),
        ("mean", {"label": 3}, "one line, and one label"),
        ("mean", {"label": "a\tb"}, "label is a printable text"),
        ("mean", {"title": 3}, "title is a printable text"),
        ("mean", {"xlabel": "x" * 301}, "xlabel is a printable text of up to 300"),
        ("mean", {"legend": "no"}, "legend is True or False"),
        ("groups", {"label": "both"}, "2 lines, with a label each"),
        ("groups", {"color": "red"}, "2 lines, with a color each"),
        ("groups", {"color": ["red"]}, "2 lines, with a color each"),
        ("groups", {"color": {"nobody": "red"}}, "color is for control, treated"),
        ("covariance", {"color": "red"}, "colour map of matplotlib"),
        ("covariance", {"label": ["a"]}, "a map has one label"),
    ],
)
def test_wrong_words_are_told(kind, words, told):
    ax = matplotlib.figure.Figure().subplots()
    with pytest.raises(ParameterError, match=told):
        draw(kind, ax, **words)
    assert not ax.lines
    assert not ax.images


def test_legends_and_titles_are_in_plain_words():
    assert labels(drawn("mean")) == ["mean", "95 % band, mean of the population"]
    assert labels(drawn("slope")) == ["slope", "95 % band, noise only"]
    assert labels(draw("mean", level=0.999))[1].startswith("99.9 % band")
    assert labels(drawn("density")) == ["density", "95 % band, density of the population"]
    marked = "they differ: zero is outside the band"
    assert labels(drawn("difference")) == ["difference", marked, "95 % band, difference of the populations"]
    assert labels(drawn("classifier"))[1] == "boundary: sick above, healthy below"
    assert labels(drawn("classifier map")) == ["boundary between the classes"]
    assert drawn("classifier map").child_axes[0].get_ylabel() == "decision: sick above 0, healthy below"
    assert drawn("classes").get_ylabel() == "decision (the highest is predicted)"
    assert sorted(labels(drawn("regions"))) == ["high", "low", "middle"]
    assert drawn("difference").get_title(loc="left") == "treated minus control, epsilon 1"
    for kind in KINDS:
        ax = drawn(kind)
        said = " ".join([*ax.get_legend_handles_labels()[1], ax.get_title(loc="left")])
        assert not re.search(r"as drawn|shrink|projection|posterior|differentially|KNorm|\d%", said), said


def test_where_groups_differ_is_marked_where_zero_is_outside_the_band():
    gap = made()["difference"]
    apart = gap.test().where
    assert apart.any()
    (marks,) = [line for line in gap.plot().lines if line.get_label().startswith("they differ")]
    assert np.array_equal(marks.get_xdata(), gap.grid.points[apart])


def test_a_legend_of_the_users_own_stays():
    left, right = matplotlib.figure.Figure(layout="constrained").subplots(1, 2)
    made()["mean"].plot(left, legend=False)
    left.legend()
    made()["difference"].plot(right, legend=False)
    assert left.get_legend() is not None
    assert right.get_legend() is None


def test_a_dollar_in_a_name_begins_no_formula():
    curves = np.random.default_rng(0).uniform(0, 1, (400, 12))
    both = dp.mean(
        curves,
        epsilon=1,
        bound=dp.Range(0, 1),
        by=["$$", "a$b$"] * 200,
        groups=["$$", "a$b$"],
        method=dp.methods.KNorm(3),
    )
    names = [text.get_text() for text in both.plot().get_legend().get_texts()]
    assert names[:2] == ["$$ (n = 200)", "a$b$ (n = 200)"]
    for ending in (".png", ".pdf", ".svg"):
        assert plots.picture(both.difference("$$", "a$b$").plot(), ending)


def test_a_covariance_is_square():
    ax = drawn("covariance")
    ax.figure.draw_without_rendering()
    assert ax.get_window_extent().width == pytest.approx(ax.get_window_extent().height)


# -- ticks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(2.0, 1.6), SMALL, USUAL, (12, 8)])
def test_a_day_has_ticks_every_six_hours_at_each_size(size):
    whole = figure_of(size, "mean")
    assert [t for t in whole.axes[0].get_xticks() if 0 <= t <= 24] == [0, 6, 12, 18, 24]


# -- the name of values --------------------------------------------------------------------------


def test_names_of_values_are_read_with_their_unit():
    assert Measure.of("glucose (mmol/L)") == Measure("glucose", "mmol/L")
    assert Measure.of("glucose") == Measure("glucose")
    assert str(Measure.of("heart rate (1/min)").squared("covariance of")) == "covariance of heart rate, (1/min)²"
    assert str(Measure.of("count").squared("covariance of")) == "covariance of count"


def test_pictures_and_arrays_show_the_name_of_values():
    assert drawn("mean").get_ylabel() == "glucose (mg/dL)"
    assert drawn("slope").get_ylabel() == "slope of glucose (mg/dL per h)"
    assert drawn("difference").get_ylabel() == "difference in glucose (mg/dL)"
    assert drawn("covariance").child_axes[0].get_ylabel() == "covariance of glucose (mg²/dL²)"
    assert drawn("smoother").get_ylabel() == "glucose (mmol/L)"
    assert drawn("density").get_ylabel() == "density"
    pytest.importorskip("xarray")
    array = made()["mean"].to_xarray()
    assert (array.name, array.long_name, array.units) == ("mean", "glucose", "mg/dL")
    assert made()["covariance"].to_xarray().units == "mg²/dL²"
    assert "units" not in made()["density"].to_xarray().attrs


def test_a_standardised_curve_has_no_unit_left():
    plan = dp.MeanPlan(
        n=500, epsilon=1, bound=dp.L2Ball(1.0), grid=8, standardize=True, value="glucose (mg/dL)", method=dp.Auto()
    )
    curves = RNG.normal(size=(500, 8))
    assert plan.release(curves).plot().get_ylabel() == "glucose, standardised"


# -- files --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["mean", "covariance", "regions"])
def test_pdf_holds_true_type(kind, tmp_path):
    drawn(kind).figure.savefig(tmp_path / "mine.pdf")
    for data in ((tmp_path / "mine.pdf").read_bytes(), plots.picture(drawn(kind), ".pdf")):
        assert data[:5] == b"%PDF-"
        streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.DOTALL)
        whole = data + b"".join(_opened(stream) for stream in streams)
        assert b"/FontFile2" in whole
        assert b"/CIDFontType2" in whole
        assert b"/Type3" not in whole
        assert b"/Subtype /Type3" not in whole


def _opened(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""


def test_svg_stands_alone_and_tells_its_words():
    text = plots.picture(drawn("mean"), ".svg").decode()
    assert "<title>Mean curve, epsilon 1</title>" in text
    assert "glucose (mg/dL)" in text
    assert "95 % band, mean of the population" in text
    assert "<text" not in text  # letters are outlines: no font is needed
    assert 'href="http' not in text
    assert "dc:date" not in text


@pytest.mark.parametrize(("kind", "ending"), [("mean", ".png"), ("mean", ".pdf"), ("classifier map", ".svg")])
def test_equal_pictures_are_equal_bytes(kind, ending):
    once, again = (plots.picture(draw(kind), ending) for _ in range(2))
    assert once == again
    for said in (b"Matplotlib", b"matplotlib.org", b"CreationDate", b"dc:date"):
        assert said not in once


def test_another_process_draws_the_same_bytes(tmp_path):
    path = made()["mean"].save(tmp_path / "mean.json")
    script = (
        "import hashlib, sys, dpfda as dp; from dpfda.results import plots; release = dp.load(sys.argv[1])\n"
        "for e in ('.pdf', '.svg'): print(hashlib.sha256(plots.picture(release.plot(), e)).hexdigest())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONHASHSEED": "7"},
    )  # fmt: skip
    release = dp.load(path)
    here = [hashlib.sha256(plots.picture(release.plot(), e)).hexdigest() for e in (".pdf", ".svg")]
    assert done.stdout.split() == here


def test_figures_can_be_pickled():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = pickle.loads(pickle.dumps(drawn("mean").figure))
    assert type(again).__name__ == "PaperFigure"
    assert again.axes[0].get_ylabel() == "glucose (mg/dL)"
