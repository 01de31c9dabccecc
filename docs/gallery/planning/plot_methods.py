"""
Which method has the smallest error, before any data?
=====================================================

A method is a way to spend epsilon: which functions of a curve are released, and with which noise. Errors follow from
public facts, so methods can be ranked before a file is opened.
"""

import matplotlib.pyplot as plt

import dpfda as dp

# Public: a thousand homes, half-hourly load between 0 and 2 kW.
grid = dp.Grid.midpoints(0, 24, 48, name="hour", unit="h")
plan = dp.MeanPlan(n=1000, epsilon=1, bound=dp.Range(0, 2), grid=grid)
epsilons = [0.125, 0.25, 0.5, 1, 2, 4]
looks = {
    "AR": ("AR: soft thresholds", "#8a5a9e", "s-"),
    "FRL": ("FRL: first components, Laplace noise", "#b08a1e", "D-"),
    "QR": ("QR: ridge", "#3f7d4e", "^-"),
    "Minimax": ("Minimax: filter and noise together", "#555555", "v-"),
    "KNorm": ("KNorm: first components, ball noise", "#c4542d", "o-"),
    "Auto": ("Auto, the default", "#1b4b72", "o-"),
}
compared = dp.compare(plan, epsilons=epsilons)

plt.rcParams["lines.markersize"] = 4
fig, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
for name, (label, colour, line) in looks.items():
    # The root of a squared L2 error over 24 hours, as a root mean square.
    errors = [(each.expected_risk / 24) ** 0.5 for each in compared[name]]
    width = 2 if name == "Auto" else 1
    ax.plot(epsilons, errors, line, color=colour, label=label, linewidth=width)
ax.set(xscale="log", yscale="log", xlabel="epsilon", ylim=(0.005, 0.5))
ax.set_ylabel("expected error (kW, root mean square)")
ax.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
ax.set_yticks([0.01, 0.03, 0.1, 0.3], ["0.01", "0.03", "0.1", "0.3"])
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, fontsize=9)
plt.show()

# %%
# What to change
# --------------
# Put your ``n``, ``bound`` and ``grid`` into the plan. ``dp.compare(plan, methods=[...])`` takes methods with settings
# of your own. Errors are over many public guesses of the mean: rough and smooth, small and large.
