"""Age at death in nineteen regions of the world, one private density each."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import dpfda as dp

from . import study
from .pages import COLORS, Claim, Report, Table, judge, judge_ours, most, number, picture, spread
from .shapes import kernel_estimate, modes
from .study import OURS, PAPER, Row, Rows, Scale, moments, read_table

TITLE = "Age at death in nineteen regions"
SOURCE = "Table of distances between private and non-private densities of 19 regions, and their figure; epsilon 1."
FILES: tuple[str, ...] = ("wpp2019_deaths_by_age.csv",)
PERIOD, EPSILON = "2015-2020", 1.0
#: The open last group is closed at 110 years.
EDGES, OLDEST = (*range(0, 100, 5), 110), 110
#: Private densities per region: the paper's number.
DRAWS = 200
#: Every so many-th cell is kept for the figure.
THIN = 8
#: The paper's mechanisms, in the order of its table.
METHODS: dict[str, Any] = {
    "QR 1.01": dp.methods.QR(eta=1.01, noise="kernel"),
    "QR 1.05": dp.methods.QR(eta=1.05, noise="kernel"),
    "FRL": dp.methods.FRL(),
    "Bernstein 10": dp.methods.Bernstein(10, sensitivity="tight"),
    "Bernstein 20": dp.methods.Bernstein(20, sensitivity="tight"),
}
STYLES = {
    "QR 1.01": (COLORS["QR"], "-"), "QR 1.05": (COLORS["QR"], "--"), "FRL": (COLORS["FRL"], "-"),
    "Bernstein 10": (COLORS["Bernstein"], "--"), "Bernstein 20": (COLORS["Bernstein"], "-"),
    "default": (COLORS["default"], ":"),
}  # fmt: skip
#: What the paper prints for each of them, in a unit that it does not state.
PUBLISHED = {
    "Eastern Africa": (1.685, 5.249, 5.252, 3.823, 2.400),
    "Middle Africa": (1.122, 5.281, 4.870, 3.969, 2.090),
    "Northern Africa": (2.398, 8.873, 3.991, 11.315, 5.710),
    "Southern Africa": (2.487, 6.427, 2.990, 3.964, 2.395),
    "Western Africa": (1.588, 5.775, 5.752, 4.347, 2.609),
    "Central Asia": (5.804, 11.829, 7.319, 13.163, 8.116),
    "Eastern Asia": (3.551, 13.446, 3.900, 15.878, 8.162),
    "Southern Asia": (2.040, 8.619, 2.968, 10.044, 4.962),
    "South-Eastern Asia": (2.259, 9.498, 2.566, 10.428, 5.157),
    "Western Asia": (2.195, 8.689, 3.768, 9.380, 4.640),
    "Eastern Europe": (3.990, 13.501, 4.817, 15.542, 8.438),
    "Northern Europe": (7.318, 19.087, 7.174, 22.846, 13.339),
    "Southern Europe": (7.457, 21.076, 7.137, 27.500, 15.873),
    "Western Europe": (6.819, 19.959, 6.445, 25.606, 14.760),
    "Caribbean": (6.453, 11.247, 5.981, 10.714, 7.231),
    "Central America": (1.636, 7.777, 1.146, 5.637, 2.616),
    "South America": (2.244, 9.461, 2.886, 9.294, 4.700),
    "Northern America": (2.205, 10.605, 1.537, 10.028, 4.746),
    "Australia/New Zealand": (23.525, 29.495, 22.782, 28.339, 23.983),
}
#: The paper speaks of developed and developing regions without a list; this is the usual one.
DEVELOPED = (
    "Eastern Europe", "Northern Europe", "Southern Europe", "Western Europe", "Northern America",
    "Australia/New Zealand",
)  # fmt: skip
#: What a release is compared with.
KINDS = {"kde": "the kernel estimate", "data": "the data", "series": "the data's first twenty cosines"}


def cells(scale: Scale) -> list[dict[str, Any]]:
    return [{"mode": mode, "region": region, "draws": DRAWS} for region in PUBLISHED for mode in study.MODES]


@cache
def deaths(place: Path) -> dict[str, list[int]]:
    """Deaths by age group in persons, for each region; the file has thousands, with three decimals."""
    found: dict[str, list[int]] = {}
    for row in read_table(place, ("region", "period", "deaths_thousands")):
        if row["period"] == PERIOD:
            found.setdefault(row["region"], []).append(round(1000 * float(row["deaths_thousands"])))
    for region in PUBLISHED:
        if len(found.get(region, ())) != len(EDGES) - 1:
            raise dp.errors.FileError(f"{place.name} should hold {len(EDGES) - 1} age groups of {region} in {PERIOD}.")
    return found


def run(cell: dict[str, Any], data: Path | None = None) -> list[Row]:
    """Errors of a region's mechanisms, and one release of each for the figure.

    The paper's are run again with a thousand deaths as one record, the unit of the file: who reads it without
    multiplying gets that, and it explains some of the printed numbers. It protects nobody.
    """
    if data is None:
        raise ValueError("the counts of deaths are in a data folder")
    counts = np.array(deaths(data / FILES[0])[cell["region"]])
    rows = _rows(cell, counts, "persons")
    if cell["mode"] == PAPER:
        rows += [row for row in _rows(cell, np.rint(counts / 1000).astype(int), "thousands") if row["kind"] == "error"]
    return rows


def _rows(cell: dict[str, Any], counts: np.ndarray, records: str) -> list[Row]:
    seed = study.seed("mortality", cell["region"])
    plan = planned(int(counts.sum()), dp.methods.FRL(1))
    density = binned(plan, counts)
    basis = plan.basis
    series = basis.synthesize(basis.coefficients(density))
    targets = {"kde": kernel_estimate(plan, density), "data": density, "series": series}
    facts: Row = {"mode": cell["mode"], "region": cell["region"], "records": records, "n": plan.n, "seed": seed}
    rows = []
    for name, released, method in _releases(cell, plan.n, counts, seed):
        row: Row = {**facts, "kind": "error", "mechanism": name, "draws": cell["draws"]}
        for kind, target in targets.items():
            # On a scale where ages run from 0 to 1: squared densities per year, integrated over years, times 110.
            off = OLDEST * ((released - target) ** 2 @ plan.grid.weights)
            row[kind], row[f"{kind}_se"] = moments(off.tolist())
        rows += [{**row, "method": method}, *_curve(facts, name, plan, released[0])]
    if cell["mode"] == PAPER:
        smooth = targets["kde"]
        rows += [{**facts, "kind": "modes", "mechanism": "none", "value": modes(smooth)}]
        rows += _curve(facts, "none", plan, smooth)
    # The bars do not depend on the mode; each brings its own, so that either can be drawn alone.
    heights = counts / counts.sum() / np.diff(EDGES)
    bars = zip(EDGES[:-1], heights.tolist(), strict=True)
    return [*rows, *({**facts, "kind": "bar", "x": x, "value": float(f"{v:.4g}")} for x, v in bars)]


def planned(n: int, method: Any = None, **options: Any) -> dp.DensityPlan:
    """A plan for a region; without a method our default, else the paper's kernel and no post-processing."""
    if method is not None:
        options = {"method": method, "kernel": dp.kernels.Exponential(), "postprocess": False}
    return dp.DensityPlan(n=n, epsilon=EPSILON, domain=[(0, OLDEST)], edges=EDGES, **options)


