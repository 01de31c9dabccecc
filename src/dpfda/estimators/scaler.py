"""A scaler that learns nothing: what may stand before a private model in a pipeline."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from dpfda.core.errors import ParameterError, shown
from dpfda.estimators import validation as arrays
from dpfda.estimators.base import Ranges, domain_for
from dpfda.reading.curves import Records


class PublicScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Inputs from their public ranges to [0, 1]; what lies outside is moved to the edge, what is missing stays so.

    Nothing is learnt from the data, so nothing is spent: each row is scaled alone. (scikit-learn's own scalers learn
    from all rows: before a private model they are a leak.)

    Parameters
    ----------
    domain : sequence of (low, high), mapping or (low, high)
        One public range per input, by name if you like, or a single one for all.

    Examples
    --------
    >>> import numpy as np
    >>> PublicScaler(domain=[(0, 110), (0, 200)]).fit_transform(np.array([[55.0, 50.0], [120.0, 200.0]])).tolist()
    [[0.5, 0.25], [1.0, 1.0]]
    """

    def __init__(self, domain: Ranges = None):
        self.domain = domain

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.requires_fit = True
        return tags

    def fit(self, X: Records, y: Records = None) -> Self:
        """Check the ranges, and that there is one for each column of numbers. Nothing is learnt.

        Parameters
        ----------
        X : array or table of shape (rows, inputs)
            One row for each record.
        y : None
            Ignored; pipelines pass it.
        """
        arrays.quietly(self, arrays.unmasked(X), ensure_all_finite=False)
        self._box()
        return self

    def transform(self, X: Records) -> np.ndarray:
        """Each value on the scale of its range.

        Parameters
        ----------
        X : array or table of shape (rows, inputs)
            One row for each record.
        """
        check_is_fitted(self, "n_features_in_")
        low, high = self._box()
        rows = arrays.quietly(self, arrays.unmasked(X), reset=False, ensure_all_finite=False)
        return np.asarray((np.clip(rows, low, high) - low) / (high - low))

    def inverse_transform(self, X: Records) -> np.ndarray:
        """Back from [0, 1] to the ranges.

        Parameters
        ----------
        X : array of shape (rows, inputs)
            Values on [0, 1].
        """
        check_is_fitted(self, "n_features_in_")
        low, high = self._box()
        values: np.ndarray = low + np.asarray(X, dtype=float) * (high - low)
        return values

    def _box(self) -> tuple[np.ndarray, np.ndarray]:
        cure = "Pass domain=[(0, 110), (0, 200)], one range per input: it is never read from the data."
        if self.domain is None:
            raise ParameterError("a scaler needs public ranges", "none", cure)
        ranges = domain_for(self.domain, self.n_features_in_, getattr(self, "feature_names_in_", None))
        try:
            low, high = np.array([(float(low), float(high)) for low, high in ranges]).T
        except (TypeError, ValueError):
            raise ParameterError("a domain is one pair of numbers per input", shown(self.domain), cure) from None
        if not (np.isfinite(low).all() and np.isfinite(high).all() and (low < high).all()):
            raise ParameterError("a range runs from a number to a larger one", shown(self.domain), cure)
        return low, high
