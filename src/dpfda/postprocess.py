"""What may be done after the noise, for free: bands from the public law, shrinkage, projection."""

from dpfda.results.bands import Band
from dpfda.results.postprocess import project, shrink

__all__ = ["Band", "project", "shrink"]
