"""What an editor knows: checked by mypy, never run. A line's comment says what it must report there."""

from typing import reveal_type

import numpy as np

import dpfda as dp

curves = np.zeros((100, 12))
ball = dp.L2Ball(1.0)

reveal_type(dp.mean(curves, epsilon=1.0, bound=ball))  # MeanRelease
reveal_type(dp.mean("days.csv", epsilon="1/2", bound=ball, unit="patient", ledger="s.ledger"))  # MeanRelease
reveal_type(dp.mean(curves, epsilon=1.0, bound=ball, by="arm"))  # GroupRelease[MeanRelease]
reveal_type(dp.mean(curves, epsilon=1.0, bound=ball, by="arm")["a"])  # MeanRelease
reveal_type(dp.mean(curves, epsilon=1.0, bound=dp.Range(2, 25)))  # MeanRelease
reveal_type(dp.mean(curves, epsilon=1.0, bound=dp.RMS(1.0, center=0.5), by="arm"))  # GroupRelease[MeanRelease]
reveal_type(dp.mean(curves, epsilon=1.0, bound=ball, value="load (kW)"))  # MeanRelease
reveal_type(dp.mean(curves, epsilon=1.0, of=dp.Above(140)))  # MeanRelease
reveal_type(dp.mean(curves, epsilon=1.0, of=dp.TimeAbove([70, 140]), by="arm"))  # GroupRelease[MeanRelease]
reveal_type(dp.MeanPlan(n=508, epsilon=1.0, of=dp.Above(140), grid=48).of)  # RecordFunction
reveal_type(dp.audits.check_function(dp.Above(140), 24))  # float
reveal_type(dp.mean(curves, epsilon=1.0, bound=ball).plot(color="red", title="", legend=False))  # Axes
reveal_type(dp.covariance(curves, epsilon=1.0, bound=ball))  # CovarianceRelease
reveal_type(dp.covariance(curves, epsilon=1.0, bound=dp.Range(2, 25)))  # CovarianceRelease
reveal_type(dp.Range(2, 25).on(dp.Grid.uniform(0, 24, 48)))  # L2Ball
reveal_type(dp.covariance(curves, epsilon=1.0, bound=ball, by=["a", "b"]))  # GroupRelease[CovarianceRelease]
reveal_type(dp.covariance(curves, epsilon=1.0, bound=ball).eigenfunctions(2))  # ndarray
reveal_type(dp.density(curves, epsilon=1.0, domain=[(0, 1)]))  # DensityRelease
reveal_type(dp.density(counts={"a": [1]}, epsilon=1.0, domain=[(0, 1)]))  # GroupRelease[DensityRelease]
reveal_type(dp.percentiles(curves, epsilon=1.0, range=(40, 400)))  # PercentileRelease
reveal_type(dp.percentiles(curves, epsilon=1.0, range=dp.Range(40, 400), by="arm")["a"].curve(0.5))  # ndarray
reveal_type(dp.percentiles(curves, epsilon=1.0, range=(40, 400), by="arm"))  # GroupRelease[PercentileRelease]
reveal_type(dp.PercentilePlan(n=508, epsilon=1.0, range=(40, 400), grid=48).release(curves)(0.9, 3.0))  # ndarray
reveal_type(dp.survival([1.0], [1], epsilon=1.0, horizon=9.0))  # SurvivalRelease
reveal_type(dp.survival(curves, epsilon=1.0, horizon=9.0, by="arm"))  # GroupRelease[SurvivalRelease]
reveal_type(dp.survival([1.0], [1], epsilon=1.0, horizon=9.0).median())  # Estimate
reveal_type(dp.suggest_radius(curves, epsilon=0.1, bound=dp.Range(0, 1)).bound)  # L2Ball
reveal_type(dp.read("days.csv", columns="h*"))  # Curves
reveal_type(dp.mean(curves, epsilon=1.0, bound=ball).band(0.95))  # Band
reveal_type(dp.mean(curves, epsilon=1.0, bound=ball).values)  # ndarray
reveal_type(dp.mean(curves, epsilon=1.0, bound=ball).statement)  # str

plan = dp.MeanPlan(n=508, epsilon=1.0, bound=ball, grid=48)
reveal_type(dp.MeanPlan(n=508, epsilon=1.0, bound=dp.RMS(1.0), grid=48).bound)  # Bound
reveal_type(plan.verdict_for(dp.Range(4, 12)).bound)  # str
reveal_type(plan.release(curves).bound_too_small)  # bool
reveal_type(plan.release(curves))  # MeanRelease
reveal_type(plan.summarize(curves))  # Summary
reveal_type(plan.solve(target=0.01))  # float
reveal_type(plan.expected_risk)  # float
reveal_type(plan.accuracy.noise_band())  # Band
reveal_type(dp.compare(plan))  # dict[str, list[MeanPlan]]
reveal_type(dp.load("mean.json"))  # Release
reveal_type(dp.KernelClassifier(epsilon=1.0, domain=(0, 1)).fit(curves, curves))  # KernelClassifier
reveal_type(dp.methods.KNorm(3))  # KNorm
reveal_type(dp.errors.RecordError)  # RecordError

dp.mean(curves, bound=ball)  # error
dp.mean(curves, epsilon=1.0)  # error
dp.mean(curves, epsilon=1.0, bound=ball, nonsense=3)  # error
dp.mean(curves, epsilon=1.0, bound=ball, groups=["a"])  # error
dp.mean(curves, epsilon=1.0, bound=ball, neighbors="swap")  # error
dp.mean(curves, epsilon=1.0, bound=1.0)  # error
dp.mean(curves, epsilon=1.0, of=140)  # error
dp.mean(curves, epsilon=1.0, of=dp.Above(140), bound=ball)  # error
dp.Above("140")  # error
dp.percentiles(curves, epsilon=1.0)  # error
dp.percentiles(curves, epsilon=1.0, range=400)  # error
dp.percentiles(curves, epsilon=1.0, range=(40, 400), groups=["a"])  # error
dp.mean(curves, epsilon=1.0, bound=(2, 25))  # error
dp.Range("2", "25")  # error
dp.mean(curves, epsilon=1.0, bound=ball, columns="h*")  # error
dp.read("days.csv", engine="no-such-engine")  # error
plan.release(curves, nonsense=3)  # error
plan.release(curves).plot(colour="red")  # error
