"""Summaries in files: they go on where they stopped, count nothing twice, and refuse what is not theirs."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpfda as dp
from dpfda import engines
from dpfda.core import codec
from dpfda.engines import checkpoints
from dpfda.reading import parquet

SIZE = 6
NAMES = [f"h{i}" for i in range(SIZE)]
FACTS = {"epsilon": 1, "bound": dp.L2Ball(0.8), "grid": dp.Grid.uniform(0, 1, SIZE)}


@pytest.fixture
def curves(rng) -> np.ndarray:
    return rng.normal(0.2, 0.5, (120, SIZE)).round(6)


@pytest.fixture
def plan() -> dp.MeanPlan:
    return dp.MeanPlan(n=120, **FACTS, method=dp.methods.KNorm())


@pytest.fixture
def place(tmp_path) -> Path:
    return tmp_path / "sum.json"


@pytest.fixture
def files(tmp_path, curves) -> list[Path]:
    return [write(tmp_path / f"day{i}.parquet", curves[30 * i : 30 * i + 30]) for i in range(4)]


@pytest.fixture
def ledger(tmp_path) -> dp.Ledger:
    return dp.Ledger.create(tmp_path / "study.ledger", epsilon=3, study="checkpoints")


def write(path: Path, values: np.ndarray, names: list[str] = NAMES, **more: object) -> Path:
    table = pa.table({name: values[:, i] for i, name in enumerate(names)} | more)
    pq.write_table(table, path, compression="none", use_dictionary=False)
    return path


def names_in(place: Path) -> list[str]:
    return [part.name for part in dp.engines.load_summary(place).parts]


# -- going on ------------------------------------------------------------------------------------


def test_a_checkpoint_grows_and_equals_one_go(plan, files, curves, place):
    assert plan.summarize(files[:2], checkpoint=place) == plan.summarize(curves[:60])
    assert names_in(place) == ["day0.parquet", "day1.parquet"]
    assert plan.summarize(files, checkpoint=place) == plan.summarize(curves)
    assert names_in(place) == [path.name for path in files]
    before = place.read_bytes()
    assert plan.summarize(files[::-1], checkpoint=place) == plan.summarize(files)
    assert place.read_bytes() == before
    assert plan.summarize(files[3:], checkpoint=place) == plan.summarize(curves)  # all that the file knows


def test_files_that_were_counted_are_not_read_again(plan, curves, place, tmp_path, monkeypatch):
    first, second = write(tmp_path / "first.parquet", curves), write(tmp_path / "second.parquet", curves[:50])
    plan.summarize(first, checkpoint=place)
    read, real = [], parquet.batches

    def noted(where, columns):
        read.append(where.name)
        return real(where, columns)

    monkeypatch.setattr(parquet, "batches", noted)
    assert plan.summarize([first, second], checkpoint=place).count == 170
    assert read == ["second.parquet"]


def test_units_and_groups_go_on_too(curves, tmp_path, place):
    plan = dp.MeanPlan(n=60, **FACTS, unit="who")
    labels = [f"p{i // 2:03d}" for i in range(120)]
    region = ["n" if i // 2 % 3 else "s" for i in range(120)]
    paths = [
        write(
            tmp_path / f"u{i}.parquet",
            curves[i : i + 40],
            who=labels[i : i + 40],
            region=region[i : i + 40],
        )
        for i in (0, 40, 80)
    ]
    local = plan.summarize(dp.read(paths, columns="h*"))
    assert local.count == 60
    plan.summarize(dp.read(paths[:1], columns="h*"), checkpoint=place)
    assert plan.summarize(dp.read(paths, columns="h*"), checkpoint=place) == local
    problem = plan.stage.encoder
    whole = engines.summarize_groups(problem, dp.read(paths, columns="h*"), "region", ("n", "s"))
    declared = engines.Declared(checkpoint=engines.Checkpoint(tmp_path / "groups.json", plan.family))
    for some in (paths[1:], paths):
        found = engines.summarize_groups(problem, dp.read(some, columns="h*"), "region", ("n", "s"), declared=declared)
    assert found == whole
    with pytest.raises(dp.errors.PlanMismatch, match="summaries of groups"):
        _ = dp.engines.load_summary(tmp_path / "groups.json").summary


def test_progress_tells_of_files(plan, files, place):
    class Told(list):
        def __call__(self, done, total):
            raise AssertionError("rows")

        def file(self, done, total):
            self.append((done, total))

    plan.summarize(files[:1], checkpoint=place)
    told = Told()
    plan.summarize(dp.read(files, progress=told), checkpoint=place)
    assert told == [(2, 4), (3, 4), (4, 4)]


def test_columns_of_later_files_are_matched_by_name(plan, curves, files, place, tmp_path):
    plan.summarize(files[:1], checkpoint=place)
    turned = write(tmp_path / "turned.parquet", curves[30:60, ::-1], NAMES[::-1])
    assert plan.summarize(turned, checkpoint=place) == plan.summarize(curves[:60])
    other = write(tmp_path / "other.parquet", curves[60:90], [*NAMES[:-1], "x"])
    with pytest.raises(dp.errors.PlanMismatch, match="other columns"):
        plan.summarize(other, checkpoint=place)
    assert names_in(place) == ["day0.parquet", "turned.parquet"]


# -- the file ---------------------------------------------------------------------------------------


def test_the_file_is_its_owners_and_says_what_it_is(plan, files, place):
    plan.summarize(files, checkpoint=place)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    body = json.loads(place.read_text())
    assert body["confidential"].startswith("CONFIDENTIAL")
    assert body["dpfda"] == "summary"
    saved = dp.engines.load_summary(place)
    assert "confidential" in repr(saved)
    assert str(int(saved.summary.totals[0])) not in repr(saved)
    assert sorted(p.name for p in place.parent.iterdir()) == sorted([*(f.name for f in files), place.name])


def test_other_plans_are_refused(plan, files, place, ledger):
    plan.summarize(files[:1], checkpoint=place)
    before = place.read_bytes()
    for other in (
        replace(plan, bound=dp.L2Ball(0.9)),
        replace(plan, epsilon=2),
        replace(plan, invalid="center"),
        dp.CovariancePlan(n=120, **FACTS, method=dp.methods.KNorm(3)),
    ):
        with pytest.raises(dp.errors.PlanMismatch, match=r"another plan. Name another file"):
            other.release(files, ledger, checkpoint=place)
    assert place.read_bytes() == before
    assert ledger.history() == ()
    assert replace(plan, n=60).summarize(files[:2], checkpoint=place).count == 60  # n alone may differ


def resealed(text: str, version: int = 1, **changes: object) -> str:
    body = json.loads(text)
    for name in ("dpfda", "version", "sha256"):
        body.pop(name)
    return codec.seal("summary", version, body | changes)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda text: text.replace('"count": 60', '"count": 61'), "does not match its checksum"),
        (lambda text: text[: len(text) // 2], "not JSON"),
        (lambda text: "", "not JSON"),
        (lambda text: resealed(text, version=2), "format version 2, and this program reads 1"),
        (lambda text: resealed(text, summaries={"": {"kind": "Summary"}}), "does not hold a whole summary"),
        (lambda text: resealed(text, files=None), "does not hold a whole summary"),
        (lambda text: codec.seal("plan", 1, {}), "not a dpfda summary"),
        (lambda text: b"\xff\xfe\x00", "not text"),
    ],
)
def test_edited_damaged_and_foreign_files_are_refused(change, match, plan, files, place, ledger):
    plan.summarize(files[:2], checkpoint=place)
    changed = change(place.read_text())
    assert changed != place.read_text()
    place.write_bytes(changed if isinstance(changed, bytes) else changed.encode())
    with pytest.raises(dp.errors.FileError, match=match):
        dp.engines.load_summary(place)
    with pytest.raises(dp.errors.FileError, match=match):
        plan.release(files, ledger, checkpoint=place)
    assert place.read_bytes() == (changed if isinstance(changed, bytes) else changed.encode())
    assert ledger.history() == ()
    with pytest.raises(dp.errors.FileError, match=r"'none.json' cannot be read"):
        dp.engines.load_summary(place.parent / "none.json")


def test_checkpoints_are_about_files(plan, curves, place):
    with pytest.raises(dp.errors.ParameterError, match="about files"):
        plan.summarize(curves, checkpoint=place)
    assert not place.exists()


# -- counting once -----------------------------------------------------------------------------------


def test_a_file_counts_once_by_where_it_is_and_never_by_what_it_holds(plan, files, place, tmp_path, ledger):
    link, name = tmp_path / "link.parquet", tmp_path / "name.parquet"
    link.symlink_to(files[0])
    name.hardlink_to(files[0])
    once = plan.summarize(files[:1], checkpoint=place)
    assert plan.summarize(link, checkpoint=place) == once  # the same place: not read again
    with pytest.raises(dp.errors.RecordError, match=r"'name.parquet' is counted already, as 'day0.parquet'"):
        plan.summarize(name, checkpoint=place)
    for other in (link, name):
        with pytest.raises(dp.errors.ParameterError, match="named once"):
            plan.release([files[0], other], ledger, checkpoint=tmp_path / "new.json")
    assert ledger.history() == ()
    copy = tmp_path / "copy.parquet"  # another file, whatever it holds
    copy.write_bytes(files[0].read_bytes())
    assert plan.summarize(copy, checkpoint=place).count == 2 * once.count
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    plan.summarize(files[:2], checkpoint=first)
    plan.summarize(files[1:], checkpoint=second)
    with pytest.raises(dp.errors.RecordError, match=r"'day1.parquet' is counted already"):
        dp.engines.load_summary(first).plus(dp.engines.load_summary(second))


@pytest.mark.parametrize(
    ("first", "second", "meet"),
    [
        (["a", "b", "c"], ["c", "d", "e"], True),
        (["a", "b", "c"], ["d", "e", "f"], False),
        (["c", "b", "a"], ["f", "e", "d"], False),
        (["a", "b", "z"], ["c", "d", "e"], True),
        (["1", "2", "9"], ["10", "11", "20"], False),
        (["1", "2", "11"], ["10", "12", "20"], True),
    ],
    ids=str,
)
def test_units_must_lie_whole_in_one_file_unless_sites_differ(first, second, meet, curves, tmp_path, place, ledger):
    plan = dp.MeanPlan(n=6, **FACTS, unit="who", method=dp.methods.KNorm())
    paths = [
        write(tmp_path / "a.parquet", curves[:3], who=first),
        write(tmp_path / "b.parquet", curves[3:6], who=second),
    ]
    if meet:
        with pytest.raises(dp.errors.RecordError, match=r"'a.parquet' and 'b.parquet' may hold the same unit.*site"):
            plan.release(paths, ledger, checkpoint=place)
        assert names_in(place) == ["a.parquet"]
        assert ledger.history() == ()
    else:
        tables = pa.concat_tables([pq.read_table(path) for path in paths])
        assert plan.summarize(paths, checkpoint=place) == plan.summarize(tables)
    apart = tmp_path / "sites.json"
    for path, site in zip(paths, ("north", "south"), strict=True):
        found = plan.summarize(path, checkpoint=apart, site=site)
    assert found.count == 6
    assert [part.site for part in dp.engines.load_summary(apart).parts] == ["north", "south"]


def test_curves_of_a_long_table_must_be_whole_too(curves, tmp_path, place):
    plan = dp.MeanPlan(n=3, **FACTS, align=dp.spaces.Interpolate(gap=1.0))
    long = pd.DataFrame(
        {
            "id": np.repeat(["a", "b", "c"], SIZE),
            "time": np.tile(np.linspace(0, 1, SIZE), 3),
            "value": curves[:3].ravel(),
        }
    )
    long.iloc[:6].to_csv(tmp_path / "1.csv", index=False)
    long.iloc[6:].to_csv(tmp_path / "2.csv", index=False)
    paths = [tmp_path / "1.csv", tmp_path / "2.csv"]
    assert plan.summarize(dp.read(paths, layout="long"), checkpoint=place) == plan.summarize(curves[:3])
    long.iloc[:8].to_csv(tmp_path / "1.csv", index=False)
    long.iloc[8:].to_csv(tmp_path / "2.csv", index=False)
    with pytest.raises(dp.errors.RecordError, match="may hold the same unit"):
        plan.summarize(dp.read(paths, layout="long"), checkpoint=tmp_path / "torn.json")
    assert plan.summarize(dp.read(paths, layout="long")) == plan.summarize(curves[:3])  # as one stream


# -- merging, and what goes wrong ------------------------------------------------------------------


def test_parts_of_sites_merge_to_the_whole_and_release(plan, files, curves, tmp_path, ledger):
    for i, some in enumerate((files[2:], files[:1], files[1:2])):
        plan.summarize(some, checkpoint=tmp_path / f"{i}.json", site=f"site {i}")
    saved = [dp.engines.load_summary(tmp_path / f"{i}.json") for i in range(3)]
    whole = saved[0].plus(saved[1]).plus(saved[2])
    assert whole.summary == plan.summarize(curves)
    assert checkpoints.merged(saved[::-1]).summary == whole.summary
    again = dp.engines.load_summary(whole.save(tmp_path / "whole.json"))
    assert again.summary == whole.summary
    assert len(again.parts) == 4
    release = plan.release(again.summary, ledger)
    assert np.isfinite(release.values).all()
    assert ledger.remaining == 2
    with pytest.raises(dp.errors.PlanMismatch, match=r"n = 120 curves and the data has 60"):
        plan.release(saved[0].summary, ledger)
    other = replace(plan, bound=dp.L2Ball(0.9))
    other.summarize(files[1:2], checkpoint=tmp_path / "other.json")
    with pytest.raises(dp.errors.PlanMismatch, match="different plans"):
        saved[0].plus(dp.engines.load_summary(tmp_path / "other.json"))
    with pytest.raises(dp.errors.PlanMismatch, match="no summary to merge"):
        checkpoints.merged([])
    assert ledger.remaining == 2


def test_tallies_are_kept_too(tmp_path, rng):
    plan = dp.plans.KernelPlan(n=60, epsilon=1, domain=[(0, 1)], bound=(0, 1), criterion="huber")
    rows = rng.uniform(0, 1, (60, 2)).round(2)
    for i in range(2):
        pd.DataFrame(rows[30 * i : 30 * i + 30], columns=["x", "y"]).to_csv(tmp_path / f"{i}.csv", index=False)
    paths = [tmp_path / "0.csv", tmp_path / "1.csv"]
    plan.summarize(paths[:1], checkpoint=tmp_path / "sum.json")
    assert plan.summarize(paths, checkpoint=tmp_path / "sum.json") == plan.summarize(rows)
    assert type(dp.engines.load_summary(tmp_path / "sum.json").summary).__name__ == "Tally"


@pytest.mark.parametrize("damage", ["cell", "pages"])
def test_what_is_done_is_kept_when_a_later_file_is_broken(damage, plan, files, curves, place, ledger):
    good = files[2].read_bytes()
    if damage == "cell":
        bad = curves[60:90].copy()
        bad[7, 2] = np.nan
        write(files[2], bad)
        error, match = dp.errors.RecordError, r"'day2.parquet' in row 8 "
    else:
        files[2].write_bytes(good[:4] + b"\xff" * 100 + good[104:])
        error, match = dp.errors.FileError, r"'day2.parquet' is not a readable Parquet"
    with pytest.raises(error, match=match):
        plan.release(files, ledger, checkpoint=place)
    assert names_in(place) == ["day0.parquet", "day1.parquet"]
    assert dp.engines.load_summary(place).summary == plan.summarize(curves[:60])
    assert (ledger.remaining, ledger.history()) == (3, ())
    assert not [p for p in place.parent.iterdir() if p.name.startswith(".")]
    files[2].write_bytes(good)
    release = plan.release(files, ledger, checkpoint=place)
    assert release.plan == plan
    assert ledger.remaining == 2
    assert dp.engines.load_summary(place).summary == plan.summarize(curves)


def test_a_file_that_changes_while_it_is_read_is_not_counted(plan, files, curves, place, monkeypatch):
    real = parquet.batches

    def changing(where, columns):
        """While the second file is read it is written again, longer."""
        yield from real(where, columns)
        if where.name == "day1.parquet":
            write(files[1], curves[30:70])

    monkeypatch.setattr(parquet, "batches", changing)
    with pytest.raises(dp.errors.RecordError, match=r"'day1.parquet' changed while it was read. Run again"):
        plan.summarize(files[:2], checkpoint=place)
    monkeypatch.undo()
    assert names_in(place) == ["day0.parquet"]
    assert plan.summarize(files[:2], checkpoint=place) == plan.summarize(curves[:70])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_place_that_cannot_be_written(plan, files, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with pytest.raises(dp.errors.FileError, match="cannot be written here"):
        plan.summarize(files, checkpoint=closed / "sum.json")


def test_a_folder_that_is_not_there(plan, files, tmp_path, ledger):
    with pytest.raises(dp.errors.FileError, match="does not exist"):
        plan.release(files, ledger, checkpoint=tmp_path / "none" / "sum.json")
    assert ledger.history() == ()


def test_staged_plans_have_no_checkpoint(files, place, ledger):
    plan = dp.MeanPlan(n=120, **FACTS, method=dp.methods.Staged(dp.methods.KNorm(3), spread=0.5))
    assert plan.schedule.passes > 1
    for refused in (plan.release, plan.summarize):
        with pytest.raises(dp.errors.ParameterError, match=r"reads the records \d times, got a checkpoint"):
            refused(files, checkpoint=place)
    assert not place.exists()
    assert ledger.remaining == 3
