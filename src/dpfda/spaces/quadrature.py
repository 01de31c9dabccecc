"""Quadrature weights of points along a line: by a rule that has a name, or one by one."""

from __future__ import annotations

import numpy as np

from dpfda.core.errors import ParameterError


def _trapezoid(points: np.ndarray, length: float) -> np.ndarray:
    half_gaps = np.diff(points) / 2
    weights = np.zeros(points.size)
    weights[:-1] += half_gaps
    weights[1:] += half_gaps
    return weights


def _equal(points: np.ndarray, length: float) -> np.ndarray:
    return np.full(points.size, length / points.size)


RULES = {"trapezoid": _trapezoid, "equal": _equal}


def weights_by(rule: str, points: np.ndarray, length: float) -> np.ndarray:
    """The weights that a rule gives to increasing points of a domain of this length."""
    if rule not in RULES:
        raise ParameterError(
            f"weights must be one of {tuple(RULES)} or one number per point", repr(rule), "Pass weights='trapezoid'."
        )
    return RULES[rule](points, length)


def checked_weights(weights: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The weights, if there is a positive one for each point."""
    if weights.shape != points.shape or not ((weights > 1e-60) & (weights < 1e60)).all():
        raise ParameterError(
            "weights must be positive and finite (1e-60 to 1e60), one per point",
            f"shape {weights.shape}",
            f"Pass {points.size} positive numbers.",
        )
    return weights


def rule_of(weights: np.ndarray, points: np.ndarray, length: float) -> str:
    """The rule that gives these weights, or "given"."""
    for name, rule in RULES.items():
        if np.array_equal(weights, rule(points, length)):
            return name
    return "given"
