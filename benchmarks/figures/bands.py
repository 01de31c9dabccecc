"""What bands hold: those of means and of differences here, all others in `other_bands`."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import hypot, sqrt
from statistics import mean, median
from typing import Any

from figures import other_bands
from figures.names import called
from figures.saved import Saved
from figures.text import geometric, number, percent, table

Cell = dict[str, Any]
#: What was asked: coverage in a cell that counts as holding, the level, and standard errors beyond which it falls.
ENOUGH, LEVEL, ERRORS = 0.93, 0.95, 3.0
#: Widths stand over an oracle's where more functions than that are released.
FEW = 8
#: What was asked of the squared error with the check over that without.
LOSS = {"one round": 1.13, "several rounds": 1.06}
TARGETS = {"band": "mean of the curves", "confidence_band": "mean of the population"}
GROUPS: dict[str, Callable[[Cell], bool]] = {
    "sets that constants were chosen on": lambda c: c["kind"] == "tune" and not c["named"],
    "other sets": lambda c: c["kind"] == "judge" and not c["named"],
    "heavy tails and spikes": lambda c: bool(c["named"]),
}


def figures(saved: Saved) -> dict[str, Any]:
    cells = saved.take("coverage")["cells"]
    pairs = [cell for cell in cells.values() if "comparison" in cell]
    single = [cell for cell in cells.values() if "population" in cell]
    plain = [cell for cell in _with(single, "confidence_band") if not cell["named"]]
    every = saved.take("accuracy")["auto"]["coverage"]
    return {
        "runs": f"{min(cell['runs'] for cell in single):,}",
        "means": table(["band of the", "sets", "cells", f"at least {ENOUGH}", "worst cell", "width"], _means(single)),
        "below": f"{sum(_coverage(c, 'confidence_band') < ENOUGH for c in plain):,}",
        "plain_cells": f"{len(plain):,}",
        "few_width": number(median(c["band"]["over_oracle"] for c in _with(single, "band") if c["components"] <= FEW)),
        **_falling(single),
        "check": table(["plans of", "cells", "squared error over that without", "wanted at most"], _check(single)),
        "scenarios": table(["", *next(iter(every.values()))],
                           [[name, *(percent(share, 1) for share in row.values())] for name, row in every.items()]),
        **_minorities(saved.take("minorities")),
        **_differences(pairs),
        **other_bands.figures(saved),
    }  # fmt: skip


def _coverage(cell: Cell, band: str) -> float:
    return float(cell[band]["coverage"])


def _with(cells: list[Cell], band: str) -> list[Cell]:
    """Cells whose releases have that band."""
    return [cell for cell in cells if cell[band] is not None]


def _where(cell: Cell) -> str:
    return f"{called(cell['population'])}, n {cell['n']:,}, epsilon {cell['epsilon']:g}"


def _means(cells: list[Cell]) -> list[list[Any]]:
    rows = []
    for group, belongs in GROUPS.items():
        for band, target in TARGETS.items():
            rows.append([target, group, *_row([c for c in cells if belongs(c)], band)])
    rows.append(["mean of the curves, noise alone", "all but heavy tails and spikes",
                 *_row([c for c in cells if not c["named"]], "noise_band")])  # fmt: skip
    return rows


def _row(cells: list[Cell], band: str) -> list[Any]:
    cells = _with(cells, band)
    worst = min(cells, key=lambda c: _coverage(c, band))
    wide = [c[band]["over_oracle"] for c in cells if c["components"] > FEW]
    return [
        len(cells), percent(mean(_coverage(c, band) >= ENOUGH for c in cells)),
        f"{_coverage(worst, band):.2f} ({_where(worst)})", median(wide),
    ]  # fmt: skip


def _falling(cells: list[Cell]) -> dict[str, str]:
    """Pairs of cells of a population whose coverage falls, below the level, as n or epsilon falls."""
    found = []
    for one, other in combinations(cells, 2):
        if one["population"] != other["population"]:
            continue
        for name, same in (("n", "epsilon"), ("epsilon", "n")):
            if one[same] == other[same]:
                large, small = (one, other) if one[name] > other[name] else (other, one)
                found += [line for band in TARGETS if (line := _fall(large, small, band))]
    return {"falls": f"{len(found):,}", "falling": f": {'; '.join(found)}" if found else ""}


def _fall(large: Cell, small: Cell, band: str) -> str:
    if len(_with([large, small], band)) < 2:
        return ""
    high, low = min(LEVEL, _coverage(large, band)), _coverage(small, band)
    if high - low <= ERRORS * hypot(*(_error(_coverage(cell, band), cell["runs"]) for cell in (large, small))):
        return ""
    return f"{TARGETS[band]}, {low:.2f} for {_where(small)} and {_coverage(large, band):.2f} for {_where(large)}"


def _error(share: float, runs: int) -> float:
    """Standard error of a share, which is not zero where all runs agree."""
    near = (share * runs + 1) / (runs + 2)
    return sqrt(near * (1 - near) / runs)


def _check(cells: list[Cell]) -> list[list[Any]]:
    """What the check of the part left out costs."""
    rows = []
    for name, most in LOSS.items():
        some = [c["loss"]["ratio"] for c in cells if c["loss"] and (c["rounds"] > 1) == (name == "several rounds")]
        if some:
            rows.append([name, len(some), f"{geometric(some):.2f}", f"{most:g}"])
    return rows


def _minorities(found: dict[str, Any]) -> dict[str, Any]:
    rows = [
        [n, epsilon, percent(share), times if share else "-", held, warned]
        for n, epsilon, share, times, held, warned in found["rows"]
    ]
    runs = found["runs"]
    head = ["curves", "epsilon", "large ones", "times as large", f"bands that held, of {runs}", "releases that warned"]
    return {"minorities": table(head, rows), "minority_runs": f"{runs:,}"}


def _differences(cells: list[Cell]) -> dict[str, Any]:
    kinds: dict[tuple[str, float], list[Cell]] = {}
    for cell in cells:
        kinds.setdefault((_kind(cell["comparison"]), cell["epsilon"]), []).append(cell)
    rows = []
    for (kind, epsilon), some in sorted(kinds.items()):
        some = _with(some, "confidence_band")
        least = min(_coverage(c, "confidence_band") for c in some)
        rows.append([
            kind, f"{epsilon:g}", len(some), _mean_share(c["rejected"] for c in some),
            _mean_share(c["rejected_by_oracle"] for c in some), f"{least:.2f}",
            median(c["confidence_band"]["over_oracle"] for c in some),
        ])  # fmt: skip
    equal = [c for c in cells if c["equal"] and c["rejected"] is not None]
    head = ["groups", "epsilon", "cells", "rejected", "by the oracle", "least coverage of the band", "width"]
    return {
        "differences": table(head, rows),
        "equal_cells": f"{len(equal):,}",
        "equal_rejected": f"{sum(c['rejected'] > 0 for c in equal):,}",
        "equal_most": percent(max(c["rejected"] for c in equal), 1),
        "difference_runs": f"{min(c['runs'] for c in cells):,}",
    }


def _kind(comparison: str) -> str:
    name, _, what = comparison.rpartition(", ")
    return f"two {comparison}" if name == "arms" else f"real sets, {what}"


def _mean_share(shares: Any) -> str:
    return percent(mean(share for share in shares if share is not None), 1)
