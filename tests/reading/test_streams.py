"""Files, streams and long tables: the same bits in any order and any batch; what is wrong is named, and is free."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import mean_of

import dpfda as dp
from dpfda.engines.task import Task
from dpfda.reading import parquet
from dpfda.reading import source as readers
from dpfda.reading.tables import Room

#: Tests of what is read from data are elsewhere (test_labels_read).
pytestmark = pytest.mark.filterwarnings("ignore:Which (groups|classes) there are:dpfda.errors.NotPrivateWarning")

SIZE = 6
NAMES = [f"h{i}" for i in range(SIZE)]
FACTS = {"epsilon": 1, "bound": dp.L2Ball(0.8), "grid": dp.Grid.uniform(0, 1, SIZE)}
#: Totals to which an unusable curve adds nothing: without the ladder of radii, in which the centre counts too.
CAREFUL = {"invalid": "center", "method": dp.methods.KNorm(2)}
SECRET = 123.456789


@pytest.fixture
def curves(rng) -> np.ndarray:
    return rng.normal(0.2, 0.5, (90, SIZE)).round(6)


@pytest.fixture
def plan() -> dp.MeanPlan:
    return dp.MeanPlan(n=90, **FACTS)


@pytest.fixture
def ledger(tmp_path) -> dp.Ledger:
    return dp.Ledger.create(tmp_path / "study.ledger", epsilon=3, study="streams")


@pytest.fixture
def folder(tmp_path, curves) -> Path:
    """The curves in three Parquet files."""
    home = tmp_path / "data"
    home.mkdir()
    for i in range(3):
        write(home / f"p{i}.parquet", curves[30 * i : 30 * i + 30])
    return home


def table_of(values: np.ndarray, names: list[str] = NAMES, **more: object) -> pa.Table:
    return pa.table({name: values[:, i] for i, name in enumerate(names)} | more)


def write(path: Path, values: np.ndarray, names: list[str] = NAMES, **more: object) -> Path:
    pq.write_table(table_of(values, names, **more), path)
    return path


def refused(error: type, match: str, ledger: dp.Ledger, data: object, **options: object) -> str:
    with pytest.raises(error, match=match) as caught:
        mean_of(data, **(FACTS | options), ledger=ledger)
    assert ledger.remaining == 3
    assert ledger.history() == ()
    seen = caught.value
    while seen is not None:
        assert str(SECRET) not in str(seen)
        assert "SECRET" not in str(seen)
        seen = seen.__cause__ or seen.__context__
    return str(caught.value)


# -- one set of records, many ways ---------------------------------------------------------------


def test_lists_globs_folders_and_streams_give_the_same_bits(curves, folder, plan):
    paths = sorted(folder.iterdir())
    (folder / "_SUCCESS").write_text("")
    (folder / "notes.md").write_text("not data")
    pd.DataFrame(curves[30:60], columns=NAMES).to_csv(folder.parent / "middle.csv", index=False)
    schema, batches = table_of(curves).schema, table_of(curves).to_batches(max_chunksize=7)
    whole = plan.summarize(curves)
    for data in (
        folder,
        str(folder),
        str(folder / "*.parquet"),
        folder / "p?.parquet",
        paths,
        tuple(paths[::-1]),
        [str(paths[2]), paths[0], folder.parent / "middle.csv"],
        [str(folder / "p[01].parquet"), paths[2]],
        pa.RecordBatchReader.from_batches(schema, batches),
        iter(batches),
        (curves[i : i + 11] for i in range(0, 90, 11)),
        (row for row in curves[::-1]),
        (row.tolist() for row in curves),
        iter([curves[:40], table_of(curves[40:50]), pd.DataFrame(curves[50:], columns=NAMES)]),
        pa.table({"curve": curves.tolist()}),
        pa.table({"curve": pa.FixedSizeListArray.from_arrays(curves.ravel(), SIZE)}),
        pd.DataFrame({"curve": curves.tolist()}),
        pd.DataFrame({"curve": list(curves)}),
    ):
        assert plan.summarize(data) == whole
    assert plan.summarize(paths[:2]) != whole


def test_no_batch_is_larger_than_it_may_be(curves, tmp_path, monkeypatch):
    values = np.tile(curves, (40, 1))
    pq.write_table(table_of(values), tmp_path / "c.parquet", row_group_size=2000)
    pd.DataFrame(values, columns=NAMES).to_csv(tmp_path / "c.csv", index=False)
    lists = pa.table({"curve": values.tolist()})
    pq.write_table(lists, tmp_path / "lists.parquet")
    most = 1 << 12
    monkeypatch.setattr(readers, "BATCH_BYTES", most)
    monkeypatch.setattr(parquet, "BATCH_BYTES", most)
    plan = dp.MeanPlan(n=len(values), **FACTS)
    local = plan.summarize(values)
    for data in (table_of(values), tmp_path / "c.parquet", tmp_path / "c.csv"):
        sizes = [block.values.nbytes for block in readers.Source(data).blocks()]
        assert len(sizes) >= values.nbytes / most
        assert max(sizes) <= most * (1.3 if str(data).endswith("csv") else 1)  # bytes of text, there
        assert plan.summarize(data) == local
    assert plan.summarize(tmp_path / "lists.parquet") == local


def test_addresses_in_memory_and_on_disk(curves, folder, plan):
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    memory = fsspec.filesystem("memory")
    text = pd.DataFrame(curves[30:60], columns=NAMES).to_csv(index=False).encode()
    try:
        for i in (0, 2):
            memory.pipe(f"/streams/p{i}.parquet", (folder / f"p{i}.parquet").read_bytes())
        memory.pipe("/streams/p1.csv", text)
        memory.pipe("/streams/_done", b"")
        whole = plan.summarize(curves)
        assert plan.summarize("memory://streams/*") == whole
        assert plan.summarize("memory://streams") == whole
        assert plan.summarize(["memory://streams/p1.csv", "memory://streams/*.parquet"]) == whole
        assert plan.summarize(["memory://streams/p1.csv", str(folder / "p0.parquet"), folder / "p2.parquet"]) == whole
        assert plan.summarize([f"file://{folder}/p{i}.parquet" for i in range(3)]) == whole
        assert plan.summarize(f"file://{folder}/*.parquet") == whole
        with pytest.raises(dp.errors.FileError, match=r"no file 'none.csv'.*Check the path"):
            plan.summarize("memory://streams/none.csv")
        with pytest.raises(dp.errors.FileError, match="No file matches"):
            plan.summarize("memory://streams/*.pq")
        with pytest.raises(dp.errors.ParameterError, match="named once"):
            plan.summarize(["memory://streams/p1.csv", "memory:///streams/p1.csv"])
    finally:
        memory.rm("/streams", recursive=True)


def test_columns_are_matched_by_name_across_files(curves, folder, plan):
    write(folder / "p1.parquet", curves[30:60, ::-1], NAMES[::-1])
    pd.DataFrame(curves[60:, [3, 1, 2, 0, 5, 4]], columns=[NAMES[i] for i in (3, 1, 2, 0, 5, 4)]).to_csv(
        folder / "p2.csv", index=False
    )
    (folder / "p2.parquet").unlink()
    assert plan.summarize(folder) == plan.summarize(curves)
    for i, name in ((0, "p0.parquet"), (1, "p1.parquet")):
        values = table_of(curves[30 * i : 30 * i + 30])
        pq.write_table(values.append_column("note", pa.array(["x"] * 30)), folder / name)
    (folder / "p2.csv").unlink()
    write(folder / "p2.parquet", curves[60:], note=["y"] * 30)
    assert plan.summarize(dp.read(folder, columns="h*")) == plan.summarize(curves)


def test_lists_with_their_own_times(curves):
    times = [np.sort(np.random.default_rng(i).permutation(np.linspace(0, 1, 21))[:12]).tolist() for i in range(5)]
    values = [np.interp(t, np.linspace(0, 1, SIZE), c).tolist() for t, c in zip(times, curves, strict=False)]
    frame = pa.table({"y": values, "t": times})
    plan = dp.MeanPlan(n=5, **FACTS, align=dp.spaces.Interpolate(gap=0.5))
    local = plan.summarize(dp.reading.Irregular(times, values))
    layout = dp.Lists("y", times="t")
    assert plan.summarize(dp.read(frame, layout=layout)) == local
    assert plan.summarize(dp.read(frame.to_pandas(), layout=layout)) == local
    torn = pa.table({"y": [*values[:4], values[4][:-1]], "t": times})
    with pytest.raises(dp.errors.RecordError, match="as many times as values in row 5 "):
        plan.summarize(dp.read(torn, layout=layout))
    careful = dp.MeanPlan(n=5, **FACTS, align=dp.spaces.Interpolate(gap=0.5), **CAREFUL)
    assert np.array_equal(
        careful.summarize(dp.read(torn, layout=layout)).totals,
        careful.summarize(dp.reading.Irregular(times[:4], values[:4])).totals,
    )


@pytest.mark.parametrize("cell", [None, "SECRET", [1.0, "SECRET", *[0.0] * 4], [1.0, 2.0], 7.0, [[1.0]], {}], ids=str)
@pytest.mark.parametrize("place", [0, 7])
@pytest.mark.parametrize("layout", [None, dp.Lists("curve")], ids=["bare", "lists"])
def test_no_list_decides_how_others_are_read(cell, place, layout, curves, ledger):
    cells = curves[:9].tolist()
    cells[place] = cell
    frame = pd.DataFrame({"curve": pd.Series(cells, dtype=object)})
    careful = dp.MeanPlan(n=9, **FACTS, **CAREFUL)
    found = careful.summarize(dp.read(frame, layout=layout))
    assert found.count == 9
    assert np.array_equal(found.totals, careful.summarize(np.delete(curves[:9], place, axis=0)).totals)
    refused(dp.errors.RecordError, f"row {place + 1} ", ledger, frame, layout=layout)


@pytest.mark.parametrize("record", [[[0.1] * SIZE, [0.2] * SIZE], [0.1, [0.2], *[0.3] * 4], "SECRET", None, [1.0]])
def test_an_odd_record_of_an_iterator_is_one_record(record, curves, ledger):
    careful = dp.MeanPlan(n=5, **FACTS, **CAREFUL)
    found = careful.summarize(iter([*curves[:4].tolist(), record]))
    assert found.count == 5
    assert np.array_equal(found.totals, careful.summarize(curves[:4]).totals)
    strict = dp.Auto(passes=1)
    refused(dp.errors.RecordError, "row 5 |missing", ledger, iter([*curves[:4].tolist(), record]), method=strict)


# -- what is wrong with files ----------------------------------------------------------------------


def test_a_file_counts_once(folder, ledger):
    first = folder / "p0.parquet"
    (folder / "link.parquet").symlink_to(first)
    for twice in (
        [first, str(first)],
        [first, folder / ".." / "data" / "p0.parquet"],
        [first, str(folder / "*.parquet")],
        [first, folder / "link.parquet"],
    ):
        assert "count twice" in refused(dp.errors.ParameterError, "named once", ledger, twice)
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    refused(dp.errors.ParameterError, "named once", ledger, [first, f"file://{first}"])


def test_a_file_that_disappears_between_listing_and_reading(folder, ledger):
    for number in range(3, 9):  # a few files are read ahead
        shutil.copy(folder / "p0.parquet", folder / f"p{number}.parquet")

    class Removes:
        def __call__(self, done, total):
            (folder / "p8.parquet").unlink(missing_ok=True)

    message = refused(
        dp.errors.FileError, r"no file 'p8.parquet'", ledger, sorted(folder.iterdir()), progress=Removes()
    )
    assert "Check the path" in message


@pytest.mark.parametrize("left", [0.5, 0.99, 0.0])
def test_a_truncated_file_among_others(left, folder, ledger):
    whole = (folder / "p1.parquet").read_bytes()
    (folder / "p1.parquet").write_bytes(whole[: int(left * len(whole))])
    assert "Write it again" in refused(dp.errors.FileError, r"'p1.parquet' is not a readable Parquet", ledger, folder)


def test_damage_inside_a_file_among_others(folder, ledger):
    damaged = bytearray((folder / "p1.parquet").read_bytes())
    damaged[4:104] = b"\xff" * 100
    (folder / "p1.parquet").write_bytes(damaged)
    assert "Write it again" in refused(dp.errors.FileError, r"'p1.parquet' is not a readable Parquet", ledger, folder)


def test_a_schema_that_changes_between_files(curves, folder, ledger):
    write(folder / "p1.parquet", curves[30:60], [*NAMES[:-1], "other"])
    message = refused(dp.errors.FileError, r"'p1.parquet' has other columns than 'p0.parquet'", ledger, folder)
    assert "need the same" in message
    table = pa.table({name: [f"SECRET {x}" for x in curves[30:60, i]] for i, name in enumerate(NAMES)})
    pq.write_table(table, folder / "p1.parquet")
    message = refused(dp.errors.RecordError, r"do not hold numbers in 'p1.parquet' in column 'h0'", ledger, folder)
    assert "columns=" in message
    pd.DataFrame(curves[30:60]).to_csv(folder / "p1.csv", index=False, header=False)
    (folder / "p1.parquet").unlink()
    refused(dp.errors.FileError, r"'p1.csv' has other columns", ledger, folder, header=False)


def test_a_bad_cell_of_one_of_several_files_is_located(curves, folder, ledger):
    bad = curves[30:60].copy()
    bad[12, 3], bad[13, 3] = np.nan, SECRET
    write(folder / "p1.parquet", bad)
    message = refused(dp.errors.RecordError, r"in 'p1.parquet' in row 13 ", ledger, folder)
    assert "invalid='center'" in message
    (folder / "p1.parquet").unlink()
    lines = pd.DataFrame(bad, columns=NAMES).to_csv(index=False).splitlines()
    lines[5] = lines[5].replace(lines[5].split(",")[2], "SECRET")
    (folder / "p1.csv").write_text("\n".join(lines) + "\n")
    refused(dp.errors.RecordError, r"in 'p1.csv' in row 5, column \d", ledger, folder)


# -- units and groups in streams -------------------------------------------------------------------


def two(folder: Path, curves: np.ndarray, units: list, **more: list) -> list[Path]:
    """Units and their curves in two files, cut in the middle."""
    half = len(units) // 2
    for name in ("a.parquet", "b.parquet"):
        cut = slice(0, half) if name == "a.parquet" else slice(half, len(units))
        columns = {key: column[cut] for key, column in more.items()}
        write(folder / name, curves[: len(units)][cut], who=units[cut], **columns)
    return [folder / "a.parquet", folder / "b.parquet"]


@pytest.mark.parametrize(
    "units",
    [
        ["a", "a", "b", "b", "b", "c"],
        ["c", "c", "b", "b", "b", "a"],
        [2, 2, 9, 9, 9, 10],
        [10, 10, 9, 9, 9, 2],
        ["2", "2", "9", "9", "9", "10"],
        ["10", "10", "2", "2", "2", "9"],
        [1.0, 1.0, 2.5, 2.5, 2.5, 11.0],
    ],
    ids=str,
)
def test_sorted_units_of_a_stream_are_the_same_units_as_in_memory(units, curves, tmp_path):
    plan = dp.MeanPlan(n=3, **FACTS, unit="who")
    paths = two(tmp_path, curves, units)  # one unit lies in both files
    frame = table_of(curves[:6], who=units)
    local = plan.summarize(frame)
    assert local.count == 3
    assert plan.summarize(paths) == local
    assert plan.summarize(frame.take(pa.array([5, 0, 3, 1, 4, 2]))) == local
    assert plan.summarize(pa.RecordBatchReader.from_batches(frame.schema, frame.to_batches(max_chunksize=1))) == local


@pytest.mark.parametrize("units", [["a", "b", "b", "b", "a", "c"], ["a", "c", "c", "c", "b", "d"], [1, 3, 3, 2, 2, 3]])
def test_units_that_could_come_back_are_refused(units, curves, tmp_path, ledger, monkeypatch):
    whole = dp.MeanPlan(n=3, **FACTS, unit="who").summarize(table_of(curves[:6], who=units))
    assert dp.MeanPlan(n=3, **FACTS, unit="who").summarize(two(tmp_path, curves, units)) == whole  # few are gathered
    monkeypatch.setattr("dpfda.engines.gathering.SMALL_FILES", 0)
    message = refused(
        dp.errors.RecordError, r"whos are not in order in 'b.parquet'", ledger, two(tmp_path, curves, units), unit="who"
    )
    assert "must be sorted by who" in message
    assert "dp.read(..., engine='dask')" in message
    assert dp.MeanPlan(n=3, **FACTS, unit="who").summarize(table_of(curves[:6], who=units)).count == len(set(units))


def test_a_null_unit_and_groups_that_do_not_fit(curves, tmp_path, ledger):
    units, regions = ["a", "a", "b", "b", "c", "d"], ["n", "n", "s", "s", "n", "s"]
    paths = two(tmp_path, curves, [*units[:4], None, "d"])
    message = refused(dp.errors.RecordError, r"A who is missing in 'b.parquet' in row 2 ", ledger, paths, unit="who")
    assert "Say whose" in message
    named = {"by": "region", "columns": "h*", "unit": "who"}
    paths = two(tmp_path, curves, units, region=[*regions[:4], "SECRET", "s"])
    message = refused(
        dp.errors.RecordError, r"names no group in 'b.parquet' in row 2 ", ledger, paths, groups=["n", "s"], **named
    )
    assert "groups=" in message
    paths = two(tmp_path, curves, units, region=["n", "n", "s", "n", "n", "s"])
    message = refused(dp.errors.RecordError, r"more than one group in 'a.parquet' in row 3 ", ledger, paths, **named)
    assert "one group throughout" in message
    release = mean_of(two(tmp_path, curves, units, region=regions), **FACTS, **named, ledger=ledger)
    assert [plan.n for plan in release.plan.plans] == [2, 2]
    assert ledger.remaining == 2


def test_an_error_about_a_unit_in_two_files_names_the_right_one(curves, tmp_path, ledger):
    bad = curves.copy()
    bad[2, 1] = np.inf
    paths = two(tmp_path, bad, ["a", "b", "b", "b", "c", "d"])
    refused(dp.errors.RecordError, r"missing or infinite values in 'a.parquet' in row 3 ", ledger, paths, unit="who")
    bad[2, 1], bad[3, 1] = 0.0, np.nan
    paths = two(tmp_path, bad, ["a", "b", "b", "b", "c", "d"])
    refused(dp.errors.RecordError, r"missing or infinite values in 'b.parquet' in row 1 ", ledger, paths, unit="who")


# -- progress and interruptions ----------------------------------------------------------------


class Told:
    def __init__(self) -> None:
        self.rows: list[tuple[int, int | None]] = []
        self.files: list[tuple[int, int]] = []

    def __call__(self, done: int, total: int | None) -> None:
        self.rows.append((done, total))

    def file(self, done: int, total: int) -> None:
        self.files.append((done, total))


def test_progress_counts_rows_where_they_are_public_and_files_always(curves, folder):
    told = Told()
    dp.MeanPlan(n=90, **FACTS).summarize(dp.read(folder, progress=told))
    assert told.rows == [(30, 90), (60, 90), (90, 90)]
    assert told.files == [(1, 3), (2, 3), (3, 3)]
    private = Told()
    dp.MeanPlan(n=100, **FACTS, neighbors="add-remove").summarize(dp.read(folder, progress=private))
    assert (private.rows, private.files) == ([], [(1, 3), (2, 3), (3, 3)])
    text = Told()
    pd.DataFrame(curves, columns=NAMES).to_csv(folder / "p3.csv", index=False)
    dp.MeanPlan(n=180, **FACTS).summarize(dp.read(folder, progress=text))
    assert text.rows[-1] == (180, None)
    unsized = Told()
    dp.MeanPlan(n=90, **FACTS).summarize(dp.read(iter([curves[:50], curves[50:]]), progress=unsized))
    assert unsized.rows == [(50, None), (90, None)]


def test_an_interruption_while_reading_charges_nothing(folder, ledger):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dp.mean(dp.read(folder, progress=stop), **FACTS, ledger=ledger)
    assert ledger.remaining == 3
    assert ledger.history() == ()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files cannot be watched here")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_interrupted_command_charges_and_leaves_nothing(kind, curves, tmp_path, ledger):
    path = tmp_path / f"big.{kind}"
    if kind == "csv":
        head, body = pd.DataFrame(np.tile(curves, (50, 1)), columns=NAMES).to_csv(index=False).split("\n", 1)
        with path.open("w") as file:
            file.write(head + "\n")
            for _ in range(400):
                file.write(body)
    else:
        values = table_of(np.random.default_rng(0).uniform(0, 1, (100_000, SIZE)))
        with pq.ParquetWriter(path, values.schema, compression="none", use_dictionary=False) as writer:
            for _ in range(30):
                writer.write_table(values)
    outputs = ["--out", str(tmp_path / "mean.json"), "--ledger", str(ledger.path), "--study", "streams"]
    before = sorted(p.name for p in tmp_path.iterdir())
    command = [sys.executable, "-m", "dpfda", "mean", str(path), "--epsilon", "1", "--radius", "1", "--grid", "0:1:6"]
    command += ["--method", "knorm"]
    source = str(Path(dp.__file__).parents[1])
    running = subprocess.Popen([*command, *outputs], stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": source})
    try:
        deadline, seen = time.monotonic() + 60, 0
        while seen < 5 and running.poll() is None and time.monotonic() < deadline:
            seen = seen + 1 if holds(running.pid, path) else 0
            time.sleep(0.005)
        assert seen == 5
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=60)
    finally:
        running.kill()
        running.communicate()
    assert running.returncode == 130
    assert b"Interrupted" in told
    assert b"Traceback" not in told
    assert (ledger.remaining, ledger.history()) == (3, ())
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def holds(pid: int, path: Path) -> bool:
    """Whether a process has a file open."""
    try:
        return str(path) in {os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir()}
    except OSError:  # it opened or closed one meanwhile
        return False


# -- observations by the clock ---------------------------------------------------------------------

ADELAIDE = "Australia/Adelaide"
HALVES = np.arange(48) / 2
BACK, FORWARD, PLAIN = dt.date(2026, 4, 5), dt.date(2026, 10, 4), dt.date(2026, 6, 1)


def half_hours(day: dt.date) -> list[dt.datetime]:
    """All half hours of a day in Adelaide, as moments of UTC."""
    zone = ZoneInfo(ADELAIDE)
    start, stop = (
        dt.datetime.combine(day + dt.timedelta(more), dt.time(), tzinfo=zone).astimezone(dt.UTC) for more in (0, 1)
    )
    return [start + i * dt.timedelta(minutes=30) for i in range(int((stop - start) / dt.timedelta(minutes=30)))]


def meter(days: tuple[dt.date, ...] = (BACK, FORWARD, PLAIN)) -> pd.DataFrame:
    stamps = [stamp for day in days for stamp in half_hours(day)]
    values = np.random.default_rng(2).uniform(0, 1, len(stamps)).round(3)
    return pd.DataFrame({"meter": "m1", "stamp": pd.to_datetime(stamps, utc=True), "kwh": values})


def rows_on_grid(data: object, **options: object) -> np.ndarray:
    """The curves as they reach the grid, before they are clipped and added up."""
    grid = dp.Grid(HALVES, weights="equal", span=(0.0, 24.0))
    facts = {"n": 3, "epsilon": 1, "bound": dp.L2Ball(5.0), "grid": grid, "align": dp.spaces.Interpolate(gap=0.2)}
    task = Task(dp.MeanPlan(**(facts | options)).stage.encoder)
    layout = dp.Long("meter", "stamp", "kwh", day=ADELAIDE)
    source = task.source(dp.read(data, layout=layout))
    return np.vstack([block.values for block in task.records(source, source.blocks())])


def expected() -> np.ndarray:
    """By the rule, written out: an average where the clock shows a time twice, a line where it never shows it."""
    values = meter().kwh.to_numpy()
    assert (len(half_hours(BACK)), len(half_hours(FORWARD)), len(half_hours(PLAIN))) == (50, 46, 48)
    back, forward, plain = values[:50], values[50:96], values[96:]
    twice = [(back[4] + back[6]) / 2, (back[5] + back[7]) / 2]  # 2:00 and 2:30 come again after 3:00
    first = np.concatenate([back[:4], twice, back[8:]])
    before, after = forward[3], forward[4]  # 1:30 and 3:00
    bridge = [before + (after - before) / 3, before + 2 * (after - before) / 3]
    third = np.concatenate([forward[:4], bridge, forward[4:]])
    return np.vstack([first, plain, third])  # in order of their days


def test_days_of_46_and_50_half_hours_become_curves_of_48(tmp_path):
    frame, rule = meter(), expected()
    assert rule.shape == (3, 48)
    assert rows_on_grid(frame) == pytest.approx(rule, abs=1e-12)
    assert rows_on_grid(frame)[0, 4] != pytest.approx(frame.kwh[4])
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, tmp_path / "utc.parquet")
    spelt = [stamp.tz_convert(ADELAIDE).isoformat() for stamp in frame.stamp]
    assert spelt[4].endswith("+10:30")
    assert spelt[6].endswith("+09:30")
    frame.assign(stamp=spelt).to_csv(tmp_path / "offsets.csv", index=False)
    frame.assign(stamp=[f"{stamp:%Y-%m-%d %H:%M:%S}Z" for stamp in frame.stamp]).to_csv(
        tmp_path / "zulu.csv", index=False
    )
    same = rows_on_grid(frame)
    for data in (
        table,
        tmp_path / "utc.parquet",
        tmp_path / "offsets.csv",
        tmp_path / "zulu.csv",
        frame.assign(stamp=frame.stamp.dt.tz_convert(ADELAIDE)),
        frame.assign(stamp=frame.stamp.dt.tz_convert("America/New_York")),
        frame.assign(stamp=spelt),
        frame.assign(stamp=[stamp.to_pydatetime() for stamp in frame.stamp]).astype({"stamp": object}),
    ):
        assert np.array_equal(rows_on_grid(data), same)


def test_stamps_without_a_zone_are_the_clock_on_the_wall(tmp_path):
    frame = meter((PLAIN,))
    naive = frame.assign(stamp=frame.stamp.dt.tz_convert(ADELAIDE).dt.tz_localize(None))
    assert naive.stamp[0] == pd.Timestamp("2026-06-01 00:00")
    naive.to_csv(tmp_path / "naive.csv", index=False)
    pq.write_table(pa.Table.from_pandas(naive, preserve_index=False), tmp_path / "naive.parquet")
    for data in (frame, naive, tmp_path / "naive.csv", tmp_path / "naive.parquet"):
        assert np.array_equal(rows_on_grid(data), [frame.kwh.to_numpy()])


def test_the_order_of_rows_and_batches_does_not_matter(tmp_path, monkeypatch):
    frame = pd.concat([meter(), meter().assign(meter="m2", kwh=lambda f: f.kwh[::-1].to_numpy())], ignore_index=True)
    whole = rows_on_grid(frame)
    assert len(whole) == 6
    assert np.array_equal(rows_on_grid(frame.sample(frac=1, random_state=1)), whole)
    mixed = pd.concat([part.sample(frac=1, random_state=2) for _, part in frame.groupby("meter")])
    path = tmp_path / "mixed.parquet"
    pq.write_table(pa.Table.from_pandas(mixed, preserve_index=False), path)
    monkeypatch.setattr(parquet, "BATCH_BYTES", 240)  # ten rows
    assert np.array_equal(rows_on_grid(path), whole)


@pytest.mark.parametrize("stamp", ["SECRET", "", "2026-06-01T00:15:00+02:00", "2026-06-01 00:15:00", "9" * 40])
@pytest.mark.parametrize("zoned", [True, False])
def test_one_stamp_changes_no_other_curve(stamp, zoned, tmp_path):
    frame = meter((PLAIN,)).assign(meter="a")
    local = frame.stamp.dt.tz_convert(ADELAIDE)
    frame["stamp"] = [s.isoformat() if zoned else f"{s:%Y-%m-%d %H:%M:%S}" for s in local]
    frame.to_csv(tmp_path / "c.csv", index=False)
    task_options = {"n": 2, **CAREFUL}
    with (tmp_path / "odd.csv").open("w") as file:
        file.write((tmp_path / "c.csv").read_text() + f"b,{stamp},0.5\n")
    odd = pd.concat([frame, pd.DataFrame({"meter": ["b"], "stamp": [stamp], "kwh": [0.5]})], ignore_index=True)
    grid = dp.Grid(HALVES, weights="equal", span=(0.0, 24.0))
    plan = dp.MeanPlan(epsilon=1, bound=dp.L2Ball(5.0), grid=grid, align="linear", **task_options)
    layout = dp.Long("meter", "stamp", "kwh", day=ADELAIDE)
    alone = plan.summarize(dp.read(tmp_path / "c.csv", layout=layout, header=True))
    assert alone.count == 1
    for data in (tmp_path / "odd.csv", odd, pa.Table.from_pandas(odd, preserve_index=False)):
        found = plan.summarize(dp.read(data, layout=layout, header=True))
        assert found.count == 2
        assert np.array_equal(found.totals, alone.totals)  # the other curve is unusable, and counts as the centre


def test_days_of_a_unit_are_averaged(tmp_path):
    frame = meter()
    facts = {"n": 2, "unit": "meter"}
    rows = rows_on_grid(frame, **facts)
    assert rows.shape == (1, 48)
    assert rows[0] == pytest.approx(expected().mean(axis=0), abs=1e-8)


def test_ids_of_a_long_stream_must_be_in_order(curves, tmp_path, ledger, monkeypatch):
    monkeypatch.setattr("dpfda.engines.gathering.SMALL_FILES", 0)
    long = pd.DataFrame(
        {
            "id": np.repeat(["a", "b", "c"], SIZE),
            "time": np.tile(np.linspace(0, 1, SIZE), 3),
            "value": curves[:3].ravel(),
        }
    )
    long.iloc[[*range(12, 18), *range(12)]].to_csv(tmp_path / "c.csv", index=False)
    message = refused(dp.errors.RecordError, "ids are not in order", ledger, tmp_path / "c.csv", layout="long")
    assert "must be sorted by id" in message
    long.to_csv(tmp_path / "c.csv", index=False)
    plan = dp.MeanPlan(n=3, **FACTS, align="linear")
    assert plan.summarize(dp.read(tmp_path / "c.csv", layout="long")) == plan.summarize(curves[:3])
    assert plan.summarize(dp.read(long.sample(frac=1, random_state=5), layout="long")) == plan.summarize(curves[:3])


def test_memory_is_taken_again_only_when_nobody_holds_it():
    room = Room()
    held = [room.matrix(3, 4) for _ in range(5)]
    for i, matrix in enumerate(held):
        matrix[:] = i
    assert [matrix[0, 0] for matrix in held] == [0, 1, 2, 3, 4]
    last, places = held[-1], set()
    del held, matrix
    for i in range(50):
        new = room.matrix(3, 4)
        assert not np.shares_memory(new, last)
        new[:] = i
        places.add(new.ctypes.data)
        last = new
    assert len(places) <= 3


def test_batches_of_an_iterator_are_matched_by_name(rng):
    names = [f"h{i}" for i in range(SIZE)]
    curves = rng.normal(0, 1, (20, SIZE))
    frame = pd.DataFrame(curves, columns=names)
    plan = dp.MeanPlan(n=20, **FACTS, method=dp.methods.KNorm())
    for first, second in ((frame[:10], frame[10:][names[::-1]]), (frame[names[::-1]][:10], frame[10:])):
        turned = curves if list(first.columns) == names else curves[:, ::-1]
        for batches in (
            [first, second],
            [pa.Table.from_pandas(part, preserve_index=False) for part in (first, second)],
        ):
            assert plan.summarize(iter(batches)) == plan.summarize(turned)


def test_a_column_of_owners_is_not_a_value(rng):
    frame = pd.DataFrame(rng.normal(0, 1, (20, SIZE))).assign(household=1.0)
    with pytest.raises(dp.errors.ParameterError, match="'household' says whose a record is"):
        dp.mean(frame, epsilon=1, bound=dp.L2Ball(1.0))


def test_units_with_other_columns_are_told_apart(rng):
    frame = pd.DataFrame(rng.normal(0, 1, (20, SIZE + 1))).assign(who=np.arange(20))
    with pytest.raises(dp.errors.RecordError, match=f"has {SIZE + 1} values and the plan expects {SIZE}"):
        dp.MeanPlan(n=20, **FACTS, unit="who").summarize(frame)
