"""Private densities of the paper's two mixtures, on the line and in the plane."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dpfda as dp

from . import study
from .density_claims import SHARES, N, claims
from .density_figure import ETAS, LATTICES, SHOWN, columns, figure, label
from .pages import Report, Table, spread
from .shapes import bandwidth, kernel_estimate, modes
from .study import OURS, PAPER, Row, Rows, Scale, moments

TITLE = "Densities of one and two variables"
SOURCE = "Figures of private kernel density estimates of two mixtures, in one and two dimensions; n 2,000, epsilon 1."
FILES: tuple[str, ...] = ()
EPSILON = 1.0
#: Cells of the histogram along each axis, by dimension; the library's own number where there is none.
CELLS: dict[int, int] = {}
KERNELS: dict[int, Any] = {1: dp.kernels.Gaussian(), 2: dp.kernels.Exponential()}
#: Numbers of components that cross-validation chooses from.
COUNTS = {1: (4, 6, 8, 12), 2: (6, 12, 24, 48)}
#: Releases of one data set: simulated ones, and real ones of our default. The figure shows this many curves.
DRAWS, CURVES = {PAPER: 20, OURS: 10}, 10
#: What is kept for the figure: every so many-th cell along each axis.
THIN = {1: 8, 2: 3}
KINDS = {
    "total": "to the truth",
    "estimation": "before noise, to the truth",
    "privacy": "to the estimate before noise",
    "kde": "to the kernel estimate",
}


def cells(scale: Scale) -> list[dict[str, Any]]:
    """One cell per mechanism, setting and bandwidth; planning takes seconds in two dimensions, draws do not."""
    found = []
    for dimension in (2, 1):
        facts = {"dimension": dimension, "n": N, "data_sets": _data_sets(scale, dimension)}
        facts |= {"cells": CELLS[dimension]} if dimension in CELLS else {}
        found += [{"mode": PAPER, **facts, "draws": DRAWS[PAPER]} | which for which in _peers(dimension)]
        found += [{"mode": OURS, **facts, "draws": DRAWS[OURS], "mechanism": "default", "setting": None, "share": None}]
    return found


def _data_sets(scale: Scale, dimension: int) -> int:
    return scale.data_sets if scale.name == "full" else max(2, scale.data_sets // (2 if dimension == 1 else 5))


def _peers(dimension: int) -> list[dict[str, Any]]:
    smooth = [("QR", eta) for eta in ETAS[dimension]] + [("Bernstein", k) for k in LATTICES[dimension]]
    found: list[dict[str, Any]] = [
        {"mechanism": name, "setting": setting, "share": share}
        for share in SHARES[dimension]
        for name, setting in [*smooth, ("none", None)]
    ]
    return [*found, {"mechanism": "FRL", "setting": None, "share": None}]


@dataclass(frozen=True)
class Errors:
    """Integrated squared errors of one data set's releases; `kde` from the kernel estimate without privacy."""

    total: float
    estimation: float
    privacy: float
    kde: float | None = None
    kde_size: float | None = None  # the kernel estimate's own squared norm
    two_modes: float | None = None  # the share of releases with two modes, their tails left out


def seed_of(cell: dict[str, Any]) -> int:
    return study.seed("mixture", cell["dimension"], cell["n"])


def run(cell: dict[str, Any], data: Path | None = None) -> list[Row]:
    """A row of errors over data sets, and what the first data set's releases look like."""
    choose, seed, found, kept, methods = _chooser(cell), seed_of(cell), [], [], set()
    for i in range(cell["data_sets"]):
        sample = dp.datasets.mixture(cell["n"], np.random.default_rng([seed, i]), cell["dimension"])
        rng = np.random.default_rng([seed, i, 1])
        plan = choose(sample, rng)
        before, released = _released(cell, plan, sample.points, rng)
        found.append(_errors(cell, plan, sample, before, released))
        methods.add(repr(plan.chosen))
        if i == 0 and cell["share"] in (None, *SHOWN):
            kept = _curves(cell, plan, released)
    row: Row = {**cell, "kind": "error", "seed": seed}
    for kind in asdict(found[0]):
        values = [asdict(e)[kind] for e in found]
        if None not in values:
            row[kind], row[f"{kind}_se"] = moments(values)
    if cell["mechanism"] != "none":
        sd = plan.accuracy.pointwise_sd().ravel()
        row["ends"] = float(sd[0] / np.median(sd))
        row["method"] = " or ".join(sorted(methods))
    return [row, *kept]


