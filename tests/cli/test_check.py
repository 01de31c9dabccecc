"""`dpfda check`: every problem at once, to the data holder, and nothing of what records hold."""

from __future__ import annotations

import ast
import gzip
import json
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli.app import app
from dpfda.reading import findings, lines

SRC = Path(dp.__file__).parent
HEAD = "patient;arm;date;h0;h1;h2;h3;h4;note"


@pytest.fixture(autouse=True)
def _home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def check(line: str, code: int) -> str:
    result = CliRunner().invoke(app, ["check", *shlex.split(line)])
    assert result.exit_code == code, (result.output, result.exception)
    return " ".join(result.output.split())


def messy() -> bytes:
    """Every kind of problem at once; records hold words that must not be seen."""
    rows = [f"SECRET{i // 2:03d};PLANT{i % 3};2024-05-0{i % 9 + 1};7,25;8,5;6,125;7;9,75;fine" for i in range(60)]
    rows[5] = 'SECRET002;PLANT1;2024-05-01;7,25;"8,5";7;8;9;"PLANTED; quoted"'
    rows[6] = "SECRET003;PLANT1;2024-05-01;5,1;;;6,0;7,1;"
    rows[8] = "SECRET004;PLANT1;2024-05-01;5,1;WORD;3,3;6,0;7,1;"
    rows[10] = "SECRET005;PLANT1;2024-05-01;5,1"
    rows[12] = "SECRET006;PLANT1;2024-05-01;5,1;1;1;1;1;1;1;1"
    rows[14] = 'SECRET007;"PLANT1;2024-05-01;5,1;1;1;1;1;x'
    rows[16] = ""
    rows[18] = "SECRET008;;2024-05-01;5,1;inf;1;1;1;x"
    rows[20] = "SECRET009;PLANT1;2024-05-01;NA;NA;NA;NA;NA;x"
    rows[22] = ";PLANT1;2024-05-01;1;1;1;1;1;x"
    rows[24] = "SECRET001;PLANT1;2024-05-01;1;1;1;1;1;x"
    return ("\n".join([HEAD, *rows]) + "\n").encode().replace(b"SECRET020", b"SECRET\xff20")


def test_every_problem_of_a_file_at_once(tmp_path):
    (tmp_path / "days.csv").write_bytes(messy())
    said = check("days.csv", 1)
    for words in (
        "It releases nothing, and is no release: do not publish it",
        "days.csv: semicolons, decimal commas, utf-8; 9 columns, 5 of values; 59 records",
        "4 columns hold texts: column 1 'patient', column 2 'arm', column 3 'date', column 9 'note'",
        "1 line has too few cells. (line 12)",
        "1 line has too many cells. (line 14)",
        "1 line has a quote that is not closed. (line 16)",
        "2 lines have bytes that are no text. (lines 42, 43)",
        "Numbers are written with decimal commas. Pass --decimal ','.",
        "column 5 'h1': 1 cell holds no number. (line 10)",
        "column 5 'h1': 1 cell holds an infinite number. (line 20)",
        "2 rows have gaps. (lines 8, 22)",
        "--fill 2 would bridge 1; 1 has no value at all",
        "7 of 59 rows cannot be used, and would stop a release. (lines 8, 10, 12, 14, 16, ...)",
        "1 line is empty, and is passed over. (line 18)",
        "When that is mended, with an epsilon and a range of your own:",
        "dpfda mean days.csv --separator ';' --decimal , --columns 'h*' --unit patient --epsilon",
    ):
        assert words in said, words


