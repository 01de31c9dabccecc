"""Files that version 0.1.0 wrote before its rooms were put in order still load, and mean the same.

Plans, summaries, releases and a ledger lie in `tests/saved`, with the records they came from and what was made of
those. Keys and totals are compared to the bit. Statistics are compared closely: their last bits are the linear
algebra library's.
"""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpfda as dp
from dpfda import plans

SAVED = Path(__file__).parents[1] / "saved"
BITS = json.loads((SAVED / "bits.json").read_text())
RECORDS = json.loads((SAVED / "records.json").read_text())
SUMMARISED = [name for name in BITS if (SAVED / f"{name}.summary.json").exists()]
RELEASED = [name for name in BITS if (SAVED / f"{name}.release.json").exists()]
BANDS = json.loads((SAVED / "bands.json").read_text())
TOGETHER = ("groups", "classes")
#: Plans whose `Auto` chose by an earlier rule: what they are can be read, and nothing new is made of them.
OUTDATED = ("mean-default", "mean-centred")


def saved_plan(name):
    text = (SAVED / f"{name}.plan.json").read_text()
    return getattr(plans, json.loads(text)["plan"]["type"]).from_json(text)


def summaries(name, plan):
    options = dict(RECORDS[name])
    rows = np.array(options.pop("rows"))
    if name == "groups":
        return plan.summarize(rows, **options)
    return {member: part.summarize(rows, **options) for member, part in plan.members.items()}


@pytest.mark.parametrize("name", BITS)
def test_plans_load_and_keep_their_digest(name):
    plan = saved_plan(name)
    assert plan.digest == BITS[name]["digest"]
    was, now = (json.loads(text) for text in ((SAVED / f"{name}.plan.json").read_text(), plan.to_json()))
    assert now.pop("sha256")
    del was["sha256"]
    assert alike(now, was)


def alike(now, was):
    """The same facts and choices; a decay that follows from eigenvalues is made anew, and has nine digits anywhere."""
    if isinstance(was, dict):
        return now.keys() == was.keys() and all(alike(now[key], was[key]) for key in was)
    if isinstance(was, list):
        return len(now) == len(was) and all(map(alike, now, was))
    return np.isclose(now, was, rtol=1e-9, atol=0) if isinstance(was, float) else now == was


@pytest.mark.parametrize("name", BITS)
def test_records_come_to_the_same_totals(name):
    plan = saved_plan(name)
    if name in OUTDATED:
        with pytest.raises(dp.errors.PlanMismatch, match="plan again"):
            summaries(name, plan)
        return
    found = summaries(name, plan)
    assert found.keys() == BITS[name]["members"].keys()
    for member, was in BITS[name]["members"].items():
        summary = found[member]
        assert (summary.key, summary.count) == (was["key"], was["count"])
        assert [str(int(x)) for x in np.ravel(summary.totals)] == was["totals"]
        before = np.array([float.fromhex(x) for x in was["statistic"]])
        now = plan.members[member].statistic(summary)
        assert np.allclose(now, before, rtol=1e-7, atol=1e-7 * np.abs(before).max())


@pytest.mark.parametrize("name", SUMMARISED)
def test_summary_files_load_and_are_released(name):
    plan, saved = saved_plan(name), dp.engines.load_summary(SAVED / f"{name}.summary.json")
    assert saved.plan == plan.family
    for member, summary in saved.summaries.items():
        was = BITS[name]["members"][member]
        assert [str(int(x)) for x in np.ravel(summary.totals)] == was["totals"]
    if name in OUTDATED:
        with pytest.raises(dp.errors.PlanMismatch, match="plan again"):
            plan.release(saved.summary)
        assert plan.explain()
        return
    release = plan.release(dict(saved.summaries) if name == "groups" else saved.summary)
    assert release.plan == plan


