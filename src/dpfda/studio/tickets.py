"""Release once: a ticket is made with each page that asks for a last word, and leads to one job, however often sent."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

J = TypeVar("J")
O = TypeVar("O")  # noqa: E741
#: Tickets that are kept: one for each page that was shown lately.
KEPT = 500


@dataclass
class Tickets(Generic[O, J]):
    """Orders that were shown and may be given, and the job that each has led to."""

    _orders: OrderedDict[str, O] = field(default_factory=OrderedDict)
    _jobs: dict[str, J] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def make(self, order: O) -> str:
        """A ticket for an order: 128 bits."""
        ticket = secrets.token_hex(16)
        with self._lock:
            self._orders[ticket] = order
            while len(self._orders) > KEPT:
                self._orders.popitem(last=False)
        return ticket

    def order(self, ticket: str) -> O | None:
        """What a ticket was made for; nothing where it is unknown or too old."""
        with self._lock:
            return self._orders.get(ticket)

    def job(self, ticket: str) -> J | None:
        """What a ticket has led to already."""
        with self._lock:
            return self._jobs.get(ticket)

    def use(self, ticket: str, start: Callable[[O], J]) -> J | None:
        """The job of a ticket: started now, or when it was first sent. None where the ticket is unknown."""
        with self._lock:
            if ticket in self._jobs:
                return self._jobs[ticket]
            order = self._orders.get(ticket)
            if order is None:
                return None
            self._jobs[ticket] = start(order)
            return self._jobs[ticket]
