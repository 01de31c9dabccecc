"""Whoever watches a release: phases in order, a way back before the charge and none after, and nothing private."""

from __future__ import annotations

import io
import logging

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from rich.progress import Progress, TextColumn

import dpfda as dp
from dpfda.cli.console import Bar
from dpfda.core import watching
from dpfda.engines import Phase, watched

CURVES = np.random.default_rng(5).uniform(0, 1, (300, 12))
FACTS = {"epsilon": 1, "bound": dp.L2Ball(1.0)}
ONE = {"method": dp.methods.KNorm(3)}


class Cancelled(Exception):
    """What a page raises to stop a job."""


@pytest.fixture
def ledger(tmp_path):
    return dp.Ledger.create(tmp_path / "study.ledger", epsilon=5, study="watched")


def names(told: list[Phase]) -> list[str]:
    """Phases without words that reading goes on."""
    found = [f"{phase.name} {phase.number}/{phase.of}" if phase.name == "reading" else phase.name for phase in told]
    return [name for i, name in enumerate(found) if not i or name != found[i - 1]]


def stopping(at: str, number: int | None = None, error: type[BaseException] = Cancelled):
    def watch(phase: Phase) -> None:
        if phase.name == at and (number is None or phase.number == number):
            raise error("a word that nobody may see")

    return watch


def test_a_staged_mean_tells_its_phases_in_order(ledger):
    plan = dp.MeanPlan(n=300, grid=12, **FACTS | {"epsilon": 4})
    assert plan.schedule.passes == 4
    told: list[Phase] = []
    with watched(told.append):
        plan.release(CURVES, ledger)
    assert names(told) == [
        "checking", "reading 1/4", "charging", "charged", "drawing",
        "reading 2/4", "drawing", "reading 3/4", "drawing", "reading 4/4", "drawing", "done",
    ]  # fmt: skip
    assert [phase.entry for phase in told if phase.name == "charged"] == [1]
    assert {phase.rows for phase in told if phase.name == "reading"} == {None, 300}
    before = len(told)
    plan.release(CURVES, None)  # nobody watches any more
    assert len(told) == before


def test_without_a_ledger_nothing_is_charged(ledger):
    told: list[Phase] = []
    with watched(told.append):
        dp.mean(CURVES, **FACTS, **ONE)
    assert names(told) == ["checking", "reading 1/1", "drawing", "done"]


@pytest.mark.parametrize("phase", ["checking", "reading", "charging"])
@pytest.mark.parametrize("error", [Cancelled, KeyboardInterrupt, dp.errors.DpfdaError])
def test_before_the_charge_a_watcher_stops_the_release(ledger, phase, error):
    with watched(stopping(phase, error=error)), pytest.raises(error):
        dp.mean(CURVES, **FACTS, **ONE, ledger=ledger)
    assert ledger.spent == 0
    assert ledger.history() == ()


def test_a_long_first_reading_is_stopped_between_two_blocks(ledger, tmp_path):
    frame = pd.DataFrame(CURVES, columns=[f"h{i}" for i in range(12)])
    for part in range(4):
        frame.to_parquet(tmp_path / f"p{part}.parquet")
    seen: list[Phase] = []

    def watch(phase: Phase) -> None:
        seen.append(phase)
        if phase.rows is not None and phase.rows >= 600:
            raise Cancelled

    with watched(watch), pytest.raises(Cancelled):
        dp.mean(sorted(tmp_path.glob("*.parquet")), **FACTS, **ONE, ledger=ledger)
    assert ledger.spent == 0
    assert seen[-1].rows == 600
    assert seen[-1].rows_total == 1200


@pytest.mark.parametrize(("phase", "number"), [("charged", None), ("drawing", None), ("reading", 2), ("done", None)])
def test_after_the_charge_the_release_is_finished(ledger, caplog, phase, number):
    plan = dp.MeanPlan(n=300, grid=12, **FACTS | {"epsilon": 4})
    with caplog.at_level(logging.WARNING, "dpfda"), watched(stopping(phase, number)):
        release = plan.release(CURVES, ledger)
    assert release.entry == 1
    assert np.isfinite(release.values).all()
    told = [record.getMessage() for record in caplog.records if record.module == "watching"]  # noise may add a caution
    assert told == ["The watcher raised Cancelled after the charge, and is told nothing more."]


def test_an_interruption_after_the_charge_says_that_it_stands(ledger):
    with watched(stopping("drawing", error=KeyboardInterrupt)), pytest.raises(KeyboardInterrupt) as stopped:
        dp.mean(CURVES, **FACTS, **ONE, ledger=ledger)
    assert "Entry 1 in the ledger of study 'watched' stands" in stopped.value.__notes__[0]
    assert ledger.spent == 1