def test_labels_are_counted_and_never_shown(tmp_path):
    (tmp_path / "days.csv").write_bytes(messy())
    before = sorted(path.name for path in tmp_path.iterdir())
    line = "days.csv --decimal , --columns 'h*' --unit patient --by arm --groups PLANT0,PLANT1 --fill 2"
    said = check(line, 1)
    for words in (
        "column 2 'arm': 1 label is missing. (line 20)",
        "column 1 'patient': 1 label is missing. (line 24)",
        "labels are not in --groups",
        "3 groups of",
        "30 units; 24 have several records.",
        "20 units belong to more than one group.",
        "The units are not in order, and need not be: files of up to 256 MB together are put in order.",
        "2 columns are neither values nor named: column 3 'date', column 9 'note'",
        "6 of 59 rows cannot be used",
    ):
        assert words in said, words
    mended = check(f"{line} --invalid center --header", 1)
    assert "5 of 59 rows would be centred" in mended  # a word that is no number is a gap of one, and bridged
    suggested = "--groups PLANT0,PLANT1"  # an option, as it was given
    for output in (said, mended, check(f"{line} --json", 1), check("days.csv", 1), check("days.csv --header", 1)):
        rest = output.replace(suggested, "")
        assert not [
            word for word in ("SECRET", "PLANT", "WORD", "7,25", "7.25", "6,125", "2024", "fine") if word in rest
        ]
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_clean_file_passes_and_the_suggested_command_would_read_it(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        f"p{i};{'ab'[i % 2]};" + ";".join(f"{x:.2f}".replace(".", ",") for x in rng.normal(8, 1, 4)) for i in range(50)
    ]
    (tmp_path / "days.csv.gz").write_bytes(gzip.compress("\n".join(["who;arm;h0;h1;h2;h3", *rows]).encode()))
    said = check("days.csv.gz --decimal , --by arm --groups a,b --columns 'h*'", 0)
    assert "No problems: all of it would be read." in said
    assert "2 groups of 25 records." in said
    line = said.rpartition("dpfda ")[2].replace("--epsilon ... --range low:high", "--epsilon 1 --radius 20 --anyway")
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exit_code == 0, result.output


def test_json(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,x\n")
    result = CliRunner().invoke(app, ["check", "a.csv", "--json"])
    found = json.loads(result.output)
    assert result.exit_code == 1
    assert found["records"] == 2
    assert found["problems"][0]["what"] == "column 2 'b': 1 cell holds no number."
    assert found["problems"][0]["where"] == "(line 3)"


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (b"1,2,3\n4,5,6\n7,8,9\n", "", "The first line could be names or a record."),
        (b"1,1.5,3\n4,5,6\n7,8,9\n", "--header", "increasing numbers, not equally spaced. Pass --grid header"),
        (b"1,1.5,3\n4,5,6\n7,8,9\n", "--header --grid 0:1:4", "The grid has 4 points and a curve 3 values."),
        (b"a,b,c\n4,5,6\n7,8,9\n", "--grid header", "not named by increasing numbers"),
        (b"a,b,a\n4,5,6\n7,8,9\n", "", "1 column name repeats: columns 3"),
        (b"a:b:c\n4:5:6\n", "", "The file has one column."),
        (b'a,"b,c\n4,5,6\n', "", "first line has a quote that is not closed"),
        (b"a,b,c\n4,5,6\n", "--unit who", "unit must name a column of the data"),
        (b"a,b,c\n4,5,6\n", "--columns x*", "columns must match at least one column"),
        (b"a,b,c\n4,5,6\n", "--invalid center", "must say whether it begins with names"),
        (b"a,b,c\n4,5,6\n4,5,6", "--by a", "1 group of 2 records"),
        (b"", "", "is empty"),
        (b"\x00\x01\x02\n", "", "does not begin with text"),
    ],
)
def test_headers(content, options, words, tmp_path):
    (tmp_path / "a.csv").write_bytes(content)
    assert words in check(f"a.csv {options}", 0 if "--by a" in options else 1)


def test_a_first_line_that_may_be_a_record_is_only_counted(tmp_path):
    (tmp_path / "a.csv").write_text("SECRET,7.125,9\n4,x,6\n4,5,6\n")
    said = check("a.csv", 1)
    assert "column 2: 1 cell holds no number. (line 2)" in said
    assert "SECRET" not in said
    assert "7.125" not in said


