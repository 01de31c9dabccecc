"""Functional summaries released under pure differential privacy.

>>> import numpy as np, dpfda as dp
>>> curves = np.random.default_rng(0).uniform(0, 1, (1000, 48))
>>> release = dp.mean(curves, epsilon=1.0, bound=dp.L2Ball(1.0))
>>> release.values.shape
(48,)

What most people need is here; the rest is in submodules, by what it is: ``dp.methods.KNorm``, ``dp.kernels.Matern``,
``dp.errors.RecordError``. Each is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from dpfda.core.version import VERSION

__version__ = VERSION

if TYPE_CHECKING:
    from dpfda import (
        audits,
        bounds,
        datasets,
        engines,
        errors,
        estimators,
        kernels,
        methods,
        noise,
        plans,
        postprocess,
        reading,
        reports,
        results,
        selection,
        spaces,
    )
    from dpfda.api import compare, covariance, density, load, mean, percentiles, read, sql, suggest_radius, survival
    from dpfda.audits import audit
    from dpfda.bounds import RMS, Above, L2Ball, Range, TimeAbove
    from dpfda.errors import DpfdaError
    from dpfda.estimators import FunctionOnScalarRegression, KernelClassifier, KernelRegressor
    from dpfda.ledger import Ledger
    from dpfda.methods import Auto
    from dpfda.plans import CovariancePlan, DensityPlan, MeanPlan, PercentilePlan, SurvivalPlan
    from dpfda.reading import Lists, Long
    from dpfda.reports import report
    from dpfda.results import Release
    from dpfda.spaces import Grid, Unit

#: Names at the top, by the submodule that they are loaded from.
_HOMES = {
    "api": (
        "compare",
        "covariance",
        "density",
        "load",
        "mean",
        "percentiles",
        "read",
        "sql",
        "suggest_radius",
        "survival",
    ),
    "audits": ("audit",),
    "bounds": ("Above", "L2Ball", "RMS", "Range", "TimeAbove"),
    "errors": ("DpfdaError",),
    "estimators": ("FunctionOnScalarRegression", "KernelClassifier", "KernelRegressor"),
    "ledger": ("Ledger",),
    "methods": ("Auto",),
    "plans": ("CovariancePlan", "DensityPlan", "MeanPlan", "PercentilePlan", "SurvivalPlan"),
    "reading": ("Lists", "Long"),
    "reports": ("report",),
    "results": ("Release",),
    "spaces": ("Grid", "Unit"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_SUBMODULES = (
    "audits",
    "bounds",
    "datasets",
    "engines",
    "errors",
    "estimators",
    "kernels",
    "methods",
    "noise",
    "plans",
    "postprocess",
    "reading",
    "reports",
    "results",
    "selection",
    "spaces",
)

__all__ = [
    "RMS",
    "Above",
    "Auto",
    "CovariancePlan",
    "DensityPlan",
    "DpfdaError",
    "FunctionOnScalarRegression",
    "Grid",
    "KernelClassifier",
    "KernelRegressor",
    "L2Ball",
    "Ledger",
    "Lists",
    "Long",
    "MeanPlan",
    "PercentilePlan",
    "Range",
    "Release",
    "TimeAbove",
    "SurvivalPlan",
    "Unit",
    "audit",
    "audits",
    "bounds",
    "compare",
    "covariance",
    "datasets",
    "density",
    "engines",
    "errors",
    "estimators",
    "kernels",
    "load",
    "mean",
    "methods",
    "noise",
    "percentiles",
    "plans",
    "postprocess",
    "read",
    "reading",
    "report",
    "reports",
    "results",
    "selection",
    "spaces",
    "sql",
    "suggest_radius",
    "survival",
]


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        return import_module(f"dpfda.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'dpfda' has no attribute {name!r}{_elsewhere(name)}")
    value = getattr(import_module(f"dpfda.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def _elsewhere(name: str) -> str:
    """Where a name is, for somebody who looks for it at the top.

    ``from dpfda import api`` asks for the name too, before it loads the module: nothing else is loaded for that.
    """
    if name.startswith("_") or find_spec(f"dpfda.{name}") is not None:
        return ""
    homes = [m for m in _SUBMODULES if hasattr(import_module(f"dpfda.{m}"), name)]
    return f": it is dp.{homes[0]}.{name}" if homes else ""


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
