"""The doors around the noise: each test here is an attack that once went through, and its siblings."""

from __future__ import annotations

import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import hostile

import dpfda as dp
from dpfda import engines
from dpfda.core.origins import Origin, Stretch, as_stretch, check_groups_apart
from dpfda.engines import checkpoints
from dpfda.reading.shares import shares

WIDTH = 11
NAMES = [f"h{i:02d}" for i in range(WIDTH)]
FACTS: dict[str, Any] = {"epsilon": 1, "bound": dp.L2Ball(1.0), "grid": WIDTH, "method": dp.methods.KNorm(3)}
CURVE = dp.MeanPlan(n=6, **FACTS).basis.functions[:, 0]
RELATIONS = ["replace", "add-remove"]
#: Where nothing may be refused because of what labels are found.
PUBLIC = [("replace", "center"), ("add-remove", "raise"), ("add-remove", "center")]


def table(people: list[Any], sign: float = 1.0, **more: Any) -> pd.DataFrame:
    """Everybody with the worst curve there is."""
    frame = pd.DataFrame(np.tile(sign * CURVE, (len(people), 1)), columns=NAMES)
    return frame.assign(who=pd.Series(people, dtype=object), **more)


def plan_of(n: int = 6, **more: Any) -> dp.MeanPlan:
    return dp.MeanPlan(**({"n": n, "unit": "who"} | FACTS | more))


def loss(plan: Any, one: Any, two: Any) -> float:
    return float(plan.loss(plan.statistic(one) - plan.statistic(two)))


# -- 1. nobody is added up twice -------------------------------------------------------------------------


@pytest.mark.parametrize("invalid", ["raise", "center"])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_person_in_two_parts_is_refused(neighbors, invalid):
    plan = plan_of(neighbors=neighbors, invalid=invalid)
    parts = [plan.summarize(dp.read(table(people), columns="h*")) for people in (["u1", "u2"], ["u1", "u3"])]
    with pytest.raises(dp.errors.RecordError, match="cannot be put together: the same person may be in both"):
        parts[0].merge(parts[1])


def test_parts_merge_where_labels_show_that_nobody_is_in_both():
    """With a public n and records that may stop a run, labels that are found may lead to a refusal."""
    plan = plan_of(n=4)
    for first, second in ((["a", "b"], ["c", "d"]), (["2", "9"], ["10", "11"]), ([7, 3], [12, 40])):
        parts = [plan.summarize(dp.read(table(people), columns="h*")) for people in (first, second)]
        whole = plan.summarize(dp.read(table([*first, *second]), columns="h*"))
        assert parts[0].merge(parts[1]) == parts[1].merge(parts[0]) == whole
    assert "may hold the same who; whether it stopped is outside the guarantee" in plan.explain()
    assert "may hold the same" not in plan_of(neighbors="add-remove").explain()


@pytest.mark.parametrize(("neighbors", "invalid"), PUBLIC)
def test_elsewhere_the_proof_rests_on_public_facts(neighbors, invalid):
    """The same answer whatever labels there are; declared stretches hold whatever the data say."""
    plan = plan_of(n=4, neighbors=neighbors, invalid=invalid)
    for people in (["a", "b"], ["c", "d"]), (["a", "b"], ["b", "c"]), (["a"], ["z"]):
        parts = [plan.summarize(dp.read(table(some), columns="h*")) for some in people]
        with pytest.raises(dp.errors.RecordError, match="may be in both"):
            parts[0].merge(parts[1])
    low = plan.summarize(dp.read(table(["a", "b"]), columns="h*"), between=("a", "m"))
    high = plan.summarize(dp.read(table(["n", "z"]), columns="h*"), between=("n", "z"))
    assert low.merge(high) == plan.summarize(dp.read(table(["a", "b", "n", "z"]), columns="h*"))
    with pytest.raises(dp.errors.RecordError, match="may be in both"):
        low.merge(plan.summarize(dp.read(table(["x"]), columns="h*"), between=("m", "z")))
    here, there = (plan.summarize(dp.read(table(["a", "b"]), columns="h*"), site=site) for site in ("north", "south"))
    assert here.merge(there).count == 4


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_what_lies_outside_a_declared_stretch_is_left_out_or_stops_the_run(neighbors):
    strict = plan_of(n=3, neighbors=neighbors)
    with pytest.raises(dp.errors.RecordError, match="outside the declared stretch in row 3"):
        strict.summarize(dp.read(table(["a", "b", "x"]), columns="h*"), between=("a", "m"))
    plan = plan_of(n=4, neighbors=neighbors, invalid="center")
    low, high = (
        plan.summarize(dp.read(table(["a", "x"]), columns="h*"), between=ends) for ends in (("a", "m"), ("n", "z"))
    )
    assert (low.count, high.count) == (1, 1)
    # Somebody with rows in both parts, under one label: she counts once.
    with_her, without = (
        plan.summarize(dp.read(table(["a", *her]), columns="h*"), between=("a", "m")).merge(
            plan.summarize(dp.read(table(["x", *her]), columns="h*"), between=("n", "z"))
        )
        for her in (["b"], [])
    )
    assert loss(plan, with_her, without) <= 1


def test_numbers_and_texts_as_stretches():
    assert as_stretch((1, 500)).holds("0500")
    assert not as_stretch((1, 500)).holds("501")
    assert not as_stretch((1, 500)).holds("x")
    assert not as_stretch(("a", "b")).meets(as_stretch(("c", "d")))
    assert as_stretch(("a", "b")).meets(as_stretch((1, 5)))
    assert Stretch.over(["10", "12"]).meets(Stretch.over(["11"]))
    assert not Stretch.over(["10", "11"]).meets(Stretch.over(["2", "9"]))
    assert Stretch.over(["nan", "inf"]).numbers is None
    for bad in ("ab", ("b", "a"), (1, "a"), (2, 1), (float("nan"), 1), 3, [1, 2, 3]):
        with pytest.raises(dp.errors.ParameterError, match="between"):
            as_stretch(bad)
    with pytest.raises(dp.errors.ParameterError, match="between is a stretch of units"):
        dp.MeanPlan(n=6, **FACTS).summarize(np.zeros((6, WIDTH)), between=("a", "b"))
    with pytest.raises(dp.errors.ParameterError, match="a site is a short name"):
        plan_of().summarize(dp.read(table(["a"]), columns="h*"), site=3)


