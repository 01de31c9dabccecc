"""Privacy-safe selection against private cross-validation, which is not private."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import dpfda as dp

from . import mechanisms, paper, study
from .pages import COLORS, Claim, Report, Table, judge, judge_ours, most, picture, spread
from .study import OURS, PAPER, Row, Rows, Scale, moments

TITLE = "PSS against PCV"
SOURCE = "Figure with errors under privacy-safe selection (PSS) and ten-fold cross-validation (PCV), S-1 to S-4."
FILES: tuple[str, ...] = ()
SAFE, VALIDATED = "PSS", "PCV"
NAMES = ("FRL", "AR", "QR")


def cells(scale: Scale, error: str = mechanisms.ERROR, nu: float = mechanisms.NU) -> list[dict[str, Any]]:
    return [
        {"mode": mode, "scenario": scenario, "n": n, "error": error, "nu": nu, "data_sets": scale.validated}
        | {"draws": scale.draws, "candidates": scale.candidates, "releases": scale.releases}
        for n in scale.sizes
        for scenario in dp.datasets.RADII
        for mode in study.MODES
    ]


def run(cell: dict[str, Any], data: Path | None = None) -> list[Row]:
    """One row per mechanism and way of choosing: the privacy-estimation error over data sets."""
    drawn = mechanisms.samples(cell, cell["data_sets"])
    base = paper.simulated(cell["scenario"], cell["n"], cell["nu"], None if cell["mode"] == OURS else paper.ANY)
    rows = []
    for name in NAMES:
        safe = _safe(name, base, cell["mode"])
        # As in the paper: of FRL's window, the number of components that turns out best.
        fixed = [
            [paper.errors(plan, s.curves, s.mean, cell["draws"], rng).total for s, rng in drawn]
            for plan in (replace(base, method=method) for method in safe)
        ]
        rows.append(_row(cell, name, SAFE, min(fixed, key=sum)))
        wider = _wider(name, safe, base, cell["candidates"])
        validated = []
        for sample, rng in drawn:
            plan = replace(base, method=_validated(wider, base, sample.curves, rng))
            validated.append(paper.errors(plan, sample.curves, sample.mean, cell["draws"], rng).total)
        rows.append(_row(cell, name, VALIDATED, validated))
    if cell["mode"] == OURS:
        default = [paper.default_errors(base, s.curves, s.mean, cell["releases"]).total for s, _ in drawn]
        rows.append(_row(cell, "default", SAFE, default))
    return rows


def _safe(name: str, plan: dp.MeanPlan, mode: str) -> list[Any]:
    """What is chosen before data: by the paper's rates, or (ours) by the exact risk, at tight bounds and noise."""
    if mode == OURS:
        return [replace(plan, method=getattr(dp.methods, name)()).chosen]
    if name == "FRL":
        return [paper.frl(count) for count in paper.window(plan)]
    return [paper.safe(getattr(dp.methods, name)(**paper.VALID), plan)]


def _wider(name: str, safe: list[Any], plan: dp.MeanPlan, count: int) -> list[Any]:
    """Where cross-validation looks: three components more and fewer, penalties from a tenth to ten times."""
    if name == "FRL":
        low, high = max(1, safe[0].components - 3), min(plan.basis.size, safe[-1].components + 3)
        return [replace(safe[0], components=m) for m in range(low, high + 1)]
    tried = [replace(safe[0], psi=safe[0].psi * factor) for factor in np.geomspace(0.1, 10, count)]
    return [method for method in tried if _possible(plan, method)]


def _possible(plan: dp.MeanPlan, method: Any) -> bool:
    """A penalty that leaves no coefficient alive is no plan."""
    try:
        replace(plan, method=method)
    except dp.errors.ParameterError:
        return False
    return True


def _validated(candidates: list[Any], plan: dp.MeanPlan, curves: np.ndarray, rng: np.random.Generator) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dp.errors.NotPrivateWarning)  # that is what this experiment is about
        return dp.selection.pcv(candidates, replace(plan, method=candidates[0]), curves, rng)


def _row(cell: dict[str, Any], mechanism: str, choice: str, found: list[float]) -> Row:
    mean, error = moments(found)
    facts = {**cell, "mechanism": mechanism, "choice": choice, "seed": mechanisms.seed_of(cell)}
    return {**facts, "total": mean, "total_se": error}


# -- what came out ----------------------------------------------------------------------------------


def report(rows: Rows, data: Path | None = None) -> Report:
    return Report(
        [
            "Above, the paper's mechanisms with valid noise and parameters by its rates; below, ours: tight bounds, "
            "matched noise, parameters by the exact risk over a public class. Cross-validation reads the data without "
            "spending budget, so a release that used it would not be private; and the paper's PSS for FRL reports the "
            "best number of components after the fact, which no release could know.",
        ],
        figure(rows),
        [table(rows)],
        claims(rows),
    )


def figure(rows: Rows) -> Any:
    modes = rows.values("mode")
    drawing, axes = picture(len(modes), 4, sharex=True, sharey="col")
    for line, mode in zip(axes, modes, strict=True):
        for axis, scenario in zip(line, dp.datasets.RADII, strict=True):
            for name, choice in CURVES:
                some = rows.where(mode=mode, scenario=scenario, mechanism=name, choice=choice)
                if some:
                    bars, style = [2 * row["total_se"] for row in some], "-" if choice == SAFE else ":"
                    axis.errorbar([row["n"] for row in some], [row["total"] for row in some], bars, color=COLORS[name],
                                  ls=style, lw=1.4, marker="o", ms=3, label=_label(name, choice))  # fmt: skip
            axis.set(xscale="log", yscale="log")
        line[0].set_ylabel({PAPER: "paper's, valid noise", OURS: "tight, matched noise"}[mode])
    for axis, scenario in zip(axes[0], dp.datasets.RADII, strict=True):
        axis.set_title(scenario)
    for axis in axes[-1]:
        axis.set_xlabel("n")
    handles, labels = axes[-1, 0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=7, frameon=False)
    return drawing


