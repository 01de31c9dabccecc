"""Lakes: folders called name=value as columns of labels, on every path by which files are read."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpfda as dp
from dpfda.reading.places import expanded

pytestmark = pytest.mark.filterwarnings("ignore::dpfda.errors.UnitWarning")
SIZE = 6
NAMES = [f"h{i}" for i in range(SIZE)]
FACTS = {"epsilon": 1, "bound": dp.L2Ball(0.8), "grid": SIZE, "method": dp.methods.KNorm(3)}
GROUPS = ("north", "new york")


@pytest.fixture
def frame(rng) -> pd.DataFrame:
    found = pd.DataFrame(rng.normal(0.2, 0.5, (90, SIZE)), columns=NAMES)
    found["person"] = [f"p{i % 18:02d}" for i in range(90)]
    found["region"] = np.where(np.arange(90) % 18 < 9, *GROUPS)
    found["month"] = np.arange(90) % 3 + 1
    return found


def written(frame: pd.DataFrame, root: Path, levels: list[str], kind: str = "parquet") -> Path:
    """As pandas, Spark and DuckDB write a lake."""
    for labels, part in frame.groupby(levels, dropna=False):
        folder = root.joinpath(*(f"{name}={escaped(value)}" for name, value in zip(levels, labels, strict=True)))
        folder.mkdir(parents=True)
        plain = part.drop(columns=levels)
        if kind == "parquet":
            plain.to_parquet(folder / "part-0.parquet", index=False)
        else:
            plain.to_csv(folder / "part-0.csv", index=False)
    return root


def escaped(value: object) -> str:
    return "__HIVE_DEFAULT_PARTITION__" if pd.isna(value) else str(value).replace(" ", "%20")


def plan_of(n: int = 90, **facts: object) -> dp.MeanPlan:
    return dp.MeanPlan(n=n, **FACTS, **facts)


def by_region(data: object, plan: dp.MeanPlan, **options: object) -> dict:
    options.setdefault("columns", "h*")
    joint = dp.plans.GroupPlan(GROUPS, (plan, plan))
    return joint.summarize(dp.read(data, **options), "region")


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("engine", [None, "dask"])
def test_folders_are_labels(kind, engine, frame, tmp_path):
    lake = written(frame, tmp_path / "lake", ["region", "month"], kind)
    options = {"engine": engine, "header": True}
    assert plan_of().summarize(dp.read(lake, columns="h*", **options)) == plan_of().summarize(frame[NAMES].to_numpy())
    assert by_region(lake, plan_of(45), **options) == by_region(frame, plan_of(45))
    pattern = f"{lake}/region=*/month=*/*.{kind}"
    people = plan_of(18, unit="person")
    whole = people.summarize(dp.read(frame, columns="h*"))
    assert people.summarize(dp.read(pattern, columns="h*", **options)) == whole
    assert by_region(pattern, plan_of(9, unit="person"), **options) == by_region(frame, plan_of(9, unit="person"))


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_folders_say_whose_curve_and_in_which_order(kind, frame, tmp_path):
    lake = written(frame, tmp_path / "lake", ["person", "month"], kind)
    for unit in ("person", dp.Unit("person", most=2, order="month")):
        plan = plan_of(18, unit=unit)
        assert plan.summarize(dp.read(lake, columns="h*", header=True)) == plan.summarize(dp.read(frame, columns="h*"))
    long = frame.melt(["person", "month"], NAMES, "time", "value")
    long = long.assign(time=long.time.str[1:].astype(float) / (SIZE - 1))[["person", "month", "time", "value"]]
    rows = written(long[long.month == 1], tmp_path / "long", ["person", "month"], kind)
    plan, layout = plan_of(18, align="linear"), dp.Long("person", "time", "value")
    assert plan.summarize(dp.read(rows, layout=layout, header=True)) == plan.summarize(
        dp.read(long[long.month == 1], layout=layout)
    )


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_folder_is_a_value_only_where_it_is_named(kind, frame, tmp_path):
    lake = written(frame[[*NAMES, "region", "month"]], tmp_path / "lake", ["region", "month"], kind)
    assert plan_of().summarize(dp.read(lake, header=True)).count == 90  # h0 to h5, and no month
    named = [*NAMES[1:], "month"]
    assert plan_of().summarize(dp.read(lake, columns=named, header=True)) == plan_of().summarize(
        frame[named].to_numpy(float)
    )
    with pytest.raises(dp.errors.RecordError, match="A folder does not hold a number"):
        plan_of().summarize(dp.read(lake, columns=[*NAMES[1:], "region"], header=True))
    with pytest.raises(dp.errors.ParameterError, match="some column of values is in the files"):
        dp.density(dp.read(lake, columns=["month"], header=True), epsilon=1, domain=[(1, 3)])


def test_files_without_names_have_folders_too(frame, tmp_path):
    for region in GROUPS:
        (tmp_path / f"region={region}").mkdir()
        rows = frame.loc[frame.region == region, NAMES]
        rows.to_csv(tmp_path / f"region={region}" / "a.csv", header=False, index=False)
    found = by_region(tmp_path, plan_of(45), columns=None, header=False)
    assert found == by_region(frame, plan_of(45))


def test_addresses_are_lakes_too(frame, tmp_path):
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    lake = written(frame, tmp_path / "lake", ["region", "month"])
    memory = fsspec.filesystem("memory")
    memory.put(str(lake), "/study/lake", recursive=True)
    for address in ("memory://study/lake", "memory://study/lake/region=*/month=*/*.parquet", f"file://{lake}"):
        assert by_region(address, plan_of(45)) == by_region(frame, plan_of(45)), address
    memory.rm("/study", recursive=True)


def test_a_checkpoint_goes_file_by_file(frame, tmp_path):
    lake = written(frame, tmp_path / "lake", ["region", "month"])
    joint = dp.plans.GroupPlan(GROUPS, (plan_of(45), plan_of(45)))
    north = dp.read(lake / "region=north", columns="h*")
    joint.summarize(north, "region", checkpoint=tmp_path / "s.json")
    found = joint.summarize(dp.read(lake, columns="h*"), "region", checkpoint=tmp_path / "s.json")
    assert {name: (part.count, part.totals.tolist()) for name, part in found.items()} == {
        name: (part.count, part.totals.tolist()) for name, part in by_region(frame, plan_of(45)).items()
    }
    assert len(dp.engines.load_summary(tmp_path / "s.json").parts) == 6


def test_what_else_lies_in_a_lake_is_left_alone(frame, tmp_path):
    lake = written(frame, tmp_path / "lake", ["region", "month"])
    for folder in ("_temporary", ".hidden", "notes", "_region=x", "region=north/month=1/more"):
        (lake / folder).mkdir()
        shutil.copy(lake / "region=north" / "month=1" / "part-0.parquet", lake / folder / "part-9.parquet")
    (lake / "_SUCCESS").write_text("")
    (lake / "region=north" / "_metadata.parquet").write_text("")
    assert len(expanded(lake)) == 6


def test_folders_that_do_not_fit_are_refused(frame, tmp_path):
    lake = written(frame, tmp_path / "lake", ["region", "month"])
    part = lake / "region=north" / "month=1" / "part-0.parquet"

    def refused(match: str, data: object = lake) -> None:
        with pytest.raises(dp.errors.FileError, match=match) as caught:
            plan_of().summarize(dp.read(data, columns="h*"))
        assert "north" not in str(caught.value)

    shutil.copy(part, lake / "deeper.parquet")
    refused("lies in folders called .*, and .* in")
    (lake / "deeper.parquet").unlink()
    (lake / "city=a" / "month=1").mkdir(parents=True)
    shutil.copy(part, lake / "city=a" / "month=1" / "x.parquet")
    refused("lies in folders called .*, and .* in")
    shutil.rmtree(lake / "city=a")
    frame.to_parquet(part)
    refused("'region' is a column of 'part-0.parquet' and the name of its folder")
    refused("'region' is a column of 'part-0.parquet' and the name of its folder", part)
    (lake / "month=1").mkdir()
    refused("two folders of one name", [written(frame, tmp_path / "month=3", ["month", "region"])])


@pytest.mark.parametrize("log", ["_delta_log", ".hoodie"])
def test_a_table_with_a_history_is_not_a_folder_of_files(log, frame, tmp_path):
    frame.to_parquet(tmp_path / "old.parquet")
    (tmp_path / log).mkdir()
    with pytest.raises(dp.errors.FileError, match=r"rows that have been replaced or removed.*as it is now"):
        plan_of().summarize(dp.read(tmp_path, columns="h*"))


def test_a_table_below_a_label_does_not_show_it(frame, tmp_path):
    folder = tmp_path / "patient=ann-smith"
    (folder / "_delta_log").mkdir(parents=True)
    frame.to_parquet(folder / "a.parquet")
    with pytest.raises(dp.errors.FileError, match=r"folder 'patient=\.\.\.' is a table of Delta") as caught:
        plan_of().summarize(dp.read(tmp_path, columns="h*"))
    assert "ann" not in str(caught.value)


def test_a_folder_that_holds_nothing_says_what_it_may_hold(tmp_path):
    (tmp_path / "lake" / "north").mkdir(parents=True)
    for data in (tmp_path / "lake", f"file://{tmp_path}/lake"):
        with pytest.raises(dp.errors.FileError, match=r"folder 'lake' holds nothing.*\.parquet.*region=north"):
            plan_of().summarize(data)


def test_links_that_lead_back_come_to_an_end(tmp_path):
    (tmp_path / "a=1").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(dp.errors.FileError, match=r"link that leads back|cannot be read"):
        plan_of().summarize(tmp_path)


@pytest.mark.parametrize(("address", "driver"), [("s3://b/*.parquet", "s3fs"), ("gs://b/x.csv", "gcsfs")])
def test_an_address_says_which_driver_it_needs(address, driver):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    try:
        __import__(driver)
    except ImportError:
        with pytest.raises(dp.errors.FileError, match=rf"Install {driver}: dpfda\[remote\] brings fsspec"):
            plan_of().summarize(address)
    else:
        pytest.skip(f"{driver} is installed")


# -- neighbours ------------------------------------------------------------------------------------

#: Labels that a record may lie under, in a folder.
LABELS = ["north", "elsewhere", None, "NA", "a/b=c%", "=", "ü" * 60]


@pytest.mark.parametrize("label", LABELS, ids=repr)
@pytest.mark.parametrize("facts", [{"neighbors": "add-remove"}, {"invalid": "center"}], ids=str)
def test_one_more_record_moves_one_group_by_itself_alone(label, facts, frame, tmp_path):
    """Whatever folder a record lies in, nothing stops and no other record is read otherwise."""
    plan = plan_of(45, **facts, **({} if "invalid" in facts else {"invalid": "center"}))
    lake = written(frame, tmp_path / "lake", ["region", "month"])
    before = by_region(lake, plan)
    name = "__HIVE_DEFAULT_PARTITION__" if label is None else label.replace("%", "%25").replace("/", "%2F")
    folder = lake / f"region={name}" / "month=7"
    folder.mkdir(parents=True)
    alone = pd.DataFrame([np.arange(SIZE)], columns=NAMES).assign(person="x")
    alone.to_parquet(folder / "part-0.parquet", index=False)
    after = by_region(lake, plan)
    if "neighbors" not in facts:  # a public number of records: no more than that are kept
        assert all(part.count == 45 for part in after.values())
        assert after["new york"] == before["new york"]
        return
    for group, part in before.items():
        own = plan.summarize(alone[NAMES].to_numpy(float)) if group == label else None
        expected = part.totals if own is None else part.totals + own.totals
        assert after[group].totals.tolist() == expected.tolist()
        assert after[group].count == part.count + (own is not None)


@pytest.mark.parametrize("facts", [{"neighbors": "add-remove"}, {"invalid": "center"}], ids=str)
def test_one_more_folder_of_a_person_is_one_more_person(facts, frame, tmp_path):
    plan = plan_of(19, **facts, unit="person")
    lake = written(frame, tmp_path / "lake", ["person", "month"])
    before = plan.summarize(dp.read(lake, columns="h*"))
    for name in ("p99", "__HIVE_DEFAULT_PARTITION__", "null"):
        (lake / f"person={name}" / "month=0").mkdir(parents=True)
        frame[NAMES][:2].to_parquet(lake / f"person={name}" / "month=0" / "a.parquet", index=False)
    if "neighbors" in facts:
        shutil.rmtree(lake / "person=null")
        shutil.rmtree(lake / "person=__HIVE_DEFAULT_PARTITION__")
    after = plan.summarize(dp.read(lake, columns="h*"))
    assert after.count == before.count + 1
    own = plan.summarize(dp.read(frame[:2].assign(person="p99"), columns="h*"))
    assert (before.totals + own.totals).tolist() == after.totals.tolist()
