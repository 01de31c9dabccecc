"""How accurate a regression by moments will be, from public guesses alone: what its plan is chosen by.

The signal is guessed to be a share of the bound, spread over the response's functions as the kernel says and
over the design as evenly as its entries allow; a residual is guessed to be a quarter of the bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpfda.problems.moments import MomentProblem

#: Squared size of the signal as a share of the squared bound, and size of a residual as a share of the bound.
SIGNAL, RESIDUAL = 0.05, 0.25
#: A radius that holds most responses is about this share of an honest bound: what is guessed of the signal and of
#: residuals stays the same where it is found first.
WITHIN = 0.5
#: Share of a squared error that clipping makes one correction leave.
LEFT = 0.005


@dataclass(frozen=True, eq=False)
class Forecast:
    """Expected squared errors of predictions, for shares of the budget; `smoothness` sums to one."""

    problem: MomentProblem
    smoothness: np.ndarray
    epsilon: float
    within: float = 1.0  # the response's radius as a share of the bound that guesses are made by

    @property
    def energies(self) -> np.ndarray:
        return self.problem.design.energies

    @property
    def signal(self) -> float:
        """Expected squared size of predictions."""
        return SIGNAL * self._bound**2

    @property
    def _bound(self) -> float:
        return self.problem.response.outer / self.within

    @cached_property
    def coefficient(self) -> float:
        """Typical size of one coefficient of the design."""
        return float(np.sqrt(self.signal / self.energies.sum()))

    @property
    def shape(self) -> np.ndarray:
        """Axes along which residuals are clipped: the fourth root of how their variance is guessed to fall."""
        values: np.ndarray = np.sqrt(np.sqrt(self.smoothness / self.smoothness[0]))
        return values

    def ridge(self, first: float, noise: float) -> float:
        """Eigenvalues of the first moment below this are not to be trusted.

        `first` is the share spent on the first moment; `noise` the standard deviation of one entry of the second.
        """
        gram = self.problem.design.gram
        numbers = gram.size
        entry = np.sqrt(numbers + 1) * self.problem.first_sensitivity.radius(np.ones(numbers)) / (first * self.epsilon)
        return max(gram.doubt(float(entry)), noise / self.coefficient)

    def rough_noise(self, count: int, share: float) -> float:
        """Standard deviation of one entry of the second moment of `count` functions."""
        numbers = self.problem.design.size * count
        far = self.problem.second_sensitivity.radius(np.ones(self.problem.size - self.problem.first_size))
        return float(np.sqrt(numbers + 1) * far / (share * self.epsilon))

    def rough(self, count: int, first: float, second: float) -> float:
        """Error of the first stage: noise of both moments, what the ridge takes away, and what is left out."""
        noise = self.rough_noise(count, second)
        gain, taken = self._filtered(self.ridge(first, noise))
        return count * noise**2 * gain + self._first_error(first) * gain + taken + self.missed(count)

    def _filtered(self, ridge: float) -> tuple[float, float]:
        """What a ridge does to noise of variance one in the second moment, and how much of the signal it takes away."""
        kept = self.energies**2 / (self.energies**2 + ridge**2)
        taken = self.signal * float(((1 - kept) ** 2 * self.energies).sum() / self.energies.sum())
        # A function whose energy is below what numbers can hold lets nothing through.
        gains = np.divide(kept**2, self.energies, out=np.zeros_like(kept), where=self.energies > 0)
        return float(gains.sum()), taken

    def _first_error(self, share: float) -> float:
        """Squared error that noise on the first moment makes in one entry of the second."""
        numbers = self.problem.design.gram.size
        entry = (numbers + 1) * (self.problem.first_sensitivity.radius(np.ones(numbers)) / (share * self.epsilon)) ** 2
        return entry * self.problem.design.gram.leverage * self.coefficient**2

    def missed(self, count: int) -> float:
        """Signal in functions that are left out."""
        return self.signal * max(0.0, 1 - float(self.smoothness[:count].sum()))

    def refined(self, count: int, share: float, rough: float, first: float) -> float:
        """Error of the last stage after a `rough` one: noise for residuals of that size, and what is left of it.

        Two corrections with a first moment on which a share `first` was spent leave what it is too vague for.

        Noise is ball noise, or matched Laplace noise if that has less energy.
        """
        residual = float(np.sqrt((RESIDUAL * self._bound) ** 2 + rough))
        size = residual * float(np.sqrt(self.energies.sum()))
        far = self.problem.diameter * size / (share * self.epsilon)
        s, q = self.shape[:count], self.problem.design.size
        energy = min((q * count + 1) * float(s @ s), 2 * q * float(s.sum()) ** 2) * far**2
        gain, taken = self._filtered(far * float(np.sqrt(q * count + 1)) / self.coefficient)
        return energy * gain + taken + self.missed(count) + rough * (LEFT + self._vagueness(first)) ** 2

    def components(self, first: float, second: float) -> int:
        counts = range(1, self.smoothness.size + 1)
        return min(counts, key=lambda count: self.rough(count, first, second))

    def _vagueness(self, share: float) -> float:
        numbers = self.problem.design.gram.size
        entry = np.sqrt(numbers + 1) * self.problem.first_sensitivity.radius(np.ones(numbers)) / (share * self.epsilon)
        return self.problem.design.gram.vagueness(float(entry), self.energies)

    def refined_components(self, share: float, rough: float, first: float) -> int:
        return min(range(1, self.smoothness.size + 1), key=lambda count: self.refined(count, share, rough, first))

    def split(self, share: float) -> float:
        """The first moment's share of `share` that makes the rough error least, in whole twentieths."""
        steps = [i / 20 for i in range(1, 20)]
        count = self.components(share / 2, share / 2)
        return min(steps, key=lambda s: self.rough(count, share * s, share * (1 - s)))