@pytest.mark.parametrize("unit", [None, "who"])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_summary_does_not_merge_with_itself(neighbors, unit):
    plan = plan_of(unit=unit, neighbors=neighbors)
    part = plan.summarize(dp.read(table(["a", "b", "c"]), columns="h*"))
    with pytest.raises(dp.errors.RecordError, match="the same records are in both"):
        part.merge(part)
    whole = part.merge(plan.summarize(dp.read(table(["x", "y"]), columns="h*"), site="elsewhere"))
    with pytest.raises(dp.errors.RecordError, match="the same records are in both"):
        whole.merge(part)


def test_one_summary_is_not_two_groups():
    plan = dp.plans.GroupPlan(("x", "y"), [dp.MeanPlan(n=3, **FACTS)] * 2)
    rows = np.zeros((6, WIDTH))
    found = plan.summarize(rows, list("xxxyyy"))
    assert plan.release(found)
    with pytest.raises(dp.errors.RecordError, match="the same records are in both"):
        plan.release({"x": found["x"], "y": found["x"]})
    apart = plan.summarize(rows, list("xxxyyy"))  # another reading
    assert plan.release({"x": found["x"], "y": apart["y"]})


def test_a_person_in_two_groups_of_different_readings_is_refused():
    """Groups share nobody, or their budgets would add up."""
    plan = dp.plans.GroupPlan(("x", "y"), [plan_of(n=2)] * 2)
    parts = {
        "x": plan["x"].summarize(dp.read(table(["a", "b"]), columns="h*")),
        "y": plan["y"].summarize(dp.read(table(["b", "c"]), columns="h*")),
    }
    with pytest.raises(dp.errors.RecordError, match="may be in both"):
        plan.release(parts)
    parts["y"] = plan["y"].summarize(dp.read(table(["c", "d"]), columns="h*"))
    assert plan.release(parts)


def test_many_groups_of_one_reading_are_apart():
    origin = Origin()
    groups = [[Origin(origin.reading, f"g{i}", keyed=True)] for i in range(5000)]
    check_groups_apart(groups)
    with pytest.raises(dp.errors.RecordError, match="the same records"):
        check_groups_apart([*groups, groups[17]])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    table(["a", "b", "c"]).drop(columns="who").to_csv(tmp_path / "file.csv", index=False)
    return tmp_path / "file.csv"


def test_one_file_counts_once_whatever_it_is_called(file, tmp_path, monkeypatch):
    link, other = tmp_path / "link.csv", tmp_path / "other.csv"
    link.symlink_to(file)
    other.hardlink_to(file)
    monkeypatch.chdir(tmp_path)
    plan = dp.MeanPlan(n=6, **FACTS)
    first = plan.summarize(file)
    for twin in (file, link, other, "file.csv", "./file.csv"):
        with pytest.raises(dp.errors.RecordError, match="the same file is in both"):
            first.merge(plan.summarize(twin))
    groups = dp.plans.GroupPlan(("x", "y"), [dp.MeanPlan(n=3, **FACTS)] * 2)
    with pytest.raises(dp.errors.RecordError, match="the same file is in both"):
        groups.release({"x": groups["x"].summarize(file), "y": groups["y"].summarize(link)})
    (tmp_path / "copy.csv").write_bytes(file.read_bytes())  # another file: what it holds is not looked at
    assert first.merge(plan.summarize(tmp_path / "copy.csv")).count == 6


@pytest.mark.parametrize("how", ["link", "rename", "touch"])
def test_a_file_stays_itself_when_it_is_linked_moved_or_touched(how, file, tmp_path):
    plan = dp.MeanPlan(n=6, **FACTS)
    first = plan.summarize(file)
    other = tmp_path / "other.csv"
    if how == "link":
        other.hardlink_to(file)
    elif how == "rename":
        file.rename(other)
    else:
        file.chmod(0o600)
        other = file
    with pytest.raises(dp.errors.RecordError, match="the same file is in both"):
        first.merge(plan.summarize(other))


def test_what_was_added_up_is_known_as_well():
    plan = dp.MeanPlan(n=9, **FACTS)
    one, two = (plan.summarize(table(["a", "b", "c"])[NAMES]) for _ in range(2))
    with pytest.raises(dp.errors.RecordError, match="the same records"):
        one.plus(two).merge(two)
    assert len(one.plus(one).origins) == 1


def test_labels_of_another_column_or_type_show_nothing(tmp_path):
    grid = dp.Grid.uniform(0, 1, WIDTH)
    plan = dp.MeanPlan(n=4, **(FACTS | {"grid": grid}), align="linear")
    long = pd.DataFrame({"time": np.tile(grid.points, 2), "value": 0.5})
    long["first"], long["second"] = np.repeat(["a", "b"], WIDTH), np.repeat(["x", "y"], WIDTH)
    one, two = (plan.summarize(dp.read(long, layout=dp.Long(who, "time", "value"))) for who in ("first", "second"))
    with pytest.raises(dp.errors.RecordError, match="may be in both"):
        one.merge(two)
    people = plan_of(n=4)
    table([3, 4]).astype({"who": "int64"}).to_parquet(tmp_path / "a.parquet")
    table(["3.0", "5.0"]).to_csv(tmp_path / "b.csv", index=False)
    parts = [people.summarize(dp.read(tmp_path / name, columns=NAMES)) for name in ("a.parquet", "b.csv")]
    with pytest.raises(dp.errors.RecordError, match="may be in both"):
        parts[0].merge(parts[1])


def test_two_stretches_of_one_file_are_two_parts_and_one_group(tmp_path):
    table(["a", "b", "x", "y"]).to_csv(tmp_path / "all.csv", index=False)
    plan = dp.plans.GroupPlan(("p", "q"), [plan_of(n=4, invalid="center")] * 2)
    frame = pd.read_csv(tmp_path / "all.csv").assign(g="p")
    frame.to_csv(tmp_path / "all.csv", index=False)
    data = dp.read(tmp_path / "all.csv", columns=NAMES, header=True)
    for ends in (("a", "m"), ("n", "z")):
        plan.summarize(data, "g", between=ends, checkpoint=tmp_path / "c.summary")
    found = dp.engines.load_summary(tmp_path / "c.summary").summaries
    assert found["p"].count == 4
    with pytest.raises(dp.errors.RecordError, match="the same records are in both"):
        plan.release({"p": found["p"], "q": found["p"]})


def test_saved_summaries_know_their_files(file, tmp_path):
    plan = dp.MeanPlan(n=6, **FACTS)
    plan.summarize(file, checkpoint=tmp_path / "a.summary")
    one, two = (dp.engines.load_summary(tmp_path / "a.summary").summary for _ in range(2))
    with pytest.raises(dp.errors.RecordError, match="the same records are in both"):
        one.merge(two)
    with pytest.raises(dp.errors.RecordError, match="the same file is in both"):
        one.merge(plan.summarize(file))
    saved = dp.engines.load_summary(tmp_path / "a.summary")
    with pytest.raises(dp.errors.RecordError, match="counted already"):
        saved.plus(saved)


