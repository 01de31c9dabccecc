"""Hostile files one by one: bombs, lies, tricks with paths, and texts that would act where they are shown."""

from __future__ import annotations

import os

import fuzzing
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzz_mutators import opened, sealed
from fuzz_seeds import CURVES, NAMES, SEEDS, mean_plan, releases
from fuzzing import limited, outcome, strict
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app
from dpfda.core import files
from dpfda.engines import checkpoints
from dpfda.plans import GroupPlan
from dpfda.reading import text_layout
from dpfda.spaces.grid import MOST_POINTS, MOST_TOGETHER

GOOD = {"epsilon": 1.0, "bound": dp.L2Ball(1.0)}
PLAN = mean_plan(neighbors="add-remove")
MB = 1 << 20


@pytest.fixture(autouse=True, scope="module")
def _clean():
    yield
    fuzzing.drop_scratch()


def refused(work, match, most=256 * MB):
    found = limited(work, most)
    assert found.startswith("refused"), found
    assert match in found


# -- text files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"h1,h2,h3,h4\n1,2,\x003,4\n", "does not hold a number"),
        (b'h1,h2,h3,h4\n1,"2,3,4\n', "quote is not closed"),
        (b"h1,h2,h3,h4\n1,2,3\n", "3 cells"),
        (b"h1,h2,h3,h4\n1,2,3,4,5\n", "5 cells"),
        ("h1,h2,h3,h4\n1,2,3,4\n".encode("utf-16-le"), "UTF-8"),
        (b"\xff\xfe1,2,3,4\n", "one column"),
        (b"h1,h2,h3,h4\n1,2,3,\xff\n", "does not hold a number"),
        *(
            (f"h1,h2,h3,h4\n1,2,3,{cell}\n".encode(), "does not hold a number")
            for cell in ("0x10", "1_000", "١٢٣", "½")
        ),
        *((f"h1,h2,h3,h4\n1,2,3,{cell}\n".encode(), "missing or infinite") for cell in ("1e999", "-inf", "9" * 400)),
        (b"", "is empty"),
        (b"\n\n\n", "is empty"),
        (b"h1,h1,h1,h1\n1,2,3,4\n", "repeat"),
    ],
)
def test_malformed_text(content, match, tmp_path):
    (tmp_path / "x.csv").write_bytes(content)
    with strict(), pytest.raises(dp.DpfdaError, match=match):
        PLAN.summarize(tmp_path / "x.csv")


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r", b"\r\n\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_endings_and_marks_do_not_matter(end, mark, tmp_path):
    (tmp_path / "x.csv").write_bytes(mark + end.join([b"h1,h2,h3,h4", b"1,0,0,1", b'"0","1", 1 ,0', b""]))
    assert PLAN.summarize(tmp_path / "x.csv") == PLAN.summarize(np.array([[1.0, 0, 0, 1], [0, 1, 1, 0]]))


def test_lines_without_end(tmp_path):
    """A hundred megabytes without a new line, at the beginning and later."""
    first, later, center = (
        tmp_path / "first.csv",
        tmp_path / "later.csv",
        mean_plan(neighbors="add-remove", invalid="center"),
    )
    for path, start in ((first, b"1,"), (later, b"h1,h2,h3,h4\n1,0,0,1\n")):
        with path.open("wb") as file:
            file.write(start)
            for _ in range(5):
                file.write(b"1," * (2 * MB))
            file.truncate(100 * MB)  # the rest reads as zeros
    refused(lambda: PLAN.summarize(first), "begins with a line of more than 16,777,216 characters", 512 * MB)
    refused(lambda: PLAN.summarize(later), "A line has more than 16,777,216 characters", 512 * MB)
    (tmp_path / "good.csv").write_text("h1,h2,h3,h4\n1,0,0,1\n,,,\n")
    short = center.summarize(dp.read(tmp_path / "good.csv", header=True))
    assert center.summarize(dp.read(later, header=True)) == short  # one record that is unusable, alone


def test_a_million_columns(tmp_path):
    (tmp_path / "x.csv").write_text("0," * 1_000_000 + "0\n")
    refused(lambda: PLAN.summarize(tmp_path / "x.csv"), "more than 100,000 columns", 512 * MB)
    assert text_layout.MOST_COLUMNS == 100_000


