"""Mechanisms that are broken on purpose, each in one way: an audit must catch every one of them.

They are ordinary plans with one part replaced, so that an audit meets them as it meets any plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import opendp.prelude as odp
import pandas as pd
from opendp.domains import user_domain
from opendp.measurements import make_user_measurement
from opendp.measures import max_divergence
from opendp.metrics import change_one_distance

import dpfda as dp
from dpfda.ledger import Ledger
from dpfda.noise import Laplace
from dpfda.problems.mean import MeanProblem
from dpfda.problems.stage import Part, Stage
from dpfda.problems.summary import Summary

GRID = dp.Grid.uniform(0, 1, 12)
FACTS: dict[str, Any] = {"n": 60, "epsilon": 1, "bound": dp.L2Ball(1.0), "grid": GRID}
ONCE = np.random.default_rng(7)


def with_law(plan: dp.MeanPlan, change: Callable[[Any], Any]) -> Stage:
    """The plan's stage with another law on its first part."""
    part, *rest = plan._calibrated().parts
    return Stage(plan.problem, (replace(part, law=change(part.law)), *rest))


def relaw(law: Laplace, kind: type[Laplace], **facts: Any) -> Laplace:
    return kind(**({"epsilon": law.epsilon, "steps": law.steps, "sensitivity": law.sensitivity} | facts))


