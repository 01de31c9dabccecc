from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpfda as dp
from dpfda.reading import source as readers


@pytest.fixture
def curves(rng):
    return rng.normal(size=(500, 6)).round(6)


def together(source, **options):
    return np.vstack(list(readers.Source(source, **options).batches()))


def test_every_source_gives_the_same_numbers(curves, tmp_path):
    frame = pd.DataFrame(curves, columns=[f"h{i}" for i in range(6)])
    frame.to_csv(tmp_path / "c.csv", index=False)
    frame.to_csv(tmp_path / "c.tsv", index=False, sep="\t")
    frame.to_csv(tmp_path / "bare.csv", index=False, header=False)
    frame.to_parquet(tmp_path / "c.parquet")
    table = pa.Table.from_pandas(frame)
    for source in (
        curves,
        curves.tolist(),
        np.asfortranarray(curves),
        frame,
        table,
        table.to_batches()[0],
        tmp_path / "c.csv",
        str(tmp_path / "c.csv"),
        tmp_path / "c.tsv",
        tmp_path / "bare.csv",
        tmp_path / "c.parquet",
    ):
        assert np.array_equal(together(source), curves)


def test_scikit_fda_grids_are_read_with_their_points(curves):
    skfda = pytest.importorskip("skfda", reason="the fda extra is not installed")
    data = skfda.FDataGrid(curves, np.linspace(0, 3, 6))
    assert np.array_equal(together(data), curves)
    release = dp.mean(data, epsilon=1, bound=dp.L2Ball(1.0))
    assert release.grid == dp.Grid.uniform(0, 3, 6)
    back = release.to_fdatagrid()
    assert back.data_matrix[0, :, 0] == pytest.approx(release.values)


def test_columns_by_pattern_and_list(curves, tmp_path):
    frame = pd.DataFrame(curves, columns=[f"h{i}" for i in range(6)])
    frame.insert(0, "who", [f"p{i}" for i in range(500)])
    frame.to_csv(tmp_path / "c.csv", index=False)
    frame.to_parquet(tmp_path / "c.parquet")
    for source in (frame, pa.Table.from_pandas(frame), tmp_path / "c.csv", tmp_path / "c.parquet"):
        assert np.array_equal(together(source, columns="h*"), curves)
        assert np.array_equal(together(source, columns=["h3", "h1"]), curves[:, [3, 1]])


def test_files_are_read_in_batches(rng, tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "BATCH_BYTES", 1 << 16)
    values = rng.normal(size=(20_000, 6))
    pq.write_table(pa.table({f"h{i}": values[:, i] for i in range(6)}), tmp_path / "c.parquet")
    pd.DataFrame(values).to_csv(tmp_path / "c.csv", index=False)
    for source in (tmp_path / "c.parquet", tmp_path / "c.csv", pd.DataFrame(values).assign(a=1)):
        sizes = [len(b) for b in readers.Source(source, header=True).batches()]
        assert sum(sizes) == 20_000
        assert max(sizes) <= 1400


def test_missing_cells_are_missing_values(tmp_path):
    (tmp_path / "c.csv").write_text("a,b,c\n1,,3\nNA,2,nan\n")
    assert np.array_equal(together(tmp_path / "c.csv"), [[1, np.nan, 3], [np.nan, 2, np.nan]], equal_nan=True)


def test_unusable_cells_become_missing_when_lenient(tmp_path):
    (tmp_path / "c.csv").write_text("a,b\n1,2\nx,3\n4\n5,6\n")
    expected = [[1, 2], [np.nan, 3], [np.nan, np.nan], [5, 6]]
    assert np.array_equal(together(tmp_path / "c.csv", lenient=True, header=True), expected, equal_nan=True)
    plan = dp.MeanPlan(n=4, epsilon=1, bound=dp.L2Ball(1.0), grid=2, invalid="center")
    assert plan.summarize(dp.read(tmp_path / "c.csv", header=True)).count == 4


