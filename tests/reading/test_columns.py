"""Columns of a file without its values: names where they surely are names, kinds in a word, and nothing else."""

from __future__ import annotations

import datetime
import gzip
import logging

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpfda as dp
from dpfda.errors import FileError, ParameterError
from dpfda.reading import FileColumns, columns_of

#: Values that nobody may see.
PLANTED = ("Zaphod", "Betelgeuse", "424242", "1979-10-12", "77.125")
ROWS = "Zaphod,424242,77.125,1979-10-12,true\nTrillian,12,3.5,1980-01-02,false\n"


def hidden(found: object) -> None:
    assert not [value for value in PLANTED if value in str(found) or value in repr(found)]


@pytest.fixture
def written(tmp_path):
    def write(text, name="people.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_names_and_kinds_of_a_text_file(written):
    path = written("who,count,size,since,sick\n" + ROWS)
    found = columns_of(path)
    kinds = ("text", "whole number", "number", "date", "true or false")
    assert found == FileColumns(True, ("who", "count", "size", "since", "sick"), kinds)
    hidden(found)
    packed = written(gzip.compress(path.read_bytes()), "people.csv.gz")
    assert columns_of(packed) == found
    tabs = written(path.read_text().replace(",", "\t"), "people.tsv")
    assert columns_of(tabs) == found
    commas = written("who;size\nZaphod;77,125\nTrillian;3,5\n", "german.csv")
    assert columns_of(commas, decimal=",").kinds == ("text", "number")
    assert columns_of(commas, separator=";").kinds == ("text", "text")


@pytest.mark.parametrize(
    "text",
    [
        ROWS,  # a record with a number
        "Zaphod,Betelgeuse\nTrillian,Earth\n",  # texts over texts
        "Zaphod,Betelgeuse\n",
        "Zaphod\nTrillian\n",
        "Zaphod,1979-10-12\nTrillian,1980-01-02\n",  # a day over days
        "Zaphod,true\nTrillian,false\n",
        "Zaphod,Zaphod,x\nTrillian,Trillian,3\n",  # names that repeat are none
        "0,1,2,3\n4,5,6,424242\n",  # numbers that count: hours, or a record
        "id,0,1,2\nZaphod,424242,5,6\n",
        "Zaphod,NA\nTrillian,3\n",
    ],
)
def test_a_first_line_that_may_be_a_record_is_not_shown(written, text):
    path = written(text)
    found = columns_of(path)
    assert (found.header, found.names) == (None, None)
    assert len(found.kinds) == text.split("\n")[0].count(",") + 1
    hidden(found)
    said = columns_of(path, header=False)
    assert (said.header, said.names) == (False, None)
    hidden(said)


def test_who_says_that_it_is_names_sees_them(written):
    path = written("Zaphod,Betelgeuse\nTrillian,Earth\n")
    assert columns_of(path, header=True).names == ("Zaphod", "Betelgeuse")
    assert columns_of(written("age\n41\n", "ages.csv"), header=True) == FileColumns(True, ("age",), ("whole number",))
    with pytest.raises(FileError, match="Column names repeat") as error:
        columns_of(written("Zaphod,Zaphod\n1,2\n"), header=True)
    hidden(error.value)


def test_a_line_of_numbers_is_a_record(written):
    found = columns_of(written("77.125,3.5,4\n1,2,3\n"))
    assert found == FileColumns(False, None, ("number", "number", "whole number"))
    hidden(found)


def test_kinds_follow_most_cells_and_know_nothing_of_missing_ones(written):
    rows = "\n".join(["h0,h1,h2,h3", *["1,,NA,x"] * 3, "Zaphod,,,2"])
    assert columns_of(written(rows)).kinds == ("whole number", "unknown", "unknown", "text")
    assert columns_of(written("a,b\n1,2\n1,2,3\n4,5.5\n")).kinds == (
        "whole number",
        "number",
    )  # a torn line says nothing


def test_names_are_as_they_are_spelt(written):
    hostile = ("<script>alert(1)</script>", "\u202eeman", "a=b;--", "x\x1b[2J")
    found = columns_of(written(",".join(hostile) + "\n1,2,3,4\n"), header=True)
    assert found.names == hostile
    table = pa.table({name: [1.5] for name in hostile})
    pq.write_table(table, written("", "hostile.parquet"))
    assert columns_of(written("", "x.csv").with_name("hostile.parquet")).names == hostile


def test_parquet_says_its_types(tmp_path):
    columns = {
        "who": pa.array(["Zaphod"]), "group": pa.array(["Zaphod"]).dictionary_encode(), "count": pa.array([424242]),
        "size": pa.array([77.125]), "sick": pa.array([True]), "since": pa.array([datetime.date(1979, 10, 12)]),
        "curve": pa.array([[77.125, 2.0]]), "bytes": pa.array([b"Zaphod"]),
    }  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    found = columns_of(tmp_path / "people.parquet")
    kinds = ("text", "text", "whole number", "number", "true or false", "date", "list of numbers", "unknown")
    assert found == FileColumns(True, tuple(columns), kinds)
    hidden(found)


def test_folders_and_patterns(tmp_path, written):
    for region in ("Zaphod", "Betelgeuse"):
        folder = tmp_path / "lake" / f"region={region}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"h0": [1.0], "h1": [2.0]}), folder / "part.parquet")
    found = columns_of(tmp_path / "lake")
    assert found == FileColumns(True, ("h0", "h1"), ("number", "number"), ("region",), 2)
    hidden(found)
    written("a,b\n1,2\n", "one.csv")
    written("a,b\n3,4\n", "two.csv")
    assert columns_of(str(tmp_path / "*.csv")).files == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("people.csv", '"Zaphod,424242\nx,1\n'),
        ("people.csv", b"\xff\xfeZ\x00\x81Zaphod 424242"),
        ("people.csv", b"Zaphod\x00424242,x\n"),
        ("people.csv", ""),
        ("people.csv", "Zaphod" * 400_000 + "\n"),
        ("people.csv.gz", b"Zaphod 424242"),
        ("people.parquet", b"PAR1 Zaphod 424242 PAR1"),
        ("people.xlsx", "Zaphod,424242"),
        ("people.sqlite", "Zaphod,424242"),
    ],
)
def test_errors_and_logs_quote_nothing(written, caplog, name, content):
    path = written(content, name)
    with caplog.at_level(logging.DEBUG):
        try:
            hidden(columns_of(path))
        except dp.errors.DpfdaError as error:
            hidden(error)
            hidden(error.__cause__)
            hidden(error.__context__ if not error.__suppress_context__ else "")
    hidden(caplog.text)


