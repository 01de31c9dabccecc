"""What is released: curves, surfaces, densities and models, with bands, pictures, statements and files."""

from dpfda.results.bands import Band
from dpfda.results.base import Release
from dpfda.results.classes import ClassRelease
from dpfda.results.components import ComponentRelease
from dpfda.results.covariance import CovarianceRelease
from dpfda.results.density import DensityRelease
from dpfda.results.difference_tests import DifferenceTest
from dpfda.results.differences import Difference
from dpfda.results.function import FunctionRelease, SmootherRelease
from dpfda.results.groups import GroupRelease
from dpfda.results.left_out import LeftOut
from dpfda.results.mean import MeanRelease
from dpfda.results.percentiles import PercentileRelease
from dpfda.results.radius import RadiusRelease
from dpfda.results.regression import RegressionRelease
from dpfda.results.saved import load
from dpfda.results.statements import Statement
from dpfda.results.survival import SurvivalRelease
from dpfda.results.survival_bands import Estimate
from dpfda.results.survival_difference import SurvivalDifference

__all__ = [
    "Band",
    "ClassRelease",
    "ComponentRelease",
    "CovarianceRelease",
    "DensityRelease",
    "Difference",
    "DifferenceTest",
    "Estimate",
    "FunctionRelease",
    "GroupRelease",
    "LeftOut",
    "MeanRelease",
    "PercentileRelease",
    "RadiusRelease",
    "RegressionRelease",
    "Release",
    "SmootherRelease",
    "Statement",
    "SurvivalDifference",
    "SurvivalRelease",
    "load",
]
