"""
What is the daily load of a home, and by how much do regions differ?
====================================================================

A network operator wants the mean load of homes over a day in two regions, and their difference with an honest band.
No home is in both regions, so both means together cost epsilon once. The difference is made from what is released
already and costs nothing.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# Invented: 12,000 homes, in kW. In the south, air conditioning adds to afternoons.
rng = np.random.default_rng(2)
homes = dp.datasets.load_curves(12_000, rng)
region = rng.choice(["north", "south"], 12_000)
cooling = 0.25 * np.exp(-0.5 * ((homes.grid.points - 15) / 2.5) ** 2)
curves = homes.curves + np.outer(region == "south", cooling)

# Public: homes draw 0 to 4 kW, and there are two regions.
facts = {"bound": dp.Range(0, 4), "grid": homes.grid, "value": "load (kW)"}
regions = dp.mean(curves, by=region, groups=["north", "south"], epsilon=1, **facts)
gap = regions.difference("south", "north")

fig, (above, below) = plt.subplots(2, 1, figsize=(7.2, 6.4), sharex=True)
regions.plot(above, title="Mean load", xlabel="")
gap.plot(below, title="South minus north")
plt.show()

# %%
# The test says whether the regions differ at all, and where they do for sure.

print(gap.test())

# %%
# What to change
# --------------
# ``by`` takes one label per curve, or the name of a column of a table. List the ``groups`` yourself: which groups
# there are is public. More than four stand side by side. Days of the same home count as one with ``unit="home"``.
