"""Nothing private leaks sideways: marked data goes through every path, and no mark is found in what comes out.

The chance of a false alarm is below 1e-6 (`leaknet` says why).
"""

from __future__ import annotations

import ast
import logging
import os
import pickle
import stat
import traceback
from decimal import Decimal
from pathlib import Path

import leaknet
import leakpaths
import markers
import pandas as pd
import pytest
from leaknet import ASIDE, PERSON

import dpfda as dp
from dpfda import cli
from dpfda.core.labels import Coder, label_text

#: Tests of what is read from data are elsewhere (test_labels_read).
pytestmark = pytest.mark.filterwarnings("ignore:Which (groups|classes) there are:dpfda.errors.NotPrivateWarning")

MARKS = (*leaknet.MARKS, *leakpaths.statistics())
#: What a path can let out; all of these were looked at.
PLACES = {
    "repr", "str", "html", "statement", "pickle", "traceback", "logged error", "error", "stdout", "stderr", "log",
    "environment", "file name", "file .json", "file .csv", "file .txt", "file .png", "file .svg", "file .pdf",
    "file aside", "file .plan", "file .ledger", "metadata .png", "metadata .svg", "metadata .pdf", "metadata html",
}  # fmt: skip


@pytest.mark.long
def test_no_mark_is_found_in_what_any_path_lets_out(tmp_path):
    net = markers.driven(tmp_path)
    assert net.astray == []  # what should work did, what should stop stopped
    assert len(net.paths) > 120
    assert {place for _, place, _, _ in net.caught} >= PLACES
    assert leaknet.found(net, MARKS) == []


def test_leaks_on_purpose_are_found(tmp_path):
    found = markers.caught(tmp_path, MARKS)
    assert len(found) == 18
    assert all(found.values()), found


def test_marks_are_spelt_in_many_ways():
    value = next(mark for mark in MARKS if mark.name == "value")
    net = leaknet.Net(Path("."))
    for spelling in ("7.3141592", "7,3141592", "731.4159", "7.314159e+00", "x=7.31415926535"):
        net.keep("text", f"about {spelling} or so")
    assert len(leaknet.found(net, (value,))) == 5
    other = leaknet.Net(Path("."))
    other.keep("text", "7.31415, 314159, ab7314159cd00, 0x7f7314159fff, 1763304000.7314159, 7,314,159 rows/s")
    other.keep("noisy", "0.7314159, 7.3141592653", noisy=True)
    assert leaknet.found(other, (value,)) == []


# -- what was mended ----------------------------------------------------------------------------------


def printed(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + repr(vars(error))


def test_a_first_record_taken_for_names_is_not_shown(tmp_path):
    (tmp_path / "c.csv").write_text(f"{PERSON},1.0,2.0\nsomebody,3.0,4.0\n")
    with pytest.raises(dp.errors.RecordError, match=r"row 1, column 1 of the data \(counted from 1\)") as caught:
        dp.mean(dp.read(tmp_path / "c.csv", header=True), epsilon=1, bound=dp.L2Ball(1.0))
    assert PERSON not in printed(caught.value)


def test_errors_hold_on_to_no_data():
    with pytest.raises(dp.errors.ParameterError) as caught:
        dp.mean(leakpaths.curves(), epsilon=1, bound=leakpaths.curves())
    assert caught.value.given == "ndarray"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("kind", [ValueError, AssertionError, AttributeError, KeyError])
def test_an_unforeseen_error_is_not_quoted_by_the_command(kind, capsys):
    """Not even with --verbose, which shows the lines of code that led to it."""

    def broken() -> None:
        raise kind(f"at {ASIDE}")

    log, before = logging.getLogger("dpfda"), logging.getLogger("dpfda").level
    try:
        for level in (logging.WARNING, logging.INFO):
            log.setLevel(level)
            with pytest.raises(cli.console.typer.Exit):
                cli.console.guarded(broken)()
            said = capsys.readouterr().err
            assert f"unforeseen {kind.__name__}" in said
            assert ("in broken" in said) == (level == logging.INFO)
            assert ASIDE not in said
    finally:
        log.setLevel(before)


def test_how_many_rows_a_unit_or_a_curve_has_is_not_told():
    """Under replacement n is the number of units; their rows are private."""
    told: list[int] = []
    facts, watched = leakpaths.FACTS, {"progress": lambda done, total: told.append(done)}
    dp.mean(dp.read(leakpaths.people(), columns="v*", **watched), unit="household", **facts)
    dp.mean(dp.read(leakpaths.long_table(), layout="long", align="linear", **watched), **facts)
    assert told == []
    dp.mean(dp.read(leakpaths.curves(), **watched), **facts)
    assert told == [leakpaths.ROWS]


def test_what_remembers_labels_does_not_show_them():
    coder = Coder()
    coder.column([PERSON])
    assert PERSON not in repr(coder)


def test_a_label_of_a_million_digits_is_spelt_at_once():
    assert label_text(Decimal("7.5e999999")) == "7.5E+999999"
    assert label_text(Decimal("3.0")) == "3"


def test_summaries_say_that_they_are_confidential_and_are_for_their_owner_only(tmp_path):
    frame = pd.DataFrame(leakpaths.curves(), columns=leakpaths.NAMES)
    frame.to_csv(tmp_path / "c.csv", index=False)
    plan = dp.MeanPlan(n=leakpaths.ROWS, **leakpaths.FACTS)
    before = os.umask(0)
    try:
        plan.summarize(tmp_path / "c.csv", checkpoint=tmp_path / "c.summary")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "c.summary").stat().st_mode) == 0o600
    assert "never publish it" in (tmp_path / "c.summary").read_text()[:300]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c.csv", "c.summary"]


def test_no_room_asks_for_dumps_of_its_memory():
    """Core files, fault handlers and tracebacks with local variables would hold records."""
    root = Path(dp.__file__).parent
    wanted = {
        (alias.name.split(".")[0], path.name)
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in ([*node.names] if isinstance(node, ast.Import) else [ast.alias(node.module or "")])
    }
    names = {"faulthandler", "resource", "cgitb", "ctypes", "pdb"}
    # The system is asked when a file was made; that call sees a path and no record.
    assert {pair for pair in wanted if pair[0] in names} == {("ctypes", "births.py")}
    assert cli.app.pretty_exceptions_enable is False
