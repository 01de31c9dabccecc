"""
How do girls and boys grow, when each child was measured at ages of its own?
============================================================================

Everybody is measured at two and at eighteen, and comes four to ten times between, at any age. A long table has one row
per measurement. Each child's curve is brought to common ages alone, before anything is added up, and the child as a
whole is protected.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import dpfda as dp

# Invented: 6,000 children with 6 to 12 measurements each, height in cm.
rng = np.random.default_rng(3)
visits = rng.integers(6, 13, 6000)
child = np.repeat(np.arange(6000), visits)
last = visits.cumsum() - 1
first = last - visits + 1
age = (
    2
    + 16
    * (np.arange(child.size) - first[child] + rng.random(child.size))
    / visits[child]
)
age[first], age[last] = 2, 18
boy = child % 2 == 1
spurt = np.where(boy, 13.6, 11.8) + rng.normal(0, 0.8, 6000)[child]  # when it comes
gain = np.where(boy, 30, 25) / (1 + np.exp((spurt - age) / 0.9))
height = 86 + 5.6 * (np.minimum(age, spurt) - 2) + gain
height += rng.normal(0, 5, 6000)[child] + rng.normal(0, 0.5, child.size)
table = pd.DataFrame({"child": child, "age": age, "height": height})
table["sex"] = np.where(boy, "boys", "girls")

# Public: the ages, and a straight line that heights stay near to, by some 20 cm.
ages = dp.Grid.uniform(2, 18, 65, name="age", unit="years")
bound = dp.RMS(20, center=86 + 5.6 * (ages.points - 2))
layout, align = dp.Long("child", "age", "height"), dp.spaces.Interpolate(gap=0.4)
read = dp.read(table, layout=layout, align=align, grid=ages)
facts = {"epsilon": 1, "bound": bound, "value": "height (cm)"}
groups = dp.mean(read, by="sex", groups=["girls", "boys"], **facts)

fig, (above, below) = plt.subplots(2, 1, figsize=(7.2, 6.4), sharex=True)
groups.plot(above, title="Mean height", xlabel="")
groups.difference("boys", "girls").plot(below, title="Boys minus girls")
plt.show()

# %%
# What to change
# --------------
# ``dp.Long`` names three columns of your table: whose, when, what. ``gap`` is the longest stretch without a
# measurement, as a share of all ages; a child with a longer one stops the run. ``dp.spaces.Smooth()`` draws smooth
# curves where ``Interpolate`` draws straight lines. Take the ``center`` of the bound from a public growth chart.
