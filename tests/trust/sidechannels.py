"""Does the noise step take longer, or more memory, for some data than for others?

Two data sets of one shape, as different as the bound allows: all records at the public centre (every numerator zero)
and all clipped to the bound from far outside (every numerator as long as it gets). Both go through the real summary and
the real `to_lattice`; what is watched is the real noise step, `door._draw`, and nothing else.

Two ways to look. `work` counts without a clock: calls of functions and requests for random bits, with the operating
system's generator replaced by one recorded stream (in this module only). The counts must be equal. `measure` takes
times, interleaved in random order, and the peak of traced memory; it reports ratios with intervals, and shows that a
step whose work does depend on data (coins tossed candidate by candidate) is seen by the same clock.

What remains, and is not claimed. OpenDP draws Laplace and Gaussian noise in compiled code from its own generator: its
rejections depend on random bits, not on data, and the settled integers it adds to fit in 64 bits; its bits cannot
be recorded here. Ball noise and choices ask for more places if 96 of them leave a rounding open, with a chance of
2^-95 per number. Python's integers have no constant time: adding to zero takes some nanoseconds less than adding to
a long number; that depends on the aggregate, not on a record alone, and `measure` says how little it is.

Before the noise step: reading and encoding grow with the number of records (private under add-remove), with rows per
unit and observations per curve; far-out records cost a second step of clipping; labels are gathered in dictionaries;
an unusable record may end a run early (`invalid="raise"`) or be read by a slower path, and a text file that the quick
reader balks at is read on by the careful one; exact fractions of a statistic are a little slower where numbers are
longer. Plans of several stages go on with what was released, which is public. Caches, page faults, power and the size
of the process follow the size of the data. Whoever could time a run to the microsecond, or choose records and watch,
must be kept away: run unattended services at fixed times, answer after a fixed delay, share the machine with nobody.
"""

from __future__ import annotations

import gc
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu

import dpfda as dp
from dpfda.noise import rounding as places
from dpfda.release import door as exits

GRID, RECORDS = dp.Grid.uniform(0, 1, 24), 60


def plans() -> dict[str, Any]:
    """One plan for each noise law."""
    facts: dict[str, Any] = {"n": RECORDS, "epsilon": 1, "grid": GRID, "bound": dp.L2Ball(1.0)}
    return {
        "laplace": dp.MeanPlan(method=dp.methods.QR(), **facts),
        "ball": dp.MeanPlan(method=dp.methods.KNorm(12), **facts),
        "blocks": dp.MeanPlan(method=dp.methods.Blocks(), **facts),
        "gaussian": dp.MeanPlan(method=dp.methods.GaussianProcess(1e-6), **facts),
        "choice": dp.plans.RadiusPlan(n=RECORDS, epsilon=1, grid=GRID, bound=dp.L2Ball(8.0)),
    }


def extremes() -> dict[str, np.ndarray]:
    """All records at the centre, and all far outside the bound, at no round number."""
    rng = np.random.default_rng(5)
    return {"centre": np.zeros((RECORDS, GRID.size)), "bound": 1e6 * (1 + rng.random((RECORDS, GRID.size)))}


def steps(plan: Any) -> dict[str, Callable[[], np.ndarray]]:
    """The noise step of a plan, ready to run, for each of the extreme data sets."""
    found = {}
    for name, data in extremes().items():
        settled = plan.stage.to_lattice(plan.summarize(data))
        found[name] = lambda settled=settled: exits._draw(plan.stage, settled)
        found[name]()  # what is public is computed once and kept
    return found


# -- without a clock ----------------------------------------------------------------------------


class Stream:
    """Random bits that are the same every time, and counted."""

    def __init__(self, seed: int):
        self.source, self.asked = random.Random(seed), 0

    def randbits(self, count: int) -> int:
        self.asked += count
        return self.source.getrandbits(count)


@contextmanager
def recorded(seed: int) -> Iterator[Stream]:
    """The laws that draw bits here draw them from a stream."""
    real, stream = places.secrets, Stream(seed)
    places.secrets = stream  # type: ignore[assignment]
    try:
        yield stream
    finally:
        places.secrets = real


