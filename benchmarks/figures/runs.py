"""The parts of the evidence: what ran when, how long, and on which code."""

from __future__ import annotations

from typing import Any

from parts import PARTS, Part

from figures.saved import Saved
from figures.text import table


def figures(saved: Saved) -> dict[str, Any]:
    """A line a part, in the order in which they run."""
    known = saved.runs()
    rows = [_row(name, part, known.get(name), saved.stale.get(name, "")) for name, part in PARTS.items()]
    fresh = sum(row[-1] == "yes" for row in rows)
    return {
        "package": saved.package[:8],
        "fresh": f"{fresh:,}",
        "parts": f"{len(rows):,}",
        "runs": table(["part", "command", "date", "minutes", "package", "benchmark", "this version's code"], rows),
    }


def _row(name: str, part: Part, run: dict[str, Any] | None, stale: str) -> list[Any]:
    command = f"`{' '.join(part.command[1:])}`"
    if run is None:
        return [name, command, "not since runs are recorded", "-", "-", "-", "no"]
    minutes = run["seconds"] / 60
    return [
        name, command, run["date"], f"{minutes:.0f}" if minutes >= 1 else "under 1", f"`{run['package'][:8]}`",
        f"`{run['benchmark'][:8]}`", f"no: {stale}" if stale else "yes",
    ]  # fmt: skip
