"""The notebooks say what the pages say, and run."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "notebooks"
NAMES = ["glucose-percentiles", "load-by-region", "survival-of-two-arms", "tutorial"]


@pytest.fixture(scope="module")
def made():
    """What the pages give now, by the path of the notebook."""
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import make_notebooks

        return make_notebooks.notebooks()
    finally:
        sys.path.pop(0)


def test_all_of_them_are_there(made):
    assert sorted(path.stem for path in made) == NAMES == sorted(path.stem for path in FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("name", NAMES)
def test_they_are_what_the_pages_give(name, made):
    path = FOLDER / f"{name}.ipynb"
    assert path.read_text(encoding="utf-8") == made[path], "run docs/make_notebooks.py"


@pytest.mark.parametrize("name", NAMES)
def test_they_hold_all_code_of_the_pages_and_no_output(name, made):
    nbformat = pytest.importorskip("nbformat")
    book = json.loads(made[FOLDER / f"{name}.ipynb"])
    nbformat.validate(book)
    codes = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert codes
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in codes)
    for cell in codes:
        if not any(line.startswith("!") for line in cell["source"]):
            ast.parse("".join(cell["source"]))
    texts = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "markdown"]
    assert sum(text.startswith("# ") for text in texts) == 1
    assert not any("``` " in text or "====" in text for text in texts)


@pytest.mark.notebook
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", NAMES)
def test_they_run_and_show_a_picture(name, tmp_path, monkeypatch):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    monkeypatch.delenv("MPLBACKEND", raising=False)  # the kernel shows pictures by itself
    for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / "jupyter"))
    folder = tmp_path / "run"
    folder.mkdir()
    book = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    client = nbclient.NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}})
    client.execute()
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert [output for output in outputs if output.output_type == "error"] == []
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
    said = "".join(output.text for output in outputs if output.get("name") == "stdout")
    assert said
    assert "Traceback" not in said
    assert any("image/png" in output.get("data", {}) for output in outputs)
