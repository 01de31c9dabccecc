"""Tickets and jobs: one job for each ticket; cancelled or charged, never both; lost is told."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpfda as dp
from dpfda.core.watching import Phase
from dpfda.studio.fields import Facts
from dpfda.studio.folder import Folder
from dpfda.studio.jobs import Job, Jobs, Order, _claim
from dpfda.studio.kinds import Chosen
from dpfda.studio.kinds.curves import Mean
from dpfda.studio.planner import make_plan
from dpfda.studio.release_screen import progress_words, share
from dpfda.studio.tickets import KEPT, Tickets

SAID = {"what": "mean", "n": "50", "points": "4", "high": "1"}


@pytest.fixture
def order(tmp_path: Path) -> Order:
    """A mean of fifty small curves."""
    rows = np.random.default_rng(5).uniform(0, 1, (50, 4)).round(3)
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",", header="a,b,c,d", comments="", fmt="%.3f")
    ledger = dp.Ledger.create(tmp_path / "study.ledger", epsilon=3, study="small")
    kind, facts, _, plan = make_plan(SAID)
    folder = Folder(tmp_path)
    (file,) = folder.files()
    chosen = Chosen(file.place, file.name, {"values": ("a", "b", "c", "d")})
    return Order(kind, facts, plan, file, chosen, ledger.path, ledger.name, folder.root / "mean.json", "a note")


def charges(order: Order) -> list[dp.ledger.Entry]:
    return list(dp.Ledger(order.ledger).history())


def run(order: Order) -> Job:
    job = Job(order, Folder(order.output.parent))
    job.run()
    return job


def test_a_job_releases_and_says_so(order):
    job = run(order)
    assert (job.state, job.entry) == ("done", 1)
    assert "entry 1" in progress_words(job)
    (entry,) = charges(order)
    assert entry.note == "a note"
    assert dp.load(order.output).plan.digest == order.plan.digest
    assert order.output.stat().st_mode & 0o777 == 0o600
    (output,) = dp.Ledger(order.ledger).book().outputs
    assert (order.ledger.parent / output.file) == order.output
    assert not job.cancellable
    assert not job.cancel()
    assert share(job) is None


def test_a_job_that_was_cancelled_before_it_ran_charges_nothing(order):
    job = Job(order, Folder(order.output.parent))
    assert "Waiting" in progress_words(job)
    assert job.cancel()
    assert job.done.is_set()  # at once: whoever cancels does not wait for the job before
    assert not job.cancellable
    job.run()
    assert job.state == "cancelled"
    assert "Nothing was charged" in progress_words(job)
    assert charges(order) == []
    assert not order.output.exists()


@pytest.mark.parametrize("when", ["checking", "reading", "charging"])
def test_cancel_at_any_moment_before_the_charge_charges_nothing(order, when):
    class Cancels(Job):
        def watch(self, phase):
            if phase.name == when:
                assert self.cancellable
                assert self.cancel()
                assert not self.cancellable
                assert "Cancelling" in progress_words(self)
            super().watch(phase)

    job = Cancels(order, Folder(order.output.parent))
    job.run()
    assert job.state == "cancelled"
    assert charges(order) == []
    assert not order.output.exists()


@pytest.mark.parametrize("when", ["charged", "drawing"])
def test_cancel_after_the_charge_is_refused(order, when):
    answers = []

    class Cancels(Job):
        def watch(self, phase):
            if phase.name == when:
                answers.append((self.cancellable, self.cancel()))
            super().watch(phase)

    job = Cancels(order, Folder(order.output.parent))
    job.run()
    assert set(answers) == {(False, False)}
    assert job.state == "done"
    assert len(charges(order)) == 1


def test_people_who_cancel_while_it_is_charged_get_one_or_the_other(order):
    for _ in range(8):
        job = Job(order, Folder(order.output.parent))
        thread = threading.Thread(target=job.run)
        before = len(charges(order))
        thread.start()
        while not job.done.is_set() and not job.cancel():
            pass
        thread.join()
        assert (job.state == "cancelled") == (len(charges(order)) == before)
        if order.output.exists():
            order.output.unlink()
        if len(charges(order)) == 3:
            break


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda order: order.output.write_text("mine"), "name already"),
        (lambda order: order.file.place.unlink(), "since it was chosen"),
        (lambda order: order.file.place.write_text("a,b\n0.1,0.2\n"), "since it was chosen"),
        (lambda order: replace(order, plan=make_plan({**SAID, "n": "60"})[3]), "60"),
        (lambda order: replace(order, chosen=replace(order.chosen, columns={"values": ("a", "b", "c", "z")})), "'z'"),
        (lambda order: order.ledger.unlink(), "ledger"),
    ],
    ids=["output", "gone", "changed", "fewer", "columns", "ledger"],
)
def test_what_is_wrong_before_the_charge_is_told_and_not_charged(order, spoil, words):
    spoilt = spoil(order)
    job = run(spoilt if isinstance(spoilt, Order) else order)
    assert job.state == "failed"
    assert words in job.words
    assert "othing was charged" in progress_words(job)
    if order.ledger.exists():
        assert charges(order) == []
    if order.output.exists():
        assert order.output.read_text() == "mine"


def test_a_file_that_was_exchanged_is_not_read(order):
    other = order.file.place.with_suffix(".other")
    other.write_bytes(order.file.place.read_bytes())
    os.replace(other, order.file.place)
    job = run(order)
    assert job.state == "failed"
    assert "since it was chosen" in job.words


def test_a_result_that_is_lost_after_the_charge_is_told_as_lost(order):
    class Loses(Mean):
        def release(self, *arguments):
            super().release(*arguments)
            raise OSError("a text that may quote data")

    job = run(replace(order, kind=Loses()))
    assert job.state == "lost"
    assert "OSError" in job.words
    assert "quote data" not in progress_words(job)
    assert "Entry 1 was charged" in progress_words(job)
    assert not order.output.exists()


def test_jobs_run_one_after_the_other_and_stop_for_all(order):
    jobs = Jobs(Folder(order.output.parent))
    first = jobs.start(order)
    assert first.done.wait(60)
    assert jobs.find(first.id) is first
    assert jobs.find("another") is None
    assert jobs.charged() == []
    jobs.stop()
    second = jobs.start(replace(order, output=order.output.with_name("other.json")))
    assert second.done.wait(60)
    assert second.state == "cancelled"
    assert len(charges(order)) == 1


@pytest.mark.parametrize(
    ("said", "rows"),
    [({}, 50), ({"groups": "a=30\nb=10"}, 40), ({"protect": "all", "person": "who"}, None), ({"what": "radius"}, 50)],
    ids=["one", "groups", "units", "radius"],
)
def test_how_much_is_read_is_shown_where_the_number_of_rows_is_public(order, said, rows):
    job = Job(replace(order, plan=make_plan({**SAID, **said})[3]), Folder(order.output.parent))
    job.watch(Phase("reading", number=1, of=1, rows=10))
    assert share(job) == (None if rows is None else Fraction(10, rows))
    job.watch(Phase("reading", number=1, of=1, bytes=1, bytes_total=4))
    assert share(job) == Fraction(1, 4)
    job.watch(Phase("drawing"))
    assert share(job) is None


# -- tickets ------------------------------------------------------------------------------------------


def test_a_ticket_leads_to_one_job_however_many_send_it():
    tickets: Tickets[str, object] = Tickets()
    ticket = tickets.make("order")
    assert len(ticket) == 32
    found: list[object] = []
    gate = threading.Barrier(8)

    def send() -> None:
        gate.wait()
        found.append(tickets.use(ticket, lambda order: object()))

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1


def test_an_unknown_ticket_leads_nowhere():
    tickets: Tickets[str, str] = Tickets()
    assert tickets.order("x") is None
    assert tickets.use("x", str) is None
    assert tickets.make("a") != tickets.make("a")


def test_old_tickets_are_forgotten_and_do_nothing():
    tickets: Tickets[int, int] = Tickets()
    first = tickets.make(0)
    for number in range(KEPT):
        tickets.make(number)
    assert tickets.use(first, lambda order: order) is None


def test_a_job_that_could_not_start_leaves_its_ticket_good():
    tickets: Tickets[int, int] = Tickets()
    ticket = tickets.make(3)
    with pytest.raises(RuntimeError):
        tickets.use(ticket, lambda order: (_ for _ in ()).throw(RuntimeError))
    assert tickets.use(ticket, lambda order: order) == 3


def test_facts_of_an_order_are_those_of_its_form(order):
    assert isinstance(order.facts, Facts)
    assert order.facts.query() == "n=50&high=1&points=4"


def test_two_results_of_one_name_are_two_files(order):
    class Meets(Job):
        """Somebody else takes the name in the last moment before the writing."""

        def _claimed_place(self):
            order.output.write_text("mine")
            return super()._claimed_place()

    job = Meets(order, Folder(order.output.parent))
    job.run()
    assert job.state == "done"
    assert order.output.read_text() == "mine"
    beside = order.output.with_stem("mean-2")
    assert dp.load(beside).entry == 1
    assert "came meanwhile" in " ".join(job.cautions)


def test_many_who_want_one_name_have_one_file_each(order, tmp_path):
    place = tmp_path / "one.json"
    answers: list[bool] = []
    threads = [threading.Thread(target=lambda: answers.append(_claim(place))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False] * 15 + [True]


def test_the_room_that_is_reserved_holds_the_result(order):
    plan = make_plan({"what": "covariance", "points": "120", "n": "500"})[3]
    release = plan.release(np.random.default_rng(1).uniform(0, 2, (500, 120)))
    assert len(release.to_json()) < replace(order, plan=plan).room
    assert replace(order, plan=make_plan({"what": "covariance", "points": "400"})[3]).room > 10 * len(release.to_json())
