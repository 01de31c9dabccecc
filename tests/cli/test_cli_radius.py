"""`dpfda radius`: a radius that is bought within a public bound, saved and shown again."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli.app import app
from dpfda.core import codec

HEADER = ",".join(f"h{i}" for i in range(12))


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    curves = 200 + 9 * np.random.default_rng(0).normal(size=(215, 12))
    np.savetxt("curves.csv", curves, delimiter=",", header=HEADER, comments="")
    np.savetxt("few.csv", curves[:60], delimiter=",", header=HEADER, comments="")
    dp.Ledger.create("study.ledger", epsilon=1, study="s")

    def call(line, code=0):
        result = CliRunner().invoke(app, line.split())
        assert result.exit_code == code, result.output
        return result

    return call


def test_a_radius_is_bought_saved_and_shown_again(run, tmp_path):
    line = "radius curves.csv --epsilon 0.1 --range 0:400 --ledger study.ledger --out r.json --statement r.txt --json"
    told = json.loads(run(line).stdout)
    plan = dp.plans.RadiusPlan(n=215, epsilon="0.1", grid=12, bound=dp.Range(0, 400))
    assert told["plan"] == plan.digest
    assert told["radius"] in plan.radii
    assert (told["holds_at_least"], told["at_most_times"]) == (plan.held, plan.times)
    assert (told["verdict"], told["entry"], told["written"]) == ("coarse", 1, ["r.json", "r.txt"])
    release = dp.load("r.json")
    assert isinstance(release, dp.results.RadiusRelease)
    assert (release.radius, release.plan, release.query, release.entry) == (told["radius"], plan, "radius", 1)
    assert release.statement + "\n" == (tmp_path / "r.txt").read_text()
    assert dp.Ledger("study.ledger").verify([release])[0].number == 1
    shown = run("show r.json").output
    assert f"Radius: {told['radius']:.6g} about 200" in shown
    assert "holds at least 0.29 of the curves" in shown
    again = json.loads(run("show r.json --json").stdout)
    assert again.pop("file") == "radius"
    assert again == {key: value for key, value in told.items() if key != "written"}
    assert "no curve" in run("show r.json --plot r.png", 1).output


@pytest.mark.filterwarnings("ignore::dpfda.errors.LeftOutWarning")
def test_a_radius_at_an_end_of_those_on_offer_says_so(run):
    near_the_edge = run("radius curves.csv --epsilon 1 --range=-190:210")
    assert "Warning: The radius is the bound's own" in near_the_edge.stderr
    assert "The radius is the bound's own" in near_the_edge.stdout  # in the statement too
    missed = run("radius curves.csv --epsilon 1 --range 0:5")
    assert "Warning: The radius is one of the smallest on offer" in missed.stderr
    assert "Warning" not in run("radius curves.csv --epsilon 1 --range 180:220").stderr


@pytest.mark.parametrize(("bound", "largest"), [
    ("--radius 50 --center 200", 50.0), ("--rms 40 --center 200", 40.0), ("--range=-100:500", 300.0),
])  # fmt: skip
def test_bounds_are_those_of_the_other_commands(run, bound, largest):
    told = json.loads(run(f"radius curves.csv --epsilon 1 {bound} --json").stdout)
    assert told["largest"] == largest
    assert np.isclose(told["smallest"], largest / 32)
    assert float(run(f"radius curves.csv --epsilon 1 {bound} --quiet").stdout) <= largest


@pytest.mark.parametrize(("line", "code", "words"), [
    ("radius curves.csv --epsilon 0.1", 1, "Pass --range LOW:HIGH"),
    ("radius few.csv --epsilon 0.1 --range 0:400", 1, "takes --epsilon 0.29 or 210 curves, or a larger --smallest R"),
    ("radius few.csv --epsilon 0.25 --range 0:400", 2, "Pass --anyway"),
    ("radius few.csv --epsilon 1 --range 0:400 --smallest 300", 1, "Pass at most 168"),
    ("radius few.csv --epsilon 1 --range 0:400 --radius 3", 1, "given once"),
    ("radius few.csv --epsilon 1 --range 0:400 --quantile 2", 1, "quantile must lie"),
])  # fmt: skip
def test_what_is_refused_costs_nothing(run, line, code, words, monkeypatch):
    monkeypatch.setattr("dpfda.cli.console.ON_NOISE", "error")
    said = run(f"{line} --ledger study.ledger", code).output
    assert words in said
    assert "dp." not in said
    assert dp.Ledger("study.ledger").spent == 0


def test_a_plan_file_of_a_radius_is_shown(run, tmp_path):
    plan = dp.plans.RadiusPlan(n=60, epsilon="0.1", grid=12, bound=dp.Range(0, 400))
    (tmp_path / "plan.json").write_text(plan.to_json())
    told = json.loads(run("show plan.json --json").stdout)
    assert "holds_at_least" not in told
    assert told["verdict"] == "mostly noise"
    assert "nothing can be promised" in run("show plan.json").output


def test_damaged_radii_are_refused(run, tmp_path):
    run("radius curves.csv --epsilon 1 --range 0:400 --out r.json")
    text = (tmp_path / "r.json").read_text()
    body = json.loads(text)
    (tmp_path / "edited.json").write_text(text.replace(str(body["radius"]), "7.5"))
    with pytest.raises(dp.errors.FileError, match="checksum"):
        dp.load("edited.json")
    content = {key: value for key, value in body.items() if key not in ("dpfda", "version", "sha256")}
    for change in ({"radius": 7.5}, {"radius": "x"}, {"study": "s"}, {"plan": None}, {"created": "\x1b[2J"}):
        (tmp_path / "other.json").write_text(codec.seal("radius", 1, content | change))
        with pytest.raises(dp.errors.FileError, match="whole release"):
            dp.load("other.json")
    old = {key: value for key, value in content.items() if key != "query"}
    (tmp_path / "old.json").write_text(codec.seal("radius", 1, old))
    assert dp.load("old.json").query == "radius"


def test_how_far_off_it_can_be_is_said_before_the_charge(run, tmp_path):
    line = "radius none.csv --epsilon 0.1 --range 0:400 --grid 0:1:12 --dry-run --ledger study.ledger --out r.json"
    plan = dp.plans.RadiusPlan(n=215, epsilon="0.1", grid=12, bound=dp.Range(0, 400))
    assert "holds at least 0.29 of the curves" in run(f"{line} --n 215").stdout
    told = json.loads(run(f"{line} --n 215 --json").stdout)
    assert (told["plan"], told["holds_at_least"]) == (plan.digest, plan.held)
    assert "could be anything" in run(f"{line} --n 60", 1).stderr
    assert "needs the public number of curves" in run(line, 1).stderr
    assert not (tmp_path / "r.json").exists()
    assert dp.Ledger("study.ledger").spent == 0
