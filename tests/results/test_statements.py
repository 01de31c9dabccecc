"""A statement is data: its parts are what its text shows, and the text is made of them once."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import dpfda as dp
from dpfda import plans

NAMES = ["heading", "guarantee", "assumption", "method", "accuracy", "bands", "limits", "charge"]
#: The same where nothing was measured about the bound.
UNMEASURED = [*NAMES[:6], "bound", *NAMES[6:]]
CURVES = np.random.default_rng(0).normal(0, 0.2, (300, 12))
FACTS = {"epsilon": 1, "bound": dp.L2Ball(1.0)}


def shows(release, names):
    """The parts of a release, after a look at whether its text is nothing else."""
    parts = release.statement_parts
    assert [name for name, _ in parts.items()] == names
    assert release.statement == "\n\n".join(text for _, text in parts.items()) == str(parts)
    return parts


def test_a_mean_says_what_why_and_how(tmp_path):
    ledger = dp.Ledger.create(tmp_path / "s.ledger", study="s", epsilon=3)
    plan = dp.MeanPlan(n=300, grid=12, method=dp.methods.KNorm(4), **FACTS)
    release = plan.release(CURVES, ledger)
    parts = shows(release, UNMEASURED)
    assert parts.bound.startswith("Nothing was measured about the bound")
    assert parts.heading == f"Privacy statement for a mean curve released {release.created} (plan {plan.digest[:12]})."
    assert parts.assumption == plan.wording.assumption
    assert parts.accuracy == plan.wording.accuracy.sentence
    assert parts.method.startswith(f"Method {plan.chosen!r} with {plan.wording.kernel}: ")
    assert parts.charge == f"Charged to the ledger of study 's' as entry 1, seal {release.seal[:16]}."


def test_passes_over_the_data_are_a_part_of_their_own():
    plan = dp.MeanPlan(n=300, grid=12, method=dp.methods.Staged(), **FACTS)
    assert plan.schedule is not None
    parts = shows(plan.release(CURVES), [*UNMEASURED[:3], "passes", *UNMEASURED[3:]])
    assert parts.passes == plan.wording.passes == plan.schedule.explanation()
    assert parts.charge.startswith("No ledger was charged")
    assert plan.explain().count(parts.passes) == 1


@pytest.mark.parametrize("method", [dp.methods.KNorm(2), dp.methods.Staged()])
def test_groups_have_a_line_each_and_say_what_they_cost_together(method):
    by = np.repeat(["north", "south"], [200, 100])
    found = dp.mean(CURVES, by=by, groups=["north", "south"], method=method, query="day released early", **FACTS)
    parts = shows(found, [*UNMEASURED[:2], "composition", "assumption", "method", "groups", *UNMEASURED[5:]])
    assert parts.method.startswith(f"Each group with {found['north'].plan.wording.kernel}: ")
    assert parts.method.split(": ", 1)[1].startswith(found["south"].statement_parts.method.split(": ", 1)[1][:60])
    assert parts.bound.count("Nothing was measured") == 1
    assert parts.heading.startswith("Privacy statement for a day released early curve per group, released ")
    assert parts.composition == found.plan.composition
    assert parts.assumption == found["north"].statement_parts.assumption
    assert list(parts.groups) == ["north", "south"]
    assert parts.groups["south"].startswith(f"100 curves, {found['south'].plan.chosen!r}, expected error ")
    assert f"\n\nnorth: {parts.groups['north']}\nsouth: {parts.groups['south']}\n\n" in found.statement


def test_groups_that_are_drawn_in_different_ways_say_so_in_their_lines():
    """And what becomes of records beyond the public number is said of each group, not with the first one's number."""
    facts = {"grid": 12, "invalid": "center", **FACTS}
    methods = {"north": (200, dp.methods.KNorm(2)), "south": (100, dp.methods.FRL(2))}
    plan = plans.GroupPlan(tuple(methods), [dp.MeanPlan(n=n, method=method, **facts) for n, method in methods.values()])
    parts = plan.release(CURVES, by=["north"] * 200 + ["south"] * 100).statement_parts
    assert parts.method == "All of it is drawn from the operating system's generator, on exact integer totals."
    assert ": ball noise, rounded exactly; expected error" in parts.groups["north"]
    assert ": independent discrete Laplace noise; expected error" in parts.groups["south"]
    assert "Of more curves than the public number of a group as many are used" in parts.limits


def test_classes_have_a_line_each_and_add_up(rng):
    facts = {"n": 300, "epsilon": "1/3", "domain": [(0, 1)], "classes": ("a", "b", "c")}
    plan = plans.ClassPlan(("a", "b", "c"), [plans.KernelPlan(positive=i, **facts) for i in range(3)])
    found = plan.release(np.column_stack([rng.random(300), rng.integers(0, 3, 300)]))
    names = ["heading", "guarantee", "composition", "assumption", "method", "groups", "bands", "limits", "charge"]
    parts = shows(found, names)
    assert parts.method.startswith("Each class with Gaussian, length scale 0.1 of each side: ball noise")
    assert "The number of records, 300, is public." in parts.limits
    assert " per class, released " in parts.heading
    assert "The release is 1-differentially private" in parts.guarantee
    assert "sequential composition" in parts.composition
    assert list(parts.groups) == ["a", "b", "c"]


def test_a_radius_says_how_with_its_assumption():
    release = dp.suggest_radius(CURVES, epsilon=1, bound=dp.L2Ball(2.0))
    parts = shows(release, [name for name in NAMES if name not in ("method", "bands")])
    assert "permute and flip" in parts.assumption
    assert release.plan.wording.accuracy.rows[0][1] in parts.accuracy


def test_parts_left_empty_are_left_out():
    parts = dp.results.Statement(heading="A.", guarantee="B.", groups={}, charge="C.")
    assert parts.items() == [("heading", "A."), ("guarantee", "B."), ("charge", "C.")]
    assert str(parts) == "A.\n\nB.\n\nC."


def test_titles_of_components_are_not_cut():
    """A query may say "with": what a title says of components is known, not searched for."""
    grid = dp.spaces.ComponentGrid(("x", "y"), dp.Grid.uniform(0, 1, 6))
    release = dp.mean(CURVES.reshape(-1, 2, 6), grid=grid, method=dp.methods.KNorm(2), query="day with sun", **FACTS)
    assert release.title == "day with sun curve with 2 components (x, y)"
    assert release._heading.startswith("Day with sun curve, epsilon 1")


def test_words_are_said_without_expected_errors(monkeypatch):
    """What takes long is computed when it is asked for."""
    plan = dp.MeanPlan(n=300, grid=12, method=dp.methods.KNorm(4), **FACTS)
    monkeypatch.setattr(dp.MeanPlan, "expected_risk", property(lambda _: pytest.fail("computed too early")))
    assert plan.wording.accuracy.size == 1.0
    assert (plan.wording.method, plan.wording.numbers) == ("KNorm(components=4)", "4 of 12")


@pytest.mark.parametrize("kind", [getattr(plans, name) for name in plans.__all__])
def test_a_plan_has_one_name_for_its_words(kind):
    names = [name for name, _ in inspect.getmembers(kind) if not name.startswith("_")]
    assert not [name for name in names if "words" in name or name.startswith(("accuracy_", "uses_"))]
