"""Plans of each kind of release, settled before any file is opened: which facts, which problem.

What all plans can do once they know these is in :mod:`dpfda.plan`.
"""

from .covariance import CovariancePlan
from .density import DensityPlan
from .groups import GroupPlan
from .kernel import ClassPlan, KernelPlan
from .mean import MeanPlan
from .radius import RadiusPlan
from .regression import RegressionPlan
from .smoother import SmootherPlan

__all__ = [
    "ClassPlan",
    "CovariancePlan",
    "DensityPlan",
    "GroupPlan",
    "KernelPlan",
    "MeanPlan",
    "RadiusPlan",
    "RegressionPlan",
    "SmootherPlan",
]
