"""What bands of densities, covariances, regressions, percentiles and survival curves hold."""

from __future__ import annotations

from statistics import mean, median
from typing import Any

from figures.names import called
from figures.saved import Saved
from figures.text import percent, table

ENOUGH = 0.93
#: Bands of densities: the key of a result, what it holds, and whether its width is known.
DENSITIES = {
    "cdf, points": ("distribution function of the points", "width, cdf"),
    "cdf, population": ("distribution function of the population", None),
    "quantiles, points": ("five quantiles of the points", None),
    "quantiles, population": ("five quantiles of the population", None),
    "histogram, points": ("histogram of the points", None),
    "density": ("density of the population", "width, density"),
}
#: Populations that bands of densities except: atoms, and features finer than bins.
EXCEPTED = ("atoms", "spike")
#: Populations of percentiles and lives that stand in a line of their own.
REAL_LIVES = ("lung", "gbsg2", "rossi")


def figures(saved: Saved) -> dict[str, Any]:
    density = saved.take("coverage-density")
    covariance, models = (
        saved.take("coverage_covariance", "coverage-covariance"),
        saved.take("coverage_models", "coverage-models"),
    )
    percentiles = saved.take("curves", "curves-bands", "curves-life-bands")
    return {
        "density_runs": f"{density['runs']:,}",
        "densities": table(["band of the", "cells", f"at least {ENOUGH}", "worst cell", "worst but atoms and spikes",
                            "width"], [_density(density["cells"], *each) for each in DENSITIES.items()]),
        **_covariances(covariance["cells"], tuple(covariance["heavy"])),
        **_models(models["cells"]),
        **_percentiles(_rows(percentiles["bands"])),
        **_lives(_rows(percentiles["life-bands"])),
    }  # fmt: skip


def _rows(part: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(part["head"], row, strict=True)) for row in part["rows"]]


def _density(cells: dict[str, dict[str, float]], name: str, words: tuple[str, str | None]) -> list[Any]:
    seen = {cell: row for cell, row in cells.items() if name in row}
    worst = min(seen, key=lambda cell: seen[cell][name])
    plain = [row[name] for cell, row in seen.items() if not cell.startswith(EXCEPTED)]
    what, width = words
    return [
        what, len(seen), percent(mean(row[name] >= ENOUGH for row in seen.values())),
        f"{seen[worst][name]:.2f} ({worst})", f"{min(plain):.2f}", median(row[width] for row in seen.values()) if width
        else "-",
    ]  # fmt: skip


def _covariances(cells: list[dict[str, Any]], heavy: tuple[str, ...]) -> dict[str, Any]:
    rows, limits = [], []
    for name in ("sample", "population"):
        for words, some in (("all but heavy tails", [c for c in cells if c["set"] not in heavy]),
                            ("heavy tails", [c for c in cells if c["set"] in heavy])):  # fmt: skip
            held = f"{name} held"
            worst = min(some, key=lambda c: c[held])
            rows.append([
                f"covariance of the {name}", words, len(some), percent(mean(c[held] >= ENOUGH for c in some)),
                f"{worst[held]:.2f} ({called(worst['set'])}, n {worst['n']:,}, epsilon {worst['epsilon']:g})",
                median(c[f"{name} width over oracle"] for c in some),
            ])  # fmt: skip
        for i in (1, 2):
            held, told = f"{name} angle {i} held", f"{name} angle {i} told"
            by_size = [[c[told] for c in cells if c["n"] == n] for n in sorted({c["n"] for c in cells})]
            worst = min(cells, key=lambda c: c[held])
            limits.append([
                f"{('first', 'second')[i - 1]}, of the {name}",
                f"{worst[held]:.2f} ({called(worst['set'])}, n {worst['n']:,}, epsilon {worst['epsilon']:g})",
                *(percent(mean(shares)) for shares in by_size),
            ])  # fmt: skip
    sizes = [f"says something, n {n:,}" for n in sorted({c["n"] for c in cells})]
    return {
        "covariances": table(["band of the", "sets", "cells", f"at least {ENOUGH}", "worst cell", "width"], rows),
        "angles": table(["component", "limit held, worst cell", *sizes], limits),
        "covariance_runs": f"{min(c['runs'] for c in cells):,}",
    }


def _models(cells: dict[str, dict[str, Any]]) -> dict[str, Any]:
    rows = []
    for name in dict.fromkeys(key.split(",")[0] for key in cells):
        some = {key: row for key, row in cells.items() if key.split(",")[0] == name}
        rows.append([
            name + (" (constants were chosen on it)" if any(row["tuned"] for row in some.values()) else ""),
            len(some),
            *(_worst(some, what) for what in ("band: sample", "confidence: population", "noise: sample")),
            median(row["confidence over oracle"] for row in some.values()),
        ])  # fmt: skip
    runs = [row["runs"] for row in cells.values()]
    head = ["population", "cells", "`band`, worst", "`confidence_band`, worst", "noise alone, worst", "width"]
    kept = [row["confidence: population"] >= ENOUGH for row in cells.values()]
    return {
        "models": table(head, rows),
        "model_runs": f"{max(runs):,}" if min(runs) == max(runs) else f"{min(runs):,} to {max(runs):,}",
        "model_cells": f"{len(cells):,}",
        "model_kept": f"{sum(kept):,}",
    }


def _worst(cells: dict[str, dict[str, Any]], what: str) -> str:
    key = min(cells, key=lambda cell: cells[cell][what])
    _, n, epsilon = (part.strip() for part in key.split(","))
    return f"{cells[key][what]:.2f} (n {int(n):,}, epsilon {epsilon})"


def _percentiles(rows: list[dict[str, Any]]) -> dict[str, Any]:
    glucose = [row for row in rows if row["population"] == "glucose"]
    others = [row for row in rows if row["population"] != "glucose"]
    shown = [[r["population"], r["n"], r["epsilon"], r["runs"], percent(r["held"], 1), r["half-width"]]
             for r in sorted(glucose, key=lambda r: r["n"])]  # fmt: skip
    low = sorted((r for r in others if r["held"] < 0.9), key=lambda r: (r["held"], r["population"]))
    missed = [[r["population"], r["n"], r["epsilon"], r["runs"], percent(r["held"]), r["half-width"]] for r in low]
    return {
        "percentiles": table(["population", "n", "epsilon", "releases", "held", "half-width"], shown + missed),
        "shapes_cells": f"{len(others):,}",
        "shapes_held": f"{len(others) - len(low):,}",
        "shapes_runs": f"{min(r['runs'] for r in others):,}",
    }


def _lives(rows: list[dict[str, Any]]) -> dict[str, Any]:
    real = [row for row in rows if row["lives"] in REAL_LIVES]
    others = [row for row in rows if row["lives"] not in REAL_LIVES]
    low = sorted((r for r in others if r["held"] < 0.95), key=lambda r: r["held"])
    shown = [[r["lives"], r["n"], r["epsilon"], r["runs"], percent(r["held"], 1), r["half-width"]]
             for r in (*real, *low)]  # fmt: skip
    return {
        "lives": table(["lives", "n", "epsilon", "releases", "held", "half-width"], shown),
        "lives_cells": f"{len(others):,}",
        "lives_held": f"{len(others) - len(low):,}",
        "lives_runs": f"{min(r['runs'] for r in others):,}",
    }
