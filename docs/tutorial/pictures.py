"""The pictures of the tutorial: `python docs/tutorial/pictures.py`, run by hand, pictures committed.

Homes and simulated releases come from seeds and come out the same again. The release itself does not: its noise cannot
have a seed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

import dpfda as dp

IMAGES = Path(__file__).parents[1] / "images"
BLUE, ORANGE, GREY = "#1b4b72", "#c4542d", "#888888"
STYLE = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}
DAY = dp.Grid.midpoints(0, 24, 48, name="hour", unit="h")
HOMES = dp.datasets.load_curves(5000, np.random.default_rng(0)).curves
FACTS = {"n": 5000, "bound": dp.Range(0, 4), "grid": DAY, "value": "load (kW)", "record": "home"}


def homes() -> Figure:
    """Six invented homes."""
    figure = Figure(figsize=(7.2, 3.6), layout="constrained")
    panels = figure.subplots(2, 3, sharex=True, sharey=True).ravel()
    for number, ax in enumerate(panels):
        ax.plot(DAY.points, HOMES[number], color=BLUE)
        ax.set_title(f"row {number + 1}")
        ax.set(xlim=(0, 24), xticks=range(0, 25, 6), ylim=(0, 2.4))
    for ax in panels[3:]:
        ax.set_xlabel("hour (h)")
    for ax in panels[::3]:
        ax.set_ylabel("load (kW)")
    return figure


def epsilon() -> Figure:
    """Releases that could come out, over a guess of the mean, for three epsilons."""
    hours = DAY.points
    guess = 0.25 + 0.4 * np.exp(-0.5 * ((hours - 7.3) / 1.4) ** 2) + 0.8 * np.exp(-0.5 * ((hours - 18.8) / 2.4) ** 2)
    figure = Figure(figsize=(7.2, 3.4), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    for ax, budget in zip(panels, (0.01, 0.03, 0.5), strict=True):
        could_be = dp.MeanPlan(epsilon=budget, **FACTS).hypothetical(guess, size=15, seed=1, spread=0.4)
        drawn = ax.plot(hours, could_be.values.T, color="#4d86ad", linewidth=0.8, alpha=0.7)
        drawn += ax.plot(hours, guess, "--", color=ORANGE, linewidth=1.8)
        ax.set_title(f"epsilon {budget:g}")
        ax.set(xlabel="hour (h)", xlim=(0, 24), xticks=range(0, 25, 6))
    panels[0].set_ylabel("load (kW)")
    words = ["could come out", "the guess"]
    figure.legend([drawn[0], drawn[-1]], words, loc="outside lower center", ncols=2)
    return figure


def mean() -> Figure:
    """The release of the tutorial."""
    figure = Figure(figsize=(7.2, 3.8), layout="constrained")
    dp.MeanPlan(epsilon="1/2", **FACTS).release(HOMES).plot(figure.add_subplot())
    return figure


PICTURES: tuple[Callable[[], Figure], ...] = (homes, epsilon, mean)

if __name__ == "__main__":
    with rc_context(STYLE):
        for picture in PICTURES:
            picture().savefig(IMAGES / f"tutorial-{picture.__name__}.png", dpi=130, metadata={"Software": None})
