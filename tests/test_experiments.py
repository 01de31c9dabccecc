"""The paper's experiments: small runs of all of them through the real code, and what their verdicts rest on."""

from __future__ import annotations

import ast
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dpfda as dp
import dpfda_experiments as experiments
from dpfda_experiments import (
    curves,
    densities,
    density_claims,
    mechanisms,
    mortality,
    pages,
    paper,
    selection,
    shapes,
    study,
    theorems,
    timing,
)
from dpfda_experiments.authors import Authors
from dpfda_experiments.command import app
from dpfda_experiments.published import BUDGETS, DISTANCES
from dpfda_experiments.reproduce import reproduce
from dpfda_experiments.study import OURS, PAPER, Rows

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "experiments" / "dpfda_experiments").glob("*.py"))
#: Real data sets, which are not shipped.
DATA = ROOT.parent / "shared" / "data"
REGIONS = ("Middle Africa", "Central America", "Western Europe", "Northern America")
TINY = study.Scale("quick", (100, 200), 2, 20, 1, 1, 2, 2)


@pytest.fixture(scope="module")
def invented(tmp_path_factory):
    """A data folder in the form of the real one, with invented numbers."""
    folder, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(0)
    loads = dp.datasets.load_curves(40, rng, 48).curves
    _write(
        folder / curves.FILES[0],
        ["week", "date", *(f"hh{i:02d}" for i in range(1, 49))],
        [[i, f"2001-01-{i:02d}", *row] for i, row in enumerate(loads.tolist())],
    )
    scans = dp.datasets.scenario("S-2", 36, rng, size=93).curves.tolist()
    scans[5][7] = ""
    _write(
        folder / curves.FILES[1],
        ["id", "visit", *(f"cca_{i:02d}" for i in range(1, 94))],
        [[1000 + i // 2, i % 2, *row] for i, row in enumerate(scans)],
    )
    ages = np.histogram(dp.datasets.lifetimes(4000, rng)[0], mortality.EDGES)[0]
    _write(
        folder / mortality.FILES[0],
        ["region", "period", "age_group", "deaths_thousands"],
        [
            [region, period, k, f"{count / 1000:.3f}"]
            for region in mortality.PUBLISHED
            for period in ("2010-2015", mortality.PERIOD)
            for k, count in enumerate(ages)
        ],
    )
    return folder


def _write(path: Path, head: list[str], rows: list[list]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])


# -- the house ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_experiments_enter_by_the_front_door(path):
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                package = alias.name.split(".")[0]
                assert package in {"dpfda", "numpy", "typer", *sys.stdlib_module_names}, alias.name
                assert package != "dpfda" or (alias.name, alias.asname) == ("dpfda", "dp")
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            assert (node.module or "").split(".")[0] in {
                "scipy",
                "matplotlib",
                "typer",
                "rich",
                *sys.stdlib_module_names,
            }, node.module
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "dp":
            assert node.attr in {*dp.__all__, "__version__", "__file__"}, f"dp.{node.attr} is no public name"
    assert len(path.read_text().splitlines()) <= 400


# -- running and keeping ------------------------------------------------------------------------------


def test_a_run_goes_on_where_it_stopped(tmp_path):
    """The second run finds every cell; other counts, other code or a damaged file, and a cell runs again."""
    seen: list[tuple[int, int]] = []

    def watch(done: int, total: int, name: str) -> None:
        seen.append((done, total))

    small = replace(TINY, sizes=(100,))

    def run(scale=small, modes=(PAPER,)):
        seen.clear()
        return study.carry_out(["mechanisms"], scale, tmp_path, modes=modes, watch=watch)["mechanisms"]

    first = run()
    assert seen == [(i, 4) for i in range(5)]
    assert run() == first
    assert seen == [(4, 4)]
    cell = sorted((tmp_path / "cells" / "mechanisms").glob("*.json"))[0]
    cell.write_text(cell.read_text()[:100])
    assert run() == first  # seeds make the same numbers again
    assert seen == [(3, 4), (4, 4)]
    assert not list(tmp_path.rglob("*.part"))
    run(replace(small, draws=21))
    assert seen[0] == (0, 4)


def test_rows_do_not_depend_on_the_number_of_processes(tmp_path):
    small = replace(TINY, sizes=(100,))
    one, two = (
        study.carry_out(["mechanisms"], small, tmp_path / str(k), modes=(PAPER,), workers=k)["mechanisms"]
        for k in (1, 2)
    )
    assert one == two
    assert {row["seed"] for row in one} == {study.seed(row["scenario"], "gp", row["n"]) for row in one}


def test_an_interrupt_keeps_what_is_finished(tmp_path):
    command = [sys.executable, "-m", "dpfda_experiments", "mechanisms", "--out", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
        deadline = time.monotonic() + 120
        while not list(tmp_path.rglob("cells/**/*.json")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the same command to go on" in errors.decode()
    assert "Traceback" not in errors.decode()
    cells = list(tmp_path.rglob("cells/**/*.json"))
    assert 0 < len(cells) < 32
    assert all(json.loads(path.read_text())["rows"] for path in cells)
    assert not list(tmp_path.glob("*.md"))


def test_a_failing_cell_stops_the_run(tmp_path):
    bad = replace(TINY, sizes=(1,))
    with pytest.raises(dp.errors.ParameterError, match="n"):
        study.carry_out(["mechanisms"], bad, tmp_path)


def test_other_data_run_again(tmp_path, invented, monkeypatch):
    """Cells know the contents of the files that they read."""
    monkeypatch.setattr(curves, "SETS", {"Electricity": "days"})
    monkeypatch.setattr(curves, "NUS", (1.5,))
    monkeypatch.setattr(curves, "BUDGETS", ("1",))
    folder = tmp_path / "data"
    shutil.copytree(invented, folder)
    counts: list[int] = []

    def run() -> Rows:
        counts.clear()
        watch = lambda done, total, name: counts.append(done)  # noqa: E731
        return study.carry_out(["curves"], TINY, tmp_path / "out", folder, (OURS,), watch=watch)["curves"]

    first = run()
    assert run() == first
    assert counts == [1]
    place = folder / curves.FILES[0]
    place.write_text(place.read_text().replace("2001-01-01", "2001-02-01"))
    run()
    assert counts == [0, 1]


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("dti_cca.csv", "id,cca_01,cca_02\n", "rows and the column 'id'"),
        ("dti_cca.csv", "person,cca_01,cca_02\n1,2,3\n4,5,6\n", "rows and the column 'id'"),
        ("dti_cca.csv", "id,value\n1,2\n3,4\n", "a column for each point"),
        ("wpp2019_deaths_by_age.csv", "region,period,deaths_thousands\nNowhere,2015-2020,1\n", "age groups of Eastern"),
    ],
)
def test_malformed_data_get_a_clear_error(file, text, said, tmp_path):
    (tmp_path / file).write_text(text)
    reader = {"dti_cca.csv": lambda: curves.Curves.read("DTI", tmp_path)}.get(
        file, lambda: mortality.deaths(tmp_path / file)
    )
    with pytest.raises(dp.errors.FileError, match=said):
        reader()


# -- everything, small --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def everything(tmp_path_factory, invented):
    """All experiments with few data sets and draws, small matrices and histograms, fewer bandwidths and regions."""
    folder = tmp_path_factory.mktemp("out")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timing, "SIZES", (20, 30))
        patch.setattr(curves, "REPLICATES", 2)
        patch.setattr(curves, "DRAWS", 50)
        patch.setattr(mortality, "DRAWS", 5)
        patch.setattr(mortality, "PUBLISHED", {name: mortality.PUBLISHED[name] for name in REGIONS})
        for part in (densities, density_claims):
            patch.setattr(part, "SHARES", {1: (1.0, 0.25), 2: (1.0,)})
        patch.setattr(densities, "CELLS", {1: 128, 2: 24})
        yield folder, reproduce(experiments.NAMES, TINY, folder, invented)


