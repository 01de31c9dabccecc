"""Marked data, and a search for the marks in everything that a run lets out.

Confidential data is marked: a value, a person's label, a label of no public group, a text that nobody asked for, a
number of records, and what becomes of the value on the way (its integers on the lattice, the exact statistic). Every
path in `leakpaths` is driven with it while everything is watched: standard output and error, logging from DEBUG on,
warnings, errors with their printed chains, reprs and pickles of what comes back, files that are left and files that
are removed or renamed on the way, and what child processes are told. Then all of it is searched, in many spellings.

Places without noise ("quiet") are searched for the first seven digits of a number: there is nothing random in them but
the time of day and random names, once hashes, addresses, stamps and speeds are taken out. Places that hold noisy
numbers are searched for fourteen digits in a row: they show less than a million digits, so that with some twenty
marked numbers a false alarm has a chance of 20 * 10^6 * 10^-14 = 2e-7. Whole numbers are looked for as such, between
anything but digits and points. Bytes and their base64 are eight bytes long: 10^7 places * 2^-64.
"""

from __future__ import annotations

import base64
import io
import logging
import os
import pickle
import re
import struct
import sys
import tempfile
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

QUIET, NOISY = 7, 14
#: Marks in the data; each text ends in digits of its own.
VALUE = 7.314159265358979
PERSON, WARD, ASIDE = "Quokka-5081723", "ward-xk-2759081", "lymphoma-9364518"
COUNT = 73_141_592
#: Hashes, seals, addresses of objects, seconds since 1970, rows per second: not digits of anything.
HASHES = re.compile(r"\b(?:0x)?(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b|\b\d{10}\.\d+|[\d,]+ rows/s")
#: A picture within a page.
INLINE = re.compile(r"base64,([A-Za-z0-9+/=]+)")


@dataclass(frozen=True)
class Mark:
    """Something private and how it could be spelt: anywhere, or (`short`) where nothing is random."""

    name: str
    anywhere: tuple[bytes, ...]
    short: tuple[bytes, ...] = ()
    digits: tuple[str, ...] = ()  # of a number, without its point
    alone: tuple[str, ...] = ()  # a whole number that stands by itself: noisy numbers have a point


