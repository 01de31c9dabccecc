"""`dpfda run`: one file, any number of releases, and no night that is charged twice."""

from __future__ import annotations

import fcntl
import json
import logging
import re
import shutil
import sys
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app, jobs, sources

EXAMPLE = Path(__file__).parents[2] / "examples" / "nightly"
STUDY = """
version = 1
study = "homes"
every = "night"

[budget]
epsilon = 2
run = "1/2"
operator = "nightly job"

[source]
data = "curves.csv"
columns = "h*"
grid = "0:24:6"
method = "qr:psi=0.001,eta=2"
n = 40
anyway = true

[bound]
range = [0, 1]
value = "load (kW)"

[[release]]
name = "mean"
share = "1/2"

[[release]]
name = "by-region"
kind = "mean"
share = 0.25
by = "region"
groups = ["north", "south"]
n = 20
"""


@pytest.fixture
def clock(monkeypatch):
    now = [datetime(2026, 11, 18, 2, 15, tzinfo=UTC)]
    monkeypatch.setattr(jobs, "clock", lambda: now[0])

    def put(text):
        now[0] = datetime.fromisoformat(text).replace(tzinfo=UTC)

    return put


@pytest.fixture
def folder(clock, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).uniform(0, 1, (40, 6))
    lines = [",".join(f"{x:.3f}" for x in row) for row in rows]
    regions = ["north", "south"] * 20
    text = "\n".join(f"{region},{line}" for region, line in zip(regions, lines, strict=True))
    Path("curves.csv").write_text("region," + ",".join(f"h{i}" for i in range(6)) + f"\n{text}\n")
    Path("study.toml").write_text(STUDY)
    return tmp_path


def run(*words, code=0):
    done = CliRunner().invoke(app, ["run", "study.toml", *words])
    assert done.exit_code == code, done.output
    return done


def states(done):
    return {one["name"]: one["state"] for one in json.loads(done.stdout)["releases"]}


def charges():
    return [
        (entry.run.partition("#")[0].partition("/")[2], entry.epsilon) for entry in dp.Ledger("study.ledger").history()
    ]


ONE_NIGHT = [("mean/1", Fraction(1, 4)), ("by-region/1", Fraction(1, 8))]


# -- a night, twice -------------------------------------------------------------------------------


def test_a_second_start_charges_and_overwrites_nothing(folder):
    first = json.loads(run("--begin", "--json").stdout)
    assert [one["state"] for one in first["releases"]] == ["made", "made"]
    assert (first["spent"], first["remaining"]) == (0.375, 1.625)
    assert charges() == ONE_NIGHT
    outputs = {path: path.read_bytes() for path in Path("published").rglob("*") if path.is_file()}
    assert sorted(path.name for path in outputs) == ["by-region.json", "mean.json"]
    assert {path.parent.name for path in outputs} == {"2026-11-17"}  # the night began on the evening before
    before = Path("study.ledger").read_bytes()
    assert states(run("--json")) == {"mean": "done", "by-region": "done"}
    assert {path: path.read_bytes() for path in outputs} == outputs
    assert Path("study.ledger").read_bytes() == before
    noted = dp.Ledger("study.ledger").outputs()
    assert [output.file for output in noted] == [
        "published/2026-11-17/mean.json",
        "published/2026-11-17/by-region.json",
    ]
    assert dp.load("published/2026-11-17/mean.json").plan.value == "load (kW)"
    assert {e.operator for e in dp.Ledger("study.ledger").history()} == {"nightly job"}


def test_a_night_lasts_from_noon_to_noon(folder, clock):
    run("--begin", "--only", "mean")
    for moment in ("2026-11-17T12:00", "2026-11-17T23:59", "2026-11-18T00:01", "2026-11-18T11:59"):
        clock(moment)
        assert states(run("--json"))["mean"] == "done"
    clock("2026-11-18T12:00")
    assert states(run("--json"))["mean"] == "made"
    assert sorted(path.name for path in Path("published").iterdir()) == ["2026-11-17", "2026-11-18"]
    Path("study.toml").write_text(STUDY.replace('every = "night"', 'every = "night"\ntimezone = "Asia/Tokyo"'))
    clock("2026-11-19T02:00")  # there it is 11 in the morning: still the night of the 18th
    assert states(run("--json"))["mean"] == "done"


