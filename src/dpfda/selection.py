"""Choosing a method's parameters: the paper's privacy-safe rule, and its cross-validation to compare with."""

from dpfda.methods.selection import pcv, pss

__all__ = ["pcv", "pss"]
