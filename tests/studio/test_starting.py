"""`dpfda studio` in a terminal: what it says when it starts, when it cannot, and when it ends."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from browser.studios import Studio

import dpfda as dp

SOURCES = str(Path(dp.__file__).parents[1])
#: Hides what the extra brings, as if it were not installed.
ABSENT = """
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in ("uvicorn", "starlette") else found(name, package)
"""


def run(*words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command, until it ends by itself."""
    environment = {**os.environ, "PYTHONPATH": SOURCES, **variables}
    return subprocess.run(
        [sys.executable, "-m", "dpfda", "studio", *map(str, words)],
        env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "study"
    place.mkdir()
    (place / "curves.csv").write_text("a,b\n0.1,0.2\n0.3,0.4\n")
    return place


def test_a_port_that_is_taken_says_so_and_how_to_go_on(folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(folder, "--no-browser", "--port", str(port))
    assert done.returncode == 1
    told = " ".join((done.stdout + done.stderr).split())
    assert str(port) in told
    assert "Leave --port out" in told
    assert "Traceback" not in told


@pytest.mark.parametrize("port", ["-1", "70000", "80.5"])
def test_a_port_that_does_not_exist_says_so(folder, port):
    done = run(folder, "--no-browser", f"--port={port}")
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stdout + done.stderr


def test_a_folder_that_does_not_exist_says_so(tmp_path):
    done = run(tmp_path / "nowhere", "--no-browser")
    assert done.returncode == 1
    assert "'nowhere' does not exist" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_ledger_that_does_not_exist_says_so(folder):
    done = run(folder, "--no-browser", "--ledger", folder / "nowhere.ledger")
    assert done.returncode == 3
    assert "nowhere.ledger" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_without_the_extra_it_says_how_to_install_it(folder, tmp_path):
    (tmp_path / "hides").mkdir()
    (tmp_path / "hides" / "sitecustomize.py").write_text(ABSENT)
    done = run(folder, PYTHONPATH=os.pathsep.join([str(tmp_path / "hides"), SOURCES]))
    assert done.returncode == 1
    told = " ".join((done.stdout + done.stderr).split())
    assert "pip install 'dpfda[studio]'" in told
    assert "Traceback" not in told


def test_without_a_display_it_prints_its_line_and_runs(folder, tmp_path):
    """Also where a browser was wanted; a browser that is there is not started either, for there is nothing to see."""
    command = [sys.executable, "-m", "dpfda", "studio", folder]
    studio = Studio(command, tmp_path / "place", {"DISPLAY": "", "WAYLAND_DISPLAY": "", "BROWSER": "false"})
    try:
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(studio.origin, timeout=20)
        assert "Data folder: study" in studio.output
        assert studio.process.poll() is None
    finally:
        code = studio.stop()
    assert code in (0, 130)
    assert "The studio has ended" in studio.output
    assert "Traceback" not in studio.output


def test_a_ledger_elsewhere_is_the_studio_s(folder, tmp_path):
    (tmp_path / "far").mkdir()
    dp.Ledger.create(tmp_path / "far" / "away.ledger", epsilon=2, study="far away")
    studio = Studio.start(folder, tmp_path / "place", "--ledger", tmp_path / "far" / "away.ledger")
    try:
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        page = opener.open(studio.link, timeout=60).read().decode()
    finally:
        studio.stop()
    assert "far away" in page
    assert "0 of 2 spent" in page
    assert not list(folder.glob("*.ledger"))


def test_a_port_of_choice_is_used(folder, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    studio = Studio.start(folder, tmp_path / "place", "--port", str(port))
    assert studio.port == port
    studio.stop()
    again = Studio.start(folder, tmp_path / "again", "--port", str(port))  # at once, and it is free
    assert again.port == port
    again.stop()