def test_only_what_was_not_charged_is_made(folder):
    run("--begin", "--only", "mean")
    assert states(run("--json")) == {"mean": "done", "by-region": "made"}
    more = STUDY + '\n[[release]]\nname = "other"\nkind = "mean"\nshare = "1/4"\nwrite = ["csv"]\n'
    Path("study.toml").write_text(more)
    assert states(run("--json")) == {"mean": "done", "by-region": "done", "other": "made"}
    assert Path("published/2026-11-17/other.csv").exists()
    assert [name for name, _ in charges()] == ["mean/1", "by-region/1", "other/1"]


def test_comments_and_pictures_make_no_other_run(folder):
    run("--begin")
    Path("study.toml").write_text(
        "# by night\n" + STUDY.replace("[[release]]", '[output]\nwrite = "csv"\n[[release]]', 1)
    )
    assert states(run("--json")) == {"mean": "done", "by-region": "done"}
    assert Path("published/2026-11-17/mean.csv").exists()  # made from the release, at no cost
    assert charges() == ONE_NIGHT


def test_another_version_of_the_file_charges_no_second_time_by_itself(folder):
    run("--begin")
    Path("study.toml").write_text(STUDY.replace('share = "1/2"', 'share = "1/4"'))
    done = run(code=4)
    assert "charged in this run as entry 1, by another version of the study file" in done.stderr
    assert charges() == ONE_NIGHT


# -- charged and missing --------------------------------------------------------------------------


def test_what_was_charged_and_is_missing_is_reported_and_repeated_on_demand(folder):
    run("--begin")
    Path("published/2026-11-17/mean.json").unlink()
    for _ in range(2):
        done = run(code=4)
        assert "mean: charged in this run as entry 1, and 'mean.json' is missing. Nothing was charged" in done.stderr
    assert charges() == ONE_NIGHT
    assert states(run("--again", "--json")) == {"mean": "made", "by-region": "done"}
    assert charges() == [*ONE_NIGHT, ("mean/2", Fraction(1, 4))]
    assert states(run("--again", "--json")) == {"mean": "done", "by-region": "done"}
    assert len(charges()) == 3


def test_an_output_that_was_changed_is_reported(folder):
    run("--begin")
    path = Path("published/2026-11-17/mean.json")
    whole = path.read_text()
    shutil.copy("published/2026-11-17/by-region.json", path)
    assert "'mean.json' holds something else" in run(code=4).stderr
    path.write_text(whole[:-100])
    assert "'mean.json' is damaged" in run(code=4).stderr
    path.write_text(whole + "\n")
    assert "'mean.json' was changed since the ledger noted it" in run(code=4).stderr
    assert "is there already" in run("--again", code=1).stderr
    assert states(run("--again", "--force", "--json"))["mean"] == "made"


def test_what_was_written_and_not_noted_is_noted(folder, monkeypatch):
    def stopped(*facts):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(dp.Ledger, "record_output", stopped)
        run("--begin", code=130)
    assert dp.Ledger("study.ledger").outputs() == ()
    assert states(run("--json")) == {"mean": "done", "by-region": "made"}
    assert charges() == ONE_NIGHT
    assert [output.charge for output in dp.Ledger("study.ledger").outputs()] == [1, 2]


def test_outputs_are_never_overwritten_without_force(folder):
    Path("published/2026-11-17").mkdir(parents=True)
    for name in ("mean.json", "by-region.json"):
        target = Path("published/2026-11-17") / name
        target.write_text("mine")
        done = run("--begin", code=1)
        assert f"{target.as_posix()!r}" in done.stderr
        assert not Path("study.ledger").exists()  # nothing has begun
        assert target.read_text() == "mine"
        target.unlink()
    Path("published/2026-11-17/mean.json").write_text("mine")
    run("--begin", "--force")
    assert dp.load("published/2026-11-17/mean.json").entry == 1


# -- ledgers --------------------------------------------------------------------------------------


def test_a_ledger_is_made_on_demand_only(folder):
    done = run(code=3)
    assert "If this study never ran, pass --begin once" in done.stderr
    assert not Path("study.ledger").exists()
    run("--begin", "--only", "mean")
    assert "the study has begun" in run("--begin", code=3).stderr


