"""Docs that cannot rot: every snippet and command runs, generated pages are current."""

from __future__ import annotations

import inspect
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
#: Pages that programs write, and long tables of words of others, are held against what writes them.
GENERATED = [
    ROOT / "docs" / name
    for name in ("reference/commands.md", "reference/constants.md", "evidence/claims.md", "evidence/trust.md")
]
#: Folders that are made when the site is built.
BUILT = {"_build", "api", "files", "gallery_out"}
SITE = [page for page in sorted((ROOT / "docs").rglob("*.md")) if not BUILT & set(page.relative_to(ROOT).parts)]
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *(page for page in SITE if page not in GENERATED)]


def name_of(page: Path) -> str:
    """A page as the tests call it: its path in the project."""
    return page.relative_to(ROOT).as_posix()


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(), re.DOTALL)


@pytest.mark.parametrize("path", [p for p in PAGES if blocks(p, "python")], ids=name_of)
def test_python_snippets_run(path, tmp_path, monkeypatch):
    """All snippets of a page, in order, in one namespace."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for code in blocks(path, "python"):
        exec(compile(code, path.name, "exec"), namespace)


@pytest.mark.parametrize("path", [p for p in PAGES if blocks(p, "console")], ids=name_of)
def test_command_snippets_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sample = dp.datasets.load_curves(1000, np.random.default_rng(0))
    names = ",".join(f"h{i}" for i in range(48))
    np.savetxt("curves.csv", sample.curves, delimiter=",", header=names, comments="")
    table = np.column_stack([*dp.datasets.survival(1000, np.random.default_rng(0))[:2], np.arange(1000) % 2])
    np.savetxt("patients.csv", table, "%d", ",", header="days,died,new", comments="")
    for block in blocks(path, "console"):
        for line in block.strip().splitlines():
            assert line.startswith("$ dpfda ")
            result = CliRunner().invoke(app, shlex.split(line.removeprefix("$ dpfda ")))
            assert result.exit_code == 0, (line, result.output)


def test_a_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120


@pytest.mark.parametrize("path", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=name_of)
def test_names_in_the_text_are_there(path):
    """Whatever a page calls `dp.something`, in code or in a sentence, can be imported by that name."""
    missing = set()
    for name in re.findall(r"(?<![\w.])dp((?:\.[A-Za-z]\w*)+)", path.read_text()):
        owner: object = dp
        for part in name[1:].split("."):
            owner = getattr(owner, part, None)
        missing |= {name[1:]} if owner is None else set()
    assert missing == set()


#: Arguments whose names are plain words, or the data itself.
PLAIN = {"columns", "curves", "data", "epsilons", "header", "methods", "path", "plan", "points", "progress", "seed"}
#: Words that readers stumble over, besides those that the code knows: an entry each, as long as a page uses them.
TECHNICAL = """
    add-remove|approximate|ball noise|band|basis|bias|block|budget|charge|checkpoint|clipping|coefficient|component
    composition|confidence band|confidential|covariate|delta|density|derivation|eigenfunction|ellipsoid|encoding
    entry|filter|guess|iclp|l2 ball|l2 distance|lattice|moment|neighbours|octave|pass|permute and flip|post-processing
    principal component|projection|pure|record|release|replace|residual|root mean square|schedule|seal|sensitivity
    shrinkage|side channel|simultaneous|spread|stage|statement|statistic|study|summary|support function|target|unit
    zero-concentrated
