"""Texts on a page are only shown: what could steer a browser or the direction of reading is escaped or spelt out.

The packages that do it are loaded when a page is made, so that naming a report costs nothing.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from dpfda.core.errors import printable
from dpfda.core.lazy import lazy

if TYPE_CHECKING:
    import jinja2 as jinja2
    import markupsafe as markupsafe
    from markupsafe import Markup as Markup
else:
    jinja2 = lazy("jinja2")
    markupsafe = lazy("markupsafe")


def text(words: str) -> str:
    """Words as they stand in markup, between tags or in quotes.

    >>> text("<b>" + chr(0x202E) + "&")
    '&lt;b&gt;\\\\u202e&amp;'
    """
    return html.escape(printable(words))


def markup(source: str) -> Markup:
    """Markup of our own making, which is not escaped again.

    >>> markup("<b>ours</b>")
    Markup('<b>ours</b>')
    """
    return markupsafe.Markup(source)


def shown(value: object) -> object:
    """What a template puts out: texts in printable signs, and markup as it is."""
    return printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
