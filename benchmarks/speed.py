"""How fast what people really run is, each time over what they would run without privacy, in the same run.

    python benchmarks/speed.py [--only TEXT] [--small]

Ratios of the shortest of several runs, plan, charge and noise included. "fast" has the compiled kernels of the `fast`
extra, "numpy" has not. The first row is what a user gets who sets nothing. A run needs 6 GB of memory and of disk.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import common
import files_speed
import numpy as np
import planning_speed

import dpfda as dp
from dpfda.bounds import loops

KERNELS = {"fast": "compiled", "numpy": "plain"}
COLUMNS = 100
#: More would need a larger Java process.
SPARK_ROWS = 500_000


@dataclass
class Row:
    """One line of the table: what was measured, over what, and what was wanted of it."""

    what: str
    unit: str
    wanted: dict[str, float]
    reached: dict[str, float]
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def missed(self) -> list[str]:
        return [name for name, wanted in self.wanted.items() if self.reached.get(name, np.inf) > wanted]

    def cells(self) -> list[str]:
        found = [f"{self.reached[name]:.3g}" if name in self.reached else "" for name in ("fast", "numpy")]
        aims = [f"{self.wanted[name]:g}" if name in self.wanted else "" for name in ("fast", "numpy")]
        return [self.what, found[0], aims[0], found[1], aims[1], self.unit, ", ".join(self.missed) or "reached"]


def over(peer: Callable[[], Any], run: Callable[[], Any], seconds: float = 2.0) -> tuple[dict[str, float], float]:
    """Time over the peer's, with either kernels; and the peer's seconds, the best of before and after."""
    base, found = common.best_time(peer, seconds=1.5, least=3), {}
    for name, kernels in KERNELS.items():
        with loops.using(kernels):
            run()  # what is loaded once is not part of it
            found[name] = common.best_time(run, seconds=seconds, least=3)
    base = min(base, common.best_time(peer, seconds=1.5, least=3))
    return {name: took / base for name, took in found.items()}, base


def means(rows: int) -> Iterator[Row]:
    curves, bound = np.random.default_rng(0).standard_normal((rows, COLUMNS)) * 0.8, dp.L2Ball(1.0)
    size, peer = f"{rows:,} x {COLUMNS}", partial(curves.mean, axis=0)
    plan = dp.MeanPlan(n=rows, epsilon=1, bound=bound, grid=COLUMNS)
    ratios, base = over(peer, lambda: dp.mean(curves, epsilon=1, bound=bound))
    passes = plan.schedule.passes
    a_pass = {name: ratio / passes for name, ratio in ratios.items()}
    yield Row(
        f"dp.mean, default, {passes} passes, {size} float64", "times X.mean(axis=0), a pass",
        {"fast": 5, "numpy": 10}, a_pass, {"in all": ratios, "mean_seconds": base},
    )  # fmt: skip
    methods = {"Auto(passes=1, check=False)": dp.Auto(passes=1, check=False), "Minimax()": dp.methods.Minimax()}
    for (name, method), wanted in zip(methods.items(), (1.2, 1.0), strict=True):
        ratios, _ = over(peer, lambda method=method: dp.mean(curves, epsilon=1, bound=bound, method=method))
        yield Row(f"the same, {name}", "times X.mean(axis=0)", {"fast": wanted, "numpy": 3}, ratios)


def single_precision(rows: int) -> Iterator[Row]:
    single, bound = np.random.default_rng(0).standard_normal((rows, COLUMNS), dtype=np.float32), dp.L2Ball(1.0)
    run = partial(dp.mean, single, epsilon=1, bound=bound, method=dp.methods.Minimax())
    ratios, _ = over(partial(single.mean, axis=0), run)
    yield Row(
        f"dp.mean, Minimax(), {rows:,} x {COLUMNS} float32", "times X32.mean(axis=0)", {"fast": 1.3, "numpy": 4}, ratios
    )


def covariances(rows: int) -> Iterator[Row]:
    from sklearn.decomposition import PCA

    curves = np.random.default_rng(0).standard_normal((rows, COLUMNS)) * 0.8
    ratios, _ = over(lambda: PCA(3).fit(curves), lambda: dp.covariance(curves, epsilon=1, bound=dp.L2Ball(1.0)))
    yield Row(f"dp.covariance, default, {rows:,} x {COLUMNS}", "times PCA(3).fit", {"fast": 3, "numpy": 8}, ratios)


def densities(points: int) -> Iterator[Row]:
    x = np.random.default_rng(0).beta(2, 3, points)
    ratios, _ = over(partial(np.histogram, x, bins=512, range=(0, 1)), lambda: dp.density(x, epsilon=1, domain=(0, 1)))
    yield Row(f"dp.density, default, {points:,} points", "times np.histogram", {"fast": 4, "numpy": 10}, ratios)


def regressions(rows: int) -> Iterator[Row]:
    from sklearn.linear_model import LinearRegression

    rng = np.random.default_rng(0)
    curves, inputs = rng.standard_normal((rows, COLUMNS)) * 0.8, rng.uniform(-1, 1, (rows, 2))
    facts = {"epsilon": 1.0, "bound": dp.L2Ball(1.0), "covariate_bound": [(-1, 1), (-1, 1)], "grid": COLUMNS}
    ratios, _ = over(
        lambda: LinearRegression().fit(inputs, curves),
        lambda: dp.FunctionOnScalarRegression(**facts).fit(inputs, curves),
    )
    yield Row(
        f"FunctionOnScalarRegression.fit, {rows:,} x {COLUMNS}, two covariates", "times LinearRegression().fit",
        {"fast": 1, "numpy": 4}, ratios,
    )  # fmt: skip


def of_process(*command: str) -> float:
    """Seconds of a process of its own, the shortest of several; bytecode is there, as it is after an installation."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    run = partial(subprocess.run, command, stdout=subprocess.DEVNULL, check=True, env=environment)
    run()
    return common.best_time(run, seconds=2.0, least=7)


