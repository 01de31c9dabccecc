"""Where curves live: grids, bases, kernels, and how a curve is brought to a grid."""

from dpfda.spaces.components import ComponentGrid
from dpfda.spaces.grid import AnyGrid, Grid, ProductGrid
from dpfda.spaces.own_times import Align, Interpolate, Smooth
from dpfda.spaces.units import Unit

__all__ = ["Align", "AnyGrid", "ComponentGrid", "Grid", "Interpolate", "ProductGrid", "Smooth", "Unit"]
