"""The examples run as they stand, each short enough to be read at a glance."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_examples_are_short(path):
    assert len(path.read_text().splitlines()) < 25


def run(name: str, folder: Path) -> str:
    # Noise is real here: that much was left out may be said of any release, in about one run of a hundred.
    command = [sys.executable, "-W", "ignore:Much was left out", EXAMPLES / f"{name}.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return done.stdout


def test_glucose(tmp_path):
    said = run("glucose", tmp_path)
    assert "one patient in the data is replaced" in said
    assert said.count("2,500 patients") == 2
    assert "p = " in said
    assert (tmp_path / "glucose.png").read_bytes()[:4] == b"\x89PNG"
    lines = (tmp_path / "glucose.csv").read_text().splitlines()
    assert len(lines) == 10_001
    assert lines[0].startswith("patient;arm;date;g0;")
    assert "," in lines[1]


def test_pipeline(tmp_path):
    said = run("pipeline", tmp_path)
    share = int(said.rpartition("Right for ")[2].partition("%")[0])
    assert share > 70  # 87 or 88 in six runs; the best rule has 89, a constant guess 57
    assert "1-differentially private" in said


@pytest.mark.long
def test_officer(tmp_path):
    said = run("officer", tmp_path)
    assert "Plan " in said.splitlines()[0]
    assert said.count("Charged to the ledger of study 'load 2026' as entry 1") == 2
    assert "Lin, H. and Reimherr, M. (2024)" in said
    assert "Test of whether both populations have the same curve: p = " in said
    assert "Charged as entry 1, 1 left." in said
    assert said.splitlines()[-1].startswith("PASSED: nothing spoke against this plan in ")
    assert (tmp_path / "gap.json").exists()
