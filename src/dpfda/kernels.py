"""Covariance kernels: how smooth curves are assumed to be. They decide accuracy, never privacy."""

from dpfda.spaces.kernels import Constant, Cosine, Custom, Exponential, Gaussian, Kernel, Matern, Product, Sum

__all__ = ["Constant", "Cosine", "Custom", "Exponential", "Gaussian", "Kernel", "Matern", "Product", "Sum"]
