"""Covariance kernels: how smooth curves are assumed to be. They decide accuracy, never privacy."""

from dpfda.spaces.kernels import Constant, Custom, Kernel, Product, Sum
from dpfda.spaces.stationary import Cosine, Exponential, Gaussian, Matern

__all__ = ["Constant", "Cosine", "Custom", "Exponential", "Gaussian", "Kernel", "Matern", "Product", "Sum"]