@pytest.mark.parametrize(("neighbors", "invalid"), PUBLIC)
def test_checkpoints_of_people_take_declared_files_one_by_one(neighbors, invalid, tmp_path):
    plan = plan_of(n=4, neighbors=neighbors, invalid=invalid)
    for name, people in (("a", ["a", "b"]), ("b", ["n", "z"])):
        table(people).to_csv(tmp_path / f"{name}.csv", index=False)
    one, two = (dp.read(tmp_path / f"{name}.csv", columns=NAMES, header=True) for name in "ab")
    both, place = dp.read([one.data, two.data], columns=NAMES, header=True), tmp_path / "c.summary"
    with pytest.raises(dp.errors.ParameterError, match="files one by one"):
        plan.summarize(both, checkpoint=place)
    plan.summarize(one, between=("a", "m"), checkpoint=place)
    with pytest.raises(dp.errors.RecordError, match="may hold the same unit"):
        plan.summarize(two, checkpoint=place)
    whole = plan.summarize(two, between=("n", "z"), checkpoint=place)
    assert whole == plan.summarize(dp.read(table(["a", "b", "n", "z"]), columns=NAMES))


def test_older_summaries_load_and_keep_their_stretches():
    part = {"name": "a.csv", "fingerprint": "0", "address": "/a.csv", "site": ""}
    for units, texts, numbers in (
        (["b", "a", [False]], ("a", "b"), None),
        (["2", "10", [True]], None, (2.0, 10.0)),
        (["1", "2", [False, True]], ("1", "2"), (1.0, 2.0)),
    ):
        read = checkpoints._part({**part, "units": units})
        assert read.found == Stretch(texts, numbers)
        assert read.keyed
    assert not checkpoints._part({**part, "units": None}).keyed


@pytest.mark.parametrize(("neighbors", "invalid"), PUBLIC)
def test_files_of_people_need_no_order_where_an_order_would_tell(neighbors, invalid, tmp_path, monkeypatch):
    """One row in the wrong place must not stop a run; people are gathered, some at a time."""
    plan = plan_of(n=50, neighbors=neighbors, invalid=invalid)
    people = [f"u{i % 50:02d}" for i in range(200)]
    frame = table(people)
    frame[NAMES] *= np.random.default_rng(0).uniform(-1, 1, (200, 1))
    frame.to_csv(tmp_path / "a.csv", index=False)
    whole = plan.summarize(dp.read(frame, columns=NAMES))
    assert plan.summarize(dp.read(tmp_path / "a.csv", columns=NAMES, header=True)) == whole
    monkeypatch.setattr(engines.local, "BYTES_AT_ONCE", 5000)
    monkeypatch.setattr("dpfda.engines.gathering.SMALL_FILES", 0)
    assert plan.summarize(dp.read(tmp_path / "a.csv", columns=NAMES, header=True)) == whole
    with pytest.raises(dp.errors.RecordError, match="not in order"):
        plan_of(n=50).summarize(dp.read(tmp_path / "a.csv", columns=NAMES, header=True))


# -- 2. no number of records is refused where it is private -----------------------------------------------


def exact_loss(plan: Any, one: Any, two: Any) -> float:
    """As the law sees it: Laplace noise is drawn on integers, which floats of a huge total cannot tell apart."""
    stage = plan.stage
    if not all(isinstance(part.law, dp.noise.Laplace) for part in stage.parts):
        return loss(plan, one, two)
    moved = zip(stage.parts, stage.to_lattice(one), stage.to_lattice(two), strict=True)
    return float(sum(part.law.epsilon * Fraction(sum(abs(x - y) for x, y in zip(a, b, strict=True)),
                                                part.law.sensitivity) for part, a, b in moved))  # fmt: skip


def many(plan: Any, record: np.ndarray, count: int) -> dp.engines.Summary:
    """So many equal records, by doubling."""
    found, several = plan.summarize(record[:0]), plan.summarize(record)
    while count:
        found = found.plus(several) if count & 1 else found
        several, count = several.plus(several), count >> 1
    return found


def test_a_summary_for_a_public_number_serves_no_private_one():
    """Of more records n are kept: without one of them another takes its place, a loss of 2 under add-remove."""
    facts = {"n": 7, "epsilon": 1, "domain": [(0, 1)], "invalid": "center"}
    public, private = (dp.DensityPlan(neighbors=relation, **facts) for relation in RELATIONS)
    places = np.where(np.arange(30) % 2, 0.1, 0.9)[:, None] + np.arange(30)[:, None] / 1e4
    for records in (places, places[:5]):  # whether there were more is nobody's business
        with pytest.raises(dp.errors.PlanMismatch, match="public number"):
            private.release(public.summarize(records))
        assert public.release(public.summarize(records))
    public, private = (dp.MeanPlan(**FACTS, n=7, invalid="center", neighbors=relation) for relation in RELATIONS)
    parts = [public.summarize(np.zeros((20, WIDTH)), site=site) for site in ("a", "b")]
    with pytest.raises(dp.errors.PlanMismatch, match="public number"):
        private.release(parts[0].merge(parts[1]))


@pytest.mark.parametrize("relation", RELATIONS)
def test_what_cannot_be_drawn_is_refused_before_any_charge(relation):
    """Later stages are calibrated when a plan is made: one that is accepted can be carried out to its end."""
    curves = {"bound": dp.L2Ball(1.0), "grid": 12, "neighbors": relation, "invalid": "center"}
    kinds = (
        lambda **facts: dp.CovariancePlan(**facts, **curves),
        lambda **facts: dp.plans.RegressionPlan(**facts, **curves, covariates=2, covariate_bound=1.0),
    )
    carried_out = 0
    for plan_of in kinds:
        for n, epsilon in ((2, 1e-9), (1000, 1e-8), (30, 1.0), (2**37 - 1, 1e4)):
            try:
                plan = plan_of(n=n, epsilon=epsilon)
            except dp.errors.ParameterError:
                continue
            assert np.isfinite(plan.release(np.zeros((3, plan.stage.problem.width))).values).all()
            carried_out += 1
    assert carried_out >= 2


