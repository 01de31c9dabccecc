"""The report of a plan, before any data: what would be released, how accurately, and for whom it is safe."""

from __future__ import annotations

import shlex

from dpfda.core.errors import PlanMismatch, printable
from dpfda.ledger import Ledger
from dpfda.plans.joint import JointPlan
from dpfda.reports import budget, words
from dpfda.reports.nouns import counted
from dpfda.reports.numbers import percent
from dpfda.reports.parts import Block, Bullets, Code, Section, Table, Verdict, Words
from dpfda.results.verdict import WORDS
from dpfda.results.verdict import Verdict as PlanVerdict
from dpfda.results.wording import facts

#: How a verdict looks.
LOOKS = dict(zip(WORDS, ("good", "fair", "poor"), strict=True))
#: What stands at the top of every such report.
NOTHING = "Nothing has been released: this is a plan. It was made before any data was read, from public facts alone."


def sections(plan: words.Planned, ledger: Ledger | None, file: str) -> list[Section]:
    """What the report of a plan says."""
    first = words.plan_of(plan)
    made: list[Block] = [Words(first.wording.assumption)]
    if first.wording.passes:
        made.append(Words(first.wording.passes))
    return [
        Section("What would be released", [Words(f"{released(plan)} {NOTHING}")]),
        Section("How accurate it would be", _accuracy(plan)),
        Section("Who would be protected, and how well", [Words(text) for text in words.protected(plan, True)]),
        Section("What would not be protected", [Bullets(tuple(words.not_protected(plan)))]),
        Section("How it would be made", [*made, *shares(plan), Words(f"Method: {first.wording.method}.")]),
        *([budget.of_plan(plan, ledger)] if ledger is not None else []),
        Section("Check it yourself", _checks(file)),
    ]


def released(plan: words.Planned) -> str:
    """What would be released, in a sentence."""
    first = words.plan_of(plan)
    value = f" (values: {first.value})" if first.value else ""
    if isinstance(plan, JointPlan):
        sizes = ", ".join(f"{name} ({counted(part)})" for name, part in plan.members.items())
        return f"For each {plan.member_word}, {sizes}: the {first.wording.release}{value}."
    guess = " Their number is a guess made beforehand." if first.problem.count_is_private else ""
    return f"The {first.wording.release}{value} of {counted(first)}, with noise that hides each of them.{guess}"


def _accuracy(plan: words.Planned) -> list[Block]:
    """The verdict, the expected error in words, and the facts that both follow from."""
    verdict = plan.verdict
    head = {"clear": "Clear: the shape will show", "coarse": "Coarse: only the large features will show"}
    blocks: list[Block] = [
        Verdict(head.get(verdict.word, "Mostly noise: do not release this plan"), (told(verdict),), LOOKS[verdict.word])
    ]
    if isinstance(plan, JointPlan):
        each = tuple(
            (name, counted(part), part.wording.accuracy.brief_error, part.verdict.sentence)
            for name, part in plan.members.items()
        )
        return [*blocks, Table((plan.member_word, "records", "noise", "verdict"), each, "Each of them.")]
    sentence = plan.wording.accuracy.sentence.replace(f"{verdict.told} ", "")
    rows = tuple((name, value) for name, value in facts(plan) if name != "verdict")
    return [*blocks, Words(sentence), Table(("fact", "value"), rows, "The plan in numbers, all of them public.")]


def told(verdict: PlanVerdict) -> str:
    """A verdict with its cure, below a head that has its word.

    Of a plan that this version would choose otherwise it says that it is to be planned again.
    """
    try:
        found = str(verdict)
    except PlanMismatch as error:
        found = f"{verdict.sentence} {error}"
    found = found.removeprefix(f"{verdict.word.capitalize()}: ")
    return f"{found[:1].upper()}{found[1:]}"


def shares(plan: words.Planned) -> list[Block]:
    """What each step costs, and in which reading of the data it is made, where there are several."""
    found = words.plan_of(plan).shares
    if len(found) < 2:
        return []
    rows = tuple((part.step, str(part.reading), str(part.share), percent(float(part.share))) for part in found)
    return [Table(("step", "reading", "of epsilon", "in percent"), rows, "What each step costs.")]


def _checks(file: str) -> list[Block]:
    name = quoted(file)
    return [
        Code((f"dpfda show {name}", f"dpfda audit {name} --quick", f"dpfda report {name}")),
        Words(
            "The first prints the plan and refuses an edited file; the second attacks it, with invented data; the "
            "third writes this report again."
        ),
    ]


def quoted(name: str) -> str:
    """The name of a file as a shell takes it."""
    return shlex.quote(printable(name))
