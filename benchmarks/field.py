"""Against the field: what methods of others lose on their tasks and on ours, beside ours, and how long a call takes.

    python benchmarks/field.py [--only components|densities|means|tasks] [--runs 40] [--data DIR] [--python PATH]

Peers are written from their papers in `benchmarks/field/`, or are OpenDP and diffprivlib as published. A peer has the
best of several settings, chosen by the errors themselves; ours is the default. Each row is one method on one task: its
privacy, its mean error with two standard errors, and the shortest time of a call. Releases are real ones: their noise
comes from the operating system, or from a seeded generator where we wrote the peer. diffprivlib needs an environment of
its own: `--python` names its Python, and without it pip makes one. Each part is saved as soon as it is done.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "field"))

import common
import elsewhere
import field_components
import field_densities
import field_means
import field_rows
import field_tasks


def parts(data: Path, peers: elsewhere.Elsewhere) -> dict[str, Callable[[int], list[dict[str, Any]]]]:
    """By name: from a number of runs to rows."""
    return {
        "components": lambda runs: field_components.part(data, runs),
        "densities": lambda runs: field_densities.part(data, runs),
        "means": lambda runs: field_means.part(data, runs, peers),
        "tasks": lambda runs: field_tasks.part(runs, peers),
    }


def saved() -> dict[str, Any]:
    """The parts of earlier runs."""
    path = common.RESULTS / "field.json"
    return dict(json.loads(path.read_text(encoding="utf-8")).get("parts", {})) if path.exists() else {}


def shown(rows: list[dict[str, Any]], title: str) -> None:
    head = ["task", "data", "n", "eps", "method", "privacy", "error", "2 se", "seconds"]
    table = [
        [row["task"], row["data"], row["n"], row["epsilon"],
         ("* " if row["best"] else "= " if row["tied"] else "") + row["method"], row["privacy"].split(":")[0],
         row["error"], row["two_standard_errors"] or "", row["seconds"] or ""]
        for row in rows
    ]  # fmt: skip
    common.show(f"{title} (*: smallest error of a private method, =: within two standard errors of it)", head, table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=["components", "densities", "means", "tasks"])
    parser.add_argument("--runs", type=int, default=40, help="releases of each method in each cell")
    parser.add_argument("--data", type=Path, default=common.DATA, help="folder with the real data sets")
    parser.add_argument("--python", type=Path, help="a Python with the packages of elsewhere.REQUIREMENTS")
    options = parser.parse_args()
    # The package warns of releases that are mostly noise, and here some are meant to be.
    warnings.simplefilter("ignore")
    peers = elsewhere.Elsewhere(options.python)
    for name, run in parts(options.data, peers).items():
        if options.only and name not in options.only:
            continue
        began = time.time()
        rows = field_rows.marked(run(options.runs))
        shown(rows, name)
        done = saved() | {
            name: {"code": common.digest(), "runs": options.runs, "seconds": round(time.time() - began), "rows": rows}
        }
        common.save("field", {
            "parts": done, "delta": field_rows.DELTA, "elsewhere": peers.reason or " ".join(elsewhere.REQUIREMENTS),
            "zcdp": {str(e): {"rho": e**2 / 2, "epsilon at delta": field_rows.epsilon_of(e**2 / 2)}
                     for e in (0.5, 1.0, 2.0, 4.0)},
        })  # fmt: skip
    return int(bool(peers.reason))  # a table without a peer would flatter us


if __name__ == "__main__":
    sys.exit(main())
