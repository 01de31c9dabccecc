"""The pictures of the explanations: `python docs/explanations/pictures.py`, run by hand, pictures committed.

All of them are made of mathematics, of plans, and of invented curves from seeds, so they come out the same again.
One is not: `bands` makes a release of invented curves, and its noise cannot have a seed.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, FancyBboxPatch

import dpfda as dp
from dpfda.results.posterior import Seen, posterior, sizes_and_shapes

IMAGES = Path(__file__).parents[1] / "images"
#: Told apart in colour, in grey, and with the eyes of those who see few colours.
DARK, BLUE, ORANGE, RED, GREY, PALE = "#222222", "#0072B2", "#E69F00", "#B2182B", "#8A8A8A", "#DDE6EE"
#: For letters, where a line's own colour is too pale; and what keeps lines from crossing them.
INK = {GREY: "#5E5E5E", ORANGE: "#9A6400"}
WHITE = {"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.9}
LABEL = {"weight": "bold", "bbox": WHITE}
STYLE = {
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
}


def sheet(height: float, columns: int = 1, rows: int = 1, **more: object) -> tuple[Figure, np.ndarray]:
    """A white sheet of 7.2 inches in width, and its axes, a row each."""
    figure = Figure(figsize=(7.2, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **more)


# -- what epsilon means ---------------------------------------------------------------------------


def epsilon_odds() -> Figure:
    """The most and the least that somebody can think after the release, by what they thought before."""
    figure, ((ax,),) = sheet(4.3)
    before = np.linspace(0, 1, 401)
    for epsilon, color, style in ((4, GREY, ":"), (2, ORANGE, "--"), (1, BLUE, "-"), (0.1, DARK, "-.")):
        after = [before * f / (before * f + 1 - before) for f in (np.exp(epsilon), np.exp(-epsilon))]
        for line in after:
            ax.plot(100 * before, 100 * line, style, color=color, lw=2)
        place = {4: (12, 96), 2: (24, 82), 1: (32, 62), 0.1: (71, 71.5)}[epsilon]
        ax.annotate(f"epsilon {epsilon:g}", place, color=INK.get(color, color), ha="center", va="center", **LABEL)
        if epsilon == 1:
            ax.fill_between(100 * before, 100 * after[0], 100 * after[1], color=BLUE, alpha=0.12, lw=0)
    ax.plot([50, 50], [0, 73.1], color=DARK, lw=0.8)
    ax.plot([0, 50], [73.1, 73.1], color=DARK, lw=0.8)
    ax.plot([0, 50], [26.9, 26.9], color=DARK, lw=0.8)
    ax.plot([50, 50], [26.9, 73.1], "o", color=DARK, ms=5)
    ax.annotate("epsilon 1, an even guess:\nat most 73 % and at least 27 %", (51.5, 23), va="top", bbox=WHITE)
    ax.set(xlim=(0, 100), ylim=(0, 100), xlabel="how sure somebody was before the release (%)")
    ax.set_ylabel("how sure they can be after it (%)")
    ax.set_title("What a release can make of a belief about one record")
    return figure


def epsilon_densities() -> Figure:
    """Outputs with a person's record and with another in its place, and the ratio of their densities."""
    figure, ((above,), (below,)) = sheet(4.6, rows=2, sharex=True, gridspec_kw={"height_ratios": [3, 2]})
    x = np.linspace(-5, 6, 1201)
    first, second = (np.exp(-np.abs(x - place)) / 2 for place in (0, 1))
    above.plot(x, first, color=BLUE, lw=2.2, label="with your record")
    above.plot(x, second, "--", color=ORANGE, lw=2.2, label="with another record in its place")
    above.fill_between(x, np.minimum(first, second), color=PALE, lw=0)
    above.annotate("", (0, 0.525), (1, 0.525), arrowprops={"arrowstyle": "<->", "color": DARK})
    above.annotate("what one record can change", (1.1, 0.525), va="center")
    above.set(ylim=(0, 0.56), yticks=[], ylabel="how likely")
    above.legend(loc="upper left")
    above.set_title("One released number, epsilon 1")
    below.plot(x, first / second, color=DARK, lw=2)
    for factor, words in ((np.e, "never above exp(1) = 2.72"), (1 / np.e, "never below exp(-1) = 0.37")):
        below.axhline(factor, color=RED, lw=1, ls=":")
        below.annotate(words, (5.9, factor * 1.07), color=RED, ha="right", va="bottom")
    below.set(yscale="log", ylim=(0.25, 4.6), yticks=[0.5, 1, 2], xlabel="what comes out")
    below.set_yticklabels(["1/2", "1", "2"])
    below.minorticks_off()
    below.set_ylabel("solid over dashed")
    return figure


