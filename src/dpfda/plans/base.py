"""What every plan can do, once it knows its problem and its parts.

A plan is frozen, comparable, hashable and travels as JSON. It knows its filter, its noise, its
expected error and its bands, because none of these depends on the data. The data rooms are
entered only by :meth:`Plan.summarize` and :meth:`Plan.release`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from dpfda import engines, results
from dpfda.core import codec
from dpfda.core.checks import check_choice
from dpfda.core.codec import Fact
from dpfda.core.errors import FileError, ParameterError, shown
from dpfda.engines import task as summaries
from dpfda.methods.base import Method
from dpfda.plans import opendp as interop
from dpfda.problems.base import Problem, Stage, Summary
from dpfda.problems.count import count_energies, count_part, count_share
from dpfda.release import door
from dpfda.results import statements
from dpfda.results.postprocess import Band, band_half_width, pointwise_sd, some_points
from dpfda.spaces.basis import Eigenbasis

if TYPE_CHECKING:
    from dpfda.ledger import Ledger
    from dpfda.results import Release

VERSION = 1


class Sealed(Fact):
    """A fact with a digest that travels as sealed text."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the plan's public content: what the ledger records."""
        return codec.digest(codec.to_plain(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The plan that :meth:`to_json` wrote; edited or damaged text is refused."""
        plan = codec.from_plain(codec.unseal(text, "plan", VERSION).get("plan"))
        if not isinstance(plan, cls):
            raise FileError(f"The file holds no {cls.__name__}.")
        return plan


class Plan(Sealed, ABC):
    """Public facts, and what follows from them. Subclasses add fields, `problem` and `wording`."""

    #: What a release of this plan is called in ledgers and statements.
    query: ClassVar[str]
    #: What the expected risk counts.
    risk_words: ClassVar[str] = "noise plus prior bias"
    n: int
    epsilon: Fraction
    method: Method

    @property
    def release_type(self) -> type[Release]:
        """The kind of thing that this plan releases."""
        return results.Release

    @property
    @abstractmethod
    def wording(self) -> statements.Wording:
        """How this plan is spoken of."""

    @property
    @abstractmethod
    def problem(self) -> Problem:
        """What is estimated, from which records."""

    @cached_property
    def _count_epsilon(self) -> Fraction:
        """What a private count costs: the share that serves the quotient best, nothing if n is public."""
        if not self.problem.needs_count:
            return Fraction(0)
        settled = self.method.resolved(self.problem, self.epsilon)
        if settled.count_share is not None:
            return self.epsilon * settled.count_share
        parts = settled.calibrate(self.problem, self.epsilon)
        return self.epsilon * count_share(self.epsilon, *count_energies(self.problem, parts), self.n)

    @cached_property
    def chosen(self) -> Method:
        """The method with every parameter that was left to selection filled in."""
        return self.method.resolved(self.problem, self.epsilon - self._count_epsilon)

    @property
    def schedule(self) -> Any:
        """What follows the first pass over the records, if anything does: later stages, and what they make of it."""
        return None

    @cached_property
    def stage(self) -> Stage:
        """The first pass over the records: the problem with its filters and noise laws."""
        return self.schedule.first if self.schedule else self._calibrated()

    def _calibrated(self) -> Stage:
        """The problem with the parts of the chosen method."""
        parts = self.chosen.calibrate(self.problem, self.epsilon - self._count_epsilon)
        if self.problem.needs_count:
            parts = (*parts, count_part(self.basis.size, self.n, self._count_epsilon))
        return Stage(self.problem, parts)

    @property
    def delta(self) -> Fraction:
        """Zero for pure differential privacy."""
        return self.stage.delta

    def total_cost(self, costs: Iterable[Fraction]) -> Fraction:
        """What the costs of all parts come to: there is one."""
        return sum(costs, Fraction(0))

    @property
    def uses_kernel(self) -> bool:
        """Whether the kernel matters to the release."""
        return True

    @property
    def kernel_words(self) -> str:
        """The kernel as statements spell it."""
        return repr(self.kernel)  # type: ignore[attr-defined]

    @property
    def method_words(self) -> str:
        """The method as tables spell it."""
        return repr(self.chosen)

    @property
    def numbers_words(self) -> str:
        """How many numbers leave."""
        if self.schedule:
            return self.schedule.numbers_words
        return f"{sum(part.where.size for part in self.stage.parts)} of {self.problem.size}"

    def postprocessed(self, release: Any) -> Any:
        """What is done after the noise by default: post-processing, free of privacy cost."""
        return release

    def next(self, drawn: Sequence[np.ndarray]) -> Stage | None:
        """The stage that follows what was drawn so far, and reads the records again; None if that was all."""
        return self.schedule.next(drawn) if self.schedule else None

    def combine(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """Coefficients from what all stages have drawn: post-processing, public."""
        return self.schedule.combine(drawn) if self.schedule else self.problem.finish(drawn[0], self.stage.parts)

    def extra_fields(self, drawn: Sequence[np.ndarray]) -> dict[str, Any]:
        """What a release keeps of the draws beyond its coefficients."""
        return {"drawn": tuple(drawn)} if self.schedule else {}

    @property
    def passes_needed(self) -> int:
        """How often the records are read."""
        return self.schedule.passes if self.schedule else 1

    def check_passes(self, single_pass_reason: str) -> None:
        """Refuse, before any charge, what can be read only `once` where the plan reads it several times."""
        if single_pass_reason and self.passes_needed > 1:
            raise ParameterError(
                f"this plan reads the records {self.passes_needed} times",
                single_pass_reason,
                f"Pass them whole, or {self.one_pass}.",
            )

    #: How to plan for records that can be read only once.
    one_pass: ClassVar[str] = "plan with passes=1"

    def stages_drawn(self, release: Any) -> Sequence[Stage]:
        """The stages whose draws made a release."""
        return self.schedule.stages(release.drawn) if self.schedule else [self.stage]

    def last_stage(self, drawn: Sequence[np.ndarray]) -> Stage:
        """The stage whose noise the released coefficients carry."""
        return self.schedule.last(drawn) if self.schedule else self.stage

    @property
    def expected_stage(self) -> Stage:
        """The same before data: what noise and bands are expected to be."""
        return self.schedule.expected_stage if self.schedule else self.stage

    @property
    def basis(self) -> Eigenbasis:
        """The orthonormal functions in which the release lives."""
        return self.problem.basis

    # -- what leaves, and through which noise ---------------------------------------------

    @property
    def filter(self) -> np.ndarray:
        """What each coefficient is multiplied by; zero means it stays at the public centre."""
        return self.stage.filter

    @property
    def scales(self) -> np.ndarray:
        """The noise scale of each number that leaves; zero where nothing leaves."""
        return self.stage.scales

    def loss(self, h: ArrayLike) -> float:
        """Privacy loss for a difference `h` of two statistics: at most epsilon for neighbours."""
        return self.stage.loss(np.asarray(h, dtype=float))

    # -- how accurate it will be ----------------------------------------------------------

    @property
    def expected_error(self) -> float:
        """Expected squared L2 error of the noise alone."""
        return self.expected_stage.error

    @cached_property
    def expected_risk(self) -> float:
        """Noise plus the filter's bias under the public guess (and the records' own variability where it is public)."""
        return self.schedule.risk if self.schedule else self.stage.risk

    def pointwise_sd(self, t: ArrayLike | None = None) -> np.ndarray:
        """Standard deviation of the noise at points `t` (default: the grid)."""
        return pointwise_sd(self.expected_stage, self.problem.grid.points if t is None else t)

    @cached_property
    def typical_sd(self) -> float:
        """The noise's standard deviation at a typical point."""
        return float(np.median(self.pointwise_sd(some_points(self.problem.grid.points))))

    @property
    def accuracy_rows(self) -> list[tuple[str, str]]:
        """How accurate the release will be, as rows of a table."""
        return statements.accuracy_rows(self)

    @property
    def accuracy_words(self) -> str:
        """The same in a paragraph."""
        return statements.accuracy(self)

    def band(self, level: float = 0.95) -> Band:
        """Simultaneous noise band about zero, before any data: how wide the released band will be."""
        points = self.problem.grid.points
        width = band_half_width(self.expected_stage, level, points, self.expected_stage.problem.typical())
        return Band(points, -width, width, level)

    def solve(self, target: float, vary: str = "epsilon", measure: str = "risk") -> float | int:
        """The smallest epsilon (or n) from which on the expected `measure` stays at or below `target`.

        `measure` is "risk" (noise plus prior bias) or "error" (noise alone). The method stays;
        its parameters that were left to selection are selected again at every step.
        """
        check_choice("vary", vary, ("epsilon", "n"))
        check_choice("measure", measure, ("risk", "error"))
        if not (isinstance(target, int | float | np.number) and 0 < target < np.inf):
            raise ParameterError("target must be a positive squared error", shown(target), "Pass target=0.01.")
        return _solve(self, float(target), vary, f"expected_{measure}")

    # -- carrying it out ------------------------------------------------------------------

    def summarize(self, records: Any, *, checkpoint: Any = None, **reading: Any) -> Summary:
        """Clip, encode and add up: exact integers, confidential, mergeable.

        `records` is anything that :func:`dpfda.mean` takes; so are the options of reading (`columns`, `header`,
        `layout`, `units`, `engine`, `progress`). Of a part of the data, `between` declares the labels that its units
        lie between, or `site` names a place whose units are nobody's elsewhere: what :meth:`Summary.merge` needs where
        it may not look at the labels. With `checkpoint`, the path of a summary file, every file that is done is saved
        there, and files that it has already are not read again.
        """
        if checkpoint is not None:
            self.check_passes("a checkpoint")
            return engines.summarize(
                self.stage.problem, records, checkpoint=engines.Checkpoint(checkpoint, self.family), **reading
            )
        return self._read(self.stage.problem, records, **reading)

    def _read(self, problem: Problem, records: Any, **reading: Any) -> Summary:
        """All records, through the problem of some stage; where n is public and given, no more than n."""
        return engines.summarize(problem, records, most=self.most, **reading)

    @property
    def most(self) -> int | None:
        """How many records are used at most: n where it is public and no record may stop a run."""
        return self.n if self.problem.invalid == "center" and not self.problem.count_is_private else None

    @cached_property
    def family(self) -> str:
        """Digest of all but n: plans that differ in n alone share their summaries."""
        facts = codec.to_plain(self)
        return codec.digest({name: value for name, value in facts.items() if name != "n"})

    def statistic(self, summary: Summary) -> np.ndarray:
        """The numbers right before noise. Confidential: for audits, never for publication."""
        self.stage.problem.check(summary)
        return self.stage.statistic(summary)

    def release(
        self,
        records: Any,
        ledger: Ledger | str | None = None,
        *,
        query: str | None = None,
        **reading: Any,
    ) -> Release:
        """Check, charge, draw, seal. `records` is data of any kind, read as by :meth:`summarize`, or a summary."""
        summary = records if isinstance(records, Summary) else None
        if hasattr(reading.get("units"), "__next__"):
            reading["units"] = list(reading["units"])  # a later pass reads them again
        self.check_passes(summaries.reads_once(records))
        book = door.open_ledger(ledger)
        door.check_budget(book, self)
        if summary is None:
            summary = self.summarize(records, **reading)
        later = {name: value for name, value in reading.items() if name != "checkpoint"}
        reread = lambda problem: self._read(problem, records, **later)  # noqa: E731
        return door.execute(self, summary, book, query or self.query, reread)

    def to_opendp(self, domain: Any = None, *, columns: Any = None) -> interop.Measurement:
        """This plan as an OpenDP measurement, to be composed with other queries (`dpfda.interop` says how)."""
        return interop.measurement(self, domain, columns)

    # -- as text --------------------------------------------------------------------------

    def to_json(self) -> str:
        """The whole plan as text, with a version and a checksum, for review and for :meth:`from_json`."""
        return codec.seal("plan", VERSION, {"plan": codec.to_plain(self), "chosen": codec.to_plain(self.chosen)})

    def explain(self) -> str:
        """What the plan protects, what it costs in accuracy, and what it does not protect, in plain words."""
        return statements.explain(self)

    def __repr__(self) -> str:
        return statements.table(self)

    def _repr_html_(self) -> str:
        return statements.html_table(self)


def _solve(plan: Plan, target: float, vary: str, measure: str) -> float | int:
    def meets(value: float) -> bool:
        changed: Any = value if vary == "epsilon" else round(value)
        varied = replace(plan, **{vary: changed})  # type: ignore[type-var]
        return getattr(varied, measure) <= target

    ladder = np.geomspace(1e-4, 1e4, 65) if vary == "epsilon" else np.geomspace(2, 1e9, 70)
    rung = len(ladder) - 1
    while rung >= 0 and meets(float(ladder[rung])):
        rung -= 1
    if rung == len(ladder) - 1:
        raise ParameterError(
            f"target must be reachable by some {vary} up to {ladder[-1]:g}",
            target,
            "What noise does not decide (bias, sampling) may exceed it: raise the target, or measure='error'.",
        )
    if rung < 0:
        return float(ladder[0]) if vary == "epsilon" else 2
    low, high = float(ladder[rung]), float(ladder[rung + 1])
    while high / low > 1 + 1e-6 and (vary == "epsilon" or round(high) - round(low) > 1):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high if vary == "epsilon" else round(high)