#: What is drawn: our default chooses for itself.
CURVES = [*((name, choice) for name in NAMES for choice in (SAFE, VALIDATED)), ("default", SAFE)]


def _label(name: str, choice: str) -> str:
    return f"{name}, {choice}" if name in NAMES else mechanisms.LABELS[name]


def table(rows: Rows, title: str = "Privacy-estimation error") -> Table:
    columns = [
        (mode, name, choice)
        for mode in rows.values("mode")
        for name, choice in CURVES
        if rows.where(mode=mode, mechanism=name, choice=choice)
    ]
    found = []
    for scenario in rows.values("scenario"):
        for n in rows.values("n"):
            here = rows.where(scenario=scenario, n=n)
            line = [here.where(mode=m, mechanism=name, choice=c) for m, name, c in columns]
            found.append([scenario, n, *(spread(x[0]["total"], x[0]["total_se"]) if x else "-" for x in line)])
    return Table(title, ["scenario", "n", *(f"{m}: {_label(name, c)}" for m, name, c in columns)], found)


def ratios(rows: Rows, mechanism: str, **facts: Any) -> list[float]:
    """How many times larger errors are under PSS than under PCV, cell by cell."""
    keys = ("mode", "scenario", "n", "error", "nu")
    return [
        row["total"] / rows.one("total", mechanism=mechanism, choice=VALIDATED, **{key: row[key] for key in keys})
        for row in rows.where(mechanism=mechanism, choice=SAFE, **facts)
    ]


def claims(rows: Rows) -> list[Claim]:
    found = [mechanisms.at_least_as_accurate(rows, ("scenario", "n"))]
    if rows.where(mode=PAPER):
        found += [_aligned(rows), _steady(rows), _last(rows)]
    if rows.where(mode=OURS):
        found.append(_ours(rows))
    return [claim for claim in found if claim]


def _range(values: list[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}"


def _near(values: list[float]) -> bool:
    return all(2 / 3 <= value <= 1.5 for value in values)


def _aligned(rows: Rows) -> Claim:
    frl, qr = (ratios(rows, name, mode=PAPER, scenario="S-1") for name in ("FRL", "QR"))
    return judge(
        "In S-1 the error curves of PSS almost line up with those of PCV, for FRL and ICLP-QR",
        _near(frl) and _near(qr),
        _near(frl) or _near(qr),
        f"PSS over PCV: FRL {_range(frl)}, ICLP-QR {_range(qr)}",
        f"for {'FRL' if _near(frl) else 'ICLP-QR'} alone",
    )


def _steady(rows: Rows) -> Claim:
    scenarios = ("S-2", "S-3")
    qr = [r for s in scenarios for r in ratios(rows, "QR", mode=PAPER, scenario=s)]
    slopes = [slope for s in scenarios for slope in _slopes(rows.where(mode=PAPER, scenario=s, mechanism="FRL"))]
    steps = max(slopes) > 2 * min(slopes)
    return judge(
        "In S-2 and S-3 PSS and PCV are consistent for ICLP, while FRL under PSS exhibits a step-down pattern",
        _near(qr) and steps,
        most([_near([r]) for r in qr]) or steps,
        f"PSS over PCV for ICLP-QR {_range(qr)}; between neighbouring n the error of FRL falls like n to the power "
        f"{-min(slopes):.1f} to {-max(slopes):.1f}",
        ("FRL comes down in steps" if steps else "FRL does not come down in steps")
        + (
            ", ICLP-QR agrees" if _near(qr) else f", ICLP-QR agrees in {sum(_near([r]) for r in qr)} of {len(qr)} cells"
        ),
    )


def _slopes(rows: Rows) -> list[float]:
    """How fast the error under PSS falls from each n to the next, as powers of n."""
    found = sorted((row["n"], row["total"]) for row in rows.where(choice=SAFE))
    return [float(np.log(e / f) / np.log(n / m)) for (m, e), (n, f) in pairwise(found)]


def _last(rows: Rows) -> Claim:
    values = {name: ratios(rows, name, mode=PAPER, scenario="S-4") for name in ("FRL", "QR")}
    whole = [r for some in values.values() for r in some]
    return judge(
        "In S-4 PCV performs slightly better than PSS",
        all(1 <= r <= 1.5 for r in whole),
        most([1 <= r <= 1.5 for r in whole]),
        "PSS over PCV: " + ", ".join(f"{name} {_range(some)}" for name, some in values.items()),
        f"in {sum(1 <= r <= 1.5 for r in whole)} of {len(whole)} cells",
    )


def _ours(rows: Rows) -> Claim:
    values = {name: ratios(rows, name, mode=OURS) for name in NAMES}
    whole = [r for some in values.values() for r in some]
    typical = float(np.exp(np.mean(np.log(whole))))
    return judge_ours(
        "Choosing by the exact risk before data costs little against looking at the data",
        max(whole) <= 1.5,
        typical <= 1.5,
        "chosen before data over PCV: "
        + ", ".join(f"{name} {_range(some)}" for name, some in values.items())
        + f"; {typical:.2f} as a geometric mean",
        "typically, not in every cell",
    )
