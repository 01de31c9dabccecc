"""What releases that one charge paid for have in common: any of them tells when they were made, and which charge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpfda.core.renewal import Renewal

if TYPE_CHECKING:
    from dpfda.results.base import Release


class UnderOneCharge:
    """Several releases under one charge, or what was made of some of them."""

    if TYPE_CHECKING:

        @property
        def _any(self) -> Release:
            """One of them."""

    @property
    def query(self) -> str:
        """What was released of each of them."""
        return self._any.query

    @property
    def created(self) -> str:
        """When all of them were released."""
        return self._any.created

    @property
    def study(self) -> str | None:
        """The study whose ledger was charged, once for all of them."""
        return self._any.study

    @property
    def entry(self) -> int | None:
        """The number of that charge."""
        return self._any.entry

    @property
    def seal(self) -> str | None:
        """The seal of that charge."""
        return self._any.seal

    @property
    def renewal(self) -> Renewal | None:
        """Of a budget that renews: the period that was charged, and what all periods add up to."""
        return self._any.renewal
