"""Plain words about a plan or a release, for the people who decide.

Every sentence is computed from public facts, so it can be read by a review board before any
data is touched and printed beside the release afterwards.
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import Any


def number(value: float) -> str:
    return f"{value:.3g}"


def cost(plan: Any) -> str:
    """A budget in words: epsilon, and delta where there is one."""
    delta = f" and delta {float(plan.delta):g} (not pure)" if plan.delta else ""
    return f"epsilon {float(plan.epsilon):g}{delta}"


def odds(epsilon: float) -> str:
    """What epsilon does to the odds of any inference about one person."""
    factor = math.exp(epsilon) if epsilon < 700 else math.inf
    if factor >= 1e6:
        return "over a million (that is hardly any protection)"
    return f"{factor:.3f}" if factor < 2 else f"{factor:.2f}" if factor < 100 else f"{factor:,.0f}"


def describe_bound(bound: Any, length: float | None = None) -> str:
    """A bound in words; for an L2 ball with the typical distance it allows at one point."""
    center = bound.center
    about = "zero" if center is None else f"{float(center):g}" if center.ndim == 0 else "the public centre curve"
    if bound.on_grid:
        typical = f", {number(bound.radius / math.sqrt(length))} root mean square" if length else ""
        return f"{type(bound).__name__}: the {bound.norm} about {about} is at most {bound.radius:g}{typical}"
    size = f"at most {bound.radius:g}" if hasattr(bound, "radius") else f"limited for {bound.size} coefficients"
    return f"{type(bound).__name__}: the {bound.norm} about {about} is {size}"


@dataclass(frozen=True)
class Wording:
    """How one kind of plan speaks: its nouns, its assumption, its own rows, and what errors are measured against."""

    noun: str
    release: str
    record: str
    target: str
    assumption: str
    unusable: str
    rows: tuple[tuple[str, str], ...]
    size: float
    size_name: str
    piece: str = ""  # what a record is made of, where a record is all that one person or household has
    #: What is added to the records where they are first named.
    more: str = ""


def guarantee(plan: Any) -> str:
    """The guarantee in a few words, for titles."""
    epsilon = float(plan.epsilon)
    if plan.delta:
        return f"({epsilon:g}, {float(plan.delta):g})-differentially private (not pure)"
    return f"{epsilon:g}-differentially private"


def facts(plan: Any) -> list[tuple[str, str]]:
    """The rows of a plan's table: name and value."""
    words = plan.wording
    budget = f"{float(plan.epsilon):g}" + (f" = {plan.epsilon}" if plan.epsilon.denominator > 1 else "")
    rows = [
        ("release", words.release),
        (f"{words.record}s (n)", f"{plan.n:,}" + (" (public guess)" if plan.problem.count_is_private else "")),
        ("epsilon", budget),
    ]
    if plan.delta:
        rows.append(("delta", f"{float(plan.delta):g}: approximate, not pure, differential privacy"))
    return [
        *rows,
        ("neighbours", plan.neighbors),
        *words.rows,
        ("kernel", plan.kernel_words if plan.uses_kernel else "not used by this method"),
        ("method", plan.method_words),
        ("numbers released", plan.numbers_words),
        *plan.accuracy_rows,
    ]


def accuracy_rows(plan: Any) -> list[tuple[str, str]]:
    """How accurate the release will be, as rows of a table."""
    words = plan.wording
    return [
        ("expected error", f"{number(plan.expected_error)} (noise only, as drawn, squared L2)"),
        ("expected risk", f"{number(plan.expected_risk)} ({plan.risk_words})"),
        ("root of the risk", f"{math.sqrt(plan.expected_risk) / words.size:.2%} of {words.size_name}"),
        ("noise at a point", f"{number(plan.typical_sd)} standard deviation, typically"),
    ]


def table(plan: Any) -> str:
    rows = facts(plan)
    width = max(len(name) for name, _ in rows)
    return "\n".join(
        [f"{type(plan).__name__} {plan.digest[:12]}", *(f"  {name:<{width}}  {value}" for name, value in rows)]
    )


def html_table(plan: Any) -> str:
    cells = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
        for name, value in facts(plan)
    )
    return f"<table><caption>{type(plan).__name__} {plan.digest[:12]}</caption>{cells}</table>"


def protection(plan: Any, total: Any = None) -> str:
    """The guarantee; `total` is the epsilon of several releases together."""
    epsilon, record = float(plan.epsilon if total is None else total), plan.wording.record
    factor = odds(epsilon)
    change = (
        f"one {record} is added to the data or removed from it"
        if plan.problem.count_is_private
        else f"one {record} in the data is replaced by any other {record}"
    )
    who = f"one {record}" if plan.wording.piece else "one person"
    other = (
        f"had {who.replace('one', 'that', 1)} not been in the data"
        if plan.problem.count_is_private
        else f"had all {plan.wording.piece}s of that {record} been different ones"
        if plan.wording.piece
        else f"had that person's {record} been a different one"
    )
    count = f" The number of {record}s is protected too." if plan.problem.count_is_private else ""
    if not plan.delta:
        return (
            f"The release is {epsilon:g}-differentially private (pure, no delta). If {change}, the probability of "
            f"any outcome changes by at most a factor of {factor}. So whatever anyone infers about {who} from "
            f"the release, the odds of that inference are at most {factor} times what they would be {other}.{count}"
        )
    delta = f"{float(plan.delta):g}"
    return (
        f"The release is ({epsilon:g}, {delta})-differentially private: approximate, not pure. If {change}, the "
        f"probability of any outcome changes by at most a factor of {factor}, plus {delta}. With a probability of up "
        f"to {delta} the release may say more than that about {who}; otherwise the odds of anything inferred "
        f"about {who} are at most {factor} times what they would be {other}.{count}"
    )


