"""Errors of all mechanisms as n grows, in the four scenarios of the paper."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import dpfda as dp

from . import paper, study
from .authors import Authors
from .pages import COLORS, Claim, Report, Table, judge, judge_ours, most, picture, spread
from .study import OURS, PAPER, Row, Rows, Scale, moments
from .theorems import mean_bound, mechanism_theorem

TITLE = "Errors of the mechanisms"
SOURCE = "Figure with privacy-estimation, estimation and privacy errors over n in S-1 to S-4; epsilon 1, delta 0.01."
FILES: tuple[str, ...] = ()
KINDS = {"total": "privacy-estimation error", "estimation": "estimation error", "privacy": "privacy error"}
#: The samples of the paper's text: a Gaussian process with a radial basis kernel.
ERROR, NU = "gp", 1.5


def cells(scale: Scale, error: str = ERROR, nu: float = NU) -> list[dict[str, Any]]:
    return [
        {"mode": mode, "scenario": scenario, "n": n, "error": error, "nu": nu, "data_sets": scale.data_sets}
        | ({"draws": scale.draws} if mode == PAPER else {"releases": scale.releases})
        for n in scale.sizes
        for scenario in dp.datasets.RADII
        for mode in study.MODES
    ]


def samples(cell: dict[str, Any], count: int) -> list[tuple[dp.datasets.Sample, np.random.Generator]]:
    """Data sets of a cell, the same in both modes, each with the generator of its draws."""
    seed = seed_of(cell)
    return [
        (
            dp.datasets.scenario(cell["scenario"], cell["n"], np.random.default_rng([seed, i]), cell["error"]),
            np.random.default_rng([seed, i, 1]),
        )
        for i in range(count)
    ]


def seed_of(cell: dict[str, Any]) -> int:
    return study.seed(cell["scenario"], cell["error"], cell["n"])


def run(cell: dict[str, Any], data: Path | None = None) -> list[Row]:
    """One row per mechanism: mean and standard error of each kind of error over data sets."""
    drawn = samples(cell, cell["data_sets"])
    base = paper.simulated(cell["scenario"], cell["n"], cell["nu"], None if cell["mode"] == OURS else paper.ANY)
    if cell["mode"] == OURS:
        found = [paper.default_errors(base, s.curves, s.mean, cell["releases"]) for s, _ in drawn]
        return [_row(cell, "default", repr(base.chosen), found)]
    rows = []
    for name, plans in paper.mechanisms(base).items():
        tried = [
            (plan, [paper.errors(plan, s.curves, s.mean, cell["draws"], rng) for s, rng in drawn]) for plan in plans
        ]
        # As in the paper: of FRL's window, the number of components that turns out best. No plan could know it.
        plan, found = min(tried, key=lambda pair: sum(e.total for e in pair[1]))
        rows.append(_row(cell, name, repr(plan.chosen), found))
    found = [_authors(base, s, cell["draws"], rng) for s, rng in drawn]
    return [*rows, _row(cell, "authors' QR", "bound read from the data, noise short: not private", found)]


def _authors(plan: dp.MeanPlan, sample: dp.datasets.Sample, draws: int, rng: np.random.Generator) -> paper.Errors:
    sketch = Authors(plan.basis, plan.basis.coefficients(sample.curves)).qr(factor=1.0)
    truth, released = plan.basis.coefficients(sample.mean), sketch.released(paper.EPSILON, draws, rng)
    return paper.Errors(
        float(((released - truth) ** 2).sum(axis=1).mean()),
        float(((sketch.before - truth) ** 2).sum()),
        float(((released - sketch.before) ** 2).sum(axis=1).mean()),
    )


def _row(cell: dict[str, Any], mechanism: str, method: str, found: list[paper.Errors]) -> Row:
    row: Row = {**cell, "mechanism": mechanism, "seed": seed_of(cell)}
    for kind in KINDS:
        row[kind], row[f"{kind}_se"] = moments(asdict(e)[kind] for e in found)
    return {**row, "method": method}


# -- what came out ----------------------------------------------------------------------------------


def report(rows: Rows, data: Path | None = None) -> Report:
    return Report(
        [
            "Each point is an average over data sets; bars are two standard errors. FRL shows the number of components "
            "in its privacy-safe window that turned out best, as in the paper, which favours it. Bernstein's noise is "
            "made for all of its values together; by each value's own largest change, as in its original, an L2 bound "
            "would ask for tens of times more. The default is one "
            "configuration, told n, epsilon, the public radius and the kernel; its estimation error is that of the "
            "plain mean. The authors' row is not private and shows what the printed figures rest on.",
        ],
        figure(rows),
        [table(rows)],
        claims(rows),
    )


def figure(rows: Rows) -> Any:
    drawing, axes = picture(3, 4, sharex=True, sharey="col")
    for column, scenario in zip(axes.T, dp.datasets.RADII, strict=True):
        for axis, kind in zip(column, KINDS, strict=True):
            for mechanism, color in COLORS.items():
                some = rows.where(scenario=scenario, mechanism=mechanism)
                x, y = [row["n"] for row in some], [row[kind] for row in some]
                bars = [2 * row[f"{kind}_se"] for row in some]
                loose = mechanism in ("GP-ADP", "authors' QR")
                axis.errorbar(x, y, bars, color=color, lw=2 if mechanism == "default" else 1.2, ms=3, marker="o",
                              ls="--" if loose else "-", label=LABELS.get(mechanism, mechanism))  # fmt: skip
            axis.set(xscale="log", yscale="log")
        column[0].set_title(scenario)
        column[-1].set_xlabel("n")
    for axis, words in zip(axes[:, 0], KINDS.values(), strict=True):
        axis.set_ylabel(words)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=7, frameon=False)
    return drawing


LABELS = {"GP-ADP": "GP-ADP (not pure)", "authors' QR": "authors' QR (not private)", "default": "dpfda, default"}


def table(rows: Rows, title: str = "Privacy-estimation error") -> Table:
    names = [name for name in COLORS if rows.where(mechanism=name)]
    found = [
        [scenario, n, *(_cell(rows.where(scenario=scenario, n=n, mechanism=name)) for name in names)]
        for scenario in rows.values("scenario")
        for n in rows.values("n")
    ]
    return Table(title, ["scenario", "n", *(LABELS.get(name, name) for name in names)], found)


def _cell(found: Rows) -> str:
    return spread(found[0]["total"], found[0]["total_se"]) if found else "-"


def at_least_as_accurate(rows: Rows, facts: tuple[str, ...], pure: tuple[str, ...] = paper.PURE) -> Claim | None:
    """In how many cells the default beats each valid pure mechanism of the paper, up to two standard errors."""
    cells = won = 0
    worst = 0.0
    for ours in rows.where(mechanism="default"):
        for name in pure:
            for peer in rows.where(mode=PAPER, mechanism=name, **{fact: ours[fact] for fact in facts}):
                if peer.get("choice") == "PCV":
                    continue  # not private
                slack = 2 * float(np.hypot(ours["total_se"], peer["total_se"]))
                cells, won = cells + 1, won + (ours["total"] <= peer["total"] + slack)
                worst = max(worst, ours["total"] / peer["total"])
    if not cells:
        return None
    return judge_ours(
        "The default is at least as accurate as every valid pure mechanism of the paper in "
        "every cell, up to two standard errors",
        won == cells,
        2 * won > cells,
        f"{won} of {cells} comparisons; the largest ratio of errors is {worst:.2f}",
    )


def claims(rows: Rows) -> list[Claim]:
    found = [at_least_as_accurate(rows, ("scenario", "n"))]
    valid = rows.where(mode=PAPER)
    if valid:
        found += [
            mechanism_theorem(),
            mean_bound(),
            _best(valid),
            _gaussian(valid),
            _worst(valid),
            _soft(valid),
            _close(valid),
            _trade(valid),
            _free(valid),
        ]
    return [claim for claim in found if claim]


def _pairs(rows: Rows, kind: str, top: str, bottom: str, **facts: Any) -> list[float]:
    """Ratios of two mechanisms' errors over all cells."""
    return [
        row[kind] / rows.one(kind, mechanism=bottom, scenario=row["scenario"], n=row["n"])
        for row in rows.where(mechanism=top, **facts)
    ]


