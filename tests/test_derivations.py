"""Proofs that cannot rot: every page has a check that can fail, every constant names its proof, every proof its code.

The checks themselves run with all other snippets (`test_docs.py`). Here their constants are spoilt on purpose, three
percent too small and three percent too large, and each check must notice.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpfda.bounds import exact, lattice
from dpfda.bounds.diameter import AtomSensitivity
from dpfda.bounds.sensitivities import BoxSensitivity, EuclideanSensitivity, ImageSensitivity, ManhattanSensitivity
from dpfda.noise import Laplace, gaussian
from dpfda.noise.choice import Choice
from dpfda.plans.groups import GroupPlan
from dpfda.problems.checked_residuals import CheckedResiduals
from dpfda.problems.covariance import CovarianceProblem
from dpfda.problems.derived import Scores
from dpfda.problems.ellipsoid_stages import VaryProblem
from dpfda.problems.gram import DensityGram, HalfGram
from dpfda.problems.left_out import LeftOutProblem
from dpfda.problems.mean import MeanProblem
from dpfda.problems.moments import MomentProblem, ResidualProblem, SizeProblem
from dpfda.problems.pooled_cells import PooledCells
from dpfda.problems.rank_moments import RankMoments
from dpfda.problems.risk import RiskProblem
from dpfda.problems.scores import ScoreProblem
from dpfda.spaces.alignment import Alignment
from dpfda.spaces.inputs import FeatureMap

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "dpfda"
INDEX = ROOT / "docs" / "derivations" / "README.md"
PAGES = sorted(page for page in INDEX.parent.glob("*.md") if page != INDEX)
CITATION = re.compile(r"\(derivations: ([^)]+)\)")
#: Methods that answer for what one record can do.
CARRIES = {"support", "radius", "absolute", "sensitivity", "first_sensitivity", "second_sensitivity", "range",
           "calibrated", "loss", "length", "spread", "widening"}  # fmt: skip


def sections(page: Path) -> dict[str, str]:
    """The text of each section by its name in small letters; the checks are none."""
    parts = re.split(r"^## (.+)$", page.read_text(), flags=re.MULTILINE)[1:]
    return {name.lower(): text for name, text in zip(parts[::2], parts[1::2], strict=True) if name != "Check"}


def cited() -> set[str]:
    found = (CITATION.findall(path.read_text()) for path in SOURCE.rglob("*.py"))
    return {" ".join(name.split()) for names in found for name in names}


def test_every_citation_has_a_section_and_every_proof_a_citation():
    known = [name for page in PAGES for name in sections(page)]
    assert len(known) == len(set(known))
    assert cited() <= set(known)
    proofs = {name for page in PAGES for name, text in sections(page).items() if "**Proof.**" in text}
    assert len(proofs) > 20
    assert proofs <= cited()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_whole(page):
    """What is proved is stated, has assumptions, an end, a place in the code; what proves nothing says so."""
    text = page.read_text()
    assert text.count("## Check") == 1
    assert text.rstrip().endswith("```")
    check = text.split("## Check")[1]
    assert check.count("assert ") >= 3
    for name, body in sections(page).items():
        assert "**In the code.**" in body, name
        if "**Proof.**" in body:
            assert "**Statement.**" in body, name
            assert body.count("∎") == 1, name
        else:
            assert "accuracy" in text[: text.index(body)].lower() + body.lower(), name


@pytest.fixture(scope="module")
def defined() -> set[str]:
    """Every name that the package gives to a class, a function, an argument or a value."""
    names = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names |= {getattr(node, role) for role in ("name", "arg", "id") if isinstance(getattr(node, role, 0), str)}
    return names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_places_in_the_code_are_there(page, defined):
    """Files and names that a page gives as the place of a constant exist (letters alone are symbols)."""
    for name, body in sections(page).items():
        place = body.split("**In the code.**")[1].split("\n\n")[0]
        given = re.findall(r"`([A-Za-z_][A-Za-z_./]*)`", place)
        assert all((SOURCE / path).exists() for path in given if path.endswith(".py")), name
        names = {part for words in given if not words.endswith(".py") for part in words.split(".") if len(part) > 1}
        assert names <= defined, name


def test_the_index_names_every_page_and_real_code():
    text = INDEX.read_text()
    assert set(re.findall(r"\]\(([a-z-]+\.md)\)", text)) == {page.name for page in PAGES}
    assert all((SOURCE / path).exists() or path.startswith("tests/") for path in re.findall(r"`([a-z_/]+\.py)`", text))


SOURCES = [*sorted((SOURCE / "problems").glob("*.py")), *sorted((SOURCE / "noise").glob("*.py"))]
SOURCES += [
    SOURCE / name for name in ("bounds/sensitivities.py", "bounds/diameter.py", "bounds/bodies.py", "bounds/lattice.py")
]


#: Rooms of functions that sensitivities rest on.
FUNCTIONS = [
    "bounds/lattice.py",
    "bounds/exact.py",
    "problems/losses.py",
    "spaces/inputs.py",
    "spaces/alignment.py",
    "spaces/own_times.py",
    "noise/common.py",
    "problems/count.py",
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_that_carry_privacy_name_their_proof(name):
    module = ast.parse((SOURCE / name).read_text())
    texts = [ast.get_docstring(n) or "" for n in (module, *(n for n in module.body if isinstance(n, ast.FunctionDef)))]
    assert any(CITATION.search(text) for text in texts)


def is_contract(node: ast.ClassDef) -> bool:
    """A protocol proves nothing: what answers to it does."""
    return any(isinstance(base, ast.Name) and base.id == "Protocol" for base in node.bases)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_carries_privacy_names_its_proof(path):
    """Every law, reach, body and problem cites a section, in its own docstring or in that of the method at stake."""
    module = ast.parse(path.read_text())
    for node in (n for n in module.body if isinstance(n, ast.ClassDef) and not is_contract(n)):
        methods = [n for n in node.body if isinstance(n, ast.FunctionDef)]
        if CARRIES & {method.name for method in methods}:
            texts = [ast.get_docstring(n) or "" for n in (node, *methods)]
            assert any(CITATION.search(text) for text in texts), f"{node.name} in {path.name} names no derivation"


# -- checks that can fail -------------------------------------------------------------------------------


def scaled(value: Any, factor: float) -> Any:
    """A sensitivity, a number or an array times a factor."""
    if hasattr(value, "scaled"):
        return value.scaled(factor)
    return value * (Fraction(factor) if isinstance(value, Fraction) else factor)


def spoilt(owner: type, *names: str) -> Callable[[pytest.MonkeyPatch, float], None]:
    """What makes these methods or properties answer too little or too much."""

    def spoil(patch: pytest.MonkeyPatch, factor: float) -> None:
        for name in names:
            honest = owner.__dict__[name]
            get = getattr(honest, "func", None) or getattr(honest, "fget", None)
            if get is None:
                patch.setattr(owner, name, lambda self, *given, honest=honest: scaled(honest(self, *given), factor))
            else:
                patch.setattr(owner, name, property(lambda self, get=get: scaled(get(self), factor)))

    return spoil


SPOILT = {
    "mechanism: loss": spoilt(Laplace, "loss"),
    "bounded-records: balls": spoilt(EuclideanSensitivity, "support"),
    "bounded-records: lengths of balls": spoilt(EuclideanSensitivity, "radius"),
    "bounded-records: cross-polytopes": spoilt(ManhattanSensitivity, "support"),
    "bounded-records: boxes": spoilt(BoxSensitivity, "support"),
    "ball-noise: one ball": spoilt(EuclideanSensitivity, "radius"),
    "ball-noise: blocks": spoilt(EuclideanSensitivity, "together"),
    "add-remove: sums": spoilt(MeanProblem, "sensitivity"),
    "add-remove: the count": spoilt(BoxSensitivity, "support"),
    "soft-thresholds: support": spoilt(EuclideanSensitivity, "support"),
    "densities: diameters": spoilt(AtomSensitivity, "_certified"),
    "bernstein: means": spoilt(ImageSensitivity, "support"),
    "bernstein: densities": spoilt(AtomSensitivity, "_certified"),
    "gaussian: distances": spoilt(EuclideanSensitivity, "radius"),
    "covariance: sensitivity": spoilt(CovarianceProblem, "sensitivity"),
    "regression: first moment": spoilt(HalfGram, "spread"),
    "regression: second moment": spoilt(MomentProblem, "second_sensitivity"),
    "regression: residuals": spoilt(ResidualProblem, "sensitivity"),
    "regression: sizes": spoilt(SizeProblem, "sensitivity"),
    "regression: lengths of what is left out": spoilt(CheckedResiduals, "length_sensitivity"),
    "regression: energies of residuals": spoilt(CheckedResiduals, "energy_sensitivity"),
    "regression: densities of inputs": spoilt(DensityGram, "length"),
    "kernel-models: minimisers": spoilt(RiskProblem, "sensitivity"),
    "kernel-models: kappa": spoilt(FeatureMap, "kappa"),
    "private-choice: counts": spoilt(Scores, "range"),
    "private-choice: methods": spoilt(ScoreProblem, "range"),
    "private-choice: loss": spoilt(Choice, "loss"),
    "stages: rounds": spoilt(EuclideanSensitivity, "radius"),
    "stages: variation": spoilt(VaryProblem, "sensitivity"),
    "left-out: length": spoilt(LeftOutProblem, "sensitivity"),
    "units: sensitivity": spoilt(MeanProblem, "sensitivity"),
    "percentiles: waves": spoilt(RankMoments, "sensitivity"),
    "percentiles: cells": spoilt(PooledCells, "sensitivity"),
    "groups: largest budget": spoilt(GroupPlan, "total_cost"),
    "groups: diameters": spoilt(AtomSensitivity, "_certified"),
}


def notices(page: str) -> None:
    """The check of a page fails, by an assertion of its own."""
    path = INDEX.parent / f"{page}.md"
    blocks = re.findall(r"```python\n(.*?)```", path.read_text().split("## Check")[1], re.DOTALL)
    with pytest.raises(AssertionError) as caught:
        exec(compile("\n".join(blocks), path.name, "exec"), {})
    assert caught.traceback[-1].frame.code.raw.co_filename == path.name


@pytest.mark.parametrize("factor", [0.97, 1.03], ids=["short", "long"])
@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_constant_fails_its_check(name, factor, monkeypatch):
    SPOILT[name](monkeypatch, factor)
    notices(name.split(":")[0])


def test_a_lattice_without_slack_fails_its_check(monkeypatch):
    honest = Laplace.calibrated.__func__

    def careless(cls, epsilon, scales, filter, sensitivity, max_abs):
        law = honest(cls, epsilon, scales, filter, sensitivity, max_abs)
        return replace(law, sensitivity=int(sensitivity.support(filter / law.steps)))

    monkeypatch.setattr(Laplace, "calibrated", classmethod(careless))
    notices("lattice")


def test_a_clip_that_rounds_outwards_fails_its_check(monkeypatch):
    monkeypatch.setattr(lattice, "SHRUNK", lattice.RADIUS * (1 + 2.0**-20))
    notices("integer-clip")


def test_a_bound_that_forgets_the_lattice_fails_its_checks(monkeypatch):
    """Without what rounding adds to the radius, encoded records reach further than is charged."""
    honest = MeanProblem.__dict__["lengths"].func
    monkeypatch.setattr(
        MeanProblem, "lengths", property(lambda self: honest(self) * (self.inner_radius / lattice.RADIUS) ** 2)
    )
    notices("inner-product")


def test_a_float_product_of_totals_fails_its_check(monkeypatch):
    monkeypatch.setattr(exact, "product", lambda matrix, vector: [int(x) for x in matrix.astype(float) @ vector])
    notices("exact-totals")


def test_noise_with_a_smaller_delta_than_it_has_fails_its_check(monkeypatch):
    honest = gaussian.multiplier
    monkeypatch.setattr(gaussian, "multiplier", lambda epsilon, delta: honest(epsilon, 1.1 * delta))
    notices("gaussian")


def test_a_unit_that_depends_on_the_order_of_its_rows_fails_its_check(monkeypatch):
    monkeypatch.setattr(Alignment, "contributions", lambda self, rows, starts: np.asarray(rows[starts], dtype=float))
    notices("units")


def test_noise_that_costs_more_than_it_must_fails_its_check(monkeypatch):
    honest = EuclideanSensitivity.matched
    monkeypatch.setattr(EuclideanSensitivity, "matched", lambda self, filter: honest(self, filter**1.5))
    notices("matched-noise")
