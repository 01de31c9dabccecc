"""Verdicts about the paper's claims and ours, and its table of real curves entry by entry."""

from __future__ import annotations

from typing import Any

from figures.saved import Saved
from figures.text import markdown, table


def figures(saved: Saved) -> dict[str, Any]:
    """Verdicts are those of the full run where it has them."""
    quick, full = saved.take("reproduction"), saved.take("reproduction_full", "reproduction-full")
    better = {(claim["experiment"], claim["text"]): claim for claim in full["claims"]}
    known = [(better.get((claim["experiment"], claim["text"])), claim) for claim in quick["claims"]]
    head = ["experiment", "claim", "verdict", "the number that shows it", "run"]

    def rows(ours: bool) -> list[list[str]]:
        return [
            [
                *((best or claim)[key] for key in ("experiment", "text", "verdict", "number")),
                "full" if best else "quick",
            ]
            for best, claim in known
            if claim["ours"] is ours
        ]

    return {
        "quick": quick["how"].removeprefix("Run: "),
        "full": full["how"].removeprefix("Run: "),
        "paper": table(head, rows(False)),
        "ours": table(head, rows(True)),
        "paper_claims": f"{len(rows(False)):,}",
        "paper_hold": f"{sum(row[2] == 'holds' for row in rows(False)):,}",
        "paper_fail": f"{sum(row[2] == 'does not hold' for row in rows(False)):,}",
        "entries": "\n\n".join(_entries(each) for each in full["tables"]["curves"]),
    }


def _entries(found: dict[str, Any]) -> str:
    """A table of the paper with the budgets as columns, so that it is not too wide."""
    budgets = [row[0] for row in found["rows"]]
    rows = [[name, *(row[i] for row in found["rows"])] for i, name in enumerate(found["head"]) if i]
    title, _, about = found["title"].partition(" (")
    text = markdown(table(["epsilon", *budgets], rows))
    about = about.removesuffix(")")
    return f"### {title}\n\n{about[:1].upper()}{about[1:]}.\n\n{text}"
