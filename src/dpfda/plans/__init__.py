"""Plans of each kind of release: their public facts, and the problem and stages that follow, before any file is opened.

What all plans can do is in :mod:`dpfda.plans.base`.
"""

from dpfda.plans.classes import ClassPlan
from dpfda.plans.covariance import CovariancePlan
from dpfda.plans.density import DensityPlan
from dpfda.plans.groups import GroupPlan
from dpfda.plans.hypothetical import Hypothetical
from dpfda.plans.kernel import KernelPlan
from dpfda.plans.mean import MeanPlan
from dpfda.plans.percentiles import PercentilePlan
from dpfda.plans.radius import RadiusPlan
from dpfda.plans.regression import RegressionPlan
from dpfda.plans.shares import Share
from dpfda.plans.smoother import SmootherPlan
from dpfda.plans.survival import SurvivalPlan

__all__ = [
    "ClassPlan",
    "CovariancePlan",
    "DensityPlan",
    "GroupPlan",
    "Hypothetical",
    "KernelPlan",
    "MeanPlan",
    "PercentilePlan",
    "RadiusPlan",
    "RegressionPlan",
    "Share",
    "SmootherPlan",
    "SurvivalPlan",
]