@pytest.mark.parametrize("change", ["epsilon = 3", 'epsilon = 2\nperiod = "year"', "epsilon = 2\ndelta = 0.01"])
def test_a_budget_is_not_changed_by_the_file(folder, change):
    run("--begin", "--only", "mean")
    Path("study.toml").write_text(STUDY.replace("epsilon = 2", change))
    assert "says another one. A budget is not changed" in run(code=3).stderr


def test_a_run_beyond_the_budget_charges_nothing(folder, clock):
    run("--begin")
    dp.Ledger("study.ledger").charge("3/2", plan="p", query="q")
    clock("2026-11-19T02:15")
    done = run(code=3)
    assert "All 2 releases of this run together: This release costs epsilon 3/8" in done.stderr
    assert len(charges()) == 3


def test_the_ledger_of_the_environment_is_used_where_the_file_names_none(folder, monkeypatch):
    Path("there").mkdir()
    monkeypatch.setenv("DPFDA_LEDGER", "there/homes.ledger")
    run("--begin")
    assert len(dp.Ledger("there/homes.ledger").history()) == 2
    Path("study.toml").write_text(STUDY.replace("epsilon = 2", 'ledger = "own.ledger"\nepsilon = 2'))
    assert "There is no ledger 'own.ledger'" in run(code=3).stderr


def test_a_budget_that_renews_serves_many_nights(folder, clock, monkeypatch):
    monkeypatch.setattr("dpfda.ledger.entries.now", lambda: jobs.clock().strftime("%Y-%m-%dT%H:%M:%SZ"))
    Path("study.toml").write_text(STUDY.replace("epsilon = 2", 'epsilon = "1/2"\nperiod = "day"'))
    clock("2026-11-18T02:00")
    run("--begin")
    for day in range(19, 23):
        clock(f"2026-11-{day}T02:00")
        run()
    assert len(charges()) == 10
    statement = dp.load("published/2026-11-21/mean.json").statement
    assert "Its budget renews every day; this charge is in that of 2026-11-22. Over all periods" in statement


# -- what is said ---------------------------------------------------------------------------------


def test_a_dry_run_shows_plans_and_costs_and_touches_nothing(folder, monkeypatch):
    def read(*facts, **more):
        raise AssertionError("data was read")

    monkeypatch.setattr(sources.api, "read", read)
    said = run("--dry-run").stdout
    assert "MeanPlan" in said
    assert "GroupPlan" in said
    assert "This run will cost epsilon 0.375; left: 2 before, 1.625 after." in said
    assert "3 more runs of epsilon 0.5 fit then." in said
    data = json.loads(run("--dry-run", "--json").stdout)
    assert (data["cost"], data["remaining_after"]) == (0.375, 1.625)
    assert [one["plan"]["epsilon"] for one in data["releases"]] == [0.25, 0.125]
    assert sorted(path.name for path in folder.iterdir()) == ["curves.csv", "study.toml"]
    Path("study.toml").write_text(STUDY.replace("n = 40\n", "").replace("n = 20\n", ""))
    assert run("--dry-run").stdout.count("depends on n, which the data will tell") == 2


def test_a_dry_run_says_what_is_done(folder):
    run("--begin", "--only", "mean")
    said = run("--dry-run").stdout
    assert "(charged in this run as entry 1 and done)" in said
    assert "This run will cost epsilon 0.125; left: 1.75 before" in said


def test_the_log_is_json_to_the_last_line(folder):
    lines = []
    for words, code in ((["--begin"], 0), ([], 0), (["--only", "none"], 1), (["--begin"], 3)):
        done = run(*words, "--log", "json", "--quiet", code=code)
        assert done.stdout == ""
        lines += [json.loads(line) for line in done.stderr.splitlines()]
    assert {line["event"] for line in lines} == {"made", "done", "warning", "error"}
    made = next(line for line in lines if line["event"] == "made")
    assert (made["release"], made["epsilon"], made["entry"], made["level"]) == ("mean", 0.25, 1, "info")
    assert re.fullmatch(r"2026-11-17-[0-9a-f]{12}", made["run"])
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", line["time"]) for line in lines)
    assert "must be one of text, json" in run("--log", "xml", code=1).stderr


def test_one_release_that_fails_stops_no_other(folder):
    Path("study.toml").write_text(STUDY.replace('by = "region"', 'by = "county"'))
    done = run("--begin", "--json", code=1)
    assert states(done) == {"mean": "made", "by-region": "failed"}
    Path("study.toml").write_text(STUDY)
    assert states(run("--json")) == {"mean": "done", "by-region": "made"}


