"""Tables of numbers and classes, read whole: what models are fitted on."""

from __future__ import annotations

import numpy as np

from dpfda.core.errors import ParameterError, RecordError
from dpfda.reading.source import Source


def column_names(source: Source) -> list[str]:
    """Names of all columns of a file, or of a query."""
    names = source.first().names()
    if names is None:
        raise ParameterError("columns can be named where a file has a header line", "none", "Add one to the file.")
    return names


def read_numbers(source: Source, neighbors: str = "replace") -> np.ndarray:
    """All rows of a file in memory; none at all is an error only where their number is public."""
    batches = list(source.batches())
    _check_some(len(batches), neighbors)
    width = len(source.columns or ())
    return np.concatenate([np.empty((0, width)), *batches] if width else batches)


def read_labelled(source: Source, neighbors: str) -> tuple[np.ndarray, np.ndarray]:
    """Inputs, and the class of each record (empty where it has none)."""
    batches = list(source.labelled())
    _check_some(len(batches), neighbors)
    assert source.coder is not None
    inputs = np.concatenate([np.empty((0, len(source.columns or ()))), *(batch for batch, _ in batches)])
    codes = np.concatenate([np.empty(0), *(codes for _, codes in batches)])
    known = np.array([*source.coder.names, ""])
    return inputs, known[np.where(np.isnan(codes), len(known) - 1, codes).astype(int)]


def check_numbers(inputs: np.ndarray, invalid: str) -> None:
    """Refuse missing and infinite numbers by their rows, unless they are to count as they can."""
    if invalid == "raise" and (bad := np.flatnonzero(~np.isfinite(inputs).all(axis=1))).size:
        raise RecordError(
            "A record has a missing or infinite number",
            bad.tolist(),
            "Repair or drop it, or pass invalid='center' to let it count without a say.",
        )


def _check_some(batches: int, neighbors: str) -> None:
    if not batches and neighbors == "replace":
        raise RecordError("The data holds no records", cure="Check the path and the columns.")
