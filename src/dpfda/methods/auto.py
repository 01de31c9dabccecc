"""Auto: find the scale, find the centre, spend the rest there, shrink by Bayes.

Which of these steps pay, and for how much of the budget, follows before data from n, epsilon and the bound. Every way
is held against the others by one risk, over bounds that are right and far too large (:mod:`dpfda.methods.outlook`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpfda.bounds.bodies import L2Ball
from dpfda.core.checks import check_choice, check_positive
from dpfda.core.codec import LATER
from dpfda.core.errors import FileError, ParameterError, shown
from dpfda.methods.base import Method
from dpfda.methods.blockwise import Blocks
from dpfda.methods.frl import FRL
from dpfda.methods.knorm import KNorm
from dpfda.methods.outlook import Outlook
from dpfda.methods.staged import LARGEST, SMALLEST, Staged
from dpfda.problems.contracts import Problem
from dpfda.problems.mean import MeanProblem
from dpfda.problems.stage import Part

#: The version of the rule by which Auto chooses. Plans of None were made before there were numbers.
RULE = 2
#: Components, as multiples of the root of n epsilon: of one round; of one whose scale is public, which leaves more
#: budget; and of several, whose later noise is smaller. Noise grows with the square of their number, what is left out
#: of a mean falls faster: for squared coefficients between j^-2 and j^-4 the best number grows as a power from 2/3 to
#: 2/5 of n epsilon. How much errors change with these and the constants below is in docs/derivations/stages.md.
ONE_ROUND, SCALE_KNOWN, SEVERAL, FEWEST = 0.6, 0.7, 0.85, 3
#: Shares of epsilon for private choices, as multiples of one over the root of n epsilon, and at most a quarter: of a
#: radius for one round; of an ellipsoid, which clips skewed curves the less the better it is chosen; and of what is
#: easy, a radius that later rounds mend, or an ellipsoid within a public spread. So their errors and what they cost
#: fall as n epsilon grows, to a hundredth at least.
RADIUS, ELLIPSOID, EASY, MOST_SHARE, LEAST_SHARE = 2.0, 2.5, 1.0, 0.25, 0.01
#: What each round gets of what the rounds divide; three need so much n epsilon that the first alone finds a centre.
THREE_FROM = 5000.0
ONE, TWO = (Fraction(1),), (Fraction(1, 4), Fraction(3, 4))
THREE = (Fraction(1, 10), Fraction(1, 5), Fraction(7, 10))
#: Shares of epsilon for the check of what is left out: few components leave much of a mean out, so that it is worth
#: more; where there are at most four, what they leave out is taken to be as large as the public bound allows, for free.
CHECK, CHECK_FEW, FEW, TOO_FEW = Fraction(3, 100), Fraction(1, 20), 16, 4


@dataclass(frozen=True, eq=False, repr=False)
class Auto(Method):
    """The default for means: whatever should be most accurate for n, epsilon, the bound, the spread and the kernel.

    Find the scale: a private radius, since bounds that can be stated honestly are often several times too large. Find
    the centre: a rough mean. Spend the rest there: curves clipped to a small ellipsoid about it. Shrink by Bayes: the
    exact posterior mean under the known noise. With little data the first round is all.

    Parameters
    ----------
    spread : float, optional
        A public radius that holds (nearly) every curve about their mean, if you know one. Default: chosen privately
        where that pays.
    passes : int, optional
        How often the data may be read: 1 for sources that can be read only once and for saved summaries. Default: as
        often as the best choice asks for.
    rule : int, optional
        The version of the rule by which the choice is made, for files. Default: the present one.
    check : bool, optional
        Whether a few per cent of epsilon go to what the release leaves out, so that its bands cover that too. Default:
        True.

    Examples
    --------
    >>> Auto(passes=1)
    Auto(passes=1)
    """

    composite: ClassVar[bool] = True

    spread: float | None = None
    passes: int | None = None
    rule: int | None = field(default=RULE, metadata=LATER, repr=False)
    check: bool | None = field(default=True, metadata=LATER, repr=False)

    def __post_init__(self) -> None:
        check_choice("check", self.check, (True, False, None))
        if self.rule is None:  # before there were rules there was no check
            object.__setattr__(self, "check", None)
        check_positive("spread", self.spread)
        object.__setattr__(self, "spread", None if self.spread is None else float(self.spread))
        if self.passes is not None and (
            isinstance(self.passes, bool) or not isinstance(self.passes, int | np.integer) or self.passes < 1
        ):
            raise ParameterError(
                "passes must be a whole number from 1", shown(self.passes), "Pass 1, or leave passes out."
            )
        if self.rule is not None and (type(self.rule) is not int or self.rule != RULE):
            raise FileError(f"Rule {shown(self.rule)} of Auto is not known here; it may come from a newer version.")

    def __repr__(self) -> str:
        given = {"spread": self.spread, "passes": self.passes, "check": None if self.check else False}
        return f"Auto({', '.join(f'{name}={value!r}' for name, value in given.items() if value is not None)})"

    @property
    def outdated(self) -> bool:
        """Whether an earlier version made the choice: what it was is in the file, and cannot be made anew."""
        return self.rule != RULE

    def check_plain(self, what: str) -> None:
        """Where the method is chosen in another way, options for means would be ignored: refuse them.

        Parameters
        ----------
        what : str
            What is released, as the error names it.
        """
        if self.spread is not None or (self.passes or 1) > 1:
            raise ParameterError(f"{what} is read once and has no spread", repr(self), "Pass method=dp.Auto().")

    def resolved(self, problem: Problem, epsilon: Fraction) -> Method:
        """The chosen method itself, of one round or in stages.

        Parameters
        ----------
        problem : Problem
            What is released: its size, its sensitivity and how much is expected of each coefficient, from public facts.
        epsilon : Fraction
            The budget of the release.
        """
        outlook = self.outlook(problem, epsilon)
        return min(self.candidates(outlook), key=outlook.typical)

    def calibrate(self, problem: Problem, epsilon: Fraction) -> tuple[Part, ...]:
        return self.resolved(problem, epsilon).calibrate(problem, epsilon)

    def outlook(self, problem: Problem, epsilon: Fraction) -> Outlook:
        """The risks among which the choice is made.

        Parameters
        ----------
        problem : Problem
            What is released: its size, its sensitivity and how much is expected of each coefficient, from public facts.
        epsilon : Fraction
            The budget of the release.
        """
        if not isinstance(problem, MeanProblem):
            raise ParameterError("Auto chooses among ways to release a mean", "another problem", "Leave method out.")
        if problem.is_exact and self.spread is not None:
            raise ParameterError(
                "a function of curves brings its own bound, and needs no spread", "a spread", "Pass method=dp.Auto()."
            )
        known = self.spread is not None or problem.standardize or problem.is_exact
        return Outlook(problem, epsilon, self.spread, known)

    # -- the ways to choose from --------------------------------------------------------------

    def candidates(self, outlook: Outlook) -> list[Method]:
        """One round, or several; each with a private radius first where the scale is not known.

        Parameters
        ----------
        outlook : Outlook
            The risks by which they are compared.
        """
        problem, ball = outlook.problem, type(outlook.problem.bound) is L2Ball
        strength = problem.n * float(outlook.epsilon)
        ordinary = SMALLEST < problem.bound.outer < LARGEST
        unknown = ball and ordinary and not outlook.known  # the scale: a private radius may pay
        found: list[Method] = []
        for count in _counts(SCALE_KNOWN if outlook.known else ONE_ROUND, strength, problem):
            check = check_share(count, problem.basis.size) if self.check and ordinary else None
            plain: list[Method] = [KNorm(count)] if ball else [KNorm(count), Blocks(count), FRL(count)]
            found += plain if check is None else [Staged(method, shares=ONE, check=check) for method in plain]
            if unknown:
                share = _share(RADIUS, strength)
                found.append(Staged(KNorm(count), shares=ONE, radius=share, check=check))
        if self.passes == 1 or not ordinary or problem.is_exact:  # rounds about a centre clip what is rare
            return found
        choice = _share(ELLIPSOID if self.spread is None else EASY, strength)
        for count in _counts(SEVERAL, strength, problem):
            later = check_share(count, problem.basis.size, rounds=2) if self.check else None
            first: Method = KNorm(count) if ball else Blocks(count)
            for shares in (TWO, THREE) if strength >= THREE_FROM else (TWO,):
                for radius in (None, _share(EASY, strength)) if unknown else (None,):
                    staged = Staged(first, self.spread, shares, choice, radius=radius, check=later)
                    found += [staged] if self.passes is None or staged.passes <= self.passes else []
        return found

    # -- in words ---------------------------------------------------------------------------

    def explanation(self, problem: Problem, epsilon: Fraction, chosen: Method) -> str:
        """Why the choice fell as it did, in words and numbers.

        Parameters
        ----------
        problem : Problem
            What is released: its size, its sensitivity and how much is expected of each coefficient, from public facts.
        epsilon : Fraction
            The budget of the release.
        chosen : Method
            What the choice fell on.
        """
        outlook = self.outlook(problem, epsilon)
        found = self.candidates(outlook)
        rounds = _rounds(chosen)
        other = min((m for m in found if (_rounds(m) > 1) != (rounds > 1)), key=outlook.typical, default=None)
        if self.spread is not None:
            scale = "The spread is given, so that no budget goes to finding the scale."
        elif outlook.problem.is_exact:
            scale = "The function brings its own bound: its scale is public, and nothing is clipped."
        elif outlook.known:
            scale = "Curves are standardised, so that their scale is public."
        elif isinstance(chosen, Staged) and chosen.radius is not None:
            scale = (
                f"First the scale: a private radius for {chosen.radius} of epsilon, because a bound that can be stated "
                "honestly is often several times too large."
            )
        else:
            scale = "The stated bound is taken as it is."
        centre = (
            f"One round of {_components(chosen)} components: rounds about a centre would clip what few curves do."
            if outlook.problem.is_exact
            else f"Then one round of {_components(chosen)} components: with n epsilon of about "
            f"{outlook.problem.n * float(epsilon):.3g}, a centre of its own would cost more than it saves."
            if rounds == 1
            else f"Then the centre: a rough mean of {_components(chosen)} components, and the rest of the budget on "
            f"curves clipped about it, in {rounds} rounds."
        )
        better = f", {outlook.typical(other):.3g} for the best with {_count(_rounds(other))}" if other else ""
        return (
            f"{scale} {centre} Last, the exact posterior mean under the known noise. Auto compared {len(found)} ways, "
            f"before data, by one risk: {outlook.typical(chosen):.3g} for this one{better} (squared errors, as "
            f"geometric means over {outlook.described})."
        )


def _counts(multiple: float, strength: float, problem: MeanProblem) -> list[int]:
    """Numbers of components to choose from: one where the bound is a ball, also more where it falls off."""
    size = int(problem.basis.size)
    count = min(max(FEWEST, round(multiple * float(np.sqrt(strength)))), size)
    return [count] if type(problem.bound) is L2Ball else [*(c for c in _doubled(count) if c < size), size]


def _doubled(count: int) -> list[int]:
    return [max(1, count // 2), *(count << k for k in range(10))]


def check_share(count: int, size: int, rounds: int = 1) -> Fraction:
    """What the check of what is left out costs, by the number of components; few leave so much out that none pays."""
    if count >= size or rounds > 1:
        return CHECK
    return Fraction(0) if count <= TOO_FEW else CHECK_FEW if count <= FEW else CHECK


def _share(multiple: float, strength: float) -> Fraction:
    """A share of epsilon that falls with the root of n epsilon, in thousandths."""
    share = float(np.clip(multiple / np.sqrt(strength), LEAST_SHARE, MOST_SHARE))
    return Fraction(round(1000 * share), 1000)


def _rounds(method: Method) -> int:
    return len(method.shares) if isinstance(method, Staged) else 1


def _count(rounds: int) -> str:
    return "one round" if rounds == 1 else "several rounds"


def _components(method: Method) -> int:
    inner = method.method if isinstance(method, Staged) else method
    return int(getattr(inner, "components", 0))
