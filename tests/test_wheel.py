"""The wheel: it holds the package and nothing else, and works where only it is installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RELEASE = """
import sys, numpy as np, dpfda as dp
assert sys.prefix in dp.__file__, dp.__file__
release = dp.mean(np.ones((50, 12)), epsilon=1.0, bound=dp.L2Ball(1.0))
release.save("mean.json")
assert dp.load("mean.json").values.shape == (12,)
print("released")
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy, so that nothing is left in the source tree."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "wheel", source, "--no-deps", "--no-build-isolation", "--quiet", "-w", out]
    subprocess.run([*map(str, command)], check=True, capture_output=True)
    (found,) = out.glob("*.whl")
    return found


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"dpfda", "dpfda-0.2.0.dist-info"}
    package = {name for name in names if name.startswith("dpfda/")}
    kinds = (".py", ".css", ".html", ".js")
    found = (ROOT / "src" / "dpfda").rglob("*")
    files = {path.relative_to(ROOT / "src").as_posix() for path in found if path.suffix in kinds}
    assert package == files | {"dpfda/py.typed"}


def test_an_installed_wheel_releases(wheel, tmp_path):
    """In an environment of its own, where only what the package needs is beside it."""
    home = tmp_path / "fresh"
    venv.create(home, with_pip=False, symlinks=True)
    place = Path(sysconfig.get_path("purelib", vars={"base": str(home)}))
    zipfile.ZipFile(wheel).extractall(place)
    needed = sysconfig.get_path("purelib")  # added as a path alone: what is installed there as editable stays unknown
    (place / "needed.pth").write_text(needed + "\n")
    python = home / "bin" / "python"
    done = subprocess.run([python, "-I", "-c", RELEASE], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "released\n", done.stderr
    shown = subprocess.run(
        [python, "-I", "-m", "dpfda", "show", "mean.json"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert shown.returncode == 0, shown.stderr
    lost = subprocess.run(
        [python, "-I", "-c", "import dpfda_experiments"], cwd=tmp_path, capture_output=True, check=False
    )
    assert lost.returncode != 0
