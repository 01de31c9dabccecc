"""Public bounds on one record, and the sensitivity that follows."""

from dpfda.bounds.bodies import Bound, Box, Ellipsoid, L1Ball, L2Ball
from dpfda.bounds.functions import Above, RecordFunction, TimeAbove
from dpfda.bounds.units import RMS, BallLike, BoundLike, Range, UnitBound

__all__ = [
    "RMS",
    "Above",
    "BallLike",
    "Bound",
    "BoundLike",
    "Box",
    "Ellipsoid",
    "L1Ball",
    "L2Ball",
    "Range",
    "RecordFunction",
    "TimeAbove",
    "UnitBound",
]
