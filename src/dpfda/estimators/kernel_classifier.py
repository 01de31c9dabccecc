"""Kernel classification on inputs in a public box."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from dpfda.core.checks import Epsilon, Invalid, Neighbors, as_epsilon, check_choice
from dpfda.core.errors import ParameterError, RecordError
from dpfda.core.labels import Coder, label_text, warn_of_reading
from dpfda.core.nouns import check_record
from dpfda.estimators import validation as arrays
from dpfda.estimators.base import PrivateEstimator, Ranges, chosen_class, decision
from dpfda.ledger import Ledger
from dpfda.plans import ClassPlan, KernelPlan
from dpfda.reading.curves import Records
from dpfda.results import ClassRelease, FunctionRelease, plots
from dpfda.spaces.stationary import Stationary

if TYPE_CHECKING:
    from dpfda.results.looks import Colors, Labels


def _is_logistic(model: KernelClassifier) -> bool:
    plan = getattr(model, "plan_", None)  # what was fitted decides, whatever the parameter says by now
    return (model.loss if plan is None else getattr(plan, "plans", [plan])[0].criterion) == "logistic"


class KernelClassifier(ClassifierMixin, PrivateEstimator):
    """A decision function of the inputs under pure differential privacy.

    Up to three inputs and some ten thousand records, classes are told apart by the difference of their densities,
    unless a penalty is given; else a penalised loss is minimised. More than two classes are told from the rest one by
    one, each with an equal part of epsilon (the parts add up). Inputs outside the box are clipped to it, to fit and to
    predict.

    Parameters
    ----------
    loss : {"logistic", "hinge"}
        The first has probabilities. It is minimised where densities are not compared (`plan_.way` tells).
    epsilon : float, str or Fraction
        The privacy budget. It has no default: it is a decision.
    domain : sequence of (low, high), mapping or (low, high)
        One public range per input, by name if you like, or a single one for all. It has no default.
    kernel : Stationary, optional
        Gaussian, Exponential or Matern. Default: Gaussian with a tenth of each side as length scale.
    components : int, optional
        How many of the kernel's functions are used. Default: by expected risk.
    psi : float, optional
        The penalty. Default: none where densities are compared; else by expected risk.
    classes : sequence, optional
        The public classes. Without it those of `y` are taken as public, with a warning.
    neighbors : {"replace", "add-remove"}
        What neighbours differ by: one record exchanged for another, or one record more or less.
    invalid : {"raise", "center"}
        What an unusable record does: it stops the fit, or it is used as its plan says.
    n : int, optional
        The public number of records, or a public guess of it where neighbours add or remove one. Default: as many as
        there are, where that is public.
    ledger : Ledger or path, optional
        What is charged at every fit, by every clone.
    record : str, optional
        What one record is called, such as "home" or "person/people": plans and statements speak of it so.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> x = np.random.default_rng(0).uniform(-1, 1, (4000, 2))
    >>> model = dp.KernelClassifier(epsilon=1.0, domain=(-1, 1), classes=[False, True])
    >>> model = model.fit(x, (x**2).sum(axis=1) < 0.6)
    >>> model.predict([[0.0, 0.0]])
    array([ True])
    """

    release_: FunctionRelease | ClassRelease

    def __init__(
        self,
        loss: str = "logistic",
        *,
        epsilon: Epsilon | None = None,
        domain: Ranges = None,
        kernel: Stationary | None = None,
        components: int | None = None,
        psi: float | None = None,
        classes: Sequence[object] | None = None,
        neighbors: Neighbors = "replace",
        invalid: Invalid = "raise",
        n: int | None = None,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        record: str | None = None,
    ):
        self.loss = loss
        self.epsilon = epsilon
        self.domain = domain
        self.kernel = kernel
        self.components = components
        self.psi = psi
        self.classes = classes
        self.neighbors = neighbors
        self.invalid = invalid
        self.n = n
        self.ledger = ledger
        self.record = record

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # small samples with noise
        return tags

    def fit(self, X: Records, y: Records) -> Self:
        """Release the decision function, or one per class: of least regularised risk, or from densities.

        Parameters
        ----------
        X : array or table of shape (rows, inputs)
            One row for each record.
        y : array of shape (rows,)
            The class of each record.
        """
        check_choice("loss", self.loss, ("logistic", "hinge"))
        check_record(self.record)
        X, codes, classes = self._labelled(X, y)
        names = tuple(label_text(label) for label in classes)
        facts: dict[str, Any] = {
            "n": self._count(X), "domain": self._domain(X), "criterion": self.loss,
            "kernel": self.kernel, "components": self.components, "psi": self.psi, "classes": names,
            "neighbors": self.neighbors, "invalid": self.invalid, "names": self._names,
            "labels_read": True if self.classes is None else None, "record": self.record,
        }  # fmt: skip
        records = np.column_stack([X, codes])
        budget = as_epsilon(self.epsilon)
        release: FunctionRelease | ClassRelease
        if len(names) == 2:
            release = KernelPlan(epsilon=budget, **facts).release(records, self._charged())
        else:
            part = budget / Fraction(len(names))
            plans = tuple(KernelPlan(epsilon=part, positive=i, **facts) for i in range(len(names)))
            release = ClassPlan(names, plans).release(records, self._charged())
        self.classes_ = classes
        return self._fitted_with(release)

    def _labelled(self, X: Records, y: Records) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Inputs, the number of each record's class (missing where it has none), and the classes.

        With a list of classes every label is read alone, as text, so that no record changes what another's means.
        """
        self._forget()
        if self.classes is None:
            if self.neighbors == "add-remove" or self.invalid == "center":
                raise ParameterError(
                    "which classes exist must be public here (add-remove, or invalid='center')",
                    "no list",
                    "Pass classes=['no', 'yes'].",
                )
            X, y = self._checked(X, y)
            check_classification_targets(y)
            warn_of_reading("classes")
            classes, codes = np.unique(y, return_inverse=True)
            return X, codes.astype(float), arrays.distinct(classes)
        classes = arrays.distinct(np.unique(np.asarray(self.classes)))
        if len(classes) != len(self.classes):
            raise ParameterError("classes must be different", "a repeated one", "List each class once.")
        X = arrays.lenient_inputs(self, X) if self.invalid == "center" else arrays.inputs(self, X)
        labels = list(y.tolist() if isinstance(y, np.ndarray) else y) if hasattr(y, "__len__") else []
        if len(labels) != len(X):
            raise RecordError("There must be one label per record", cure="Pass as many.")
        return X, Coder(tuple(map(label_text, classes))).column(labels), classes

    def decision_function(self, X: Records) -> np.ndarray:
        """Positive where the second class is predicted; with more than two, one column per class.

        With logistic loss and two classes it is the logarithm of the odds.

        Parameters
        ----------
        X : array or table of shape (rows, inputs)
            The inputs to predict for.
        """
        inputs = self._inputs(X)
        if isinstance(self.release_, FunctionRelease) and _is_logistic(self):
            return self.release_.log_odds(inputs)
        return decision(self.release_, inputs)

    def predict(self, X: Records) -> np.ndarray:
        """The class of each row of inputs.

        Parameters
        ----------
        X : array or table of shape (rows, inputs)
            The inputs to predict for.
        """
        scores = self.decision_function(X)
        values: np.ndarray = self.classes_[chosen_class(scores)]
        return values

    @available_if(_is_logistic)
    def predict_proba(self, X: Records) -> np.ndarray:
        """Probabilities of the classes (logistic loss), drawn towards one half by what the noise is known to add."""
        inputs = self._inputs(X)
        if not isinstance(self.release_, ClassRelease):
            likely = self.release_.probability(inputs)
            return np.column_stack([1 - likely, likely])
        each = np.column_stack([part.probability(inputs) for part in self.release_.values()])
        values: np.ndarray = each / each.sum(axis=1, keepdims=True)
        return values

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
        """The decision function: a curve, a heat map with its boundary, or the regions of several classes.

        Parameters
        ----------
        ax, level, kind, label, color, xlabel, ylabel, title, legend : optional
            As for :meth:`dpfda.results.Release.plot`.
        """
        check_is_fitted(self)
        look = plots.Look(label, color, xlabel, ylabel, title, legend)
        if isinstance(self.release_, ClassRelease):
            return self.release_.plot(ax, level, **look.words)
        return self.release_.plot(ax, level, kind, **look.words)
