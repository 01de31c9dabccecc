"""The house: a room imports only rooms above it, and plans are made without the data rooms."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "dpfda"
#: From the ground up. A module may import modules of earlier entries (and its own folder).
ROOMS = [
    "errors",
    "codec",
    "grid",
    "basis",
    "tensor",
    "components",
    "symmetric",
    "stacked",
    "bernstein",
    "origins",
    "totals",
    "protocol",
    "tally",
    "losses",
    "exact",
    "lattice",
    "kernels",
    "intake",
    "inputs",
    "reach",
    "atoms",
    "diameter",
    "bounds",
    "noise",
    "problems",
    "methods",
    "selection",
    "postprocess",
    "densities",
    "words",
    "plots",
    "labels",
    "births",
    "places",
    "layouts",
    "blocks",
    "delimited",
    "footers",
    "parquet",
    "streams",
    "tables",
    "arrays",
    "functional",
    "frames",
    "items",
    "sources",
    "readers",
    "summaries",
    "files",
    "checkpoints",
    "engines",
    "ledger",
    "release",
    "interop",
    "plan",
    "plans",
    "api",
    "density_api",
    "estimators",
    "audits",
    "datasets",
    "experiments",  # beside the package in the tree, inside it once installed
    "cli",
    "__main__",
]
PUBLIC = ROOMS[: ROOMS.index("labels")]
#: Where a third-party package may be imported; everything else may use numpy and scipy only.
SPECIAL = {
    "opendp": {"noise", "interop"},
    "flint": {"noise"},
    "secrets": {"noise"},
    "numba": {"lattice"},
    "pyarrow": {"readers", "sources", "delimited", "streams", "tables", "parquet", "engines"},
    "fsspec": {"places"},
    "dask": {"engines"},
    "distributed": {"engines", "cli"},
    "pyspark": {"engines"},
    "xarray": {"release"},
    "matplotlib": {"plots"},
    "typer": {"cli"},
    "rich": {"cli"},
    "sqlite3": {"ledger"},
    "sklearn": {"estimators"},
    "random": {"audits"},  # seeded there to show that noise does not listen
    "pandas": {"release"},
    "skfda": {"release"},
    "pickle": set(),
}
#: In-function imports are for optional dependencies only.
OPTIONAL = {"pandas", "skfda", "xarray", "fsspec", "dask", "distributed", "pyspark"}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def modules() -> list[Path]:
    return sorted(p for p in ROOT.rglob("*.py") if p != ROOT / "__init__.py")


def imported_rooms(path: Path) -> set[str]:
    """Rooms of the package that a module imports, however deep the import stands."""
    found = set()
    depth = len(path.relative_to(ROOT).parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            if node.level < depth:
                continue  # its own folder
            names = [node.module] if node.module else [alias.name for alias in node.names]
            found |= {name.split(".")[0] for name in names}
        elif isinstance(node, ast.ImportFrom | ast.Import):
            names = [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            assert not any((n or "").startswith("dpfda") for n in names), f"{path.name} imports the package absolutely"
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_arrows_point_upwards(path):
    room = room_of(path)
    assert room in ROOMS, f"{room} is not in the plan of the house"
    allowed = set(ROOMS[: ROOMS.index(room)]) | {"__version__"}
    assert imported_rooms(path) <= allowed


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_special_packages_stay_in_their_rooms(path):
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for name in names:
            package = name.split(".")[0]
            assert room_of(path) in SPECIAL.get(package, {room_of(path)}), f"{package} in {path.name}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_inside_functions_are_for_optional_packages(path):
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import):
                    assert {a.name.split(".")[0] for a in node.names} <= OPTIONAL
                assert not isinstance(node, ast.ImportFrom), f"{path.name}:{node.lineno}"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_modules_are_small_and_open_with_a_preface(path):
    text = path.read_text()
    assert text.count("\n") <= 400
    assert ast.get_docstring(ast.parse(text))


def test_randomness_has_one_door():
    """Seeded generators are made for public simulation (bands, synthetic points) and invented data (demo) only."""
    makers = {
        room_of(path)
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in ("default_rng", "RandomState", "seed")
    }
    assert makers == {"postprocess", "densities", "cli", "audits"}


def test_every_plan_is_made_with_the_data_rooms_blocked():
    """A bare package whose data rooms raise at any touch: planning never notices."""
    script = f"""
import sys, types
package = types.ModuleType("dpfda"); package.__path__ = [{str(ROOT)!r}]
sys.modules["dpfda"] = package
class Blocked(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise AssertionError(f"the plan touched {{self.__name__}}.{{name}}")
for room in ("readers", "summaries", "engines", "checkpoints", "release", "ledger"):
    module = Blocked(f"dpfda.{{room}}")
    sys.modules[f"dpfda.{{room}}"] = module
    package.__dict__[room] = module
from dpfda.plans import ClassPlan, CovariancePlan, DensityPlan, KernelPlan, MeanPlan, RegressionPlan, SmootherPlan
from dpfda.bounds import L2Ball, L1Ball, Ellipsoid, Box
from dpfda.components import ComponentGrid
from dpfda.grid import Grid
from dpfda.methods import AR, FRL, QR, Bernstein, GaussianProcess, KNorm, Minimax
for bound in (L2Ball(1.0), L1Ball(1.0), Ellipsoid([1.0, 0.5]), Box([1.0, 0.5])):
    for method in (AR(), FRL(), QR(), KNorm(), Minimax(), Bernstein(5), GaussianProcess(0.01), None):
        for neighbors in ("replace", "add-remove"):
            plan = MeanPlan(n=100, epsilon=1, bound=bound, grid=16, method=method, neighbors=neighbors)
            MeanPlan.from_json(plan.to_json()); repr(plan); plan.explain(); plan.band(0.9); plan.expected_risk
for method in (AR(), KNorm(), None):
    plan = MeanPlan(n=100, epsilon=1, bound=L2Ball(1.0), grid=ComponentGrid(2, Grid.uniform(0, 1, 16)), method=method)
    assert MeanPlan.from_json(plan.to_json()) == plan
    repr(plan); plan.explain(); plan.band(0.9); plan.expected_risk
for method in (FRL(), QR(), KNorm(), Minimax(), Bernstein(5), GaussianProcess(0.01), None):
    for neighbors in ("replace", "add-remove"):
        for domain in ([(0, 1)], [(0, 1), (2, 3)]):
            plan = DensityPlan(n=100, epsilon=1, domain=domain, cells=16, method=method, neighbors=neighbors)
            DensityPlan.from_json(plan.to_json()); repr(plan); plan.explain(); plan.band(0.9); plan.expected_risk
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
    parts = [KernelPlan(domain=[(0, 1)], classes=("a", "b", "c"), positive=i, **facts) for i in range(3)]
    repr(ClassPlan(("a", "b", "c"), parts))
print("planned")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "planned\n", done.stderr
