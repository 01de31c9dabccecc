"""Where a legend stands: in a corner that no curve passes, in room made above the curves, or above a map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from dpfda.results.pictures import patches
from dpfda.results.texts import dots_per_inch, spell, width_of

if TYPE_CHECKING:
    from dpfda.results.pictures import Artist, Axes, BboxBase, Legend, Path

Corner: TypeAlias = Literal[
    "upper right", "upper left", "lower right", "lower left", "upper center", "lower center"
]  # fmt: skip
#: Corners in the order in which they are tried.
CORNERS: tuple[Corner, ...] = (
    "upper right", "upper left", "lower right", "lower left", "upper center", "lower center",
)  # fmt: skip
ABOVE: tuple[Corner, ...] = ("upper right", "upper left", "upper center")
#: The smallest share of the height that curves keep where room is made for a legend above them.
LEAST = 0.45
#: Marks a legend that was made here.
OURS = "dpfda_ours"
#: Lines of one entry.
OF_ENTRY = 3
#: A band for a legend of several.
GREY, FAINT = "#555555", 0.22
#: In units of the letters: a handle with the space beside it, between columns, and between the lines of a legend.
HANDLE, BETWEEN, LINE = 2.1, 1.2, 1.35


def entry(name: str) -> str:
    """A name for a legend, which leaves out those that begin with an underscore."""
    return f" {name}" if name.startswith("_") else name


def entries(ax: Axes) -> tuple[list[Artist], list[str]]:
    """What the legend lists: lines, then bands; bands of one meaning stand for each other."""
    lines: list[tuple[Artist, str]] = []
    bands: dict[str, list[Artist]] = {}
    for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
        if hasattr(handle, "get_paths"):
            bands.setdefault(label, []).append(handle)
        else:
            lines.append((handle, label))
    for label, found in bands.items():
        lines.append((found[0] if len(found) == 1 else patches.Patch(color=GREY, alpha=FAINT, linewidth=0), label))
    return [handle for handle, _ in lines], [label for _, label in lines]


def place(
    ax: Axes, wanted: bool, above: bool, size: float, own: frozenset[str], whole: float, may_widen: bool = True
) -> float:
    """Set the legend; returns the points that it takes above the axes, where it is at most `whole` dots long.

    Where the range of values must not be widened for it, a legend that finds no free corner stands above the axes.
    """
    old = ax.get_legend()
    if old is not None and not hasattr(old, OURS):  # the user's own stays
        return 0.0
    handles, labels = entries(ax) if wanted else ([], [])
    if not handles:
        if old is not None:
            old.remove()
        return 0.0
    dots = dots_per_inch(ax) / 72
    box = ax.get_window_extent()
    room = whole if above else box.width
    columns, limit = _columns(ax, labels, size, room, box.height, above)
    drawn: Any = ax
    legend = drawn.legend(
        handles, [entry(label) for label in labels], ncols=columns, fontsize=size, frameon=False, handlelength=1.5,
        handletextpad=0.5, labelspacing=0.3, columnspacing=BETWEEN, borderpad=0.1, borderaxespad=0.4,
        loc="lower left" if above else CORNERS[0], bbox_to_anchor=(0.0, 1.0) if above else None,
    )  # fmt: skip
    setattr(legend, OURS, True)
    for text, label in zip(legend.get_texts(), labels, strict=True):
        spell(text, entry(label), limit, OF_ENTRY, own)
    if above:
        return float(legend.get_window_extent().height / dots) + 0.4 * size
    if _stand_free(ax, legend, may_widen):
        return 0.0
    return place(ax, wanted, True, size, own, whole)


def _columns(
    ax: Axes, labels: Sequence[str], size: float, room: float, height: float, above: bool
) -> tuple[int, float]:
    """How many columns a legend has, and how long its entries may be, in dots."""
    dots = dots_per_inch(ax) / 72
    like: Any = ax.xaxis.label
    longest = max(width_of(label, like) for label in labels) * size / like.get_fontsize()
    handle, between, line = (units * size * dots for units in (HANDLE, BETWEEN, LINE))
    fitting = max(1, int((room + between) / (longest + handle + between)))
    wanted = len(labels) if above else next(
        (n for n in range(1, len(labels)) if -(-len(labels) // n) * line < 0.3 * height), len(labels)
    )  # fmt: skip
    columns = min(fitting, wanted)
    return columns, 0.97 * ((room + between) / columns - between - handle)


def _stand_free(ax: Axes, legend: Legend, may_widen: bool) -> bool:
    """Into a corner where nothing is; else room is made above the curves, unless a user fixed the range.

    Returns False where it has no place, for no room may be made.
    """
    drawn = list(_drawn(ax))
    for corner in CORNERS:
        legend.set_loc(corner)
        box = legend.get_window_extent().padded(2)
        if not any(path.intersects_bbox(box, filled) for path, filled in drawn):
            return True
    if not may_widen:
        return False
    whole = ax.get_window_extent()
    kept = {}
    for corner in ABOVE:
        legend.set_loc(corner)
        box = legend.get_window_extent()
        free = (box.y0 - 3 - whole.y0) / whole.height
        kept[corner] = free / max(_highest(drawn, box.x0, box.x1, whole), 1e-9)
    best = max(kept, key=lambda corner: kept[corner])
    legend.set_loc(best)
    if ax.get_autoscaley_on():
        low, high = ax.yaxis.get_transform().transform(np.array(ax.get_ylim()))
        top = low + (high - low) / min(1.0, max(LEAST, kept[best]))
        ax.set_ylim(top=float(ax.yaxis.get_transform().inverted().transform(top)), auto=True)
    return True


def _drawn(ax: Axes) -> Iterator[tuple[Path, bool]]:
    """Paths of what is drawn, in dots, and whether they are filled."""
    for line in ax.lines:
        yield line.get_transform().transform_path(line.get_path()).cleaned(remove_nans=True), False
    for shape in ax.collections:
        for path in shape.get_paths():
            yield shape.get_transform().transform_path(path), True


def _highest(drawn: Sequence[tuple[Path, bool]], left: float, right: float, whole: BboxBase) -> float:
    """How high things reach between two places, as a share of the axes."""
    found = 0.0
    for path, _ in drawn:
        dots = np.asarray(path.interpolated(8).vertices)
        inside = dots[(dots[:, 0] >= left - 2) & (dots[:, 0] <= right + 2), 1]
        found = max(found, float((inside.max(initial=whole.y0) - whole.y0) / whole.height))
    return found