PRIVATE = {"epsilon": 1, "neighbors": "add-remove", "invalid": "center"}
COUNTED = {
    "mean": dp.MeanPlan(n=10, **FACTS, neighbors="add-remove", invalid="center"),
    "covariance": dp.CovariancePlan(n=10, **(FACTS | PRIVATE | {"grid": 6})),
    "density": dp.DensityPlan(n=10, domain=[(0, 1)], cells=8, outside="clip", **PRIVATE),
    "logistic": dp.plans.KernelPlan(n=10, domain=[(0, 1)], classes=("a", "b"), **PRIVATE),
    "hinge": dp.plans.KernelPlan(n=10, domain=[(0, 1)], classes=("a", "b"), criterion="hinge", **PRIVATE),
    "minimiser": dp.plans.KernelPlan(n=10, domain=[(0, 1)], classes=("a", "b"), psi=0.1, **PRIVATE),
    "huber": dp.plans.KernelPlan(n=10, domain=[(0, 1)], bound=(0, 1), criterion="huber", **PRIVATE),
    "smoother": dp.plans.SmootherPlan(n=10, domain=[(0, 1)], bound=(0, 1), passes=1, **PRIVATE),
    "regression": dp.plans.RegressionPlan(
        n=10, covariates=1, covariate_bound=1.0, passes=1, bound=dp.L2Ball(1.0), grid=6, **PRIVATE
    ),
    "radius": dp.plans.RadiusPlan(n=10, grid=6, bound=dp.L2Ball(8.0), smallest=4.0, **PRIVATE),
}


@pytest.mark.parametrize("kind", COUNTED)
def test_no_private_number_of_records_is_refused(kind):
    plan = COUNTED[kind]
    width = plan.stage.problem.width
    records = [np.full((1, width), 0.5), np.zeros((1, width)), np.full((1, width), np.nan)]
    for count in (0, 1, 999, 1000, 1001, 10**5, 2**29, 2**30, 2**31, 2**37, 2**62):
        base = many(plan, records[0], count)
        for record in records:
            assert exact_loss(plan, base.plus(plan.summarize(record)), base) <= 1, (count, record[0, 0])
    assert plan.release(many(plan, records[0], 1001)).raw.size
    assert plan.release(many(plan, records[0], 2**31)).raw.size


def test_totals_beyond_63_bits_are_exact():
    plan = COUNTED["covariance"]
    record = np.linspace(-0.3, 0.4, 6)[None]
    small, large = plan.summarize(record), many(plan, record, 2**40)
    assert large.totals.dtype == object
    assert large.totals.tolist() == [2**40 * int(x) for x in small.totals.tolist()]
    saved = checkpoints.summary_of(checkpoints.plain_summary(large))
    assert saved == large
    assert large.plus(small).count == 2**40 + 1


def test_the_weight_of_many_records_levels_off():
    """Together they weigh less than a hundred times the guess; of about that many, nearly as much as they are."""
    problem = COUNTED["minimiser"].problem
    assert problem._weights(np.array([10])).sum() == pytest.approx(1.0, rel=0.011)
    weights = [problem._weights(np.array([2**k])).sum() for k in range(0, 60, 3)]
    assert np.all(np.diff(weights) > 0)
    assert max(weights) < 100


@pytest.mark.parametrize("criterion", ["logistic", "hinge"])
def test_one_record_among_very_many_moves_a_minimiser_no_further(criterion):
    """About the place where weights level off, with records that pull one way and one that pulls the other."""
    plan = dp.plans.KernelPlan(
        n=5,
        domain=[(0, 1)],
        classes=("a", "b"),
        criterion=criterion,
        psi=0.5,
        components=4,
        method=dp.methods.KNorm(4),
        **PRIVATE,
    )
    worst = 0.0
    for count in (0, 3, 50, 200, 499, 500, 501, 800, 2000, 10**6):
        base = many(plan, np.array([[0.3, 1.0]]), count)
        for record in ([0.3, 0.0], [0.3, 1.0], [0.9, 0.0], [0.0, 0.0]):
            worst = max(worst, loss(plan, base.plus(plan.summarize(np.array([record]))), base))
    assert 0.3 < worst <= 1


# -- 3. and 8. labels -------------------------------------------------------------------------------------

MISSING = ["", " ", "NA", "na", "nan", "NaN", "null", "NULL", "None", "none", "N/A", "#N/A", "<NA>", "NaT", '"NA"']


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("word", MISSING)
def test_a_word_for_nothing_is_nobody_in_every_format(word, neighbors, tmp_path):
    people = ["a", "b", word]
    strict, plan = (plan_of(n=2, neighbors=neighbors, invalid=invalid) for invalid in ("raise", "center"))
    expected = plan.summarize(dp.read(table(["a", "b"]), columns=NAMES))
    table(people).to_csv(tmp_path / "a.csv", index=False, quoting=3 if '"' not in word else 0)
    table(people).to_parquet(tmp_path / "a.parquet")
    frame = table(people)
    for data in (tmp_path / "a.csv", tmp_path / "a.parquet", frame, pa.Table.from_pandas(frame)):
        with pytest.raises(dp.errors.RecordError, match="A who is missing"):
            strict.summarize(dp.read(data, columns=NAMES, header=True))
        assert plan.summarize(dp.read(data, columns=NAMES, header=True)) == expected
    assert plan.summarize(frame[NAMES].to_numpy(), units=people) == expected


def test_the_quick_and_the_careful_reader_know_the_same_words(tmp_path):
    """A bad cell further down makes the careful reader take over, which must not change what a label is."""
    plan = plan_of(n=9, neighbors="add-remove", invalid="center")
    lines = [",".join(["who", *NAMES]), *(",".join([word, *["0.1"] * WIDTH]) for word in MISSING)]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    assert plan.summarize(dp.read(tmp_path / "a.csv", header=True)).count == 0
    (tmp_path / "b.csv").write_text("\n".join([*lines, ",".join(["x", *["oops"] * WIDTH])]) + "\n")
    assert plan.summarize(dp.read(tmp_path / "b.csv", header=True)).count == 1


def test_a_listed_group_may_be_called_none():
    ages, severity = np.linspace(0, 1, 60), ["none", "mild", "NA"] * 20
    found = dp.density(ages, by=severity, groups=["none", "mild", "NA"], epsilon=1, domain=[(0, 1)])
    assert [part.plan.n for part in found.values()] == [20, 20, 20]
    with pytest.raises(dp.errors.RecordError, match="missing"), pytest.warns(dp.errors.NotPrivateWarning):
        dp.density(ages, by=severity, epsilon=1, domain=[(0, 1)])


