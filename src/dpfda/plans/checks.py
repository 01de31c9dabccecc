"""Rules that several plans share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dpfda.core.errors import ParameterError, shown
from dpfda.engines import Declared
from dpfda.engines.summarize import NOTHING
from dpfda.engines.task import Labels
from dpfda.methods import Method
from dpfda.reading.curves import Curves
from dpfda.spaces.inputs import MOST_INPUTS

#: The default of a field that a plan fills in when it is made: None as it comes in, never None afterwards.
CHOSEN: Any = None


def as_box(domain: Iterable[Iterable[float]] | None) -> tuple[tuple[float, float], ...]:
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


def check_method(method: object) -> None:
    if method is not None and not isinstance(method, Method):
        raise ParameterError(
            "method must be a dpfda method",
            shown(method),
            "Pass method=dp.Auto() or one of dp.methods, or leave it out.",
        )


def check_reading(plan: object, curves: Curves, units: Labels) -> None:
    """Refuse what is said about the reading of records where the plan, whose digest covers it, does not say so."""
    if units is not None and getattr(plan, "unit", None) is None:
        raise ParameterError("units say whose records are", "a plan without a unit", "Plan with unit='person', say.")
    align, fill, grid, read = (getattr(plan, name, None) for name in ("align", "fill", "grid", "records_grid"))
    lenient = getattr(plan, "invalid", "raise") == "center"
    curves.check_rules(align, fill, grid if read is None else read, lenient)


def refuse_options_of_reading(units: Labels, declared: Declared) -> None:
    """A summary was made already: how its records were to be read comes too late."""
    if units is not None or declared != NOTHING:
        raise ParameterError(
            "labels, between, site and checkpoint say how records are summarised", "a summary", "Say it to summarize."
        )
