"""Every public name says what it takes, what it returns, and shows itself at work."""

from __future__ import annotations

import inspect

import pytest

import dpfda as dp


def public() -> dict[str, object]:
    """What can be called, at the top and in every public submodule; errors and warnings aside."""
    found: dict[str, object] = {}
    for name in dp.__all__:
        value = getattr(dp, name)
        if not inspect.ismodule(value):
            found[f"dp.{name}"] = value
            continue
        for member in value.__all__:
            found[f"dp.{name}.{member}"] = getattr(value, member)
    return {name: value for name, value in found.items() if callable(value) and not is_signal(value)}


def is_signal(value: object) -> bool:
    return inspect.isclass(value) and issubclass(value, BaseException)


def has(value: object, section: str) -> bool:
    return f"{section}\n---" in (inspect.getdoc(value) or "")


def is_contract(value: object) -> bool:
    """A protocol is not made, only answered to."""
    return bool(getattr(value, "_is_protocol", False))


PUBLIC = public()


def test_there_are_names():
    assert len(PUBLIC) > 50


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_opens_with_one_line(name):
    first, *rest = (inspect.getdoc(PUBLIC[name]) or "").split("\n")
    assert first.strip()
    assert not rest or not rest[0]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_says_what_it_takes_and_returns(name):
    value = PUBLIC[name]
    if not is_contract(value) and inspect.signature(value).parameters:
        assert has(value, "Parameters")
    if inspect.isfunction(value):
        assert has(value, "Returns") or has(value, "Yields")


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_shows_itself_at_work(name):
    value = PUBLIC[name]
    if not (inspect.isabstract(value) or is_contract(value)):
        assert has(value, "Examples")
