"""Mutations of valid files: of their bytes, and of what they say, sealed again so that it is really read.

Every mutator takes a generator and valid bytes (with others to borrow from) and gives bytes.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import sqlite3
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpfda.core import codec

Mutator = Callable[[Random, bytes, list[bytes]], bytes]
#: Values that break careless code, in place of any number, text, list or fact.
NASTY: list[Any] = [
    None, True, False, 0, -1, 1, 2, 3, 7, 2**31, 2**63, 10**9, 10**25, 10**400, -0.0, 0.5, 1e-300, 1e300, -1e300, 1e-9,
    1e9, "", "a", "=1+1", "\x1b[2J\n", "\ud800", "nan", "inf", "1e999", "x" * 5000, "١٢", "../../x", "\u202ea", [], {},
    [[]], [1], [1, 2], [2, 1], ["a"], ["a", "a"], [None], [[0, 1]], [[0, 1]] * 20, [[1, 0]], [1e308, -1e308],
    [0.0] * 500, [[0] * 9] * 9, {"type": "Fraction", "value": "1/3"}, {"type": "Fraction", "value": "1/0"},
    {"type": "Fraction", "value": "9" * 59}, {"type": "Fraction", "value": "1e99"}, {"type": "Fraction", "value": []},
    {"type": "Fraction"}, {"type": []}, {"type": "Plan"}, {"type": "Kernel"},
    {"type": "Custom", "function": "os.system"}, {"type": "Grid", "points": [0, 1]},
    {"type": "Matern", "nu": 1e9, "length_scale": 1e-9}, {"type": "Matern", "nu": 49.7, "length_scale": 0.1},
    {"type": "Gaussian", "length_scale": 1e-59}, {"type": "Gaussian", "length_scale": 1e59},
    {"type": "KNorm", "components": 10**9}, {"type": "Bernstein", "lattice": 100, "order": 100},
    {"type": "Auto", "passes": 8}, {"type": "L2Ball", "radius": 1e-59}, {"type": "L2Ball", "radius": 1e59},
    {"type": "Interpolate"}, {"type": "Unit", "name": "x"}, {"type": "Hinge", "width": 1},
    {"type": "AR", "psi": 1e-300}, {"type": "Minimax", "power": 1e9}, {"type": "Minimax", "power": 1e-9},
    {"type": "GaussianProcess", "delta": {"type": "Fraction", "value": "1e-99"}},
]  # fmt: skip
#: Cells of tables that break careless readers.
CELLS = [
    "", " ", "nan", "NaN", "NA", "inf", "-inf", "1e999", "-1e-999", "0x10", "1_000", "١٢٣", "nan(123)", "9" * 400,
    "1,5",
    '"', '"1"', "'1'", "\x00", "\ufeff1", "\u200b1", "=1+1", "\x1b[2J", "1e5", "+1", "--1", "1.", ".5", "true", "null",
    "2026-04-05T01:30:00+10:30", "2026-13-01", "0001-01-01", "9999-12-31T23:59:59Z", "\u2028", "\x1c", "\x85",
    "a" * 3000,
]  # fmt: skip
TOKENS = [b"\x00", b"\xff", b"\r", b"\n", b"\r\n", b",", b"\t", b'"', b"\xef\xbb\xbf", b"\xff\xfe", b"PAR1", b"ARROW1"]


def flip(rng: Random, data: bytes, others: list[bytes]) -> bytes:
    """Some bytes changed, dropped, repeated, or taken from another file."""
    found = bytearray(data)
    for _ in range(1 << rng.randrange(5)):
        place = rng.randrange(len(found) + 1)
        act = rng.randrange(7)
        if act == 0 and place < len(found):
            found[place] ^= 1 << rng.randrange(8)
        elif act == 1 and place < len(found):
            found[place] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
        elif act == 2:
            del found[place : place + 1 + rng.randrange(1 + len(found) // 8)]
        elif act == 3:
            found[place:place] = found[place : place + 1 + rng.randrange(32)] * rng.randrange(1, 9)
        elif act == 4:
            found[place:place] = rng.choice(TOKENS)
        elif act == 5:
            number = rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1, 10**9))
            found[place : place + 8] = number.to_bytes(8, "little")
        else:
            other = rng.choice(others)
            start = rng.randrange(len(other) + 1)
            found[place : place + rng.randrange(64)] = other[start : start + rng.randrange(64)]
    return bytes(found) if rng.random() < 0.9 else bytes(found[: rng.randrange(len(found) + 1)])


# -- sealed JSON ------------------------------------------------------------------------------------


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in plain data, the whole of it first; of long lists only the ends."""
    yield path
    if isinstance(data, dict):
        for name in data:
            yield from places(data[name], (*path, name))
    elif isinstance(data, list):
        for i in sorted({0, 1, len(data) - 1} & set(range(len(data)))):
            yield from places(data[i], (*path, i))


