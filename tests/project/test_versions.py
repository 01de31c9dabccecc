"""One version number, and dependencies whose lowest versions are the tested ones."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import requires, version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import dpfda as dp

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / ".ci"))
import release_check  # noqa: E402

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
#: Extras that people install; the others are for those who work on the project.
FOR_USERS = ("fast", "fda", "dask", "spark", "remote", "xarray", "sql", "studio")
#: Tables of these are read, so that their versions matter as well.
READ = ("pandas", "polars")


def pins(name: str) -> dict[str, Version]:
    lines = [line for line in (ROOT / name).read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    assert len({line.split("==")[0].lower() for line in lines}) == len(lines)
    return {key.lower().replace("_", "-"): Version(value) for key, value in (line.split("==") for line in lines)}


def floors() -> dict[str, Version]:
    """The lowest version of each package, as pyproject.toml states it."""
    extras = PROJECT["optional-dependencies"]
    asked = [*PROJECT["dependencies"], *(line for extra in FOR_USERS for line in extras[extra])]
    asked += [line for line in extras["test"] if Requirement(line).name in READ]
    found = {}
    for requirement in map(Requirement, asked):
        for part in requirement.specifier:
            if part.operator == ">=":
                found[requirement.name.lower()] = Version(part.version)
                if "distributed" in requirement.extras:
                    found["distributed"] = Version(part.version)
    return found


def test_one_number_everywhere():
    numbers = release_check.versions()
    assert set(numbers.values()) == {dp.__version__}
    assert {"CITATION.cff", "CHANGELOG.md", "pyproject.toml", "experiments/pyproject.toml"} < set(numbers)
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == dp.__version__


def test_a_number_that_differs_is_found(tmp_path):
    for path in release_check.versions():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text((ROOT / path).read_text(encoding="utf-8"), encoding="utf-8")
    assert release_check.version(tmp_path)[0]
    citation = tmp_path / "CITATION.cff"
    citation.write_text(citation.read_text().replace(f"version: {dp.__version__}", "version: 9.9.9"), encoding="utf-8")
    good, said = release_check.version(tmp_path)
    assert not good
    assert "CITATION.cff says 9.9.9" in said


def test_the_lowest_versions_are_those_that_are_tested():
    assert pins("constraints-minimum.txt") == floors()


def test_every_dependency_has_a_lowest_version_and_a_pin():
    everything = [
        *PROJECT["dependencies"],
        *(line for lines in PROJECT["optional-dependencies"].values() for line in lines),
    ]
    known = pins("constraints.txt")
    for requirement in map(Requirement, everything):
        if requirement.name == PROJECT["name"]:
            continue
        assert requirement.specifier, requirement
        pin = known.get(requirement.name.lower())
        assert pin is not None, f"{requirement.name} is not in constraints.txt"
        assert pin in requirement.specifier, f"{requirement.name} {pin} is not {requirement.specifier}"


def test_what_is_installed_here_is_allowed():
    """The environment of the tests has what pyproject.toml says, not what it said when it was made."""
    for line in requires("dpfda") or []:
        requirement = Requirement(line)
        if requirement.marker is None:
            assert version(requirement.name) in requirement.specifier, requirement


def test_pythons_that_are_named_begin_where_they_are_allowed():
    named = [line.rsplit(" ", 1)[1] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert named
    assert named[0] == PROJECT["requires-python"].removeprefix(">=")
    assert named == sorted(named, key=Version)
    assert SETTINGS["tool"]["mypy"]["python_version"] == named[0]
    assert SETTINGS["tool"]["ruff"]["target-version"] == f"py{named[0].replace('.', '')}"


@pytest.mark.parametrize("page", ["docs/project/coverage.md"])
def test_pages_of_measured_things_name_their_version(page):
    assert f"with dpfda {dp.__version__}," in (ROOT / page).read_text(encoding="utf-8")