def test_labels_of_text_files_are_compared_as_written(tmp_path):
    plan = plan_of(n=2, neighbors="add-remove")
    spellings = ["3.", "3", "3.0", "1e3", "1000", "3.50", "3.5", "True", "1", "01"]
    for ending in ("csv", "parquet"):
        frame = table([*spellings, *(f" {s} " for s in spellings)])
        path = tmp_path / f"a.{ending}"
        frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
        assert plan.summarize(dp.read(path, columns=NAMES)).count == len(spellings)
    typed = table([3, 3.0, np.float32(3), 1000, 1e3, 3.5, np.float64(3.5)])
    assert plan.summarize(dp.read(typed, columns=NAMES)).count == 3


def test_files_whose_labels_differ_in_type_are_not_joined(tmp_path):
    plan = plan_of(n=4, neighbors="add-remove")
    kinds = {"int64": [3, 4], "float64": [3.0, 4.0], "str": ["3", "4"], "bool": [True, False]}
    for name, people in kinds.items():
        table(people).astype({"who": name}).to_parquet(tmp_path / f"{name}.parquet")
    table([3, 4]).astype({"who": "int32"}).to_parquet(tmp_path / "int32.parquet")
    table(["3", "4"]).to_csv(tmp_path / "text.csv", index=False)
    read = lambda *names: plan.summarize(dp.read([tmp_path / n for n in names], columns=NAMES)).count  # noqa: E731
    for one, two in (("int64", "float64"), ("int64", "str"), ("float64", "str"), ("bool", "int64")):
        with pytest.raises(dp.errors.FileError, match="labels of another type"):
            read(f"{one}.parquet", f"{two}.parquet")
    with pytest.raises(dp.errors.FileError, match="labels of another type"):
        read("int64.parquet", "text.csv")
    assert read("int64.parquet", "int32.parquet") == 2
    assert read("str.parquet", "text.csv") == 2


# -- 5. and 10. nothing that a record holds stops a run -----------------------------------------------------


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_long_curve_is_smoothed_in_bounded_memory(neighbors, monkeypatch):
    plan = dp.MeanPlan(n=2, **(FACTS | {"grid": 24}), align=dp.spaces.Smooth(), neighbors=neighbors, invalid="center")
    t = np.linspace(0, 1, 30_000)
    largest = []
    real = dp.spaces.own_times._seen
    monkeypatch.setattr(dp.spaces.own_times, "_seen", lambda *given: (largest.append(found := real(*given)), found)[1])
    found = plan.summarize(dp.reading.Irregular([t, t[::600]], [np.sin(5 * t), np.cos(t[::600])]))
    assert found.count == 2
    assert max(each.size for each in largest) <= dp.spaces.own_times.CHUNK * 24
    short = plan.summarize(dp.reading.Irregular([t[::10], t[::600]], [np.sin(5 * t[::10]), np.cos(t[::600])]))
    assert found.totals == pytest.approx(short.totals, rel=1e-2, abs=2e4)  # the same curve, seen ten times as often


def test_a_curve_of_too_many_observations_is_unusable(monkeypatch):
    monkeypatch.setattr(dp.spaces.alignment, "MOST_OBSERVATIONS", 100)
    t = np.linspace(0, 1, 101)
    data = dp.reading.Irregular([t, t[:100:3]], [t, t[:100:3]])
    facts = {**FACTS, "align": "linear", "n": 2}
    with pytest.raises(dp.errors.RecordError, match="more than 100 observations in row 1"):
        dp.MeanPlan(**facts).summarize(data)
    plan = dp.MeanPlan(**facts, invalid="center")
    nothing = dp.reading.Irregular([[], t[:100:3]], [[], t[:100:3]])
    assert plan.summarize(data) == plan.summarize(nothing)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize(
    "label", ["", None, float("inf"), float("nan"), "NA", object(), b"\xff\xfe", 10**400], ids=lambda x: str(x)[:9]
)
def test_no_label_of_a_person_stops_a_run(label, neighbors):
    plan = plan_of(n=3, neighbors=neighbors, invalid="center")
    base = plan.summarize(dp.read(table(["a", "b"]), columns=NAMES))
    found = plan.summarize(dp.read(table(["a", "b", label]), columns=NAMES))
    assert loss(plan, found, base) <= 1
    if dp.core.labels.is_missing(
        dp.core.labels.label_text(label)
    ):  # a row that says whose it is, and one that does not
        assert loss(plan, plan.summarize(dp.read(table(["a", "b", "x", label]), columns=NAMES)), base) <= 1


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_no_label_of_a_group_stops_a_run(neighbors):
    facts = {**FACTS, "invalid": "center", "neighbors": neighbors}
    plan = dp.plans.GroupPlan(("x", "y"), [dp.MeanPlan(n=3, **facts)] * 2)
    rows = np.tile(CURVE, (6, 1))
    for odd in (None, "", "z", float("nan"), object()):
        found = plan.summarize(rows, [*"xxyyy", odd])
        assert {name: part.count for name, part in found.items()} == {"x": 2, "y": 3}
        assert plan.release(found)["x"].plan.n == 3  # under replace the missing one is the centre
    people = dp.plans.GroupPlan(("x", "y"), [dp.MeanPlan(n=2, unit="who", **facts)] * 2)
    # A row without a group is left out of its person; a person in two groups is in none.
    found = people.summarize(rows, ["x", None, "y", "y", "x", "y"], units=[*"aabbcc"])
    assert {name: part.count for name, part in found.items()} == {"x": 1, "y": 1}


def test_no_row_of_a_text_file_stops_a_run(tmp_path):
    for place in (0, 3, WIDTH):
        names = [*NAMES[:place], "who", *NAMES[place:]]
        rows = [["0.1"] * WIDTH for _ in range(3)]
        for person, row in zip("abc", rows, strict=True):
            row.insert(place, person)
        rows[1].append("0.5")
        path = tmp_path / f"{place}.csv"
        path.write_text("\n".join(",".join(cells) for cells in [names, *rows]) + "\n")
        found = plan_of(n=3, invalid="center").summarize(dp.read(path, columns=NAMES, header=True))
        assert found.count == 2  # whose the broken row is cannot be told, wherever the label stands