def _chooser(cell: dict[str, Any]) -> Callable[[Any, np.random.Generator], dp.DensityPlan]:
    """How a data set gets its plan: always the same one, but for FRL, whose components are cross-validated."""
    dimension = cell["dimension"]
    domain = dp.datasets.mixture(2, np.random.default_rng(0), dimension).domain
    facts: dict[str, Any] = {"n": cell["n"], "epsilon": EPSILON, "domain": domain, "cells": cell.get("cells")}
    if cell["mode"] == OURS:
        default = dp.DensityPlan(**facts)
        return lambda sample, rng: default
    facts["postprocess"] = False
    if cell["mechanism"] == "FRL":
        methods = [dp.methods.FRL(count) for count in COUNTS[dimension]]
        plans = {method: dp.DensityPlan(**facts, method=method) for method in methods}
        return lambda sample, rng: plans[_validated(methods, plans[methods[0]], sample.points, rng)]
    method = {
        "QR": lambda eta: dp.methods.QR(eta=eta, noise="kernel"),
        "Bernstein": lambda k: dp.methods.Bernstein(k, sensitivity="tight"),
        "none": lambda _: dp.methods.FRL(1),
    }
    plan = dp.DensityPlan(
        **facts,
        kernel=KERNELS[dimension],
        bandwidth=[cell["share"] * bandwidth(cell["n"], dimension) * (high - low) for low, high in domain],
        method=method[cell["mechanism"]](cell["setting"]),
    )
    return lambda sample, rng: plan


def _validated(
    methods: list[dp.methods.FRL], plan: dp.DensityPlan, points: np.ndarray, rng: np.random.Generator
) -> dp.methods.FRL:
    """The paper's choice of components. It reads the data for free, so the row as a whole is not private."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dp.errors.NotPrivateWarning)
        chosen = dp.selection.pcv(methods, plan, points, rng)
    assert isinstance(chosen, dp.methods.FRL)
    return chosen


def _smoothed(plan: dp.DensityPlan, points: np.ndarray) -> np.ndarray:
    return kernel_estimate(plan, plan.summarize(points).totals / (len(points) * plan.grid.weights))


def _released(
    cell: dict[str, Any], plan: dp.DensityPlan, points: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The estimate before noise, and releases: simulated, or real ones of our default."""
    if cell["mechanism"] == "none":
        estimate = _smoothed(plan, points)
        return estimate, estimate[None]
    summary = plan.summarize(points)
    drawn = [plan.statistic(summary)]
    while (stage := plan.schedule.next(drawn)) is not None:  # later rounds without noise, too
        drawn.append(stage.statistic(summary))
    statistic, before = drawn[0], plan.basis.synthesize(plan.schedule.combine(drawn))
    if cell["mode"] == OURS:
        return before, np.array([plan.release(summary).values.ravel() for _ in range(cell["draws"])])
    return before, plan.basis.synthesize(dp.noise.simulate(plan, statistic, cell["draws"], rng))