def epsilon_adds() -> Figure:
    """Releases about the same people add up; so do the records of people who belong together."""
    figure, ((left, right),) = sheet(3.6, columns=2)
    shares, at = (0.5, 0.25, 0.5, 0.5, 0.25), 0.0
    for number, share in enumerate(shares, 1):
        left.bar(number, share, bottom=at, color=BLUE if number % 2 else "#7FB8DA", width=0.8, edgecolor=DARK, lw=0.6)
        left.annotate(
            f"{share:g}", (number, at + share / 2), ha="center", va="center", color="white" if number % 2 else DARK
        )
        at += share
    left.bar(6, 0.25, bottom=at, color="white", edgecolor=RED, hatch="///", width=0.8)
    left.annotate("refused", (6, at + 0.29), ha="center", va="bottom", color=RED, weight="bold")
    left.axhline(2, color=DARK, lw=1.4, ls="--")
    left.annotate("budget of the study", (0.45, 2.04), va="bottom")
    left.set(ylim=(0, 2.6), xlim=(0.4, 6.6), xlabel="release", ylabel="epsilon so far", xticks=range(1, 7))
    left.set_title("Several releases")
    people = np.arange(1, 9)
    for epsilon, color, style in ((1, BLUE, "o-"), (0.5, ORANGE, "s--"), (0.1, DARK, "^-.")):
        right.plot(people, np.exp(epsilon * people), style, color=color, ms=4)
        right.annotate(
            f"epsilon {epsilon:g}", (8.35, np.exp(epsilon * 8)), color=INK.get(color, color), va="center", weight="bold"
        )
    right.set(yscale="log", xlim=(0.7, 11.4), ylim=(0.8, 5000), yticks=[1, 10, 100, 1000], xticks=people)
    right.set_yticklabels(["1", "10", "100", "1,000"])
    right.minorticks_off()
    right.set(xlabel="records that are exchanged together", ylabel="odds change by at most")
    right.set_title("Several people, or no unit")
    return figure


# -- what a band promises -------------------------------------------------------------------------


def bands() -> Figure:
    """The three bands of one release of invented load curves, the curves' mean and that of their population."""
    everybody = dp.datasets.load_curves(100_000, np.random.default_rng(7))
    some = everybody.curves[:400]
    release = dp.mean(some, epsilon=2, bound=dp.Range(0, 2), grid=everybody.grid)
    figure, axes = sheet(3.3, columns=3, sharey=True)
    t = everybody.grid.points
    for ax, name, words in zip(
        axes[0],
        ("noise_band", "band", "confidence_band"),
        ("the noise", "noise + left out", "noise + left out + sampling"),
        strict=True,
    ):
        lower, upper = getattr(release, name)(0.95)
        ax.fill_between(t, lower, upper, color="#9EC6E0", lw=0)
        ax.plot(t, release.values, color=BLUE, lw=2, label="release")
        ax.plot(t, some.mean(axis=0), "--", color=ORANGE, lw=1.6, label="mean of these curves")
        ax.plot(t, everybody.curves.mean(axis=0), ":", color=DARK, lw=1.6, label="mean of the population")
        ax.set_title(f"{name}\n", fontsize=10)
        ax.text(0, 1.02, words, transform=ax.transAxes, fontsize=9)
        ax.set(xlabel="hour", xlim=(0, 24), xticks=[0, 6, 12, 18, 24])
    axes[0, 0].set_ylabel("load (kW)")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def pointwise() -> Figure:
    """The same simulated errors in a band for each point and in a band for all of them at once."""
    plan = dp.MeanPlan(n=1000, epsilon=1, bound=dp.L2Ball(1.0), grid=96, method=dp.methods.KNorm(12))
    none = np.zeros(plan.basis.size)
    errors = plan.basis.synthesize(dp.noise.simulate(plan, none, 4000, np.random.default_rng(5)))
    size, t = errors.std(axis=0), plan.grid.points
    each = np.quantile(np.abs(errors) / size, 0.95)
    whole = np.quantile((np.abs(errors) / size).max(axis=1), 0.95)
    figure, axes = sheet(3.4, columns=2, sharey=True)
    shown = errors[:20]
    for ax, factor, words in zip(
        axes[0], (each, whole), ("For each point alone", "For all points at once"), strict=True
    ):
        ax.fill_between(t, -factor * size, factor * size, color=PALE, lw=0)
        out = (np.abs(shown) > factor * size).any(axis=1)
        ax.plot(t, shown[~out].T, color=GREY, lw=0.7)
        ax.plot(t, shown[out].T, color=RED, lw=1.3)
        ax.axhline(0, color=DARK, lw=0.8)
        ax.set(xlabel="t", xlim=(0, 1), yticks=[0])
        ax.set_title(words)
    axes[0, 0].set_ylabel("error of a release")
    return figure


