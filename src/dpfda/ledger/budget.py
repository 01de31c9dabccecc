"""What a ledger says of its budget: what there was, what is spent, and what is left."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

from dpfda.ledger import entries
from dpfda.ledger.entries import Balance


class Budget(ABC):
    """The budget of a study, read from its ledger whenever it is asked for."""

    @abstractmethod
    def _read(self) -> Balance:
        """What the file says."""

    def _now(self) -> Balance:
        """The same in the period that a charge would belong to now."""
        return self._read().at(entries.now())

    @property
    def name(self) -> str:
        """The study this ledger belongs to."""
        return self._read().study

    @property
    def budget(self) -> Fraction:
        """The budget: of one period, where it renews."""
        return self._read().epsilon

    @property
    def spent(self) -> Fraction:
        """All that was ever charged, over all periods."""
        return self._read().last.spent

    @property
    def remaining(self) -> Fraction:
        """What is left now: of this period, where the budget renews."""
        return self._now().left

    @property
    def delta_budget(self) -> Fraction:
        """The budget for delta; zero where only pure releases are allowed."""
        return self._read().delta

    @property
    def delta_spent(self) -> Fraction:
        """All the delta that was ever charged, over all periods."""
        return self._read().last.spent_delta

    @property
    def period(self) -> str:
        """How often the budget renews ("year"); empty where it never does."""
        return self._read().period

    @property
    def current_period(self) -> str:
        """The period that a charge would belong to now ("2026"); empty where a budget does not renew."""
        return self._now().last.period

    @property
    def period_spent(self) -> Fraction:
        """What this period has cost so far; all that was ever spent where there are no periods."""
        return self._now().last.period_spent
