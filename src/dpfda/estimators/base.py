"""What private models share: their ledger, their checks, and predictions from a release.

A model is its parameters and, once fitted, its release: nothing else is kept. The ledger is a file, so a
clone, a copy or a pickle charges the same one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from dpfda import results
from dpfda.core.checks import INVALID, Epsilon, Invalid, Neighbors, check_choice, check_guess
from dpfda.core.errors import ParameterError, RecordError, shown
from dpfda.estimators import searches
from dpfda.estimators import validation as arrays
from dpfda.reading.curves import Records
from dpfda.release.run import LedgerOrPath
from dpfda.results.joint import JointRelease

#: Public ranges of the inputs: one pair each (by name, or in order), or a single pair for all.
Ranges: TypeAlias = Mapping[str, Sequence[float]] | Sequence[Sequence[float]] | Sequence[float] | None


class PrivateEstimator(BaseEstimator):
    """A scikit-learn estimator whose `fit` is one release: charged, drawn, sealed."""

    epsilon: Epsilon | None
    neighbors: Neighbors
    invalid: Invalid
    n: int | None
    ledger: LedgerOrPath
    release_: results.Release | results.ClassRelease

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True  # noise is drawn anew at every fit
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.invalid == "center"
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "release_")

    def __getstate__(self) -> dict[str, Any]:
        """A pickle names its ledger by the whole path: unpickled elsewhere, it still charges that file or none."""
        state = dict(super().__getstate__())
        if isinstance(state.get("ledger"), str | os.PathLike):
            state["ledger"] = str(Path(state["ledger"]).absolute())
        return state

    def _checked(self, X: Records, y: Records, width: int = 1, **options: Any) -> tuple[np.ndarray, np.ndarray]:
        """Inputs and responses as arrays; with ``invalid="center"`` whatever is no number is missing, alone."""
        self._forget()
        if self.invalid == "center":
            return arrays.lenient(self, X, y, width)
        return arrays.strict(self, X, y, **options)

    def _forget(self) -> None:
        """A fit that fails leaves no model of an earlier one behind."""
        check_guess(self.n, self.neighbors)
        check_choice("invalid", self.invalid, INVALID)
        for name in ("release_", "plan_", "classes_"):
            self.__dict__.pop(name, None)

    def _inputs(self, X: Records) -> np.ndarray:
        """Inputs to predict from: of the same width as those that were fitted."""
        check_is_fitted(self)
        return arrays.inputs(self, X, reset=False)

    @property
    def _names(self) -> tuple[str, ...] | None:
        """Names of the inputs, where the data or the domain has them."""
        names = getattr(self, "feature_names_in_", None)
        domain = getattr(self, "domain", None)
        if names is None and isinstance(domain, Mapping):
            names = list(domain)
        return None if names is None else tuple(map(str, names))

    def _domain(self, X: np.ndarray) -> Any:
        return domain_for(self.domain, X.shape[1], getattr(self, "feature_names_in_", None))

    def _count(self, X: np.ndarray) -> int:
        """The number of records, or what was given for it: where it is public the plan compares the two."""
        return len(X) if self.n is None else self.n

    def _charged(self) -> LedgerOrPath:
        """The ledger that a fit is charged to; a word where several fits have none."""
        if self.ledger is None:
            searches.warn_once()
        return self.ledger

    @property
    def statement(self) -> str:
        """What was protected, in words for a review board."""
        check_is_fitted(self)
        return self.release_.statement

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the fitted model's release; read it with ``dp.load``, predict with ``dpfda predict``.

        Parameters
        ----------
        path : path
            Where the file goes.
        """
        check_is_fitted(self)
        return self.release_.save(path)

    def _fitted_with(self, release: results.Release | results.ClassRelease) -> Self:
        self.release_, self.plan_ = release, release.plan
        return self


def domain_for(domain: Ranges, width: int, names: Iterable[str] | None = None) -> Any:
    """One range per input: those that were given (by the inputs' names, if known), or the single one for all."""
    if domain is None:
        return None
    if isinstance(domain, Mapping):
        domain = _by_name(domain, names)
    try:
        ranges: list[Any] = list(domain)
        if len(ranges) == 2 and not any(hasattr(x, "__len__") for x in ranges):
            return [tuple(ranges)] * width
    except TypeError:
        return domain
    if len(ranges) != width:
        raise ParameterError(
            f"domain must have one range for each of {width} inputs",
            len(ranges),
            "Pass a list of them, or one domain=(low, high) for all.",
        )
    return ranges


def _by_name(domain: Mapping[str, Sequence[float]], names: Iterable[str] | None) -> list[Sequence[float]]:
    """Ranges in the order of the inputs; names that do not match are refused."""
    if names is None:
        return list(domain.values())
    wrong = sorted(set(map(str, domain)) ^ set(map(str, names)))
    if wrong:
        raise ParameterError("domain must name the inputs of the data", shown(wrong[0]), "Check the spelling.")
    return [domain[name] for name in names]


def predictions(release: results.Release | JointRelease[Any], X: np.ndarray) -> np.ndarray:
    """What a released model predicts for rows of inputs: curves, numbers, or the names of classes.

    Inputs are clipped as they were when the model was made.

    Parameters
    ----------
    release : RegressionRelease, FunctionRelease or ClassRelease
        The released model.
    X : array
        One row of inputs for each prediction.

    Returns
    -------
    array
        One row per row of inputs for curves, else one number or name.

    Raises
    ------
    dpfda.errors.RecordError
        Where an input is not finite.
    dpfda.errors.ParameterError
        Where the release is no model.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> x = np.random.default_rng(0).uniform(0, 1, (3000, 1))
    >>> model = dp.KernelRegressor(epsilon=1.0, domain=[(0, 1)], bound=(-1, 1)).fit(x, np.sin(6 * x[:, 0]))
    >>> dp.estimators.predictions(model.release_, np.array([[0.25], [0.75]])).shape
    (2,)
    """
    X = np.asarray(X, dtype=float)
    if not np.isfinite(X).all():
        raise RecordError("Predictions need finite inputs", np.flatnonzero(~np.isfinite(X).all(axis=1)).tolist())
    if isinstance(release, results.RegressionRelease):
        return release.predict(X)
    if not isinstance(release, results.FunctionRelease | results.ClassRelease):
        raise ParameterError("predictions need a fitted model", type(release).__name__, "Make one with dpfda fit.")
    plan = release.plan.plans[0] if isinstance(release, results.ClassRelease) else release.plan
    classes, bound = getattr(plan, "classes", None), plan.bound
    if classes is not None or bound is None:
        names: np.ndarray = np.array(classes)[chosen_class(decision(release, X))]
        return names
    numbers: np.ndarray = np.clip(decision(release, X), *bound)
    return numbers


def chosen_class(scores: np.ndarray) -> np.ndarray:
    """The place of the class that decision values speak for."""
    return (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)


def decision(release: results.FunctionRelease | results.ClassRelease, X: np.ndarray) -> np.ndarray:
    """The released function at rows of inputs; one column per class where there is one function for each."""
    if isinstance(release, results.ClassRelease):
        return np.column_stack([part.at(X) for part in release.values()])
    return release.at(X)
