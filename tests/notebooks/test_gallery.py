"""Items of the gallery ask a question, are short, and say what to change. The site runs them when it is built."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import dpfda as dp

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
ITEMS = sorted(GALLERY.rglob("*.py"))


def name_of(item: Path) -> str:
    return item.relative_to(GALLERY).as_posix()


def test_there_are_enough_in_sections():
    assert len(ITEMS) >= 18
    assert all(item.name.startswith("plot_") for item in ITEMS)
    assert len({item.stem for item in ITEMS}) == len(ITEMS)
    for folder in {GALLERY, *(item.parent for item in ITEMS)}:
        assert (folder / "GALLERY_HEADER.rst").exists(), folder.name


@pytest.mark.parametrize("item", ITEMS, ids=name_of)
def test_an_item_asks_and_says_what_to_change(item):
    text = item.read_text(encoding="utf-8")
    document = ast.get_docstring(ast.parse(text)) or ""
    title, line = document.splitlines()[:2]
    assert title.endswith("?")
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert "\n# %%\n# What to change\n# --------------\n" in text
    last = text.split("# What to change")[1].splitlines()[1:]
    assert all(line.startswith("#") for line in last)
    code = [line for line in text.replace(document, "").splitlines() if line and not line.startswith("#")]
    assert len(code) <= 50
    assert "plt.show()" in code


@pytest.mark.parametrize("item", ITEMS, ids=name_of)
def test_an_item_uses_names_that_are_public(item):
    for name in re.findall(r"(?<![\w.])dp((?:\.[A-Za-z]\w*)+)", item.read_text(encoding="utf-8")):
        owner: object = dp
        for part in name[1:].split("."):
            assert not part.startswith("_")
            owner = getattr(owner, part)
    imports = {
        line for line in item.read_text(encoding="utf-8").splitlines() if re.match(r"(from|import) .*dpfda", line)
    }
    assert imports <= {"import dpfda as dp"}