def _best(rows: Rows) -> Claim:
    better = [
        all(
            rows.one("total", mechanism="QR", scenario=s, n=n) <= rows.one("total", mechanism=m, scenario=s, n=n)
            for m in ("FRL", "AR", "Bernstein")
        )
        for s in rows.values("scenario")
        for n in rows.values("n")
    ]
    authors = [
        all(
            rows.one("total", mechanism="authors' QR", scenario=s, n=n)
            <= rows.one("total", mechanism=m, scenario=s, n=n)
            for m in ("FRL", "AR", "Bernstein")
        )
        for s in rows.values("scenario")
        for n in rows.values("n")
    ]
    return judge(
        "ICLP-QR consistently outperforms all other epsilon-DP mechanisms",
        all(better),
        most(better),
        f"with the paper's own sensitivity and valid noise in {sum(better)} of {len(better)} cells; with the authors' "
        f"noise, which is not private, against the others' valid noise in {sum(authors)}",
    )


def _gaussian(rows: Rows) -> Claim:
    low, high = min(rows.values("n")), max(rows.values("n"))
    ratios, first, last = (_pairs(rows, "total", "QR", "GP-ADP", **facts) for facts in ({}, {"n": low}, {"n": high}))
    more = [b > a for a, b in zip(first, last, strict=True)]
    return judge(
        "GP-ADP performs slightly better than ICLP-QR, especially when n is larger",
        all(1 <= r < 2 for r in ratios) and all(more),
        all(r >= 1 for r in ratios),
        f"ICLP-QR's error is {min(ratios):.1f} to {max(ratios):.1f} times GP-ADP's (the paper's sensitivity costs more "
        f"than the delta saves); from n = {low:,} to {high:,} the ratio grows in {sum(more)} of {len(more)} scenarios",
        "better, but not slightly, nor more so for larger n",
    )