def _errors(
    cell: dict[str, Any], plan: dp.DensityPlan, sample: Any, before: np.ndarray, released: np.ndarray
) -> Errors:
    weights, truth = plan.grid.weights, sample.density(plan.grid.points)

    def off(curves: np.ndarray, target: np.ndarray | float) -> float:
        return float(np.mean((curves - target) ** 2 @ weights))

    middle = slice(truth.size // 10, -truth.size // 10)
    smooth = None if cell["share"] is None else _smoothed(plan, sample.points)
    return Errors(
        off(released, truth),
        off(before, truth),
        off(released, before),
        None if smooth is None else off(released, smooth),
        None if smooth is None else off(smooth, 0.0),
        float(np.mean([modes(curve[middle]) == 2 for curve in released])) if cell["dimension"] == 1 else None,
    )


def _curves(cell: dict[str, Any], plan: dp.DensityPlan, released: np.ndarray) -> list[Row]:
    """Rows for the figure, one per place: ten curves, or one surface."""
    step = THIN[cell["dimension"]]
    facts = {key: cell[key] for key in ("mode", "dimension", "mechanism", "setting", "share")}
    facts |= {"kind": "curve", "seed": seed_of(cell)}
    lines = [axis.points[step // 2 :: step] for axis in plan.grid.axes]
    if cell["dimension"] == 1:
        return [
            {**facts, "draw": k, "x": _short(x), "value": _short(value)}
            for k, curve in enumerate(released[:CURVES])
            for x, value in zip(lines[0], curve[step // 2 :: step], strict=True)
        ]
    surface = released[0].reshape(plan.grid.shape)[step // 2 :: step, step // 2 :: step]
    return [
        {**facts, "draw": 0, "x": _short(x), "y": _short(y), "value": _short(surface[i, j])}
        for i, x in enumerate(lines[0])
        for j, y in enumerate(lines[1])
    ]


def _short(value: float) -> float:
    return float(f"{value:.4g}")


# -- what came out ----------------------------------------------------------------------------------


def report(rows: Rows, data: Path | None = None) -> Report:
    found = rows.where(kind="error")
    return Report(
        [
            "Errors are integrated squared errors, averaged over data sets, with standard errors. The paper's rows are "
            "taken raw, with kernel noise and exact sensitivities; the default shrinks and projects after the noise, "
            "so its distance to the estimate before noise holds more than noise.",
            "FRL here is the series of the points themselves, not smoothed by the kernel first. Its number of "
            "components is cross-validated, as in the paper. That reads the data without paying for it: the row of "
            "FRL is not private, and is shown for comparison.",
            "The paper gives only the order of its bandwidth. With n^(-1/(4+d)) widths of the domain the kernel "
            "estimate itself, before any privacy, has lost one of the two modes on the line; smaller multiples, which "
            "the paper's pictures suggest, are therefore shown beside it. FRL and the default use no bandwidth.",
            "In the figure: on the line, the truth (grey, dashed), the kernel estimate without privacy (blue) and ten "
            "releases (red); in the plane, one release as a map, all on one scale, with contours of the kernel "
            "estimate (blue) or, where that is the map, of the truth (grey).",
        ],
        figure(rows.where(kind="curve")),
        [table(found, dimension) for dimension in (1, 2) if found.where(dimension=dimension)],
        claims(found),
    )


def table(rows: Rows, dimension: int) -> Table:
    order = {which: k for k, which in enumerate(columns(dimension))}
    some = sorted(
        rows.where(dimension=dimension),
        key=lambda row: (-(row["share"] or 0), order[row["mechanism"], row["setting"]]),
    )
    head = ["bandwidth", "mechanism", *KINDS.values(), *(["two modes between 0.1 and 0.9"] if dimension == 1 else [])]
    body = [
        [
            f"{row['share']:g}" if row["share"] else "none",
            label(row),
            *(spread(row[kind], row[f"{kind}_se"]) if row.get(kind) else "-" for kind in KINDS),
            *([f"{row['two_modes']:.0%}"] if dimension == 1 else []),
        ]
        for row in some
    ]
    unit = f"bandwidths in units of n^(-1/{4 + dimension}) widths of the domain"
    return Table(f"{dimension}-D: integrated squared errors ({unit})", head, body)
