"""The verbs: one call from data to a release."""

from dpfda.api.curves import compare, covariance, mean, suggest_radius
from dpfda.api.densities import density
from dpfda.api.files import load

__all__ = ["compare", "covariance", "density", "load", "mean", "suggest_radius"]
