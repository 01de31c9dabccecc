"""How a text file is written: what parts its cells, its decimal mark, its encoding.

All of it is said by who reads the file, or by its name and its header line. No record decides any of it.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from dpfda.core.errors import FileError, ParameterError, shown

#: What may stand between cells, by its name in messages.
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
SPELT = {"tab": "\t", "\\t": "\t"}
DECIMALS = (".", ",")
#: Encodings whose characters are wider than a byte, by the mark that a file in them begins with: the longer first.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
WIDE = {name for _, name in MARKS}
BY_THEIR_MARK = ("utf-16", "utf-32")
LONGEST_MARK = 4
#: In every other encoding that is read, these are the bytes that they are in ASCII, so that lines part at line feeds.
PLAIN = '\n\r\t ,;|"+-.0123456789eENa'
#: Bytes that some codecs stop at, or make what is no text of: those are not for records.
ANYTHING = b".." + bytes(range(256)) + rb"\ud800"


@dataclass(frozen=True)
class Dialect:
    """How a text file is written, as far as that was said."""

    separator: str | None = None
    decimal: str = "."
    encoding: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "separator", _separator(self.separator))
        object.__setattr__(self, "encoding", _encoding(self.encoding))
        if not (isinstance(self.decimal, str) and self.decimal in DECIMALS):
            raise ParameterError(
                "decimal is the mark before decimals: a point, or a comma",
                shown(self.decimal),
                "Pass decimal=',' for commas. Marks between thousands are not read.",
            )
        self._check_apart(self.separator)

    def parting(self, suffix: str, header: str | None) -> str:
        """What parts cells: as was said, else what the header line has most of, else what the file's ending means."""
        ending = "\t" if suffix == ".tsv" else ","
        found = self.separator
        if found is None:
            found = ending if header is None else _most_of(header, ending, self.decimal)
        self._check_apart(found)
        return found

    def _check_apart(self, separator: str | None) -> None:
        if separator == self.decimal:
            raise ParameterError(
                "decimals and cells need different marks",
                "commas for both",
                "Pass separator=';', say, or decimal='.' for points.",
            )

    def read_in(self, start: bytes | None, name: str) -> str:
        """The encoding; `start` is how the file begins, and None where a record could stand there."""
        if self.encoding not in (None, *BY_THEIR_MARK):
            return self.encoding
        if start is None and self.encoding is not None:
            raise ParameterError(
                "where a file begins with a record, its encoding is said whole",
                shown(self.encoding),
                f"Pass encoding='{self.encoding}-le', or '{self.encoding}-be'.",
            )
        marked = next((known for mark, known in MARKS if start is not None and start.startswith(mark)), None)
        if self.encoding is None:
            return marked or "utf-8"
        if marked is None or not marked.startswith(self.encoding):
            raise FileError(
                f"{name!r} does not begin with the mark of {self.encoding}. Say which bytes come first: "
                f"pass encoding='{self.encoding}-le', or '{self.encoding}-be'."
            )
        return marked


def _separator(given: object) -> str | None:
    if given is None:
        return None
    found = SPELT.get(given, given) if isinstance(given, str) else None
    if not isinstance(found, str) or found not in SEPARATORS:
        raise ParameterError("separator is one of ; , | or tab", shown(given), "Pass separator=';', or 'tab'.")
    return found


def _encoding(given: object) -> str | None:
    """The name that Python gives it, if lines can be told apart in it."""
    if given is None:
        return None
    try:
        name = codecs.lookup(given).name if isinstance(given, str) else ""
        name = "utf-8" if name == "utf-8-sig" else name
        if name in WIDE or name in BY_THEIR_MARK:
            return name
        if name and PLAIN.encode(name) == PLAIN.encode("ascii"):
            ANYTHING.decode(name, "replace").encode("utf-8")  # what no record may stop
            return name
    except (LookupError, ValueError):  # unknown, or for no text
        pass
    raise ParameterError(
        "encoding is one that text files have", shown(given), "Pass encoding='cp1252', 'latin-1' or 'utf-16', say."
    )


def _most_of(header: str, ending: str, decimal: str) -> str:
    """The separator that a header has most of, outside quotes. A comma between digits may be a decimal one."""
    bare = re.sub(r'"[^"]*"', "", header)
    counts = {mark: bare.count(mark) for mark in SEPARATORS if mark != decimal}
    if "," in counts:
        counts[","] -= len(re.findall(r"(?<=\d),(?=\d)", bare))
    best = max(counts.values())
    if best > 0:
        return ending if counts.get(ending) == best else next(mark for mark in counts if counts[mark] == best)
    return "," if "," in counts and "," in bare else ending