# -- Parquet and Arrow ---------------------------------------------------------------------------------------------


def test_a_small_parquet_file_that_claims_to_hold_a_lot(tmp_path):
    zeros = pa.array(np.zeros(3_000_000))
    pq.write_table(pa.table(dict.fromkeys(NAMES, zeros)), tmp_path / "x.parquet", compression="zstd")
    assert (tmp_path / "x.parquet").stat().st_size < 92_000
    refused(lambda: PLAN.summarize(tmp_path / "x.parquet"), "more than 1,000 times its own size", 128 * MB)
    one = pa.table({"curve": pa.ListArray.from_arrays([0, 12_000_000], np.zeros(12_000_000))})
    pq.write_table(one, tmp_path / "y.parquet", compression="zstd")
    refused(lambda: PLAN.summarize(tmp_path / "y.parquet"), "more than 1,000 times its own size", 128 * MB)


def test_a_long_text_that_is_repeated_is_read_once(tmp_path):
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(2000, dtype=np.int32)), ["x" * 5_000_000])
    table = pa.table({name: np.zeros(2000) for name in NAMES}).append_column("side", texts)
    pq.write_table(table, tmp_path / "x.parquet", compression="zstd")  # ten gigabytes, written out
    data = dp.read(tmp_path / "x.parquet", columns=NAMES)
    refused(lambda: dp.mean(data, by="side", **GOOD), "names of groups are printable texts", 512 * MB)


def test_parquet_that_is_nested_truncated_or_damaged(tmp_path):
    kind = pa.float64()
    for _ in range(1000):
        kind = pa.list_(kind)
    pq.write_table(pa.table({"x": pa.nulls(1, kind)}), tmp_path / "deep.parquet")
    refused(lambda: PLAN.summarize(tmp_path / "deep.parquet"), "deep.parquet")
    whole = SEEDS["parquet"][0]
    for cut in (4, 8, 12, len(whole) // 2, len(whole) - 8, len(whole) - 4):
        (tmp_path / "x.parquet").write_bytes(whole[:cut])
        with strict(), pytest.raises(dp.errors.FileError, match="not a readable Parquet file"):
            PLAN.summarize(tmp_path / "x.parquet")
    for length in (0, 2**31 - 1, 2**32 - 1):  # what the end of the file says about its footer
        (tmp_path / "x.parquet").write_bytes(whole[:-8] + length.to_bytes(4, "little") + b"PAR1")
        with strict(), pytest.raises(dp.errors.FileError, match="not a readable Parquet file"):
            PLAN.summarize(tmp_path / "x.parquet")
    notes = {"x": "y" * 20_000_000}
    pq.write_table(pa.table(dict(zip(NAMES, CURVES.T))).replace_schema_metadata(notes), tmp_path / "notes.parquet")
    assert limited(lambda: PLAN.summarize(tmp_path / "notes.parquet"), 1024 * MB).split()[0] in ("accepted", "refused")


def test_arrow_that_points_outside_of_itself():
    places, codes = np.array([0, 4, 8], dtype=np.int32), np.array([0, 1])
    lists = pa.Array.from_buffers(
        pa.list_(pa.float64()), 2, [None, pa.py_buffer(places)], children=[pa.array(np.zeros(8))]
    )
    words = pa.Array.from_buffers(pa.string(), 2, [None, pa.py_buffer(places), pa.py_buffer(b"northsud")])
    coded = pa.DictionaryArray.from_arrays(
        pa.Array.from_buffers(pa.int64(), 2, [None, pa.py_buffer(codes)]), ["a", "b"]
    )
    wide = {name: np.zeros(2) for name in NAMES}
    curves, tables = pa.table({"curve": lists}), [pa.table({"side": labels, **wide}) for labels in (words, coded)]
    assert PLAN.summarize(curves).count == 2
    places[1:], codes[1] = (2**30, 2**30), 10**6  # a moment later
    refused(lambda: PLAN.summarize(curves), "points outside of its own values")
    for table in tables:
        refused(lambda table=table: dp.mean(table, by="side", **GOOD), "points outside of its own values")


def test_arrays_in_files_are_not_read(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    refused(lambda: PLAN.summarize(tmp_path / "x.npy"), "must end in .csv")
    for nothing in (np.empty(10**15, dtype="V0"), np.empty((10**15, 0), dtype="U3")):
        refused(lambda nothing=nothing: PLAN.summarize(nothing), "This array holds nothing")
    for seed in SEEDS["npy"]:
        outcome("npy", seed.replace(b"(6, 4)", b"(10**15, 4)"))


# -- JSON --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("[" * 100_000, "not JSON"),
        ('{"a":' * 100_000, "not JSON"),
        ('{"dpfda": "plan", "version": ' + "9" * 1_000_000 + "}", "not JSON"),
        ('{"dpfda": "plan", "version": NaN}', "not JSON"),
        ('{"dpfda": "plan", "version": 1e999}', "not JSON"),
        ('{"dpfda": "plan", "dpfda": "release", "version": 1}', "a name repeats"),
        ('{"dpfda": "plan", "version": "\\u001b[2J"}', r"format version \x1b[2J, and this"),
        ("\x00", "not JSON"),
        ("null", "not a dpfda plan"),
    ],
)
def test_texts_that_are_no_plans(text, match):
    refused(lambda: dp.MeanPlan.from_json(text), match)


