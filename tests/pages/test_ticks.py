"""Numbers along an axis: customary or round, inside it, few, and written alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfda.pages.ticks import axis_ticks, counted, nice_ticks, step, tick_texts


@pytest.mark.parametrize(
    ("unit", "name", "span", "steps"),
    [
        ("h", "time", 24, (6, 6)),
        ("", "hours since midnight", 48, (12, 12)),
        ("min", "t", 60, (15, 10)),
        ("days", "t", 28, (7, 7)),
        ("weeks", "t", 52, (13, 13)),
        ("months", "t", 12, (3, 2)),
        ("years", "age", 110, (50, 20)),
        ("°", "angle", 360, (90, 60)),
        ("°C", "temperature", 30, (None, None)),
        ("", "dose", 24, (None, None)),
        ("h", "time", 1, (None, None)),
        ("", "age (years)", 40, (10, 10)),
    ],
)
def test_steps_are_those_that_people_count_in(unit, name, span, steps):
    kind = counted(name, unit)
    assert tuple(step(kind, span, most) for most in (4, 7)) == steps


@given(st.floats(-1e4, 1e4), st.floats(1e-3, 1e9), st.integers(2, 9))
def test_ticks_are_few_and_inside(low, span, most):
    high = low + span
    found = nice_ticks(low, high, most)
    edge = 1e-6 * span
    assert 1 <= len(found) <= most
    assert all(low - edge <= tick <= high + edge for tick in found)
    assert found == sorted(found)


def test_nothing_between_is_one_tick():
    assert nice_ticks(2.0, 2.0) == [2.0]
    assert nice_ticks(float("nan"), 1.0) == []


def test_an_axis_of_hours_counts_hours_and_another_counts_round_numbers():
    assert axis_ticks(0, 24, "hour (h)") == [0, 6, 12, 18, 24]
    assert axis_ticks(0, 24, "dose", "mg") == [0, 5, 10, 15, 20]


def test_numbers_of_an_axis_have_as_many_decimals():
    assert tick_texts([0.0, 0.25, 0.5]) == ["0.00", "0.25", "0.50"]
    assert tick_texts([-0.0, 1e-7]) == ["0", "1e\u22127"]
