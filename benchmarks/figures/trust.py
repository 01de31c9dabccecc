"""Audits, faults, hostile input and leaks: what `benchmarks/trust.py` counted."""

from __future__ import annotations

from typing import Any

from figures.saved import Saved
from figures.text import Table, percent, table

#: What the counts of faults are called.
FAULTS = {
    "attempted": "releases attempted",
    "killed": "killed",
    "finished": "finished",
    "refused": "ended by a clear error",
    "charges": "charges made",
    "charges_lost": "charges lost",
    "budgets_exceeded": "budgets exceeded",
    "corrupt_ledgers": "corrupt ledgers",
    "partial_releases": "corrupt or partial release files",
    "releases_without_charge": "releases without a charge",
    "unclear_errors": "unclear errors",
    "hung": "hung",
}
CROWDS = {"kills": "killed at a step", "crowd": "eight processes, some killed", "full disk": "full disk"}
#: What is counted of marked data.
MARKS = {
    "paths": "ways through the package that were driven",
    "places": "places searched (outputs, logs, errors, files, metadata, children)",
    "bytes": "bytes in them",
    "marks": "marks looked for, each in several spellings",
    "found": "marks found",
    "controls_caught": "leaks made on purpose that were caught",
}
#: What is measured of the noise step, all records at the bound against all at the centre.
EXTREMES = {
    "microseconds": "time (us)",
    "ratio": "ratio of times",
    "low": "from",
    "high": "to (99 %)",
    "equal_work": "equal counts of calls and bits",
    "memory_ratio": "ratio of memory",
}
READERS = {"cases": "cases", "accepted": "accepted", "crashes": "crashes", "hangs": "hangs",
           "slowest_ms": "slowest (ms)", "peak_mb": "peak (MB)"}  # fmt: skip
SECTIONS = ("broken", "audits", "faults", "ledger", "fuzz", "coverage", "leaks", "noise")


def figures(saved: Saved) -> dict[str, Any]:
    sections = saved.take("trust", *(f"trust-{name}" for name in SECTIONS))["sections"]
    found = {name: sections[name]["figures"] for name in SECTIONS}
    broken, audits, ledger = found["broken"], found["audits"], found["ledger"]
    return {
        **{f"{name}_ran": _ran(sections[name]) for name in SECTIONS},
        "caught": f"{broken['caught']:,}",
        "broken_of": f"{broken['of']:,}",
        "broken": table(["mechanism", "audit", "checks that failed"], [
            [name, "caught" if each["caught"] else "**missed**", "; ".join(each["by"])]
            for name, each in broken["mechanisms"].items()]),
        "audits": table(["plan", "audit", "pairs tried", "largest loss", "draws", "sizes of noise / stated",
                         "would be seen"], [_audit(name, each) for name, each in audits.items()]),
        "least": table(["plan", "epsilon at least, noise step", "whole releases", "epsilon at least, releases"], [
            [name, f"{each['epsilon_at_least_noise_step']:.3f}", each["releases"], f"{each['epsilon_at_least']:.3f}"]
            for name, each in audits.items()]),
        "faults": table(["", *CROWDS.values()], [
            [words, *(_cell(found["faults"][crowd].get(name, "")) for crowd in CROWDS)]
            for name, words in FAULTS.items()]),
        "ledger": table(["processes, entries before", "charges per second", "charges by one process", "lost"], [
            [name, _cell(each["charges_per_second"]), " to ".join(f"{n:,}" for n in each["least_and_most_by_one"]),
             each["charges_lost"]] for name, each in ledger.items() if isinstance(each, dict)]),
        "short_ms": f"{ledger['ms_per_charge_at_100']:.2f}",
        "long_ms": f"{ledger['ms_per_charge_at_100000']:.2f}",
        "ledger_ratio": f"{ledger['cost_at_100000_over_100']:.2f}",
        "fuzz": table(["reader", *READERS.values()], [
            [name, *(_cell(each[key]) for key in READERS)] for name, each in found["fuzz"].items()]),
        "coverage": table(["reader", "cases", "edges covered", "defects"], [
            [name, each["cases"], each["coverage"], each["defects"]] for name, each in found["coverage"].items()]),
        "leaks": table(["", "figure"], [[words, _cell(found["leaks"][name])] for name, words in MARKS.items()]),
        "noise": _noise(found["noise"]),
    }  # fmt: skip


def _ran(section: dict[str, Any]) -> str:
    """How and when a section ran, and what its note says."""
    kind = "long" if section["long"] else "short"
    ran = f"A {kind} run of {section['seconds']:,.0f} s on {section['date']}, commit `{section['commit']}`."
    return f"{section['note']} {ran}" if "note" in section else ran


def _audit(name: str, each: dict[str, Any]) -> list[Any]:
    return [
        name, "passed" if each["passed"] else "**failed**", each["pairs"], f"{each['largest_loss']:.9f}",
        each["draws"], f"{each['smallest_size']:.4f} to {each['largest_size']:.4f}", percent(each["detectable"], 1),
    ]  # fmt: skip


def _noise(found: dict[str, Any]) -> Table:
    rows = [[law, *(_cell(each.get(name, "")) for name in EXTREMES)] for law, each in found.items()]
    return table(["law", *EXTREMES.values()], rows)


def _cell(value: Any) -> Any:
    """A measured number with four digits; counts and words as they are."""
    return f"{value:,.4g}" if isinstance(value, float) else value
