"""What a band holds where a minority of the curves is several times larger than the rest: where it fails today.

Invented load curves, of which a share is multiplied; the bound is right for all of them. Counted is how often the 95 %
band holds the mean of the curves everywhere, and how often a release says something against itself.

    python benchmarks/minorities.py
"""

from __future__ import annotations

import warnings

import common
import numpy as np

import dpfda as dp

RUNS = 20
#: Number of curves, epsilon, share of large ones, how many times larger.
CELLS = [
    (5000, 1, 0.0, 1),
    (5000, 1, 0.2, 5),
    (5000, 1, 0.05, 5),
    (5000, 4, 0.2, 5),
    (20000, 1, 0.2, 5),
    (5000, 1, 0.2, 2),
]


def cell(n: int, epsilon: float, share: float, times: float) -> tuple[int, int]:
    """How many bands held the mean of the curves, and how many releases warned."""
    held = warned = 0
    for run in range(RUNS):
        rng = np.random.default_rng(run)
        sample = dp.datasets.load_curves(n, rng)
        curves = np.where(rng.random((n, 1)) < share, times, 1.0) * sample.curves
        release = dp.mean(curves, epsilon=epsilon, bound=dp.RMS(4, center=0.5), grid=sample.grid)
        lower, upper = release.band(0.95)
        mean = curves.mean(axis=0)
        held += bool(((lower <= mean) & (mean <= upper)).all())
        warned += bool(release.cautions)
    return held, warned


def main() -> None:
    warnings.simplefilter("ignore")
    rows = [[n, epsilon, share, times, *cell(n, epsilon, share, times)] for n, epsilon, share, times in CELLS]
    head = ["n", "epsilon", "share", "times", f"held of {RUNS}", "warned"]
    common.show("A minority of large curves", head, rows)
    common.save("minorities", {"runs": RUNS, "head": head, "rows": rows})


if __name__ == "__main__":
    main()
