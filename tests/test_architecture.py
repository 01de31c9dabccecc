"""The house: rooms stand in order, and plans are made without the data rooms."""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "dpfda"
#: Where a package may be imported: a room, or one module of it; everything else may use numpy and scipy only.
SPECIAL = {
    "opendp": {"noise/samplers.py", "plans/opendp.py"},
    "flint": {"noise/samplers.py"},
    "dpfda.noise.samplers": {"noise", "problems/surface_check.py", "release/ready.py"},
    "secrets": {"noise", "studio"},  # keys and tickets of the page
    "numba": {"bounds/compiled_rows.py"},
    "threadpoolctl": {"bounds/loops.py"},
    "pyarrow": {"reading/arrow.py"},
    "dpfda.reading.arrow": {
        "reading/source.py",
        "reading/facts.py",
        "reading/databases.py",
        "reading/scans.py",
        "reading/sqlite_cells.py",
        "reading/delimited.py",
        "reading/inspection.py",
        "reading/packed.py",
        "reading/streams.py",
        "reading/tables.py",
        "reading/parquet.py",
        "reading/lazy_frames.py",
        "engines",
    },
    "fsspec": {"reading/places.py"},
    "dask": {"engines/dask_engine.py"},
    "distributed": {"engines", "cli"},
    "pyspark": {"engines/spark_engine.py", "engines/spark_session.py"},
    "duckdb": {"cli/databases.py"},
    "adbc_driver_sqlite": {"cli/databases.py"},
    "xarray": {"results"},
    "matplotlib": {"results/pictures.py"},
    "jinja2": {"pages"},
    "markupsafe": {"pages"},
    "typer": {"cli"},
    "starlette": {"studio"},
    "uvicorn": {"studio"},
    "rich": {"cli"},
    "sqlite3": {"ledger"},
    "sklearn": {"estimators"},
    "random": {"audits"},  # seeded there to show that noise does not listen
    "pandas": {"results"},
    "skfda": {"results"},
    "pickle": set(),
}
#: Heavy packages that are loaded when they are first used: type checkers see an import, and what runs names them.
LAZY = ("flint", "jinja2", "markupsafe", "matplotlib", "opendp", "pyarrow")
#: The modules that load others by name.
LOADERS = {
    "bounds/loops.py",
    "cli/deferred.py",
    "cli/studios.py",
    "core/codec.py",
    "core/lazy.py",
    "noise/samplers.py",
    "pages/safe.py",
    "plans/opendp.py",
    "reading/arrow.py",
    "release/ready.py",
    "results/pictures.py",
}
#: In-function imports are for optional dependencies only.
OPTIONAL = {"pandas", "skfda", "xarray", "fsspec", "dask", "distributed", "pyspark", "duckdb", "adbc_driver_sqlite"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def modules() -> list[Path]:
    return sorted(p for p in ROOT.rglob("*.py") if p != ROOT / "__init__.py")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def imported(path: Path) -> set[str]:
    """Modules of ours that a module needs when it is loaded."""
    found = set()
    for node in tree_of(path).body:
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path.name} imports by dots: say where from"
            if (node.module or "").split(".")[0] == "dpfda":
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                files = {ROOT.joinpath(*name.split(".")[1:]) for name in names | {node.module or ""}}
                found |= {name_of(f.with_suffix(".py")) for f in files if f.with_suffix(".py").is_file()}
    return found


