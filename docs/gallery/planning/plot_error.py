"""
How many people, and which epsilon, make a release clear?
=========================================================

The error falls with the number of people and with epsilon. A plan knows it before data, and says in a word what it is
worth: clear, coarse or mostly noise.
"""

from dataclasses import replace

import matplotlib.pyplot as plt

import dpfda as dp

# Public: half-hourly load between 0 and 2 kW.
grid = dp.Grid.midpoints(0, 24, 48, name="hour", unit="h")
plan = dp.MeanPlan(n=1000, epsilon=1, bound=dp.Range(0, 2), grid=grid)
people, epsilons = [100, 300, 1000, 3000, 10_000, 30_000], [0.1, 0.3, 1, 3]

plt.rcParams.update({"font.size": 9, "axes.titlelocation": "left"})
fig, ax = plt.subplots(figsize=(7.2, 4.0), layout="constrained")
colours = {"clear": "#cfe6d4", "coarse": "#f7e7b5", "mostly noise": "#f3cfc6"}
for row, epsilon in enumerate(epsilons):
    for column, n in enumerate(people):
        verdict = replace(plan, n=n, epsilon=epsilon).verdict
        said = f"{verdict.word}\n{verdict.ratio:.1%}"
        ax.bar(column, 0.94, 0.96, row - 0.47, color=colours[verdict.word])
        ax.text(column, row, said, ha="center", va="center")
ax.set_xticks(range(6), [f"{n:,}" for n in people])
ax.set_yticks(range(4), [f"{epsilon:g}" for epsilon in epsilons])
ax.set(xlabel="people", ylabel="epsilon", xlim=(-0.5, 5.5), ylim=(-0.5, 3.5))
ax.set_title("Expected error, as a share of how much a typical mean varies in a day")
ax.tick_params(length=0)
ax.spines[:].set_visible(False)
plt.show()

# %%
# A plan also finds the epsilon, or the number of people, that a wanted error needs.

epsilon, n = plan.solve(target=0.02), plan.solve(target=0.02, vary="n")
print(f"A squared error of 0.02 needs epsilon {epsilon:.2g} with 1,000 people,")
print(f"or {n:,.0f} people with epsilon 1.")

# %%
# What to change
# --------------
# Put your ``bound`` and ``grid`` into the plan. If you can guess your mean, ``plan.verdict_for(guess)`` is nearer to
# what you will get. Where all is red, ask for less: fewer groups, a smoother curve, or one number.
