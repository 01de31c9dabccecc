"""Pages: texts are only shown, missing facts are errors, and the style is one sheet that loads nothing."""

from __future__ import annotations

import re

import jinja2
import pytest
from markupsafe import Markup

from dpfda.pages.render import POLICY, environment, page, style
from dpfda.pages.safe import text

HOSTILE = '<img src=x onerror=alert(1)>\u202e\x1b"\u2066'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "test.html").write_text(
        '{% extends "alone.html" %}{% import "macros.html" as m %}{% block main %}'
        "<h1>{{ title }}</h1>{{ m.verdict('good', title, [title]) }}{{ m.code([title]) }}{{ m.bullets([title]) }}"
        "{{ [title, title]|join(' and ') }}{{ m.facts([(title, title)]) }}{{ '<b>'|safe }}{{ title ~ '!' }}"
        "{% endblock %}"
    )
    return tmp_path


def test_texts_are_escaped_and_in_printable_signs(folder):
    made = page("test.html", folder, title=HOSTILE)
    assert "<img" not in made
    assert all(line.isprintable() for line in made.split("\n"))
    assert "&lt;img src=x onerror=alert(1)&gt;\\u202e\\x1b&#34;\\u2066" in made
    assert "<b>" in made


def test_a_page_that_stands_alone_says_so_to_the_browser(folder):
    made = page("test.html", folder, title="A")
    assert f'http-equiv="Content-Security-Policy" content="{Markup.escape(POLICY)}"' in made
    assert style() in made
    assert not re.search(r"<script|<link|<iframe|\bstyle=|https?:", made)


def test_a_missing_fact_is_an_error(folder):
    with pytest.raises(jinja2.UndefinedError, match="title"):
        page("test.html", folder)


def test_folders_come_before_what_is_shared(tmp_path):
    (tmp_path / "base.html").write_text("mine")
    assert environment(tmp_path).get_template("base.html").render() == "mine"
    assert "<main" in environment().get_template("base.html").render(title="A")


def test_the_sheet_loads_nothing():
    assert not re.search(r"url\(|@import|</", style())


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_words_and_lines_can_be_told_from_their_ground(theme):
    blocks = re.findall(r":root \{(.*?)\}", style(), re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#\w{6})", blocks[theme]))
    for ground in ("paper", "wash", "good", "fair", "poor"):
        assert contrast(colours["ink"], colours[ground]) >= 7
    for word, ground in (("soft", "paper"), ("soft", "wash"), ("accent", "paper"), ("poor-bar", "paper"),
                         ("good-bar", "paper"), ("poor-bar", "poor"), ("on-accent", "accent")):  # fmt: skip
        assert contrast(colours[word], colours[ground]) >= 4.5, word
    for line in ("c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "edge", "focus", "guess"):
        assert contrast(colours[line], colours["paper"]) >= 3, line


def test_words_in_markup():
    assert text(HOSTILE) == "&lt;img src=x onerror=alert(1)&gt;\\u202e\\x1b&quot;\\u2066"
