"""Public bounds on one record, and the sensitivity that follows."""

from dpfda.bounds.bodies import Bound, Box, Ellipsoid, L1Ball, L2Ball

__all__ = ["Bound", "Box", "Ellipsoid", "L1Ball", "L2Ball"]
