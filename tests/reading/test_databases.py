"""Queries of DuckDB and SQLite, and datasets of Arrow, as records: read anew each time, and no cell tells of itself."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import dpfda as dp

pytestmark = pytest.mark.filterwarnings("ignore::dpfda.errors.UnitWarning")
SIZE = 5
NAMES = [f"h{i}" for i in range(SIZE)]
FACTS = {"epsilon": 1, "bound": dp.L2Ball(0.8), "grid": SIZE}
SECRET = "cell-that-nobody-may-see"
HOSTILE = [{"invalid": "center"}, {"neighbors": "add-remove", "invalid": "center"}]


def plan_of(n: int = 80, **facts: object) -> dp.MeanPlan:
    return dp.MeanPlan(n=n, method=dp.methods.KNorm(3), **FACTS, **facts)


@pytest.fixture
def frame(rng) -> pd.DataFrame:
    found = pd.DataFrame(rng.normal(0.2, 0.5, (80, SIZE)), columns=NAMES)
    found["person"] = [f"p{i % 16:02d}" for i in range(80)]
    found["region"] = np.where(np.arange(80) % 16 < 8, "north", "south")
    return found


@pytest.fixture
def duck(frame):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        connection.execute("create table days as select * from frame")
        connection.unregister("frame")
        yield connection


@pytest.fixture
def lite(frame, tmp_path):
    """A connection, and a function that adds rows as they are."""
    driver = pytest.importorskip("adbc_driver_sqlite.dbapi", reason="the ADBC driver of SQLite is not installed")
    with closing(sqlite(tmp_path)) as other, other:
        other.execute(f"create table days({', '.join(f'{name} real' for name in NAMES)}, person, region)")
        rows(other, frame.to_numpy().tolist())
    with driver.connect(str(tmp_path / "study.db")) as connection:
        yield connection


def sqlite(folder):
    import sqlite3

    return sqlite3.connect(folder / "study.db")


def rows(connection, cells) -> None:
    connection.executemany(f"insert into days values ({', '.join('?' * (SIZE + 2))})", cells)


def queried(connection, query: str = "select * from days", **options: object) -> dp.reading.Curves:
    options.setdefault("columns", "h*")
    return dp.sql(query, connection, **options)


# -- the same bits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("facts", [{}, *HOSTILE], ids=str)
@pytest.mark.parametrize("kind", ["duck", "lite"])
def test_rows_of_a_query_are_records(kind, facts, frame, request):
    connection = request.getfixturevalue(kind)
    plan = plan_of(**facts)
    assert plan.summarize(queried(connection)) == plan.summarize(frame[NAMES].to_numpy())
    people = plan_of(16, unit="person", **facts)
    whole = people.summarize(dp.read(frame, columns="h*"))
    commented = "/* all; */ -- of them\nselect * from days"
    ordered = "select * from days order by person"
    for query in (ordered, "select * from days -- in any order", commented, "(select * from days);"):
        query = query if kind == "duck" else query.strip("();")
        assert people.summarize(queried(connection, query)) == whole, query
    groups = dp.plans.GroupPlan(("north", "south"), (plan_of(40, **facts), plan_of(40, **facts)))
    assert groups.summarize(queried(connection), "region") == groups.summarize(dp.read(frame, columns="h*"), "region")


@pytest.mark.parametrize("kind", ["duck", "lite"])
def test_a_long_query_becomes_curves(kind, frame, request):
    connection = request.getfixturevalue(kind)
    parts = [f"select person, {i / (SIZE - 1)} as time, {name} as value from days" for i, name in enumerate(NAMES)]
    query = f"select * from ({' union all '.join(parts)}) where value is not null order by person"
    layout = dp.Long("person", "time", "value")
    long = frame.melt(["person"], NAMES, "time", "value")
    long["time"] = long.time.str[1:].astype(float) / (SIZE - 1)
    plan = plan_of(16, align="linear")
    found = plan.summarize(queried(connection, query, columns=None, layout=layout))
    assert found.count == 16
    assert found == plan.summarize(dp.read(long, layout=layout))


def test_days_of_a_query_are_cut_by_the_clock(duck):
    duck.execute(
        "create table meters as select m as meter, timestamp '2026-03-01' + interval (m * 24 + h) hour as stamp, "
        "(h / 24.0)::double as kwh from range(6) a(m), range(24) b(h)"
    )
    day = dp.Grid.midpoints(0, 24, SIZE)
    plan = dp.MeanPlan(n=6, epsilon=1, bound=dp.L2Ball(5.0), grid=day, align="linear", method=dp.methods.KNorm(3))
    layout = dp.Long("meter", "stamp", "kwh", day="UTC")
    whole = plan.summarize(dp.read(duck.sql("from meters").to_arrow_table(), layout=layout))
    assert plan.summarize(queried(duck, "from meters order by meter", columns=None, layout=layout)) == whole
    assert whole.count == 6


def test_a_relation_and_a_column_of_lists(duck, frame):
    plan = plan_of()
    whole = plan.summarize(frame[NAMES].to_numpy())
    assert plan.summarize(dp.read(duck.sql("select * from days"), columns="h*")) == whole
    for kind in ("double[]", f"double[{SIZE}]"):
        curves = f"select [{', '.join(NAMES)}]::{kind} as curve from days"
        assert plan.summarize(queried(duck, curves, columns=None)) == whole
    assert plan.summarize(queried(duck, f"select {', '.join(f'{n}::float as {n}' for n in NAMES)} from days")) == (
        plan.summarize(frame[NAMES].to_numpy(np.float32))
    )


@pytest.mark.parametrize("kind", ["duck", "lite"])
def test_the_grid_is_known_without_a_record(kind, request):
    """The default mean, in several passes, of data of which nothing is said."""
    connection = request.getfixturevalue(kind)
    for facts in ({}, {"neighbors": "add-remove", "n": 80}):
        release = dp.mean(queried(connection), epsilon=1, bound=dp.L2Ball(0.8), **facts)
        assert release.values.shape == (SIZE,)
    assert dp.density(queried(connection, columns=["h0"]), epsilon=1, domain=[(-3, 3)]).values.size > 1


def test_nothing_is_run_before_it_is_needed(duck):
    curves = queried(duck, "select error('run') as h0, 1 as h1 from days where random() < 2")
    assert repr(curves) == "Curves(query, columns 'h*')"
    assert dp.reading.Curves(curves.data).source().curve_width() == 2  # from the schema
    with pytest.raises(dp.errors.FileError):
        dp.MeanPlan(n=80, epsilon=1, bound=dp.L2Ball(0.8), grid=2).summarize(curves)


@pytest.mark.parametrize("kind", ["duck", "lite"])
def test_a_query_of_more_rows_than_are_wanted_keeps_as_many(kind, frame, request):
    """Which are kept is decided within one reading: a query may give its rows in another order the next time."""
    connection = request.getfixturevalue(kind)
    plan = plan_of(50, invalid="center")
    found = plan.summarize(queried(connection, "select * from days order by random()"))
    assert found == plan.summarize(frame[NAMES].to_numpy())
    assert found.count == 50


def test_too_many_rows_in_any_order_are_to_be_sorted(duck, lite, frame, monkeypatch):
    monkeypatch.setattr("dpfda.engines.gathering.MOST_BYTES", 1000)
    plan = plan_of(16, unit="person")
    for connection in (duck, lite):
        with pytest.raises(dp.errors.RecordError, match="add ORDER BY person to the query"):
            plan.summarize(queried(connection))
    table = pa.Table.from_pandas(frame)
    with pytest.raises(dp.errors.RecordError, match="sort it by person"):
        plan.summarize(dp.read(ds.dataset(table), columns="h*"))


# -- datasets ---------------------------------------------------------------------------------------


def test_datasets_and_scanners_are_read_again(frame, tmp_path):
    frame.to_parquet(tmp_path / "lake", partition_cols=["region"])
    data = ds.dataset(tmp_path / "lake", partitioning="hive")
    plan = plan_of()
    whole = plan.summarize(frame[NAMES].to_numpy())
    assert plan.summarize(dp.read(data, columns="h*")) == whole
    assert plan.summarize(dp.read(data.scanner(columns=NAMES))) == whole
    groups = dp.plans.GroupPlan(("north", "south"), (plan_of(40), plan_of(40)))
    assert groups.summarize(dp.read(data, columns="h*"), "region") == groups.summarize(
        dp.read(frame, columns="h*"), "region"
    )
    assert dp.mean(dp.read(data, columns="h*"), epsilon=1, bound=dp.L2Ball(0.8)).values.shape == (SIZE,)
    careful = plan_of(invalid="center")
    assert careful.summarize(dp.read(data, columns="h*")) == careful.summarize(frame[NAMES].to_numpy())


def test_only_chosen_columns_of_a_dataset_are_scanned(frame, tmp_path):
    """A column that cannot be decoded is nobody's business if it is not asked for."""
    table = pa.Table.from_pandas(frame[NAMES]).append_column("note", pa.array([SECRET * 50] * 80))
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, compression="none", use_dictionary=False)
    content = path.read_bytes()
    column = pq.ParquetFile(path).metadata.row_group(0).column(SIZE)
    start, size = column.data_page_offset, column.total_compressed_size
    path.write_bytes(content[:start] + b"\xff" * size + content[start + size :])
    plan = plan_of()
    assert plan.summarize(dp.read(ds.dataset(path), columns="h*")).count == 80
    with pytest.raises(dp.errors.FileError, match="The dataset breaks off") as caught:
        plan_of().summarize(dp.read(ds.dataset(path), columns=[*NAMES[1:], "note"]))
    assert caught.value.__context__ is None


