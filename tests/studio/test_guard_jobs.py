"""A charge and whatever comes between: cancels, other jobs, a ledger or a folder that changes under the studio."""

from __future__ import annotations

import os
import re
import resource
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser import invented

import dpfda as dp
from dpfda.core.errors import BudgetExceeded, LedgerError
from dpfda.core.watching import Phase
from dpfda.ledger import Ledger
from dpfda.studio.jobs import Job
from dpfda.studio.release_screen import progress_words
from studio.visitors import HOURLY, PATIENCE, Home, at_home

pytestmark = pytest.mark.long  # many screens, by a real server


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    invented.write_planted(tmp_path / "data")
    with at_home(tmp_path / "data") as found:
        found.make_ledger(epsilon="100")
        yield found


def history(home: Home, place: Path | None = None) -> int:
    return len(Ledger(place or home.folder / "study.ledger").history())


def ticket_in(text: str) -> str:
    found = re.search(r'name="ticket" value="(\w+)"', text)
    assert found, text
    return found[1]


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Do something when a job comes to a phase."""
    watch = Job.watch

    def at(name: str, act: Callable[[Job], object]) -> None:
        def watching(job: Job, phase: Phase) -> None:
            if phase.name == name:
                act(job)
            watch(job, phase)

        monkeypatch.setattr(Job, "watch", watching)

    return at


# -- cancel or charge -------------------------------------------------------------------------------


@pytest.mark.parametrize("round_", range(12))
def test_a_job_is_cancelled_or_charged_and_never_both(home: Home, meanwhile: Callable[..., None], round_: int) -> None:
    go, said = threading.Event(), []
    phase = ("checking", "reading", "charging")[round_ % 3]
    meanwhile(phase, lambda _: go.set())
    job = home.release("planted.csv", "raced")

    def cancel(delay: float) -> None:
        go.wait(PATIENCE)
        threading.Event().wait(delay)
        said.append(job.cancel())

    threads = [threading.Thread(target=cancel, args=(0.0005 * i * (round_ % 5),)) for i in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    home.finish(job)
    entries, written = history(home), (home.folder / "raced.json").exists()
    assert (job.state, entries, written) in (("cancelled", 0, False), ("done", 1, True))
    assert any(said) == (job.state == "cancelled")
    assert not list(home.folder.glob(".dpfda-*"))


def test_a_cancel_in_the_last_moment_is_heard_by_the_charge(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Job.watch

    def late(job: Job, phase: Phase) -> None:
        watch(job, phase)
        if phase.name == "charging":
            assert job.cancel()

    monkeypatch.setattr(Job, "watch", late)
    job = home.release("planted.csv", "moment")
    home.finish(job)
    assert job.state == "cancelled"
    assert history(home) == 0


def test_after_the_charge_cancel_is_neither_offered_nor_heard(home: Home, meanwhile: Callable[..., None]) -> None:
    pages: list[str] = []
    at_charge = threading.Event()

    def look(job: Job) -> None:
        pages.append(home.get(f"/job/{job.id}/part").text)
        assert not job.cancel()
        at_charge.set()

    meanwhile("charged", look)
    job = home.release("planted.csv", "late")
    home.finish(job)
    assert at_charge.is_set()
    assert job.state == "done"
    assert "Cancel" not in pages[0].replace("cannot be cancelled", "")
    assert history(home) == 1
    home.post(f"/job/{job.id}/cancel", {})
    assert job.state == "done"


def test_one_job_at_a_time(home: Home, meanwhile: Callable[..., None]) -> None:
    inside, most, go = [0], [0], threading.Event()
    held = threading.Event()

    def count(job: Job) -> None:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        held.set()
        go.wait(PATIENCE)
        inside[0] -= 1

    meanwhile("charging", count)
    jobs = [home.release("planted.csv", f"turn-{i}", {**HOURLY, "epsilon": f"0.{i + 1}"}) for i in range(4)]
    assert held.wait(PATIENCE)
    assert [job.state for job in jobs].count("waiting") == 3
    go.set()
    for job in jobs:
        home.finish(job)
    assert [job.state for job in jobs] == ["done"] * 4
    assert sorted(job.entry or 0 for job in jobs) == [1, 2, 3, 4]
    assert most[0] == 1


def test_a_job_that_waits_is_cancelled_without_a_charge(home: Home, meanwhile: Callable[..., None]) -> None:
    go = threading.Event()
    meanwhile("reading", lambda _: go.wait(PATIENCE))
    first, second = (home.release("planted.csv", name) for name in ("first", "second"))
    assert second.cancel()
    go.set()
    home.finish(first)
    home.finish(second)
    assert (first.state, second.state) == ("done", "cancelled")
    assert history(home) == 1


@pytest.mark.parametrize("count", [24])
def test_a_ticket_that_is_sent_many_times_at_once_is_one_job(home: Home, count: int) -> None:
    form = {"ticket": ticket_in(home.confirm("planted.csv", "once").text), "study": "invented", "anyway": "yes"}
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(home.post("/release", form).location)) for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(found) == count
    assert len(set(found)) == 1
    job = home.studio.jobs.find(found[0].rpartition("/")[2])
    assert job is not None
    home.finish(job)
    assert history(home) == 1


def test_two_tickets_for_one_name_are_one_result(home: Home) -> None:
    forms = [{"ticket": ticket_in(home.confirm("planted.csv", "same").text), "study": "invented", "anyway": "yes",
              "again": "yes"} for _ in range(2)]  # fmt: skip
    jobs = [home.studio.jobs.find(home.post("/release", form).location.rpartition("/")[2]) for form in forms]
    for job in jobs:
        assert job is not None
        home.finish(job)
    assert sorted(job.state for job in jobs if job) == ["done", "failed"]
    assert history(home) == 1


def test_a_last_word_needs_the_name_and_the_ticks(home: Home) -> None:
    ticket = ticket_in(home.confirm("planted.csv", "word").text)
    for study in ("", "Invented", "invented\0", "other", "invented invented"):
        answer = home.post("/release", {"ticket": ticket, "study": study, "anyway": "yes"})
        assert answer.status == 422
        assert "Nothing was charged." in answer.text
    for wrong in ("", "x", ticket[:-1], ticket.upper() + "0", "0" * 32):
        assert home.post("/release", {"ticket": wrong, "study": "invented"}).status == 409
    assert home.studio.jobs.latest() == {}
    assert history(home) == 0


def test_noise_and_a_second_release_need_a_tick_each(home: Home) -> None:
    noisy = {**HOURLY, "epsilon": "0.01"}
    page = home.confirm("planted.csv", "noisy", noisy)
    assert "This plan is mostly noise" in page.text
    form = {"ticket": ticket_in(page.text), "study": "invented"}
    refused = home.post("/release", form)
    assert refused.status == 422
    assert "Tick the box if you mean to release it" in refused.text
    assert history(home) == 0
    taken = home.post("/release", {**form, "anyway": "yes"})
    assert taken.status == 303
    job = home.studio.jobs.find(taken.location.rpartition("/")[2])
    assert job is not None
    home.finish(job)
    assert job.cautions == []  # nobody says after the charge that nothing is charged yet
    assert "Nothing is charged yet" not in home.get(home.get(f"/job/{job.id}").location.removeprefix(home.base)).text
    form = {"ticket": ticket_in(home.confirm("planted.csv", "twice", noisy).text), "study": "invented", "anyway": "yes"}
    refused = home.post("/release", form)
    assert refused.status == 422
    assert "Tick the box if you mean to pay again" in refused.text
    assert history(home) == 1


# -- the ledger -------------------------------------------------------------------------------------


def test_a_ledger_that_is_full_meanwhile_refuses(tmp_path: Path, meanwhile: Callable[..., None]) -> None:
    invented.write_planted(tmp_path)
    with at_home(tmp_path) as home:
        ledger = home.make_ledger(epsilon="1.5")
        meanwhile("charging", lambda _: ledger.charge(1, plan="other", query="mean"))
        job = home.release("planted.csv", "full")
        page = home.finish(job)
        assert job.state == "failed"
        assert "Nothing was charged." in page.text
        assert [entry.plan for entry in ledger.history()] == ["other"]
        assert home.confirm("planted.csv", "again").status == 422  # and now before the last word
    assert not (tmp_path / "full.json").exists()


@pytest.mark.parametrize("phase", ["checking", "charging"])
@pytest.mark.parametrize("change", ["removed", "another study", "older copy", "junk", "folder"])
def test_a_ledger_that_is_exchanged_is_not_charged(
    home: Home, meanwhile: Callable[..., None], phase: str, change: str
) -> None:
    place = home.folder / "study.ledger"
    shutil.copy(place, home.folder / "older")
    home.finish(home.release("planted.csv", "first"))

    def exchange(_: Job) -> None:
        place.rename(home.folder / "taken")
        if change == "another study":
            Ledger.create(place, epsilon=100, study="other")
        elif change == "older copy":
            shutil.copy(home.folder / "older", place)
        elif change == "junk":
            place.write_bytes(b"SQLite format 3\0" + bytes(500))
        elif change == "folder":
            place.mkdir()

    meanwhile(phase, exchange)
    job = home.release("planted.csv", "second")
    page = home.finish(job)
    assert job.state == "failed"
    assert not (home.folder / "second.json").exists()
    assert "entry 2" not in page.text
    assert history(home, home.folder / "taken") == 1
    for screen in ("/plan", "/data", "/results", "/ledger", "/release"):
        assert home.get(screen).status in (200, 422)  # says so, and stands


def test_a_charge_that_ends_with_an_error_is_not_called_none(home: Home) -> None:
    job = home.release("planted.csv", "order")
    home.finish(job)

    def lost(error: Exception) -> Job:
        again = Job(job.order, home.studio.folder)

        def charge() -> None:
            raise error

        with pytest.raises(type(error)):
            again.charged(charge)
        again._fail(str(error))
        return again

    unsure, sure = lost(LedgerError("The ledger was replaced.")), lost(BudgetExceeded("Beyond the budget."))
    assert "Nothing was charged" not in progress_words(unsure)
    assert "the ledger tells" in progress_words(unsure)
    assert "Nothing was charged" in progress_words(sure)


# -- places -----------------------------------------------------------------------------------------


def test_a_full_disk_is_found_before_the_charge(home: Home) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, hard))  # half of what a result reserves
    try:
        job = home.release("planted.csv", "full")
        page = home.finish(job)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert job.state == "failed"
    assert "cannot be written" in page.text
    assert history(home) == 0
    assert not list(home.folder.glob(".dpfda-*"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes into any folder")
def test_a_folder_that_cannot_be_written_is_found_before_the_charge(home: Home) -> None:
    home.folder.chmod(0o500)
    try:
        job = home.release("planted.csv", "closed")
        home.finish(job)
    finally:
        home.folder.chmod(0o700)
    assert job.state == "failed"
    assert history(home) == 0


@pytest.mark.parametrize("phase", ["charging", "drawing"])
def test_a_file_that_comes_to_the_place_of_a_result_is_kept(
    home: Home, meanwhile: Callable[..., None], phase: str
) -> None:
    place = home.folder / "taken.json"
    meanwhile(phase, lambda _: place.write_text("somebody's"))
    job = home.release("planted.csv", "taken")
    home.finish(job)
    assert job.state == "done"
    assert place.read_text() == "somebody's"
    assert isinstance(dp.load(home.folder / "taken-2.json"), dp.Release)
    assert Ledger(home.folder / "study.ledger").outputs()[0].file == "taken-2.json"
    page = home.get(home.get(f"/job/{job.id}").location.removeprefix(home.base))
    assert page.status == 200
    assert "taken-2.json" in page.text


def test_a_result_whose_folder_goes_after_the_charge_is_called_lost(
    home: Home, meanwhile: Callable[..., None], tmp_path: Path
) -> None:
    meanwhile("drawing", lambda _: home.folder.rename(tmp_path / "moved"))
    job = home.release("planted.csv", "lost")
    assert job.done.wait(PATIENCE)
    (tmp_path / "moved").rename(home.folder)
    page = home.get(f"/job/{job.id}/part")
    assert job.state == "lost"
    assert "Entry 1 was charged and its result is lost" in page.text
    assert "Nothing was charged" not in page.text
    assert history(home) == 1
    assert "result not found here" in home.get("/ledger").text


def test_a_result_that_the_ledger_cannot_note_is_not_called_lost(
    home: Home, meanwhile: Callable[..., None], tmp_path: Path
) -> None:
    meanwhile("done", lambda _: (home.folder / "study.ledger").rename(tmp_path / "taken.ledger"))
    job = home.release("planted.csv", "noted")
    home.finish(job)
    assert job.state == "done"
    assert "could not note its file" in job.cautions[0] + job.cautions[-1]
    assert isinstance(dp.load(home.folder / "noted.json"), dp.Release)
    assert history(home, tmp_path / "taken.ledger") == 1
