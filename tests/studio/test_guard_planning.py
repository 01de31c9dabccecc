"""Planning opens no data file: the system itself tells who opens what, whether Python does it or a library in C."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import invented

from dpfda.studio.kinds import KINDS
from studio.visitors import HOURLY, Home, at_home

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
#: inotify(7): a file was opened, or read from.
OPEN, ACCESS = 0x20, 0x1
#: More than the defaults, of what is quick: groups, whole persons, guesses and functions.
MORE = (
    {}, {"known": "guess"}, {"groups": "north=300\nsouth=500"}, {"protect": "all", "person": "id"}, {"epsilon": "0.05"},
    {"invalid": "center"}, {"of": "above", "level": "1"}, {"shape": "own", "curve": "0 1 2 1 0"}, {"epsilon": "wrong"},
    {"wish": "0.1", "vary": "n"}, {"seed": "7"},
)  # fmt: skip


class Opened:
    """The files of a folder that somebody opened since."""

    def __init__(self, folder: Path):
        self.system = ctypes.CDLL(None, use_errno=True)
        self.handle = self.system.inotify_init1(os.O_NONBLOCK)
        assert self.handle >= 0
        self.places: dict[int, Path] = {}
        for path in folder.rglob("*"):
            if path.is_file():
                number = self.system.inotify_add_watch(self.handle, os.fsencode(path), OPEN | ACCESS)
                assert number >= 0
                self.places[number] = path
        assert self.places

    def take(self) -> set[str]:
        found = set()
        with contextlib.suppress(BlockingIOError):
            while events := os.read(self.handle, 1 << 16):
                while events:
                    number, _, _, length = struct.unpack_from("iIII", events)
                    found.add(self.places[number].name)
                    events = events[16 + length :]
        return found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    folder = invented.write_study(tmp_path_factory.mktemp("planning") / "study")
    with at_home(folder) as found:
        found.studio.account.path = None
        yield found


@pytest.fixture
def opened(home: Home) -> Iterator[Opened]:
    found = Opened(home.folder)
    yield found
    os.close(found.handle)


@pytest.mark.parametrize("kind", KINDS)
def test_planning_opens_no_data_file(home: Home, opened: Opened, kind: str) -> None:
    for more in MORE if kind == "mean" else MORE[:1]:
        said = {"what": kind, **more}
        assert home.get("/plan", said).status == 200
    assert home.get("/plan/part", {"what": kind}).status == 200
    for name in ("plan.json", "plan.report.html", "plan.sh", "plan.py"):
        assert home.get(f"/plan/{name}", {"what": kind}).status in (200, 404, 422)
    for place in ("/", "/release", "/ledger"):
        home.get(place, {"what": kind})
    assert home.get("/data", {"what": kind}).status == 200  # the list of files too
    assert opened.take() == set()


def test_the_chosen_file_is_opened_and_no_other(home: Home, opened: Opened) -> None:
    """So that the test above could fail."""
    home.get("/data", {**HOURLY, "file": home.id_of("days.csv")})
    assert opened.take() == {"days.csv"}
    home.get("/data", {**HOURLY, "file": home.id_of("homes.parquet")})
    assert opened.take() == {"homes.parquet"}
