"""Changes, release notes, the release check and the page of coverage."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dpfda as dp

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / ".ci"))
import coverage_page  # noqa: E402
import fragments  # noqa: E402
import release_check  # noqa: E402

CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_a_version_that_is_out_has_a_date_and_nothing_is_called_unreleased():
    heads = re.findall(r"^## (.+)$", CHANGES, re.MULTILINE)
    assert re.fullmatch(rf"{re.escape(dp.__version__)} \(\d{{4}}-\d\d-\d\d\)", heads[0])
    assert heads[-1] == "0.1.0"
    assert "unreleased" not in CHANGES.lower()


def test_what_moved_is_where_the_changes_say():
    """The right side of the table of names, and everything that is called by its name beside the table, is there."""
    section = CHANGES.split("\n## ")[1]
    lines = section.splitlines()
    rows = [line.strip(" |").split(" | ") for line in lines if line.startswith("  | `")]
    text = "\n".join([*(row[1] for row in rows), *(line for line in lines if not line.startswith("  |"))])
    for name in set(re.findall(r"(?<![\w.])dp((?:\.[A-Za-z]\w*)+)", text)):
        owner: object = dp
        for part in name[1:].split("."):
            owner = getattr(owner, part)
    moved = {name for row in rows for name in re.findall(r"`dp\.([A-Za-z]\w*)`", row[0])}
    assert len(moved) > 40
    for name in moved:
        with pytest.raises(AttributeError, match=rf"it is dp\.\w+\.{name}"):
            getattr(dp, name)


def test_release_notes_have_names_that_are_understood():
    assert fragments.problems() == []


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("12.fix.md", "Mended.", None),
        ("+a-name.privacy.md", "Closed.", None),
        ("12.fix.2.md", "Mended.", None),
        ("12.bugfix.md", "Mended.", "no kind is called 'bugfix'"),
        ("fix.md", "Mended.", "call it NUMBER.KIND.md"),
        ("12.fix", "Mended.", "call it NUMBER.KIND.md"),
        ("12.fix.md", " \n", "it is empty"),
    ],
)
def test_notes_that_no_release_would_show_are_refused(tmp_path, name, text, said):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "changelog.d" / "README.md").write_text("How to", encoding="utf-8")
    (tmp_path / "changelog.d" / name).write_text(text, encoding="utf-8")
    found = fragments.problems(tmp_path)
    assert found == [] if said is None else (len(found) == 1 and said in found[0])
    assert not release_check.notes(tmp_path)[0]


def test_the_table_of_kinds_is_whole():
    page = (ROOT / "changelog.d" / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == sorted(fragments.kinds())


def test_a_release_takes_notes_up(tmp_path):
    """By the settings of pyproject.toml: a section on top, its kinds in order, and the notes are gone."""
    pytest.importorskip("towncrier", reason="towncrier is not installed")
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text(CHANGES, encoding="utf-8")
    shutil.copytree(ROOT / "changelog.d", tmp_path / "changelog.d")
    for path in fragments.fragments(tmp_path):
        path.unlink()
    (tmp_path / "changelog.d" / "+a.fix.md").write_text("Something works.", encoding="utf-8")
    (tmp_path / "changelog.d" / "7.privacy.md").write_text("A hole is closed.", encoding="utf-8")
    command = [sys.executable, "-m", "towncrier", "build", "--yes", "--version", "0.9.0", "--date", "2030-01-02"]
    git = ["git", "-c", "init.defaultBranch=main", "init", "--quiet"]
    subprocess.run(git, cwd=tmp_path, check=True, capture_output=True)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
    head, below = CHANGES.split("\n## ", 1)
    assert text.startswith(f"{head}\n## 0.9.0 (2030-01-02)\n")
    assert text.index("### Privacy") < text.index("A hole is closed. (#7)") < text.index("### Fixes")
    assert text.index("Something works.") < text.index(f"## {dp.__version__}")
    assert text.endswith(below)
    assert fragments.fragments(tmp_path) == []


def test_a_section_without_a_date_is_found(tmp_path):
    path = tmp_path / "CHANGELOG.md"
    for head, good in (("0.3.0 (2027-01-01)", True), ("0.3.0", False), ("Unreleased", False)):
        path.write_text(f"# Changes\n\n## {head}\n\n- One.\n", encoding="utf-8")
        assert release_check.changes(tmp_path)[0] is good
    path.write_text("# Changes\n\n## 0.3.0 (2027-01-01)\n\n## Unreleased\n", encoding="utf-8")
    assert not release_check.changes(tmp_path)[0]


def test_the_date_of_the_citation_is_that_of_the_changes():
    assert release_check.citation() == (True, release_check.citation()[1])


def test_a_site_is_old_when_a_page_is_newer(tmp_path):
    import os

    (tmp_path / "docs" / "_build" / "html").mkdir(parents=True)
    (tmp_path / "src").mkdir()
    page, stamp = tmp_path / "docs" / "page.md", tmp_path / "docs" / "_build" / "built"
    page.write_text("x", encoding="utf-8")
    assert not release_check.site(tmp_path)[0]
    stamp.touch()
    (tmp_path / "docs" / "_build" / "html" / "index.html").touch()
    os.utime(page, (1, 1))
    assert release_check.site(tmp_path)[0]
    os.utime(stamp, (0, 0))
    assert not release_check.site(tmp_path)[0]


def test_the_check_has_a_row_for_each_thing_on_the_list():
    page = (ROOT / "docs" / "project" / "release-checklist.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| (\w+) \|", page, re.MULTILINE)[1:] == list(release_check.CHECKS)


def test_any_check_that_fails_fails_the_whole(monkeypatch, capsys):
    monkeypatch.setattr(release_check, "CHECKS", {"one": lambda: (True, "fine"), "two": lambda: (False, "not so")})
    assert release_check.main() == 1
    assert "two        NO  not so" in capsys.readouterr().out
    monkeypatch.setattr(release_check, "CHECKS", {"one": lambda: (True, "fine")})
    assert release_check.main() == 0


def test_every_commented_target_and_only_those_that_are_there():
    """What pages tell people to make is in the Makefile."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):(?!=)", text, re.MULTILINE))
    assert set(re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)[1].split()) == targets
    pages = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *(ROOT / "docs" / "project").glob("*.md")]
    called = {name for page in pages for name in re.findall(r"`make ([a-z-]+)", page.read_text(encoding="utf-8"))}
    assert called <= targets


