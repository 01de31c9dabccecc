"""A released covariance: a surface, its principal components, and its correlations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core import codec
from dpfda.core.errors import ParameterError, shown
from dpfda.methods import Centred, Leading
from dpfda.problems.covariance import CovarianceProblem
from dpfda.results import plots
from dpfda.results.base import Release
from dpfda.results.postprocess import shrink
from dpfda.results.principal import clip_loss, most_likely
from dpfda.spaces.symmetric import SymmetricBasis

if TYPE_CHECKING:
    from dpfda.plans.covariance import CovariancePlan

#: The step that makes a release a covariance.
POSITIVE = "projection onto covariances"
#: The step that gives back what the clip to a private radius took, as if curves were Gaussian.
UNCLIPPED = "size from before the clip"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CovarianceRelease(Release):
    """A covariance surface under differential privacy: symmetric and, unless taken raw, positive semi-definite.

    Its eigenfunctions are the private functional principal components: post-processing, free of cost.

    Parameters
    ----------
    plan : CovariancePlan
        The plan that was carried out.
    coefficients, raw, query, created, study, entry, seal, steps, order, drawn
        As for :class:`Release`.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> t = np.linspace(0, 1, 30)
    >>> scores = np.random.default_rng(0).uniform(-1, 1, (4000, 2))
    >>> curves = scores @ np.array([np.sin(3 * t), 0.3 * np.cos(3 * t)])
    >>> release = dp.covariance(curves, epsilon=1.0, bound=dp.L2Ball(1.0))
    >>> release.eigenfunctions(2).shape
    (2, 30)
    """

    plan: CovariancePlan
    query: str = "covariance"

    @property
    def _basis(self) -> SymmetricBasis:
        return cast(SymmetricBasis, self.plan.basis)

    # -- after the noise ------------------------------------------------------------------

    def unprocessed(self) -> Self:
        """The raw release: every number as it was drawn. Symmetric; some direction may have a negative variance."""
        return replace(self, coefficients=self.raw, steps=())

    def project(self) -> Self:
        """The nearest covariance to this release: no direction has a negative variance."""
        if POSITIVE in self.steps:
            return self
        nearest = codec.frozen_array(self._basis.nearest_positive(self.coefficients))
        return replace(self, coefficients=nearest, steps=(*self.steps, POSITIVE))

    def shrink(self, method: str | None = None) -> Self:
        """Shrunk with the known noise law, then brought back among covariances.

        Parameters
        ----------
        method : {"posterior", "bayes", "james-stein"}, optional
            "posterior" is the exact posterior mean, for :class:`dpfda.methods.Leading`; about a private centre the size
            that the clip took is given back as well. The others pull towards zero. Default: "posterior" where it is to
            be had, else "bayes".
        """
        method = self.plan.shrinkage if method is None else method
        if method != "posterior":
            return shrink(self, method).project()
        chosen = self.plan.chosen
        if not isinstance(chosen.method if isinstance(chosen, Centred) else chosen, Leading):
            raise ParameterError("the posterior mean is for dp.methods.Leading", repr(chosen), "Pass method='bayes'.")
        stage = self.plan.schedule.last(self.drawn)
        problem, part = cast(CovarianceProblem, stage.problem), stage.parts[0]
        radius, likely = float(problem.code.bound.outer), np.zeros(self.raw.size)
        likely[part.where] = most_likely(
            self.raw[part.where], self._basis.index[part.where], float(part.law.scales[0]), radius**2
        )
        shrunk = replace(self, coefficients=codec.frozen_array(likely), steps=("shrinkage by the posterior mean",))
        return shrunk.project()._unclipped(radius) if isinstance(chosen, Centred) and chosen.first else shrunk.project()

    def _unclipped(self, radius: float) -> Self:
        """As large as Gaussian curves would be that look like this when clipped to this radius."""
        whole = codec.frozen_array(clip_loss(np.maximum(self._spectrum[0], 0.0), radius) * self.coefficients)
        return replace(self, coefficients=whole, steps=(*self.steps, UNCLIPPED))

    # -- principal components -------------------------------------------------------------

    @cached_property
    def _spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Variances in decreasing order, and the coefficients of their directions, one column each."""
        values, vectors = np.linalg.eigh(self._basis.matrix(self.coefficients))
        return values[::-1], vectors[:, ::-1]

    def eigenfunctions(self, k: int, t: ArrayLike | None = None) -> np.ndarray:
        """The `k` leading principal components, one row each, on the grid or at points `t`.

        Orthonormal in the grid's inner product; the first value of any size is positive.
        """
        vectors = self._spectrum[1][:, : self._components(k)]
        line = self._basis.line
        on_grid = line.functions @ vectors
        sizeable = np.abs(on_grid) > 1e-6 * np.abs(on_grid).max(axis=0)
        signs = np.sign(on_grid[sizeable.argmax(axis=0), np.arange(on_grid.shape[1])])
        values: np.ndarray = ((on_grid if t is None else line.evaluate(t) @ vectors) * signs).T
        return values

    def explained_variance(self, k: int) -> np.ndarray:
        """The variances along the `k` leading principal components."""
        return self._spectrum[0][: self._components(k)].copy()

    def explained_variance_ratio(self, k: int) -> np.ndarray:
        """The same as shares of the total variance."""
        return self.explained_variance(k) / float(np.maximum(self._spectrum[0], 0.0).sum())

    def _components(self, k: int) -> int:
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise ParameterError("components are counted from 1", shown(k), "Pass k=3, say.")
        if k > self.rank:
            raise ParameterError(
                f"the release shows {self.rank} directions of variation; the noise hides any others",
                int(k),
                "Ask for fewer, or release again with a smaller radius, a better centre or a larger epsilon.",
            )
        return int(k)

    @property
    def rank(self) -> int:
        """How many directions have a variance above zero."""
        values = self._spectrum[0]
        return int((values > 1e-9 * max(float(values[0]), 1e-300)).sum())

    def correlation(self, points: ArrayLike | None = None) -> np.ndarray:
        """Correlations on the grid, or at points (rows of two coordinates); zero where there is no variance."""
        if points is None:
            covariance, variance = self.values, np.diag(self.values)
            product = np.multiply.outer(variance, variance)
        else:
            pairs = self.plan.basis.points(points)
            covariance = self(pairs)
            product = self(pairs[:, [0, 0]]) * self(pairs[:, [1, 1]])
        known = product > 1e-24 * float(np.abs(self.values).max()) ** 2
        ratio = covariance / np.sqrt(np.where(known, product, 1.0))
        return np.where(known, np.clip(ratio, -1.0, 1.0), 0.0)

    # -- pictures -------------------------------------------------------------------------

    def _plot_surface(self, ax: plots.Axes | None, title: str, kind: str) -> plots.Axes:
        return plots.surface(self.grid, self.values, ax=ax, title=title, kind=kind, signed=True)

    def plot_eigenfunctions(self, k: int = 3, ax: plots.Axes | None = None) -> plots.Axes:
        """The leading principal components (as many of `k` as there are) as curves, with their shares of variance."""
        k = min(k, self.rank)
        if not k:
            return plots.overlay(self.plan.grid, {}, ax, "No principal component: the noise hides all variation")
        shares = self.explained_variance_ratio(k)
        names = [f"component {i + 1}, {share:.1%} of the variance" for i, share in enumerate(shares)]
        lines = dict(zip(names, self.eigenfunctions(k), strict=True))
        return plots.overlay(
            self.plan.grid, lines, ax, f"Private principal components, epsilon {float(self.plan.epsilon):g}"
        )