def test_the_careful_reader_goes_on_where_the_quick_one_stopped(rng, tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "BATCH_BYTES", 1 << 14)
    values = rng.normal(size=(3000, 4))
    pd.DataFrame(values).to_csv(tmp_path / "c.csv", index=False)
    lines = (tmp_path / "c.csv").read_text().splitlines()
    lines[2501] = "1,2,three,4"
    (tmp_path / "c.csv").write_text("\n".join(lines))
    got = together(tmp_path / "c.csv", lenient=True, header=True)
    values[2500] = [1, 2, np.nan, 4]
    assert got == pytest.approx(values, nan_ok=True)
    with pytest.raises(dp.errors.RecordError, match=r"row 2501, column 3 "):
        together(tmp_path / "c.csv", header=True)


def test_integers_booleans_and_floats_are_numbers():
    table = pa.table({"a": pa.array([1, 2], pa.int8()), "b": [True, False], "c": pa.array([1.5, None], pa.float32())})
    assert np.array_equal(together(table), [[1, 1, 1.5], [2, 0, np.nan]], equal_nan=True)
    assert together(np.ones((2, 3), dtype=np.float32)).dtype == float


def test_hints():
    assert readers.Source(np.ones((5, 2))).size_hint() == 5
    assert readers.Source("x.csv").size_hint() is None
    assert readers.Source(np.ones((5, 2))).values_per_curve() == 2


CENTRE = {
    "epsilon": 1,
    "bound": dp.L2Ball(1.0),
    "grid": 3,
    "invalid": "center",
    "method": dp.methods.KNorm(components=2),
}


def losses(plan, folder, first, second, header):
    """Privacy loss between two text files."""
    statistics = []
    for name, lines in (("a.csv", first), ("b.csv", second)):
        (folder / name).write_text("\n".join(lines) + "\n")
        statistics.append(plan.statistic(plan.summarize(dp.read(folder / name, header=header))))
    return plan.loss(statistics[0] - statistics[1])


@pytest.mark.parametrize(
    ("others", "record"), [("1,true,1", "1,2,1"), ("1,0x1,1", "1,1.5,1"), ('1,"1",1', "x,y,z"), ("1,1,1", "1,1")]
)
def test_no_record_changes_how_others_are_read(others, record, tmp_path):
    plan = dp.MeanPlan(n=502, **CENTRE)
    base = ["1,1,1", *[others] * 500]
    assert losses(plan, tmp_path, [*base, "1,1,1"], [*base, record], header=False) <= 1


@pytest.mark.parametrize("record", ['"1,1,1', '1,"1,1', '"', "x" * 200_000, "1,1,1,1,1", "\x00,1,1", "a,b,c"])
@pytest.mark.parametrize("header", [True, False])
def test_no_record_swallows_others(record, header, tmp_path):
    plan = dp.MeanPlan(n=500, **CENTRE, neighbors="add-remove")
    names = ["a,b,c"] if header else ["1,1,1"]
    rows = ["1,1,1"] * 300
    assert losses(plan, tmp_path, [*names, *rows, *rows], [*names, *rows, record, *rows], header) <= 1
    assert losses(plan, tmp_path, [*names, *rows], [*names, record, *rows], header) <= 1


def test_lenient_reading_of_text_asks_about_names(tmp_path):
    (tmp_path / "c.csv").write_text("1,2,3\n4,5,6\n")
    with pytest.raises(dp.errors.ParameterError, match="header=True"):
        dp.MeanPlan(n=2, **CENTRE).summarize(tmp_path / "c.csv")
    assert dp.MeanPlan(n=2, **CENTRE).summarize(dp.read(tmp_path / "c.csv", header=False)).count == 2


@pytest.mark.parametrize("first", ["0,1,2", "1,2,3", "0.0,0.5,1.0", "row,1,2", "Smith,0.4,0.7"])
def test_a_first_line_that_could_be_either_is_asked_about(first, tmp_path):
    (tmp_path / "c.csv").write_text(f"{first}\n4,5,6\n7,8,9\n")
    with pytest.raises(dp.errors.ParameterError, match="whether it begins with names") as caught:
        together(tmp_path / "c.csv")
    assert "Smith" not in str(caught.value)
    assert len(together(tmp_path / "c.csv", header=True)) == 2
    if first[0] in "01":
        assert len(together(tmp_path / "c.csv", header=False)) == 3


