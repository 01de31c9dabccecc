"""Valid examples of every kind of file and text that the package reads, made by its own code.

Fuzzing starts from these. They are small, so that a case costs little, and together they hold every registered
kind of fact.
"""

from __future__ import annotations

import io
import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpfda as dp
from dpfda.engines import checkpoints
from dpfda.methods import Blocks
from dpfda.plans import ClassPlan, GroupPlan
from dpfda.spaces.kernels import Constant, Tabulated
from dpfda.spaces.own_times import Interpolate, Smooth
from dpfda.spaces.units import Unit

LINE = dp.Grid.uniform(0, 1, 4, name="hour", unit="h")
CURVES = np.random.default_rng(5).uniform(-1, 1, (6, 4))
NAMES = ["h1", "h2", "h3", "h4"]


def mean_plan(**options: object) -> dp.MeanPlan:
    facts = {"n": 6, "epsilon": 1, "bound": dp.L2Ball(1.0), "grid": LINE, "method": dp.methods.KNorm(2)}
    return dp.MeanPlan(**(facts | options))  # type: ignore[arg-type]


def kernel_plan(**options: object) -> dp.plans.KernelPlan:
    facts = {"n": 500, "epsilon": 1, "domain": [(0, 1)], "components": 3, "psi": 0.05, "method": dp.methods.KNorm()}
    return dp.plans.KernelPlan(**(facts | options))  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def plans() -> dict[str, object]:
    """One plan or more for every registered fact."""
    flat, three = dp.Grid.midpoints(0, 1, 4), ("a", "b", "c")
    table = np.exp(-np.abs(np.subtract.outer(LINE.points, LINE.points)))
    found: dict[str, object] = {
        "knorm": mean_plan(),
        "add-remove": mean_plan(neighbors="add-remove", invalid="center"),
        "ar": mean_plan(method=dp.methods.AR(eta=2.0, psi=0.01)),
        "qr": mean_plan(method=dp.methods.QR(eta=2.0, psi=1e-3)),
        "frl": mean_plan(method=dp.methods.FRL(components=2)),
        "minimax": mean_plan(method=dp.methods.Minimax(power=1.0)),
        "blocks": mean_plan(method=Blocks(2)),
        "bernstein": mean_plan(method=dp.methods.Bernstein(3, order=2)),
        "gp": mean_plan(method=dp.methods.GaussianProcess("1/100", 1.5, 0.01)),
        "auto": mean_plan(method=dp.Auto(passes=1)),
        "select": mean_plan(method=dp.methods.Select((dp.methods.KNorm(1), dp.methods.AR(2.0, 0.01)))),
        "staged": mean_plan(n=400, method=dp.methods.Staged(dp.methods.KNorm(2), spread=0.5)),
        "l1": mean_plan(bound=dp.bounds.L1Ball(1.0, np.zeros(4))),
        "box": mean_plan(bound=dp.bounds.Box([1.0, 0.5])),
        "ellipsoid": mean_plan(bound=dp.bounds.Ellipsoid([1.0, 0.5], 0.1)),
        "unit": mean_plan(unit=Unit("home", 3, "day"), align=Interpolate(gap=0.5)),
        "smooth": mean_plan(align=Smooth()),
        "sum": mean_plan(kernel=dp.kernels.Matern(1.5, 0.2) + dp.kernels.Gaussian(0.3) * Constant(2.0)),
        "cosine": mean_plan(kernel=dp.kernels.Cosine(dp.kernels.Exponential(0.2)), grid=flat),
        "table": mean_plan(kernel=Tabulated(LINE.points, table, None)),
        "components": mean_plan(grid=dp.spaces.ComponentGrid(("x", "y"), LINE)),
        "surface": mean_plan(grid=dp.Grid.product(dp.Grid.uniform(0, 1, 2), dp.Grid.uniform(0, 2, 3, name="u"))),
        "covariance": dp.CovariancePlan(n=100, epsilon=1, bound=dp.L2Ball(1.0), grid=LINE, method=dp.methods.KNorm(2)),
        "centred": dp.CovariancePlan(n=9000, epsilon=1, bound=dp.L2Ball(1.0), grid=LINE, method=dp.methods.Centred()),
        "histogram": dp.DensityPlan(n=100, epsilon=1, domain=[(0, 1)], cells=8),
        "default covariance": dp.CovariancePlan(n=900, epsilon=1, bound=dp.L2Ball(1.0), grid=LINE),
        "density": dp.DensityPlan(n=100, epsilon=1, domain=[(0, 1)], cells=8, method=dp.methods.KNorm(2)),
        "densities": dp.DensityPlan(
            n=100, epsilon=1, domain=[(0, 1), (0, 2)], cells=3, method=dp.methods.FRL(2), axes=("a", "b")
        ),
        "bandwidth": dp.DensityPlan(n=100, epsilon=1, domain=[(0, 1)], cells=8, bandwidth=0.2, eta=1.5),
        "edges": dp.DensityPlan(
            n=100, epsilon=1, domain=[(0, 8)], cells=16, edges=[0, 1, 4, 8], method=dp.methods.KNorm(2)
        ),
        "regression": dp.plans.RegressionPlan(
            n=900,
            epsilon=1,
            covariates=2,
            covariate_bound=[(0, 1), (0, 2)],
            bound=dp.L2Ball(1.0),
            grid=LINE,
            names=("a", "b"),
            split=0.5,
            passes=1,
        ),
        "few pairs": dp.plans.RegressionPlan(
            n=90, epsilon=1, covariates=1, covariate_bound=[(0, 1)], bound=dp.L2Ball(1.0), grid=LINE
        ),
        "smoother": dp.plans.SmootherPlan(
            n=900, epsilon=1, domain=[(0, 1)], bound=(0, 1), components=3, split=0.5, passes=1
        ),
        "classifier": kernel_plan(classes=("no", "yes")),
        "huber": kernel_plan(criterion="huber", bound=(0, 1)),
        "above": mean_plan(bound=None, of=dp.Above(0.5)),
        "time above": mean_plan(bound=None, of=dp.TimeAbove([0.2, 0.5])),
        "percentiles": dp.PercentilePlan(n=100, epsilon=1, range=(0, 1), grid=LINE, cells=64, levels=(0.5,)),
        "survival": dp.SurvivalPlan(n=100, epsilon=1, horizon=2.0),
        "radius": dp.plans.RadiusPlan(n=100, epsilon=1, grid=LINE, bound=dp.L2Ball(8.0)),
        "groups": GroupPlan(("north", "south"), (mean_plan(), mean_plan(n=9))),
        "classes": ClassPlan(
            three, tuple(kernel_plan(epsilon=Fraction(1, 3), classes=three, positive=i) for i in range(3))
        ),
    }
    return found


