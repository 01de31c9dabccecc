"""Plans of each kind of release, settled before any file is opened: which facts, which problem.

What all plans can do once they know these is in :mod:`dpfda.plan`.
"""

from .density import DensityPlan
from .groups import GroupPlan
from .mean import MeanPlan

__all__ = ["DensityPlan", "GroupPlan", "MeanPlan"]
