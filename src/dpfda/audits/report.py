"""The result of an audit, as one page for whoever has to decide: text, HTML, and plain data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from dpfda.audits.conduct import Check
from dpfda.audits.laws import Finding
from dpfda.audits.outcomes import Bound
from dpfda.audits.page import audit_page, headed, noise_sizes
from dpfda.audits.releases import Data, Whole
from dpfda.audits.search import Found
from dpfda.audits.steps import NoiseStep
from dpfda.audits.targets import Audited, OnePlan
from dpfda.core import codec
from dpfda.core.errors import FileError
from dpfda.core.files import write_whole
from dpfda.pages.charts import Chart
from dpfda.results import plots
from dpfda.results.wording import cost

VERSION = 1
#: A defect is called detectable if it would be seen with this probability, in standard errors.
POWER = NormalDist().inv_cdf(0.999)


@dataclass(frozen=True)
class PlanAudit:
    """What was found out about one plan."""

    name: str
    plan: OnePlan
    found: list[Found]
    steps: list[NoiseStep]
    whole: Whole
    conduct: list[Check]
    notes: list[str]
    data: Data  # invented: one of the two neighbours
    shrunk: bool  # whether whole releases were of a smaller plan

    def checks(self, false_alarm: float) -> list[Check]:
        """Everything that can fail, in order."""
        return [*self._exact(), *self._noise(false_alarm), *self._releases(false_alarm), *self.conduct]

    def _exact(self) -> list[Check]:
        found = []
        for each in self.found:
            detail = (
                f"largest loss {each.loss:.9g} of {each.target.epsilon:.6g} allowed ({each.share:.1%}), "
                f"{each.tried:,} pairs; {each.pair.story}"
            )
            found.append(Check(f"No neighbour found beyond epsilon, {each.target.name}", each.passed, detail))
        stated = sum((part.law.epsilon for each in self.found for part in each.target.parts), Fraction(0))
        detail = (
            f"the laws of all passes are calibrated for {float(stated):g}, and {float(self.plan.epsilon):g} is charged"
        )
        found.append(Check("No more is spent than is charged", stated <= self.plan.epsilon, detail))
        total, allowed = sum(each.loss for each in self.found), float(self.plan.epsilon)
        if len(self.found) > 1:
            detail = f"largest losses add up to {total:.9g} of {allowed:.6g}"
            found.append(Check("All passes together stay within epsilon", total <= allowed, detail))
        return found

    def _noise(self, false_alarm: float) -> list[Check]:
        tests = sum(len(step.findings) for step in self.steps)
        found = []
        for step in self.steps:
            worst = worst_of(step.findings)
            passed = worst.p * tests >= false_alarm / 4
            sizes = ""
            if step.ratios.size:
                sizes = f"sizes are {step.ratios.min():.4f} to {step.ratios.max():.4f} of those stated; "
            detail = (
                f"{step.draws:,} draws, {len(step.findings):,} tests; {sizes}"
                f"smallest p-value {worst.p:.2g} ({described(worst)})"
            )
            found.append(Check(f"Noise follows its law, {step.name}", passed, detail))
            allowed = next(each.target.epsilon for each in self.found if each.target.name == step.name)
            found.append(_bounded(f"Noise hides the worst pair, {step.name}", step.bound, allowed))
        return found

    def _releases(self, false_alarm: float) -> list[Check]:
        done = self.whole
        owed, charged = (
            " and ".join(str(cost) for cost in costs if cost) or "nothing" for costs in (done.owed, done.charged)
        )
        charges = f"{done.releases:,} releases owed {owed}, the ledgers hold {charged}"
        found = []
        if done.findings:
            worst = worst_of(done.findings)
            passed = worst.p * len(done.findings) >= false_alarm / 4
            detail = f"{len(done.findings):,} tests; smallest p-value {worst.p:.2g} ({described(worst)})"
            found = [Check("The noise of whole releases follows its law", passed, detail)]
        return [
            *found,
            _bounded("Whole releases hide the worst pair", done.bound, float(self.plan.epsilon)),
            Check("Whole releases are charged in full", done.paid, charges),
            Check("No whole release came twice", not done.repeated, f"{done.repeated} of {done.releases:,} did"),
        ]

    def detectable(self, false_alarm: float) -> float | None:
        """The smallest defect of one coordinate's scale that would have been seen; None where there are no scales."""
        tests = sum(len(step.findings) for step in self.steps)
        needed = float(np.sqrt(2 * np.log(2 * tests * 4 / false_alarm))) + POWER
        found = [needed / (step.strength * np.sqrt(step.draws)) for step in self.steps if step.strength]
        return max(found, default=None)


