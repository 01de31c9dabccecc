"""`dpfda density`, and densities in the other verbs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from test_cli import run

import dpfda as dp


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ages, sex = dp.datasets.lifetimes(400, np.random.default_rng(0))
    (tmp_path / "ages.csv").write_text("age\n" + "\n".join(map(str, ages)) + "\n")
    rows = [f"{s},{a}" for s, a in zip(sex, ages, strict=True)]
    (tmp_path / "people.csv").write_text("sex,age\n" + "\n".join(rows) + "\n")
    places = np.random.default_rng(1).random((300, 2))
    (tmp_path / "places.csv").write_text("east,north\n" + "\n".join(f"{x:.4f},{y:.4f}" for x, y in places) + "\n")
    counts = np.histogram(ages, [0, 30, 60, 80, 110])[0]
    (tmp_path / "table.csv").write_text("bin,deaths\n" + "\n".join(f"{i},{c}" for i, c in enumerate(counts)) + "\n")
    regions = [f"{r},{i},{c}" for r in ("north", "south") for i, c in enumerate(counts)]
    (tmp_path / "regions.csv").write_text("region,bin,deaths\n" + "\n".join(regions) + "\n")
    return tmp_path


def test_a_whole_study(folder):
    run("ledger create study.ledger --epsilon 3 --study ages")
    run("plan --n 400 --epsilon 1 --domain 0:110 --axis 'age (years)' --out plan.json")
    run("density ages.csv --plan plan.json --ledger study.ledger --study ages --out d.json --csv d.csv --plot d.png")
    run("density ages.csv --plan plan.json --ledger study.ledger --study ages --statement s.txt --quiet")
    release = dp.load("d.json")
    assert type(release) is dp.results.DensityRelease
    assert release.grid.label == "age (years)"
    assert np.loadtxt("d.csv", delimiter=",", skiprows=1)[:, 1] == pytest.approx(release.values)
    assert (folder / "d.png").read_bytes()[:4] == b"\x89PNG"
    assert "study 'ages' as entry 2" in (folder / "s.txt").read_text()
    assert "differentially private" in run("show d.json").output
    assert json.loads(run("show plan.json --json").output)["n"] == 400
    history = json.loads(run("ledger history study.ledger --json").output)
    assert [row["query"] for row in history] == ["density", "density"]


def test_two_dimensions(folder):
    box = "--domain 0:1 --domain 0:1 --cells 12x10"
    run(f"density places.csv --epsilon 1 {box} --plot map.png --surface s.png --csv c.csv")
    for name in ("map.png", "s.png"):
        assert (folder / name).read_bytes()[:4] == b"\x89PNG"
    assert len((folder / "c.csv").read_text().splitlines()) == 121
    run("density ages.csv --epsilon 1 --domain 0:110 --surface s.png", code=1)


def test_a_plan_of_groups_is_released_by_them(folder):
    planned = json.loads(run("plan --groups f=183,m=217 --epsilon 1 --domain 0:110 --out groups.json --json").output)
    line = "density people.csv --by sex --plan groups.json"
    assert json.loads(run(f"{line} --json").output)["plan"] == planned["plan"]
    assert "a DensityPlan is needed" in run("density people.csv --plan groups.json --json", code=1).output
    assert "--counts" in run(f"{line} --counts age --json", code=1).output


def test_groups(folder):
    run("ledger create study.ledger --epsilon 1 --study ages")
    line = "density people.csv --by sex --groups f,m --epsilon 1 --domain 0:110 --ledger study.ledger"
    data = json.loads(run(f"{line} --out g.json --csv g.csv --plot g.png --statement s.txt --json").output)
    assert sorted(data["groups"]) == ["f", "m"]
    assert "parallel composition" in data["composition"]
    assert json.loads(run("ledger show study.ledger --json").output)["remaining"] == 0
    assert "parallel composition" in run("show g.json").output
    assert sorted(json.loads(run("show g.json --json").output)["groups"]) == ["f", "m"]
    run(f"{line} --out again.json", code=3)
    run("density people.csv --by sex --groups f --epsilon 1 --domain 0:110 --out x.json", code=1)
    private = "--neighbors add-remove --n 200"
    run(f"density people.csv --by sex --groups f,m {private} --epsilon 1 --domain 0:110 --out y.json")


def test_tables_of_counts(folder):
    run("density table.csv --counts deaths --edges 0,30,60:80:20,110 --epsilon 1 --domain 0:110 --out t.json")
    assert dp.load("t.json").plan.n == 400
    run("plan --n 400 --epsilon 1 --domain 0:110 --out plan.json")
    run("density table.csv --counts deaths --plan plan.json --out u.json", code=1)  # that plan has cells, no bins
    line = "density regions.csv --counts deaths --by region --edges 0,30,60,80,110 --epsilon 1 --domain 0:110"
    run(f"{line} --out r.json")
    assert sorted(dp.load("r.json")) == ["north", "south"]


def test_methods_kernels_and_raw(folder):
    facts = "--epsilon 1 --domain 0:110 --cells 64"
    for method in ("qr:eta=1.25,noise=kernel", "bernstein:lattice=8,order=3", "knorm:components=5", "frl", "minimax"):
        run(f"density ages.csv {facts} --method {method} --out {method[:2]}.json --quiet")
    run(f"density ages.csv {facts} --kernel exponential --eta 1.2 --method qr --bandwidth 9 --out k.json")
    assert dp.load("k.json").plan.chosen.eta == 1.2
    assert run(f"density ages.csv {facts} --raw --json").output
    data = json.loads(run(f"density ages.csv {facts} --method gaussianprocess:delta=1e-6 --json").output)
    assert data["delta"] == 1e-6
    run("compare --n 400 --domain 0:110 --methods 'knorm qr bernstein:lattice=10' --epsilons '1 2' --plot c.png")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("density ages.csv --epsilon 1 --out x.json", "--domain"),
        ("density ages.csv --epsilon 1 --domain 0-110 --out x.json", "low:high"),
        ("density ages.csv --epsilon 1 --domain 0:50 --out x.json", "outside the domain"),
        ("density ages.csv --epsilon 1 --domain 0:110 --cells many --out x.json", "whole numbers"),
        ("density ages.csv --epsilon 1 --domain 0:110", "place to go"),
        ("density ages.csv --domain 0:110 --out x.json", "epsilon"),
        ("density ages.csv --epsilon 1 --domain 0:110 --method bernstein --out x.json", "needs lattice"),
        ("density ages.csv --epsilon 1 --domain 0:110 --method gaussianprocess:delta=2 --out x.json", "delta"),
        ("density ages.csv --epsilon 1 --domain 0:110 --bandwidth 0 --out x.json", "bandwidth"),
        ("density ages.csv --epsilon 1 --domain 0:110 --by sex --out x.json", "by must name"),
        ("density table.csv --counts deaths --edges 0,x --epsilon 1 --domain 0:110 --out x.json", "edges"),
        ("density people.csv --epsilon 1 --domain 0:110 --out x.json", "does not hold a number"),
        ("density people.csv --by sex --epsilon 1 --domain 0:110 --surface x.png", "two dimensions"),
        ("plan --n 100 --epsilon 1 --domain 0:1 --radius 2", "--radius"),
        ("plan --n 100 --epsilon 1 --radius 2 --grid 0:1:9 --cells 5", "--cells"),
        ("plan --epsilon 1 --domain 0:1", "number of points"),
        ("compare --n 100 --domain 0:1 --radius 2", "--radius"),
    ],
)
def test_wrong_command_lines(line, message, folder):
    output = run(line, code=1).output
    assert message in output.replace("\n", " ")
    assert not (folder / "x.json").exists()


def test_a_plan_of_another_kind(folder):
    run("plan --n 400 --epsilon 1 --radius 1 --grid 0:1:9 --out mean.json")
    assert "a DensityPlan is needed" in run("density ages.csv --plan mean.json --out x.json", code=1).output
