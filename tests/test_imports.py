"""Light imports: what is loaded by naming things, by help and by planning, and what is loaded before a charge."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import dpfda as dp
from dpfda.release import ready

ESTIMATORS = {"FunctionOnScalarRegression", "KernelClassifier", "KernelRegressor"}
#: Names that compiled code leaves behind, and what Cython brings where it is installed.
COMPILED = ("cython", "_cython")

#: What typer loads by itself, by its version and what is installed.
TYPER = {"typer", "click", "shellingham", "colorama", "annotated_doc", "typing_extensions"} | {
    "pydantic",
    "pydantic_core",
    "annotated_types",
    "typing_inspection",
}

START = """
import sys
before = set(sys.modules)
"""
END = """
print(*set(sys.modules) - before, sep="\\n")
"""


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def place(name: str) -> str:
    parts = name.split(".")
    return ".".join(parts[:2]) if parts[0] == "scipy" and len(parts) > 1 else parts[0]


def outside(modules: Iterable[str]) -> set[str]:
    """Packages that are not of Python, and parts of scipy, among modules."""
    private = {"scipy.version"}
    return {
        name
        for name in map(place, modules)
        if name.partition(".")[0] not in sys.stdlib_module_names
        and not name.lower().startswith(COMPILED)
        and not name.startswith(("_", "scipy._"))
        and name not in private
    }


def loaded(code: str) -> set[str]:
    """What of `outside` a new process loads for this."""
    done = python(START + code + END)
    assert done.returncode == 0, done.stderr
    return outside(done.stdout.split())


def test_what_counts_as_loaded():
    assert loaded("import scipy.special, pyarrow") >= {"numpy", "scipy", "scipy.special", "pyarrow"}


def test_a_bare_import():
    assert loaded("import dpfda") <= {"dpfda", "numpy"}


def test_all_public_names_but_the_estimators():
    names = sorted(set(dp.__all__) - ESTIMATORS - {"estimators"})
    assert loaded(f"import dpfda; [getattr(dpfda, name) for name in {names}]") <= {"dpfda", "numpy", "scipy"}


def loaded_by_command(*words: str) -> set[str]:
    run = f"from dpfda.cli import app; app({list(words)}, standalone_mode=False)"
    return loaded(f"import io\nout, sys.stdout = sys.stdout, io.StringIO()\n{run}\nsys.stdout = out")


@pytest.mark.parametrize("words", ["--help", "--version", "ledger --help"])
def test_help(words):
    assert loaded_by_command(*words.split()) <= {"dpfda"} | TYPER


def test_help_of_a_command():
    assert loaded_by_command("mean", "--help") <= {"dpfda", "numpy", "scipy", "rich"} | TYPER


def test_planning_a_mean():
    plan = "dpfda.MeanPlan(n=1000, epsilon=1, bound=dpfda.L2Ball(1.0), grid=48)"
    found = loaded(f"import dpfda; plan = {plan}; str(plan); plan.explain()")
    opendp = {"opendp", "deprecated", "wrapt"}  # noise is certified by its sampler
    others = {"charset_normalizer"}  # numpy.f2py takes it where it is installed
    assert found <= {"dpfda", "numpy", "scipy", "scipy.linalg", "scipy.special"} | opendp | others


def test_naming_a_room_loads_no_other():
    assert "sklearn" not in loaded("from dpfda import api, ledger")


def test_estimators_are_those_of_scikit_learn():
    for name in ESTIMATORS:
        assert issubclass(getattr(dp, name), BaseEstimator)
    assert isinstance(dp.KernelRegressor(epsilon=1, domain=[(0, 1)], bound=(0, 1)), BaseEstimator)


# -- before a charge ----------------------------------------------------------------------------

RELEASES = {
    "mean": "dp.mean(curves, epsilon=1, bound=dp.L2Ball(1.0), ledger=ledger)",
    "mean of surfaces": "dp.mean(curves, epsilon=1, bound=dp.L2Ball(1.0), ledger=ledger, "
    "grid=dp.spaces.ProductGrid([dp.Grid.uniform(0, 1, 6), dp.Grid.uniform(0, 1, 4)]))",
    "mean, polynomials": "dp.mean(curves, epsilon=1, bound=dp.L2Ball(1.0), ledger=ledger, "
    "method=dp.methods.Bernstein(5))",
    "density": "dp.density(curves[:, :2], epsilon=1, domain=[(0, 1), (0, 1)], ledger=ledger)",
    "covariance": "dp.covariance(curves, epsilon=1, bound=dp.L2Ball(1.0), ledger=ledger)",
    "radius": "dp.suggest_radius(curves, epsilon=1, bound=dp.L2Ball(8.0), ledger=ledger)",
    "regression": "dp.plans.RegressionPlan(n=400, epsilon=1, bound=dp.L2Ball(1.0), grid=22, covariates=2, "
    "covariate_bound=2.0).release(curves, ledger)",
    "smoother": "dp.plans.SmootherPlan(n=400, epsilon=1, domain=[(0, 1)] * 2, bound=(0, 1)).release(curves[:, :3], "
    "ledger)",
    "kernel": "dp.plans.KernelPlan(n=400, epsilon=1, domain=[(0, 1)] * 5, bound=(0, 1), criterion='huber')"
    ".release(curves[:, :6], ledger)",
}
RELEASE = """
import warnings
import numpy as np, dpfda as dp
warnings.simplefilter("ignore")
curves = np.random.default_rng(0).uniform(0, 1, (400, 24))
ledger = dp.Ledger.create({path!r}, epsilon=1, study="imports")
charge = dp.Ledger.charge
def noted(*given, **options):
    entry = charge(*given, **options)
    before.update(sys.modules)
    return entry
