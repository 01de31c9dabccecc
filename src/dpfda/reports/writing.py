"""`dp.report`: a release or a plan as one page for people who decide, in a file that stands alone."""

from __future__ import annotations

import os
from pathlib import Path

from dpfda.core.errors import ParameterError, shown
from dpfda.core.files import digest_of, write_whole
from dpfda.core.version import VERSION
from dpfda.pages.render import page
from dpfda.plans.base import Plan
from dpfda.plans.joint import JointPlan
from dpfda.reports import budget, planned, words
from dpfda.reports.nouns import counted
from dpfda.reports.numbers import moment
from dpfda.reports.saved import read_subject
from dpfda.reports.sections import sections
from dpfda.results import Difference, RadiusRelease, Release
from dpfda.results.joint import JointRelease
from dpfda.results.measures import Measure
from dpfda.results.saved import Saved

TEMPLATES = Path(__file__).parent / "templates"
ALONE = "This page holds no script and loads nothing; it can be kept, printed and published."


def report(
    thing: Saved | words.Planned | str | os.PathLike[str],
    ledger: budget.LedgerOrPath = None,
    path: str | os.PathLike[str] | None = None,
) -> str:
    """A report for people who decide: one HTML page, in plain words, with every number taken from the release.

    It holds its pictures and its style, no script, and loads nothing: it can be sent, printed and published.

    Parameters
    ----------
    thing : release, plan, or path
        A release of any kind (of groups and classes, a radius, a difference), a plan of any kind, or a saved one.
    ledger : Ledger or path, optional
        The ledger that was charged: the report shows the budget of the study.
    path : path, optional
        Where to write the page; the file is whole or absent.

    Returns
    -------
    str
        The page.

    Raises
    ------
    dpfda.errors.FileError
        Where a file is none of ours, was edited or is damaged.
    dpfda.errors.LedgerError
        Where the ledger does not hold the charge of the release.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> release = dp.mean(np.zeros((500, 12)), epsilon=1.0, bound=dp.L2Ball(1.0))
    >>> page = dp.report(release)
    >>> "by a factor of at most 2.72" in page, "<script" in page
    (True, False)
    """
    file, digest, subject = "", "", thing
    if isinstance(subject, str | os.PathLike):
        place = Path(subject)
        subject = read_subject(place)  # refuses what is no ordinary file, before anything else reads it
        file, digest = place.name, digest_of(place)
    if not isinstance(subject, Release | RadiusRelease | JointRelease | Difference | Plan | JointPlan):
        raise ParameterError(
            "a report is of a release or a plan", shown(thing), "Pass one, or the path of a saved one."
        )
    made = page_of(subject, ledger, file, digest)
    if path is not None:
        write_whole(path, made)
    return made


def page_of(thing: Saved | words.Planned, ledger: budget.LedgerOrPath = None, file: str = "", digest: str = "") -> str:
    """The page of a release or a plan; `file` is what its file is called, `digest` what it holds."""
    return page(
        "report.html",
        TEMPLATES,
        title=title(thing),
        subtitle=subtitle(thing),
        sections=sections(thing, ledger, file=file, digest=digest),
        foot=foot(thing),
    )


def ledger_page(ledger: budget.LedgerOrPath) -> str:
    """The budget of a study and every charge, as a page that stands alone.

    Parameters
    ----------
    ledger : Ledger or path
        The ledger.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> import os, tempfile, dpfda as dp
    >>> ledger = dp.Ledger.create(os.path.join(tempfile.mkdtemp(), "study.ledger"), epsilon=2, study="homes")
    >>> "0 spent in 0 charges, 2 left" in dp.reports.ledger_page(ledger)
    True
    """
    book = budget.opened(ledger)
    if book is None:
        raise ParameterError("a page of a ledger needs one", shown(ledger), "Pass a Ledger, or its path.")
    found = book.book()
    return page(
        "report.html",
        TEMPLATES,
        title=f"Ledger of study “{found.balance.study}”",
        subtitle=f"{book.path.name}, {len(found.entries)} charges",
        sections=budget.of_ledger(found),
        foot=f"dpfda {VERSION}. {ALONE}",
    )


# -- the head and the foot --------------------------------------------------------------------


def title(thing: Saved | words.Planned) -> str:
    """What a report is about."""
    first = words.plan_of(thing)
    value = f" of {Measure.of(first.value).name}" if first.value else ""
    if isinstance(thing, JointPlan):
        return f"Plan: {first.wording.release}{value}, for each of {len(thing.names)} {_members(thing)}"
    if isinstance(thing, Plan):
        return f"Plan: {first.wording.release}{value}, from {counted(first)}"
    if isinstance(thing, Difference):
        return f"Private comparison: {thing.first} minus {thing.second}, {_titled(thing.left)}{value}"
    if isinstance(thing, JointRelease):
        one: Release = next(iter(thing.values()))
        return f"Private {_titled(one)}{value}, for each of {len(thing)} {_members(thing.plan)}"
    return f"Private {_titled(thing)}{value}, from {counted(first)}"


def _titled(release: Release | RadiusRelease) -> str:
    return release.title.removeprefix("set of ")


def _members(plan: words.Together) -> str:
    return "classes" if plan.member_word == "class" else f"{plan.member_word}s"


def subtitle(thing: Saved | words.Planned) -> str:
    """When it was made, for which study, and what it cost."""
    if isinstance(thing, Plan | JointPlan):
        return f"A plan, {words.budget(thing)}. Nothing has been released."
    where = f"Study “{thing.study}”, released" if thing.study else "Released"
    entry = f", entry {thing.entry} of its ledger" if thing.study else ", charged to no ledger"
    return f"{where} {moment(thing.created)}{entry}, {words.budget(thing)}"


def foot(thing: Saved | words.Planned) -> str:
    """Which plan, which charge, which version; and what a page cannot prove."""
    plan = words.price_of(thing)
    facts = [f"Plan {plan.digest[:12]}"]
    if not isinstance(thing, Plan | JointPlan) and thing.seal:
        facts.append(f"seal {thing.seal[:16]}")
    facts.append(f"dpfda {VERSION}")
    if isinstance(thing, Plan | JointPlan):
        return f"{' · '.join(facts)}. {ALONE} {planned.NOTHING}"
    return f"{' · '.join(facts)}. {ALONE} It does not prove that the data was what it is said to be."
