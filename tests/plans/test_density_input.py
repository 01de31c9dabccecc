"""Bad input about densities: a clear error, nothing charged."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpfda as dp

GOOD = {"epsilon": 1.0, "domain": [(0, 110)]}
AGES = np.linspace(1, 100, 50)


@pytest.fixture
def ledger(tmp_path):
    return dp.Ledger.create(tmp_path / "d.ledger", epsilon=10, study="bad")


def refused(kind, message, ledger, *args, **options):
    with pytest.raises(kind, match=message) as caught:
        dp.density(*args, **(GOOD | options), ledger=ledger)
    assert ledger.spent == 0
    assert not ledger.history()
    return str(caught.value)


@pytest.mark.parametrize("bad", [110.5, -0.1, np.nan, np.inf, -np.inf, 1e300])
def test_points_that_have_no_place(bad, ledger):
    message = refused(dp.errors.RecordError, r"outside the domain in row 8", ledger, np.r_[AGES[:7], bad, AGES[7:]])
    assert "outside='clip'" in message
    assert str(bad) not in message.replace("in row 8", "")


def test_clipping_and_centering_are_explicit():
    points = np.r_[AGES, 200.0, -5.0]
    clipped = dp.DensityPlan(n=52, **GOOD, outside="clip").summarize(points)
    assert clipped.totals[-1] == clipped.totals[0] == 1
    with pytest.raises(dp.errors.RecordError, match="row 53"):
        dp.DensityPlan(n=53, **GOOD, outside="clip").summarize(np.r_[points, np.nan])
    centred = dp.DensityPlan(n=53, **GOOD, invalid="center").summarize(np.r_[points, np.nan])
    assert (centred.count, centred.totals.sum()) == (53, 50)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.ones((5, 2)), "has 2 values and the plan expects 1"),
        (np.ones((5, 1, 1)), "two dimensions"),
        (np.empty(0), "no points"),
        ([], "no points"),
        (["a", "b"], "rows of numbers"),
        ("no-such-file.csv", "There is no file"),
        (np.array([3.0]), "fewer than two points"),
        (pd.DataFrame({"a": ["x", "y"]}), "does not hold a number"),
    ],
)
def test_data_of_the_wrong_kind(points, message, ledger):
    refused((dp.errors.RecordError, dp.errors.FileError), message, ledger, points)


def test_wrong_dimension(ledger):
    refused(dp.errors.RecordError, "has 1 values and the plan expects 2", ledger, np.ones((5, 1)), domain=[(0, 1)] * 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"domain": None}, "public domain"),
        ({"domain": []}, "domain"),
        ({"domain": [(0, 1)] * 4}, "one to three"),
        ({"domain": [(1, 0)]}, "larger finite high"),
        ({"domain": [(0, np.inf)]}, "larger finite high"),
        ({"domain": [(0, np.nan)]}, "larger finite high"),
        ({"domain": "0:1"}, "domain"),
        ({"domain": 5}, "domain"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": None}, "epsilon"),
        ({"cells": 1}, "cells"),
        ({"cells": 4097}, "at most 4,096"),
        ({"cells": 2.5}, "cells"),
        ({"cells": (8, 8)}, "cells"),
        ({"bandwidth": 0}, "bandwidth"),
        ({"bandwidth": -1.0}, "bandwidth"),
        ({"bandwidth": np.nan}, "bandwidth"),
        ({"bandwidth": (1.0, 2.0)}, "bandwidth"),
        ({"bandwidth": 1.0, "kernel": dp.kernels.Gaussian(2.0)}, "given once"),
        ({"kernel": dp.kernels.Custom(np.minimum.outer)}, "Gaussian, Exponential or Matern"),
        ({"kernel": "gaussian"}, "Gaussian, Exponential or Matern"),
        ({"eta": 0}, "eta"),
        ({"method": "qr"}, "method must be"),
        ({"method": dp.methods.AR()}, "AR thresholds"),
        ({"method": dp.methods.QR(psi=0.1)}, "without a penalty"),
        ({"method": dp.methods.GaussianProcess(0.1, psi=0.1)}, "without a penalty"),
        ({"method": dp.methods.KNorm(9999)}, "basis size"),
        ({"neighbors": "swap"}, "neighbors"),
        ({"invalid": "drop"}, "invalid"),
        ({"outside": "wrap"}, "outside"),
        ({"postprocess": "yes"}, "postprocess"),
        ({"neighbors": "add-remove"}, "guess"),
        ({"axes": ["a", "b"]}, "axes"),
        ({"counts": [1, 2]}, "points or counts"),
        ({"n": 49}, "n = 49 points and the data has 50"),
        ({"n": 2.5}, "n must be a whole number"),
        ({"n": "many"}, "n must be a whole number"),
        ({"n": 1}, "at least 2"),
        ({"eta": 1.2, "method": dp.methods.QR(eta=1.3)}, "eta is given once"),
        ({"domain": [(0, 1e-20)]}, "wide"),
    ],
)
def test_options(options, message, ledger):
    refused(dp.DpfdaError, message, ledger, AGES, **options)


@pytest.mark.parametrize(
    ("counts", "edges", "message"),
    [
        ([1, -2, 3], [0, 30, 60, 110], "whole numbers"),
        ([1, 2.5, 3], [0, 30, 60, 110], "whole numbers"),
        ([1, np.nan, 3], [0, 30, 60, 110], "whole numbers"),
        ([1, np.inf, 3], [0, 30, 60, 110], "whole numbers"),
        ([1, 2], [0, 30, 60, 110], "shape of the bins, 3, not 2"),
        ("abc", [0, 30, 60, 110], "shape of the bins"),
        ([1, 2, 3], [0, 30, 60, 100], "cover the domain"),
        ([1, 2, 3], [5, 30, 60, 110], "cover the domain"),
        ([1, 2, 3], [0, 30, 60, np.inf], "close an open bin"),
        ([1, 2, 3], [0, 60, 30, 110], "increase"),
        ([1, 2, 3], [0, 30, 30.01, 110], "centre of a cell"),
        ([1, 2, 3], "edges", "edges"),
        ([1, 2, 3], [], "edges"),
        ([1, 2, 3], [[0, 1], [0, 1]], "edges"),
        ([0, 0, 0], [0, 30, 60, 110], "fewer than two"),
        ([2**52, 2**53, 0], [0, 30, 60, 110], "too large"),
    ],
)
def test_counts(counts, edges, message, ledger):
    refused(dp.DpfdaError, message, ledger, None, counts=counts, edges=edges)


def test_counts_and_labels(ledger):
    refused(dp.errors.ParameterError, "mapping", ledger, None, counts=[1, 2, 3], edges=[0, 30, 60, 110], by="sex")
    refused(
        dp.errors.ParameterError,
        "those of the counts",
        ledger,
        None,
        counts={"a": [1, 2]},
        edges=[0, 30, 110],
        groups=["b"],
    )


@pytest.mark.parametrize("lattice", [0, -1, 2.5, True, None, 10**6])
def test_lattice(lattice):
    with pytest.raises(dp.errors.ParameterError, match="lattice"):
        dp.methods.Bernstein(lattice)


def test_more_lattice():
    with pytest.raises(dp.errors.ParameterError, match="order"):
        dp.methods.Bernstein(5, order=0)
    with pytest.raises(dp.errors.ParameterError, match="sensitivity"):
        dp.methods.Bernstein(5, sensitivity="loose")
    with pytest.raises(dp.errors.ParameterError, match="lattice has at most"):
        dp.DensityPlan(n=50, epsilon=1, domain=[(0, 1)] * 2, method=dp.methods.Bernstein(100))


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2, None, np.nan, "x", True])
def test_delta(delta):
    with pytest.raises(dp.errors.ParameterError, match="delta must lie strictly between 0 and 1"):
        dp.methods.GaussianProcess(delta)


def test_summaries_that_do_not_belong():
    plan = dp.DensityPlan(n=50, **GOOD)
    summary = plan.summarize(AGES)
    with pytest.raises(dp.errors.PlanMismatch, match="another plan"):
        dp.DensityPlan(n=50, **GOOD, cells=100).statistic(summary)
    for totals, count in (
        (summary.totals - 1, 50),
        (summary.totals[:-1], 50),
        (summary.totals * 2, 50),
        (summary.totals, 51),
    ):
        with pytest.raises(dp.errors.PlanMismatch):
            plan.statistic(dp.engines.Summary(plan.problem.key, count, totals))
    assert "50" not in repr(summary)