def clipped() -> Figure:
    """A minority of large curves, a radius that leaves them outside, and what becomes of the mean."""
    rng, t = np.random.default_rng(3), np.linspace(0, 24, 97)
    peak = np.exp(-(((t - 19) / 2.5) ** 2))
    sizes = np.concatenate([rng.uniform(0.6, 1.4, 24), rng.uniform(4.5, 5.5, 6)])
    curves = 0.3 + sizes[:, None] * peak + 0.12 * np.cumsum(rng.normal(0, 0.25, (30, 97)), axis=1)
    lengths = np.sqrt((curves**2).mean(axis=1))
    radius = np.quantile(lengths[:24], 0.98)
    cut = curves * np.minimum(1, radius / lengths)[:, None]
    figure, axes = sheet(3.4, columns=2, sharey=True)
    for ax, shown, words in zip(
        axes[0], (curves, cut), ("As they are", "Clipped to a radius that holds most"), strict=True
    ):
        ax.plot(t, shown[:24].T, color=GREY, lw=0.6)
        ax.plot(t, shown[24:].T, color=ORANGE, lw=0.9)
        ax.set(xlabel="hour", xlim=(0, 24), xticks=[0, 6, 12, 18, 24])
        ax.set_title(words)
    axes[0, 0].plot(t, curves.mean(axis=0), color=BLUE, lw=2.6)
    axes[0, 1].plot(t, curves.mean(axis=0), ":", color=BLUE, lw=2.2, label="mean of the curves as they are")
    axes[0, 1].plot(t, cut.mean(axis=0), color=BLUE, lw=2.6, label="mean of the clipped curves")
    axes[0, 1].legend(loc="upper left")
    axes[0, 0].annotate("a fifth of the homes", (17.5, 4.6), (2, 5), arrowprops={"arrowstyle": "-", "color": DARK})
    axes[0, 0].annotate("mean", (17.2, 1.75), (8, 2.6), arrowprops={"arrowstyle": "-", "color": BLUE}, color=BLUE)
    axes[0, 0].set_ylabel("load")
    return figure


# -- why the paper's constant is short ------------------------------------------------------------