@pytest.mark.parametrize(
    "bad", [[1.0], ["x", 1, 2], [[1, 2], 3, 4], [1j, 0, 0], [10**400, 1, 2], None, 7, [None, 1, 2], {}]
)
def test_lists_of_records_are_read_one_by_one(bad):
    plan = dp.MeanPlan(n=3, **CENTRE)
    good = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]
    lenient = plan.summarize([*good, bad])
    assert lenient.count == 3
    assert np.array_equal(lenient.totals, plan.summarize(good).totals)
    with pytest.raises(dp.errors.RecordError, match=r"row 3|missing or infinite"):
        dp.MeanPlan(n=3, **(CENTRE | {"invalid": "raise"})).summarize([*good, bad])


def test_frames_with_odd_cells(tmp_path):
    frame = pd.DataFrame(
        {"a": pd.array([1.0, None], dtype="Float64"), "b": pd.array([1, 2], dtype="Int64"), "c": [1.0, 2.0]}
    )
    assert np.array_equal(together(frame), [[1, 1, 1], [np.nan, 2, 2]], equal_nan=True)
    mixed = pd.DataFrame({"a": ["1", "x"], "b": [1.0, 2.0], "c": [1.0, 2.0]})
    assert np.array_equal(together(mixed, lenient=True), [[np.nan, 1, 1], [np.nan, 2, 2]], equal_nan=True)


def test_polars_frames(curves):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame(curves)
    assert np.array_equal(together(frame), curves)
    odd = frame.with_columns(polars.Series("who", ["a"] * len(curves), dtype=polars.Categorical))
    assert np.array_equal(together(odd, columns="column_*"), curves)
    with pytest.raises((dp.errors.RecordError, dp.errors.FileError)):
        together(odd)


def test_errors_do_not_carry_cells_in_their_context(tmp_path):
    (tmp_path / "c.csv").write_text("a,b\n1,2\n3,SECRET\n")
    with pytest.raises(dp.errors.RecordError) as caught:
        together(tmp_path / "c.csv")
    error = caught.value
    while error is not None:
        assert "SECRET" not in str(error)
        error = error.__cause__ or error.__context__


@pytest.mark.parametrize("note", ['"p', 'p"', '"p"', "x" * 140_000, "\u00e9", " "])
def test_cells_that_are_not_chosen_do_not_matter(note, tmp_path):
    """The quick and the careful reader split lines alike, so one bad record leaves all others as they were."""
    plan = dp.MeanPlan(n=60, **(CENTRE | {"grid": 2}))
    rows = [f"7,{note},1,1"] * 59
    statistics = []
    for last in ("7,p,0,0", "7,p,x,0"):
        (tmp_path / "c.csv").write_text("\n".join(["id,note,a,b", *rows, last]) + "\n")
        statistics.append(plan.statistic(plan.summarize(dp.read(tmp_path / "c.csv", header=True, columns=["a", "b"]))))
    assert plan.loss(statistics[0] - statistics[1]) <= 1


@pytest.mark.parametrize("first", ["1", '"1,1,1"', "", "1,1,1,1", "\xff,1,1", "x" * 200_000])
def test_the_first_record_of_a_file_without_names_decides_nothing(first, tmp_path):
    plan = dp.MeanPlan(n=100, **CENTRE, neighbors="add-remove")
    rows = ["1,1,1"] * 99
    statistics = []
    for lines in ([*rows], [first, *rows]):
        (tmp_path / "c.csv").write_bytes(("\n".join(lines) + "\n").encode("latin-1"))
        statistics.append(plan.statistic(plan.summarize(dp.read(tmp_path / "c.csv", header=False))))
    assert plan.loss(statistics[0] - statistics[1]) <= 1
    (tmp_path / "c.csv").write_text("")
    assert plan.summarize(dp.read(tmp_path / "c.csv", header=False)).count == 0


