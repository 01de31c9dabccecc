"""
What could my release look like?
================================

Guess the answer, from an earlier study or a textbook, and look at releases that could come out. Every step of the
plan is simulated; no data are read and nothing is charged.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# Public: load between 0 and 2 kW, and a guess with a morning and an evening.
grid = dp.Grid.midpoints(0, 24, 48, name="hour", unit="h")
hours = grid.points
guess = (
    0.25
    + 0.4 * np.exp(-0.5 * ((hours - 7.3) / 1.4) ** 2)
    + 0.8 * np.exp(-0.5 * ((hours - 18.8) / 2.4) ** 2)
)

plt.rcParams.update(
    {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
)
fig, axes = plt.subplots(1, 3, figsize=(7.2, 3.4), sharey=True, layout="constrained")
for ax, epsilon in zip(axes, (0.05, 0.2, 1), strict=True):
    plan = dp.MeanPlan(
        n=1000, epsilon=epsilon, bound=dp.Range(0, 2), grid=grid, value="load (kW)"
    )
    could_be = plan.hypothetical(
        guess, size=15, seed=1, spread=0.4
    )  # a home is some 0.4 kW away from the mean
    drawn = ax.plot(hours, could_be.values.T, color="#4d86ad", linewidth=0.8, alpha=0.6)
    drawn += ax.plot(hours, guess, color="#c4542d", linewidth=1.8)
    ax.set_title(f"epsilon {epsilon:g}: {could_be.word}", loc="left", fontsize=10)
    ax.set(xlabel="hour (h)", xlim=(0, 24), xticks=range(0, 25, 6))
axes[0].set_ylabel("load (kW)")
axes[0].legend([drawn[0], drawn[-1]], ["could be released", "the guess"], frameon=False)
plt.show()

# %%
# What to change
# --------------
# ``guess`` and ``spread`` are yours, and public: never the data's own. Rows of an earlier study are surer than a curve:
# ``plan.hypothetical(rows)``. It works for every kind of plan.
