"""Pages as tests read them: tags that are closed in order, words and tables; and what holds for all of them."""

from __future__ import annotations

import re
from html.parser import HTMLParser

EMPTY = {"meta", "link", "br", "img", "hr", "input", "image", "path", "rect"}
MOST = 200_000


class Page(HTMLParser):
    """Tags that are closed in order, words, and tables."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        assert len(attrs) == len(dict(attrs))
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
        if {"td", "th"} & set(self.open[-1:]):
            self.tables[-1][-1][-1] += data

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def check(page: str) -> Page:
    """A page that stands alone, whatever it is about."""
    found = Page(page)
    assert len(page.encode()) < MOST
    assert not re.search(r"<script|@import|url\(", page)
    assert not [name for _, attrs in found.tags for name in attrs if name == "style" or name.startswith("on")]
    assert not re.search(r"https?://|src=\"(?!data:)|href=\"(?!data:|#main)", page)
    names = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
    assert len(names) == len(set(names))
    assert {tag for tag, _ in found.tags} <= {
        "html", "head", "meta", "title", "style", "body", "a", "main", "h1", "h2", "p", "section", "div", "figure",
        "figcaption", "svg", "desc", "path", "text", "rect", "image", "ul", "li", "table", "caption", "thead", "tbody",
        "tr", "th", "td", "blockquote", "pre", "code",
    }  # fmt: skip
    policy = next(attrs["content"] for tag, attrs in found.tags if tag == "meta" and "http-equiv" in attrs)
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return found
