"""The paper's experiments, as a recorded run: verdicts and tables under benchmarks/results.

    python benchmarks/reproduction.py            # all of them, quick: some minutes on two cores
    python benchmarks/reproduction.py --full     # with the paper's counts, all but `selection` and `variants`

Cells are kept under build/reproduction, so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

import common

#: What is run with the paper's counts; the others take hours.
FULL = ("timing", "mechanisms", "densities", "curves", "mortality")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the paper's counts")
    chosen = parser.parse_args()
    name = "reproduction_full" if chosen.full else "reproduction"
    what = [*FULL, "--full"] if chosen.full else ["--all", "--quick"]
    data = ["--data", str(common.DATA)] if common.DATA.exists() else []
    folder = common.ROOT / "build" / name
    command = [sys.executable, "-m", "dpfda_experiments", *what, *data, "--json", "--out", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures = json.loads(done.stdout)
    figures["written"] = sorted(path.rsplit("/", 1)[-1] for path in figures["written"])
    common.save(name, figures)


if __name__ == "__main__":
    main()