def test_bytes_that_are_no_text_are_a_bad_record_wherever_they_stand(tmp_path):
    for filler in (1, 5000):
        (tmp_path / "c.csv").write_bytes(b"a,b,c\n" + b"1,1,1\n" * filler + b"\xff,1,1\n")
        plan = dp.MeanPlan(n=filler + 1, **CENTRE)
        assert plan.summarize(dp.read(tmp_path / "c.csv", header=True)).count == filler + 1
        with pytest.raises(dp.errors.RecordError, match=f"row {filler + 1}, "):
            together(tmp_path / "c.csv")


ODD = [
    "SECRET",
    10**400,
    [1],
    1j,
    None,
    pd.NA,
    b"x",
    "\udc80",
    object(),
    Decimal("1e-36"),
    float("nan"),
    pd.Timestamp(0),
]


@pytest.mark.parametrize("cell", ODD, ids=lambda c: type(c).__name__)
def test_an_odd_cell_of_a_frame_leaves_other_records_alone(cell):
    plan = dp.MeanPlan(n=4, **CENTRE)
    good = pd.DataFrame({"a": [Decimal("0.1"), 0.2, 0.3, 0.4], "b": [0.5] * 4, "c": [0.25] * 4}, dtype=object)
    odd = good.copy()
    odd.iat[2, 0] = cell
    losses = plan.loss(plan.statistic(plan.summarize(good)) - plan.statistic(plan.summarize(odd)))
    assert losses <= 1
    strict = dp.MeanPlan(n=4, **(CENTRE | {"invalid": "raise"}))
    if not isinstance(cell, Decimal):
        with pytest.raises(dp.errors.RecordError, match="row 3") as caught:
            strict.summarize(odd)
        assert "SECRET" not in str(caught.value)


def test_frames_with_an_index_or_repeated_names():
    frame = pd.DataFrame(np.arange(6.0).reshape(2, 3), index=[7, 9], columns=["a", "a", "b"])
    assert np.array_equal(together(frame), [[0, 1, 2], [3, 4, 5]])
    assert np.array_equal(together(frame.set_index("b")), [[0, 1], [3, 4]])
    with pytest.raises(dp.errors.ParameterError, match="columns can be named where data has names"):
        together(np.ones((2, 3)), columns="a*")


def test_arrow_columns_are_read_by_their_type(tmp_path):
    table = pa.table(
        {
            "when": pa.array([2**62, 1], pa.timestamp("s")),
            "text": pa.array([b"\xff", b"x"], pa.binary()).cast(pa.binary()),
            "kind": pa.array([1.5, 2.5]).dictionary_encode(),
        }
    )
    assert np.array_equal(together(table, lenient=True)[:, 2], [1.5, 2.5])
    assert np.isnan(together(table, lenient=True)[:, :2]).all()
    with pytest.raises(dp.errors.RecordError, match="column 'when'"):
        together(table)


def test_masks_complex_numbers_and_foreign_grids_are_respected():
    masked = np.ma.array(np.full((3, 4), 0.5), mask=False)
    masked[1, 2] = np.ma.masked
    masked.data[1, 2] = -9999
    assert np.isnan(together(masked)[1, 2])
    with pytest.raises(dp.errors.RecordError, match="rows of numbers"):
        together(np.ones((2, 3)) * 1j)
    with pytest.raises(dp.errors.RecordError, match="array, a table or a path"):
        together(None)


def test_functional_data_must_live_on_the_plans_grid(curves):
    skfda = pytest.importorskip("skfda", reason="the fda extra is not installed")
    data = skfda.FDataGrid(curves, np.linspace(0.5, 2.5, 6), domain_range=(0, 3))
    with pytest.raises(dp.errors.ParameterError, match="brings them to the grid"):
        dp.mean(data, epsilon=1, bound=dp.L2Ball(1.0), grid=dp.Grid.uniform(0, 1, 6))
    with pytest.raises(dp.errors.RecordError, match="outside the domain"):
        dp.mean(dp.read(data, align="linear"), epsilon=1, bound=dp.L2Ball(1.0), grid=dp.Grid.uniform(0, 1, 6))
    assert dp.mean(data, epsilon=1, bound=dp.L2Ball(1.0)).grid.span == (0, 3)


