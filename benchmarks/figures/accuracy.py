"""Errors of means: the scenarios, real sets with the bound that people have, and random classes of curves."""

from __future__ import annotations

from typing import Any

from figures.names import called
from figures.saved import Saved
from figures.text import geometric, held, number, percent, span, table

SCENARIOS = ("S-1", "S-2", "S-3", "S-4")
#: Rows with public radii, as the page calls them: before and after those of `Auto`.
BEFORE = {
    "non-private": "without privacy",
    "paper's theorem, valid noise": "paper's theorem, with valid noise",
    "authors' code (not eps-DP)": "authors' code (**not** eps-DP)",
}
AFTER = {
    "Minimax": "`Minimax()`",
    "KNorm": "`KNorm()`",
    "KNorm, 30 components": "`KNorm(components=30)`",
    "FRL": "`FRL()`",
    "AR": "`AR()`",
    "QR": "`QR()`",
}
AUTO = {
    "no spread": "**`Auto()`, no spread given**",
    "no spread, default kernel": "the same with the default kernel",
    "no spread, bound x10": "the same with a bound ten times too large",
    "no spread, bound x10, default kernel": "both",
    "spread 1": "**`Auto(spread=1.0)`**",
}
#: Data sets of a row of `Auto`, at n = 10,000, and of a class, by whether the run was a long one (auto.py).
RUNS = {False: (40, 10, 4, 1), True: (200, 50, 16, 4)}
BOUNDS = {"bound x1": "right", "bound x3": "x3", "bound x10": "x10"}
#: How far above another error an error must be to be called worse.
WORSE = 1.1


def figures(saved: Saved) -> dict[str, Any]:
    found, real = saved.take("accuracy"), saved.take("real")
    auto = found["auto"]
    return {
        "data_sets": number(found["runs"], 3),
        **dict(zip(("auto_runs", "large_runs", "class_runs", "class_large_runs"),
                   map(str, RUNS[auto["long"]]), strict=True)),
        **_scenarios(found["scenarios"]["public_radii"], auto["scenarios"]),
        **_standardised(found["adelaide_mondays"], auto["real"]),
        **_real(real, saved.history("real_before")),
        **_classes(auto["classes"]),
    }  # fmt: skip


def _scenarios(public: dict[str, Any], auto: dict[str, Any]) -> dict[str, Any]:
    rows = [[words, *(number(public[name][s]["mean"]) for s in SCENARIOS)] for name, words in BEFORE.items()]
    for name, words in AUTO.items():
        errors = [auto["table"][name][s]["mean"] for s in SCENARIOS]
        limits = auto["wanted"][name]
        rows.append([words, *(f"{held(e, limit)} / {limit:g}" for e, limit in zip(errors, limits, strict=True))])
    rows += [[words, *(number(public[name][s]["mean"]) for s in SCENARIOS)] for name, words in AFTER.items()]

    def over(name: str) -> str:
        return span(auto["table"][name][s]["mean"] / auto["table"][name][s]["non_private"] for s in SCENARIOS)

    return {
        "scenarios": table(["", *SCENARIOS], rows),
        "large_spread": over("n = 10,000, spread 1"),
        "large_bare": over("n = 10,000, no spread"),
    }


def _standardised(adelaide: dict[str, Any], real: dict[str, Any]) -> dict[str, Any]:
    budgets = adelaide["epsilons"]
    one, wanted = budgets.index("1"), adelaide["wanted_at_1"]
    rows = []
    for name, errors in adelaide["expected_squared_distance"].items():
        row = [name, *map(number, errors), f"{wanted[name]:g}" if name in wanted else ""]
        if name in wanted:
            row[1 + one] = held(errors[one], wanted[name])
        rows.append(row)
    sets = [
        [name.replace("DTI", "white matter"), each["n"], held(each["mean"], each["wanted"]), f"{each['wanted']:g}"]
        for name, each in real.items()
    ]
    return {
        "adelaide": table(["epsilon", *budgets, "wanted at 1"], rows),
        "standardised": table(["curves", "n", "error of `Auto()` at epsilon 1", "wanted"], sets),
    }


def _real(real: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    cells, rows = real["cells"], []
    for loose, words in zip((1, 3, 10), BOUNDS.values(), strict=True):
        for epsilon in (0.5, 1.0, 4.0):
            here = [c for c in cells if (c["loose"], c["epsilon"]) == (loose, epsilon)]
            wanted = real["summary"]["table"][f"x{loose}, eps {epsilon:g}"]["wanted"]
            over, worst = geometric(c["over_before"] for c in here), max(here, key=lambda c: c["error"])
            rows.append([
                words, f"{epsilon:g}", held(over, wanted), f"{wanted:g}",
                geometric(c["error"] for c in here), f"{number(worst['error'])} ({called(worst['set'])})",
                geometric(c["over_oracle"] for c in here),
            ])  # fmt: skip
    head = ["bound", "epsilon", "over the former default", "wanted", "over the public centre", "worst set",
            "over the oracle"]  # fmt: skip
    worse = [c for c in cells if c["over_before"] > WORSE]
    last = max(cells, key=lambda c: c["over_before"])
    last_loose = last["loose"]
    return {
        "real": table(head, rows),
        "real_runs": number(real["runs"], 3),
        "real_cells": f"{len(cells):,}",
        "above_centre": f"{sum(c['error'] > WORSE for c in cells):,}",
        "above_centre_before": f"{sum(c['error'] > WORSE for c in before['cells']):,}",
        "worse": f"{len(worse):,}",
        "worst_over_before": number(last["over_before"]),
        "worst_where": f"{called(last['set'])}, {last['n']:,} curves, epsilon {last['epsilon']:g}, "
                       f"bound {BOUNDS[f'bound x{last_loose}']}",
    }  # fmt: skip


def _classes(classes: dict[str, Any]) -> dict[str, Any]:
    names = list(classes["bound x1"]["error_over_auto"])
    rows = [[f"`{name}`", *(classes[bound]["error_over_auto"][name] for bound in BOUNDS)] for name in names]
    rows.append(["cells where `Auto` is beyond", *(_share(classes[bound]) for bound in BOUNDS)])
    every = [(bound, cell) for bound in BOUNDS for cell in classes[bound]["cells"]]
    bound, worst = max(every, key=lambda pair: pair[1]["ratio"])
    scarce = [c["ratio"] for c in classes["bound x1"]["cells"] if round(c["n"] * c["epsilon"]) == 50]
    return {
        "classes": table(["bound", *BOUNDS.values()], rows),
        "class_cells": f"{len(classes['bound x1']['cells']):,}",
        "class_worst": number(worst["ratio"]),
        "class_worst_where": f"{worst['class']}, n = {worst['n']:,}, epsilon {worst['epsilon']:g}, bound "
                             f"{BOUNDS[bound]}, against `{worst['best_fixed']}`",
        "scarce": number(geometric(scarce)),
        "scarce_cells": f"{len(scarce):,}",
    }  # fmt: skip


def _share(found: dict[str, Any]) -> str:
    outside, cells = found["beyond"], len(found["cells"])
    return f"{outside:,} ({percent(outside / cells, 1)})"
