"""`dpfda show`: every kind of file says what it is in its first line, and `--json` prints nothing but JSON."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app
from dpfda.cli.showing import two_groups
from dpfda.core import codec

SAVED = Path(__file__).parents[1] / "saved"
FACTS = {"epsilon": 1, "bound": dp.L2Ball(1.0), "method": dp.methods.KNorm(2)}
#: What the first line says of each file, and what its JSON says that it is.
FILES = {
    "plan.json": (r"a plan: mean curve of 60 curves, epsilon 1$", "plan"),
    "groups-plan.json": (r"a plan: mean curve for each group \(north, south\), epsilon 1 together$", "plan"),
    "mean.json": (r"a release of a mean curve, epsilon 1, made 20\d\d-.*Z, charged as entry 1 of 'load'$", "release"),
    "groups.json": (
        r"a release of a mean curve for each group \(north, south\), epsilon 1 together, made 20",
        "releases",
    ),
    "radius.json": (r"a release of a radius, [\d.]+, epsilon 4, made 20", "radius"),
    "gap.json": (r"a difference, north minus south, of a mean curve, epsilon 1 for all groups, made 20", "difference"),
    "part.summary": (r"a summary of 1 file for the plan family [0-9a-f]{12}$", "summary"),
    "audit.json": (r"the report of an audit of a plan of epsilon 1, [0-9a-f]{12}: passed \d+ checks$", "audit"),
    "study.ledger": (r"a ledger", "ledger"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("show")
    curves = np.random.default_rng(0).normal(0, 0.2, (60, 6)).round(3)
    (made / "curves.csv").write_text("\n".join(",".join(map(str, row)) for row in curves))
    plan = dp.MeanPlan(n=60, grid=6, **FACTS)
    (made / "plan.json").write_text(plan.to_json())
    groups = dp.plans.GroupPlan(("north", "south"), (dp.MeanPlan(n=30, grid=6, **FACTS),) * 2)
    (made / "groups-plan.json").write_text(groups.to_json())
    dp.Ledger.create(made / "study.ledger", study="load", epsilon=9)
    plan.release(curves, made / "study.ledger").save(made / "mean.json")
    both = groups.release(curves, made / "study.ledger", by=["north", "south"] * 30)
    both.save(made / "groups.json")
    both.difference("north", "south").save(made / "gap.json")
    dp.suggest_radius(curves, epsilon=4, bound=dp.L2Ball(2.0)).save(made / "radius.json")
    plan.summarize(dp.read(made / "curves.csv", header=False), checkpoint=made / "part.summary")
    dp.audit(plan, draws=1000, releases=8, effort=100).save(made / "audit.json")
    return made


@pytest.fixture
def run(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(folder)

    def invoke(line: str, code: int = 0) -> str:
        done = CliRunner().invoke(app, shlex.split(line.replace("OUT", str(tmp_path))))
        assert done.exit_code == code, done.output
        return done.stdout if code == 0 else done.output

    return invoke


@pytest.mark.parametrize("name", FILES)
def test_the_first_line_says_what_a_file_is(name, run):
    pattern, kind = FILES[name]
    first, *rest = run(f"show {name}").splitlines()
    assert re.match(f"{re.escape(name)}: {pattern}", first)
    assert any(rest)
    said = run(f"show {name} --json")
    data = json.loads(said)
    assert said.startswith("{")
    assert data["file"] == kind


@pytest.mark.parametrize("path", [*sorted(SAVED.glob("*.*.json")), SAVED / "ledger.db"], ids=lambda path: path.name)
def test_files_of_earlier_versions_are_shown(path, run):
    first = run(f"show {path}").splitlines()[0]
    kind = path.name.split(".")[1]
    assert first.startswith(f"{path.name}: a {'ledger' if kind == 'db' else kind}")


def test_a_release_shows_its_statement_or_its_methods(run, folder):
    release = dp.load(folder / "mean.json")
    assert run("show mean.json").endswith(f"\n\n{release.statement}\n")
    assert run("show mean.json --methods-text").endswith(f"\n\n{release.methods_text()}\n")
    assert json.loads(run("show mean.json --methods-text --json"))["methods_text"] == release.methods_text()
    assert "Radius: " in run("show radius.json")
    assert "permute and flip (McKenna and Sheldon, 2020)" in run("show radius.json --methods-text")


def test_a_release_command_writes_the_methods_beside_the_statement(run, tmp_path):
    run("mean curves.csv --no-header --epsilon 1 --radius 1 --method knorm:components=2 --anyway "
        "--out OUT/m.json --statement OUT/s.txt --methods-text OUT/t.txt")  # fmt: skip
    release = dp.load(tmp_path / "m.json")
    assert (tmp_path / "t.txt").read_text() == release.methods_text() + "\n"
    assert (tmp_path / "s.txt").read_text() == release.statement + "\n"


def test_a_difference_is_made_kept_drawn_and_shown_again(run, folder, tmp_path):
    groups = dp.load(folder / "groups.json")
    line = "show groups.json --difference south,north"
    said = run(f"{line} --out OUT/d.json --csv OUT/d.csv --plot OUT/d.png")
    assert said.splitlines()[0].endswith("; shown is south minus north")
    gap = groups.difference("south", "north")
    assert gap.statement in said
    assert said.splitlines()[-1].startswith("Written: ")
    assert dp.load(tmp_path / "d.json").to_json() == gap.to_json()
    assert (tmp_path / "d.csv").read_text() == gap.to_csv()
    assert (tmp_path / "d.png").read_bytes()[:4] == b"\x89PNG"
    again = json.loads(run("show OUT/d.json --json --csv OUT/e.csv"))
    assert (again["first"], again["second"], again["entry"], again["study"]) == ("south", "north", 2, "load")
    assert again["values"] == gap.values.tolist()
    assert again["p_value"] == gap.test().p_value
    assert again["covers"] == "difference of the populations"
    assert (tmp_path / "e.csv").read_text() == gap.to_csv()
    assert "Intact" in run("ledger verify study.ledger OUT/d.json mean.json")


def test_names_of_groups_may_hold_commas():
    names = ["Bath, North", "South", "a", "b", "a,b", "b,a"]
    assert two_groups("Bath, North,South", names) == ("Bath, North", "South")
    assert two_groups("South , Bath, North", names) == ("South", "Bath, North")
    for unclear in ("a,b,a", "South", "", ",", "South,west"):
        with pytest.raises(dp.errors.ParameterError, match="names two groups, with a comma between them"):
            two_groups(unclear, names)


@pytest.mark.parametrize(("name", "what"), [("mean.json", "a release of a mean curve"), ("gap.json", "a difference")])
def test_an_audit_of_a_release_is_one_of_its_plan_and_says_so(name, what, run, folder, tmp_path):
    small = "--draws 1000 --releases 8 --effort 100"
    said = run(f"audit {name} {small} --out OUT/a.json")
    assert f"It is the plan of {what}" in said
    plan = dp.load(folder / name).plan
    assert f"plan {plan.digest[:12]}" in said
    body = json.loads((tmp_path / "a.json").read_text())
    assert body["plan"] == plan.digest
    assert body["of"].startswith(f"It is the plan of {what}")
    assert body["of"] in run("show OUT/a.json")
    assert "It is the plan of" not in run("show audit.json")


def test_an_audit_in_python_takes_releases_and_nothing_else(folder):
    release = dp.load(folder / "groups.json")
    report = dp.audit(release, draws=1000, releases=8, effort=100)
    assert report.plan == release.plan
    assert "It is the plan of a release of a mean curve for each group" in str(report)
    with pytest.raises(dp.errors.ParameterError, match="an audit is of a plan, or of the plan of a release"):
        dp.audit("mean.json")


def test_damaged_audits_are_refused(run, folder, tmp_path):
    text = (folder / "audit.json").read_text()
    (tmp_path / "a.json").write_text(text.replace('"passed": true', '"passed": false', 1))
    assert "does not match its checksum" in run("show OUT/a.json", 1)
    body = {key: value for key, value in json.loads(text).items() if key not in ("dpfda", "version", "sha256")}
    for change in ({"passed": 1}, {"checks": None}, {"checks": [{}]}, {"limits": 3}, {"plan": 7}, {"of": 5}):
        (tmp_path / "a.json").write_text(codec.seal("audit", 1, body | change))
        assert "does not hold a whole audit" in run("show OUT/a.json", 1)
    (tmp_path / "a.json").write_text(codec.seal("audit", 1, body | {"limits": ["\x1b[2J"]}))
    assert "\x1b" not in run("show OUT/a.json")
