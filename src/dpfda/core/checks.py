"""Rules for arguments that several rooms share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from dpfda.core.codec import exact_fraction
from dpfda.core.errors import ParameterError, shown


def check_guess(n: object, neighbors: str) -> None:
    """Where n is private, a plan needs a public guess of it."""
    check_choice("neighbors", neighbors, NEIGHBORS)
    if n is None and neighbors == "add-remove":
        raise ParameterError(
            "add-remove keeps n private, so the plan needs a public guess of it",
            "none",
            "Pass n=<a round number you would publish>.",
        )


#: Characters of a name or a unit.
LONGEST_NAME = 200


def check_name(what: str, text: object, longest: int = LONGEST_NAME) -> None:
    """Texts that go into tables, pictures and terminals are short and can be printed."""
    if not isinstance(text, str) or len(text) > longest or not text.isprintable():
        cure = "Shorten it." if isinstance(text, str) else "Pass a text, in quotes."
        raise ParameterError(f"{what} are printable texts of up to {longest} characters", shown(text), cure)


#: Characters of the name of values.
LONGEST_VALUE = 100


def check_value(value: object) -> None:
    """What values are, with their unit in brackets: a short text, or nothing."""
    if value is None:
        return
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_VALUE or not value.isprintable():
        raise ParameterError(
            f"value names what is measured, in a printable text of up to {LONGEST_VALUE} characters",
            shown(value),
            "Pass value='glucose (mmol/L)', say, or leave it out.",
        )


def check_choice(name: str, value: object, allowed: Sequence[object]) -> None:
    if not any(value is a or (isinstance(value, str) and value == a) for a in allowed):
        raise ParameterError(
            f"{name} must be one of {', '.join(map(str, allowed))}", shown(value), f"Pass {name}={allowed[0]!r}."
        )


#: Powers of eigenvalues, and any other parameter: beyond these nothing is left of a curve, or nothing smoothed.
MOST_POWER, MOST_NUMBER = 1000.0, 1e100


def check_positive(name: str, value: float | None, above: float = 0.0) -> None:
    if value is None:
        return
    most = MOST_POWER if name in ("eta", "power") else MOST_NUMBER
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not above < value <= most:
        raise ParameterError(
            f"{name} must be a finite number above {above:g} (and at most {most:g})",
            shown(value),
            f"Leave {name} out to choose it from public things.",
        )


def check_integer(name: str, value: object, least: int, why: str) -> int:
    """A whole number of at least `least`; one that is spelt in another way is shown as it should be."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        meant = _whole(value)
        cure = why if meant is None else f"Pass {name}={meant}, without quotes and without a decimal point."
        raise ParameterError(f"{name} must be a whole number of at least {least}", shown(value), cure)
    if value < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}", shown(value), why)
    return int(value)


def _whole(value: object) -> int | None:
    """The whole number that a text, or a number with a decimal point, stands for."""
    if isinstance(value, bool) or not isinstance(value, str | float) or type(value).__module__ == "numpy":
        return None
    number = exact_fraction(value)
    return int(number) if number is not None and number.denominator == 1 else None


def number_of_records(n: object, why: str) -> int:
    """At least two, and few enough for exact totals."""
    count = check_integer("n", n, 2, why)
    if count > MOST_RECORDS:
        raise ParameterError(f"n must be at most {MOST_RECORDS}", count, "Release several groups instead.")
    return count


def _listed(names: object) -> bool:
    """Whether this is several things, and not one text."""
    return isinstance(names, Iterable) and not isinstance(names, str | bytes)


def as_names(names: Iterable[object] | None, count: int) -> tuple[str, ...] | None:
    """Public names of inputs, one each, or none."""
    if names is None:
        return None
    found = tuple(str(name) for name in names) if _listed(names) else ()
    if len(found) != count or not all(found):
        raise ParameterError(
            f"there must be a printable name for each of {count} inputs", shown(names), "Pass names=['age', ...]."
        )
    for name in found:
        check_name("names of inputs", name)
    return found


def as_range(bound: float | Iterable[float] | None, name: str = "bound") -> tuple[float, float]:
    """A public range: a pair, or (for responses) a number for minus to plus."""
    cure = "Pass bound=(low, high), or a number B for (-B, B): it is never read from the data."
    if name != "bound":
        cure = f"Pass {name}=[(low, high), ...]: it is never read from the data."
        if isinstance(bound, int | float | np.number):
            raise ParameterError("a range is a pair of numbers", shown(bound), cure)
    if bound is None:
        raise ParameterError("a regression needs a public range of responses", "none", cure)
    pair = (-bound, bound) if isinstance(bound, int | float | np.number) else bound
    try:
        low, high = (float(x) for x in pair)
    except (TypeError, ValueError):
        raise ParameterError("a range is a pair of numbers", shown(bound), cure) from None
    if not (low < high and np.isfinite([low, high]).all() and 1e-60 < high - low < 1e60 and abs(low + high) < 1e60):
        raise ParameterError("a range runs from a number to a larger one (1e-60 to 1e60)", shown(bound), cure)
    return low, high


#: A budget: 0.1 means one tenth, as "1/10" does.
Epsilon: TypeAlias = float | str | Fraction
Neighbors: TypeAlias = Literal["replace", "add-remove"]
Invalid: TypeAlias = Literal["raise", "center"]
NEIGHBORS = ("replace", "add-remove")


INVALID = ("raise", "center")


#: The largest number of records that a plan may be for. (Data may hold any number of them, where that is private.)
MOST_RECORDS = 2**37 - 1


def as_epsilon(value: object, name: str = "epsilon") -> Fraction:
    """A budget as an exact fraction: 0.1 means one tenth, not the nearest binary number. `name` is what it is called.

    >>> 10 * as_epsilon(0.1) == 1
    True
    """
    why = ": there is no default, it is a decision" if name == "epsilon" else ""
    cure = f"Pass {name}=0.5, or {name}='1/4'{why}."
    if value is None:
        raise ParameterError(f"{name} must be given", "none", cure)
    epsilon = exact_fraction(value)
    if epsilon is None:
        if isinstance(value, str) and (point := value.replace(",", ".", 1)) != value and exact_fraction(point):
            cure = f"Write the decimals with a point: {name}={point.strip()}."
        raise ParameterError(f"{name} must be a positive number, such as 0.5 or '1/4'", shown(value), cure)
    if not Fraction(1, 10**9) <= epsilon <= 10**4:
        raise ParameterError(f"{name} must be a number between 1e-9 and 10,000", shown(value), cure)
    return epsilon
