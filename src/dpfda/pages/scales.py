"""From numbers to places in a picture: sizes, limits, and paths of few points with one decimal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

#: About how wide a sign is, of letters of one pixel: what fits beside an axis is reckoned with it.
SIGN = 0.6
#: Points that a path keeps; a picture is 720 wide at most, and a report holds many paths.
POINTS = 360


@dataclass(frozen=True)
class Size:
    """The measures of a picture, in its own pixels."""

    width: int
    height: int
    letters: int = 13
    most_x: int = 7
    most_y: int = 6


#: Beside text on a wide page, on a telephone, and among small multiples.
WIDE, NARROW, SMALL = Size(720, 320), Size(360, 260, most_x=5, most_y=5), Size(300, 200, most_x=5, most_y=4)


@dataclass(frozen=True)
class Frame:
    """Where in a picture its data are, and which numbers that is."""

    left: float
    top: float
    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    def across(self, x: np.ndarray) -> np.ndarray:
        """Places from the left."""
        low, high = self.x
        return self.left + self.width * (np.asarray(x, float) - low) / (high - low)

    def down(self, y: np.ndarray) -> np.ndarray:
        """Places from above; what is beyond the limits stays just beyond the picture."""
        low, high = self.y
        return self.top + self.height * np.clip((high - np.asarray(y, float)) / (high - low), -1.0, 2.0)


def limits(arrays: Iterable[np.ndarray], zero: bool = False) -> tuple[float, float]:
    """From the least to the greatest finite number, with a little room.

    >>> limits([np.array([0.0, np.inf, 100.0])])
    (-4.0, 104.0)
    """
    found = np.concatenate([np.asarray(each, float).ravel() for each in arrays] or [np.zeros(1)])
    found = found[np.isfinite(found)]
    low, high = (float(found.min()), float(found.max())) if found.size else (0.0, 1.0)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    room = 0.04 * (high - low) or abs(high) * 0.1 or 1.0
    return low - room, high + room


def span(arrays: Iterable[np.ndarray]) -> tuple[float, float]:
    """From the first to the last finite number."""
    found = np.concatenate([np.asarray(each, float).ravel() for each in arrays] or [np.zeros(1)])
    found = found[np.isfinite(found)]
    low, high = (float(found.min()), float(found.max())) if found.size else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def kept(lower: np.ndarray, upper: np.ndarray, most: int = POINTS) -> np.ndarray:
    """Which points of a long curve to draw: in each stretch its lowest and its highest, so that no peak is lost.

    >>> kept(np.zeros(5), np.zeros(5))
    array([0, 1, 2, 3, 4])
    """
    size = len(lower)
    if size <= most:
        return np.arange(size)
    chosen = {0, size - 1}
    for part in np.array_split(np.arange(size), most // 2):
        for values, pick in ((lower[part], np.argmin), (upper[part], np.argmax)):
            chosen.add(int(part[pick(values)]))
    return np.array(sorted(chosen))


def stairs(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of a step function that jumps at each point.

    >>> [each.tolist() for each in stairs(np.array([0, 1, 2]), np.array([9, 8, 7]))]
    [[0, 1, 1, 2, 2], [9, 9, 8, 8, 7]]
    """
    return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]


def runs(good: np.ndarray) -> list[slice]:
    """Stretches without a gap.

    >>> runs(np.array([True, False, True, True]))
    [slice(0, 1, None), slice(2, 4, None)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(int)))
    return [slice(int(first), int(last)) for first, last in zip(edges[::2], edges[1::2], strict=True)]


def points(x: np.ndarray, y: np.ndarray) -> str:
    """Places with one decimal.

    >>> points(np.array([1.0, 2.25]), np.array([3.04, 4.0]))
    '1,3 2.2,4'
    """
    pairs = np.round(np.column_stack([x, y]), 1).ravel().tolist()
    return " ".join(["%g,%g"] * len(x)) % tuple(pairs)


def dots(x: np.ndarray, y: np.ndarray) -> str:
    """A dot at each place: the shortest lines there are, with round ends.

    >>> dots(np.array([1.0]), np.array([3.04]))
    'M1,3h.01'
    """
    return "".join(f"M{place}h.01" for place in points(x, y).split())


def shortened(words: str, room: float, letters: float) -> str:
    """Words that fit, with dots where the rest was.

    >>> shortened("a long label", 60, 13)
    'a long…'
    """
    most = max(3, int(room / (SIGN * letters)))
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


def spread(texts: Sequence[str], places: Sequence[float], letters: float) -> list[int]:
    """Which of the numbers along an axis have room: all, or every second, third, fourth.

    >>> spread(["1000", "2000", "3000"], [0, 20, 40], 13)
    [0, 2]
    """
    room = SIGN * letters
    for every in range(1, len(texts) + 1):
        chosen = list(range(0, len(texts), every))
        if all(places[b] - places[a] >= room * (len(texts[a]) + len(texts[b])) / 2 + 6 for a, b in pairwise(chosen)):
            return chosen
    return [0] if texts else []
