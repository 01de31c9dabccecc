"""The verbs: one call from data to a release."""

from dpfda.api.comparing import compare
from dpfda.api.covariances import covariance
from dpfda.api.densities import density
from dpfda.api.files import load
from dpfda.api.means import mean
from dpfda.api.percentile_curves import percentiles
from dpfda.api.radii import suggest_radius
from dpfda.api.survivals import survival
from dpfda.reading.curves import read, sql

__all__ = [
    "compare",
    "covariance",
    "density",
    "load",
    "mean",
    "percentiles",
    "read",
    "sql",
    "suggest_radius",
    "survival",
]
