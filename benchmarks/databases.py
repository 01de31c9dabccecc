"""Memory of a query: the peak for a table of 1 GB over that for a tenth of it, in DuckDB, SQLite and a dataset.

    python benchmarks/databases.py [--rows N]

The tables are made here, in a temporary folder, and removed: normal values, 48 a row, with the label of a household.
Every reading is a process of its own, and counts what it takes beyond its imports and a small reading. DuckDB keeps
pages of its file in memory for as long as it has room; it is told to keep 256 MB.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import common
import numpy as np
import pyarrow as pa

import dpfda as dp

POINTS, ROWS, LITE_SHARE = 48, 2_500_000, 2
KINDS = ("duckdb", "duckdb, by household", "sqlite", "dataset")
NAMES = [f"h{i:02d}" for i in range(POINTS)]
common.PACKAGES += ("pyarrow", "duckdb", "adbc-driver-sqlite")


def batch(first: int, rows: int) -> pa.Table:
    values = np.random.default_rng(first).normal(size=(POINTS, rows))
    return pa.table({"household": np.arange(first, first + rows) // 10} | dict(zip(NAMES, values, strict=True)))


def made(folder: Path, kind: str, rows: int) -> Path:
    """A table of so many rows, some at a time."""
    import duckdb
    import pyarrow.parquet as pq

    starts = range(0, rows, 50_000)
    path = folder / f"{kind.split(',')[0]}-{rows}"
    if path.exists():
        return path
    if kind.startswith("duckdb"):
        with duckdb.connect(str(path)) as connection:
            for start in starts:
                connection.register("more", batch(start, min(50_000, rows - start)))
                what = "insert into days" if start else "create table days as"
                connection.execute(f"{what} select * from more")
    elif kind == "sqlite":
        import adbc_driver_sqlite.dbapi

        with closing(adbc_driver_sqlite.dbapi.connect(str(path))) as connection, connection.cursor() as cursor:
            for start in starts:
                table = batch(start, min(50_000, rows - start))
                cursor.adbc_ingest("days", table, mode="append" if start else "create")
            connection.commit()
    else:
        path.mkdir()
        for start in starts:
            pq.write_table(batch(start, min(50_000, rows - start)), path / f"part{start:08d}.parquet")
    return path


def opened(path: Path, kind: str) -> dp.reading.Curves:
    order = " order by household" if "household" in kind else ""
    if kind.startswith("duckdb"):
        import duckdb

        connection: Any = duckdb.connect(str(path), read_only=True, config={"memory_limit": "256MB"})
    elif kind == "sqlite":
        import adbc_driver_sqlite.dbapi

        connection = adbc_driver_sqlite.dbapi.connect(str(path))
    else:
        import pyarrow.dataset

        return dp.read(pyarrow.dataset.dataset(path), columns="h[0-9]*")
    return dp.sql(f"select * from days{order}", connection, columns="h[0-9]*")


def peak() -> float:
    return int(re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[0]) / 1024


def job(path: Path, kind: str, small: Path, rows: int) -> dict[str, float]:
    unit = {"unit": "household"} if "household" in kind else {}
    plan = dp.MeanPlan(n=rows, epsilon=1, bound=dp.L2Ball(1.0), grid=POINTS, method=dp.methods.KNorm(16), **unit)
    plan.summarize(opened(small, kind))
    base, start = peak(), time.perf_counter()
    count = plan.summarize(opened(path, kind)).count
    return {"megabytes": peak() - base, "seconds": time.perf_counter() - start, "records": count, "whole": peak()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--job", nargs=4)
    given = parser.parse_args()
    if given.job:
        path, kind, small, rows = given.job
        print(json.dumps(job(Path(path), kind, Path(small), int(rows))))
        return
    figures: dict[str, Any] = {}
    table = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            rows = given.rows // LITE_SHARE if kind == "sqlite" else given.rows
            small, found = made(Path(folder), kind, 1000), []
            for count in (rows // 10, rows):
                words = ["--job", str(made(Path(folder), kind, count)), kind, str(small), str(count)]
                done = subprocess.run([sys.executable, __file__, *words], capture_output=True, text=True, check=True)
                found.append(json.loads(done.stdout))
            tenth, whole = found
            figures[kind] = {"rows": rows, "tenth": tenth, "whole": whole}
            size = rows * POINTS * 8 / 1e6
            table.append(
                [kind, size, tenth["whole"], whole["whole"], whole["whole"] / tenth["whole"], whole["seconds"]]
            )
    common.show("Memory of a query", ["", "MB of values", "peak MB, a tenth", "peak MB", "ratio", "seconds"], table)
    common.save("databases", figures)


if __name__ == "__main__":
    main()
