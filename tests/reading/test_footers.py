"""Counts of stored values: the library's own for sound files; for damaged ones an error, not the end of a process."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpfda as dp
from dpfda.reading.footers import stored_values


def written(table: pa.Table, **options: object) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("options", [{}, {"row_group_size": 3}, {"compression": "zstd"}, {"write_statistics": False}])
def test_counts_are_those_of_the_library(options):
    ragged = [[float(k)] * (k % 5) for k in range(11)]
    columns = {
        "a": np.arange(11.0),
        "curve": ragged,
        "b": ["x", None] * 5 + ["y"],
        "ok": [True, False, None] * 3 + [True] * 2,
    }
    data = written(pa.table(columns), **options)
    known = pq.ParquetFile(io.BytesIO(data)).metadata
    groups = [known.row_group(i) for i in range(known.num_row_groups)]
    expected = [[group.column(j).num_values for j in range(known.num_columns)] for group in groups]
    assert stored_values(io.BytesIO(data)) == expected


def test_every_cut_and_every_wrong_byte_ends_in_an_error_or_counts(rng):
    data = written(pa.table({"curve": [[1.0, 2.0], [3.0]]}))
    for end in range(len(data)):
        with pytest.raises((ValueError, LookupError, TypeError)):
            stored_values(io.BytesIO(data[:end]))
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for place in range(start, len(data)):
        for value in (0x00, 0x0F, 0xF9, 0xFF, 0x1C):
            broken = bytearray(data)
            broken[place] = value
            try:
                counts = stored_values(io.BytesIO(bytes(broken)))
            except (ValueError, LookupError, TypeError, AttributeError):
                continue
            assert all(count >= 0 for group in counts for count in group)


def test_no_footer_ends_the_process(tmp_path):
    """Among these are some over which the library aborts if it is asked for the figures of a column."""
    data = written(pa.table({"curve": [[1.0, 2.0]] * 4}))
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    path, plan = (
        tmp_path / "curves.parquet",
        dp.MeanPlan(n=4, epsilon=1, bound=dp.L2Ball(1.0), grid=2, method=dp.methods.FRL(1)),
    )
    refused = 0
    for place in range(start, len(data) - 8):
        for value in (data[place] ^ 2, data[place] ^ 4):
            path.write_bytes(data[:place] + bytes([value]) + data[place + 1 :])
            try:
                plan.summarize(dp.read(path, layout=dp.Lists("curve")))
            except dp.DpfdaError:
                refused += 1
    assert refused > 100


def test_fields_without_end_are_refused():
    deep = b"\x1c" * 100_000 + (100_000).to_bytes(4, "little") + b"PAR1"
    with pytest.raises(ValueError, match="too deep"):
        stored_values(io.BytesIO(deep))
    endless = b"\x19\xf6" + b"\xff" * 20 + (22).to_bytes(4, "little") + b"PAR1"
    with pytest.raises(ValueError, match="without end"):
        stored_values(io.BytesIO(endless))