@lru_cache(maxsize=1)
def releases() -> dict[str, dp.Release]:
    """One release of each kind that files hold."""
    made, rng = plans(), np.random.default_rng(6)
    numbers = rng.uniform(0, 1, (500, 3))
    plain = {name: made[name].release(CURVES) for name in ("knorm", "ar", "select", "bernstein")}  # type: ignore[attr-defined]
    classes = made["classes"].release(np.column_stack([numbers[:, 0], np.arange(500) % 3]), None)  # type: ignore[attr-defined]
    groups = made["groups"].release(np.vstack([CURVES, CURVES, CURVES[:3]]), by=["north"] * 6 + ["south"] * 9)  # type: ignore[attr-defined]
    return {
        **plain,
        "components": made["components"].release(np.hstack([CURVES, CURVES])),  # type: ignore[attr-defined]
        "covariance": made["covariance"].release(rng.uniform(-1, 1, (100, 4))),  # type: ignore[attr-defined]
        "density": made["density"].release(numbers[:100, 0]),  # type: ignore[attr-defined]
        "groups": groups,
        "difference": groups.difference("south", "north"),
        "regression": made["regression"].release(rng.uniform(0, 1, (900, 6))),  # type: ignore[attr-defined]
        "smoother": made["smoother"].release(rng.uniform(0, 1, (900, 2))),  # type: ignore[attr-defined]
        "classifier": made["classifier"].release(np.column_stack([numbers[:, 0], numbers[:, 1] > 0.5])),
        # type: ignore[attr-defined]
        "classes": classes,
    }


