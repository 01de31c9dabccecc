"""
In which ways do homes differ from the mean home?
=================================================

Principal components are the curves along which homes vary most. They come from a private covariance: one charge, and
the surface, its components with bands, and their shares of the variance are all there.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# Invented: 200,000 homes in kW, some with busy evenings, some heating at night.
rng = np.random.default_rng(6)
homes = dp.datasets.load_curves(200_000, rng)
hours, sizes = homes.grid.points, rng.gamma(2, [[0.3], [0.22]], (2, 200_000))
evening = np.exp(-0.5 * ((hours - 19) / 2.5) ** 2)
night = np.exp(-0.5 * ((hours - 3.5) / 2) ** 2)
curves = 0.4 * homes.curves + np.outer(sizes[0], evening) + np.outer(sizes[1], night)

# Public: homes draw 0 to 4 kW.
facts = {"bound": dp.Range(0, 4), "grid": homes.grid, "value": "load (kW)"}
release = dp.covariance(curves, epsilon=4, **facts)

fig, ax = plt.subplots(figsize=(7.2, 3.8))
release.plot_eigenfunctions(2, ax, title="Homes vary most along these", ylabel="weight")
plt.show()

# %%
# The surface itself says how loads at two hours go together.

fig, ax = plt.subplots(figsize=(5.4, 4.4))
release.plot(ax, title="Covariance of the load at two hours")
plt.show()

# %%
# What to change
# --------------
# Do not read a component that the legend calls noise: only more people or a larger epsilon make it sure.
# ``release.correlation()`` is the surface without units, ``release.explained_variance_ratio(3)`` the shares as numbers.
