import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpfda as dp
from dpfda import readers


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
    for source in (tmp_path / "c.parquet", tmp_path / "c.csv", values):
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
    assert plan.summarize(tmp_path / "c.csv", header=True).count == 4


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
    with pytest.raises(dp.RecordError, match=r"row 2500 .*column '2'"):
        together(tmp_path / "c.csv", header=True)


def test_integers_booleans_and_floats_are_numbers():
    table = pa.table({"a": pa.array([1, 2], pa.int8()), "b": [True, False], "c": pa.array([1.5, None], pa.float32())})
    assert np.array_equal(together(table), [[1, 1, 1.5], [2, 0, np.nan]], equal_nan=True)
    assert together(np.ones((2, 3), dtype=np.float32)).dtype == float


def test_hints():
    assert readers.Source(np.ones((5, 2))).size_hint() == 5
    assert readers.Source("x.csv").size_hint() is None
    assert readers.Source(np.ones((5, 2))).values_per_curve() == 2


CENTRE = {"epsilon": 1, "bound": dp.L2Ball(1.0), "grid": 3, "invalid": "center", "method": dp.KNorm(components=2)}


def losses(plan, folder, first, second, header):
    """Privacy loss between two text files."""
    statistics = []
    for name, lines in (("a.csv", first), ("b.csv", second)):
        (folder / name).write_text("\n".join(lines) + "\n")
        statistics.append(plan.statistic(plan.summarize(folder / name, header=header)))
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
    with pytest.raises(dp.ParameterError, match="header=True"):
        dp.MeanPlan(n=2, **CENTRE).summarize(tmp_path / "c.csv")
    assert dp.MeanPlan(n=2, **CENTRE).summarize(tmp_path / "c.csv", header=False).count == 2


@pytest.mark.parametrize("first", ["0,1,2", "1,2,3", "0.0,0.5,1.0", "id,1,2", "Smith,0.4,0.7"])
def test_a_first_line_that_could_be_either_is_asked_about(first, tmp_path):
    (tmp_path / "c.csv").write_text(f"{first}\n4,5,6\n7,8,9\n")
    with pytest.raises(dp.ParameterError, match="whether it begins with names") as caught:
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
    with pytest.raises(dp.RecordError, match=r"row 2|missing or infinite"):
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
    assert np.array_equal(together(polars.DataFrame(curves)), curves)


def test_errors_do_not_carry_cells_in_their_context(tmp_path):
    (tmp_path / "c.csv").write_text("a,b\n1,2\n3,SECRET\n")
    with pytest.raises(dp.RecordError) as caught:
        together(tmp_path / "c.csv")
    error = caught.value
    while error is not None:
        assert "SECRET" not in str(error)
        error = error.__cause__ or error.__context__
