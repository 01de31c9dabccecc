"""Rounds: what follows a rough private centre.

Each round shrinks what it has drawn into a centre, asks which ellipsoid about it holds most curves (or takes the
public spread's word for it), clips curves to that and releases their mean distance. Everything here follows from
draws that are public already; shares of the budget add up (derivations: stages).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import cast

import numpy as np
from scipy.ndimage import maximum_filter

from dpfda.bounds.bodies import Ellipsoid
from dpfda.methods import Staged
from dpfda.methods.blockwise import octaves
from dpfda.methods.outlook import OF_SPREAD, STRAYS, WIDER, Outlook, best_axes, shape_of
from dpfda.noise import Ball, Laplace
from dpfda.plans.schedule import Schedule
from dpfda.problems.ellipsoid_stages import InsideProblem, VaryProblem
from dpfda.problems.mean import MeanProblem
from dpfda.problems.stage import Part, Stage
from dpfda.results.postprocess import james_stein, shrunk

#: Candidates for an ellipsoid: sizes, each the last over the fifth root of two, for three shapes of variation, as
#: powers of the kernel's eigenvalues.
SIZES, SHAPES = 2.0 ** (-np.arange(51) / 5), (1.0, 0.5, 0.0)
#: Curves outside are clipped, which biases the mean of skewed ones: no more of them than this share, and fewer and
#: fewer as n times the choice's epsilon grows beyond this number.
MOST_OUTSIDE, PLENTY = 0.2, 50.0
#: Candidates that hold as many curves are told apart by the logarithm of their noise: at this many records over
#: epsilon, and no more than a share of them.
TELL_APART, MOST_PRICE = 12.0, 0.03
#: A block that shrinkage has removed may still hide a signal: this share of its noise.
HIDDEN = 0.1
#: Sizes of variation are measured up to this many times the squared distance that the last ellipsoid was made for.
FURTHER = 1.5
#: Pieces of the domain in which variation is told apart: one for each of this many records times epsilon.
FOR_A_PIECE, FEWEST_PIECES, MOST_PIECES = 20.0, 4, 24
#: The passes in words.
WORDS = {
    "centre": "a rough centre",
    "choose": "a private choice of the ellipsoid about it that holds most curves, by permute and flip",
    "refine": "the mean of curves clipped to an ellipsoid about the centre so far",
    "vary": "how much curves vary, for confidence bands",
}


@dataclass(frozen=True)
class Centre:
    """What a round leaves: coefficients about the public centre, and how far off they may be, block by block."""

    about: np.ndarray
    errors: np.ndarray


@dataclass(frozen=True, eq=False)
class Rounds(Schedule):
    """The stages that follow the `opening` one of a plan, for a budget `epsilon` that they all divide."""

    opening: Stage
    method: Staged
    epsilon: Fraction

    @property
    def first(self) -> Stage:
        return self.opening

    @property
    def home(self) -> MeanProblem:
        """The problem of the plan, with its public centre."""
        return cast(MeanProblem, self.first.problem)

    @cached_property
    def size(self) -> int:
        """Components that are refined: those that the first round lets out."""
        return 1 + max(int(part.where.max()) for part in self.first.parts if part.where.max() < self.home.basis.size)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        return octaves(self.size)

    @cached_property
    def sizes(self) -> np.ndarray:
        """Components in each block."""
        return np.diff((*self.starts, self.size))

    @cached_property
    def shapes(self) -> list[np.ndarray]:
        """Shares of the variation in each block, by shape."""
        eigenvalues = self.home.basis.eigenvalues[: self.size]
        return [np.add.reduceat(shape_of(eigenvalues, power), self.starts) for power in SHAPES]

    @property
    def top(self) -> float:
        """The largest spread that is looked for."""
        return min(self.method.spread or self.home.bound.outer, 2 * self.home.bound.outer)

    # -- stages ---------------------------------------------------------------------------------

    def stages(self, drawn: Sequence[np.ndarray]) -> list[Stage]:
        """The stages that led to these draws, and the one that follows them, if any."""
        found, centre, axes = [self.first], self._centre(self.first, drawn[0], drawn), None
        for number, step in enumerate(self.method.steps[1 : len(drawn) + 1], 1):
            if step == "choose":
                candidates = self.candidates(centre)
                found.append(self._choice(centre, candidates, number))
            elif step == "refine":
                if axes is None:
                    axes = best_axes(self.top**2 * self.shapes[0] + centre.errors, self.sizes)
                found.append(self._refinement(centre, axes, number))
                axes = None
            else:
                found.append(self._variation(found[-1], number))
            if number == len(drawn):
                break
            if step == "choose":
                axes = candidates[int(np.argmax(drawn[number]))]
            elif step == "refine":
                centre = self._centre(found[-1], drawn[number], drawn)
        return found

    @property
    def passes(self) -> int:
        """How often the data is read."""
        return len(self.method.steps)

    def next(self, drawn: Sequence[np.ndarray]) -> Stage | None:
        """The stage that follows these draws."""
        return self.stages(drawn)[-1] if len(drawn) < self.passes else None

    def last(self, drawn: Sequence[np.ndarray]) -> Stage:
        """The stage whose noise the released coefficients carry."""
        return self.stages(drawn)[self._last_round]

    @property
    def _last_round(self) -> int:
        return max(i for i, step in enumerate(self.method.steps) if step == "refine")

    def combine(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """Coefficients from what all stages have drawn."""
        number = self._last_round
        raw = self._finished(self.stages(drawn)[number], drawn[number], drawn)
        return np.concatenate([raw, self.home.center_coefficients[raw.size :]])

    def _finished(self, stage: Stage, noisy: np.ndarray, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """Coefficients of one round; a private count is the first round's."""
        if self.home.count_is_private:
            noisy = np.append(noisy[:-1], drawn[0][-1])
        return stage.problem.finish(noisy, stage.parts)[: self.size]

    def _centre(self, stage: Stage, noisy: np.ndarray, drawn: Sequence[np.ndarray]) -> Centre:
        raw = self._finished(stage, noisy, drawn)
        whole = np.concatenate([raw, self.home.center_coefficients[raw.size :]])
        variance = stage.problem.finish_variance(stage.variance)[: self.size]
        about = self.home.typical(whole)[: self.size]
        kept = np.maximum(james_stein(about, stage, variance, self.home), HIDDEN)
        centred = shrunk(whole, stage, "james-stein", self.home)[: self.size]
        return Centre(
            centred - self.home.center_coefficients[: self.size], np.add.reduceat(kept * variance, self.starts)
        )

    # -- one stage each ---------------------------------------------------------------------------

    def candidates(self, centre: Centre) -> np.ndarray:
        """Semi-axes of the ellipsoids to choose from, one column per block."""
        energies = [(self.top * size) ** 2 * shape + centre.errors for shape in self.shapes for size in SIZES]
        return np.array([best_axes(energy, self.sizes) for energy in energies])

    def _problem(self, centre: Centre, axes: np.ndarray) -> MeanProblem:
        """The mean of curves clipped to an ellipsoid about a centre."""
        home, basis = self.home, self.home.basis.first(self.size)
        curve = home.center + basis.synthesize(centre.about)
        bound = Ellipsoid(np.repeat(axes, self.sizes), curve)
        return replace(home, basis=basis, bound=bound)

    def _choice(self, centre: Centre, candidates: np.ndarray, number: int) -> Stage:
        epsilon = self.epsilon * self.method.share(number)
        widest = candidates.max(axis=0)
        noise = np.log((candidates * np.sqrt(self.sizes * (self.sizes + 1))).sum(axis=1))
        strength = self.home.n * float(epsilon)
        outside = MOST_OUTSIDE * min(1.0, (PLENTY / strength) ** 1.5)
        price = min(MOST_PRICE, TELL_APART / strength)
        problem = InsideProblem(
            self._problem(centre, widest),
            self.starts,
            candidates / widest,
            1 - Fraction(round(1e6 * outside), 10**6),
            price * self.home.n * (noise - noise.min()),
        )
        return problem.choice(epsilon)

    def _refinement(self, centre: Centre, axes: np.ndarray, number: int) -> Stage:
        problem = self._problem(centre, axes)
        epsilon = self.epsilon * self.method.share(number)
        laws = [
            Ball.calibrated(epsilon, problem.sensitivity, problem.max_abs, starts) for starts in ((0,), self.starts)
        ]
        law = min(laws, key=lambda law: float(law.variance.sum()))
        return Stage(problem, (Part(np.arange(self.size), np.ones(self.size), law),))

    def _variation(self, last: Stage, number: int) -> Stage:
        inner = cast(MeanProblem, last.problem)
        bound = cast(Ellipsoid, inner.bound)
        axes, weights = bound.axes[list(self.starts)], np.sqrt(self.sizes * (self.sizes + 1))
        reference = float(np.sqrt(FURTHER * (axes**3 * weights).sum() / (axes * weights).sum()))
        problem = VaryProblem(inner, self.starts, reference, self.cuts)
        epsilon, blocks = self.epsilon * self.method.share(number) / 2, len(self.starts)
        parts = []
        for where in (np.arange(blocks), np.arange(blocks, problem.size)):
            sensitivity, ones = problem.sensitivity.restricted(where), np.ones(where.size)
            law = Laplace.calibrated(
                epsilon, ones * (sensitivity.support(ones) / float(epsilon)), ones, sensitivity, ones
            )
            parts.append(Part(where, ones, law))
        return Stage(problem, tuple(parts))

    @cached_property
    def cuts(self) -> tuple[int, ...]:
        """Into how many pieces each axis is cut to see where curves vary: as many as noise lets us tell apart."""
        strength = self.home.n * float(self.epsilon * self.method.confidence)
        grid, pieces = self.home.grid, float(np.clip(strength / FOR_A_PIECE, FEWEST_PIECES, MOST_PIECES))
        most = (pieces / grid.count) ** (1 / len(grid.domain.axes))
        cuts = tuple(min(max(1, int(most)), axis.size) for axis in grid.domain.axes)
        return cuts if grid.count == 1 else (grid.count, *cuts)  # components may vary by different amounts

    # -- after all draws --------------------------------------------------------------------------

    def variability(self, drawn: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Variances that sampling brings to the coefficients, and how much more or less curves vary at each grid point.

        Noisy sizes are taken at one scale of their noise above what was drawn: too wide rather than too narrow.
        """
        stage, blocks = self.stages(drawn)[-1], len(self.starts)
        problem = cast(VaryProblem, stage.problem)
        sizes = np.minimum(np.maximum(drawn[-1][:blocks], 0.0) + stage.scales[:blocks], 1.0)
        axes = np.asarray(problem.inner.bound.lengths(self.size))
        sampling = np.repeat(sizes / self.sizes, self.sizes) * axes**2 / self.home.n
        evenly = problem.basis.functions**2 @ sampling * self.home.grid.weights
        expected = np.bincount(problem.pieces, evenly, problem.windows)
        grid = self.home.grid
        near = 3 if grid.count == 1 else (1, 3)  # components are no neighbours
        gain = _gain(drawn[-1][blocks:], stage.variance[blocks:], expected / expected.sum(), grid.count)
        # Nothing is known of edges inside pieces.
        widest = maximum_filter(gain.reshape(problem.cuts), near, mode="nearest")
        return sampling, widest.ravel()[problem.pieces]

    def explanation(self) -> str:
        """What is done in each pass, for which share of the budget."""
        steps = []
        for number, step in enumerate(self.method.steps):
            share = self.method.share(number)
            steps.append(f"{WORDS[step]} ({share} of epsilon)")
        count = (
            " A fortieth of epsilon goes to the private count first; these are shares of the rest."
            if self.home.count_is_private
            else ""
        )
        spread = (
            f"Curves stray from their mean by at most {self.method.spread:g}: a public assumption, for accuracy only."
            if self.method.spread is not None
            else "How far curves stray from their mean is found privately."
        )
        return (
            f"The data is read {self.passes} times: {'; '.join(steps)}. In each pass every record is clipped again, "
            f"alone, and the shares of epsilon add up.{count} {spread}"
        )

    def outcome(self, drawn: Sequence[np.ndarray]) -> str:
        """What the private choices came to."""
        axes = cast(MeanProblem, self.last(drawn).problem).bound.lengths(self.size)
        size = float(np.sqrt(self.last(drawn).error))
        return (
            f"The last ellipsoid has semi-axes from {axes.min():.3g} to {axes.max():.3g}; with it the noise has a "
            f"root mean squared L2 size of {size:.3g}."
        )

    @property
    def numbers_text(self) -> str:
        """How many numbers leave, pass by pass."""
        sizes = {
            "centre": f"{self.size}", "choose": f"one of {len(SIZES) * len(SHAPES)} ellipsoids",
            "refine": f"{self.size}", "vary": "sizes of variation",
        }  # fmt: skip
        return ", then ".join(sizes[step] for step in self.method.steps)

    # -- before data ------------------------------------------------------------------------------

    @cached_property
    def outlook(self) -> Outlook:
        return Outlook(self.home, self.epsilon, self.method.spread)

    @cached_property
    def expected_stage(self) -> Stage:
        """The last round as it should turn out for a smooth mean, from which curves stray a typical way."""
        stray = self.method.spread * OF_SPREAD if self.method.spread else STRAYS[1] * self.home.bound.outer
        variance = self.home.finish_variance(self.first.variance)[: self.size]
        centre = Centre(np.zeros(self.size), np.add.reduceat(variance, self.starts) / 2)
        for number, step in enumerate(self.method.steps):
            if step == "refine":
                stage = self._refinement(
                    centre, best_axes(WIDER**2 * (stray**2 * self.shapes[0] + centre.errors), self.sizes), number
                )
                variance = stage.problem.finish_variance(stage.variance)
                centre = Centre(centre.about, np.add.reduceat(variance, self.starts) / 2)
            elif step == "vary":  # its laws depend on nothing drawn: refuse now what could not be drawn after a charge
                for part in self._variation(stage, number).parts:
                    part.law.to_lattice([Fraction(0)] * part.where.size)
        return stage

    @cached_property
    def risk(self) -> float:
        """Expected squared error by noise and bias under the smooth guess, typical over how far curves may stray."""
        sampling = np.array(self.outlook.strays) ** 2 / self.home.n
        return float(np.exp(np.log(self.outlook.risks(self.method)[:, 0] - sampling).mean()))


def _gain(found: np.ndarray, noise: np.ndarray, expected: np.ndarray, alone: int = 1) -> np.ndarray:
    """How much more curves vary on each piece than expected; differences that noise explains are shrunk away.

    As far as noise hides them, any one of `alone` components may vary for all.
    """
    total = max(float(found.sum()), float(np.sqrt(noise.sum())))
    excess = np.maximum(found, 0.0) / (total * expected) - 1
    by_noise = float((noise / (total * expected) ** 2).sum())
    kept = max(0.0, 1 - by_noise / max(float((excess**2).sum()), 1e-300))
    values: np.ndarray = np.sqrt(np.maximum(1 + kept * excess + (1 - kept) * (alone - 1), 0.05))
    return values
