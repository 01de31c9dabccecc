"""What records are called in a report: the one place that reads the nouns of a plan."""

from __future__ import annotations

from typing import Any

from dpfda.core.nouns import a
from dpfda.plans.base import Plan
from dpfda.results.statements import counted

#: Any plan of one release.
AnyPlan = Plan[Any]

__all__ = ["counted", "had_been_different", "one", "record", "records", "several", "whatever"]


def record(plan: AnyPlan) -> str:
    """One of them."""
    return plan.wording.record


def one(plan: AnyPlan) -> str:
    """The same with its article."""
    return a(plan.wording.record)


def records(plan: AnyPlan) -> str:
    """Several of them."""
    return plan.wording.records


def had_been_different(plan: AnyPlan) -> str:
    """The other world of the guarantee: what would have been otherwise."""
    noun, piece = record(plan), plan.wording.piece
    if plan.problem.count_is_private:
        return f"Had any one {noun} not been in the data, or one more been in it"
    if piece:
        return f"Had all {piece}s of any one {noun} been different ones"
    if plan.wording.nouns.has_item:
        return f"Had any one {noun}'s {plan.wording.nouns.item} been a different one"
    return f"Had any one {noun} been a different one"


def had_that_been_different(plan: AnyPlan) -> str:
    """The same world in the middle of a sentence that has named the record."""
    noun, piece, nouns = record(plan), plan.wording.piece, plan.wording.nouns
    if plan.problem.count_is_private:
        return "had it not been in the data"
    if piece:
        return f"had all {piece}s of that {noun} been different ones"
    return f"had that {noun}'s {nouns.item} been a different one" if nouns.has_item else f"had that {noun} been another"


def whatever(plan: AnyPlan) -> str:
    """That the guarantee asks nothing of a record."""
    nouns = plan.wording.nouns
    if nouns.piece:
        return f"whatever its {nouns.piece}s are"
    return f"whatever its {nouns.item} is" if nouns.has_item else "whatever it holds"


def several(plan: AnyPlan) -> str:
    """Somebody of whom the data hold more than the guarantee counts on."""
    if plan.wording.piece:
        return f"A person whose data stand under several {records(plan)}"
    if plan.wording.nouns.has_item:
        return f"{a(record(plan), opening=True)} with several {plan.wording.nouns.item}s in the data"
    return f"A person with several {records(plan)} in the data"
