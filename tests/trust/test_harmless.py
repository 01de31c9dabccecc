"""Texts that would act where they are shown, and code that would run where it is read: neither does."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import fuzzing
import numpy as np
import pytest
from fuzz_mutators import opened, sealed
from fuzz_seeds import CURVES, LINE, SEEDS, mean_plan, releases
from fuzzing import strict

import dpfda as dp
from dpfda.plans import GroupPlan
from dpfda.results import plots
from dpfda.results.columns import csv_of, plain_cell


@pytest.fixture(autouse=True, scope="module")
def _clean():
    yield
    fuzzing.drop_scratch()


FORMULAS = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    " =1+1",
    '"=1+1',
    "' =1",
    "=cmd|' /C calc'!A0",
    "＝1",
    "%0A=1",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula(text):
    cell = plain_cell(text)
    assert cell.startswith("'")
    assert not set(cell) & set(',;|"\t\r\n')
    assert csv_of({text: np.array([1.0])}).startswith("'")


def test_every_csv_keeps_names_harmless(tmp_path):
    """Axes, groups, components, covariates and classes, in every table that is written."""
    name = "=1+1"
    grid = dp.Grid.uniform(0, 1, 4, name=name)
    mean = mean_plan(grid=grid).release(CURVES)
    pair = GroupPlan((name, "@b"), (mean_plan(grid=grid), mean_plan(grid=grid))).release(
        np.vstack([CURVES, CURVES]), by=[name] * 6 + ["@b"] * 6
    )
    parts = mean_plan(grid=dp.spaces.ComponentGrid((name, "-y"), grid)).release(np.hstack([CURVES, CURVES]))
    tables = [
        mean.to_csv(),
        pair.to_csv(),
        pair.difference(name, "@b").to_csv(),
        parts.to_csv(),
        releases()["regression"].to_csv(),
    ]
    for table in tables:
        for cell in table.replace("\n", ",").split(","):
            assert cell[:1] not in tuple("=+@")
            assert cell[:1] != "-" or float(cell) < 0
    pages = importlib.import_module("dpfda_experiments.pages")
    assert pages._csv([{"a": "=1", "b": -1}]) == "a,b\n'=1,-1\n"


def test_axes_never_take_the_place_of_other_columns():
    """Names that repeat, or that a table has anyway, get a number."""
    grid = dp.Grid.product(dp.Grid.uniform(0, 1, 2, name="value"), dp.Grid.uniform(0, 2, 2, name="value"))
    release = mean_plan(grid=grid).release(CURVES)
    assert release.to_csv().splitlines()[0] == "value 2,value 3,value,lower,upper"
    assert list(release.to_dataframe()) == ["value 2", "value 3", "value", "lower", "upper"]
    assert release.to_xarray().dims == ("value 2", "value 3")


def test_damaged_files_of_experiments(tmp_path):
    """A kept result that cannot be read counts as absent; a data file is refused."""
    study = importlib.import_module("dpfda_experiments.study")
    for text in ("[]", "{", "null", '{"rows": 3}', '{"rows": [1]}', "[" * 100_000):
        (tmp_path / "x.json").write_text(text)
        assert study._kept(tmp_path / "x.json") is None
    for content in (b"\xff\xfe", b"a,b\n\x00,1\n" + b'"' + b"x" * 200_000, b"a\n1\n", b""):
        (tmp_path / "x.csv").write_bytes(content)
        with pytest.raises(dp.errors.FileError, match="should be a CSV file"):
            study.read_table(tmp_path / "x.csv", ["b"])


STEERING = ["\x1b[2J", "\x1b]0;title\x07", "a\nb", "\u202eabc", "\x9b2J", "\ud800", "x" * 201]


@pytest.mark.parametrize("text", STEERING)
def test_names_that_steer_a_terminal_are_refused(text):
    makers = [
        lambda: dp.Grid.uniform(0, 1, 4, name=text), lambda: dp.Grid.uniform(0, 1, 4, unit=text),
        lambda: dp.DensityPlan(n=9, epsilon=1, domain=[(0, 1)], axes=(text,)), lambda: dp.Unit(text),
        lambda: dp.core.labels.as_groups([text, "b"]), lambda: mean_plan().release(CURVES, query=text),
        lambda: dp.plans.SmootherPlan(n=900, epsilon=1, domain=[(0, 1)], bound=(0, 1), names=(text,)),
    ]  # fmt: skip
    for make in makers:
        with pytest.raises(dp.errors.ParameterError, match="printable") as caught:
            make()
        assert str(caught.value).isprintable()


def test_what_the_command_shows_of_a_file_is_plain_text(tmp_path):
    """Escapes are refused with the file; markup is shown as it is spelt."""
    kind, body = opened(SEEDS["plan"][0])
    body["plan"]["grid"]["name"] = "[red]hour[/red] [link=x]"
    (tmp_path / "plan.json").write_bytes(sealed(kind, {"plan": body["plan"]}))
    assert "[red]hour[/red] [link=x]" in fuzzing.run_command(["show", str(tmp_path / "plan.json")])
    for place in ("plan", "summary"):
        kind, body = opened(SEEDS[place][0])
        if place == "plan":
            body["plan"]["grid"]["name"] = body["plan"]["epsilon"]["value"] = "\x1b[2J"
        else:
            body["plan"] = "\x1b[2J"
        (tmp_path / "x.json").write_bytes(sealed(kind, body))
        with pytest.raises(dp.errors.ParameterError):  # after an exit code and printable words
            fuzzing.run_command(["show", str(tmp_path / "x.json")])


def test_names_in_pages_and_pictures_are_only_shown():
    script = "<script>alert(1)</script>"
    release = mean_plan(grid=dp.Grid.uniform(0, 1, 4, name=script, unit="$\\frac{")).release(CURVES, query="$x^{$ _a")
    for page in (release._repr_html_(), release.plan._repr_html_()):
        assert "<script" not in page
        assert "&lt;script&gt;" in page
    ax = plots.fit(plots.overlay(LINE, {"_hidden": LINE.points, "$\\frac{$": LINE.points}, title="$\\oops$"))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["_hidden", "$\\frac{$"]
    with strict():
        assert plots.png(ax)[:4] == b"\x89PNG"


# -- no code in any file -----------------------------------------------------------------

SOURCE = Path(dp.__file__).parent
FORBIDDEN = {"eval", "exec", "compile", "__import__", "execfile"}
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "yaml", "joblib", "runpy", "code", "xml"}


@pytest.mark.parametrize("folder", [SOURCE, Path(__file__).parents[2] / "experiments"], ids=["src", "experiments"])
def test_nothing_that_is_read_is_ever_run(folder):
    """No eval, no pickle, no loader that runs what it loads; arrays are read without objects."""
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
                assert not {name.split(".")[0] for name in names} & MODULES, path.name
            if not isinstance(node, ast.Call):
                continue
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            owner = getattr(getattr(node.func, "value", None), "id", "")
            assert called not in FORBIDDEN or owner == "re", f"{path.name}:{node.lineno}"
            if called in ("load", "save") and owner in ("np", "numpy"):
                given = {word.arg: getattr(word.value, "value", None) for word in node.keywords}
                assert given.get("allow_pickle") is False, f"{path.name}:{node.lineno}"


WATCHED = """
import sys
sys.path.insert(0, {folder!r})
import fuzzing
from fuzz_seeds import SEEDS
names = [name for name in fuzzing.TARGETS if name != "command"]
for name in names:  # whatever is imported on first use
    for seed in SEEDS[name][:3]:
        fuzzing.outcome(name, seed)
