"""Twenty random classes of curves: a shape of the mean, a way to stray from it, a scale and a grid.

Every class draws its own mean, so no method can be tuned to it. Radii are what a careful holder would state: a
round number above nearly every norm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

import dpfda as dp

Draw = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def spline(t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    knots = np.linspace(0, 1, int(rng.integers(4, 9)))
    return np.asarray(CubicSpline(knots, rng.standard_normal(knots.size))(t))


def wavelet(t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Sparse Haar wavelets over five levels, each level as strong as the next."""
    curve = np.full(t.size, rng.standard_normal())
    for level in range(5):
        place = int(rng.integers(2**level))
        inside = (t * 2**level).astype(int).clip(max=2**level - 1) == place
        left = (t * 2 ** (level + 1)).astype(int) % 2 == 0
        curve += rng.standard_normal() * 2 ** (level / 2) * inside * np.where(left, 1, -1)
    return curve


def spike(t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    centres, widths = rng.uniform(0.1, 0.9, 3), rng.uniform(0.01, 0.04, 3)
    return np.asarray((rng.uniform(1, 4, 3) * np.exp(-0.5 * ((t[:, None] - centres) / widths) ** 2)).sum(axis=1))


def step(t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    cuts = np.sort(rng.uniform(0, 1, 4))
    return rng.standard_normal(5)[np.searchsorted(cuts, t)]


def periodic(t: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    curve = np.full(t.size, 0.5 * rng.standard_normal())
    for k in range(1, int(rng.integers(2, 6))):
        curve += rng.standard_normal() / k * np.sin(2 * np.pi * (k * t + rng.uniform()))
    return curve


@dataclass(frozen=True)
class FunctionClass:
    """Curves ``scale (mean + spread * deviation)`` with a mean of size about one."""

    name: str
    mean: Draw
    deviations: Callable[[np.ndarray, int, np.random.Generator], np.ndarray]
    spread: float
    scale: float
    size: int

    @property
    def grid(self) -> dp.Grid:
        return dp.Grid.uniform(0, 1, self.size)

    @property
    def radius(self) -> float:
        """A round number: the mean's size and two and a half typical deviations, up to the next half."""
        return self.scale * float(np.ceil(2 * np.hypot(1.0, 2.5 * self.spread)) / 2)

    def sample(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Curves and their true mean."""
        t = self.grid.points
        mean = self.mean(t, rng)
        mean = mean / float(self.grid.norm(mean))
        curves = self.deviations(t, n, rng)
        curves *= self.spread
        curves += mean
        curves *= self.scale
        return curves, self.scale * mean


def smooth_noise(t: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Squared size about one; ten cosines whose strength falls with the square of the frequency."""
    j = np.arange(10)
    weights = 1 / (1 + j) ** 2
    functions = np.where(j, np.sqrt(2), 1) * np.cos(np.pi * t[:, None] * j)
    return np.asarray((rng.standard_normal((n, 10)) * weights / np.linalg.norm(weights)) @ functions.T)


def rough_noise(t: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Independent at every point."""
    return rng.standard_normal((n, t.size))


def amplitudes(t: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """One bump with a skewed amplitude: most curves have little of it, a few have much."""
    bump = np.exp(-0.5 * ((t - 0.6) / 0.15) ** 2)
    bump /= np.sqrt((bump**2).mean())
    return np.asarray((rng.standard_exponential(n) - 1)[:, None] * bump)


def jumps(t: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Steps at a place of each curve's own, with heavy-tailed heights."""
    heights = rng.standard_t(4, n) / np.sqrt(2)
    side = np.where(t[None, :] > rng.uniform(0, 1, n)[:, None], 1.0, -1.0)
    return heights[:, None] * side


SHAPES: dict[str, Draw] = {"splines": spline, "wavelets": wavelet, "spikes": spike, "steps": step, "periodic": periodic}
KINDS = {
    "smooth, close": (smooth_noise, 0.2, 1.0, 101),
    "rough, near": (rough_noise, 0.5, 1000.0, 48),
    "skewed, wide": (amplitudes, 1.0, 0.01, 64),
    "jumping, heavy": (jumps, 0.4, 1.0, 150),
}
CLASSES = tuple(
    FunctionClass(f"{shape}, {kind}", mean, deviations, spread, scale, size)
    for shape, mean in SHAPES.items()
    for kind, (deviations, spread, scale, size) in KINDS.items()
)
