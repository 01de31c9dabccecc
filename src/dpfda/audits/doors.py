"""What happens at the doors around the noise: parts that are put together, files, labels, numbers of records, refusals.

A sensitivity is about one record more, less or other. It protects nobody who is added up twice, and a run that stops
for one neighbour and goes on for the other tells them apart for sure: an event that only one of them can cause is a
loss without bound, unless the statement says that it is outside the guarantee.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpfda.audits.conduct import Check
from dpfda.audits.people import hostile, space_of
from dpfda.audits.search import Found
from dpfda.audits.targets import WHOLE, OnePlan, first_target
from dpfda.core.errors import ParameterError
from dpfda.plans import opendp as interop
from dpfda.problems.summary import Summary
from dpfda.reading.curves import Curves

#: Words that stand for a label that is not there.
WORDS = ("NA", "NULL", "NaN", "None", "n/a", "")
#: How many times the public guess of their number records are tried, and how many there are at the very most.
TIMES, MOST = (0.01, 1, 10, 100, 1000), (2**31, 2**38)


def door_checks(plan: OnePlan, found: Found, report_progress: Callable[[int], None]) -> list[Check]:
    """All of them, on the worst pair that was found."""
    doors = Doors(plan, found)
    checks = [doors.merging(), doors.files(), doors.counts(), doors.records(), doors.queries()]
    checks += [doors.labels()] if found.target.keyed else []
    report_progress(len(checks))
    return checks


class Doors:
    """One plan, one of whose people is attacked from outside the noise."""

    def __init__(self, plan: OnePlan, found: Found):
        width = found.pair.first.shape[1]
        if plan.n * width > WHOLE:  # the doors of a smaller plan are the same ones
            plan = replace(plan, n=max(2, WHOLE // width))
        self.plan, self.target = plan, first_target(plan)
        self.first, self.second = found.pair.first[:1], found.pair.second[:1]
        if not np.isfinite(self.first).all() or not np.isfinite(self.second).all():
            space = space_of(self.target.problem)
            self.first, self.second = space.low[None], space.high[None]
        self.other = space_of(self.target.problem).middle[None]

    # -- what two neighbours do -----------------------------------------------------------------

    def _outcome(self, summarize: Callable[..., Summary], *given: object, **reading: Any) -> np.ndarray | str:
        """The statistic of a data set, or the name of the refusal."""
        try:
            return np.asarray(self.plan.statistic(summarize(*given, **reading)))
        except Exception as error:  # whatever it is, only one neighbour may have caused it
            return type(error).__name__

    def _told(self, name: str, one: np.ndarray | str, two: np.ndarray | str, how: str, may_stop: bool) -> Check:
        """What can be told from two neighbours' outcomes."""
        refused = [outcome for outcome in (one, two) if isinstance(outcome, str)]
        if len(refused) == 2 or (refused and may_stop):
            return Check(name, True, f"{how} is refused")
        if isinstance(one, str) or isinstance(two, str):
            return Check(name, False, f"{how} is refused for one neighbour only ({refused[0]}): a loss without bound")
        loss = self.target.loss(one - two)
        return Check(name, loss <= self.target.epsilon, f"{how}: loss {loss:.9g} of {self.target.epsilon:.6g}")

    @property
    def _may_stop(self) -> bool:
        """Whether a refusal because of what a record holds is outside the guarantee, as the statement says."""
        return bool(self.target.problem.invalid == "raise")

    def _people(self, names: list[str]) -> dict[str, Any]:
        return {"units": names} if self.target.keyed else {}

    # -- parts ----------------------------------------------------------------------------------

    def merging(self) -> Check:
        """Somebody in two parts, and a part that is put together with itself."""
        name, plan, target = "Nobody is added up twice by merging", self.plan, self.target
        if not target.keyed:
            part = plan.summarize(self.first)
            again = _accepted(part.merge, part)
            return Check(name, not again, f"a part merged with itself is {'accepted' if again else 'refused'}")
        others = max(2, target.n - 2)
        half = others // 2

        def both(record: np.ndarray | None) -> Summary:
            parts = []
            for some in (range(half), range(half, others)):
                rows, names = np.repeat(self.other, len(some), axis=0), [f"person {i:06d}" for i in some]
                if record is not None:
                    rows, names = np.vstack([record, rows]), ["person", *names]
                parts.append(plan.summarize(rows, **self._people(names)))
            return parts[0].merge(parts[1])

        sides = (self.first, None if target.count_is_private else self.second)
        one, two = (self._outcome(both, side) for side in sides)
        outside = self._may_stop and not target.count_is_private
        return self._told(name, one, two, "somebody in two parts", outside)

    def files(self) -> Check:
        """One file, given twice under one name and under others."""
        name = "One file counts once"
        with tempfile.TemporaryDirectory() as folder:
            path, link, other = (Path(folder) / f"{which}.csv" for which in ("file", "link", "other"))
            read = self._written(path, np.repeat(self.other, 3, axis=0), ["a", "b", "c"])
            try:
                link.symlink_to(path)
                os.link(path, other)
            except OSError:  # a system without links
                link = other = path
            if not _accepted(self.plan.summarize, read(str(path))):
                return Check(name, False, "one file alone is not read")
            for twin in (path, link, other):
                if _accepted(self.plan.summarize, read([str(path), str(twin)])):
                    return Check(name, False, f"a list that names a file twice is read ({twin.name})")
                if _accepted(self._merged, read(str(path)), read(str(twin))):
                    return Check(name, False, f"summaries of one file merge ({twin.name})")
        return Check(name, True, "under one name, a link and a second name it is refused the second time")

    def _merged(self, one: Curves, other: Curves) -> Summary:
        return self.plan.summarize(one).merge(self.plan.summarize(other))

    def _written(self, path: Path, rows: np.ndarray, people: list[str]) -> Callable[[str | list[str]], Curves]:
        """Rows in a text file, with whose they are; and how that is read."""
        names = [f"c{i}" for i in range(rows.shape[1])]
        unit = self.target.unit
        lines = [",".join([*([unit] if unit else []), *names])]
        for person, row in zip(people, rows, strict=True):
            lines.append(",".join([*([person] if unit else []), *(repr(float(x)) for x in row)]))
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return partial(Curves, header=True, columns=names)

    # -- labels, numbers, records ---------------------------------------------------------------

    def labels(self) -> Check:
        """Somebody with one row that says whose it is and one that says so with a word for nothing."""
        name, plan, target = "A missing label is nobody", self.plan, self.target
        others = [f"person {i:06d}" for i in range(max(1, target.n - 2))]
        with tempfile.TemporaryDirectory() as folder:
            for word in WORDS:
                outcomes: list[np.ndarray | str] = []
                for record in (self.first, None if target.count_is_private else self.second):
                    rows, people = np.repeat(self.other, len(others), axis=0), others
                    if record is not None:
                        rows, people = np.vstack([record, rows, record]), [word, *others, "somebody"]
                    path = Path(folder) / f"{len(outcomes)}.csv"
                    read = self._written(path, rows, people)
                    outcomes.append(self._outcome(plan.summarize, read(str(path))))
                check = self._told(name, outcomes[0], outcomes[1], f"a row of {word!r}", self._may_stop)
                if not check.passed:
                    return check
        return Check(name, True, f"{len(WORDS)} words for nothing make no person of their own")

    def counts(self) -> Check:
        """Numbers of records far from the plan's: where that number is private, none may be refused."""
        name, target = "No number of records is refused", self.target
        if not target.count_is_private:
            return Check(name, True, "the number of records is public here")
        worst = 0.0
        for count in sorted({*(int(times * target.n) for times in TIMES), *MOST, 0}):
            for more in (count, count + 1):
                one, two = (self._outcome(self._many, number) for number in (more, more + 1))
                check = self._told(name, one, two, f"{more:,} records", False)
                if not check.passed or isinstance(one, str):
                    return Check(name, False, check.detail)
                worst = max(worst, target.loss(one - two))
        return Check(name, True, f"up to {max(MOST):,}; largest loss {worst:.9g} of {target.epsilon:.6g}")

    def _many(self, count: int) -> Summary:
        """So many records, none of whom is anybody else: doubled and added."""
        alone = self.target.read(self.first, ["somebody"])
        nobody = self.target.read(self.first[:0], [])
        found, several = nobody, alone
        while count:
            found = found.plus(several) if count & 1 else found
            several, count = several.plus(several), count >> 1
        return found

    def records(self) -> Check:
        """Whatever one record holds: it may stop the run only where the statement says so."""
        name, target = "No record stops a run", self.target
        if self._may_stop:
            return Check(name, True, "unusable records stop it, which the statement puts outside the guarantee")
        odd = [(what, record[None]) for what, record in hostile(self.first.shape[1])]
        for what, record in odd:
            if not _accepted(target.read, record, ["somebody"]):
                return Check(name, False, f"a record that is {what} stops it: a loss without bound")
        items = [np.zeros((3, self.first.shape[1])), *self.first]
        if not target.keyed and not _accepted(self.plan.summarize, iter(items)):
            return Check(name, False, "a table among the items of an iterator stops it: a loss without bound")
        people = [None, "", float("inf"), b"\xff"] if target.keyed else []
        for label in people:
            if not _accepted(target.read, self.first, [label]):
                return Check(name, False, f"a label {label!r} stops it: a loss without bound")
        return Check(name, True, f"{len(odd) + 1 + len(people)} hostile records and labels go through")

    def queries(self) -> Check:
        """As a query of OpenDP, which charges nothing for one that fails."""
        name = "A query of OpenDP does not fail for free"
        with interop.allowed():
            try:
                query = self.plan.to_opendp()
            except ParameterError:
                return Check(name, True, "this plan is not offered as one")
            odd: list[tuple[str, Any]] = list(hostile(self.first.shape[1]))
            rows = list(np.repeat(self.other, self.target.n - 1, axis=0))
            if self.target.keyed:  # a member of the data is all that one person has
                odd = [(what, record[None]) for what, record in odd] + [("a text", "x"), ("nothing", None)]
                rows = [row[None] for row in rows]
            for what, record in odd:
                data = [record, *rows]
                if not _accepted(query, data if self.target.keyed else np.array(data)):
                    return Check(name, False, f"it fails for a record that is {what}: a loss without bound")
        return Check(name, True, f"it answers {len(odd)} hostile records")


def _accepted(work: Callable[..., object], *given: object, **options: object) -> bool:
    """Whether something goes through. What stops it is up to the code that is audited."""
    try:
        work(*given, **options)
    except Exception:
        return False
    return True
