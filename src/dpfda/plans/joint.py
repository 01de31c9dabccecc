"""Several plans under one charge: what plans of groups and plans of classes share."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, ClassVar, Generic, TypeVar

from dpfda.core import codec, markup
from dpfda.core.checks import check_integer
from dpfda.core.errors import ParameterError, shown
from dpfda.core.origins import Between
from dpfda.engines import Checkpoint, Declared, Summary
from dpfda.plans.base import Plan
from dpfda.plans.bound_fit import Guess
from dpfda.plans.hypothetical import Hypothetical
from dpfda.plans.sealed import VERSION, SealedFact
from dpfda.plans.shares import Share
from dpfda.results.joint import JointRelease
from dpfda.results.verdict import WORDS, Verdict
from dpfda.results.wording import cost

P = TypeVar("P", bound=Plan[Any])


class JointPlan(SealedFact, ABC, Generic[P]):
    """Plans by name, which one charge is for. Subclasses say how their costs come together."""

    #: What one of them is called.
    member_word: ClassVar[str]
    plans: tuple[P, ...]

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the plans."""

    @property
    @abstractmethod
    def release_type(self) -> type[JointRelease[Any]]:
        """What holds the releases of all of them."""

    @abstractmethod
    def total_cost(self, costs: Iterable[Fraction]) -> Fraction:
        """What the costs of all members come to."""

    @property
    @abstractmethod
    def composition(self) -> str:
        """What they cost together, in words."""

    def check_summaries(self, summaries: Mapping[str, Summary]) -> None:
        """Refuse summaries that together would cost more than the plan states.

        Parameters
        ----------
        summaries : mapping of str to Summary
            One summary for each member.
        """

    def _check_members(self) -> None:
        if len(self.plans) != len(self.names) or not all(isinstance(plan, Plan) for plan in self.plans):
            raise ParameterError(
                f"{self._members_word} and plans must come in pairs", f"{len(self.plans)} plans", "Give one each."
            )
        if len({(type(plan), plan.problem.key, plan.neighbors) for plan in self.plans}) > 1:
            raise ParameterError(
                f"{self._members_word} must share what their plans make of a record",
                "different domains, grids, bounds or neighbours",
                "Only n, epsilon and the method may differ.",
            )
        if len({plan.value for plan in self.plans}) > 1:
            raise ParameterError(
                f"{self._members_word} share one axis, and one name for their values",
                "several",
                "Pass the same value='...' to each plan.",
            )
        if len({plan.record for plan in self.plans}) > 1:
            raise ParameterError(
                f"{self._members_word} share one name for a record",
                "several",
                "Pass the same record='...' to each plan.",
            )

    @property
    def _members_word(self) -> str:
        return f"{self.member_word}{'es' if self.member_word.endswith('s') else 's'}"

    @property
    def members(self) -> dict[str, P]:
        """The plans by name."""
        return dict(zip(self.names, self.plans, strict=True))

    def __getitem__(self, name: str) -> P:
        if str(name) not in self.names:
            raise ParameterError(
                f"a {self.member_word} must be one of {', '.join(self.names)}", shown(name), "Check the spelling."
            )
        return self.members[str(name)]

    @property
    def neighbors(self) -> str:
        """What neighbours differ by, in all of them."""
        return str(self.plans[0].neighbors)

    @property
    def epsilon(self) -> Fraction:
        """What all of them together cost."""
        return self.total_cost(plan.epsilon for plan in self.plans)

    @property
    def delta(self) -> Fraction:
        """The probability with which the guarantee may fail, for all of them together; zero for pure privacy."""
        return self.total_cost(plan.delta for plan in self.plans)

    @property
    @abstractmethod
    def shares(self) -> tuple[Share, ...]:
        """What each step costs, and in which reading of the records it is: they add up to epsilon, exactly."""

    @property
    def value(self) -> str | None:
        """What values are, with their unit, in all of them."""
        return self.plans[0].value

    @property
    def record(self) -> str | None:
        """What one record is called in all of them."""
        return self.plans[0].record

    @property
    def query(self) -> str:
        """What a release of all of them is called in ledgers and statements."""
        return self.plans[0].query

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all of them."""
        return max((plan.verdict for plan in self.plans), key=lambda found: (WORDS.index(found.word), found.ratio))

    @property
    def family(self) -> str:
        """Digest of all but the numbers of records: plans that differ in those alone share their summaries."""
        return codec.digest([list(self.names), [plan.family for plan in self.plans]])

    def hypothetical(
        self, guess: Guess | Mapping[str, Guess], size: int = 10, seed: int = 0, *, spread: float | None = None
    ) -> dict[str, Hypothetical]:
        """What releases could look like, by name: simulated over a public guess, as for :meth:`MeanPlan.hypothetical`.

        Parameters
        ----------
        guess : array, float, Range or mapping
            What the plans take as a guess: one for all of them, or one for each name.
        size, seed : int
            How many releases to simulate, and where their noise comes from; each plan has noise of its own.
        spread : float, optional
            How far one record typically lies from a curve that is guessed.

        Returns
        -------
        dict
            One :class:`Hypothetical` for each name.

        Examples
        --------
        >>> import numpy as np, dpfda as dp
        >>> plans = [dp.MeanPlan(n=n, epsilon=1.0, bound=dp.L2Ball(2.0), grid=24) for n in (2000, 4000)]
        >>> plan = dp.plans.GroupPlan(("a", "b"), plans)
        >>> found = plan.hypothetical({"a": np.zeros(24), "b": plan["b"].grid.points}, size=3)
        >>> found["b"].values.shape
        (3, 24)
        """
        guesses = guess if isinstance(guess, Mapping) else dict.fromkeys(self.names, guess)
        if set(guesses) != set(self.names):
            rule = f"guesses by name must be one for each {self.member_word}"
            raise ParameterError(rule, f"{len(guesses)} of them", f"The names are {', '.join(self.names)}.")
        seed = check_integer("seed", seed, 0, "Any whole number will do.")
        first = seed * len(self.names)
        return {
            name: plan.hypothetical(guesses[name], size, first + place, spread=spread)
            for place, (name, plan) in enumerate(self.members.items())
        }

    def _declared(self, between: Between, site: str, checkpoint: str | os.PathLike[str] | None) -> Declared:
        return Declared(between, site, None if checkpoint is None else Checkpoint(checkpoint, self.family))

    def to_json(self) -> str:
        """All plans as text, with a version and a checksum."""
        return codec.seal("plan", VERSION, {"plan": codec.to_plain(self, beside=True)})

    def __repr__(self) -> str:
        rows = [f"  {name}: n {n}, {how}, expected risk {risk}, {word}" for name, n, how, risk, word in self._rows]
        return "\n".join([self._caption, *rows])

    def _repr_html_(self) -> str:
        return markup.columns(self._caption, (self.member_word, "n", "method", "expected risk", "verdict"), self._rows)

    @property
    def _caption(self) -> str:
        together = f"{len(self.names)} {self._members_word}, {cost(self)} together"
        return f"{type(self).__name__} {self.digest[:12]}: {together}"

    @property
    def _rows(self) -> list[tuple[str, str, str, str, str]]:
        """Each plan in a row: name, n, method, expected risk and verdict."""
        return [
            (
                name,
                f"{'about ' if plan.problem.count_is_private else ''}{plan.n:,}",
                plan.wording.method,
                plan.wording.accuracy.brief_risk,
                plan.verdict.word,
            )
            for name, plan in self.members.items()
        ]
