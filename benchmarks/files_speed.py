"""Files: a default mean from Parquet over plain sums of the same files, and Spark over this process.

    python benchmarks/files_speed.py [--rows N] [--spark-rows N]

The files are made here, in a temporary folder, and removed. Contenders take turns; the best time counts. Imports, the
start of Spark and the first call of compiled loops are not counted.
"""

from __future__ import annotations

import argparse
import os
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

POINTS, FILES, SPARK_FILES = 100, 20, 4
ROWS, SPARK_ROWS = 2_500_000, 250_000
BOUND = dp.L2Ball(10.0)


def made(folder: Path, rows: int, files: int, lists: bool) -> list[str]:
    """Normal values, in columns or (`lists`) in one column of lists."""
    paths = []
    for number in range(files):
        values = np.random.default_rng(number).standard_normal((rows // files, POINTS))
        if lists:
            table = pa.table({"curve": pa.ListArray.from_arrays(
                np.arange(0, values.size + 1, POINTS, dtype=np.int32), values.ravel())})  # fmt: skip
        else:
            table = pa.table({f"t{i:03d}": values[:, i] for i in range(POINTS)})
        paths.append(str(folder / f"part{number:03d}.parquet"))
        pq.write_table(table, paths[-1])
    return paths


def plain_sums(files: list[str]) -> np.ndarray:
    """The yardstick: read everything and add up columns, nothing else."""
    totals = np.zeros(POINTS)
    for path in files:
        for batch in pq.ParquetFile(path).iter_batches():
            totals += [pyarrow.compute.sum(column).as_py() for column in batch.columns]
    return totals


def in_turns(rounds: int, *contenders: Callable[[], Any]) -> list[float]:
    """The best time of each."""
    best = [float("inf")] * len(contenders)
    for _ in range(rounds):
        for i, run in enumerate(contenders):
            start = time.perf_counter()
            run()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def default_mean(data: object) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dp.mean(data, epsilon=1, bound=BOUND)


def parquet_row(rows: int = ROWS, rounds: int = 3) -> dict[str, Any]:
    """A default mean, all of its passes, over one pass of plain sums; and one pass that encodes nothing."""
    with tempfile.TemporaryDirectory() as name:
        files = made(Path(name), rows, FILES, lists=False)
        default_mean(files[:1])  # compiled loops are loaded
        sums, mean, reading = in_turns(
            rounds, lambda: plain_sums(files), lambda: default_mean(files), lambda: read_only(files)
        )
    return {
        "rows": rows, "points": POINTS, "files": FILES, "sums_seconds": sums, "mean_seconds": mean,
        "reading_seconds": reading, "reading_ratio": reading / sums, "ratio": mean / sums,
    }  # fmt: skip


def read_only(files: list[str]) -> int:
    """One pass to the door of a problem and no further."""
    return sum(len(raw) for raw in dp.read(files).source().blocks(read_ahead=True))


def spark_row(rows: int = SPARK_ROWS, rounds: int = 3) -> dict[str, Any]:
    """A default mean on Spark's two cores, over this process, from the same files of a column of lists.

    `ratio` is for files that are named (``engine="spark"``), `frame_ratio` for a DataFrame of the same files, whose
    rows Spark itself reads and writes for Python.
    """
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    session = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    grid = dp.Grid.uniform(0, 1, POINTS)
    try:
        with tempfile.TemporaryDirectory() as name:
            files = made(Path(name), rows, SPARK_FILES, lists=True)
            frame = session.read.parquet(*files)

            def mean(data: object, engine: Any = None) -> Any:
                return default_mean(dp.read(data, layout=dp.Lists("curve"), grid=grid, engine=engine))

            contenders = (lambda: mean(files), lambda: mean(files, "spark"), lambda: mean(frame))
            in_turns(1, *contenders)  # workers start and load what is compiled
            here, there, by_rows = in_turns(rounds, *contenders)
    finally:
        session.stop()
    return {
        "rows": rows, "points": POINTS, "files": SPARK_FILES, "local_seconds": here, "spark_seconds": there,
        "frame_seconds": by_rows, "local_seconds_per_million": here / rows * 1e6,
        "spark_seconds_per_million": there / rows * 1e6, "frame_seconds_per_million": by_rows / rows * 1e6,
        "ratio": there / here, "frame_ratio": by_rows / here,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--spark-rows", type=int, default=SPARK_ROWS)
    parser.add_argument("--skip-spark", action="store_true")
    options = parser.parse_args()
    found = {"parquet": parquet_row(options.rows)}
    if not options.skip_spark:
        found["spark"] = spark_row(options.spark_rows)
    for name, row in found.items():
        common.show(name, list(row), [list(row.values())])
    common.save("files_speed", found)


if __name__ == "__main__":
    main()
