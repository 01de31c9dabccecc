"""The story of the paper's experiments: what its sentences about numbers need."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from figures.saved import Saved
from figures.text import listed, number, percent, span, table

#: The paper's four pure mechanisms.
FOUR = ("FRL", "AR", "QR", "Bernstein")
#: What one table of the page shows of the real curves, at this budget and kernel.
BUDGET, KERNEL = "1", "Matern 3/2"
SETS = {"Electricity": "Electricity", "DTI": "DTI per scan", "DTI, per person": "DTI per person"}
Rows = list[dict[str, Any]]


def figures(saved: Saved) -> dict[str, Any]:
    full = saved.take("reproduction_full", "reproduction-full")
    curves = {each["title"].partition(" (")[0]: _rows(each) for each in full["tables"]["curves"]}
    claims = [c for c in (*full["claims"], *saved.take("reproduction")["claims"]) if c["ours"]]
    default = {c["experiment"]: c["number"] for c in reversed(claims) if "every valid pure mechanism" in c["text"]}
    loose = next(c for c in full["claims"] if c["text"].startswith("The sensitivity of ICLP-QR is at most"))
    return {
        **_entries(curves),
        **_winners(_rows(full["tables"]["mechanisms"][0]), curves),
        **_times(_rows(full["tables"]["timing"][0])),
        **_mortality(full["tables"]["mortality"]),
        "loose": f"{loose['verdict']} {loose['number']}",
        "default": table(["experiment", "comparisons that hold"], sorted(default.items())),
        "persons": listed(_persons(curves)),
    }


def _rows(found: dict[str, Any]) -> Rows:
    return [dict(zip(found["head"], row, strict=True)) for row in found["rows"]]


def _value(cell: Any) -> float:
    """A number without its standard error."""
    return float(str(cell).partition(" ")[0].replace(",", ""))


def _entries(curves: dict[str, Rows]) -> dict[str, Any]:
    """How near the authors' formulas come to print, and the table at one budget."""
    pairs = [(_value(row[f"{name}: printed"]), _value(row[f"{name}: authors'"]))
             for rows in curves.values() for row in rows for name in FOUR if f"{name}: printed" in row]  # fmt: skip
    shown = []
    for title, words in SETS.items():
        row = next(row for row in curves[f"{title}, {KERNEL}"] if row["epsilon"] == BUDGET)
        for name in FOUR:
            valid = row[f"{name}: valid"] + (f" / {row['QR, PSS: valid']}" if name == "QR" else "")
            what = "ICLP-QR, parameters of the table / of the text (PSS)" if name == "QR" else name
            what = "ICLP-AR" if name == "AR" else what
            shown.append(
                [f"{words}: {what}", row.get(f"{name}: printed", "-"), row.get(f"{name}: authors'", "-"), valid]
            )
        shown.append([f"**{words}: `dp.mean`, default**", "", "", f"**{number(_value(row['dpfda, default']), 3)}**"])
    return {
        "entries": f"{len(pairs):,}",
        "entries_off": percent(max(abs(ours / printed - 1) for printed, ours in pairs), 1),
        "real": table(["", "printed", "authors' formulas", "valid noise"], shown),
    }


def _persons(curves: dict[str, Rows]) -> Iterable[str]:
    """The default's error with a person as a record over that with a scan, budget by budget."""
    people, scans = curves[f"DTI, per person, {KERNEL}"], curves[f"DTI, {KERNEL}"]
    for person, scan in zip(people, scans, strict=True):
        yield number(_value(person["dpfda, default"]) / _value(scan["dpfda, default"]))


def _winners(mechanisms: Rows, curves: dict[str, Rows]) -> dict[str, str]:
    """In how many cells ICLP-QR is the best of the paper's four."""
    real = [row for title, rows in curves.items() if "per person" not in title for row in rows]

    def best(row: dict[str, Any], ours: str, suffix: str = "") -> bool:
        return _value(row[ours]) <= min(_value(row[name + suffix]) for name in FOUR if name != "QR")

    return {
        "simulated": f"{len(mechanisms):,}",
        "simulated_best": f"{sum(best(row, 'QR') for row in mechanisms):,}",
        "real_cells": f"{len(real):,}",
        "real_best": f"{sum(best(row, 'QR: valid', ': valid') for row in real):,}",
        "real_best_text": f"{sum(best(row, 'QR, PSS: valid', ': valid') for row in real):,}",
    }


def _times(rows: Rows) -> dict[str, str]:
    """How much less time curves take from kept eigenpairs, and in the cosine basis, at the largest number."""
    some = [row for row in rows if row["K"] == max(r["K"] for r in rows)]
    rebuilt = "ICLP, rebuilt for each curve"
    return {
        "most_eigenpairs": f"{some[0]['K']:,}",
        "kept": span(row[rebuilt] / row["ICLP, eigenpairs kept"] for row in some),
        "cosines": span(row[rebuilt] / row["ICLP, cosine basis (DCT)"] for row in some),
    }


def _mortality(tables: list[dict[str, Any]]) -> dict[str, str]:
    """How near the default is to the data, over other smoothers and over FRL."""
    found = next(each for each in tables if each["title"].startswith("Squared L2 distance to the data"))
    rows = _rows(found)
    smoothers = [name for name in found["head"] if name not in ("region", "deaths", "FRL", "dpfda, default")]
    nearer = [all(_value(row["dpfda, default"]) < _value(row[name]) for name in smoothers) for row in rows]
    return {
        "regions": f"{len(rows):,}",
        "nearer": f"{sum(nearer):,}",
        "over_frl": span((_value(row["dpfda, default"]) / _value(row["FRL"]) for row in rows), 3),
    }