@pytest.mark.parametrize("facts", HOSTILE, ids=str)
def test_types_that_are_guessed_from_rows_are_refused_whatever_they_are(facts, frame, tmp_path):
    frame[NAMES].to_csv(tmp_path / "a.csv", index=False)
    data = ds.dataset(tmp_path / "a.csv", format="csv")
    plan = plan_of(**facts)
    for guess in (data, data.filter(ds.field("h0") > -9), ds.dataset([data, data]), data.scanner()):
        with pytest.raises(dp.errors.ParameterError, match=r"declared types.*(Name the files|the dataset itself)"):
            plan.summarize(guess)
    assert plan_of().summarize(data) == plan_of().summarize(frame[NAMES].to_numpy())


@pytest.mark.parametrize("facts", HOSTILE, ids=str)
@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.float32()], ids=str)
def test_a_file_of_other_types_than_its_dataset_is_refused_whatever_its_cells_are(facts, kind, frame, tmp_path):
    """Arrow casts its cells, and stops at the first that does not fit: a text, or a number beyond 2^53."""
    table = pa.Table.from_pandas(frame[NAMES], preserve_index=False)
    pq.write_table(table, tmp_path / "a.parquet")
    column = pa.array([1.0, 2.0]).cast(kind)
    pq.write_table(pa.table(dict.fromkeys(NAMES, column)), tmp_path / "b.parquet")
    data = ds.dataset(tmp_path, schema=table.schema)
    for guess in (data, data.filter(ds.field("h0") > -9), ds.dataset([data])):
        with pytest.raises(dp.errors.ParameterError, match=r"declared types.*other types than it.*Name the files"):
            plan_of(**facts).summarize(guess)
    alike = ds.dataset(tmp_path / "a.parquet").filter(ds.field("h0") > -9)
    assert plan_of(**facts).summarize(alike).count == len(frame)
    assert plan_of(82, **facts).summarize(str(tmp_path / "*.parquet")).count == len(frame) + 2