def peak_of(code: str) -> float:
    """Megabytes at the peak of a process of its own."""
    tell = "\nimport re; print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read()).group(1))"
    done = subprocess.run([sys.executable, "-c", code + tell], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


#: Everything at the top of the package but the scikit-learn estimators and the room that they are in.
EVERYTHING = (
    "import dpfda\n"
    "apart = {'FunctionOnScalarRegression', 'KernelClassifier', 'KernelRegressor', 'estimators'}\n"
    "for name in set(dpfda.__all__) - apart: getattr(dpfda, name)"
)


def imports() -> Iterator[Row]:
    python, command = sys.executable, str(Path(sys.executable).parent / "dpfda")
    numpy, bare = of_process(python, "-c", "import numpy"), of_process(python, "-c", "import dpfda")
    used, shown = of_process(python, "-c", EVERYTHING), of_process(command, "--help")
    both = lambda value: dict.fromkeys(KERNELS, value)  # noqa: E731
    more = {"numpy_seconds": numpy}
    yield Row("import dpfda", "times import numpy", both(3), both(bare / numpy), more)
    yield Row("import dpfda and all names but estimators", "times import numpy", both(3), both(used / numpy), more)
    yield Row("dpfda --help", "times import numpy", both(4), both(shown / numpy), more)
    yield Row("peak memory of import dpfda", "MB", both(80), both(peak_of("import dpfda")))
    yield Row("peak memory with all names but estimators", "MB", both(80), both(peak_of(EVERYTHING)))


def planning() -> Iterator[Row]:
    for row in [*planning_speed.solve_rows(), planning_speed.warm_plan_row()]:
        yield Row(row["what"], "seconds", {"fast": row["wanted"]}, {"fast": row["seconds"]})


def files(rows: int) -> Iterator[Row]:
    reached, more = {}, {}
    for name, kernels in KERNELS.items():
        with loops.using(kernels):
            more[name] = files_speed.parquet_row(rows, rounds=2)
        reached[name] = more[name]["ratio"]
    yield Row(
        f"dp.mean, default, {rows:,} x {COLUMNS} in 20 Parquet files", "times a pyarrow loop that only sums",
        {"fast": 8, "numpy": 20}, reached, more,
    )  # fmt: skip
    found = files_speed.spark_row(min(rows, SPARK_ROWS), rounds=2)
    for name, ratio in (("a DataFrame", "frame_ratio"), ("files by name", "ratio")):
        what = f"dp.mean, default, {found['rows']:,} x {COLUMNS} on Spark local[2], {name}"
        yield Row(what, "times the local engine", {"fast": 2}, {"fast": found[ratio]}, found)


FRESH = """
import time, numpy as np, dpfda as dp
from dpfda.bounds import loops
x = np.random.default_rng(0).standard_normal((20_000, 100))
with loops.using("plain"):
    dp.mean(x, epsilon=1, bound=dp.L2Ball(1.0))
start = time.perf_counter()
with loops.using("compiled"):
    dp.mean(x, epsilon=1, bound=dp.L2Ball(1.0))
print(time.perf_counter() - start)
"""

MEMORY = """
import re, warnings, numpy as np, dpfda as dp
warnings.simplefilter("ignore")
x = np.random.default_rng(0).standard_normal(({rows}, 100))
dp.mean(x[:100_000], epsilon=1, bound=dp.L2Ball(1.0))
open("/proc/self/clear_refs", "w").write("5")
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) / 1024
before = peak()
dp.mean(x, epsilon=1, bound=dp.L2Ball(1.0))
print(peak() - before)
"""


def asides(rows: int) -> dict[str, Any]:
    """What a table of ratios does not show: the first call on a fresh machine, and memory beside the data."""
    python, found = [sys.executable, "-W", "ignore", "-c"], {}
    with tempfile.TemporaryDirectory() as folder:
        place = os.environ | {"NUMBA_CACHE_DIR": folder}
        times = [
            float(subprocess.run([*python, FRESH], capture_output=True, text=True, check=True, env=place).stdout)
            for _ in range(2)
        ]
    found["first_call_seconds"], found["first_call_of_a_later_process_seconds"] = times
    if Path("/proc/self/clear_refs").exists():
        script = MEMORY.format(rows=rows)
        done = subprocess.run([*python, script], capture_output=True, text=True, check=True)
        found["megabytes_beside_the_data"] = float(done.stdout)
    for name, value in found.items():
        print(f"  {re.sub('_', ' ', name)}: {value:.3g}")
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="parts whose name holds this text")
    parser.add_argument("--small", action="store_true", help="a tenth of the records, to see that it runs")
    options = parser.parse_args()
    part = 10 if options.small else 1
    parts: dict[str, Callable[[], Iterator[Row]]] = {
        "means": partial(means, 1_000_000 // part),
        "single precision": partial(single_precision, 1_000_000 // part),
        "covariances": partial(covariances, 200_000 // part),
        "densities": partial(densities, 10_000_000 // part),
        "regressions": partial(regressions, 200_000 // part),
        "imports": imports,
        "planning": planning,
        "files": partial(files, 2_500_000 // part),
    }
    rows = []
    for name, run in parts.items():
        for row in run() if options.only in name else ():
            print(f"  {row.what}: {row.reached}", flush=True)
            rows.append(row)
    head = ["what a user writes", "fast", "wanted", "numpy", "wanted", "unit", "missed"]
    common.show(f"Speed, {loops.threads()} threads", head, [row.cells() for row in rows])
    if not options.only and not options.small:
        figures = [vars(row) | {"missed": row.missed} for row in rows]
        common.save("speed", {"threads": loops.threads(), "rows": figures, "asides": asides(1_000_000)})


if __name__ == "__main__":
    main()
