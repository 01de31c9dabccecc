"""Files that dpfda did not write: what they seem to be, by their first bytes, and what could be done with them."""

from __future__ import annotations

from pathlib import Path

from dpfda.core.errors import FileError
from dpfda.core.files import DATABASE

#: What is read of a file to see what it is: enough for the tables of a database, and for the first lines of a text.
HEAD = 1 << 16
#: How the database of a ledger begins: with its tables.
LEDGER = b"CREATE TABLE study (format TEXT"
#: First bytes of kinds of files, in words.
PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*")
BINARY = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"\x93NUMPY": "a numpy array",
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "an archive or a spreadsheet",
    b"\x28\xb5\x2f\xfd": "a compressed file",
    b"\x1f\x8b": "a compressed file",
}
CHECK = "To see what is in it: dpfda check {}."


def is_ledger(head: bytes) -> bool:
    """Whether these first bytes are those of a ledger."""
    return head.startswith(DATABASE) and LEDGER in head


def may_be_sealed(head: bytes) -> bool:
    """Whether these first bytes may be those of a plan, a release or another file of sealed JSON."""
    return head.lstrip()[:1] in (b"{", b"[")


def stranger(path: Path, head: bytes) -> FileError:
    """The error about a file that is none of ours: what it seems to be, and what to do with it. It quotes nothing."""
    seems, cure = _seems(path, head)
    return FileError(f"{path.name[:60]!r} is no plan, release, summary, audit or ledger: it {seems}. {cure}".strip())


def _seems(path: Path, head: bytes) -> tuple[str, str]:
    name = path.name[:60]
    if not head.strip():
        return "is empty", "Check the path."
    if head.startswith(DATABASE):
        return "is a database, and no ledger", "Check the path."
    if head.startswith(PICTURES):
        return "seems to be a picture", "Show the release that it was drawn from."
    for first, words in BINARY.items():
        if head.startswith(first):
            reads = first in (b"PAR1", b"ARROW1", b"\x93NUMPY", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
            return f"seems to be {words}", CHECK.format(name) if reads else "Check the path."
    try:
        text = head[:-4].decode() if len(head) == HEAD else head.decode()  # a letter may be cut in two
    except UnicodeDecodeError:
        return "is not text", "Check the path."
    if path.suffix.lower() == ".toml":
        return "seems to be a study", f"To see what it would do: dpfda run {name} --dry-run."
    if may_be_sealed(head):
        return "seems to be JSON that is cut short or damaged", "Check the path."
    lines = text.splitlines()[:3]
    if any(all(mark in line for line in lines) for mark in ",;\t|") or path.suffix.lower() in (".csv", ".tsv"):
        return "seems to be a table of text", CHECK.format(name)
    return "seems to be plain text", "Check the path."
