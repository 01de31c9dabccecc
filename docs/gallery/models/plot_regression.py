"""
How does the load of a home depend on people and on heating?
============================================================

Each home has a load curve and two covariates: how many people live there, and whether it is heated by electricity.
The regression says what one more person adds at each hour, and what the heating adds, with bands for the population.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# Invented: 20,000 homes, with a curve every half hour of a day in kW.
covariates, curves, day = dp.datasets.homes(20_000, np.random.default_rng(12))

# Public: curves have a norm of at most 6, homes have 0 to 6 people, heating is 0 or 1.
facts = {
    "bound": dp.L2Ball(6.0),
    "covariate_bound": [(0, 6), (0, 1)],
    "grid": day,
    "value": "load (kW)",
}
model = dp.FunctionOnScalarRegression(epsilon=1, **facts).fit(covariates, curves)

fig, axes = plt.subplots(3, 1, figsize=(7.2, 7.8), sharex=True, layout="constrained")
names = [
    "Base: nobody there, no electric heating",
    "One more person adds",
    "Electric heating adds",
]
model.plot(axes, label=names, ylabel="load (kW)")
for ax in axes[:2]:
    ax.set_xlabel("")
plt.show()

# %%
# The model predicts the curve of any home, at no further cost.

prediction = model.predict([[4, 1]])[0]
print(f"A home of four with electric heating draws {prediction[38]:.1f} kW at 19:15.")

# %%
# What to change
# --------------
# Covariates are one row per curve; ``covariate_bound`` has one public range for each. With fewer than some hundred
# records per coefficient function expect slopes of zero. ``model.plan_.explain()`` says what was done.
