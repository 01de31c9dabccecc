"""What methods of one round share that can be asked to check what they leave out of a mean."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Self

from dpfda.core.checks import check_choice
from dpfda.core.codec import LATER
from dpfda.core.errors import ParameterError
from dpfda.methods.base import Method, P
from dpfda.problems.mean import MeanProblem


@dataclass(frozen=True, eq=False, repr=False)
class Checked(Method):
    """A method of one round whose filters can be undone: with `check` a few per cent of epsilon say what it leaves out.

    The bands of a mean cover that then; without it they take the public bound for it.
    """

    check: bool | None = field(default=None, metadata=LATER, kw_only=True)

    def frame(self, problem: P) -> P:
        check_choice("check", self.check, (True, False, None))
        if self.check and not isinstance(problem, MeanProblem):
            raise ParameterError("what is left out is checked for means", repr(self), "Leave check out here.")
        return super().frame(problem)

    def without_check(self) -> Self:
        """The same, for a stage of its own."""
        return replace(self, check=None)

    def __repr__(self) -> str:
        said = [(f.name, getattr(self, f.name)) for f in fields(self) if f.name != "check" or self.check]
        said.sort(key=lambda pair: pair[0] == "check")
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in said)})"
