"""Rounds: find the scale, find the centre, spend the rest there.

A private choice among a ladder of radii comes first, where there is one. Then each round turns what it has drawn into
a centre, by the exact posterior mean; asks which ellipsoid about it holds most curves (or takes the public spread's
word for it), clips curves to that and releases their mean distance. Everything here follows from draws that are public
already; shares of the budget add up (derivations: stages).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from typing import ClassVar, cast

import numpy as np

from dpfda.bounds.bodies import Ellipsoid, L2Ball
from dpfda.core import codec
from dpfda.methods import Staged
from dpfda.methods.blockwise import octaves
from dpfda.methods.outlook import LARGER, Outlook, best_axes, shape_of
from dpfda.noise import Ball
from dpfda.plans import rounds_words, variation
from dpfda.plans.schedule import Schedule
from dpfda.plans.shares import Cost
from dpfda.plans.walks import Centre, Round, Walks
from dpfda.problems.contracts import BlockProblem
from dpfda.problems.count import count_part
from dpfda.problems.ellipsoid_stages import InsideProblem, VaryProblem
from dpfda.problems.left_out import LeftOutProblem
from dpfda.problems.mean import MeanProblem
from dpfda.problems.norms import NormProblem, octave_price
from dpfda.problems.stage import Part, Stage
from dpfda.problems.together import Together
from dpfda.results.mean_bands import Evidence
from dpfda.results.postprocess import posterior_of

#: The ladder of radii, from the public one down: steps of half an octave over five octaves.
RUNGS = 2.0 ** (-np.arange(11)[::-1] / 2)
#: Where all curves are beyond the bound no radius holds any, and one of the first few is chosen for its price.
SMALLEST_RUNGS = 3
#: Curves beyond the radius, or outside the ellipsoid, are clipped, which biases the mean of skewed ones: no more of
#: them than these shares, over the root of n epsilon, so that the bias vanishes as it grows; for the ellipsoid, whose
#: bias nothing mends, also no more than so many records over n epsilon. Errors changed by less than 8 % for 2 to 4.
BEYOND, MOST_BEYOND, FEW_OUTSIDE = 3.0, 0.3, 100.0
#: What the octaves of the whole ladder cost, as a share of the curves that are to be held: of one round, for which a
#: radius that is too large is worst, and of several, which mend that, but not one that is too small.
LADDER_PRICE, LADDER_PRICE_FIRST = 0.7, 0.5
#: Candidates for an ellipsoid: half octaves below the radius, for three shapes of variation, as powers of the
#: kernel's eigenvalues.
SIZES, SHAPES = 2.0 ** (-np.arange(11) / 2), (1.0, 0.5, 0.0)
#: Candidates that hold as many curves are told apart by the octaves of their noise: at this many records over epsilon
#: each, at most a share of them, and over all candidates at most another. Errors changed by less than 3 % for 3 to 12.
TELL_APART, MOST_PRICE, MOST_PRICES = 6.0, 0.1, 0.4
#: The error of a centre is known from its posterior variance; ellipsoids leave this much room for it.
ROOM = 1.5
#: What a round leaves out of a curve is cut to this share of the radius; in a later round, of the distance up to which
#: variation is measured. A quarter of the radius cuts up to a third of what rough curves have in common, a half lets in
#: half as much noise again. Each with margins of its own, coverage fell below 0.93 in 3, 1 and 0 of 44 cells for a
#: quarter, a third and a half, and bands were 2.44, 2.37 and 2.59 times an oracle's.
CUT, CUT_LATER = 1 / 3, 1 / 2
#: A chosen ellipsoid is about this much wider than the best one: what is expected of it, before data.
WIDER = 1.3


@dataclass(frozen=True, eq=False)
class Rounds(Schedule):
    """The stages of a mean in rounds: `home` is the plan's problem, and `epsilon` is what all stages divide.

    A private count costs `count_epsilon` beside that.
    """

    home: MeanProblem
    method: Staged
    epsilon: Fraction
    count_epsilon: Fraction = Fraction(0)

    #: Sizes of the ellipsoids on offer, as shares of the largest.
    ladder: ClassVar[np.ndarray] = SIZES

    @cached_property
    def first(self) -> Stage:
        return self.stages(())[0]

    def opening(self, problem: MeanProblem) -> Stage:
        """The first round, with the bound of this problem."""
        parts = self.method.calibrate(problem, self.epsilon)
        if problem.count_is_private:
            parts = (*parts, count_part(problem.basis.size, problem.n, self.count_epsilon))
        return Stage(problem, parts)

    @property
    def _one_round(self) -> bool:
        return len(self.method.shares) == 1

    def _companions(self, problem: MeanProblem) -> list[BlockProblem]:
        """The last round, and what is read in its pass: how much curves vary about its centre, what it leaves out."""
        found: list[BlockProblem] = [problem]
        for number, step in enumerate(self.method.steps):
            if step == "vary":
                found.append(self._vary_problem(problem, self.epsilon * self.method.share(number)))
            elif step == "check":
                found.append(self.left_out_problem(problem))
        return found

    def _vary_problem(self, problem: MeanProblem, epsilon: Fraction) -> VaryProblem:
        if self._one_round:
            return variation.vary_in_one_round(problem, epsilon)
        return variation.vary_about(problem, self.starts, epsilon, by_frequency=self.method.check is None)

    def left_out_problem(self, problem: MeanProblem) -> LeftOutProblem:
        """What a round leaves out, each curve's part cut to a public length (derivations: left out)."""
        if self._one_round:
            return LeftOutProblem(problem, self.kept, CUT * problem.bound.outer)
        return LeftOutProblem(problem, self.kept, CUT_LATER * variation.reference_of(problem, self.starts))

    @cached_property
    def _ladder(self) -> Together:
        """One round with a private radius, in one pass: the counts, and the round for each of the radii."""
        rungs = [self._companions(self._with_radius(place)) for place in range(RUNGS.size)]
        alone = len(rungs[0]) == 1  # as plans without a check have always been read
        earlier = codec.digest(["ladder", self.home.key, self.radii.radii.tolist()]) if alone else ""
        return Together((self.radii, *chain.from_iterable(rungs)), len(rungs[0]), earlier)

    def _pass(self, problem: MeanProblem, rung: int | None) -> tuple[Together | None, int]:
        """What the last round is read with, and its place there."""
        companions = self._companions(problem)
        if self._one_round and rung is not None:
            return self._ladder, 1 + rung * len(companions)
        return (Together(tuple(companions)), 0) if len(companions) > 1 else (None, 0)

    @cached_property
    def radii(self) -> NormProblem:
        """The choice of a radius."""
        epsilon, radii = self.epsilon * (self.method.radius or 0), self.home.bound.outer * RUNGS
        held = 1 - Fraction(round(10**6 * self._beyond), 10**6)
        octaves, most = float(np.log2(radii[-1] / radii[0])), LADDER_PRICE_FIRST if self.passes > 1 else LADDER_PRICE
        price = octave_price(self.home.n, epsilon, octaves, float(held), most)
        return NormProblem(self.home, radii, np.arange(radii.size), held, price)

    @property
    def _strength(self) -> float:
        return self.home.n * float(self.epsilon)

    @property
    def _beyond(self) -> float:
        """The share of curves that may lie beyond a radius."""
        return min(MOST_BEYOND, BEYOND / float(np.sqrt(self._strength)))

    def target(self, drawn: Sequence[np.ndarray]) -> MeanProblem:
        """The problem with the radius that was found."""
        if self.method.radius is None:
            return self.home
        return self._with_radius(int(np.argmax(drawn[0])))

    @cached_property
    def bound_doubt(self) -> float:
        """How far the radius may be trusted when what was drawn is shrunk, as a power of two for each half of energy.

        Errors count as shares of the signal's energy, so half of it counts twice. Against that, a radius that is an
        octave (two halves of energy) too large was chosen with a probability that falls with its price.
        """
        if self.method.radius is None:
            return 0.0
        per_octave = self.radii.price * self.home.n * float(self.epsilon * self.method.radius) / float(np.log(2))
        return max(0.0, 1 - per_octave / 2)

    def _with_radius(self, place: int) -> MeanProblem:
        return replace(self.home, bound=L2Ball(float(self.radii.radii[place]), self.home.bound.center))

    @cached_property
    def kept(self) -> np.ndarray:
        """The functions that leave: those that the first round lets out; later rounds leave out none between them."""
        parts = self.method.calibrate(self.home, self.epsilon)
        found = np.unique(np.concatenate([part.where for part in parts]))
        return found if self._one_round else np.arange(1 + int(found.max()))

    @cached_property
    def size(self) -> int:
        """Components that are refined: up to the last one that leaves."""
        return 1 + int(self.kept.max())

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

    def stages(self, drawn: Sequence[np.ndarray]) -> list[Stage]:
        """The stages that led to these draws, and the one that follows them, if any."""
        return list(self._walks.after(drawn).stages)

    @cached_property
    def _walks(self) -> Walks[Round]:
        return Walks(self._with_stage(Round(self.home), 0), self._after)

    def _after(self, at: Round, drawn: Sequence[np.ndarray]) -> Round:
        """What the last draw of a round changes, and the stage that follows."""
        number, draw = len(drawn) - 1, drawn[-1]
        step = self.method.steps[number]
        if step == "radius":
            rung = int(np.argmax(draw))
            at = replace(at, rung=rung, target=self._with_radius(rung))
        elif step == "choose":
            assert at.candidates is not None
            at = replace(at, axes=at.candidates[int(np.argmax(draw))])
        elif step in ("centre", "refine") and number < self._last_round:
            at = replace(at, centre=self._centre(at.stages[-1], draw, drawn, at.target), axes=None)
        return self._with_stage(at, number + 1) if number + 1 < len(self.method.steps) else at

    def _with_stage(self, at: Round, number: int) -> Round:
        step, candidates = self.method.steps[number], at.candidates
        if step == "radius":
            stage = self.radii.choice(self.epsilon * (self.method.radius or 0))
            stage = replace(stage, together=self._ladder) if self._one_round else stage
        elif step == "centre":
            stage = self.opening(at.target)
        elif step == "choose":
            candidates = self.candidates(at.centre, at.target)
            stage = self._choice(at.centre, candidates, number)
        elif step == "refine":
            best = best_axes(self._top(at.target) ** 2 * self.shapes[0] + at.centre.errors, self.sizes)
            stage = self._refinement(at.centre, best if at.axes is None else at.axes, number)
        else:
            stage = self._about(at.stages[self._last_round], step, number)
        if number == self._last_round:
            together, place = self._pass(cast(MeanProblem, stage.problem), at.rung)
            stage = replace(stage, together=together, place=place)
        return replace(at, stages=(*at.stages, stage), candidates=candidates)

    def _top(self, target: MeanProblem) -> float:
        """The largest spread that is looked for."""
        return min(self.method.spread or target.bound.outer, 2 * target.bound.outer)

    @property
    def passes(self) -> int:
        return self.method.passes

    def next(self, drawn: Sequence[np.ndarray]) -> Stage | None:
        """The stage that follows these draws."""
        return self.stages(drawn)[-1] if len(drawn) < len(self.method.steps) else None

    def last(self, drawn: Sequence[np.ndarray]) -> Stage:
        """The stage whose noise the released coefficients carry."""
        return self.stages(drawn)[self._last_round]

    @property
    def decisive(self) -> int:
        """All rounds; how much curves vary and what was left out matters to bands only."""
        return self._last_round + 1

    @cached_property
    def _last_round(self) -> int:
        return max(i for i, step in enumerate(self.method.steps) if step in ("centre", "refine"))

    def combine(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """Coefficients from what all stages have drawn."""
        number = self._last_round
        raw = self._finished(self.stages(drawn)[number], drawn[number], drawn)
        return np.concatenate([raw, self.home.center_coefficients[raw.size :]])

    def _finished(self, stage: Stage, noisy: np.ndarray, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """Coefficients of one round; a private count is the first round's."""
        if self.home.count_is_private:
            noisy = np.append(noisy[:-1], drawn[self.method.steps.index("centre")][-1])
        return stage.problem.finish(noisy, stage.parts)[: self.size]

    def _centre(self, stage: Stage, noisy: np.ndarray, drawn: Sequence[np.ndarray], target: MeanProblem) -> Centre:
        raw = self._finished(stage, noisy, drawn)
        found = posterior_of(raw - self.home.center_coefficients[: self.size], stage, target, self.bound_doubt)
        least = 1e-9 * target.bound.outer**2  # where all is known, some room is left for rounding
        return Centre(found.mean, np.maximum(np.add.reduceat(ROOM * found.variance, self.starts), least))

    # -- one stage each ---------------------------------------------------------------------------

    def candidates(self, centre: Centre, target: MeanProblem) -> np.ndarray:
        """Semi-axes of the ellipsoids to choose from, one column per block."""
        sizes = self._top(target) * self.ladder
        energies = [size**2 * shape + centre.errors for shape in self.shapes for size in sizes]
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
        noise = np.log2((candidates * np.sqrt(self.sizes * (self.sizes + 1))).sum(axis=1))
        outside, price = self._terms(epsilon, float(noise.max() - noise.min()))
        problem = InsideProblem(
            self._problem(centre, widest),
            self.starts,
            candidates / widest,
            1 - Fraction(round(1e6 * outside), 10**6),
            price * self.home.n * (noise - noise.min()),
        )
        return problem.choice(epsilon)

    def _terms(self, epsilon: Fraction, octaves: float) -> tuple[float, float]:
        """The share of curves that may lie outside an ellipsoid, and what an octave of noise costs, in such shares."""
        outside = min(self._beyond, FEW_OUTSIDE / self._strength)
        price = min(MOST_PRICE, TELL_APART / (self.home.n * float(epsilon)), MOST_PRICES / max(octaves, 1e-9))
        return outside, price

    def _refinement(self, centre: Centre, axes: np.ndarray, number: int) -> Stage:
        problem = self._problem(centre, axes)
        epsilon = self.epsilon * self.method.share(number)
        laws = [
            Ball.calibrated(epsilon, problem.sensitivity, problem.max_abs, starts) for starts in ((0,), self.starts)
        ]
        law = min(laws, key=lambda law: float(law.variance.sum()))
        return Stage(problem, (Part(np.arange(self.size), np.ones(self.size), law),))

    def _about(self, last: Stage, step: str, number: int) -> Stage:
        """How much curves vary about the last round's centre, or what it leaves out: read in its pass."""
        epsilon, place = self.epsilon * self.method.share(number), last.place + number - self._last_round
        problem = cast(MeanProblem, last.problem)
        if step == "vary":
            return variation.variation_stage(self._vary_problem(problem, epsilon), epsilon, last.together, place)
        return self.left_out_problem(problem).stage(epsilon, last.together, place)

    def evidence(self, drawn: Sequence[np.ndarray]) -> Evidence:
        """What bands rest on: functions that leave, what is left out, how much curves vary."""
        smallest = "radius" in self.method.steps and int(np.argmax(drawn[0])) < SMALLEST_RUNGS
        return variation.evidence_of(self, drawn, smallest)

    def costs(self, target: str) -> list[Cost]:
        return rounds_words.costs(self.method, self.epsilon, self.count_epsilon)

    def explanation(self) -> str:
        return rounds_words.explanation(self.method, self.home.count_is_private)

    def outcome(self, drawn: Sequence[np.ndarray]) -> str:
        last = self.last(drawn)
        axes = None if self._one_round else cast(MeanProblem, last.problem).bound.lengths(self.size)
        radius = self.target(drawn).bound.outer if self.method.radius else None
        return rounds_words.outcome(float(np.sqrt(last.error)), radius, axes)

    @property
    def numbers_text(self) -> str:
        return rounds_words.numbers(self.method.steps, self.kept.size, RUNGS.size, len(self.ladder) * len(SHAPES))

    # -- before data ------------------------------------------------------------------------------

    @cached_property
    def outlook(self) -> Outlook:
        known = self.method.radius is None
        return Outlook(self.home, self.epsilon, self.method.spread, known, WIDER)

    @cached_property
    def expected_stage(self) -> Stage:
        """The last round as it should turn out for the middle of the class: of size, mean and straying."""
        outlook, target = self.outlook, self.home
        size = float(np.exp(np.log(outlook.sizes).mean()))
        if self.method.radius is not None:
            radii = self.radii.radii
            target = self._with_radius(min(int(np.searchsorted(radii, LARGER * size)), radii.size - 1))
        stage = self.opening(target)
        variance = stage.problem.finish_variance(stage.variance)[: self.size]
        middle = outlook.sizes.argsort()[len(outlook.sizes) // 2]
        varying = np.add.reduceat(outlook.strays[middle, : self.size], self.starts)
        for number, step in enumerate(self.method.steps):
            if step == "refine":
                about = Centre(np.zeros(self.size), np.add.reduceat(variance, self.starts) / 2)
                axes = best_axes(WIDER**2 * (varying + about.errors), self.sizes)
                stage = self._refinement(about, axes, number)
                variance = stage.problem.finish_variance(stage.variance)
            elif step in ("vary", "check"):  # refuse now what could not be drawn after a charge
                for part in self._about(stage, step, number).parts:
                    part.law.to_lattice([Fraction(0)] * part.where.size)
        return stage

    @cached_property
    def risk(self) -> float:
        """Expected squared error by noise and bias after shrinkage, typical over the class."""
        return float(np.exp(np.log(self.outlook.errors(self.method)).mean()))
