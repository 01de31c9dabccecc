"""Dask and Spark: the same bits as in one process, also when workers die, and errors that tell rows, never contents."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import hostile

import dpfda as dp
from dpfda import engines

pytestmark = [
    pytest.mark.filterwarnings("ignore:Which (groups|classes) there are:dpfda.errors.NotPrivateWarning"),
    # Of Spark's own: sockets of a stopped session, and old spellings.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark"),
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark"),
    pytest.mark.filterwarnings("ignore::UserWarning:pyspark"),
]

SIZE = 21
NAMES = [f"h{i:02d}" for i in range(SIZE)]
GRID = dp.Grid.uniform(0, 1, SIZE)
FACTS = {"epsilon": 1, "bound": dp.L2Ball(0.8), "grid": GRID}
SECRET = 123.456789


def curve_plans(n: int) -> dict[str, dp.plans.base.Plan]:
    facts = {"n": n, "epsilon": 1, "grid": GRID}
    return {
        "ball": dp.MeanPlan(bound=dp.L2Ball(0.8), method=dp.methods.KNorm(), **facts),
        "ellipsoid": dp.MeanPlan(bound=dp.bounds.Ellipsoid(np.geomspace(1, 0.1, 12)), method=dp.methods.QR(), **facts),
        "staged": dp.MeanPlan(bound=dp.L2Ball(0.8), **facts),
        "covariance": dp.CovariancePlan(bound=dp.L2Ball(0.8), **facts),
        "radius": dp.plans.RadiusPlan(bound=dp.L2Ball(8.0), **facts),
    }


@pytest.fixture(scope="module")
def curves() -> np.ndarray:
    return np.random.default_rng(11).normal(0.2, 0.7, (131, SIZE))


@pytest.fixture(scope="module")
def visits(curves) -> pd.DataFrame:
    """Several curves per person, in no order; a person lives in one region."""
    rng = np.random.default_rng(12)
    frame = pd.DataFrame(curves, columns=NAMES)
    person = rng.integers(0, 40, len(frame))
    frame["person"] = [f"p{i}" for i in person]
    frame["region"] = np.where(person % 3 == 0, "north", "south")
    return frame.sample(frac=1, random_state=3).reset_index(drop=True)


@pytest.fixture(scope="module")
def long(curves) -> pd.DataFrame:
    """One row per observation, shuffled, so that every curve straddles partitions."""
    rng = np.random.default_rng(13)
    few = curves[:17]
    frame = pd.DataFrame(
        {
            "id": np.repeat([f"c{i}" for i in range(len(few))], SIZE),
            "time": np.tile(GRID.points, len(few)),
            "value": few.ravel(),
        }
    )
    return frame[rng.uniform(size=len(frame)) > 0.1].sample(frac=1, random_state=4).reset_index(drop=True)


@pytest.fixture
def ledger(tmp_path) -> dp.Ledger:
    return dp.Ledger.create(tmp_path / "study.ledger", epsilon=3, study="engines")


def written(folder: Path, frame: pd.DataFrame, cuts: list[int]) -> list[Path]:
    paths = []
    for i, (start, stop) in enumerate(zip([0, *cuts], [*cuts, len(frame)], strict=True)):
        paths.append(folder / f"part-{i}.parquet")
        pq.write_table(pa.Table.from_pandas(frame.iloc[start:stop], preserve_index=False), paths[-1])
    return paths


def untouched(ledger: dp.Ledger) -> bool:
    return ledger.remaining == 3 and ledger.history() == ()


# -- Dask ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client():
    dask = pytest.importorskip("dask", reason="Dask is not installed")
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    settings = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.comm.timeouts.connect": "60s",
        "distributed.worker.multiprocessing-method": "forkserver",
    }
    # Workers are forks of a process that has imported the package, so that each starts at once, the killed ones too.
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(["distributed", "dpfda"])
    first = forks.Process(target=os.getpid)
    first.start()
    first.join()
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2,
            processes=True,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def dask_array(client):
    return pytest.importorskip("dask.array", reason="Dask arrays are not installed")


@pytest.fixture
def dask_frame(client):
    return pytest.importorskip("dask.dataframe", reason="Dask data frames are not installed")


@pytest.mark.parametrize("name", curve_plans(131))
def test_arrays_in_odd_chunks_frames_and_files_give_the_same_bits(name, curves, dask_array, dask_frame, tmp_path):
    plan = curve_plans(131)[name]
    local = plan.summarize(curves)
    assert plan.summarize(dask_array.from_array(curves, chunks=((1, 60, 0, 70), (5, 9, 7)))) == local
    frame = pd.DataFrame(curves, columns=NAMES)
    assert plan.summarize(dask_frame.from_pandas(frame, npartitions=5)) == local
    paths = written(tmp_path, frame, [10, 10, 90])
    assert plan.summarize(dp.read(paths, engine="dask")) == local
    assert plan.summarize(dp.read(paths[1:], engine="dask")) != local


def test_points_and_labelled_inputs_give_the_same_bits(dask_array):
    rng = np.random.default_rng(5)
    points = rng.uniform(0, 10, (301, 1)).round(2)
    density = dp.DensityPlan(n=301, epsilon=1, domain=[(0, 10)], cells=32)
    assert density.summarize(dask_array.from_array(points, chunks=(77, 1))) == density.summarize(points)
    kernel = dp.plans.KernelPlan(n=301, epsilon=1, domain=[(0, 10)], bound=(0, 1), criterion="huber")
    pairs = np.hstack([points, rng.uniform(0, 1, (301, 1))])
    local = kernel.summarize(pairs)
    assert type(local).__name__ == "Tally"
    assert kernel.summarize(dask_array.from_array(pairs, chunks=(100, 2))) == local


def test_many_parts_are_merged_in_steps(curves, dask_array):
    plan = curve_plans(131)["ball"]
    assert len(curves) > engines.dask_engine.FAN**2 / 2
    assert plan.summarize(dask_array.from_array(curves, chunks=(1, SIZE))) == plan.summarize(curves)


@pytest.mark.parametrize("name", ["ball", "ellipsoid", "covariance"])
def test_hostile_records_count_as_the_centre_everywhere(name, dask_array):
    records = np.array(hostile(SIZE))
    plan = replace(curve_plans(len(records))[name], invalid="center")
    local = plan.summarize(records)
    assert local.count == len(records)
    assert plan.summarize(dask_array.from_array(records, chunks=(3, SIZE))) == local


def test_curves_of_a_unit_meet_from_all_partitions(visits, dask_frame, tmp_path):
    plan = dp.MeanPlan(n=39, **FACTS, unit="person")
    local = plan.summarize(dp.read(visits, columns="h*"))
    assert local.count == visits.person.nunique()
    parts = dask_frame.from_pandas(visits, npartitions=4)
    assert plan.summarize(dp.read(parts, columns="h*")) == local
    assert plan.summarize(dp.read(written(tmp_path, visits, [20, 90]), columns="h*", engine="dask")) == local
    spelt = visits.assign(person=[f" {p}" if i % 2 else p for i, p in enumerate(visits.person)])
    assert plan.summarize(dp.read(dask_frame.from_pandas(spelt, npartitions=3), columns="h*")) == local
    assert plan.summarize(dp.read(dask_frame.from_pandas(visits.iloc[1:], npartitions=3), columns="h*")) != local


def test_at_most_so_many_curves_of_a_unit_by_their_labels(visits, dask_frame):
    days = visits.assign(day=[f"d{i}" for i in range(len(visits))])
    parts = dask_frame.from_pandas(days, npartitions=4)
    plan = dp.MeanPlan(n=39, **FACTS, unit=dp.Unit("person", most=2, order="day"))
    assert plan.summarize(dp.read(parts, columns="h*")) == plan.summarize(dp.read(days, columns="h*"))
    blind = dp.MeanPlan(n=39, **FACTS, unit=dp.Unit("person", most=2))
    with pytest.raises(dp.errors.ParameterError, match="order='day'"):
        blind.summarize(dp.read(parts, columns="h*"))


def test_curves_that_straddle_partitions_are_whole(long, dask_frame, tmp_path):
    plan = dp.MeanPlan(n=17, **FACTS, align="linear")
    local = plan.summarize(dp.read(long, layout="long"))
    assert local.count == 17
    assert plan.summarize(dp.read(dask_frame.from_pandas(long, npartitions=6), layout="long")) == local
    assert plan.summarize(dp.read(written(tmp_path, long, [50, 51, 200]), layout="long", engine="dask")) == local


@pytest.mark.parametrize("groups", [("north", "south"), ("south", "north"), None], ids=str)
@pytest.mark.parametrize("unit", [None, "person"])
def test_groups_with_and_without_units(groups, unit, visits, dask_frame):
    problem = dp.MeanPlan(n=39, **FACTS, unit=unit).stage.encoder
    people = visits.rename(columns={"person": "person" if unit else "label"})
    local = engines.summarize_groups(problem, dp.read(people, columns="h*"), "region", groups)
    parts = dask_frame.from_pandas(people, npartitions=5)
    found = engines.summarize_groups(problem, dp.read(parts, columns="h*"), "region", groups)
    assert list(found) == list(local) == list(groups or ("north", "south"))
    assert found == local
    assert local["north"] != local["south"]


def test_a_staged_release_of_groups_is_one_charge(visits, dask_frame, ledger):
    parts = dask_frame.from_pandas(visits, npartitions=3)
    release = dp.mean(dp.read(parts, columns="h*"), **FACTS, by="region", unit="person", ledger=ledger)
    sizes = visits.groupby("region").person.nunique()
    assert {name: part.n for name, part in zip(release.plan.groups, release.plan.plans, strict=True)} == sizes.to_dict()
    assert [entry.epsilon for entry in ledger.history()] == [1]


def test_the_default_release_reads_the_cluster_several_times(curves, dask_array, ledger):
    many = dask_array.from_array(np.tile(curves, (20, 1)), chunks=(700, 8))
    release = dp.mean(many, epsilon=1, bound=dp.L2Ball(0.8), ledger=ledger)
    assert release.plan.schedule.passes > 1
    assert (release.plan.n, release.grid.size) == (2620, SIZE)
    assert ledger.remaining == 2


def test_an_error_on_a_worker_names_rows_and_file_and_charges_nothing(curves, dask_array, dask_frame, ledger, tmp_path):
    bad = curves.copy()
    bad[70, 3], bad[71, 0] = np.nan, SECRET
    frame = pd.DataFrame(bad, columns=NAMES)
    for data, more, match in (
        (dask_array.from_array(bad, chunks=(64, SIZE)), {}, "in row 7 "),
        (dask_frame.from_pandas(frame, npartitions=2), {"columns": "h*"}, "in row 5 "),
        (written(tmp_path, frame, [60, 100]), {"engine": "dask"}, "'part-1.parquet' in row 11 "),
    ):
        with pytest.raises(dp.errors.RecordError, match=match) as caught:
            dp.mean(dp.read(data, **more), **FACTS, ledger=ledger)
        assert "invalid='center'" in str(caught.value)
        assert str(SECRET) not in repr(caught.value.__context__) + str(caught.value)
        assert untouched(ledger)


def test_an_error_in_a_bucket_names_the_right_file(visits, client, ledger, tmp_path):
    bad = visits.copy()
    bad.loc[30, "h05"] = np.inf
    paths = written(tmp_path, bad, [20, 80])
    with pytest.raises(dp.errors.RecordError, match=r"'part-1.parquet' in row 11 "):
        dp.mean(dp.read(paths, columns="h*", engine="dask"), **FACTS, unit="person", ledger=ledger)
    bad.loc[30, "h05"], bad.loc[100, "person"] = 0.0, None
    with pytest.raises(dp.errors.RecordError, match=r"person is missing in 'part-2.parquet' in row 21 "):
        dp.mean(
            dp.read(written(tmp_path, bad, [20, 80]), columns="h*", engine="dask"),
            **FACTS,
            unit="person",
            ledger=ledger,
        )
    assert untouched(ledger)


def test_a_unit_in_two_groups_is_refused_from_anywhere(visits, dask_frame, ledger):
    torn = visits.copy()
    torn.loc[0, "region"] = "south" if torn.region[0] == "north" else "north"
    with pytest.raises(dp.errors.RecordError, match="belongs to more than one group"):
        dp.mean(
            dp.read(dask_frame.from_pandas(torn, npartitions=4), columns="h*"),
            **FACTS,
            by="region",
            unit="person",
            ledger=ledger,
        )
    assert untouched(ledger)


def test_without_a_cluster_the_local_scheduler_does(curves, tmp_path):
    dask = pytest.importorskip("dask", reason="Dask is not installed")
    paths = written(tmp_path, pd.DataFrame(curves, columns=NAMES), [50])
    plan = curve_plans(131)["ball"]
    with dask.config.set(scheduler="synchronous"):
        assert plan.summarize(dp.read(paths, engine="dask")) == plan.summarize(curves)


def test_engines_refuse_what_is_not_theirs(curves, dask_array, ledger):
    data = dask_array.from_array(curves, chunks=(40, SIZE))
    facts = FACTS | {"ledger": ledger}
    with pytest.raises(dp.errors.ParameterError, match="read by its own engine"):
        dp.mean(dp.read(data, engine="spark"), **facts)
    with pytest.raises(dp.errors.ParameterError, match="engine is one of dask, spark"):
        dp.mean(dp.read(curves, engine="ray"), **facts)
    with pytest.raises(dp.errors.ParameterError, match="reads a Spark DataFrame"):
        dp.mean(dp.read(curves, engine="spark"), **facts)
    with pytest.raises(dp.errors.ParameterError, match="labels beside the data"):
        dp.mean(data, **facts, unit=["a"] * len(curves))
    with pytest.raises(dp.errors.ParameterError, match="two dimensions"):
        dp.mean(data.reshape(-1), **facts)
    assert untouched(ledger)


def kill_once(block: np.ndarray, marker: str) -> np.ndarray:
    """The worker that comes here first dies at once, with whatever it holds."""
    if len(block) and not os.path.exists(marker):
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def kill_always(block: np.ndarray, row: float) -> np.ndarray:
    if len(block) and block[0, 0] == row:
        os.kill(os.getpid(), signal.SIGKILL)
    return block


def test_a_task_whose_worker_was_killed_is_run_again(curves, dask_array, client, tmp_path):
    plan, marker = curve_plans(131)["ball"], tmp_path / "killed"
    before = {info["pid"] for info in client.run(lambda dask_worker: {"pid": os.getpid()}).values()}
    data = dask_array.from_array(curves, chunks=(30, SIZE))
    deadly = data.map_blocks(kill_once, marker=str(marker), dtype=float, meta=np.empty((0, SIZE)))
    assert plan.summarize(deadly) == plan.summarize(curves)
    assert marker.exists()
    client.wait_for_workers(2, timeout=60)
    after = {info["pid"] for info in client.run(lambda dask_worker: {"pid": os.getpid()}).values()}
    assert before - after  # one of them is no more


def test_a_part_that_always_kills_its_worker_is_given_up(curves, dask_array, client, ledger):
    data = dask_array.from_array(curves, chunks=(60, SIZE))
    deadly = data.map_blocks(kill_always, row=curves[60, 0], dtype=float, meta=np.empty((0, SIZE)))
    with pytest.raises(
        dp.errors.ClusterError, match=r"Dask gave up on a part \(KilledWorker\).*Nothing was charged"
    ) as caught:
        dp.mean(deadly, epsilon=1, bound=dp.L2Ball(0.8), ledger=ledger)
    assert "run again" in str(caught.value)
    assert untouched(ledger)
    client.wait_for_workers(2, timeout=60)


def test_finished_files_are_kept_when_one_kills_its_worker(curves, client, ledger, tmp_path):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    paths = written(tmp_path, pd.DataFrame(curves, columns=NAMES), [40, 80])
    deadly, saved = str(paths[1]), str(tmp_path / "sum.json")
    register(deadly, saved, kills=False)

    class Registers(distributed.WorkerPlugin):
        name = "registers"

        def setup(self, worker):
            register(deadly, saved, kills=True)

    client.register_plugin(Registers())
    plan = curve_plans(131)["ball"]
    files = [f"dbfs://{path}" for path in paths]
    with pytest.raises(dp.errors.ClusterError, match="Nothing was charged"):
        plan.release(dp.read(files, engine="dask"), ledger, checkpoint=saved)
    client.unregister_worker_plugin("registers")
    assert untouched(ledger)
    kept = dp.engines.load_summary(saved)
    rows = {"part-0.parquet": curves[:40], "part-2.parquet": curves[80:]}
    assert {part.name for part in kept.parts} <= set(rows)  # what waited at the dead worker may be lost with it
    assert kept.parts
    assert kept.summary == plan.summarize(np.vstack([rows[part.name] for part in kept.parts]))
    assert plan.summarize(files, checkpoint=saved) == plan.summarize(curves)


def register(deadly: str, saved: str, kills: bool) -> None:
    """Files by a way on which one is deadly, as soon as another one is done."""
    import fsspec
    from fsspec.implementations.local import LocalFileSystem

    class Deadly(LocalFileSystem):
        protocol = ("dbfs",)

        def open(self, path, mode="rb", **options):
            if kills and str(path) == deadly:
                for _ in range(1000):
                    if os.path.exists(saved):
                        break
                    time.sleep(0.05)
                os.kill(os.getpid(), signal.SIGKILL)
            return super().open(path, mode, **options)

    fsspec.register_implementation("dbfs", Deadly, clobber=True)


# -- Spark ---------------------------------------------------------------------------------------


def listed(curves: np.ndarray, **more: object) -> pd.DataFrame:
    return pd.DataFrame({"curve": curves.tolist(), **more})


def test_a_list_column_gives_the_same_bits(spark, curves):
    frame = spark.createDataFrame(listed(curves)).repartition(3)
    for name, layout in (("ball", None), ("covariance", dp.Lists("curve"))):
        plan = curve_plans(131)[name]
        assert plan.summarize(dp.read(frame, layout=layout)) == plan.summarize(curves), name


def test_files_are_read_by_the_workers(spark, curves, tmp_path, ledger):
    (tmp_path / "lists").mkdir()
    wide, lists = (
        written(tmp_path, pd.DataFrame(curves, columns=NAMES), [50, 90]),
        written(tmp_path / "lists", listed(curves), [70]),
    )
    for plan in curve_plans(131).values():
        whole = plan.summarize(wide)
        assert plan.summarize(dp.read(wide, engine="spark")) == whole
        assert plan.summarize(dp.read(lists, engine="spark", layout=dp.Lists("curve"))) == whole
    bad = curves.copy()
    bad[60, 2] = np.nan
    (tmp_path / "bad").mkdir()
    paths = written(tmp_path / "bad", pd.DataFrame(bad, columns=NAMES), [50])
    with pytest.raises(dp.errors.RecordError, match=r"part-1.*row 11"):
        dp.mean(dp.read(paths, engine="spark"), **FACTS, ledger=ledger)
    assert untouched(ledger)


def test_wide_columns_and_hostile_records_give_the_same_bits(spark, curves):
    frame = spark.createDataFrame(pd.DataFrame(curves, columns=NAMES))
    plan = curve_plans(131)["ball"]
    assert plan.summarize(frame) == plan.summarize(curves)
    assert plan.summarize(dp.read(frame, columns=NAMES[::-1])) != plan.summarize(curves)
    records = np.array(hostile(SIZE))
    careful = dp.MeanPlan(n=len(records), **FACTS, invalid="center")
    odd = spark.createDataFrame(listed(records))
    assert careful.summarize(odd) == careful.summarize(records)


def test_units_meet_however_their_labels_are_spelt(spark, visits):
    plan = dp.MeanPlan(n=39, **FACTS, unit="person")
    local = plan.summarize(dp.read(visits, columns="h*"))
    spelt = visits.assign(person=[f" {p}" if i % 2 else p for i, p in enumerate(visits.person)])
    frame = spark.createDataFrame(spelt).repartition(4)
    assert plan.summarize(dp.read(frame, columns="h*")) == local
    groups = engines.summarize_groups(plan.stage.encoder, dp.read(frame, columns="h*"), "region", None)
    assert groups == engines.summarize_groups(plan.stage.encoder, dp.read(visits, columns="h*"), "region", None)
    assert sum(part.count for part in groups.values()) == local.count


def test_long_tables_become_whole_curves(spark, long):
    plan = dp.MeanPlan(n=17, **FACTS, align="linear")
    frame = spark.createDataFrame(long).repartition(5)
    assert plan.summarize(dp.read(frame, layout="long")) == plan.summarize(dp.read(long, layout="long"))


def test_an_error_on_an_executor_arrives_as_itself(spark, curves, visits, ledger):
    bad = curves.copy()
    bad[5, 3], bad[5, 4] = np.nan, SECRET
    with pytest.raises(dp.errors.RecordError, match="missing or infinite values in row 6 ") as caught:
        dp.mean(spark.createDataFrame(listed(bad)).coalesce(1), **FACTS, ledger=ledger)
    assert caught.value.rows == (5,)
    assert str(SECRET) not in str(caught.value)
    lost = visits.astype({"person": object})
    lost.loc[3, "person"] = None
    with pytest.raises(dp.errors.RecordError, match="person is missing"):
        dp.mean(dp.read(spark.createDataFrame(lost), columns="h*"), **FACTS, unit="person", ledger=ledger)
    with pytest.raises(dp.errors.RecordError, match="names no group"):
        dp.mean(
            dp.read(spark.createDataFrame(visits), columns="h*"), **FACTS, by="region", groups=["north"], ledger=ledger
        )
    assert untouched(ledger)


def test_a_whole_release_from_spark(spark, visits, ledger):
    frame = spark.createDataFrame(visits).cache()
    release = dp.mean(dp.read(frame, columns="h*"), **FACTS, unit="person", method=dp.Auto(passes=1), ledger=ledger)
    assert release.plan.n == visits.person.nunique()
    assert np.isfinite(release.values).all()
    groups = dp.mean(
        dp.read(frame, columns="h*"), **FACTS, by="region", unit="person", method=dp.methods.KNorm(), ledger=ledger
    )
    assert groups.plan.groups == ("north", "south")
    assert [entry.epsilon for entry in ledger.history()] == [1, 1]


def test_spark_refuses_checkpoints(spark, curves, tmp_path):
    plan = curve_plans(131)["ball"]
    with pytest.raises(dp.errors.ParameterError, match="about files"):
        plan.summarize(spark.createDataFrame(listed(curves)), checkpoint=tmp_path / "sum.json")
    with pytest.raises(dp.errors.ParameterError, match="about files"):
        plan.summarize(dp.read(written(tmp_path, listed(curves), []), engine="spark"), checkpoint=tmp_path / "sum.json")
    assert not (tmp_path / "sum.json").exists()


def test_an_executor_that_dies_is_a_clear_error(spark, curves, ledger):
    def stop(batches):
        for batch in batches:
            if batch.num_rows > 1:
                raise ValueError(f"secret {SECRET}")
            yield batch

    frame = spark.createDataFrame(listed(curves))
    with pytest.raises(dp.errors.ClusterError, match=r"Spark gave up on a part .*Nothing was charged") as caught:
        dp.mean(frame.mapInArrow(stop, frame.schema), **FACTS, ledger=ledger)
    error = caught.value
    while error is not None:
        assert str(SECRET) not in str(error)
        error = error.__cause__ or error.__context__
    assert untouched(ledger)