def test_two_starts_at_once(folder):
    with Path(".study.ledger.run").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "Another start of 'study.toml' is under way" in run("--begin", code=1).stderr
    assert not Path("study.ledger").exists()


def test_groups_say_how_many_records_each_has(folder):
    Path("study.toml").write_text(STUDY.replace("n = 20\n", ""))
    assert "a release of groups says how many each has, got none in 'by-region'" in run("--begin", code=1).stderr
    sized = STUDY.replace('groups = ["north", "south"]\nn = 20\n', "groups = {north = 20, south = 20}\n")
    Path("study.toml").write_text(sized)
    run("--begin")
    both = dp.load("published/2026-11-17/by-region.json")
    assert {name: part.plan.n for name, part in both.items()} == {"north": 20, "south": 20}
    words = ["mean", "curves.csv", "--columns", "h*", "--epsilon", "1", "--range", "0:1", "--by", "region", "--anyway"]
    done = CliRunner().invoke(app, [*words, "--groups", "north=20,south=20", "--json"])
    assert [part["n"] for part in json.loads(done.stdout)["groups"].values()] == [20, 20]
    done = CliRunner().invoke(app, [*words, "--groups", "north=20,south=20", "--n", "20", "--json"])
    assert (done.exit_code, "groups have their own n, or share one" in done.stderr) == (1, True)


def test_what_will_be_refused_is_said_by_the_dry_run(folder, monkeypatch):
    monkeypatch.setattr("dpfda.cli.console.ON_NOISE", "error")
    Path("study.toml").write_text(STUDY.replace("anyway = true\n", ""))
    assert "mean will be refused: mostly noise. Write anyway = true" in run("--dry-run", code=2).stdout
    refused = run("--begin", "--only", "mean", code=2).stderr
    assert "Refused: mean: " in refused
    assert "Pass anyway = true to release it all the same." in refused
    Path("study.toml").write_text(STUDY)
    dp.Ledger("study.ledger").charge("7/4", plan="p", query="q")
    assert "not enough: 0.125 too little" in run("--dry-run", code=3).stdout
    center = STUDY.replace("[bound]", '[units]\ninvalid = "center"\n[bound]', 1)
    Path("study.toml").write_text(center)
    said = run("--dry-run", code=1).stderr
    assert "release 'mean': with" in said
    assert "Pass header = true or header = false." in said


def test_a_study_names_its_records(folder):
    Path("study.toml").write_text(STUDY.replace("[bound]\n", '[bound]\nrecord = "home"\n', 1))
    run("--begin")
    released = sorted(Path("published").rglob("*.json"))
    assert len(released) > 1
    assert {dp.load(path).plan.record for path in released} == {"home"}


def test_messages_of_commands_speak_of_the_file(folder):
    Path("study.toml").write_text(STUDY.replace('columns = "h*"', 'columns = "x*"'))
    said = run("--begin", code=1).stderr
    assert "--columns" not in said
    assert "Error: mean: " in said  # and of the release


# -- hostile starts -------------------------------------------------------------------------------


def test_two_versions_of_a_file_at_once_are_one_run(folder, monkeypatch):
    """An editor replaces the file while a start is under way: the ledger itself charges the night once."""
    run("--begin", "--only", "mean")
    (entry,) = dp.Ledger("study.ledger").history()
    label, _, digest = entry.run.partition("#")
    assert re.fullmatch(r"2026-11-17/mean/1#[0-9a-f]{12}", entry.run)
    other = dp.Ledger("study.ledger", run=f"{label}#{digest[::-1]}")
    with pytest.raises(dp.errors.AlreadyCharged):
        other.charge("1/4", plan="p", query="q")
    dp.Ledger("study.ledger", run="2026-11-17/mean/2#x").charge("1/4", plan="p", query="q")


def test_a_run_spends_no_more_than_it_may_whatever_its_releases_are_called(folder):
    run("--begin")
    Path("study.toml").write_text(
        STUDY.replace('name = "mean"', 'name = "mean-2"\nkind = "mean"').replace('"by-region"', '"other"')
    )
    done = run(code=3)
    assert "One run may spend epsilon 1/2, 3/8 was charged in this one, and 3/8 more is to come" in done.stderr
    assert charges() == ONE_NIGHT


