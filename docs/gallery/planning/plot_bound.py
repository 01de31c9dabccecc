"""
What does a bound cost that is too wide?
========================================

Nobody knows exactly how far curves reach, so honest bounds are wide. A method of one round pays for that in full. The
default finds a smaller bound first, privately, for a share of epsilon.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# Public: a guess of the mean, in kW; homes stray from it by about 0.4 kW.
grid = dp.Grid.midpoints(0, 24, 48, name="hour", unit="h")
guess = 0.2 + 0.9 * np.exp(-0.5 * ((grid.points - 19) / 2.5) ** 2)
highest = [1.5, 3, 6, 12, 24]
methods = {"the default": dp.Auto(), "one round of 12 components": dp.methods.KNorm(12)}

plt.rcParams["lines.markersize"] = 4
fig, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
for (name, method), colour in zip(methods.items(), ("#1b4b72", "#c4542d"), strict=True):
    errors = []
    for high in highest:
        facts = {"bound": dp.Range(0, high), "grid": grid, "method": method}
        plan = dp.MeanPlan(n=2000, epsilon=1, **facts)
        errors += [plan.hypothetical(guess, size=25, seed=1, spread=0.4).error]
    ax.plot(highest, errors, "o-", color=colour, label=name)
ax.set(xscale="log", yscale="log", xlabel="upper end of the promised range (kW)")
ax.set_ylabel("error to expect (kW, root mean square)")
ax.set_xticks(highest, [f"{high:g}" for high in highest])
ax.set_yticks([0.01, 0.02, 0.05, 0.1, 0.2], ["0.01", "0.02", "0.05", "0.1", "0.2"])
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# What to change
# --------------
# Put in your guess and the ranges that you could defend. Take the one that surely holds most curves: a bound that is
# too small is worse than one that is too wide, because it flattens the mean.
