"""What can be released through the page, one file for each kind: what is asked, the plan, a guess, and the columns."""

from dpfda.studio.kinds.base import Chosen, Kind, Role
from dpfda.studio.kinds.curves import Covariance, Mean, Percentiles
from dpfda.studio.kinds.models import Classes, Model, Regression
from dpfda.studio.kinds.points import Density, Survival
from dpfda.studio.kinds.radii import Radius

KINDS: dict[str, Kind] = {
    kind.key: kind
    for kind in (
        Mean(), Percentiles(), Covariance(), Density(), Survival(), Regression(), Model(), Classes(), Radius(),
    )
}  # fmt: skip

__all__ = ["KINDS", "Chosen", "Kind", "Role"]
