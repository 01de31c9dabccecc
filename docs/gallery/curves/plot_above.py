"""
How many patients are above 180 mg/dL, and for how long?
========================================================

Some questions are about a level, not a mean: which share of patients is above it at each hour, and which share of the
day do they spend above it? Both are means of a function of each curve, which brings its own bound.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# Invented: 8,000 patients, one value every half hour of a day, in mg/dL.
days = dp.datasets.glucose(8000, np.random.default_rng(5))
curves = days.curves + 25

# A share lies between 0 and 1, so no bound has to be chosen. Epsilons add up to 1.
by_hour = dp.mean(curves, epsilon="1/2", of=dp.Above(180), grid=days.grid)
levels = range(100, 301, 10)
in_all = dp.mean(curves, epsilon="1/2", of=dp.TimeAbove(levels), grid=days.grid)

fig, (above, below) = plt.subplots(2, 1, figsize=(7.2, 6.4))
by_hour.plot(above, title="Patients above 180 mg/dL at each hour", ylabel="share")
words = {"ylabel": "share of the day", "xlabel": "level (mg/dL)"}
in_all.plot(below, title="Time above each level", **words)
plt.show()

# %%
# What to change
# --------------
# Put your levels into ``dp.Above`` and ``dp.TimeAbove``. With ``unit="patient"`` several days of a patient are averaged
# first. One ledger for both, ``ledger="study.ledger"``, adds the two charges up by itself.
