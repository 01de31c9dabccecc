"""Searches, ensembles and the like fit a model many times: without a ledger, nobody adds up what that spends."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

from dpfda.core.errors import LedgerWarning

#: Parts of scikit-learn that fit clones of a model they are given, again and again.
REPEATING = tuple(
    f"sklearn.{part}"
    for part in (
        "model_selection", "calibration", "ensemble", "feature_selection", "inspection", "multiclass", "multioutput",
        "semi_supervised",
    )
)  # fmt: skip
_said: list[bool] = []


def warn_once() -> None:
    """Warn, once in a process, of a fit without a ledger that a search or an ensemble has called for."""
    if not _said and _is_repeated():
        _said.append(True)
        warnings.warn(
            "This fit without a ledger is one of several (a search, a cross-validation, an ensemble). Each of them "
            "spends its epsilon on the same data, and only the sum of all is guaranteed. Pass ledger=..., which adds "
            "them up and refuses fits beyond the budget.",
            LedgerWarning,
            stacklevel=4,
        )


def _is_repeated() -> bool:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith(REPEATING):
            return True
        frame = frame.f_back
    return False
