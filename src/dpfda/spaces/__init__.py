"""Where curves live: grids, bases, kernels, and how a curve is brought to a grid."""

from dpfda.spaces.alignment import Align, Interpolate, Smooth, Unit
from dpfda.spaces.components import ComponentGrid
from dpfda.spaces.grid import Grid, ProductGrid

__all__ = ["Align", "ComponentGrid", "Grid", "Interpolate", "ProductGrid", "Smooth", "Unit"]