def test_a_restored_ledger_knows_what_was_adopted(folder):
    run("--begin", "--only", "by-region")
    dp.Ledger("study.ledger").backup("backup")
    run()
    Path("backup").replace("study.ledger")
    mean = Path("published/2026-11-17/mean.json")
    dp.Ledger("study.ledger").adopt(releases=[dp.load(mean)])
    assert states(run("--json")) == {"mean": "done", "by-region": "done"}
    assert dp.Ledger("study.ledger").spent == Fraction(3, 8)


def test_a_lost_ledger_is_not_begun_again(folder):
    run("--begin")
    Path("study.ledger").unlink()
    for words in (["--begin"], ["--begin", "--force", "--only", "by-region"]):
        Path("published/2026-11-17/by-region.json").unlink(missing_ok=True)  # a release of any name will do
        assert "'published/2026-11-17/mean.json' was charged to a ledger of study" in run(*words, code=3).stderr
    text = STUDY.replace("[bound]", f'[output]\nfolder = "{folder}/published/{{run}}"\n[bound]', 1)
    Path("study.toml").write_text(text)
    assert "was charged to a ledger of study 'homes'" in run("--begin", code=3).stderr
    assert not Path("study.ledger").exists()


def test_no_output_takes_the_place_of_data(folder):
    Path("curves.csv").rename("mean.csv")
    text = STUDY.replace("curves.csv", "mean.csv").replace('every = "night"', "")
    Path("study.toml").write_text(text.replace("[bound]", '[output]\nfolder = "."\nwrite = "csv"\n[bound]', 1))
    before = Path("mean.csv").read_bytes()
    for words in (["--begin"], ["--begin", "--force"]):
        assert "mean.csv" in run(*words, code=1).stderr
    assert Path("mean.csv").read_bytes() == before
    assert not Path("study.ledger").exists()


def test_forced_repeats_leave_nothing_older_beside_them(folder, monkeypatch):
    text = STUDY.replace("[bound]", '[output]\nwrite = ["csv"]\n[bound]', 1)
    Path("study.toml").write_text(text)
    run("--begin")
    Path("published/2026-11-17/mean.json").unlink()

    def stopped(*facts):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("dpfda.cli.job_making._write_beside", stopped)
        run("--again", "--force", code=130)
    run()
    table = np.loadtxt("published/2026-11-17/mean.csv", delimiter=",", skiprows=1)
    assert table[:, 1] == pytest.approx(dp.load("published/2026-11-17/mean.json").values)


def test_a_forced_repeat_that_fails_leaves_the_older_release(folder):
    Path("study.toml").write_text(STUDY.replace("[bound]", '[output]\nwrite = ["csv"]\n[bound]', 1))
    run("--begin")
    kept = {path: path.read_bytes() for path in Path("published/2026-11-17").iterdir()}
    Path("study.toml").write_text(Path("study.toml").read_text().replace("range = [0, 1]", "range = [0, 2]"))
    Path("curves.csv").write_text("region,h0,h1,h2,h3,h4,h5\nnorth,a,b,c,d,e,f\n")
    run("--again", "--force", "--only", "mean", code=1)
    assert {path: path.read_bytes() for path in Path("published/2026-11-17").iterdir()} == kept
    assert charges() == ONE_NIGHT


def test_delta_is_held_against_the_ledger_before_the_first_charge(folder):
    approximate = 'by = "region"\nmethod = "gaussianprocess:delta=1e-6"'
    Path("study.toml").write_text(STUDY.replace('by = "region"', approximate))
    run("--dry-run", code=3)
    assert "costs delta" in run("--begin", code=3).stderr
    assert dp.Ledger("study.ledger").history() == ()


def test_a_radius_has_no_curve_to_write(folder):
    text = STUDY.replace("[bound]", '[output]\nwrite = ["csv", "png", "statement"]\n[bound]', 1)
    radius = '[[release]]\nname = "radius"\nshare = "1/4"\nn = 40\n'
    for change in ('method = "qr:psi=0.001,eta=2"\n', 'value = "load (kW)"\n'):
        text = text.replace(change, "")
    shared = text[: text.index("[[release]]")].replace("run =", "#").replace("epsilon = 2", "epsilon = 800")
    Path("study.toml").write_text(shared + radius)
    run("--begin")
    assert {path.name for path in Path("published/2026-11-17").iterdir()} == {"radius.json", "radius.statement.txt"}
    Path("study.toml").write_text(shared + radius + 'write = ["csv"]\n')
    assert "of a radius write lists some of statement, methods" in run(code=1).stderr


