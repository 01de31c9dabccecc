"""The names at the top: few, lazy, and the same for people and for type checkers."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import dpfda as dp

TREE = ast.parse(Path(dp.__file__).read_text())


def checked_names() -> set[str]:
    """What type checkers see."""
    (block,) = (node for node in TREE.body if isinstance(node, ast.If))
    return {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_type_checkers_see_what_there_is():
    assert checked_names() == set(dp.__all__)
    assert sorted(dp.__all__) == sorted(set(dp.__all__))


@pytest.mark.parametrize("name", dp.__all__)
def test_every_name_is_there(name):
    assert getattr(dp, name) is not None
    assert name in dir(dp)


def test_names_at_the_top_are_few():
    modules = [name for name in dp.__all__ if type(getattr(dp, name)) is type(dp)]
    assert len(dp.__all__) - len(modules) <= 33
    assert len(modules) <= 16
    assert len([name for name in dir(dp.MeanPlan) if not name.startswith("_")]) <= 54


def test_a_name_that_is_elsewhere_is_pointed_to():
    with pytest.raises(AttributeError, match=r"it is dp\.methods\.KNorm"):
        _ = dp.KNorm
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing'$"):
        _ = dp.nothing


@pytest.mark.parametrize("name", [name for name in dp.__all__ if type(getattr(dp, name)) is type(dp)])
def test_submodules_can_be_imported_and_list_what_is_public(name):
    module = importlib.import_module(f"dpfda.{name}")
    assert module is getattr(dp, name)
    assert all(hasattr(module, member) for member in module.__all__)


def test_importing_costs_little():
    """Nothing heavy is loaded before it is used."""
    heavy = ("numpy", "scipy", "pyarrow", "opendp", "matplotlib")
    script = f"import sys, dpfda; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_file_is_loaded_by_whoever_asks_first(tmp_path):
    """Types that files name are known although nothing was imported before."""
    saved = Path(__file__).parent / "saved" / "mean-units.release.json"
    script = f"import dpfda as dp; print(type(dp.load({str(saved)!r})).__name__)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "MeanRelease\n"


def test_modules_of_tests_do_not_hide_one_another():
    """Outside of packages pytest knows a module by its file's name alone, and whoever came first stays."""
    root = Path(__file__).parent
    loose = [path for path in root.rglob("*.py") if not (path.parent / "__init__.py").exists()]
    names = [path.stem for path in loose]
    assert {name for name in names if names.count(name) > 1} == set()