def test_facts_within_facts_without_end():
    kernel: dict = {"type": "Gaussian", "length_scale": 0.1}
    for _ in range(140):
        kernel = {"type": "Sum", "left": kernel, "right": {"type": "Gaussian", "length_scale": 0.1}}
    _, body = opened(SEEDS["plan"][0])
    refused(lambda: outcome_of(body["plan"] | {"kernel": kernel}), "at most 100 terms")
    for _ in range(60):
        kernel = {"type": "Sum", "left": kernel, "right": {"type": "Gaussian", "length_scale": 0.1}}
    refused(lambda: outcome_of(body["plan"] | {"kernel": kernel}), "nested too deeply")


def test_releases_whose_draws_or_values_are_not_whole(tmp_path):
    for name in ("select", "smoother"):
        kind, body = opened(releases()[name].to_json().encode())
        draws = body["drawn"]
        for wrong in ([], draws[:-1], [*draws, draws[0]], [draws[0][:-1], *draws[1:]], [[None] * 9], 3):
            (tmp_path / "x.json").write_bytes(sealed(kind, body | {"drawn": wrong}))
            with strict(), pytest.raises(dp.errors.FileError, match="whole release"):
                dp.load(tmp_path / "x.json")


def outcome_of(plan):
    return dp.MeanPlan.from_json(sealed("plan", {"plan": plan}).decode())


def test_small_texts_that_ask_for_enormous_work():
    line = dp.Grid.uniform(0, 1, 2)
    asks = [
        (lambda: dp.Grid.uniform(0, 1, 10**9), f"between 2 and {MOST_POINTS:,} points"),
        (lambda: dp.Grid.product(*[line] * 60), f"at most {MOST_TOGETHER:,} points"),
        (lambda: dp.spaces.ComponentGrid(1000, dp.Grid.uniform(0, 1, 100_000)), f"at most {MOST_TOGETHER:,} points"),
        (lambda: dp.MeanPlan(n=9, **GOOD, grid=10**9), "between 2 and"),
        (lambda: dp.MeanPlan(n=9, **GOOD, grid=12, method=dp.methods.KNorm(10**9)), "at most the basis size"),
        (
            lambda: dp.MeanPlan(n=9, **GOOD, grid=12, method=dp.methods.Bernstein(4095, order=100)),
            "at most 1,024 points",
        ),
        (
            lambda: dp.MeanPlan(n=9, **GOOD, grid=12, method=dp.methods.Select([dp.methods.KNorm(2)] * 10**5)),
            "two to 1000 methods",
        ),
        (lambda: dp.DensityPlan(n=9, epsilon=1, domain=[(0, 1)], cells=10**9), "at most 4,096 cells"),
        (lambda: dp.DensityPlan(n=9, epsilon=1, domain=[(0, 1)] * 3, cells=4096), "1,048,576 altogether"),
        (lambda: dp.plans.KernelPlan(n=9, epsilon=1, domain=[(0, 1)] * 20, classes=("a", "b")), "1 to 10 inputs"),
        (
            lambda: dp.plans.KernelPlan(n=9, epsilon=1, domain=[(0, 1)], classes=list(map(str, range(10**5)))),
            "10,000 groups",
        ),
        (
            lambda: dp.plans.KernelPlan(n=9, epsilon=1, domain=[(0, 1)], classes=("a", "b"), components=10**9),
            "between 1 and",
        ),
        (lambda: GroupPlan([str(i) for i in range(10**5)], ()), "at most 10,000 groups"),
        (lambda: dp.MeanPlan(n=10**400, **GOOD, grid=12), "n must be at most"),
        (lambda: dp.MeanPlan(n=9, epsilon="1/" + "3" * 4000, bound=dp.L2Ball(1.0), grid=12), "epsilon must be"),
        (lambda: dp.MeanPlan(n=9, **GOOD, grid=12, method=dp.methods.QR(eta=1e9)), "at most 1000"),
        (lambda: fuzzing.PARSERS["grid"]("0:1:1000000000"), "between 2 and"),
        (lambda: fuzzing.PARSERS["edges"]("0:1e9:1"), "edges are numbers"),
    ]
    for ask, match in asks:
        refused(ask, match, 512 * MB)