# -- hostile cells ----------------------------------------------------------------------------------

#: What SQLite lets stand in a column of numbers.
CELLS = [SECRET, "1.5", b"\xff\x00", None, float("inf"), 2**62, "1e999", "", "a\x00b", "é" * 9000]


@pytest.mark.parametrize("first", [True, False], ids=["first", "last"])
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: repr(cell)[:12])
@pytest.mark.parametrize("facts", HOSTILE, ids=str)
def test_a_cell_of_sqlite_decides_about_its_own_record_alone(facts, cell, first, frame, lite, tmp_path):
    """The driver guesses types from the first rows: here no record of anybody is among them."""
    hostile = [cell, *[0.25] * (SIZE - 1), "p99", "north"]
    with closing(sqlite(tmp_path)) as other, other:
        other.execute("create table wild as select * from days where 0")
        mine = f"insert into wild values ({', '.join('?' * (SIZE + 2))})"
        others = "insert into wild select * from days"
        for statement in (mine, others) if first else (others, mine):
            other.execute(statement, hostile if statement == mine else ())
    number = cell if isinstance(cell, float | int) else 1.5 if cell == "1.5" else np.nan  # the column makes it one
    array = np.vstack([frame[NAMES].to_numpy(), [number, *[0.25] * (SIZE - 1)]])
    plan = plan_of(81, **facts)
    assert plan.summarize(queried(lite, "select * from wild")) == plan.summarize(array)
    people = plan_of(17, unit="person", **facts)
    own = pd.DataFrame(array, columns=NAMES).assign(person=[*frame.person, "p99"])
    assert people.summarize(queried(lite, "select * from wild")) == people.summarize(dp.read(own, columns="h*"))


