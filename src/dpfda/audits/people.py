"""What a record may be: the public ranges in which it matters, ordinary records there, and hostile ones anywhere.

An attacker chooses records knowing the whole plan. What is public about a record lies with the plan's problem; this
room only reads it, so that one search serves curves, points, and inputs with a response.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from dpfda.bounds.function_records import Functions
from dpfda.core import codec
from dpfda.problems.contracts import Problem
from dpfda.problems.design import Covariates, CurveResponse, Features, NumberResponse, Shortened
from dpfda.problems.labelled import TallyProblem
from dpfda.problems.mean import MeanProblem
from dpfda.problems.moments import PairProblem
from dpfda.problems.survival import SurvivalProblem
from dpfda.problems.value_cells import ValueCells

#: Functions of a plan's basis that directions are made of.
MOST_DIRECTIONS = 64


@dataclass(frozen=True)
class Space:
    """Ranges of the numbers of a record, which of them are whole, and curves (rows) that the plan can see well."""

    low: np.ndarray
    high: np.ndarray
    whole: np.ndarray
    shapes: np.ndarray

    @property
    def middle(self) -> np.ndarray:
        return self.settled((self.low + self.high) / 2)

    @property
    def half(self) -> np.ndarray:
        return (self.high - self.low) / 2

    def settled(self, records: np.ndarray) -> np.ndarray:
        """Records with whole numbers where only those mean anything."""
        return np.where(self.whole, np.clip(np.rint(records), self.low, self.high), records)

    def inside(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Records anywhere in the ranges."""
        return self.settled(self.low + rng.random((count, self.low.size)) * (self.high - self.low))

    def corners(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Records at the ends of the ranges."""
        return np.where(rng.random((count, self.low.size)) < 0.5, self.low, self.high)

    def scattered(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Records at all distances from the middle, from a millionth of the range to a thousand times it."""
        far = 10.0 ** rng.uniform(-6, 3, (count, 1))
        return self.settled(self.middle + far * rng.normal(size=(count, self.low.size)) * self.half)

    def opposite(self, records: np.ndarray) -> np.ndarray:
        """The same distance from the middle, on the other side."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.settled(self.low + self.high - records)

    def shaped(self, weights: np.ndarray, far: float = 1.0) -> np.ndarray:
        """The middle plus a combination of the shapes."""
        with np.errstate(over="ignore"):
            return self.settled((self.low + self.high) / 2 + far * (weights @ self.shapes))


def space_of(problem: Problem) -> Space:
    """The public ranges of a problem's records."""
    inner = getattr(problem, "inner", None) or getattr(problem, "code", None)
    if isinstance(inner, MeanProblem):
        return space_of(inner)
    if isinstance(inner, ValueCells):
        return _between(inner.cells.low, inner.cells.high, inner.grid.size)
    if isinstance(problem, MeanProblem):
        pooling = getattr(problem.alignment, "pooling", None)
        return _inputs(pooling) if isinstance(pooling, Functions) else _curves(problem)
    if isinstance(problem, TallyProblem):
        ends = [0.0, len(problem.levels) - 1.0]
        if problem.middle is not None:
            ends = [problem.middle + problem.levels[0], problem.middle + problem.levels[-1]]
        return _box([*problem.features.box.domain, tuple(ends)], last_whole=problem.middle is None)
    if isinstance(problem, PairProblem):
        return _pairs(problem)
    if isinstance(problem, SurvivalProblem):
        return _box([(0.0, problem.horizon), (0.0, 1.0)], last_whole=True)
    return _box([axis.span for axis in problem.grid.axes])


def _box(ranges: list[Any], last_whole: bool = False) -> Space:
    low, high = np.array(ranges, dtype=float).T
    whole = np.zeros(low.size, dtype=bool)
    whole[-1] = last_whole
    return Space(low, high, whole, np.diag((high - low) / 2))


def _curves(problem: MeanProblem) -> Space:
    """About the public centre, as far as a flat curve on the surface of the bound lies from it."""
    outer, weights = problem.bound.outer, problem.grid.weights
    away = np.full(problem.width, outer / np.sqrt(weights.sum()))
    basis = problem.basis.first(min(problem.basis.size, MOST_DIRECTIONS))
    lengths = np.asarray(problem.bound.lengths(problem.basis.size))[: basis.size]
    shapes = basis.synthesize(np.diag(lengths))
    return Space(problem.center - away, problem.center + away, np.zeros(problem.width, dtype=bool), shapes)


def _inputs(pooling: Functions) -> Space:
    """Curves that a function is applied to: about the numbers that it is made of, as far as they lie apart."""
    numbers = _numbers(codec.to_plain(pooling.function)) or [0.0]
    away = (max(numbers) - min(numbers)) or 1.0
    return _between(min(numbers) - away, max(numbers) + away, pooling.grid.size)


def _between(lowest: float, highest: float, size: int) -> Space:
    """Curves of so many values in one range, with cosines as shapes."""
    low, high = np.full(size, lowest), np.full(size, highest)
    turns = np.outer(np.arange(min(size, MOST_DIRECTIONS)), (np.arange(size) + 0.5) / size)
    return Space(low, high, np.zeros(size, dtype=bool), (high - low) / 2 * np.cos(np.pi * turns))


def _numbers(plain: object) -> list[float]:
    """All numbers in plain data."""
    if isinstance(plain, dict | list):
        return [number for part in (plain.values() if isinstance(plain, dict) else plain) for number in _numbers(part)]
    return [float(plain)] if isinstance(plain, int | float) and not isinstance(plain, bool) else []


def _pairs(problem: PairProblem) -> Space:
    """Inputs and a response, each in its own ranges; shapes of a response go with the inputs at their far end."""
    design, response = problem.design, problem.response
    response = response.inner if isinstance(response, Shortened) else response
    if isinstance(design, Covariates):
        norm = design.norm or 0.0  # one of the two is there
        ranges = design.ranges or ((-norm, norm),) * design.count
    else:
        assert isinstance(design, Features)
        ranges = design.map.box.domain
    inputs = _box(list(ranges))
    answers = (
        _curves(response.code) if isinstance(response, CurveResponse) else _box([cast(NumberResponse, response).range])
    )
    shapes = np.hstack([np.tile(inputs.half, (len(answers.shapes), 1)), answers.shapes])
    return Space(
        np.append(inputs.low, answers.low), np.append(inputs.high, answers.high),
        np.append(inputs.whole, answers.whole), shapes,
    )  # fmt: skip


def hostile(size: int) -> list[tuple[str, np.ndarray]]:
    """Records that break careless code, each with its name."""
    t = np.linspace(0, 1, size)
    spike, patchy, endless = np.zeros(size), np.sin(t), np.cos(t)
    spike[size // 3], patchy[size // 2], endless[-1] = 1e300, np.nan, np.inf
    return [
        ("zero", np.zeros(size)),
        ("minus zero", np.full(size, -0.0)),
        ("huge", np.full(size, 1e308)),
        ("minus huge", np.full(size, -1e308)),
        ("denormal", np.full(size, 5e-324)),
        ("a spike", spike),
        ("a spike down", -spike),
        ("huge and alternating", np.where(np.arange(size) % 2, 1e308, -1e308)),
        ("constant", np.full(size, 7.0)),
        ("tiny", 1e-160 * np.sin(9 * t)),
        ("partly missing", patchy),
        ("partly infinite", endless),
        ("missing", np.full(size, np.nan)),
        ("infinite", np.full(size, -np.inf)),
    ]
