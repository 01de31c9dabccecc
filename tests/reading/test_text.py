"""Text files as people have them: separators, decimal commas, quotes, encodings and archives."""

from __future__ import annotations

import encodings.aliases
import gzip
import itertools
import random
import shlex

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli.app import app
from dpfda.reading import delimited, lines, text_layout
from dpfda.reading.dialect import BY_THEIR_MARK, WIDE, Dialect
from dpfda.reading.places import Place, expanded
from dpfda.reading.source import Source

CURVES = np.array([[5.25, 6.5, 7.0], [4.0, -5.5, 6.75]])
BOUND = dp.L2Ball(10.0)


def values_of(data, **options):
    return np.vstack([block.values for block in dp.read(data, **options).source().blocks()])


def packed(content: bytes, ending: str) -> bytes:
    if ending == "gz":
        return gzip.compress(content)
    return pa.Codec("zstd").compress(content, asbytes=True) if ending == "zst" else content


# -- separators and decimals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["csv", "tsv", "txt"])
def test_the_header_line_tells_the_separator(mark, ending, tmp_path):
    (tmp_path / f"a.{ending}").write_text(mark.join(["a", "b", "c"]) + "\n" + mark.join(["5.25", "6.5", "7"]) + "\n")
    assert values_of(tmp_path / f"a.{ending}").tolist() == [[5.25, 6.5, 7]]
    assert values_of(tmp_path / f"a.{ending}", separator=mark, header=True).tolist() == [[5.25, 6.5, 7]]


@pytest.mark.parametrize(
    ("header", "mark"),
    [
        ('"a,b,c,d";x;y', ";"),
        ("glucose, mmol/L;x;y", ";"),
        ("0,5;1,5;2,5", ";"),
        ("1,2,3", ","),
        ("h0,h1,h2", ","),
        ("a\tb;c\td", "\t"),
    ],
)
def test_marks_in_quotes_and_between_digits_are_no_separators(header, mark):
    assert Dialect().parting(".csv", header) == mark


def test_decimal_commas_are_said(tmp_path):
    (tmp_path / "a.csv").write_text('who;a;b;c\n"Smith, J";"5,25";6,5;7\n"O""Hara; B";4;-5,5;6,75\n')
    found = values_of(tmp_path / "a.csv", columns=["a", "b", "c"], decimal=",")
    assert found.tolist() == CURVES.tolist()
    with pytest.raises(dp.errors.RecordError, match=r"row 1.*decimal=','"):
        values_of(tmp_path / "a.csv", columns=["a", "b", "c"])
    release = dp.mean(dp.read(tmp_path / "a.csv", decimal=","), epsilon=1, bound=BOUND, unit="who", n=2)
    assert release.grid.size == 3  # the column that says whose a record is was named once


def test_thousands_are_no_decimals(tmp_path):
    (tmp_path / "a.csv").write_text("a;b\n1.234,5;2\n")
    with pytest.raises(dp.errors.RecordError, match=r"row 1, column 1 of the data \(counted from 1\)"):
        values_of(tmp_path / "a.csv", decimal=",")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"separator": ",", "decimal": ","}, "different marks"),
        ({"separator": " "}, "separator is one of"),
        ({"separator": 5}, "separator is one of"),
        ({"decimal": "'"}, "point, or a comma"),
        ({"decimal": None}, "point, or a comma"),
        ({"encoding": "nonsense"}, "encoding is one"),
        ({"encoding": "base64"}, "encoding is one"),
        ({"encoding": "utf-7"}, "encoding is one"),
        ({"encoding": "cp037"}, "encoding is one"),
        ({"encoding": "unicode_escape"}, "encoding is one"),
        ({"encoding": "raw_unicode_escape"}, "encoding is one"),  # where \\ud800 would stop a run
        ({"encoding": "idna"}, "encoding is one"),
        ({"encoding": 8}, "encoding is one"),
    ],
)
def test_what_is_no_way_to_write_a_file_is_refused(options, match):
    with pytest.raises(dp.errors.ParameterError, match=match):
        dp.read("a.csv", **options)


def test_decimal_commas_in_a_file_of_commas_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n3,4\n")
    plan = dp.MeanPlan(n=5, epsilon=1, bound=BOUND, grid=2, invalid="center")
    with pytest.raises(dp.errors.ParameterError, match="different marks"):
        plan.summarize(dp.read(tmp_path / "a.csv", header=False, decimal=","))


