"""Plans among OpenDP's own queries: what they state, what they release, and what they refuse."""

from __future__ import annotations

import gc
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import numpy as np
import opendp.prelude as odp
import pandas as pd
import polars as pl
import pytest
from opendp.mod import GLOBAL_FEATURES, OpenDPException

import dpfda as dp
from dpfda.plans.base import Plan
from dpfda.plans.opendp import Records, make_per_record

N, WIDTH = 60, 9
CURVES = {"n": N, "bound": dp.L2Ball(1.0), "grid": WIDTH}
MODEL = {"n": N, "domain": [(0, 1), (0, 1)]}
KINDS = {
    "mean": (dp.MeanPlan, CURVES | {"method": dp.methods.KNorm(3)}),
    "mean-auto": (dp.MeanPlan, CURVES),
    "mean-staged": (
        dp.MeanPlan,
        CURVES | {"method": dp.methods.Staged(dp.methods.KNorm(3), spread=0.5, shares=("1/5", "4/5"))},
    ),
    "mean-select": (
        dp.MeanPlan,
        CURVES | {"method": dp.methods.Select([dp.methods.KNorm(2), dp.methods.KNorm(4)], share="1/10")},
    ),
    "covariance": (dp.CovariancePlan, CURVES),
    "density": (dp.DensityPlan, {"n": N, "domain": [(0, 1)], "cells": 16}),
    "survival": (dp.SurvivalPlan, {"n": N, "horizon": 900}),
    "percentiles": (dp.PercentilePlan, {"n": N, "grid": WIDTH, "range": (0, 1), "cells": 128}),
    "map": (dp.DensityPlan, {"n": N, "domain": [(0, 1), (0, 1)], "cells": 8}),
    "radius": (dp.plans.RadiusPlan, {"n": N, "grid": WIDTH, "bound": dp.L2Ball(8.0)}),
    "regression": (dp.plans.RegressionPlan, CURVES | {"covariates": 2, "covariate_bound": 2.0, "passes": 4}),
    "smoother": (dp.plans.SmootherPlan, MODEL | {"bound": (0, 1), "passes": 1}),
    "huber": (dp.plans.KernelPlan, MODEL | {"bound": (0, 1), "criterion": "huber"}),
    "logistic": (dp.plans.KernelPlan, MODEL | {"classes": ("no", "yes")}),
}


@cache
def plan_of(kind: str, neighbors: str = "replace", epsilon: object = "0.7", **more: object) -> Plan:
    make, facts = KINDS[kind]
    total = {"invalid": "center"} | ({"outside": "clip"} if make is dp.DensityPlan else {})
    return make(**(facts | total | {"neighbors": neighbors, "epsilon": epsilon} | more))


def records_of(plan: Plan, count: int = N) -> np.ndarray:
    values = np.random.default_rng(0).uniform(0, 1, (count, plan.problem.width))
    if isinstance(plan, dp.plans.KernelPlan) and plan.classes:
        values[:, -1] = values[:, -1] > 0.5
    return values


def context_of(plan: Plan, data: object, epsilon: float, **more: object) -> odp.Context:
    unit = odp.unit_of(contributions=1) if plan.problem.count_is_private else odp.unit_of(changes=1)
    domain = more.pop("domain", None) or plan.to_opendp().input_domain
    return odp.Context.compositor(
        data=data, domain=domain, privacy_unit=unit, privacy_loss=odp.loss_of(epsilon=epsilon), **more
    )


@pytest.fixture(autouse=True)
def features() -> Iterator[None]:
    before = set(GLOBAL_FEATURES)
    odp.enable_features("contrib", "honest-but-curious")
    yield
    GLOBAL_FEATURES.clear()
    GLOBAL_FEATURES.update(before)


def test_every_kind_of_plan_is_tried():
    def kinds(base: type) -> set[type]:
        below = base.__subclasses__()
        return {base} | set().union(*(kinds(b) for b in below)) if below else {base}

    concrete = {kind for kind in kinds(Plan) if kind.__module__.startswith("dpfda.") and not kind.__abstractmethods__}
    assert concrete == {make for make, _ in KINDS.values()}


