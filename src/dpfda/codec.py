"""Facts as plain data: frozen values that compare, hash, and travel as JSON.

Grids, kernels, bounds, methods and plans are facts. A fact is a frozen dataclass whose
fields are numbers, strings, fractions, arrays or other facts; its JSON names its type and
fields, and reading it back runs the same checks as writing it in Python. Nothing in a file
is ever executed: only registered types are built.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from .errors import FileError


class Fact:
    """Mixin for frozen dataclasses (declared with eq=False): equality and hash by content."""

    types: ClassVar[dict[str, type]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Fact.types[cls.__name__] = cls

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(_same(a, b) for a, b in zip(_content(self), _content(other), strict=True))

    def __hash__(self) -> int:
        return hash((type(self).__name__, *(_hashable(v) for v in _content(self))))


def _content(fact: Fact) -> list[Any]:
    return [getattr(fact, f.name) for f in dataclasses.fields(fact) if f.compare]  # type: ignore[arg-type]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return bool(a == b)


def _hashable(value: Any) -> Any:
    return value.tobytes() if isinstance(value, np.ndarray) else value


def frozen_array(values: Any, dtype: type = float) -> np.ndarray:
    """A private read-only copy, so that a fact cannot change under its holder."""
    array: np.ndarray = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array


def plain(value: Any) -> Any:
    """A fact (or a part of one) as JSON-able data."""
    if isinstance(value, Fact):
        fields = [f for f in dataclasses.fields(value) if f.compare]  # type: ignore[arg-type]
        return {"type": type(value).__name__} | {f.name: plain(getattr(value, f.name)) for f in fields}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Fraction):
        return {"type": "Fraction", "value": str(value)}
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


def revive(data: Any) -> Any:
    """The fact that :func:`plain` wrote; unknown types and fields are refused."""
    if isinstance(data, list):
        return [revive(v) for v in data]
    if not isinstance(data, Mapping):
        return data
    name = data.get("type")
    fields = {k: v for k, v in data.items() if k != "type"}
    if name == "Fraction":
        try:
            return Fraction(fields["value"])
        except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
            raise FileError("The file holds a fraction that cannot be read.") from error
    if not isinstance(name, str) or name not in Fact.types:
        raise FileError(f"The file names an unknown type {str(name)[:40]!r}; it may come from a newer version.")
    known = {f.name for f in dataclasses.fields(Fact.types[name]) if f.init}
    if unknown := sorted(set(fields) - known):
        raise FileError(f"{name} has no field {unknown[0][:40]!r}; the file may come from a newer version.")
    try:
        return Fact.types[name](**{k: revive(v) for k, v in fields.items()})
    except TypeError as error:
        raise FileError(f"The file does not hold a whole {name}.") from error


def canonical(data: Any) -> str:
    """One spelling for equal data, so that hashes compare content."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(data: Any) -> str:
    """SHA-256 of plain data in its canonical spelling."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()
