"""One release per public group, from records that belong to one group each.

Groups share no record, so a neighbour touches one of them and the charge is the largest of their
budgets (derivations: groups).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from dpfda.core import codec
from dpfda.core.labels import as_groups
from dpfda.core.nouns import a
from dpfda.core.origins import Between, check_groups_apart
from dpfda.engines import Declared, Summary
from dpfda.engines.task import Labels
from dpfda.plans.checks import check_reading, refuse_options_of_reading
from dpfda.plans.joint import JointPlan, P
from dpfda.plans.shares import Share
from dpfda.reading.curves import Records, as_curves
from dpfda.release.passes import FromGroupedRecords, FromSummaries, Passes
from dpfda.release.run import LedgerOrPath, check_passes, run
from dpfda.results.groups import GroupRelease
from dpfda.results.wording import cost


@dataclass(frozen=True, eq=False, repr=False)
class GroupPlan(JointPlan[P]):
    """A plan for each public group, under one charge: that of the dearest, since a record is in one group.

    Parameters
    ----------
    groups : sequence of str
        The public names of the groups.
    plans : sequence of plans
        One for each group, in the same order. Only n, epsilon and the method may differ.
    labels_read : bool, optional
        Whether the list of groups was read from the data, where it is not private.

    Raises
    ------
    dpfda.errors.ParameterError
        Where names and plans do not come in pairs, or plans differ in what they make of a record.

    Examples
    --------
    >>> import dpfda as dp
    >>> plans = [dp.DensityPlan(n=n, epsilon=1.0, domain=[(0, 110)]) for n in (500, 800)]
    >>> dp.plans.GroupPlan(("north", "south"), plans).epsilon
    Fraction(1, 1)
    """

    member_word: ClassVar[str] = "group"
    groups: tuple[str, ...]
    plans: tuple[P, ...]
    #: Whether the list of groups was read from the data, where it is not private.
    labels_read: bool | None = field(default=None, metadata=codec.LATER)

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", as_groups(self.groups))
        object.__setattr__(self, "plans", tuple(self.plans))
        self._check_members()

    @property
    def names(self) -> tuple[str, ...]:
        return self.groups

    @property
    def release_type(self) -> type[GroupRelease[Any]]:
        return GroupRelease

    def total_cost(self, costs: Iterable[Fraction]) -> Fraction:
        """What the costs of all groups come to: the largest, since a record is in one group (derivations: groups).

        Parameters
        ----------
        costs : iterable of Fraction
            What each group costs.
        """
        return max(costs)

    @property
    def shares(self) -> tuple[Share, ...]:
        """Those of the dearest group, which is what all of them cost; the others do the same at the same time."""
        return max(self.plans, key=lambda plan: plan.epsilon).shares

    @property
    def composition(self) -> str:
        """What the groups cost together, in words."""
        budget, names = cost(self), f"{len(self.groups)} public groups ({', '.join(self.groups)})"
        record, records = self.plans[0].wording.record, self.plans[0].wording.records
        one, first = a(record), a(record, opening=True)
        if self.labels_read:
            names += (
                f". They were read from the data: {one} with a label of its own would show as a group, which a "
                "public list of groups prevents"
            )
        if self.plans[0].problem.count_is_private:
            return (
                f"There are {names}. {first} that is added or removed changes the release of its own group only, so "
                f"all of them together cost {budget} (parallel composition). {first} that moves from one group to "
                f"another is one removed and one added: that is protected at twice {budget}."
            )
        return (
            f"There are {names}. Which group {one} belongs to, and how many {records} each group has, is public "
            f"and fixed: {one} that is replaced stays in its group and changes the release of that group only. So "
            f"all releases together cost {budget} (parallel composition), not the sum. Whether somebody belongs "
            f"to a group is not protected; with neighbours that add or remove {one} it would be."
        )

    def check_summaries(self, summaries: Mapping[str, Summary]) -> None:
        """Refuse a record that would be in two groups: their budgets would add up.

        Parameters
        ----------
        summaries : mapping of str to Summary
            One summary for each group.
        """
        check_groups_apart([summary.origins for summary in summaries.values()])

    def summarize(
        self,
        records: Records,
        by: Labels,
        *,
        units: Labels = None,
        between: Between = None,
        site: str = "",
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> dict[str, Summary]:
        """One summary for each group. Confidential.

        Parameters
        ----------
        records : Curves or anything that :func:`dpfda.read` takes
            The records of all groups.
        by : str or sequence
            A column of public labels, or one label for each record.
        units, between, site, checkpoint : optional
            As for :meth:`MeanPlan.summarize`.
        """
        data = self._data(records, by, units, self._declared(between, site, checkpoint))
        check_passes(self, "a checkpoint" if checkpoint is not None else "")
        data.warn_of_owners(self.plans[0].stage.encoder)
        max_records = {name: plan.max_records for name, plan in self.members.items() if plan.max_records is not None}
        return dict(data.read({name: plan.stage.encoder for name, plan in self.members.items()}, max_records))

    def release(
        self,
        records: Records,
        ledger: LedgerOrPath = None,
        *,
        by: Labels = None,
        query: str | None = None,
        units: Labels = None,
        between: Between = None,
        site: str = "",
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> GroupRelease[Any]:
        """Check, charge once, draw, seal: one release per group.

        Parameters
        ----------
        records : Curves, anything that :func:`dpfda.read` takes, or mapping of str to Summary
            The records of all groups, or one summary for each group.
        ledger : Ledger or path, optional
            What is charged, once, before noise is drawn.
        by : str or sequence, optional
            A column of public labels, or one label for each record; summaries need none.
        query : str, optional
            The name of the release in the ledger and in its statement.
        units, between, site, checkpoint : optional
            As for :meth:`MeanPlan.release`.
        """
        declared = self._declared(between, site, checkpoint)
        passes: Passes
        if isinstance(records, Mapping) and all(isinstance(part, Summary) for part in records.values()):
            refuse_options_of_reading(by if units is None else units, declared)
            passes = FromSummaries(records)
        else:
            passes = self._data(records, by, units, declared)
        return GroupRelease(self, run(self, passes, ledger, query))

    def _data(self, records: Records, by: Labels, units: Labels, declared: Declared) -> FromGroupedRecords:
        curves = as_curves(records)
        check_reading(self.plans[0], curves, units)
        return FromGroupedRecords(curves, units, declared, by=by, groups=self.groups)
