"""Docstrings keep to numpydoc: each parameter of each public name has its type and a sentence, in order."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cached_property

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import ERROR_MSGS, Validator, validate

import dpfda as dp

#: Checks of numpydoc that are left out, of which kinds, and why. All others are made.
LEFT_OUT = {
    "ES01": ("all", "A name whose one line says all needs no second paragraph."),
    "SA01": ("all", "Neighbours are linked from the pages of the reference and from the running text."),
    "SS05": ("all", "It takes a plural noun at the start, such as 'Curves', for a verb in the third person."),
    "RT01": ("method", "The one line of a method says what comes back, and its annotation says the type."),
    "EX01": ("module method property signal", "Examples stand at classes and functions; a signal is met, not made."),
}
#: Single names that a check does not hold for, and why. None, and so it should stay.
EXCEPTIONS: dict[tuple[str, str], str] = {}


def members(owner: type) -> Iterator[tuple[str, str, object]]:
    """Methods and properties that a class has from this package: name, kind, and what to look at."""
    for name in sorted({name for base in owner.__mro__ if is_ours(base) for name in vars(base)}):
        home = next(base for base in owner.__mro__ if name in vars(base))
        if name.startswith("_") or not is_ours(home):
            continue
        value = vars(home)[name]
        value = getattr(value, "__func__", value)  # of class methods and static methods
        if inspect.isfunction(value):
            yield f"{home.__module__}.{home.__qualname__}.{name}", "method", inherited(owner, name, value)
        elif isinstance(value, property | cached_property):
            yield f"{home.__module__}.{home.__qualname__}.{name}", "property", inherited(owner, name, value)


def inherited(owner: type, name: str, value: object) -> tuple[object, str]:
    """A member with the docstring that a reader of it sees: its own, or that of the nearest base that has one."""
    texts = (getattr(vars(base)[name], "__doc__", None) for base in owner.__mro__ if name in vars(base))
    return value, next((text for text in texts if text), "")


def is_ours(owner: type) -> bool:
    return owner.__module__.split(".")[0] == "dpfda"


def kind_of(value: object) -> str:
    if inspect.ismodule(value):
        return "module"
    if not inspect.isclass(value):
        return "function"
    return "signal" if issubclass(value, BaseException) else "class"


def public() -> dict[str, tuple[str, object, str]]:
    """Everything public by its name: its kind, itself, its docstring. Names for types have none, and are left."""
    modules = {"dpfda": dp} | {f"dp.{n}": v for n in dp.__all__ if inspect.ismodule(v := getattr(dp, n))}
    names: dict[str, object] = {}
    for home, module in modules.items():
        values = {f"{home.replace('dpfda', 'dp')}.{name}": getattr(module, name) for name in module.__all__}
        names |= {n: v for n, v in values.items() if callable(v) and not any(v is known for known in names.values())}
    found = {name: (kind_of(value), value, value.__doc__ or "") for name, value in (modules | names).items()}
    for owner in filter(inspect.isclass, names.values()):
        found |= {name: (kind, *looked_at) for name, kind, looked_at in members(owner)}
    return found


class Check(Validator):
    """A validator of what `public` gives: parameters that open with an underscore are private."""

    def __init__(self, obj_name: str) -> None:
        _, value, text = PUBLIC[obj_name]
        whole = inspect.isclass(value) or inspect.ismodule(value)
        super().__init__(get_doc_object(value, doc=None if whole else inspect.cleandoc(text)))
        self.raw_doc, self.clean_doc = text, inspect.cleandoc(text)

    @property
    def signature_parameters(self) -> tuple[str, ...]:
        return tuple(name for name in super().signature_parameters if not name.startswith("_"))

    @property
    def source_file_def_line(self) -> None:
        """No line of a source switches checks off."""


PUBLIC = public()


def faults(name: str) -> list[tuple[str, str]]:
    kind = PUBLIC[name][0]
    left = {code for code, (kinds, _) in LEFT_OUT.items() if kinds == "all" or kind in kinds.split()}
    return [(code, text) for code, text in validate(name, Check)["errors"] if code not in left]


def test_there_are_names():
    kinds = [kind for kind, *_ in PUBLIC.values()]
    assert all(kinds.count(kind) >= 10 for kind in ("module", "function", "class", "signal", "method", "property"))
    assert len(PUBLIC) > 500


def test_what_is_left_out_is_a_check():
    assert set(LEFT_OUT) <= set(ERROR_MSGS)


def test_no_exception_is_longer_than_it_must_be():
    needed = {(code, name) for name in PUBLIC for code, _ in faults(name)}
    assert set(EXCEPTIONS) <= needed


def planted(one: int, two: int = 0) -> int:
    """Returns their sum

    Parameters
    ----------
    two
        The second.
    one : integer
        the first
    """
    return one + two


def test_a_bad_docstring_is_noticed(monkeypatch):
    monkeypatch.setitem(PUBLIC, "planted", ("function", planted, planted.__doc__))
    assert {code for code, _ in faults("planted")} == {"SS03", "PR03", "PR04", "PR06", "PR08", "PR09", "RT01", "EX01"}
    monkeypatch.setitem(PUBLIC, "planted", ("method", planted, "Their sum."))
    assert {code for code, _ in faults("planted")} == {"PR01"}
    monkeypatch.setitem(PUBLIC, "planted", ("method", planted, ""))
    assert {code for code, _ in faults("planted")} == {"GL08"}


@pytest.mark.parametrize("name", PUBLIC)
def test_a_docstring_is_whole(name):
    assert [fault for fault in faults(name) if (fault[0], name) not in EXCEPTIONS] == []
