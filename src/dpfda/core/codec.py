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
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.errors import DpfdaError, FileError

#: Types that files may name, by their names: those of modules that are loaded, and the room that loads all of them.
TYPES: dict[str, type] = {}
ALL_TYPES = "dpfda.plans"


T = TypeVar("T")
#: What JSON spells, or a part of it: texts, numbers, lists and objects, all the way down.
Plain: TypeAlias = Any


class Fact:
    """Mixin for frozen dataclasses (declared with eq=False): equality and hash by content."""

    if TYPE_CHECKING:  # every fact is a dataclass
        __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        known = TYPES.get(cls.__name__)
        if cls.__module__.startswith("dpfda.") or known is None or not known.__module__.startswith("dpfda."):
            TYPES[cls.__name__] = cls  # a user's class never takes the place of ours, only of one that it defines anew

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(_same(a, b) for a, b in zip(_content(self), _content(other), strict=True))

    def __reduce__(self) -> tuple[object, ...]:
        """Copies and pickles carry the facts and are checked again; nothing computed from them travels."""
        facts = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.init}
        return _rebuilt, (type(self), facts)

    def __hash__(self) -> int:
        return hash((type(self).__name__, *(_hashable(v) for v in _content(self))))


def _rebuilt(kind: Callable[..., T], facts: dict[str, object]) -> T:
    return kind(**facts)


def _content(fact: Fact) -> list[object]:
    return [getattr(fact, f.name) for f in dataclasses.fields(fact) if f.compare]


