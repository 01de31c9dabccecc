"""The one exit: check, charge, draw, seal; and what comes out of it."""

from dpfda.results.base import Release
from dpfda.results.components import ComponentRelease
from dpfda.results.covariance import CovarianceRelease
from dpfda.results.density import DensityRelease
from dpfda.results.function import FunctionRelease, SmootherRelease
from dpfda.results.groups import Difference, GroupRelease
from dpfda.results.radius import RadiusRelease
from dpfda.results.regression import RegressionRelease
from dpfda.results.saved import load

__all__ = [
    "ComponentRelease",
    "CovarianceRelease",
    "DensityRelease",
    "Difference",
    "FunctionRelease",
    "GroupRelease",
    "RadiusRelease",
    "RegressionRelease",
    "Release",
    "SmootherRelease",
    "load",
]
