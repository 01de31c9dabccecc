"""What comes into a model: scikit-learn's own checks, without the contents that their messages may quote.

Where ``invalid="center"`` must make something of every record, cells are read one by one, so that no record
decides how another is read.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from dpfda.core.errors import ParameterError, RecordError, shown
from dpfda.core.labels import label_text
from dpfda.reading import source as readers
from dpfda.reading.curves import Records
from dpfda.reading.lazy_frames import is_lazy

#: Beginnings of messages that speak of shapes and kinds; what follows an "array=" in them is cut out.
HARMLESS = re.compile(
    r"Found array|Found input variables|Input [Xy] contains|Expected 2D|Sparse data|X has|The feature names"
    r"|Feature names|.*requires y|y should be|Unknown label type|bad input shape|float\(\) argument|.*minimum of|dtype="
)
NUMBERS = "Inputs and responses must be tables of numbers; some cell is not one."


def strict(model: BaseEstimator, X: Records, y: Records, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and responses as scikit-learn checks them; missing and infinite values are refused."""
    X, y = unmasked(X), unmasked(y)
    if model.neighbors == "add-remove" and getattr(X, "shape", (1,))[0] == 0 == getattr(y, "shape", (1,))[0]:
        return inputs(model, X), np.asarray(y, dtype=float)  # scikit-learn wants a response at least
    checked, responses = quietly(model, X, y=y, ensure_min_samples=_least(model), **options)
    if options.get("y_numeric") and responses.dtype.kind not in "fiub":
        raise ValueError(NUMBERS)
    return checked, responses


def inputs(model: BaseEstimator, X: Records, reset: bool = True) -> np.ndarray:
    """Inputs alone: to fit, or (`reset` False) to predict from with a fitted model."""
    checked: np.ndarray = quietly(model, unmasked(X), reset=reset, ensure_min_samples=_least(model) if reset else 1)
    return checked


def _least(model: BaseEstimator) -> int:
    """Where the number of records is private, any number will do."""
    return 0 if model.neighbors == "add-remove" else 2


def quietly(model: BaseEstimator, X: Records, **options: Any) -> Any:
    """A table as scikit-learn checks it, without contents in its errors."""
    if is_lazy(X):
        raise ParameterError("a model is fitted to a table", "a query that is not carried out yet", "Pass X.collect().")
    kind: type[Exception] = ValueError
    try:
        return validate_data(model, X, dtype=np.float64, **options)
    except (
        ValueError,
        TypeError,
        OverflowError,
    ) as error:  # its text may quote a cell, so it must not become our error's context
        message = str(error)
        kind = TypeError if isinstance(error, TypeError) else ValueError
    raise kind(_told(message, getattr(model, "neighbors", "replace") == "add-remove"))


def _told(message: str, private_count: bool) -> str:
    """A message without contents, and without numbers of records where those are private."""
    if "Complex data" in message:
        return "Complex data not supported."
    if not HARMLESS.match(message):
        return NUMBERS
    text = " ".join(re.sub(r"array=.*?(?=Reshape|$)", "", message, flags=re.DOTALL).split())
    return re.sub(r"\d+", "some", text) if private_count else text


def unmasked(values: Records) -> Records:
    """Masked values are missing ones."""
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.filled(values.astype(float), np.nan)
    return values


def lenient(model: BaseEstimator, X: Records, responses: Records, width: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and responses as numbers, cell by cell: whatever is none is missing, alone."""
    table = lenient_inputs(model, X)
    rows = _read(responses, width)
    if len(rows) != len(table):
        raise RecordError("There must be one response per record", cure="Pass as many.")
    return table, rows


def lenient_inputs(model: BaseEstimator, X: Records) -> np.ndarray:
    if isinstance(X, list | tuple):
        raise ParameterError(
            "with invalid='center' inputs must come as an array or a table",
            "a list",
            "A record must not decide the width.",
        )
    validate_data(model, X, skip_check_array=True)  # names and number of inputs
    return _read(X, model.n_features_in_)


def _read(values: Records, width: int) -> np.ndarray:
    batches = list(readers.Source(values, lenient=True, width=width).batches())
    return np.concatenate([np.empty((0, width)), *batches])


def refuse(options: dict[str, object], loss: str) -> None:
    """Options of another loss are refused: silence would fit something else than was asked for."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise ParameterError(f"loss={loss!r} does not take {given[0]}", shown(options[given[0]]), "Drop it.")


def distinct(classes: np.ndarray) -> np.ndarray:
    """At least two classes that differ in writing; labels may be private, so none is shown."""
    texts = {label_text(label) for label in classes}
    if len(classes) < 2 or len(texts) < len(classes):
        raise ParameterError(
            "a classifier needs at least two classes, and no two that are written alike",
            f"{len(texts)} of them",
            "Pass classes=[...].",
        )
    return classes
