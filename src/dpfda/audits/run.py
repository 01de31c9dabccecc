"""The whole audit of a plan: search, draw, release, watch."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from dpfda.audits.conduct import Check, checks
from dpfda.audits.doors import door_checks
from dpfda.audits.outcomes import side_of
from dpfda.audits.releases import Data, data_of, whole_releases
from dpfda.audits.report import Audit, PlanAudit
from dpfda.audits.search import Found, Search
from dpfda.audits.steps import NoiseStep, noise_step
from dpfda.audits.targets import Audited, Company, OnePlan, Target, encoded_alone, first_target, later_target
from dpfda.core.checks import check_integer
from dpfda.core.errors import DpfdaError, LeftOutWarning, NoiseWarning, ParameterError, shown
from dpfda.plans import ClassPlan, GroupPlan
from dpfda.plans.base import Plan
from dpfda.plans.joint import JointPlan
from dpfda.problems.stage import Stage
from dpfda.results import ClassRelease, Difference, GroupRelease, RadiusRelease, Release
from dpfda.results.saved import Saved, described
from dpfda.spaces.units import Unit

#: Probability that a sound plan fails any of an audit's statistical tests.
FALSE_ALARM = 1e-7
#: Numbers that are drawn at most, and numbers in the data sets of whole releases.
MOST_NUMBERS, MOST_DATA = 20_000_000, 4_000_000


def audit(
    plan: Audited | Saved,
    *,
    draws: int = 400_000,
    releases: int = 1000,
    effort: int = 3000,
    seed: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Audit:
    """Try to show that a plan breaks its promise: search for the worst neighbours, and test real noise and releases.

    No data is needed: an audit invents the worst.

    Parameters
    ----------
    plan : plan or release
        A plan of any kind, also of groups or classes, or a release: its own plan is audited, and the report says so.
    draws : int
        How often the noise step is drawn for each stage.
    releases : int
        How many whole releases run through the exit with a ledger.
    effort : int
        How many pairs of neighbours are tried, through the real `summarize` and `statistic`.
    seed : int
        For the search alone; noise has none.
    progress : callable, optional
        Called with what is being done, how much of it is done, and how much there is.

    Returns
    -------
    Audit
        What was found, as one page.

    Raises
    ------
    dpfda.errors.ParameterError
        Where this is no plan, or a number is too small to show anything.

    Examples
    --------
    >>> import dpfda as dp
    >>> plan = dp.MeanPlan(n=50, epsilon=1.0, bound=dp.L2Ball(1.0), grid=8, method=dp.methods.QR())
    >>> report = dp.audit(plan, draws=2000, releases=20, effort=300)
    >>> report.passed
    True
    """
    for name, value, least in (("draws", draws, 1000), ("releases", releases, 8), ("effort", effort, 100)):
        check_integer(name, value, least, "Fewer show nothing.")
    plan, of = _subject(plan)
    members = plan.members
    began, made = time.time(), datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    found: list[PlanAudit] = []
    for name, member in members.items():
        alike = [done for done in found if done.plan == member]
        if alike:
            found.append(replace(alike[0], name=name))
            continue
        auditor = Auditor(member, FALSE_ALARM / len(members), np.random.default_rng(seed), progress)
        with _whatever_it_is_worth():
            found.append(auditor.run(name, draws, releases, effort))
    with _whatever_it_is_worth():
        together = _together(plan, found) if isinstance(plan, JointPlan) else []
    return Audit(plan, tuple(found), tuple(together), made, time.time() - began, FALSE_ALARM, seed, of)


def _subject(given: object) -> tuple[Audited, str]:
    """The plan, and of which release it is, if it is one's."""
    of = ""
    if isinstance(given, Release | GroupRelease | ClassRelease | RadiusRelease | Difference):
        of, given = f"It is the plan of {described(given)}.", given.plan
    if not isinstance(given, Plan | GroupPlan | ClassPlan):
        raise ParameterError(
            "an audit is of a plan, or of the plan of a release",
            shown(given),
            "Pass dp.MeanPlan(...), or a file to dpfda audit.",
        )
    return given, of


@contextmanager
def _whatever_it_is_worth() -> Iterator[None]:
    """Releases of invented data may well be mostly noise, or leave much out: an audit asks for privacy alone."""
    with warnings.catch_warnings():
        for kind in (NoiseWarning, LeftOutWarning):
            warnings.simplefilter("ignore", kind)
        yield


def _together(plan: Any, found: list[PlanAudit]) -> list[Check]:
    """What holds of all parts: their one charge, and releases of all of them at once."""
    budgets = [done.plan.epsilon for done in found]
    classes = isinstance(plan, ClassPlan)
    owed = sum(budgets) if classes else max(budgets)
    why = "each record is in every part, so budgets add up" if classes else "each record is in one group: the largest"
    added = Check("The budgets of all parts make the charge", owed == plan.epsilon, why)
    if any(done.shrunk for done in found):
        found[0].notes.append("The parts were released one by one only: all data together do not fit into memory.")
        return [added]
    sides, audited = [done.data for done in found], tuple(done.plan for done in found)
    if audited != plan.plans:  # some without a column that invented data do not have
        plan = replace(plan, plans=audited)
    if classes:
        summary = plan.plans[0].summarize(sides[0].rows)
        whole = Data(dict.fromkeys(plan.names, summary))
    else:
        labels = np.repeat(plan.groups, [len(side.rows) for side in sides]).tolist()
        units = [f"{name} {who}" for name, side in zip(plan.groups, sides, strict=True)
                 for who in side.reading.get("units", ())]  # fmt: skip
        whole = Data(np.vstack([side.rows for side in sides]), {"by": labels} | ({"units": units} if units else {}))
    return [added, *([] if classes else [_one_each(plan, whole)]), *checks(plan, whole, lambda count: None)]


