"""`dpfda report` and `dpfda show --html`: pages beside the files that they are about, never over them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app
from dpfda.core import codec

SAVED = Path(__file__).parents[1] / "saved"


def run(*words: object):
    return CliRunner().invoke(app, [*map(str, words)])


@pytest.fixture
def study(tmp_path):
    """A release and its ledger."""
    ledger = dp.Ledger.create(tmp_path / "study.ledger", epsilon=2, study="homes")
    release = dp.mean(np.zeros((300, 8)), epsilon=1, bound=dp.L2Ball(1.0), ledger=ledger)
    release.save(tmp_path / "mean.json")
    return tmp_path


def test_a_report_is_written_beside_the_file(study):
    done = run("report", study / "mean.json", "--ledger", study / "study.ledger")
    assert done.exit_code == 0, done.output
    assert done.stdout == f"Written: {study / 'mean.report.html'}\n"
    page = (study / "mean.report.html").read_text()
    assert "1 spent in 1 charge, 1 left" in page
    assert "dpfda ledger verify study.ledger mean.json" in page
    assert page == dp.report(study / "mean.json", study / "study.ledger")


def test_a_file_other_than_the_one_that_was_noted_is_a_finding(study):
    """Its page says so first, and the command ends as a check that found something."""
    mean, ledger = study / "mean.json", dp.Ledger(study / "study.ledger")
    ledger.record_output(dp.load(mean), mean)
    body = json.loads(mean.read_text())
    kind, version = body.pop("dpfda"), body.pop("version")
    body.pop("sha256")
    forged = study / "forged.json"
    forged.write_text(codec.seal(kind, version, body | {"values": [x + 0.3 for x in body["values"]]}))
    done = run("report", forged, "--ledger", study / "study.ledger")
    assert done.exit_code == 4
    assert "Finding: This is not the file that was written under entry 1" in " ".join(done.stdout.split())
    page = (study / "forged.report.html").read_text()
    assert "not the file that was written under entry 1" in page
    assert page == dp.report(forged, ledger)
    done = run("report", forged, "--ledger", study / "study.ledger", "--json", "-o", study / "again.html")
    assert done.exit_code == 4
    assert "not the file" in json.loads(done.stdout)["finding"]
    assert "finding" not in json.loads(run("report", mean, "--ledger", study / "study.ledger", "--json").stdout)


def test_a_report_goes_where_it_is_told(study):
    for option in ("-o", "--out"):
        place = study / f"report{option}.html"
        assert run("report", study / "mean.json", option, place).exit_code == 0
        assert "by a factor of at most 2.72" in place.read_text()


@pytest.mark.parametrize("target", ["mean.json", "study.ledger"])
def test_what_it_is_about_is_never_overwritten(study, target):
    before = (study / target).read_bytes()
    for words in (("report", study / "mean.json", "--ledger", study / "study.ledger", "-o", study / target),
                  ("show", study / target, "--html", study / target)):  # fmt: skip
        done = run(*words)
        assert done.exit_code == 1
        assert "Choose another name" in done.output
    assert (study / target).read_bytes() == before


def test_figures_for_programs(study):
    done = run("report", study / "mean.json", "--json")
    found = json.loads(done.stdout)
    assert (found["file"], found["epsilon"]) == ("report", 1.0)
    assert found["written"] == [str(study / "mean.report.html")]
    assert found["bytes"] == (study / "mean.report.html").stat().st_size
    assert found["values"] == dp.load(study / "mean.json").values.tolist()
    plan = json.loads(run("report", SAVED / "groups.plan.json", "--json", "-o", study / "plan.html").stdout)
    assert list(plan["groups"]) == ["north", "south"]


def test_a_wrong_ledger_or_file_writes_nothing(study):
    other = dp.Ledger.create(study / "other.ledger", epsilon=2, study="other")
    done = run("report", study / "mean.json", "--ledger", other.path)
    assert done.exit_code == 3
    assert "homes" in done.output
    wrong = run("report", study / "study.ledger")
    assert wrong.exit_code == 1
    assert not list(study.glob("*.html"))


@pytest.mark.parametrize("name", ["mean-select.release.json", "groups.release.json", "mean-select.plan.json"])
def test_show_writes_the_same_page(name, tmp_path):
    done = run("show", SAVED / name, "--html", tmp_path / "page.html")
    assert done.exit_code == 0, done.output
    thing = dp.reports.saved.read_subject(SAVED / name)
    expected = dp.report(SAVED / name if "plan" in name else thing)
    assert (tmp_path / "page.html").read_text() == expected


def test_show_writes_the_page_of_a_difference_a_ledger_and_an_audit(study):
    words = ("show", SAVED / "groups.release.json", "--difference", "north,south", "--html", study / "gap.html")
    assert run(*words).exit_code == 0
    assert "<h1>Private comparison: north minus south" in (study / "gap.html").read_text()
    assert run("show", study / "study.ledger", "--html", study / "ledger.html").exit_code == 0
    assert "Ledger of study" in (study / "ledger.html").read_text()
    plan = dp.MeanPlan(n=50, epsilon=1.0, bound=dp.L2Ball(1.0), grid=8, method=dp.methods.FRL(1))
    dp.audit(plan, draws=1000, releases=8, effort=100).save(study / "audit.json")
    assert run("show", study / "audit.json", "--html", study / "audit.html").exit_code == 0
    assert "PASSED: nothing spoke against this plan in 19 checks." in (study / "audit.html").read_text()


def test_a_summary_has_no_page(tmp_path):
    done = run("show", SAVED / "mean-select.summary.json", "--html", tmp_path / "page.html")
    assert done.exit_code == 1
    assert "confidential" in done.output
    assert not (tmp_path / "page.html").exists()
