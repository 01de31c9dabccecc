"""The invented files are what their makers say: homes give releases, hostile files are hostile, planted are planted."""

from __future__ import annotations

import stat

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import dpfda as dp
from browser import invented

ROWS = {
    "homes.csv": (1000, 50),
    "ages.csv": (3000, 1),
    "points.csv": (2000, 2),
    "glucose.csv": (500, 24),
    "trial.csv": (1000, 3),
    "growth.csv": (400, 22),
    "labels.csv": (1000, 3),
}


def test_files_have_the_shapes_that_are_said(study):
    for name, shape in ROWS.items():
        assert pyarrow.csv.read_csv(study / name).shape == shape, name
    days = pyarrow.csv.read_csv(study / "days.csv")
    assert days.num_columns == 25
    assert len(set(days["home"].to_pylist())) == 200 < days.num_rows
    assert sum(path.stat().st_size for path in study.rglob("*.*")) < 2_000_000


def test_homes_are_the_same_in_each_format(study):
    text, packed = pyarrow.csv.read_csv(study / "homes.csv"), pq.read_table(study / "homes.parquet")
    assert text.equals(packed)
    values = np.column_stack([packed[name].to_numpy() for name in invented.HALF_HOURS])[:300]
    commas = np.array([row.split(";")[1:] for row in (study / "homes_eu.csv").read_text().splitlines()[1:]])
    np.testing.assert_array_equal(np.char.replace(commas, ",", ".").astype(float), values)
    np.testing.assert_array_equal(np.loadtxt(study / "bare" / "curves.csv", delimiter=","), values)


@pytest.mark.parametrize(
    ("name", "reading"),
    [
        ("homes.csv", {"columns": "h*"}),
        ("homes.parquet", {"columns": "h*"}),
        ("homes_eu.csv", {"columns": "h*", "separator": ";", "decimal": ","}),
        ("bare/curves.csv", {"header": False}),
    ],
)
def test_homes_give_a_mean(study, name, reading):
    release = dp.mean(dp.read(study / name, **reading), epsilon=1.0, bound=dp.Range(0, 6))
    assert release.values.shape == (48,)


def test_hostile_files_are_what_they_are_called(tmp_path):
    folder, outside = tmp_path / "study", tmp_path / "outside"
    written = invented.write_hostile(folder, outside)
    names = {path.name for path in written}
    assert {f"{invented.MARKUP}.csv", "pipe.csv", "leads_outside.csv"} <= names
    assert stat.S_ISFIFO((folder / "pipe.csv").stat().st_mode)
    assert (folder / "leads_outside.csv").resolve().parent == outside.resolve()
    table = pyarrow.csv.read_csv(folder / "hostile_columns.csv")
    assert tuple(table.column_names) == ("arm", *invented.COLUMN_NAMES)
    assert set(table["arm"].to_pylist()) == set(invented.GROUPS)


def test_planted_values_are_found_in_the_file_and_in_its_first_line(tmp_path):
    path = invented.write_planted(tmp_path)
    assert f"{invented.PLANTED_NUMBER}" in path.read_text()
    first = (tmp_path / "planted_bare.csv").read_text().splitlines()[0]
    assert invented.PLANTED_TEXT in first
    assert any(mark in first for mark in invented.PLANTED[1:])