def test_no_item_of_an_iterator_decides_what_the_others_are():
    plan = dp.MeanPlan(n=5, **FACTS, invalid="center", neighbors="add-remove")
    usual = [CURVE.copy() for _ in range(4)]
    base = plan.summarize(iter(usual))
    odd = [np.ones((3, WIDTH)), table(["a"]), [[1.0] * WIDTH] * 3, None, {}, *hostile(WIDTH)]
    for item in odd:
        for items in ([item, *usual], [*usual[:2], item, *usual[2:]]):
            found = plan.summarize(iter(items))
            assert found.count == 5
            assert loss(plan, found, base) <= 1
    batches = dp.reading.Batches([np.array(usual[:2]), None, np.array(usual[2:])])
    assert plan.summarize(batches).count == 5
    frames = iter([table(["a", "b"]), 3.0, table(["c"])])
    assert plan_of(n=3, invalid="center").summarize(dp.read(frames, columns=NAMES)).count == 3


def test_each_line_of_a_broken_file_counts_once(tmp_path):
    """Mangled line ends doubled the records of files with one column; a carriage return made two records of one."""
    values = [f"{x:.3f}" for x in np.linspace(0, 1, 300)]
    for end in ("\n", "\r\n", "\r\r\n", "\r\r\r\n"):
        (tmp_path / "x.csv").write_bytes(end.join(["age", *values, ""]).encode())
        assert (
            dp.density(dp.read(tmp_path / "x.csv", header=True), epsilon=1, domain=[(0, 1)], invalid="center").plan.n
            == 300
        )
    plan = dp.MeanPlan(
        n=3, **(FACTS | {"grid": 2, "method": dp.methods.KNorm(1)}), invalid="center", neighbors="add-remove"
    )
    for cell in ("1\r1", "\r", "1\r,1\r", "\r\r", "oops"):
        (tmp_path / "y.csv").write_bytes(f"a,b\n0,0\n{cell},0\n0,1\n".encode())
        assert plan.summarize(dp.read(tmp_path / "y.csv", header=True)).count == 3
    (tmp_path / "z.csv").write_bytes("age\r\n1\r\n".encode("utf-16-le"))  # without the mark that says so
    with pytest.raises(dp.errors.FileError, match="UTF-8"):
        dp.density(dp.read(tmp_path / "z.csv", header=True), epsilon=1, domain=[(0, 1)], invalid="center")
    private = dp.DensityPlan(n=9, epsilon=1, domain=[(0, 1)], invalid="center", neighbors="add-remove")
    for first in (b"\xff\xfe1", b"\xef\xbb\xbf", b"\x00", b"1,2,3", b'"'):  # without names the first line is a record
        (tmp_path / "w.csv").write_bytes(first + b"\n0.5\n")
        assert private.summarize(dp.read(tmp_path / "w.csv", header=False)).count == 2