def test_rooms_stand_in_order():
    """The rules are in .importlinter: a room imports rooms below it only, and four stricter ones."""
    command = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([command, "--no-logo"], cwd=ROOT.parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_no_module_needs_itself():
    """Modules, not only rooms, load one after the other."""
    graph = {name_of(path): imported(path) for path in modules()}
    list(graphlib.TopologicalSorter(graph).static_order())


def test_no_two_modules_share_a_name_with_a_room():
    rooms = {path.name for path in ROOT.iterdir() if path.is_dir()}
    twins = [name_of(path) for path in modules() if path.stem in rooms - {room_of(path)}]
    assert twins == []


def named(node: ast.AST) -> list[str]:
    """Packages that a line imports, or names for later."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    if isinstance(node, ast.Constant) and re.fullmatch(rf"({'|'.join(LAZY)})(\.[\w.]*)?", str(node.value)):
        return [str(node.value)]
    return []


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_special_packages_stay_in_their_rooms(path):
    for node in ast.walk(tree_of(path)):
        for name in named(node):
            package = name if name in SPECIAL else name.split(".")[0]
            allowed = SPECIAL.get(package, {room_of(path)})
            assert {room_of(path), name_of(path)} & allowed, f"{package} in {path.name}"


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_heavy_packages_wait(path):
    """Those above run no import statement, and scipy loads its parts when they are named."""
    for node in tree_of(path).body:  # not what is for type checkers only
        if isinstance(node, ast.Import | ast.ImportFrom):
            assert not {name.split(".")[0] for name in named(node)} & set(LAZY), f"{path.name}:{node.lineno}"
            assert not [name for name in named(node) if name.startswith("scipy.")], f"{path.name}:{node.lineno}"


def test_few_modules_load_others_by_name():
    found = set()
    for path in modules():
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Name) and node.id in ("import_module", "lazy", "__import__"):
                found.add(name_of(path))
    assert found == LOADERS


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_imports_inside_functions_are_for_optional_packages(path):
    for function in ast.walk(tree_of(path)):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import):
                    assert {a.name.split(".")[0] for a in node.names} <= OPTIONAL
                assert not isinstance(node, ast.ImportFrom), f"{path.name}:{node.lineno}"


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_modules_are_small_and_open_with_a_preface(path):
    assert path.read_text().count("\n") <= 400
    assert ast.get_docstring(tree_of(path))


def test_randomness_has_one_door():
    """Seeded generators are made for public simulation (bands, synthetic points, guesses) and invented data only."""
    makers = {
        name_of(path)
        for path in modules()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute) and node.attr in ("default_rng", "RandomState", "seed")
    }
    assert {name for name in makers if not name.startswith("audits/")} == {
        "results/bands.py",
        "results/projection.py",
        "plans/invented.py",
        "cli/demo.py",
    }


def test_every_plan_is_made_with_the_data_rooms_blocked():
    """A bare package whose data rooms raise at any touch: planning never notices."""
    script = f"""
import sys, types
package = types.ModuleType("dpfda"); package.__path__ = [{str(ROOT)!r}]
sys.modules["dpfda"] = package
def blocked(where):  # something that can be imported, and raises whenever it is used
    def touched(*given, **options):
        raise AssertionError(f"the plan touched {{where}}")
    return type("Blocked", (), {{"__new__": touched, "__class_getitem__": classmethod(lambda cls, item: cls)}})
class Blocked(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return blocked(f"{{self.__name__}}.{{name}}")
import dpfda.reading
rooms = ["reading.source", "reading.curves", "engines", "engines.task", "engines.summarize", "ledger"]
for room in [*rooms, "release", "release.door", "release.passes", "release.run"]:
    module = Blocked(f"dpfda.{{room}}")
    sys.modules[f"dpfda.{{room}}"] = module
    above, _, name = f"dpfda.{{room}}".rpartition(".")
    sys.modules[above].__dict__[name] = module
from dpfda.plans import ClassPlan, CovariancePlan, DensityPlan, KernelPlan, MeanPlan, RegressionPlan, SmootherPlan
from dpfda.plans import PercentilePlan, SurvivalPlan
import numpy
from dpfda.bounds import L2Ball, L1Ball, Ellipsoid, Box
from dpfda.spaces.components import ComponentGrid
from dpfda.spaces.grid import Grid
from dpfda.methods import AR, FRL, QR, Bernstein, GaussianProcess, KNorm, Minimax
for bound in (L2Ball(1.0), L1Ball(1.0), Ellipsoid([1.0, 0.5]), Box([1.0, 0.5])):
    for method in (AR(), FRL(), QR(), KNorm(), Minimax(), Bernstein(5), GaussianProcess(0.01), None):
        for neighbors in ("replace", "add-remove"):
            plan = MeanPlan(n=100, epsilon=1, bound=bound, grid=16, method=method, neighbors=neighbors)
            MeanPlan.from_json(plan.to_json()); repr(plan); plan.explain(); plan.accuracy.noise_band()
            plan.expected_risk
    plan.hypothetical([0.1] * 16, size=1).band()
for method in (AR(), KNorm(), None):
    plan = MeanPlan(n=100, epsilon=1, bound=L2Ball(1.0), grid=ComponentGrid(2, Grid.uniform(0, 1, 16)), method=method)
    assert MeanPlan.from_json(plan.to_json()) == plan
    repr(plan); plan.explain(); plan.accuracy.noise_band(); plan.expected_risk
for method in (FRL(), QR(), KNorm(), Minimax(), Bernstein(5), GaussianProcess(0.01), None):
    for neighbors in ("replace", "add-remove"):
        for domain in ([(0, 1)], [(0, 1), (2, 3)]):
            plan = DensityPlan(n=100, epsilon=1, domain=domain, cells=16, method=method, neighbors=neighbors)
            DensityPlan.from_json(plan.to_json()); repr(plan); plan.explain(); plan.accuracy.noise_band()
            plan.expected_risk
    plan.hypothetical(numpy.ones(plan.grid.size), size=1).band()
for neighbors in ("replace", "add-remove"):
    facts = {{"n": 1000, "epsilon": 1, "neighbors": neighbors}}
    curves = {{"bound": L2Ball(1.0), "grid": 16, **facts}}
    plans = [CovariancePlan(method=method, **curves) for method in (FRL(), QR(), KNorm(), Minimax(), AR(), None)]
    plans += [RegressionPlan(covariates=2, covariate_bound=2.0, passes=passes, **curves) for passes in (1, 4, None)]
    for domain in ([(0, 1)], [(0, 1), (2, 3)], [(0, 1)] * 4):
        plans.append(SmootherPlan(domain=domain, bound=(0, 1), **facts))
        plans.append(KernelPlan(domain=domain, bound=(0, 1), criterion="huber", **facts))
        plans += [KernelPlan(domain=domain, classes=("a", "b"), criterion=c, **facts) for c in ("hinge", "logistic")]
    for plan in plans:
        assert type(plan).from_json(plan.to_json()) == plan
        repr(plan); plan.explain(); plan.expected_risk
    for plan in plans[:10]:
        rows = numpy.linspace(0, 1, 3 * plan.problem.width).reshape(3, -1)
        rows = rows.round() if getattr(plan, "classes", None) else rows
        plan.hypothetical(rows, size=1)
    PercentilePlan(range=(0, 1), grid=16, **facts).hypothetical(rows[:2, :1] + numpy.zeros(16), size=1)
    SurvivalPlan(horizon=1, **facts).hypothetical([[0.3, 1], [0.5, 0]], size=1)
    parts = [KernelPlan(domain=[(0, 1)], classes=("a", "b", "c"), positive=i, **facts) for i in range(3)]
    repr(ClassPlan(("a", "b", "c"), parts))
print("planned")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "planned\n", done.stderr
