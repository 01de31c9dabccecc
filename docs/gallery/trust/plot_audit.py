"""
Does a plan keep its promise?
=============================

An audit attacks a plan. It reads no data: it invents the worst neighbours that it can find, sends them through the code
that real data would go through, draws noise, and makes whole releases with a ledger.
"""

import matplotlib.pyplot as plt

import dpfda as dp

# Public: what is to be released, and how.
method = dp.methods.FRL(4)
plan = dp.MeanPlan(n=1000, epsilon=1, bound=dp.Range(0, 2), grid=24, method=method)
report = dp.audit(plan, draws=20_000, releases=8, effort=200)
print(report.verdict)

losses = {
    "charged in the ledger": float(plan.epsilon),
    "worst pair of neighbours found": report.largest_loss,
    "proven by 20,000 outcomes, 95 %": report.parts[0].steps[0].bound.lower,
}
plt.rcParams.update({"font.size": 9, "axes.titlelocation": "left"})
fig, (above, below) = plt.subplots(2, 1, figsize=(7.2, 5.0), layout="constrained")
bars = above.barh(list(losses), list(losses.values()), color="#4d86ad", height=0.7)
above.bar_label(bars, fmt="%.2f", padding=4)
above.set_title("Epsilon: what is paid, and what an attacker could get", fontsize=10)
above.set(xlabel="epsilon", xlim=(0, 1.15))
above.invert_yaxis()
above.spines[["top", "right"]].set_visible(False)
report.plot(below)
below.set_ylim(1 - 1.3 * report.detectable, 1 + 2 * report.detectable)
below.set(xticks=range(4), xlabel="coordinate of the release", ylabel="size of noise")
plt.show()

# %%
# What to change
# --------------
# Audit the plan that you will use, of any kind. Leave out ``draws``, ``releases`` and ``effort`` for the full audit,
# which takes minutes. ``report.save("audit.html")`` writes the page for a review board.
