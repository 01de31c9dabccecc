"""
Where in a region are the cases, without a dot for anybody?
===========================================================

A map of dots shows homes. A private density shows where cases are frequent, and nobody's address. A point is one
person; east and north are released together for one epsilon.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# Invented: 10,000 places within a square of ten by ten kilometres.
places = dp.datasets.mixture(10_000, np.random.default_rng(11), dimension=2)

# Public: the square. Points outside are an error; outside="clip" moves them in.
axes = ["east (km)", "north (km)"]
release = dp.density(
    places.points, epsilon=1, domain=[(-5, 5), (-5, 5)], axes=axes, cells=96
)

fig, ax = plt.subplots(figsize=(6.0, 4.8), layout="constrained")
release.plot(
    ax, title="Cases by place", label="share of cases per square km", color="YlGnBu"
)
ax.set_aspect("equal")
plt.show()

# %%
# The density along one axis is part of the same release.

west = release.marginal(0).cdf(0.0)
print(f"{west:.0%} of the cases are in the west of the square.")

# %%
# What to change
# --------------
# ``domain`` and ``axes`` are yours. ``release.plot(kind="surface")`` draws it in space. A person with several places
# needs a rule first: keep one of them, by a public rule.
