"""What holds the built site against its promises catches what it must, on small sites made up here."""

from __future__ import annotations

from importlib import import_module

import pytest

GOOD = """<!doctype html><html><head><link rel="stylesheet" href="_static/look.css">
<style>p { color: red }</style></head>
<body><h1 id="top">Home</h1><a href="other.html#there">other</a> <a href="#top">up</a> <a href="https://doi.org/10.1/x">a
paper</a> <img src="_static/a.png" srcset="_static/a.png 1x"> <img src="data:image/png;base64,AA=="></body></html>"""
OTHER = (
    '<!doctype html><html><body><a name="there"></a><a href="index.html">home</a> <a href="./">folder</a></body></html>'
)
LOOK = "p { background: url(a.png) } @font-face { src: url('a.png#x') }"


@pytest.fixture
def check_site():
    module = import_module("check_site")
    module.read.cache_clear()
    return module


@pytest.fixture
def site(tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "a.png").write_bytes(b"")
    (tmp_path / "_static" / "look.css").write_text(LOOK)
    (tmp_path / "_static" / "part.html").write_text('<img src="{{ not a page }}">')
    (tmp_path / "index.html").write_text(GOOD)
    (tmp_path / "other.html").write_text(OTHER)
    return tmp_path


def test_a_whole_site_has_no_problems(check_site, site, capsys):
    assert check_site.problems(site) == []
    assert check_site.main(site) == 0
    assert capsys.readouterr().out == "2 pages, 0 problems\n"


def test_no_site_is_a_problem(check_site, tmp_path):
    assert check_site.main(tmp_path) == 1


@pytest.mark.parametrize(
    ("added", "told"),
    [
        ('<a href="gone.html">x</a>', "links to gone.html, which is not there"),
        ('<a href="other.html#gone">x</a>', "links to other.html#gone, a place that the page does not have"),
        ('<a href="#gone">x</a>', "links to #gone, a place that the page does not have"),
        ('<a href="../outside.html">x</a>', "links to ../outside.html, which is not there"),
        ('<a href="javascript:alert(1)">x</a>', "links to javascript:alert(1)"),
        ('<img src="gone.png">', "fetches gone.png, which is not there"),
        (
            '<script src="https://elsewhere.example/x.js"></script>',
            "fetches https://elsewhere.example/x.js from outside",
        ),
        ('<link rel="icon" href="//elsewhere.example/x.png">', "fetches //elsewhere.example/x.png from outside"),
        ('<img srcset="a.png 1x, http://elsewhere.example/b.png 2x">', "http://elsewhere.example/b.png from outside"),
        ('<style>@import "https://elsewhere.example/x.css";</style>', "https://elsewhere.example/x.css from outside"),
        ('<p style="background: url(http://elsewhere.example/x)">x</p>', "http://elsewhere.example/x from outside"),
        ('<form action="https://elsewhere.example/"></form>', "fetches https://elsewhere.example/ from outside"),
    ],
)
def test_what_is_wrong_on_a_page_is_told(check_site, site, added, told):
    (site.parent / "outside.html").write_text("")
    (site / "other.html").write_text(OTHER.replace("</body>", f"{added}</body>"))
    found = check_site.problems(site)
    assert any(told in one and one.startswith("other.html: ") for one in found), found
    assert check_site.main(site) == 1


def test_what_is_wrong_in_a_style_sheet_is_told(check_site, site):
    (site / "_static" / "look.css").write_text("@font-face { src: url(https://elsewhere.example/font.woff2) }")
    (found,) = check_site.problems(site)
    assert found == "_static/look.css: fetches https://elsewhere.example/font.woff2 from outside"
