"""
Where along three tracts of the brain do patients differ?
=========================================================

A scan gives a profile of fractional anisotropy along each of three tracts. The three curves of one person are one
record: one bound, one charge, one band that holds all three at once.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# Invented: 4,000 people, half of them patients, who lose some in the middle of a tract.
rng = np.random.default_rng(4)
place = np.linspace(0, 1, 60)
first, second = 0.55 + 0.1 * np.cos(6 * place), 0.45 + 0.12 * np.sin(5 * place)
shape = np.array([first, second, 0.4 + 0.15 * place * (1 - place)])
level, slope = rng.normal(0, 0.03, (2, 4000, 3, 1))
lost = np.outer([0.06, 0.03, 0.0], np.exp(-0.5 * ((place - 0.5) / 0.15) ** 2))
group = np.where(np.arange(4000) % 2, "patients", "controls")
profiles = shape + level + slope * np.cos(np.pi * place)
profiles[group == "patients"] -= lost

# Public: the tracts, and that profiles stay within a norm of 0.3 about 0.5.
tracts = ("corpus callosum", "left corticospinal", "right corticospinal")
grid = dp.spaces.ComponentGrid(tracts, dp.Grid(place, name="place along the tract"))
facts = {"epsilon": 2, "bound": dp.L2Ball(0.3, center=0.5), "grid": grid}
groups = dp.mean(profiles, by=group, groups=["controls", "patients"], **facts)

plt.rcParams.update({"font.size": 9, "axes.titlesize": 9})
fig, axes = plt.subplots(1, 3, figsize=(7.2, 3.4), sharey=True, layout="constrained")
for name, colour in (("controls", "#1b4b72"), ("patients", "#c4542d")):
    release, band = groups[name], groups[name].confidence_band(0.95)
    for i, (ax, tract) in enumerate(zip(axes, tracts, strict=True)):
        ax.fill_between(band.t, band.lower[i], band.upper[i], color=colour, alpha=0.2)
        ax.plot(place, release[tract], color=colour, label=f"{name}, mean")
        ax.set(title=tract, xlim=(0, 1), xticks=[0, 0.5, 1])
        ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("fractional anisotropy")
axes[1].set_xlabel("place along the tract (95 % bands of the population)")
axes[2].legend(frameon=False, loc="upper right")
plt.show()

# %%
# What to change
# --------------
# Components share one bound, so they need one unit: divide them by public scales first where they have not.
# ``groups.difference("patients", "controls")`` has one band for all three differences. A scikit-fda ``FDataGrid`` with
# several coordinates needs no grid of its own.
