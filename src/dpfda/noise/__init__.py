"""Noise laws, and the only door to randomness.

A law knows what it costs (`loss`), what it does to accuracy (`variance`) and how to be drawn
*exactly*: integers from the operating system's generator, no floating-point sampling, no seed.
Studies that need a million fast draws use :func:`simulate` and :func:`process` with their own
generator; a release cannot reach those.
"""

from dpfda.noise.ball import Ball
from dpfda.noise.choice import Choice
from dpfda.noise.gaussian import Gaussian
from dpfda.noise.laplace import Laplace
from dpfda.noise.studies import laplace, process, simulate

__all__ = ["Ball", "Choice", "Gaussian", "Laplace", "laplace", "process", "simulate"]
