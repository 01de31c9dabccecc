"""Records on their way from a reader to a total: a batch of curves, whose they are, and which group they belong to.

Three steps, each looking at one curve or one unit alone: observations of a long table become curves, curves are
brought to the grid, and curves of a unit become one contribution. In a stream, labels must come in order, so that
no curve and no unit can come back after it was counted: a unit that counted twice would not be protected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpfda.core.doubles import doubles
from dpfda.core.errors import ParameterError, RecordError
from dpfda.core.origins import Stretch, as_number
from dpfda.spaces.rules import Rules


@dataclass(frozen=True, eq=False, repr=False)
class Block:
    """Some curves, as rows on the grid or (`times` and `starts` given) one after another at their own times.

    `units` and `order` are texts, `groups` numbers of groups (NaN: none); `rows` are row numbers for messages,
    and `files` the names of the files that they count in, where these are several.
    """

    values: np.ndarray
    rows: np.ndarray
    times: np.ndarray | None = None
    starts: np.ndarray | None = None
    units: np.ndarray | None = None
    order: np.ndarray | None = None
    groups: np.ndarray | None = None
    file: str = ""
    files: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def keys(self) -> tuple[np.ndarray, ...]:
        """Labels of what must stay together, the outermost first."""
        return () if self.units is None else (self.units,)

    def take(self, index: np.ndarray) -> Block:
        """Some of them, in this order; rows that lie side by side are not copied."""
        place = _span(index)
        chosen: dict[str, Any] = {n: None if (a := getattr(self, n)) is None else a[place] for n in _ASIDE}
        if self.starts is None:
            return replace(self, values=self.values[place], **chosen)
        assert self.times is not None
        sizes = np.diff(self.starts)[index]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
        places = np.repeat(self.starts[:-1][index], sizes) + within
        return replace(self, values=self.values[places], times=self.times[places], starts=starts, **chosen)


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """Observations of a long table: whose curve (`ids`), when, what; `days` where each day is a curve of its own."""

    ids: np.ndarray
    times: np.ndarray
    values: np.ndarray
    rows: np.ndarray
    days: np.ndarray | None = None
    units: np.ndarray | None = None
    order: np.ndarray | None = None
    groups: np.ndarray | None = None
    file: str = ""
    files: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def keys(self) -> tuple[np.ndarray, ...]:
        return (self.ids,) if self.units is None or self.units is self.ids else (self.units, self.ids)

    def take(self, index: np.ndarray) -> Rows:
        names, place = ("ids", "times", "values", "days", *_ASIDE), _span(index)
        chosen: dict[str, Any] = {n: None if (a := getattr(self, n)) is None else a[place] for n in names}
        if self.units is self.ids:
            chosen["units"] = chosen["ids"]
        return replace(self, **chosen)


_ASIDE = ("rows", "units", "order", "groups", "files")
Raw = Block | Rows


def _span(index: np.ndarray) -> np.ndarray | slice:
    """The same places, as a slice where they lie side by side."""
    first, size = int(index[0]) if index.size else 0, index.size
    if size and index[-1] - first == size - 1 and bool((index[1:] > index[:-1]).all()):
        return slice(first, first + size)
    return index


def together(raws: list[Any]) -> Any:
    """Several blocks (or several runs of rows) as one."""
    first = raws[0]
    if len(raws) == 1:
        return first
    if len({raw.file for raw in raws}) > 1 or any(raw.files is not None for raw in raws):
        raws = [replace(raw, files=_files(raw)) for raw in raws]
        first = raws[0]
    joined: dict[str, Any] = {}
    names = ("ids", "times", "values", "days", *_ASIDE) if isinstance(first, Rows) else ("times", "values", *_ASIDE)
    for name in names:
        parts = [getattr(raw, name) for raw in raws]
        joined[name] = None if parts[0] is None else np.concatenate(parts)
    if isinstance(first, Rows):
        if first.units is first.ids:
            joined["units"] = joined["ids"]
        return replace(first, **joined, file=raws[-1].file)
    if first.starts is not None:
        ends = np.cumsum([raw.starts[-1] for raw in raws])
        shifted = [raw.starts[1:] + before for raw, before in zip(raws, [0, *ends[:-1]], strict=True)]
        joined["starts"] = np.concatenate([[0], *shifted])
    return replace(first, **joined, file=raws[-1].file)


def _files(raw: Raw) -> np.ndarray:
    return np.full(len(raw), raw.file, dtype=object) if raw.files is None else raw.files


def in_order(raw: Any) -> Any:
    """The same with equal keys side by side; what has no keys stays as it is."""
    if not raw.keys:
        return raw
    return raw.take(np.lexsort([_codes(key) for key in raw.keys][::-1]))


def _codes(labels: np.ndarray) -> np.ndarray:
    """Equal labels by equal numbers. (Arrays of fixed-width text would drop what ends a label.)"""
    known = {label: i for i, label in enumerate(sorted(set(labels.tolist())))}
    return np.array([known[label] for label in labels.tolist()], dtype=np.int64)


def usable(raws: Iterable[Raw], between: Stretch | None, lenient: bool) -> Iterator[Raw]:
    """Rows whose owner and group are known and whose labels lie in the declared stretch.

    In lenient reading other rows are left out, each by what it says itself (derivations: units). Else they are an
    error: labels outside the stretch here, missing ones where they are needed.
    """
    for raw in raws:
        if not (lenient or (between is not None and raw.keys)):
            yield raw
            continue
        kept = np.ones(len(raw), dtype=bool)
        if between is not None and raw.keys:
            inside = {label: label == "" or between.holds(label) for label in set(raw.keys[0].tolist())}
            kept = np.array([inside[label] for label in raw.keys[0].tolist()], dtype=bool)
            if not (kept.all() or lenient):
                error = RecordError("A label lies outside the declared stretch", np.flatnonzero(~kept).tolist(),
                                    "Leave the row out, or widen between=.")  # fmt: skip
                raise located(error, raw)
        if lenient:
            for labels in raw.keys:
                kept &= labels != ""
            if raw.groups is not None:
                kept &= ~np.isnan(raw.groups)
        yield raw if kept.all() else raw.take(np.flatnonzero(kept))


class Unsorted(RecordError):
    """Labels do not come in order where they must."""


class Order:
    """Whether labels come in order (rising or falling, as texts or as numbers), so that none can come back.

    `gathered`: equal ones are side by side already. `noted`: the stretch in which labels are found is kept.
    """

    def __init__(self, what: str, gathered: bool = False, noted: bool = False):
        self.what, self.gathered, self.noted = what, gathered, noted
        self.found: Stretch | None = None
        self.last: str | None = None
        self.orders = [(number, sign) for number in (False, True) for sign in (1, -1)]

    def follow(self, labels: np.ndarray, raw: object) -> None:
        """Take note of the next labels, each different from the one before."""
        found = labels.tolist()
        if self.noted and (stretch := Stretch.over(found)) is not None:
            self.found = stretch if self.found is None else self.found.joined(stretch)
        if self.gathered:
            return
        for label in found:
            if label != self.last:
                if self.last is not None:
                    self.orders = [order for order in self.orders if _rises(self.last, label, *order)]
                    if not self.orders:
                        raise Unsorted(f"The {self.what}s are not in order{_of(raw)}", (), f"Sort it by {self.what}.")
                self.last = label


def _of(raw: Any) -> str:
    return f" in {raw.file!r}" if raw.file else ""


def _rises(first: str, second: str, number: bool, sign: int) -> bool:
    if not number:
        return first < second if sign > 0 else first > second
    a, b = as_number(first), as_number(second)
    return (b - a) * sign > 0  # never for what is no number


def runs(*keys: np.ndarray) -> np.ndarray:
    """Where each run of equal keys starts."""
    new = np.zeros(keys[0].size, dtype=bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(new)


def curves(raws: Iterable[Raw], order: Order, lenient: bool) -> Iterator[Block]:
    """Whole curves: rows of a long table are gathered; blocks pass."""
    waiting: list[Rows] = []
    unit = None
    for raw in raws:
        if isinstance(raw, Block):
            yield raw
            continue
        if not len(raw):
            continue
        check_labels(raw.ids, raw, order.what)
        starts = runs(*raw.keys)
        units = raw.keys[0] if len(raw.keys) > 1 else None
        if units is None:
            order.follow(raw.ids[starts], raw)
        elif not order.gathered:
            for start in starts.tolist():
                if units[start] != unit:  # ids may begin again in each unit
                    unit, order = units[start], Order(order.what)
                order.follow(raw.ids[start : start + 1], raw)
        if waiting and any(key[0] != last[-1] for key, last in zip(raw.keys, waiting[-1].keys, strict=True)):
            yield _curves(together(waiting), lenient)
            waiting = []
        if starts.size > 1:
            yield _curves(together([*waiting, raw.take(np.arange(starts[-1]))]), lenient)
            waiting = []
        waiting.append(raw.take(np.arange(starts[-1], len(raw))))
    if waiting:
        yield _curves(together(waiting), lenient)


def _curves(rows: Rows, lenient: bool) -> Block:
    starts = runs(*rows.keys)
    order = rows.order
    if rows.days is not None:
        run = np.zeros(len(rows), dtype=np.int64)
        run[starts[1:]] = 1
        run = np.cumsum(run)
        if lenient:  # a row without a stamp is on no day; where no row has one, the curve is unusable
            known = ~np.isnan(rows.times)
            kept = np.flatnonzero(known | ~np.logical_or.reduceat(known, starts)[run])
            rows, run = rows.take(kept), run[kept]
        days: Any = rows.days
        place = np.lexsort((days, run))
        rows, days = rows.take(place), days[place]
        starts = np.flatnonzero(np.append(True, (np.diff(run) != 0) | (np.diff(days) != 0)))
        order = np.array([str(d) for d in days.tolist()], object) if rows.order is None else rows.order
    elif order is None:
        order = rows.ids
    pick = lambda column: None if column is None else column[starts]  # noqa: E731
    return Block(
        rows.values, rows.rows[starts], rows.times, np.append(starts, len(rows)),
        pick(rows.units), pick(order), group_each(rows, starts, lenient), rows.file, pick(rows.files),
    )  # fmt: skip


def check_labels(labels: np.ndarray, raw: object, what: str) -> None:
    if (lost := np.flatnonzero(labels == "")).size:
        error = RecordError(f"A {what} is missing", lost.tolist(), "Say whose each record is; it decides what counts.")
        raise located(error, raw)


def group_each(raw: Any, starts: np.ndarray, lenient: bool) -> np.ndarray | None:
    """The group of everything between two starts: of several groups it is an error, or of none."""
    if raw.groups is None:
        return None
    groups = raw.groups[starts]
    lowest, highest = np.minimum.reduceat(raw.groups, starts), np.maximum.reduceat(raw.groups, starts)
    several = lowest != highest  # also where a label is missing among others, or all are
    if several.any() and not lenient:
        missing = np.isnan(groups) & np.isnan(np.fmin.reduceat(raw.groups, starts))
        if (several & ~missing).any():
            rows = starts[several & ~missing].tolist()
            error = RecordError(
                "A curve or a unit belongs to more than one group", rows, "Each must have one group throughout."
            )
            raise located(error, raw)
    return np.where(several, np.nan, groups)


def on_grid(blocks: Iterable[Block], alignment: Rules | None) -> Iterator[Block]:
    """Curves as rows on the plan's grid."""
    for block in blocks:
        if block.starts is None:
            if alignment is not None and block.values.shape[1] != alignment.width:
                raise wrong_width(block.values.shape[1], alignment.width, _of(block))
            values = block.values
            if alignment is not None:
                values = told(alignment.filled, block, doubles(values))
        elif alignment is None or alignment.align is None:
            raise ParameterError(
                "curves at their own times need a rule that brings them to the grid",
                "none",
                "Plan with align=dp.spaces.Interpolate() or align=dp.spaces.Smooth().",
            )
        else:
            values = told(alignment.on_grid, block, block)
        yield replace(block, values=values, times=None, starts=None)


def wrong_width(found: int, expected: int | None, where: str = "") -> RecordError:
    """The error for records of another length than the plan's."""
    return RecordError(
        f"A record has {found} values and the plan expects {expected}{where}",
        cure="Choose the value columns with columns=..., or plan with the grid (or domain) that the data has.",
    )


def told(step: Any, block: Block, *given: Any) -> np.ndarray:
    """A step whose errors name rows of the source."""
    try:
        return step(*given)
    except RecordError as error:
        raise located(error, block) from None


def located(error: RecordError, raw: Any) -> RecordError:
    """An error about some of a block's rows, by their numbers in the source and the name of the (first) file."""
    where = np.array(error.rows, dtype=int)
    if raw.files is not None and where.size:
        where = where[raw.files[where] == raw.files[where[0]]]
        raw = replace(raw, file=raw.files[where[0]])
    return RecordError(error.problem + _of(raw), raw.rows[where].tolist(), error.cure, error.column)