def _one_each(plan: GroupPlan[Any], whole: Data) -> Check:
    """One summary given for two groups: everybody would be in both."""
    name = "One summary is not two groups"
    if len(plan.groups) < 2 or any(member.schedule.passes > 1 for member in plan.plans):
        return Check(name, True, "groups are read together here")
    found = plan.summarize(whole.rows, **whole.reading)
    again = dict.fromkeys(plan.groups, found[plan.groups[0]])
    try:
        plan.release(again)
    except DpfdaError as error:
        return Check(name, True, f"it is refused ({type(error).__name__})")
    return Check(name, False, "it is released")


class Auditor:
    """One plan, and what is found out about it."""

    def __init__(
        self,
        plan: OnePlan,
        false_alarm: float,
        rng: np.random.Generator,
        progress: Callable[[str, int, int], None] | None,
    ):
        self.plan, self.notes = _auditable(plan)
        self.rng, self.progress = rng, progress
        self.false_alarm = false_alarm

    def report_progress(self, what: str, total: int) -> Callable[[int], None]:
        done = 0

        def more(count: int) -> None:
            nonlocal done
            done += count
            if self.progress is not None:
                self.progress(what, min(done, total), total)

        return more

    def run(self, name: str, draws: int, releases: int, effort: int) -> PlanAudit:
        """Everything, in the order of the report."""
        searches = list(self._searches(effort))
        steps = list(self._steps(searches, draws))
        first, _ = searches[0]
        alone = encoded_alone(first.target, self.rng)
        conduct = [
            Check(
                "Every record is encoded alone",
                alone,
                "summaries of parts, in any order, merge to the same bits" if alone else "parts do not add up",
            )
        ]
        small, sides = self._data(first)
        conduct += door_checks(self.plan, first, self.report_progress("trying the doors", 6))
        conduct += checks(small, sides[0], self.report_progress("watching releases", 5))
        report_progress = self.report_progress("whole releases", releases)
        releasing = whole_releases(small, sides, releases, self.false_alarm / 4, report_progress)
        found = [each for each, _ in searches]
        return PlanAudit(
            name, self.plan, found, steps, releasing, conduct, self.notes, sides[0], small is not self.plan
        )

    def _searches(self, effort: int) -> Iterator[tuple[Found, Stage]]:
        """The worst pair of every pass; later passes are given what the first pair's data would draw without noise."""
        drawn: list[np.ndarray] = []
        stage: Stage | None = self.plan.stage
        target, data = first_target(self.plan), None
        while stage is not None:
            report_progress = self.report_progress(f"searching neighbours, {target.name}", effort)
            found = Search(target, effort, self.rng, report_progress).run()
            yield found, stage
            if data is None:
                company = Company(target, found.pair.others)
                data = company, found.pair.second if not target.count_is_private else found.pair.first
            drawn.append(self._quiet(stage, target, data))
            stage = self.plan.schedule.next(drawn)
            target = later_target(self.plan, stage, len(drawn) + 1) if stage is not None else target

    def _quiet(self, stage: Stage, target: Target, data: tuple[Company, np.ndarray]) -> np.ndarray:
        """What a stage would draw without noise, for later stages to follow: any draw is as good."""
        company, record = data
        return np.asarray(stage.statistic(Company(target, company.others).summary(record)))

    def _steps(self, searches: list[tuple[Found, Stage]], draws: int) -> Iterator[NoiseStep]:
        numbers = sum(part.where.size for _, stage in searches for part in stage.parts)
        each = max(1000, min(draws, MOST_NUMBERS // numbers))
        if each < draws:
            self.notes.append(f"{numbers} numbers leave; their noise was drawn {each:,} times, not {draws:,}.")
        for found, stage in searches:
            company, pair = Company(found.target, found.pair.others), found.pair
            records = (pair.first, None if found.target.count_is_private else pair.second)
            one, two = (side_of(stage, company.summary(record)) for record in records)
            report_progress = self.report_progress(f"drawing noise, {found.target.name}", each)
            yield noise_step(
                found.target.name, stage, (one, two), each, self.false_alarm / 4 / len(searches), report_progress
            )

    def _data(self, found: Found) -> tuple[OnePlan, tuple[Data, Data]]:
        """Both neighbours as whole data sets; of a smaller plan, where they would not fit into memory."""
        plan, target, pair = self.plan, found.target, found.pair
        most = max(2, MOST_DATA // pair.first.shape[1])
        if plan.n > most:
            plan = replace(plan, n=most)
            target = first_target(plan)
            self.notes.append(f"Whole releases were made with n = {most:,}: larger data do not fit into memory.")
        others = Company(target, pair.others).rows()
        records = (pair.first, None if target.count_is_private else pair.second)
        one, two = (
            data_of(
                target, others if record is None else np.vstack([record, others]), 0 if record is None else len(record)
            )
            for record in records
        )
        return plan, (one, two)


def _auditable(plan: OnePlan) -> tuple[OnePlan, list[str]]:
    """The plan itself; without the column by which curves of a person are ordered, which invented data do not have."""
    unit = getattr(plan, "unit", None)
    if unit is None or unit.order is None:
        return plan, []
    note = f"The audit keeps curves of a {unit.name} by their number, not by the column {unit.order!r}."
    return replace(plan, unit=Unit(unit.name, unit.most)), [note]
