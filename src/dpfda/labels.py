"""Public labels of records: which group a record belongs to, as a small number.

Labels are compared as text. With a list of groups given, a label that is not on it belongs to none
of them; without one, every new label opens a group (which tells everyone that the group exists, so
it is for labels that are public anyway).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from .errors import ParameterError, shown

MOST_GROUPS = 10_000


@dataclass(frozen=True)
class Coder:
    """Numbers for labels, in the order of the groups (or of their first appearance)."""

    groups: tuple[str, ...] | None = None
    codes: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.groups is not None:
            self.codes.update({name: i for i, name in enumerate(self.groups)})

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.codes)

    def code(self, label: object) -> float:
        """The number of a label's group, or nothing (NaN)."""
        name = "" if label is None or label != label else str(label).strip()
        if self.groups is None and name and name not in self.codes:
            if len(self.codes) == MOST_GROUPS:
                raise ParameterError(
                    f"there can be at most {MOST_GROUPS:,} groups", "more", "Check that by= names the right column."
                )
            self.codes[name] = len(self.codes)
        return float(self.codes.get(name, np.nan))

    def column(self, labels: Iterable[object]) -> np.ndarray:
        return np.array([self.code(label) for label in labels], dtype=float)


def as_groups(groups: Sequence[object] | None) -> tuple[str, ...] | None:
    """A public list of group names, all different."""
    if groups is None:
        return None
    if isinstance(groups, str) or not all(isinstance(g, str | int | np.integer) for g in groups):
        raise ParameterError("groups must be a list of names", shown(groups), "Pass groups=['north', 'south'].")
    names = tuple(str(g).strip() for g in groups)
    if not names or len(set(names)) < len(names) or not all(n and n.isprintable() for n in names):
        raise ParameterError("groups must be different names, at least one", shown(names), "Drop repeats.")
    return names
