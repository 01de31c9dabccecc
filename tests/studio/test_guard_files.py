"""Files: by ids alone, ordinary ones inside the folder, the same at release; names of results stay in the folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import invented
from browser.invented import PLANTED, PLANTED_TEXT

from dpfda.core.watching import Phase
from dpfda.ledger import Ledger
from dpfda.studio.folder import MOST_FILES
from dpfda.studio.jobs import Job
from studio.visitors import COLUMNS, HOURLY, Home, at_home

TRICKS = (
    "../data/planted.csv", "..%2Fplanted.csv", "%2e%2e/planted.csv", "/etc/passwd", "planted.csv", "./planted.csv",
    "file:///etc/passwd", "http://127.0.0.1:1/x.csv", "\0", "planted.csv\0", "*", "*.csv", "%00", "", "0" * 32,
    "..\\planted.csv", "A" * 9000,
)  # fmt: skip
OUTPUTS = (
    "../x", "/etc/x", ".hidden", "a/b", "a\\b", "x\0y", "x\ny", "", " ", ".", "..", "-x", "con:", "x" * 200, "\u202ex",
    "\xe9", "~/x", "$(id)", "x;y", "study.ledger-wal/..", "*", "x\r\nSet-Cookie: a=b",
)  # fmt: skip

pytestmark = pytest.mark.long  # many screens, by a real server


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    invented.write_planted(tmp_path / "data")
    outside = tmp_path / "outside"
    invented.write_planted(outside)
    with at_home(tmp_path / "data") as found:
        found.make_ledger()
        yield found


def charged(home: Home) -> int:
    return len(Ledger(home.folder / "study.ledger").history())


def test_ids_alone_lead_to_files(home: Home) -> None:
    for trick in TRICKS:
        page = home.get("/data", {**HOURLY, "file": trick})
        assert page.status == 200
        assert "not in the data folder" in page.text or not trick
        assert home.get("/release", {**HOURLY, **COLUMNS, "file": trick, "output": "x"}).status == (
            422 if trick else 200
        )
    for trick in ("../planted", "..%2fstudy.ledger", "%2fetc%2fpasswd", home.id_of("planted.csv"), "%00", "x" * 9000):
        for place in (f"/results/{trick}", f"/results/{trick}/json", f"/results/{trick}/report.html"):
            answer = home.get(place)
            assert answer.status == 404
            assert "root:" not in answer.text
    assert not [text for answer in home.answers for text in PLANTED if text in answer.all]


@pytest.mark.parametrize(
    "place", ["/static/../guard.py", "/static/%2e%2e/guard.py", "/static/..%2fguard.py", "/static//etc/passwd",
              "/static/%2fetc%2fpasswd", "/../../etc/passwd", "/static/studio.js%00", "/static/", "/static/guard.py"],
)  # fmt: skip
def test_static_files_are_three(home: Home, place: str) -> None:
    answer = home.get(place)
    assert answer.status in (403, 404)
    assert "import" not in answer.text
    assert "root:" not in answer.text


def test_what_is_no_ordinary_file_inside_is_not_there(home: Home, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    kept = {each.name for each in home.studio.folder.files()}
    (home.folder / "link.csv").symlink_to(outside / "planted.csv")
    (home.folder / "inside.csv").symlink_to(home.folder / "planted.csv")
    (home.folder / "loop.csv").symlink_to("loop.csv")
    (home.folder / "folder").symlink_to(outside, target_is_directory=True)
    (home.folder / "null.csv").symlink_to("/dev/zero")
    (home.folder / "self").symlink_to(home.folder, target_is_directory=True)
    (home.folder / "folder.csv").mkdir()
    (home.folder / ".hidden.csv").write_text("h0\n1\n")
    os.mkfifo(home.folder / "pipe.csv")
    assert {each.name for each in home.studio.folder.files()} == kept
    page = home.get("/data", HOURLY)
    assert page.status == 200  # at once: a pipe that is opened would wait for ever
    for name in ("link", "inside", "loop", "null", "pipe", "hidden", "folder"):
        assert f"{name}.csv" not in page.text


def test_a_link_to_a_result_outside_is_not_there(home: Home, tmp_path: Path) -> None:
    job = home.release("planted.csv", "result")
    home.finish(job)
    shutil.copy(home.folder / "result.json", tmp_path / "outside" / "theirs.json")
    (home.folder / "theirs.json").symlink_to(tmp_path / "outside" / "theirs.json")
    page = home.get("/results")
    assert "result.json" in page.text
    assert "theirs.json" not in page.text


@pytest.mark.parametrize("name", OUTPUTS)
def test_names_of_results_stay_in_the_folder(home: Home, name: str, tmp_path: Path) -> None:
    before = sorted(path for path in tmp_path.rglob("*"))
    page = home.confirm("planted.csv", name)
    assert page.status == 422
    assert "name of the result" in page.text
    assert "Set-Cookie" not in str(page.headers)
    assert sorted(path for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize("make", ["file", "folder", "link", "dangling", "pipe"])
def test_a_result_goes_over_nothing(home: Home, make: str, tmp_path: Path) -> None:
    place, outside = home.folder / "there.json", tmp_path / "outside" / "mine.json"
    outside.write_text("kept")
    {
        "file": lambda: place.write_text("kept"), "folder": place.mkdir, "link": lambda: place.symlink_to(outside),
        "dangling": lambda: place.symlink_to(tmp_path / "outside" / "new.json"), "pipe": lambda: os.mkfifo(place),
    }[make]()  # fmt: skip
    for name in ("there", "there.json", " there "):
        page = home.confirm("planted.csv", name)
        assert page.status == 422
        assert "exists already" in page.text
    assert outside.read_text() == "kept"
    assert not (tmp_path / "outside" / "new.json").exists()


def test_a_ledger_that_is_called_like_a_result_is_not_written_over(tmp_path: Path) -> None:
    invented.write_planted(tmp_path)
    ledger = Ledger.create(tmp_path / "study.json", epsilon=3, study="odd")
    with at_home(tmp_path, ledger.path) as home:
        assert home.confirm("planted.csv", "study").status == 422
        assert home.confirm("planted.csv", "study.json-wal").status == 200  # a name like any other: -wal.json
    assert ledger.history() == ()


# -- exchanged between the choice and the release ---------------------------------------------------


def exchange(home: Home, by: str, outside: Path) -> None:
    place = home.folder / "planted.csv"
    if by == "file":
        (home.folder / "new").write_bytes(place.read_bytes())
        os.replace(home.folder / "new", place)
    elif by == "content":
        place.write_bytes(place.read_bytes() + b"\n")
    elif by == "link":
        place.unlink()
        place.symlink_to(outside / "planted.csv")
    elif by == "pipe":
        place.unlink()
        os.mkfifo(place)
    else:
        place.unlink()


@pytest.mark.parametrize("by", ["file", "content", "link", "pipe", "nothing"])
def test_a_file_that_is_exchanged_before_the_last_word_is_not_released(home: Home, by: str, tmp_path: Path) -> None:
    page = home.confirm("planted.csv", "exchanged")
    ticket = page.text.partition('name="ticket" value="')[2][:32]
    exchange(home, by, tmp_path / "outside")
    sent = home.post("/release", {"ticket": ticket, "study": "invented", "anyway": "yes"})
    job = home.studio.jobs.find(sent.location.rpartition("/")[2])
    assert job is not None
    page = home.finish(job)
    assert job.state == "failed"
    assert "since it was chosen" in page.text
    assert charged(home) == 0
    assert not (home.folder / "exchanged.json").exists()


@pytest.mark.parametrize("by", ["file", "link", "nothing"])
def test_a_file_that_is_exchanged_while_it_is_read_is_not_charged(
    home: Home, by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Job.watch

    def exchanged(job: Job, phase: Phase) -> None:
        if phase.name == "checking":
            exchange(home, by, tmp_path / "outside")
        watch(job, phase)

    monkeypatch.setattr(Job, "watch", exchanged)
    job = home.release("planted.csv", "exchanged")
    home.finish(job)
    assert job.state == "failed"
    assert charged(home) == 0
    assert not job.unsure


def test_a_name_that_is_a_pattern_is_a_name(home: Home, tmp_path: Path) -> None:
    """A file called *.csv is that file, not all others, nor links that lead outside."""
    (home.folder / "*.csv").write_text("h0,h1,h2\n" + "0.5,0.5,0.5\n" * 50)
    (home.folder / "link.csv").symlink_to(tmp_path / "outside" / "planted.csv")
    page = home.get("/data", {**HOURLY, "points": "3", "file": home.id_of("*.csv")})
    assert "(3 in this file)" in page.text
    said = {**HOURLY, "n": "50", "points": "3", "values.first": "0", "values.last": "2"}
    job = home.release("*.csv", "pattern", said)
    home.finish(job)
    assert job.state == "done", job.words


def test_pages_about_odd_files_end_in_words(home: Home) -> None:
    """Whatever a file holds: a page, soon, and nothing of it."""
    odd = {
        "empty.csv": b"", "bytes.csv": bytes(range(256)) * 4, "null.csv": b"\0" * 5000, "one.csv": b"a",
        "wide.csv": b"," * 100_000 + b"\n", "fake.parquet": b"PAR1" + bytes(64) + b"PAR1", "tiny.parquet": b"PAR1",
        "bomb.csv.gz": b"\x1f\x8b\x08\0\0\0\0\0\0\3" + b"\xff" * 50, "not.csv.zst": b"(\xb5/\xfd" + bytes(20),
        "utf16.csv": f"a,b\n{PLANTED_TEXT},1\n".encode("utf-16"), "long.csv": PLANTED_TEXT.encode() * 100_000,
        "quote.csv": b'"' + PLANTED_TEXT.encode() + b",1\n2,3\n", "latin.csv": b"\xe9,\xe8\n1,2\n",
    }  # fmt: skip
    for name, content in odd.items():
        (home.folder / name).write_bytes(content)
    for name in odd:
        page = home.get("/data", {**HOURLY, "file": home.id_of(name)})
        assert page.status == 200, name
        assert home.confirm(name, "odd").status == 422, name
    assert not [text for answer in home.answers for text in PLANTED if text in answer.all]


def test_a_result_is_found_among_very_many_files(home: Home) -> None:
    for number in range(MOST_FILES + 5):
        (home.folder / f"a{number:04d}.json").write_text('{"dpfda": "release"}')
    job = home.release("planted.csv", "zulu")
    home.finish(job)
    assert job.state == "done", job.words
    page = home.get(home.get(f"/job/{job.id}").location.removeprefix(home.base))
    assert page.status == 200
    assert "zulu.json" in page.text
    assert "zulu.json" in home.get("/results").text
    assert "/results/" in home.get("/ledger").text


def test_odd_results_end_in_words(home: Home) -> None:
    head = b'{"dpfda": "release", "format": 1, '
    odd = {
        "deep.json": b'{"dpfda":"release","a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "not.json": b"{",
        "number.json": b"1e999999", "fake.json": head + b'"plan": {}}', "null.json": b"\0" * 100,
        "list.json": b"[]", "digits.json": head + b'"n": ' + b"9" * 10_000 + b"}",
    }  # fmt: skip
    for name, content in odd.items():
        (home.folder / name).write_bytes(content)
    assert home.get("/results").status == 200
    for each in home.studio.folder.saved():
        assert home.get(f"/results/{each.id}").status == 404, each.name
        assert home.get(f"/results/{each.id}/report.html").status == 404, each.name
