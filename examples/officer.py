"""What a privacy officer does: read the plan, keep the account, publish with words, check. The homes are invented."""

import numpy as np

import dpfda as dp

load = dp.datasets.load_curves(6000, np.random.default_rng(0))
heating = np.repeat(["electric", "gas"], 3000)
load.curves[:3000] += 0.5  # kW

# Before data: the plan is read and approved, and the study gets its budget.
facts = {"epsilon": 1, "bound": dp.Range(0, 8), "grid": load.grid, "method": dp.methods.KNorm(8, check=True)}
plan = dp.plans.GroupPlan(["electric", "gas"], [dp.MeanPlan(n=3000, **facts)] * 2)
print(plan["gas"].explain())
ledger = dp.Ledger.create("load.ledger", study="load 2026", epsilon=2)

# The release, with a statement for the board, a paragraph for the paper, and a difference that costs nothing.
release = plan.release(load.curves, ledger, by=heating)
gap = dp.load(release.difference("electric", "gas").save("gap.json"))
print(release.statement, release.methods_text(), gap.statement_parts.bands, sep="\n\n")

# Afterwards: the ledger holds the charge that the file names, and nothing speaks against the plan.
print(f"Charged as entry {ledger.verify([gap])[0].number}, {ledger.remaining} left.")
print(dp.audit(release, draws=1000, releases=8, effort=100).verdict)
