"""Mean glucose over the day in the two arms of a trial, from a CSV as a spreadsheet saves it. All of it is invented."""

import numpy as np

import dpfda as dp

# Somebody else's part: 10,000 days of 5,000 patients, semicolons between cells, commas in numbers.
rng, day = np.random.default_rng(0), dp.Grid.midpoints(0, 24, 48, name="hour", unit="h")
curves = dp.datasets.glucose(10_000, rng).curves / 18  # mmol/L
patients = rng.permutation(np.repeat(np.arange(5000), 2))
with open("glucose.csv", "w", encoding="utf-8") as file:
    print("patient;arm;date", *(f"g{i}" for i in range(48)), sep=";", file=file)
    for patient, curve in zip(patients, curves, strict=True):
        values = (f"{value - (patient % 2) * 0.8:.1f}".replace(".", ",") for value in curve)
        print(f"P{patient:04d}", "drug" if patient % 2 else "diet", "2026-05-01", *values, sep=";", file=file)

# Yours: say how it is read, what is known of such curves, and whom to protect.
days = dp.read("glucose.csv", separator=";", decimal=",", columns="g*", grid=day)
facts = {"epsilon": 1, "bound": dp.Range(2, 25), "value": "glucose (mmol/L)"}
arms = dp.mean(days, unit="patient", by="arm", groups=["diet", "drug"], **facts)
arms.plot().figure.savefig("glucose.png")
print(arms.statement, arms.difference("drug", "diet").test(), sep="\n\n")