@pytest.mark.parametrize(
    ("label", "new"),
    [
        (3, 1),
        (3.0, 1),
        ("3", 1),
        (b"3", 1),
        (2.5, 2),
        (2**62, 2),
        (float(2**62), 2),
        (SECRET, 2),
        (b"\xff", 0),
        (None, 0),
    ],
    ids=repr,
)
def test_labels_of_sqlite_are_spelt_one_by_one(label, new, lite, tmp_path):
    """Beside somebody called 3; one that is not to be read is nobody's."""
    with closing(sqlite(tmp_path)) as other, other:
        rows(other, [[0.1] * SIZE + [label, "north"], [0.2] * SIZE + ["3", "north"]])
    found = plan_of(17, unit="person", neighbors="add-remove", invalid="center").summarize(queried(lite))
    assert found.count == 16 + max(1, new)
    if new:
        assert plan_of(17, unit="person", neighbors="add-remove").summarize(queried(lite)).count == found.count


def test_many_missing_cells_do_not_hide_the_type(lite, tmp_path):
    """The driver takes a column without a value for whole numbers, and stops at the first that is not."""
    with closing(sqlite(tmp_path)) as other, other:
        other.execute(f"create table late({', '.join(NAMES)})")
        other.executemany(f"insert into late values ({', '.join('?' * SIZE)})", [[None] * SIZE] * 70_000)
        other.execute(f"insert into late values ({', '.join(['0.5'] * SIZE)})")
    plan = plan_of(neighbors="add-remove", invalid="center")
    array = np.vstack([np.full((70_000, SIZE), np.nan), np.full(SIZE, 0.5)])
    assert plan.summarize(queried(lite, "select * from late")) == plan.summarize(array)


@pytest.mark.parametrize("facts", [{}, *HOSTILE], ids=str)
def test_what_stops_a_query_is_not_repeated(facts, duck, lite):
    plan = plan_of(**facts)
    cast = f"select ('{SECRET}' || h0)::double as h0, h1, h2, h3, h4 from days"
    for query, match in ((cast, "The query breaks off"), ("select secret_column from days", "cannot be run")):
        with pytest.raises(dp.errors.FileError, match=match) as caught:
            plan.summarize(queried(duck, query))
        assert SECRET not in str(caught.value)
        assert caught.value.__context__ is None
        assert caught.value.__cause__ is None
    with pytest.raises(dp.errors.FileError, match="cannot be run") as caught:
        plan.summarize(queried(lite, "select secret_column from days"))
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "statement", ["delete from days", "select 1; drop table days", "drop table days", "-- select\ndrop table days", " "]
)
@pytest.mark.parametrize("kind", ["duck", "lite"])
def test_reading_changes_nothing(kind, statement, request):
    connection = request.getfixturevalue(kind)
    with pytest.raises((dp.errors.ParameterError, dp.errors.FileError)):
        plan_of().summarize(queried(connection, statement))
    assert plan_of().summarize(queried(connection)).count == 80


