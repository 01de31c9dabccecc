"""What entries say beside their cost: notes, operators, runs, and the files that were written for them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app
from dpfda.core import codec
from dpfda.ledger import Output

PLAN = dp.MeanPlan(n=20, epsilon="1/4", bound=dp.L2Ball(1.0), grid=6, method=dp.methods.QR(eta=2.0, psi=1e-3))


@pytest.fixture
def book(tmp_path):
    return dp.Ledger.create(tmp_path / "study.ledger", epsilon=2, study="sleep")


def release(book):
    return PLAN.release(np.zeros((20, 6)), book)


def invoke(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.output


# -- notes, operators, runs ----------------------------------------------------------------------


def test_entries_carry_a_note_and_the_operator(book):
    release(book)
    release(dp.Ledger(book.path, note="approved 2026-11", operator="ab"))
    release(book)
    assert [(e.note, e.operator) for e in book.history()] == [("", ""), ("approved 2026-11", "ab"), ("", "")]
    assert book.verify() == ()


@pytest.mark.parametrize("name", ["note", "operator", "run"])
@pytest.mark.parametrize("text", [None, 3, "a\nb", "\x1b[2J", "q" * 2001])
def test_they_are_printable_texts(book, name, text):
    with pytest.raises(dp.errors.ParameterError, match=f"the {name} of a charge is a printable text"):
        dp.Ledger(book.path, **{name: text})


def test_one_run_is_charged_once(book):
    job = dp.Ledger(book.path, run="night 1")
    release(job)
    for again in (lambda: release(job), lambda: job.check("1/4"), lambda: job.charge("1/4", plan="p", query="q")):
        with pytest.raises(dp.errors.AlreadyCharged, match=r"'night 1' was charged .* before. Nothing was charged"):
            again()
    release(dp.Ledger(book.path, run="night 2"))
    assert [e.run for e in book.history()] == ["night 1", "night 2"]


def test_many_processes_charge_one_run_once(book):
    children = []
    for _ in range(8):
        children.append(os.fork())
        if not children[-1]:
            try:
                job = dp.Ledger(book.path, run="night 1")
                job.charge("1/64", plan="p", query="q")
                os._exit(0)
            except dp.errors.AlreadyCharged:
                os._exit(7)
            finally:
                os._exit(1)
    codes = sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
    assert codes == [0] + [7] * 7
    assert book.spent == Fraction(1, 64)


def test_a_changed_note_is_refused_at_once(book):
    dp.Ledger(book.path, note="approved").charge("1/4", plan="p", query="q")
    for change in ("note = 'refused'", "operator = 'xy'", "run = 'r'", "period = '2026'"):
        copy = shutil.copy(book.path, book.path.with_name("copy"))
        with closing(sqlite3.connect(copy, isolation_level=None)) as db:
            ((guard,),) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'detail_fixed'").fetchall()
            db.execute("DROP TRIGGER detail_fixed")
            db.execute(f"UPDATE detail SET {change}")
            db.execute(guard)
        with pytest.raises(dp.errors.LedgerError, match="was altered"):
            dp.Ledger(copy)


def test_details_without_an_entry_are_found(book):
    dp.Ledger(book.path, note="approved").charge("1/4", plan="p", query="q")
    with closing(sqlite3.connect(book.path)) as db:
        db.execute("INSERT INTO detail VALUES (9, 'n', '', '', '', '', '')")
        db.commit()
    with pytest.raises(dp.errors.LedgerError, match="not an intact"):
        book.history()


# -- outputs -------------------------------------------------------------------------------------


def test_a_free_entry_names_the_output_and_its_digest(book, tmp_path):
    made = release(book)
    (tmp_path / "there").mkdir()
    path = made.save(tmp_path / "there" / "mean.json")
    noted = book.record_output(made, path)
    assert isinstance(noted, Output)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert (noted.charge, noted.file, noted.sha256) == (1, "there/mean.json", digest)
    assert book.outputs() == (noted,)
    assert (len(book.history()), book.spent) == (1, Fraction(1, 4))  # it is free
    assert book.record_output(made, path) == noted  # and written down once
    second = book.record_output(made, made.save(tmp_path / "copy.json"))
    assert (second.number, book.outputs()) == (2, (noted, second))
    release(book)
    assert book.verify([made])[0].number == 1


def test_an_adopted_release_has_an_output_too(book, tmp_path):
    backup = book.backup(tmp_path / "backup")
    made = release(book)
    path = made.save(tmp_path / "mean.json")
    os.replace(backup, book.path)
    (written_in,) = book.adopt(releases=[made])
    assert book.record_output(made, path).charge == written_in.number
    assert len(book.verify([made])) == len(book.outputs()) == 1


def test_outputs_of_releases_that_were_charged_elsewhere_are_refused(book, tmp_path):
    path = release(None).save(tmp_path / "mean.json")
    other = dp.Ledger.create(tmp_path / "other.ledger", epsilon=2, study="sleep")
    with pytest.raises(dp.errors.LedgerError, match="was never charged"):
        book.record_output(release(None), path)
    with pytest.raises(dp.errors.LedgerError, match="does not hold the charge"):
        book.record_output(release(other), path)
    with pytest.raises(dp.errors.FileError, match="cannot be read"):
        book.record_output(release(book), tmp_path / "none.json")
    with pytest.raises(dp.errors.LedgerError, match="does not hold the charge"):
        book.record_output(replace(release(book), entry=0), path)
    assert book.outputs() == ()


@pytest.mark.parametrize("change", ["file = 'x'", f"sha256 = '{'0' * 64}'", "charge = 2", "time = 't'", "charge = 9"])
def test_a_changed_output_is_found(book, tmp_path, change):
    for number in range(2):
        made = release(book)
        book.record_output(made, made.save(tmp_path / f"{number}.json"))
    with closing(sqlite3.connect(book.path, isolation_level=None)) as db:
        ((guard,),) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'output_fixed'").fetchall()
        db.execute("DROP TRIGGER output_fixed")
        db.execute(f"UPDATE output SET {change} WHERE number = 1")
        db.execute(guard)
    with pytest.raises(dp.errors.LedgerError, match=r"Output 1 of .* was altered|not an intact"):
        book.verify()
    book.charge("1/4", plan="p", query="q")  # nothing depends on them


def test_a_copy_takes_no_outputs(book, tmp_path):
    made = release(book)
    path = made.save(tmp_path / "mean.json")
    copy = dp.Ledger(shutil.copy(book.path, tmp_path / "copy"))
    with pytest.raises(dp.errors.LedgerError, match="is a copy"):
        copy.record_output(made, path)


# -- verify and adopt ----------------------------------------------------------------------------


def test_examine_answers_for_each_release(book, tmp_path):
    other = dp.Ledger.create(tmp_path / "other.ledger", epsilon=2, study="naps")
    mine, free, foreign = release(book), release(None), release(other)
    found = book.examine([mine, free, foreign])
    assert (found[0].entry, found[0].problem) == (book.history()[0], "")
    assert "was never charged" in found[1].problem
    assert "study 'naps'" in found[2].problem


def test_a_release_that_was_never_charged_is_a_finding(book, tmp_path):
    release(book).save(tmp_path / "mine.json")
    release(None).save(tmp_path / "free.json")
    code, said = invoke("ledger", "verify", book.path, tmp_path / "mine.json", tmp_path / "free.json")
    assert code == 4
    lines = said.splitlines()
    assert lines[:2] == ["Intact: 1 charge, epsilon 0.25 of 2.", "Holds the charges of 1 release."]
    assert lines[2] == "mine.json: entry 1, by its seal; this file was not noted."
    assert lines[3].startswith("Finding: free.json: A mean released ")
    assert "was never charged" in lines[3]
    assert invoke("ledger", "verify", book.path, tmp_path / "mine.json")[0] == 0


def test_files_of_all_kinds_are_answered_for(book, tmp_path):
    for name in ("mine", "other"):
        release(book).save(tmp_path / f"{name}.json")
    (tmp_path / "plan.json").write_text(PLAN.to_json())
    whole = (tmp_path / "other.json").read_text()
    (tmp_path / "torn.json").write_text(whole.replace('"query": "mean"', '"query": "mode"'))
    shutil.copy(tmp_path / "mine.json", tmp_path / "renamed.json")
    names = [tmp_path / f"{name}.json" for name in ("plan", "mine", "renamed", "torn")]
    code, said = invoke("ledger", "verify", book.path, *names)
    lines = said.splitlines()
    assert code == 4
    assert lines[1] == "Holds the charges of 1 release."  # a copy of it is no second one
    assert [line.partition(":")[0] for line in lines[2:4]] == ["mine.json", "renamed.json"]
    assert lines[4] == "plan.json: the plan of entries 1, 2."
    assert lines[5].startswith("Finding: torn.json: 'torn.json' does not match its checksum")
    assert lines[6] == "Charges of which no release was shown: 2."
    data = json.loads(invoke("ledger", "verify", book.path, *names, "--json")[1])
    assert (data["entries"][str(names[1])], data["not_shown"], list(data["findings"])) == (1, [2], [str(names[3])])


def test_a_copy_is_looked_at_and_stays_a_copy(book, tmp_path):
    mine = release(book).save(tmp_path / "mine.json")
    copy = shutil.copy(book.path, tmp_path / "copy.ledger")
    code, said = invoke("ledger", "verify", copy, mine)
    assert code == 3
    assert "To look at a copy without using it, pass --copy." in said
    code, said = invoke("ledger", "verify", copy, mine, "--copy")
    assert (code, said.splitlines()[0]) == (0, "A copy, and intact: 1 charge, epsilon 0.25 of 2.")
    later = release(book).save(tmp_path / "later.json")
    assert invoke("ledger", "verify", copy, later, "--copy")[0] == 4
    with pytest.raises(dp.errors.LedgerError, match="is a copy"):
        dp.Ledger(copy).charge("1/8", plan="p", query="q")


def test_adopting_a_healthy_ledger_changes_nothing(book, tmp_path):
    made = release(book)
    made.save(tmp_path / "mean.json")
    before = book.path.read_bytes()
    for words in ([], ["--spent", "0"], ["--release", tmp_path / "mean.json"]):
        code, said = invoke("ledger", "adopt", book.path, *words)
        assert (code, said.startswith("Nothing to be done: study.ledger is the ledger in use")) == (0, True), said
    assert book.adopt() == book.adopt(releases=[made], spent=0) == ()
    assert book.path.read_bytes() == before
    assert book.in_use
    copy = dp.Ledger(shutil.copy(book.path, tmp_path / "copy"))
    assert not copy.in_use
    assert invoke("ledger", "adopt", copy.path)[0] == 1
    assert [e.epsilon for e in book.adopt(spent="1/8")] == [Fraction(1, 8)]  # an amount is written in all the same


# -- shown and exported --------------------------------------------------------------------------


@pytest.fixture
def noted(book, tmp_path):
    signed = dp.Ledger(book.path, note="=1+1", operator="ab, cd")
    made = release(signed)
    book.record_output(made, made.save(tmp_path / "mean.json"))
    book.charge("1/3", plan="p", query="q")
    return book


def test_show_gives_decimals_percent_and_a_bar(noted):
    code, said = invoke("ledger", "show", noted.path)
    rows = [" ".join(line.split()) for line in said.splitlines()]
    assert code == 0
    assert rows[0] == "study.ledger: a ledger, the privacy budget of a study"
    assert "spent epsilon 0.583333 (7/12) (29.2 %)" in rows
    assert "left epsilon 1.41667 (17/12) (70.8 %)" in rows
    assert "[############----------------------------]" in rows


def test_json_has_numbers_as_numbers(noted):
    figures = json.loads(invoke("ledger", "show", noted.path, "--json")[1])
    assert figures["spent"] == pytest.approx(7 / 12)
    assert figures["remaining"] == pytest.approx(17 / 12)
    assert figures["budget"] == 2.0
    assert figures["exact"] == {"budget": "2", "spent": "7/12", "remaining": "17/12"}
    history = json.loads(invoke("ledger", "history", noted.path, "--json")[1])
    assert [row["epsilon"] for row in history] == [0.25, pytest.approx(1 / 3)]
    assert [row["output"] for row in history] == ["mean.json", None]
    assert history[0]["operator"] == "ab, cd"


def test_history_names_notes_and_outputs(noted):
    said = invoke("ledger", "history", noted.path)[1]
    assert "mean.json" in said
    assert "=1+1" in said
    assert "0.333333 (1/3)" in said


def test_export_lists_charges_and_outputs(noted, tmp_path):
    code, said = invoke("ledger", "export", noted.path)
    rows = list(csv.DictReader(io.StringIO(said)))
    assert code == 0
    assert [row["kind"] for row in rows] == ["charge", "output", "charge"]
    assert [row["epsilon"] for row in rows] == ["0.25", "0.0", "0.3333333333333333"]
    assert [row["epsilon_exact"] for row in rows] == ["1/4", "", "1/3"]
    assert rows[0]["note"] == "'=1+1"  # no spreadsheet runs it
    assert (rows[1]["charge"], rows[1]["output"]) == ("1", "mean.json")
    assert (rows[0]["output"], rows[0]["operator"]) == ("mean.json", "ab, cd")  # whose file it is, in one row
    for name in ("all.csv", "all.json"):
        assert invoke("ledger", "export", noted.path, "--out", tmp_path / name) == (0, f"Written: {tmp_path / name}\n")
    assert (tmp_path / "all.csv").read_text() == said
    data = json.loads((tmp_path / "all.json").read_text())
    assert data == json.loads(invoke("ledger", "export", noted.path, "--json")[1])
    assert [row["kind"] for row in data["history"]] == ["charge", "output", "charge"]
    assert data["history"][2]["spent"] == pytest.approx(7 / 12)
    assert invoke("ledger", "export", noted.path, "--out", tmp_path / "all.txt")[0] == 1
    before = noted.path.read_bytes()
    assert invoke("ledger", "export", noted.path, "--out", noted.path.with_suffix(".csv"))[0] == 0
    assert noted.path.read_bytes() == before


def test_the_environment_names_the_ledger(book, tmp_path, monkeypatch):
    monkeypatch.setenv("DPFDA_LEDGER", str(book.path))
    np.savetxt(tmp_path / "c.csv", np.zeros((20, 6)), delimiter=",", header="a,b,c,d,e,f", comments="")
    words = ["mean", tmp_path / "c.csv", "--epsilon", "1/4", "--radius", "1", "--out", tmp_path / "m.json", "--anyway"]
    assert invoke(*words, "--note", "n", "--operator", "o")[0] == 0
    (entry,) = book.history()
    assert (entry.note, entry.operator, book.outputs()[0].file) == ("n", "o", "m.json")
    assert "0.25 (12.5 %)" in invoke("ledger", "show")[1]
    other = dp.Ledger.create(tmp_path / "other.ledger", epsilon=2, study="sleep")
    assert invoke(*words, "--ledger", other.path)[0] == 0  # the command line comes first
    assert (len(book.history()), len(other.history())) == (1, 1)


def test_a_ledger_that_cannot_note_an_output_costs_no_release(book, tmp_path, monkeypatch):
    def refuse(*facts):
        raise dp.errors.LedgerError("It is locked.")

    monkeypatch.setattr(dp.Ledger, "record_output", refuse)
    np.savetxt(tmp_path / "c.csv", np.zeros((20, 6)), delimiter=",", header="a,b,c,d,e,f", comments="")
    words = ["mean", tmp_path / "c.csv", "--epsilon", "1/4", "--radius", "1", "--out", tmp_path / "m.json", "--anyway"]
    code, said = invoke(*words, "--ledger", book.path)
    assert (code, "is written, but the ledger could not note it: It is locked." in said) == (0, True)
    assert dp.load(tmp_path / "m.json").entry == 1


def test_verify_finds_a_release_that_is_not_what_the_ledger_noted(book, tmp_path):
    made, path = release(book), tmp_path / "mean.json"
    made.save(path)
    book.record_output(made, path)
    assert invoke("ledger", "verify", book.path, path)[0] == 0
    body = json.loads(path.read_text())
    kind, version = body.pop("dpfda"), body.pop("version")
    body.pop("sha256")
    body["values"] = [each + 1 for each in body["values"]]
    path.write_text(codec.seal(kind, version, body))
    code, said = invoke("ledger", "verify", book.path, path)
    assert code == 4
    assert "not the file that was written under entry 1" in " ".join(said.split())
