"""
Who will need treatment, by age and dose?
=========================================

A classifier learns from two inputs which of two classes is more likely. The whole decision function is released, so
it can be drawn, published and used on anybody.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# Invented: 20,000 people with an age, a dose and whether they needed treatment.
rng = np.random.default_rng(13)
inputs = np.column_stack([rng.uniform(20, 90, 20_000), rng.uniform(0, 5, 20_000)])
age, dose = inputs.T
treated = np.sin(dose * 1.3) + (age - 55) / 25 + rng.normal(0, 0.4, 20_000) > 0.3

# Public: the ranges of the inputs, and the classes that exist.
model = dp.KernelClassifier(
    epsilon=1,
    domain={"age (years)": (20, 90), "dose (mg)": (0, 5)},
    classes=[False, True],
)
model.fit(inputs, treated)

fig, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
model.plot(ax, title="More likely treated (red) or not (blue)")
plt.show()

# %%
# Predictions cost nothing more: they are computed from what is released.

for years, milligrams in ((30, 1.0), (60, 1.0), (60, 4.0)):
    share = model.predict_proba([[years, milligrams]])[0, 1]
    print(f"Aged {years} with {milligrams:g} mg: treated with a chance of {share:.0%}.")

# %%
# What to change
# --------------
# Put your inputs into ``domain``, one public range each, and list ``classes``. One to three inputs do well. Steps that
# come before the model must be fixed by public facts, such as ``dp.estimators.PublicScaler``.