def test_files_of_one_release_may_be_written_differently(tmp_path):
    (tmp_path / "a.csv").write_text("a;b\n1;2\n")
    (tmp_path / "b.csv").write_bytes(gzip.compress(b""))
    (tmp_path / "b.csv").unlink()
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"b,a\n4,3\n"))
    assert values_of(tmp_path).tolist() == [[1, 2], [3, 4]]
    assert values_of(str(tmp_path / "*.csv*")).tolist() == [[1, 2], [3, 4]]


# -- encodings ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "utf-16-le", "utf-32", "shift_jis", "gb18030"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings(encoding, end, tmp_path):
    mark = "é" if encoding not in ("shift_jis", "gb18030") else "年"
    text = end.join([f"{mark}0;{mark}1", "5,25;6", "7;8,5", ""])
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    found = values_of(tmp_path / "a.csv", encoding=encoding, decimal=",", columns=f"{mark}*")
    assert found.tolist() == [[5.25, 6], [7, 8.5]]
    if encoding in ("utf-16", "utf-32"):  # the mark at the very beginning says so
        assert np.array_equal(values_of(tmp_path / "a.csv", decimal=","), found)


def test_no_bytes_stop_an_encoding_that_is_read():
    """All that Python knows, against bytes at random: as many lines as before, each read by itself."""
    rng, read = random.Random(7), 0
    for known in sorted({*encodings.aliases.aliases.values(), "idna", "charmap", "raw_unicode_escape"}):
        try:
            name = Dialect(encoding=known).encoding
        except dp.errors.ParameterError:
            continue
        if name in WIDE or name in BY_THEIR_MARK:
            continue
        for _ in range(40):
            content = bytes(rng.choice([rng.randrange(256), *b"\n\\ud8~\x1b$"]) for _ in range(30))
            found = lines._in_utf8(content, name)
            assert found.split(b"\n") == [lines._in_utf8(line, name) for line in content.split(b"\n")]
        read += 1
    assert read > 60


def test_the_cure_for_other_encodings_is_named(tmp_path):
    (tmp_path / "a.csv").write_bytes("é;b\n1;2\n".encode("cp1252"))
    with pytest.raises(dp.errors.FileError, match="encoding='cp1252'"):
        values_of(tmp_path / "a.csv")
    with pytest.raises(dp.errors.FileError, match="mark of utf-16"):
        values_of(tmp_path / "a.csv", encoding="utf-16")


@pytest.mark.parametrize("record", ["\r", "1\r", "1\r\r", "x\r", "\ufeff", "\ufeff1"])
def test_a_last_line_without_its_end_counts_as_it_would_elsewhere(record, tmp_path):
    (tmp_path / "a.csv").write_bytes(f"a\n{record}\n2\n".encode())
    (tmp_path / "b.csv").write_bytes(f"a\n2\n{record}".encode())
    sources = [Source(str(tmp_path / name), header=True, lenient=True, width=1) for name in ("a.csv", "b.csv")]
    first, last = (np.vstack(list(source.batches())).ravel() for source in sources)
    assert np.array_equal(first[::-1], last, equal_nan=True)


