"""The plan of percentile curves: at each time, the values below which given shares of the records lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np

from dpfda.bounds.units import Range
from dpfda.core import codec
from dpfda.core.checks import (
    INVALID,
    NEIGHBORS,
    Epsilon,
    Invalid,
    Neighbors,
    as_epsilon,
    check_choice,
    check_integer,
    check_value,
    number_of_records,
)
from dpfda.core.codec import BESIDE, Plain
from dpfda.core.errors import ParameterError, shown
from dpfda.core.nouns import Nouns, a, check_record
from dpfda.methods import Method
from dpfda.plans.accuracy import Accuracy
from dpfda.plans.base import Plan
from dpfda.plans.checks import CHOSEN
from dpfda.plans.curves import as_grid
from dpfda.plans.guessed_kinds import PercentileGuesses
from dpfda.plans.percentile_accuracy import PercentileAccuracy, PercentileWords
from dpfda.plans.percentile_schedule import Ranks
from dpfda.problems.count import count_share
from dpfda.problems.rank_design import RankDesign, design_for
from dpfda.problems.rank_moments import RankMoments, radius
from dpfda.problems.value_cells import Cells, ValueCells
from dpfda.results.percentiles import FITTED, PercentileRelease, percent_words
from dpfda.results.wording import Wording
from dpfda.spaces.alignment import Alignment
from dpfda.spaces.basis import CosineBasis
from dpfda.spaces.grid import Grid
from dpfda.spaces.own_times import Align, as_align
from dpfda.spaces.pooling import Shares
from dpfda.spaces.stationary import Matern
from dpfda.spaces.units import Unit, as_unit

#: The percentiles that are shown by default: a glucose profile's.
USUAL = (0.05, 0.25, 0.5, 0.75, 0.95)
#: Cells of the range, without and with a unit (whose record is a table of all of them), and those of all times.
CELLS, CELLS_OF_UNITS, FEWEST, MOST_CELLS = 1024, 256, 64, 2**22
#: Points of a grid, at most: beyond them the fit takes long, and smooth curves say no more.
MOST_POINTS = 2048
#: Levels that can be asked for, at most.
MOST_LEVELS = 99
#: The length scale of the kernel by which curves at their own times are smoothed, as a share of the domain.
KERNEL_LENGTH = 0.3


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PercentilePlan(Plan[PercentileRelease]):
    """The plan of private percentile curves.

    Parameters
    ----------
    n : int
        How many records there are: public where neighbours replace a record, a public guess where they add or remove
        one.
    epsilon : float, str or Fraction
        The privacy budget; 0.1 means one tenth, as "1/10" does.
    range : Range or (low, high)
        The public range of values; what lies beyond counts as its ends.
    grid : Grid or int
        Where curves have their values; a number of points lies on [0, 1].
    levels : sequence of float, optional
        The percentiles to show, as shares strictly between 0 and 1, increasing. Whatever they are, all percentiles are
        released.
    cells : int, optional
        Into how many equal cells the range is divided, a power of two. Default: 1,024, or 256 with a unit.
    neighbors : {"replace", "add-remove"}
        What neighbours differ by: one record exchanged for another, or one record more or less.
    invalid : {"raise", "center"}
        What an unusable record does: it stops the run, or it counts as mid-range.
    fill : int, optional
        The longest gap, in points, that is interpolated within a curve.
    unit : Unit or str, optional
        Whose a record is, where a person or a household has several: a column, or a rule. A unit's curves then share
        one weight.
    align : Align, "linear" or "smooth", optional
        Brings curves at their own times, or with gaps, to the grid.
    value : str, optional
        What values are, with their unit in brackets, such as "glucose (mg/dL)": a name for pictures, kept in files and
        outside the digest.
    record : str, optional
        What one record is called, such as "home", or "person/people" for a plural of its own: a word for statements,
        kept in files and outside the digest.

    Raises
    ------
    dpfda.errors.ParameterError
        Where a fact is missing or wrong, or the plan could not be carried out.

    Examples
    --------
    >>> import dpfda as dp
    >>> plan = dp.PercentilePlan(n=2000, epsilon=1.0, range=(40, 400), grid=dp.Grid.midpoints(0, 24, 48))
    >>> plan.levels, plan.verdict.word
    ((0.05, 0.25, 0.5, 0.75, 0.95), 'clear')
    >>> dp.PercentilePlan.from_json(plan.to_json()) == plan
    True
    """

    query: ClassVar[str] = "percentiles"
    _accuracy_kind: ClassVar[type[Accuracy]] = PercentileAccuracy
    _guesses: ClassVar[PercentileGuesses] = PercentileGuesses()
    if TYPE_CHECKING:  # what may be passed is more than what is kept

        def __init__(
            self,
            *,
            n: int,
            epsilon: Epsilon,
            range: Range | tuple[float, float],
            grid: Grid | int,
            levels: Sequence[float] = USUAL,
            cells: int | None = None,
            neighbors: Neighbors = "replace",
            invalid: Invalid = "raise",
            fill: int | None = None,
            unit: Unit | str | None = None,
            align: Align | Literal["linear", "smooth"] | None = None,
            value: str | None = None,
            record: str | None = None,
        ) -> None: ...

    n: int
    epsilon: Fraction
    range: Range
    grid: Grid
    levels: tuple[float, ...] = USUAL
    cells: int = CHOSEN
    neighbors: str = "replace"
    invalid: str = "raise"
    fill: int | None = None
    unit: Unit | None = None
    align: Align | None = None
    value: str | None = field(default=None, compare=False, metadata=BESIDE)
    record: str | None = field(default=None, compare=False, metadata=BESIDE)

    def __post_init__(self) -> None:
        put = partial(object.__setattr__, self)
        check_value(self.value)
        check_record(self.record)
        put("epsilon", as_epsilon(self.epsilon))
        put("n", number_of_records(self.n, "A percentile of one curve is that curve; privacy needs company."))
        put("range", as_values(self.range))
        put("grid", as_line(self.grid))
        put("levels", as_levels(self.levels))
        check_choice("neighbors", self.neighbors, NEIGHBORS)
        check_choice("invalid", self.invalid, INVALID)
        if self.fill is not None:
            why = "It is the longest gap, in points, that may be interpolated."
            put("fill", check_integer("fill", self.fill, 1, why))
        put("unit", as_unit(self.unit))
        put("align", as_align(self.align))
        put("cells", self._usual_cells if self.cells is None else as_cell_count(self.cells, self.grid.size))
        self.schedule.rehearse()  # a plan that cannot be carried out is refused when it is made

    @property
    def _usual_cells(self) -> int:
        cells = CELLS if self.unit is None else CELLS_OF_UNITS
        while cells * self.grid.size > MOST_CELLS and cells > FEWEST:
            cells //= 2
        return cells

    # -- what is done ---------------------------------------------------------------------------

    @property
    def chosen(self) -> Method:
        """The stages: how files and statements name them."""
        return cast(Method, self.design)  # no method of `dp.methods`: what words and files need of one, it has

    @cached_property
    def design(self) -> RankDesign:
        """The stages: how many cosines of ranks, for which shares of the budget."""
        design = design_for(self.n * float(self.epsilon), self._time.size)
        if self.neighbors == "replace":
            return design
        last = len(design.shares) - 1
        reach, numbers = radius(design.weights(last)), sum(design.functions[last])
        noise = numbers * (numbers + 1) * (reach / (self.n * float(self.epsilon))) ** 2
        return design.with_count(count_share(self.epsilon, noise, reach**2, self.n))

    def take_choice(self, saved: Plain) -> None:
        """The stages that a file says: it was reviewed, or released, with these.

        Parameters
        ----------
        saved : dict
            The stages as the file holds them.
        """
        design = codec.from_plain(saved)
        if isinstance(design, RankDesign) and design != self.design:
            if (design.count > 0) != (self.neighbors == "add-remove") or design.most > self._time.size:
                raise ParameterError("stages must suit their plan", repr(design), "Plan again with the same facts.")
            self._ranks(design).rehearse()  # as when a plan is made: nothing may fail after a charge
            for computed in ("schedule", "problem", "accuracy"):
                self.__dict__.pop(computed, None)
            self.__dict__["design"] = design

    @cached_property
    def _time(self) -> CosineBasis:
        """Cosines of time, as many as the grid tells apart."""
        return CosineBasis.on(self.grid, np.ones(self.grid.size), None)

    @cached_property
    def _encoder(self) -> ValueCells:
        cells = Cells(self.range.low, self.range.high, self.cells, self.grid.size)
        return ValueCells(self.grid, cells, self.n, self.neighbors, self.invalid, self._alignment(cells))

    def _alignment(self, cells: Cells) -> Alignment | None:
        """How curves become records, where they are not records as they are."""
        if self.unit is None and self.align is None and self.fill is None:
            return None
        lenient, length = self.invalid == "center", float(f"{KERNEL_LENGTH * self.grid.length:.12g}")
        basis = Matern(length_scale=length).on(self.grid).basis(self.grid)
        middle, half = (self.range.low + self.range.high) / 2, (self.range.high - self.range.low) / 2
        pooling = Shares(lenient, self.unit, cells)
        return Alignment(
            self.grid, basis, np.full(self.grid.size, middle), half, lenient, self.fill, self.unit, self.align, pooling
        )

    @cached_property
    def schedule(self) -> Ranks:
        return self._ranks(self.design)

    def _ranks(self, design: RankDesign) -> Ranks:
        basis = cast(CosineBasis, self._time.first(design.most))
        return Ranks(self._encoder, basis, design, self.epsilon)

    @cached_property
    def problem(self) -> RankMoments:
        return cast(RankMoments, self.schedule.first.problem)

    @property
    def release_type(self) -> type[PercentileRelease]:
        return PercentileRelease

    def _release_of(self, drawn: Sequence[np.ndarray], made: Mapping[str, object]) -> PercentileRelease:
        """The percentile curves that these draws come to."""
        table = codec.frozen_array(self.schedule.published(drawn, self.levels).flat)
        facts: dict[str, Any] = self.schedule.extra_fields(drawn) | {**made}
        raw = codec.frozen_array(self.schedule.combine(drawn))
        return PercentileRelease(plan=self, coefficients=table, raw=raw, steps=(FITTED,), **facts)

    def _values_of(self, drawn: Sequence[np.ndarray]) -> np.ndarray:
        return self.schedule.quantiles(drawn, np.array(self.levels))  # bands take as long as the fit

    # -- words ------------------------------------------------------------------------------------

    @property
    def _rules(self) -> tuple[tuple[tuple[str, str], ...], str]:
        """Rows and sentences about what happens to each record before it is used, if anything does."""
        rows, text = [], ""
        if self.align is not None:
            rows.append(("align", self.align.description))
            text += f" A curve at its own times, or with gaps, is brought to the grid alone: {self.align.description}."
        if self.unit is not None:
            most = "all" if self.unit.most is None else f"at most {self.unit.most}"
            noun = Nouns.of("curve", self.record, self.unit.name).record
            shared = f"{most} curves of {a(noun)} share its one weight"
            rows.append(("unit", shared))
            text += f" {a(noun, opening=True)} contributes once: {shared}, whatever their number."
        if self.fill is not None:
            rows.append(("fill", f"own gaps of at most {self.fill} points, by linear interpolation"))
            text += f" Gaps of at most {self.fill} points are interpolated within the curve."
        return tuple(rows), text

    @property
    def wording(self) -> Wording:
        low, high = self.range.low, self.range.high
        rows, more = self._rules
        text = (
            f"The range of values is public, from {low:g} to {high:g}: what lies beyond counts as its ends. The "
            f"guarantee holds whatever the data is; only accuracy depends on the range being a good one.{more}"
        )
        values = () if self.value is None else (("values", self.value),)
        shown_levels = percent_words(self.levels)
        return Wording(
            noun="percentile curves",
            release=f"percentile curves ({shown_levels})",
            nouns=Nouns.of("curve", self.record, None if self.unit is None else self.unit.name),
            target="set of percentiles",
            assumption=text,
            passes=self.schedule.explanation(),
            unusable="counts as mid-range",
            rows=(
                ("range", f"{low:g} to {high:g}, {self.cells:,} cells"),
                *values,
                ("grid", repr(self.grid)),
                *rows,
            ),
            method=_stages_in_words(self.design),
            numbers=self.schedule.numbers_text,
            accuracy=PercentileWords(self, (high - low) * float(np.sqrt(self.grid.length)), "the range"),
            basis="cosines of ranks and of time",
        )


def _stages_in_words(design: RankDesign) -> str:
    """How ranks are released, for people who decide."""
    shares = [f"{float(share):.2g}" for share in design.shares]
    if len(shares) == 1:
        return "moments of ranks in one stage"
    return f"moments of ranks in {len(shares)} stages ({', '.join(shares[:-1])} and {shares[-1]} of epsilon)"


# -- public facts ---------------------------------------------------------------------------------


def as_values(given: object) -> Range:
    """A public range: a pair, or :class:`Range`."""
    cure = "Pass range=(40, 400) for values between 40 and 400, say: it is never read from the data."
    if given is None:
        raise ParameterError("percentiles need a public range of values", "none", cure)
    if isinstance(given, Range):
        return given
    try:
        low, high = cast(Any, given)
    except (TypeError, ValueError):
        raise ParameterError("a range of values is a pair of numbers", shown(given), cure) from None
    if isinstance(low, int | float | np.number) and isinstance(high, int | float | np.number) and high < low:
        raise ParameterError("a range runs from a number to a larger one", (low, high), f"Pass range=({high}, {low}).")
    return Range(low, high)


def as_line(grid: object) -> Grid:
    """A grid of curves on a line."""
    found = as_grid(grid)
    if not isinstance(found, Grid):
        what = found.description or "a grid of surfaces"
        raise ParameterError(
            "percentiles are for curves on a line", what, "Release one component, or one line of a surface, at a time."
        )
    if found.size > MOST_POINTS:
        cure = "Plan with a coarser grid, and curves averaged onto it."
        raise ParameterError(f"percentiles are for up to {MOST_POINTS:,} points", f"{found.size:,}", cure)
    return found


def as_levels(levels: object) -> tuple[float, ...]:
    """Shares strictly between 0 and 1, increasing; a single one is fine."""
    cure = "Pass levels=(0.05, 0.25, 0.5, 0.75, 0.95), say: 0.95 is the 95th percentile."
    given = [levels] if isinstance(levels, int | float | np.number) else levels
    try:
        found = [float(level) for level in cast(Any, given)]
    except (TypeError, ValueError):
        raise ParameterError("levels are shares between 0 and 1", shown(levels), cure) from None
    if isinstance(levels, str | bytes) or not 1 <= len(found) <= MOST_LEVELS:
        raise ParameterError(f"there are between 1 and {MOST_LEVELS} levels", shown(levels), cure)
    if not all(0 < level < 1 for level in found):
        hint = cure if not all(0 < level < 100 for level in found) else f"Pass {found[0] / 100:g} for {found[0]:g} %."
        raise ParameterError("levels lie strictly between 0 and 1", shown(levels), hint)
    if not all(low < high for low, high in pairwise(found)):
        raise ParameterError("levels increase, each given once", shown(levels), cure)
    if min(found[0], 1 - found[-1]) < 1e-6:
        raise ParameterError("levels are at least a millionth away from 0 and 1", shown(levels), cure)
    return tuple(round(level, 12) for level in found)


def as_cell_count(cells: object, points: int) -> int:
    """A power of two; all cells of all times fit into memory."""
    count = check_integer("cells", cells, FEWEST, "They tell values apart.")
    if count & (count - 1) or count * points > MOST_CELLS:
        most = min(4096, 2 ** int(np.log2(MOST_CELLS // points)))
        raise ParameterError(f"cells is a power of two, up to {most} here", count, "Leave it out.")
    return count