def _wrapped(raw: bytes) -> list[bytes]:
    """Bytes as they are, in hexadecimal, and within base64 wherever they begin in it."""
    coded = []
    for lead in range(3):
        known = base64.b64encode(b"\0" * lead + raw)[
            -(-8 * lead // 6) :
        ]  # without letters that mix with what is before
        coded.append(known[: (8 * len(raw) - (-8 * lead % 6)) // 6])  # and without those that mix with what follows
    return [raw, raw.hex().encode(), raw.hex().upper().encode(), *coded]


def number(name: str, value: float) -> Mark:
    """A float, in every spelling."""
    text = f"{abs(value):.16e}".replace(".", "").split("e")[0]
    raw = [form for order in "<>" for form in _wrapped(struct.pack(f"{order}d", value))]
    return Mark(name, (*raw, value.hex().encode()), (struct.pack("<f", value), struct.pack(">f", value)), (text[:16],))


def whole(name: str, value: int) -> Mark:
    """An integer of seven digits at least."""
    digits = str(abs(value))
    assert len(digits) >= QUIET
    return Mark(name, (), (f"{abs(value):x}".encode(),), (), (digits,))


def text(name: str, value: str) -> Mark:
    """A text as a whole; where nothing is random also the seven digits that it ends in."""
    raw = value.encode()
    return Mark(name, (*_wrapped(raw), value.encode("utf-16-le")), (value.split("-")[-1].encode(),))


MARKS = (number("value", VALUE), text("person", PERSON), text("ward", WARD), text("aside", ASIDE), whole("n", COUNT))


# -- the net ---------------------------------------------------------------------------------------


@dataclass
class Net:
    """Everything that was caught, by the path and the place it came from."""

    folder: Path
    caught: list[tuple[str, str, bytes, bool]] = field(default_factory=list)
    path: str = ""
    paths: list[str] = field(default_factory=list)
    astray: list[str] = field(default_factory=list)  # paths that ended otherwise than they should
    known: set[int] = field(default_factory=set)

    def keep(self, place: str, content: str | bytes, noisy: bool = False) -> None:
        raw = content.encode(errors="surrogateescape") if isinstance(content, str) else content
        raw = raw.rstrip(b"\0")  # room that was only reserved
        if raw and (seen := hash((place, raw))) not in self.known:
            self.known.add(seen)
            self.caught.append((self.path, place, raw, noisy))

    def keep_object(self, thing: Any) -> None:
        """What a result says of itself, and what it carries when it travels."""
        self.keep("repr", repr(thing))
        self.keep("str", str(thing))
        if hasattr(thing, "_repr_html_"):
            html = thing._repr_html_() or ""
            self.keep("html", INLINE.sub("", html))
            for picture in INLINE.findall(html):
                for part in metadata(base64.b64decode(picture)):
                    self.keep("metadata html", part)
        if hasattr(thing, "statement"):
            self.keep("statement", thing.statement)
        self.keep("pickle", pickle.dumps(thing), noisy=True)

    def keep_error(self, error: BaseException) -> None:
        """All that is printed or logged of an error: with its chain, as far as that is shown."""
        self.keep("traceback", "".join(traceback.format_exception(error)))
        log = io.StringIO()
        handler = logging.StreamHandler(log)
        handler.handle(logging.LogRecord("x", 40, "", 0, "stopped", (), (type(error), error, error.__traceback__)))
        self.keep("logged error", log.getvalue())
        shown: BaseException | None = error
        while shown is not None:
            notes = getattr(shown, "__notes__", [])
            self.keep("error", f"{shown} {shown!r} {shown.args} {notes} {vars(shown)}")
            shown = shown.__cause__ or (None if shown.__suppress_context__ else shown.__context__)

    def keep_file(self, path: str | os.PathLike[str]) -> None:
        file = Path(path)
        if not file.is_file() or self.folder not in file.parents:
            return
        if (
            file.parent.name == "data" or b'"confidential"' in file.read_bytes()[:2000]
        ):  # data, or told to be as good as
            return
        content = file.read_bytes()
        noisy = file.suffix not in (".txt", ".plan")
        self.keep(f"file {file.suffix or 'aside'}", content, noisy)
        for part in metadata(content):
            self.keep(f"metadata {file.suffix}", part)


def metadata(content: bytes) -> Iterator[bytes]:
    """Texts beside a picture: chunks of PNG, descriptions of SVG, dictionaries and streams of PDF."""
    if content.startswith(b"\x89PNG"):
        place = 8
        while place + 8 <= len(content):
            size, kind = struct.unpack(">I4s", content[place : place + 8])
            if kind not in (b"IDAT", b"IHDR", b"IEND"):
                yield content[place + 8 : place + 8 + size]
            place += 12 + size
    elif b"<svg" in content[:2000]:
        yield from re.findall(rb"<metadata>.*?</metadata>|<title>.*?</title>", content, re.DOTALL)
    elif content.startswith(b"%PDF"):
        yield from re.findall(rb"/(?:Creator|Producer|Title|Author|Subject|Keywords)\s*\([^)]*\)", content)
        for stream in re.findall(rb"stream\r?\n(.*?)endstream", content, re.DOTALL):
            try:
                zlib.decompress(stream)
            except zlib.error:
                yield stream


class Screen(io.StringIO):
    """Standard error as a person sees it: progress bars are drawn."""

    def isatty(self) -> bool:
        return True


_watching: list[Net] = []


def _heard(event: str, args: tuple[Any, ...]) -> None:
    """The interpreter's own reports: files about to be removed or renamed, and processes about to be started."""
    if not _watching:
        return
    net = _watching[-1]
    if event in ("os.remove", "os.rename", "shutil.move", "shutil.rmtree"):
        _watching.pop()  # reading is no news
        try:
            net.keep_file(os.fspath(args[0]))
            net.keep("file name", os.fspath(args[0]).removeprefix(str(net.folder)))
        finally:
            _watching.append(net)
    elif event in ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.putenv"):
        net.keep("child process", repr(args))


_listening: list[bool] = []


@contextmanager
def watched(net: Net, noisy: bool) -> Iterator[None]:
    """While this runs, whatever is said or written falls into the net."""
    if not _listening:  # a hook cannot be taken away again
        sys.addaudithook(_heard)
        _listening.append(True)
    out, err, log = io.StringIO(), Screen(), io.StringIO()
    handler = logging.StreamHandler(log)
    root, before = logging.getLogger(), (tempfile.tempdir, logging.getLogger().level, logging.getLogger("dpfda").level)
    aside = net.folder / "tmp"
    aside.mkdir(exist_ok=True)
    tempfile.tempdir = str(aside)
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    logging.getLogger("dpfda").setLevel(logging.DEBUG)
    logging.captureWarnings(True)
    _watching.append(net)
    try:
        with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
            warnings.simplefilter("always")
            yield
    finally:
        _watching.pop()
        logging.captureWarnings(False)
        root.removeHandler(handler)
        tempfile.tempdir = before[0]
        root.setLevel(before[1])
        logging.getLogger("dpfda").setLevel(before[2])
        net.keep("stdout", out.getvalue(), noisy)
        net.keep("stderr", err.getvalue())
        net.keep("log", log.getvalue(), net.path.startswith("workers"))  # a cluster logs what its clocks say
        net.keep("environment", "\n".join(f"{k}={v}" for k, v in os.environ.items() if "PYTEST" not in k))
        for file in [p for p in net.folder.rglob("*") if p.is_file()]:
            net.keep_file(file)
            net.keep("file name", file.name)
            if file.parent.name not in ("data", "kept"):
                file.unlink()


def drive(net: Net, name: str, path: Callable[[], Any], noisy: bool = False) -> None:
    """One path, from beginning to end, well or badly."""
    net.path = name
    net.paths.append(name)
    results: Any = None
    failed = False
    with watched(net, noisy):
        try:
            results = path()
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            net.keep_error(error)
            failed = not (isinstance(error, SystemExit) and error.code == 0)
    if failed != name.endswith("!"):
        net.astray.append(name)
    for thing in results if isinstance(results, list) else [results]:
        if thing is not None:
            net.keep_object(thing)


# -- the search -----------------------------------------------------------------------------------


def found(net: Net, marks: tuple[Mark, ...]) -> list[str]:
    """Where marks were found: path, place and mark."""
    hits = []
    alone = {mark: re.compile("|".join(rf"(?<![\d.]){k}(?![\d.])" for k in mark.alone)) for mark in marks if mark.alone}
    for path, place, raw, noisy in net.caught:
        plain = raw.decode("latin-1")
        joined = re.sub(r"(?<=\d)[.,_](?=\d)", "", HASHES.sub(" ", plain))
        for mark in marks:
            near = mark.anywhere if noisy else (*mark.anywhere, *mark.short)
            told = any(spelling in raw for spelling in near)
            told |= any(digits[: NOISY if noisy else QUIET] in joined for digits in mark.digits)
            told |= mark in alone and bool(alone[mark].search(plain) or (not noisy and alone[mark].search(joined)))
            if told:
                hits.append(f"{path} / {place}: {mark.name}")
    return hits
