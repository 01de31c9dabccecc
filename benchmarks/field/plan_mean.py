"""PLAN, private means that spend noise by the spread of each coordinate, written from the paper.

M. Aumueller, C. J. Lebeda, B. Nelson, R. Pagh: PLAN: Variance-Aware Private Mean Estimation, PoPETs 2024(3), its
Algorithm 1 for errors in L2. A median of each coordinate is the centre; coordinates are divided by the square roots of
their estimated standard deviations; rows are shortened to a private high quantile of their lengths; the mean gets
Gaussian noise, is scaled back and moved to the centre. The guarantee is rho-zCDP: weaker than pure differential
privacy, because it lets the loss exceed any bound with some probability.

Budgets add up to rho: `share` of it for centres and spreads (half each, split evenly over coordinates), a tenth of the
rest for the quantile, and what is left for the noise (`budgets`). Private quantiles are drawn by the exponential
mechanism over the gaps between sorted values, which is eps^2/8-zCDP when it is eps-DP.

What we chose where the paper leaves it open, in the peer's favour:

- Spreads are estimated as in the authors' experiments: half the squared differences of pairs, averaged in groups of 3
  pairs, and their private median. To each the mean of all spreads is added, as there, so that none is near zero.
- The rank of the quantile, `share` and whether coordinates are scaled at all are the caller's, who tries several, and
  also tries a public rotation of the points of curves to cosines, where spreads differ most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Pairs in a group, and the quantile's share of what centres and spreads leave.
GROUP, QUANTILE_SHARE = 3, 0.1


@dataclass(frozen=True)
class Budgets:
    """How much rho each step has."""

    centres: float
    spreads: float
    quantile: float
    noise: float

    @property
    def total(self) -> float:
        return self.centres + self.spreads + self.quantile + self.noise


def budgets(rho: float, share: float, scaled: bool) -> Budgets:
    """Without scaling, centres have the whole share."""
    first, rest = rho * share, rho * (1 - share)
    spreads = first / 2 if scaled else 0.0
    return Budgets(first - spreads, spreads, QUANTILE_SHARE * rest, (1 - QUANTILE_SHARE) * rest)


def epsilon_of_exponential(rho: float) -> float:
    """The epsilon of an exponential mechanism that is rho-zCDP."""
    return float(np.sqrt(8 * rho))


def quantiles(
    rows: np.ndarray, rank: float, low: np.ndarray, high: np.ndarray, rho: float, rng: np.random.Generator
) -> np.ndarray:
    """A private quantile of each column within public limits: rho-zCDP in each when a row is replaced.

    A gap between sorted values has the utility minus its distance from the rank, of sensitivity one.
    """
    inside = np.clip(np.sort(rows, axis=0), low, high)
    edges = np.vstack([np.broadcast_to(low, inside.shape[1:]), inside, np.broadcast_to(high, inside.shape[1:])])
    lengths, places = np.diff(edges, axis=0), np.arange(len(inside) + 1)[:, None]
    with np.errstate(divide="ignore"):
        weights = np.log(lengths) - epsilon_of_exponential(rho) / 2 * np.abs(places - rank)
    chosen = (weights + rng.gumbel(size=weights.shape)).argmax(axis=0)
    columns = np.arange(inside.shape[1])
    return edges[chosen, columns] + rng.random(columns.size) * lengths[chosen, columns]


def noise_scale(radius: float, n: int, rho: float) -> float:
    """The standard deviation of Gaussian noise that makes a mean of n rows in a ball rho-zCDP.

    A replaced row moves the mean by at most 2 radius / n, and (2 radius / n)^2 / (2 scale^2) = rho.
    """
    return float(2 * radius / n / np.sqrt(2 * rho))


def mean(
    rows: np.ndarray, rho: float, low: np.ndarray, high: np.ndarray, rng: np.random.Generator,
    share: float = 0.25, scaled: bool = True, beyond: float = 0.05,
) -> np.ndarray:  # fmt: skip
    """The private mean of rows within public limits; the share `beyond` of them, and at least sqrt(n), is shortened."""
    n, dimension = rows.shape
    budget = budgets(rho, share, scaled)
    centre = quantiles(rows, n / 2, low, high, budget.centres / dimension, rng)
    spread = np.ones(dimension)
    if scaled:
        mixed = rng.permutation(n // (2 * GROUP) * 2 * GROUP)
        squares = (rows[mixed[::2]] - rows[mixed[1::2]]) ** 2 / 2
        grouped = squares.reshape(-1, GROUP, dimension).mean(axis=1)
        most = (high - low) ** 2 / 2
        variance = quantiles(grouped, len(grouped) / 2, np.zeros(dimension), most, budget.spreads / dimension, rng)
        spread = np.sqrt(variance)
        spread = spread + spread.mean()
    scaled_rows = (rows - centre) / np.sqrt(spread)
    lengths = np.linalg.norm(scaled_rows, axis=1)
    longest = np.linalg.norm((high - low) / np.sqrt(spread))
    rank = n - max(beyond * n, np.sqrt(n))
    radius = float(quantiles(lengths[:, None], rank, np.zeros(1), np.array([longest]), budget.quantile, rng)[0])
    kept = scaled_rows * np.minimum(1.0, radius / np.maximum(lengths, 1e-300))[:, None]
    noise = rng.normal(0, noise_scale(radius, n, budget.noise), dimension)
    return centre + (kept.mean(axis=0) + noise) * np.sqrt(spread)
