"""Tables of a release as data: every point of a grid, or so many that a printed page has room for.

>>> import numpy as np, dpfda as dp
>>> release = dp.mean(np.zeros((500, 24)), epsilon=1.0, bound=dp.L2Ball(1.0))
>>> len(table(release).rows), len(table(release, rows=12).rows)
(24, 12)
"""

from __future__ import annotations

from functools import singledispatch
from itertools import product

import numpy as np

from dpfda.reports.curves import LEVEL, Curve, axis_of, curves, is_line
from dpfda.reports.numbers import between, fixed, percent, places, places_for, short, spread_places
from dpfda.reports.parts import Table
from dpfda.results import (
    ClassRelease,
    CovarianceRelease,
    DensityRelease,
    Difference,
    GroupRelease,
    RadiusRelease,
    Release,
    SurvivalRelease,
)
from dpfda.results.saved import Saved
from dpfda.results.survival_bands import Estimate
from dpfda.spaces.grid import Grid

#: Rows of a table in print, and columns of a table over a plane.
PRINTED, ACROSS = 12, 6
#: Shares whose quantiles are told of a density.
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


def chosen(size: int, rows: int | None) -> np.ndarray:
    """Places of a grid that are listed: all, or every so many.

    >>> chosen(5, None).tolist(), chosen(48, 12)[:3].tolist()
    ([0, 1, 2, 3, 4], [0, 4, 8])
    """
    return np.arange(0, size, 1 if rows is None or size <= rows else -(-size // rows))


@singledispatch
def table(release: Saved, rows: int | None = None, level: float = LEVEL) -> Table:
    """The numbers of a release with their bands, as texts that are rounded by how sure they are.

    Parameters
    ----------
    release : Release, GroupRelease, ClassRelease, RadiusRelease or Difference
        What was released.
    rows : int, optional
        About how many rows, evenly chosen. Default: every point of the grid.
    level : float, optional
        The probability of the bands.

    Returns
    -------
    Table
        Its head, and rows of texts.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> release = dp.mean(np.zeros((500, 24)), epsilon=1.0, bound=dp.L2Ball(1.0))
    >>> table(release).head
    ('t', 'mean', '95 % noise band', '95 % confidence band')
    """
    assert isinstance(release, Release)  # kinds that are something else have their own below
    if is_line(release):
        return of_curves(curves(release, level), axis_of(release), str(release.measure), rows)
    return of_points(release, rows, level)


def of_curves(found: list[Curve], axis: Grid, name: str, rows: int | None) -> Table:
    """Curves on a line: a column each, and columns for the bands where there is one curve."""
    where = chosen(axis.size, rows)
    along = axis_texts(axis.points, where)
    if len(found) == 1:
        (curve,) = found
        decimals = places_for(curve.band.lower, curve.band.upper, curve.values)
        if curve.noise is not None:
            decimals = max(decimals, places_for(curve.noise.lower, curve.noise.upper, curve.values))
        columns = [[fixed(float(curve.values[i]), decimals) for i in where]]
        bands = [(band_name(band.covers, band.level), band) for band in (curve.noise, curve.band) if band is not None]
        columns += [[between(float(b.lower[i]), float(b.upper[i]), decimals) for i in where] for _, b in bands]
        head = (axis.label, name, *(words for words, _ in bands))
    else:
        columns = [_with_band(curve, where) for curve in found]
        head = (axis.label, *(curve.name for curve in found))
    return Table(head, tuple(zip(along, *columns, strict=True)), _caption(found, axis, where))


def _with_band(curve: Curve, where: np.ndarray) -> list[str]:
    decimals = places_for(curve.band.lower, curve.band.upper, curve.values)
    value, lower, upper = curve.values, curve.band.lower, curve.band.upper
    return [
        f"{fixed(float(value[i]), decimals)} ({between(float(lower[i]), float(upper[i]), decimals)})" for i in where
    ]


def _caption(found: list[Curve], axis: Grid, where: np.ndarray) -> str:
    several = f"; in brackets the {band_name(found[0].band.covers, found[0].band.level)}" if len(found) > 1 else ""
    if len(where) == axis.size:
        return f"All {axis.size} points of the grid{several}."
    return f"{len(where)} of {axis.size} points of the grid{several}; the table as CSV has all of them."


def band_name(covers: str, level: float) -> str:
    """What a column of a band is called."""
    return f"{percent(level)} {'noise' if covers == 'noise only' else 'confidence'} band"


def axis_texts(points: np.ndarray, where: np.ndarray) -> list[str]:
    """Numbers of an axis, as short as they are."""
    return [short(float(points[i]), 5) for i in where]


def of_points(release: Release, rows: int | None, level: float) -> Table:
    """Values over several axes: all of them in a list, or a part of a plane as a square."""
    grid, values = release.grid, release.values
    if len(grid.axes) == 2 and rows is not None:
        return _plane(release, rows)
    band = release.shown_band(level)
    flat = [each.ravel() for each in (values, band.lower, band.upper)]
    decimals = places_for(flat[1], flat[2], flat[0])
    steps = [
        chosen(axis.size, None if rows is None else max(2, round(rows ** (1 / len(grid.axes))))) for axis in grid.axes
    ]
    places_in_grid = list(product(*steps))
    places_flat = [int(np.ravel_multi_index(place, grid.shape)) for place in places_in_grid]
    lines = []
    for place, i in zip(places_in_grid, places_flat, strict=True):
        point = [short(float(axis.points[p]), 5) for axis, p in zip(grid.axes, place, strict=True)]
        limits = between(float(flat[1][i]), float(flat[2][i]), decimals)
        lines.append((*point, fixed(float(flat[0][i]), decimals), limits))
    head = (*(axis.label for axis in grid.axes), release.map_words[0], band_name(band.covers, level))
    return Table(head, tuple(lines), _part_of(len(lines), grid.size))


def _plane(release: Release, rows: int) -> Table:
    first, second = release.grid.axes
    down, across = chosen(first.size, rows), chosen(second.size, ACROSS)
    values = release.values
    decimals = spread_places(values)
    lines = tuple(
        (short(float(first.points[i]), 5), *(fixed(float(values[i, j]), decimals) for j in across)) for i in down
    )
    head = (f"{first.label} (down), {second.label} (across)", *axis_texts(second.points, across))
    return Table(head, lines, f"{release.map_words[0]}: {_part_of(len(down) * len(across), release.grid.size)}")


def _part_of(shown: int, size: int) -> str:
    if shown == size:
        return f"All {size} points of the grid."
    return f"{shown} of {size} points of the grid; the table as CSV has all of them."


@table.register
def _covariance(release: CovarianceRelease, rows: int | None = None, level: float = LEVEL) -> Table:
    """Variances along the curve, in print; every pair where all is asked for."""
    if rows is None:
        return of_points(release, None, level)
    axis, band = release.plan.grid, release.shown_band(level)
    where = chosen(axis.size, rows)
    variance, lower, upper = (np.diag(each) for each in (release.values, band.lower, band.upper))
    decimals = places_for(lower, upper, variance)
    lines = tuple(
        (text, fixed(float(variance[i]), decimals), between(float(lower[i]), float(upper[i]), decimals))
        for text, i in zip(axis_texts(axis.points, where), where, strict=True)
    )
    head = (axis.label, str(release.measure).replace("covariance", "variance", 1), band_name(band.covers, level))
    caption = f"Variances at {len(where)} of {axis.size} points; the table as CSV has all pairs of points."
    return Table(head, lines, caption)


@table.register
def _survival(release: SurvivalRelease, rows: int | None = None, level: float = LEVEL) -> Table:
    plain = of_curves(curves(release, level), axis_of(release), str(release.measure), rows)
    where = chosen(release.grid.size, rows)
    numbers = release.at_risk(release.grid.points[where])
    lines = tuple((*row, f"{max(round(float(n)), 0):,}") for row, n in zip(plain.rows, numbers, strict=True))
    return Table((*plain.head, "about so many at risk"), lines, plain.caption)


@table.register
def _radius(release: RadiusRelease, rows: int | None = None, level: float = LEVEL) -> Table:
    return Table(("what", "value"), (("radius", f"{release.radius:.6g}"), ("about", release.about)))


@table.register(GroupRelease)
def _groups(release: GroupRelease[Release], rows: int | None = None, level: float = LEVEL) -> Table:
    """Groups side by side, where each is one curve; else one after the other."""
    parts = {name: (part, curves(part, level) if is_line(part) else []) for name, part in release.releases.items()}
    if all(len(found) == 1 for _, found in parts.values()) and (rows is None or len(parts) <= ACROSS):
        named = [Curve(name, found[0].axis, found[0].values, found[0].band) for name, (_, found) in parts.items()]
        if len(named) > 1:
            first = next(iter(release.values()))
            return of_curves(named, axis_of(first), str(first.measure), rows)
    each = None if rows is None else max(3, rows // len(parts))
    tables = {name: table(part, each, level) for name, (part, _) in parts.items()}
    lines = tuple((name, *row) for name, part in tables.items() for row in part.rows)
    some = next(iter(tables.values()))
    return Table((release.plan.member_word, *some.head), lines, some.caption)


@table.register
def _classes(release: ClassRelease, rows: int | None = None, level: float = LEVEL) -> Table:
    """Decision functions side by side, and which class they predict."""
    first, names = next(iter(release.values())), list(release)
    grid, values = first.grid, np.array([part.values for part in release.values()])
    steps = [
        chosen(axis.size, None if rows is None else max(2, round(rows ** (1 / len(grid.axes))))) for axis in grid.axes
    ]
    decimals, lines = spread_places(values), []
    for place in product(*steps):
        point = [short(float(axis.points[p]), 5) for axis, p in zip(grid.axes, place, strict=True)]
        found = values[(slice(None), *place)]
        lines.append((*point, names[int(found.argmax())], *(fixed(float(value), decimals) for value in found)))
    head = (*(axis.label for axis in grid.axes), "predicted", *names)
    return Table(head, tuple(lines), _part_of(len(lines), grid.size))


@table.register
def _difference(release: Difference, rows: int | None = None, level: float = LEVEL) -> Table:
    words = f"{release.first} minus {release.second}"
    if is_line(release):
        return of_curves(curves(release, level), axis_of(release), words, rows)
    band, grid = release.shown_band(level), release.grid
    flat = [each.ravel() for each in (release.values, band.lower, band.upper)]
    where, decimals = chosen(grid.size, rows), places_for(flat[1], flat[2], flat[0])
    points = grid.points.reshape(grid.size, -1)
    lines = tuple(
        (
            *(short(float(x), 5) for x in points[i]),
            fixed(float(flat[0][i]), decimals),
            between(float(flat[1][i]), float(flat[2][i]), decimals),
        )
        for i in where
    )
    head = (*(axis.label for axis in grid.axes), words, band_name(band.covers, level))
    return Table(head, lines, _part_of(len(where), grid.size))


# -- what else is told of some kinds ----------------------------------------------------------


def more_tables(release: object, level: float = LEVEL) -> list[Table]:
    """Numbers that are read off a release: components of a covariance, quantiles of a density, survival times."""
    if isinstance(release, CovarianceRelease):
        return [components(release, level)] if release.rank else []
    if isinstance(release, DensityRelease) and release.dimension == 1 and not release.order:
        return [quantiles(release, level)]
    if isinstance(release, SurvivalRelease):
        return [times(release, level)]
    return []


def components(release: CovarianceRelease, level: float = LEVEL, most: int = 6) -> Table:
    """The leading principal components: how much they explain, and how sure they are."""
    k = min(most, release.rank)
    variances, shares = release.explained_variance(k), release.explained_variance_ratio(k)
    angles = release.eigenfunction_angles(k, level)
    lines = tuple(
        (
            f"{i + 1}",
            short(float(variances[i])),
            f"{100 * shares[i]:.1f} %",
            f"{100 * shares[: i + 1].sum():.1f} %",
            f"off by at most {angles[i]:.0f}°" if angles[i] < 90 else "may be noise",
        )
        for i in range(k)
    )
    head = ("component", "variance", "share", "together", f"how sure, {percent(level)}")
    return Table(head, lines, "Principal components: shares are of the variance that the release shows.")


def quantiles(release: DensityRelease, level: float = LEVEL) -> Table:
    """The values below which some shares lie."""
    found = release.quantile(np.array(SHARES))
    name = f"value of {release.grid.axes[0].label}"
    if not release.has_bands:
        decimals = spread_places(found)
        rows = tuple((percent(p), fixed(float(q), decimals)) for p, q in zip(SHARES, found, strict=True))
        return Table(("share below", name), rows, "Quantiles of the released density.")
    band = release.quantile_band(np.array(SHARES), level)
    decimals = places_for(band.lower, band.upper, found)
    lines = tuple(
        (percent(p), fixed(float(q), decimals), between(float(band.lower[i]), float(band.upper[i]), decimals))
        for i, (p, q) in enumerate(zip(SHARES, found, strict=True))
    )
    return Table(
        ("share below", name, f"{percent(level)} interval, all at once"), lines, "Quantiles of the released density."
    )


def times(release: SurvivalRelease, level: float = LEVEL) -> Table:
    """Median and mean survival times."""
    horizon = short(release.horizon, 6)
    lines = (
        ("median: half have had the event by", *estimate(release.median(level), "beyond the horizon")),
        (f"mean time without the event, up to {horizon}", *estimate(release.rmst(None, level), "")),
    )
    return Table(("survival time", release.grid.axes[0].label, f"{percent(level)} interval"), lines, "Survival times.")


def estimate(found: Estimate, beyond: str) -> tuple[str, str]:
    """An estimate and its interval; what is infinite comes later than anybody was watched."""
    half = [abs(end - found.value) for end in (found.lower, found.upper) if np.isfinite(end - found.value)]
    decimals = places(max(half, default=0.0))
    value, lower, upper = (
        fixed(each, decimals) if np.isfinite(each) else beyond for each in (found.value, found.lower, found.upper)
    )
    return value, f"{lower} to {upper}"
