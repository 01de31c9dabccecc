"""Rows of the table against the field: errors with two standard errors, the best of several settings, marks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import common
import numpy as np

PURE = "pure epsilon"
ZCDP = "zCDP, rho = epsilon^2 / 2"
APPROXIMATE = "(epsilon, 1e-6), by zCDP"
NONE = "none"
NOT_PRIVATE = "not private: centre and bound read off the data"
NOTHING = "reads no data"
PRIVATE = (PURE, ZCDP, APPROXIMATE)
OURS = "dpfda, default"
#: The delta of what is private approximately.
DELTA = 1e-6


def rho_of(epsilon: float, delta: float = DELTA) -> float:
    """The rho whose zCDP gives (epsilon, delta): epsilon = rho + 2 sqrt(rho log(1/delta)), solved for rho."""
    deep = np.log(1 / delta)
    return float((np.sqrt(deep + epsilon) - np.sqrt(deep)) ** 2)


def epsilon_of(rho: float, delta: float = DELTA) -> float:
    """The epsilon that rho-zCDP gives at delta: the inverse of `rho_of`."""
    return float(rho + 2 * np.sqrt(rho * np.log(1 / delta)))


@dataclass(frozen=True)
class Cell:
    """What is compared: a task on a set of records at one epsilon, by one measure (smaller is better)."""

    task: str
    data: str
    n: int
    epsilon: float
    measure: str
    headline: bool = False

    def row(
        self, method: str, privacy: str, errors: Any, seconds: float | None = None, settings: str = ""
    ) -> dict[str, Any]:
        """One line of the table: a method with its errors, one per run, and the shortest time of a call."""
        values = np.asarray(errors, dtype=float)
        spread = 2 * values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else None
        return {
            **self.__dict__, "method": method, "privacy": privacy, "settings": settings, "error": float(values.mean()),
            "two_standard_errors": spread, "runs": int(values.size), "seconds": seconds,
        }  # fmt: skip


class Turns:
    """One set of records after the other, over and over, from the second on."""

    def __init__(self, sets: list[Any]) -> None:
        self.sets, self.at = sets, 0

    def next(self) -> Any:
        self.at += 1
        return self.sets[self.at % len(self.sets)]


def repeated(sets: list[Any], count: int) -> list[Any]:
    """So many sets, by going through them again and again."""
    return [sets[i % len(sets)] for i in range(count)]


def best_label(name: str, count: int) -> str:
    """A method's name, with the number of settings that were tried."""
    return f"{name}, best of {count} settings" if count > 1 else name


def best_of(found: Mapping[str, tuple[list[float], float]]) -> tuple[str, list[float], float]:
    """Of errors and times by settings, those with the smallest mean error."""
    name = min(found, key=lambda key: float(np.mean(found[key][0])))
    return name, *found[name]


def tuned(
    ways: Mapping[str, Callable[[], float]], trials: int, runs: int
) -> tuple[str, list[float], Callable[[], float]]:
    """The setting with the smallest mean error over some trials, errors of fresh runs of it, and the way to run it.

    A gift to peers: who has private data cannot choose by errors, which need the truth.
    """
    found = {name: float(np.mean([way() for _ in range(trials)])) for name, way in ways.items()}
    best = min(found, key=lambda name: found[name])
    return best, [ways[best]() for _ in range(runs)], ways[best]


def timed(run: Callable[[], Any]) -> float:
    """The shortest time of a call, in seconds."""
    return common.best_time(run, seconds=0.2, most=20)


def marked(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with marks: in each cell the best private one, the best pure one, and those tied with the best private one.

    Tied is a private row whose error is within two standard errors, of both together, of the smallest.
    """

    def place(row: dict[str, Any]) -> tuple[Any, ...]:
        return row["task"], row["data"], row["n"], row["epsilon"]

    for _, members in groupby(rows, place):
        cell = list(members)
        private = [row for row in cell if row["privacy"] in PRIVATE]
        best = min(private, key=lambda row: row["error"])
        pure = min((row for row in private if row["privacy"] == PURE), key=lambda row: row["error"])
        for row in cell:
            noise = np.hypot(row["two_standard_errors"] or 0.0, best["two_standard_errors"] or 0.0)
            row["best"], row["best_pure"] = row is best, row is pure
            row["tied"] = row in private and bool(row["error"] - best["error"] <= noise)
    return rows