def test_wrong_words_are_refused_and_absent_files_named(written, tmp_path):
    with pytest.raises(FileError, match=r"no file 'none.csv'"):
        columns_of(tmp_path / "none.csv")
    with pytest.raises(ParameterError, match="separator is one of"):
        columns_of(written("a,b\n1,2\n"), separator="x")


def test_what_is_shown_is_what_is_read(written):
    """The names that a page offers are those that a release finds."""
    path = written("who,h0,h1\nZaphod,1,2\nTrillian,3,4\n")
    names = columns_of(path).names
    assert dp.read(path, columns=names[1:]).source().first().value_names() == ["h0", "h1"]


@pytest.mark.parametrize("first", ["Alice,<5", "Alice,12 000", "S001,ND", "Alice,unknown", "Alice,-", "Alice,41 years"])
def test_a_record_whose_number_is_missing_or_censored_is_not_taken_for_names(written, first):
    found = columns_of(written(f"{first}\nBob,5\nCarol,7\n"))
    assert (found.header, found.names) == (None, None)


@pytest.mark.parametrize(
    "first",
    ["Alice Smith,BDL,withdrawn", "Alice Smith,abc,xyz", "C50,deceased,lost"],
    ids=["codes", "again", "missing"],
)
def test_words_that_stand_for_no_number_are_not_shown_as_names(tmp_path, first):
    rows = [f"Person {i},{i}.5,{i}.25" for i in range(20)] + ["Bob,abc,7"]
    (tmp_path / "lab.csv").write_text("\n".join([first, *rows, ""]))
    found = columns_of(tmp_path / "lab.csv")
    assert (found.header, found.names) == (None, None)


def test_names_may_stand_in_another_column(tmp_path):
    rows = "\n".join(f"h{i},{i}.5,{i}.25" for i in range(20))
    (tmp_path / "homes.csv").write_text(f"home,h1,h2\n{rows}\n")
    assert columns_of(tmp_path / "homes.csv").names == ("home", "h1", "h2")
