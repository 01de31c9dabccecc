"""Records of an input in a public box and a response among public levels, as a tally of distinct records.

What is learnt of them is in :mod:`dpfda.problems.risk` (a minimiser) and :mod:`dpfda.problems.label_moments`.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from dpfda.core import codec
from dpfda.core.doubles import doubles
from dpfda.core.errors import PlanMismatch, RecordError
from dpfda.problems.contracts import Problem
from dpfda.problems.defaults import DefaultProblem, check_count, check_key
from dpfda.problems.summary import Summary
from dpfda.problems.tally import Tally, counted, is_canonical
from dpfda.spaces.inputs import FeatureMap


class TallyProblem(DefaultProblem):
    """Inputs are snapped to cells and responses to levels, so a tally of distinct records says everything.

    `levels` are the values a response can have. Of a class against the rest they are -1 and 1, and records bring
    the number of their class; else they are evenly spaced about `middle`.
    """

    kind: ClassVar[type[Summary]] = Tally
    if TYPE_CHECKING:  # fields of those who inherit
        features: FeatureMap
        n: int
        levels: tuple[float, ...]
        middle: float | None
        neighbors: str
        invalid: str

    @property
    def width(self) -> int:
        return self.features.box.dimension + 1

    @cached_property
    def key(self) -> str:
        box = self.features.box
        levels = len(self.levels) if self.middle is None else [self.middle, *self.levels]
        return codec.digest(["risk", codec.to_plain(box), box.cells, levels, self.invalid])

    # -- one record -----------------------------------------------------------------------

    def total(self, batch: np.ndarray) -> np.ndarray:
        """How often each cell and level occurs. An unusable record is an error, or counts and pulls nowhere."""
        batch = doubles(batch)
        places, bad = self.features.box.snapped(batch[:, :-1])
        level = self._levels_of(batch[:, -1])
        bad |= np.isnan(level)
        if bad.any() and self.invalid == "raise":
            what = "label that names no class" if self.middle is None else "missing response"
            raise RecordError(
                f"A record has a missing input or a {what}",
                np.flatnonzero(bad).tolist(),
                "Repair or drop it, or pass invalid='center' to let it count without a say.",
            )
        kept = np.flatnonzero(~bad)
        codes = level[kept].astype(np.int64)
        places = places[kept]
        if self.features.box.dimension > 3:
            return counted(np.column_stack([places, codes, np.ones(kept.size, dtype=np.int64)]))
        flat = codes
        scale = len(self.levels)
        for a in reversed(range(places.shape[1])):
            flat = flat + places[:, a] * scale
            scale *= self.features.box.cells
        found, counts = np.unique(flat, return_counts=True)
        return np.column_stack([found, counts]).astype(np.int64)

    def _levels_of(self, responses: np.ndarray) -> np.ndarray:
        """The place of each response among the levels; missing where it has none."""
        last = len(self.levels) - 1
        if self.middle is None:
            known = (responses >= 0) & (responses <= last) & (responses == np.floor(responses))
            return np.where(known, responses, np.nan)
        step = self.levels[1] - self.levels[0]
        with np.errstate(over="ignore", invalid="ignore"):
            return np.clip(np.rint((responses - self.middle - self.levels[0]) / step), 0, last)

    # -- all records ----------------------------------------------------------------------

    def check(self, summary: Summary) -> None:
        check_key(self, summary, "domain, classes or options")
        rows, columns = summary.totals, (2 if self.features.box.dimension <= 3 else self.width + 1)
        whole = rows.ndim == 2 and rows.shape[1] == columns and rows.dtype == np.int64 and summary.count >= 0
        if not whole or (rows[:, :-1] < 0).any() or not is_canonical(rows) or int(rows[:, -1].sum()) > summary.count:
            raise PlanMismatch("This summary holds counts that no records can have; it is damaged.")
        places, levels = self.decoded(rows)
        if (places >= self.features.box.cells).any() or (levels >= len(self.levels)).any():
            raise PlanMismatch("This summary holds records outside the plan's cells; it is damaged.")
        check_count(cast(Problem, self), summary)

    def decoded(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Cells and levels of the distinct records."""
        dimension, cells = self.features.box.dimension, self.features.box.cells
        if dimension > 3:
            return rows[:, :-2], rows[:, -2]
        flat, levels = np.divmod(rows[:, 0], len(self.levels))
        places = np.empty((len(rows), dimension), dtype=np.int64)
        for a in reversed(range(dimension)):
            flat, places[:, a] = np.divmod(flat, cells) if a else (flat, flat)
        return places, levels
