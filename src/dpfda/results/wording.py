"""How a plan speaks: its nouns, its table, and how accurate it says it will be.

All of it comes from public facts. What takes long to compute, expected errors, is computed when it is asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from dpfda.bounds.units import root_length
from dpfda.core import markup
from dpfda.core.nouns import Nouns
from dpfda.results.verdict import WORDS, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from dpfda.bounds.bodies import Bound, L2Ball
    from dpfda.problems.contracts import Problem
    from dpfda.problems.stage import Stage
    from dpfda.spaces.grid import AnyGrid

Rows = tuple[tuple[str, str], ...]


class Priced(Protocol):
    """Anything with a budget: a plan, or several under one charge."""

    @property
    def epsilon(self) -> Fraction: ...
    @property
    def delta(self) -> Fraction: ...


class Scheduled(Protocol):
    """What words need of a plan's stages."""

    @property
    def keeps_draws(self) -> bool: ...
    def stages(self, drawn: Sequence[np.ndarray]) -> Sequence[Stage]: ...
    def last(self, drawn: Sequence[np.ndarray]) -> Stage: ...
    def outcome(self, drawn: Sequence[np.ndarray]) -> str: ...


class Accurate(Protocol):
    """What words need of a plan's accuracy."""

    @property
    def typical_sd(self) -> float: ...


class Judged(Priced, Protocol):
    """The same, with what it will be worth."""

    @property
    def verdict(self) -> Verdict: ...


