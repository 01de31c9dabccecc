"""Type checkers know what each verb returns, and what it must not be given."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mypy import api

FILE = Path(__file__).parents[1] / "typing" / "verbs.py"
WANTED = {
    number: line.rpartition("# ")[2] for number, line in enumerate(FILE.read_text().splitlines(), 1) if "  # " in line
}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What mypy says about each line."""
    cache = tmp_path_factory.mktemp("cache")
    said, trouble, _ = api.run([str(FILE), "--cache-dir", str(cache), "--follow-imports", "silent", "--strict"])
    assert not trouble
    lines: dict[int, list[str]] = {}
    for line in said.splitlines():
        if match := re.match(r".*verbs\.py:(\d+): (.*)", line):
            lines.setdefault(int(match[1]), []).append(match[2])
    return lines


def plain(text: str) -> str:
    """A revealed type without the modules of its parts, and without the element type of arrays."""
    shown = re.search(r'Revealed type is "(.*)"', text)
    assert shown, text
    names = re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", shown[1])
    return re.sub(r"ndarray\[.*\]", "ndarray", names).rstrip("?*")


@pytest.mark.parametrize(
    "number", WANTED, ids=lambda number: FILE.read_text().splitlines()[number - 1].partition("  #")[0]
)
def test_what_an_editor_shows(number, found):
    said = found.get(number, [])
    if WANTED[number] == "error":
        assert any(line.startswith("error") for line in said)
    else:
        assert not any(line.startswith("error") for line in said), said
        assert WANTED[number] in plain(said[0])


def test_nothing_else_is_wrong(found):
    strangers = {number: said for number, said in found.items() if number not in WANTED}
    assert strangers == {}
