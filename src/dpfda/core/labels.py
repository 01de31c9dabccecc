"""Labels of records: whose a record is, and which group it belongs to.

One rule for all formats. Labels in text files are texts, compared as they are written, without the spaces around them:
``3`` and ``3.0`` are two labels there. Labels of a typed column are compared by their exact value: there 3 and 3.0 are
one. No label decides how another one is read. Words such as ``NA``, ``null`` and ``None`` say that there is no label.

With a list of groups given, a label that is not on it belongs to none of them; without one, every new label opens a
group (which tells everyone that the group exists, so it is for labels that are public anyway).
"""

from __future__ import annotations

import math
import unicodedata
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from dpfda.core.checks import check_name
from dpfda.core.errors import NotPrivateWarning, ParameterError, shown

MOST_GROUPS = 10_000
#: A decimal number of more digits is not spelt out: that could take hours.
MOST_DIGITS = 400
#: Words that say that there is nothing, in any mix of capitals: the same in every column of every format.
MISSING = frozenset(("", "na", "n/a", "#na", "#n/a", "nan", "-nan", "null", "none", "nat", "<na>"))


@dataclass(frozen=True)
class Coder:
    """Numbers for labels, in the order of the groups (or of their first appearance)."""

    groups: tuple[str, ...] | None = None
    codes: dict[str, int] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.groups is not None:
            self.codes.update({label_text(name): i for i, name in enumerate(self.groups)})

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.codes) if self.groups is None else self.groups

    def code(self, label: object) -> float:
        """The number of a label's group, or nothing (NaN). A group on the list may be called None, or NA."""
        name = label_text(label)
        if self.groups is None and name not in self.codes and not is_missing(name):
            if len(self.codes) == MOST_GROUPS:
                raise ParameterError(
                    f"there can be at most {MOST_GROUPS:,} groups", "more", "Check that by= names the right column."
                )
            self.codes[name] = len(self.codes)
        return float(self.codes.get(name, np.nan))

    def column(self, labels: Iterable[object]) -> np.ndarray:
        return np.array([self.code(label) for label in texts(labels)], dtype=float)


#: The byte-order mark that some programs write at the start of a text, and what surrounds words without being seen.
MARK = "\ufeff"
UNSEEN = MARK + "\u200b\u200c\u200d\u2060\x00"


def label_text(label: object) -> str:
    """A label as text, alone and whatever it is: empty where there is none.

    Numbers are spelt by their exact value. Texts stay as they are written, apart from what surrounds them unseen;
    letters with accents have one spelling.

    >>> [label_text(x) for x in (3, 3.0, "3.0", " 3 ", b"3", None, float("nan"))]
    ['3', '3', '3.0', '3', '3', '', '']
    """
    if label is None or type(label).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return ""
    try:
        if isinstance(label, bytes | bytearray):
            label = bytes(label).decode("utf-8", errors="replace")
        if isinstance(label, complex | np.complexfloating) and label.imag == 0:
            label = float(label.real)
        if isinstance(label, float | np.floating):
            return "" if math.isnan(label) else str(int(label)) if label == int(label) else repr(float(label))
        if isinstance(label, Decimal):
            return _decimal(label)
        return unicodedata.normalize("NFC", _bare(str(label)))
    except Exception:  # whatever a label does when it is read, it does alone
        return ""


def _decimal(label: Decimal) -> str:
    """A decimal number by its value: 3.50 is 3.5."""
    if label.is_nan():
        return ""
    if label.is_finite() and abs(label.adjusted()) > MOST_DIGITS:
        return str(label)
    return str(int(label)) if label == int(label) else format(label.normalize(), "f")


def _bare(text: str) -> str:
    """Without what surrounds it: white space of any kind, marks, joiners, quotes."""
    while True:
        shorter = text.strip().strip(UNSEEN)
        if len(shorter) > 1 and shorter[0] == shorter[-1] == '"':
            shorter = shorter[1:-1]
        if shorter == text:
            return text
        text = shorter


def is_missing(text: str) -> bool:
    """Whether a text says that there is nothing.

    >>> [is_missing(text) for text in ("", "NA", "NaN", "None", "Nancy")]
    [True, True, True, True, False]
    """
    return len(text) <= 4 and text.lower() in MISSING


def texts(labels: Iterable[object]) -> np.ndarray:
    """Labels as texts, each alone; equal ones are spelt once.

    >>> texts([1.0, 1, None, " a "]).tolist()
    ['1', '1', '', 'a']
    """
    known: dict[tuple[type, object], str] = {}
    found = []
    for label in labels:
        if type(label) not in (str, int, float, np.str_):  # others may lie about their equality
            found.append(label_text(label))
            continue
        key = (type(label), label)
        if key not in known:
            known[key] = label_text(label)
        found.append(known[key])
    return _column(found)


def owners(labels: np.ndarray) -> np.ndarray:
    """Texts that say whose a record is; empty where they say that nobody is known.

    >>> owners(texts(["ann", "NA", None])).tolist()
    ['ann', '', '']
    """
    missing = {label for label in set(labels.tolist()) if is_missing(label)}
    return _column(["" if label in missing else label for label in labels.tolist()]) if missing - {""} else labels


def _column(found: list[str]) -> np.ndarray:
    column = np.empty(len(found), dtype=object)
    column[:] = found
    return column


def warn_of_reading(what: str) -> None:
    """Say that a list of groups or classes is taken from the data, where it is not private."""
    warnings.warn(
        f"Which {what} there are is read from the data, without privacy: a record with a label of its own would show. "
        f"Pass {what}=[...], the public list.",
        NotPrivateWarning,
        stacklevel=5,
    )


def as_groups(groups: Sequence[object] | None) -> tuple[str, ...] | None:
    """A public list of group names, all different."""
    if groups is None:
        return None
    if isinstance(groups, str) or not all(isinstance(g, str | int | np.integer) for g in groups):
        raise ParameterError("groups must be a list of names", shown(groups), "Pass groups=['north', 'south'].")
    if len(groups) > MOST_GROUPS:
        raise ParameterError(f"there can be at most {MOST_GROUPS:,} groups", f"{len(groups):,}", "List fewer.")
    names = tuple(str(g).strip() for g in groups)
    if not names or len({label_text(name) for name in names}) < len(names) or "" in names:
        raise ParameterError("groups must be different names, at least one", shown(names), "Drop repeats.")
    for name in names:
        check_name("names of groups", name)
    return names
