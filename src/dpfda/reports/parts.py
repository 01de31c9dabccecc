"""What a report is made of, as plain data: sections of blocks. Templates show them; tests read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeAlias

if TYPE_CHECKING:
    from dpfda.pages.safe import Markup


class Drawing(Protocol):
    """A picture of a page: a chart, a map, a bar."""

    def svg(self) -> Markup: ...


@dataclass(frozen=True)
class Words:
    """A paragraph."""

    kind: ClassVar[str] = "words"
    text: str


@dataclass(frozen=True)
class Quote:
    """Paragraphs to be copied, with quotation marks round them."""

    kind: ClassVar[str] = "quote"
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Bullets:
    """A list."""

    kind: ClassVar[str] = "bullets"
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Note:
    """A sentence that must be seen: look is "good", "fair" or "poor"."""

    kind: ClassVar[str] = "note"
    text: str
    look: str = "fair"


@dataclass(frozen=True)
class Verdict:
    """A judgement with its head line: look is "good", "fair" or "poor"."""

    kind: ClassVar[str] = "verdict"
    head: str
    texts: tuple[str, ...]
    look: str


@dataclass(frozen=True)
class Pictures:
    """One picture, or several side by side."""

    kind: ClassVar[str] = "pictures"
    drawings: tuple[Drawing, ...]


@dataclass(frozen=True)
class Table:
    """Rows of texts under the names of their columns; the first column names the row."""

    kind: ClassVar[str] = "table"
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class Code:
    """Commands, one a line."""

    kind: ClassVar[str] = "code"
    lines: tuple[str, ...]


Block: TypeAlias = Words | Quote | Bullets | Note | Verdict | Pictures | Table | Code


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it, in order."""

    title: str
    blocks: Sequence[Block]

    @property
    def text(self) -> str:
        """Its paragraphs, notes and lists, without pictures and tables."""
        found: list[str] = []
        for block in self.blocks:
            if isinstance(block, Words | Note):
                found.append(block.text)
            elif isinstance(block, Quote | Bullets | Verdict):
                found += block.texts
        return "\n".join(found)