seen, watching = set(), True
EVENTS = ("exec", "compile", "subprocess.", "socket.", "pickle.", "marshal.", "os.system", "os.exec", "os.spawn",
          "os.posix_spawn", "os.fork", "ctypes.dlopen")
def hook(event, args):
    if watching and event.startswith(EVENTS):
        where = sys._getframe(1).f_code.co_filename
        # Imports on first use run the library's own code; numpy reads the header of an array as a literal.
        literal = event in ("exec", "compile") and ("numpy" in where or "ast.py" in where)
        if not literal and "importlib" not in where:
            seen.add((event, where))
sys.addaudithook(hook)
with fuzzing.strict():
    for name in names:
        for number in range(15):
            fuzzing.outcome(name, fuzzing.case(name, 4, number))
watching = False
fuzzing.drop_scratch()
print(sorted(seen))
"""


@pytest.mark.long
def test_reading_hostile_files_starts_nothing():
    """The interpreter's own audit: no code compiled, no process, no connection, no object unpickled."""
    script = WATCHED.format(folder=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr[-2000:]


def test_a_pickle_is_not_even_looked_at(tmp_path):
    bomb = b"cposix\nsystem\n(S'touch " + str(tmp_path / "owned").encode() + b"'\ntR."
    for name in ("x.json", "x.csv", "x.parquet", "x.ledger"):
        (tmp_path / name).write_bytes(bomb)
    for work in (lambda: dp.load(tmp_path / "x.json"), lambda: mean_plan().summarize(tmp_path / "x.csv"),
                 lambda: mean_plan().summarize(tmp_path / "x.parquet"),
                 lambda: dp.Ledger(tmp_path / "x.ledger")):  # fmt: skip
        with pytest.raises(dp.DpfdaError):
            work()
    assert not (tmp_path / "owned").exists()
