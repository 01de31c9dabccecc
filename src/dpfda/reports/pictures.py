"""Pictures of a release as data: charts of its curves with their bands, maps of its surfaces, one kind after the other.

>>> import numpy as np, dpfda as dp
>>> release = dp.mean(np.zeros((500, 12)), epsilon=1.0, bound=dp.L2Ball(1.0))
>>> (chart,) = pictures(release)
>>> [shade.look for shade in chart.shades]
['wide', 'band']
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import TypeAlias, cast

import numpy as np

from dpfda.pages.charts import Chart, HeatMap, Line, Numbers, Shade
from dpfda.pages.heatmaps import CELLS as WHOLE
from dpfda.reports.curves import LEVEL, Curve, axis_of, curves, is_line
from dpfda.reports.numbers import percent, short
from dpfda.results import (
    ClassRelease,
    CovarianceRelease,
    DensityRelease,
    Difference,
    FunctionRelease,
    GroupRelease,
    PercentileRelease,
    RadiusRelease,
    RegressionRelease,
    Release,
    SurvivalRelease,
)
from dpfda.results.measures import Measure
from dpfda.results.profiles import pairs_of
from dpfda.results.saved import Saved

Picture: TypeAlias = Chart | HeatMap
#: More groups than that are not drawn side by side, and cells of a map where there are several.
MOST, CELLS = 24, 72
#: Principal components that are drawn.
COMPONENTS = 3


@singledispatch
def pictures(release: Saved, level: float = LEVEL) -> list[Picture]:
    """The pictures of a release, a difference, or releases of groups and classes: what a report shows of them.

    Parameters
    ----------
    release : Release, GroupRelease, ClassRelease, RadiusRelease or Difference
        What was released.
    level : float, optional
        The probability of the bands.

    Returns
    -------
    list of Chart and HeatMap
        None of a number, nor of a function of more than two inputs.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> release = dp.density(np.linspace(0, 1, 900) ** 2, epsilon=1.0, domain=[(0, 1)])
    >>> [picture.ylabel for picture in pictures(release)]
    ['density']
    """
    assert isinstance(release, Release)  # kinds that are something else have their own below
    if is_line(release):
        found = curves(release, level)
        return [chart(each, release, small=len(found) > 1) for each in found]
    return [surface(release)] if release.dimension == 2 else []


@pictures.register
def _radius(release: RadiusRelease, level: float = LEVEL) -> list[Picture]:
    return []


# -- curves ---------------------------------------------------------------------------------


def line_name(release: Release) -> str:
    """What the line of a release is, in a legend."""
    if isinstance(release, RegressionRelease):
        return "the released coefficient"
    return f"the released {'slope' if release.order else release.query}"


def noise_words(level: float) -> str:
    """What the band of the noise alone means, in a legend."""
    return f"the noise alone: what these records give before noise lies inside everywhere at once, {percent(level)}"


def band_words(curve: Curve) -> str:
    """What the honest band means, in a legend."""
    if curve.covers_noise_only:
        return noise_words(curve.band.level)
    covered = f"the {curve.band.covers}, everywhere at once, {percent(curve.band.level)}"
    return f"noise, sampling and what is left out: {covered}"


def shades(curve: Curve, labels: bool = True) -> tuple[Shade, ...]:
    """The bands of a curve, the wide one first."""
    look = "band" if curve.covers_noise_only else "wide"
    found = [Shade(band_words(curve) if labels else "", curve.t, curve.band.lower, curve.band.upper, look)]
    if curve.noise is not None:
        name = noise_words(curve.noise.level) if labels else ""
        found.append(Shade(name, curve.t, curve.noise.lower, curve.noise.upper))
    return tuple(found)


def chart(curve: Curve, release: Release, small: bool = False, title: str = "") -> Chart:
    """A curve with its bands."""
    signed = isinstance(release, RegressionRelease) or (isinstance(release, FunctionRelease) and release.is_signed)
    zero = signed or (isinstance(release, DensityRelease) and not release.order)
    return Chart(
        (Line(line_name(release), curve.t, curve.values),),
        shades(curve),
        xlabel=release.along or curve.axis.label,
        ylabel=ylabel(release, curve.name),
        title=title or curve.name,
        description=description(curve),
        span=curve.axis.span,
        height=within(release, [curve]),
        zero=zero,
        small=small,
        legend=not small,
    )


def ylabel(release: Release, name: str = "") -> str:
    """What values of a release are; of a coefficient function, by which unit of its covariate."""
    if isinstance(release, FunctionRelease):
        return release.map_words[0]
    if isinstance(release, RegressionRelease):
        what = release.measure if release.plan.value is not None else Measure("coefficient")
        return f"{what} per unit" if name != release.names[0] and release.plan.value is not None else str(what)
    return str(release.measure)


def within(release: Release, found: list[Curve]) -> tuple[float, float] | None:
    """What values can be at all, cut to what is drawn with a little room; None where nothing limits them."""
    if release.within is None:
        return None
    low, high = release.within
    drawn = [side for curve in found for side in (curve.values, curve.band.lower, curve.band.upper)]
    least, most = min(float(each.min()) for each in drawn), max(float(each.max()) for each in drawn)
    room = 0.04 * (most - least) or 0.02 * (high - low)
    return max(low, least - room) if least > low else low - room / 2, min(
        high, most + room
    ) if most < high else high + room / 2


def description(curve: Curve) -> str:
    """A curve in a sentence, for those who cannot see it."""
    t, values = curve.t, curve.values
    low, high = int(values.argmin()), int(values.argmax())
    half = (curve.band.upper - curve.band.lower) / 2
    wide = f" The band is {short(float(half.max()))} to either side at most." if np.isfinite(half).all() else ""
    return (
        f"A line from {short(float(values[0]))} at {short(float(t[0]))} to {short(float(values[-1]))} at "
        f"{short(float(t[-1]))}; lowest {short(float(values[low]))} at {short(float(t[low]))}, highest "
        f"{short(float(values[high]))} at {short(float(t[high]))}.{wide}"
    )


@pictures.register
def _percentiles(release: PercentileRelease, level: float = LEVEL) -> list[Picture]:
    return [profile(release, level)]


def profile(release: PercentileRelease, level: float = LEVEL, small: bool = False, title: str = "") -> Chart:
    """The median, shades between pairs of percentiles, and the band of the median as thin lines."""
    found, (pairs, others) = curves(release, level), pairs_of(release.levels)
    middle = [place for place in others if abs(release.levels[place] - 0.5) < 1e-9]
    t = release.grid.points
    looks = ["wide" if i < (len(pairs) + 1) // 2 else "band" for i in range(len(pairs))]
    between = tuple(
        Shade(
            f"{found[low].name} to {found[high].name} of the population", t, found[low].values, found[high].values, look
        )
        for (low, high), look in zip(pairs, looks, strict=True)
    )
    lines = [Line("median", t, found[place].values) for place in middle]
    rest = [place for place in others if place not in middle]
    lines += [Line(found[place].name, t, found[place].values, colour=1 + i) for i, place in enumerate(rest)]
    about = (middle or rest or list(pairs[-1]))[:1]
    name = f"{percent(level)} band of the {'median' if middle else found[about[0]].name}"
    lines += [Line(name, t, side, look="muted") for place in about for side in found[place].band]
    return Chart(
        tuple(lines),
        between,
        xlabel=release.grid.label,
        ylabel=str(release.measure),
        title=title,
        description=description(found[about[0]]),
        span=release.grid.span,
        height=within(release, found),
        small=small,
        legend=not small,
    )


@pictures.register
def _survival(release: SurvivalRelease, level: float = LEVEL) -> list[Picture]:
    return [staircase(release, level)]


def staircase(release: SurvivalRelease, level: float = LEVEL, small: bool = False, title: str = "") -> Chart:
    """Survival in steps at bins of the counts, and its band."""
    values, band = release.drawn_as(level, True, "survival")
    t, (whole,) = release.step_times, curves(release, level)
    look = "band" if whole.covers_noise_only else "wide"
    return Chart(
        (Line("the released survival curve", t, values, steps=True),),
        (Shade(band_words(whole), t, band.lower, band.upper, look, steps=True),),
        xlabel=release.grid.label,
        ylabel=str(release.measure),
        title=title,
        description=description(whole),
        span=release.grid.axes[0].span,
        height=(0.0, 1.0),
        small=small,
        legend=not small,
    )


# -- surfaces -------------------------------------------------------------------------------


def surface(release: Release, title: str = "", top: float | None = None, cells: int = WHOLE) -> HeatMap:
    """A surface as a map."""
    first, second = release.grid.axes
    values = release.values
    low, high = float(values.min()), float(values.max())
    return HeatMap(
        values.T,
        first.span,
        second.span,
        first.label,
        second.label,
        release.map_words[0],
        title,
        f"A map of values from {short(low)} to {short(high)}.",
        diverging=release.is_signed,
        top=top,
        cells=cells,
    )


@pictures.register
def _covariance(release: CovarianceRelease, level: float = LEVEL) -> list[Picture]:
    whole, k = surface(release), min(COMPONENTS, release.rank)
    if not k:
        return [whole]
    shares, axis = release.explained_variance_ratio(k), release.plan.grid
    angles, band = release.eigenfunction_angles(k, level), release.eigenfunction_band(k, level)
    found: list[Picture] = [whole]
    for i, function in enumerate(release.eigenfunctions(k)):
        sure = angles[i] < 90
        words = f"off by at most {angles[i]:.0f}°" if sure else "may be noise"
        known = f"of the population, everywhere at once, {percent(level)}"
        limits = (Shade(f"the component {known}", axis.points, band.lower[i], band.upper[i], "wide"),) if sure else ()
        line = Line("the released component", axis.points, function)
        title = f"Component {i + 1}: {100 * shares[i]:.0f} % of the variance, {words}"
        found.append(
            Chart((line,), limits, axis.label, "", title, title, span=axis.span, zero=True, small=True, legend=False)
        )
    return found


@pictures.register
def _density(release: DensityRelease, level: float = LEVEL) -> list[Picture]:
    if release.dimension == 1:
        return [chart(each, release) for each in curves(release, level)]
    if release.dimension == 2:
        return [surface(release)]
    found: list[Picture] = []
    for pair in ((0, 1), (0, 2), (1, 2)):
        part = release.marginal(*pair)
        first, second = part.grid.axes
        words = (first.label, second.label, "density", f"{first.name} and {second.name}")
        found.append(HeatMap(part.values.T, first.span, second.span, *words, cells=CELLS))
    return found


# -- several --------------------------------------------------------------------------------


@pictures.register(GroupRelease)
def _groups(release: GroupRelease[Release], level: float = LEVEL) -> list[Picture]:
    """Each group, all on the same scales."""
    parts = dict(list(release.releases.items())[:MOST])
    first = next(iter(parts.values()))
    if isinstance(first, PercentileRelease):
        return _alike([profile(cast(PercentileRelease, part), level, True, name) for name, part in parts.items()])
    if isinstance(first, SurvivalRelease):
        return _alike([staircase(cast(SurvivalRelease, part), level, True, name) for name, part in parts.items()])
    if is_line(first):
        made = [
            chart(each, part, small=True, title=f"{name}: {each.name}" if each.name else name)
            for name, part in parts.items()
            for each in curves(part, level)
        ]
        return _alike(made)
    if first.dimension == 2:
        top = max(float(np.abs(part.values).max()) for part in parts.values())
        return [surface(part, name, top, CELLS) for name, part in parts.items()]
    return []


def _alike(charts: list[Chart]) -> list[Picture]:
    """The same heights in all of them."""
    sides = [np.asarray(side, float) for each in charts for side in _sides(each)]
    finite = np.concatenate([side[np.isfinite(side)] for side in sides])
    low, high = float(finite.min()), float(finite.max())
    room = 0.04 * (high - low) or 0.1
    height = charts[0].height if charts[0].height == (0.0, 1.0) else (low - room, high + room)
    return [replace(each, height=height) for each in charts]


def _sides(chart: Chart) -> list[Numbers]:
    return [line.y for line in chart.lines] + [side for shade in chart.shades for side in (shade.lower, shade.upper)]


@pictures.register
def _classes(release: ClassRelease, level: float = LEVEL) -> list[Picture]:
    first = next(iter(release.values()))
    if first.dimension == 2:
        one, two = first.grid.axes
        best = np.argmax([part.values for part in release.values()], axis=0)
        words = (one.label, two.label, "", "", "Which class is predicted where.")
        return [HeatMap(best.T, one.span, two.span, *words, names=tuple(release))]
    if first.dimension > 2:
        return []
    axis = axis_of(first)
    lines = tuple(
        Line(f"{name} (the highest is predicted)" if not i else name, axis.points, part.values, colour=i)
        for i, (name, part) in enumerate(release.items())
    )
    about = "The decision function of each class; the highest is predicted."
    return [Chart(lines, (), axis.label, "decision", "", about, span=axis.span)]


@pictures.register
def _difference(release: Difference, level: float = LEVEL) -> list[Picture]:
    words = str(release.left.measure.more("difference in"))
    name = f"{release.first} minus {release.second}"
    if not is_line(release):
        if release.left.dimension != 2:
            return []
        first, second = release.grid.axes
        return [HeatMap(release.values.T, first.span, second.span, first.label, second.label, words, diverging=True)]
    found = curves(release, level)
    made: list[Picture] = []
    for each in found:
        marks = tuple(each.apart) if release.has_bands else ()
        look = "band" if each.covers_noise_only else "wide"
        shade = Shade(band_words(each), each.t, each.band.lower, each.band.upper, look)
        made.append(
            Chart(
                (Line(f"{name}, as released", each.t, each.values),),
                (shade,),
                each.axis.label,
                words,
                each.name,
                description(each),
                span=each.axis.span,
                zero=True,
                marks=marks,
                marked=f"zero is outside the {percent(level)} band: they differ there",
                small=len(found) > 1,
                legend=len(found) == 1,
            )
        )
    return made
