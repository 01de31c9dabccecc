"""
How does glucose run through the day, for most patients?
========================================================

A mean hides how people differ. Clinics look at percentiles: the median, between which values half of all days lie,
and between which nine in ten. Here 5,000 patients bring one day each. One charge of epsilon 1 pays for every
percentile at every hour.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# Invented: one row per patient, one value every half hour, in mg/dL.
days = dp.datasets.glucose(5000, np.random.default_rng(1))

# Public: the sensor shows 40 to 400 mg/dL. The range is never read from the data.
release = dp.percentiles(
    days.curves, epsilon=1, range=(40, 400), grid=days.grid, value="glucose (mg/dL)"
)

fig, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
release.plot(
    ax, title="Half of all days lie in the dark area, nine in ten in the light one"
)
ax.axhline(180, color="#888888", linewidth=0.8, linestyle=":")
ax.annotate("180 mg/dL", (0.2, 181), fontsize=8, color="#555555")
plt.show()

# %%
# Any percentile at any time, and the share below any value, are in the same release and cost nothing more.

print(
    f"Nine in ten patients are below {release(0.9, 13.5):.0f} mg/dL at half past one."
)
print(f"{release.cdf(13.5, 180):.0%} of them are at 180 mg/dL or below then.")

# %%
# What to change
# --------------
# ``range`` is yours: take what the sensor can show. ``levels=(0.1, 0.5, 0.9)`` draws other percentiles. If patients
# bring several days, pass ``unit="patient"`` with a table that names them: then the patient is protected, not the day.
