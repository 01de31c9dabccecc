"""Numbers in memory reach a problem as they are: no copy, single precision kept where curves are added up."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpfda as dp
from dpfda.problems.summary import Summary

WIDTH = 8


class Looks:
    """An encoder that only looks at what it is given."""

    key, record, width, invalid, kind = "looks", "curve", WIDTH, "raise", Summary
    record_grid, alignment, count_is_private = dp.Grid.uniform(0, 1, WIDTH), None, False

    def __init__(self) -> None:
        self.seen: list[np.ndarray] = []

    def total(self, batch: np.ndarray) -> np.ndarray:
        self.seen.append(batch)
        return np.zeros(1, dtype=np.int64)


def seen_of(data: object, **options: object) -> list[np.ndarray]:
    problem = Looks()
    assert dp.engines.summarize(problem, data, **options).count == 1000
    return [batch for batch in problem.seen if len(batch)]


@pytest.fixture
def rows(rng):
    return rng.normal(size=(1000, WIDTH))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F", "strided", "read-only"])
def test_an_array_in_memory_is_not_copied(rows, kind, order):
    data = np.asarray(rows, dtype=kind, order="F" if order == "F" else "C")
    if order == "strided":
        data = np.repeat(np.repeat(data, 2, axis=0), 3, axis=1)[::2, ::3]
    data.flags.writeable = order != "read-only"
    (batch,) = seen_of(data)
    assert np.shares_memory(batch, data)
    assert batch.dtype == kind
    assert batch.strides == data.strides
    assert np.array_equal(batch, data)


@pytest.mark.parametrize("kind", [np.float16, np.int32, bool, ">f8", np.longdouble, object])
def test_other_numbers_become_doubles(rows, kind):
    (batch,) = seen_of((rows * 9).round().astype(kind))
    assert batch.dtype == np.float64
    assert np.array_equal(batch, (rows * 9).round().astype(kind).astype(float))


def test_one_group_of_all_records_and_groups_side_by_side_are_not_copied(rows):
    for by, count in ((["a"] * 1000, 1), (["a"] * 400 + ["b"] * 600, 2)):
        problem = Looks()
        dp.engines.summarize_groups(problem, rows, by, sorted(set(by)))
        batches = [batch for batch in problem.seen if len(batch)]
        assert len(batches) == count
        assert all(np.shares_memory(batch, rows) for batch in batches)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_frame_of_one_array_is_not_copied(rows, kind):
    data = rows.astype(kind)
    (batch,) = seen_of(pd.DataFrame(data))
    assert np.shares_memory(batch, data)
    (batch,) = seen_of(pd.DataFrame(data).astype({0: float}))  # of two kinds, or of one
    assert batch.dtype == np.float64
    assert np.array_equal(batch, data)


@pytest.mark.parametrize("lists", [False, True])
def test_single_precision_in_files_stays(rows, tmp_path, lists):
    single = rows.astype(np.float32)
    columns = {"curve": pa.array(list(single))} if lists else {f"h{i}": single[:, i] for i in range(WIDTH)}
    pq.write_table(pa.table(columns), tmp_path / "c.parquet")
    batches = seen_of(tmp_path / "c.parquet")
    assert {batch.dtype for batch in batches} == {np.dtype(np.float32)}
    assert np.array_equal(np.concatenate(batches), single)


CURVES = {"n": 1000, "epsilon": 1, "bound": dp.L2Ball(1.0), "grid": WIDTH}
BOX = {"n": 1000, "epsilon": 1, "domain": [(0, 1)]}
PLANS = {
    "mean": dp.MeanPlan(**CURVES),
    "one pass": dp.MeanPlan(**CURVES, method=dp.methods.KNorm(3)),
    "filled": dp.MeanPlan(**CURVES, fill=2, standardize=True, method=dp.methods.KNorm(3)),
    "units": dp.MeanPlan(**CURVES, unit=dp.Unit("who", most=1), method=dp.methods.KNorm(3)),
    "ellipsoid": dp.MeanPlan(**{**CURVES, "bound": dp.bounds.Ellipsoid([1.0, 0.5])}, method=dp.methods.KNorm(2)),
    "covariance": dp.CovariancePlan(**CURVES),
    "radius": dp.plans.RadiusPlan(n=1000, epsilon=1, grid=WIDTH, bound=dp.L2Ball(8.0)),
    "density": dp.DensityPlan(**BOX),
    "regression": dp.plans.RegressionPlan(**{**CURVES, "grid": WIDTH - 1}, covariates=1, covariate_bound=1.0),
    "smoother": dp.plans.SmootherPlan(**BOX, bound=(0, 1)),
    "kernel": dp.plans.KernelPlan(**BOX, bound=(0, 1), criterion="huber"),
}


@pytest.mark.parametrize("name", PLANS)
def test_every_problem_adds_up_single_precision_as_if_it_were_double(name, rng):
    plan = PLANS[name]
    problem = plan.stage.encoder
    data = rng.uniform(0, 1, size=(1000, problem.width)).astype(np.float32)
    more = {"units": (np.arange(1000) // 2).tolist()} if name == "units" else {}
    one, two = (dp.engines.summarize(problem, values, **more) for values in (data, data.astype(float)))
    assert one == two