@pytest.mark.parametrize("unseen", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_only_a_line_feed_ends_a_line(unseen, tmp_path):
    (tmp_path / "a.csv").write_text(f"who;a;b\nx{unseen}y;1;2\nz;3;4\n", encoding="utf-8", newline="")
    assert values_of(tmp_path / "a.csv", columns=["a", "b"]).tolist() == [[1, 2], [3, 4]]


# -- archives ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["gz", "zst"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "txt"])
def test_archives(ending, kind, tmp_path):
    mark = "\t" if kind == "tsv" else ","
    text = "".join(mark.join(row) + "\n" for row in [["a", "b", "c"], ["5.25", "6.5", "7"], ["4", "-5.5", "6.75"]])
    (tmp_path / f"x.{kind}.{ending}").write_bytes(packed(text.encode(), ending))
    for data in (
        tmp_path,
        tmp_path / f"x.{kind}.{ending}",
        str(tmp_path / "x.*"),
        [str(tmp_path / f"x.{kind}.{ending}")],
    ):
        assert values_of(data).tolist() == CURVES.tolist()
    plan = dp.MeanPlan(n=2, epsilon=1, bound=BOUND, grid=3, method=dp.Auto(passes=1))
    first = plan.summarize(tmp_path, checkpoint=tmp_path / "kept.summary")
    assert first.count == plan.summarize(tmp_path, checkpoint=tmp_path / "kept.summary").count == 2


def test_archives_elsewhere():
    fsspec = pytest.importorskip("fsspec", reason="the remote extra is not installed")
    with fsspec.open("memory://text/a.csv.gz", "wb") as file:
        file.write(gzip.compress(b"a,b\n1,2\n"))
    assert values_of("memory://text/a.csv.gz").tolist() == [[1, 2]]
    assert [place.name for place in expanded("memory://text")] == ["a.csv.gz"]


@pytest.mark.parametrize("ending", ["gz", "zst"])
@pytest.mark.parametrize("damage", ["cut", "end", "plain"])
def test_damaged_archives_say_nothing_else(ending, damage, tmp_path):
    rng = np.random.default_rng(0)
    text = "a,b\n" + "".join(f"{x},SECRET{i}\n" for i, x in enumerate(rng.normal(size=5000)))
    whole = packed(text.encode(), ending)
    bad = {"cut": whole[: len(whole) // 2], "end": whole + b"SECRET", "plain": text.encode()}
    (tmp_path / f"x.csv.{ending}").write_bytes(bad[damage])
    with pytest.raises(dp.errors.FileError) as caught:
        values_of(tmp_path / f"x.csv.{ending}", columns=["a"])
    assert str(caught.value) == f"'x.csv.{ending}' is damaged, or no archive of its kind. Pack it again."
    assert caught.value.__cause__ is None


def test_an_archive_that_unpacks_to_one_long_line(tmp_path):
    """Half a gigabyte without a line feed: one record, in bounded memory."""
    bomb = gzip.compress(b"1,2\n" + b"\x00" * (1 << 29) + b"\n3,4\n", 1)
    (tmp_path / "x.csv.gz").write_bytes(bomb)
    asked = text_layout.layout(Place(str(tmp_path / "x.csv.gz")), False, True, 2)
    before = pa.total_allocated_bytes()
    got = [batch for batch, _ in delimited.rows(Place(str(tmp_path / "x.csv.gz")), asked, None, [], True, 1 << 20)]
    assert np.array_equal(np.vstack(got), [[1, 2], [np.nan, np.nan], [3, 4]], equal_nan=True)
    assert pa.total_allocated_bytes() - before < 1 << 26


# -- two readers, one reading -----------------------------------------------------------------------------------

PARTS = [
    "1",
    "2,5",
    "-3.5",
    "",
    "NA",
    '"',
    '""',
    ";",
    ";",
    ",",
    "x",
    " ",
    '"4"',
    '"5;6"',
    "\r",
    "\ufeff",
    "nan(1)",
    "é",
]


def invented(seed: int, count: int) -> list[str]:
    """Lines of odd cells, most of the right number."""
    rng = np.random.default_rng(seed)

    def line() -> str:
        if rng.random() < 0.4:
            return ";".join(rng.choice(["1", "2,5", '"4"', '"a;b"', "", '"a""b"', '"6"7', "NA"], 3).tolist())
        return "".join(rng.choice(PARTS, rng.integers(0, 8)).tolist())

    return [line() for _ in range(count)]


def readings(content: bytes, tmp_path, quick: bool, monkeypatch, size: int = 1 << 20, ending: str = ""):
    """What becomes of every record of a file: two numbers and a label."""
    path = tmp_path / f"x.csv{ending}"
    path.write_bytes(packed(content, ending.removeprefix(".")))
    place, text = Place(str(path)), Dialect(";", ",")
    layout = text_layout.layout(place, True, True, 2, text)
    with monkeypatch.context() as patch:
        if not quick:
            patch.setattr(delimited.Quick, "batch", lambda self, block: None)
        found = list(delimited.rows(place, layout, ["a", "b"], ["who"], True, size, ["who"]))
    numbers = np.vstack([np.empty((0, 2)), *(values for values, _ in found)])
    labels = [None if x is None else x.strip().strip("\ufeff") for _, words in found for x in words[0]]
    return [(*map(repr, row), label) for row, label in zip(numbers.tolist(), labels, strict=True)]


@pytest.mark.parametrize("seed", range(40))
def test_the_quick_reader_agrees_with_the_careful_one(seed, tmp_path, monkeypatch):
    content = "\n".join(["who;a;b", *invented(seed, 12)]).encode()
    careful = readings(content, tmp_path, False, monkeypatch)
    assert readings(content, tmp_path, True, monkeypatch) == careful
    assert readings(content, tmp_path, True, monkeypatch, size=7) == careful
    assert readings(content, tmp_path, True, monkeypatch, ending=".gz") == careful


def test_a_record_is_read_alone_as_among_others(tmp_path, monkeypatch):
    for seed in range(60):
        rows = invented(1000 + seed, 8)
        alone = [readings(f"who;a;b\n{row}\n".encode(), tmp_path, True, monkeypatch) for row in rows]
        among = readings(("\n".join(["who;a;b", *rows]) + "\n").encode(), tmp_path, True, monkeypatch)
        assert among == list(itertools.chain(*alone))


@pytest.mark.parametrize("place", range(-2, 3))
def test_a_quote_is_not_closed_where_the_quick_reader_ends_a_block(place, tmp_path):
    """It reads some 1 MB at a time, and what stands before a record must not decide how that is read."""
    rows = [b'1.5,"2.5",person'] * 70_000
    assert (len(rows[0]) + 1) * 61_680 < 1 << 20 < (len(rows[0]) + 1) * 61_682
    at = 61_680 + place
    bad = [*rows[:at], b'1.5,"2.5","perso', *rows[at + 1 :]]
    (tmp_path / "a.csv").write_bytes(b"a,b,who\n" + b"\n".join(bad) + b"\n")
    source = Source(str(tmp_path / "a.csv"), header=True, lenient=True, width=2, unit="who")
    blocks = list(source.blocks())
    values, units = np.vstack([b.values for b in blocks]), np.concatenate([b.units for b in blocks])
    assert np.flatnonzero(np.isnan(values).any(axis=1)).tolist() == [at]
    assert np.flatnonzero(units != "person").tolist() == [at]


def test_the_quick_reader_takes_good_quoted_lines():
    """Else the tests above would compare the careful one with itself."""
    layout = text_layout.TextLayout(";", ["who", "a", "b"], 3, decimal=",")
    quick = delimited.Quick(delimited.Asked(layout, ["a", "b"], ["who"], False, []))
    batch = quick.batch(b'"a;b";"1,5";2\n\n"c""d";3;4')
    assert batch is not None
    assert batch[0].tolist() == [[1.5, 2], [3, 4]]
    assert batch[1][0].tolist() == ["a;b", 'c"d']
    for open_quote in (b'a;"1;2\nb;3;4\n', b'a;1;"2\n', b'a;1;"2', b'"a\n;1;2";3;4\n'):
        assert quick.batch(open_quote) is None


HOSTILE = [
    b'"1;1;1', b'1;"1;1', b'"', b'"""', b'";";"', b"\x00;1;1", b"\xff\xfe;1;1", b"1;1;1;1", b"1,1,1", b"\t\t\t",
    b"1\r1;1;1", b"\xef\xbb\xbf1;1;1", b"\xef\xbb\xbf\xef\xbb\xbf1;1;1", b"x" * 300_000, b'"a\xe2\x80\xa8b";1;1',
    b"1.5;1;1", b"\x1b$B;1;1", b"\x81", b"\x0c", b"", b" ",
]  # fmt: skip
WAYS = [
    {"header": True, "separator": None, "encoding": None},
    {"header": False, "separator": ";", "encoding": None},
    {"header": True, "separator": None, "encoding": "cp1252"},
    {"header": False, "separator": ";", "encoding": "shift_jis"},
    {"header": False, "separator": ";", "encoding": "iso2022_jp"},
    {"header": True, "separator": ";", "encoding": "utf-16-le"},
]


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_hostile_record_changes_only_its_own_reading(way, ending, tmp_path):
    """Neighbour by neighbour through real summaries: without the record, with it, and with another one."""
    plan = dp.MeanPlan(
        n=40, epsilon=1, bound=dp.L2Ball(1.0), grid=3, invalid="center", neighbors="add-remove",
        method=dp.methods.KNorm(components=2),
    )  # fmt: skip
    rows = [b"0,25;0,5;1"] * 3
    wide = way["encoding"] == "utf-16-le"

    def statistic(records):
        content = b"\n".join([b"a;b;c", *records] if way["header"] else records) + b"\n"
        content = content.decode("latin-1").encode("utf-16-le") if wide else content
        (tmp_path / f"x.csv{ending}").write_bytes(packed(content, ending.removeprefix(".")))
        return plan.statistic(plan.summarize(dp.read(tmp_path / f"x.csv{ending}", decimal=",", **way)))

    plain = statistic([*rows, *rows])
    whole = statistic([*rows, b"0,25;0,5;1", *rows])
    assert plan.loss(whole - plain) <= 1
    for record in HOSTILE:
        for place in (0, 3, 6):
            both = [*rows, *rows]
            both.insert(place, record)
            assert plan.loss(statistic(both) - plain) <= 1, (record, place)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("header", [None, False])
def test_why_a_file_is_refused_tells_nothing_of_its_first_record(header, neighbors, tmp_path):
    firsts = [
        b"1,2,3",
        b'"1,2,3',
        b"\xff\xfe1,2",
        b"\x00,1,2",
        b"1",
        b"1;2;3",
        b"a,b,c",
        b"id,1,2",
        b"x" * (1 << 25),
        b"1,4,9",
    ]
    plan = dp.MeanPlan(n=9, epsilon=1, bound=BOUND, grid=dp.Grid([1, 4, 9]), invalid="center", neighbors=neighbors)
    said = set()
    for first in [*firsts, b"x" * (1 << 25)]:
        (tmp_path / "a.csv").write_bytes(first + b"\n4,5,6\n")
        for grid in (None, "header"):
            data = dp.read(tmp_path / "a.csv", header=header, grid=grid)
            with pytest.raises(dp.errors.DpfdaError) as caught:
                dp.mean(data, epsilon=1, bound=BOUND, invalid="center", neighbors=neighbors, n=9)
            said.add((grid, type(caught.value), str(caught.value)))
        with pytest.raises(dp.errors.DpfdaError) as caught:
            plan.summarize(data)
        said.add(("plan", type(caught.value), str(caught.value)))
    assert len(said) == 3


def test_a_file_without_names_may_not_leave_its_byte_order_to_a_record(tmp_path):
    (tmp_path / "a.csv").write_bytes("1,2\n".encode("utf-16"))
    plan = dp.MeanPlan(n=5, epsilon=1, bound=BOUND, grid=2, invalid="center")
    with pytest.raises(dp.errors.ParameterError, match="utf-16-le"):
        plan.summarize(dp.read(tmp_path / "a.csv", header=False, encoding="utf-16"))
    assert plan.summarize(dp.read(tmp_path / "a.csv", header=False, encoding="utf-16-le")).count == 1


@pytest.mark.parametrize("size", [3, 10, 1000])
@pytest.mark.parametrize("length", [7, 8, 9, 10, 30])
def test_lines_are_too_long_wherever_blocks_end(size, length, tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST_LINE", 8)
    (tmp_path / "x.csv").write_bytes(b"1,2\n" + b"5" * length + b",\n3,4\n" + b"6" * length)
    layout = text_layout.TextLayout(",", None, 2)
    found = list(delimited.line_blocks(Place(str(tmp_path / "x.csv")), layout, size))
    assert found.count(None) == (length + 1 > 8) + (length > 8)
    assert b"".join(block or b"" for block in found).startswith(b"1,2\n")
    assert b"3,4\n" in b"".join(block or b"" for block in found)


# -- numbers in the header -----------------------------------------------------------------------------------------


def test_numbers_in_the_header_are_the_grid_where_that_is_asked_for(tmp_path):
    (tmp_path / "a.csv").write_text("who;1;1,5;3;8\np;1;2;3;4\nq;2;3;4;5\n")
    data = dp.read(tmp_path / "a.csv", header=True, decimal=",", grid="header")
    release = dp.mean(data, epsilon=1, bound=BOUND, unit="who", n=2)
    assert release.grid.points.tolist() == [1, 1.5, 3, 8]
    plan = dp.MeanPlan(n=2, epsilon=1, bound=BOUND, grid=dp.Grid([1, 1.5, 3, 8], name="age"), unit="who")
    assert plan.release(data).grid.name == "age"
    with pytest.raises(dp.errors.PlanMismatch, match="The plan decides"):
        dp.MeanPlan(n=2, epsilon=1, bound=BOUND, grid=4, unit="who").release(data)


def test_unequal_ages_are_not_read_as_equally_spaced(tmp_path):
    (tmp_path / "a.csv").write_text("11,11.5,13,18\n1,2,3,4\n2,3,4,5\n")
    with pytest.raises(dp.errors.ParameterError, match="grid='header'") as caught:
        dp.mean(dp.read(tmp_path / "a.csv", header=True), epsilon=1, bound=BOUND)
    assert not any(word in str(caught.value) for word in ("11", "13", "18"))
    assert dp.mean(dp.read(tmp_path / "a.csv", header=True), epsilon=1, bound=BOUND, grid=4).grid.size == 4
    (tmp_path / "b.csv").write_text("0,1,2,3\n1,2,3,4\n2,3,4,5\n")
    assert dp.mean(dp.read(tmp_path / "b.csv", header=True), epsilon=1, bound=BOUND).grid.size == 4


def test_a_header_without_numbers_is_no_grid(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n2,3\n")
    with pytest.raises(dp.errors.ParameterError, match="named by increasing numbers"):
        dp.mean(tmp_path / "a.csv", epsilon=1, bound=BOUND, grid="header")
    with pytest.raises(dp.errors.ParameterError, match="grid must be"):
        dp.mean(tmp_path / "a.csv", epsilon=1, bound=BOUND, grid="head")


def test_first_lines_of_many_rising_numbers_are_asked_about(tmp_path):
    (tmp_path / "a.csv").write_text("1,1.5,2,3,4,6,8\n1,2,3,4,3,2,1\n")
    with pytest.raises(dp.errors.ParameterError, match="whether it begins with names"):
        Source(tmp_path / "a.csv").values_per_curve()


def test_a_plan_on_the_command_line_has_no_header():
    result = CliRunner().invoke(app, shlex.split("plan --n 50 --epsilon 1 --radius 1 --grid header"))
    assert result.exit_code == 1
    assert "--grid start:stop:size" in result.output


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_every_command_that_reads_files_takes_the_options(ending, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [["p;x", *(f"{x:.3f}".replace(".", ",") for x in rng.uniform(0, 1, 4))] for _ in range(400)]
    text = "\n".join(["wer|é1|é2|é3|é4", *("|".join(row) for row in rows)]) + "\n"
    (tmp_path / f"x.csv{ending}").write_bytes(packed(text.encode("cp1252"), ending.removeprefix(".")))
    written = f"x.csv{ending} --separator '|' --decimal , --encoding cp1252 --header --epsilon 1 --anyway"
    (tmp_path / "numbers.csv").write_text(text.replace("p;x|", "").replace("wer|", ""), encoding="cp1252")
    for line in (
        f"mean {written} --columns 'é*' --radius 1 --out mean.json",
        f"covariance {written} --columns 'é*' --radius 1 --out covariance.json",
        f"radius {written} --columns 'é*' --range 0:1",
        f"density {written} --columns é1 --domain 0:1 --out density.json",
        f"regress {written} --covariates é1 --columns é2,é3,é4 --covariate-range 0:1 --radius 1 --out model.json",
        f"fit {written} --inputs é1 --target é2 --loss squared --bound 0:1 --domain 0:1 --out fit.json",
        f"predict fit.json x.csv{ending} --separator '|' --decimal , --encoding cp1252 --header --out out.csv",
    ):
        result = CliRunner().invoke(app, shlex.split(line))
        assert result.exit_code == 0, (line, result.output)
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 401


@pytest.mark.filterwarnings("ignore::dpfda.core.errors.NoiseWarning")
def test_archives_on_dask(tmp_path):
    pytest.importorskip("dask", reason="the dask extra is not installed")
    for i in range(3):
        (tmp_path / f"{i}.csv.gz").write_bytes(gzip.compress(f"a;b\n{i},5;1\n{i};2\n".encode()))
    plan = dp.MeanPlan(n=6, epsilon=1, bound=BOUND, grid=2)
    options = {"separator": ";", "decimal": ","}
    here = plan.summarize(dp.read(tmp_path, **options))
    assert plan.summarize(dp.read(tmp_path, engine="dask", **options)) == here
    assert here.count == 6