@pytest.mark.parametrize(
    ("kind", "neighbors"),
    # A private choice among methods needs a public n.
    [(k, r) for k in KINDS for r in ("replace", "add-remove") if (k, r) != ("mean-select", "add-remove")],
)
def test_every_plan_becomes_a_measurement_that_releases(kind, neighbors):
    plan = plan_of(kind, neighbors)
    measurement = plan.to_opendp()
    metric = odp.change_one_distance() if neighbors == "replace" else odp.symmetric_distance()
    assert measurement.input_metric == metric
    assert measurement.output_measure == odp.max_divergence()
    assert measurement.input_domain == Records(N if neighbors == "replace" else None).domain
    release = measurement(records_of(plan, N if neighbors == "replace" else N + 7))
    assert type(release) is plan.release_type
    assert release.plan == plan
    assert release.study is None
    if kind != "radius":
        assert release.is_whole
        assert release.grid == plan.problem.grid


@pytest.mark.parametrize("epsilon", ["0.1", "1/3", "0.7", 1, "1e-9", "2/7", 10_000])
def test_the_map_is_the_smallest_float_that_is_large_enough(epsilon):
    plan = plan_of("mean", epsilon=epsilon)
    measurement = plan.to_opendp()
    assert measurement.map(0) == 0
    losses = []
    for distance in (1, 2, 3, 7, 100, 2**32 - 1):
        loss, exact = measurement.map(distance), plan.epsilon * distance
        assert Fraction(loss) >= exact > Fraction(math.nextafter(loss, 0.0))
        losses.append(loss)
    assert losses == sorted(set(losses))
    assert measurement.check(1, measurement.map(1))
    assert not measurement.check(1, math.nextafter(measurement.map(1), 0.0))


def test_only_pure_plans_are_measurements():
    plan = plan_of("mean", method=dp.methods.GaussianProcess(delta=1e-6))
    with pytest.raises(
        dp.errors.ParameterError, match=r"cannot state a delta, got delta 1e-06\. Plan with a pure method"
    ):
        plan.to_opendp()


@pytest.mark.parametrize("make", [lambda: plan_of("radius").to_opendp(), lambda: make_per_record(None, None, max)])
def test_trust_is_for_the_user_to_give(make):
    odp.disable_features("honest-but-curious")
    with pytest.raises(dp.errors.ParameterError, match=r'enable_features\("contrib", "honest-but-curious"\)'):
        make()
    assert "honest-but-curious" not in GLOBAL_FEATURES


def test_a_measurement_outlives_its_plan():
    measurement = plan_of("density").to_opendp()
    gc.collect()
    assert measurement.input_domain.descriptor == Records(N)
    assert measurement(np.full(N, 0.5)).plan.n == N


def test_an_error_between_two_stages_tells_nothing_of_the_first(monkeypatch):
    plan = plan_of("mean-staged")

    def stopped(drawn: list[np.ndarray]) -> None:
        raise dp.errors.ParameterError("stages go on", float(drawn[0][0]), "Stop here.")

    monkeypatch.setattr(type(plan.schedule), "next", lambda self, drawn: stopped(drawn))
    with pytest.raises(OpenDPException, match="tells the data holder why") as caught:
        plan.to_opendp()(records_of(plan))
    assert "stages go on" not in str(caught.value)


# -- data ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, N - 1, N + 1])
def test_where_n_is_public_it_must_match(count):
    plan = plan_of("mean")
    with pytest.raises(OpenDPException, match=f"exactly {N} of them: n is public here and fixed") as caught:
        plan.to_opendp()(records_of(plan, count))
    assert str(N + 1) not in str(caught.value).partition("RecordError")[2]


def test_members_are_records_in_memory(tmp_path):
    plan, some = plan_of("mean"), Records()
    values = records_of(plan)
    np.savetxt(tmp_path / "curves.csv", values, delimiter=",")
    for members in (values, values.tolist(), tuple(values), pd.DataFrame(values), pl.DataFrame(values)):
        assert some.holds(members)
        assert Records(N).holds(members)
        assert not Records(N + 1).holds(members)
        assert plan.to_opendp()(members).values.shape == (WIDTH,)
    strange = [None, 3, "curves.csv", tmp_path / "curves.csv", iter(values), {"a": 1}, np.array(1.0), b"ab"]
    for thing in [*strange, plan.summarize(values)]:
        assert not some.holds(thing)
        with pytest.raises(OpenDPException, match="must be records in memory"):
            plan.to_opendp()(thing)