def test_a_watcher_that_failed_hears_of_the_next_release(ledger):
    told: list[str] = []

    def watch(phase: Phase) -> None:
        told.append(phase.name)
        if phase.name == "charged":
            raise Cancelled

    with watched(watch):
        for _ in range(2):
            dp.mean(CURVES, **FACTS, **ONE, ledger=ledger)
    assert told.count("charged") == 2
    assert "done" not in told


@pytest.mark.parametrize("data", ["array", "files", "units"])
def test_where_the_number_is_private_no_rows_are_told(tmp_path, monkeypatch, data):
    """Not even by how often the watcher is called: that is up to the clock."""
    calls = []
    monkeypatch.setattr(watching.time, "monotonic", lambda: 0.0)
    for times in (1, 3):
        told: list[Phase] = []
        curves = np.tile(CURVES, (times * 40, 1))
        facts = FACTS | ONE | {"n": 300, "grid": 12, "neighbors": "replace" if data == "units" else "add-remove"}
        records, units = curves, None
        if data == "files":
            pd.DataFrame(curves, columns=[f"h{i}" for i in range(12)]).to_parquet(tmp_path / "curves.parquet")
            records = tmp_path / "curves.parquet"
        if data == "units":
            units, facts["unit"] = np.arange(len(curves)) % 300, "person"
        with watched(told.append):
            dp.MeanPlan(**facts).release(records, units=units)
        assert all(phase.rows is phase.rows_total is None for phase in told)
        calls.append([phase.name for phase in told])
        if data == "files":
            size = records.stat().st_size
            assert (told[-3].bytes, told[-3].bytes_total) == (size, size)
    assert calls[0] == calls[1]


def test_it_goes_on_by_the_clock_where_rows_are_private(monkeypatch):
    monkeypatch.setattr(watching, "BEAT", 0.0)
    told: list[Phase] = []
    plan = dp.MeanPlan(n=300, grid=12, **FACTS, **ONE, neighbors="add-remove")
    with watched(told.append):
        plan.release(CURVES)
    assert told.count(Phase("reading", 1, 1)) == 2


def test_groups_models_and_counted_records(ledger, tmp_path):
    arms = np.repeat(["a", "b"], 150)
    told: list[Phase] = []
    with watched(told.append):
        dp.mean(CURVES, by=arms, groups=["a", "b"], **FACTS, **ONE, ledger=ledger)
    assert names(told) == ["checking", "reading 1/1", "charging", "charged", "drawing", "done"]
    told.clear()
    with watched(told.append):
        dp.KernelClassifier(epsilon=1, domain=(0, 1), classes=[0, 1, 2]).fit(CURVES[:, :1], np.arange(300) % 3)
    assert names(told) == ["checking", "reading 1/1", "drawing", "done"]
    told.clear()
    frame = pd.DataFrame(CURVES, columns=[f"h{i}" for i in range(12)])
    frame.to_csv(tmp_path / "curves.csv", index=False)
    with watched(told.append):  # how many there are is found while they are read
        dp.mean(tmp_path / "curves.csv", **FACTS, **ONE)
    assert names(told) == ["checking", "reading 1/None", "drawing", "done"]
    assert [phase.rows for phase in told if phase.rows] == [300]


def test_a_cluster_tells_phases_too(ledger):
    array = pytest.importorskip("dask.array")
    told: list[Phase] = []
    with watched(told.append):
        dp.mean(array.from_array(CURVES, chunks=(100, 12)), n=300, grid=12, **FACTS, **ONE, ledger=ledger)
    assert names(told) == ["checking", "reading 1/1", "charging", "charged", "drawing", "done"]


def test_summaries_that_were_made_before_are_told_too(ledger):
    plan = dp.MeanPlan(n=300, grid=12, **FACTS, **ONE)
    told: list[Phase] = []
    with watched(told.append):
        summary = plan.summarize(CURVES)
        plan.release(summary, ledger)
    assert told[0] == Phase("reading", 1, rows=300, rows_total=300)
    assert names(told[1:]) == ["checking", "reading 1/1", "charging", "charged", "drawing", "done"]


def test_the_bar_says_which_reading_it_is():
    screen = io.StringIO()
    with Progress(TextColumn("{task.description}"), console=Console(file=screen), auto_refresh=False) as progress:
        bar = Bar(progress)
        task = progress.tasks[0]
        for phase, words in (
            (Phase("checking"), "Reading"),
            (Phase("reading", 1, 1), "Reading"),
            (Phase("reading", 1, 4), "Reading 1 of 4"),
            (Phase("charged", entry=5), "Charged as entry 5"),
            (Phase("drawing"), "Drawing"),
            (Phase("reading", 2, 4), "Reading 2 of 4"),
        ):
            bar(7, 10)
            bar.phase(phase)
            assert task.description == words
        assert task.completed == 0  # of the second reading
