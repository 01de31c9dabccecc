"""The one exit: check, charge, draw, seal; and what comes out of it."""

from .base import Release
from .density import DensityRelease
from .exit import check_budget, execute, execute_all, open_ledger
from .groups import Difference, GroupRelease
from .saved import load

__all__ = [
    "DensityRelease",
    "Difference",
    "GroupRelease",
    "Release",
    "check_budget",
    "execute",
    "execute_all",
    "load",
    "open_ledger",
]
