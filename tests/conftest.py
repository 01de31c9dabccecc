"""Shared fixtures: small public plans and hostile records."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import dpfda as dp
from dpfda import engines
from dpfda.bounds import loops
from dpfda.plans import accuracy, forecast_accuracy, verdict

#: Not tests: a program that needs an extra, and what a type checker reads.
collect_ignore = ["trust/fuzz_atheris.py", "typing/verbs.py"]

# Generated examples are the same in every run: a red test is a reason, not an accident.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever needs Spark takes long."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.long)


METHODS = {
    "FRL": dp.methods.FRL(),
    "FRL-5": dp.methods.FRL(components=5),
    "FRL-kernel": dp.methods.FRL(components=5, noise="kernel"),
    "QR": dp.methods.QR(),
    "QR-kernel": dp.methods.QR(noise="kernel"),
    "QR-fixed": dp.methods.QR(eta=2.0, psi=1e-3),
    "AR": dp.methods.AR(),
    "AR-kernel": dp.methods.AR(noise="kernel"),
    "AR-fixed": dp.methods.AR(eta=2.0, psi=0.02),
    "Minimax": dp.methods.Minimax(),
    "Minimax-kernel": dp.methods.Minimax(noise="kernel"),
    "Minimax-1": dp.methods.Minimax(power=1.0),
    "KNorm": dp.methods.KNorm(),
    "KNorm-3": dp.methods.KNorm(components=3),
}
PAPER = {
    "FRL-paper": dp.methods.FRL(sensitivity="paper"),
    "QR-paper": dp.methods.QR(noise="kernel", sensitivity="paper"),
    "AR-paper": dp.methods.AR(sensitivity="paper"),
    "Minimax-paper": dp.methods.Minimax(sensitivity="paper"),
}
LENGTHS = np.geomspace(1.0, 0.1, 12)


def bounds(grid: dp.Grid) -> dict[str, object]:
    centre = 0.3 + 0.2 * np.sin(3 * grid.points)
    return {
        "L2": dp.L2Ball(0.8),
        "L2-centred": dp.L2Ball(0.8, centre),
        "L1": dp.bounds.L1Ball(1.5),
        "L1-centred": dp.bounds.L1Ball(1.5, 0.2),
        "Ellipsoid": dp.bounds.Ellipsoid(LENGTHS),
        "Ellipsoid-centred": dp.bounds.Ellipsoid(LENGTHS, centre),
        "Box": dp.bounds.Box(LENGTHS),
        "Box-centred": dp.bounds.Box(LENGTHS, 0.1),
    }


GRID = dp.Grid.uniform(0, 1, 21)
BOUNDS = bounds(GRID)


def near(band: dp.results.Band, curve: np.ndarray | float) -> bool:
    """Whether a curve is within three times the width of a band.

    Of a hundred bands of 99 % one may miss. With tails as of Laplace's law, three times a band of 99.9 % misses once in
    10^9.
    """
    wide = band.upper - band.lower
    return bool(((band.lower - wide <= curve) & (curve <= band.upper + wide)).all())


def hostile(size: int) -> list[np.ndarray]:
    """Records that break careless code."""
    t = np.linspace(0, 1, size)
    spike = np.zeros(size)
    spike[size // 3] = 1e300
    patchy = np.sin(t)
    patchy[2] = np.nan
    endless = np.cos(t)
    endless[-1] = np.inf
    return [
        np.zeros(size),
        np.full(size, -0.0),
        np.full(size, 1e308),
        np.full(size, -1e308),
        np.full(size, 5e-324),
        spike,
        -spike,
        np.where(np.arange(size) % 2, 1e308, -1e308),
        np.full(size, 7.0),
        patchy,
        endless,
        np.full(size, np.nan),
        np.full(size, -np.inf),
        1e-160 * np.sin(9 * t),
    ]


@pytest.fixture(autouse=True)
def _noise_stops_no_command(request, monkeypatch):
    """Commands on tiny files are mostly noise: only tests/cli/test_cli_verdict.py lets that stop them."""
    if "dpfda.cli" in sys.modules and request.path.name != "test_cli_verdict.py":
        monkeypatch.setattr("dpfda.cli.console.ON_NOISE", "ignore")


@pytest.fixture(autouse=True, scope="session")
def _cures_are_looked_for_once():
    """Every release of tiny data looks for a cure of its noise, by many plans: equal plans share what is found."""
    known: dict[tuple, dict[str, float]] = {}

    def once(plan: object, rated: tuple[float, str], *more: object) -> object:
        made = judged(plan, rated, *more)
        find = made._find

        def found(better: str) -> dict[str, float]:
            key = (type(plan), plan.digest, rated, better)
            if key not in known:
                known[key] = find(better)
            return known[key]

        made._find = found
        return made

    judged = verdict.verdict
    with pytest.MonkeyPatch.context() as patch:
        for module in (accuracy, forecast_accuracy):
            patch.setattr(module, "verdict", once)
        yield


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: the collector of garbage need not walk through them again and again."""
    gc.collect()
    gc.freeze()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Neighbour tests run twice: with numpy's kernels and with the compiled ones."""
    module, test = metafunc.module.__name__, metafunc.function.__name__
    if module.endswith(("neighbours", "test_stages")) and ("_past_" in test or "neighbour" in test):
        metafunc.fixturenames.append("kernels")
        metafunc.parametrize("kernels", ["plain", "compiled"], indirect=True)


