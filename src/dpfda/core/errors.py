"""Every exception of the package, each saying the rule, what was given, and the cure.

Errors about records are for the data holder: they name rows and columns, never contents,
so that a log file or a support ticket carries no private value.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from types import FrameType
from typing import Any


def shown(value: object) -> str:
    """A public argument for a message: short, and only the type of anything that could hold data.

    Numbers of numpy are mostly computed from data, so they are not shown either.

    >>> shown(0.5), shown((0, [1, 2], "a")), shown([1, 2])
    ('0.5', "(0, list, 'a')", 'list')
    """
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value[:9]))}{',' if len(value) == 1 else ''})"[:60]
    if isinstance(value, Fraction):
        return str(value)[:60]
    harmless = value is None or isinstance(value, bool | int | float | str)
    return repr(value)[:60] if harmless and type(value).__module__ != "numpy" else type(value).__name__


def printable(text: str) -> str:
    """A text that a terminal only shows: what would steer it (escapes, new lines, marks of direction) is spelt out.

    >>> print(printable("mean" + chr(27) + "[2J"))
    mean\\x1b[2J
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shortened(text: str, most: int = 200) -> str:
    """A text of a message, without what would drown it."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


class DpfdaError(Exception):
    """Base class: catch this to catch everything the package raises on purpose.

    Messages are one paragraph of printable text, whatever a file or an argument brought into them.

    Parameters
    ----------
    *words : str
        The message. Control characters in it are escaped.
    """

    def __init__(self, *words: Any):
        super().__init__(*(printable(word) if isinstance(word, str) else word for word in words))


class ParameterError(DpfdaError, ValueError):
    """A public argument breaks a rule. Nothing was read, charged or written.

    Parameters
    ----------
    rule : str
        What holds of the argument, such as "epsilon must be positive and finite".
    given : object
        What was passed instead; the message shows a short form of it.
    cure : str
        What to pass, as a sentence.

    Examples
    --------
    >>> raise ParameterError("epsilon must be positive and finite", 0, "Pass epsilon=1.0.")
    Traceback (most recent call last):
    dpfda.errors.ParameterError: epsilon must be positive and finite, got 0. Pass epsilon=1.0.
    """

    def __init__(self, rule: str, given: object, cure: str):
        text = shortened(given) if isinstance(given, str) else shown(given)
        super().__init__(f"{rule}, got {text}. {cure}")
        # What was given may be data: an error does not hold on to it.
        self.rule, self.given, self.cure = rule, text, cure

    def __reduce__(self) -> tuple[object, ...]:
        """Errors travel between processes whole."""
        return type(self), (self.rule, self.given, self.cure)


class RecordError(DpfdaError, ValueError):
    """Some records cannot be used. Carries the numbers of rows, never contents.

    Messages count rows and columns from 1, as people do (rows of the data: names above them do not count); `rows` are
    counted from 0, as Python does.

    Parameters
    ----------
    problem : str
        What is wrong, without the contents of a record.
    rows : sequence of int, optional
        The rows it is about, counted from 0. Default: none are named.
    cure : str, optional
        What to do, as a sentence.
    column : str, optional
        The column it is about, by its name, or by its number from 1.

    Examples
    --------
    >>> raise RecordError("A cell does not hold a number", [4], "Repair it.", column="3")
    Traceback (most recent call last):
    dpfda.errors.RecordError: A cell does not hold a number in row 5, column 3 of the data (counted from 1). Repair it.
    """

    SHOWN = 5

    def __init__(self, problem: str, rows: Sequence[int] = (), cure: str = "", column: str = ""):
        self.problem, self.rows, self.cure, self.column = problem, tuple(rows), cure, column
        super().__init__(f"{problem}{self._where()}. {cure}".strip())

    def _where(self) -> str:
        """The rows, and the column: by its number, or by a name in quotes."""
        found = []
        if self.rows:
            listed = ", ".join(str(row + 1) for row in self.rows[: self.SHOWN])
            more = ", ..." if len(self.rows) > self.SHOWN else ""
            found.append(f"row{'s' if len(self.rows) > 1 else ''} {listed}{more}")
        numbered = self.column.isdigit()
        if self.column:
            found.append(f"column {self.column if numbered else repr(self.column)}")
        counted = " of the data (counted from 1)" if self.rows or numbered else ""
        return f" in {', '.join(found)}{counted}" if found else ""

    def __reduce__(self) -> tuple[object, ...]:
        """Errors travel between processes whole."""
        return type(self), (self.problem, self.rows, self.cure, self.column)

    def within(self, file: str) -> RecordError:
        """The same error with the name of the file that it is about.

        Parameters
        ----------
        file : str
            The name of the file.
        """
        if repr(file) in self.problem:
            return self
        return RecordError(f"{self.problem} in {file!r}", self.rows, self.cure, self.column)

    def shifted(self, first: int) -> RecordError:
        """The same error with rows counted from the start of the source, not of a batch.

        Parameters
        ----------
        first : int
            The number of the batch's first row in the source, counted from 0.
        """
        return RecordError(self.problem, [r + first for r in self.rows], self.cure, self.column)


def outside() -> int:
    """How far up the first caller outside this package is, as warnings count it from who asks."""
    frame: FrameType | None = sys._getframe(1)
    level, package = 1, __name__.partition(".")[0]
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    return level


class UnitWarning(UserWarning):
    """Somebody may have several records and the guarantee is about one: says what is not protected.

    It is decided by the names of columns, never by what is in them.
    """


class NotPrivateWarning(UserWarning):
    """A step looks at the data without spending budget: for studies, or for facts that are public anyway."""


class LeftOutWarning(UserWarning):
    """A release says of itself that it leaves much out, or that its bound is too small: by its own noisy numbers."""


class NoiseWarning(UserWarning):
    """What is about to be released will be mostly noise, by public facts alone; says what would make it better."""


class LedgerWarning(UserWarning):
    """Several private fits are made and no ledger adds up what they spend."""


class PlanMismatch(DpfdaError, ValueError):
    """A summary, a count or a file does not belong to the plan it is used with.

    Parameters
    ----------
    *words : str
        The message. Control characters in it are escaped.
    """


class LedgerError(DpfdaError):
    """The ledger cannot be used: missing, foreign, corrupt or locked.

    Parameters
    ----------
    *words : str
        The message. Control characters in it are escaped.
    """


class BudgetExceeded(LedgerError):
    """The charge would exceed the budget; nothing was charged, nothing was drawn.

    Parameters
    ----------
    *words : str
        The message. Control characters in it are escaped.
    """


class AlreadyCharged(LedgerError):
    """This run of a job was charged before; nothing was charged now.

    Parameters
    ----------
    *words : str
        The message. Control characters in it are escaped.
    """


class FileError(DpfdaError, OSError):
    """A file cannot be read or written; checked before any charge.

    Parameters
    ----------
    *words : str
        The message. Control characters in it are escaped.
    """


class ClusterError(DpfdaError, RuntimeError):
    """A cluster could not finish its work: a worker died too often, or the connection was lost.

    Parameters
    ----------
    *words : str
        The message. Control characters in it are escaped.
    """