# -- a table that changes ---------------------------------------------------------------------------


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_a_table_that_changes_between_passes(neighbors, duck, monkeypatch):
    """A public number of records must stay; a private one may change, and says nothing."""
    from dpfda.reading.databases import Relation

    read = Relation.rows

    def growing(self, *given):
        yield from list(read(self, *given))
        duck.execute("insert into days select * from days limit 1")

    monkeypatch.setattr(Relation, "rows", growing)
    plan = dp.MeanPlan(n=80, **FACTS, neighbors=neighbors, method=dp.methods.Staged(dp.methods.KNorm(3)))
    if neighbors == "add-remove":
        assert plan.release(queried(duck)).values.shape == (SIZE,)
    else:
        with pytest.raises(dp.errors.PlanMismatch, match="changed between two passes"):
            plan.release(queried(duck))


@pytest.mark.parametrize("kind", ["duck", "lite"])
def test_one_row_more_is_one_record_more(kind, frame, request):
    """Neighbours under add-remove, through the query: they differ by what the record itself comes to."""
    connection = request.getfixturevalue(kind)
    plan = plan_of(neighbors="add-remove", invalid="center")
    most = plan.summarize(queried(connection, "select * from days where person <> 'p03' or h0 <> (select max(h0) "
                                              "from days where person = 'p03')"))  # fmt: skip
    own = frame[frame.person == "p03"].nlargest(1, "h0")[NAMES].to_numpy()
    alone, whole = plan.summarize(own), plan.summarize(queried(connection))
    assert whole.count == most.count + 1
    assert (most.totals + alone.totals).tolist() == whole.totals.tolist()


# -- other connections ------------------------------------------------------------------------------


def test_connections_are_told_what_to_do(duck, lite, tmp_path):
    with closing(sqlite(tmp_path)) as other, lite.cursor() as cursor:
        for connection in (duck, lite, other, other.cursor(), cursor):
            with pytest.raises(dp.errors.ParameterError, match=r"Pass dp\.sql\('select \* from days', connection\)"):
                dp.mean(connection, epsilon=1, bound=dp.L2Ball(1.0))
        with pytest.raises(dp.errors.ParameterError, match=r"adbc_driver_sqlite\.dbapi\.connect"):
            dp.sql("select * from days", other)
    with pytest.raises(dp.errors.ParameterError, match=r"duckdb\.connect"):
        dp.sql("select * from days", "study.duckdb")
    with pytest.raises(dp.errors.ParameterError, match="sql takes a query"):
        dp.sql(None, duck)
    with pytest.raises(dp.errors.ParameterError, match="an engine reads files"):
        dp.read(duck.sql("from days"), engine="dask")
    (tmp_path / "a.duckdb").write_bytes(b"")
    with pytest.raises(dp.errors.FileError, match=r"'a.duckdb' is a database. Pass dp\.sql"):
        dp.mean(tmp_path / "a.duckdb", epsilon=1, bound=dp.L2Ball(1.0))


def test_labels_beside_a_query_are_refused(duck, frame):
    """Rows of a query have no order that labels could follow."""
    for labels in ({"by": list(frame.region), "groups": ["north", "south"]}, {"unit": list(frame.person)}):
        with pytest.raises(dp.errors.ParameterError, match="Name their column"):
            dp.mean(queried(duck), epsilon=1, bound=dp.L2Ball(0.8), **labels)


class Unknown:
    """A connection of a driver that nobody has met."""

    def __init__(self, connection):
        self.connection = connection

    def cursor(self):
        return self.connection.cursor()

    def adbc_get_info(self):
        return {"vendor_name": "Somebody's"}


@pytest.mark.parametrize("facts", HOSTILE, ids=str)
def test_a_database_of_which_nothing_is_known_may_guess(facts, lite, frame):
    with pytest.raises(dp.errors.ParameterError, match="not known to declare types"):
        plan_of(**facts).summarize(queried(Unknown(lite)))
    assert plan_of().summarize(queried(Unknown(lite))) == plan_of().summarize(frame[NAMES].to_numpy())


def test_no_driver_is_needed_to_say_so():
    blocked = "import sys; sys.modules['duckdb'] = sys.modules['adbc_driver_manager'] = None\n"
    code = f"{blocked}import dpfda as dp\ntry: dp.sql('select 1', 3)\nexcept dp.DpfdaError as error: print(error)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "connection of DuckDB or of an ADBC driver" in done.stdout
