"""Models in scikit-learn's manner: every fit is a private release, charged to the ledger it was given."""

from dpfda.estimators.base import predictions
from dpfda.estimators.kernel_classifier import KernelClassifier
from dpfda.estimators.kernel_regressor import KernelRegressor
from dpfda.estimators.regression import FunctionOnScalarRegression
from dpfda.estimators.scaler import PublicScaler

__all__ = ["FunctionOnScalarRegression", "KernelClassifier", "KernelRegressor", "PublicScaler", "predictions"]
