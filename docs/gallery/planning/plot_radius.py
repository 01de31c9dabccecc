"""
How far do curves reach, and what is it worth to know?
======================================================

If the bound that you can defend is a wide one, a small part of the budget buys a radius that holds nearly all curves.
How good it will be depends on the number of people and epsilon alone, so it is known before data.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# Invented: 5,000 homes in kW. Public: with panels on the roof, loads of -7 to 8 kW.
homes = dp.datasets.load_curves(5000, np.random.default_rng(15))
facts = {"bound": dp.Range(-7, 8), "grid": homes.grid}
radius = dp.suggest_radius(homes.curves, epsilon="1/10", **facts)

# It is a bound like any other.
release = dp.mean(homes.curves, epsilon="9/10", bound=radius.bound, grid=homes.grid)
kilowatt = radius.radius / 24**0.5
print(f"Within {kilowatt:.2g} kW (root mean square) of 0.5 kW, instead of 7.5 kW.")

# %%
# What a radius is worth, before data: which share of curves it holds, 19 times in 20.

plt.rcParams["lines.markersize"] = 4
fig, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
people = [500, 1000, 2000, 5000, 10_000, 20_000]
for epsilon, colour in (("1/20", "#9cc3de"), ("1/10", "#4d86ad"), ("1/2", "#1b4b72")):
    held = [dp.plans.RadiusPlan(n=n, epsilon=epsilon, **facts).held for n in people]
    ax.plot(people, held, "o-", color=colour, label=f"epsilon {epsilon}")
ax.axhline(0.95, color="#888888", linewidth=0.8, linestyle=":")
ax.annotate("asked for: 0.95", (500, 0.96), fontsize=9, color="#555555")
ax.set(xscale="log", xlabel="people", ylim=(0, 1.02))
ax.set_ylabel("share of curves within the radius, at least")
ax.set_xticks(people, [f"{n:,}" for n in people])
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# What to change
# --------------
# ``bound`` should surely hold the curves, and its middle should lie among them. ``quantile=0.9`` asks for a radius that
# holds fewer. Means do this by themselves: buy a radius where several releases are to share it.
