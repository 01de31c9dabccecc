"""Labels: what a record's label is depends on that record alone, in every reader."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpfda as dp
from dpfda.engines import summarize_groups

#: Tests of what is read from data are elsewhere (test_labels_read).
pytestmark = pytest.mark.filterwarnings("ignore:Which (groups|classes) there are:dpfda.errors.NotPrivateWarning")

OPTIONS = {"epsilon": 1.0, "domain": [(0, 10)], "cells": 16, "neighbors": "add-remove", "invalid": "center"}
PLAN = dp.DensityPlan(n=20, **OPTIONS)


def counted(data, by="g", groups=("north", "south"), **options) -> dict[str, int]:
    found = summarize_groups(PLAN.problem, dp.read(data, **options), by, groups)
    return {name: part.count for name, part in found.items()}


#: Two byte-order marks are as good as one, in either reader.
ROWS = [
    "north,5", "\ufeffnorth,6", '"north",7', '\ufeff"north",1', " north ,2", "south,3", "north,", "nowhere,1", ",4",
    "\ufeff\ufeffnorth,8",
]  # fmt: skip


@pytest.mark.parametrize("bad", ["south,oops", "south,1,2", "south", "north,\x00", '"south",1_0'])
def test_a_bad_row_does_not_change_how_others_are_read(bad, tmp_path):
    """With and without a row that the quick reader cannot take: all other labels stay."""
    seen = []
    for extra in ([], [bad], [bad] * 3):
        (tmp_path / "p.csv").write_text("\n".join(["g,x", *ROWS, *extra]) + "\n", encoding="utf-8")
        seen.append(counted(tmp_path / "p.csv", header=True))
    assert seen[0] == {"north": 7, "south": 1}
    for rows, after in zip((1, 3), seen[1:], strict=True):
        assert after["north"] - 7 in (0, rows)
        assert after["south"] - 1 in (0, rows)


def test_a_missing_label_does_not_rename_the_others():
    """A column of whole numbers becomes floats when one is missing."""
    whole = pd.DataFrame({"g": [1] * 5 + [2] * 3, "x": 1.0})
    holed = pd.concat([whole, pd.DataFrame({"g": [None], "x": [1.0]})])
    assert counted(whole, groups=["1", "2"]) == counted(holed, groups=["1", "2"]) == {"1": 5, "2": 3}


ODD = {
    "none": None, "nan": np.nan, "NA": pd.NA, "NaT": pd.NaT, "signalling": Decimal("sNaN"), "array": np.zeros(3),
    "complex": 3j, "long": 10**5000, "bytes": b"\xff\xfe", "object": object(), "empty": "", "blank": " ", "true": True,
    "inf": np.inf,
}  # fmt: skip


@pytest.mark.parametrize("kind", ODD)
def test_any_label_is_read_without_an_error(kind):
    label = ODD[kind]
    column = pd.Series([None] * 3, dtype=object)
    for i, value in enumerate(["north", "south", label]):
        column.iat[i] = value
    assert counted(pd.DataFrame({"g": column, "x": [1.0, 2.0, 3.0]})) == {"north": 1, "south": 1}
    assert counted(np.ones(3), by=["north", "south", label]) == {"north": 1, "south": 1}


def test_arrow_labels_that_cannot_be_decoded():
    bad = pa.array([b"north", b"\xff\xfe", b"south"]).view(pa.string())
    table = pa.table({"g": bad, "x": [1.0, 2.0, 3.0]})
    assert counted(table) == {"north": 1, "south": 1}
    nullable = pd.DataFrame({"g": pd.array(["north", pd.NA, "south"], dtype="string"), "x": [1.0, 2.0, 3.0]})
    assert counted(nullable) == {"north": 1, "south": 1}


def test_a_decimal_comma_does_not_change_a_published_group_size(tmp_path):
    """A row of the wrong width keeps a label that stands first or last; elsewhere nobody knows its group."""
    for row, first in (("north,6,5", True), ("6,5,north", False)):
        cells = ("g,x\n", "north,5\n") if first else ("x,g\n", "5,north\n")
        (tmp_path / "p.csv").write_text(cells[0] + cells[1] * 9 + row + "\n")
        options, data = {"by": "g", "epsilon": 1, "domain": [(0, 10)]}, dp.read(tmp_path / "p.csv", header=True)
        assert dp.density(data, invalid="center", **options)["north"].plan.n == 10
        with pytest.raises(dp.errors.RecordError, match="row 10"):
            dp.density(data, **options)
    (tmp_path / "q.csv").write_text("note,g,x\n" + "1,north,5\n" * 9 + "1,north,6,5\n")
    data = dp.read(tmp_path / "q.csv", columns=["x"], header=True)
    with pytest.raises(dp.errors.RecordError, match="row 10"):
        dp.density(data, **options)
    assert dp.density(data, invalid="center", **options)["north"].plan.n == 9


def test_an_empty_line_of_one_column_is_a_record(tmp_path):
    plan = dp.DensityPlan(n=3, epsilon=1, domain=[(0, 10)], invalid="center")
    for text, count in (("x\n1\n\n3\n", 3), ("x\n1\n\noops\n", 3), ("x\n1\n2\n3\n", 3)):
        (tmp_path / "x.csv").write_text(text)
        assert plan.summarize(dp.read(tmp_path / "x.csv", header=True)).count == count
    (tmp_path / "x.csv").write_text("x\n1\n\n3\n")
    with pytest.raises(dp.errors.RecordError, match="row 2"):
        dp.density(tmp_path / "x.csv", epsilon=1, domain=[(0, 10)])


def test_groups_of_counts_are_given_under_add_remove():
    counts = {"north": [1, 2], "rare": [0, 1]}
    options = {"epsilon": 1, "domain": [(0, 10)], "edges": [0, 5, 10], "neighbors": "add-remove", "n": 5}
    with pytest.raises(dp.errors.ParameterError, match="which groups exist"):
        dp.density(counts=counts, **options)
    both = dp.density(counts=counts, groups=["north", "rare", "empty"], **options)
    assert list(both) == ["north", "rare", "empty"]
    with pytest.raises(dp.errors.ParameterError, match="spelt alike"):
        dp.density(counts={1: [1, 2], "1": [3, 4]}, epsilon=1, domain=[(0, 10)], edges=[0, 5, 10])


def test_casts_are_silent():
    """A value that makes a warning in a cast would tell of itself on standard error."""
    odd = np.array([1.0, np.nan, np.inf], dtype=np.float32)
    odd.view(np.uint32)[1] = 0x7FA00000  # a signalling NaN
    with np.errstate(all="raise"):
        assert PLAN.summarize(odd).count == 3


def test_numbers_have_one_spelling():
    labels = [1, 1.0, np.float32(1), Decimal("1.00"), 1 + 0j, "1", np.int8(1)]
    assert counted(np.ones(7), by=labels, groups=["1"]) == {"1": 7}


def test_quick_and_careful_readers_agree(tmp_path, rng):
    """Four hundred hostile files: what a record becomes does not depend on a bad row at the end."""
    cells = ["north", "south", "\ufeffnorth", ' "north" ', "", "x", "\ufeff \ufeffsouth", "nor\x00th", "'north'", '"']
    values = ["1", "2.5", "", "nan", " 3 ", '"4"', "1e400", "-1", "1_0", "x", "\ufeff5"]
    for _ in range(400):
        lines = [f"{rng.choice(cells)},{rng.choice(values)}" for _ in range(rng.integers(1, 6))]
        seen = []
        for extra in ([], ["south,oops,oops,oops"]):
            (tmp_path / "f.csv").write_text("\n".join(["g,x", *lines, *extra]) + "\n", encoding="utf-8")
            found = summarize_groups(PLAN.problem, dp.read(tmp_path / "f.csv", header=True), "g", ("north", "south"))
            seen.append({name: (part.count, part.totals.tolist()) for name, part in found.items()})
        south = seen[0]["south"]
        assert seen[1] == {"north": seen[0]["north"], "south": (south[0] + 1, south[1])}


def test_group_lookup():
    both = dp.density(np.linspace(0, 9, 60), by=np.repeat([1, 2], 30), epsilon=1, domain=[(0, 10)], cells=16)
    assert both[1] is both["1"]
    assert 2 in both
    assert "nope" not in both
    assert both.get("nope") is None
    gap = both.difference(1, 2)
    assert gap(5.0).shape == ()
    assert gap.to_dataframe()["value"].to_numpy() == pytest.approx(gap.values)
    assert gap.to_csv().splitlines()[0] == "x,value,lower,upper"
    assert list(both.to_dataframe().columns) == ["group", "x", "value", "lower", "upper"]
    with pytest.raises(dp.errors.ParameterError, match="one of 1, 2"):
        both.plan["nope"]
