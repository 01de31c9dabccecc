"""Rules that several plans share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ParameterError, shown
from ..grid import check_name
from ..inputs import MOST_INPUTS
from ..methods import Method
from ..protocol import MOST_RECORDS


def whole(name: str, value: Any, least: int, why: str) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}", shown(value), why)
    return int(value)


def number_of_records(n: Any, why: str) -> int:
    """At least two, and few enough for exact totals."""
    n = whole("n", n, 2, why)
    if n > MOST_RECORDS:
        raise ParameterError(f"n must be at most {MOST_RECORDS}", n, "Release several groups instead.")
    return n


def as_box(domain: Any) -> tuple[tuple[float, float], ...]:
    """Public ranges of the inputs, one pair each."""
    cure = "Pass domain=[(0, 1), (-3, 3)], one range per input: it is never read from the data."
    if domain is None:
        raise ParameterError("a model needs a public box for its inputs", "none", cure)
    try:
        box = tuple((float(low), float(high)) for low, high in domain)
    except (TypeError, ValueError):
        raise ParameterError("a domain is one pair of numbers per input", shown(domain), cure) from None
    if not 1 <= len(box) <= MOST_INPUTS:
        raise ParameterError(
            f"a model has 1 to {MOST_INPUTS} inputs", len(box), "Beyond that a kernel says little; choose among them."
        )
    if not all(low < high and np.isfinite([low, high]).all() and 1e-60 < high - low < 1e60 for low, high in box):
        raise ParameterError("a range runs from a number to a larger one", shown(box), cure)
    return box


def as_names(names: Any, count: int) -> tuple[str, ...] | None:
    """Public names of inputs, one each, or none."""
    if names is None:
        return None
    found = () if isinstance(names, str) else tuple(str(name) for name in names)
    if len(found) != count or not all(found):
        raise ParameterError(f"there must be a printable name for each of {count} inputs", shown(names), "Or none.")
    for name in found:
        check_name("names of inputs", name)
    return found


def as_range(bound: Any, name: str = "bound") -> tuple[float, float]:
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


def check_method(method: Any) -> None:
    if method is not None and not isinstance(method, Method):
        raise ParameterError(
            "method must be a dpfda method",
            shown(method),
            "Pass method=dp.Auto(), dp.KNorm(), dp.Minimax(), dp.QR() or dp.FRL(), or None for the default.",
        )
