"""Noise laws, and the only door to randomness.

A law knows what it costs (`loss`), what it does to accuracy (`variance`) and how to be drawn
*exactly*: integers from the operating system's generator, no floating-point sampling, no seed.
Studies that need a million fast draws use :func:`simulate` and :func:`process` with their own
generator; a release cannot reach those.
"""

from .ball import Ball
from .choice import Choice
from .gaussian import Gaussian
from .laplace import Laplace
from .studies import laplace, process, simulate

__all__ = ["Ball", "Choice", "Gaussian", "Laplace", "laplace", "process", "simulate"]
