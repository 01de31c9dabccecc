"""
Which band should stand in my figure?
=====================================

A release has three bands. One says what the noise can do, one holds the mean of the curves that you have, and one holds
the mean of the population they come from. Only the last is an error bar for a paper.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# Invented: 5,000 homes, every half hour of a day, in kW.
homes = dp.datasets.load_curves(5000, np.random.default_rng(16))

# Public: homes draw 0 to 2 kW, mostly.
release = dp.mean(homes.curves, epsilon=1, bound=dp.Range(0, 2), grid=homes.grid)
bands = {
    "confidence_band: the population's mean": release.confidence_band(0.95),
    "band: the mean of these homes": release.band(0.95),
    "noise_band: the noise alone": release.noise_band(0.95),
}

fig, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
for name, colour in zip(bands, ("#d6e4ee", "#9cc3de", "#4d86ad"), strict=True):
    ax.fill_between(homes.grid.points, *bands[name], color=colour, label=name)
ax.plot(homes.grid.points, release.values, color="#1b4b72", label="the private mean")
ax.set(xlabel="hour (h)", ylabel="load (kW)", xlim=(0, 24), xticks=range(0, 25, 6))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, fontsize=9)
plt.show()

# %%
# What to change
# --------------
# ``0.95`` is the probability with which a band holds the whole curve. Pictures and tables of a release show the
# confidence band by themselves. What it promises, in words for an appendix, is ``release.statement_parts.bands``.
