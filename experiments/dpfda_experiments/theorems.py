"""What the paper's theorems say, against numbers: a privacy loss, a sensitivity, a bandwidth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import dpfda as dp

from . import paper
from .pages import Claim, judge, number
from .shapes import bandwidth


def mechanism_theorem() -> Claim:
    """Two neighbours as far apart as the bound allows, through the real code."""
    plan = paper.simulated("S-1", 1000, 1.5, dp.methods.QR(noise="kernel"))
    weights = plan.filter / np.where(plan.scales > 0, plan.scales, np.inf)
    worst = plan.basis.synthesize(weights / np.linalg.norm(weights)) * dp.datasets.RADII["S-1"]
    curves = np.zeros((1000, plan.grid.size))
    statistics = []
    for sign in (1, -1):
        curves[0] = sign * worst
        statistics.append(plan.statistic(plan.summarize(curves)))
    loss = plan.loss(statistics[0] - statistics[1])
    return judge(
        "Noise sigma Z, unit-variance components and sigma = Delta / epsilon, achieves epsilon-DP (mechanism theorem)",
        loss * 2**0.5 <= 1,
        False,
        f"two neighbouring data sets have a privacy loss of {loss:.4f} epsilon with Algorithm 1, which has the scale "
        f"right, and {loss * 2**0.5:.4f} epsilon with the theorem's",
    )


def mean_bound() -> Claim:
    """The paper's sensitivity of ICLP-QR against what two neighbours can really do, at its own parameters."""
    plan = paper.simulated("S-1", 1000, 1.5)
    loose: dict[str, list[float]] = {"kernel": [], "matched": []}
    for n in (100, 1000, 10_000):
        base = replace(plan, n=n)
        method = paper.safe(dp.methods.QR(**paper.VALID), base)
        theirs = replace(base, method=method).expected_error
        for noise, found in loose.items():
            tight = replace(base, method=replace(method, noise=noise, sensitivity="tight"))
            found.append(theirs / tight.expected_error)
    return judge(
        "The sensitivity of ICLP-QR is at most (2 tau / n) sum_j lambda_j^(eta - 1/2) / (lambda_j^eta + psi)",
        min(loose["kernel"]) >= 1,
        False,
        f"as a bound, and a loose one: noise as large as neighbours need has {min(loose['kernel']):.0f} to "
        f"{max(loose['kernel']):.0f} times less variance with the same kernel (n of 100 to 10,000), and "
        f"{min(loose['matched']):.0f} to {max(loose['matched']):.0f} times less with the best scales",
    )


def density_bound(n: int, eta: float) -> Claim:
    """Plain arithmetic on cosines: the largest change that one point makes, in the norm that the noise has to cover.

    A maximum over some pairs of points is never above the sensitivity, so where it exceeds the bound, that is wrong.
    """
    j, h = np.arange(1, 65), bandwidth(n, 1)
    places = np.sqrt(2) * np.cos(np.pi * np.outer(np.linspace(0, 1, 33), j))
    apart = np.abs(places[:, None] - places[None, :])
    own, plain = (np.exp(-((np.pi * j * scale) ** 2) / 2) for scale in (h, 1.0))

    def sensitivity(noise: np.ndarray, count: int) -> float:
        weights = own[:count] ** eta / np.sqrt(noise[:count])
        return float((apart[..., :count] * weights).sum(axis=-1).max()) / n

    highest, trace = 1 + 2 * float((plain**eta).sum()), 1 + float((plain ** (eta - 1)).sum())
    bound = 2 * highest / (n * h) * trace**0.5
    grown = [sensitivity(plain, count) for count in (1, 2, 3, 4)]
    return judge(
        "The sensitivity of the kernel density estimator is at most 2 M_K / (n sqrt(det H)) sqrt(tr(K^(eta-1)))",
        grown[-1] <= bound,
        False,
        f"1-D, eta {eta}, n {n:,}, noise by the kernel K without the estimator's bandwidth: the bound is {bound:.4f}, "
        f"the sensitivity of the first 1, 2, 3, 4 cosines at least {', '.join(number(v) for v in grown)}, without "
        f"limit in their number; with the estimator's bandwidth in both kernels, as used here, it stays at "
        f"{number(sensitivity(own, 12))} for 12 and {number(sensitivity(own, 24))} for 24",
    )


def bandwidth_sign(n: int) -> Claim:
    wrong = [n ** (1 / (4 + d)) for d in (1, 2)]
    right = [bandwidth(n, d) for d in (1, 2)]
    return judge(
        "The bandwidth h of the order of n^(1/(4+d)) gains privacy for free",
        max(wrong) < 1,
        max(right) < 1,
        f"as printed h would be {wrong[0]:.2f} and {wrong[1]:.2f} widths of the domain at n = {n:,}, in one and two "
        f"dimensions; with a minus in the exponent, as meant, it is {right[0]:.3f} and {right[1]:.3f}",
        "with a minus in the exponent",
    )