def test_errors_hold_no_row_and_no_content():
    values = records_of(plan_of("mean"))
    values[17, 3] = np.inf
    values[17, 4] = 987.654
    texts = [[f"{x}" for x in row] for row in values]
    for data in (values, texts, [*values[:-1], values[-1][:3]]):
        assert plan_of("mean").to_opendp()(data).values.shape == (WIDTH,)
    with pytest.raises(OpenDPException, match="Some records, or the columns, cannot be used") as caught:
        plan_of("mean").to_opendp(columns="none")(pd.DataFrame(values))
    assert not any(secret in str(caught.value).partition("RecordError:")[2] for secret in ("17", "inf", "row "))


@pytest.mark.parametrize("kind", KINDS)
def test_a_plan_that_a_record_can_stop_is_no_measurement(kind):
    """OpenDP charges nothing for a query that fails, so a failure that depends on a record is a free answer."""
    with pytest.raises(dp.errors.ParameterError, match="charges nothing for a query that fails"):
        plan_of(kind, invalid="raise").to_opendp()
    if KINDS[kind][0] is dp.DensityPlan:
        with pytest.raises(dp.errors.ParameterError, match="outside='clip'"):
            plan_of(kind, outside="raise").to_opendp()


def test_errors_about_the_shape_of_the_data_stay_clear():
    with pytest.raises(OpenDPException, match=f"has 7 values and the plan expects {WIDTH}"):
        plan_of("mean").to_opendp()(np.zeros((N, 7)))
    with pytest.raises(
        OpenDPException, match=r"the columns, cannot be used\. plan\.summarize tells the data holder why"
    ):
        plan_of("mean").to_opendp(columns="h*")(np.zeros((N, WIDTH)))


def test_columns_of_a_frame_are_chosen():
    mean, ages = plan_of("mean"), plan_of("density")
    frame = pd.DataFrame(records_of(mean), columns=[f"h{i}" for i in range(WIDTH)]).assign(age=0.5, note="x")
    context = context_of(mean, frame, 1.5)
    assert context(mean.to_opendp(columns="h*")).plan == mean
    assert context(ages.to_opendp(columns=["age"])).plan == ages
    assert context.remaining_privacy_loss() == pytest.approx(0.1)


def test_a_plan_of_units_takes_one_table_of_curves_for_each():
    plan = dp.MeanPlan(
        n=3, epsilon=1, bound=dp.L2Ball(1.0), grid=WIDTH, method=dp.methods.KNorm(2), unit="person", invalid="center"
    )
    measurement = plan.to_opendp()
    units = [np.ones((2, WIDTH)), np.zeros((5, WIDTH)), np.empty((0, WIDTH))]
    assert measurement(units).plan == plan
    assert measurement.map(2) == 2.0
    with pytest.raises(odp.OpenDPException, match="3"):
        measurement(units[:2])
    with pytest.raises(dp.errors.ParameterError, match="one table of curves"):
        plan.to_opendp(columns="h*")


# -- beside other queries -----------------------------------------------------------------------


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_context_answers_a_plan_and_an_ordinary_query_and_then_refuses(neighbors):
    plan = plan_of("mean", neighbors, epsilon=1)
    measurement, data = plan.to_opendp(), records_of(plan)
    context = context_of(plan, data, 3.0)
    assert context(measurement).plan == plan
    peaks = make_per_record(*measurement.input_space, np.max)
    query = context.query(epsilon=1.0).new_with(chain=peaks).clamp((0.0, 1.0)).sum().laplace()
    assert query.param() == pytest.approx(1.0, rel=1e-6)
    assert abs(query.release() - data.max(axis=1).sum()) < 40  # e^-40
    assert context.remaining_privacy_loss() == pytest.approx(1.0)
    again = plan_of("mean", neighbors, epsilon="1.5").to_opendp()
    with pytest.raises(OpenDPException, match="would exceed privacy budget"):
        context(again)
    with pytest.raises(OpenDPException, match="filter is exhausted"):
        context(measurement)