def _written(write: Callable[[Path], object]) -> bytes:
    """What a function writes into a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seed"
        write(path)
        return path.read_bytes()


def _texts(rows: list[list[object]], delimiter: str = ",") -> bytes:
    return ("\n".join(delimiter.join(map(str, row)) for row in rows) + "\n").encode()


def _wide(delimiter: str = ",") -> bytes:
    return _texts([list(NAMES), *CURVES.round(3).tolist()], delimiter)


def _long(stamped: bool = False) -> bytes:
    time = "2026-04-0{day}T0{hour}:30:00" if stamped else "0.{hour}"
    rows = [[who, time.format(day=1 + who % 2, hour=hour), hour / 10] for who in range(3) for hour in (0, 3, 6, 9)]
    return _texts([["id", "time", "value"], *rows])


def _labelled() -> bytes:
    sides = ["north", "south"] * 3
    return _texts([["side", *NAMES], *([s, *row] for s, row in zip(sides, CURVES.round(3).tolist(), strict=True))])


def arrow_tables() -> dict[str, pa.Table]:
    wide = pa.table(dict(zip(NAMES, CURVES.T, strict=True)))
    labels = pa.array(["north", "south", None, "north", "south", "north"])
    return {
        "wide": wide,
        "lists": pa.table({"curve": CURVES.tolist()}),
        "labelled": wide.append_column("side", labels.dictionary_encode()),
        "mixed": pa.table(
            {
                "h1": pa.array([1, 2, None]),
                "h2": [1.5, 2.0, 3.0],
                "h3": [True, False, True],
                "h4": pa.array([1, 2, 3], pa.decimal128(9, 2)),
            }
        ),
    }


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def _ipc(table: pa.Table, maker: Callable[..., pa.ipc.RecordBatchStreamWriter]) -> bytes:
    sink = io.BytesIO()
    with maker(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def _npy(array: np.ndarray) -> bytes:
    sink = io.BytesIO()
    np.save(sink, array)
    return sink.getvalue()


def _ledger() -> bytes:
    """A ledger with two charges, as the bytes of its file."""

    def write(path: Path) -> None:
        book = dp.Ledger.create(path, epsilon=2, study="sleep", delta="1/100")
        book.charge("1/3", plan="a" * 64, query="mean")
        book.charge("1/4", plan="b" * 64, query="density", delta="1/1000")

    whole = _written(write)
    with closing(sqlite3.connect(":memory:")) as db, db:  # in the fewest pages
        db.deserialize(whole)
        db.execute("PRAGMA journal_mode = MEMORY")
        found = db.serialize()
    db.close()
    return found


def _summary() -> list[bytes]:
    """A checkpoint of two files, and one of groups."""
    made = plans()

    def write(path: Path) -> None:
        for name in ("a", "b"):
            (path.parent / f"{name}.csv").write_bytes(_wide() if name == "a" else _wide().replace(b"0.", b"0.1"))
        made["add-remove"].summarize(
            dp.read([path.parent / "a.csv", path.parent / "b.csv"], header=True), checkpoint=path, site="here"
        )

    def grouped(path: Path) -> None:
        family, key = "0" * 64, mean_plan().problem.key
        totals = {side: dp.problems.summary.Summary(key, 3, np.arange(4)) for side in ("north", "south")}
        checkpoints.Saved(family, totals, (checkpoints.Part("a.csv", "1" * 64),)).save(path)

    return [_written(write), _written(grouped)]


WORDS = [
    "grid 0:24:48",
    "grid 0:24:48:midpoints",
    "grid 0:1:5:equal",
    "kernel matern:1.5:0.1",
    "kernel gaussian:0.1",
    "kernel cosine-matern:2.5:0.2",
    "method qr:psi=0.01,noise=kernel",
    "method bernstein:lattice=20,order=5",
    "method gaussianprocess:delta=1e-6",
    "method auto:spread=1,passes=1",
    "domain 0:110",
    "domain 0:1 2:3",
    "cells 512",
    "cells 64x64",
    "edges 0,1,5,10",
    "edges 0:95:5,110",
    "bound 1 l2 0.5",
    "bound 2.5 l1 0",
    "layout long:id=meter,time=t,value=kwh,day=Europe/Dublin",
    "layout lists:values=curve,times=t",
    "align linear:gap=0.25,least=2",
    "align smooth:penalty=0.001",
    "unit home 3 day",
    "groups north,south",
    "epsilon 1/4",
    "epsilon 0.1",
    "axis hour (h)",
    "columns h*",
    "zone Australia/Adelaide",
]
COMMANDS = [
    ["plan", "--n", "9", "--epsilon", "1", "--radius", "1", "--grid", "0:1:4", "--method", "knorm:components=2"],
    [
        "plan",
        "--n",
        "9",
        "--epsilon",
        "1/2",
        "--radius",
        "1",
        "--grid",
        "0:1:4",
        "--method",
        "ar:eta=2,psi=0.01",
        "--json",
    ],
    ["ledger", "show", "nothing.ledger"],
    ["show", "nothing.json"],
    ["mean", "nothing.csv", "--epsilon", "1", "--radius", "1", "--json"],
    ["predict", "model.json", "people.csv", "--inputs", "a,b"],
    ["release", "plan.json", "a.summary", "--json"],
]


def _audit() -> list[bytes]:
    """The report of an audit, as short as they come."""
    report = dp.audit(plans()["knorm"], draws=1000, releases=8, effort=100)  # type: ignore[arg-type]
    return [report.to_json().encode()]


def _sealed(found: Mapping[str, object]) -> list[bytes]:
    return [each.to_json().encode() for each in found.values()]  # type: ignore[attr-defined]


MAKERS: dict[str, Callable[[], list[bytes]]] = {
    "csv": lambda: [_wide(), _wide().replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + _wide(), _wide().split(b"\n", 1)[1]],
    "csv-center": lambda: [_wide(), _wide().replace(b"0.", b"x", 2)],
    "csv-long": lambda: [_long()],
    "csv-days": lambda: [_long(stamped=True)],
    "csv-groups": lambda: [_labelled()],
    "tsv": lambda: [_wide("\t")],
    "parquet": lambda: [_parquet(table) for table in arrow_tables().values()],
    "arrow": lambda: [_ipc(t, m) for t in arrow_tables().values() for m in (pa.ipc.new_stream, pa.ipc.new_file)],
    "npy": lambda: [_npy(a) for a in (CURVES, CURVES.astype("f4"), CURVES.T, np.arange(24).reshape(6, 4), CURVES > 0)],
    "plan": lambda: _sealed(plans()),
    "release": lambda: _sealed(releases()),
    "summary": _summary,
    "ledger": lambda: [_ledger()],
    "words": lambda: [text.encode() for text in WORDS],
    "labels": lambda: [json.dumps(["north", "south", 3, 3.0, "3.0", None, " a "]).encode()],
    "command": lambda: ["\0".join(words).encode() for words in COMMANDS],
    "show": lambda: [
        *_sealed({name: plans()[name] for name in ("knorm", "density")}),
        *_sealed({name: releases()[name] for name in ("knorm", "ar", "difference")}),
        *_summary(),
        *_audit(),
    ],
    "predict": lambda: _sealed({k: releases()[k] for k in ("regression", "classifier")}),
}


class Seeds(Mapping[str, list[bytes]]):
    """Valid examples by target, made when they are asked for."""

    def __getitem__(self, name: str) -> list[bytes]:
        return _made(name)

    def __iter__(self) -> Iterator[str]:
        return iter(MAKERS)

    def __len__(self) -> int:
        return len(MAKERS)


@cache
def _made(name: str) -> list[bytes]:
    return MAKERS[name]()


SEEDS = Seeds()
