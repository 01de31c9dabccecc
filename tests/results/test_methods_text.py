"""The methods paragraph of every kind of release: right numbers, whole sentences, only what was used is cited."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dpfda as dp
from dpfda import __version__, plans
from dpfda.noise import Ball, Choice, Gaussian
from dpfda.results import statements
from dpfda.results.methods_text import in_a_paper
from dpfda.results.sources import SOURCES, references

SAVED = sorted(Path(__file__).parents[1].joinpath("saved").glob("*.release.json"))
CURVES = np.random.default_rng(0).normal(0, 0.2, (300, 12))
FACTS = {"epsilon": 1, "bound": dp.L2Ball(1.0)}
#: What is Python, or nothing, and no part of a text.
NOISE = re.compile(r"\bNone\b|\bnan\b|Fraction\(|array\(|object at|\(\)|\{|\}|<|  |\.\.|\[\]")
#: A sentence ends, and another begins: with a capital, a number, or the name of a group.
ENDS = re.compile(r"\. (?![A-Z0-9]|\w+: )")


def members(release):
    """The releases that a text is of."""
    return list(release.values()) if hasattr(release, "releases") else [release]


def reads_well(release) -> str:
    """The text of a release, after a look at what every one of them must have and must not have."""
    text = release.methods_text()
    body, _, listed = text.partition("\n\nReferences\n")
    assert not NOISE.search(body), NOISE.search(body)
    for paragraph in body.split("\n\n"):
        assert paragraph[0].isupper()
        assert paragraph.endswith(".")
        assert not ENDS.search(paragraph), ENDS.search(paragraph)
    plan = release.plan
    epsilon = float(plan.epsilon)
    assert f"epsilon = {epsilon:g}" in body or f"epsilon = {plan.epsilon}" in body
    assert f"at most a factor of {statements.chance_factor(epsilon)} (e to the epsilon)" in body
    assert ("pure differential privacy with" in body) != bool(plan.delta)
    assert ("approximate (not pure) differential privacy" in body) == bool(plan.delta)
    assert "Python package dpfda" in body
    assert f"version {__version__}" in body
    assert f"digest {plan.digest[:12]}" in body
    assert statements.charged_to(members(release)[0]) in body
    assert listed.splitlines() == references(body)
    assert listed.count("Lin, H. and Reimherr, M. (2024). Pure Differential Privacy for Functional Summaries") == 1
    counts_are_public(release, body)
    return body


def counts_are_public(release, body: str) -> None:
    for part in members(release):
        n, private = f"{part.plan.n:,}", part.plan.problem.count_is_private
        assert re.search(rf"\b{n} \w+s", body)
        assert not private or all(
            found == "about" for found in re.findall(rf"(\w+) {n} {part.plan.wording.record}", body)
        )
        assert ("protected too" in body) == private


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.name.partition(".")[0])
def test_every_saved_release_has_a_text_and_cites_what_it_used(path):
    release = dp.load(path)
    body = reads_well(release)
    laws = [law for part in members(release) for law in statements.laws(part)]
    used = {
        "Hardt and Talwar": Ball,
        "McKenna and Sheldon": Choice,
        "Hall, Rinaldo and Wasserman": Gaussian,
        "Mirshani, Reimherr and Slavkovic": Gaussian,
    }
    for who, kind in used.items():
        assert (who in body) == any(isinstance(law, kind) for law in laws), who
    assert ("Aldà and Rubinstein" in body) == ("bernstein" in path.name)
    assert "study 'kept'" in body or "No ledger was charged" in body


def test_the_numbers_are_those_of_the_release(tmp_path):
    ledger = dp.Ledger.create(tmp_path / "s.ledger", study="load", epsilon=3)
    grid = dp.Grid.midpoints(0, 24, 12, name="hour")
    facts = {"n": 300, "epsilon": "1/3", "bound": dp.Range(-1, 3), "grid": grid, "method": dp.methods.KNorm(4)}
    plan = dp.MeanPlan(**facts)
    release = plan.release(CURVES, ledger, query="day")
    body = reads_well(release)
    assert body.startswith(
        "An estimate of the mean curve (called 'day') was computed from 300 curves and released under"
    )
    assert (
        "pure differential privacy with epsilon = 1/3: if one curve in the data is replaced by any other curve" in body
    )
    assert in_a_paper(plan.wording.assumption) in body
    assert "every curve that stays between -1 and 3 does" in body
    assert "the first 4 coefficients in eigenfunctions of the Matern kernel (nu 1.5, length scale 7.2)" in body
    assert f"root mean squared L2 size of {np.sqrt(plan.expected_error):.3g}." in body
    assert release.band_promise.partition(". It adds")[0] in body
    assert f"entry 1, seal {release.seal[:16]}" in body
    assert f"made at {release.created} with" in body


def test_stages_say_their_shares_what_they_came_to_and_what_was_done_after():
    release = dp.mean(CURVES, method=dp.methods.Staged(dp.methods.Blocks(4), radius="1/10", check="1/20"), **FACTS)
    body = reads_well(release)
    assert in_a_paper(release.plan.schedule.explanation()) in body
    assert release.plan.schedule.outcome(release.drawn) in body
    assert statements.after_noise(release) in body
    assert body.count("McKenna and Sheldon, 2020") == 1
    assert "Other numbers carry independent discrete Laplace noise." in body


def test_nothing_private_is_told_where_the_count_is():
    """Of one record more or less, a text of public facts alone is the same text."""
    plan = dp.MeanPlan(
        n=290, grid=12, neighbors="add-remove", invalid="center", method=dp.methods.FRL(3, noise="kernel"), **FACTS
    )
    texts = [replace(plan.release(rows), created="then").methods_text() for rows in (CURVES, CURVES[:-1])]
    assert texts[0] == texts[1]
    body = texts[0]
    assert "about 290 curves (a public guess; their number is protected too)" in body
    assert "An unusable curve counts as the public centre" in body
    assert "300" not in body.replace(plan.digest[:12], "")
    assert "the independent component Laplace process; Lin and Reimherr, 2024" in body
    assert re.search(r"Sums are divided by a count of the curves with .* for 0\.\d+ of epsilon\.", body)


def test_units_standardised_curves_and_derivatives():
    whose = np.repeat(np.arange(150), 2)
    plan = dp.MeanPlan(n=150, grid=12, unit="household", standardize=True, method=dp.methods.QR(), **FACTS)
    release = plan.release(CURVES, units=whose)
    body = reads_well(release)
    assert "computed from 150 households" in body
    assert "A household contributes once: all curves of a household are averaged into one before the clip." in body
    assert "divided by its own norm" in body
    assert "if one household in the data is replaced by any other household" in body
    assert "a ridge penalty" in body
    assert "An estimate of the derivative of the mean curve was" in reads_well(release.derivative())


def test_groups_say_each_count_and_what_differs_between_them():
    plan = plans.GroupPlan(
        ("north", "south"),
        [dp.MeanPlan(n=n, grid=12, method=dp.methods.KNorm(m), **FACTS) for n, m in ((200, 4), (100, 2))],
    )
    found = plan.release(CURVES, by=["north"] * 200 + ["south"] * 100)
    body = reads_well(found)
    assert "for each of 2 groups: north (200 curves), south (100 curves)." in body
    assert plan.composition in body
    assert "For group north, noise is added to the first 4 coefficients" in body
    assert "For group south, noise is added to the first 2 coefficients" in body
    alike = dp.mean(CURVES, by=["a", "b", "c"] * 100, groups=["a", "b", "c"], method=dp.methods.KNorm(2), **FACTS)
    assert reads_well(alike).count("Noise is added") == 1
    three = alike.difference("a", "c").methods_text()
    assert three.startswith("The mean curve of c was taken from that of a. A difference is made of two releases")
    assert "computed for 3 groups, of which these are compared: a (100 curves), c (100 curves)." in three


def test_classes_add_up(rng):
    facts = {"n": 300, "epsilon": "1/3", "domain": [(0, 1)], "classes": ("a", "b", "c")}
    plan = plans.ClassPlan(("a", "b", "c"), [plans.KernelPlan(positive=i, **facts) for i in range(3)])
    body = reads_well(plan.release(np.column_stack([rng.random(300), rng.integers(0, 3, 300)])))
    assert "for each of 3 classes: a, b, c (from 300 records)." in body
    assert "sequential composition" in body


def test_models_say_what_they_fit(rng):
    x, pairs = rng.random((900, 2)), {"n": 900, "epsilon": 1, "domain": [(0, 1)]}
    robust = plans.KernelPlan(criterion="huber", bound=(0, 1), **pairs)
    assert f"the mean Huber loss plus {robust.psi:.3g} times" in reads_well(robust.release(x))
    smoother = plans.SmootherPlan(bound=(0, 1), **pairs)
    body = reads_well(smoother.release(x))
    assert "Estimates are expanded in basis functions of the Gaussian kernel (length scale 0.1 of each side)" in body
    assert "The radius of responses that was chosen is" in body


def test_a_radius_says_what_was_released():
    release = dp.suggest_radius(CURVES, epsilon=1, bound=dp.L2Ball(2.0))
    body = reads_well(release)
    assert f"The radius that was released is {release.radius:.6g}, about zero." in body
    assert "Noise is added" not in body


@pytest.mark.parametrize("name", [n for n in dp.methods.__all__ if isinstance(getattr(dp.methods, n), type)])
def test_every_method_says_what_noise_is_added_to(name):
    made = {
        "Bernstein": (4,), "GaussianProcess": (1e-5,), "Select": ([dp.methods.KNorm(2), dp.methods.KNorm(3)],),
    }  # fmt: skip
    kind = getattr(dp.methods, name)
    if getattr(kind, "__abstractmethods__", ()) or name == "Auto":
        return
    method = kind(*made.get(name, ()))
    if name in ("Leading", "Centred"):
        chosen = dp.CovariancePlan(n=300, grid=12, method=method, **FACTS).chosen
    elif name == "EventCounts":
        chosen = dp.SurvivalPlan(n=300, epsilon=1, horizon=1, method=method).chosen
    elif name == "Histogram":
        chosen = dp.DensityPlan(n=300, epsilon=1, domain=[(0, 1)], method=method).chosen
    else:
        chosen = dp.MeanPlan(n=300, grid=12, method=method, **FACTS).chosen
    said = chosen.describe("cosines")
    assert said
    assert "None" not in said
    assert f"{name}(" not in said


def test_sources_are_sorted_and_whole():
    assert list(SOURCES.values()) == sorted(SOURCES.values())
    for (_, year), reference in SOURCES.items():
        assert f"({year}). " in reference
        assert reference.endswith(".")
