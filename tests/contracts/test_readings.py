"""Ways into a summary that an attacker found: each test compares two neighbours, or two readings of one thing."""

from __future__ import annotations

import datetime
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpfda as dp

WIDTH = 11
NAMES = [f"h{i:02d}" for i in range(WIDTH)]
FACTS: dict[str, Any] = {"epsilon": 1, "bound": dp.L2Ball(1.0), "method": dp.methods.KNorm(1)}
PRIVATE = {"neighbors": "add-remove", "invalid": "center"}
CURVES = {**FACTS, "grid": WIDTH, "method": dp.methods.KNorm(3)}
CURVE = dp.MeanPlan(n=6, **CURVES).basis.functions[:, 0]


def table(people: list[Any], **more: Any) -> pd.DataFrame:
    return pd.DataFrame(np.tile(CURVE, (len(people), 1)), columns=NAMES).assign(who=people, **more)


def loss(plan: Any, one: Any, two: Any, **reading: Any) -> float:
    seen = [plan.statistic(plan.summarize(dp.read(data, **reading))) for data in (one, two)]
    return float(plan.loss(seen[0] - seen[1]))


# -- checkpoints and groups ----------------------------------------------------------------------------------


def test_a_file_that_is_written_anew_is_another_reading(tmp_path):
    """Somebody in one group of the first reading and in another of the second would be in both."""
    plan = dp.plans.GroupPlan(("x", "y"), [dp.MeanPlan(n=6, unit="who", **CURVES, **PRIVATE)] * 2)
    file, found = tmp_path / "a.csv", {}
    for group, people in (("x", ["a", "p"]), ("y", ["b", "p"])):
        table(people, g=group).to_csv(file, index=False)
        plan.summarize(dp.read(file, columns=NAMES, header=True), "g", checkpoint=tmp_path / group)
        found[group] = dp.engines.load_summary(tmp_path / group).summaries[group]
    with pytest.raises(dp.errors.RecordError, match="the same file is in both"):
        plan.release(found)


def test_one_group_under_two_spellings_is_one(tmp_path):
    file, found = tmp_path / "a.csv", []
    table(["a", "b"], g="x").to_csv(file, index=False)
    for name in ("x", '"x"'):
        plan = dp.plans.GroupPlan((name,), [dp.MeanPlan(n=6, **CURVES)])
        plan.summarize(dp.read(file, columns=NAMES, header=True), "g", checkpoint=tmp_path / f"{len(found)}")
        found.append(dp.engines.load_summary(tmp_path / f"{len(found)}").summaries[name])
    both = dp.plans.GroupPlan(("a", "b"), [dp.MeanPlan(n=6, **CURVES)] * 2)
    with pytest.raises(dp.errors.RecordError, match="in both"):
        both.release({"a": found[0], "b": found[1]})


@pytest.mark.parametrize("invalid", ["raise", "center"])
def test_a_group_without_records_is_released(invalid, tmp_path):
    facts = {**CURVES, "neighbors": "add-remove", "invalid": invalid}
    plan = dp.plans.GroupPlan(("x", "y"), [dp.MeanPlan(n=6, **facts)] * 2)
    for groups in (["x", "y"], ["x", "x"], []):
        table(["a", "b"][: len(groups)], g=groups).to_csv(tmp_path / "a.csv", index=False)
        place = tmp_path / f"c{len(set(groups))}"
        plan.summarize(dp.read(tmp_path / "a.csv", columns=NAMES, header=True), "g", checkpoint=place)
        assert set(plan.release(dict(dp.engines.load_summary(place).summaries))) == {"x", "y"}
    alone = dp.MeanPlan(n=6, **facts)
    alone.summarize(dp.read(tmp_path / "a.csv", columns=NAMES, header=True), checkpoint=tmp_path / "d")
    assert alone.release(dp.engines.load_summary(tmp_path / "d").summary).grid.size == WIDTH


