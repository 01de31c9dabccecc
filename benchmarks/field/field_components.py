"""Private principal components: the exponential mechanism of Awan and others, and the default covariance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any

import awan_components as awan
import covariance
import numpy as np
from field_rows import NONE, NOT_PRIVATE, NOTHING, OURS, PURE, Cell, best_label, timed, tuned

import dpfda as dp

EPSILONS, MOST = (0.5, 1.0, 2.0, 4.0, 8.0), 3
#: Lengths of the kernel of Sigma on [0, 1] and its weights. At 0.2 five eigenfunctions are kept, as the paper chooses.
LENGTHS, WEIGHTS, PAPER = (0.1, 0.2, 0.4), (1.0, 0.0), 0.2
MEASURE = "variance that the components miss, as a share of what as many non-private ones explain"


class Judge:
    """How much of the sample's variance components miss."""

    def __init__(self, rows: np.ndarray) -> None:
        self.surface = np.cov(rows.T, bias=True) / rows.shape[1]
        self.reached = np.linalg.eigvalsh(self.surface)[::-1].cumsum()

    def missed(self, found: np.ndarray, k: int) -> float:
        """Of components on the grid, one row each; with fewer than k, those that there are."""
        span = np.linalg.qr(found[:k].T)[0]
        return 1 - float(np.trace(span.T @ self.surface @ span)) / float(self.reached[k - 1])


@dataclass(frozen=True)
class Curves:
    """Curves on the middles of cells, and their public ball."""

    name: str
    rows: np.ndarray
    center: float
    radius: float

    @property
    def points(self) -> np.ndarray:
        return (np.arange(self.rows.shape[1]) + 0.5) / self.rows.shape[1]

    @cached_property
    def judge(self) -> Judge:
        return Judge(self.rows)

    @cached_property
    def bases(self) -> dict[tuple[float, float], awan.Base]:
        """The peer's base measures, by length and weight."""
        return {both: awan.base(self.points, *both) for both in product(LENGTHS, WEIGHTS)}


def sets(folder: Path) -> Iterator[Curves]:
    if (folder / "dti_cca.csv").exists():
        yield Curves("DTI, scans", covariance.rows_of(folder / "dti_cca.csv", 7), 0.5, 0.25)
    yield Curves("invented, smooth", covariance.invented("smooth", 1000, np.random.default_rng(21)), 0.0, 3.0)


def peer_misses(curves: Curves, k: int, epsilon: float, rng: np.random.Generator, basis: awan.Base, way: str) -> float:
    """What k components of the peer miss, drawn once."""
    found = awan.components(curves.rows, k, epsilon, basis, way, curves.center, curves.radius, rng)
    return curves.judge.missed(found, k)


def peer_ways(curves: Curves, k: int, epsilon: float, rng: np.random.Generator) -> dict[str, Callable[[], float]]:
    """The peer's private ways, by settings; not those with as many eigenfunctions as components, which read no data."""
    return {
        f"length {length}, weight {weight:g}, centre {way}": partial(
            peer_misses, curves, k, epsilon, rng, curves.bases[length, weight], way
        )
        for length, weight, way in product(LENGTHS, WEIGHTS, ("public", "mean", "pairs"))
        if curves.bases[length, weight].penalties.size > k
    }


def blind_row(cell: Cell, curves: Curves, k: int) -> dict[str, Any]:
    """The leading eigenfunctions of a public kernel as they are, the best length of it."""
    missed = {length: curves.judge.missed(curves.bases[length, 1.0].functions[:k], k) for length in LENGTHS}
    best = min(LENGTHS, key=lambda length: missed[length])
    name = best_label("the kernel's own eigenfunctions", len(LENGTHS))
    return cell.row(name, NOTHING, [missed[best]], settings=f"length {best}")


def cell_rows(
    cell: Cell, curves: Curves, k: int, releases: list[Any], spent: float, runs: int, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Of k components at one epsilon; `releases` are the default's, which hold any number of components."""
    public = curves.bases[PAPER, 1.0]
    ways = peer_ways(curves, k, cell.epsilon, rng)
    settings, errors, best = tuned(ways, max(6, runs // 4), runs)
    ours = [curves.judge.missed(release.eigenfunctions(min(k, release.rank)), k) for release in releases]
    rows = [
        cell.row(OURS, PURE, ours, spent),
        cell.row(best_label("Awan and others", len(ways)), PURE, errors, timed(best), settings),
    ]
    for name, way, privacy in (("public centre", "public", PURE), ("as published", "published", NOT_PRIVATE)):
        draw = partial(peer_misses, curves, k, cell.epsilon, rng, public, way)
        errors = [draw() for _ in range(runs)]
        told = f"length {PAPER}, weight 1, centre {way}"
        rows.append(cell.row(f"Awan and others, five eigenfunctions, {name}", privacy, errors, timed(draw), told))
    return [*rows, blind_row(cell, curves, k), cell.row("components of the sample", NONE, [0.0])]


def rows_at(curves: Curves, epsilon: float, runs: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    grid, bound = dp.Grid.midpoints(0, 1, curves.rows.shape[1]), dp.L2Ball(curves.radius, curves.center)
    release = partial(dp.covariance, curves.rows, epsilon=epsilon, bound=bound, grid=grid)
    releases, spent = [release() for _ in range(runs)], timed(release)
    rows = []
    for k in range(1, MOST + 1):
        task = f"first component{'s' if k > 1 else ''}, k = {k}"
        headline = epsilon in (1.0, 4.0) and k != 2
        cell = Cell(task, curves.name, len(curves.rows), epsilon, MEASURE, headline)
        rows += cell_rows(cell, curves, k, releases, spent, runs, rng)
    return rows


def part(folder: Path, runs: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    return [row for curves in sets(folder) for epsilon in EPSILONS for row in rows_at(curves, epsilon, runs, rng)]
