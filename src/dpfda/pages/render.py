"""Templates to pages: every text is escaped and printable, and a fact that a template misses is an error.

>>> environment().from_string("{{ name }}").render(name="<script>")
'&lt;script&gt;'
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from dpfda.core.errors import printable
from dpfda.pages.safe import jinja2, markup, shown

if TYPE_CHECKING:
    from markupsafe import Markup

HOME = Path(__file__).parent
TEMPLATES = HOME / "templates"
#: What a page that stands alone may do: show itself.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def environment(*folders: str | os.PathLike[str]) -> jinja2.Environment:
    """Templates of these folders, and those that all pages share (``base.html``, ``alone.html``, ``macros.html``)."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
    )


@cache
def _shared(*folders: Path) -> jinja2.Environment:
    return environment(*folders)


def page(template: str, *folders: Path, **facts: object) -> str:
    """A whole page that stands alone, its style within it; other folders' templates come first.

    Whatever way a text went through a template, no sign of the page steers how it is read.
    """
    made = _shared(*folders).get_template(template).render(style=sheet(), policy=POLICY, **facts)
    return "\n".join(printable(line) for line in made.split("\n"))


@cache
def style() -> str:
    """The style sheet of all pages."""
    return (HOME / "style.css").read_text(encoding="utf-8")


def sheet() -> Markup:
    """The style sheet, to stand inside a page."""
    return markup(style())
