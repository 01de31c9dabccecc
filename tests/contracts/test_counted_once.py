"""Nobody counts twice and no record decides how another is read: attacks that once worked, and their relatives."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpfda as dp

#: Tests of what is read from data are elsewhere (test_labels_read).
pytestmark = pytest.mark.filterwarnings("ignore:Which (groups|classes) there are:dpfda.errors.NotPrivateWarning")

WIDTH = 6
GRID = dp.Grid.uniform(0, 24, WIDTH)
FACTS = {"epsilon": 1, "bound": dp.L2Ball(1.0), "grid": GRID, "method": dp.methods.KNorm(3), "invalid": "center"}


def plan_of(n: int = 5, **options: object) -> dp.MeanPlan:
    return dp.MeanPlan(n=n, **(FACTS | options))


def loss(plan: dp.MeanPlan, first: object, second: object, **reading: object) -> float:
    a, b = (plan.statistic(plan.summarize(dp.read(data, **reading))) for data in (first, second))
    return plan.loss(a - b)


SPELLINGS = [
    ["a", "a\0"], ["a", " a "], ["a", "\ufeffa"], ["a", "a\u200b"], ["a", '"a"'], ["a", b"a"],
    ["3", 3, 3.0, Decimal("3.00"), np.float32(3)], [3.5, Decimal("3.50"), np.float32(3.5)],
    ["\u00e9", "e\u0301"], ["a", "a\u00a0"],
]  # fmt: skip


@pytest.mark.parametrize("labels", SPELLINGS, ids=repr)
def test_a_label_has_one_spelling(labels):
    plan = plan_of(n=2, neighbors="add-remove", unit="who")
    units = labels * 6
    assert plan.summarize(np.ones((len(units), WIDTH)), units=units).count == 1
    frame = pd.DataFrame(np.ones((len(units), WIDTH))).assign(who=pd.Series(units, dtype=object))
    assert plan.summarize(frame).count == 1


def test_labels_that_nothing_joins_stay_apart():
    plan = plan_of(n=2, neighbors="add-remove", unit="who")
    units = ["1", "01", "1e0", "1.", "1.0", "+1", "True", "a", "A", "a b", "ab", "0.1", "0.10"]
    assert plan.summarize(np.ones((len(units), WIDTH)), units=units).count == len(units)


@pytest.mark.parametrize("label", [np.ma.masked, None, float("nan"), "", " \u200b ", pd.NA])
def test_nobody_is_no_unit(label):
    """A row without an owner stops the run, or is left out where nothing that a record holds may stop one."""
    with pytest.raises(dp.errors.RecordError, match="is missing"):
        plan_of(n=2, unit="who", invalid="raise").summarize(np.ones((2, WIDTH)), units=["a", label])
    assert plan_of(n=2, unit="who").summarize(np.ones((2, WIDTH)), units=["a", label]).count == 1


def test_a_long_label_does_not_fill_the_memory():
    units = ["x" * 10_000_000, *map(str, range(2000))]
    assert plan_of(n=2001, unit="who").summarize(np.ones((2001, WIDTH)), units=units).count == 2001


@pytest.mark.parametrize("odd", ["garbage", "2026-06-01T00:00:00Z", "2026-06-01T00:00:00+01:00", "", None])
def test_an_odd_stamp_changes_its_own_curve_only(odd, tmp_path):
    times = pd.date_range("2026-06-01", periods=12, freq="2h").strftime("%Y-%m-%d %H:%M").tolist()
    frame = pd.DataFrame({"meter": np.repeat(np.arange(5), 12), "stamp": times * 5, "kwh": 1.0}).astype(
        {"stamp": object}
    )
    other = frame.copy()
    other.loc[59, "stamp"] = odd
    layout = dp.Long("meter", "stamp", "kwh", day="Europe/Dublin")
    plan = plan_of(unit="meter", align="linear")
    assert loss(plan, frame, other, layout=layout) <= 1
    for name, table in (("a.csv", frame), ("b.csv", other)):
        table.to_csv(tmp_path / name, index=False)
    assert loss(plan, tmp_path / "a.csv", tmp_path / "b.csv", layout=layout, header=True) <= 1
    tables = [pa.table({c: pa.array(list(t[c]), from_pandas=True) for c in t}) for t in (frame, other)]
    assert loss(plan, *tables, layout=layout) <= 1


@pytest.mark.parametrize(
    "odd", [[1.0], [1.0] * 9, None, "SECRET", 7, [["a"] * WIDTH], (1, 2), [10**400] * WIDTH, [None]]
)
def test_an_odd_list_changes_its_own_curve_only(odd):
    cells = [list(np.ones(WIDTH)) for _ in range(5)]
    frame = pd.DataFrame({"load": cells})
    for place in (0, 4):
        other = pd.DataFrame({"load": [odd if i == place else cell for i, cell in enumerate(cells)]}, dtype=object)
        assert loss(plan_of(), frame, other, layout=dp.Lists("load")) <= 1
    ragged = dp.reading.Irregular([GRID.points] * 4 + [odd], [np.ones(WIDTH)] * 5)
    usual = dp.reading.Irregular([GRID.points] * 5, [np.ones(WIDTH)] * 5)
    assert loss(plan_of(align="linear"), usual, ragged) <= 1


def test_errors_about_lists_and_stamps_quote_nothing():
    frame = pd.DataFrame({"load": [[1.0] * WIDTH, ["SECRET"] * WIDTH]})
    with pytest.raises(dp.errors.RecordError, match="row 2") as caught:
        plan_of(n=2, invalid="raise").summarize(dp.read(frame, layout=dp.Lists("load")))
    assert "SECRET" not in str(caught.value)
    long = pd.DataFrame({"meter": ["SECRET", 3], "stamp": ["SECRET", "2026-01-01"], "kwh": [1.0, 2.0]})
    with pytest.raises(dp.errors.RecordError, match="timestamp") as caught:
        plan_of(n=2, invalid="raise", align="linear").summarize(
            dp.read(long, layout=dp.Long("meter", "stamp", "kwh", day="UTC"))
        )
    assert "SECRET" not in str(caught.value)
    with pytest.raises(dp.errors.ParameterError) as refused:
        dp.MeanPlan(n=5, epsilon=1, bound=dp.L2Ball(1.0), grid=6, unit=("SECRET", "b"))
    assert "SECRET" not in str(refused.value)


def test_one_record_does_not_decide_the_grid():
    uneven = pa.table({"load": pa.array([[1.0] * 9, *([[1.0] * WIDTH] * 9)])})
    with pytest.raises(dp.errors.ParameterError, match="grid must be given"):
        dp.mean(uneven, epsilon=1, bound=dp.L2Ball(1.0), invalid="center")
    fixed = pa.table({"load": pa.array([[1.0] * WIDTH] * 20, pa.list_(pa.float64(), WIDTH))})
    assert dp.mean(fixed, epsilon=1, bound=dp.L2Ball(1.0), invalid="center").grid.size == WIDTH


@pytest.mark.parametrize("item", [np.ones((40, WIDTH)), [[1.0] * WIDTH] * 9, "SECRET", None, [1.0], 3.0])
def test_an_item_of_an_iterator_is_one_record(item):
    usual = [np.ones(WIDTH) for _ in range(4)]
    plan = plan_of(n=4, neighbors="add-remove")
    assert plan.summarize(iter([*usual, item])).count == 5
    assert loss(plan, iter([*usual, item]), iter(usual)) <= 1


def test_items_of_two_kinds_are_refused_or_each_is_a_record():
    items = [np.ones((2, WIDTH)), np.ones(WIDTH)]
    with pytest.raises(dp.errors.RecordError, match="batches or records"):
        plan_of(invalid="raise").summarize(iter(items))
    assert plan_of(n=2).summarize(iter(items)).count == 2
    assert plan_of(n=3).summarize(dp.reading.Batches(items)).count == 3  # the second is no batch: one record, unusable


def test_records_of_an_iterator_keep_their_owners(rng):
    curves = rng.normal(0, 1, (3000, WIDTH))
    units = (np.arange(3000) // 3).tolist()
    plan = plan_of(n=1000, unit="who")
    assert plan.summarize(iter(curves), units=units) == plan.summarize(curves, units=units)


def test_one_file_under_two_names_is_refused(tmp_path):
    pytest.importorskip("fsspec", reason="the remote extra is not installed")
    path = tmp_path / "a.csv"
    np.savetxt(path, np.ones((10, WIDTH)), delimiter=",")
    link = tmp_path / "b.csv"
    link.hardlink_to(path)
    for pair in ([path, f"file://{path}"], [path, link], [f"file://{path}", f"file://{tmp_path}/./a.csv"]):
        with pytest.raises(dp.errors.ParameterError, match="named once"):
            plan_of(n=10).summarize(dp.read([str(p) for p in pair], header=False))


def test_one_remote_file_under_two_names_is_refused():
    fsspec = pytest.importorskip("fsspec", reason="the remote extra is not installed")
    with fsspec.open("memory://x/a.csv", "w") as file:
        file.write("1,1,1,1,1,1\n" * 10)
    with pytest.raises(dp.errors.ParameterError, match="named once"):
        plan_of(n=10).summarize(dp.read(["memory://x/a.csv", "memory:///x/a.csv"], header=False))


@pytest.mark.parametrize(
    ("neighbors", "invalid"), [("replace", "raise"), ("add-remove", "raise"), ("replace", "center")]
)
def test_a_file_that_grew_is_not_counted_again(neighbors, invalid, tmp_path):
    """It is refused; where a refusal would tell that it changed, it is not read again, whatever it holds now."""
    path, saved = tmp_path / "a.csv", tmp_path / "c.summary"
    path.write_text("1,1,1,1,1,1\n" * 10)
    plan = plan_of(n=10, neighbors=neighbors, invalid=invalid)
    assert plan.summarize(dp.read(path, header=False), checkpoint=saved).count == 10
    for more in ("1,1,1,1,1,1\n", "\n"):
        path.write_text(path.read_text() + more)
        if (neighbors, invalid) == ("replace", "raise"):
            with pytest.raises(dp.errors.RecordError, match="changed since it was counted"):
                plan.summarize(dp.read(path, header=False), checkpoint=saved)
        else:
            assert plan.summarize(dp.read(path, header=False), checkpoint=saved).count == 10
    assert dp.engines.load_summary(saved).summary.count == 10


def test_files_that_differ_in_the_middle_are_different(tmp_path):
    rows = ["1,1,1,1,1,1\n"] * 20_000
    (tmp_path / "a.csv").write_text("".join(rows))
    rows[10_000] = "2,2,2,2,2,2\n"
    (tmp_path / "b.csv").write_text("".join(rows))
    plan, saved = plan_of(n=10, neighbors="add-remove"), tmp_path / "c.summary"
    plan.summarize(dp.read(tmp_path / "a.csv", header=False), checkpoint=saved)
    both = [tmp_path / "a.csv", tmp_path / "b.csv"]
    assert plan.summarize(dp.read(both, header=False), checkpoint=saved).count == 40_000
    (tmp_path / "d.csv").write_text("".join(rows))  # another file that happens to hold the same
    assert plan.summarize(dp.read([*both, tmp_path / "d.csv"], header=False), checkpoint=saved).count == 60_000


def test_labels_that_are_used_up_by_reading_are_kept(rng, tmp_path):
    ledger = dp.Ledger.create(tmp_path / "s.ledger", study="s", epsilon=2)
    curves = rng.normal(0, 0.3, (1100, WIDTH))
    labels = ["s"] * 100 + ["b"] * 1000
    found = dp.mean(curves, by=iter(labels), epsilon=1, bound=dp.L2Ball(1.0), ledger=ledger)
    assert max(part.plan.schedule.passes for part in found.values()) > 1
    homes = dp.mean(curves, unit=iter(range(1100)), epsilon=1, bound=dp.L2Ball(1.0), ledger=ledger)
    assert homes.plan.n == 1100
    assert ledger.remaining == 0


def test_plans_of_several_passes_have_no_checkpoint(tmp_path):
    plan = dp.MeanPlan(n=5000, epsilon=1, bound=dp.L2Ball(1.0), grid=GRID)
    assert plan.schedule.passes > 1
    with pytest.raises(dp.errors.ParameterError, match="a checkpoint"):
        plan.release(tmp_path / "a.csv", checkpoint=tmp_path / "c.summary")


@pytest.mark.parametrize("content", [None, "x", [[1.0], [1.0, 2.0]], [["a"] * WIDTH], [[10**400] * WIDTH], 3j, []])
def test_no_unit_stops_a_measurement(content):
    import opendp.prelude as odp

    odp.enable_features("contrib", "honest-but-curious")
    measurement = plan_of(n=3, unit="who").to_opendp()
    assert measurement([np.ones((2, WIDTH)), content, np.ones((1, WIDTH))]).plan.n == 3


def test_no_unit_stops_a_run_by_how_much_it_holds():
    many = np.ones((70_000, WIDTH))
    plan = plan_of(n=2, unit="who")
    labels = ["a", *["b"] * 70_000]
    assert plan.summarize(np.vstack([np.zeros((1, WIDTH)), many]), units=labels).count == 2
    strict = plan_of(n=2, unit="who", invalid="raise")
    with pytest.raises(dp.errors.RecordError, match="more than 65,536"):
        strict.summarize(np.vstack([np.zeros((1, WIDTH)), many]), units=labels)


def test_a_unit_of_two_groups_belongs_to_none_where_membership_is_private(rng):
    curves, units = rng.normal(0, 1, (6, WIDTH)), ["a", "a", "b", "b", "c", "c"]
    plans = [plan_of(n=2, unit="who", neighbors="add-remove") for _ in range(2)]
    plan = dp.plans.GroupPlan(("x", "y"), tuple(plans))
    found = plan.summarize(curves, ["x", "x", "x", "y", "y", "y"], units=units)
    assert {name: part.count for name, part in found.items()} == {"x": 1, "y": 1}


def test_what_holds_labels_shows_none():
    plan = plan_of(n=2, unit="who")
    task_blocks = list(
        dp.engines.task.Task(plan.problem).source(dp.read(np.ones((2, WIDTH))), units=["SECRET", "b"]).blocks()
    )
    assert "SECRET" not in repr(task_blocks)


def test_a_checkpoint_knows_how_its_files_were_read(tmp_path):
    frame = pd.DataFrame(np.ones((20, 2 * WIDTH)), columns=[f"{c}{i}" for c in "ab" for i in range(WIDTH)])
    frame = frame.assign(g=["x", "y"] * 10, h=["y", "x"] * 10)
    frame.to_parquet(tmp_path / "one.parquet")
    (frame * 1).assign(a0=2.0).to_parquet(tmp_path / "two.parquet")
    saved, plan = tmp_path / "c.summary", plan_of(n=20)
    plan.summarize(dp.read(tmp_path / "one.parquet", columns="a*"), checkpoint=saved)
    order = [f"a{i}" for i in range(WIDTH)][::-1]
    for other in ({"columns": "b*"}, {"columns": order}, {"columns": "a*", "header": True}, {"layout": dp.Lists("g")}):
        with pytest.raises(dp.DpfdaError, match=r"another way|lists must hold numbers|does not hold"):
            plan.summarize(dp.read(tmp_path / "one.parquet", **other), checkpoint=saved)
    groups = dp.plans.GroupPlan(("x", "y"), (plan_of(n=10), plan_of(n=10)))
    places = tmp_path / "g.summary"
    groups.summarize(dp.read(tmp_path / "one.parquet", columns="a*"), "g", checkpoint=places)
    with pytest.raises(dp.errors.PlanMismatch, match="another way"):
        groups.summarize(dp.read(tmp_path / "two.parquet", columns="a*"), "h", checkpoint=places)
    with pytest.raises(dp.errors.ParameterError, match="name columns for labels"):
        groups.summarize(dp.read(tmp_path / "two.parquet", columns="a*"), ["x"] * 20, checkpoint=tmp_path / "n.summary")


def test_a_file_replaced_while_it_is_hashed_is_not_counted(tmp_path, monkeypatch):
    one, two, saved = tmp_path / "one.csv", tmp_path / "two.csv", tmp_path / "c.summary"
    one.write_text("1,1,1,1,1,1\n" * 30)
    two.write_text("2,2,2,2,2,2\n" * 30)
    real = dp.reading.places.Place.fingerprint

    def replaced(place):
        found = real(place)
        one.write_text(two.read_text())
        return found

    monkeypatch.setattr(dp.reading.places.Place, "fingerprint", replaced)
    with pytest.raises(dp.errors.RecordError, match="changed while it was read"):
        plan_of(n=30, neighbors="add-remove").summarize(dp.read(one, header=False), checkpoint=saved)
    assert not saved.exists()


def test_later_passes_of_groups_read_what_the_first_did(rng, tmp_path):
    ledger = dp.Ledger.create(tmp_path / "s.ledger", study="s", epsilon=2)
    facts = {
        "epsilon": 1,
        "bound": dp.L2Ball(1.0),
        "grid": GRID,
        "method": dp.methods.Staged(dp.methods.KNorm(2), spread=0.3),
    }
    plan = dp.plans.GroupPlan(("x",), (dp.MeanPlan(n=200, unit="who", **facts),))
    curves = rng.normal(0, 0.2, (400, WIDTH))
    labels = (np.arange(400) // 2).tolist()
    assert plan.release(curves, ledger, by=["x"] * 400, units=iter(labels), site="here")["x"].grid == GRID
    assert ledger.remaining == 1


def test_records_that_are_used_up_by_reading_are_unusable():
    rows = [np.ones(WIDTH).tolist(), iter([1.0] * WIDTH), *([[1.0] * WIDTH] * 3)]
    plan = plan_of(n=5)
    assert plan.summarize(rows) == plan.summarize(rows)
    with pytest.raises(dp.errors.RecordError, match="row 2 "):
        plan_of(n=5, invalid="raise").summarize(rows)


def test_a_measurement_gives_no_warning_about_records():
    import opendp.prelude as odp

    odp.enable_features("contrib", "honest-but-curious")
    frame = pd.DataFrame(np.ones((3, WIDTH)), columns=[f"h{i}" for i in range(WIDTH)]).assign(id=["x", "x", "z"])
    assert plan_of(n=3).to_opendp(columns="h*")(frame).plan.n == 3  # warnings are errors here


def test_columns_that_repeat_are_refused():
    frame = pd.DataFrame(np.ones((3, 4)), columns=["a", "a", "b", "who"])
    with pytest.raises(dp.errors.FileError, match="names repeat"):
        plan_of(n=3).summarize(dp.read(frame, columns=["b"]))
    with pytest.raises(dp.errors.ParameterError, match="different"):
        plan_of(n=3).summarize(dp.read(frame.iloc[:, 1:], columns=["b", "b"]))


def test_owners_given_beside_the_data_get_no_warning():
    """Warnings are errors here."""
    frame = pd.DataFrame(np.ones((4, WIDTH)), columns=[f"h{i}" for i in range(WIDTH)]).assign(household=[1, 1, 2, 2])
    plan = plan_of(n=2, unit="who")
    assert plan.summarize(dp.read(frame, columns="h[0-9]"), units=[1, 1, 2, 2]).count == 2