dp.Ledger.charge = noted
"""


#: One process that has loaded the package and no more, and a fork of it for every release.
FORKS = """
import json, os
for name, release in {releases!r}.items():
    ledger = dp.Ledger.create(f"{folder}/{{name}}.ledger", epsilon=1, study="imports")
    sys.stdout.flush()
    if child := os.fork():
        if os.waitpid(child, 0)[1]:
            sys.exit(f"the release of a {{name}} failed")
        continue
    exec(release)
    assert ledger.spent == 1
    print(json.dumps([name, sorted(set(sys.modules) - before)]), flush=True)
    os._exit(0)
"""


@pytest.fixture(scope="module")
def loaded_late(tmp_path_factory):
    """For each release, the modules that it loads after its charge."""
    folder = str(tmp_path_factory.mktemp("ledgers"))
    start = RELEASE.format(path=f"{folder}/study.ledger")
    done = python(START + start + FORKS.format(releases=RELEASES, folder=folder))
    assert done.returncode == 0, done.stderr
    return dict(map(json.loads, done.stdout.splitlines()))


@pytest.mark.parametrize("name", RELEASES)
def test_nothing_is_loaded_after_a_charge(name, loaded_late):
    """What is missing then would cost budget for nothing."""
    assert outside(loaded_late[name]) == set()


@pytest.mark.parametrize("missing", ["flint", "opendp.measurements", "scipy.ndimage"])
def test_a_missing_package_costs_no_budget(missing, tmp_path):
    start = RELEASE.format(path=str(tmp_path / "study.ledger"))
    done = python(f"{START}{start}\nsys.modules[{missing!r}] = None\n{RELEASES['mean']}")
    assert "ModuleNotFoundError" in done.stderr
    ledger = dp.Ledger(tmp_path / "study.ledger")
    assert (ledger.spent, len(ledger.history())) == (0, 0)


def test_all_is_loaded_before_the_charge(monkeypatch, tmp_path):
    """In the order of the door: whatever loading raises, nothing has been charged."""

    def broken() -> None:
        raise ImportError("a package is broken")

    ledger = dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="imports")
    monkeypatch.setattr("dpfda.release.door.load_all", broken)
    with pytest.raises(ImportError, match="broken"):
        dp.mean(np.zeros((40, 8)), epsilon=1, bound=dp.L2Ball(1.0), ledger=ledger)
    assert ledger.spent == 0


def test_pictures_are_ready_before_a_charge(tmp_path):
    """A command that is to draw one loads what draws before it releases."""
    np.savetxt(tmp_path / "curves.csv", np.random.default_rng(0).uniform(0, 1, (400, 8)), delimiter=",")
    ledger = dp.Ledger.create(tmp_path / "study.ledger", epsilon=1, study="imports")
    words = ["mean", str(tmp_path / "curves.csv"), "--epsilon", "1", "--radius", "1", "--quiet", "--anyway"]
    words += ["--ledger", str(ledger.path), "--plot", str(tmp_path / "mean.png")]
    block = 'sys.modules["matplotlib"] = None'
    done = python(f"{START}\n{block}\nfrom dpfda.cli import app; app({words})")
    assert done.returncode == 1, done.stderr
    assert "ModuleNotFoundError" in done.stderr
    assert ledger.spent == 0
    assert python(f"{START}\nfrom dpfda.cli import app; app({words})").returncode == 0
    assert ledger.spent == 1


# -- files, pickles -----------------------------------------------------------------------------


@pytest.fixture
def release():
    kernel = dp.kernels.Matern(1.5, 0.2)
    return dp.mean(np.zeros((400, 8)), epsilon=1, bound=dp.L2Ball(1.0), kernel=kernel)


@pytest.mark.parametrize("load", ["import dpfda; dpfda.load", "import dpfda; dpfda.results.load"])
def test_a_new_process_reads_what_another_wrote(load, release, tmp_path):
    path = tmp_path / "mean.json"
    path.write_text(release.to_json())
    done = python(f"{START}\n{load}({str(path)!r}); print('read')")
    assert done.stdout == "read\n", done.stderr


def test_a_class_of_ours_takes_its_name_back():
    """Whatever is loaded first: files mean ours."""
    script = """
from dpfda.core import codec
from dataclasses import dataclass
@dataclass(frozen=True, eq=False)
class Matern(codec.Fact):
    nu: float
import dpfda.kernels
print(codec.TYPES["Matern"] is dpfda.kernels.Matern)
"""
    assert python(START + script).stdout == "True\n"


def test_parts_of_scipy_are_there():
    ready.load_all()
    assert all(f"scipy.{part}" in sys.modules for part in ready.PARTS)
