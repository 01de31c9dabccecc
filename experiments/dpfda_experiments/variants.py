"""The appendix: heavy-tailed errors from a basis expansion, a smoother kernel, and both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import dpfda as dp

from . import mechanisms, selection
from .pages import COLORS, Claim, Report, judge, picture
from .study import PAPER, Rows, Scale, moments

TITLE = "Other errors, another kernel"
SOURCE = "Appendix: errors from a basis expansion with t(5) coefficients; Matern 5/2; both. Errors and selection again."
FILES: tuple[str, ...] = ()
VARIANTS = {"t(5) errors": ("t", 1.5), "Matern 5/2": ("gp", 2.5), "t(5) errors, Matern 5/2": ("t", 2.5)}
MAIN = (mechanisms.ERROR, mechanisms.NU)
PARTS: dict[str, Any] = {"mechanisms": mechanisms, "selection": selection}


def cells(scale: Scale) -> list[dict[str, Any]]:
    """Both experiments for every variant, and in the main setting, to compare with: their code runs them."""
    return [
        {**cell, "part": part}
        for error, nu in (*VARIANTS.values(), MAIN)
        for part, module in PARTS.items()
        for cell in module.cells(scale, error, nu)
    ]


# -- what came out ----------------------------------------------------------------------------------


def report(rows: Rows, data: Path | None = None) -> Report:
    tables = []
    for name, (error, nu) in VARIANTS.items():
        some = rows.where(error=error, nu=nu)
        tables += [
            PARTS["mechanisms"].table(some.where(part="mechanisms"), f"{name}: privacy-estimation error"),
            PARTS["selection"].table(some.where(part="selection"), f"{name}: PSS against PCV"),
        ]
    return Report(
        [
            "The errors of the expansion are weighted by the square roots of the eigenvalues of Matern 3/2, in every "
            "variant: with a hundred unweighted t(5) coefficients, as printed, a curve would have a norm of about "
            "thirteen, far outside any of the radii. Eigenvalues of Matern 5/2 fall like the sixth power, so beta is "
            "6; the appendix says 3 in one place and 6 in another.",
        ],
        figure(rows),
        tables,
        claims(rows),
    )


def figure(rows: Rows) -> Any:
    """For each variant three rows of errors and one of selection."""
    lines = len(mechanisms.KINDS) + 1
    drawing, axes = picture(lines * len(VARIANTS), 4, height=1.6, sharex=True)
    for block, (name, (error, nu)) in enumerate(VARIANTS.items()):
        some, part = rows.where(error=error, nu=nu), axes[lines * block : lines * (block + 1)]
        for column, scenario in zip(part.T, dp.datasets.RADII, strict=True):
            here = some.where(scenario=scenario)
            for axis, kind in zip(column, mechanisms.KINDS, strict=False):
                for mechanism, color in COLORS.items():
                    _line(axis, here.where(part="mechanisms", mechanism=mechanism), color, "-", mechanism, kind)
            for mechanism in selection.NAMES:
                for choice, style in ((selection.SAFE, "-"), (selection.VALIDATED, ":")):
                    found = here.where(part="selection", mode=PAPER, mechanism=mechanism, choice=choice)
                    _line(column[-1], found, COLORS[mechanism], style, "")
        for axis, words in zip(part[:, 0], (*mechanisms.KINDS.values(), "PSS (line), PCV (dots)"), strict=True):
            axis.set_ylabel(f"{name}\n{words}", fontsize=7)
    for axis, scenario in zip(axes[0], dp.datasets.RADII, strict=True):
        axis.set_title(scenario)
    for axis in axes[-1]:
        axis.set_xlabel("n")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=7, frameon=False)
    return drawing


def _line(axis: Any, rows: Rows, color: str, style: str, label: str, kind: str = "total") -> None:
    bars = [2 * row[f"{kind}_se"] for row in rows]
    x, y, name = [row["n"] for row in rows], [row[kind] for row in rows], mechanisms.LABELS.get(label, label)
    width = 2 if label == "default" else 1.2
    axis.errorbar(x, y, bars, color=color, ls=style, lw=width, marker="o", ms=2.5, label=name)
    axis.set(xscale="log", yscale="log")


def claims(rows: Rows) -> list[Claim]:
    cells = rows.where(part="mechanisms")
    found = [mechanisms.at_least_as_accurate(rows, ("scenario", "n", "error", "nu", "part"))]
    if rows.where(mode=PAPER):
        found += [_same_kernel(cells), _tails(rows.where(part="selection"))]
    return [claim for claim in found if claim]


def _same_kernel(rows: Rows) -> Claim:
    changes = {
        name: [
            rows.one("total", mechanism=name, scenario=row["scenario"], n=row["n"], error=row["error"], nu=2.5)
            / row["total"]
            for row in rows.where(mechanism=name, nu=1.5)
        ]
        for name in ("FRL", "AR", "QR")
    }
    whole = [r for some in changes.values() for r in some]
    return judge(
        "Results with Matern 5/2 are almost the same as with Matern 3/2",
        all(0.8 <= r <= 1.25 for r in whole),
        all(0.5 <= r <= 2 for r in whole),
        "errors change by factors of " + ", ".join(f"{min(r):.2f} to {max(r):.2f} ({m})" for m, r in changes.items()),
        "within a factor of two",
    )


def _tails(rows: Rows) -> Claim:
    """How far PSS is from PCV, on a log scale, with one kind of error and the other, cell by cell."""

    def apart(error: str) -> np.ndarray:
        found = [
            abs(float(np.log(r)))
            for scenario in ("S-2", "S-3")
            for name in selection.NAMES
            for r in selection.ratios(rows, name, mode=PAPER, scenario=scenario, error=error, nu=1.5)
        ]
        return np.array(found)

    heavy, light = apart("t"), apart("gp")
    change, error = moments((heavy - light).tolist())
    return judge(
        "With heavy-tailed coefficients PSS and PCV are more aligned in S-2 and S-3",
        change < -2 * error,
        abs(change) <= 2 * error,
        f"they differ by factors of {np.exp(heavy.mean()):.3f} with t(5) errors and {np.exp(light.mean()):.3f} with "
        f"Gaussian ones; the change in logarithms is {change:.3f} ± {error:.3f} over {heavy.size} cells",
        "no difference can be told",
    )
