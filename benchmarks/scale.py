"""How far: files larger than memory, two workers, Spark, units, and whether time grows in step with records.

    python benchmarks/scale.py [--quick | --long] [--data DIR] [--rows N] [--skip-spark]

The data is made here: normal values, so that an L2 bound clips half of the curves. All ratios are
within one run, on files that the system has just read. Contenders take turns, each time in a fresh
process; the best time counts. Imports, the plan, the start of clusters and the compiled loop's first
call (it is loaded by a small summary of 2^20 values) are not counted.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import common
import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq

import dpfda as dp
from dpfda.bounds import loops

POINTS, FILES, ROWS, LISTS = 100, 20, 2_500_000, 250_000
HOUSEHOLDS, DAYS, HALF_HOURS = 100_000, 30, 48
#: Records of each run that shows how time grows, over those of the main data.
SHARES = (0.4, 0.8, 1.6, 2.8, 4.0)
WANTED = {"fast": 1.5, "numpy": 2.2, "megabytes": 250.0, "dask": 1.6}
LABELS = {"sums": "plain sums by pyarrow", "fast": "dpfda with numba (extra: fast)", "numpy": "dpfda, plain numpy"}
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
common.PACKAGES += ("pyarrow", "dask", "distributed", "pyspark")


def parts(folder: Path, count: int, make: Callable[[int], pa.Table | str]) -> list[str]:
    """Tables with pyarrow's defaults, or other names of files; what is there already is left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"part{i:03d}.parquet" for i in range(count)]
    for i, path in enumerate(paths):
        if not path.exists():
            made, part = make(i), path.with_suffix(".unfinished")
            shutil.copyfile(made, part) if isinstance(made, str) else pq.write_table(made, part)
            part.rename(path)
    return [str(path) for path in paths]


def wide(seed: int, points: int, rows: int) -> dict[str, np.ndarray]:
    return {f"t{i:03d}": row for i, row in enumerate(np.random.default_rng(seed).normal(size=(points, rows)))}


def days(households: int) -> pa.Table:
    """A month of days for each household, sorted."""
    return pa.table({"household": np.repeat(np.arange(households), DAYS)} | wide(0, HALF_HOURS, households * DAYS))


def peak() -> float:
    """Largest memory of this process so far in MB, where Linux tells (`ru_maxrss` begins with the parent's)."""
    status = Path("/proc/self/status")
    return int(re.findall(r"VmHWM:\s+(\d+)", status.read_text())[0]) / 1024 if status.exists() else math.nan


