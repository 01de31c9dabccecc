"""Docs that cannot rot: every snippet and command runs, generated pages are current."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "derivations").glob("*.md")),
]


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(), re.DOTALL)


@pytest.mark.parametrize("path", [p for p in PAGES if blocks(p, "python")], ids=lambda p: p.name)
def test_python_snippets_run(path, tmp_path, monkeypatch):
    """All snippets of a page, in order, in one namespace."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for code in blocks(path, "python"):
        exec(compile(code, path.name, "exec"), namespace)


@pytest.mark.parametrize("path", [p for p in PAGES if blocks(p, "console")], ids=lambda p: p.name)
def test_command_snippets_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sample = dp.datasets.load_curves(1000, np.random.default_rng(0))
    names = ",".join(f"h{i}" for i in range(48))
    np.savetxt("curves.csv", sample.curves, delimiter=",", header=names, comments="")
    for block in blocks(path, "console"):
        for line in block.strip().splitlines():
            assert line.startswith("$ dpfda ")
            result = CliRunner().invoke(app, shlex.split(line.removeprefix("$ dpfda ")))
            assert result.exit_code == 0, (line, result.output)


def test_reference_pages_are_current():
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import build
    finally:
        sys.path.pop(0)
    for path, text in build.reference().items():
        assert path.read_text() == text, f"{path.name} is out of date: run make docs"


def test_links_and_pictures_exist():
    for path in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name} points to {target}"


def test_what_the_threat_model_names_exists():
    """Tests, figures and pages that a promise leans on are there."""
    for page in (ROOT / "docs" / "threat-model.md", ROOT / "SECURITY.md"):
        named = set(re.findall(r"\b(?:tests|docs|benchmarks|src)/[\w/.-]*[\w/]", page.read_text()))
        assert {name for name in named if not (page.parent / name).exists() and not (ROOT / name).exists()} == set()


def test_every_promise_has_its_tests():
    text = (ROOT / "docs" / "threat-model.md").read_text()
    promised = re.findall(r"^- \*\*(P\d+) ", text, re.MULTILINE)
    assert promised == [f"P{i}" for i in range(1, len(promised) + 1)]
    rows = re.findall(r"^\| (P\d+) \|(.*)$", text, re.MULTILINE)
    assert [number for number, _ in rows] == promised
    assert all("tests/" in row for _, row in rows)


def test_every_public_name_is_documented_with_an_example():
    for name in dp.__all__:
        value = getattr(dp, name)
        assert value.__doc__, name
        if isinstance(value, type) and not issubclass(value, Exception) and name not in ("Summary", "ProductGrid"):
            assert ">>>" in value.__doc__, name


def test_no_index_or_host_is_named():
    for path in [*ROOT.glob("*.toml"), *ROOT.glob("*.txt"), ROOT / "Makefile", ROOT / ".ci" / "run", *PAGES]:
        assert not re.search(r"https?://|--index-url|--extra-index", path.read_text()), path.name
