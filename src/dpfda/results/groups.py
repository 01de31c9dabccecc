"""One release per public group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpfda.core.errors import ParameterError
from dpfda.results.base import Release
from dpfda.results.differences import Difference
from dpfda.results.joint import JointRelease, R
from dpfda.results.survival_difference import kind_of

if TYPE_CHECKING:
    from dpfda.plans.groups import GroupPlan


class GroupRelease(JointRelease[R]):
    """Releases by the name of their group: a mapping, with one charge and one statement for all.

    Parameters
    ----------
    plan : GroupPlan
        The plan that was carried out.
    releases : dict
        One release for each group, by its name.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> rng = np.random.default_rng(0)
    >>> ages, sex = rng.gamma(9.0, 8.0, 2000).clip(0, 110), np.where(rng.random(2000) < 0.5, "f", "m")
    >>> both = dp.density(ages, by=sex, groups=["f", "m"], epsilon=1.0, domain=[(0, 110)])
    >>> sorted(both), both.difference("f", "m").noise_band(0.95).level
    (['f', 'm'], 0.95)
    """

    plan: GroupPlan[Any]

    def difference(self, first: str, second: str) -> Difference:
        """What the first group has more than the second, with bands and a test.

        Parameters
        ----------
        first, second : str
            The names of two groups.
        """
        if str(first) == str(second):
            raise ParameterError("a difference is of two groups", f"{str(first)!r} twice", "Name two of them.")
        kind = kind_of(self[first], self[second])
        return kind(str(first), str(second), self[first], self[second], self.plan)

    def _label(self, name: str, release: Release) -> str:
        public = not release.plan.problem.count_is_private
        return f"{name} (n = {release.plan.n:,})" if public else name
