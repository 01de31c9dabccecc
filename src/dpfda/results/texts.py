"""Texts in a picture: how long they are in their letters, and where their lines are broken."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any

from dpfda.results.pictures import backend_agg

if TYPE_CHECKING:
    from dpfda.results.pictures import Artist, FontProperties, Text


@cache
def _renderer(dpi: float) -> backend_agg.RendererAgg:
    kind: Any = backend_agg.RendererAgg
    made: backend_agg.RendererAgg = kind(8, 8, dpi)
    return made


def dots_per_inch(artist: Artist) -> float:
    """Of the figure that something is drawn in."""
    whole: Any = artist.get_figure(root=True)
    return float(whole.dpi)


def width_of(text: str, like: Text, math: bool = False) -> float:
    """How long a line of text is, in dots, in the letters of another."""
    return _width(text, like.get_fontproperties().copy(), dots_per_inch(like), math)


@lru_cache(maxsize=4096)
def _width(text: str, letters: FontProperties, dpi: float, math: bool) -> float:
    measure: Any = _renderer(dpi)
    return float(measure.get_text_width_height_descent(text, letters, math)[0])


def broken(text: str, limit: float, measure: Callable[[str], float], most: int) -> str:
    """A text in lines that are no longer than the limit; what is beyond so many lines is left out.

    >>> broken("glucose in the morning", 12, len, 3)
    'glucose in\\nthe morning'
    >>> broken("glucose in the morning", 8, len, 2)
    'glucose\\nin the…'
    """
    lines: list[str] = []
    for part in text.split("\n"):
        line = ""
        for word in part.split():
            if measure(trial := f"{line} {word}".lstrip()) <= limit:
                line = trial
                continue
            lines += [line] if line else []
            line = word
            while len(line) > 1 and measure(line) > limit:
                cut = next((k for k in range(len(line) - 1, 1, -1) if measure(line[:k]) <= limit), 1)
                lines, line = [*lines, line[:cut]], line[cut:]
        lines.append(line)
    if len(lines) > most:
        last = lines[most - 1]
        while last and measure(f"{last}…") > limit:
            last = last[:-1]
        lines = [*lines[: most - 1], f"{last.rstrip()}…"]
    return "\n".join(lines)


def spell(text: Text, said: str, limit: float, most: int, own: frozenset[str] = frozenset()) -> None:
    """Set a text, broken where it must be. Names are shown as they are spelt: only what a user wrote holds formulas."""
    math = said in own
    text.set_parse_math(math)
    kept = math and said.count("$") > 1
    text.set_text(said if kept else broken(said, limit, partial(width_of, like=text), most))
