"""What stands before a private model, and what fits it again and again."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import dpfda as dp
from dpfda.estimators import searches

MODEL = {"epsilon": 1.0, "domain": (0, 1), "classes": [0, 1]}


@pytest.fixture
def data(rng):
    X = rng.uniform(0, 1, (400, 2))
    return X, (X[:, 0] > 0.5).astype(int)


@pytest.fixture(autouse=True)
def unsaid(monkeypatch):
    """As in a new process."""
    monkeypatch.setattr(searches, "_said", [])


@pytest.mark.parametrize(
    "search",
    [
        lambda model, X, y: GridSearchCV(model, {"loss": ["logistic", "hinge"]}, cv=2).fit(X, y),
        lambda model, X, y: cross_val_score(model, X, y, cv=2),
        lambda model, X, y: BaggingClassifier(model, n_estimators=2, random_state=0).fit(X, y),
        lambda model, X, y: cross_val_score(
            make_pipeline(dp.estimators.PublicScaler(domain=(0, 1)), model), X, y, cv=2
        ),
    ],
)
def test_a_search_without_a_ledger_is_warned_of_once(search, data):
    with pytest.warns(dp.errors.LedgerWarning, match="Pass ledger=") as caught:
        search(dp.KernelClassifier(**MODEL), *data)
    assert len([one for one in caught if one.category is dp.errors.LedgerWarning]) == 1
    search(dp.KernelClassifier(**MODEL), *data)  # warnings are errors here


def test_single_fits_and_searches_with_a_ledger_get_no_warning(data, tmp_path):
    ledger = dp.Ledger.create(tmp_path / "s.ledger", epsilon=10, study="s")
    dp.KernelClassifier(**MODEL).fit(*data)
    make_pipeline(dp.estimators.PublicScaler(domain=(0, 1)), dp.KernelClassifier(**MODEL)).fit(*data)
    cross_val_score(dp.KernelClassifier(**MODEL, ledger=ledger), *data, cv=3)
    assert ledger.spent == 3
    X, y = data
    with pytest.warns(dp.errors.LedgerWarning):
        cross_val_score(dp.KernelRegressor(epsilon=1.0, domain=(0, 1), bound=(0, 1)), X, y.astype(float), cv=2)


def test_once_is_once_in_a_process():
    script = """
import warnings, numpy as np, dpfda as dp
from sklearn.model_selection import cross_val_score
X = np.random.default_rng(0).uniform(0, 1, (200, 1))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(3):
        cross_val_score(dp.KernelClassifier(epsilon=1.0, domain=(0, 1), classes=[False, True]), X, X[:, 0] > 0.5, cv=2)
print(sum(issubclass(one.category, dp.errors.LedgerWarning) for one in caught))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


# -- the public scaler -----------------------------------------------------------------------------------


@parametrize_with_checks([dp.estimators.PublicScaler(domain=(-100, 100))])
def test_the_scaler_is_a_transformer(estimator, check):
    check(estimator)


def test_scaling_looks_at_each_row_alone_and_at_no_value_to_learn(rng):
    X = rng.normal(50, 30, (200, 2))
    scaler = dp.estimators.PublicScaler(domain=[(0, 110), (0, 200)])
    whole = scaler.fit_transform(X)
    odd = np.vstack([X, [1e300, -1e300], [np.nan, np.inf]])
    assert np.array_equal(dp.estimators.PublicScaler(domain=[(0, 110), (0, 200)]).fit(odd).transform(odd)[:-2], whole)
    assert np.array_equal(scaler.transform(odd[-2:]), [[1.0, 0.0], [np.nan, 1.0]], equal_nan=True)
    assert np.array_equal(np.vstack([scaler.transform(row[None]) for row in X]), whole)
    inside = np.clip(X, 0, [110, 200])
    assert scaler.inverse_transform(whole) == pytest.approx(inside)
    frame = pd.DataFrame(X, columns=["age", "weight"])
    named = dp.estimators.PublicScaler(domain={"weight": (0, 200), "age": (0, 110)}).fit(frame)
    assert np.array_equal(named.transform(frame), whole)
    assert named.get_feature_names_out().tolist() == ["age", "weight"]


@pytest.mark.parametrize(
    ("domain", "match"),
    [
        (None, "needs public ranges, got none"),
        ([(0, 1)], "one range for each of 2 inputs"),
        ([(0, 1), (1, 0)], "to a larger one"),
        ([(0, 1), (0, np.inf)], "to a larger one"),
        ([(0, 1), "ab"], "one pair of numbers"),
        ({"age": (0, 1), "x": (0, 1)}, "name the inputs"),
        (3, "one pair of numbers"),
    ],
)
def test_ranges_that_are_none(domain, match):
    with pytest.raises(dp.errors.ParameterError, match=match):
        dp.estimators.PublicScaler(domain=domain).fit(pd.DataFrame({"age": [1.0, 2.0], "weight": [3.0, 4.0]}))


def test_a_pipeline_with_a_public_scaler_has_the_neighbours_of_its_model(rng):
    """Through the pipeline's own steps: one row more or less moves what is released by epsilon at most."""
    X = np.column_stack([rng.uniform(0, 110, 30), rng.uniform(0, 200, 30)])
    y = X[:, 0] > 50
    scaler = dp.estimators.PublicScaler(domain=[(0, 110), (0, 200)])
    plan = dp.plans.KernelPlan(
        n=31, epsilon=1, domain=[(0, 1)] * 2, classes=("no", "yes"), invalid="center", neighbors="add-remove"
    )
    base = np.column_stack([scaler.fit_transform(X), y])
    for row in ([1e308, -1e308], [np.nan, 3.0], [55.0, 100.0], [-5.0, 500.0]):
        more = np.column_stack([scaler.fit_transform(np.vstack([X, row])), np.append(y, True)])
        seen = [plan.statistic(plan.summarize(data)) for data in (base, more)]
        assert plan.loss(seen[0] - seen[1]) <= 1
