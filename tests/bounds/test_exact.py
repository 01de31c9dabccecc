"""Integer arithmetic before the noise: the same as fractions and Python integers, at the ends of the range too."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfda.bounds import exact
from dpfda.noise.common import nearest


@given(st.integers(-(2**200), 2**200), st.integers(1, 2**150))
def test_nearest_is_what_round_makes_of_a_fraction(numerator, denominator):
    assert nearest(numerator, denominator) == round(Fraction(numerator, denominator))
    assert nearest(2 * numerator + 1, 2) == round(Fraction(2 * numerator + 1, 2))  # halves, to even


@pytest.mark.parametrize("entry", [2**52, -(2**52), 2**52 - 1])
@pytest.mark.parametrize("total", [2**63 - 1, -(2**63)])
def test_the_largest_products_do_not_overflow(entry, total):
    columns = exact.COLUMNS + 3
    found = exact.product(np.full((2, columns), entry), np.full(columns, total))
    assert found == [columns * entry * total] * 2


def test_products_are_those_of_python_integers():
    rng = np.random.default_rng(0)
    matrix, vector = rng.integers(-(2**52), 2**52, (5, 70)), rng.integers(-(2**63), 2**63 - 1, 70)
    assert exact.product(matrix, vector) == [
        sum(a * b for a, b in zip(row, vector.tolist(), strict=True)) for row in matrix.tolist()
    ]
