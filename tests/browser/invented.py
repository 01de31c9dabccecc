"""Invented data files, as people have them: for the whole flow, for hostile names, and for values that may not leak.

`write_study` is a folder that people would start the studio in. `write_hostile` adds what an attacker would put there.
`write_planted` writes values that are found again wherever they come out. All are small and the same in every run.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpfda as dp

HOURS = [f"h{hour}" for hour in range(24)]
HALF_HOURS = [f"h{half}" for half in range(48)]
#: In one cell of planted.csv, and as it could come out of a sum or a format.
PLANTED_NUMBER = 987654.321987
PLANTED_TEXT = "PLANTED-SECRET"
PLANTED = (PLANTED_TEXT, "987654.32", "987,654.32", "987654,32", "9.8765432", "321987")
#: Hostile names of files: markup, signs that turn the text round or steer a terminal, quotes, and a very long one.
#: Whatever runs of them opens a dialog or writes to the console, which no test lets pass.
MARKUP = "<img src=x onerror=alert(1)>"
FILE_NAMES = (
    f"{MARKUP}.csv",
    "<script>alert(2)<&#47;script>.csv",
    "homes\u202evsc.exe.csv",
    "homes\u2066hidden\u2069.csv",
    "\"quoted\" 'twice' `thrice`.csv",
    "two\nlines.csv",
    "red\x1b[31m.csv",
    "{{ 7*7 }}{% raw %}${7*7}.csv",
    "..%2f..%2fetc%2fpasswd.csv",
    "--ledger=x.csv",
    " spaces .csv",
    "long" * 60 + ".csv",
    "no text \udcff.csv",  # a byte that is not UTF-8, as Python spells it
)
#: Hostile names of columns; the curves are in the last three.
COLUMN_NAMES = (
    MARKUP,
    "</td></table><script>alert(3)</script>",
    '"><svg onload=alert(4)>',
    "javascript:alert(5)",
    "id\u202edi",
    "null\x07bell",
    "=1+1",
    "column" * 50,
    "{{ 7*7 }}",
    "'; DROP TABLE ledger; --",
    "h0 & <b>",
    "h1\u2028",
    "h2'\"",
)
#: Hostile groups, for the column `arm` of `hostile_columns.csv`.
GROUPS = (MARKUP, "</option></select><script>alert(6)</script>", "right\u202eleft")


def _write(path: Path, columns: Sequence[str] | None, rows: Iterable[Iterable[Any]], separator: str = ",") -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        if columns is not None:
            writer.writerow(columns)
        writer.writerows(rows)


def _numbers(values: np.ndarray, digits: int = 3) -> list[list[float]]:
    return np.round(np.atleast_2d(values), digits).tolist()


def write_study(folder: Path) -> Path:
    """Write the files of an ordinary study; the folder is returned.

    - homes.csv: 1,000 homes; id, region (north, south), h0 to h47 in kW, between 0 and 6
    - days.csv: 1 to 5 days of each of 200 homes; home, h0 to h23 in kW
    - ages.csv: 3,000 people; age in years, from 0 to 110
    - points.csv: 2,000 places; x, y from -5 to 5
    - glucose.csv: 500 patients; h0 to h23 in mg/dL
    - trial.csv: 1,000 patients; time in days to 1,095, event (0, 1), arm (old, new)
    - growth.csv: 400 children; covariates x1, x2 from -1 to 1, and y0 to y19
    - labels.csv: 1,000 people; x1, x2 from -1 to 1, label (no, yes)
    - homes.parquet: homes.csv again; homes_eu.csv: 300 of them with semicolons and decimal commas;
      bare/curves.csv: h0 to h47 of 300, without a header
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bare").mkdir(exist_ok=True)
    _write_homes(folder)
    rng = np.random.default_rng(2)
    owners = np.repeat(np.arange(200), rng.integers(1, 6, 200))
    days = _numbers(dp.datasets.load_curves(len(owners), rng, 24).curves)
    _write(folder / "days.csv", ["home", *HOURS], ([f"home-{owner:03}", *row] for owner, row in zip(owners, days)))
    ages, _ = dp.datasets.lifetimes(3000, rng)
    _write(folder / "ages.csv", ["age"], ([age] for age in ages.tolist()))
    _write(folder / "points.csv", ["x", "y"], _numbers(dp.datasets.mixture(2000, rng, 2).points))
    glucose = dp.datasets.glucose(500, rng).curves
    _write(folder / "glucose.csv", HOURS, _numbers(glucose.reshape(500, 24, 2).mean(axis=2), 1))
    times, events, arms = dp.datasets.survival(1000, rng)
    trial = zip(times.astype(int).tolist(), events.astype(int).tolist(), arms.tolist())
    _write(folder / "trial.csv", ["time", "event", "arm"], trial)
    _write_models(folder, rng)
    return folder


