"""The curves that a release of survival holds: survival itself, the cumulative incidence, the cumulative hazard."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dpfda.core.checks import check_choice
from dpfda.results.bands import Band

#: What a picture shows, and how it draws it.
Of = Literal["survival", "incidence", "hazard"]
NAMES = {"survival": "survival probability", "incidence": "cumulative incidence", "hazard": "cumulative hazard"}
#: Nobody is left below this.
NOBODY = 1e-12
#: What is made of survival.
OF = {"survival": lambda s: s, "incidence": lambda s: 1 - s, "hazard": lambda s: -np.log(np.maximum(s, NOBODY))}


def check_picture(kind: str, of: str, at_risk: bool) -> None:
    """Refuse a picture that there is none of."""
    check_choice("kind", kind, ("smooth", "steps", "map"))
    check_choice("of", of, tuple(NAMES))
    check_choice("at_risk", at_risk, (True, False))


def turned(band: Band, of: str) -> Band:
    """A band of survival as one of what is made of it."""
    if of == "survival":
        return band
    covers = band.covers.replace("survival", "incidence" if of == "incidence" else "cumulative hazard")
    return Band(band.t, OF[of](band.upper), OF[of](band.lower), band.level, covers)