# -- no private number of records, however they come ------------------------------------------------------------


@pytest.mark.parametrize("invalid", ["raise", "center"])
def test_no_records_are_records_too(invalid, tmp_path):
    facts = {**CURVES, "neighbors": "add-remove", "invalid": invalid, "n": 6}
    (tmp_path / "a.csv").write_text("")
    plan = dp.MeanPlan(**facts)
    assert plan.summarize(dp.read(tmp_path / "a.csv", header=False)).count == 0
    assert dp.MeanPlan(**facts, align="linear").summarize(dp.reading.Irregular([], [])).count == 0
    empty = pa.Table.from_pandas(table([])[NAMES].astype(float))
    assert plan.summarize(empty).count == 0
    for wrong in (np.zeros((0, 5)), np.zeros((1, 5))):
        with pytest.raises(dp.errors.RecordError, match="has 5 values"):
            plan.summarize(wrong)
    skfda = pytest.importorskip("skfda", reason="the fda extra is not installed")
    grid = skfda.FDataGrid(np.zeros((2, WIDTH)), np.linspace(0, 1, WIDTH))
    assert plan.summarize(grid[:0]).count == 0


def test_no_number_of_units_makes_a_query_fail():
    import opendp.prelude as odp

    odp.enable_features("contrib", "honest-but-curious")
    query = dp.MeanPlan(n=6, unit="who", **CURVES, **PRIVATE).to_opendp()
    for data in ([], [np.zeros((2, WIDTH))], ["x/y"], ["a.csv"], [None]):
        assert query(data).grid.size == WIDTH
    plain = dp.MeanPlan(n=6, **CURVES, **PRIVATE).to_opendp()
    for data in (["a/b"], ["a/b", CURVE.tolist()], ["secret.csv"]):
        assert plain(data).grid.size == WIDTH


# -- text files: one rule for both readers ------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [b"1,1\n" * 50, b"1,1\r" * 50, b"1,1\r\n" * 50, b"1,\n1\r" * 50])
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_a_bad_row_does_not_change_where_lines_end(end, rows, tmp_path):
    """The careful reader takes over at a bad row; it must see the lines that the quick one saw."""
    plan = dp.MeanPlan(n=6, grid=2, **FACTS, **PRIVATE)
    (tmp_path / "a.csv").write_bytes(b"a,b" + end + rows)
    (tmp_path / "b.csv").write_bytes(b"a,b" + end + rows + b"oops,1" + end)
    assert loss(plan, tmp_path / "a.csv", tmp_path / "b.csv", header=True) <= 1


def test_a_line_that_is_too_long_is_so_for_both_readers(tmp_path):
    plan = dp.MeanPlan(n=6, grid=2, **FACTS, **PRIVATE)
    base = b"a,b\n" + b"1,1\n" * (1 << 18) + b"1," + b" " * (17 << 20) + b"1\n"
    (tmp_path / "a.csv").write_bytes(base)
    (tmp_path / "b.csv").write_bytes(base + b'-1,"-1"\n')
    assert loss(plan, tmp_path / "a.csv", tmp_path / "b.csv", header=True) <= 1


def test_labels_beside_a_text_file_are_refused_whatever_it_holds(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,1\n\n2,2\n")
    plan = dp.MeanPlan(n=6, grid=2, unit="who", **FACTS, **PRIVATE)
    with pytest.raises(dp.errors.ParameterError, match="Name their column"):
        plan.summarize(dp.read(tmp_path / "a.csv", header=True), units=["a", "b", "c"])


# -- tables and objects --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 2, 86_400_001], pa.int64()).view(pa.date64()),
        pa.array([1, 2, 2**40], pa.int64()).view(pa.time64("us")),
        pa.array([1, 2, -(2**31)], pa.int32()).view(pa.time32("s")),
        pa.array([b"a", b"b", b"\xff" * 20], pa.binary_view()).view(pa.string_view()),
    ],
    ids=["date64", "time64", "time32", "string_view"],
)
def test_no_cell_of_a_label_column_makes_a_table_damaged(column):
    plan = dp.MeanPlan(n=6, unit="who", **CURVES, **PRIVATE)
    frame = pa.Table.from_pandas(table(["a", "b", "c"])[NAMES]).append_column("who", column)
    assert plan.summarize(dp.read(frame, columns=NAMES)).count <= 3