def work(step: Callable[[], Any], seed: int = 1) -> dict[str, int]:
    """How many functions a step calls, of Python and of C, and how many random bits it asks for."""
    calls = {"call": 0, "c_call": 0}

    def count(_frame: Any, event: str, _argument: Any) -> None:
        if event in calls:
            calls[event] += 1

    with recorded(seed) as stream:
        before = sys.getprofile()
        sys.setprofile(count)
        try:
            step()
        finally:
            sys.setprofile(before)
    return {**calls, "bits": stream.asked}


# -- a step that does depend on data ---------------------------------------------------------------


@dataclass(frozen=True)
class CoinsInTurn:
    """Permute and flip as it is told: the same law as `Choice`, in a time that tells of the scores."""

    law: Any

    def draw(self, scores: Sequence[Fraction]) -> int:
        best, left = max(scores), list(range(len(scores)))
        while True:
            candidate = left.pop(places.secrets.randbits(64) % len(left))
            gamma = (best - scores[candidate]) * self.law.epsilon / self.law.range
            if places.secrets.randbits(64) < 2**64 * np.exp(-float(gamma)):
                return candidate


def control() -> dict[str, Callable[[], int]]:
    """A choice among scores that are all alike, and among scores of which one is far ahead."""
    law = dp.noise.Choice(Fraction(1), 60, Fraction(1))
    broken = CoinsInTurn(law)
    alike, apart = [Fraction(0)] * 60, [Fraction(-1000 * (i > 0)) for i in range(60)]
    return {"centre": lambda: broken.draw(alike), "bound": lambda: broken.draw(apart)}


# -- with a clock ---------------------------------------------------------------------------------


def timed(ready: dict[str, Callable[[], Any]], draws: int) -> dict[str, np.ndarray]:
    """Nanoseconds of `draws` runs of each step, in random order."""
    order = np.repeat(np.array(list(ready)), draws)
    np.random.default_rng(2).shuffle(order)
    found: dict[str, list[int]] = {name: [] for name in ready}
    for step in ready.values():
        step()
    gc.collect()
    gc.disable()
    try:
        for name in order.tolist():
            began = time.perf_counter_ns()
            ready[name]()
            found[name].append(time.perf_counter_ns() - began)
    finally:
        gc.enable()
    return {name: np.array(times, dtype=float) for name, times in found.items()}


def compared(ready: dict[str, Callable[[], Any]], draws: int) -> dict[str, float]:
    """Median time at the bound over that at the centre, with a 99 % interval, and the rank test's p-value."""
    times = timed(ready, draws)
    rng = np.random.default_rng(3)
    medians = {name: np.median(rng.choice(t, (500, t.size)), axis=1) for name, t in times.items()}
    low, high = np.quantile(medians["bound"] / medians["centre"], [0.005, 0.995])
    return {
        "microseconds": round(float(np.median(times["centre"])) / 1000, 2),
        "ratio": round(float(np.median(times["bound"]) / np.median(times["centre"])), 4),
        "low": round(float(low), 4),
        "high": round(float(high), 4),
        "rank_test": float(mannwhitneyu(times["centre"], times["bound"]).pvalue),
    }


def peak(step: Callable[[], Any], runs: int = 7) -> int:
    """Bytes at the peak of traced memory above what was there before, the median of some runs."""
    found = []
    tracemalloc.start()
    for seed in range(runs):
        with recorded(seed):
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            step()
            found.append(tracemalloc.get_traced_memory()[1] - before)
    tracemalloc.stop()
    return int(np.median(found))


def measure(draws: int) -> dict[str, Any]:
    """For each law: times and memory at both extremes, and whether the counts of work are equal."""
    found: dict[str, Any] = {}
    for law, plan in plans().items():
        ready = steps(plan)
        counts = {name: work(step) for name, step in ready.items()}
        peaks = {name: peak(step) for name, step in ready.items()}
        found[law] = {
            **compared(ready, draws),
            "calls": counts["centre"]["call"] + counts["centre"]["c_call"],
            "bits": counts["centre"]["bits"],
            "equal_work": counts["centre"] == counts["bound"],
            "peak_bytes": peaks["centre"],
            "memory_ratio": round(peaks["bound"] / peaks["centre"], 4),
        }
    broken = {name: work(step) for name, step in control().items()}
    found["control"] = {**compared(control(), draws), "equal_work": broken["centre"] == broken["bound"]}
    return found
