"""Figures and files of pictures: matplotlib, loaded when something is first drawn, and bytes that say nothing more.

PDF holds its fonts as TrueType, which journals ask for. SVG holds letters as outlines, so that it looks the same
wherever it is opened; its words are told in its title and description, for search and for those who cannot see it. No
file holds a date or the version of a program: equal pictures are equal bytes.
"""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dpfda.core.errors import FileError
from dpfda.core.lazy import lazy

if TYPE_CHECKING:
    import matplotlib as matplotlib
    from matplotlib import colors as colors
    from matplotlib import figure
    from matplotlib import patches as patches
    from matplotlib import ticker as ticker
    from matplotlib.artist import Artist as Artist
    from matplotlib.axes import Axes as Axes
    from matplotlib.backends import backend_agg as backend_agg
    from matplotlib.colors import Colormap as Colormap
    from matplotlib.figure import Figure as Figure
    from matplotlib.font_manager import FontProperties as FontProperties
    from matplotlib.legend import Legend as Legend
    from matplotlib.path import Path as Path
    from matplotlib.text import Annotation as Annotation
    from matplotlib.text import Text as Text
    from matplotlib.transforms import BboxBase as BboxBase
    from matplotlib.typing import ColorType as ColorType

    #: Axes, or one each for pictures side by side.
    Places: TypeAlias = Axes | Sequence[Axes] | np.ndarray | None
else:
    matplotlib, figure, colors = lazy("matplotlib"), lazy("matplotlib.figure"), lazy("matplotlib.colors")
    patches, ticker = lazy("matplotlib.patches"), lazy("matplotlib.ticker")
    backend_agg = lazy("matplotlib.backends.backend_agg")

#: What a picture may end in, and what its file would say of when and by what it was made.
ENDINGS: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    ".svg": {"Date": None, "Creator": None},
}
#: How text and names are written: TrueType in PDF and PostScript, outlines in SVG, names without chance.
WRITING: Any = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "path", "svg.hashsalt": "dpfda"}
#: Inches of a picture that nobody gave axes for.
SIZE = (7.2, 4.2)


def load() -> None:
    """Load what draws and writes pictures: before a charge, where one is wanted after it."""
    for name in ("figure", "colors", "patches", "ticker", "legend"):
        import_module(f"matplotlib.{name}")
    for name in ("agg", "pdf", "svg"):
        import_module(f"matplotlib.backends.backend_{name}")
    _figure_type()


@cache
def _figure_type() -> type[figure.Figure]:
    """The figures that are made here: saved by hand, they hold their fonts as well."""

    class PaperFigure(figure.Figure):
        __qualname__ = "PaperFigure"

        def savefig(self, *given: object, **options: object) -> None:
            save: Any = super().savefig
            with matplotlib.rc_context(WRITING):
                save(*given, **options)

    return PaperFigure


def __getattr__(name: str) -> type[figure.Figure]:
    """The type by its name, for pickles of figures."""
    if name == "PaperFigure":
        return _figure_type()
    raise AttributeError(name)


def new_figure(size: tuple[float, float] = SIZE) -> figure.Figure:
    """An empty figure of so many inches, whose parts make room for each other."""
    return _figure_type()(figsize=size, layout="constrained")


def check_ending(name: str, ending: str) -> None:
    """Refuse the name of a picture that says no format, or one that is not written."""
    if ending.lower() not in ENDINGS:
        *some, last = ENDINGS
        raise FileError(f"The picture {name!r} must end in {', '.join(some)} or {last}.")


def picture(ax: Axes, ending: str = ".png", dpi: int = 150) -> bytes:
    """The picture in the format of an ending, with no metadata beyond its words."""
    buffer, ending = io.BytesIO(), ending.lower()
    whole: Any = ax.get_figure(root=True)
    metadata: dict[str, Any] = dict(ENDINGS[ending])
    if ending != ".png":
        words = _words(whole)
        metadata |= {"Title": words[0] if words else None}
        metadata |= {"Description": "; ".join(words)} if ending == ".svg" else {}
    with matplotlib.rc_context(WRITING):
        whole.savefig(buffer, format=ending[1:], dpi=dpi, metadata=metadata)
    return buffer.getvalue()


def _words(whole: figure.Figure) -> list[str]:
    """What is written in a picture: titles, labels of axes, legends."""
    found = [whole.get_suptitle()]
    for ax in whole.axes:
        legend = ax.get_legend()
        found += [ax.get_title(loc="left"), ax.get_xlabel(), ax.get_ylabel(), *(text.get_text() for text in ax.texts)]
        found += [bar.get_ylabel() for bar in ax.child_axes]
        found += [] if legend is None else [text.get_text() for text in legend.get_texts()]
    return [" ".join(text.split()) for text in dict.fromkeys(found) if text.strip()]


def png(ax: Axes, dpi: int = 150) -> bytes:
    """The picture as PNG."""
    return picture(ax, ".png", dpi)


def inline(plot: Callable[[], Axes], title: str) -> str:
    """The picture as an HTML image, for notebooks; `title` is for those who cannot see it."""
    data = base64.b64encode(png(plot(), dpi=96)).decode()
    return f"<img alt='{html.escape(title)}' src='data:image/png;base64,{data}'/>"
