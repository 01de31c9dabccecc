"""What notebooks show, and what numpy makes of a release."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest

import dpfda as dp

RNG = np.random.default_rng(7)
CURVES = RNG.normal(0.5, 0.2, (400, 12))
ODD = "<script>alert('x')</script> & \"co\""
VOID = {"img"}


def mean(**more):
    return dp.mean(CURVES, epsilon=1, bound=dp.L2Ball(2.0), **more)


def groups(**more):
    return mean(by=np.repeat(["a", ODD], 200), groups=["a", ODD], **more)


def cube():
    return dp.density(RNG.random((400, 3)), epsilon=1, domain=[(0, 1)] * 3, cells=[4, 4, 4])


RELEASES = {
    "mean": mean,
    "derivative": lambda: mean().derivative(),
    "covariance": lambda: dp.covariance(CURVES, epsilon=1, bound=dp.L2Ball(2.0)),
    "density": lambda: dp.density(RNG.random(400), epsilon=1, domain=[(0, 1)]),
    "density in space": cube,
    "regression": lambda: dp.plans.RegressionPlan(
        n=400, epsilon=1, bound=dp.L2Ball(2.0), grid=11, covariates=1, covariate_bound=2.0
    ).release(CURVES),
    "smoother": lambda: dp.plans.SmootherPlan(n=400, epsilon=1, domain=[(0, 1)], bound=(0, 1)).release(CURVES[:, :2]),
    "radius": lambda: dp.suggest_radius(CURVES, epsilon=1, bound=dp.Range(-4, 5)),
    "groups": groups,
    "difference": lambda: groups().difference("a", ODD),
}


class Page(HTMLParser):
    """Tags in balance, no scripts, nothing from outside."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.words = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert name in ("style", "src", "alt"), name
            assert name != "style" or value == "text-align:left"  # no colours: readable on dark and light pages
            assert name != "src" or value.startswith("data:image/png;base64,")

    def handle_endtag(self, tag):
        assert tag in VOID or self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def page_of(thing):
    page = Page(thing._repr_html_())
    assert page.open == []
    assert set(page.seen) <= {"table", "caption", "tr", "th", "td", "img"}
    return page


@pytest.mark.parametrize("name", RELEASES)
def test_every_release_and_its_plan_have_a_page(name):
    release = RELEASES[name]()
    page = page_of(release)
    assert "table" in page.seen
    assert ("img" in page.seen) == (name not in ("radius", "density in space"))
    if hasattr(release, "plan"):
        assert "img" not in page_of(release.plan).seen


def test_pages_show_names_as_they_are_spelt():
    both = groups()
    for thing in (both, both.plan, both.difference("a", ODD)):
        assert "<script" not in thing._repr_html_()
        assert any(ODD in words for words in page_of(thing).words)


def test_a_ledger_shows_its_budget_and_its_last_charges(tmp_path):
    book = dp.Ledger.create(tmp_path / "s.ledger", epsilon=2, study=ODD)
    assert page_of(book).seen.count("table") == 1
    mean(ledger=book, query="<b>first</b>")
    for number in range(11):
        book.charge("1/100", plan="p" * 64, query=f"query {number}")
    words = page_of(book).words
    assert {ODD, "epsilon 2", "epsilon 1.11 (55.5 %)", "epsilon 0.89 (44.5 %)", "12"} <= set(words)
    assert "query 10" in words
    assert "<b>first</b>" not in words  # the last ten only
    long = dp.Ledger.create(tmp_path / "t.ledger", epsilon="1", study="t", delta="1e-6")
    long.charge("0.123456789012345678901", plan="p", query="q", delta="1e-7")
    assert "epsilon about 0.123457, delta 1e-07" in page_of(long).words


def test_a_radius_shows_its_number_and_promise():
    release = RELEASES["radius"]()
    words = page_of(release).words
    assert f"{release.radius:.6g}" in words
    assert any("holds at least" in word for word in words)


# -- numpy -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in RELEASES if name not in ("radius", "groups")])
def test_numpy_takes_the_values(name):
    release = RELEASES[name]()
    found = np.asarray(release)
    assert found.dtype == float
    assert np.array_equal(found, release.values)
    assert np.asarray(release, dtype=np.float32).dtype == np.float32
    assert np.array_equal(np.array(release, copy=True), release.values)
    found[...] = 0.0  # a copy of its own
    assert np.array_equal(np.asarray(release), release.values)
    with pytest.raises(ValueError, match="computed"):
        np.array(release, copy=False)
    assert np.array_equal(np.round(release, 3), np.round(release.values, 3))


def test_groups_are_stacked_and_a_radius_is_a_number():
    both = groups()
    assert np.array_equal(np.asarray(both), [both["a"].values, both[ODD].values])
    radius = RELEASES["radius"]()
    assert np.asarray(radius).shape == ()
    assert np.asarray(radius) == radius.radius
    assert np.sqrt(radius) == np.sqrt(radius.radius)


def test_a_release_is_a_centre():
    first = mean()
    assert np.array_equal(dp.L2Ball(1.0, center=np.asarray(first)).center, first.values)
