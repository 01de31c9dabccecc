"""No value of a file comes out but in a release: not on a page, in an address, in the terminal, in a file beside it."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser import invented
from browser.invented import PLANTED, PLANTED_TEXT

from dpfda.core.watching import Phase
from dpfda.ledger import Ledger
from dpfda.studio.jobs import Job
from dpfda.studio.release_screen import share
from studio.visitors import COLUMNS, HOURLY, Home, at_home

pytestmark = pytest.mark.long  # many screens, by a real server

Rows = list[list[str]]
GUESS = {**HOURLY, "known": "guess"}


def _spoil(rows: Rows, cells: list[str]) -> None:
    rows[7] = cells


#: What one record can hold that makes it unusable. The first row are the names.
SPOILT: dict[str, Callable[[Rows], object]] = {
    "text": lambda rows: _spoil(rows, [*rows[7][:9], PLANTED_TEXT, *rows[7][10:]]),
    "short": lambda rows: _spoil(rows, rows[7][:10]),
    "long": lambda rows: _spoil(rows, [*rows[7], PLANTED_TEXT]),
    "infinite": lambda rows: _spoil(rows, [*rows[7][:9], "inf", *rows[7][10:]]),
    "null": lambda rows: _spoil(rows, [*rows[7][:9], f"\0{PLANTED_TEXT}", *rows[7][10:]]),
    "huge": lambda rows: _spoil(rows, [*rows[7][:9], PLANTED_TEXT * 9000, *rows[7][10:]]),
    "open quote": lambda rows: _spoil(rows, [f'"{PLANTED_TEXT}', *rows[7][1:]]),
}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    invented.write_planted(tmp_path / "data")
    with at_home(tmp_path / "data") as found:
        found.make_ledger(epsilon="99")
        yield found


def spoilt(home: Home, name: str, change: Callable[[Rows], object]) -> str:
    """A copy of planted.csv with a change, as plain lines: nothing is quoted."""
    with (home.folder / "planted.csv").open() as file:
        rows = list(csv.reader(file))
    change(rows)
    (home.folder / f"{name}.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    return f"{name}.csv"


def assert_clean(home: Home, captured: str, *more: str) -> None:
    """Nothing planted in any answer, in the terminal, in what jobs say, in the ledger or in files beside the data."""
    for answer in home.answers:
        assert not [text for text in PLANTED if text in answer.all]
    jobs = home.studio.jobs.latest().values()
    told = [captured, *home.said, *more]
    told += [f"{job.words} {job.cautions} {job.phase} {job.state}" for job in jobs]
    others = [path for path in home.folder.rglob("*") if path.is_file() and path.suffix not in (".csv", ".parquet")]
    told += [path.read_bytes().decode("latin-1") for path in others]
    assert others
    assert not [(text, place) for place in told for text in PLANTED if text in place]


@pytest.mark.parametrize("known", ["public", "guess"])
@pytest.mark.parametrize("name", [*SPOILT, "fewer", "wrong columns"])
def test_a_run_that_stops_says_nothing_of_what_it_read(
    home: Home, name: str, known: str, capfd: pytest.CaptureFixture[str]
) -> None:
    file = spoilt(home, "spoilt", SPOILT.get(name, lambda rows: rows.__delitem__(slice(120, None))))
    chosen = {**HOURLY, "known": known, **(COLUMNS if name != "wrong columns" else {"values.first": "0"})}
    if name == "wrong columns":  # texts among them: refused before the last word
        page = home.confirm(file, "stopped", {**chosen, "values.last": "23"})
        assert page.status == 422
        assert_clean(home, "".join(capfd.readouterr()))
        return
    home.get("/data", {**chosen, "file": home.id_of(file)})
    job = home.release(file, "stopped", chosen)
    page = home.finish(job)
    if name == "fewer" and known == "guess":
        assert job.state == "done"  # a number that is protected is compared with nothing
    else:
        assert job.state == "failed", job.words
        assert "Nothing was charged." in page.text
        assert Ledger(home.folder / "study.ledger").history() == ()
    for place in ("/release", "/results", "/ledger", "/ledger/ledger.csv", f"/job/{job.id}"):
        home.get(place)
    assert_clean(home, "".join(capfd.readouterr()))


@pytest.mark.parametrize("name", SPOILT)
@pytest.mark.parametrize("known", ["public", "guess"])
def test_with_a_public_middle_no_record_stops_a_run_or_shows_in_what_is_told(
    home: Home, name: str, known: str, capfd: pytest.CaptureFixture[str]
) -> None:
    told = {}
    for output, file in (("whole", "planted.csv"), ("spoilt", spoilt(home, "spoilt", SPOILT[name]))):
        job = home.release(file, output, {**HOURLY, "known": known, "invalid": "center", "header": "yes"})
        home.finish(job)
        told[output] = (job.state, job.words)  # cautions come from noisy numbers, and may differ
    assert told["whole"] == told["spoilt"] == ("done", "")
    assert_clean(home, "".join(capfd.readouterr()))


@pytest.mark.parametrize(
    "said",
    [
        {**HOURLY, "groups": "north=100\nsouth=100", "by": "1", **COLUMNS},
        {**GUESS, "groups": "north=100\nsouth=100", "by": "0", **COLUMNS},
        {**HOURLY, "protect": "all", "person": "id", **COLUMNS},
        {**GUESS, "protect": "all", "person": "note", **COLUMNS},
        {**HOURLY, "what": "covariance", **COLUMNS},
        {**HOURLY, "what": "percentiles", **COLUMNS},
        {"what": "density", "n": "200", "low": "0", "high": "1"},
    ],
    ids=["groups", "groups of a guess", "persons", "persons of a guess", "covariance", "percentiles", "density"],
)
def test_whole_flows_tell_nothing_planted(
    home: Home, said: dict[str, str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    home.get("/plan", said)
    page = home.get("/data", {**said, "file": home.id_of("planted.csv")})
    assert page.status == 200
    picked = dict(re.findall(r'<select id="pick-[^"]*" name="([^"]+)"', page.text) and _first_numbers(page.text))
    job = home.release("planted.csv", "flow", {**picked, **said})
    home.finish(job)
    if job.state == "done":
        result = home.get(f"/job/{job.id}").location.removeprefix(home.base)
        for ending in ("", "/report.html", "/json", "/csv", "/statement.txt", "/methods.txt", "/plan.json", "/svg"):
            assert home.get(result + ending).status == 200
    for place in ("/release", "/results", "/ledger", "/ledger/ledger.csv"):
        assert home.get(place).status == 200
    assert_clean(home, "".join(capfd.readouterr()))


def _first_numbers(page: str) -> list[tuple[str, str]]:
    """For each choice of a column the first one with numbers."""
    found = re.findall(r'name="([^"]+)" autocomplete="off">\n((?:<option.*\n)+)</select>', page)
    return [(name, m[1]) for name, options in found if (m := re.search(r'value="(\d+)"[^>]*>h0 ', options))]


def test_a_first_line_that_may_be_a_record_is_not_shown(home: Home) -> None:
    for said in ({}, {"separator": "comma"}, {"separator": "semicolon"}, {"decimal": "comma"}, {"header": "no"}):
        page = home.get("/data", {**HOURLY, **said, "file": home.id_of("planted_bare.csv")})
        assert page.status == 200
    home.confirm("planted_bare.csv", "x")
    assert not [text for answer in home.answers for text in PLANTED if text in answer.all]


def test_addresses_hold_neither_names_nor_values(home: Home) -> None:
    page = home.confirm("planted.csv", "addresses")
    job = home.release("planted.csv", "addresses")
    home.finish(job)
    answers = [page, home.get(f"/job/{job.id}"), home.get("/results"), home.get("/ledger"), home.get("/release")]
    for address in [each for answer in answers for each in re.findall(r'(?:href|action)="([^"]*)"', answer.text)]:
        assert "planted" not in address
        assert str(home.folder) not in address
    assert not [answer for answer in home.answers if str(home.folder) in answer.all]  # nor anywhere else


# -- numbers of records -----------------------------------------------------------------------------


def _many(home: Home, count: int) -> str:
    with (home.folder / "planted.csv").open() as file:
        head, *rows = file.read().splitlines()
    name = f"rows-{'abcdefghij'[count % 10]}.csv"
    (home.folder / name).write_text("\n".join([head, *(rows[i % len(rows)] for i in range(count))]) + "\n")
    return name


def test_a_private_number_of_records_is_nowhere(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    phases: list[Phase] = []
    shares: list[object] = []
    watch = Job.watch

    def noted(job: Job, phase: Phase) -> None:
        watch(job, phase)
        phases.append(phase)
        shares.append(share(job))

    monkeypatch.setattr(Job, "watch", noted)
    told = []
    for count in (12347, 451):
        phases.clear()
        job = home.release(_many(home, count), f"private-{'ab'[count < 1000]}", {**GUESS, "n": "1000"})
        home.finish(job)
        assert job.state == "done"
        assert all(phase.rows is None and phase.rows_total is None for phase in phases)
        told.append(list(dict.fromkeys((phase.name, phase.number, phase.of) for phase in phases)))
        result = home.get(f"/job/{job.id}").location.removeprefix(home.base)
        for ending in ("", "/report.html", "/json", "/csv", "/statement.txt", "/methods.txt", "/plan.json"):
            home.get(result + ending)
    home.get("/ledger/ledger.csv")
    assert told[0] == told[1]
    assert set(shares) <= {None, 0, 1}  # of the one file: not yet, or all of it
    number = re.compile(r"(?<![\w.-])12[, ]?34[678](?![\w.])")
    assert not [match for answer in home.answers for match in number.findall(answer.all)]
    assert not [match for line in home.said for match in number.findall(line)]


def test_progress_is_told_by_the_clock_where_the_number_is_private(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Phase] = []
    monkeypatch.setattr(Job, "watch", lambda job, phase: told.append(phase))
    home.finish(home.release(_many(home, 300), "quick", GUESS))
    few = len([phase for phase in told if phase.name == "reading"])
    told.clear()
    monkeypatch.setattr("dpfda.core.watching.BEAT", 1e9)
    home.finish(home.release(_many(home, 40_001), "slow", GUESS))
    assert len([phase for phase in told if phase.name == "reading"]) <= few


# -- who may read what is written -------------------------------------------------------------------


def test_what_is_written_is_for_whoever_runs_the_studio_alone(tmp_path: Path) -> None:
    invented.write_planted(tmp_path / "data")
    with at_home(tmp_path / "data") as home:
        ticket = re.search(r'name="ticket" value="(\w+)"', home.get("/ledger").text)
        assert ticket
        home.post("/ledger/create", {"ticket": ticket[1], "study": "mine", "epsilon": "9", "period": ""})
        home.finish(home.release("planted.csv", "mine"))
        ticket = re.search(r'name="ticket" value="(\w+)"', home.get("/ledger").text)
        assert ticket
        home.post("/ledger/backup", {"ticket": ticket[1]})
    written = [path for path in (tmp_path / "data").iterdir() if path.suffix != ".csv"]
    assert {path.suffix for path in written} >= {".json", ".ledger", ".backup"}
    assert {path.name: oct(path.stat().st_mode & 0o777) for path in written if path.stat().st_mode & 0o077} == {}


def test_warnings_of_others_are_not_shown(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    import warnings

    watch = Job.watch

    def warned(job: Job, phase: Phase) -> None:
        warnings.warn(f"a value: {PLANTED_TEXT}", UserWarning, stacklevel=1)
        watch(job, phase)

    monkeypatch.setattr(Job, "watch", warned)
    job = home.release("planted.csv", "warned")
    home.finish(job)
    assert job.state == "done"
    assert home.get(home.get(f"/job/{job.id}").location.removeprefix(home.base)).status == 200
    assert_clean(home, "")
