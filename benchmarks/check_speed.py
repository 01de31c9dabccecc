"""`dpfda check` over a large CSV, against reading it with pyarrow.

    python benchmarks/check_speed.py [--megabytes N] [--rounds N]

The file is invented here, in a temporary folder, and removed: 100 columns of values, clean; then, smaller, with ids
(``--unit``), and with decimal commas and some trouble in it. Contenders take turns, each in a process of its
own; the best time counts, with the start of Python and imports for all of them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import common
import numpy as np

POINTS, ROWS = 100, 20_000
#: What the file is written with is said to pyarrow as well.
SAID = (
    "import pyarrow.csv as csv, sys; path, mark, decimal = sys.argv[1:]; how = dict("
    "parse_options=csv.ParseOptions(delimiter=mark), convert_options=csv.ConvertOptions(decimal_point=decimal)); "
)
WHOLE = f"{SAID} csv.read_csv(path, **how)"
STREAM = f"{SAID} sum(batch.num_rows for batch in csv.open_csv(path, **how))"


def made(path: Path, size: int, ids: bool = False, commas: bool = False) -> None:
    """Normal values to four decimals; with `commas` in a file of semicolons, one cell in a million a word."""
    values = np.random.default_rng(0).normal(8, 2, (ROWS, POINTS)).round(4)
    mark = ";" if commas else ","
    lines = [mark.join(map(repr, row)) for row in values.tolist()]
    if commas:
        lines = [line.replace(".", ",") for line in lines]
    head = [f"h{i:02d}" for i in range(POINTS)]
    count = 0
    with path.open("w", encoding="ascii") as file:
        file.write(mark.join(["who", *head] if ids else head) + "\n")
        while file.tell() < size:
            block = [f"p{count + i:09d}{mark}{line}" for i, line in enumerate(lines)] if ids else list(lines)
            if commas:
                block[7] = block[7].rpartition(mark)[0] + f"{mark}word"
            file.write("\n".join(block) + "\n")
            count += ROWS


def timed(*command: str, code: int = 0) -> float:
    start = time.perf_counter()
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
    took = time.perf_counter() - start
    assert done.returncode == code, done.stderr
    return took


def row(size: int, rounds: int, options: tuple[str, ...] = (), **how: bool) -> dict[str, Any]:
    """Best times of `rounds` turns."""
    mark, decimal, code = (";", ",", 1) if how.get("commas") else (",", ".", 0)
    best = {"read_csv": float("inf"), "open_csv": float("inf"), "check": float("inf")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "days.csv"
        made(path, size, **how)
        for _ in range(rounds):
            best["read_csv"] = min(best["read_csv"], timed("-c", WHOLE, str(path), mark, decimal))
            best["open_csv"] = min(best["open_csv"], timed("-c", STREAM, str(path), mark, decimal))
            best["check"] = min(best["check"], timed("-m", "dpfda", "check", str(path), *options, code=code))
        megabytes = path.stat().st_size / 1e6
    return {
        "megabytes": megabytes, **{f"{name}_seconds": took for name, took in best.items()},
        "ratio": best["check"] / best["read_csv"], "ratio_to_stream": best["check"] / best["open_csv"],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    size = options.megabytes * 1_000_000
    found = {
        "clean": row(size, options.rounds),
        "ids": row(size // 4, options.rounds, ("--unit", "who", "--columns", "h*"), ids=True),
        "commas": row(size // 4, options.rounds, commas=True),
    }
    for name, figures in found.items():
        common.show(name, list(figures), [list(figures.values())])
    common.save("check_speed", found)


if __name__ == "__main__":
    main()