def limits(plan: Any, size: str | None = None) -> str:
    words = plan.wording
    handled = stops(plan) if plan.invalid == "raise" else goes_on(plan)
    if size is None:
        size = "" if plan.problem.count_is_private else f" The number of {words.record}s, {plan.n:,}, is public."
    several = (
        f"a person who belongs to several {words.record}s"
        if words.piece
        else f"a person who contributes several {words.record}s"
    )
    return (
        f"What is not protected: facts about the population that the {words.target} itself shows; {several} "
        f"is protected only as far as epsilon times their number; other releases "
        f"from the same data add their own epsilon; the time a run takes and the computer it runs on.{size} {handled}"
    )


def stops(plan: Any) -> str:
    """What stops a run, where something in the data may."""
    words = plan.wording
    twice = f", or if parts of the data that are put together may hold the same {words.record}"
    parts = twice if words.piece and not plan.problem.count_is_private else ""
    reason = f"a {words.record} is unusable{parts}"
    return f"A run stops with an error if {reason}; whether it stopped is outside the guarantee."


def goes_on(plan: Any) -> str:
    """What becomes of what cannot be used, where nothing in the data may stop a run."""
    words = plan.wording
    nobody = " A row that does not say whose it is (or which group it belongs to) is left out." if words.piece else ""
    number = (
        ""
        if plan.problem.count_is_private
        else f" Of more than {plan.n:,} {words.record}s as many are used, by a fixed hash of what each holds; one that "
        f"is missing {words.unusable}."
    )
    return f"An unusable {words.record} {words.unusable}, so the guarantee covers it.{nobody}{number}"


def accuracy(plan: Any) -> str:
    words = plan.wording
    rms, total = math.sqrt(plan.expected_error), math.sqrt(plan.expected_risk)
    return (
        f"The noise has a root mean squared L2 size of {number(rms)}, {rms / words.size:.1%} of {words.size_name} "
        f"({words.size:.4g}); at a typical point its standard deviation is {number(plan.typical_sd)}. Altogether "
        f"({plan.risk_words}) the error is expected to be {number(total)} ({total / words.size:.1%}). These figures "
        f"depend on no data."
    )


def explain(plan: Any) -> str:
    """A plan in words, before data."""
    return "\n\n".join(
        [
            f"Plan {plan.digest[:12]}: the {plan.wording.target} of {'about ' if plan.problem.count_is_private else ''}"
            f"{plan.n:,} {plan.wording.record}s{plan.wording.more}.",
            protection(plan),
            plan.wording.assumption,
            plan.accuracy_words,
            limits(plan),
        ]
    )


def statement(release: Any) -> str:
    """What was protected and how, to be shown beside a release."""
    plan = release.plan
    charged = (
        f"Charged to the ledger of study {release.study!r} as entry {release.entry}, seal {release.seal[:16]}."
        if release.study
        else "No ledger was charged: whoever made this release keeps account of the budget."
    )
    after = (
        f" After the noise: {'; '.join(release.steps)} (post-processing, free of privacy cost)."
        if release.steps
        else ""
    )
    draw = "; ".join(
        dict.fromkeys(part.law.description for stage in plan.stages_drawn(release) for part in stage.parts)
    )
    kernel = f" with {plan.kernel_words}" if plan.uses_kernel else ""
    came = f" {plan.schedule.outcome(release.drawn)}" if plan.schedule else ""
    how = (
        f"Method {plan.chosen!r}{kernel}: {draw}. All of it is drawn from the operating system's generator, on "
        f"exact integer totals.{came}{after}"
    )
    return "\n\n".join(
        [
            f"Privacy statement for a {release.title} released {release.created} (plan {plan.digest[:12]}).",
            protection(plan),
            plan.wording.assumption,
            how,
            plan.accuracy_words,
            limits(plan),
            charged,
        ]
    )


def radius_statement(release: Any) -> str:
    """What was protected when a radius was chosen."""
    head, guaranteed, assumption, _, missed, open_to_all, charged = statement(release).split("\n\n")
    return "\n\n".join([head, guaranteed, assumption, missed, open_to_all, charged])


def group_statement(groups: Any) -> str:
    """What was protected in all groups together, and how each was made."""
    first = next(iter(groups.values()))
    made = [
        f"{name}: {'about ' if release.plan.problem.count_is_private else ''}{release.plan.n:,} "
        f"{release.plan.wording.record}s, "
        f"{release.plan.chosen!r}, expected error {number(release.plan.expected_error)} (squared L2, noise only)."
        for name, release in groups.items()
    ]
    head, *rest = statement(first).split("\n\n")
    what, made_by = head.partition(" released ")[0], f"(plan {groups.plan.digest[:12]})"
    heading = f"{what} per {groups.plan.member}, released {first.created} {made_by}."
    open_to_all = limits(first.plan, size="")
    guaranteed = protection(first.plan, groups.plan.epsilon)
    return "\n\n".join([heading, guaranteed, groups.plan.composition, rest[1], "\n".join(made), open_to_all, rest[-1]])
