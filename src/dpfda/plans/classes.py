"""One function per class of a classifier: each tells its class from the rest, and all of them see all records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from dpfda.core import codec
from dpfda.core.labels import as_groups
from dpfda.engines import Summary
from dpfda.plans.checks import check_reading
from dpfda.plans.joint import JointPlan
from dpfda.plans.kernel import KernelPlan
from dpfda.reading.curves import as_curves
from dpfda.release.passes import Given, Passes, SharedData
from dpfda.release.run import LedgerOrPath, run
from dpfda.results.classes import ClassRelease
from dpfda.results.function import FunctionRelease


@dataclass(frozen=True, eq=False, repr=False)
class ClassPlan(JointPlan[KernelPlan]):
    """One class against the rest, for every class: all use all records, so their budgets add up.

    >>> import dpfda as dp
    >>> facts = {"n": 9000, "epsilon": "1/3", "domain": [(0, 1)], "classes": ("a", "b", "c")}
    >>> plan = dp.plans.ClassPlan(("a", "b", "c"), [dp.plans.KernelPlan(positive=i, **facts) for i in range(3)])
    >>> plan.epsilon
    Fraction(1, 1)
    """

    member: ClassVar[str] = "class"
    classes: tuple[str, ...] = field(metadata=codec.saved_as("groups"))
    plans: tuple[KernelPlan, ...]
    labels_read: bool | None = field(default=None, metadata=codec.LATER)

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", as_groups(self.classes))
        object.__setattr__(self, "plans", tuple(self.plans))
        self._check_members()

    @property
    def names(self) -> tuple[str, ...]:
        return self.classes

    @property
    def release_type(self) -> type[ClassRelease]:
        return ClassRelease

    def total_cost(self, costs: Iterable[Fraction]) -> Fraction:
        """What the costs of all classes come to: every record is in each of them, so they add up."""
        return sum(costs, Fraction(0))

    @property
    def composition(self) -> str:
        """How the budgets of the classes combine, in words."""
        return (
            f"There is one function for each of {len(self.classes)} public classes ({', '.join(self.classes)}), which "
            f"tells that class from the rest. Every record has a say in every function, so their budgets add up: "
            f"{len(self.classes)} times epsilon {float(self.plans[0].epsilon):.3g} make {float(self.epsilon):g} "
            f"(sequential composition)."
        )

    def summarize(self, records: Any) -> Summary:
        """One summary for all classes: they read records alike. Confidential."""
        return self.plans[0].summarize(records)

    def release(self, records: Any, ledger: LedgerOrPath = None, *, query: str | None = None) -> ClassRelease:
        """One pass over the records, one charge, one function per class.

        `records` is data of any kind, a summary of it, or one summary per class.
        """
        passes: Passes
        if isinstance(records, Summary):
            passes = Given(dict.fromkeys(self.classes, records))
        elif isinstance(records, Mapping) and all(isinstance(part, Summary) for part in records.values()):
            passes = Given(records)
        else:
            curves = as_curves(records)
            check_reading(self.plans[0], curves)
            passes = SharedData(curves)
        released: dict[str, FunctionRelease] = run(self, passes, ledger, query)
        return ClassRelease(self, released)
