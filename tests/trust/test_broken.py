"""Every mechanism that is broken on purpose is caught by an audit, by the check that is about its defect."""

from __future__ import annotations

import pytest
from broken import BROKEN, SLIGHT, TWO, audited, caught_by

import dpfda as dp
from dpfda.audits.outcomes import side_of
from dpfda.audits.steps import noise_step

pytestmark = pytest.mark.long


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_mechanism_is_caught(name):
    make, expected = BROKEN[name]
    report = audited(make, expected)
    assert not report.passed
    assert caught_by(report, expected), report.failures


def test_the_same_plans_unbroken_pass():
    """False alarms: at most 1e-7 each, by the audit's own account."""
    for method in (dp.methods.QR(), dp.methods.KNorm(5), dp.methods.FRL(1)):
        report = audited(
            lambda method=method: dp.MeanPlan(**{**TWO, "method": method}), draws=4000, releases=16, effort=700
        )
        assert report.passed, report.failures


def test_three_per_cent_on_one_coordinate_is_seen():
    """400,000 draws of the noise step: the sound coordinate passes beside the short one (false alarms below 1e-7)."""
    plan = SLIGHT["3 % short on one coordinate"][0]()
    sides = tuple(side_of(plan.stage, plan.summarize([[x] * 12] * 60)) for x in (0.5, -0.5))
    step = noise_step("the release", plan.stage, sides, 400_000, 1e-7, lambda count: None)
    assert step.draws == 400_000
    sound, short = ([f for f in step.findings if f.where == j] for j in (0, 1))
    assert min(f.p for f in sound) > 1e-9
    scale = next(f for f in short if f.what == "scale")
    assert scale.p < 1e-40
    assert scale.ratio == pytest.approx(0.97, abs=0.01)
