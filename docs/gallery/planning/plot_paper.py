"""
How much noise does the paper's table need?
===========================================

Lin and Reimherr (JMLR 2024) print errors of their mechanism ICLP-QR for 508 curves of electricity demand. Their theorem
takes Laplace noise of *unit variance* where noise of *unit scale* is needed: short by the square root of two. Their
program took a smaller bound than the theorem's as well. Plans recompute what was run, and what is needed.
"""

import matplotlib.pyplot as plt
import numpy as np

import dpfda as dp

# As printed (under another heading): budgets, and squared distances to the mean.
budgets = np.array([1 / 8, 1 / 4, 1 / 2, 1, 2, 4])
printed = [1.3726, 0.3459, 0.0895, 0.0241, 0.0080, 0.0039]

# Public facts of that table: curves of norm one at 48 points, kernel Matern 3/2.
grid = dp.Grid(np.linspace(0.001, 0.999, 48), np.full(48, 1 / 48))
facts = {"bound": dp.L2Ball(1.0), "grid": grid, "kernel": dp.kernels.Matern(1.5, 0.1)}
qr = {"eta": 1.25, "psi": 2 * (508 / 1.073) ** -1.25, "noise": "kernel"}
plan = dp.MeanPlan(n=508, epsilon=1, **facts, method=dp.methods.QR(**qr))

# What was run: unit variance, the largest L1 norm of the sample, the largest factor.
root = np.sqrt(plan.basis.eigenvalues)
scales = 2 * 4.45 / 508 * (plan.filter / root).max() * root / 2**0.5
run = 2 * (scales**2).sum() / budgets**2

# The worst that two records of norm one can do: the privacy loss, in epsilons.
exact, was = (2 / 508 * np.linalg.norm(plan.filter / b) for b in (plan.scales, scales))
print(f"Unit scale, as needed: {exact:.3f}. Unit variance: {exact * 2**0.5:.3f}.")
print(f"What was run: {was:.3f}.")

plt.rcParams.update({"lines.markersize": 4, "legend.fontsize": 9})
fig, ax = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
for who, needs, colour in (
    ("the theorem's sensitivity needs", "paper", "#c4542d"),
    ("two neighbours need", "tight", "#1b4b72"),
):
    method = dp.methods.QR(**qr, sensitivity=needs)
    error = dp.MeanPlan(n=508, epsilon=1, **facts, method=method).expected_error
    ax.plot(budgets, error / budgets**2, "o-", color=colour, label=f"noise that {who}")
ax.plot(budgets, run, "--", color="#888888", label="noise that was run: too small")
ax.plot(
    budgets, printed, "kx", label="error printed: noise, and what a ridge leaves out"
)
ax.set(xscale="log", yscale="log", ylim=(5e-4, 3e3))
ax.set(xlabel="epsilon", ylabel="squared error")
ax.set_xticks(budgets, ["1/8", "1/4", "1/2", "1", "2", "4"])
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# What to change
# --------------
# ``noise="matched"`` needs less than the kernel's noise, and the default, ``dp.Auto()``, less again. Every experiment
# of the paper can be run again; the page *The paper, reproduced and corrected* has all tables.
