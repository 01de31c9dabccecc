"""
Do women die at other ages than men?
====================================

Two densities, one for each group, cost epsilon once, because nobody is in both. Their difference has a band of its
own: where zero lies outside it, the populations differ for sure.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# Invented: ages at death of 400,000 people, and their sex.
ages, sex = dp.datasets.lifetimes(400_000, np.random.default_rng(10))

# Public: ages lie between 0 and 110, and there are two groups.
facts = {"domain": [(0, 110)], "axes": ["age (years)"]}
groups = dp.density(ages, by=sex, groups=["f", "m"], epsilon=1, **facts)
gap = groups.difference("f", "m")

fig, (above, below) = plt.subplots(2, 1, figsize=(7.2, 6.4), sharex=True)
names = {"f": "women", "m": "men"}
groups.plot(above, label=names, title="Ages at death", ylabel="per year", xlabel="")
gap.plot(below, title="Women minus men", ylabel="difference per year")
plt.show()

print(gap.test())

# %%
# What to change
# --------------
# ``by`` is one label per person, or the name of a column. If the sizes of groups are to be protected as well, pass
# ``neighbors="add-remove"`` with the public list of groups and a guess of each size.
