"""
Where did a study's budget go this year?
========================================

A study has a budget of 4. It publishes a mean every month and a density every quarter, and keeps the account in a
ledger: one file that every program charges before it draws noise. When the budget is spent, it refuses.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# Invented: 1,000 homes with a curve for each month, and the ages of 1,000 people.
rng = np.random.default_rng(17)
ages, _ = dp.datasets.lifetimes(1000, rng)
method = dp.methods.KNorm(4)
plan = dp.MeanPlan(n=1000, epsilon="1/4", bound=dp.Range(0, 2), grid=48, method=method)
density = dp.DensityPlan(n=1000, epsilon="1/4", domain=[(0, 110)])

months = np.arange(1, 13)
spent = {"mean": np.zeros(12), "density": np.zeros(12)}
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "homes.ledger"
    ledger = dp.Ledger.create(path, epsilon=4, study="homes 2026")
    for month in months:
        curves = dp.datasets.load_curves(1000, rng).curves
        plan.release(curves, ledger, query=f"mean {month}")
        if month % 3 == 0:
            density.release(ages, ledger, query=f"density {month}")
    try:
        plan.release(curves, ledger)
    except dp.errors.BudgetExceeded as refused:
        print(refused)
    for entry in ledger.history():
        kind, month = entry.query.split()
        spent[kind][int(month) - 1 :] += float(entry.epsilon)

fig, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
ax.bar(months, spent["mean"], color="#4d86ad", label="monthly means")
over = {"bottom": spent["mean"], "color": "#e0a58c", "label": "quarterly densities"}
ax.bar(months, spent["density"], **over)
ax.axhline(4, color="#a02020", linewidth=1.2, label="the budget")
ax.set(xlabel="month of 2026", ylabel="epsilon spent so far", xticks=months)
ax.set(xlim=(0.4, 12.6), ylim=(0, 4.8), yticks=range(5))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left", ncols=3)
plt.show()

# %%
# What to change
# --------------
# Choose the total first, then what a release may cost. ``dp.Ledger.create(..., period="year")`` renews the budget each
# year of the calendar. ``dpfda ledger history homes.ledger`` prints the entries.