def constant() -> Figure:
    """The two scales, and the privacy loss of every outcome with each."""
    figure, (row,) = sheet(3.5, columns=2)
    x = np.linspace(-4, 5, 1801)
    scales = ((1.0, BLUE, "-", "Algorithm 1"), (np.sqrt(0.5), RED, "--", "theorem"))
    for scale, color, style, words in scales:
        first, second = (np.exp(-np.abs(x - place) / scale) / (2 * scale) for place in (0, 1))
        row[0].plot(x, first, style, color=color, lw=2, label=words)
        row[0].plot(x, second, style, color=color, lw=1, alpha=0.75)
        row[1].plot(x, np.log(first / second), style, color=color, lw=2.2)
    row[0].set(xlabel="what comes out", ylabel="how likely", yticks=[], xticks=[0, 1], xlim=(-4, 5), ylim=(0, 0.86))
    row[0].annotate("with you", (-0.15, 0.73), ha="right")
    row[0].annotate("with another", (1.15, 0.66), ha="left")
    row[0].legend(loc="upper right", bbox_to_anchor=(1.02, 0.68))
    row[0].set_title("Noise of both scales")
    row[1].axhline(1, color=DARK, lw=0.9, ls=":")
    row[1].axhline(-1, color=DARK, lw=0.9, ls=":")
    row[1].set(xlabel="what comes out", ylabel="privacy loss over epsilon", ylim=(-1.9, 1.9), xlim=(-4, 5))
    row[1].set(yticks=[-np.sqrt(2), -1, 0, 1, np.sqrt(2)], xticks=[0, 1])
    row[1].set_yticklabels(["-1.41", "-1", "0", "1", "1.41"])
    row[1].annotate("promised", (4.95, 0.94), ha="right", va="top")
    row[1].annotate("theorem: 1.41 times as much", (-3.9, 1.47), color=RED, va="bottom")
    row[1].set_title("What an outcome gives away")
    return figure


# -- how the default decides ----------------------------------------------------------------------


def steps() -> Figure:
    """Curves as points of two coefficients: scale, centre, ellipsoid; and what shrinkage does to a length."""
    figure, axes = sheet(6.6, columns=2, rows=2)
    rng = np.random.default_rng(11)
    points = np.array([1.45, 0.55]) + rng.normal(size=(150, 2)) * [0.42, 0.13] @ np.array([[0.94, 0.34], [-0.34, 0.94]])
    truth, rough = points.mean(axis=0), np.array([1.18, 0.86])
    flat = axes.ravel()
    for ax in flat[:3]:
        ax.plot(*points.T, ".", color=GREY, ms=3)
        ax.plot(0, 0, "+", color=DARK, ms=9, mew=1.6)
        ax.set(xlim=(-5.3, 5.3), ylim=(-5.3, 5.3), aspect="equal", xticks=[], yticks=[])
        ax.set_xlabel("first coefficient of a curve")
        ax.set_ylabel("second coefficient")
    flat[0].add_patch(Ellipse((0, 0), 10, 10, fill=False, color=DARK, ls="--", lw=1.5))
    flat[0].add_patch(Ellipse((0, 0), 5.0, 5.0, fill=False, color=BLUE, lw=2.2))
    flat[0].annotate("the public bound", (0, -3.9), ha="center", va="center")
    flat[0].annotate("the radius\nchosen", (0, -1.3), color=BLUE, ha="center", va="center")
    flat[0].set_title("1. Find the scale")
    for ax in flat[1:3]:
        ax.set(xlim=(-2.9, 2.9), ylim=(-2.9, 2.9))
    flat[1].add_patch(Ellipse((0, 0), 5.0, 5.0, fill=False, color=BLUE, lw=2.2))
    flat[1].add_patch(Ellipse(truth, 1.5, 1.5, color=ORANGE, alpha=0.35, lw=0))
    flat[1].plot(*rough, "X", color=RED, ms=9)
    flat[1].annotate("a rough centre", rough, (-1.6, 1.35), color=RED, arrowprops={"arrowstyle": "-", "color": RED})
    flat[1].annotate("where noise may put it", (1.4, 0.0), (-1.75, -1.2), arrowprops={"arrowstyle": "-", "color": DARK})
    flat[1].set_title("2. Find the centre")
    flat[2].add_patch(Ellipse(rough, 3.3, 1.7, angle=10, fill=False, color=BLUE, lw=2.2))
    flat[2].add_patch(Ellipse(truth, 0.34, 0.18, angle=10, color=ORANGE, alpha=0.8, lw=0))
    flat[2].plot(*rough, "X", color=RED, ms=7)
    flat[2].annotate("curves are clipped\nto this ellipsoid", (0.1, 0.25), (-2.7, -1.2), color=BLUE)
    flat[2].annotate("less noise", truth, (1.0, -1.0), arrowprops={"arrowstyle": "-", "color": DARK})
    flat[2].set_title("3. Spend the rest there")
    length, seen = 8, np.linspace(0.05, 40, 160)
    prior = sizes_and_shapes(np.full((1, length), 1 / length), 1600.0, 1600.0 * 2.0**-13, 0.5)
    along = np.full(length, length**-0.5)
    left = [float(posterior([Seen(np.arange(length), along * s, np.ones(length))], prior).mean @ along) for s in seen]
    flat[3].plot(seen, seen, ":", color=DARK, lw=1.4, label="as drawn")
    flat[3].plot(seen, left, color=BLUE, lw=2.4, label="as published")
    flat[3].axvspan(0, 12, color=ORANGE, alpha=0.2, lw=0)
    flat[3].annotate("noise alone\nreaches so far", (0.7, 28))
    flat[3].set(xlabel="length that was drawn", ylabel="length that is published", xlim=(0, 40), ylim=(0, 40))
    flat[3].set(xticks=[0], yticks=[0])
    flat[3].legend(loc="lower right")
    flat[3].set_title("4. Shrink by Bayes")
    return figure


