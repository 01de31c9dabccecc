"""Which code a figure is of: digests that change with what runs, and not with what is only read.

Comments, docstrings and blank lines do not count, so that a better sentence does not make an evening's figures stale.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import io
import tokenize
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Files of the package that are not Python and decide what it does: pages, styles and the script of the studio.
ASIDES = (".html", ".css", ".js")
#: Where modules lie that a benchmark may import by their bare name.
BESIDE = (ROOT / "benchmarks", ROOT / "benchmarks" / "field", ROOT / "tests" / "trust")


def bare(source: str) -> str:
    """Source text without comments, docstrings and blank lines."""
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if ast.get_docstring(node, clean=False) is not None and first.end_lineno is not None:
                lines[first.lineno - 1 : first.end_lineno] = [""] * (first.end_lineno - first.lineno + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def of(paths: Iterable[Path]) -> str:
    """SHA-256 of some files, each under its name in the project."""
    whole = hashlib.sha256()
    for path in sorted(paths):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(ROOT).as_posix()
        whole.update(f"{name}\0{bare(text) if path.suffix == '.py' else text}\0".encode())
    return whole.hexdigest()


def of_package() -> str:
    """The digest of `src`: which package the figures are of. It must be the one that is imported."""
    imported = importlib.util.find_spec("dpfda")
    if imported is None or imported.origin is None or not Path(imported.origin).is_relative_to(ROOT / "src"):
        raise RuntimeError("dpfda is imported from elsewhere: install this folder, or set PYTHONPATH to its src.")
    files = (ROOT / "src").rglob("*")
    return of(path for path in files if path.suffix in (".py", *ASIDES) and "__pycache__" not in path.parts)


def of_benchmark(script: Path, also: Iterable[str] = ()) -> str:
    """The digest of a benchmark: the script, other files and folders that it runs or reads, and all that any of them
    imports from beside it."""
    found, todo = set[Path](), [script]
    for name in also:
        path = ROOT / name
        todo += path.rglob("*.py") if path.is_dir() else [path]
    while todo:
        path = todo.pop()
        if path not in found:
            found.add(path)
            if path.suffix != ".py":
                continue
            todo += [
                home / f"{name}.py" for name in _imported(path) for home in BESIDE if (home / f"{name}.py").exists()
            ]
    return of(found)


def _imported(path: Path) -> set[str]:
    """The first parts of the names of the modules that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names
