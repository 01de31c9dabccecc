"""Public bounds on one record, and the sensitivity that follows."""

from dpfda.bounds.bodies import Bound, Box, Ellipsoid, L1Ball, L2Ball
from dpfda.bounds.units import RMS, BallLike, BoundLike, Range, UnitBound

__all__ = ["RMS", "BallLike", "Bound", "BoundLike", "Box", "Ellipsoid", "L1Ball", "L2Ball", "Range", "UnitBound"]
