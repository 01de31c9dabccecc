"""What most problems do not need, said once: nothing public, no smoothing of their own, noise that stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

import numpy as np

from dpfda.core.errors import PlanMismatch
from dpfda.problems.contracts import Encoder, Prior, Target
from dpfda.problems.stage import Part
from dpfda.problems.summary import Summary
from dpfda.spaces.grid import AnyGrid
from dpfda.spaces.rules import Rules


class HasNeighbors(Protocol):
    """Whoever says which data sets are neighbours."""

    @property
    def neighbors(self) -> str:
        """ "replace" or "add-remove"."""


class Counted(Encoder, Protocol):
    """An encoder that knows how many records there should be."""

    @property
    def n(self) -> int: ...


class DefaultProblem:
    """The plainest answers to the questions that every problem is asked; subclasses know better where they do.

    What is left to say: `key`, `width`, `invalid`, `neighbors` and `total` of the records; `n`, `size`, `check` and
    `estimate` of the statistic; `sensitivity` and `max_abs`; a `basis`, and a `prior_energy` in it.
    """

    kind: ClassVar[type[Summary]] = Summary
    smooths: ClassVar[bool] = False
    eta: float | None = None
    shrinks: bool = False
    decay: float | None = None

    # -- records and their statistic --------------------------------------------------------

    @property
    def record(self) -> str:
        return "record"

    @property
    def record_grid(self) -> AnyGrid | None:
        return None

    @property
    def alignment(self) -> Rules | None:
        return None

    @property
    def count_is_private(self: HasNeighbors) -> bool:
        return self.neighbors == "add-remove"

    @property
    def n_public(self) -> int:
        return 0

    @property
    def needs_count(self) -> bool:
        return False

    # -- public guesses ---------------------------------------------------------------------

    @property
    def prior_energies(self: Prior) -> np.ndarray:
        return self.prior_energy[None]

    @property
    def class_norms(self: Prior) -> np.ndarray:
        return self.prior_energies.sum(axis=1)

    @property
    def irreducible_error(self: Prior) -> np.ndarray:
        return np.zeros(len(self.prior_energies))

    @property
    def sampling(self: Target) -> np.ndarray:
        """How much records vary is not public."""
        return np.zeros(self.basis.size)

    # -- after the noise --------------------------------------------------------------------

    @property
    def grid(self: Target) -> AnyGrid:
        return self.basis.grid

    @property
    def center_coefficients(self: Target) -> np.ndarray:
        return np.zeros(self.basis.size)

    @property
    def offset(self) -> np.ndarray:
        return np.zeros(1)

    def finish(self, noisy: np.ndarray, parts: Sequence[Part]) -> np.ndarray:
        return noisy.copy()

    def finish_variance(self, variance: np.ndarray) -> np.ndarray:
        return variance

    def typical(self: Prior, coefficients: np.ndarray | None = None) -> np.ndarray:
        return np.sqrt(self.prior_energy) if coefficients is None else coefficients


def check_key(problem: Encoder, summary: Summary, what: str) -> None:
    """Refuse a summary that was encoded in another way, or whose count is none."""
    if summary.key != problem.key:
        raise PlanMismatch(
            f"This summary was made with another plan ({what}); summarise the {problem.record}s with this plan."
        )
    if type(summary.count) is not int:
        raise PlanMismatch("This summary does not count its records in whole numbers; it is damaged.")


def check_count(problem: Counted, summary: Summary) -> None:
    """Refuse another number of records than the plan's, where that number is public.

    With ``invalid="center"`` missing records count as the centre, and surplus ones were dropped when they were read;
    where there are more all the same (parts that were put together, engines), nobody can tell which to drop.
    """
    if problem.count_is_private and any(origin.limited for origin in summary.origins):
        raise PlanMismatch(
            f"This summary was made for a public number of {problem.record}s, and no more would have been kept: one "
            "more could have taken another's place. Summarise the data again with this plan, whose number is private."
        )
    kept = next((o.kept for o in summary.origins if o.kept not in (None, problem.n)), None)
    if kept is not None:
        raise PlanMismatch(
            f"This summary kept {kept} of more {problem.record}s, for a plan with n = {kept}. Summarise the data again "
            "with this plan."
        )
    if (
        problem.count_is_private
        or summary.count == problem.n
        or (problem.invalid == "center" and summary.count < problem.n)
    ):
        return
    surplus = " (parts and engines cannot drop a surplus)" if problem.invalid == "center" else ""
    raise PlanMismatch(
        f"The plan is for n = {problem.n} {problem.record}s and the data has {summary.count}. "
        f"Under 'replace' n is public and must match{surplus}: build the plan with n={summary.count}."
    )
