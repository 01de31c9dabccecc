"""Hold the built site against two promises: every link inside leads somewhere, and nothing is asked from outside.

`make docs` runs it after a build: ``python docs/check_site.py docs/_build/html``. Links that a reader may follow to
other places are allowed; scripts, styles, fonts, pictures and frames from other places are not.
"""

from __future__ import annotations

import functools
import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: What a browser fetches by itself, by tag and attribute.
FETCHED = {
    ("audio", "src"),
    ("embed", "src"),
    ("form", "action"),
    ("iframe", "src"),
    ("image", "href"),
    ("img", "src"),
    ("img", "srcset"),
    ("link", "href"),
    ("object", "data"),
    ("script", "src"),
    ("source", "src"),
    ("source", "srcset"),
    ("track", "src"),
    ("use", "href"),
    ("video", "poster"),
    ("video", "src"),
}
URL = re.compile(r"url\(\s*['\"]?([^'\")]+)['\"]?\s*\)|@import\s+['\"]([^'\"]+)")


@dataclass
class Page(HTMLParser):
    """What a page names: places in it that can be linked to, links, and what it fetches."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._style = tag == "style"
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.ids.add(value)
            elif (tag, name) in FETCHED:
                parts = value.split(",") if name == "srcset" else [value]
                self.fetched += [part.split()[0] for part in parts if part.strip()]
            elif tag in ("a", "area") and name == "href":
                self.links.append(value)
            elif name == "style":
                self.fetched += urls(value)

    def handle_data(self, data: str) -> None:
        if self._style:
            self.fetched += urls(data)
            self._style = False


def urls(style: str) -> list[str]:
    """What a style sheet fetches."""
    return [first or second for first, second in URL.findall(style)]


@functools.cache
def read(path: Path) -> Page:
    """A page of the site."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def pages(folder: Path) -> list[Path]:
    """The pages of a site: what themes put among their pictures and scripts is none."""
    return [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.relative_to(folder).parts]


def problems(folder: Path) -> list[str]:
    """All that is wrong, one line each."""
    found = []
    for path in pages(folder):
        page = read(path)
        here = path.relative_to(folder).as_posix()
        found += [f"{here}: {wrong}" for one in page.fetched if (wrong := _fetched(one, path, folder))]
        found += [f"{here}: {wrong}" for one in page.links if (wrong := _linked(one, path, folder))]
    for path in sorted(folder.rglob("*.css")):
        here = path.relative_to(folder).as_posix()
        sheet = path.read_text(encoding="utf-8")
        found += [f"{here}: {wrong}" for one in urls(sheet) if (wrong := _fetched(one, path, folder))]
    return list(dict.fromkeys(found))


def _fetched(target: str, path: Path, folder: Path) -> str:
    parts = urlsplit(target)
    if parts.scheme == "data":
        return ""
    if parts.scheme or parts.netloc:
        return f"fetches {target} from outside"
    return _missing(parts.path, path, folder) and f"fetches {target}, which is not there"


def _linked(target: str, path: Path, folder: Path) -> str:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return "" if parts.scheme in ("http", "https", "mailto") else f"links to {target}"
    if _missing(parts.path, path, folder):
        return f"links to {target}, which is not there"
    other = _file(parts.path, path, folder)
    anchor = unquote(parts.fragment)
    if anchor and other.suffix == ".html" and anchor not in read(other).ids:
        return f"links to {target}, a place that the page does not have"
    return ""


def _file(target: str, path: Path, folder: Path) -> Path:
    other = (path.parent / unquote(target)).resolve() if target else path
    return other / "index.html" if other.is_dir() else other


def _missing(target: str, path: Path, folder: Path) -> bool:
    other = _file(target, path, folder)
    return not other.is_file() or not other.resolve().is_relative_to(folder.resolve())


def main(folder: Path) -> int:
    """Say what is wrong; zero if nothing is."""
    number = len(pages(folder))
    found = problems(folder)
    for line in found:
        print(line, file=sys.stderr)
    print(f"{number} pages, {len(found)} problems")
    return 1 if found or not number else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