# -- too little noise, and stated so ----------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RootTwoShort(dp.MeanPlan):
    """Scales that are short by the root of two, as in the paper's theorem."""

    @cached_property
    def stage(self) -> Stage:
        return with_law(self, lambda law: relaw(law, Laplace, sensitivity=int(law.sensitivity / np.sqrt(2))))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SmallBall(dp.MeanPlan):
    """Ball noise with too small a diameter."""

    @cached_property
    def stage(self) -> Stage:
        return with_law(self, lambda law: replace(law, diameter=law.diameter / np.sqrt(2)))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EpsilonEach(dp.MeanPlan):
    """The full epsilon on every coordinate."""

    @cached_property
    def stage(self) -> Stage:
        return with_law(self, lambda law: relaw(law, Laplace, sensitivity=law.sensitivity // law.steps.size))


# -- statistics that move more than they should --------------------------------------------------------


class Relative(Summary):
    """A summary in units of its own largest record; the radius is read off the data."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BoundFromData(dp.MeanPlan):
    """Curves are clipped to the largest norm in the data, and the noise is scaled as if that were public."""

    def summarize(self, records: Any, **reading: Any) -> Summary:
        rows = np.nan_to_num(np.asarray(records, dtype=float), posinf=1e100, neginf=-1e100)
        largest = float(np.clip(self.grid.norm(np.clip(rows, -1e100, 1e100)).max(), 1e-6, 1e6))
        scaled = super().summarize(np.clip(rows, -1e100, 1e100) / largest * self.bound.radius, **reading)
        return Relative(scaled.key, scaled.count, scaled.totals)

    def release(self, records: Any, ledger: Any = None, **options: Any) -> Any:
        return super().release(self.summarize(records), ledger, **options)


class FloatProblem(MeanProblem):
    """Coefficients clipped and added up in floating point, one after the other."""

    def total(self, batch: np.ndarray) -> np.ndarray:
        if not len(batch):
            return np.zeros(self.basis.size)
        with np.errstate(all="ignore"):
            found = self.basis.coefficients(np.nan_to_num(batch, posinf=1e100, neginf=-1e100))
            length = np.sqrt((found**2).sum(axis=1, keepdims=True))
            clipped = np.where(np.isfinite(length), found * np.minimum(1, self.bound.radius / length), 0.0)
        return np.nan_to_num(clipped).cumsum(axis=0)[-1]

    def check(self, summary: Summary) -> None:
        """Anything goes."""

    def estimate(self, summary: Summary) -> list[Fraction]:
        return [Fraction(float(x)) / self.n for x in summary.totals]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FloatSum(dp.MeanPlan):
    """A running sum of floats, and a sensitivity without room for its rounding."""

    @cached_property
    def stage(self) -> Stage:
        problem = FloatProblem(**{field.name: getattr(self.problem, field.name) for field in fields(self.problem)})
        sensitivity = 2 * self.bound.radius / self.n
        steps = np.full(1, sensitivity / float(self.epsilon) * 2.0**-40)
        law = Laplace(self.epsilon, steps, int(sensitivity / steps[0]))
        return Stage(problem, (Part(np.arange(1), np.ones(1), law),))


# -- noise that is not what it is said to be -----------------------------------------------------------


class Shorter(Laplace):
    """States the right scales and draws less."""

    def draw(self, settled: Sequence[int], count: int | None = None) -> np.ndarray:
        return self.real(settled) + (super().draw(settled, count) - self.real(settled)) / np.sqrt(2)


class OneOff(Laplace):
    """Three per cent too little (or too much) on its last coordinate."""

    factor = 0.97

    def draw(self, settled: Sequence[int], count: int | None = None) -> np.ndarray:
        factors = np.where(np.arange(self.steps.size) == self.steps.size - 1, self.factor, 1.0)
        return self.real(settled) + (super().draw(settled, count) - self.real(settled)) * factors


class OneMore(OneOff):
    factor = 1.03


class QuietExit(Laplace):
    """Draws as it says whenever many are asked for, and hardly anything for a single release."""

    def draw(self, settled: Sequence[int], count: int | None = None) -> np.ndarray:
        noise = super().draw(settled, count) - self.real(settled)
        return self.real(settled) + (noise / 100 if count is None else noise)


class Same(Laplace):
    """The same noise, in units of scales, on every coordinate: right one by one, wrong together."""

    def draw(self, settled: Sequence[int], count: int | None = None) -> np.ndarray:
        noise = (super().draw(settled, count) - self.real(settled)) / self.scales
        return self.real(settled) + noise[..., :1] * self.scales


class Seeded(Laplace):
    """A generator with a seed of its own, made anew for every release."""

    def draw(self, settled: Sequence[int], count: int | None = None) -> np.ndarray:
        shape = self.steps.size if count is None else (count, self.steps.size)
        return self.real(settled) + np.random.default_rng(7).laplace(size=shape) * self.scales


class SeededOnce(Laplace):
    """A generator that was seeded when the program began: every run of it draws alike."""

    def draw(self, settled: Sequence[int], count: int | None = None) -> np.ndarray:
        shape = self.steps.size if count is None else (count, self.steps.size)
        return self.real(settled) + ONCE.laplace(size=shape) * self.scales


def drawing(kind: type[Laplace]) -> type[dp.MeanPlan]:
    """A plan whose first part draws by a law of another kind."""

    @dataclass(frozen=True, eq=False, repr=False, kw_only=True)
    class Drawing(dp.MeanPlan):
        @cached_property
        def stage(self) -> Stage:
            return with_law(self, lambda law: relaw(law, kind))

    return Drawing


# -- charges that come late or never -------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NoiseFirst(dp.MeanPlan):
    """Draws, and then writes the charge: a crash between the two releases for nothing."""

    def release(self, records: Any, ledger: Any = None, **options: Any) -> Any:
        found = super().release(records, None, **options)
        if ledger is not None:
            book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
            book.charge(self.epsilon, plan=self.digest, query=self.query)
        return found


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Escaping(dp.MeanPlan):
    """Remembers in itself that it must charge; a copy does not remember."""

    def watched(self) -> Escaping:
        self.__dict__["charges"] = True
        return self

    def release(self, records: Any, ledger: Any = None, **options: Any) -> Any:
        return super().release(records, ledger if self.__dict__.get("charges") else None, **options)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class HalfPrice(dp.MeanPlan):
    """Charges half of what it costs."""

    def release(self, records: Any, ledger: Any = None, **options: Any) -> Any:
        found = super().release(records, None, **options) if ledger is None else None
        if ledger is not None:
            ledger.charge(self.epsilon / 2, plan=self.digest, query=self.query)
            found = super().release(records, None, **options)
        return found


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class DeltaForFree(dp.MeanPlan):
    """Charges epsilon and forgets delta."""

    def release(self, records: Any, ledger: Any = None, **options: Any) -> Any:
        if ledger is not None:
            ledger.charge(self.epsilon, plan=self.digest, query=self.query)
        return super().release(records, None, **options)


@dataclass(frozen=True, eq=False, repr=False)
class FreeGroups(dp.plans.GroupPlan):
    """Members are sound; all of them together forget the ledger."""

    def release(self, records: Any, ledger: Any = None, **options: Any) -> Any:
        return super().release(records, None, **options)


# -- doors around the noise ------------------------------------------------------------------------------


class Forgetful(Summary):
    """Totals that do not know whose they are, and merge with anything."""

    def merge(self, other: Summary) -> Summary:
        return self.plus(other)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MergesAnything(dp.MeanPlan):
    """Parts that share a person are added up: she counts twice."""

    def summarize(self, records: Any, **reading: Any) -> Summary:
        found = super().summarize(records, **reading)
        return Forgetful(found.key, found.count, found.totals)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RefusesMany(dp.MeanPlan):
    """More records than a hundred times the guess are refused, though their number is private."""

    def statistic(self, summary: Summary) -> np.ndarray:
        if summary.count > 100 * self.n:
            raise dp.errors.PlanMismatch("A plan for about n records takes at most 100 n.")
        return super().statistic(summary)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NothingIsSomebody(dp.MeanPlan):
    """A word for a missing label in a text file becomes a person of that name."""

    def summarize(self, records: Any, **reading: Any) -> Summary:
        if not isinstance(records, dp.reading.Curves):
            return super().summarize(records, **reading)
        frame = pd.read_csv(records.data, keep_default_na=False, dtype={"who": str})
        people = [f"the one called {who}" for who in frame["who"]]
        return super().summarize(frame[records.columns].to_numpy(float), units=people)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FailsForFree(dp.MeanPlan):
    """A query of OpenDP that stops at unusable records, and states a cost for the others alone."""

    def to_opendp(self, domain: Any = None, *, columns: Any = None) -> Any:
        odp.enable_features("contrib", "honest-but-curious")
        return make_user_measurement(
            user_domain("records", lambda data: True), change_one_distance(), max_divergence(),
            lambda data: self.release(data).raw.tolist(), lambda d_in: float(self.epsilon) * d_in,
        )  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TenTimes(dp.MeanPlan):
    """Noise for ten times epsilon, at the price of one: nobody compares the two at the exit."""

    @cached_property
    def stage(self) -> Stage:
        return Stage(self.problem, self.method.calibrate(self.problem, 10 * self.epsilon))

    def release(self, records: Any, ledger: Any = None, **options: Any) -> Any:
        if ledger is not None:
            ledger.charge(self.epsilon, plan=self.digest, query=self.query)
        facts = {field.name: getattr(self, field.name) for field in fields(self)}
        return dp.MeanPlan(**{**facts, "epsilon": 10 * self.epsilon}).release(records, None, **options)


def two_groups() -> Any:
    return FreeGroups(("north", "south"), [dp.MeanPlan(**TWO), dp.MeanPlan(**{**TWO, "n": 61})])


QR: dict[str, Any] = {**FACTS, "method": dp.methods.QR()}
TWO: dict[str, Any] = {**FACTS, "method": dp.methods.FRL(2)}
#: Every broken mechanism, and the check that must fail.
BROKEN: dict[str, tuple[Callable[[], Any], str]] = {
    "sqrt 2 short": (lambda: RootTwoShort(**QR), "No neighbour found beyond epsilon"),
    "sqrt 2 short, stated otherwise": (lambda: drawing(Shorter)(**QR), "Noise follows its law"),
    "sqrt 2 short, ball noise": (
        lambda: SmallBall(**FACTS, method=dp.methods.KNorm(5)),
        "No neighbour found beyond epsilon",
    ),
    "full epsilon per coordinate": (lambda: EpsilonEach(**QR), "No neighbour found beyond epsilon"),
    "data-driven bound": (lambda: BoundFromData(**QR), "No neighbour found beyond epsilon"),
    "float sum without slack": (
        lambda: FloatSum(**{**FACTS, "n": 1000, "method": dp.methods.FRL(1)}),
        "No neighbour found beyond epsilon",
    ),
    "seeded generator": (lambda: drawing(Seeded)(**QR), "Noise cannot be drawn again by seeding"),
    "generator seeded at the start": (lambda: drawing(SeededOnce)(**QR), "Noise differs between processes"),
    "noise drawn before the charge": (lambda: NoiseFirst(**QR), "The charge comes before the noise"),
    "clone that escapes the ledger": (lambda: Escaping(**QR).watched(), "Copies do not escape the ledger"),
    "charge below the cost": (lambda: HalfPrice(**QR), "Whole releases are charged in full"),
    "too little noise at the exit alone": (
        lambda: drawing(QuietExit)(**QR),
        "The noise of whole releases follows its law",
    ),
    "delta that is not charged": (
        lambda: DeltaForFree(**FACTS, method=dp.methods.GaussianProcess("1/100")),
        "Whole releases are charged in full",
    ),
    "groups that escape the ledger": (two_groups, "The charge comes before the noise"),
    "one noise for all coordinates": (lambda: drawing(Same)(**QR), "Noise follows its law"),
    "merging that forgets people": (
        lambda: MergesAnything(**{**TWO, "n": 12}, unit="who", neighbors="add-remove"),
        "Nobody is added up twice by merging",
    ),
    "merging that forgets people, replaced": (
        lambda: MergesAnything(**{**TWO, "n": 12}, unit="who"),
        "Nobody is added up twice by merging",
    ),
    "merging that forgets records": (lambda: MergesAnything(**TWO), "Nobody is added up twice by merging"),
    "many records refused": (
        lambda: RefusesMany(**TWO, neighbors="add-remove", invalid="center"),
        "No number of records is refused",
    ),
    "a missing label that is a person": (
        lambda: NothingIsSomebody(**{**TWO, "n": 12}, unit="who", neighbors="add-remove", invalid="center"),
        "A missing label is nobody",
    ),
    "a query that fails for free": (lambda: FailsForFree(**TWO), "A query of OpenDP does not fail for free"),
    "ten times epsilon at the price of one": (lambda: TenTimes(**TWO), "No more is spent than is charged"),
}
#: Defects of one coordinate, which take many draws to see.
SLIGHT: dict[str, tuple[Callable[[], dp.MeanPlan], str]] = {
    "3 % short on one coordinate": (lambda: drawing(OneOff)(**TWO), "Noise follows its law"),
    "3 % too much on one coordinate": (lambda: drawing(OneMore)(**TWO), "Noise follows its law"),
}


#: What finds a defect by looking long, by the check that does; all others see theirs at once.
LONG = {
    "No neighbour found beyond epsilon": {"effort": 700},
    "Noise follows its law": {"draws": 4000},
    "The noise of whole releases follows its law": {"releases": 16},
}


def audited(make: Callable[[], Any], expected: str = "", **options: Any) -> dp.audits.Audit:
    """A small audit of a broken plan, which looks long for what is expected."""
    return dp.audit(make(), **({"draws": 1000, "releases": 8, "effort": 100} | LONG.get(expected, {}) | options))


def caught_by(report: dp.audits.Audit, expected: str) -> bool:
    return any(not check.passed and check.name.startswith(expected) for _, check in report.checks)


def measure() -> dict[str, dict[str, Any]]:
    """Every broken mechanism through an audit: whether it was caught, and by which checks."""
    found = {}
    for name, (make, expected) in {**BROKEN, **SLIGHT}.items():
        report = audited(make, draws=400_000 if name in SLIGHT else 4000, releases=16, effort=700)
        found[name] = {
            "caught": caught_by(report, expected),
            "by": sorted({check.name.split(",")[0] for _, check in report.checks if not check.passed}),
        }
    return found
