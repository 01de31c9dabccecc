"""Models in scikit-learn's manner: every fit is a private release, charged to the ledger it was given."""

from .base import predictions
from .kernel import KernelClassifier, KernelRegressor
from .regression import FunctionOnScalarRegression
from .scaler import PublicScaler

__all__ = ["FunctionOnScalarRegression", "KernelClassifier", "KernelRegressor", "PublicScaler", "predictions"]