def stages() -> Figure:
    """The risk by which ways are compared, over n epsilon: which way is best where."""
    figure, ((ax,),) = sheet(4.0)
    strengths = np.unique(np.round(np.geomspace(30, 30_000, 41)).astype(int))
    ways: dict[tuple[int, bool], list[tuple[int, float]]] = {}
    for strength in strengths.tolist():
        problem = dp.MeanPlan(n=strength, epsilon=1, bound=dp.L2Ball(1.0), grid=200).problem
        outlook = dp.Auto().outlook(problem, Fraction(1))
        for method in dp.Auto().candidates(outlook):
            kind = (len(getattr(method, "shares", (1,))), bool(getattr(method, "radius", None)))
            risk = min(outlook.typical(method), dict(ways.get(kind, [])).get(strength, np.inf))
            ways[kind] = [*(pair for pair in ways.get(kind, []) if pair[0] != strength), (strength, risk)]
    shown = (
        ((1, False), GREY, "-.", "one round, the bound as it is"),
        ((1, True), ORANGE, "--", "a private radius, then one round"),
        ((2, True), BLUE, "-", "a private radius, then two rounds"),
        ((3, True), DARK, ":", "a private radius, then three rounds"),
    )
    for kind, color, style, words in shown:
        x, y = np.array(ways[kind]).T
        ax.plot(x, 100 * np.sqrt(y), style, color=color, lw=2.2, label=words)
    ax.set(xscale="log", yscale="log", xlabel="n times epsilon", ylabel="expected error (% of the bound)")
    ax.set(xticks=[100, 1000, 10_000], yticks=[0.1, 0.3, 1, 3, 10])
    ax.set_xticklabels(["100", "1,000", "10,000"])
    ax.set_yticklabels(["0.1", "0.3", "1", "3", "10"])
    ax.minorticks_off()
    ax.legend(loc="lower left")
    ax.set_title("What the planner expects of four ways, before data")
    return figure


# -- exact arithmetic -----------------------------------------------------------------------------


def reachable(statistic: float, low: float, places: int) -> np.ndarray:
    """Which of so many doubles from `low` on the textbook sampler can reach: statistic + log(u), u = k / 2^53.

    Only the half of the noise below zero, at scale one. All k that can land there are tried.
    """
    doubles = low + np.arange(places) * np.spacing(abs(low))
    first, last = (np.exp(x - statistic) * 2.0**53 for x in (doubles[0], doubles[-1]))
    k = np.arange(np.floor(first) - 64, np.ceil(last) + 64)
    hits = statistic + np.log(k / 2.0**53)
    return np.isin(doubles, hits)