def found_at(data: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        data = data[step]
    return data


def placed(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of plain data with another value at one place."""
    if not path:
        return value
    changed = copy.copy(data)
    changed[path[0]] = placed(data[path[0]], path[1:], value)
    return changed


def sealed(kind: str, body: dict[str, Any], version: Any = 1) -> bytes:
    """A body with a checksum that fits: whatever it says will be read."""
    return json.dumps({"dpfda": kind, "version": version, **body, "sha256": codec.digest(body)}).encode()


def opened(data: bytes) -> tuple[str, dict[str, Any]]:
    body = json.loads(data)
    kind = body.pop("dpfda")
    del body["version"], body["sha256"]
    return kind, body


def reseal(rng: Random, data: bytes, others: list[bytes]) -> bytes:
    """Another value, a missing field, a new one, a longer list or a part of another file; the seal is made anew."""
    kind, body = opened(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        path = rng.choice(list(places(body))[1:])
        old, act = found_at(body, path), rng.randrange(8)
        if act == 0:
            other = opened(rng.choice(others))[1]
            value: Any = found_at(other, rng.choice(list(places(other))))
        elif act == 1 and isinstance(old, list):
            value = rng.choice([old[:-1], old + old, old[::-1], [*old, rng.choice(NASTY)], [old]])
        elif act == 2 and isinstance(old, dict) and old:
            value = {k: v for k, v in old.items() if k != rng.choice(list(old))} | rng.choice(({}, {"new": 1}))
        elif act == 3 and isinstance(old, int | float) and not isinstance(old, bool):
            value = rng.choice((-old, old + 1, old * 2, old / 3, old * 1e-12, old * 1e12, str(old)))
        else:
            value = rng.choice(NASTY)
        body = placed(body, path, value)
        if not isinstance(body, dict):
            return json.dumps(body).encode()
    return sealed(kind, body)


# -- tables -------------------------------------------------------------------------------------------


def cells(rng: Random, data: bytes, others: list[bytes]) -> bytes:
    """Another cell, row, column, delimiter or line ending."""
    tab = b"\t" in data and b"," not in data
    delimiter = "\t" if tab else ","
    rows = [line.split(delimiter) for line in data.decode("utf-8").split("\n")]
    for _ in range(rng.choice((1, 1, 2, 5))):
        row = rng.choice(rows)
        act = rng.randrange(6)
        if act <= 2:
            row[rng.randrange(len(row))] = rng.choice(CELLS)
        elif act == 3:
            row.insert(rng.randrange(len(row) + 1), rng.choice(CELLS))
        elif act == 4:
            row.pop(rng.randrange(len(row))) if len(row) > 1 else row.append("")
        else:
            rows.insert(rng.randrange(len(rows) + 1), rng.choice([[""], list(row), [rng.choice(CELLS)] * len(row)]))
    text = rng.choice(("\n", "\n", "\n", "\r\n", "\r", "\n\n")).join(delimiter.join(row) for row in rows)
    return text.encode(rng.choice(("utf-8",) * 8 + ("utf-16", "utf-8-sig")), "surrogatepass")


def _column(rng: Random, size: int) -> pa.Array:
    kinds: list[Callable[[], pa.Array]] = [
        lambda: pa.array([rng.uniform(-1, 1) for _ in range(size)]),
        lambda: pa.array([rng.choice((None, 0.0, float("nan"), float("inf"), 1e308, 5e-324)) for _ in range(size)],
        pa.float64()),
        lambda: pa.array([rng.choice((None, 2**63 - 1, -(2**63), 0)) for _ in range(size)], pa.int64()),
        lambda: pa.array([rng.choice(CELLS).encode("utf-8", "replace").decode() for _ in range(size)]),
        lambda: pa.array([rng.choice(CELLS[:4]) for _ in range(size)]).dictionary_encode(),
        lambda: pa.array([[0.5] * rng.randrange(6) for _ in range(size)], pa.list_(pa.float64())),
        lambda: pa.array([[0.5] * 4] * size, pa.list_(pa.float32(), 4)),
        lambda: pa.array([rng.choice((None, True, False)) for _ in range(size)]),
        lambda: pa.array([rng.choice((None, 0, 2**60)) for _ in range(size)], pa.timestamp("us", "UTC")),
        lambda: pa.array([{"a": 1}] * size),
        lambda: pa.nulls(size),
        lambda: pa.array([b"\xff\xfe"] * size, pa.binary()),
        lambda: pa.array([[["x"]]] * size),
        lambda: pa.array([rng.choice((None, 1, 2)) for _ in range(size)], pa.decimal128(38, rng.randrange(38))),
    ]  # fmt: skip
    return rng.choice(kinds)()


def _table(rng: Random) -> pa.Table:
    size, names = rng.randrange(5), ["h1", "h2", "h3", "h4", "side", "curve", "", "h1", "\x1b[2J"]
    wanted = [rng.choice(names) for _ in range(rng.randrange(1, 6))]
    if rng.random() < 0.6:
        wanted = ["h1", "h2", "h3", "h4", "side"][: rng.randrange(1, 6)]
    return pa.Table.from_arrays([_column(rng, size) for _ in wanted], names=wanted)


def parquet(rng: Random, data: bytes, others: list[bytes]) -> bytes:
    """A table of any columns as a Parquet file, often with damage."""
    sink = io.BytesIO()
    codecs = ("none", "snappy", "gzip", "zstd")
    try:
        pq.write_table(_table(rng), sink, compression=rng.choice(codecs), use_dictionary=rng.random() < 0.5)
    except (pa.ArrowException, ValueError):
        return flip(rng, data, others)
    return flip(rng, sink.getvalue(), others) if rng.random() < 0.5 else sink.getvalue()


def ipc(rng: Random, data: bytes, others: list[bytes]) -> bytes:
    """A table of any columns as an Arrow stream or file, often with damage."""
    table, sink = _table(rng), io.BytesIO()
    with rng.choice((pa.ipc.new_stream, pa.ipc.new_file))(sink, table.schema) as writer:
        writer.write_table(table)
    return flip(rng, sink.getvalue(), others) if rng.random() < 0.5 else sink.getvalue()


def npy(rng: Random, data: bytes, others: list[bytes]) -> bytes:
    """An array of any kind and shape, or a header that claims one."""
    kinds = ["f8", "f4", "f2", ">f8", "i8", "u1", "?", "c16", "U3", "S3", "M8[s]", "m8[s]", "V4", "O"]
    shape = rng.choice(["(6, 4)", "(6,)", "()", "(0, 4)", "(2, 3, 4)", "(10**15,)", "(1000000000000000, 4)", "(-1, 4)",
                        "(True, 4)", "__import__('os')"])  # fmt: skip
    header = (
        f"{{'descr': '{rng.choice(kinds)}', 'fortran_order': {rng.choice(('True', 'False', '1'))}, 'shape': {shape}}}"
    )
    text = header.ljust(117).encode() + b"\n"
    whole = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data[128:]
    return flip(rng, whole, others) if rng.random() < 0.3 else whole


# -- ledgers -------------------------------------------------------------------------------------------

LEDGER_VALUES: list[Any] = [
    None, 0, -1, 1, 2**62, 1.5, float("inf"), "", "1/3", "1/0", "-1", "nan", "inf", "1e999999999", "9" * 3000,
    "1_0", "١",
    b"1/3", b"\xff", "\x1b[2J", "a\x1fb", "2026-01-01T00:00:00Z",
]  # fmt: skip


def rows(rng: Random, data: bytes, others: list[bytes]) -> bytes:
    """Other values, rows or tables in a ledger; often with seals that fit, so that they are really read."""
    db = sqlite3.connect(":memory:", isolation_level=None)
    try:
        db.deserialize(data)
        guards = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            db.execute(f"DROP TRIGGER {name}")
        for _ in range(rng.choice((1, 1, 2))):
            _rewrite(rng, db)
        if rng.random() < 0.7:
            _seal_again(db)
        for _, text in guards:
            db.execute(text)
        return db.serialize()
    except sqlite3.Error:
        return flip(rng, data, others)
    finally:
        db.close()


COLUMNS = {
    "study": ("format", "name", "epsilon", "delta", "created"),
    "entry": ("number", "time", "plan", "query", "epsilon", "delta", "spent", "spent_delta"),
}
#: What may stand for a table: a copy, a view of it, another table, a view without end.
STANDINS = (
    "TABLE {0} AS SELECT * FROM was",
    "VIEW {0} AS SELECT * FROM was",
    "TABLE {0} (format, name)",
    "VIEW {0} AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT x AS number, '' AS time, "
    "'' AS plan, '' AS query, '1' AS epsilon, '0' AS delta, '' AS seal, '' AS spent, '' AS spent_delta, "
    "'' AS format, '' AS name, '' AS created FROM r",
)


def _rewrite(rng: Random, db: sqlite3.Connection) -> None:
    table = rng.choice(("study", "entry"))
    act = rng.randrange(8)
    if act < 5:
        where = "" if table == "study" else f" WHERE number = {rng.randrange(1, 4)}"
        db.execute(f"UPDATE {table} SET {rng.choice(COLUMNS[table])} = ?{where}", (rng.choice(LEDGER_VALUES),))
    elif act == 5:
        db.execute(f"DELETE FROM {table}" + rng.choice(("", " WHERE rowid = 1")))
    elif act == 6:
        shifted = "number + 7, time, plan, query, epsilon, delta, seal, spent, spent_delta" if table == "entry" else "*"
        db.execute(f"INSERT INTO {table} SELECT {shifted} FROM {table}")
    else:
        db.execute(f"ALTER TABLE {table} RENAME TO was")
        db.execute("CREATE " + rng.choice(STANDINS).format(table))


def _seal(previous: str, row: tuple[Any, ...]) -> str:
    return hashlib.sha256("\x1f".join([previous, *map(str, row)]).encode("utf-8", "replace")).hexdigest()


def _seal_again(db: sqlite3.Connection) -> None:
    """Seals that fit: the study's, the first home's upon it, and each entry's upon the one before."""
    link = ""
    for row in db.execute("SELECT rowid, format, name, epsilon, delta, created FROM study LIMIT 9").fetchall():
        link = _seal("", row[1:])
        db.execute("UPDATE study SET seal = ? WHERE rowid = ?", (link, row[0]))
    for row in db.execute("SELECT number, time, place, witness FROM home LIMIT 1").fetchall():
        head, link = link, _seal(link, (*row, link))
        db.execute("UPDATE home SET head = ?, seal = ? WHERE number = ?", (head, link, row[0]))
    sought = "SELECT number, time, plan, query, epsilon, delta, spent, spent_delta FROM entry LIMIT 9"
    for row in db.execute(sought).fetchall():
        link = _seal(link, row[:6] if row[6:] == (None, None) else row)
        db.execute("UPDATE entry SET seal = ? WHERE number = ?", (link, row[0]))


# -- texts ----------------------------------------------------------------------------------------------


PIECES = ["0", "-1", "1e999", "nan", "9" * 30, "10" * 40, "1000000000", ":", "::", ",", "=", "x", "/", "1/0",
"\x00", "é", "inf",
          "matern", "l2", "../", "~", "\n", " ", "--help", "-", "=1", "٣", "1e-300", "0.1", "1_0", "[", "$",
          "\x1b[2J"]  # fmt: skip


def words(rng: Random, data: bytes, others: list[bytes]) -> bytes:
    """Other pieces in a text of the command line."""
    text = data.decode("utf-8", "replace")
    for _ in range(rng.choice((1, 1, 2, 3))):
        place = rng.randrange(len(text) + 1)
        text = text[:place] + rng.choice(PIECES) + text[place + rng.choice((0, 0, 1, 2, 5)) :]
    return text.encode("utf-8", "surrogatepass")


STRUCTURED: dict[str, Mutator] = {
    "csv": cells, "csv-center": cells, "csv-long": cells, "csv-days": cells, "csv-groups": cells, "tsv": cells,
    "parquet": parquet, "arrow": ipc, "npy": npy, "plan": reseal, "release": reseal, "summary": reseal,
    "ledger": rows, "words": words, "labels": flip, "command": words, "show": reseal, "predict": reseal,
}  # fmt: skip


def mutated(target: str, rng: Random, seeds: list[bytes]) -> bytes:
    """One hostile file for a target: three of four by structure, one by its bytes."""
    seed = rng.choice(seeds)
    if rng.random() < 0.25:
        return flip(rng, seed, seeds)
    try:
        return STRUCTURED[target](rng, seed, seeds)
    except (
        ValueError,
        OverflowError,
        UnicodeError,
        TypeError,
        KeyError,
        IndexError,
        np.exceptions.DTypePromotionError,
    ):
        return flip(rng, seed, seeds)  # what cannot even be written
