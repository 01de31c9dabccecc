"""Pictures of pages: well-formed, within a strict policy, of few bytes, and true to their numbers."""

from __future__ import annotations

import re
import struct
import zlib
from base64 import b64decode
from xml.etree import ElementTree

import numpy as np
import pytest

from dpfda.pages.bars import Bar
from dpfda.pages.charts import Chart, HeatMap, Line, Shade
from dpfda.pages.png import DIVERGING, ramp
from dpfda.pages.render import style

HOURS = np.linspace(0.25, 23.75, 48)
CURVE = np.sin(HOURS / 4)
HOSTILE = '<script>alert(1)</script>"\u202e\x1b[2J'


def chart(**facts) -> Chart:
    line, shade = Line("the mean", HOURS, CURVE), Shade("its band", HOURS, CURVE - 1, CURVE + 1)
    return Chart(**{"lines": (line,), "shades": (shade,), "xlabel": "hour (h)", "ylabel": "kW", **facts})


def tree(made: object) -> ElementTree.Element:
    return ElementTree.fromstring(str(made))


def paths(picture: ElementTree.Element, kind: str) -> list[np.ndarray]:
    found = [path.get("d", "") for path in picture.iter("path") if kind in path.get("class", "").split()]
    return [np.array([pair.split(",") for pair in re.split(r"[MLZ ]+", d) if pair], float) for d in found]


