"""What every plan can do, once it knows its problem and its parts.

A plan is frozen, comparable, hashable and travels as JSON. It knows its filter, its noise, its
expected error and its bands, because none of these depends on the data. The data rooms are
entered only by :meth:`Plan.summarize` and :meth:`Plan.release`.
"""

from __future__ import annotations

import dataclasses
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core import codec
from dpfda.core.origins import Between
from dpfda.engines import Checkpoint, Declared, Summary
from dpfda.engines.task import Labels
from dpfda.methods.base import Method
from dpfda.plans import opendp
from dpfda.plans.accuracy import HasAccuracy
from dpfda.plans.checks import check_reading, refuse_options_of_reading
from dpfda.plans.guesses import Guesses
from dpfda.plans.hypothetical import Imagining
from dpfda.plans.schedule import OneStage, Schedule
from dpfda.plans.sealed import VERSION, SealedFact
from dpfda.plans.shares import Share, shares_of
from dpfda.plans.verdict import OtherFacts
from dpfda.problems.contracts import Problem
from dpfda.problems.count import count_energies, count_part, count_share
from dpfda.problems.stage import Stage
from dpfda.reading.curves import Records, as_curves
from dpfda.reading.roles import Columns
from dpfda.release.door import Receipt
from dpfda.release.passes import FromRecords, FromSummaries, Passes
from dpfda.release.run import LedgerOrPath, check_passes, run
from dpfda.results import statements
from dpfda.results.base import Release
from dpfda.results.statements import Statement
from dpfda.results.wording import Wording, html_table, table
from dpfda.spaces.basis import Eigenbasis

R = TypeVar("R")


