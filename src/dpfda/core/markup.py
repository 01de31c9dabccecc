"""Tables for notebooks: every text escaped, no scripts, nothing from outside, no colours of their own.

So a table is as readable on a dark page as on a light one, and a name is only shown.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

LEFT = "style='text-align:left'"


def facts(caption: str, rows: Iterable[tuple[str, str]]) -> str:
    """Names and values, side by side.

    >>> facts("A & B", [("n", "<5")]).replace(f" {LEFT}", "")
    '<table><caption>A &amp; B</caption><tr><th>n</th><td>&lt;5</td></tr></table>'
    """
    return _table(caption, (_cell("th", name) + _cell("td", value) for name, value in rows))


def columns(caption: str, names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of values under the names of their columns."""
    head = "".join(_cell("th", name) for name in names)
    return _table(caption, [head, *("".join(_cell("td", value) for value in row) for row in rows)])


def _table(caption: str, rows: Iterable[str]) -> str:
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><caption>{html.escape(caption)}</caption>{body}</table>"


def _cell(kind: str, text: str) -> str:
    return f"<{kind} {LEFT}>{html.escape(text)}</{kind}>"
