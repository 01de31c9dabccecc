"""Files by name on Spark whose rows belong together: the same bits as in one process, in any order and layout."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpfda as dp
from dpfda.engines import shipping
from dpfda.reading.blocks import Block, Rows

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark"),
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark"),
    pytest.mark.filterwarnings("ignore::UserWarning:pyspark"),
]
SIZE = 9
NAMES = [f"h{i}" for i in range(SIZE)]
GRID = dp.Grid.uniform(0, 1, SIZE)
FACTS = {"epsilon": 1, "bound": dp.L2Ball(0.8), "grid": GRID, "method": dp.methods.KNorm(3)}
SECRET = "person-that-nobody-may-see"


@pytest.fixture
def visits(rng) -> pd.DataFrame:
    frame = pd.DataFrame(rng.normal(0.2, 0.7, (120, SIZE)), columns=NAMES)
    person = rng.integers(0, 30, len(frame))
    frame["person"] = [f"p{i}" for i in person]
    frame["region"] = np.where(person % 3 == 0, "north", "south")
    return frame


@pytest.fixture
def lake(visits, tmp_path):
    """Every person lies in several files, in no order."""
    for month in (1, 2, 3):
        for region, part in visits[month - 1 :: 3].groupby("region"):
            folder = tmp_path / "lake" / f"region={region}" / f"month={month}"
            folder.mkdir(parents=True)
            part.drop(columns="region").to_parquet(folder / "part-0.parquet", index=False)
    return tmp_path / "lake"


@pytest.mark.parametrize("facts", [{}, {"invalid": "center"}, {"neighbors": "add-remove"}], ids=str)
def test_units_of_a_lake_meet(facts, spark, visits, lake):
    plan = dp.MeanPlan(n=visits.person.nunique(), **FACTS, unit="person", **facts)
    whole = plan.summarize(dp.read(visits, columns="h*"))
    ordered = visits.sort_values("person", kind="stable")
    ordered.drop(columns="region").to_parquet(lake.parent / "sorted.parquet", index=False)
    assert plan.summarize(dp.read(lake.parent / "sorted.parquet", columns="h*")) == whole
    assert plan.summarize(dp.read(lake, columns="h*", engine="spark")) == whole
    groups = dp.plans.GroupPlan(("north", "south"), (plan, plan))
    assert groups.summarize(dp.read(lake, columns="h*", engine="spark"), "region") == groups.summarize(
        dp.read(visits, columns="h*"), "region"
    )


def test_long_text_files_become_whole_curves(spark, rng, tmp_path):
    frame = pd.DataFrame(
        {
            "id": np.repeat([f"c{i}" for i in range(17)], SIZE),
            "time": np.tile(GRID.points, 17),
            "value": rng.normal(0, 1, 17 * SIZE),
        }
    )
    frame = frame[rng.uniform(size=len(frame)) > 0.1]
    plan = dp.MeanPlan(n=17, **FACTS, align=dp.spaces.Interpolate(gap=1.0))
    whole = plan.summarize(dp.read(frame, layout="long"))
    mixed = frame.sample(frac=1, random_state=4)
    for i, cut in enumerate(np.array_split(np.arange(len(mixed)), 3)):
        mixed.iloc[cut].to_csv(tmp_path / f"part-{i}.csv", index=False)
    assert plan.summarize(dp.read(tmp_path, layout="long", engine="spark")) == whole


def test_an_error_about_rows_names_the_file_and_no_label(spark, visits, tmp_path):
    visits.loc[70, "person"] = None
    visits.loc[71, "person"] = SECRET
    visits[:60].to_parquet(tmp_path / "a.parquet", index=False)
    visits[60:].to_parquet(tmp_path / "b.parquet", index=False)
    plan = dp.MeanPlan(n=30, **FACTS, unit="person")
    with pytest.raises(dp.errors.RecordError, match=r"person is missing in 'b.parquet' in row 11") as caught:
        plan.summarize(dp.read(tmp_path, columns="h*", engine="spark"))
    assert SECRET not in str(caught.value)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 not a file PAR1")
    with pytest.raises(dp.errors.FileError, match="not a readable Parquet file"):
        plan.summarize(dp.read(tmp_path, columns="h*", engine="spark"))


def test_blocks_arrive_as_they_were_sent(rng):
    labels = np.array(["a", "b\ud800", "é"], dtype=object)
    values = np.array([np.nan, -0.0, 1e-320])
    rows = Rows(labels, values, values, np.arange(3), np.arange(3), labels, labels, np.array([0.0, np.nan, 1.0]), "f")
    pieces = Block(values, np.arange(1), values, np.array([0, 3]), file="g")
    for raw in (rows, pieces, Block(rng.normal(size=(3, 2)).astype(np.float32), np.arange(3), units=labels)):
        found, names = shipping.unpacked(shipping.packed(raw, ("x", "y")))
        assert (type(found), found.file, names) == (type(raw), raw.file, ("x", "y"))
        for name in (*shipping.TEXTS, *shipping.NUMBERS):
            mine, theirs = getattr(raw, name, None), getattr(found, name, None)
            assert (mine is None) == (theirs is None)
            if mine is not None:
                assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
                same = mine.tolist() == theirs.tolist() if mine.dtype == object else mine.tobytes() == theirs.tobytes()
                assert same, name
    assert shipping.unpacked(shipping.packed(rows, ()))[0].units is not None