def test_the_header_alone_says_how_a_file_is_laid_out(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,c\n" + "1,2,3\n" * 3)
    with pytest.raises(dp.errors.RecordError, match=f"has 3 values and the plan expects {WIDTH}"):
        dp.MeanPlan(n=3, **FACTS, invalid="center").summarize(dp.read(tmp_path / "a.csv", header=True))
    (tmp_path / "b.csv").write_text("a,b,c\n")
    with pytest.raises(dp.errors.RecordError, match="has 3 values"):  # whether there are records does not matter
        dp.MeanPlan(n=3, **FACTS, invalid="center", neighbors="add-remove").summarize(
            dp.read(tmp_path / "b.csv", header=True)
        )


STAGED = {
    "mean": dp.MeanPlan(n=40, **FACTS, invalid="center"),
    "covariance": dp.CovariancePlan(n=40, **(FACTS | {"grid": 6}), invalid="center"),
    "density": dp.DensityPlan(n=40, epsilon=1, domain=[(0, 1)], cells=8, invalid="center", outside="clip"),
    "logistic": dp.plans.KernelPlan(n=40, epsilon=1, domain=[(0, 1)], classes=("a", "b"), invalid="center"),
    "smoother": dp.plans.SmootherPlan(n=40, epsilon=1, domain=[(0, 1)], bound=(0, 1), passes=4, invalid="center"),
    "radius": dp.plans.RadiusPlan(n=40, epsilon=1, grid=6, bound=dp.L2Ball(8.0), invalid="center"),
    "rounds": dp.MeanPlan(
        n=40, **(FACTS | {"method": dp.methods.Staged(dp.methods.KNorm(3), spread=0.5)}), invalid="center"
    ),
}


@pytest.mark.parametrize("kind", STAGED)
def test_missing_records_count_as_the_centre_and_surplus_ones_are_dropped(kind):
    """Where n is public and given: any number of records is released, and neighbours stay neighbours."""
    plan, rng = STAGED[kind], np.random.default_rng(0)
    width = plan.stage.problem.width
    data = rng.uniform(0, 1, (95, width))
    if kind == "logistic":
        data[:, -1] = data[:, -1] > 0.5
    odd = np.vstack([np.zeros(width), np.full(width, 1e300), np.full(width, np.nan), rng.uniform(0, 1, (3, width))])
    for count in (0, 1, 39, 40, 41, 95):
        seen = [plan.statistic(plan.summarize(np.vstack([data[:count], row]))) for row in odd]
        assert max(plan.loss(a - b) for a in seen for b in seen) <= float(plan.stage.epsilon)
        assert plan.release(np.vstack([data[:count], odd[:1]])).raw.size
    assert plan.summarize(data).count == 40
    order = rng.permutation(95)
    assert plan.summarize(data[order]) == plan.summarize(data)  # whatever order they come in


def test_the_records_that_are_kept_are_the_same_in_every_pass_and_form(tmp_path, rng):
    plan = dp.MeanPlan(n=30, **FACTS, invalid="center")
    data = rng.normal(0, 0.3, (100, WIDTH))
    kept = plan.summarize(data)
    frame = pd.DataFrame(data, columns=NAMES)
    frame.to_parquet(tmp_path / "a.parquet")
    for other in (frame, tmp_path / "a.parquet", data.tolist(), pa.Table.from_pandas(frame)):
        assert plan.summarize(other) == kept
    assert plan.summarize(iter(data)) == plan.summarize(dp.reading.Batches([data[:60], data[60:]])) == kept
    with pytest.raises(dp.errors.PlanMismatch, match="kept 30 of more curves, for a plan with n = 30"):
        dp.MeanPlan(n=50, **FACTS, invalid="center").release(kept)
    twice = plan.summarize(np.vstack([data[:5]] * 20))  # records that are equal
    assert twice.count == 30


def test_equal_records_are_not_dropped_all_together():
    """Ages are whole numbers: of each, about as many go as of the others."""
    ages = np.repeat(np.arange(0, 100) / 100 + 0.005, 30)[:, None]
    plan = dp.DensityPlan(n=1500, epsilon=1, domain=[(0, 1)], cells=100, invalid="center", outside="clip")
    totals = plan.summarize(ages).totals
    assert totals.sum() == 1500
    assert totals.min() > 2
    assert totals.max() < 28


MISSING_KINDS = {
    **{
        f"mean {m!r}": dp.MeanPlan(n=40, **(FACTS | {"method": m}), invalid="center")
        for m in (
            dp.methods.FRL(3),
            dp.methods.QR(),
            dp.methods.AR(),
            dp.methods.KNorm(3),
            dp.methods.Bernstein(5),
            dp.methods.Select([dp.methods.KNorm(2), dp.methods.KNorm(4)]),
        )
    },
    "ellipsoid": dp.MeanPlan(n=40, **(FACTS | {"bound": dp.bounds.Ellipsoid([1.0, 0.5, 0.2])}), invalid="center"),
    **{
        f"density {m!r}": dp.DensityPlan(n=40, epsilon=1, domain=[(0, 1)], cells=16, invalid="center", method=m)
        for m in (
            None,
            dp.methods.FRL(4),
            dp.methods.QR(),
            dp.methods.Bernstein(8),
            dp.methods.Bernstein(20, sensitivity="tight"),
        )
    },
    "covariance": dp.CovariancePlan(n=40, **(FACTS | {"grid": 6}), invalid="center"),
    "covariance centred": dp.CovariancePlan(n=4000, epsilon=1, bound=dp.L2Ball(1.0), grid=6, invalid="center"),
    "smoother": dp.plans.SmootherPlan(n=40, epsilon=1, domain=[(0, 1)], bound=(0, 1), passes=4, invalid="center"),
    "regression": dp.plans.RegressionPlan(
        n=40, epsilon=1, bound=dp.L2Ball(1.0), covariates=2, covariate_bound=1.0, grid=6, passes=4, invalid="center"
    ),
    "huber": dp.plans.KernelPlan(n=40, epsilon=1, domain=[(0, 1)], bound=(0, 1), criterion="huber", invalid="center"),
    "radius": dp.plans.RadiusPlan(n=40, epsilon=1, grid=6, bound=dp.L2Ball(8.0), invalid="center"),
    "rounds": dp.MeanPlan(
        n=40, **(FACTS | {"method": dp.methods.Staged(dp.methods.KNorm(3), spread=0.5)}), invalid="center"
    ),
    "chosen rounds": dp.MeanPlan(
        n=400, **(FACTS | {"method": dp.methods.Staged(dp.methods.KNorm(3))}), invalid="center"
    ),
}


@pytest.mark.parametrize("kind", MISSING_KINDS)
def test_a_missing_record_is_an_unusable_one_in_every_stage(kind):
    """To the bit; so a record that vanishes (its label is missing, say) moves nothing further than one that changes."""
    plan, rng = MISSING_KINDS[kind], np.random.default_rng(3)
    width = plan.stage.problem.width
    rows = np.tile(rng.uniform(0, 1, (39, width)), (-(-plan.n // 39), 1))[: plan.n - 1]
    stage, drawn = plan.stage, []
    while stage is not None:
        few, whole, *others = (
            stage.statistic(engines.summarize(stage.encoder, data))
            for data in (rows, *(np.vstack([rows, x]) for x in (np.full(width, np.nan), rows[0], np.full(width, 9.0))))
        )
        assert np.array_equal(few, whole)
        assert max(stage.loss(few - other) for other in others) <= float(stage.epsilon)
        drawn.append(whole)
        stage = plan.schedule.next(drawn)


def test_a_group_label_that_goes_missing_costs_no_more(rng):
    plans = [
        dp.DensityPlan(n=40, epsilon=1, domain=[(0, 1)], cells=16, invalid="center", method=dp.methods.Bernstein(8))
    ] * 2
    plan, points = dp.plans.GroupPlan(("x", "y"), plans), rng.uniform(0, 1, 80)
    labels = ["x", "y"] * 40
    whole = plan.summarize(points, labels)
    for place in (0, 1):
        lost = plan.summarize(points, [None if i == place else label for i, label in enumerate(labels)])
        assert sum(loss(plan[name], whole[name], lost[name]) for name in ("x", "y")) <= 1


def test_another_number_of_records_is_refused_where_records_may_stop_a_run(rng):
    plan = dp.MeanPlan(n=30, **FACTS)
    for count in (29, 31):
        with pytest.raises(dp.errors.PlanMismatch, match=f"n = 30 curves and the data has {count}"):
            plan.release(rng.normal(0, 0.3, (count, WIDTH)))


def test_no_word_about_records_that_were_centred(rng, caplog, capsys):
    data = rng.normal(0, 0.3, (30, WIDTH))
    data[3:20] = np.nan

    def said(rows):
        caplog.clear()
        with warnings.catch_warnings(), caplog.at_level("DEBUG"):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", dp.errors.NoiseWarning)  # tiny data
            release = dp.mean(rows, n=25, invalid="center", **FACTS)
        words = [release.statement, repr(release), *(record.getMessage() for record in caplog.records)]
        return [word.replace(release.created, "") for word in [*words, *capsys.readouterr()]]

    assert said(data) == said(rng.normal(0, 0.3, (25, WIDTH))) == said(data[:4])


# -- 6. the stages and the charge -----------------------------------------------------------------------------


class TenTimes(dp.methods.FRL):
    """Calibrates for ten times the budget it is given."""

    def calibrate(self, problem, epsilon):
        return super().calibrate(problem, 10 * epsilon)


class LateTenTimes(dp.methods.KNorm):
    """The same in a first round of several."""

    def calibrate(self, problem, epsilon):
        return super().calibrate(problem, 10 * epsilon)


def test_a_method_that_spends_more_than_is_charged_is_refused(tmp_path):
    book = dp.Ledger.create(tmp_path / "s.ledger", study="s", epsilon=100)
    plans = [
        dp.MeanPlan(n=6, **(FACTS | {"method": TenTimes(3)})),
        dp.MeanPlan(n=6, **(FACTS | {"method": dp.methods.Staged(LateTenTimes(3), spread=0.5)})),
    ]
    for plan in plans:
        with pytest.raises(dp.errors.PlanMismatch, match="does not keep to its budget"):
            plan.release(np.zeros((6, WIDTH)), book)
    groups = dp.plans.GroupPlan(("x", "y"), [dp.MeanPlan(n=3, **(FACTS | {"epsilon": e})) for e in (1, "1/4")])
    broken = dp.plans.GroupPlan(
        ("x", "y"),
        [dp.MeanPlan(n=3, **FACTS), dp.MeanPlan(n=3, **(FACTS | {"epsilon": "1/20", "method": TenTimes(3)}))],
    )
    assert groups.release(np.zeros((6, WIDTH)), book, by=list("xxxyyy"))
    with pytest.raises(
        dp.errors.PlanMismatch, match=r"cost epsilon 0\.5 .* charges 0\.05"
    ):  # within the other group's budget
        broken.release(np.zeros((6, WIDTH)), book, by=list("xxxyyy"))
    assert book.spent == 1


def test_a_later_stage_that_costs_too_much_is_never_drawn(tmp_path, monkeypatch):
    book = dp.Ledger.create(tmp_path / "s.ledger", study="s", epsilon=10)
    plan = dp.MeanPlan(n=40, **(FACTS | {"method": dp.methods.Staged(dp.methods.KNorm(3), spread=0.5)}))
    real = type(plan.schedule)._refinement
    drawn = []

    def greedy(self, centre, axes, number):
        stage = real(self, centre, axes, number)
        law = type(stage.parts[0].law)(stage.parts[0].law.epsilon * 5, stage.parts[0].law.axes, 1.0)
        monkeypatch.setattr(type(law), "draw", lambda *given: drawn.append(given))
        return dp.problems.stage.Stage(
            stage.problem, (dp.problems.stage.Part(stage.parts[0].where, stage.parts[0].filter, law),)
        )

    plan.release(np.zeros((40, WIDTH)))
    monkeypatch.setattr(type(plan.schedule), "_refinement", greedy)
    first = plan.stage.parts[0].law
    monkeypatch.setattr(type(first), "draw", lambda self, settled, count=None: self.real(settled))
    with pytest.raises(dp.errors.PlanMismatch, match="does not keep to its budget") as caught:
        plan.release(np.zeros((40, WIDTH)), book)
    assert drawn == []
    assert any("stands" in note for note in caught.value.__notes__)
    assert book.spent == 1


# -- 7. groups and classes that are read from the data ---------------------------------------------------------


def test_groups_read_from_the_data_are_said(rng):
    ages, sex = rng.uniform(0, 1, 60), ["f", "m"] * 30
    with pytest.warns(
        dp.errors.NotPrivateWarning, match=r"Which groups there are is read from the data.*groups=\[\.\.\.\]"
    ):
        found = dp.density(ages, by=sex, epsilon=1, domain=[(0, 1)])
    assert "They were read from the data" in found.statement
    assert dp.plans.GroupPlan.from_json(found.plan.to_json()).labels_read
    given = dp.density(ages, by=sex, groups=["f", "m"], epsilon=1, domain=[(0, 1)])
    assert "read from the data" not in given.statement
    assert given.plan.labels_read is None
    assert "labels_read" not in given.plan.to_json()  # so that digests stay what they were
    with pytest.warns(dp.errors.NotPrivateWarning):
        curves = dp.mean(rng.normal(0, 1, (60, 6)), by=sex, epsilon=1, bound=dp.L2Ball(1.0), method=dp.methods.KNorm(2))
    assert "They were read from the data" in curves.statement
    with pytest.raises(dp.errors.ParameterError, match="must be public"):
        dp.density(ages, by=sex, epsilon=1, domain=[(0, 1)], neighbors="add-remove", n=60)


def test_classes_read_from_the_data_are_said(rng, tmp_path):
    X, y = rng.uniform(0, 1, (60, 1)), np.array(["no", "yes"] * 30)
    with pytest.warns(dp.errors.NotPrivateWarning, match=r"Which classes there are .*classes=\[\.\.\.\]"):
        model = dp.KernelClassifier(epsilon=1, domain=(0, 1)).fit(X, y)
    assert "They were read from the data" in model.statement
    model.save(tmp_path / "m.json")
    assert "They were read from the data" in dp.load(tmp_path / "m.json").statement
    given = dp.KernelClassifier(epsilon=1, domain=(0, 1), classes=["no", "yes"]).fit(X, y)
    assert "read from the data" not in given.statement
    y[7] = "syphilis"
    with pytest.warns(dp.errors.NotPrivateWarning):
        three = dp.KernelClassifier(epsilon=1, domain=(0, 1)).fit(X, y)
    assert "They were read from the data" in three.statement


# -- engines ---------------------------------------------------------------------------------------------------


def test_engines_refuse_surplus_records_and_count_missing_ones(rng):
    pytest.importorskip("dask", reason="the dask extra is not installed")
    import dask.array

    data = rng.normal(0, 0.3, (50, WIDTH))
    plan = dp.MeanPlan(n=60, **FACTS, invalid="center")
    assert plan.summarize(dask.array.from_array(data, chunks=(7, -1))) == plan.summarize(data)
    assert plan.release(dask.array.from_array(data, chunks=(7, -1))).plan.n == 60
    few = dp.MeanPlan(n=40, **FACTS, invalid="center")
    with pytest.raises(dp.errors.PlanMismatch, match="n = 40 curves and the data has 50"):
        few.release(dask.array.from_array(data, chunks=(7, -1)))


def test_shares_of_people_are_the_same_everywhere():
    labels = np.array([f"u{i}" for i in range(1000)], dtype=object)
    found = shares(labels, 7)
    assert sorted(set(found.tolist())) == list(range(7))
    assert shares(labels[::-1], 7).tolist() == found[::-1].tolist()


@pytest.mark.parametrize(("neighbors", "invalid"), [*PUBLIC, ("replace", "raise")])
def test_engines_know_whose_rows_they_read(neighbors, invalid, rng):
    dask = pytest.importorskip("dask.dataframe", reason="the dask extra is not installed")
    plan = plan_of(n=4, neighbors=neighbors, invalid=invalid)
    people = ["a", "b", "c", "zz"] * 10 + (["NA", None] * 5 if invalid == "center" else [])
    frame = table(people)
    frame[NAMES] *= rng.uniform(-1, 1, (len(people), 1))
    parts = dask.from_pandas(frame, npartitions=4)
    whole = plan.summarize(dp.read(parts, columns=NAMES))
    assert whole == plan.summarize(dp.read(frame, columns=NAMES))
    assert (whole.origins[0].found is None) == ((neighbors, invalid) != ("replace", "raise"))
    with pytest.raises(dp.errors.RecordError, match="may be in both"):
        whole.merge(plan.summarize(dp.read(table(["b", "x"]), columns=NAMES)))
    if invalid == "center":
        some = plan.summarize(dp.read(parts, columns=NAMES), between=("a", "b"))
        assert some == plan.summarize(dp.read(frame, columns=NAMES), between=("a", "b"))
        assert some.count == 2
