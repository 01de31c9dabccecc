"""dpfda: functional summaries released under pure differential privacy.

>>> import numpy as np, dpfda as dp
>>> curves = np.random.default_rng(0).uniform(0, 1, (1000, 48))
>>> release = dp.mean(curves, epsilon=1.0, bound=dp.L2Ball(1.0))
>>> release.values.shape
(48,)
"""

from . import datasets, noise, postprocess, selection
from .api import compare, covariance, mean, suggest_radius
from .audits import Audit, audit
from .bounds import Box, Ellipsoid, L1Ball, L2Ball
from .checkpoints import load as load_summary
from .components import ComponentGrid
from .density_api import density
from .engines import ClusterError
from .errors import (
    BudgetExceeded,
    DpfdaError,
    FileError,
    LedgerError,
    LedgerWarning,
    NotPrivateWarning,
    ParameterError,
    PlanMismatch,
    RecordError,
    UnitWarning,
)
from .estimators import FunctionOnScalarRegression, KernelClassifier, KernelRegressor, PublicScaler
from .functional import Irregular
from .grid import Grid, ProductGrid
from .intake import Interpolate, Smooth, Unit
from .items import Batches
from .kernels import Cosine, Custom, Exponential, Gaussian, Matern
from .layouts import Lists, Long
from .ledger import Ledger
from .methods import AR, FRL, QR, Auto, Bernstein, Blocks, Centred, GaussianProcess, KNorm, Minimax, Select, Staged
from .plans import (
    ClassPlan,
    CovariancePlan,
    DensityPlan,
    GroupPlan,
    KernelPlan,
    MeanPlan,
    RadiusPlan,
    RegressionPlan,
    SmootherPlan,
)
from .postprocess import Band
from .protocol import Summary
from .release import (
    ComponentRelease,
    CovarianceRelease,
    DensityRelease,
    FunctionRelease,
    GroupRelease,
    RadiusRelease,
    RegressionRelease,
    Release,
    SmootherRelease,
    load,
)

__version__ = "0.1.0"

__all__ = [
    "AR",
    "FRL",
    "QR",
    "Audit",
    "Auto",
    "Band",
    "Batches",
    "Bernstein",
    "Blocks",
    "Box",
    "BudgetExceeded",
    "Centred",
    "ClassPlan",
    "ClusterError",
    "ComponentGrid",
    "ComponentRelease",
    "Cosine",
    "CovariancePlan",
    "CovarianceRelease",
    "Custom",
    "DensityPlan",
    "DensityRelease",
    "DpfdaError",
    "Ellipsoid",
    "Exponential",
    "FileError",
    "FunctionOnScalarRegression",
    "FunctionRelease",
    "Gaussian",
    "GaussianProcess",
    "Grid",
    "GroupPlan",
    "GroupRelease",
    "Interpolate",
    "Irregular",
    "KNorm",
    "KernelClassifier",
    "KernelPlan",
    "KernelRegressor",
    "L1Ball",
    "L2Ball",
    "Ledger",
    "LedgerError",
    "LedgerWarning",
    "Lists",
    "Long",
    "Matern",
    "MeanPlan",
    "Minimax",
    "NotPrivateWarning",
    "ParameterError",
    "PlanMismatch",
    "ProductGrid",
    "PublicScaler",
    "RadiusPlan",
    "RadiusRelease",
    "RecordError",
    "RegressionPlan",
    "RegressionRelease",
    "Release",
    "Select",
    "Smooth",
    "SmootherPlan",
    "SmootherRelease",
    "Staged",
    "Summary",
    "Unit",
    "UnitWarning",
    "audit",
    "compare",
    "covariance",
    "datasets",
    "density",
    "load",
    "load_summary",
    "mean",
    "noise",
    "postprocess",
    "selection",
    "suggest_radius",
]
