"""What many files cost: streams, engines, units, and a forecast for many machines; memory of queries."""

from __future__ import annotations

import math
from typing import Any

from dpfda.engines.dask_engine import FAN
from figures.saved import Saved
from figures.text import held, number, percent, table

LABELS = {"fast": "with the `fast` extra", "numpy": "with numpy alone"}
#: The forecast: curves, nodes, and megabytes per second that storage gives each node.
CURVES, NODES, SPEEDS = 10**9, 100, (100, 250, 1000)
#: Queries, as the page calls them.
QUERIES = {
    "duckdb": "DuckDB",
    "duckdb, by household": "DuckDB, by household",
    "sqlite": "SQLite",
    "dataset": "Arrow dataset",
}


def figures(saved: Saved) -> dict[str, Any]:
    found, queries = saved.take("scale"), saved.take("databases")
    main, line = found["streaming"], found["linearity"]
    return {
        "rows": f"{main['rows']:,}",
        "points": f"{main['points']:,}",
        "files": f"{main['files']:,}",
        "cores": f"{found['cores']:,}",
        "rough": "A quick run, whose figures are rough: a" if found["quick"] else "A",
        "measured": table(["what", "figure", "wanted"], _measured(found)),
        "fit_from": f"{line['rows'][0]:,}",
        "fit_to": f"{line['rows'][-1]:,}",
        "fit_start": f"{line['start']:.2g}",
        "fit_slope": number(line["per_record"] * 1e6, 3),
        "fit_r2": f"{line['r_squared']:.4f}",
        "fit_off": percent(line["largest_relative_residual"], 1),
        **_forecast(main, line),
        "queries": table(["query", "rows", "MB of values", "peak MB, a tenth of it", "peak MB", "times", "seconds"],
                         [_query(words, queries[name]) for name, words in QUERIES.items() if name in queries]),
    }  # fmt: skip


def _measured(found: dict[str, Any]) -> list[list[Any]]:
    main, dask, spark, own, wanted = (found[name] for name in ("streaming", "dask", "spark", "units", "wanted"))
    ways = main["ratio_to_sums"]
    rows = [[f"time over plain sums by pyarrow, {LABELS[name]}", held(ratio, wanted[name]), f"at most {wanted[name]:g}"]
            for name, ratio in ways.items()]  # fmt: skip
    used = max(main["megabytes"][name] for name in ways)
    megabytes = f"{used:,.0f} MB"
    most = wanted["megabytes"]
    rows.append(["peak memory above the imports", f"**{megabytes}**" if used > most else megabytes,
                 f"at most {most:g} MB"])  # fmt: skip
    if dask:
        faster = held(dask["times_faster"], wanted["dask"], least=True)
        rows.append(["two Dask workers over one process, one thread each: times faster", faster,
                     f"at least {wanted['dask']:g}"])  # fmt: skip
    if spark:
        rows.append(["Spark on two cores, curves as lists: seconds per million curves",
                     number(spark["seconds_per_million"]), "-"])  # fmt: skip
        rows.append(["the same over the time of the local engine", number(1 / spark["times_faster"]), "-"])
    who = f"{own['households']:,} households with {own['days']} days each, as units"
    same = all(engine["identical_bits"] for engine in (main, dask, spark) if engine)
    return [
        *rows,
        [f"{who}: seconds", number(own["seconds"]), "-"],
        ["the same over the time of their days alone", number(own["ratio_to_days"]), "-"],
        ["the same, peak memory above the imports", f"{own['megabytes']:,.0f} MB", "-"],
        ["the same totals from all of them, bit for bit", same, "yes"],
    ]


def _forecast(main: dict[str, Any], line: dict[str, Any]) -> dict[str, Any]:
    """What many curves cost on many nodes like the one that was measured."""
    each = main["rows"] // main["files"]
    share, files, size = CURVES // NODES, CURVES // each, main["bytes"] / main["rows"]
    levels = math.ceil(math.log(files, FAN))
    work, merging = line["per_record"] * share, levels * FAN * main["merge_seconds"]
    start = main["ready_seconds"] + max(0.0, line["start"])
    rows = []
    for speed in SPEEDS:
        brought = share * size / (speed * 1e6)
        whole = (start + brought + work + merging) / 60
        rows.append([f"{speed:,} MB/s", f"{brought:.0f} s", f"{work:.0f} s", f"{whole:.1f} minutes"])
    return {
        "share": f"{share:,}",
        "gigabytes": number(share * size / 1e9, 3),
        "bytes": f"{size:,.0f}",
        "start": f"{start:.1f}",
        "ready": f"{main['ready_seconds']:.1f}",
        "intercept": f"{max(0.0, line['start']):.1f}",
        "work": f"{work:.0f}",
        "many_files": f"{files:,}",
        "curves_a_file": f"{each:,}",
        "levels": f"{levels}",
        "fan": f"{FAN}",
        "merge_us": number(main["merge_seconds"] * 1e6, 1),
        "merging_ms": number(merging * 1e3, 1),
        "forecast": table(["storage gives each node", "bringing the bytes", "decoding, clipping, adding up",
                           "whole run"], rows),
    }  # fmt: skip


def _query(words: str, found: dict[str, Any]) -> list[Any]:
    tenth, whole = found["tenth"]["whole"], found["whole"]["whole"]
    size = found["rows"] * 48 * 8 / 1e6  # 48 values a row (databases.py)
    return [words, found["rows"], f"{size:,.0f}", f"{tenth:,.0f}", f"{whole:,.0f}", whole / tenth,
            found["whole"]["seconds"]]  # fmt: skip
