"""What a code host and a reader of it find: citation, conduct, templates, the workflow, hooks."""

from __future__ import annotations

import re
import shlex
import tomllib
from datetime import date
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
FORMS = sorted(path for path in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")


def loaded(path: Path) -> dict:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


# -- Citation ------------------------------------------------------------------------------------

#: Of the schema of the Citation File Format 1.2.0: what must be there, and all that may be.
REQUIRED = {"cff-version", "message", "title", "authors"}
ALLOWED = REQUIRED | {
    "abstract",
    "commit",
    "contact",
    "date-released",
    "doi",
    "identifiers",
    "keywords",
    "license",
    "license-url",
    "preferred-citation",
    "references",
    "repository",
    "repository-artifact",
    "repository-code",
    "type",
    "url",
    "version",
}
REFERENCE = {"type", "title", "authors"}


def test_the_citation_is_one():
    cited = loaded(ROOT / "CITATION.cff")
    assert set(cited) >= REQUIRED
    assert set(cited) <= ALLOWED
    assert cited["cff-version"] == "1.2.0"
    assert cited["type"] == "software"
    assert cited["authors"] == [{"name": "The maintainers of dpfda"}]
    assert isinstance(cited["date-released"], date)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cited["license"] == project["license"]
    assert cited["keywords"] == project["keywords"]
    assert [person["name"] for person in project["maintainers"]] == [person["name"] for person in cited["authors"]]


def test_the_paper_is_cited_as_methods_paragraphs_cite_it():
    from dpfda.results.sources import SOURCES

    (paper,) = loaded(ROOT / "CITATION.cff")["references"]
    assert set(paper) >= REFERENCE
    text = SOURCES["Lin and Reimherr", paper["year"]]
    assert paper["title"] in text
    assert f"{paper['journal']} {paper['volume']}" in text
    assert [person["family-names"] for person in paper["authors"]] == re.findall(r"([A-Z][a-z]+), [A-Z]\.", text)


def test_addresses_are_those_that_exist():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (paper,) = loaded(ROOT / "CITATION.cff")["references"]
    assert project["urls"] == {"Paper": paper["url"]}


# -- Templates -----------------------------------------------------------------------------------


def test_there_are_forms_for_what_people_report():
    assert [path.stem for path in FORMS] == ["accuracy", "bug", "feature"]
    assert loaded(GITHUB / "ISSUE_TEMPLATE" / "config.yml") == {"blank_issues_enabled": False}


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_is_one_and_warns(path):
    form = loaded(path)
    assert {"name", "description", "body"} <= set(form)
    kinds = [field["type"] for field in form["body"]]
    assert set(kinds) <= {"markdown", "input", "textarea", "checkboxes", "dropdown"}
    assert kinds[0] == "markdown"
    ids = [field["id"] for field in form["body"] if "id" in field]
    assert len(ids) == len(set(ids)) == len(kinds) - 1
    assert all("label" in field["attributes"] for field in form["body"][1:])
    opening = form["body"][0]["attributes"]["value"]
    assert "Never paste or attach private data" in opening
    assert "ledger" in opening
    assert "SECURITY.md" in opening
    (boxes,) = [field for field in form["body"] if field["type"] == "checkboxes"]
    assert all(option["required"] for option in boxes["attributes"]["options"])
    assert "no private data" in boxes["attributes"]["options"][0]["label"]


def test_a_fault_says_its_version_and_what_was_run():
    fields = {field.get("id"): field for field in loaded(GITHUB / "ISSUE_TEMPLATE" / "bug.yml")["body"]}
    assert "dpfda --version" in fields["version"]["attributes"]["description"]
    assert all(fields[name]["validations"]["required"] for name in ("version", "run", "seen", "expected"))


def test_a_change_answers_for_privacy_docs_notes_and_tests():
    text = (GITHUB / "PULL_REQUEST_TEMPLATE.md").read_text(encoding="utf-8")
    assert "Never paste private data, ledgers" in text
    assert "SECURITY.md" in text
    boxes = re.findall(r"^- \[ \] (.+)$", text, re.MULTILINE)
    for word in ("Privacy", "Tests", "Docs", "changelog fragment", "private data"):
        assert any(word in box for box in boxes), word
    assert "neighbour test" in text
    for path in re.findall(r"`((?:docs|changelog\.d)/[\w/.]*)`", text):
        assert (ROOT / path).is_dir()


def test_conduct_says_where_to_turn():
    text = (ROOT / "CODE_OF_CONDUCT.md").read_text(encoding="utf-8")
    for path, heading in re.findall(r"\]\((\w+\.md)(?:#([\w-]+))?\)", text):
        heads = re.findall(r"^#+ (.+)$", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
        assert not heading or heading in {head.lower().replace(" ", "-") for head in heads}
    assert "CODE_OF_CONDUCT.md" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


# -- What runs -----------------------------------------------------------------------------------


def test_the_workflow_runs_what_everybody_can_run_and_nothing_else():
    (path,) = (GITHUB / "workflows").glob("*")
    workflow = loaded(path)
    (job,) = workflow["jobs"].values()
    *actions, last = job["steps"]
    assert last == {"run": "bash .ci/run"}
    assert [set(step) - {"with"} for step in actions] == [{"uses"}] * len(actions)
    assert [step["uses"].split("@")[0] for step in actions] == ["actions/checkout", "actions/setup-python"]
    assert all(re.fullmatch(r"[\w/-]+@v\d+\.\d+\.\d+", step["uses"]) for step in actions)
    assert actions[1]["with"] == {"python-version": "3.11"}
    assert workflow["permissions"] == {"contents": "read"}
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o100


def test_what_runs_is_in_the_makefile():
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    called = re.findall(r"\bmake ([a-z-]+)", re.sub(r"^#.*$", "", run, flags=re.MULTILINE))
    assert set(called) <= targets
    wanted = ["setup", "lint", "types", "test", "test-long", "docs", "test-browser", "test-notebooks", "wheel"]
    wanted.append("test-minimum")
    assert [name for name in wanted if name not in called] == []


def test_hooks_ask_nobody_outside():
    hooks = loaded(ROOT / ".pre-commit-config.yaml")
    assert [repository["repo"] for repository in hooks["repos"]] == ["local"]
    names = {hook["id"]: hook for hook in hooks["repos"][0]["hooks"]}
    assert {"ruff-check", "ruff-format", "import-linter", "fragments"} <= set(names)
    for hook in names.values():
        assert hook["language"] == "system"
        assert shlex.split(hook["entry"])[0].startswith(".venv/bin/")
        assert all((ROOT / word).exists() for word in shlex.split(hook["entry"]) if word.startswith(".ci/"))
