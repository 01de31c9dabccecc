"""Values that many records share: where noisy shares of cells stand out from those around them.

Counts, rounded readings and zeros lie on a few values. A smooth density is multiplied, cell by cell, by factors that
put its mass there.
"""

from __future__ import annotations

import numpy as np

#: Cells to each side that belong to an atom; how many standard deviations it stands out from the four around it: with
#: Laplace noise, one of 1,024 cells does so by itself in about one of a hundred releases.
REACH, SIGNAL = 32, 6.7
#: How far the mass around an atom is moved towards what was counted, as factors; the least that is left beside it.
MOST_MOVED, LEAST = 4.0, 1e-3
#: A cell whose factor is above it is an atom.
ATOM = 1.5


def stand_out(shares: np.ndarray, sd: float) -> np.ndarray:
    """Which cells hold more than those around them, beyond noise of this standard deviation.

    >>> stand_out(np.array([0.1, 0.1, 0.9, 0.1, 0.1, 0.1]), 0.02).nonzero()[0].tolist()
    [2]
    """
    padded = np.pad(shares, 2, constant_values=np.nan)
    around = np.nanmean(np.stack([padded[i : i + shares.size] for i in (0, 1, 3, 4)]), axis=0)
    return np.asarray(shares - around > SIGNAL * sd * np.sqrt(1.3))


def factors_of(shares: np.ndarray, sd: float, smooth: np.ndarray | None = None) -> np.ndarray | None:
    """A factor for each cell that gives a smooth density the atoms of noisy shares; None where there are none.

    `smooth` is a fit that was made with such factors: then masses around atoms are moved towards the shares too.
    """
    places = np.flatnonzero(stand_out(shares, sd) & (shares > sd))  # noise can also leave less than nothing
    if not places.size:
        return None
    between = (places[:-1] + places[1:] + 1) // 2
    first = np.maximum(np.append(0, between), places - REACH)
    last = np.minimum(np.append(between, shares.size), places + REACH + 1)
    found = np.ones(shares.size)
    for place, a, b in zip(places.tolist(), first.tolist(), last.tolist(), strict=True):
        rest = max(float(shares[a:b].sum() - shares[place]) - 2 * sd * np.sqrt(b - a), 0.0)
        whole = float(shares[place]) + rest
        change = (b - a) / whole
        if smooth is not None:
            moved = whole / max(float(smooth[a:b].sum()), 1e-9)
            change *= min(max(moved, 1 / MOST_MOVED), MOST_MOVED)
        found[a:b] = max(change * rest / max(b - a - 1, 1), LEAST)
        found[place] = change * float(shares[place])
    return found


def step_between(factors: np.ndarray | None) -> float:
    """How far apart neighbouring atoms lie, as a share of the range; zero where there are none."""
    if factors is None:
        return 0.0
    gaps = np.diff(np.flatnonzero(factors > ATOM))
    gaps = gaps[gaps <= 2 * REACH]
    return float((np.median(gaps) + 1 if gaps.size else 2) / factors.size)