def test_data_that_reading_uses_up_needs_a_grid(curves):
    with pytest.raises(dp.errors.ParameterError, match="grid must be given"):
        dp.mean(iter(curves), epsilon=1, bound=dp.L2Ball(1.0))
    with pytest.raises(dp.errors.ParameterError, match="grid must be given"):
        dp.mean(curves.tolist(), epsilon=1, bound=dp.L2Ball(1.0), invalid="center")
    once = dp.mean(iter(curves), epsilon=1, bound=dp.L2Ball(1.0), grid=6, method=dp.Auto(passes=1))
    assert once.plan.n == 500


@pytest.mark.parametrize("text", ["1:2:3\n", "a b c\n"])
def test_other_separators_get_a_hint(text, tmp_path):
    (tmp_path / "c.csv").write_text(text)
    with pytest.raises(dp.errors.FileError, match=r"one column .*separator=';'"):
        together(tmp_path / "c.csv")
    (tmp_path / "C.CSV").write_text("a,b\n1,2\n")
    assert np.array_equal(together(tmp_path / "C.CSV"), [[1, 2]])


MARKED = [b"-1,-1,-1\n\xef\xbb\xbf1,1,1\n", b"\xef\xbb\xbf\n1,1,1\n", b"1,1,1\n\xef\xbb\xbf\n1,1,1\n"]


@pytest.mark.parametrize("content", MARKED)
def test_a_byte_order_mark_means_the_same_on_every_line(content, tmp_path):
    """Removing any one line leaves the others as they were."""
    plan = dp.MeanPlan(n=5, **CENTRE, neighbors="add-remove")
    lines = content.splitlines(keepends=True)
    summaries = []
    for left_out in (None, *range(len(lines))):
        (tmp_path / "c.csv").write_bytes(b"".join(line for i, line in enumerate(lines) if i != left_out))
        summaries.append(plan.statistic(plan.summarize(dp.read(tmp_path / "c.csv", header=False))))
    assert all(plan.loss(summaries[0] - other) <= 1 for other in summaries[1:])


def test_old_line_ends_are_line_ends(tmp_path):
    (tmp_path / "c.csv").write_bytes(b"a,b,c\r1,2,3\r4,5,6\r")
    for options in ({}, {"header": True}, {"header": True, "lenient": True}):
        assert np.array_equal(together(tmp_path / "c.csv", **options), [[1, 2, 3], [4, 5, 6]])


def test_masked_objects_and_records_without_length_are_bad_records():
    plan = dp.MeanPlan(n=2, **CENTRE)
    masked = np.ma.array([["SECRET", 1.0, 2.0], [1.0, 2.0, 3.0]], dtype=object)
    assert plan.summarize(masked).count == 2
    with pytest.raises(dp.errors.RecordError) as caught:
        together(masked)
    assert "SECRET" not in str(caught.value)
    assert plan.summarize([[0.1, 0.2, 0.3], np.array(5.0)]).count == 2
    assert plan.summarize([[0.1, 0.2, 0.3], list]).count == 2


def test_arrays_of_other_libraries_are_arrays(curves):
    class Foreign:
        def __array__(self, dtype=None, copy=None):
            return curves

    assert np.array_equal(together(Foreign()), curves)
    assert np.array_equal(together(Foreign(), lenient=True, width=6), curves)


def test_pandas_columns_backed_by_arrow():
    frame = pd.DataFrame({"a": pd.array([1.5, None], dtype=pd.ArrowDtype(pa.float64())), "b": [1.0, 2.0]})
    assert np.array_equal(together(frame), [[1.5, 1], [np.nan, 2]], equal_nan=True)
    when = pd.DataFrame({"a": pd.array([2**62, 1], dtype=pd.ArrowDtype(pa.timestamp("s"))), "b": [1.0, 2.0]})
    assert np.isnan(together(when, lenient=True)[:, 0]).all()


def test_the_shape_is_known_without_reading_records():
    frame = pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0], "c": [1.0, 2.0]}, dtype=object)
    assert dp.mean(frame, epsilon=1, bound=dp.L2Ball(1.0), invalid="center").grid.size == 3
    assert dp.mean(np.empty((0, 4)), epsilon=1, bound=dp.L2Ball(1.0), neighbors="add-remove", n=9).grid.size == 4
