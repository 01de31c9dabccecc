"""
Whom does a release protect: a day, or the home that lived it?
==============================================================

A home that hands in twenty days shows itself twenty times. If days are protected one by one with epsilon 1, the home
is protected with epsilon 20, which is nothing. Say whose each curve is, and the home counts once.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import dpfda as dp

# Invented: 1,500 homes with 20 days each, in kW. The days of a home are alike.
rng = np.random.default_rng(7)
days, homes = dp.datasets.load_curves(30_000, rng), dp.datasets.load_curves(1500, rng)
curves = 0.3 * days.curves + 0.7 * homes.curves.repeat(20, axis=0)
table = pd.DataFrame(curves, columns=[f"h{i}" for i in range(48)])
table["home"] = np.arange(1500).repeat(20)

# Public: homes draw 0 to 4 kW.
facts = {"bound": dp.Range(0, 4), "grid": days.grid, "value": "load (kW)"}
by_home = dp.mean(dp.read(table, columns="h[0-9]*"), unit="home", epsilon=1, **facts)
rows = dp.read(table, columns="h[0-9]*", ignore="home")
by_day = dp.mean(rows, epsilon=1, **facts)

fig, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.8), sharey=True)
by_home.plot(left, title="Homes are protected,\nepsilon 1 for all their days")
by_day.plot(right, title="Days are protected,\nepsilon 20 for a home", ylabel="")
plt.show()

# %%
# The right band is not only bought with privacy. It is also wrong: it takes 20 days of a home for 20 homes.

# %%
# What to change
# --------------
# ``unit="home"`` names the column that says whose a curve is. ``dp.Unit("home", most=30, order="day")`` keeps at most
# thirty days of a home. Where everybody brings exactly one curve, no unit is needed.
