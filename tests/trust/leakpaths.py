"""Every way in and out of the package, each ready to be driven with marked data (see `leaknet`)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask
import dask.array
import dask.dataframe
import distributed
import matplotlib as mpl
import numpy as np
import opendp.prelude as odp
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import skfda
import xarray as xr
from leaknet import ASIDE, COUNT, PERSON, VALUE, WARD, Mark, number, whole

import dpfda as dp
from dpfda.cli.app import app
from dpfda.engines.spark_engine import _labelled

mpl.use("Agg")
Path_ = Callable[[], Any]
GRID = dp.Grid.uniform(0, 1, 8)
FACTS: dict[str, Any] = {"epsilon": 1.0, "bound": dp.L2Ball(30.0), "grid": GRID, "method": dp.methods.QR()}
NAMES = [f"v{i}" for i in range(8)]
ROWS = 30
BOX: dict[str, Any] = {"epsilon": 1.0, "domain": [(0, 10)]}


def curves() -> np.ndarray:
    """Curves of which one is marked throughout."""
    rows = np.random.default_rng(4).uniform(0, 1, (ROWS, 8))
    rows[3] = VALUE * np.array([1.0, 10.0, 0.1, 1.0, 2.0, 0.5, 1.0, 1.0])
    return rows


def spoilt(cell: Any) -> np.ndarray:
    """The same with one cell that is no number, in another row."""
    rows = curves().astype(object)
    rows[5, 2] = cell
    return rows


def people() -> pd.DataFrame:
    """A table: whose a curve is, a label, a text that nobody asks for, the curve."""
    frame = pd.DataFrame(curves(), columns=NAMES)
    frame.insert(0, "household", [PERSON] * 2 + [f"p{i:02}" for i in range(ROWS - 2)])
    frame.insert(1, "ward", ["north"] * (ROWS // 2) + ["south"] * (ROWS - ROWS // 2))
    frame.insert(2, "note", [ASIDE] * ROWS)
    return frame


def long_table() -> pd.DataFrame:
    """One row per observation."""
    parts = [
        (f"p{i:02}" if i else PERSON, t, v)
        for i, row in enumerate(curves())
        for t, v in zip(GRID.points, row, strict=True)
    ]
    return pd.DataFrame(parts, columns=["id", "time", "value"])


def statistics() -> tuple[Mark, ...]:
    """What becomes of the marked record: its integers on the lattice, their exact totals, the exact statistic."""
    marks = []
    for name, n, neighbors in (("all", ROWS, "replace"), ("one", 2, "add-remove")):
        plan = dp.MeanPlan(n=n, neighbors=neighbors, **FACTS)
        data = curves() if name == "all" else curves()[3:4]
        summary = plan.summarize(data)
        marks += [whole(f"{name}: total", k) for k in summary.totals.tolist() if abs(k) >= 10**6]
        marks += [number(f"{name}: statistic", x) for x in plan.statistic(summary).tolist() if abs(x) > 1e-9 and x != 1]
    return tuple(marks)


def many(plan: Any) -> Any:
    """A summary of as many records as the mark says, by doubling."""
    power, total = plan.summarize(curves()[3:4]), plan.summarize(curves()[:0])
    for bit in reversed(f"{COUNT:b}"):
        total = total.plus(power) if bit == "1" else total
        power = power.plus(power)
    assert total.count == COUNT
    return total


def command(*words: object) -> None:
    """The command, in this process."""
    app([str(word) for word in words], standalone_mode=True)


# -- data frames and arrays ---------------------------------------------------------------------------


def means() -> Iterator[tuple[str, Path_]]:
    frame, both = people(), {"columns": "v*"}
    tables: dict[str, Any] = {
        "array": curves(),
        "list": curves().tolist(),
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "lazy": pl.from_pandas(frame).lazy(),
        "arrow": pa.Table.from_pandas(frame),
        "skfda": skfda.FDataGrid(curves(), GRID.points),
        "xarray": xr.DataArray(curves(), dims=("c", "t"), coords={"t": GRID.points}),
        "dask array": dask.array.from_array(curves(), chunks=(10, 4)),
        "dask frame": dask.dataframe.from_pandas(frame, npartitions=3),
    }
    for name, data in tables.items():
        options = both if name in ("pandas", "polars", "lazy", "arrow", "dask frame") else {}
        more = {"n": ROWS} if "dask" in name else {}
        yield f"mean {name}", lambda d=data, o=options, m=more: dp.mean(dp.read(d, **o), **FACTS, **m)
    yield "mean, any method", lambda: dp.mean(curves(), **{**FACTS, "method": None})
    yield "mean by ward", lambda: dp.mean(dp.read(frame, **both), by="ward", **FACTS)
    yield "mean of households", lambda: dp.mean(dp.read(frame, **both), unit="household", **FACTS)
    yield (
        "mean with a stranger!",
        lambda: dp.mean(curves(), by=[WARD, *["a"] * 14, *["b"] * 15], groups=["a", "b"], **FACTS),
    )
    free = {"neighbors": "add-remove", "invalid": "center", "n": 100}
    yield (
        "mean, strangers left out",
        lambda: dp.mean(curves(), by=[WARD, *["a"] * 14, *["b"] * 15], groups=["a", "b"], **free, **FACTS),
    )
    yield "mean of one", lambda: dp.mean(curves()[3:4], neighbors="add-remove", n=2, **FACTS)
    irregular = dp.reading.Irregular([GRID.points.tolist()] * ROWS, curves().tolist())
    yield "mean of irregular", lambda: dp.mean(dp.read(irregular, align="linear"), **FACTS)
    yield "mean of smoothed", lambda: dp.mean(dp.read(irregular, align="smooth"), **FACTS)
    yield "mean of long", lambda: dp.mean(dp.read(long_table(), layout="long", align="linear"), **FACTS)
    yield "plan and summary", _plan_and_summary
    yield "a private number of records", _private_count
    yield "interrupted!", lambda: dp.mean(_interrupted(), n=ROWS, **FACTS)
    measurement = dp.MeanPlan(n=ROWS, **FACTS, invalid="center").to_opendp
    yield "opendp", lambda: measurement()(curves())
    yield "opendp, spoilt", lambda: measurement()(spoilt(ASIDE))
    yield "opendp, with other columns!", lambda: measurement(columns="none")(spoilt(ASIDE))
    yield "opendp, refused!", lambda: dp.MeanPlan(n=ROWS, **FACTS).to_opendp()


def _plan_and_summary() -> list[Any]:
    plan = dp.MeanPlan(n=ROWS, **FACTS)
    summary = plan.summarize(dp.read(people(), columns="v*"))
    ball = dp.MeanPlan(n=ROWS, **{**FACTS, "method": dp.methods.KNorm(4)})
    print(repr(summary), str(summary), repr(ball.stage.to_lattice(ball.summarize(curves()))))
    return [plan]


def _private_count() -> list[Any]:
    plan = dp.MeanPlan(n=10**8, neighbors="add-remove", **FACTS)
    density = dp.density(
        counts=[COUNT - 10, 10], edges=[0, 1, 2], domain=[(0, 2)], epsilon=1.0, neighbors="add-remove", n=10**8
    )
    return [plan.release(many(plan)), density]


def _interrupted() -> Iterator[np.ndarray]:
    yield curves()[:20]
    raise KeyboardInterrupt


# -- models and other releases ------------------------------------------------------------------------


def others() -> Iterator[tuple[str, Path_]]:
    data, points = curves(), np.clip(curves()[:, :1], 0, 10)
    labels = ["a", "b"] * (ROWS // 2)
    yield (
        "covariance",
        lambda: dp.covariance(data, epsilon=1.0, bound=dp.L2Ball(30.0), grid=GRID, method=dp.methods.QR()),
    )
    yield "density", lambda: dp.density(points, cells=32, **BOX)
    yield "density by ward", lambda: dp.density(points, by=["n"] * 15 + ["s"] * 15, cells=32, **BOX)
    yield "density outside!", lambda: dp.density(points, epsilon=1.0, domain=[(0, 1)], cells=32)
    yield "survival", lambda: dp.survival(points[:, 0], points[:, 0] > 3, epsilon=1.0, horizon=5.0)
    yield "survival, events!", lambda: dp.survival(points[:, 0], points[:, 0], epsilon=1.0, horizon=5.0)
    yield "radius", lambda: dp.suggest_radius(data, epsilon=1.0, grid=GRID, bound=dp.L2Ball(8.0))
    regression = dp.FunctionOnScalarRegression(1.0, dp.L2Ball(30.0), 10.0, grid=GRID, passes=1)
    yield "regression", lambda: regression.fit(points, data)
    yield "regressor", lambda: dp.KernelRegressor(bound=(0, 100), components=4, **BOX).fit(points, data[:, 1])
    yield "huber", lambda: dp.KernelRegressor("huber", bound=(0, 100), components=4, **BOX).fit(points, data[:, 1])
    yield "classifier", lambda: dp.KernelClassifier(components=4, **BOX).fit(points, labels)
    stranger = [WARD, *labels[1:]]
    yield (
        "classifier, a stranger!",
        lambda: dp.KernelClassifier(components=4, classes=["a", "b"], **BOX).fit(points, stranger),
    )
    free = {"neighbors": "add-remove", "n": 40}
    yield (
        "regressor, private n",
        lambda: dp.KernelRegressor(bound=(0, 100), components=4, **free, **BOX).fit(points, data[:, 1]),
    )
    for cell in (ASIDE, np.nan, np.inf, [VALUE], 10**400):
        what = f"cell of {type(cell).__name__} {'' if isinstance(cell, str | list) else str(cell)[:4]}"
        bad = spoilt(cell)
        yield f"mean, {what}!", lambda b=bad: dp.mean(b, **FACTS)
        yield f"mean, lists, {what}!", lambda b=bad: dp.mean(b.tolist(), **FACTS)
        yield f"mean, centred, {what}", lambda b=bad: dp.mean(b, invalid="center", **FACTS)
        yield f"mean, frame, {what}!", lambda b=bad: dp.mean(pd.DataFrame(b, columns=NAMES), **FACTS)
        yield f"density, {what}!", lambda b=bad: dp.density(b[:, 2:3], cells=32, **BOX)
        yield f"regression, {what}!", lambda b=bad: regression.fit(points, b)
        yield (
            f"regressor, {what}!",
            lambda b=bad: dp.KernelRegressor(bound=(0, 9), components=4, **BOX).fit(b[:, 2:3], labels),
        )
        yield f"classifier, {what}!", lambda b=bad: dp.KernelClassifier(components=4, **BOX).fit(b[:, 2:3], labels)
        yield f"classes, {what}!", lambda b=bad: dp.KernelClassifier(components=4, **BOX).fit(points, b[:, 2])
        yield f"dask, {what}!", lambda b=bad: dp.mean(dask.array.from_array(b, chunks=(10, 8)), n=ROWS, **FACTS)
    yield "wrong shape!", lambda: dp.mean(data.reshape(3, 10, 8), **FACTS)
    yield "wrong width!", lambda: dp.mean(data[:, :5], **FACTS)
    yield "data for a parameter!", lambda: dp.mean(data, **{**FACTS, "bound": data})
    yield (
        "xarray, texts along!",
        lambda: dp.mean(xr.DataArray(data, dims=("c", "t"), coords={"t": [ASIDE] * 8}), **FACTS),
    )
    text = people().astype(str)
    text.loc[7, "v2"] = ASIDE
    yield "polars casts!", lambda: dp.mean(pl.from_pandas(text[NAMES]).lazy().cast(pl.Float64), **FACTS)
    yield (
        "dask casts!",
        lambda: dp.mean(dask.dataframe.from_pandas(text[NAMES], npartitions=2).astype(float), n=ROWS, **FACTS),
    )
    yield "spark labels", lambda: [str(next(iter(_labelled("id", _dates()))).num_rows)]


def _dates() -> Iterator[pa.RecordBatch]:
    """A column of which Python can read no cell: its library quotes what it cannot read."""
    yield pa.RecordBatch.from_arrays([pa.array([7314159265358979000], pa.timestamp("s"))], names=["id"])


# -- files and the command ------------------------------------------------------------------------------


def prepared(folder: Path) -> Path:
    """Marked files, and some that are spoilt."""
    data = folder / "data"
    data.mkdir()
    frame = people()
    frame.to_csv(data / "people.csv", index=False)
    frame[NAMES].to_csv(data / "curves.csv", index=False)
    frame[NAMES].to_csv(data / "curves.tsv", index=False, sep="\t")
    frame.to_parquet(data / "people.parquet")
    long_table().to_csv(data / "long.csv", index=False)
    spoil = frame[NAMES].astype(str)
    spoil.loc[7, "v2"] = ASIDE
    spoil.to_csv(data / "text.csv", index=False)
    spoil.to_parquet(data / "text.parquet")
    (data / "ragged.csv").write_text((data / "curves.csv").read_text() + f"1,2,{VALUE}\n")
    (data / "nameless.csv").write_text(f"{VALUE},{PERSON},2\n" + f"1,{ASIDE},3\n" * 4)
    (data / "cut.parquet").write_bytes((data / "people.parquet").read_bytes()[:-200])
    (data / "damaged.summary").write_text(f'{{"dpfda": "summary", "version": 1, "totals": [{VALUE}]}}')
    (data / "list.csv").write_text("\n".join(str(x) for x in np.clip(curves()[:, 0], 0, 10)) + "\n")
    return data


def commands(folder: Path, data: Path) -> Iterator[tuple[str, Path_]]:
    """Every verb of the command, well and badly."""
    facts = ("--epsilon", "1", "--radius", "30", "--method", "qr")
    outs = (
        "--out",
        folder / "r.json",
        "--csv",
        folder / "r.csv",
        "--plot",
        folder / "r.png",
        "--statement",
        folder / "s.txt",
        "--methods-text",
        folder / "t.txt",
    )
    at = {name: data / name for name in os.listdir(data)}
    mean = ("mean", at["people.csv"], "--columns", "v*", *facts)
    yield "$ mean", lambda: command(*mean, *outs)
    yield "$ mean --json", lambda: command(*mean, "--json")
    yield "$ --verbose mean", lambda: command("--verbose", *mean, "--out", folder / "r.json")
    yield "$ mean --by", lambda: command(*mean, "--by", "ward", "--out", folder / "r.json", "--csv", folder / "r.csv")
    yield "$ mean --unit", lambda: command(*mean, "--unit", "household", "--out", folder / "r.json")
    yield (
        "$ mean, private n",
        lambda: command(
            *mean,
            "--neighbors",
            "add-remove",
            "--n",
            50,
            "--invalid",
            "center",
            "--header",
            "--grid",
            "0:1:8",
            "--out",
            folder / "r.json",
        ),
    )
    long = ("--layout", "long:id=id,time=time,value=value", "--align", "linear", "--grid", "0:1:8")
    yield "$ mean, long", lambda: command("mean", at["long.csv"], *facts, *long, "--out", folder / "r.json")
    sound, broken = ("curves.tsv", "people.parquet"), ("text.csv", "text.parquet", "ragged.csv", "cut.parquet")
    for name in (*sound, *broken):
        picked = ("--columns", "v*") if name == "people.parquet" else ()
        read = ("mean", at[name], *facts, *picked, "--out", folder / "r.json")
        yield f"$ mean {name}{'' if name in sound else '!'}", lambda r=read: command(*r)
        if name in broken:
            yield f"$ --verbose mean {name}!", lambda r=read: command("--verbose", *r)
    yield "$ mean nameless!", lambda: command("mean", at["nameless.csv"], "--header", *facts, "--json")
    yield "$ mean dask", lambda: command(*mean, "--engine", "dask", "--n", ROWS, "--json")
    yield "$ covariance", lambda: command("covariance", at["curves.csv"], *facts, *outs)
    yield "$ radius", lambda: command("radius", at["curves.csv"], "--epsilon", "1", "--radius", "30", "--json")
    box = ("--epsilon", "1", "--domain", "0:10")
    yield "$ density", lambda: command("density", at["list.csv"], "--no-header", *box, "--cells", 32, *outs)
    yield (
        "$ density, outside!",
        lambda: command("density", at["list.csv"], "--no-header", "--epsilon", 1, "--domain", "0:1", "--json"),
    )
    kept = folder / "kept"
    kept.mkdir()
    model = kept / "model.json"
    fit = ("fit", at["people.csv"], "--target", "ward", "--inputs", "v0", "--components", 4, *box)
    yield "$ fit", lambda: command(*fit, "--out", folder / "r.json", "--json")
    yield "$ fit, kept", lambda: command(*fit, "--out", model)
    yield "$ predict", lambda: command("predict", model, at["people.csv"], "--inputs", "v0", "--out", folder / "p.csv")
    yield "$ predict, a text!", lambda: command("predict", model, at["people.csv"], "--inputs", "note", "--json")
    regress = (
        "regress",
        at["curves.csv"],
        "--covariates",
        "v0",
        "--epsilon",
        1,
        "--radius",
        30,
        "--covariate-bound",
        10,
        "--passes",
        1,
    )
    yield "$ regress", lambda: command(*regress, *outs)
    plan, part = kept / "qr.plan", kept / "part.summary"
    yield "$ plan", lambda: command("plan", "--n", ROWS, "--grid", "0:1:8", *facts, "--out", plan)
    yield "$ summarize", lambda: command("summarize", at["people.csv"], "--columns", "v*", "--plan", plan, "-o", part)
    yield (
        "$ summarize again",
        lambda: command("summarize", at["people.csv"], "--columns", "v*", "--plan", plan, "-o", part, "--json"),
    )
    yield "$ summarize a part!", lambda: command("summarize", at["text.csv"], "--plan", plan, "-o", part)
    yield "$ show a summary", lambda: command("show", part)
    yield "$ show a damaged one!", lambda: command("show", at["damaged.summary"])
    yield "$ release", lambda: command("release", plan, part, *outs)
    yield "$ release a damaged one!", lambda: command("release", plan, at["damaged.summary"], "--json")
    yield "$ show data!", lambda: command("show", at["people.csv"])
    book = kept / "study.ledger"
    yield "$ ledger create", lambda: command("ledger", "create", book, "--epsilon", 1, "--study", "s")
    yield "$ mean, charged", lambda: command(*mean, "--ledger", book, "--out", folder / "r.json")
    yield "$ mean, refused!", lambda: command(*mean, "--ledger", book, "--out", folder / "r.json")
    yield "$ ledger history", lambda: command("ledger", "history", book)
    yield "pictures", lambda: _pictures(folder)
    yield "a stream that balks!", lambda: dp.mean(_streamed(at["text.csv"]), n=ROWS, **FACTS)


def _pictures(folder: Path) -> None:
    release = dp.mean(curves(), **FACTS)
    for kind in ("png", "svg", "pdf"):
        release.plot().figure.savefig(folder / f"r.{kind}")


def _streamed(path: Path) -> Any:
    """Arrow's reader of text, which quotes the cell that it cannot convert."""
    kinds = dict.fromkeys(NAMES, pa.float64())
    return pyarrow.csv.open_csv(
        path, pyarrow.csv.ReadOptions(block_size=700), convert_options=pyarrow.csv.ConvertOptions(column_types=kinds)
    )


def elsewhere(data: Path) -> Iterator[tuple[str, Path_]]:
    """Other processes and a cluster of workers: slower than all the rest."""
    mean = ("mean", data / "people.csv", "--columns", "v*", "--epsilon", "1", "--radius", "30", "--method", "qr")
    yield "a child of its own", lambda: _child(mean)
    yield "workers", lambda: _workers(people())
    spoil = people()[NAMES].astype(object)
    spoil.loc[7, "v2"] = ASIDE
    yield "workers, a text!", lambda: _workers(spoil)


def _workers(frame: pd.DataFrame) -> Any:
    """A cluster in this process, with its logs."""
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None):
        return dp.mean(dp.read(dask.dataframe.from_pandas(frame, npartitions=2), columns="v*"), n=ROWS, **FACTS)


def _child(mean: tuple[Any, ...]) -> None:
    """The command as a process: what it says comes out here."""
    words = [sys.executable, "-m", "dpfda", *map(str, mean), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    print("child", done.returncode, file=sys.stderr)
    print(done.stdout, done.stderr)


def ready() -> Any:
    """Dask in this thread, and OpenDP willing."""
    odp.enable_features("contrib", "honest-but-curious")
    return dask.config.set(scheduler="synchronous")