def test_every_experiment_writes_picture_table_and_page(everything):
    folder, outcome = everything
    assert not outcome.skipped
    for name in experiments.NAMES:
        assert (folder / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
        with (folder / f"{name}.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert {row["mode"] for row in rows} == {PAPER, OURS}
        assert all(row["seed"] for row in rows), name
        page = (folder / f"{name}.md").read_text()
        assert f"({name}.png)" in page
        assert f"({name}.csv)" in page
        for claim in outcome.claims[name]:
            assert claim.verdict in (pages.HOLDS, pages.PARTLY, pages.FAILS)
            assert any(letter.isdigit() for letter in claim.number), claim
            assert "nan" not in claim.number.split(), claim
            assert claim.text in page


def test_one_page_holds_all_claims(everything):
    folder, outcome = everything
    text, page = (folder / "report.md").read_text(), (folder / "report.html").read_text()
    for name, claims in outcome.claims.items():
        assert claims, name
        assert f"![{study.module(name).TITLE}]({name}.png)" in text
        for claim in claims:
            assert claim.text in text
    assert page.count("data:image/png;base64,") == len(experiments.NAMES)
    assert page.count("<table>") >= len(experiments.NAMES)
    assert "<script" not in page


def test_real_curves_are_labelled_by_what_a_record_is(everything):
    text = (everything[0] / "curves.md").read_text()
    assert "one day of the whole city, not a person" in text
    assert "a record is one scan, and a person has up to seven of them" in text
    assert "DTI, per person" in text


@pytest.mark.parametrize("mode", study.MODES)
def test_a_mode_alone_is_enough(mode, everything, invented):
    """Reports cope with half of the rows: the same cells, found again."""
    folder, _ = everything
    found = study.carry_out(experiments.NAMES, TINY, folder, invented, (mode,))
    for name, rows in found.items():
        assert {row["mode"] for row in rows} == {mode}
        report = study.module(name).report(rows, invented)
        assert report.figure is not None
        assert all("nan" not in claim.number.split() for claim in report.claims), name


def test_without_data_two_experiments_are_skipped_and_say_why(tmp_path, monkeypatch):
    monkeypatch.setattr(timing, "SIZES", (20,))
    outcome = reproduce(("timing", "curves", "mortality"), TINY, tmp_path)
    assert set(outcome.skipped) == {"curves", "mortality"}
    assert "adelaide_monday_demand.csv and dti_cca.csv" in (tmp_path / "curves.md").read_text()
    assert "--data" in outcome.skipped["mortality"]


# -- verdicts follow the numbers ------------------------------------------------------------------------


def test_a_default_that_loses_is_said_to_lose():
    facts = {"scenario": "S-1", "n": 100, "total_se": 0.01}
    peers = [{**facts, "mode": PAPER, "mechanism": name, "total": 1.0} for name in paper.PURE]

    def verdict(total: float) -> str:
        rows = Rows([*peers, {**facts, "mode": OURS, "mechanism": "default", "total": total}])
        claim = mechanisms.at_least_as_accurate(rows, ("scenario", "n"))
        assert claim is not None
        return claim.verdict

    assert verdict(0.9) == verdict(1.02) == pages.HOLDS
    assert verdict(1.1) == pages.FAILS
    for peer in peers[:3]:
        peer["total"] = 2.0
    assert verdict(1.1) == pages.PARTLY


def test_cross_validated_rows_are_no_valid_peers():
    """A choice that reads the data is not private: the default need not beat it."""
    facts = {"scenario": "S-1", "n": 100, "total_se": 0.0}
    rows = Rows(
        [
            {**facts, "mode": OURS, "mechanism": "default", "total": 0.5},
            {**facts, "mode": PAPER, "mechanism": "QR", "choice": selection.VALIDATED, "total": 0.1},
            {**facts, "mode": PAPER, "mechanism": "QR", "choice": selection.SAFE, "total": 1.0},
        ]
    )
    claim = mechanisms.at_least_as_accurate(rows, ("scenario", "n"))
    assert claim.verdict == pages.HOLDS
    assert claim.number.startswith("1 of 1 ")


def test_theorems():
    """The loss of two real neighbours, and bounds against plain arithmetic."""
    claim = theorems.mechanism_theorem()
    assert claim.verdict == pages.FAILS
    assert "1.4142 epsilon" in claim.number
    assert theorems.mean_bound().verdict == pages.HOLDS
    assert theorems.density_bound(2000, 1.25).verdict == pages.FAILS


@pytest.mark.parametrize(
    ("curve", "count"),
    [
        (np.zeros(9), 1),
        (np.arange(9.0), 1),
        ([0, 1, 0.5, 1, 0], 2),
        ([0, 1, 0.97, 1, 0], 1),
        ([1, 0, 1, 0, 1], 3),
    ],
)
def test_modes_are_peaks_that_stand_out(curve, count):
    assert shapes.modes(np.array(curve, dtype=float)) == count


# -- the paper's mechanisms, and the authors' ---------------------------------------------------------


@pytest.mark.parametrize("scenario", dp.datasets.RADII)
@pytest.mark.parametrize("nu", [1.5, 2.5])
def test_the_papers_mechanisms_are_valid(scenario, nu):
    """Neighbours through the real code: opposite ends of the ball in many directions, and hostile records."""
    base = replace(paper.simulated(scenario, 100, nu), invalid="center")
    rng, radius = np.random.default_rng(1), dp.datasets.RADII[scenario]
    grid = base.grid
    directions = [np.ones(grid.size), np.eye(grid.size)[0], np.full(grid.size, np.nan), np.full(grid.size, 1e300)]
    directions += list(base.basis.functions.T[:6]) + list(rng.standard_normal((4, grid.size)))
    others = dp.datasets.scenario(scenario, 99, rng).curves
    for name, plans in paper.mechanisms(base).items():
        if name == "GP-ADP":
            continue  # not pure
        plan = plans[0]
        for direction in directions:
            first, second = (np.vstack([sign * direction * 10 * radius, others]) for sign in (1, -1))
            difference = [plan.statistic(plan.summarize(curves)) for curves in (first, second)]
            assert plan.loss(difference[0] - difference[1]) <= float(plan.epsilon) * (1 + 1e-12), name


def test_the_authors_qr_is_not_private():
    """Even if its bound were public: curves at both ends of one axis lose the square root of two times epsilon."""
    basis = dp.kernels.Matern(1.5, 0.1).basis(dp.Grid.uniform(0, 1, 48))
    n, size = 50, basis.size
    coefficients = np.zeros((n, size))
    sketch = Authors(basis, np.vstack([np.eye(size)[0], coefficients[1:]])).qr(factor=2.0)
    powers = basis.eigenvalues**1.25
    filter = powers / (powers + 2 * n**-1.25)
    worst = int(np.argmax(filter / np.sqrt(basis.eigenvalues)))
    change = 2 / n * filter[worst]
    assert change / sketch.scales[worst] == pytest.approx(np.sqrt(2))
    frl = Authors(basis, np.vstack([np.eye(size)[0], coefficients[1:]])).frl()
    assert 2 / n / frl.scales[0] <= 1


def _expected(sketch, target: np.ndarray, epsilon: float) -> float:
    """The expected squared distance of a sketch in closed form."""
    energies = (sketch.functions**2).sum(axis=1)
    return float(((sketch.before - target) ** 2).sum() + 2 * ((sketch.scales / epsilon) ** 2 * energies).sum())


def test_sketches_draw_what_they_say():
    """The mean of 20,000 draws within six standard errors of the closed form."""
    rng = np.random.default_rng(0)
    basis = dp.kernels.Matern(1.5, 0.1).basis(dp.Grid(np.linspace(0.001, 0.999, 48), np.full(48, 1 / 48)))
    authors = Authors(basis, basis.coefficients(dp.datasets.load_curves(60, rng).curves))
    for sketch in (authors.frl(), authors.ar(), authors.qr(2.0), authors.bernstein()):
        off = ((sketch.released(0.5, 20_000, rng) - authors.mean) ** 2).sum(axis=1)
        assert abs(off.mean() - _expected(sketch, authors.mean, 0.5)) < 6 * off.std() / len(off) ** 0.5


@pytest.mark.skipif(not (DATA / curves.FILES[1]).exists(), reason="the real data sets are not here")
@pytest.mark.parametrize("key", DISTANCES, ids=lambda key: f"{key[0]}-{key[1]}")
def test_the_printed_table_follows_from_the_authors_formulas(key):
    """Every entry, with columns and budgets put right, within three per cent; in closed form, no draws."""
    authors = curves.Curves.read(key[0], DATA).authors(key[1])
    sketches = {"FRL": authors.frl(), "Bernstein": authors.bernstein(), "AR": authors.ar(), "QR": authors.qr(2.0)}
    for name, sketch in sketches.items():
        for epsilon, printed in zip((0.125, 0.25, 0.5, 1, 2, 4), DISTANCES[key][name], strict=True):
            assert _expected(sketch, authors.mean, epsilon) == pytest.approx(printed, rel=0.03), (name, epsilon)
    assert len(BUDGETS) == 6


@pytest.mark.skipif(not (DATA / curves.FILES[1]).exists(), reason="the real data sets are not here")
def test_a_patient_is_a_record_only_by_unit():
    scans, people = (curves.Curves.read(name, DATA) for name in ("DTI", "DTI, per person"))
    assert scans.plan(1.5, "1").n == 376
    assert people.plan(1.5, "1").n == len(set(people.owners)) == 142
    assert "person" in people.plan(1.5, "1").explain()


@pytest.mark.parametrize("n", [4934, 4935, 5161, 9870])
def test_pss_does_not_hang_on_a_rounding(n):
    """At epsilon 1 and the smallest eta the window is one point, whatever n."""
    plan = dp.MeanPlan(n=n, epsilon=1, bound=dp.L2Ball(1.0), grid=48, method=dp.methods.QR())
    assert dp.selection.pss(dp.methods.QR(), plan).psi == pytest.approx(1 / n, rel=0.01)


# -- cross-validation -----------------------------------------------------------------------------------


def test_pcv_says_that_it_is_not_private():
    rng = np.random.default_rng(0)
    sample = dp.datasets.scenario("S-1", 60, rng)
    plan = dp.MeanPlan(n=60, epsilon=1, bound=dp.L2Ball(3.5), grid=sample.grid, method=dp.methods.FRL())
    with pytest.warns(dp.errors.NotPrivateWarning, match="not private"):
        dp.selection.pcv([dp.methods.FRL(2), dp.methods.FRL(4)], plan, sample.curves, rng)


def test_pcv_finds_what_fits_the_data():
    """A mean in the sixth function alone: with plenty of budget six components, with little none of them."""
    grid = dp.Grid.uniform(0, 1, 101)
    kernel = dp.kernels.Matern(1.5, 0.1)
    curves = np.tile(kernel.basis(grid).functions[:, 5], (200, 1))
    candidates = [dp.methods.FRL(m) for m in (1, 5, 6, 20)]
    facts = {"n": 200, "bound": dp.L2Ball(1.1), "grid": grid, "kernel": kernel, "method": dp.methods.FRL()}
    chosen = []
    for epsilon in (1000, 0.01):
        plan = dp.MeanPlan(epsilon=epsilon, **facts)
        with pytest.warns(dp.errors.NotPrivateWarning):
            chosen.append(dp.selection.pcv(candidates, plan, curves, np.random.default_rng(0)).components)
    assert chosen == [6, 1]


def test_pcv_of_a_density():
    rng = np.random.default_rng(0)
    points = dp.datasets.mixture(2000, rng).points
    plan = dp.DensityPlan(n=2000, epsilon=1, domain=[(0, 1)], method=dp.methods.FRL())
    with pytest.warns(dp.errors.NotPrivateWarning):
        chosen = dp.selection.pcv([dp.methods.FRL(m) for m in (1, 6, 60)], plan, points, rng, folds=3)
    assert chosen.components == 6


@pytest.mark.parametrize(
    ("candidates", "folds", "match"),
    [
        ([], 10, "candidates"),
        ([dp.methods.Bernstein(5)], 10, "own basis"),
        ([dp.methods.FRL(2)], 1, "folds"),
        ([dp.methods.FRL(2)], 99, "folds"),
    ],
)
def test_pcv_refuses(candidates, folds, match):
    plan = dp.MeanPlan(n=20, epsilon=1, bound=dp.L2Ball(1.0), grid=16, method=dp.methods.FRL())
    with pytest.raises(dp.errors.ParameterError, match=match):
        dp.selection.pcv(candidates, plan, np.zeros((20, 16)), np.random.default_rng(0), folds)


# -- the command -------------------------------------------------------------------------------------------


def invoke(*words: str):
    return CliRunner().invoke(app, [*words])


def test_the_command_lists_experiments():
    listed = invoke()
    assert listed.exit_code == 0
    assert all(name in listed.output for name in experiments.NAMES)
    found = json.loads(invoke("--json").output)
    assert [entry["name"] for entry in found] == list(experiments.NAMES)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "experiments are timing"),
        (["timing", "--all"], "Drop one of them"),
        (["timing", "--mode", "wrong"], "mode is one of"),
        (["curves"], "no data folder was given"),
        (["timing", "--data", "nowhere"], "is not there"),
    ],
)
def test_the_command_refuses(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke(*words)
    assert result.exit_code == 1
    assert said in result.output
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_refused_first(tmp_path):
    (tmp_path / "taken").write_text("")
    result = invoke("timing", "--out", str(tmp_path / "taken"))
    assert result.exit_code == 1
    assert "cannot be written to" in result.output


def test_the_command_runs_and_tells(tmp_path, monkeypatch):
    monkeypatch.setattr(timing, "SIZES", (20,))
    told = json.loads(invoke("timing", "--mode", "dpfda", "--out", str(tmp_path), "--json").output)
    assert told["written"] == [str(tmp_path / f"timing.{kind}") for kind in ("md", "csv", "png")]
    assert all(Path(place).is_file() for place in told["written"])
    assert told["tables"]["timing"][0]["head"][0] == "kernel"
    assert [claim["experiment"] for claim in told["claims"]] == ["timing"]
    again = invoke("timing", "--mode", "dpfda", "--out", str(tmp_path))
    assert again.exit_code == 0
    assert told["claims"][0]["number"].split()[-4] in again.output  # nothing was timed again
