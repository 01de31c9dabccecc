"""One release per public group, from records that belong to one group each.

Groups share no record, so a neighbour touches one of them and the charge is the largest of their
budgets (derivations: groups).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from dpfda import engines, results
from dpfda.core import codec
from dpfda.core.errors import ParameterError, PlanMismatch, shown
from dpfda.core.labels import as_groups
from dpfda.core.origins import check_groups_apart
from dpfda.engines import task as data
from dpfda.plans.base import VERSION, Plan, Sealed
from dpfda.problems.base import Summary
from dpfda.release import door
from dpfda.results import statements

if TYPE_CHECKING:
    from dpfda.ledger import Ledger
    from dpfda.results import GroupRelease


@dataclass(frozen=True, eq=False, repr=False)
class GroupPlan(Sealed):
    """A plan for each public group, under one charge.

    >>> import dpfda as dp
    >>> plans = [dp.DensityPlan(n=n, epsilon=1.0, domain=[(0, 110)]) for n in (500, 800)]
    >>> dp.plans.GroupPlan(("north", "south"), plans).epsilon
    Fraction(1, 1)
    """

    #: What one of them is called.
    member: ClassVar[str] = "group"
    groups: tuple[str, ...]
    plans: tuple[Plan, ...]
    #: Whether the list of groups was read from the data, where it is not private.
    labels_read: bool | None = field(default=None, metadata=codec.LATER)

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", as_groups(self.groups))
        object.__setattr__(self, "plans", tuple(self.plans))
        if len(self.plans) != len(self.groups) or not all(isinstance(plan, Plan) for plan in self.plans):
            raise ParameterError("groups and plans must come in pairs", f"{len(self.plans)} plans", "Give one each.")
        if len({(type(plan), plan.problem.key, plan.neighbors) for plan in self.plans}) > 1:  # type: ignore[attr-defined]
            raise ParameterError(
                "groups must share what their plans make of a record",
                "different domains, grids, bounds or neighbours",
                "Only n, epsilon and the method may differ.",
            )

    def __getitem__(self, group: str) -> Plan:
        if str(group) not in self.groups:
            raise ParameterError(
                f"a group must be one of {', '.join(self.groups)}", shown(group), "Check the spelling."
            )
        return self.plans[self.groups.index(str(group))]

    @property
    def neighbors(self) -> str:
        return self.plans[0].neighbors  # type: ignore[attr-defined,no-any-return]

    @property
    def epsilon(self) -> Fraction:
        """What all groups together cost: the largest budget of any of them."""
        return self.total_cost(plan.epsilon for plan in self.plans)

    @property
    def delta(self) -> Fraction:
        return self.total_cost(plan.delta for plan in self.plans)

    def total_cost(self, costs: Iterable[Fraction]) -> Fraction:
        """What the costs of all parts come to: the largest, since a record is in one group (derivations: groups)."""
        return max(costs)

    def to_json(self) -> str:
        """All plans as text, with a version and a checksum."""
        return codec.seal("plan", VERSION, {"plan": codec.to_plain(self)})

    @property
    def composition(self) -> str:
        """What the groups cost together, in words."""
        budget, names = statements.cost(self), f"{len(self.groups)} public groups ({', '.join(self.groups)})"
        record = self.plans[0].wording.record
        if self.labels_read:
            names += (
                f". They were read from the data: a {record} with a label of its own would show as a group, which "
                "groups=[...] prevents"
            )
        if self.plans[0].problem.count_is_private:
            return (
                f"There are {names}. A {record} that is added or removed changes the release of its own group only, so "
                f"all of them together cost {budget} (parallel composition). A {record} that moves from one group to "
                f"another is one removed and one added: that is protected at twice {budget}."
            )
        return (
            f"There are {names}. Which group a {record} belongs to, and how many {record}s each group has, is public "
            f"and fixed: a {record} that is replaced stays in its group and changes the release of that group only. So "
            f"all releases together cost {budget} (parallel composition), not the sum. Whether somebody belongs "
            f"to a group is not protected; neighbors='add-remove' protects that as well."
        )

    @property
    def family(self) -> str:
        """Digest of all but the numbers of records: plans that differ in those alone share their summaries."""
        return codec.digest([list(self.groups), [plan.family for plan in self.plans]])

    def check_passes(self, single_pass_reason: str) -> None:
        """Refuse, before any charge, what can be read only `once` where a plan reads it several times."""
        for plan in self.plans:
            plan.check_passes(single_pass_reason)

    def summarize(self, records: Any, by: Any, *, checkpoint: Any = None, **reading: Any) -> dict[str, Summary]:
        """One summary per group: `by` is a column of labels, or one label per record. Confidential."""
        problems = {name: plan.stage.problem for name, plan in self._named.items()}
        if checkpoint is None:
            return self._read(problems, records, by, **reading)
        self.check_passes("a checkpoint")
        saved = engines.Checkpoint(checkpoint, self.family)
        return engines.summarize_groups(problems, records, by, self.groups, checkpoint=saved, **reading)

    def _read(self, problems: Any, records: Any, by: Any, **reading: Any) -> dict[str, Summary]:
        """All records, through the problems of some stage; of a group whose size is public and given, no more."""
        most = {name: plan.most for name, plan in self._named.items() if plan.most is not None}
        return engines.summarize_groups(problems, records, by, self.groups, most=most or None, **reading)

    @property
    def _named(self) -> dict[str, Plan]:
        return dict(zip(self.groups, self.plans, strict=True))

    def release(
        self,
        records: Any,
        ledger: Ledger | str | None = None,
        query: str = "",
        *,
        by: Any = None,
        read: Mapping[str, Summary] | None = None,
        **reading: Any,
    ) -> GroupRelease:
        """Check, charge once, draw, seal: one release per group.

        `records` is data with labels `by`, or one summary per group; `read` are summaries of the data's first pass.
        """
        summarised = isinstance(records, Mapping) and all(isinstance(part, Summary) for part in records.values())
        if not summarised and by is None:
            raise ParameterError("groups need labels", "none", "Pass by=<a column, or one label per record>.")
        by = list(by) if hasattr(by, "__next__") else by  # a later pass reads them again
        if hasattr(reading.get("units"), "__next__"):
            reading["units"] = list(reading["units"])
        self.check_passes("summaries" if summarised else data.reads_once(records))
        book = door.open_ledger(ledger)
        door.check_budget(book, self)
        found = records if summarised else self.summarize(records, by, **reading) if read is None else read
        if set(found) != set(self.groups):
            raise PlanMismatch("There must be one summary per group of the plan.")
        self._check_apart(found)
        later = {name: value for name, value in reading.items() if name != "checkpoint"}
        reread = lambda problems: self._read(problems, records, by, **later)  # noqa: E731
        whole = query or self.plans[0].query
        released = door.execute_all(self, self._named, found, book, whole, None if summarised else reread)
        return results.GroupRelease(plan=self, releases=released)

    def _check_apart(self, found: Mapping[str, Summary]) -> None:
        """Refuse a record that would be in two groups: their budgets would add up."""
        check_groups_apart([summary.origins for summary in found.values()])

    def __repr__(self) -> str:
        members = f"{self.member}{'es' if self.member.endswith('s') else 's'}"
        rows = [
            f"{type(self).__name__} {self.digest[:12]}: {len(self.groups)} {members}, {statements.cost(self)} together"
        ]
        for name, plan in zip(self.groups, self.plans, strict=True):
            count = f"n {'about ' if plan.problem.count_is_private else ''}{plan.n:,}"
            rows.append(f"  {name}: {count}, {plan.chosen!r}, expected risk {statements.number(plan.expected_risk)}")
        return "\n".join(rows)
