"""The one exit: check, charge, draw, seal; and what comes out of it."""

from .base import Release
from .components import ComponentRelease
from .covariance import CovarianceRelease
from .density import DensityRelease
from .exit import check_budget, execute, execute_all, open_ledger, standing
from .function import FunctionRelease, SmootherRelease
from .groups import Difference, GroupRelease
from .radius import RadiusRelease
from .regression import RegressionRelease
from .saved import load

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
    "check_budget",
    "execute",
    "execute_all",
    "load",
    "open_ledger",
    "standing",
]