"""


def glossary() -> list[str]:
    """The words that have an entry, in the order of the page."""
    heads = re.findall(r"^\*\*(.+?)\*\*", (ROOT / "docs" / "reference" / "glossary.md").read_text(), re.MULTILINE)
    return [word.split(" (")[0].lower() for head in heads for word in head.split(", ")]


def test_the_glossary_is_in_order():
    text = (ROOT / "docs" / "reference" / "glossary.md").read_text()
    heads = [head.lower() for head in re.findall(r"^\*\*(.+?)\*\*", text, re.MULTILINE)]
    assert heads == sorted(heads)
    assert len(glossary()) == len(set(glossary()))


def test_the_glossary_has_every_technical_word_that_is_used():
    used = " ".join(page.read_text().lower() for page in PAGES if page.name != "glossary.md")
    words = [word.strip() for word in re.split(r"[|\n]", TECHNICAL) if word.strip()]
    assert [word for word in words if not re.search(rf"\b{word}", used)] == []  # else the list is too long
    assert set(words) - set(glossary()) == set()


def test_the_glossary_has_every_argument():
    text = (ROOT / "docs" / "reference" / "glossary.md").read_text()
    takers = [dp.read, dp.mean, dp.covariance, dp.density, dp.suggest_radius, dp.compare, dp.audit, dp.load]
    takers += [dp.survival, dp.percentiles]
    takers += [dp.KernelClassifier, dp.KernelRegressor, dp.FunctionOnScalarRegression]
    asked = {name for taker in takers for name in inspect.signature(taker).parameters} - PLAIN
    assert {name for name in asked if f"`{name}=`" not in text and f"({name}=" not in text} == set()


def test_the_glossary_has_every_row_of_a_plan():
    curves = {"n": 100, "epsilon": 1, "bound": dp.L2Ball(1.0), "grid": 16}
    plans = [dp.MeanPlan(**curves), dp.CovariancePlan(**curves), dp.DensityPlan(n=100, epsilon=1, domain=[(0, 1)])]
    plans += [dp.SurvivalPlan(n=100, epsilon=1, horizon=1), dp.PercentilePlan(n=100, epsilon=1, range=(0, 1), grid=16)]
    rows = {line[2:20].strip() for plan in plans for line in repr(plan).splitlines()[1:]}
    rows = {re.sub(r"^\w+ \(n\)$", "n", row) for row in rows}
    assert {row for row in rows if not {row, row.removesuffix("es")} & set(glossary())} == set()


def test_the_glossary_has_every_room():
    text = (ROOT / "docs" / "reference" / "glossary.md").read_text()
    rooms = [path.parent.name for path in (ROOT / "src" / "dpfda").glob("*/__init__.py")]
    assert [room for room in rooms if f"`{room}/`" not in text] == []


def test_every_method_has_a_line():
    text = (ROOT / "docs" / "reference" / "methods.md").read_text()
    assert [name for name in dp.methods.__all__ if name != "Method" and f"| `{name}(" not in text] == []


def test_reference_pages_are_current():
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import generate
    finally:
        sys.path.pop(0)
    for path, text in generate.reference().items():
        assert path.read_text() == text, f"{path.name} is out of date: run make docs"


def folders() -> list[Path]:
    """Folders of pages."""
    return sorted({page.parent for page in SITE} - {ROOT / "docs"})


def test_every_folder_of_pages_has_an_index():
    assert len(folders()) >= 6
    assert [folder.name for folder in folders() if not (folder / "README.md").exists()] == []


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_an_index_lists_every_page_of_its_folder(folder):
    listed = re.findall(r"```\{toctree\}\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
    names = [line.strip() for part in listed for line in part.splitlines() if line.strip() and not line.startswith(":")]
    assert len(names) == len(set(names))
    pages = {page.stem for page in folder.glob("*.md") if not page.name.startswith("_")} - {"README"}
    assert {name for name in names if "/" not in name} == pages


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_pages_are_markdown_alone(path):
    """Raw HTML reads badly elsewhere; comments, between which figures are written, are none."""
    text = re.sub(r"```.*?```|`[^`]*`|<!--.*?-->", "", path.read_text(), flags=re.DOTALL)
    assert re.findall(r"</?[a-zA-Z][^>]*>", text) == []


#: Words of a sentence of the README and the tutorial, at most.
MOST_WORDS = 30


def sentences(text: str) -> list[str]:
    """The sentences of a page: code counts as one word, tables, heads and directives are none."""
    text = re.sub(r"```.*?```|<!--.*?-->", "\n\n", text, flags=re.DOTALL)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "code", text)
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("|", "#", ":::"))]
    found = []
    for paragraph in re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.) ", "\n".join(lines)):
        found += re.split(r"(?<=[.!?])[*_)\"]*\s+", " ".join(paragraph.split()))
    return [sentence for sentence in found if sentence]


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "docs" / "tutorial" / "README.md"], ids=name_of)
def test_sentences_are_short(path):
    long = [sentence for sentence in sentences(path.read_text()) if len(re.findall(r"\w\S*", sentence)) > MOST_WORDS]
    assert long == []


def test_links_and_pictures_exist():
    for path in (*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name} points to {target}"


def test_files_that_pages_name_exist():
    """Among them tests, figures and pages that a promise of the threat model leans on."""
    for page in (*PAGES, ROOT / "CONTRIBUTING.md"):
        named = set(re.findall(r"\b(?:tests|docs|benchmarks|src)/[\w/.-]*[\w/]", page.read_text()))
        named -= {name for name in named if name.startswith("docs/_build")}
        assert {name for name in named if not (page.parent / name).exists() and not (ROOT / name).exists()} == set()


def test_every_promise_has_its_tests():
    text = (ROOT / "docs" / "explanations" / "threat-model.md").read_text()
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


#: The one address of `pyproject.toml`: the paper's.
PAPER = "https://arxiv.org/abs/2309.00125"


def test_no_index_or_host_is_named():
    for path in [*ROOT.glob("*.toml"), *ROOT.glob("*.txt"), ROOT / "Makefile", ROOT / ".ci" / "run", *PAGES]:
        text = path.read_text().replace(f'Paper = "{PAPER}"', "", 1)
        assert not re.search(r"https?://|--index-url|--extra-index", text), path.name
