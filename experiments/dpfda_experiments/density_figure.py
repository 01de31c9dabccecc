"""The picture of the mixtures: ten private curves per mechanism on the line, one private surface in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

import dpfda as dp

from .pages import COLORS, picture
from .study import Row, Rows

#: The paper's powers of the kernel and its lattices, for one and two dimensions.
ETAS = {1: (1.25, 1.5), 2: (1.01, 1.05, 1.2)}
LATTICES = {1: (10, 30, 50), 2: (5, 10)}
#: Multiples of the bandwidth that are shown.
SHOWN = (1.0, 0.25)


def columns(dimension: int) -> list[tuple[str, Any]]:
    return [
        ("none", None),
        *(("QR", eta) for eta in ETAS[dimension]),
        ("FRL", None),
        *(("Bernstein", k) for k in LATTICES[dimension]),
        ("default", None),
    ]


def label(row: Row) -> str:
    """A mechanism with its setting."""
    name, setting = row["mechanism"], row["setting"]
    named = {"none": "no privacy", "default": "dpfda, default", "FRL": "FRL (components not private)"}
    return named.get(name, f"QR, eta {setting}" if name == "QR" else f"{name} {setting}")


def figure(rows: Rows) -> Any:
    lines = [(d, s, _panels(rows.where(dimension=d), d, s)) for d in (1, 2) for s in SHOWN]
    # What uses no bandwidth is shown once if nothing beside it does.
    lines = [line for line in lines if line[2] and (line[1] == SHOWN[0] or line[2][0][0]["mechanism"] == "none")]
    if not lines:
        return None
    drawing, axes = picture(len(lines), max(len(panels) for _, _, panels in lines), width=2.1, height=1.95)
    image = None
    for row, (dimension, share, panels) in zip(axes, lines, strict=True):
        smooth = panels[0] if panels[0][0]["mechanism"] == "none" else Rows()
        for axis, some in zip(row, panels, strict=False):
            if dimension == 1:
                _draw_curves(axis, some, smooth)
            else:
                image = _draw_map(axis, some, smooth)
            title = label(some[0]).replace(" (components not private)", "")
            axis.set_title(title, fontsize=10, color=COLORS.get(some[0]["mechanism"], "#000000"))
            axis.tick_params(labelsize=7)
        for axis in row[len(panels) :]:
            axis.set_visible(False)
        used = f", bandwidth h{'' if share == 1 else ' / 4'}" if smooth else ""
        row[0].set_ylabel(f"{dimension}-D{used}", fontsize=9)
    if image is not None:
        maps = [row for row, line in zip(axes, lines, strict=True) if line[0] == 2]
        drawing.colorbar(image, ax=np.array(maps), shrink=0.6, pad=0.01).ax.tick_params(labelsize=7)
    return drawing


def _panels(rows: Rows, dimension: int, share: float) -> list[Rows]:
    """The rows of each panel of a line, in the paper's order, as far as there are any."""
    at = Rows(row for row in rows if row["share"] in (None, share))
    found = [at.where(mechanism=name, setting=setting) for name, setting in columns(dimension)]
    return [some for some in found if some]


def _draw_curves(axis: Any, some: Rows, smooth: Rows) -> None:
    if some[0]["mechanism"] != "none":
        for k in some.values("draw"):
            one = some.where(draw=k)
            axis.plot([r["x"] for r in one], [r["value"] for r in one], color="#c1272d", lw=0.6, alpha=0.7)
    axis.plot([r["x"] for r in smooth], [r["value"] for r in smooth], color="#0033cc", lw=1.3)
    x = np.array([r["x"] for r in some.where(draw=0)])
    axis.plot(x, _truth(x), color="#777777", ls="--", lw=1)
    axis.set(xlim=(0, 1), ylim=(-0.45, 2.9), xticks=[0, 0.5, 1], yticks=[0, 1, 2])


def _draw_map(axis: Any, some: Rows, smooth: Rows) -> Any:
    x, y, values = _surface(some)
    places = np.array([(a, b) for a in x for b in y])
    truth = _truth(places).reshape(values.shape)
    image = axis.pcolormesh(x, y, values.T, shading="gouraud", cmap="YlOrRd", vmin=0, vmax=float(truth.max()))
    if some[0]["mechanism"] == "none":
        axis.contour(x, y, truth.T, levels=_levels(truth), colors="#777777", linewidths=0.8, linestyles="dashed")
    elif smooth:
        _, _, estimate = _surface(smooth)
        axis.contour(x, y, estimate.T, levels=_levels(estimate), colors="#0033cc", linewidths=0.7)
    axis.set(xticks=[-4, 0, 4], yticks=[-4, 0, 4], aspect="equal")
    return image


def _truth(places: np.ndarray) -> np.ndarray:
    return dp.datasets.mixture(2, np.random.default_rng(0), places.ndim).density(places)


def _levels(values: np.ndarray) -> list[float]:
    return [share * float(values.max()) for share in (0.25, 0.5, 0.75)]


def _surface(some: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x, y = np.array(some.values("x")), np.array(some.values("y"))
    return x, y, np.array([row["value"] for row in some]).reshape(x.size, y.size)
