"""A nightly job that is killed anywhere: no night is charged twice, and none is lost without a word.

The job runs in a forked child, which is killed with SIGKILL right before or right after a call of the package: spread
over the whole run, and around every call that makes a charge or a file. The next start must find out what happened.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from children import PACKAGE
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app, jobs

STUDY = """
version = 1
study = "homes"
every = "night"
[budget]
epsilon = 2
run = "1/2"
[source]
data = "curves.csv"
grid = "0:24:6"
method = "qr:psi=0.001,eta=2"
n = 20
anyway = true
[bound]
range = [0, 1]
[output]
write = ["csv", "statement"]
[[release]]
name = "first"
kind = "mean"
share = "1/2"
[[release]]
name = "second"
kind = "mean"
share = "1/4"
"""
#: Calls around which the job is always killed, in the first release and in the second one.
VITAL = ("charge", "_draw", "write", "record_output", "add_output")
POINTS = 20


class Calls:
    """Counts calls of the package, and dies at one of them: before it ("call") or after it ("return")."""

    def __init__(self, victim=None):
        self.victim, self.counts, self.order = victim, Counter(), []

    def watch(self):
        sys.setprofile(self._event)

    def _event(self, frame, event, argument):
        if event in ("call", "return") and frame.f_code.co_filename.startswith(PACKAGE):
            place = (frame.f_code.co_filename[len(PACKAGE) + 1 :], frame.f_code.co_name, event)
            self.counts[place] += 1
            now = (place, self.counts[place])
            if self.victim is None:
                self.order.append(now)
            elif self.victim == now:
                os.kill(os.getpid(), signal.SIGKILL)


def start(*words):
    done = CliRunner().invoke(app, ["run", "study.toml", "--json", *words])
    found = json.loads(done.stdout) if done.stdout else {"releases": []}
    return done, {one["name"]: one["state"] for one in found["releases"]}


def prepare(folder: Path):
    folder.mkdir()
    os.chdir(folder)
    rows = np.random.default_rng(0).uniform(0, 1, (20, 6))
    np.savetxt("curves.csv", rows, delimiter=",", header="a,b,c,d,e,f", comments="")
    Path("study.toml").write_text(STUDY)
    dp.Ledger.create("study.ledger", epsilon=2, study="homes")


def killed_at(victim):
    """Whether a child that ran the job was killed there."""
    child = os.fork()
    if not child:
        try:
            calls = Calls(victim)
            calls.watch()
            start()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def points(order):
    """Vital calls of both releases, and an even spread over all others."""
    vital = [now for now in order if now[0][1] in VITAL and now[0][0].startswith(("ledger/", "release/", "core/files"))]
    first = [now for now in vital if now[1] <= 2]
    rest = [now for now in order if now not in set(first)]
    chosen = first[:: max(1, len(first) // 12)][:12]
    wanted = POINTS - len(chosen)
    return chosen + [rest[int((i + 0.5) * len(rest) / wanted)] for i in range(wanted)]


@pytest.fixture
def night(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    moment = jobs.clock()
    monkeypatch.setattr(jobs, "clock", lambda: moment)  # noon may pass while this runs
    prepare(tmp_path / "listed")
    start()  # once, so that everything is loaded
    prepare(tmp_path / "watched")
    calls = Calls()
    calls.watch()
    try:
        start()
    finally:
        sys.setprofile(None)
    return tmp_path, points(calls.order)


@pytest.mark.long
def test_a_killed_night_is_never_charged_twice_and_never_lost_without_a_word(night):
    folder, victims = night
    assert len(set(victims)) == POINTS
    seen: Counter[str] = Counter()
    for number, victim in enumerate(victims):
        prepare(folder / f"{number}")
        assert killed_at(victim), victim
        ledger, names = dp.Ledger("study.ledger"), ("first", "second")
        runs = [entry.run for entry in ledger.history()]
        charged = {name for name in names if any(f"/{name}/" in run for run in runs)}
        there = {name for name in names if list(Path("published").glob(f"*/{name}.json"))}
        assert there <= charged, victim
        done, states = start()
        expected = {name: "done" if name in there else "missing" if name in charged else "made" for name in names}
        assert states == expected, (victim, done.output)
        assert done.exit_code == (4 if charged - there else 0)
        assert all(f"{name}: charged in this run" in done.stderr for name in charged - there)  # not without a word
        assert sorted(entry.run.split("/")[1] for entry in ledger.history()) == ["first", "second"], victim
        if charged - there:
            assert start("--again")[1] == {name: "made" if name in charged - there else "done" for name in names}
        done, states = start()
        assert (done.exit_code, states) == (0, dict.fromkeys(names, "done"))
        assert len(ledger.history()) == 2 + len(charged - there)
        assert sorted({output.charge for output in ledger.outputs()})[-1] == len(ledger.history())
        assert all(len(list(Path("published").glob(f"*/{name}.*"))) == 3 for name in names)
        ledger.verify([dp.load(path) for path in Path("published").glob("*/*.json")])
        seen.update(expected.values())
    assert min(seen["done"], seen["missing"], seen["made"]) >= 2, seen  # each of them did happen
