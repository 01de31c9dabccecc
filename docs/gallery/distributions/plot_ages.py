"""
At which age do people die?
===========================

A register holds one age for each person. One release gives the density, the distribution function and every quantile,
with bands for the population.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# Invented: ages at death of 100,000 people, in years.
ages, _ = dp.datasets.lifetimes(100_000, np.random.default_rng(9))

# Public: ages lie between 0 and 110.
release = dp.density(ages, epsilon=1, domain=[(0, 110)], axes=["age (years)"])

plt.rcParams.update({"font.size": 9, "legend.frameon": False})
fig, (above, below) = plt.subplots(2, 1, figsize=(7.2, 6.4), sharex=True)
release.plot(above, title="Density", ylabel="share per year", xlabel="")
years = np.linspace(0, 110, 221)
low, high = release.cdf_band(0.95, years)
below.plot(years, release.cdf(years), color="#1b4b72", label="distribution function")
below.fill_between(years, low, high, color="#1b4b72", alpha=0.25, label="95 % band")
below.set_title("Share of people who have died by this age", loc="left", fontsize=10)
below.set(xlabel="age (years)", ylabel="share of people", xlim=(0, 110), ylim=(0, 1))
below.spines[["top", "right"]].set_visible(False)
below.legend()
plt.show()

# %%
# Quantiles come with limits that hold for all of them at once.

quarters = release.quantile_band([0.25, 0.5, 0.75])
shares = ("A quarter", "Half", "Three quarters")
for share, low, high in zip(shares, *quarters, strict=True):
    print(f"{share} of the people have died by an age of {low:.1f} to {high:.1f}.")

# %%
# What to change
# --------------
# ``domain`` is public: where values can lie at all. ``release.sample(1000)`` draws synthetic ages at no further cost.
# A table of counts does as well as single people: ``dp.density(counts=..., edges=...)``.