class Plan(SealedFact, HasAccuracy, Imagining, ABC, Generic[R]):
    """Public facts, and what follows from them. Subclasses add fields, `problem` and `wording`."""

    #: How it takes a public guess of the records.
    _guesses: ClassVar[Guesses[Any]] = Guesses()
    n: int
    epsilon: Fraction
    neighbors: str
    invalid: str
    #: What values are, with their unit: "glucose (mmol/L)". A word beside the plan, for pictures.
    value: str | None = None
    #: What one record is called: "home", or "person/people". A word beside the plan, for all that is said of it.
    record: str | None = None
    if TYPE_CHECKING:  # some plans have fields of these names

        @property
        def query(self) -> str:
            """What a release of this plan is called in ledgers and statements."""

        @property
        def method(self) -> Method:
            """How noise is added."""

    @property
    @abstractmethod
    def release_type(self) -> Callable[..., R]:
        """The kind of thing that this plan releases."""

    @property
    @abstractmethod
    def wording(self) -> Wording:
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

    @cached_property
    def schedule(self) -> Schedule:
        """What is done, stage by stage."""
        return OneStage(self._calibrated())

    @property
    def stage(self) -> Stage:
        """The first pass over the records: the problem with its filters and noise laws."""
        return self.schedule.first

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
        """What the costs of its stages come to: their sum.

        Parameters
        ----------
        costs : iterable of Fraction
            What each stage costs.
        """
        return sum(costs, Fraction(0))

    def postprocessed(self, release: R) -> R:
        """What is done after the noise by default: post-processing, free of privacy cost.

        Parameters
        ----------
        release : Release
            A release of this plan.
        """
        return release

    @property
    def members(self) -> dict[str, Plan[R]]:
        """The plans that one charge is for, by name: this one."""
        return {"": self}

    def check_summaries(self, summaries: Mapping[str, Summary]) -> None:
        """Nothing to check: one summary costs what the plan states.

        Parameters
        ----------
        summaries : mapping of str to Summary
            One summary for each name.
        """

    def check_current(self) -> None:
        """Refuse to carry out what an earlier version would have done in another way."""

    def check_worth(self) -> None:
        """Refuse, before the charge and by public facts alone, what could say nothing at all."""

    def build_release(self, drawn: Sequence[np.ndarray], receipt: Receipt) -> R:
        """The release that these draws come to, with what is done after the noise by default.

        Parameters
        ----------
        drawn : sequence of array
            What each stage drew.
        receipt : Receipt
            When it was made, under which name, and which charge paid for it.
        """
        return self._release_of(drawn, vars(receipt))

    def _release_of(self, drawn: Sequence[np.ndarray], made: Mapping[str, object]) -> R:
        """The same with what is said of its making."""
        coefficients = codec.frozen_array(self.schedule.combine(drawn))
        facts: dict[str, object] = self.schedule.extra_fields(drawn) | {**made}
        return self.postprocessed(self.release_type(plan=self, coefficients=coefficients, raw=coefficients, **facts))

    def _values_of(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        """The values on the grid of the release that these draws come to, for simulation."""
        return np.asarray(cast(Release, self._release_of(drawn, {})).values)

    @property
    def basis(self) -> Eigenbasis:
        """The orthonormal functions in which the release lives."""
        return self.problem.basis

    @property
    def shares(self) -> tuple[Share, ...]:
        """What each step costs, and in which reading of the records it is: they add up to epsilon, exactly."""
        return shares_of(self.schedule.costs(self.wording.target), self.epsilon)

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
        """Privacy loss for a difference `h` of two statistics: at most epsilon for neighbours.

        Parameters
        ----------
        h : array
            A difference of two statistics, one number for each coordinate.
        """
        return self.stage.loss(np.asarray(h, dtype=float))

    def _varied(self, **facts: Unpack[OtherFacts]) -> Self:
        """This plan with other facts, whatever is chosen chosen anew: what a cure is looked for with."""
        return dataclasses.replace(self, **facts)

    # -- carrying it out ------------------------------------------------------------------

    def summarize(
        self,
        records: Records,
        *,
        units: Labels = None,
        between: Between = None,
        site: str = "",
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Summary:
        """Clip, encode and add up: exact integers, confidential, mergeable.

        Parameters
        ----------
        records : Curves or anything that :func:`dpfda.read` takes
            The records.
        units : sequence, optional
            Whose each record is, where the plan has a unit and no column says it.
        between, site : optional
            What :meth:`Summary.merge` needs where it may not look at labels: the labels that the units of this part of
            the data lie between, or the name of a place whose units are nobody's elsewhere.
        checkpoint : path, optional
            A summary file: every file that is done is saved there, and files that it has already are not read again.

        Returns
        -------
        Summary
            Confidential: treat it as the data itself.
        """
        self.check_current()
        passes = self._passes_over(records, units, self._declared(between, site, checkpoint))
        check_passes(self, "a checkpoint" if checkpoint is not None else "")
        passes.warn_of_owners(self.stage.encoder)
        return passes.read({"": self.stage.encoder}, {} if self.max_records is None else {"": self.max_records})[""]

    def _declared(self, between: Between, site: str, checkpoint: str | os.PathLike[str] | None) -> Declared:
        return Declared(between, site, None if checkpoint is None else Checkpoint(checkpoint, self.family))

    def _passes_over(self, records: Records, units: Labels, declared: Declared) -> Passes:
        """Where the summaries of a release come from."""
        if isinstance(records, Summary):
            refuse_options_of_reading(units, declared)
            return FromSummaries({"": records})
        curves = as_curves(records)
        check_reading(self, curves, units)
        return FromRecords(curves, units, declared)

    def _passes_of_release(self, records: Records, units: Labels, declared: Declared) -> Passes:
        """The same for a release, which may read several times."""
        return self._passes_over(records, units, declared)

    @property
    def max_records(self) -> int | None:
        """How many records are used at most: n where it is public and no record may stop a run."""
        return self.n if self.problem.invalid == "center" and not self.problem.count_is_private else None

    @cached_property
    def family(self) -> str:
        """Digest of all but n: plans that differ in n alone share their summaries."""
        facts = codec.to_plain(self)
        return codec.digest({name: value for name, value in facts.items() if name != "n"})

    def statistic(self, summary: Summary) -> np.ndarray:
        """The numbers right before noise. Confidential: for audits, never for publication.

        Parameters
        ----------
        summary : Summary
            What :meth:`summarize` gave.
        """
        self.stage.check(summary)
        return self.stage.statistic(summary)

    def release(
        self,
        records: Records,
        ledger: LedgerOrPath = None,
        *,
        query: str | None = None,
        units: Labels = None,
        between: Between = None,
        site: str = "",
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> R:
        """Check, charge, draw, seal.

        Parameters
        ----------
        records : Curves, anything that :func:`dpfda.read` takes, or Summary
            The records, or a summary of them.
        ledger : Ledger or path, optional
            What is charged, before noise is drawn.
        query : str, optional
            The name of the release in the ledger and in its statement.
        units, between, site, checkpoint : optional
            As for :meth:`summarize`.

        Returns
        -------
        Release
            Public numbers, sealed with this plan.

        Raises
        ------
        dpfda.errors.DpfdaError
            Where the data, the plan or the ledger is wrong. Nothing is charged then, unless the records change between
            two passes; a note on the error says that a charge stands.
        """
        passes = self._passes_of_release(records, units, self._declared(between, site, checkpoint))
        released: R = run(self, passes, ledger, query)[""]
        return released

    def to_opendp(self, domain: opendp.Domain | None = None, *, columns: Columns = None) -> opendp.Measurement:
        """This plan as an OpenDP measurement, to be composed with other queries (see :mod:`dpfda.plans.opendp`).

        Parameters
        ----------
        domain : opendp.Domain, optional
            What goes into the measurement. Default: what it takes by itself.
        columns : sequence of str, optional
            The columns that hold a record, where the domain is of tables.
        """
        return opendp.measurement(self, domain, columns)

    # -- as text --------------------------------------------------------------------------

    def to_json(self) -> str:
        """The whole plan as text, with a version and a checksum, for review and for :meth:`from_json`."""
        facts = {"plan": codec.to_plain(self, beside=True), "chosen": codec.to_plain(self.chosen)}
        return codec.seal("plan", VERSION, facts)

    def explain(self) -> str:
        """What the plan protects, what it costs in accuracy, and what it does not protect, in plain words."""
        return str(self._explained())

    def _explained(self) -> Statement:
        """The same as data."""
        return statements.explanation(self)

    def __repr__(self) -> str:
        return table(self)

    def _repr_html_(self) -> str:
        return html_table(self)
