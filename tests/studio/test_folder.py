"""The folder of data: ordinary files inside it, by ids that say nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import dpfda as dp
from dpfda.studio.folder import DEEPEST, MOST_FILES, Folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    place = tmp_path / "study"
    (place / "below").mkdir(parents=True)
    for name in ("a.csv", "B.TSV", "c.parquet", "d.csv.gz", "below/e.txt", "no.pdf", ".hidden.csv", "r.json"):
        (place / name).write_text("x,y\n1,2\n")
    return Folder(place)


def names(folder: Folder) -> list[str]:
    return [each.name for each in folder.files()]


def test_data_files_are_listed_with_size_and_date(folder):
    assert names(folder) == ["B.TSV", "a.csv", "c.parquet", "d.csv.gz", "below/e.txt"]
    (first, *_) = folder.files()
    assert first.size == "8 bytes"
    assert first.date.startswith("20")


def test_ids_hold_no_names_and_differ_from_studio_to_studio(folder):
    ids = {each.id for each in folder.files()}
    assert len(ids) == 5
    assert all(len(id) == 32 and set(id) <= set("0123456789abcdef") for id in ids)
    assert not ids & {each.id for each in Folder(folder.root).files()}


def test_a_file_is_found_by_its_id_while_it_is_there(folder):
    one = folder.files()[1]
    assert folder.file(one.id) == one
    folder.check_same(one)
    one.place.unlink()
    for id in (one.id, "a.csv", "../study/a.csv", "", "é"):
        with pytest.raises(dp.DpfdaError, match="not in the data folder"):
            folder.file(id)


def test_what_leads_outside_or_is_no_ordinary_file_is_not_listed(folder, tmp_path):
    (tmp_path / "outside.csv").write_text("x\n1\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "z.csv").write_text("x\n1\n")
    before = names(folder)
    (folder.root / "link.csv").symlink_to(tmp_path / "outside.csv")
    (folder.root / "inner.csv").symlink_to(folder.root / "a.csv")
    (folder.root / "elsewhere").symlink_to(tmp_path / "other", target_is_directory=True)
    (folder.root / "folder.csv").mkdir()
    os.mkfifo(folder.root / "pipe.csv")
    assert names(folder) == before


def test_a_file_that_was_exchanged_is_refused(folder):
    one = folder.files()[1]
    other = folder.root / "other"
    other.write_text("x\n1\n")
    os.replace(other, one.place)
    with pytest.raises(dp.DpfdaError, match="since it was chosen"):
        folder.check_same(one)


def test_deep_and_full_folders_end(folder):
    deep = folder.root.joinpath(*["down"] * (DEEPEST + 1))
    deep.mkdir(parents=True)
    (deep / "deep.csv").write_text("x\n1\n")
    (deep.parent / "reached.csv").write_text("x\n1\n")
    assert not any(name.endswith("deep.csv") for name in names(folder))
    assert any(name.endswith("reached.csv") for name in names(folder))
    for number in range(MOST_FILES):
        (folder.root / f"f{number}.csv").touch()
    assert len(names(folder)) == MOST_FILES


def test_a_folder_through_a_link_is_the_folder(folder, tmp_path):
    (tmp_path / "way").symlink_to(folder.root, target_is_directory=True)
    assert names(Folder(tmp_path / "way")) == names(folder)