class Planned(Judged, Protocol):
    """What words need of a plan."""

    @property
    def n(self) -> int: ...
    @property
    def neighbors(self) -> str: ...
    @property
    def invalid(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def problem(self) -> Problem: ...
    @property
    def chosen(self) -> object: ...
    @property
    def schedule(self) -> Scheduled: ...
    @property
    def accuracy(self) -> Accurate: ...
    @property
    def expected_error(self) -> float: ...
    @property
    def expected_risk(self) -> float: ...
    @property
    def risk_range(self) -> tuple[float, float]: ...
    @property
    def value(self) -> str | None: ...
    @property
    def wording(self) -> Wording: ...


class Together(Priced, Protocol):
    """What words need of several plans under one charge."""

    @property
    def digest(self) -> str: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def member_word(self) -> str: ...
    @property
    def composition(self) -> str: ...


@dataclass(frozen=True)
class AccuracyWords:
    """How accurate a release will be: rows and a sentence, made when they are asked for.

    Errors are measured against `size`, which `size_name` names; `risk` is what the expected risk counts.
    """

    plan: Planned = field(repr=False)
    size: float
    size_name: str
    risk: str = "noise plus prior bias"

    @property
    def rows(self) -> Rows:
        """As rows of a table."""
        plan = self.plan
        low, high = plan.risk_range
        return (
            ("expected error", f"{number(plan.expected_error)} (noise only, as drawn, squared L2)"),
            ("expected risk", f"{number(plan.expected_risk)} ({self.risk})"),
            *((("risk range", f"from {number(low)} to {number(high)}, mostly"),) if high > low else ()),
            ("root of the risk", f"{math.sqrt(plan.expected_risk) / self.size:.2%} of {self.size_name}"),
            ("noise at a point", f"{number(plan.accuracy.typical_sd)} standard deviation, typically"),
            ("verdict", plan.verdict.told),
        )

    @property
    def brief_risk(self) -> str:
        """The expected risk for a row of several plans."""
        return number(self.plan.expected_risk)

    @property
    def brief_error(self) -> str:
        """What the noise does, for a line about one of several plans."""
        return f"expected error {number(self.plan.expected_error)} (squared L2, noise only)"

    @property
    def sentence(self) -> str:
        """The same in a paragraph."""
        rms, total = math.sqrt(self.plan.expected_error), math.sqrt(self.plan.expected_risk)
        low, high = (math.sqrt(risk) for risk in self.plan.risk_range)
        between = f", and mostly between {number(low)} and {number(high)}" if high > low else ""
        return (
            f"The noise has a root mean squared L2 size of {number(rms)}, {rms / self.size:.1%} of {self.size_name} "
            f"({self.size:.4g}); at a typical point its standard deviation is {number(self.plan.accuracy.typical_sd)}. "
            f"Altogether ({self.risk}) the error is expected to be {number(total)} ({total / self.size:.1%}){between}. "
            f"{self.plan.verdict.told} These figures depend on no data."
        )


@dataclass(frozen=True)
class Wording:
    """How one kind of plan speaks: its nouns, its assumption, its own rows, and how accurate it says it will be."""

    noun: str
    release: str
    #: What a record is called, and what it holds.
    nouns: Nouns
    target: str
    assumption: str
    unusable: str
    rows: Rows
    method: str
    #: How many numbers leave.
    numbers: str
    accuracy: AccuracyWords
    #: Empty where the kernel does not matter to the release.
    kernel: str = ""
    #: How often the data is read and for what, where a schedule says so.
    passes: str = ""
    #: What is added to the records where they are first named.
    more: str = ""
    #: What released coefficients are coefficients of, where there are such.
    basis: str = ""
    #: What is computed before the noise, in a sentence, where the name of the release does not say it.
    fit: str = ""

    @property
    def record(self) -> str:
        """One record: "curve", or by the noun that the plan was told."""
        return self.nouns.record

    @property
    def records(self) -> str:
        """Several of them."""
        return self.nouns.records

    @property
    def piece(self) -> str:
        """What a record is made of, where a record is all that one person or household has."""
        return self.nouns.piece


def number(value: float) -> str:
    return f"{value:.3g}"


def kernel_in_words(spelt: str) -> str:
    """A kernel as it is spelt in Python, in words.

    >>> kernel_in_words("Matern(nu=1.5, length_scale=0.1)"), kernel_in_words("Gaussian(length_scale=None)")
    ('the Matern kernel (nu 1.5, length scale 0.1)', 'the Gaussian kernel')
    >>> kernel_in_words("Gaussian, length scale 0.1 of each side")
    'the Gaussian kernel (length scale 0.1 of each side)'
    """
    name, _, facts = spelt.partition("(" if "(" in spelt else ", ")
    facts = facts.removesuffix(")")
    if "(" in facts or ("(" in spelt and "=" not in facts):  # a kernel within another, or one in words of its own
        return f"the kernel {spelt}" if "=" in facts else facts or f"the {name} kernel"
    told = ", ".join(fact for fact in facts.split(", ") if fact and not fact.endswith("=None"))
    return f"the {name} kernel" + (f" ({told})".replace("_", " ").replace("=", " ") if told else "")


def cost(plan: Priced) -> str:
    """A budget in words: epsilon, and delta where there is one."""
    delta = f" and delta {float(plan.delta):g} (not pure)" if plan.delta else ""
    return f"epsilon {float(plan.epsilon):g}{delta}"


def price(plan: Judged) -> str:
    """The budget for titles of pictures, and that there is mostly noise where that is so."""
    return cost(plan) + ("; mostly noise" if plan.verdict.word == WORDS[2] else "")


def guarantee(plan: Judged) -> str:
    """The guarantee in a few words, and that there is mostly noise where that is so."""
    epsilon, noise = float(plan.epsilon), "; mostly noise" if plan.verdict.word == WORDS[2] else ""
    if plan.delta:
        return f"({epsilon:g}, {float(plan.delta):g})-differentially private (not pure){noise}"
    return f"{epsilon:g}-differentially private{noise}"


def describe_bound(bound: Bound, length: float | None = None) -> str:
    """A bound by its kind and in words."""
    return f"{type(bound).__name__}: {bound_words(bound, length)}"


def bound_words(bound: Bound, length: float | None = None) -> str:
    """A bound in words; for an L2 ball with the typical distance it allows at one point."""
    center = bound.center
    about = "zero" if center is None else f"{float(center):g}" if center.ndim == 0 else "the public centre curve"
    if bound.on_grid:
        typical = f", {number(bound.outer / math.sqrt(length))} root mean square" if length else ""
        return f"the {bound.norm} about {about} is at most {bound.outer:g}{typical}"
    radius: float | None = getattr(bound, "radius", None)
    size = f"at most {radius:g}" if radius is not None else f"limited for {bound.size} coefficients"
    return f"the {bound.norm} about {about} is {size}"


def bound_in_units(bound: L2Ball, grid: AnyGrid) -> dict[str, float]:
    """What a ball means in the units of the curves: its radius as a root mean square, and a range that it holds."""
    half = bound.outer / root_length(grid)
    found = {"root_mean_square": half}
    if bound.center is None or bound.center.ndim == 0:
        center = 0.0 if bound.center is None else float(bound.center)
        found |= {"center": center, "low": center - half, "high": center + half}
    return found


def bound_meaning(bound: L2Ball, grid: AnyGrid, noun: str) -> str:
    """The same in words.

    >>> from dpfda.bounds import Range
    >>> from dpfda.spaces import Grid
    >>> grid = Grid.uniform(0, 24, 9)
    >>> bound_meaning(Range(2, 25).on(grid), grid, "curve")[:59]
    'curves within 11.5 (root mean square) of 13.5 count in full'
    """
    units = bound_in_units(bound, grid)
    half = f"{units['root_mean_square']:.6g}"
    if "center" not in units:
        return (
            f"{noun}s within {half} (root mean square) of the public centre curve count in full; every {noun} that "
            f"stays within {half} of it does"
        )
    low, high = (0.0 if abs(end) < 1e-9 * units["root_mean_square"] else end for end in (units["low"], units["high"]))
    return (
        f"{noun}s within {half} (root mean square) of {units['center']:.6g} count in full; every {noun} that stays "
        f"between {low:.6g} and {high:.6g} does"
    )


# -- tables -------------------------------------------------------------------------------


def facts(plan: Planned) -> list[tuple[str, str]]:
    """The rows of a plan's table: name and value."""
    words = plan.wording
    budget = f"{float(plan.epsilon):g}" + (f" = {plan.epsilon}" if plan.epsilon.denominator > 1 else "")
    rows = [
        ("release", words.release),
        (f"{words.records} (n)", f"{plan.n:,}" + (" (public guess)" if plan.problem.count_is_private else "")),
        ("epsilon", budget),
    ]
    if plan.delta:
        rows.append(("delta", f"{float(plan.delta):g}: approximate, not pure, differential privacy"))
    return [
        *rows,
        ("neighbours", plan.neighbors),
        *words.rows,
        ("kernel", words.kernel or "not used by this method"),
        ("method", words.method),
        ("numbers released", words.numbers),
        *words.accuracy.rows,
    ]


def table(plan: Planned) -> str:
    rows = facts(plan)
    width = max(len(name) for name, _ in rows)
    return "\n".join(
        [f"{type(plan).__name__} {plan.digest[:12]}", *(f"  {name:<{width}}  {value}" for name, value in rows)]
    )


def html_table(plan: Planned) -> str:
    return markup.facts(f"{type(plan).__name__} {plan.digest[:12]}", facts(plan))
