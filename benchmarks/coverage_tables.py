"""Tables of the coverage study: each cell, and what was asked of all of them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import common
import numpy as np

Cell = dict[str, Any]
#: Bands that make a promise, and the former one.
PROMISES = ("band", "confidence_band")
#: What was asked: coverage in most cells and in every one that is not named, and how many "most" are.
ENOUGH, LEAST, MOST_CELLS, LEVEL = 0.93, 0.85, 0.95, 0.95
#: Width over the oracle's, where more than so many components are released.
WIDE, COMPONENTS = 2.0, 8
#: Squared error with the check over that without: one round, and several.
LOSS = {"one round": 1.13, "several rounds": 1.06}
ERRORS = 3.0


def summary(known: dict[str, Cell]) -> dict[str, Any]:
    """All tables, and their figures."""
    single = [cell for cell in known.values() if "population" in cell]
    pairs = [cell for cell in known.values() if "comparison" in cell]
    found: dict[str, Any] = {}
    if single:
        each(single)
        for kind in ("tune", "judge"):
            some = [cell for cell in single if cell["kind"] == kind]
            if some:
                found[kind] = asked(some, "cells to develop on" if kind == "tune" else "cells to judge by")
        found["falling"] = falling(single)
    if pairs:
        found["differences"] = differences(pairs)
    return found


def part(cell: Cell, band: str, name: str) -> float | None:
    return None if cell[band] is None else cell[band][name]


def shown(value: float | None, form: str = ".3f") -> str:
    return "-" if value is None else f"{value:{form}}"


def label(cell: Cell) -> str:
    return f"{cell['population']}{' *' if cell['named'] else ''}, n {cell['n']}, eps {cell['epsilon']:g}"


def each(cells: list[Cell]) -> None:
    rows = []
    for cell in cells:
        loss, check = cell["loss"], cell["left_out"]
        rows.append(
            [
                label(cell),
                f"{cell['rounds']}/{cell['components']:.0f}",
                *(shown(part(cell, name, "coverage")) for name in (*PROMISES, "noise_band")),
                *(shown(part(cell, name, "over_oracle"), ".2f") for name in (*PROMISES, "noise_band")),
                shown(cell["realised_over_forecast"], ".2g"),
                verdict(cell),
                shown(None if loss is None else loss["ratio"], ".2f"),
                shown(None if check is None else check["saturated"], ".2f"),
            ]
        )
    head = ["cell", "comp.", "sample", "pop.", "noise", "width", "pop.", "noise", "error", "verdict", "check", "sat."]
    title = (
        "Rounds/components; coverage of 95 % bands (of the sample mean, of the population's, and of the sample mean\n"
        "by the noise band); their widths over an oracle's; squared error over its forecast; verdict (what came\n"
        "of it, or what was foreseen); squared error over that without the check; how often the check was saturated.\n"
        "Heavy tails and spikes have a star."
    )
    common.show(title, head, rows)


def verdict(cell: Cell) -> str:
    told = cell["verdict"]
    return told["realised"] if told["fits"] is None else f"{told['foreseen']}{'' if told['fits'] else ' (no)'}"


def asked(cells: list[Cell], title: str) -> dict[str, Any]:
    """Whether these cells keep what was asked of them."""
    found: dict[str, Any] = {"cells": len(cells), "runs": min(cell["runs"] for cell in cells)}
    print(f"\n{title}: {len(cells)}, at least {found['runs']} runs each")
    for band in (*PROMISES, "noise_band"):
        found[band] = one_band([cell for cell in cells if cell[band] is not None], band)
    there = [cell for cell in cells if all(cell[band] is not None for band in PROMISES)]
    both = [min(cell[band]["coverage"] for band in PROMISES) >= ENOUGH for cell in there]
    found["both_hold"] = float(np.mean(both)) if both else None
    print(f"  both promises kept (at least {ENOUGH}) in {shown(found['both_hold'])} of the cells; asked: {MOST_CELLS}")
    found["forecast"] = forecasts(cells)
    found["loss"] = losses(cells)
    found["verdict"] = verdicts(cells)
    return found


def one_band(cells: list[Cell], band: str) -> dict[str, Any] | None:
    """Coverage and width of one band over cells that have it."""
    if not cells:
        print(f"  {band}: missing")
        return None
    worst = sorted(cells, key=lambda cell: float(cell[band]["coverage"]))
    plain = [cell for cell in worst if not cell["named"]]
    wide = [cell[band]["over_oracle"] for cell in cells if cell["components"] > COMPONENTS]
    narrow = [cell[band]["over_oracle"] for cell in cells if cell["components"] <= COMPONENTS]
    found = {
        "cells": len(cells),
        "hold": _share(cells, band),
        "hold_outside_named": _share(plain, band),
        "below_least": [label(cell) for cell in plain if cell[band]["coverage"] < LEAST],
        "width_over_oracle": _median(wide),
        "width_over_oracle_few_components": _median(narrow),
        "worst": {label(cell): cell[band]["coverage"] for cell in worst[:5]},
    }
    print(
        f"  {band}: at least {ENOUGH} in {shown(found['hold'])} of {len(cells)} cells, "
        f"{shown(found['hold_outside_named'])} of those without heavy tails and spikes; width over oracle "
        f"{shown(found['width_over_oracle'], '.2f')} (asked: {WIDE:g}), with up to {COMPONENTS} components "
        f"{shown(found['width_over_oracle_few_components'], '.2f')}"
    )
    print("    worst: " + "; ".join(f"{name} {value:.3f}" for name, value in found["worst"].items()))
    print(f"    below {LEAST} without heavy tails and spikes: " + ("; ".join(found["below_least"]) or "none"))
    return found


def _share(cells: list[Cell], band: str) -> float | None:
    return float(np.mean([cell[band]["coverage"] >= ENOUGH for cell in cells])) if cells else None


def _median(values: list[float]) -> float | None:
    return float(np.median(values)) if values else None


def forecasts(cells: list[Cell]) -> dict[str, float]:
    ratios = np.array([cell["realised_over_forecast"] for cell in cells])
    near = float(((ratios >= 1 / 3) & (ratios <= 3)).mean())
    print(f"  error over forecast: median {np.median(ratios):.2f}, between 1/3 and 3 in {near:.2f} of the cells")
    return {"median": float(np.median(ratios)), "near": near, "least": float(ratios.min()), "most": float(ratios.max())}


def losses(cells: list[Cell]) -> dict[str, Any] | None:
    """What the check costs, as geometric means over cells of one round and of several."""
    found: dict[str, Any] = {}
    for name, most in LOSS.items():
        some = [c["loss"] for c in cells if c["loss"] is not None and (c["rounds"] > 1) == (name == "several rounds")]
        if some:
            ratio = float(np.exp(np.mean([np.log(loss["ratio"]) for loss in some])))
            spread = np.array([loss["standard_error"] / loss["ratio"] for loss in some])
            error = float(np.sqrt((spread**2).sum()) / len(some))
            over = sum(loss["ratio"] - most > ERRORS * loss["standard_error"] for loss in some)
            found[name] = {"ratio": ratio, "standard_error": error, "asked": most, "cells_above": over}
            print(f"  error with the check over that without, {name}: {ratio:.3f} +- {error:.3f} (asked: {most:g}); "
                  f"{over} of {len(some)} cells above it by {ERRORS:g} standard errors")  # fmt: skip
    return found or None


def verdicts(cells: list[Cell]) -> dict[str, float] | None:
    told = [cell["verdict"] for cell in cells if cell["verdict"]["fits"] is not None]
    if not told:
        return None
    found = {"fits": float(np.mean([one["fits"] for one in told]))}
    for noisy, name in ((True, "right_if_noise"), (False, "right_if_not")):
        some = [one for one in told if (one["foreseen"] == "mostly noise") == noisy]
        if some:
            found[name] = float(np.mean([(one["realised"] == "mostly noise") == noisy for one in some]))
    print("  verdicts: " + ", ".join(f"{name.replace('_', ' ')} {value:.2f}" for name, value in found.items()))
    return found


def falling(cells: list[Cell]) -> list[str] | None:
    """Pairs of cells of a population whose coverage falls, below .95, as n or epsilon falls; None without bands."""
    if all(cell[band] is None for cell in cells for band in PROMISES):
        return None
    found = []
    for large, small in _neighbours(cells):
        for band in PROMISES:
            if large[band] is None or small[band] is None:
                continue
            high, low = min(LEVEL, large[band]["coverage"]), small[band]["coverage"]
            error = np.hypot(*(_error(cell[band]["coverage"], cell["runs"]) for cell in (large, small)))
            if high - low > ERRORS * error:
                found.append(f"{band}: {label(large)} {large[band]['coverage']:.3f}, {label(small)} {low:.3f}")
    print(f"\ncoverage that falls below {LEVEL} as n or epsilon falls, by {ERRORS:g} standard errors: {len(found)}")
    for line in found:
        print(f"  {line}")
    return found


def _neighbours(cells: list[Cell]) -> list[tuple[Cell, Cell]]:
    """Cells of one population that differ in n alone, or in epsilon alone; the larger first."""
    pairs = []
    for one, other in combinations(cells, 2):
        if one["population"] == other["population"]:
            for name, same in (("n", "epsilon"), ("epsilon", "n")):
                if one[same] == other[same]:
                    pairs.append((one, other) if one[name] > other[name] else (other, one))
    return pairs


def _error(share: float, runs: int) -> float:
    """Standard error of a share, which is not zero where all runs agree."""
    near = (share * runs + 1) / (runs + 2)
    return float(np.sqrt(near * (1 - near) / runs))


def differences(cells: list[Cell]) -> dict[str, Any]:
    rows = []
    for cell in cells:
        name = f"{cell['comparison']}, n {cell['sizes'][0]} and {cell['sizes'][1]}, eps {cell['epsilon']:g}"
        rows.append(
            [
                name,
                " ".join(f"{count:.0f}" for count in cell["components"]),
                *(shown(part(cell, band, "coverage")) for band in (*PROMISES, "noise_band")),
                *(shown(part(cell, band, "over_oracle"), ".2f") for band in PROMISES),
                "size" if cell["equal"] else "power",
                shown(cell["rejected"]),
                shown(cell["rejected_by_oracle"]),
            ]
        )
    head = ["groups", "comp.", "sample", "pop.", "noise", "width", "pop."]
    common.show("Differences of groups: coverage, width over an oracle's, and rejections at .05",
                [*head, "is its", "rejected", "oracle"], rows)  # fmt: skip
    found: dict[str, Any] = {}
    for equal, name in ((True, "size"), (False, "power")):
        some = [cell for cell in cells if cell["equal"] == equal and cell["rejected"] is not None]
        if some:
            shares = [cell["rejected"] for cell in some]
            found[name] = {
                "cells": len(some),
                "mean": float(np.mean(shares)),
                "most": float(np.max(shares)),
                "least": float(np.min(shares)),
                "oracle": float(np.mean([cell["rejected_by_oracle"] for cell in some])),
            }
            print(f"  {name}: " + ", ".join(f"{key} {value:.3g}" for key, value in found[name].items()))
    for band in PROMISES:
        some = [cell[band]["coverage"] for cell in cells if cell[band] is not None]
        found[band] = {"hold": float(np.mean(np.array(some) >= ENOUGH)), "least": min(some)} if some else None
    return found
