"""A plan as it is said: one list of facts, from which the plan, its Python and its command are made.

So the three cannot differ: what the page plans, what a script plans and what the command plans has one digest.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from dpfda.plans import GroupPlan
from dpfda.plans.base import Plan
from dpfda.plans.classes import ClassPlan
from dpfda.plans.radius import RadiusPlan

IMPORT = ("import dpfda as dp", "")
#: One plan, and one or several under one charge.
OnePlan: TypeAlias = Plan[Any] | RadiusPlan
AnyPlan: TypeAlias = OnePlan | GroupPlan[Any] | ClassPlan


@dataclass(frozen=True)
class Said:
    """One fact of a plan: its name and value in Python, how that is written, and the words of the command."""

    name: str
    value: object
    python: str = ""
    command: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.python or repr(self.value)


@dataclass(frozen=True)
class Recipe:
    """How a plan is made: by which class, from which facts, for one n or one for each group."""

    kind: Callable[..., AnyPlan]
    name: str
    facts: tuple[Said, ...]
    n: int
    groups: Mapping[str, int]
    #: The command that plans it, and what it is told beside the facts.
    verb: tuple[str, ...] = ("plan",)
    #: The public classes that a plan each is made for, where their parts of epsilon add up.
    classes: tuple[str, ...] = ()

    def plan(self) -> AnyPlan:
        """The plan, or one for each group."""
        keywords = {fact.name: fact.value for fact in self.facts}
        if not self.groups:
            made: AnyPlan = self.kind(n=self.n, **keywords)
            return made
        plans = tuple(self.kind(n=n, **keywords) for n in self.groups.values())
        return GroupPlan(tuple(self.groups), plans)

    def python(self) -> list[str]:
        """Lines of Python that make the same plan."""
        words = [f"{fact.name}={fact.text}" for fact in self.facts]
        if self.groups:
            sizes = ", ".join(map(str, self.groups.values()))
            return self._several(["n=n", *words], f"for n in ({sizes})", f"GroupPlan({tuple(self.groups)!r}, plans)")
        if self.classes:
            words = [f"epsilon={str(self._part())!r}" if word.startswith("epsilon=") else word for word in words]
            each = [f"n={self.n}", *words, "positive=i"]
            return self._several(each, f"for i in range({len(self.classes)})", f"ClassPlan({self.classes!r}, plans)")
        return [*IMPORT, f"plan = dp.{self.name}(", *(f"    {word}," for word in (f"n={self.n}", *words)), ")"]

    def _several(self, words: Sequence[str], loop: str, together: str) -> list[str]:
        """The same for several plans under one charge."""
        call = [f"    dp.{self.name}(", *(f"        {word}," for word in words), "    )"]
        return [*IMPORT, "plans = [", *call, f"    {loop}", "]", f"plan = dp.plans.{together}"]

    def _part(self) -> Fraction:
        """What each class has of epsilon."""
        epsilon = next(fact.value for fact in self.facts if fact.name == "epsilon")
        assert isinstance(epsilon, Fraction)
        return epsilon / len(self.classes)

    @property
    def plans_by_command(self) -> bool:
        """Whether a command makes the plan alone: models are planned on the way to their release."""
        return "FILE" not in self.verb or "--dry-run" in self.verb

    def command(self) -> list[str]:
        """Words of the command that makes the same plan, or that releases by it."""
        listed = ",".join(f"{name}={n}" for name, n in self.groups.items())
        count = ["--groups", listed] if self.groups else ["--n", str(self.n)]
        return [*self.verb, *count, *(word for fact in self.facts for word in fact.command)]


def in_shell(words: Sequence[str]) -> str:
    """Words as a shell takes them; a value that looks like an option is joined to its own.

    >>> in_shell(["plan", "--range", "-1:2", "--axis", "hour (h)"])
    "dpfda plan --range=-1:2 --axis 'hour (h)'"
    """
    joined: list[str] = []
    for word in words:
        if word.startswith("-") and joined and joined[-1].startswith("--") and not word.startswith("--"):
            joined[-1] = f"{joined[-1]}={word}"
        else:
            joined.append(word)
    return shlex.join(["dpfda", *joined])