@pytest.mark.parametrize("kind", [pa.binary(), pa.string()], ids=str)
def test_columns_that_point_outside_are_still_refused(kind):
    offsets = pa.py_buffer(np.array([0, 2**30, 3, 5], dtype=np.int32).tobytes())
    column = pa.Array.from_buffers(kind, 3, [None, offsets, pa.py_buffer(b"hello")])
    frame = pa.Table.from_pandas(table(["a", "b", "c"])[NAMES]).append_column("who", column)
    with pytest.raises(dp.errors.FileError, match="points outside"):
        dp.MeanPlan(n=6, unit="who", **CURVES, **PRIVATE).summarize(dp.read(frame, columns=NAMES))


def test_functions_in_a_basis_are_read_one_by_one(rng):
    skfda = pytest.importorskip("skfda", reason="the fda extra is not installed")
    plan = dp.MeanPlan(n=6, **CURVES, **PRIVATE, standardize=True)
    basis = skfda.representation.basis.BSplineBasis((0, 1), n_basis=7)
    data = skfda.FDataBasis(basis, rng.normal(0, 1, (40, 7)))
    whole = plan.summarize(data)
    parts = [plan.summarize(data[i : i + 3]) for i in range(0, 40, 3)]
    for part in parts[1:]:
        parts[0] = parts[0].merge(part)
    assert parts[0] == whole
    values = data(np.linspace(0, 1, WIDTH))[..., 0]
    assert plan.statistic(whole) == pytest.approx(plan.statistic(plan.summarize(values)), abs=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", dp.errors.NoiseWarning)  # tiny data
        assert plan.summarize(skfda.FDataBasis(basis, np.full((2, 7), 1e308))).count == 2


def test_a_row_without_a_stamp_is_on_no_day():
    plan = dp.MeanPlan(n=6, grid=dp.Grid.uniform(0, 24, 9), align=dp.spaces.Interpolate(gap=1.0), **FACTS, **PRIVATE)
    stamps = [datetime.datetime(2026, 1, day, hour) for day in (1, 2, 3) for hour in range(0, 24, 3)]
    frame = pd.DataFrame({"id": np.repeat(["a", "b", "c"], 8), "stamp": stamps, "kw": 1.0}).astype({"stamp": object})
    other = frame.copy()
    other.loc[20, "stamp"] = "garbage"
    layout = dp.Long("id", "stamp", "kw", day="UTC")
    assert plan.summarize(dp.read(other, layout=layout)).count == 3
    assert loss(plan, other, frame.iloc[:16], layout=layout) <= 1


def test_no_warning_tells_of_labels_or_values_where_records_may_not_stop_a_run():
    plan = dp.MeanPlan(n=6, **CURVES, **PRIVATE)
    frame = table(["a", "b", "a"]).rename(columns={"who": "id"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", dp.errors.NoiseWarning)  # tiny data
        assert plan.summarize(dp.read(frame, columns=NAMES, ignore="id")).count == 3
        assert plan.summarize([CURVE.tolist(), range(10**9), [1] * 12_000_000]).count == 3
        large = np.full((2, WIDTH), np.longdouble("1e4000"))
        for data in (large, pd.DataFrame(large), np.ma.array(large, mask=False)):
            assert plan.summarize(data).count == 2


class Hostile:
    """Raises whatever it is asked."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_an_object_that_raises_is_an_unusable_record():
    assert dp.MeanPlan(n=6, **CURVES, **PRIVATE).summarize([CURVE.tolist(), Hostile()]).count == 2
