"""One released function per class of a classifier."""

from __future__ import annotations

from dpfda.results.function import FunctionRelease
from dpfda.results.joint import JointRelease


class ClassRelease(JointRelease[FunctionRelease]):
    """Decision functions by the name of their class: each tells its class from the rest, and all see all records."""
