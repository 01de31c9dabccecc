"""Kernel regression on inputs in a public box."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from dpfda.core.checks import Epsilon, Invalid, Neighbors, check_choice, check_value
from dpfda.core.nouns import check_record
from dpfda.estimators import validation as arrays
from dpfda.estimators.base import PrivateEstimator, Ranges, predictions
from dpfda.ledger import Ledger
from dpfda.plans import KernelPlan, SmootherPlan
from dpfda.plans.squared import squared_plan
from dpfda.reading.curves import Records
from dpfda.results import FunctionRelease, plots
from dpfda.spaces.stationary import Stationary

if TYPE_CHECKING:
    from dpfda.results.looks import Colors, Labels


class KernelRegressor(RegressorMixin, PrivateEstimator):
    """A smooth function of the inputs under pure differential privacy.

    Up to three inputs the kernel's own functions are used, up to ten random features of it; with more than four or
    five, expect little. Inputs and responses are clipped to their ranges, when fitting and when predicting.

    Parameters
    ----------
    loss : {"squared", "huber"}
        "squared" is fitted by released moments and clipped residuals or, where that promises less error, by output
        perturbation with clipped residuals (`plan_` tells); "huber" always by the latter.
    epsilon : float, str or Fraction
        The privacy budget. It has no default: it is a decision.
    domain : sequence of (low, high), mapping or (low, high)
        One public range per input, by name if you like, or a single one for all. It has no default.
    bound : float or (low, high)
        The public range of responses. It has no default.
    kernel : Stationary, optional
        Gaussian, Exponential or Matern. Default: Gaussian with a tenth of each side as length scale.
    components : int, optional
        How many of the kernel's functions are used. Default: by expected risk.
    psi : float, optional
        The penalty of "huber". Default: by expected risk.
    threshold : float, optional
        Residuals beyond it pull no harder, with "huber". Default: a tenth of the range of responses.
    passes : {1, 4}, optional
        How often "squared" reads the data. Default: whichever should predict better.
    neighbors : {"replace", "add-remove"}
        What neighbours differ by: one record exchanged for another, or one record more or less.
    invalid : {"raise", "center"}
        What an unusable record does: it stops the fit, or it is used as its plan says.
    n : int, optional
        The public number of records, or a public guess of it where neighbours add or remove one. Default: as many as
        there are, where that is public.
    ledger : Ledger or path, optional
        What is charged at every fit, by every clone.
    value : str, optional
        What responses are, with their unit in brackets, such as "glucose (mmol/L)": pictures show it.
    record : str, optional
        What one record is called, such as "home" or "person/people": plans and statements speak of it so.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> x = np.random.default_rng(0).uniform(0, 1, (5000, 1))
    >>> model = dp.KernelRegressor(epsilon=1.0, domain=[(0, 1)], bound=(-1, 1)).fit(x, np.sin(6 * x[:, 0]))
    >>> model.predict([[0.25]]).shape
    (1,)
    """

    release_: FunctionRelease

    def __init__(
        self,
        loss: str = "squared",
        *,
        epsilon: Epsilon | None = None,
        domain: Ranges = None,
        bound: float | Sequence[float] | None = None,
        kernel: Stationary | None = None,
        components: int | None = None,
        psi: float | None = None,
        threshold: float | None = None,
        passes: int | None = None,
        neighbors: Neighbors = "replace",
        invalid: Invalid = "raise",
        n: int | None = None,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        value: str | None = None,
        record: str | None = None,
    ):
        self.loss = loss
        self.epsilon = epsilon
        self.domain = domain
        self.bound = bound
        self.kernel = kernel
        self.components = components
        self.psi = psi
        self.threshold = threshold
        self.passes = passes
        self.neighbors = neighbors
        self.invalid = invalid
        self.n = n
        self.ledger = ledger
        self.value = value
        self.record = record

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # small samples with noise
        return tags

    def fit(self, X: Records, y: Records) -> Self:
        """Release the function that explains the responses best, for its smoothness.

        Parameters
        ----------
        X : array or table of shape (rows, inputs)
            One row for each record.
        y : array of shape (rows,)
            The responses.
        """
        check_choice("loss", self.loss, ("squared", "huber"))
        check_value(self.value)
        check_record(self.record)
        X, y = self._checked(X, y, y_numeric=True)
        facts: dict[str, Any] = {
            "n": self._count(X), "epsilon": self.epsilon, "domain": self._domain(X),
            "bound": self.bound, "kernel": self.kernel, "components": self.components, "neighbors": self.neighbors,
            "invalid": self.invalid, "names": self._names, "value": self.value, "record": self.record,
        }  # fmt: skip
        if self.loss == "squared":
            arrays.refuse({"psi": self.psi, "threshold": self.threshold}, "squared")
            plan: KernelPlan | SmootherPlan = (
                squared_plan(**facts) if self.passes is None else SmootherPlan(passes=self.passes, **facts)
            )
        else:
            arrays.refuse({"passes": self.passes}, "huber")
            plan = KernelPlan(criterion="huber", psi=self.psi, threshold=self.threshold, **facts)
        return self._fitted_with(plan.release(np.column_stack([X, np.asarray(y, dtype=float)]), self._charged()))

    def predict(self, X: Records) -> np.ndarray:
        """The function at rows of inputs, clipped to the box; its values are clipped to the range of responses.

        Parameters
        ----------
        X : array or table of shape (rows, inputs)
            The inputs to predict for.
        """
        inputs = self._inputs(X)
        return predictions(self.release_, inputs)

    def plot(
        self,
        ax: plots.Places = None,
        level: float = 0.95,
        kind: str = "map",
        *,
        label: Labels | None = None,
        color: Colors | None = None,
        xlabel: str | None = None,
        ylabel: str | None = None,
        title: str | None = None,
        legend: bool = True,
    ) -> plots.Axes:
        """The fitted function: a curve with its noise band, or a heat map over two inputs.

        Parameters
        ----------
        ax, level, kind, label, color, xlabel, ylabel, title, legend : optional
            As for :meth:`dpfda.results.Release.plot`.
        """
        check_is_fitted(self)
        look = plots.Look(label, color, xlabel, ylabel, title, legend)
        return self.release_.plot(ax, level, kind, **look.words)
