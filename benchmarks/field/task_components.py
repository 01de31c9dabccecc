"""Two principal components: Awan and others, PCA of diffprivlib and OpenDP, scikit-fda without privacy, the default."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import awan_components as awan
import models
import numpy as np
import opendp_ways as op
import skfda
from elsewhere import Elsewhere, Job
from field_rows import NONE, OURS, PURE, Cell, Turns, best_label, best_of, repeated, timed, tuned
from skfda.preprocessing.dim_reduction import FPCA

import dpfda as dp

EPSILONS, N, SETS, RADIUS = (1.0, 4.0), 1000, 10, 4.0
LENGTHS, WEIGHTS, CENTRES = (0.1, 0.2, 0.4), (1.0, 0.0), ("public", "mean", "pairs")
#: Numbers of leading cosines that both packages' PCA is given: in few coordinates errors are smaller and draws faster.
COSINES = (5, 10)
#: Runs of OpenDP's PCA by epsilon, with which its draws take far longer.
FEW = {1.0: 8, 4.0: 3}
MEASURE = "largest angle of two components to the sample's, degrees"


class Curves:
    """Sets of curves of one law, and the angle to their components."""

    def __init__(self) -> None:
        self.task = models.principal_components()
        self.drawn = [self.task.draw(N, np.random.default_rng([54, i])) for i in range(SETS)]

    def angle(self, sample: models.Sample, found: np.ndarray) -> float:
        return self.task.score(found, sample)["degrees to PCA"]

    def angles(self, found: np.ndarray) -> list[float]:
        """Of answers to one set after the other, from the first on."""
        return [self.angle(sample, rows) for sample, rows in zip(repeated(self.drawn, len(found)), found)]


def our_angle(curves: Curves, turns: Turns, epsilon: float) -> float:
    """Of two components of the default; a right angle where it publishes fewer."""
    sample = turns.next()
    release = dp.covariance(sample.X, epsilon=epsilon, bound=dp.L2Ball(RADIUS), grid=models.GRID)
    return curves.angle(sample, release.eigenfunctions(2)) if release.rank >= 2 else 90.0


def peer_angle(
    curves: Curves, turns: Turns, epsilon: float, rng: np.random.Generator, basis: awan.Base, way: str
) -> float:
    sample = turns.next()
    found = awan.components(sample.X, 2, epsilon, basis, way, 0.0, RADIUS, rng)
    return curves.angle(sample, ordered(found, sample.X))


def ordered(found: np.ndarray, curves: np.ndarray) -> np.ndarray:
    """A basis of the span turned to its own principal axes, by the variances of the data: free help for a peer.

    The exponential mechanism releases a subspace, without an order of directions within it.
    """
    inner = models.GRID.inner(found[:, None, :], found[None, :, :])
    basis = np.linalg.solve(np.linalg.cholesky(inner), found)
    scores = (curves - curves.mean(axis=0)) * models.GRID.weights @ basis.T
    return np.linalg.eigh(np.cov(scores.T))[1][:, ::-1].T @ basis


def awan_row(cell: Cell, curves: Curves, turns: Turns, runs: int, rng: np.random.Generator) -> dict[str, Any]:
    ways = {}
    for length, weight in product(LENGTHS, WEIGHTS):
        basis = awan.base(models.GRID.points, length, weight)
        for way in CENTRES:
            told = f"length {length}, weight {weight:g}, centre {way}"
            ways[told] = partial(peer_angle, curves, turns, cell.epsilon, rng, basis, way)
    settings, errors, best = tuned(ways, 6, runs)
    told = settings + "; turned by the sample, for free"
    return cell.row(best_label("Awan and others", len(ways)), PURE, errors, timed(best), told)


def package(
    name: str, way: str, options: dict[str, float], cell: Cell, curves: Curves, runs: int, elsewhere: Elsewhere
) -> list[dict[str, Any]]:
    """A package's PCA of the leading cosines, the best number of them on the runs shown."""
    found = {}
    for count in COSINES:
        size = models.GRID.points.size
        basis = op.cosines(size, count)
        data = repeated([{"X": sample.X @ basis.T / size} for sample in curves.drawn], runs)
        if (answers := elsewhere.answers([Job(way, cell.epsilon, data, options)])) is not None:
            values, spent = answers[0]
            found[f"{count} cosines"] = curves.angles(values @ basis), spent
    if not found:
        return []
    settings, errors, spent = best_of(found)
    return [cell.row(best_label(name, len(found)), PURE, errors, spent, settings)]


def plain_angle(curves: Curves, sample: models.Sample) -> float:
    model = FPCA(n_components=2).fit(skfda.FDataGrid(sample.X, models.GRID.points))
    return curves.angle(sample, model.components_.data_matrix[:, :, 0])


def cell_rows(
    cell: Cell, curves: Curves, runs: int, rng: np.random.Generator, elsewhere: Elsewhere
) -> list[dict[str, Any]]:
    turns = Turns(curves.drawn)
    release = partial(our_angle, curves, turns, cell.epsilon)
    return [
        cell.row(OURS, PURE, [release() for _ in range(runs)], timed(release)),
        awan_row(cell, curves, turns, runs, rng),
        *package("diffprivlib, PCA", "pca", {"norm": RADIUS, "bound": RADIUS}, cell, curves, runs, elsewhere),
        *package("OpenDP, PCA", "open_pca", {"norm": RADIUS}, cell, curves, FEW[cell.epsilon], elsewhere),
        cell.row("scikit-fda, FPCA", NONE, [plain_angle(curves, sample) for sample in curves.drawn]),
    ]


def part(runs: int, elsewhere: Elsewhere) -> list[dict[str, Any]]:
    rows = []
    curves, rng = Curves(), np.random.default_rng(53)
    for epsilon in EPSILONS:
        cell = Cell("two components", "invented, six components", N, epsilon, MEASURE, headline=epsilon == 1.0)
        rows += cell_rows(cell, curves, runs, rng, elsewhere)
    return rows
