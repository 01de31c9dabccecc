"""Exact integers: the same bits in any order, chunking, layout and loop."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import BOUNDS, GRID, hostile, plan_of
from hypothesis import given, settings
from hypothesis import strategies as st

import dpfda as dp
from dpfda.bounds import exact

OPTIONS = [{}, {"standardize": True}, {"fill": 2}, {"standardize": True, "fill": 2}]
records = st.lists(
    st.lists(st.floats(allow_nan=True, allow_infinity=True, width=64), min_size=GRID.size, max_size=GRID.size),
    min_size=1,
    max_size=6,
)


@settings(max_examples=40)
@given(
    parts=st.tuples(records, records, records), bound=st.sampled_from(list(BOUNDS)), options=st.sampled_from(OPTIONS)
)
def test_merge_is_associative_and_commutative_to_the_bit(parts, bound, options):
    plan = plan_of("QR", bound, invalid="center", **options)
    a, b, c = (plan.summarize(np.array(p)) for p in parts)
    whole = plan.summarize(np.array([*parts[0], *parts[1], *parts[2]]))
    assert a.merge(b).merge(c) == a.merge(b.merge(c)) == c.merge(a).merge(b) == whole


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("bound", BOUNDS)
def test_encoding_depends_on_nothing_but_the_record(bound, options, rng):
    plan = plan_of("QR", bound, invalid="center", **options)
    data = np.vstack([rng.normal(0, 1, (200, GRID.size)), hostile(GRID.size)])
    whole = plan.problem.encode(data)
    one_by_one = np.vstack([plan.problem.encode(row[None]) for row in data])
    assert np.array_equal(whole, one_by_one)
    assert np.array_equal(plan.problem.encode(np.asfortranarray(data)), whole)
    assert np.array_equal(plan.problem.encode(np.repeat(data, 2, axis=1)[:, ::2]), whole)
    assert np.array_equal(plan.problem.total(data), whole.sum(axis=0).astype(np.int64))
    order = rng.permutation(len(data))
    assert plan.summarize(data[order]) == plan.summarize(data)


@given(
    st.lists(st.integers(-(2**52), 2**52), min_size=6, max_size=6),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3),
)
def test_wide_products_are_exact(matrix, vector):
    rows = np.array(matrix).reshape(2, 3)
    expected = [sum(int(a) * b for a, b in zip(row, vector, strict=True)) for row in rows]
    assert exact.product(rows, np.array(vector)) == expected


def test_wide_products_over_many_columns(rng):
    matrix = rng.integers(-(2**52), 2**52, (2, 40_000))
    vector = rng.integers(-(2**62), 2**62, 40_000)
    expected = [sum(int(a) * int(b) for a, b in zip(row, vector, strict=True)) for row in matrix]
    assert exact.product(matrix, vector) == expected


def test_the_statistic_is_the_filtered_mean(rng):
    data = rng.normal(0, 0.1, (40, GRID.size))
    plan = plan_of("QR-fixed", "L2")
    coefficients = plan.basis.coefficients(data.mean(axis=0))
    assert plan.statistic(plan.summarize(data)) == pytest.approx(plan.filter * coefficients, abs=1e-8)
    private = plan_of("QR-fixed", "L2-centred", neighbors="add-remove", n=30)
    statistic = private.statistic(private.summarize(data))
    centred = private.basis.coefficients((data - private.problem.center).sum(axis=0)) / 30
    assert statistic[:-1] == pytest.approx(private.filter[:-1] * centred, abs=1e-8)
    assert statistic[-1] == pytest.approx(40 / 30)


def test_summaries_keep_their_secrets(rng):
    summary = plan_of().summarize(rng.normal(size=(40, GRID.size)))
    assert "40" not in repr(summary).replace(summary.key[:12], "")
    assert "confidential" in repr(summary)
    other = plan_of(bound="L1").summarize(rng.normal(size=(40, GRID.size)))
    with pytest.raises(dp.errors.PlanMismatch, match="different plans"):
        summary.merge(other)


def test_progress_is_reported(rng):
    seen = []
    plan_of().summarize(
        dp.read(rng.normal(size=(40, GRID.size)), progress=lambda done, total: seen.append((done, total)))
    )
    assert seen == [(40, 40)]


def test_progress_keeps_a_private_count(rng):
    seen = []
    plan_of(neighbors="add-remove").summarize(
        dp.read(rng.normal(size=(40, GRID.size)), progress=lambda *count: seen.append(count))
    )
    assert seen == []
