"""What may be done after the noise, for free: bands from the public law, shrinkage, projection."""

from dpfda.results.postprocess import Band, project, shrink

__all__ = ["Band", "project", "shrink"]
