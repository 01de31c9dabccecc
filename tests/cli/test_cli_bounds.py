"""Bounds on the command line: a range, a radius or a root mean square; a guess; and a bound that is too small."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app
from dpfda.results.beyond import TOO_SMALL

PLAN = ["plan", "--n", "500", "--epsilon", "1", "--grid", "0:24:48"]


def run(*words, code=0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output + done.stderr
    return done


@pytest.fixture(scope="module")
def glucose(tmp_path_factory):
    rng = np.random.default_rng(0)
    values = 8 + rng.normal(0, 1.5, (2000, 1)) + rng.normal(0, 0.5, (2000, 12))
    path = tmp_path_factory.mktemp("glucose") / "days.csv"
    names = ",".join(f"h{i}" for i in range(12))
    np.savetxt(path, values, delimiter=",", header=names, comments="", fmt="%.3f")
    return path


@pytest.mark.parametrize(
    ("words", "bound"),
    [
        (["--range", "2:25"], dp.L2Ball(11.5 * 24**0.5, 13.5)),
        (["--range=-5:5"], dp.L2Ball(5 * 24**0.5, 0.0)),
        (["--range", "-5:5"], dp.L2Ball(5 * 24**0.5, 0.0)),
        (["--rms", "1.5"], dp.L2Ball(1.5 * 24**0.5)),
        (["--rms", "1.5", "--center", "2"], dp.L2Ball(1.5 * 24**0.5, 2.0)),
        (["--radius", "3", "--center", "2"], dp.L2Ball(3.0, 2.0)),
    ],
)
def test_each_way_to_say_it(words, bound, tmp_path):
    for kind, more in ((dp.MeanPlan, []), (dp.CovariancePlan, ["--covariance"])):
        run(*PLAN, *words, *more, "--out", tmp_path / "plan.json")
        assert kind.from_json((tmp_path / "plan.json").read_text()).bound == bound


def test_every_command_about_curves_takes_them(glucose, tmp_path):
    out = ["--epsilon", "1", "--range", "2:25", "--json"]
    for command in (["mean", glucose], ["covariance", glucose]):
        told = json.loads(run(*command, *out).stdout)
        assert told["bound_in_units"] == {"root_mean_square": 11.5, "center": 13.5, "low": 2.0, "high": 25.0}
        assert told["bound_too_small"] is False
    regress = ["--covariates", "h0", "--covariate-range", "0:20", "--columns", "h1,h2,h3"]
    assert json.loads(run("regress", glucose, *regress, *out).stdout)["bound_in_units"]["low"] == 2.0
    compared = ["compare", "--n", "500", "--grid", "0:24:48", "--methods", "knorm", "--epsilons", "1", "--json"]
    assert json.loads(run(*compared, "--range", "2:25").stdout)["methods"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], r"Pass --range LOW:HIGH .* --radius R .* 'dpfda radius' suggests one"),
        (["--range", "2:25", "--radius", "3"], r"given once, got --range and --radius\. Drop all but --range"),
        (["--radius", "3", "--rms", "3"], r"given once, got --radius and --rms"),
        (["--range", "25:2"], r"to a larger one, got '25:2'\. Write --range 2:25, or --range=-5:5"),
        (["--range", "2:2"], r"to a larger one, got '2:2'"),
        (["--range", "2"], r"--range is low:high, got '2'"),
        (["--range", "a:b"], r"--range is low:high, got 'a:b'"),
        (["--range", "2:25:3"], r"--range is low:high"),
        (["--range", "2:inf"], r"two finite numbers .*, got '2:inf'\. Write --range"),
        (["--range", "2:25", "--center", "3"], r"got --range with --center\. Drop --center"),
        (["--range", "2:25", "--norm", "l1"], r"got --norm l1"),
        (["--rms", "-1"], r"--rms must be a positive finite number .*, got -1\.0\. Write --rms"),
        (["--range", "2:25", "--standardize"], r"got --standardize with --range or --rms\. Write --radius 1"),
        (["--range", "2:25", "--guess", "x"], r"a guess is a range or a level, got 'x'\. Write --guess 4:12"),
        (["--range", "2:25", "--guess", "9:3"], r"to a larger one, got '9:3'\. Write --guess"),
        (["--range", "2:25", "--guess", "0"], r"got '0'\. Write --guess 4:12"),
        (["--domain", "0:1", "--range", "2:25"], r"--range"),
        (["--domain", "0:1", "--guess", "2:25"], r"--guess"),
    ],
)
def test_messages_name_the_options(words, said):
    done = run(*(PLAN if "--domain" not in words else PLAN[:5]), *words, code=1)
    assert not any(name in done.stderr for name in ("dp.", "bound=", "Traceback"))
    text = " ".join(done.stderr.split())
    assert re.search(said, text), text


def test_a_plan_says_what_the_bound_means_and_whether_it_suits_a_guess():
    words = run(*PLAN, "--range", "2:25", "--guess", "4:12").stdout
    assert "every curve that stays between 2 and 25 does" in words
    assert "guess: Clear: the error is expected to be" in words
    assert "The bound suits the guess" in words
    tight = run(*PLAN, "--radius", "1", "--guess", "8").stdout
    assert "The bound is too tight for the guess" in tight
    loose = json.loads(run(*PLAN, "--range=-500:500", "--guess", "4:12", "--covariance", "--json").stdout)
    assert "likely too loose" in loose["guess"]
    groups = ["plan", "--epsilon", "1", "--grid", "0:24:48", "--groups", "a=500,b=900", "--range", "2:25"]
    assert run(*groups, "--guess", "4:12").stdout.count("suits the guess") == 2


def test_a_bound_that_is_too_small_is_said_last_and_costs_no_output(glucose, tmp_path):
    place = tmp_path / "mean.json"
    done = run("mean", glucose, "--epsilon", "1", "--radius", "1", "--out", place)
    assert done.stderr.splitlines()[-1] == f"Warning: {TOO_SMALL}"
    assert done.output.index("Written:") < done.output.index("Warning:")  # as a terminal shows them
    assert TOO_SMALL in run("show", place).stdout
    told = run("mean", glucose, "--epsilon", "1", "--radius", "1", "--json")
    found = json.loads(told.stdout)
    assert found["bound_too_small"] is True
    assert found["cautions"] == [TOO_SMALL]
    assert f"Warning: {TOO_SMALL}" in told.stderr
    quiet = run("mean", glucose, "--epsilon", "1", "--radius", "1", "--quiet", "--out", place)
    assert (quiet.stdout, quiet.stderr) == ("", f"Warning: {TOO_SMALL}\n")
    assert run("mean", glucose, "--epsilon", "1", "--range", "2:25", "--out", place).stderr == ""
