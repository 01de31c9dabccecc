"""A covariance in three to five passes: a private scale, centre and radius, products of small curves, a check.

Noise in a covariance grows with the fourth power of the radius, so that what the first passes cost is won back many
times wherever curves lie closer to each other than to the public centre, or the bound is loose (derivations:
covariance).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpfda.bounds.bodies import Bound, Ellipsoid, L2Ball
from dpfda.methods import Centred, Leading
from dpfda.methods.base import Method
from dpfda.methods.earlier_centre import earlier_centre, earlier_error
from dpfda.plans.schedule import Schedule
from dpfda.plans.shares import COUNT, Cost
from dpfda.plans.surface_checking import check_stage
from dpfda.problems.count import count_part
from dpfda.problems.covariance import CovarianceProblem
from dpfda.problems.ellipsoid_stages import InsideProblem
from dpfda.problems.mean import MeanProblem
from dpfda.problems.stage import Stage
from dpfda.results.covariance_bands import Checked
from dpfda.results.posterior import Seen, posterior, sizes_and_shapes
from dpfda.results.postprocess import shrunk
from dpfda.results.principal import posterior_covariance

#: Radii on offer about a centre: from twice the scale (or the bound's radius) down, a fourth of an octave apart. A
#: scale is one of the bound's radius and less.
RADII = 2.0 ** (1 - np.arange(45) / 4)
SCALES = RADII[RADII <= 1]
#: Curves outside the radius are clipped. Where a centre's method is given: a share of ``600 / (n epsilon)``, as noise
#: is, and at most two fifths. Clipping leaves directions alone and lessens noise; what it takes of the size is given
#: back afterwards (derivations: covariance). The scale is for a rough mean: nearly all curves.
FEW, AT_MOST, STRAGGLERS = 600.0, 0.4, 0.02
#: Radii that hold enough curves are told apart by their octave: at this many records over epsilon, and a share of them
#: that cannot add up to a half over the ladder's eleven octaves.
OCTAVE, OCTAVE_SHARE = 4.0, 0.04
#: The same in earlier versions: no more outside than this share, fewer as n times the choice's epsilon grows.
MOST_OUTSIDE, PLENTY = 0.1, 100.0
TELL_APART, MOST_PRICE = 12.0, 0.05
#: The rough mean is nothing but the public centre with this weight, else of any size, and falls as these powers of
#: frequency.
NOTHING, DECAYS = 0.8, (0.0, 2.0, 4.0)
#: How far curves stray, typically, of the bound's radius; a radius that is chosen is wider than need be by this factor.
STRAY, WIDER = 0.35, 1.2
#: Where all curves are beyond the bound no scale and no radius holds any, and one of the smallest three octaves is
#: chosen for its price, twice; where most are, the largest, twice. From this n epsilon on noise does not look the same.
SMALLEST_OCTAVES, ENOUGH = 3, 200.0
COUNTED = {3: "three", 4: "four", 5: "five"}


@dataclass(frozen=True, eq=False)
class Centring(Schedule):
    """The passes of a covariance plan; `problem` is the covariance with the plan's own bound."""

    problem: CovarianceProblem
    bound: L2Ball
    method: Centred
    epsilon: Fraction

    @property
    def passes(self) -> int:
        return len(self.method.steps)

    @property
    def _count(self) -> Fraction:
        return self.epsilon * (self.method.count_share or 0) if self.problem.count_is_private else Fraction(0)

    @property
    def _divided(self) -> Fraction:
        """What the passes divide: epsilon, less what a private count costs."""
        return self.epsilon - self._count

    @cached_property
    def home(self) -> MeanProblem:
        """The mean with the plan's bound."""
        return self._mean(self.bound)

    def _mean(self, bound: Bound) -> MeanProblem:
        return replace(self.problem.code, bound=bound)

    # -- stages -----------------------------------------------------------------------------------

    @cached_property
    def first(self) -> Stage:
        if self.method.scale is None:
            return self._rough(self.home)
        center, radii = self.bound.center, self.bound.radius * SCALES
        return self._choice(center, radii, self._divided * self.method.scale, STRAGGLERS)

    def stages(self, drawn: Sequence[np.ndarray]) -> list[Stage]:
        """The stages that led to these draws, and the one that follows them, if any."""
        found, scale, later = [self.first], self.bound.radius, list(drawn)
        if self.method.scale is not None and later:
            scale = float(self.bound.radius * SCALES[int(np.argmax(later.pop(0)))])
            found.append(self._rough(self._mean(L2Ball(scale, self.bound.center))))
        if later and isinstance(found[-1].problem, MeanProblem):
            curve = self._centre(found[-1], later[0])
            found.append(self._choice(curve, scale * RADII, self._divided * self.method.selection))
            if len(later) > 1:
                radius = float((scale * RADII)[int(np.argmax(later[1]))])
                found.append(self._covariance(L2Ball(radius, curve)))
            if len(later) > 2 and self.method.check is not None:
                found.append(self._check(found[-1], self._published(found[-1], drawn)))
        return found

    def next(self, drawn: Sequence[np.ndarray]) -> Stage | None:
        return self.stages(drawn)[-1] if len(drawn) < self.passes else None

    def last(self, drawn: Sequence[np.ndarray]) -> Stage:
        return self.stages(drawn[: self._step("covariance")])[-1]

    def _step(self, name: str) -> int:
        return self.method.steps.index(name)

    def combine(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        return self._combined(self.last(drawn), drawn)

    def _combined(self, stage: Stage, drawn: Sequence[np.ndarray]) -> np.ndarray:
        noisy = drawn[self._step("covariance")]
        if self.problem.count_is_private:
            noisy = np.append(noisy[:-1], drawn[self._step("centre")][-1])
        return stage.problem.finish(noisy, stage.parts)

    def _published(self, stage: Stage, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """What these draws are published as: shrunk and a covariance, unless they are left as they are."""
        raw = self._combined(stage, drawn)
        if not self.problem.shrinks:
            return raw
        if isinstance(self.method.method, Leading):
            return posterior_covariance(raw, stage, clipped=True)
        return self.problem.basis.nearest_positive(shrunk(raw, stage, "bayes", self.problem))

    def _check(self, stage: Stage, published: np.ndarray) -> Stage:
        """The pass that compares what is published with the records (derivations: covariance)."""
        assert isinstance(stage.problem, CovarianceProblem)
        assert self.method.check is not None
        return check_stage(stage.problem, published, self.bound, self._outside, self._divided, self.method.check)

    def bound_too_small(self, drawn: Sequence[np.ndarray]) -> bool | None:
        """Whether most curves reach beyond the bound, by the scale and the radius; None where these do not tell."""
        if self.method.scale is None or self.problem.n * float(self.epsilon) < ENOUGH:
            return None
        scale, radius = (int(np.argmax(drawn[self._step(name)])) for name in ("scale", "choose"))
        smallest = scale >= SCALES.size - 4 * SMALLEST_OCTAVES and radius >= RADII.size - 4 * SMALLEST_OCTAVES
        return smallest or scale == radius == 0

    def checked(self, drawn: Sequence[np.ndarray]) -> Checked | None:
        """What the last pass said of the published surface, if there was one."""
        if self.method.check is None:
            return None
        stage, count, doubt = self.stages(drawn[: self._step("check")])[-1], 1.0, 0.0
        if self.problem.count_is_private:
            centre = self._step("centre")
            count, doubt = float(drawn[centre][-1]), float(self.stages(drawn[:centre])[-1].parts[-1].law.scales[0])
        return Checked.of(stage, drawn[-1], count, doubt)

    def _first_method(self, home: MeanProblem) -> Method:
        return self.method.first or earlier_centre(home, self._divided * self.method.centre)

    def _rough(self, home: MeanProblem) -> Stage:
        """The pass for a rough mean of curves clipped to the bound, or to the scale."""
        parts = self._first_method(home).calibrate(home, self._divided * self.method.centre)
        if self.problem.count_is_private:
            parts = (*parts, count_part(home.basis.size, home.n, self._count))
        return Stage(home, parts)

    def _centre(self, stage: Stage, noisy: np.ndarray) -> np.ndarray:
        """The released mean, shrunk, as a curve."""
        home = stage.problem
        assert isinstance(home, MeanProblem)
        coefficients = home.finish(noisy, stage.parts)
        if self.method.first is None:
            coefficients = shrunk(coefficients, stage, "james-stein", home)
        else:
            part = stage.parts[0]
            size, scales = part.where.size, part.law.scales
            shapes = np.arange(1.0, size + 1) ** -np.array(DECAYS)[:, None]
            shapes /= shapes.sum(axis=1, keepdims=True)
            faint = 0.01 * (size + 1) * float(scales[0]) ** 2
            prior = sizes_and_shapes(shapes, float(home.bound.outer) ** 2, faint, NOTHING)
            about = (coefficients - home.center_coefficients)[part.where]
            coefficients = home.center_coefficients.copy()
            coefficients[part.where] += posterior([Seen(np.arange(size), about, scales)], prior).mean
        return np.asarray(home.basis.synthesize(coefficients) + home.offset)

    def _choice(
        self, curve: np.ndarray | None, radii: np.ndarray, epsilon: Fraction, outside: float | None = None
    ) -> Stage:
        """A private choice of one of these radii about a centre, largest first (derivations: private choice)."""
        inner = self._mean(Ellipsoid(np.full(self.home.basis.size, radii[0]), curve))
        strength = self.home.n * float(epsilon)
        if self.method.first is None:
            outside = MOST_OUTSIDE * min(1.0, (PLENTY / strength) ** 1.5)
            price = min(MOST_PRICE, TELL_APART / strength)
        else:
            outside = self._outside if outside is None else outside
            price = min(OCTAVE_SHARE, OCTAVE / strength)
        prices = price * self.home.n * np.log2(radii / radii.min())
        held = 1 - Fraction(round(1e6 * outside), 10**6)
        return InsideProblem(inner, (0,), (radii / radii[0])[:, None], held, prices, nested=True).choice(epsilon)

    @property
    def _outside(self) -> float:
        """The share of curves that may lie outside the radius."""
        return min(AT_MOST, FEW / (self.home.n * float(self._divided)))

    def _covariance(self, bound: L2Ball) -> Stage:
        code = self.problem.code
        problem = CovarianceProblem.of(
            self.problem.basis, bound, code.n, self.problem.decay, neighbors=code.neighbors, invalid=code.invalid,
            standardize=code.standardize, fill=code.fill, shrinks=self.problem.shrinks, alignment=code.alignment,
            by_power=self.problem.by_power,
        )  # fmt: skip
        return Stage(problem, self.method.calibrate(problem, self._divided))

    # -- before data --------------------------------------------------------------------------------

    def foreseen_radius(self, stray: float) -> float:
        """The radius that should hold curves which stray this far from a mean that was released with noise."""
        return min(float(WIDER * np.sqrt(2 * stray**2 + self._centre_error)), float(self.bound.radius * RADII[0]))

    @cached_property
    def _centre_error(self) -> float:
        method, epsilon = self._first_method(self.home), self._divided * self.method.centre
        return earlier_error(self.home, epsilon, method)

    @cached_property
    def expected_stage(self) -> Stage:
        """The last pass as it should turn out for curves that stray a typical way."""
        return self._covariance(L2Ball(self.foreseen_radius(STRAY * self.bound.radius), self.bound.center))

    @property
    def risk(self) -> float:
        return self.expected_stage.risk

    def outcome(self, drawn: Sequence[np.ndarray]) -> str:
        """What the choice fell on."""
        last = self.last(drawn)
        assert isinstance(last.problem, CovarianceProblem)
        return (
            f"The radius that was chosen is {last.problem.code.bound.outer:.3g}; with it the noise has a root "
            f"mean squared L2 size of {float(np.sqrt(last.error)):.3g}."
        )

    @property
    def numbers_text(self) -> str:
        parts = self._rough(self.home).parts, self.expected_stage.parts
        first, last = (sum(part.where.size for part in stage) for stage in parts)
        scale = "" if self.method.scale is None else f"one of {SCALES.size} scales, then "
        check = "" if self.method.check is None else ", then 2"
        return f"{scale}{first}, then one of {RADII.size} radii, then {last} of {self.problem.size}{check}"

    def costs(self, target: str) -> list[Cost]:
        method, found = self.method, []
        told = {
            "scale": ("the scale of the curves", method.scale),
            "centre": ("a rough centre", method.centre),
            "choose": ("a radius about the centre that holds most curves", method.selection),
            "covariance": (f"the {target} of curves clipped to it", method.rest),
            "check": ("how far the published surface is from the records' own", method.check),
        }
        for reading, step in enumerate(method.steps, 1):
            words, share = told[step]
            found.append(Cost(words, reading, self._divided * (share or 0)))
            if step == "centre":
                found.append(Cost(COUNT, reading, self._count))
        return found

    def explanation(self) -> str:
        """What is done in each pass, for which share of the budget."""
        count = (
            f" {self.method.count_share} of epsilon goes to the private count first; these are shares of the rest."
            if self.problem.count_is_private
            else ""
        )
        scale = (
            ""
            if self.method.scale is None
            else f"a private choice of the curves' scale about the public centre ({self.method.scale} of epsilon), for "
        )
        of_epsilon = " of epsilon" if self.method.scale is None else ""
        held = "that holds nearly all curves" if self.method.first is None else "that holds most curves"
        check = (
            ""
            if self.method.check is None
            else f", and for two numbers that say how far the published surface is from the records' own "
            f"({self.method.check})"
        )
        return (
            f"The data is read {COUNTED[self.passes]} times: for {scale}a rough centre ({self.method.centre}"
            f"{of_epsilon}), for a private choice of a radius about it {held}, by permute and flip "
            f"({self.method.selection}), {'' if check else 'and '}for the covariance of curves clipped to that ball "
            f"({self.method.rest}){check}. These shares add up.{count}"
        )
