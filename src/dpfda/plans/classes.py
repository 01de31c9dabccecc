"""One function per class of a classifier: each tells its class from the rest, and all of them see all records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from dpfda.core import codec
from dpfda.core.errors import ParameterError
from dpfda.core.labels import as_groups
from dpfda.engines import Summary
from dpfda.plans.checks import check_reading
from dpfda.plans.joint import JointPlan
from dpfda.plans.kernel import KernelPlan
from dpfda.plans.shares import Cost, Share, shares_of
from dpfda.reading.curves import Records, as_curves
from dpfda.release.passes import FromSharedRecords, FromSummaries, Passes
from dpfda.release.run import LedgerOrPath, run
from dpfda.results.classes import ClassRelease
from dpfda.results.function import FunctionRelease


@dataclass(frozen=True, eq=False, repr=False)
class ClassPlan(JointPlan[KernelPlan]):
    """One class against the rest, for every class: all use all records, so their budgets add up.

    Parameters
    ----------
    classes : sequence of str
        The public names of the classes.
    plans : sequence of KernelPlan
        One for each class, in the same order.
    labels_read : bool, optional
        Whether the list of classes was read from the data, where it is not private.

    Raises
    ------
    dpfda.errors.ParameterError
        Where names and plans do not come in pairs, or plans differ in what they make of a record.

    Examples
    --------
    >>> import dpfda as dp
    >>> facts = {"n": 9000, "epsilon": "1/3", "domain": [(0, 1)], "classes": ("a", "b", "c")}
    >>> plan = dp.plans.ClassPlan(("a", "b", "c"), [dp.plans.KernelPlan(positive=i, **facts) for i in range(3)])
    >>> plan.epsilon
    Fraction(1, 1)
    """

    member_word: ClassVar[str] = "class"
    classes: tuple[str, ...] = field(metadata=codec.saved_as("groups"))
    plans: tuple[KernelPlan, ...]
    labels_read: bool | None = field(default=None, metadata=codec.LATER)

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", as_groups(self.classes))
        object.__setattr__(self, "plans", tuple(self.plans))
        if not all(isinstance(plan, KernelPlan) for plan in self.plans):
            raise ParameterError("classes are told apart by kernel plans", "another plan", "Use GroupPlan for groups.")
        self._check_members()

    @property
    def names(self) -> tuple[str, ...]:
        return self.classes

    @property
    def release_type(self) -> type[ClassRelease]:
        return ClassRelease

    def total_cost(self, costs: Iterable[Fraction]) -> Fraction:
        """What the costs of all classes come to: every record is in each of them, so they add up.

        Parameters
        ----------
        costs : iterable of Fraction
            What each class costs.
        """
        return sum(costs, Fraction(0))

    @property
    def shares(self) -> tuple[Share, ...]:
        """Those of every class, since they add up; all of them are read for together."""
        found = [(name, part) for name, plan in self.members.items() for part in plan.shares]
        costs = [Cost(f"{name}: {part.step}", part.reading, part.epsilon) for name, part in found]
        return shares_of(costs, self.epsilon)

    @property
    def composition(self) -> str:
        """How the budgets of the classes combine, in words."""
        return (
            f"There is one function for each of {len(self.classes)} public classes ({', '.join(self.classes)}), which "
            f"tells that class from the rest. Every record has a say in every function, so their budgets add up: "
            f"{len(self.classes)} times epsilon {float(self.plans[0].epsilon):.3g} make {float(self.epsilon):g} "
            f"(sequential composition)."
        )

    def summarize(self, records: Records) -> Summary:
        """One summary for all classes: they read records alike. Confidential.

        Parameters
        ----------
        records : Curves or anything that :func:`dpfda.read` takes
            The records, with their labels.
        """
        return self.plans[0].summarize(records)

    def release(self, records: Records, ledger: LedgerOrPath = None, *, query: str | None = None) -> ClassRelease:
        """One pass over the records, one charge, one function per class.

        Parameters
        ----------
        records : Curves, anything that :func:`dpfda.read` takes, Summary, or mapping
            The records, a summary of them, or one summary for each class.
        ledger : Ledger or path, optional
            What is charged, before noise is drawn.
        query : str, optional
            The name of the release in the ledger and in its statement.
        """
        passes: Passes
        if isinstance(records, Summary):
            passes = FromSummaries(dict.fromkeys(self.classes, records))
        elif isinstance(records, Mapping) and all(isinstance(part, Summary) for part in records.values()):
            passes = FromSummaries(records)
        else:
            curves = as_curves(records)
            check_reading(self.plans[0], curves, None)
            passes = FromSharedRecords(curves)
        released: dict[str, FunctionRelease] = run(self, passes, ledger, query)
        return ClassRelease(self, released)
