"""The doors of the command: what stops a run, what is said, and what must not be."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app

WIDTH = 6
NAMES = ",".join(f"h{i}" for i in range(WIDTH))
MEAN = ["--epsilon", "1", "--radius", "2", "--method", "knorm:components=2", "--grid", f"0:1:{WIDTH}"]


def run(*words: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.output
    return done.output


@pytest.fixture
def curves(tmp_path, rng):
    """Thirty curves of fifteen people in two wards."""
    rows = [
        f"p{i % 15:02d},{'north' if i % 15 < 7 else 'south'}," + ",".join(f"{x:.3f}" for x in row)
        for i, row in enumerate(rng.uniform(0, 1, (30, WIDTH)))
    ]
    path = tmp_path / "curves.csv"
    path.write_text(f"who,ward,{NAMES}\n" + "\n".join(rows) + "\n")
    return path


def test_a_missing_input_is_named_by_its_row(tmp_path):
    lines = ["age,sex,dose", *(f"{20 + i},{'f' if i % 2 else 'm'},{i / 10}" for i in range(30)), ",f,1", "40,,2"]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(lines[:-1]) + "\n")
    fit = ["fit", path, "--domain", "0:110", "--epsilon", "1", "--out", tmp_path / "m.json", "--inputs", "age"]
    for more in (["--target", "sex", "--classes", "f,m"], ["--target", "dose", "--loss", "squared", "--bound", "0:4"]):
        said = run(*fit, *more, code=1)
        assert "missing or infinite number in row 31 of the data (counted from 1)" in said
        assert "unforeseen" not in said
        run(*fit, *more, "--invalid", "center", "--header")
    path.write_text("\n".join([*lines[:-2], lines[-1]]) + "\n")
    assert "A label is missing in row 31" in run(*fit, "--target", "sex", code=1)


def test_classes_and_groups_that_are_read_are_said(tmp_path, curves):
    path = tmp_path / "people.csv"
    path.write_text("age,sex\n" + "".join(f"{20 + i},{'f' if i % 2 else 'm'}\n" for i in range(60)))
    fit = ["fit", path, "--domain", "0:110", "--epsilon", "1", "--target", "sex", "--inputs", "age"]
    said = run(*fit, "--out", tmp_path / "m.json")
    assert "Warning: Which classes there are is read from the data" in said
    assert "--classes ..." in said
    assert "They were read from the data" in run("show", tmp_path / "m.json")
    assert "Warning" not in run(*fit, "--classes", "f,m", "--out", tmp_path / "n.json")
    mean = [
        "mean",
        curves,
        *MEAN,
        "--columns",
        NAMES,
        "--unit",
        "who",
        "--by",
        "ward",
        "--header",
        "--invalid",
        "center",
    ]
    said = run(*mean, "--out", tmp_path / "g.json")
    assert "Warning: Which groups there are is read from the data" in said
    assert "--groups ..." in said
    assert "They were read from the data" in run("show", tmp_path / "g.json")
    assert "Warning" not in run(*mean, "--groups", "north,south", "--out", tmp_path / "h.json")


def test_no_word_about_what_was_centred_left_out_or_dropped(curves, tmp_path):
    broken = curves.read_text().splitlines()
    broken[3] = broken[3].replace(".", ",", 1)  # a cell too many
    broken[4] = ",".join(["NA", *broken[4].split(",")[1:]])
    broken[5] = broken[5].split(",")[0]
    curves.write_text("\n".join(broken) + "\n")
    facts = [*MEAN, "--columns", NAMES, "--header", "--invalid", "center"]
    for more in (
        ["--ignore", "who,ward", "--n", "20"],
        ["--ignore", "who,ward", "--n", "40"],
        ["--unit", "who", "--n", "12"],
    ):
        said = run("mean", curves, *facts, *more, "--json", "--out", tmp_path / f"{'-'.join(more)}.json")
        data = json.loads(said)
        assert data["n"] == int(more[-1])
    strict = ["mean", curves, *MEAN, "--columns", NAMES, "--header", "--n", "20", "--out", tmp_path / "x.json"]
    assert "row 3 " in run(*strict, code=1)


def test_another_n_is_refused_where_records_may_stop_a_run(curves, tmp_path):
    said = run("mean", curves, *MEAN, "--columns", NAMES, "--n", "29", "--out", tmp_path / "x.json", code=1)
    assert "The plan is for n = 29 curves and the data has 30" in said
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize("rows", [0, 1, 2, 7])
def test_no_private_number_of_rows_stops_a_command(rows, tmp_path, rng):
    private = ["--neighbors", "add-remove", "--n", "10", "--epsilon", "1", "--header", "--invalid", "center"]
    path = tmp_path / "x.csv"
    path.write_text("a,b,c\n" + "".join(f"{x:.2f},{1 - x:.2f},{'yn'[i % 2]}\n" for i, x in enumerate(rng.random(rows))))
    out = ["--out", tmp_path / "o.json"]
    run("mean", path, *private, "--radius", "1", "--grid", "0:1:2", "--columns", "a,b", *out)
    run("density", path, *private, "--domain", "0:1", "--columns", "a", "--outside", "clip", *out)
    fit = ["fit", path, *private, "--domain", "0:1", "--inputs", "a", *out]
    run(*fit, "--target", "c", "--classes", "n,y")
    run(*fit, "--target", "b", "--loss", "squared", "--bound", "0:1")
    regress = ["--covariates", "a", "--covariate-range", "0:1", "--columns", "b,b2", "--radius", "1", *out]
    path.write_text(path.read_text().replace("a,b,c", "a,b,b2").replace(",y", ",1").replace(",n", ",0"))
    run("regress", path, *private, *regress)


def test_parts_of_people_with_declared_labels(curves, tmp_path):
    facts = ["--n", "15", "--epsilon", "1", "--radius", "2", "--grid", f"0:1:{WIDTH}", "--method", "knorm:components=2"]
    run("plan", *facts, "--unit", "who", "--invalid", "center", "--out", tmp_path / "plan.json")
    head, *rows = curves.read_text().splitlines()
    for name, some in (("a", [r for r in rows if r < "p08"]), ("b", [r for r in rows if r >= "p08"])):
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *some]) + "\n")
    part = ["--plan", tmp_path / "plan.json", "--columns", NAMES, "--header"]
    for name, ends in (("a", "p00:p07z"), ("b", "p08:p99")):
        run("summarize", tmp_path / f"{name}.csv", *part, "--between", ends, "-o", tmp_path / f"{name}.summary")
    both = [tmp_path / "a.summary", tmp_path / "b.summary"]
    run("release", tmp_path / "plan.json", *both, "--out", tmp_path / "r.json")
    assert dp.load(tmp_path / "r.json").plan.n == 15
    said = run("release", tmp_path / "plan.json", both[0], both[0], "--out", tmp_path / "x.json", code=1)
    assert "counted already" in said
    run("summarize", tmp_path / "b.csv", *part, "-o", tmp_path / "c.summary")
    said = run("release", tmp_path / "plan.json", both[0], tmp_path / "c.summary", "--out", tmp_path / "x.json", code=1)
    assert "may hold the same unit" in said
    assert "--between" in said
    assert "first:last" in run("summarize", tmp_path / "b.csv", *part, "--between", "x", "-o", tmp_path / "d", code=1)