def test_a_context_with_shares_refuses_what_exceeds_one():
    plan = plan_of("mean", epsilon=1)
    context = context_of(plan, records_of(plan), 1.5, split_by_weights=[2, 1])
    with pytest.raises(OpenDPException, match="insufficient budget"):
        context(plan_of("mean", epsilon="1.01").to_opendp())
    assert context.query().new_with(chain=plan.to_opendp()).release().plan == plan
    with pytest.raises(OpenDPException, match="insufficient budget"):
        context(plan.to_opendp())
    assert context(plan_of("radius", epsilon="1/2").to_opendp()).radius > 0
    with pytest.raises(OpenDPException, match="out of queries"):
        context(plan_of("mean", epsilon="1e-3").to_opendp())


def test_a_context_protects_a_unit_of_several_records():
    plan = plan_of("mean", epsilon="1/4")
    context = odp.Context.compositor(
        data=records_of(plan),
        domain=plan.to_opendp().input_domain,
        privacy_unit=odp.unit_of(changes=3),
        privacy_loss=odp.loss_of(epsilon=1.0),
    )
    context(plan.to_opendp())
    assert context.remaining_privacy_loss() == 0.25
    with pytest.raises(OpenDPException, match="exceed"):
        context(plan.to_opendp())


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_compositors_of_opendp_take_plans(neighbors):
    mean, radius = plan_of("mean", neighbors, epsilon="0.1"), plan_of("radius", neighbors, epsilon="0.2")
    data, queries = records_of(mean), [mean.to_opendp(), radius.to_opendp()]
    together = odp.c.make_composition(queries)
    assert Fraction(together.map(1)) >= Fraction(3, 10)
    first, second = together(data)
    assert (first.plan, second.plan) == (mean, radius)
    adaptive = odp.c.make_adaptive_composition(
        *queries[0].input_space, odp.max_divergence(), d_in=1, d_mids=[query.map(1) for query in queries]
    )(data)
    assert adaptive(queries[0]).plan == mean
    assert adaptive(queries[1]).plan == radius
    with pytest.raises(OpenDPException, match="out of queries"):
        adaptive(queries[0])


def test_a_plan_for_other_neighbours_or_another_n_is_refused_by_the_composition():
    plan = plan_of("mean")
    context = context_of(plan, records_of(plan), 1.0)
    with pytest.raises(OpenDPException, match="domains don't match"):
        context(plan_of("mean", n=N + 1).to_opendp())
    with pytest.raises(OpenDPException, match="don't match"):
        context(plan_of("mean", "add-remove").to_opendp())


def test_releases_can_be_post_processed_and_relaxed_by_opendp():
    plan = plan_of("mean", epsilon="1/2")
    peak = plan.to_opendp() >> (lambda release: float(release.values.max()))
    assert isinstance(peak(records_of(plan)), float)
    assert peak.map(1) == 0.5
    assert odp.c.make_approximate(plan.to_opendp()).map(1) == (0.5, 0.0)
    assert odp.c.make_pureDP_to_zCDP(plan.to_opendp()).map(1) == pytest.approx(0.125)


# -- domains of OpenDP --------------------------------------------------------------------------


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_plan_joins_a_context_of_lazy_frames(neighbors):
    plan = plan_of("mean", neighbors, epsilon=1)
    columns = {f"h{i}": column for i, column in enumerate(records_of(plan).T)}
    frame = pl.LazyFrame(columns | {"people": np.full(N, 2)})
    domain = odp.domain_of(frame, infer=True)
    context = context_of(plan, frame, 1.5, domain=domain, margins=[odp.polars.Margin(by=[], max_length=N)])
    domain = context.accountant.input_domain
    release = context(plan.to_opendp(domain, columns="h*"))
    assert release.plan == plan
    people = context.query(epsilon=0.5).select(pl.col("people").fill_null(0).dp.sum((0, 4)))
    assert abs(people.release().collect().item() - 2 * N) < 640  # e^-40
    with pytest.raises(OpenDPException, match="exceed"):
        context(plan.to_opendp(domain, columns="h*"))