def test_a_dry_run_ends_as_the_run_would(folder):
    run("--begin")
    Path("published/2026-11-17/mean.json").unlink()
    run("--dry-run", code=4)
    Path("study.toml").write_text(STUDY.replace("epsilon = 2", "epsilon = 3"))
    run("--dry-run", code=3)


def test_a_picture_that_cannot_be_drawn_costs_no_other_file(folder, monkeypatch):
    Path("study.toml").write_text(STUDY.replace("[bound]", '[output]\nwrite = ["png", "csv"]\n[bound]', 1))
    monkeypatch.setattr("dpfda.results.pictures.picture", lambda *facts: 1 / 0)
    said = run("--begin", code=1).stderr
    assert said.count("an unforeseen ZeroDivisionError") == 2
    assert {path.name for path in Path("published/2026-11-17").iterdir()} == {
        "mean.json", "mean.csv", "by-region.json", "by-region.csv",
    }  # fmt: skip


def test_what_others_log_is_json_too(folder, monkeypatch):
    honest = jobs.clock

    def clock():
        logging.getLogger("matplotlib").warning("mkdir -p failed")
        return honest()

    monkeypatch.setattr(jobs, "clock", clock)
    lines = [json.loads(line) for line in run("--begin", "--log", "json").stderr.splitlines()]
    assert "matplotlib: mkdir -p failed" in [line["message"] for line in lines]


# -- privacy --------------------------------------------------------------------------------------

#: What a hostile record may hold in one of its cells.
HOSTILE = ["1e308", "-1e308", "nan", "secret-4711", '"', "", "0x1p3", "9" * 400]


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_nothing_that_a_record_holds_shows_beside_the_releases(folder, clock, neighbors):
    """Where no record may stop a run, a start says the same words whatever one record is; only noise differs."""
    whole, said = Path("curves.csv").read_text().splitlines(), []
    units = f'[units]\ninvalid = "center"\nneighbors = "{neighbors}"\n[bound]'
    text = STUDY.replace("[bound]", f'header = true\nseparator = ","\n{units}', 1)
    Path("study.toml").write_text(text.replace("epsilon = 2", "epsilon = 20"))
    for number, cell in enumerate(["0.5", *HOSTILE]):
        clock(f"2026-11-{number + 1:02d}T02:00")
        Path("curves.csv").write_text("\n".join([*whole[:7], f"north,{cell},0.1,0.2,0.3,0.4,0.5", *whole[8:]]) + "\n")
        done = run(*([] if number else ["--begin"]), "--log", "json", "--json")
        lines = [json.loads(line) for line in done.stderr.splitlines()]
        told = [{k: v for k, v in line.items() if k not in ("time", "run", "entry")} for line in lines]
        said.append(re.sub(r"2026-\d\d-\d\d|entry \d+", "", json.dumps([told, states(done)])))
        assert "4711" not in done.output
    assert len(set(said)) == 1, said


def test_a_record_that_stops_a_run_is_named_by_its_row(folder):
    text = Path("curves.csv").read_text().splitlines()
    text[7] = "north,secret-4711,0.1,0.2,0.3,0.4,0.5"
    Path("curves.csv").write_text("\n".join(text) + "\n")
    done = run("--begin", "--log", "json", code=1)
    assert "row 7" in done.stderr
    assert "4711" not in done.output
    assert dp.Ledger("study.ledger").history() == ()
    assert "RecordError" in {json.loads(line).get("error") for line in done.stderr.splitlines()}


def test_a_log_parts_a_budget_that_is_used_up_from_a_ledger_that_is_gone(folder):
    """Both end with code 3; whoever watches the log must not have to read sentences."""

    def errors(*words):
        lines = run(*words, "--log", "json", code=3).stderr.splitlines()
        return {line["error"] for line in map(json.loads, lines) if "error" in line}

    assert errors() == {"LedgerError"}
    run("--begin")
    Path("study.toml").write_text(STUDY.replace('every = "night"', 'every = "day"'))
    for _ in range(6):
        dp.Ledger("study.ledger").charge("1/4", plan="p", query="q")
    assert errors() == {"BudgetExceeded"}


