"""The verbs covariance, regress, fit and predict, end to end and with bad input."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app

runner = CliRunner()


def run(*words: object) -> str:
    done = runner.invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.output


def refused(code: int, *words: object) -> str:
    done = runner.invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done.output


@pytest.fixture
def files(tmp_path):
    covariates, curves, _ = dp.datasets.homes(400, np.random.default_rng(0), size=12)
    head = [f"k{i:02d}" for i in range(12)]
    rows = [",".join(map(str, [*x, *np.round(y, 4)])) for x, y in zip(covariates, curves, strict=True)]
    (tmp_path / "homes.csv").write_text("\n".join([",".join(["people", "heating", *head]), *rows]) + "\n")
    ages, sex = dp.datasets.lifetimes(400, np.random.default_rng(0))
    people = [f"{a},{s},{a / 10:.2f}" for a, s in zip(ages, sex, strict=True)]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,dose", *people]) + "\n")
    dp.Ledger.create(tmp_path / "study.ledger", epsilon=10, study="homes")
    return tmp_path


def test_covariance(files):
    curves = ["--columns", "k*", "--grid", "0:24:12:midpoints", "--axis", "hour (h)"]
    charge = ["--ledger", files / "study.ledger", "--study", "homes"]
    places = ["--out", files / "c.json", "--csv", files / "c.csv", "--plot", files / "c.png"]
    pictures = ["--surface", files / "s.png", "--components", files / "p.png", "--statement", files / "c.txt"]
    bound = ["--epsilon", "1", "--radius", "4", "--center", "0.5"]
    printed = run("covariance", files / "homes.csv", *bound, *curves, *charge, *places, *pictures)
    assert "CovariancePlan" in printed
    assert isinstance(dp.load(files / "c.json"), dp.results.CovarianceRelease)
    assert (files / "p.png").read_bytes()[:4] == b"\x89PNG"
    assert (files / "c.csv").read_text().startswith("hour,hour',value")
    assert dp.Ledger(files / "study.ledger").spent == 1
    beside = ["--ignore", "people,heating"]
    figures = json.loads(run("covariance", files / "homes.csv", *bound, *curves, *beside, "--json"))
    assert len(figures["explained_variance_ratio"]) == len(figures["explained_variance"]) <= 3
    assert "covariance surface" in run("show", files / "c.json")


def test_covariance_by_a_plan(files):
    facts = ["--n", "400", "--epsilon", "1", "--radius", "4", "--grid", "0:24:12:midpoints"]
    assert "covariance surface" in run("plan", "--covariance", *facts, "--out", files / "plan.json")
    run("covariance", files / "homes.csv", "--columns", "k*", "--plan", files / "plan.json", "--out", files / "c.json")
    assert (
        dp.load(files / "c.json").plan.digest == dp.CovariancePlan.from_json((files / "plan.json").read_text()).digest
    )
    assert "settles everything" in refused(
        1, "covariance", files / "homes.csv", "--plan", files / "plan.json", "--radius", "3", "--json"
    )
    assert "a density" in refused(1, "plan", "--covariance", "--domain", "0:1", "--n", "10", "--epsilon", "1")


def test_regress_and_predict(files):
    ranges = ["--covariate-range", "0:6", "--covariate-range", "0:1"]
    words = ["--covariates", "people,heating", *ranges, "--epsilon", "1", "--radius", "6"]
    places = ["--out", files / "r.json", "--csv", files / "r.csv", "--plot", files / "r.png"]
    printed = run("regress", files / "homes.csv", *words, *places, "--ledger", files / "study.ledger")
    assert "2 coefficient functions" in printed
    release = dp.load(files / "r.json")
    assert release.plan.names == ("people", "heating")
    out = files / "predictions.csv"
    run("predict", files / "r.json", files / "homes.csv", "--inputs", "people,heating", "--out", out)
    table = np.loadtxt(out, delimiter=",", skiprows=1)
    assert np.allclose(table[:1], release.predict(np.loadtxt(files / "homes.csv", delimiter=",", skiprows=1)[:1, :2]))
    assert dp.Ledger(files / "study.ledger").spent == 1
    norm = ["--covariate-bound", "5", "--passes", "1", "--split", "0.3", "--json"]
    figures = json.loads(run("regress", files / "homes.csv", *words[:2], *words[6:], *norm))
    assert "passes=1" in figures["method"]


def test_fit_classes_and_predict(files):
    words = ["--target", "sex", "--inputs", "age", "--domain", "0:110", "--epsilon", "1"]
    run("fit", files / "people.csv", *words, "--out", files / "m.json", "--plot", files / "m.png")
    printed = run("predict", files / "m.json", files / "people.csv", "--inputs", "age")
    assert set(printed.split()[1:]) <= {"f", "m"}
    assert dp.load(files / "m.json").plan.names == ("age",)
    found = json.loads(run("predict", files / "m.json", files / "people.csv", "--inputs", "age", "--json"))
    assert len(found["predictions"]) == 400
    three = run("fit", files / "people.csv", *words, "--classes", "f,m,x", "--loss", "hinge", "--json")
    assert json.loads(three)["composition"].startswith("There is one function for each of 3")


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_fit_numbers(files, loss):
    words = ["--target", "dose", "--inputs", "age", "--domain", "0:110", "--epsilon", "2", "--bound", "0:12"]
    run("fit", files / "people.csv", *words, "--loss", loss, "--out", files / "m.json", "--csv", files / "m.csv")
    found = json.loads(run("predict", files / "m.json", files / "people.csv", "--inputs", "age", "--json"))
    assert np.isfinite(found["predictions"]).all()


FIT = "fit people.csv --epsilon 1 --json"
AGE = f"{FIT} --target sex --inputs age"
BAD = {
    FIT: "--target",
    f"{FIT} --target sex": "--domain",
    "fit people.csv --target sex --inputs age --domain 0:110 --json": "--epsilon",
    "fit people.csv --target sex --inputs age --domain 0:110 --epsilon 1": "--out",
    f"{FIT} --target nobody --inputs age --domain 0:1": "column",
    f"{AGE} --domain 0:1 --domain 0:1": "1 inputs",
    f"{AGE} --domain 0:9 --classes f": "names no class|two classes",
    f"{AGE} --domain 0:9 --loss cubic": "loss must be",
    f"{AGE} --domain 0:9 --bound 0:1": "no range",
    f"{AGE} --domain 0:110 --neighbors add-remove --n 400": "--classes",
    f"{AGE} --domain 0:110 --invalid center --header": "--classes",
    f"{FIT} --target dose --inputs age --domain 0:9 --loss squared": "--bound",
    f"{FIT} --target dose --inputs age --domain 0:9 --loss squared --bound 0:1 --classes a,b": "no classes",
    f"{FIT} --target dose --inputs age --domain 0:9 --loss squared --bound 5": "--bound is low:high",
    f"{AGE} --domain 0:9 --neighbors both": "Pass --neighbors replace",
    "fit absent.csv --target sex --domain 0:9 --epsilon 1 --json": "no file",
    "regress homes.csv --epsilon 1 --radius 5 --json": "--covariates",
    "regress homes.csv --covariates people,heating --epsilon 1 --radius 5 --json": "public range",
    "regress homes.csv --covariates people,dogs --covariate-bound 5 --epsilon 1 --radius 5 --json": "dogs",
    "covariance homes.csv --epsilon 1 --columns k* --json": "--radius",
    "predict homes.csv homes.csv": "not",
}


@pytest.mark.parametrize("words", BAD)
def test_bad_commands(files, words, monkeypatch):
    monkeypatch.chdir(files)
    assert re.search(BAD[words], refused(1, *words.split()))


def test_predictions_know_the_names_of_the_inputs(files):
    words = ["--target", "dose", "--inputs", "age", "--domain", "0:110", "--epsilon", "1", "--bound", "0:12"]
    run("fit", files / "people.csv", *words, "--loss", "squared", "--out", files / "m.json")
    by_name = run("predict", files / "m.json", files / "people.csv", "--json")  # the columns that it was fitted on
    assert by_name == run("predict", files / "m.json", files / "people.csv", "--inputs", "age", "--json")
    values = json.loads(by_name)["predictions"]
    assert 0 <= min(values) <= max(values) <= 12
    ranges = ["--covariate-range", "0:6", "--covariate-range", "0:1", "--epsilon", "1", "--radius", "6"]
    run("regress", files / "homes.csv", "--covariates", "people,heating", *ranges, "--out", files / "r.json")
    turned = run("predict", files / "r.json", files / "homes.csv", "--inputs", "heating,people", "--json")
    assert turned == run("predict", files / "r.json", files / "homes.csv", "--inputs", "people,heating", "--json")


def test_predictions_refuse_the_wrong_files(files):
    words = ["--target", "sex", "--inputs", "age,dose", "--domain", "0:110", "--epsilon", "1"]
    run("fit", files / "people.csv", *words, "--out", files / "m.json")
    assert "2 inputs" in refused(1, "predict", files / "m.json", files / "people.csv", "--inputs", "age")
    run("mean", files / "homes.csv", "--columns", "k*", "--epsilon", "1", "--radius", "4", "--out", files / "mean.json")
    assert "need a model" in refused(1, "predict", files / "mean.json", files / "homes.csv", "--inputs", "people")