def _worst(rows: Rows) -> Claim:
    places = [(s, n) for s in rows.values("scenario") for n in rows.values("n")]
    last = [max(paper.PURE, key=lambda m: rows.one("total", mechanism=m, scenario=s, n=n)) for s, n in places]
    return judge(
        "ICLP-AR exhibits the worst performance",
        set(last) == {"AR"},
        2 * last.count("AR") > len(last),
        f"of {len(last)} cells the last of the four pure mechanisms is "
        + ", ".join(f"{name} in {last.count(name)}" for name in paper.PURE),
        "in most cells",
    )


def _close(rows: Rows) -> Claim:
    names, others = ("FRL", "Bernstein"), ("S-2", "S-3", "S-4")
    near = {name: _pairs(rows, "total", name, "QR", scenario="S-1") for name in names}
    far = {name: [r for s in others for r in _pairs(rows, "total", name, "QR", scenario=s)] for name in names}
    close, fail = ([r for some in found.values() for r in some] for found in (near, far))
    return judge(
        "FRL and Bernstein are close to ICLP-QR in S-1 and fail to mimic it in S-2 to S-4",
        all(0.5 < r < 2 for r in close) and all(r >= 2 for r in fail),
        most([0.5 < r < 2 for r in close]) or most([r >= 2 for r in fail]),
        "with valid noise "
        + "; ".join(
            f"{name} has {min(near[name]):.2g} to {max(near[name]):.2g} times ICLP-QR's error in S-1 and "
            f"{min(far[name]):.2g} to {max(far[name]):.2g} times in the others"
            for name in names
        ),
    )


def _trade(rows: Rows) -> Claim:
    privacy, estimation = _pairs(rows, "privacy", "QR", "FRL"), _pairs(rows, "estimation", "QR", "FRL")
    return judge(
        "ICLP-QR has a privacy error like FRL's and a much smaller estimation error",
        max(privacy) < 2 and max(estimation) < 1,
        max(estimation) < 1,
        f"its estimation error is {min(estimation):.2g} to {max(estimation):.2g} times FRL's, its privacy error "
        f"{min(privacy):.2g} to {max(privacy):.2g} times",
    )


def _free(rows: Rows) -> Claim:
    """The slope of log privacy error on log n, between the smallest and the largest n."""
    low, high = min(rows.values("n")), max(rows.values("n"))
    if low == high:
        slopes = [float("nan")]
    else:
        slopes = [
            float(np.log(rows.one("privacy", mechanism="QR", scenario=s, n=high)
                         / rows.one("privacy", mechanism="QR", scenario=s, n=low)) / np.log(high / low))
            for s in rows.values("scenario")
        ]  # fmt: skip
    ratio = [r["privacy"] / r["estimation"] for r in rows.where(mechanism="QR", n=high)]
    return judge(
        "With psi = 1/n and eta = 1 + 2/beta the privacy error of ICLP-QR is O(1/n), like the estimation error",
        max(slopes) <= -0.95,
        False,
        f"it falls like n to the power {min(slopes):.2f} to {max(slopes):.2f}; at n = {high:,} it is still "
        f"{min(ratio):.2g} to {max(ratio):.2g} times the estimation error, by its constant",
    )


def _soft(rows: Rows) -> Claim:
    """How much of ICLP-AR's error is there before noise."""
    shares = [row["estimation"] / row["total"] for row in rows.where(mechanism="AR")]
    return judge(
        "ICLP-AR performs badly primarily due to its high estimation error",
        min(shares) > 0.5,
        most([share > 0.5 for share in shares]),
        f"of its error {100 * min(shares):.0f} % to {100 * max(shares):.0f} % is there before noise, more than half in "
        f"{sum(share > 0.5 for share in shares)} of {len(shares)} cells",
        "in most cells",
    )