def binned(plan: dp.DensityPlan, counts: np.ndarray) -> np.ndarray:
    """The data's own density: each group's deaths, evenly on the cells of its ages."""
    group = np.searchsorted(EDGES, plan.grid.points, side="right") - 1
    return (counts / counts.sum() / np.bincount(group))[group] / plan.grid.weights


def _releases(cell: dict[str, Any], n: int, counts: np.ndarray, seed: int) -> list[tuple[str, np.ndarray, str]]:
    """Name, releases and parameters of each mechanism of a mode: simulated ones, or real ones of our default."""
    if cell["mode"] == OURS:
        plan = planned(n)
        summary = plan.summarize(counts=counts)
        released = np.array([plan.release(summary).values for _ in range(cell["draws"])])
        return [("default", released, repr(plan.chosen))]
    found = []
    for name, method in METHODS.items():
        plan = planned(n, method)
        statistic = plan.statistic(plan.summarize(counts=counts))
        drawn = dp.noise.simulate(plan, statistic, cell["draws"], np.random.default_rng(seed))
        found.append((name, plan.basis.synthesize(drawn), repr(plan.chosen)))
    return found


def _curve(facts: Row, name: str, plan: dp.DensityPlan, values: np.ndarray) -> list[Row]:
    places = range(THIN // 2, values.size, THIN)
    return [
        {**facts, "kind": "curve", "mechanism": name, "x": float(f"{plan.grid.points[i]:.4g}"),
         "value": float(f"{values[i]:.4g}")}
        for i in places
    ]  # fmt: skip


# -- what came out ----------------------------------------------------------------------------------


def report(rows: Rows, data: Path | None = None) -> Report:
    found = rows.where(kind="error", records="persons")
    return Report(
        [
            "The unit of privacy is one death: a person, who is one record here. Counts are persons who died in "
            f"{PERIOD}, in {len(EDGES) - 1} age groups; the last, 95 and over, is closed at {OLDEST} years. Errors are "
            "squared L2 distances with ages scaled to [0, 1], in thousandths: means over 200 releases. (Divided by "
            f"{1000 * OLDEST:,} they are per year of age.)",
            "The kernel estimate is the exponential kernel's with bandwidth 110 n^(-1/5) years, without privacy: what "
            "the paper compares with. The data is the density of the age groups themselves, which twenty cosines, as "
            f"many as there are groups, cannot follow quite. With {_millions(found)} million deaths per region the "
            "noise hardly counts: a row near zero smooths as its target does. FRL and the default do not smooth; they "
            "are farther from the kernel estimate and nearer to the data. The components of FRL are the library's own "
            "choice, from n and epsilon. From the data's own cosines the default is a little farther than they are, as "
            "it shrinks, and moves what dips below zero. Standard errors too small to be shown are with the rows.",
            "The published numbers are in a unit that is not stated, for a kernel that is not named; no unit makes "
            "ours and them agree: see the claims.",
        ],
        figure(rows),
        [table(found, kind) for kind in ("kde", "data") if found] + ([published()] if found.where(mode=PAPER) else []),
        claims(rows),
    )


def _millions(rows: Rows) -> str:
    sizes = rows.values("n") or [0]
    return f"{min(sizes) / 1e6:.0f} to {max(sizes) / 1e6:.0f}"


def figure(rows: Rows) -> Any:
    drawing, axes = picture(5, 4, width=3.3, height=2.0, sharex=True)
    for axis, region in zip(axes.flat, PUBLISHED, strict=False):
        some = rows.where(region=region)
        bars = some.where(kind="bar", mode=some[0]["mode"]) if some else some
        axis.bar([r["x"] for r in bars], [1000 * r["value"] for r in bars], np.diff(EDGES)[: len(bars)], align="edge",
                 color="#dddddd", label="deaths")  # fmt: skip
        curves = some.where(kind="curve")
        _line(axis, curves.where(mechanism="none"), "kernel estimate, not private", color="#7a3fb0", lw=3, alpha=0.45)
        for name, (color, style) in STYLES.items():
            wide = 1.6 if name == "default" else 1
            _line(axis, curves.where(mechanism=name), label(name), color=color, ls=style, lw=wide)
        axis.set_title(region, fontsize=10)
        axis.tick_params(labelsize=8)
        axis.set(xlim=(0, OLDEST), xticks=[0, 25, 50, 75, 100])
    for axis in axes[:, 0]:
        axis.set_ylabel("per 1,000 and year", fontsize=8)
    last = axes[-1, -1]
    last.set_axis_off()
    last.legend(*axes[0, 0].get_legend_handles_labels(), loc="center", frameon=False, fontsize=9)
    # The hidden panel's column gets its ages on the panel above.
    axes[-2, -1].tick_params(labelbottom=True)
    for axis in axes[-1, :-1]:
        axis.set_xlabel("age", fontsize=8)
    return drawing


def _line(axis: Any, some: Rows, name: str, **style: Any) -> None:
    if some:
        axis.plot([r["x"] for r in some], [1000 * r["value"] for r in some], label=name, **style)


def label(name: str) -> str:
    return {"default": "dpfda, default"}.get(name, name.replace("QR ", "QR, eta "))


def table(rows: Rows, kind: str) -> Table:
    names = [name for name in STYLES if rows.where(mechanism=name)]
    body = []
    for region in rows.values("region"):
        some = rows.where(region=region)
        found = [some.where(mechanism=name)[0] for name in names]
        body.append([region, f"{some[0]['n']:,}", *(_cell(row, kind) for row in found)])
    title = f"Squared L2 distance to {KINDS[kind]}, ages on [0, 1], thousandths"
    return Table(title, ["region", "deaths", *map(label, names)], body)


def _cell(row: Row, kind: str) -> str:
    """Thousandths; where the standard error is below the digits shown, it is left to the rows."""
    mean, error = 1000 * row[kind], 1000 * row[f"{kind}_se"]
    return spread(mean, error) if error > 1e-3 * mean else number(mean)


def published() -> Table:
    return Table(
        "What the paper prints (unit not stated)",
        ["region", *map(label, METHODS)],
        [[region, *values] for region, values in PUBLISHED.items()],
    )


def claims(rows: Rows) -> list[Claim]:
    found, other = (rows.where(kind="error", records=records) for records in ("persons", "thousands"))
    made = [_default(found, kind) for kind in KINDS]
    if found.where(mode=PAPER):
        made += [_groups(found), _shapes(rows.where(kind="modes")), _printed(found, other)]
    return [claim for claim in made if claim]


def _default(rows: Rows, kind: str) -> Claim | None:
    """The default against each mechanism of the paper, all regions."""
    ours = {row["region"]: row for row in rows.where(mechanism="default")}
    counts, ratios = {}, {}
    for name in METHODS:
        pairs = [(ours[row["region"]], row) for row in rows.where(mechanism=name) if row["region"] in ours]
        better = [o[kind] <= p[kind] + 2 * _slack(o, p, kind) for o, p in pairs]
        counts[name], ratios[name] = better, [o[kind] / p[kind] for o, p in pairs]
    if not any(counts.values()):
        return None
    every = [won for better in counts.values() for won in better]
    return judge_ours(
        f"The default is at least as near to {KINDS[kind]} as every mechanism of the paper, up to two standard errors",
        all(every),
        most(every),
        "; ".join(
            f"{label(name)}: {sum(better)} of {len(better)} regions, errors {number(min(ratios[name]))} to "
            f"{number(max(ratios[name]))} times"
            for name, better in counts.items()
        ),
    )


def _slack(ours: Row, peer: Row, kind: str) -> float:
    return float(np.hypot(ours[f"{kind}_se"], peer[f"{kind}_se"]))


def _errors(rows: Rows, kind: str = "kde") -> dict[str, list[float]]:
    """Errors of each region, in the order of the paper's columns."""
    return {r: [rows.one(kind, region=r, mechanism=name) for name in METHODS] for r in rows.values("region")}


def _split(errors: dict[str, Any]) -> tuple[list[bool], list[bool]]:
    """Whether ICLP-QR (1.01) is nearer than FRL: in developing regions, and whether FRL is, in developed ones."""
    first, third = list(METHODS).index("QR 1.01"), list(METHODS).index("FRL")
    return (
        [e[first] < e[third] for region, e in errors.items() if region not in DEVELOPED],
        [e[third] < e[first] for region, e in errors.items() if region in DEVELOPED],
    )


def _groups(rows: Rows) -> Claim:
    poor, rich = _split(_errors(rows))
    raw = _split(_errors(rows, "data"))
    printed = _split(PUBLISHED)
    return judge(
        "ICLP-QR (eta 1.01) has smaller errors in developing regions, FRL in developed ones",
        all(poor) and all(rich),
        all(poor) or all(rich),
        f"ICLP-QR is nearer to the kernel estimate in {sum(poor)} of {len(poor)} developing regions, FRL in "
        f"{sum(rich)} of {len(rich)} developed ones ({sum(printed[0])} and {sum(printed[1])} by the printed numbers); "
        f"nearer to the data they are in {sum(raw[0])} and {sum(raw[1])}. What differs between "
        "regions is smoothing, not noise",
        "by the distance to the kernel estimate, and in developing regions",
    )


def _shapes(rows: Rows) -> Claim:
    rich = [row["value"] for row in rows if row["region"] in DEVELOPED]
    poor = [row["value"] for row in rows if row["region"] not in DEVELOPED]
    one, several = sum(v == 1 for v in rich), sum(v > 1 for v in poor)
    return judge(
        "The densities of developed regions are unimodal, those of developing ones multimodal",
        one == len(rich) and several == len(poor),
        one / max(1, len(rich)) > 0.5 and several / max(1, len(poor)) > 0.5,
        f"of the kernel estimates without privacy, {one} of {len(rich)} developed regions have one mode and {several} "
        f"of {len(poor)} developing ones have several (peaks that stand out by 5% of the highest; infants' is one)",
        "in most regions",
    )


def _printed(rows: Rows, thousands: Rows) -> Claim:
    """Whether one factor takes our numbers to the printed ones, by column; with persons as records, or thousands."""
    factors, along = _against(rows)
    others, orders = _against(thousands)

    def told(factors: list[float], along: list[float]) -> str:
        return (
            f"the printed numbers are {', '.join(map(number, factors))} times ours by column (medians over regions), "
            f"rank correlations {', '.join(f'{c:.2f}' for c in along)}"
        )

    return judge(
        "Printed in the table: distances between private and non-private densities",
        max(factors) / min(factors) < 1.5 and min(along) > 0.9,
        max(others) / min(others) < 1.5 and min(orders) > 0.9,
        f"they could not be reproduced. With a person as a record {told(factors, along)}; with a thousand deaths as a "
        f"record, as in the file, {told(others, orders)}",
    )


def _against(rows: Rows) -> tuple[list[float], list[float]]:
    """Printed over ours, and correlations of ranks over regions, by column."""
    errors = _errors(rows)
    ours = 1000 * np.array(list(errors.values()))
    theirs = np.array([PUBLISHED[region] for region in errors])
    factors = np.median(theirs / ours, axis=0).tolist()
    return factors, [_correlation(a, b) for a, b in zip(ours.T, theirs.T, strict=True)]


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Between ranks; not a number where there are too few of them."""
    if len(a) < 3:
        return float("nan")
    ranks = [np.argsort(np.argsort(values)) for values in (a, b)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])