@pytest.mark.parametrize("name", RELEASED)
def test_releases_load_and_keep_their_values(name):
    path = SAVED / f"{name}.release.json"
    release, body = dp.load(path), json.loads(path.read_text())
    assert release.plan.digest == BITS[name]["digest"]
    if name in TOGETHER:
        assert list(release) == list(body["releases"])
        parts = [(release[part], body["releases"][part]) for part in release]
    else:
        parts = [(release, body)]
    for part, was in parts:
        assert np.allclose(np.ravel(part.values), was["values"], rtol=1e-9, atol=1e-9)
        assert part.study == "kept"


@pytest.mark.parametrize("name", RELEASED)
def test_releases_keep_their_noise_bands(name):
    """Bands that the code of that time drew about them, at every so many points of the grid."""
    release = dp.load(SAVED / f"{name}.release.json")
    for member, was in BANDS[name].items():
        band = (release[member] if name in TOGETHER else release).noise_band(0.95)
        for side in ("lower", "upper"):
            now = np.ravel(getattr(band, side))[:: was["step"]]
            assert np.allclose(now, was[side], rtol=1e-6, atol=1e-6 * np.abs(was[side]).max())


def test_a_histogram_loads_with_its_rounds():
    """Its later bins are found again from the draws: files hold no bins."""
    path = SAVED / "density-histogram.release.json"
    release, body = dp.load(path), json.loads(path.read_text())
    assert np.allclose(release.values, body["values"], rtol=1e-9, atol=0)
    assert [draw.tolist() for draw in release.drawn] == body["drawn"]
    assert release.plan.digest == "b47403a2b425664bae7fdf45eeba152b48ba781a7b236417763758ec1c0e1479"
    assert np.allclose(release.plan.schedule.density(release.drawn), body["values"], rtol=1e-4, atol=1e-8)


def test_a_mean_of_a_function_loads_with_its_function():
    path = SAVED / "mean-function.release.json"
    release, body = dp.load(path), json.loads(path.read_text())
    assert release.plan.of == dp.TimeAbove([70, 100, 140, 180])
    assert release.plan.problem.record_grid == dp.Grid.uniform(0, 24, 6)
    assert release.plan.digest == "7277c909478c43af2c0de37a242254c89c3c84fa51d1fec62e9e8d3996f5b22f"
    assert np.allclose(release.values, body["values"], rtol=1e-9, atol=1e-9)


def test_a_ledger_opens_with_every_charge_and_goes_on(tmp_path):
    path = tmp_path / "study.ledger"
    shutil.copy(SAVED / "ledger.db", path)
    ledger = dp.Ledger(path)
    assert ledger.spent == len(BITS)
    entries = ledger.history()
    assert [entry.plan for entry in entries] == [was["digest"] for was in BITS.values()]
    release = dp.load(SAVED / "density.release.json")
    ledger.adopt(spent=0)
    assert ledger.verify([release])[0].seal == release.seal
    ledger.charge("1/2", plan="p", query="mean")
    assert ledger.spent == len(BITS) + Fraction(1, 2)


@pytest.mark.parametrize("name", ["centred", "centred-add-remove"])
def test_covariances_about_a_centre_of_earlier_versions_mean_the_same(name):
    """Their files say nothing of the first round's method: it must be chosen as it was then, for every number."""
    was = json.loads((SAVED / "covariance-centred.json").read_text())[name]
    release = dp.load(SAVED / f"covariance-{name}.release.json")
    plan = release.plan
    assert plan.digest == was["digest"]
    assert list(release.steps) == was["steps"]
    found = {
        "expected_risk": plan.expected_risk,
        "expected_error": plan.expected_error,
        "first": plan.schedule.first.scales,
        "last": plan.schedule.last(release.drawn).scales,
        "raw": release.raw,
        "shrunk": release.unprocessed().shrink().coefficients,
        "half_width": release.noise_band(0.9).half_width.ravel(),
    }
    for fact, now in found.items():
        assert np.allclose(now, was[fact], rtol=1e-7, atol=1e-12), fact
    assert np.allclose(release.coefficients, was["shrunk"], rtol=1e-7, atol=1e-9)