def test_numbers_at_the_ends_of_their_range_do_not_overflow():
    with strict():
        for length in (1e-59, 7.0, 1e59):
            repr(
                dp.plans.SmootherPlan(
                    n=900, epsilon=1, domain=[(0, 1)], bound=(0, 1), kernel=dp.kernels.Gaussian(length), components=3
                )
            )
        for method in (dp.methods.Minimax(power=1000.0), dp.methods.AR(psi=1e-99), dp.methods.QR(psi=1e-99)):
            repr(mean_plan(method=method))
        with pytest.raises(dp.errors.ParameterError, match="powers of the eigenvalues in range"):
            mean_plan(method=dp.methods.AR(eta=1000.0))


# -- paths ---------------------------------------------------------------------------------------------------------


def test_paths_that_are_no_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo.csv")
    os.symlink("loop.csv", "loop.csv")
    os.mkdir("folder.csv")
    (tmp_path / "curves.csv").write_bytes(SEEDS["csv"][0])
    names = ["fifo.csv", "loop.csv", "folder.csv", "a\nb.csv", "../x.csv", "~/curves.csv", "-x.csv", "[x.csv",
    "**/x[.csv",
             "x" * 5000 + ".csv", "a\0b.csv", "", " ", "/dev/zero", "/dev/stdin", "\udcff.csv", "*" * 3000]  # fmt: skip
    for name in names:
        refused(lambda name=name: PLAN.summarize(name), "refused")
        refused(lambda name=name: dp.load(name), "refused")
        refused(lambda name=name: checkpoints.load(name), "refused")
        assert limited(lambda name=name: dp.Ledger(name)).startswith("refused")
    assert limited(lambda: PLAN.summarize("curves.csv")).startswith("accepted")


def test_a_text_file_of_gigabytes_is_not_read(tmp_path):
    with (tmp_path / "x.json").open("wb") as file:
        file.truncate(files.MOST_TEXT + 1)
    refused(lambda: dp.load(tmp_path / "x.json"), "at most 512 MB", 64 * MB)


ADDRESSES = ["github://owner:repo@main/x.csv", "zip://x.csv::http://localhost:1/a.zip", "zip::file:///x.csv",
"://x.csv",
             "simplecache::file:///x.csv", "filecache://x.csv", "reference://x.csv", "dask://x.csv", "git://x.csv",
             "jupyter://localhost:1/x.csv", "data://text,1", "tar://x.csv::memory://y.tar", "x://y.csv"]  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
def test_addresses_of_unknown_kinds_are_refused_unopened(address):
    with pytest.raises(dp.errors.ParameterError, match="an address begins with one of file://"):
        PLAN.summarize(address)


@pytest.mark.parametrize("name", ["x" * 5000 + ".csv", "\udcff" * 300 + ".csv", "a\0b.csv", "y" * 300])
def test_commands_with_names_that_no_file_can_have(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.json").write_text(PLAN.to_json())
    for words in (["mean", name, "--epsilon", "1", "--radius", "1", "--json"], ["summarize", "x.csv", "--out", name],
                  ["summarize", name, "--plan", "plan.json", "--out", "a.summary"], ["show", name],
                  ["release", name, "--plan", "plan.json", "--out", "a.json"]):  # fmt: skip
        done = CliRunner().invoke(app, words)
        assert done.exit_code in (1, 2), words
        assert "unforeseen" not in done.output, words
