"""What reports say: whom the guarantee is for, what it is worth, and what names they take from others."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import dpfda as dp
from dpfda.core import codec
from dpfda.core.errors import printable
from dpfda.reports import words
from dpfda.reports.parts import Note, Verdict
from dpfda.reports.saved import read_subject
from reports.html_pages import check

SAVED = Path(__file__).parents[1] / "saved"
#: What somebody may call things: markup, quotes, templates, very long.
HOSTILE = "<script>alert(1)</script>\"'{{7*7}}&amp;" + "x" * 30
BIDI = "a\u202eb\u2066c"


def section(thing, title: str, **facts):
    return next(part for part in dp.reports.sections(thing, **facts) if part.title == title)


def test_the_guarantee_in_plain_words(made):
    text = section(made["mean"], "Who is protected, and how well").text
    assert text == (
        "Each curve in the data, whatever it holds and whatever else anyone knows. Had any one curve been a different "
        "one, the chance of this very result would differ by a factor of at most 2.72 (pure differential privacy, "
        "epsilon = 1). So the chance that anyone concludes something about one curve from this report is at most 2.72 "
        "times what it would be had that curve been another. This is a mathematical bound, not an estimate."
    )
    released = section(made["mean"], "What was released").text
    assert released.startswith(
        "One curve: the mean glucose by hour of 600 curves, with noise added so that no single curve shows through."
    )


def test_add_remove_says_that_the_number_is_a_guess():
    release = dp.load(SAVED / "mean-ar-add-remove.release.json")
    text = "\n".join(part.text for part in dp.reports.sections(release))
    assert "Had any one curve not been in the data, or one more been in it" in text
    assert "the number here is a guess made beforehand" in text
    assert "this number is public" not in text
    assert not re.search(rf"(?<!about ){release.plan.n} curves", text)


def test_a_gaussian_release_is_not_pure():
    release = dp.load(SAVED / "mean-gaussian.release.json")
    text = section(release, "Who is protected, and how well").text
    assert "approximate, not pure" in text
    assert f"delta = {float(release.plan.delta):g}" in text
    assert "(pure" not in text


def test_units_are_protected_whole():
    release = dp.load(SAVED / "mean-units.release.json")
    noun = release.plan.wording.record
    assert (
        f"Had all curves of any one {noun} been different ones"
        in section(release, "Who is protected, and how well").text
    )


def test_a_record_is_called_by_its_noun():
    facts = {"n": 500, "epsilon": 1, "bound": dp.L2Ball(1.0), "grid": 8, "value": "load (kW)"}
    plan = dp.MeanPlan(record="home", **facts)
    release = plan.release(np.zeros((500, 8)))
    text = "\n".join(part.text for part in dp.reports.sections(release))
    assert text.count(
        "One curve: the mean load by t of 500 homes, with noise added so that no single home shows through."
    )
    assert "Each home in the data, whatever its curve is and whatever else anyone knows." in text
    assert "Had any one home's curve been a different one, the chance of this very result would differ" in text
    assert "A home with several curves in the data" in text
    assert "That there are 500 homes: this number is public." in text


def test_groups_tell_what_they_cost_together(made):
    release = made["groups of means"]
    text = section(release, "Who is protected, and how well").text
    assert release.plan.composition in text
    assert "which group a curve belongs to: that is public" in section(release, "What is not protected").text


def test_a_tiny_protection_is_called_so():
    plan = dp.MeanPlan(n=500, epsilon=50, bound=dp.L2Ball(1.0), grid=8)
    assert "by a factor of over a million (that is hardly any protection)" in words.protected(plan)[0]


def test_mostly_noise_is_said_first():
    release = dp.load(SAVED / "mean-ar-add-remove.release.json")
    first = section(release, "What was released").blocks[0]
    assert isinstance(first, Verdict)
    assert (first.head, first.look) == ("Mostly noise", "poor")


def test_cautions_stand_right_below_the_picture():
    """Curves far beyond their bound: the release says so itself."""
    curves = np.full((4000, 16), 3.0)
    release = dp.mean(curves, epsilon=4, bound=dp.L2Ball(0.5))
    assert release.cautions
    blocks = section(release, "What was released").blocks
    place = next(i for i, block in enumerate(blocks) if block.kind == "pictures")
    assert isinstance(blocks[place + 1], Note)
    assert blocks[place + 1].text == release.cautions[0]


def test_the_methods_paragraph_is_quoted_and_cited(made):
    body, _, references = made["mean"].methods_text().partition("\n\nReferences\n")
    found = section(made["mean"], "How it was made").blocks
    quote = next(block for block in found if block.kind == "quote")
    assert "\n\n".join(quote.texts) == body
    cited = next(block for block in found if block.kind == "bullets")
    assert "\n".join(cited.texts) == references
    assert f"<p>&ldquo;{body[:40]}" in dp.report(made["mean"])


# -- plans ------------------------------------------------------------------------------------


def test_a_plan_tells_its_verdict_and_what_cures_it():
    plan = dp.MeanPlan(n=30, epsilon=1, bound=dp.L2Ball(1.0), grid=24)
    block = section(plan, "How accurate it would be").blocks[0]
    assert (block.head, block.look) == ("Mostly noise: do not release this plan", "poor")
    assert plan.verdict.cure in block.texts[0]
    clear = dp.MeanPlan(n=30_000, epsilon=1, bound=dp.L2Ball(1.0), grid=24)
    assert section(clear, "How accurate it would be").blocks[0].look == "good"


def test_a_plan_tells_what_each_step_costs():
    plan = dp.MeanPlan(n=3000, epsilon=1, bound=dp.L2Ball(1.0), grid=24)
    found = next(block for block in section(plan, "How it would be made").blocks if block.kind == "table")
    assert sum(float(row[-1].removesuffix(" %")) for row in found.rows) == pytest.approx(100, abs=0.01)


def test_an_old_plan_says_that_it_is_to_be_planned_again():
    text = section(read_subject(SAVED / "mean-default.plan.json"), "How accurate it would be").text
    assert "plan again with the same facts" in text


# -- the budget -------------------------------------------------------------------------------


@pytest.fixture
def study(tmp_path):
    ledger = dp.Ledger.create(tmp_path / "study.ledger", epsilon=3, study=HOSTILE)
    facts = {"bound": dp.L2Ball(1.0), "ledger": ledger}
    first = dp.mean(np.zeros((300, 8)), epsilon=0.5, **facts)
    dp.mean(np.zeros((300, 8)), epsilon=1, **facts)
    return ledger, first


def test_the_budget_of_the_study(study):
    ledger, release = study
    found = section(release, "Budget of the study", ledger=ledger)
    assert "may spend epsilon 3: 1.5 spent in 2 charges, 1.5 left when this report was written." in found.text
    assert f"This release, entry 1 with seal {release.seal[:16]}, took epsilon 0.5." in found.text
    (bar,) = next(block for block in found.blocks if block.kind == "pictures").drawings
    assert (list(bar.parts), bar.total, bar.own) == ([0.5, 1.0], 3.0, 0)
    check(dp.report(release, ledger.path))


def test_without_a_ledger_the_receipt_speaks(study):
    _, release = study
    assert f"as entry 1, seal {release.seal[:16]}." in section(release, "Budget of the study").text


def test_the_ledger_of_another_study_is_refused(study, tmp_path, made):
    other = dp.Ledger.create(tmp_path / "other.ledger", epsilon=3, study="other")
    for release in (study[1], made["mean"]):
        with pytest.raises(dp.errors.LedgerError):
            dp.report(release, other)


def test_a_plan_is_held_against_what_is_left(study):
    ledger, _ = study
    facts = {"n": 300, "bound": dp.L2Ball(1.0), "grid": 8}
    fits = section(dp.MeanPlan(epsilon=1, **facts), "Budget of the study", ledger=ledger)
    assert "This plan would take epsilon 1, and leave 0.5." in fits.text
    beyond = section(dp.MeanPlan(epsilon=2, **facts), "Budget of the study", ledger=ledger)
    assert "it would be refused" in beyond.text


def test_a_file_that_is_not_the_one_that_was_written_is_told(tmp_path):
    ledger = dp.Ledger.create(tmp_path / "study.ledger", epsilon=4, study="homes")
    curves = np.random.default_rng(1).uniform(0, 1, (400, 12))
    release = dp.mean(curves, epsilon=1, bound=dp.Range(0, 1), ledger=ledger)
    path = tmp_path / "mean.json"
    release.save(path)
    words = "not the file that was written under entry 1"
    assert words not in dp.report(path, ledger)  # nothing was noted
    ledger.record_output(release, path)
    assert words not in dp.report(path, ledger)
    assert words not in dp.report(release, ledger)
    copy = tmp_path / "copy.json"
    copy.write_bytes(path.read_bytes())
    assert words not in dp.report(copy, ledger)
    body = json.loads(path.read_text())
    kind, version = body.pop("dpfda"), body.pop("version")
    body.pop("sha256")
    body["values"] = [1.9 - each for each in body["values"]]
    forged = tmp_path / "forged.json"
    forged.write_text(codec.seal(kind, version, body))
    assert dp.load(forged).entry == 1
    assert words in dp.report(forged, ledger)
    assert words not in dp.report(forged)


def test_a_budget_that_renews(tmp_path):
    ledger = dp.Ledger.create(tmp_path / "study.ledger", epsilon=2, study="s", period="year")
    release = dp.mean(np.zeros((300, 8)), epsilon=1, bound=dp.L2Ball(1.0), ledger=ledger)
    text = section(release, "Budget of the study", ledger=ledger).text
    assert "may spend epsilon 2 every year: 1 spent in" in text
    assert "Its budget renews every year" in text


def test_the_page_of_a_ledger(study):
    found = check(dp.reports.ledger_page(study[0].path))
    assert "1.5 spent in 2 charges, 1.5 left" in found.text
    assert [row[3] for row in found.tables[0][1:]] == ["epsilon 0.5", "epsilon 1"]
    with pytest.raises(dp.errors.ParameterError, match="needs one"):
        dp.reports.ledger_page(None)


# -- names from others --------------------------------------------------------------------------


def test_hostile_names_are_only_shown(tmp_path):
    """Study, query, value, axis, unit, groups, components, covariates and files."""
    ledger = dp.Ledger.create(tmp_path / "<img src=x>.ledger", epsilon=9, study=HOSTILE)
    grid = dp.Grid.uniform(0, 1, 8, name="<b>t</b>", unit="<i>")
    facts = {"bound": dp.L2Ball(1.0), "epsilon": 1, "ledger": ledger, "value": "<u>v</u> (<s>)", "query": "<q>\"'"}
    groups = ["<img src=x onerror=alert(1)>", "{{ x }}"]
    sides = np.repeat(groups, 200)
    curves = np.random.default_rng(0).uniform(-0.5, 0.5, (400, 8))
    both = dp.mean(curves, grid=grid, by=sides, groups=groups, **facts)
    parts = dp.spaces.ComponentGrid(("<b>x", "y&z"), dp.Grid.uniform(0, 1, 4, name="<b>t"))
    several = dp.mean(curves.reshape(400, 2, 4), grid=parts, **facts)
    for thing in (both, both.difference(*groups), several, both.plan, several.plan):
        page = dp.report(thing, None if hasattr(thing, "first") else ledger)
        check(page)
        assert "<b>" not in page
        assert "<img" not in page
        assert "49" not in page[page.index("<h1>") : page.index("</h1>")]
    path = both.save(tmp_path / f"{BIDI}<img src=x>.json")
    page = dp.report(path)
    check(page)
    assert BIDI not in page
    assert printable(BIDI) in page


def test_nothing_of_a_page_steers_how_it_is_read(monkeypatch, made):
    """Whatever names a file brought, no sign of direction or control reaches the page."""
    release = made["groups of means"]
    monkeypatch.setattr(type(release), "study", property(lambda self: f"{BIDI}\x07"))
    monkeypatch.setattr(type(release), "entry", property(lambda self: 1))
    monkeypatch.setattr(type(release), "seal", property(lambda self: "0" * 64))
    page = dp.report(release)
    assert all(line.isprintable() for line in page.split("\n"))
    assert printable(BIDI) in page


def test_a_path_is_never_told(made, tmp_path):
    """Of a file its name alone: where it lies is nobody's business."""
    folder = tmp_path / "secret-place"
    folder.mkdir()
    page = dp.report(made["mean"].save(folder / "mean.json"))
    assert "secret-place" not in page
    assert Path("mean.json").name in page
