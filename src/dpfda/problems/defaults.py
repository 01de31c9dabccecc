"""What most problems do not need, said once: nothing public, no smoothing of their own, noise that stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from dpfda.core.errors import PlanMismatch
from dpfda.problems.base import Part, Summary
from dpfda.spaces.grid import Grid, ProductGrid


class DefaultProblem:
    """The plainest answers to the questions that every problem is asked; subclasses know better where they do."""

    n_public: ClassVar[int] = 0
    smooths: ClassVar[bool] = False
    eta: ClassVar[float | None] = None
    record: ClassVar[str] = "record"
    kind: ClassVar[type[Summary]] = Summary
    record_grid: Any = None
    alignment: Any = None
    needs_count: Any = False
    shrinks: Any = False
    decay: Any = None

    basis: Any
    prior_energy: Any
    neighbors: str
    size: Any

    @property
    def grid(self) -> Grid | ProductGrid:
        return self.basis.grid

    @property
    def count_is_private(self) -> bool:
        """Whether neighbours differ by one record more or less, so that the count is private."""
        return self.neighbors == "add-remove"

    @property
    def prior_energies(self) -> np.ndarray:
        return self.prior_energy[None]

    @property
    def class_norms(self) -> np.ndarray:
        return self.prior_energies.sum(axis=1)

    @property
    def floor(self) -> np.ndarray:
        return np.zeros(len(self.prior_energies))

    @property
    def sampling(self) -> np.ndarray:
        """How much records vary is not public."""
        return np.zeros(self.basis.size)

    @property
    def center_coefficients(self) -> np.ndarray:
        return np.zeros(self.basis.size)

    @property
    def offset(self) -> np.ndarray:
        return np.zeros(1)

    def finish(self, noisy: np.ndarray, parts: Sequence[Part]) -> np.ndarray:
        return noisy.copy()

    def finish_variance(self, variance: np.ndarray) -> np.ndarray:
        return variance

    def typical(self, coefficients: np.ndarray | None = None) -> np.ndarray:
        return np.sqrt(self.prior_energy) if coefficients is None else coefficients


def check_key(problem: Any, summary: Summary, what: str) -> None:
    """Refuse a summary that was encoded in another way."""
    if summary.key != problem.key:
        raise PlanMismatch(
            f"This summary was made with another plan ({what}); summarise the {problem.record}s with this plan."
        )


def check_count(problem: Any, summary: Summary) -> None:
    """Refuse another number of records than the plan's, where that number is public.

    With ``invalid="center"`` missing records count as the centre, and surplus ones were dropped when they were read;
    where there are more all the same (parts that were put together, engines), nobody can tell which to drop.
    """
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