def test_a_plan_of_numbers_joins_a_context_of_vectors():
    plan = plan_of("density", "add-remove", epsilon=1)
    domain = odp.vector_domain(odp.atom_domain(T=float, nan=False))
    context = context_of(plan, records_of(plan).ravel().tolist(), 1.5, domain=domain)
    assert context(plan.to_opendp(domain)).grid == plan.grid
    assert abs(context.query(epsilon=0.5).count().laplace().release() - N) < 80  # e^-40


def test_domains_that_hold_no_records_are_refused():
    plan = plan_of("mean")
    with pytest.raises(dp.errors.ParameterError, match="of records, got AtomDomain"):
        plan.to_opendp(odp.atom_domain(T=float))
    with pytest.raises(dp.errors.ParameterError, match="of records, got DataFrame"):
        plan.to_opendp(pd.DataFrame())
    with pytest.raises(dp.errors.ParameterError, match="records of one number, got a plan whose records have 9"):
        plan.to_opendp(odp.vector_domain(odp.atom_domain(T=float)))


# -- values per record --------------------------------------------------------------------------


def test_values_per_record_judge_each_record_alone():
    space = plan_of("mean", "add-remove").to_opendp().input_space
    values = make_per_record(*space, lambda row: 1 / row[1], missing=-1)
    assert values([[0, 2], [1], ["a", "b"], [3, np.nan], None, [0, 0], [5, 4]]) == [0.5, -1, -1, -1, -1, np.inf, 0.25]
    assert values(np.array([[0.0, 2.0], [0.0, np.nan]])) == [0.5, -1]
    assert make_per_record(*space, np.sum)([1.5, 2]) == [1.5, 2.0]
    assert values.output_domain == odp.vector_domain(odp.atom_domain(T=float, nan=False))
    assert values.map(3) == 3


def test_values_per_record_count_a_replacement_twice():
    plan = plan_of("mean")
    values = make_per_record(*plan.to_opendp().input_space, np.mean)
    assert values.map(3) == 6
    assert values.output_space[1] == odp.symmetric_distance()
    assert values.output_domain == odp.vector_domain(odp.atom_domain(T=float, nan=False), size=N)
    with pytest.raises(OpenDPException, match=f"exactly {N} of them"):
        values(records_of(plan, N - 1))


def test_values_per_record_leave_the_data_as_it_was():
    def careless(row: np.ndarray) -> float:
        row[:] = 0
        return row.sum()

    plan = plan_of("mean")
    data = records_of(plan)
    assert make_per_record(*plan.to_opendp().input_space, careless)(data) == [0.0] * N
    assert (data == records_of(plan)).all()


def test_values_per_record_can_be_registered_with_opendp():
    odp.register(make_per_record, name="value_of_each_record")
    plan = plan_of("mean")
    context = context_of(plan, records_of(plan), 1.0)
    query = context.query(epsilon=1.0).value_of_each_record(np.max).clamp((0.0, 1.0)).mean().laplace()
    assert abs(query.release() - 0.9) < 1


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"input_domain": odp.atom_domain(T=float)}, "records of a plan"),
        ({"input_metric": odp.absolute_distance(T=float)}, "distances must count records"),
        ({"missing": np.nan}, "missing must be a finite number, got nan"),
        ({"missing": "x"}, "missing must be a finite number"),
    ],
)
def test_values_per_record_refuse_what_cannot_be_kept(options, match):
    domain, metric = plan_of("mean").to_opendp().input_space
    with pytest.raises(dp.errors.ParameterError, match=match):
        make_per_record(**({"input_domain": domain, "input_metric": metric, "function": np.max} | options))


def test_a_radius_that_could_be_anything_is_no_measurement():
    with pytest.raises(dp.errors.ParameterError, match="anything between"):
        plan_of("radius", epsilon="1e-3").to_opendp()