def holes() -> Figure:
    """Outputs that a floating-point release can have under two neighbours, and those of a lattice."""
    figure, (top, bottom) = sheet(4.3, rows=2)
    places = 64
    rows = [reachable(statistic, -2.5, places) for statistic in (0.0, 1.0)]
    ax = top[0]
    for number, (row, color) in enumerate(zip(rows, (BLUE, ORANGE), strict=True)):
        at = np.flatnonzero(row)
        ax.vlines(at, 1 - number + 0.12, 1 - number + 0.88, color=color, lw=3.2)
    only = np.flatnonzero(rows[0] != rows[1])
    ax.plot(only, np.full(only.size, -0.25), "^", color=RED, ms=4)
    ax.set(xlim=(-1, places), ylim=(-0.5, 2.05), xticks=[], yticks=[1.5, 0.5, -0.25])
    ax.set_yticklabels(["with you", "with another", "tells them apart"])
    ax.set_title("Textbook noise in floating point: 64 outputs in a row, near -2.5")
    ax = bottom[0]
    k = np.arange(64)
    for place, color, mark, shift in ((27, BLUE, "o", -0.16), (36, ORANGE, "s", 0.16)):
        weight = np.exp(-np.abs(k - place) / 9)
        ax.vlines(k + shift, 0, weight, color=color, lw=2)
        ax.plot(k + shift, weight, mark, color=color, ms=2.5)
    ax.set(xlim=(-1, 64), ylim=(0, 1.15), xticks=[], yticks=[], xlabel="what comes out")
    ax.set_ylabel("how likely")
    ax.set_title("Noise on whole numbers: each output can come from both")
    return figure


# -- why plan before data -------------------------------------------------------------------------


def flow() -> Figure:
    """Public facts become a plan, records become a total, and both meet at one door."""
    figure, ((ax,),) = sheet(3.0)
    boxes = {
        "facts": (1, 33, 26, 11, "public facts", "n, epsilon, bound,\ngrid, method", "#FFFFFF"),
        "plan": (37, 33, 28, 11, "plan", "noise, expected error,\nwords, digest", PALE),
        "records": (1, 8, 26, 11, "records", "each alone: clipped\nand rounded", "#F6E3BC"),
        "total": (37, 8, 28, 11, "exact total", "the same bits anywhere,\nconfidential", "#F6E3BC"),
        "door": (74, 16, 14, 20, "one door", "check\ncharge\ndraw\nseal", "#FFFFFF"),
        "release": (95, 19, 17, 14, "release", "curve, band,\nstatement", PALE),
    }
    for x, y, width, height, head, words, color in boxes.values():
        patch = FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0.6", facecolor=color, edgecolor=DARK, lw=1.2)
        ax.add_patch(patch)
        middle, lines = y + height / 2, words.count("\n") + 1
        ax.text(x + width / 2, middle + 1.55 * lines, head, ha="center", va="center", weight="bold")
        ax.text(x + width / 2, middle - 1.5, words, ha="center", va="center", fontsize=9)
    arrows = ((28, 38.5, 36, 38.5), (28, 13.5, 36, 13.5), (66, 38.5, 73, 32), (66, 13.5, 73, 20), (89, 26, 94, 26))
    for x, y, right, top in arrows:
        ax.annotate("", (right, top), (x, y), arrowprops={"arrowstyle": "-|>", "color": DARK, "lw": 1.4})
    ax.plot([0, 66], [26, 26], color=GREY, lw=1, ls="--")
    ax.text(1, 26.5, "no data above this line", fontsize=9, color="#555555", va="bottom")
    ax.set(xlim=(-0.5, 113.5), ylim=(5, 47))
    ax.axis("off")
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    "explain-epsilon-odds": epsilon_odds,
    "explain-epsilon-densities": epsilon_densities,
    "explain-epsilon-adds": epsilon_adds,
    "explain-bands": bands,
    "explain-pointwise": pointwise,
    "explain-clipped": clipped,
    "explain-constant": constant,
    "explain-steps": steps,
    "explain-stages": stages,
    "explain-holes": holes,
    "explain-flow": flow,
}


def main(*names: str) -> None:
    """All pictures, or those that are named."""
    for name in names or PICTURES:
        with rc_context(STYLE):
            figure = PICTURES[name]()
            figure.savefig(IMAGES / f"{name}.png", dpi=150, metadata={"Software": None})


if __name__ == "__main__":
    import sys

    main(*sys.argv[1:])
