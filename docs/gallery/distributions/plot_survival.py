"""
Do patients of the new arm live longer without an event?
========================================================

A trial follows patients of two arms for up to three years, some of them not so long. Each patient brings a time and
whether the event came then. No patient is in both arms, so both curves cost epsilon once, and their difference costs
nothing more.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# Invented: 4,000 patients, days to the event or the end of observation, the arm.
days, died, arm = dp.datasets.survival(4000, np.random.default_rng(8))

# Public: the study was planned for 1,000 days, with these two arms.
facts = {"epsilon": 1, "horizon": 1000, "axis": "time (days)"}
arms = dp.survival(days, died, by=arm, groups=["old", "new"], **facts)
gap = arms.difference("new", "old")

fig, ax = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
arms.plot(
    ax, title="Share of patients without an event", ylabel="share without an event"
)
plt.show()

# %%
# Means up to the horizon and a test come from the same release.

print(gap.test())
print(f"Mean days without an event, new minus old: {gap.rmst()}")

# %%
# What to change
# --------------
# ``horizon`` is public: take the planned length of the study. From a file, name the two columns:
# ``dp.read("patients.csv", columns=["days", "died"])``. ``kind="steps"`` draws steps, ``of="incidence"`` the share with
# an event.
