"""Hostile names are only shown: of files, columns, groups, studies, notes and words of a plan; also in what is kept."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browser import invented
from browser.invented import COLUMN_NAMES, GROUPS, MARKUP

from studio.visitors import Answer, Home, at_home

pytestmark = pytest.mark.long  # many screens, by a real server

STUDY = "</p><script>alert(7)</script>{{ 7*7 }}\"'"
NOTE = '=HYPERLINK("http://evil.test")<img src=x onerror=alert(8)>'
WORDS = {
    "record": "<b onclick=alert(9)>{{ 7*7 }}", "value": '"><img src=x onerror=alert(10)>', "value_unit": "{% raw %}",
    "axis": "<script>alert(11)</script>", "axis_unit": "</svg><script>alert(12)</script>",
}  # fmt: skip
THREE = {"what": "mean", "n": "60", "points": "3", "low": "0", "high": "1"}


class Page(HTMLParser):
    """Notes what a page does beside showing text."""

    def __init__(self, base: str, text: str):
        super().__init__()
        self.base, self.harm, self.words = base, [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if tag in ("img", "iframe", "object", "embed", "base", "style", "b", "foreignobject", "image", "use"):
            self.harm.append(tag)
        if tag == "script" and said != {"src": f"{self.base}/static/studio.js", "defer": None}:
            self.harm.append(f"script {said}")
        self.harm += [name for name in said if name.startswith("on") or name in ("style", "srcdoc")]
        for name in ("href", "src", "action", "formaction", "xlink:href"):
            place = said.get(name) or ""
            if place and not place.startswith((f"{self.base}/", "#")) and place != "data:,":
                self.harm.append(f"{name}={place}")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def assert_harmless(home: Home, answer: Answer) -> str:
    """Nothing runs, leaves or steers how the page is read; its words are returned."""
    page = Page(home.base, answer.text)
    assert page.harm == []
    shown = "".join(page.words)
    steering = {c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in "\n\u00ad"}
    assert steering == set()
    return shown


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    invented.write_hostile(tmp_path / "data", tmp_path / "outside")
    with at_home(tmp_path / "data") as found:
        found.make_ledger(STUDY, "99")
        yield found


def test_the_list_of_files_and_every_file(home: Home) -> None:
    shown = assert_harmless(home, home.get("/data", THREE))
    assert MARKUP in shown
    assert "two\\nlines.csv" in shown
    assert "homes\\u202evsc.exe.csv" in shown
    assert "{{ 7*7 }}" in shown
    assert STUDY in shown
    for each in home.studio.folder.files():
        page = home.get("/data", {**THREE, "file": each.id})
        assert page.status == 200
        assert_harmless(home, page)
    assert not [answer for answer in home.answers if invented.PLANTED_TEXT in answer.all]  # links lead nowhere


@pytest.mark.parametrize(
    "field", [*WORDS, "groups", "person", "curve", "n", "epsilon", "output", "what", "seed", "wish"]
)
@pytest.mark.parametrize("kind", ["mean", "density", "covariance", "survival", "percentiles"])
def test_words_of_a_plan(home: Home, field: str, kind: str) -> None:
    for text in (WORDS.get(field, MARKUP), "\u202eright\u2066", "a\0b\r\nc\x1b[31m\u2028", "x" * 19_000, "{{ 7*7 }}",
                 "javascript:alert(1)", "'\"`&<>"):  # fmt: skip
        page = home.get("/plan", {"what": kind, "protect": "all", "shape": "own", field: text})
        assert page.status == 200
        harmless = re.sub(r"<(textarea|input)[^>]*>(?:[^<]*</textarea>)?", "", page.text)  # fields keep what was typed
        assert_harmless(home, Answer(page.status, page.headers, harmless.encode()))


def test_columns_groups_study_note_and_words_through_a_release(home: Home) -> None:
    places = [i + 1 for i in range(len(COLUMN_NAMES))]
    groups = "\n".join(f"{name}=30" for name in GROUPS[:2])  # the third steers, and cannot be planned
    file = home.folder / "hostile_columns.csv"
    file.write_text(file.read_text().replace(GROUPS[2], GROUPS[0]))
    said = {**THREE, **WORDS, "groups": groups, "by": "0", "known": "guess", "header": "yes", "note": NOTE,
            "values.first": str(places[-3]), "values.last": str(places[-1])}  # fmt: skip
    data = home.get("/data", {**said, "file": home.id_of("hostile_columns.csv")})
    shown = assert_harmless(home, data)
    assert "</td></table><script>alert(3)</script>" in shown
    confirm = home.confirm("hostile_columns.csv", "hostile", said)
    assert MARKUP in assert_harmless(home, confirm)
    job = home.release("hostile_columns.csv", "hostile", said)
    assert_harmless(home, home.get(f"/job/{job.id}"))
    page = home.finish(job)
    assert job.state == "done", job.words
    place = home.get(f"/job/{job.id}").location.removeprefix(home.base)
    shown = assert_harmless(home, home.get(place))
    assert "<script>" in shown
    assert "49" not in re.findall(r"\{\{.*?\}\}|\b49\b", page.text)
    assert NOTE in assert_harmless(home, home.get("/ledger"))
    assert_harmless(home, home.get("/ledger", {"check": "yes"}))
    assert_harmless(home, home.get("/results"))
    _downloads_are_plain(home, place)


def _downloads_are_plain(home: Home, place: str) -> None:
    kept = ("json", "csv", "report.html", "svg", "png", "pdf", "statement.txt", "methods.txt", "plan.json")
    for ending in kept:
        answer = home.get(f"{place}/{ending}")
        assert answer.status == 200, ending
        name = re.fullmatch(r'attachment; filename="([A-Za-z0-9._-]+)"', answer.headers["content-disposition"])
        assert name
        assert not name[1].startswith((".", "-"))
    for table in (home.get(f"{place}/csv"), home.get("/ledger/ledger.csv")):
        cells = [cell for row in csv.reader(io.StringIO(table.text)) for cell in row]
        assert len(cells) > 20
        formulas = [cell for cell in cells if cell[:1] in "=+@\t\r" and cell and not _is_number(cell)]
        formulas += [cell for cell in cells if cell[:1] == "-" and not _is_number(cell)]
        assert formulas == []
    report = Page("/nowhere", home.get(f"{place}/report.html").text)
    assert [harm for harm in report.harm if harm not in ("style",)] == []
    drawing = re.sub(r"<!--.*?-->", "", home.get(f"{place}/svg").text)
    assert "<script" not in drawing
    assert not re.search(r"<[^>]*\bonerror", drawing)  # as text it is harmless


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "name",
    ["\r\nSet-Cookie: a=b", '"; filename="x.exe', "<script>", "\u202egpj", "a/b", "%0d%0a", "caf\xe9", "a" * 99],
)
def test_results_with_hostile_names_are_kept_under_plain_ones(home: Home, name: str, tmp_path: Path) -> None:
    job = home.release("hostile_columns.csv", "good", {**THREE, "header": "yes", "values.first": "11",
                                                       "values.last": "13"})  # fmt: skip
    home.finish(job)
    assert job.state == "done", job.words
    place = home.folder / f"{name.replace('/', '_')}.json"
    (home.folder / "good.json").rename(place)
    found = next(each for each in home.studio.folder.saved() if each.place == place)
    assert_harmless(home, home.get(f"/results/{found.id}"))
    assert_harmless(home, home.get("/results"))
    answer = home.get(f"/results/{found.id}/json")
    assert re.fullmatch(r'attachment; filename="[A-Za-z0-9._-]+"', answer.headers["content-disposition"])
    assert answer.headers.get("set-cookie") is None


def test_a_note_that_steers_is_refused_before_the_charge(home: Home) -> None:
    said = {**THREE, "header": "yes", "values.first": "11", "values.last": "13", "note": "a\nb\u202e"}
    page = home.confirm("hostile_columns.csv", "noted", said)
    assert page.status == 422
    assert_harmless(home, page)
    assert home.studio.account.need().history() == ()


def test_the_terminal_is_not_steered(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from browser.studios import Studio

    folder = tmp_path / "red\x1b[31m\u202e\n[bold]x"
    folder.mkdir()
    started = Studio.start(folder, tmp_path / "out")
    started.stop()
    assert "\x1b" not in started.output
    assert "\u202e" not in started.output
    assert "[bold]x" in started.output