def test_folders_parquet_and_other_columns(tmp_path):
    table = pa.table({"who": ["SECRET", "b", "b"], "h0": [1.0, None, 3.0], "h1": [1, 2, 3]})
    pq.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("who,h0,h2\nSECRET,1,2\nc,1,2\n")
    said = check(". --unit who", 1)
    assert "1 file has other value columns than a.parquet. b.csv" in said
    assert "1 row has gaps. (a.parquet, row 2)" in said
    assert "3 units; 2 have several records. (a.parquet, row 3; b.csv, line 2)" in said
    assert "SECRET" not in said
    said = check("a.parquet", 1)
    assert "a.parquet: 1 column holds no numbers: column 1 'who' (string)" in said


def test_files_that_cannot_be_read_do_not_hide_others(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(b"nonsense")
    (tmp_path / "b.csv").write_text("a,b\n1,x\n1,2\n")
    said = check("a.csv.gz b.csv", 1)
    assert "'a.csv.gz' is damaged" in said
    assert "1 cell holds no number. (b.csv, line 2)" in said


def test_gaps_are_judged_by_the_rules_for_them(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,c,d\n1,2,3,4\n1,,,4\n,2,3,4\n1,2,3,4\n")
    assert "2 of 4 rows cannot be used" in check("a.csv", 1)
    assert "1 of 4 rows cannot be used, and would stop a release. (line 3)" in check("a.csv --fill 1", 1)
    assert "No problems" in check("a.csv --fill 2", 0)
    assert "No problems" in check("a.csv --align linear:gap=1", 0)
    assert "1 of 4 rows cannot be used" in check("a.csv --align linear:gap=0.4", 1)


@pytest.mark.parametrize("seed", range(6))
def test_what_check_calls_unusable_is_what_reading_leaves_out(seed, tmp_path, monkeypatch):
    """Lines of odd cells, in blocks of any size: as many are called unusable as the careful reader cannot use."""
    monkeypatch.setattr(findings, "BLOCK", [1 << 24, 64, 7][seed % 3])
    rng = np.random.default_rng(seed)
    cells = ["1", "2,5", '"4"', "", "NA", "x", '"a;b"', "inf", "1e5", " 3 ", '"', "1;2", "é", '5"', "1e999", "3.5"]
    rows = [";".join(rng.choice(cells, 3, p=[0.25, 0.15, 0.15] + [0.45 / 13] * 13).tolist()) for _ in range(80)]
    (tmp_path / "a.csv").write_bytes("\n".join(["a;b;c", *rows]).encode())
    data = dp.read(tmp_path / "a.csv", header=True, decimal=",")
    task = dp.MeanPlan(n=80, epsilon=1, bound=dp.L2Ball(1.0), grid=3, invalid="center")
    assert task.summarize(data).count == 80
    source = dp.reading.curves.Source(tmp_path / "a.csv", header=True, lenient=True, width=3, text=data.text)
    bad = [i + 2 for i, row in enumerate(np.vstack(list(source.batches()))) if not np.isfinite(row).all()]
    result = CliRunner().invoke(app, shlex.split("check a.csv --header --decimal , --columns a,b,c --json"))
    found = json.loads(result.output)
    row = next(finding for finding in found["problems"] if "rows cannot be used" in finding["what"])
    assert row["what"].startswith(f"{len(bad)} of 80 rows")
    assert row["where"] == f"(lines {', '.join(map(str, bad[:5]))}, ...)"


def test_columns_with_words_now_and_then_are_counted_over_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(findings, "BLOCK", 4096)
    rows = [f"{i % 7},{'x' if i % 100 == 99 else i},{i}" for i in range(3000)]
    (tmp_path / "a.csv").write_text("\n".join(["a,b,c", *rows]))
    said = check("a.csv", 1)
    assert "column 2 'b': 30 cells hold no number. (lines 101, 201, 301, 401, 501, ...)" in said
    assert "30 of 3,000 rows cannot be used" in said


def test_lines_that_are_too_long_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST_LINE", 10)
    (tmp_path / "a.csv").write_text("a,b\n1,2\n" + "SECRET" * 9 + "\n3,4\n5,x\n6,7\n")
    said = check("a.csv", 1)
    assert "1 line is too long to be a record. (line 3)" in said
    assert "column 2 'b': 1 cell holds no number. (line 5)" in said
    assert "2 of 5 rows cannot be used, and would stop a release. (lines 3, 5)" in said


def test_many_names_that_repeat(tmp_path):
    (tmp_path / "a.csv").write_text(",".join(["a", "a (2)", "a", "a"]) + "\n1,2,3,4\n")
    assert "2 column names repeat: columns 3, 4" in check("a.csv", 1)


def test_only_so_many_units_are_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(findings, "MOST_UNITS", 3)
    (tmp_path / "a.csv").write_text("who,a,b\n" + "".join(f"p{i},1,2\n" for i in range(6)))
    assert "3 units (of the first" in check("a.csv --unit who", 0)


def test_nothing_else_depends_on_it():
    """The report is for the data holder: no other command or module may come to know what is in it."""
    own = {"reading/inspection.py", "reading/findings.py", "cli/checking.py", "cli/check_words.py"}
    for path in SRC.rglob("*.py"):
        name = path.relative_to(SRC).as_posix()
        if name in own:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom | ast.Import):
                module = getattr(node, "module", "") or ""
                told = {part for alias in node.names for part in f"{module}.{alias.name}".split(".")}
                assert not told & {"inspection", "findings", "checking", "check_words"}, name
            if isinstance(node, ast.Constant) and str(node.value).startswith("checking."):
                assert name == "cli/app.py"


def spreadsheet(path: Path, bad: str = "7,5") -> None:
    """A file as a German spreadsheet saves it: patients in any order, days of each, some gaps."""
    rows = [f'"Müller, {i * 7 % 60}";{"ab"[i * 7 % 60 % 2]};0{i % 9 + 1}.05.2026;6,1;7,2;;8,4' for i in range(120)]
    rows[50] = rows[50].replace("7,2", bad)
    head = "Prüf-ID;Arm;Datum;Wert 00:00;Wert 06:00;Wert 12:00;Wert 18:00"
    path.write_bytes("\r\n".join([head, *rows]).encode("cp1252"))


def test_a_file_from_a_spreadsheet_is_told_whole_at_the_first_go(tmp_path):
    spreadsheet(tmp_path / "werte.csv", "defekt")
    said = check("werte.csv", 1)
    for words in (
        "werte.csv: semicolons, decimal commas, cp1252; 7 columns, 4 of values; 120 records",
        "The text is not in UTF-8. It is read as cp1252 here: pass --encoding cp1252, or save it as UTF-8.",
        "3 columns hold texts: column 1 'Prüf-ID', column 2 'Arm', column 3 'Datum'",
        "Numbers are written with decimal commas.",
        "column 5 'Wert 06:00': 1 cell holds no number. (line 52)",
        "120 rows have gaps.",
        "When that is mended, with",
    ):
        assert words in said, words
    spreadsheet(tmp_path / "werte.csv")
    line = check("werte.csv --by Arm --groups a,b", 1).rpartition("dpfda ")[2]
    assert "--encoding cp1252 --columns 'Wert *' --unit 'Prüf-ID' --by Arm --groups a,b --fill 1" in line
    line = line.replace("--epsilon ... --range low:high", "--epsilon 1 --range 2:25 --anyway --quiet")
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exit_code == 0, result.output
    assert (tmp_path / "mean.png").exists()
    assert "60 units; 60 have several records." in check(
        "werte.csv --encoding cp1252 --decimal , --columns Wert* --by Arm --unit Prüf-ID --fill 1", 0
    )


def test_nothing_is_suggested_for_what_cannot_be_read(tmp_path):
    (tmp_path / "book.csv").write_bytes(b"PK\x03\x04\x14\x00\x06\x00\x81rest\n")
    said = check("book.csv", 1)
    assert "✗ 'book.csv' does not begin with text in UTF-8." in said
    assert "dpfda mean" not in said
    assert json.loads(CliRunner().invoke(app, ["check", "book.csv", "--json"]).output)["suggested"] is None


def test_large_files_must_be_in_order(tmp_path, monkeypatch):
    (tmp_path / "days.csv").write_text("who,h0,h1\n" + "".join(f"p{i * 7 % 30},1,2\n" for i in range(60)))
    assert "and need not be" in check("days.csv --unit who", 0)
    monkeypatch.setattr("dpfda.cli.checking.SMALL_FILES", 10)
    said = check("days.csv --unit who", 1)
    assert "The units are not in order. Sort the files by unit (over all of them), or pass --engine dask." in said
    assert "--unit who --engine dask" in said
    assert "any order will do" in check("days.csv --unit who --invalid center --header", 0)


def test_a_lake_has_labels_in_its_folders_and_says_things_once(tmp_path):
    for number in range(10):
        folder = tmp_path / "lake" / f"region=PLANT{number % 2}" / f"month={number // 2}"
        folder.mkdir(parents=True)
        columns = {"meter": [2 * i + number % 2 for i in range(9)], "note": ["x"] * 9, "h0": [1.0] * 9, "h1": [2.0] * 9}
        pq.write_table(pa.table(columns), folder / "part-0.parquet")
    said = check("lake", 1)
    assert "10 files: Parquet; 4 columns, 3 of values; 90 records" in said
    assert said.count("column 2 'note' (string)") == 1
    assert "dpfda mean lake --columns 'h*' --unit meter" in said
    said = check("lake --unit meter --by region --ignore note", 0)
    assert "2 groups of 45 records. · 18 units; 18 have several records. (part-0.parquet (file 2 of 10), rows" in said
    assert "--ignore note --unit meter --by region" in said
    assert "PLANT" not in said


def test_a_query_is_looked_at_too(tmp_path):
    with closing(sqlite3.connect(tmp_path / "days.db")) as base, base:
        base.execute("create table days (who text, h0 real, h1 real)")
        base.executemany("insert into days values (?, ?, ?)", [(f"p{i % 9}", 1.0, None) for i in range(20)])
    base.close()
    said = check("days.db --sql 'select * from days' --unit who", 1)
    assert "days.db: query; 3 columns, 2 of values; 20 records" in said
    assert "20 rows have gaps. (rows 1, 2, 3, 4, 5, ...)" in said
    assert "9 units; 9 have several records." in said
    assert "dpfda mean days.db --sql 'select * from days' --unit who" in said


@pytest.mark.parametrize("first", ["SECRET;NA;NA;NA", "SECRET;;;", "SECRET,0.5,1,2", "SECRET"])
def test_a_first_record_that_is_taken_for_names_is_not_shown(first, tmp_path):
    """A record without a number, or one that is parted at another mark, looks like names."""
    (tmp_path / "a.csv").write_text(f"{first}\nx;low;1;2\ny;high;3;4\n")
    for options in ("", "--json", "--separator ';'", "--separator ';' --decimal , --json"):
        assert "SECRET" not in check(f"a.csv {options}", 1)
    (tmp_path / "b.csv").write_text(";who;h0;h1\n1;low;1;2\n2;high;3;4\n")  # as pandas writes an index
    assert "column 2 'who'" in check("b.csv", 1)


def test_a_header_of_numbers_is_made_the_grid_in_what_is_suggested(tmp_path):
    rows = [f"p{i};{'ab'[i % 2]};5,2;8,1;7,{i % 9}" for i in range(60)]
    (tmp_path / "visits.csv").write_text("\n".join(["patient;arm;0;0,5;2", *rows]))
    said = check("visits.csv --unit patient --by arm", 1)
    assert "The first line could be names or a record." in said
    line = said.rpartition("dpfda ")[2].replace("--epsilon ... --range low:high", "--epsilon 1 --range 2:25 --anyway")
    assert "--decimal , --header --unit patient --by arm --grid header" in line
    result = CliRunner().invoke(app, shlex.split(line))
    assert result.exit_code == 0, result.output
    assert " --header" not in check("visits.csv", 1).rpartition("dpfda ")[2]  # here it is for the user to say
