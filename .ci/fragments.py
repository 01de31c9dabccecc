"""Refuse release notes that no release would show: names, kinds and texts of the files in `changelog.d/`."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAME = re.compile(r"(?:\d+|\+[a-z0-9][a-z0-9-]*)\.(?P<kind>[a-z]+)(?:\.\d+)?\.md")


def kinds(root: Path = ROOT) -> list[str]:
    """The kinds that a release shows, in its order."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return [kind["directory"] for kind in settings["tool"]["towncrier"]["type"]]


def fragments(root: Path = ROOT) -> list[Path]:
    """The files that the next release will take up."""
    return sorted(path for path in (root / "changelog.d").iterdir() if path.name != "README.md")


def problems(root: Path = ROOT) -> list[str]:
    """What is wrong, a line each.

    A name that towncrier does not understand would be left out of the notes without a word.
    """
    known, found = kinds(root), []
    for path in fragments(root):
        match = NAME.fullmatch(path.name)
        if match is None:
            found.append(f"{path.name}: call it NUMBER.KIND.md or +name.KIND.md (see changelog.d/README.md)")
        elif match["kind"] not in known:
            found.append(f"{path.name}: no kind is called {match['kind']!r}; there are {', '.join(known)}")
        elif not path.read_text(encoding="utf-8").strip():
            found.append(f"{path.name}: it is empty")
    return found


if __name__ == "__main__":
    for line in problems():
        print(line, file=sys.stderr)
    sys.exit(bool(problems()))
