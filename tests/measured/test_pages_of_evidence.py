"""Figures on pages are those that were measured: pages, `evidence.json` and the saved results agree."""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        yield importlib.import_module("figures.pages")
    finally:
        sys.path.pop(0)


@pytest.fixture(scope="module")
def evidence(pages):
    return json.loads((pages.RESULTS / "evidence.json").read_text(encoding="utf-8"))


def collected(pages, evidence):
    """The same from the results as they are, for the code that it was collected on: a release checks that one."""
    package = {True: evidence["package"], False: evidence["package below the front"]}
    return pages.evidence(package=package, benchmarks=evidence["benchmarks"])


def test_evidence_is_what_the_results_say(pages, evidence):
    assert collected(pages, evidence) == evidence, "run: python benchmarks/evidence.py --collect"


def test_evidence_is_small_and_in_order(pages, evidence):
    path = pages.RESULTS / "evidence.json"
    assert path.stat().st_size < 400_000
    assert path.read_text(encoding="utf-8") == json.dumps(evidence, indent=1, sort_keys=True) + "\n"


def test_pages_show_what_was_measured(pages, evidence):
    for path, page in pages.rendered(evidence).items():
        assert path.read_text(encoding="utf-8") == page, f"{path.name}: run python benchmarks/evidence.py --collect"


def test_templates_hold_no_figure_of_their_own(pages):
    found = {path.name: pages.undeclared(path.read_text()) for path in sorted(pages.TEMPLATES.glob("*.jinja"))}
    assert {name: numbers for name, numbers in found.items() if numbers} == {}


def test_what_is_declared_a_choice_is_said(pages):
    """A number that no sentence holds any more would hide one that somebody writes later."""
    for path in sorted(pages.TEMPLATES.glob("*.jinja")):
        first, _, rest = path.read_text().partition("\n")
        rest += pages.BLOCK.sub("", (ROOT / "README.md").read_text()) if path.name.startswith("README") else ""
        said = set(pages.numbers(re.sub(r"\{[{%].*?[%}]\}", "", rest, flags=re.DOTALL)))
        assert set(first.removeprefix("{# given: ").removesuffix(" #}").split()) - {"{#", "given:", "#}"} <= said, (
            path.name
        )


def test_the_readme_holds_no_figure_of_its_own(pages):
    """What is not filled in is a choice, declared where the README's block is written."""
    given = (pages.TEMPLATES / "README-speed.md.jinja").read_text().partition("\n")[0]
    without = pages.BLOCK.sub("", (ROOT / "README.md").read_text())
    assert pages.undeclared(f"{given}\n{without}") == set()


def test_every_block_is_filled_and_every_template_is_used(pages):
    used = {path.name.removesuffix(".md.jinja") for path in pages.TEMPLATES.iterdir()}
    assert used - set(pages.BLOCKS) <= set(pages.SUBJECTS)
    assert set(pages.SUBJECTS) == (used - set(pages.BLOCKS)) | {name.split("-")[-1] for name in pages.BLOCKS}
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        found = {match["name"] for match in pages.BLOCK.finditer(path.read_text())}
        assert found == {name for name, page in pages.BLOCKS.items() if page == path}


def test_a_figure_that_was_changed_by_hand_is_seen(pages, evidence):
    """In a page, in `evidence.json`, in a template and in the README."""
    before = pages.rendered(evidence)
    name, subject = next(iter(evidence["subjects"].items()))
    key = next(key for key, value in subject["shown"].items() if isinstance(value, str))
    other = json.loads(json.dumps(evidence))
    other["subjects"][name]["shown"][key] += "9"
    assert pages.rendered(other) != before
    assert other != collected(pages, evidence)
    assert pages.undeclared("{# given: 95 #}\nIt held in 95 % of 97 runs.\n") == {"97"}
    assert pages.undeclared("{# given: 95 #}\n| 1.5 | `2` | {{ three }} |\n") == {"1.5"}


#: Pages that tell how benchmarks are run; none of them shows what one found.
TELL_HOW = {"explanations/threat-model.md", "project/release-checklist.md", "project/contributing.md"}


def test_only_pages_of_evidence_cite_benchmarks():
    """Elsewhere a figure would be of a code that nobody remembers: these pages link to the evidence."""
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).as_posix(): path.read_text() for path in docs.rglob("*.md")}
    own = {name: text for name, text in pages.items() if not name.startswith(("evidence/", "_build/", "files/"))}
    assert {name for name, text in own.items() if "benchmarks/" in text} <= TELL_HOW
    assert {name for name, text in own.items() if "benchmarks/results" in text} == set()


def test_the_index_of_evidence_has_every_page(pages):
    folder = pages.TEMPLATES.parent
    index, there = (folder / "README.md").read_text(), {path.stem for path in folder.glob("*.md")} - {"README"}
    assert {name for name in there if f"]({name}.md)" not in index or f"\n{name}\n" not in index} == set()
    written = {path.name.removesuffix(".md.jinja") for path in pages.TEMPLATES.iterdir()} - set(pages.BLOCKS)
    assert there == written, "every page here is written from evidence.json"


#: How a benchmark would reach the command, the studio or reports.
WAYS = re.compile(r"\bdpfda\.(cli|reports|studio)\b|\bdp\.report\b|\"-m\", \"dpfda\"|/ \"dpfda\"")


def test_parts_say_whether_they_use_what_people_meet(pages, monkeypatch):
    """What a part without `front` runs must not reach it: its figures stay fresh when that changes."""
    parts, digests = sys.modules["parts"], sys.modules["digests"]
    rooms = {path.name for path in (ROOT / "src" / "dpfda").iterdir()}
    assert set(parts.FRONT) <= rooms
    files: list[Path] = []
    monkeypatch.setattr(digests, "of", lambda paths: files.extend(paths) or "")
    ways = {}
    for name, part in parts.PARTS.items():
        files.clear()
        assert part.code == ""
        assert files
        sources = [path.read_text(encoding="utf-8") for path in files if path.suffix == ".py"]
        ways[name] = any(WAYS.search(source) for source in sources)
    assert {name for name, found in ways.items() if found and not parts.PARTS[name].front} == set()
    assert {"speed", "check-speed", "page-screen", "trust-leaks"} <= {name for name, found in ways.items() if found}


def test_what_people_meet_is_not_among_what_others_need(pages):
    """The smaller digest changes with the engine alone, the larger one with both."""
    parts, before = sys.modules["parts"], sys.modules["parts"].of_package()
    assert before[True] != before[False]
    part = next(part for part in parts.PARTS.values() if not part.front)
    run = {
        "command": " ".join(part.command), "package": before[False], "benchmark": "b", "results": "r",
    }  # fmt: skip
    assert parts.why_stale(part, run, before, "b", "r") == ""
    assert parts.why_stale(part, run, before | {True: "other"}, "b", "r") == ""
    assert parts.why_stale(part, run, before | {False: "other"}, "b", "r") == "other package"
