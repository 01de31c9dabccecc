"""Marked data through every path, a search of all that came out, and leaks on purpose that the search must find."""

from __future__ import annotations

import base64
import logging
import os
import pickle
import struct
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import leakpaths
from leaknet import ASIDE, COUNT, MARKS, PERSON, VALUE, WARD, Mark, Net, drive, found
from leakpaths import Path_


def paths(net: Net, long: bool) -> Iterator[tuple[str, Path_]]:
    data = leakpaths.prepared(net.folder)
    yield from leakpaths.means()
    yield from leakpaths.others()
    yield from leakpaths.commands(net.folder, data)
    if long:
        yield from leakpaths.elsewhere(data)


def driven(folder: Path, long: bool = False) -> Net:
    """All paths (`long`: also those through other processes and a cluster), with everything they let out."""
    net = Net(folder)
    with leakpaths.ready():
        for name, path in paths(net, long):
            drive(net, name, path, noisy="--json" in name or name.startswith(NOISY_COMMANDS))
    return net


#: Commands that print released numbers.
NOISY_COMMANDS = (
    "$ mean dask",
    "$ mean nameless",
    "$ radius",
    "$ density, outside",
    "$ fit",
    "$ predict",
    "$ release a",
    "a child",
)


# -- leaks on purpose -----------------------------------------------------------------------------


class Talkative:
    """A result whose repr shows what it was made of."""

    def __repr__(self) -> str:
        return f"Summary(total={VALUE:.7g})"

    def __reduce__(self) -> Any:
        return Talkative, ()


class Laden:
    """A result whose pickle carries the data."""

    def __init__(self, data: bytes = b""):
        self.data = data

    def __repr__(self) -> str:
        return "Laden"


def _chained() -> None:
    try:
        float(ASIDE)
    except ValueError as error:
        raise RuntimeError("a cell is no number") from error


def _hidden_only_in_display() -> None:
    try:
        float(ASIDE)
    except ValueError:
        raise RuntimeError("a cell is no number")  # noqa: B904 - it is shown as its context


def _noted() -> None:
    error = RuntimeError("stopped")
    error.add_note(f"at household {PERSON}")
    raise error


def _aside(spelt: bytes) -> None:
    """A temporary file that is gone before the run ends."""
    handle, name = tempfile.mkstemp()
    os.write(handle, spelt)
    os.close(handle)
    os.remove(name)


def _renamed(folder: Path) -> None:
    (folder / "x").write_bytes(struct.pack(">d", VALUE))
    (folder / "x").rename(folder / "y.bin")


def controls(folder: Path, marks: tuple[Mark, ...]) -> dict[str, Path_]:
    """One leak of each kind; all must be found."""
    total = next(m for m in marks if m.name == "all: total").alone[0]
    exact = next(m for m in marks if m.name == "one: statistic").digits[0]
    return {
        "repr": Talkative,
        "pickle": lambda: Laden(struct.pack("<d", VALUE)),
        "base64": lambda: Laden(base64.b64encode(b"x" + struct.pack("<d", VALUE) + b"y")),
        "hex": lambda: print(f"{float(VALUE).hex()}"),
        "log": lambda: logging.getLogger("dpfda").debug("read %s of %s", f"{VALUE:.6e}", WARD),
        "stderr": lambda: print(f"{COUNT:,} rows read", file=sys.stderr),
        "warning": lambda: warnings.warn(f"{PERSON} repeats", UserWarning, stacklevel=1),
        "chained error": _chained,
        "context of an error": _hidden_only_in_display,
        "note of an error": _noted,
        "temporary file": lambda: _aside(pickle.dumps(leakpaths.curves())),
        "renamed file": lambda: _renamed(folder),
        "left file": lambda: (folder / "left.json").write_text(f'{{"n": {COUNT}}}') and None,
        "picture": lambda: _picture(folder),
        "child process": lambda: subprocess.run([sys.executable, "-c", ""], env={"NAME": PERSON}, check=False) and None,
        "arguments of a child": lambda: subprocess.run([sys.executable, "-c", "", WARD], check=False) and None,
        "lattice": lambda: print(f"totals {total}"),
        "statistic": lambda: print(f"{exact[0]}.{exact[1:]}"),
    }


def _picture(folder: Path) -> None:
    ax = leakpaths.mpl.figure.Figure().subplots()
    ax.figure.savefig(folder / "p.png", metadata={"Comment": f"largest {VALUE:.8g}"})


def caught(folder: Path, marks: tuple[Mark, ...]) -> dict[str, bool]:
    """Which of the leaks on purpose the search finds."""
    (folder / "data").mkdir(exist_ok=True)
    result = {}
    for name, leak in controls(folder, marks).items():
        net = Net(folder)
        drive(net, name, leak)
        result[name] = bool(found(net, marks))
    return result


def measure() -> dict[str, Any]:
    """Paths driven, places searched, marks found (none should be), and how many leaks on purpose were caught."""
    marks = (*MARKS, *leakpaths.statistics())
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        net, known = driven(Path(one), long=True), caught(Path(two), marks)
    return {
        "paths": len(net.paths),
        "astray": len(net.astray),
        "places": len(net.caught),
        "bytes": sum(len(raw) for _, _, raw, _ in net.caught),
        "marks": len(marks),
        "found": len(found(net, marks)),
        "controls_caught": f"{sum(known.values())} of {len(known)}",
    }
