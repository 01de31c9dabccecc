"""Text files as lines, in UTF-8 and some at a time: one line one record, whatever it holds.

Only a line feed ends a line: a carriage return before it belongs to it, others are spaces. (In files of old programs
it is the other way round.) Each line is decoded by itself, so none changes how another is read; bytes that are no text
become marks that are no number.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Protocol

from dpfda.reading.dialect import WIDE

MARK = codecs.BOM_UTF8
#: Bytes of a line: more than any record has.
LONGEST_LINE = 1 << 24
PIECE = 1 << 16
#: Encodings in which every byte is a character, by itself.
BY_BYTES = re.compile(r"cp125\d|iso8859-\d+|koi8-[ru]|ascii|mac-roman")


class Bytes(Protocol):
    """Something that bytes are read from."""

    def read(self, size: int, /) -> bytes: ...


class Text:
    """The bytes of a file from its beginning, of which `start` has been read; wide characters become UTF-8."""

    def __init__(self, file: Bytes, encoding: str, start: bytes = b""):
        self.file, self.start, self.encoding = file, start, encoding
        self.decoder = codecs.getincrementaldecoder(encoding)("replace") if encoding in WIDE else None

    def read(self, size: int) -> bytes:
        """The next bytes, about so many; none at the end only."""
        found, self.start = self.start or self.file.read(size), b""
        if self.decoder is None:
            return found
        while found:
            if decoded := self.decoder.decode(found).encode("utf-8"):
                return decoded
            found = self.file.read(size)
        return self.decoder.decode(b"", final=True).encode("utf-8")

    def first_line(self) -> tuple[bytes, bool]:
        """The first line (or more than the longest one), and whether lines end in carriage returns alone."""
        line = b""
        while (at := line.find(b"\n")) < 0 and len(line) <= LONGEST_LINE + 1:
            more = self.read(PIECE)
            if not more:
                break
            line += more
        whole = (line if at < 0 else line[:at]).rstrip(b"\r")
        return (whole.split(b"\r")[0], True) if b"\r" in whole else (whole, False)


def blocks(text: Text, returns: bool, size: int) -> Iterator[bytes | None]:
    """Some lines at a time, each ended by a line feed, the last as well; None for a line that is too long."""
    end = b"\r" if returns else b"\n"
    rest, lost, more = b"", False, True
    while more:
        fresh = text.read(size)
        more = bool(fresh)
        if lost:  # in the middle of a line that is too long
            at = fresh.find(end)
            if at < 0:
                continue
            fresh, lost = fresh[at + 1 :], False
        last = (fresh.rfind(end) if more else len(fresh) - 1) + 1
        if last or not more:
            lines, rest = b"".join([rest, memoryview(fresh)[:last]]), fresh[last:]
            lines += b"" if more or not lines or lines.endswith(end) else end
        else:
            lines, rest = b"", rest + fresh
        for part in _apart(lines, end):
            yield part if part is None else _unmarked(_in_utf8(_ended(part, returns), text.encoding))
        if len(rest) > LONGEST_LINE:
            yield None
            rest, lost = b"", True


def _apart(lines: bytes, end: bytes) -> Iterator[bytes | None]:
    """Lines, with None in the place of each that is too long."""
    begun = at = 0
    while len(lines) - at > LONGEST_LINE:
        last = lines.rfind(end, at, at + LONGEST_LINE + 1)
        if last < 0:  # the line that begins here
            if at > begun:
                yield lines[begun:at]
            yield None
            after = lines.find(end, at)
            last = after if after >= 0 else len(lines)
            begun = last + 1
        at = last + 1
    if begun < len(lines):
        yield lines[begun:] if begun else lines


def _ended(lines: bytes, returns: bool) -> bytes:
    """The same with line feeds at the ends of lines and nowhere else, and no carriage returns."""
    if returns:
        return lines.replace(b"\n", b" ").replace(b"\r", b"\n")
    if b"\r" not in lines:
        return lines
    return lines.replace(b"\r\n", b"\n").replace(b"\r", b" ")


def _unmarked(lines: bytes) -> bytes:
    """The same without a byte-order mark at the beginning of a line, wherever that stands: no place is special."""
    marked = not lines.isascii() and MARK in lines
    return lines.removeprefix(MARK).replace(b"\n" + MARK, b"\n") if marked else lines


def _in_utf8(lines: bytes, encoding: str) -> bytes:
    if encoding == "utf-8" or encoding in WIDE:
        return lines
    if BY_BYTES.fullmatch(encoding):
        return lines.decode(encoding, "replace").encode("utf-8")
    return b"\n".join(decoded(line, encoding).encode("utf-8") for line in lines.split(b"\n"))


def decoded(line: bytes, encoding: str) -> str:
    """One line by itself. What decodes to a line feed is a space: it ends no line."""
    return line.decode("utf-8" if encoding in WIDE else encoding, "replace").replace("\n", " ").replace("\r", " ")