def _bounded(name: str, bound: Bound, allowed: float) -> Check:
    detail = (
        f"epsilon is at least {bound.lower:.4f} (95 %) of {allowed:.6g} stated; the event came {bound.hits[0]:,} "
        f"against {bound.hits[1]:,} times in {bound.outcomes:,} held-out outcomes"
    )
    return Check(name, bound.certain <= allowed, detail)


def worst_of(findings: Sequence[Finding]) -> Finding:
    """The finding that speaks most against the plan; one that is no number speaks loudest."""
    return min(findings, key=lambda finding: -1.0 if np.isnan(finding.p) else finding.p)


def described(finding: Finding) -> str:
    where = "" if finding.where is None else f" of coordinate {finding.where}"
    ratio = "" if finding.ratio is None else f", {finding.ratio:.4f} of what is stated"
    return f"{finding.what}{where}{ratio}"


@dataclass(frozen=True)
class Audit:
    """The result of :func:`dpfda.audit`: whether anything spoke against a plan, and everything that was tried.

    Parameters
    ----------
    plan : plan
        The plan that was audited.
    parts : tuple
        What was found out about each plan in it: one, or one per group or class.
    composition : tuple of checks
        What holds of all parts together.
    made : str
        When, in UTC.
    seconds : float
        How long it took.
    false_alarm : float
        The probability that a sound plan fails any of the statistical tests.
    seed : int
        The seed of the search.
    of : str, optional
        The release whose plan it is, in a sentence; nothing for a plan by itself.

    Examples
    --------
    >>> import dpfda as dp
    >>> plan = dp.MeanPlan(n=50, epsilon=1.0, bound=dp.L2Ball(1.0), grid=8, method=dp.methods.FRL(1))
    >>> report = dp.audit(plan, draws=1000, releases=8, effort=100)
    >>> report.verdict
    'PASSED: nothing spoke against this plan in 19 checks.'
    """

    plan: Audited
    parts: tuple[PlanAudit, ...]
    composition: tuple[Check, ...]
    made: str
    seconds: float
    false_alarm: float
    seed: int
    of: str = ""
    #: Files that a report can be written to.
    endings: ClassVar[tuple[str, ...]] = (".md", ".html", ".json", ".txt")

    @property
    def checks(self) -> list[tuple[str, Check]]:
        """Every check with the name of the part (a group, a class) that it is about."""
        found = [(part.name, check) for part in self.parts for check in part.checks(self._share)]
        return [*found, *(("", check) for check in self.composition)]

    @property
    def _share(self) -> float:
        return self.false_alarm / len(self.parts)

    @property
    def passed(self) -> bool:
        """Whether nothing spoke against the plan."""
        return all(check.passed for _, check in self.checks)

    @property
    def failures(self) -> list[str]:
        """What spoke against the plan."""
        return [f"{headed(part, check.name)}: {check.detail}" for part, check in self.checks if not check.passed]

    @property
    def largest_loss(self) -> float:
        """Of all passes together, over the parts."""
        return max(sum(found.loss for found in part.found) for part in self.parts)

    @property
    def epsilon_at_least(self) -> float:
        """The largest lower bound on epsilon that outcomes have shown, at 95 per cent, from whole releases."""
        return max(part.whole.bound.lower for part in self.parts)

    @property
    def title(self) -> str:
        """What stands above the report: the kind of plan, its cost and its digest."""
        kind = type(self.plan).__name__
        return f"Audit of a {kind}, {cost(self.plan)}, plan {self.plan.digest[:12]}"

    @property
    def subject(self) -> str:
        """What was audited, in a sentence."""
        first = self.parts[0].plan
        noun, record, records = first.wording.release, first.wording.record, first.wording.records
        several = f"{len(self.parts)} parts, each a {noun}" if len(self.parts) > 1 else noun
        said = (
            f"{several.capitalize()} of {first.n:,} {records}, {first.wording.method}; neighbours differ by one "
            f"{record} {'more or less' if first.problem.count_is_private else 'replaced'}."
        )
        return f"{said} {self.of}".rstrip()

    @property
    def _when(self) -> str:
        return f"{self.made}, {self.seconds:.0f} s"

    @property
    def verdict(self) -> str:
        """The outcome in one sentence."""
        count = len(self.checks)
        if self.passed:
            return f"PASSED: nothing spoke against this plan in {count} checks."
        return f"FAILED: {len(self.failures)} of {count} checks speak against this plan."

    @property
    def detectable(self) -> float | None:
        """The smallest defect of one coordinate's scale that would have been seen in every part that has scales."""
        found = [part.detectable(self._share) for part in self.parts]
        return max((each for each in found if each is not None), default=None)

    @property
    def limits(self) -> list[str]:
        """What an audit can and cannot show."""
        detectable, seen = self.detectable, []
        if detectable is not None:
            size = f"{detectable:.1%} too small or too large"
            seen = [f"One coordinate's noise {size} would have been seen, 999 times in 1,000."]
        return [
            f"A sound plan fails any of the statistical tests with a probability of at most {self.false_alarm:g}.",
            *seen,
            "A search finds lower bounds on the worst loss; docs/derivations proves the upper ones.",
            "Draws are watched in this thread, and two well-known seeds are tried. Code that means to deceive (other "
            "threads, numbers hidden in a release) is for reviewers to find.",
            "Data was invented for the worst case: no confidential record was read.",
            *(note for part in self.parts for note in part.notes),
        ]

    def __str__(self) -> str:
        lines = [self.title, self.subject, self._when, "", self.verdict, ""]
        for part, check in self.checks:
            lines += [f"[{'ok' if check.passed else 'FAIL':>4}] {headed(part, check.name)}", f"       {check.detail}"]
        return "\n".join([*lines, "", *(f"- {limit}" for limit in self.limits)])

    __repr__ = __str__

    def to_markdown(self) -> str:
        """One page with a table of checks."""
        lines = [f"# {self.title}", "", self.subject, "", f"{self._when}.", ""]
        lines += [f"**{self.verdict}**", ""]
        lines += ["| | check | what was seen |", "|---|---|---|"]
        for part, check in self.checks:
            cells = [headed(part, check.name), check.detail]
            mark = "ok" if check.passed else "**FAIL**"
            lines.append("| " + " | ".join([mark, *(cell.replace("|", "\\|") for cell in cells)]) + " |")
        return "\n".join([*lines, "", *(f"- {limit}" for limit in self.limits), ""])

    def to_html(self) -> str:
        """The same page with a picture, in one file."""
        checks = [(headed(part, check.name), check.passed, check.detail) for part, check in self.checks]
        return audit_page(self.title, f"{self.subject} {self._when}.", self.verdict, checks, self.limits, self.picture)

    def to_json(self) -> str:
        """All figures as sealed plain data."""
        return codec.seal("audit", VERSION, self.body())

    def body(self) -> dict[str, object]:
        """All figures as plain data."""
        return {
            "plan": self.plan.digest,
            "epsilon": float(self.plan.epsilon),
            **({"of": self.of} if self.of else {}),
            "passed": self.passed,
            "largest_loss": self.largest_loss,
            "epsilon_at_least": self.epsilon_at_least,
            "false_alarm": self.false_alarm,
            "seconds": self.seconds,
            "checks": [
                {"part": part, "name": c.name, "passed": c.passed, "detail": c.detail} for part, c in self.checks
            ],
            "limits": self.limits,
        }

    def text(self, ending: str) -> str:
        """The page as Markdown, HTML, JSON or plain text.

        Parameters
        ----------
        ending : {".md", ".html", ".json", ".txt"}
            The ending of a file of that kind.
        """
        writers = dict(zip(self.endings, (self.to_markdown, self.to_html, self.to_json, self.__str__), strict=True))
        if ending.lower() not in writers:
            raise FileError(f"An audit is written as {', '.join(self.endings)}, not {ending or 'nothing'!r}.")
        return writers[ending.lower()]()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page, by the ending of the path.

        Parameters
        ----------
        path : path
            Where the file goes: it ends in .md, .html, .json or .txt.
        """
        return write_whole(path, self.text(Path(path).suffix))

    @property
    def ratios(self) -> np.ndarray:
        """The size of every coordinate's noise over its stated size."""
        found = [step.ratios for part in self.parts for step in part.steps if step.ratios.size]
        return np.concatenate(found) if found else np.empty(0)

    @property
    def picture(self) -> Chart | None:
        """The same as a picture of a page; None where no noise has a size."""
        return noise_sizes(self.ratios, self.detectable or 0.0) if self.ratios.size else None

    def plot(self, ax: plots.Axes | None = None) -> plots.Axes:
        """The size of every coordinate's noise against its stated size.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where it is drawn. Default: a new figure.
        """
        return plots.ratios(self.ratios, self.detectable or 0.0, ax)
