"""
How does a response depend on two inputs, without a formula?
============================================================

A kernel regression draws the mean response over dose and time. It assumes no shape, only that near inputs have near
responses.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# Invented: 40,000 people with a dose, a time since then, and a concentration.
rng = np.random.default_rng(14)
dose, time = rng.uniform(0, [[10], [24]], (2, 40_000))
truth = 0.9 * dose * (1 - np.exp(-time / 2)) * np.exp(-time / 9)
inputs, measured = np.column_stack([dose, time]), truth + rng.normal(0, 0.5, 40_000)

# Public: the ranges of the inputs and of the response.
domain = {"dose (mg)": (0, 10), "time (h)": (0, 24)}
facts = {"domain": domain, "bound": (-1, 6), "value": "concentration (mg/L)"}
model = dp.KernelRegressor(epsilon=2, **facts).fit(inputs, measured)

fig, ax = plt.subplots(figsize=(7.2, 4.2))
model.plot(ax, title="Mean concentration by dose and time", color="viridis")
plt.show()

# %%
# Any cut through the surface is a prediction, and costs nothing.

fig, ax = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
hours = np.linspace(0, 24, 97)
for milligrams, colour in ((3, "#9cc3de"), (6, "#4d86ad"), (9, "#1b4b72")):
    response = model.predict(np.column_stack([np.full(97, milligrams), hours]))
    ax.plot(hours, response, color=colour, linewidth=1.8, label=f"{milligrams} mg")
ax.set(xlabel="time (h)", xlim=(0, 24), xticks=range(0, 25, 6))
ax.set_ylabel("concentration (mg/L)")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# What to change
# --------------
# ``bound`` is the public range of the response: values beyond it are clipped. The surface has no band for the
# population, only ``model.release_.noise_band()`` for the noise.