def clock(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def plan_of(rows: int, points: int = POINTS, **more: Any) -> dp.MeanPlan:
    return dp.MeanPlan(n=rows, epsilon=1, bound=dp.L2Ball(1.0), grid=points, method=dp.methods.KNorm(16), **more)


def warm() -> None:
    """Load what is compiled, by a summary that is large enough to use it."""
    plan_of(1000).summarize(np.zeros((2**20 // POINTS + 1, POINTS)))


def one_thread() -> None:
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)


def job_sums(files: list[str]) -> dict[str, Any]:
    """The yardstick: read everything and add up columns, nothing else."""
    base, start, totals = peak(), time.perf_counter(), np.zeros(POINTS)
    for path in files:
        for batch in pq.ParquetFile(path).iter_batches():
            totals += [pyarrow.compute.sum(column).as_py() for column in batch.columns]
    return {"seconds": time.perf_counter() - start, "megabytes": peak() - base}


def job_stream(
    files: list[str], rows: int, points: int = POINTS, unit: str | None = None, compiled: bool = True
) -> dict[str, Any]:  # fmt: skip
    """One summary of files; `calls` counts uses of the compiled loop."""
    base, calls = peak(), []
    if not compiled:
        loops.compiled_kernels = lambda: None
    elif (kernels := loops.compiled_kernels()) is not None:
        loop = kernels.sum_clipped
        kernels.sum_clipped = lambda *given: calls.append(1) or loop(*given)
    warnings.simplefilter("ignore", dp.errors.UnitWarning)
    plan = plan_of(rows, points, unit=unit)
    ready = time.time() - float(os.environ["BEGAN"])
    warm()
    calls.clear()
    seconds, summary = clock(lambda: plan.summarize(dp.read(files, columns="t*")))
    merging = clock(lambda: functools.reduce(lambda a, b: a.plus(b), [summary] * 1000))[0] / 999
    return {
        "seconds": seconds, "megabytes": peak() - base, "ready": ready, "merge": merging, "calls": len(calls),
        "summary": [summary.key, summary.count, summary.totals.tolist()],
    }  # fmt: skip


def in_turns(rounds: int, here: Callable[[], Any], there: Callable[[], Any]) -> dict[str, Any]:
    runs = [(*clock(here), *clock(there)) for _ in range(rounds)]
    here_best, there_best = min(run[0] for run in runs), min(run[2] for run in runs)
    return {"here": here_best, "there": there_best, "identical_bits": all(run[1] == run[3] for run in runs)}


def job_dask(files: list[str], rows: int, rounds: int) -> dict[str, Any]:
    """One process and two worker processes, all of one thread."""
    from distributed import Client, LocalCluster

    one_thread()
    warm()
    plan = plan_of(rows)
    workers = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**workers) as cluster, Client(cluster) as client:
        client.run(one_thread)
        client.run(warm)
        plan.summarize(dp.read(files[:2], engine="dask"))
        return in_turns(rounds, lambda: plan.summarize(files), lambda: plan.summarize(dp.read(files, engine="dask")))


def job_spark(files: list[str], rows: int, rounds: int) -> dict[str, Any]:
    """A column of lists, by this process and by Spark on two cores."""
    from pyspark.sql import SparkSession

    plan = plan_of(rows)
    read = lambda data: plan.summarize(dp.read(data, layout=dp.Lists("curve")))  # noqa: E731
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    warm()
    frame = session.read.parquet(*files)
    read(session.read.parquet(files[0]))
    return in_turns(rounds, lambda: read(files), lambda: read(frame))


JOBS = {"sums": job_sums, "stream": job_stream, "dask": job_dask, "spark": job_spark}


def fresh(job: str, more: dict[str, str] | None = None, **given: Any) -> dict[str, Any]:
    """A job in a process of its own; its last line is what it found."""
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "BEGAN": str(time.time())} | (more or {})
    command = [sys.executable, __file__, "--job", job, json.dumps(given)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"the job {job} failed:\n{done.stderr[-4000:]}")
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def best(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The fastest run, with the largest memory of all."""
    return min(runs, key=lambda run: run["seconds"]) | {"megabytes": max(run["megabytes"] for run in runs)}


def streaming(files: list[str], rows: int, rounds: int) -> dict[str, Any]:
    """Reading, clipping and exact sums over reading and plain sums; memory above the imports."""
    ways = ["numpy"] if loops.compiled_kernels() is None else ["fast", "numpy"]
    if "fast" not in ways:
        print("numba is not installed: its row is left out.")
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in ("sums", *ways)}
    for _ in range(rounds):
        runs["sums"].append(fresh("sums", files=files))
        for name in ways:
            runs[name].append(fresh("stream", files=files, rows=rows, compiled=name == "fast"))
    found = {name: best(row) for name, row in runs.items()}
    base = found["sums"]["seconds"]
    ratios = {name: found[name]["seconds"] / base for name in ways}
    megabytes = {name: row["megabytes"] for name, row in found.items()}
    same = all(run["summary"] == found["numpy"]["summary"] for name in ways for run in runs[name])
    common.show(
        f"{rows:,} x {POINTS} float64 in {FILES} Parquet files: best of {rounds}",
        ["contender", "seconds", "over plain sums", "wanted", "MB above imports"],
        [[LABELS[n], r["seconds"], r["seconds"] / base, WANTED.get(n, ""), r["megabytes"]] for n, r in found.items()],
    )
    if "fast" in ways and not found["fast"]["calls"]:
        print("  NOTE: the compiled loop was never used: batches are smaller than it asks for")
    enough = all(ratios[n] <= WANTED[n] and megabytes[n] <= WANTED["megabytes"] for n in ways)
    words = "reached" if enough else "MISSED"
    print(f"  identical bits: {same}; the ratios, and at most {WANTED['megabytes']:.0f} MB: {words}")
    return {
        "rows": rows, "points": POINTS, "files": FILES, "bytes": sum(Path(f).stat().st_size for f in files),
        "seconds": {name: row["seconds"] for name, row in found.items()}, "ratio_to_sums": ratios,
        "megabytes": megabytes, "identical_bits": same, "ready_seconds": found["numpy"]["ready"],
        "merge_seconds": found["numpy"]["merge"], "compiled_calls": found.get("fast", {}).get("calls"),
    }  # fmt: skip


def engines(files: list[str], rows: int, lists: list[str], few: int, rounds: int, skip: bool) -> dict[str, Any]:
    """Dask with two workers against one process, Spark on two cores against the local engine."""
    found: dict[str, Any] = {"dask": None, "spark": None}
    if importlib.util.find_spec("distributed"):
        found["dask"] = fresh("dask", ONE_THREAD, files=files, rows=rows, rounds=rounds) | {"rows": rows}
    else:
        print("distributed is not installed: its row is left out.")
    java = shutil.which("java") or "JAVA_HOME" in os.environ
    if skip or not java or not importlib.util.find_spec("pyspark"):
        print(f"Spark is left out: {'as asked' if skip else 'Java or pyspark is not installed'}.")
    else:
        run = fresh("spark", files=lists, rows=few, rounds=rounds)
        found["spark"] = run | {"rows": few, "seconds_per_million": run["there"] / few * 1e6}
    for row in filter(None, found.values()):
        row["times_faster"] = row["here"] / row["there"]
    columns = ("rows", "here", "there", "times_faster", "identical_bits")
    common.show(
        "Two Dask workers (one thread each, one here); Spark local[2] (lists)",
        ["engine", "curves", "seconds here", "seconds there", "times faster", "identical bits"],
        [[name, *(row[column] for column in columns)] for name, row in found.items() if row],
    )
    if row := found["dask"]:
        words = "reached" if row["times_faster"] >= WANTED["dask"] and row["identical_bits"] else "MISSED"
        print(f"  Dask: wanted at least {WANTED['dask']} times faster, with identical bits: {words}")
    return found


def units(files: list[str], households: int, rounds: int) -> dict[str, Any]:
    """Days of households: averaged first, or each as if it were a record of its own."""
    cases: dict[str, dict[str, Any]] = {
        "households": {"rows": households, "unit": "household"},
        "days": {"rows": households * DAYS},
    }
    runs: dict[str, list[Any]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, given in cases.items():
            runs[name].append(fresh("stream", files=files, points=HALF_HOURS, **given))
    found = [best(row) for row in runs.values()]
    ratios = [found[0]["seconds"] / row["seconds"] for row in found]
    common.show(
        f"{households:,} households x {DAYS} days of {HALF_HOURS} half hours, in one sorted Parquet file",
        ["records", "seconds", "households over these", "MB above imports"],
        [[name, r["seconds"], ratio, r["megabytes"]] for name, r, ratio in zip(cases, found, ratios, strict=True)],
    )
    return {
        "households": households, "days": DAYS, "seconds": found[0]["seconds"], "megabytes": found[0]["megabytes"],
        "ratio_to_days": ratios[1],
    }  # fmt: skip


def linearity(files: list[str], rows: int, folder: Path, rounds: int) -> dict[str, Any]:
    """Seconds against records: an affine fit, its R^2 and its largest relative residual."""
    counts = [round(share * FILES) for share in SHARES]
    n = np.array([count * (rows // FILES) for count in counts])
    paths = parts(folder, max(counts), lambda i: files[i % FILES])
    runs = [
        [fresh("stream", files=paths[:count], rows=int(size))["seconds"] for count, size in zip(counts, n, strict=True)]
        for _ in range(rounds)
    ]
    seconds = np.min(runs, axis=0)
    slope, start = np.polyfit(n, seconds, 1)
    residuals = seconds - (start + slope * n)
    fit = 1 - float((residuals**2).sum() / ((seconds - seconds.mean()) ** 2).sum())
    largest = float(np.abs(residuals / seconds).max())
    common.show(
        "Seconds against records",
        ["", *(f"n = {size:,}" for size in n)],
        [["seconds", *seconds.tolist()], ["per million", *(seconds / n * 1e6).tolist()]],
    )
    print(f"  {start:.3g} s + {slope * 1e6:.4g} s per million; R^2 {fit:.5f}, largest residual {largest:.1%}")
    return {
        "rows": n.tolist(), "seconds": seconds.tolist(), "start": float(start), "per_record": float(slope),
        "r_squared": fit, "largest_relative_residual": largest,
    }  # fmt: skip


def measure(options: argparse.Namespace, folder: Path) -> None:
    part = 10 if options.quick else 1
    rounds = 2 if options.quick else 7 if options.long else 3
    rows = (options.rows or ROWS // part) // FILES * FILES
    households, few = HOUSEHOLDS // part, LISTS // part
    files = parts(folder / f"wide-{rows}", FILES, lambda i: pa.table(wide(i, POINTS, rows // FILES)))
    found = {"quick": options.quick, "rounds": rounds, "cores": os.cpu_count()}
    found["streaming"] = streaming(files, rows, rounds)
    rows_of = lambda i: list(np.random.default_rng(i).normal(size=(few // 4, POINTS)))  # noqa: E731
    lists = parts(folder / f"lists-{few}", 4, lambda i: pa.table({"curve": rows_of(i)}))
    found |= engines(files, rows, lists, few, rounds, options.skip_spark)
    owned = parts(folder / f"days-{households}", 1, lambda i: days(households))
    found["units"] = units(owned, households, rounds)
    found["linearity"] = linearity(files, rows, folder / f"copies-{rows}", rounds)
    common.save("scale", found | {"wanted": WANTED})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, two rounds")
    parser.add_argument("--long", action="store_true", help="seven rounds instead of three")
    parser.add_argument("--data", type=Path, help="keep the data here, and use what is there")
    parser.add_argument("--rows", type=int, help="curves of the main data")
    parser.add_argument("--skip-spark", action="store_true")
    parser.add_argument("--job", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        print(json.dumps(JOBS[options.job[0]](**json.loads(options.job[1]))))
    elif options.data:
        measure(options, options.data)
    else:
        with tempfile.TemporaryDirectory() as folder:
            measure(options, Path(folder))


if __name__ == "__main__":
    main()
