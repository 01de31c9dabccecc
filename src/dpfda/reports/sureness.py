"""How sure a released curve is: how wide its bands are, what they hold, and what they do not."""

from __future__ import annotations

import numpy as np

from dpfda.reports.curves import LEVEL, Curve, curves, is_line
from dpfda.reports.numbers import half_widths, percent
from dpfda.reports.words import parts_of, price_of
from dpfda.results import Difference, MeanRelease, RadiusRelease, Release, SurvivalDifference
from dpfda.results.joint import JointRelease
from dpfda.results.measures import Measure
from dpfda.results.saved import Saved
from dpfda.results.statements import told_of_each


def how_sure(thing: Saved, level: float = LEVEL) -> list[str]:
    """What is known about the error, in paragraphs."""
    verdict = f"The verdict before any data was read. {price_of(thing).verdict.sentence}"
    if isinstance(thing, RadiusRelease):
        return [verdict]
    if isinstance(thing, Difference):
        tests = [str(thing.test(level))] if thing.has_bands else []
        return [*widths(thing, level), thing.band_promise, *tests, *mean_times(thing, level)]
    promise = promises(thing)
    left = [str(part.left_out) for part in parts_of(thing).values() if isinstance(part, MeanRelease) and part.left_out]
    if isinstance(thing, JointRelease):
        found = {name: " ".join(widths(part, level)) for name, part in thing.items()}
        return [*(f"{name}: {words}" for name, words in found.items() if words), promise, verdict]
    return [*widths(thing, level), " ".join([promise, *left]), verdict]


def promises(thing: Release | JointRelease[Release]) -> str:
    """What the bands promise."""
    if isinstance(thing, JointRelease):
        return told_of_each({name: part.band_promise for name, part in thing.items()})
    return thing.band_promise


def widths(release: Release | Difference, level: float = LEVEL) -> list[str]:
    """How wide bands are, in the unit of the values."""
    left = release.left if isinstance(release, Difference) else release
    unit = left.measure.unit
    if is_line(release):
        found = curves(release, level)
        if len(found) > 1:
            return [_several(found, unit)]
        return [_width(found[0], unit)]
    band = release.shown_band(level)
    name = "noise" if band.covers == "noise only" else "confidence"
    return [f"The {percent(level)} {name} band is {_sized(band.lower, band.upper, unit)}."]


def _width(curve: Curve, unit: str) -> str:
    kind = "noise" if curve.covers_noise_only else "confidence"
    words = f"the {percent(curve.band.level)} {kind} band is {_sized(curve.band.lower, curve.band.upper, unit)}"
    if curve.noise is not None:
        words = f"the noise band is {_sized(curve.noise.lower, curve.noise.upper, unit)}, {words}"
    last = "it holds" if curve.noise is None else "each holds"
    return (
        f"{words[:1].upper()}{words[1:]}; {last} at all points at once, and a feature smaller than this may be noise."
    )


def _several(found: list[Curve], unit: str) -> str:
    """The bands of several curves, which hold for all of them at once."""
    kind = "noise" if found[0].covers_noise_only else "confidence"
    each = "; ".join(f"{curve.name}: {_sized(curve.band.lower, curve.band.upper, unit)}" for curve in found)
    return (
        f"The {percent(found[0].band.level)} {kind} bands are, {each}. They hold for all curves and all points "
        "at once, and a feature smaller than this may be noise."
    )


def _sized(lower: np.ndarray, upper: np.ndarray, unit: str) -> str:
    return f"{half_widths(lower, upper)}{f' {unit}' if unit else ''}"


def mean_times(thing: Difference, level: float) -> list[str]:
    """By how much mean survival times differ."""
    if not isinstance(thing, SurvivalDifference):
        return []
    found, axis = thing.rmst(None, level), Measure.of(thing.grid.axes[0].label)
    unit = f" {axis.unit}" if axis.unit else ""
    return [
        f"The mean time without the event, up to {thing.left.horizon:g}{unit}, differs by {found.value:.3g}{unit} "
        f"({percent(level)} interval {found.lower:.3g} to {found.upper:.3g})."
    ]
