"""Rows of the table against the field: privacy in other words, tuned settings, marks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from measured.peers import beside


@pytest.fixture(scope="module")
def rows():
    return beside("field_rows")


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0, 30.0])
def test_rho_and_epsilon_are_inverse(rows, epsilon):
    assert rows.epsilon_of(rows.rho_of(epsilon)) == pytest.approx(epsilon, rel=1e-9)
    assert rows.rho_of(rows.epsilon_of(epsilon, 1e-9), 1e-9) == pytest.approx(epsilon, rel=1e-9)


def test_what_rho_promises_at_delta_holds_for_gaussian_noise(rows):
    """Noise of a scale s has rho = 1/(2 s^2) for a sensitivity of one, and its exact delta at an epsilon is known."""
    for rho in (0.01, 0.5, 8.0):
        epsilon, s = rows.epsilon_of(rho), 1 / np.sqrt(2 * rho)
        log_second = epsilon + stats.norm.logcdf(-0.5 / s - epsilon * s)
        assert stats.norm.cdf(0.5 / s - epsilon * s) - np.exp(log_second) <= rows.DELTA


def test_tuned_takes_the_smallest_and_runs_it_afresh(rows):
    calls = {"low": 0, "high": 0}

    def way(name, error):
        calls[name] += 1
        return error + calls[name]

    ways = {"high": lambda: way("high", 100.0), "low": lambda: way("low", 10.0)}
    name, errors, best = rows.tuned(ways, trials=3, runs=4)
    assert name == "low"
    assert errors == [14.0, 15.0, 16.0, 17.0], "runs that chose are not among those shown"
    assert calls == {"low": 7, "high": 3}
    assert best() == 18.0


def test_best_of_takes_the_smallest_mean(rows):
    assert rows.best_of({"a": ([1.0, 9.0], 0.1), "b": ([4.0, 4.0], 0.2)}) == ("b", [4.0, 4.0], 0.2)


def test_turns_go_through_all_sets(rows):
    turns = rows.Turns(["a", "b", "c"])
    assert [turns.next() for _ in range(5)] == ["b", "c", "a", "b", "c"]
    assert rows.repeated(["a", "b"], 3) == ["a", "b", "a"]


def test_marks_of_best_pure_and_tied(rows):
    cell, other = rows.Cell("t", "d", 9, 1.0, "m"), rows.Cell("t", "d", 9, 2.0, "m")

    def row(cell, method, privacy, middle, half):
        return cell.row(method, privacy, [middle - half, middle + half])

    # Two errors at a distance h from their mean have two standard errors 2 h.
    found = rows.marked([
        row(cell, "pure", rows.PURE, 3.0, 0.1), row(cell, "near", rows.PURE, 3.5, 1.0),
        row(cell, "zcdp", rows.ZCDP, 2.0, 0.1), row(cell, "none", rows.NONE, 0.0, 0.0),
        row(cell, "open", rows.NOT_PRIVATE, 1.0, 5.0), row(other, "alone", rows.PURE, 99.0, 0.1),
    ])  # fmt: skip
    assert found[2]["two_standard_errors"] == pytest.approx(0.2)
    assert [r["method"] for r in found if r["best"]] == ["zcdp", "alone"]
    assert [r["method"] for r in found if r["best_pure"]] == ["pure", "alone"]
    assert [r["method"] for r in found if r["tied"]] == ["near", "zcdp", "alone"]