def _write_homes(folder: Path) -> None:
    rng = np.random.default_rng(1)
    curves = dp.datasets.load_curves(1000, rng).curves
    south = rng.random(1000) < 0.4
    rows = _numbers(curves + 0.2 * ~south[:, None])
    names, regions = [f"home-{i:04}" for i in range(1000)], np.where(south, "south", "north").tolist()
    columns = ["id", "region", *HALF_HOURS]
    _write(folder / "homes.csv", columns, ([name, region, *row] for name, region, row in zip(names, regions, rows)))
    table = dict(zip(HALF_HOURS, np.array(rows).T))
    pq.write_table(pa.table({"id": names, "region": regions, **table}), folder / "homes.parquet")
    commas = ([name, *(f"{value:.3f}".replace(".", ",") for value in row)] for name, row in zip(names[:300], rows))
    _write(folder / "homes_eu.csv", ["id", *HALF_HOURS], commas, separator=";")
    _write(folder / "bare" / "curves.csv", None, rows[:300])


def _write_models(folder: Path, rng: np.random.Generator) -> None:
    t = np.linspace(0, 1, 20)
    x = rng.uniform(-1, 1, (400, 2))
    responses = x[:, :1] * np.sin(np.pi * t) + x[:, 1:] * t + 0.1 * rng.standard_normal((400, 20))
    _write(folder / "growth.csv", ["x1", "x2", *(f"y{i}" for i in range(20))], _numbers(np.hstack([x, responses])))
    x = rng.uniform(-1, 1, (1000, 2))
    label = np.where(x.sum(axis=1) + 0.3 * rng.standard_normal(1000) > 0, "yes", "no").tolist()
    _write(folder / "labels.csv", ["x1", "x2", "label"], ([*row, name] for row, name in zip(_numbers(x), label)))


def write_hostile(folder: Path, outside: Path) -> list[Path]:
    """Write what an attacker would put into the folder; the files that the file system took are returned.

    Files with `FILE_NAMES`; hostile_columns.csv with `COLUMN_NAMES` and the `GROUPS` in column `arm`; links to a file
    and a folder `outside`, which must not be the folder or lie in it; a link to itself; a pipe, which blocks whoever
    opens it; a folder, an empty file and bytes that are no text, all called .csv.
    """
    folder.mkdir(parents=True, exist_ok=True)
    outside.mkdir(parents=True, exist_ok=True)
    rows = _numbers(np.random.default_rng(3).uniform(0, 1, (60, len(COLUMN_NAMES))))
    written = []
    for name in FILE_NAMES:
        with suppress(OSError, UnicodeEncodeError):  # not every file system takes every name
            path = folder / name
            _write(path, ["id", "h0", "h1", "h2"], ([i, *row[:3]] for i, row in enumerate(rows)))
            written.append(path)
    columns = folder / "hostile_columns.csv"
    _write(columns, ["arm", *COLUMN_NAMES], ([GROUPS[i % len(GROUPS)], *row] for i, row in enumerate(rows)))
    (folder / "empty.csv").touch()
    (folder / "folder.csv").mkdir(exist_ok=True)
    (folder / "bytes.csv").write_bytes(bytes(range(256)) * 4)
    (folder / "not_really.parquet").write_bytes(b"PAR1" + bytes(64) + b"PAR1")
    write_planted(outside)
    (folder / "leads_outside.csv").symlink_to(outside / "planted.csv")
    (folder / "folder_outside").symlink_to(outside, target_is_directory=True)
    (folder / "leads_to_itself.csv").symlink_to("leads_to_itself.csv")
    os.mkfifo(folder / "pipe.csv")
    others = ("empty", "folder", "bytes", "leads_outside", "leads_to_itself", "pipe")
    return [*written, columns, folder / "not_really.parquet", *(folder / f"{name}.csv" for name in others)]


def write_planted(folder: Path) -> Path:
    """Write planted.csv and planted_bare.csv (no header): what stands in `PLANTED` may never come out.

    The first row holds a planted number and a planted text, so that a reader who takes it for a header is found out;
    200 rows: id, note, h0 to h23. The path of planted.csv is returned.
    """
    folder.mkdir(parents=True, exist_ok=True)
    values = _numbers(np.random.default_rng(4).uniform(0, 1, (200, 24)))
    values[0][5] = PLANTED_NUMBER
    rows = [[f"{PLANTED_TEXT}-{i}", f"note of {PLANTED_TEXT}", *row] for i, row in enumerate(values)]
    _write(folder / "planted.csv", ["id", "note", *HOURS], rows)
    _write(folder / "planted_bare.csv", None, rows)
    return folder / "planted.csv"