@pytest.fixture
def kernels(request: pytest.FixtureRequest) -> Iterator[str]:
    """The kernels that a test runs with."""
    if request.param == "compiled" and loops.compiled_kernels() is None:
        pytest.skip("the fast extra is not installed")
    with loops.using(request.param):
        yield request.param


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


#: Options of `dp.read`.
READING = ("columns", "header", "layout", "align", "fill", "engine", "progress")


def mean_of(data: object, **options: object) -> object:
    """The released mean of data that is read as some of the options say."""
    reading = {name: options.pop(name) for name in READING if name in options}
    return dp.mean(dp.read(data, **reading), **options)


def plan_of(method: str = "Minimax", bound: str = "L2", **options: object) -> dp.MeanPlan:
    everything = {"n": 40, "epsilon": 1.0, "grid": GRID, "kernel": dp.kernels.Matern(1.5, 0.2)} | options
    return dp.MeanPlan(method=(METHODS | PAPER)[method], bound=BOUNDS[bound], **everything)


def neighbours(
    count_is_private: bool, base: np.ndarray, record: np.ndarray, other: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    if count_is_private:
        return np.vstack([base, record]), base
    return np.vstack([base[1:], record]), np.vstack([base[1:], other])


def losses_between(
    pairs: Iterable[tuple[np.ndarray, np.ndarray]],
    statistic: Callable[[np.ndarray], np.ndarray],
    loss: Callable[[np.ndarray], float],
) -> list[float]:
    """Privacy losses of pairs of data sets. Pairs share many data sets: each is asked for its statistic once."""
    known: dict[tuple, np.ndarray] = {}

    def of(data: np.ndarray) -> np.ndarray:
        key = (data.shape, data.dtype.str, data.tobytes())
        if key not in known:
            known[key] = statistic(data)
        return known[key]

    return [loss(of(first) - of(second)) for first, second in pairs]


def plan_losses(plan: dp.MeanPlan, pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> list[float]:
    """Privacy losses of a plan of one stage, through the front door."""
    return losses_between(pairs, lambda data: plan.statistic(plan.summarize(data)), plan.loss)


def stage_losses(stage: dp.problems.stage.Stage, pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> list[float]:
    """Privacy losses of one stage, through the real path."""

    def statistic(data: np.ndarray) -> np.ndarray:
        summary = engines.summarize(stage.encoder, data)
        stage.check(summary)
        return stage.statistic(summary)

    return losses_between(pairs, statistic, stage.loss)


def stage_loss(stage: dp.problems.stage.Stage, first: np.ndarray, second: np.ndarray) -> float:
    return stage_losses(stage, [(first, second)])[0]


def drawn_without_noise(plan: object, data: np.ndarray) -> list[np.ndarray]:
    """What all stages would release without noise: a fixed stand-in for earlier draws."""
    drawn: list[np.ndarray] = []
    stage = plan.stage
    while stage is not None:
        drawn.append(stage.statistic(engines.summarize(stage.encoder, data)))
        stage = plan.schedule.next(drawn)
    return drawn


# -- Spark ---------------------------------------------------------------------------------------


#: Python workers are forks of a process that has imported the package, so that each starts at once.
DAEMON = """
import dpfda
from pyspark import daemon

if __name__ == "__main__":
    daemon.manager()
"""


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, and there is none")
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    folder = tmp_path_factory.mktemp("spark")
    (folder / "ready_daemon.py").write_text(DAEMON)
    session = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        paths = [str(folder), str(Path(dp.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in paths if path))
        settings = {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.python.daemon.module": "ready_daemon",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.warehouse.dir": str(folder),
            "spark.local.dir": str(folder),
            "spark.task.maxFailures": "1",
            "spark.driver.memory": "512m",
            # A session this short is over before a second compiler and parallel collectors pay off.
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        }
        builder = sql.SparkSession.builder.master("local[2]").appName("tests")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