PICTURES = {
    "a chart": chart(),
    "a part of it": chart(span=(6, 12)),
    "small": chart(small=True, title="A"),
    "with marks": chart(marks=((2, 4), (5, 6)), marked="differs", zero=True),
    "with gaps": Chart((Line("a", HOURS, np.where(HOURS > 12, np.nan, CURVE)),)),
    "without bounds": Chart((), (Shade("a", HOURS, np.full(48, -np.inf), CURVE),)),
    "one point": Chart((Line("a", [1.0], [2.0]),)),
    "flat": Chart((Line("a", [0, 1], [3, 3]),)),
    "steps": Chart((Line("a", [0, 1, 2], [3, 2, 1], steps=True),), (Shade("b", [0, 1], [0, 0], [1, 1], steps=True),)),
    "a map": HeatMap(np.outer(CURVE, CURVE), (0, 24), (0, 24), "hour (h)", "hour (h)", "covariance", diverging=True),
    "a map of one value": HeatMap(np.zeros((3, 3)), (0, 1), (0, 1)),
    "a map with holes": HeatMap(np.array([[1.0, np.nan]]), (0, 1), (0, 1), label="density"),
    "regions": HeatMap(np.array([[0, 1], [2, 0]]), (0, 1), (0, 1), names=("a", "b", "c")),
    "a bar": Bar((1, 0.5), 3, own=1, description="1.5 of 3", planned=1),
    "an empty bar": Bar((), 3),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_well_formed_and_keeps_to_a_strict_policy(name):
    made = str(PICTURES[name].svg())
    root = tree(made)
    assert not [each.tag for each in root.iter() if each.tag in ("script", "style", "foreignObject", "a")]
    names = {name for each in root.iter() for name in each.attrib}
    assert not [name for name in names if name == "style" or name.startswith("on")]
    assert all(each.get("href", "data:").startswith("data:") for each in root.iter())
    assert not re.search(r"nan|inf\b", re.sub(r'href="[^"]*"', "", made))


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_has_a_name_for_readers(name):
    root = tree(PICTURES[name].svg())
    ids = [each.get("id") for each in root.iter() if each.get("id")]
    assert len(ids) == len(set(ids))
    for picture in [root, *root.iter("svg")]:
        if picture.get("role") == "img":
            named = (picture.get("aria-labelledby") or "").split()
            assert set(named) <= set(ids)
            assert named or picture.get("aria-label") is not None


def test_hostile_words_are_only_shown():
    made = [
        chart(title=HOSTILE, description=HOSTILE, xlabel=HOSTILE, ylabel=HOSTILE),
        Chart((Line(HOSTILE, [0, 1], [0, 1]),), (Shade(HOSTILE + "2", [0, 1], [0, 0], [1, 1]),)),
        HeatMap(np.eye(2), (0, 1), (0, 1), HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE),
        HeatMap(np.eye(2), (0, 1), (0, 1), names=(HOSTILE, "b")),
        Bar((1,), 2, description=HOSTILE),
    ]
    for each in made:
        markup = str(each.svg())
        tree(markup)
        assert "<script" not in markup
        assert markup.isprintable()


def test_places_are_those_of_the_numbers():
    """Straight from the drawing: pixels and numbers are on one line, for both sizes."""
    root = tree(chart().svg())
    for kind in ("wide", "narrow"):
        (picture,) = (each for each in root.iter("svg") if each.get("class") == kind)
        ((line),) = paths(picture, "line")
        assert len(line) == 48
        for pixels, numbers, sign in ((line[:, 0], HOURS, 1), (line[:, 1], CURVE, -1)):
            slope, offset = np.polyfit(numbers, pixels, 1)
            assert slope * sign > 0
            assert np.abs(slope * numbers + offset - pixels).max() < 0.06
        ((band),) = paths(picture, "shade")
        assert np.abs(band[:48, 1] - band[:-49:-1, 1]).min() > 0
        assert (band[:48, 1] < line[:, 1]).all()


def test_numbers_along_the_axis_stand_where_they_belong():
    root = tree(chart(span=(0, 24)).svg())
    picture = next(each for each in root.iter("svg") if each.get("class") == "wide")
    numbers = {t.text: float(t.get("x", 0)) for t in picture.iter("text") if t.get("text-anchor") == "middle"}
    assert list(numbers) == ["0", "6", "12", "18", "24", "hour (h)"]
    assert numbers["12"] == pytest.approx((numbers["0"] + numbers["24"]) / 2, abs=0.1)


def test_a_long_curve_keeps_its_peaks_and_few_points():
    x = np.linspace(0, 1, 20_000)
    y = np.zeros(20_000)
    y[12_345] = 1.0
    made = Chart((Line("spike", x, y),)).svg()
    assert len(made) < 20_000
    (line,) = paths(next(each for each in tree(made).iter("svg") if each.get("class") == "wide"), "line")
    assert line[:, 1].min() < line[0, 1] - 100


def test_a_label_is_named_once_and_an_empty_one_never():
    many = tuple(Line("possible", HOURS, CURVE + i, look="thin") for i in range(10))
    made = Chart((*many, Line("", HOURS, CURVE))).svg()
    assert made.count("<li>") == 1
    assert "<li>" not in Chart(many, legend=False).svg()


def test_points_are_not_joined():
    made = str(Chart((Line("sizes", [0, 1, 2], [3, 2, 1], look="points"),)).svg())
    assert made.count("h.01") == 2 * 3 + 1


def test_a_height_is_kept():
    """What is beyond it is cut off, and several pictures can be compared."""
    root = tree(chart(height=(-10, 10)).svg())
    picture = next(each for each in root.iter("svg") if each.get("class") == "wide")
    assert next(t.text for t in picture.iter("text") if t.get("text-anchor") == "end") == "\u221210"
    assert picture.find("svg") is not None


def test_the_key_of_several_pictures_stands_alone():
    one = chart(legend=False, small=True)
    assert "<li>" not in one.svg()
    assert one.key().count("<li>") == 2


def test_lines_differ_by_more_than_colour():
    """The sheet gives each colour but the first dashes of its own."""
    dashes = dict(re.findall(r"\.line\.c(\d) \{ stroke-dasharray: ([\d. ]+);", style()))
    assert sorted(dashes) == list("1234567")
    assert len(set(dashes.values())) == 7


def cells(made: str) -> np.ndarray:
    data = b64decode(re.search(r'href="data:image/png;base64,([^"]+)"', made)[1])
    width, height = struct.unpack(">II", data[16:24])
    start = data.index(b"IDAT") + 4
    size = struct.unpack(">I", data[start - 8 : start - 4])[0]
    rows = np.frombuffer(zlib.decompress(data[start : start + size]), np.uint8).reshape(height, width + 1)
    return rows[:, 1:]


def test_colours_of_a_map_are_those_of_its_values():
    values = np.array([[-2.0, 0.0, 2.0], [1.0, np.nan, -1.0]])
    found = cells(str(HeatMap(values, (0, 1), (0, 1), diverging=True).svg()))
    assert found.tolist() == [[1 + round(254 * 0.75), 0, 1 + round(254 * 0.25)], [1, 128, 255]]  # rows from above
    middle = ramp(DIVERGING)[127]
    assert middle.min() > 240


def test_regions_are_named_where_they_are():
    """At a cell of each, however they lie; a class that is predicted nowhere has no name on the map."""
    values = np.zeros((20, 30))
    values[:, 15:] = 1
    root = tree(HeatMap(values, (0, 1), (0, 1), names=("left", "right", "nowhere")).svg())
    found = {t.text: float(t.get("x", 0)) for t in root.iter("text") if t.get("class") == "region"}
    assert sorted(found) == ["left", "right"]
    assert found["left"] < 180 < found["right"]


def test_a_large_map_is_a_small_file():
    values = np.random.default_rng(0).normal(size=(900, 900))
    assert len(HeatMap(values, (0, 1), (0, 1)).svg()) < 60_000
    assert cells(str(HeatMap(values, (0, 1), (0, 1)).svg())).shape == (160, 160)


def test_a_bar_is_as_long_as_what_was_spent():
    root = tree(Bar((1, 0.5), 3, own=1, planned=0.25, description="x").svg())
    found = [(r.get("class"), float(r.get("x", 0)), float(r.get("width", 0))) for r in root.iter("rect")]
    assert [kind for kind, _, _ in found] == ["spent", "own", "planned", "frame"]
    assert found[1][1] == pytest.approx(1000 / 3, abs=0.1)
    assert found[2][1] == pytest.approx(500, abs=0.1)
    assert len(Bar([0.001] * 5000, 10, own=7, description="").svg()) < 1000