# -- wrong files ----------------------------------------------------------------------------------

WRONG = {
    "no version": ("version = 1", "", "a study file says version = 1, got none"),
    "another version": ("version = 1", "version = 2", "a study file says version = 1, got version 2"),
    "an unknown key": ('study = "homes"', 'study = "homes"\nbuget = 1', "unknown key, got 'buget'.*'budget'"),
    "an unknown key of the budget": ("epsilon = 2", "epsilom = 2", r"\[budget\] unknown key, got 'epsilom'"),
    "an unknown option": ('columns = "h*"', 'colums = "h*"', r"\[source\] unknown key, got 'colums'.*'columns'"),
    "an unknown option of a release": ('by = "region"', 'bye = "region"', "'by-region': unknown key, got 'bye'"),
    "no budget": ("epsilon = 2", "", "budget.epsilon: epsilon must be given"),
    "nothing to spend": ("epsilon = 2", "epsilon = 0", "budget.epsilon: epsilon must be a number"),
    "a run beyond the budget": ('run = "1/2"', "run = 3", r"budget.run is at most budget.epsilon, 2, got 3"),
    "shares above the budget": ('share = "1/2"', "share = 0.9", "the shares of all releases add up to at most 1.*1.15"),
    "no share": ('share = "1/2"', "", "each release has a share of what a run may spend, got none for 'mean'"),
    "a wrong share": ('share = "1/2"', "share = -1", "the share of 'mean' is above 0 and at most 1, got -1"),
    "no source": ('data = "curves.csv"', "", "a study has a source, got none"),
    "a source that is missing": ("curves.csv", "none.csv", "there is no file 'none.csv' for release 'mean'"),
    "one name twice": ('name = "by-region"', 'name = "mean"', "each release has a name of its own, got 'mean' twice"),
    "a name that is a path": ('name = "mean"', 'name = "../mean"', "the name of a release is made of a-z"),
    "an unknown kind": ('kind = "mean"', 'kind = "median"', "the kind of a release is one of mean, covariance"),
    "an epsilon of its own": ('by = "region"', "epsilon = 5", "'epsilon' is settled by the study itself"),
    "a ledger of its own": ('by = "region"', 'ledger = "x"', "'ledger' is settled by the study itself"),
    "an option of the wrong type": ("n = 40", "n = [1.5]", "release 'mean', got Invalid value for 'n'.*integer"),
    "a flag that is none": ("anyway = true", 'anyway = "yes"', "anyway is true or false, got 'yes'"),
    "a wrong range": ("range = [0, 1]", "range = [1, 0]", "release 'mean': a range runs.*Write range = \"2:25\""),
    "a wrong method": ("qr:psi=0.001,eta=2", "qrr", "release 'mean'.*method"),
    "a wrong calendar": ('every = "night"', 'every = "moon"', "every is one of once, night, day"),
    "a wrong zone": ('every = "night"', 'timezone = "Mars"', "timezone is a name of the time zone database"),
    "a wrong period": ("epsilon = 2", 'epsilon = 2\nperiod = "moon"', "budget.period: a budget renews every day"),
    "a wrong write": ("[bound]", '[output]\nwrite = "docx"\n[bound]', "write lists some of csv, png, pdf"),
    "no releases": (STUDY[STUDY.index("[[release]]") :], "", "a study has releases, got none"),
    "a folder for all nights": ("[bound]", '[output]\nfolder = "out"\n[bound]', "runs again names the run"),
    "an option as data": ('"curves.csv"', '["curves.csv", "--statement=x.txt"]', "data is a path, not an option"),
    "a kind that is a list": ('kind = "mean"', 'kind = ["mean"]', "the kind of a release is one of"),
    "a version that is true": ("version = 1", "version = true", "a study file says version = 1, got version True"),
    "a long number": ("n = 40", f"n = {'9' * 5000}", "holds what nobody writes|is not a study file"),
    "a deep table": ("n = 40", f"n = {'[' * 5000}", "is not a study file"),
    "a long folder": ("[bound]", f'[output]\nfolder = "{{run}}{"x" * 5000}"\n[bound]', "is a text of at most"),
    "a long note": ("epsilon = 2", f'epsilon = 2\nnote = "{"x" * 2001}"', "budget.note is a text of at most"),
    "a date as data": ('data = "curves.csv"', "data = 1979-05-27", "data is a path, a pattern or a list"),
    "groups with commas": ('"north"', '"Bath, North"', "groups is a list that commas part"),
    "no TOML": ("version = 1", "version: 1", "is not a study file"),
    "units that a kind does not know": (
        'kind = "mean"',
        'kind = "density"\nshare = "1/4"\n[units]\nunit = "home"\n[[release]]\nname = "z"\nkind = "mean"',
        "a density knows no unit, got one in .units. for 'by-region'",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "pattern"), WRONG.values(), ids=WRONG)
