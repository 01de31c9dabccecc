"""Plans as sealed text: their digest, and how they are read again, whole or not at all."""

from __future__ import annotations

from functools import cached_property
from typing import Self

from dpfda.core import codec
from dpfda.core.codec import Fact
from dpfda.core.errors import FileError, ParameterError, shown

VERSION = 1


class SealedFact(Fact):
    """A fact with a digest that travels as sealed text."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the plan's public content: what the ledger records."""
        return codec.digest(codec.to_plain(self))

    @classmethod
    def from_json(cls, text: str, name: str = "") -> Self:
        """The plan that :meth:`to_json` wrote; edited or damaged text is refused.

        Parameters
        ----------
        text : str
            What `to_json` gave.
        name : str
            The name of the file it came from, for errors. Default: none.
        """
        if not isinstance(text, str):
            raise ParameterError("a plan is read from text", shown(text), "Pass what to_json() gave.")
        body = codec.unseal(text, "plan", VERSION, name)
        plan = codec.from_plain(body.get("plan"))
        if not isinstance(plan, cls):
            found = type(plan).__name__ if isinstance(plan, SealedFact) else "something else"
            this = repr(name[:60]) if name else "This text"
            raise FileError(f"{this} holds a {found}, and a {cls.__name__} is needed. Check the path.")
        plan.take_choice(body.get("chosen"))
        return plan

    def take_choice(self, saved: codec.Plain) -> None:
        """What an earlier version chose, as a file says it; most plans make their choices anew.

        Parameters
        ----------
        saved : dict
            The choice as the file holds it.
        """