# -- The page of coverage ------------------------------------------------------------------------


def measured(missing: int) -> dict[str, object]:
    functions = {"one": {"missing_lines": list(range(missing))}, "two": {"missing_lines": []}}
    summary = {"num_statements": 20, "missing_lines": missing, "percent_covered": 5.0 * (20 - missing)}
    file = {"summary": summary, "missing_lines": list(range(missing)), "functions": functions}
    meta = {"timestamp": "2026-11-19T10:00:00", "version": "7.0"}
    elsewhere = "build/x/lib/dpfda/core/errors.py"
    return {"meta": meta, "files": {"src/dpfda/core/errors.py": file, elsewhere: file}}


def test_the_page_of_coverage_names_what_is_below():
    low = coverage_page.page(measured(3), "1.2.3")
    assert "| `core/` | 1 | 20 | 3 | 85.0 % |" in low
    assert "| **all** | 1 | 20 | 3 | 85.0 % |" in low
    assert f"| `core/errors.py` | 85.0 % | {coverage_page.UNKNOWN} |" in low
    assert "| `core/errors.py` | `one` 3 |" in low
    assert "with dpfda 1.2.3," in low
    assert "No module." in coverage_page.page(measured(0), "1.2.3")
    assert "No module." in coverage_page.page(measured(2), "1.2.3")
    assert coverage_page.percent(1000, 0) == "100.0 %"
    assert coverage_page.percent(10000, 1) == "99.9 %"


def test_reasons_are_given_for_modules_that_are_there():
    assert [name for name in coverage_page.REASONS if not (ROOT / "src" / "dpfda" / name).exists()] == []


def test_the_page_has_every_room():
    page = (ROOT / "docs" / "project" / "coverage.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in (ROOT / "src" / "dpfda").glob("*/__init__.py")}
    assert rooms <= set(re.findall(r"^\| `(\w+)/` \|", page, re.MULTILINE))


def test_settings_of_coverage_are_of_this_package():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["coverage"]
    assert settings["run"]["source_pkgs"] == ["dpfda"]
    assert settings["json"]["output"] == str(coverage_page.MEASURED.relative_to(ROOT))