def test_a_wrong_file_is_told_what_is_wrong_before_anything_is_read(folder, monkeypatch, old, new, pattern):
    def read(*facts, **more):
        raise AssertionError("data was read")

    monkeypatch.setattr(sources.api, "read", read)
    assert old in STUDY
    Path("study.toml").write_text(STUDY.replace(old, new, 1))
    for words in (["--begin"], ["--dry-run"]):
        said = " ".join(run(*words, code=1).stderr.split())
        assert re.search(pattern, said), said
        assert "unforeseen" not in said
    assert sorted(path.name for path in folder.iterdir()) == ["curves.csv", "study.toml"]


@pytest.mark.parametrize("data", ["curve?.csv", "curve[s].csv", "c*s.csv"])
def test_data_may_be_any_pattern(folder, data):
    study = folder / "study.toml"
    study.write_text(study.read_text().replace('"curves.csv"', f'"{data}"'))
    assert run("--dry-run").exit_code == 0
    study.write_text(study.read_text().replace(data, "none[s].csv"))
    done = CliRunner().invoke(app, ["run", "study.toml", "--dry-run"])
    assert (done.exit_code, "No file matches" in done.stderr) == (1, True)


def test_other_files_are_no_studies(folder):
    for name, pattern in (("curves.csv", "A study file ends in .toml"), ("none.toml", "cannot be read")):
        done = CliRunner().invoke(app, ["run", name])
        assert (done.exit_code, bool(re.search(pattern, done.stderr))) == (1, True)


# -- the example ----------------------------------------------------------------------------------


def test_the_example_runs_twice_and_is_charged_once(tmp_path, clock, monkeypatch):
    for path in EXAMPLE.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["make_lake.py"])
    exec(compile(Path("make_lake.py").read_text(), "make_lake.py", "exec"), {"__name__": "__main__"})
    assert "364 more runs of epsilon 0.2 fit then." in run("--dry-run").stdout
    run("--begin")
    run()
    ledger = dp.Ledger("homes.ledger")
    assert [float(entry.epsilon) for entry in ledger.history()] == [0.1, 0.1]
    (night,) = Path("published").iterdir()
    assert {path.name for path in night.iterdir()} == {
        f"{name}.{ending}" for name in ("mean", "by-region") for ending in ("json", "csv", "pdf", "statement.txt")
    } | {"by-region.methods.txt"}
    assert (night / "mean.pdf").read_bytes()[:5] == b"%PDF-"
    assert "one home in the data is replaced" in (night / "mean.statement.txt").read_text()


def test_the_page_shows_lines_of_the_example():
    page = (EXAMPLE.parents[1] / "docs" / "how-to" / "nightly-jobs.md").read_text()
    shown = re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1].splitlines()
    assert [line for line in shown if line not in (EXAMPLE / "study.toml").read_text().splitlines()] == []
    for line in (EXAMPLE / "crontab").read_text().splitlines():
        assert not line[:1].isdigit() or line in page


def test_the_container_is_built_from_files_that_are_there():
    project, text = EXAMPLE.parents[1], (EXAMPLE / "Containerfile").read_text()
    copied = [word for line in re.findall(r"^COPY (.*)$", text, re.M) for word in line.split()[:-1]]
    assert {"pyproject.toml", "src", "constraints.txt"} <= set(copied)
    assert [name for name in copied if not (project / name).exists()] == []
    command = json.loads(re.search(r"^CMD (.*)$", text, re.M)[1])
    assert CliRunner().invoke(app, [*command, "--help"]).exit_code == 0
    jobs_of_cron = re.findall(r"dpfda (run .*?) 2>>", (EXAMPLE / "crontab").read_text())
    assert len(jobs_of_cron) == 2
    assert all(CliRunner().invoke(app, [*line.split(), "--help"]).exit_code == 0 for line in jobs_of_cron)