def _same(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(cast(ArrayLike, a), cast(ArrayLike, b))
    return bool(a == b)


def _hashable(value: object) -> object:
    return value.tobytes() if isinstance(value, np.ndarray) else value


def frozen_array(values: ArrayLike, dtype: type = float) -> np.ndarray:
    """A private read-only copy, so that a fact cannot change under its holder."""
    array: np.ndarray = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array


#: A fraction of so many bits is short enough to write out, whatever they are.
SHORT = 160


def exact_fraction(value: object) -> Fraction | None:
    """A number as it is spelt, 0.1 as one tenth; None for what is no number or is absurdly long to write out."""
    if isinstance(value, bool) or value is None:
        return None
    if type(value) is Fraction and value.numerator.bit_length() + value.denominator.bit_length() <= SHORT:
        return value
    text = repr(float(value)) if isinstance(value, float | np.floating) else str(value)
    if len(text) > 60 or re.search(r"[eE][+-]?\d{3}", text):
        return None
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None


def to_plain(value: object, beside: bool = False) -> Plain:
    """A fact (or a part of one) as JSON-able data; files also keep the words `beside` it, which no digest is about."""
    if isinstance(value, Fact):
        fields = [f for f in dataclasses.fields(value) if _is_written(value, f, beside)]
        facts = {_saved_name(f): to_plain(getattr(value, f.name), beside) for f in fields}
        return {"type": type(value).__name__} | facts
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Fraction):
        return {"type": "Fraction", "value": str(value)}
    if isinstance(value, tuple | list):
        return [to_plain(v, beside) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


#: Marks a word beside a fact, with ``compare=False``: files keep it, and digests, equality and hashes leave it out.
BESIDE = {"beside": True}
#: Marks a field that younger versions have: None is not written, so that digests stay, and what a file does not say is
#: None, whatever new facts take by default.
LATER = {"later": True}


def saved_as(name: str) -> dict[str, str]:
    """Marks a field that files know by another name."""
    return {"saved_as": name}


def _saved_name(field: dataclasses.Field[object]) -> str:
    return str(field.metadata.get("saved_as", field.name))


def _is_written(fact: Fact, field: dataclasses.Field[object], beside: bool) -> bool:
    if field.compare:
        return "later" not in field.metadata or getattr(fact, field.name) is not None
    return beside and "beside" in field.metadata and getattr(fact, field.name) is not None


#: How deep facts lie within facts; no plan comes near it.
MOST_DEPTH = 150


def from_plain(data: Plain, depth: int = 0) -> Any:
    """The fact that :func:`to_plain` wrote; unknown types and fields are refused."""
    if depth > MOST_DEPTH:
        raise FileError("The file is nested too deeply to be a plan or a release.")
    if isinstance(data, list):
        return [from_plain(v, depth + 1) for v in data] if any(isinstance(v, list | dict) for v in data) else data
    if not isinstance(data, Mapping):
        return data
    name = data.get("type")
    fields = {k: v for k, v in data.items() if k != "type"}
    if name == "Fraction":
        fraction = exact_fraction(fields.get("value"))
        if fraction is None:
            raise FileError("The file holds a fraction that cannot be read.")
        return fraction
    if isinstance(name, str) and name not in TYPES:
        import_module(ALL_TYPES)
    if not isinstance(name, str) or not dataclasses.is_dataclass(TYPES.get(name)):
        raise FileError(f"The file names an unknown type {str(name)[:40]!r}; it may come from a newer version.")
    known = {_saved_name(f): f.name for f in dataclasses.fields(TYPES[name]) if f.init}
    if unknown := sorted(set(fields) - set(known)):
        raise FileError(f"{name} has no field {unknown[0][:40]!r}; the file may come from a newer version.")
    unsaid = {f.name: None for f in dataclasses.fields(TYPES[name]) if f.init and "later" in f.metadata}
    try:
        return TYPES[name](**(unsaid | {known[k]: from_plain(v, depth + 1) for k, v in fields.items()}))
    except DpfdaError:
        raise
    except (TypeError, AttributeError, ValueError, ArithmeticError, LookupError, MemoryError):
        raise FileError(f"The file does not hold a whole {name}.") from None


def canonical(data: Plain) -> str:
    """One spelling for equal data, so that hashes compare content."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(data: Plain) -> str:
    """SHA-256 of plain data in its canonical spelling."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()


def seal(kind: str, version: int, body: Mapping[str, object]) -> str:
    """JSON text that says what it is, in which format version, with a checksum of its content."""
    return json.dumps({"dpfda": kind, "version": version, **body, "sha256": digest(body)}, indent=1, allow_nan=False)


def unseal(text: str, kind: str, version: int, name: str = "") -> dict[str, Plain]:
    """The body that :func:`seal` wrote; anything else is refused with a reason, by the `name` of its file."""
    this = repr(name[:60]) if name else "This text"
    try:
        body = json.loads(text, parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_once)
    except DpfdaError:
        raise
    except (ValueError, RecursionError):
        raise FileError(f"{this} is not a dpfda {kind}: it is not JSON, or not all of it. Check the path.") from None
    if not isinstance(body, dict) or body.pop("dpfda", None) != kind:
        raise FileError(f"{this} is not a dpfda {kind}: it is {_words_for(kind_of(text))}. Check the path.")
    if (found := body.pop("version", None)) != version:
        raise FileError(
            f"{this} is a {kind} of format version {str(found)[:20]}, and this program reads {version}. "
            "Update dpfda, or write it again."
        )
    checksum = body.pop("sha256", None)
    if not isinstance(checksum, str) or checksum != _digest_or_none(body):
        raise FileError(f"{this} does not match its checksum: it was edited or damaged. Write it again.")
    return body


#: What sealed texts are, in words.
KINDS = {
    "plan": "a plan",
    "release": "a release",
    "releases": "a release of groups or classes",
    "difference": "a difference of two groups",
    "radius": "a released radius",
    "summary": "a summary",
    "audit": "the report of an audit",
}


def _words_for(kind: str) -> str:
    return KINDS.get(kind, "JSON of something else")


def _digest_or_none(body: Plain) -> str | None:
    try:
        return digest(body)
    except (ValueError, RecursionError):  # numbers that JSON cannot spell
        return None


def is_json(text: str) -> bool:
    """Whether a text is JSON, of anything."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def kind_of(text: str) -> str:
    """What a sealed text says it is, or nothing."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return str(body.get("dpfda", "")) if isinstance(body, dict) else ""


def _once(pairs: list[tuple[str, Plain]]) -> dict[str, Plain]:
    """An object in which every name stands once, so that a reviewer and the program read the same."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise FileError("The file says something twice: a name repeats within one object. It was edited or damaged.")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(name)


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(text)
    return number
