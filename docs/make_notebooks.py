"""Write the notebooks of `docs/notebooks` from the tutorial and three items of the gallery; run it after a change.

Notebooks hold no outputs, and the same pages give the same bytes: a test compares what is committed with what is made.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parent
TUTORIAL = DOCS / "tutorial" / "README.md"
GALLERY = {
    "glucose-percentiles": "curves/plot_percentiles.py",
    "load-by-region": "curves/plot_regions.py",
    "survival-of-two-arms": "distributions/plot_survival.py",
}
#: A kind of cell and its text.
Cell = tuple[str, str]
FENCED = re.compile(r"^```(\S*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r'savefig\("(\w+\.png)"\)')
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebooks() -> dict[Path, str]:
    """Every notebook, as it stands in its file."""
    found = {"tutorial": (TUTORIAL, of_page(TUTORIAL.read_text(encoding="utf-8")))}
    for name, script in GALLERY.items():
        found[name] = (DOCS / "gallery" / script, of_script((DOCS / "gallery" / script).read_text(encoding="utf-8")))
    return {DOCS / "notebooks" / f"{name}.ipynb": _text(source, cells) for name, (source, cells) in found.items()}


def of_page(text: str) -> Iterator[Cell]:
    """The cells of a Markdown page: its code runs, its commands too, and what they print is left to them."""
    start = 0
    for block in FENCED.finditer(text):
        language, code = block.groups()
        if language in ("python", "console", "text", "{toctree}"):
            yield from _markdown(text[start : block.start()])
            start = block.end()
        if language == "python":
            yield "code", code
            yield from (
                ("code", f'from IPython.display import Image\n\nImage("{name}")') for name in PICTURE.findall(code)
            )
        elif language == "console":
            yield "code", "import sys\n\n" + code.replace("$ dpfda ", "!{sys.executable} -m dpfda ")
    yield from _markdown(text[start:])


def of_script(text: str) -> Iterator[Cell]:
    """The cells of a script of the gallery: its docstring and its comments after `# %%` are text, the rest is code."""
    document = ast.get_docstring(ast.parse(text)) or ""
    yield from _markdown(_as_markdown(document))
    code = text[text.index('"""', 3) + 3 :]
    for part in re.split(r"^# %%\n", code, flags=re.MULTILINE):
        comments, _, rest = part.partition("\n\n") if part.startswith("# ") else ("", "", part)
        yield from _markdown(_as_markdown(re.sub(r"^# ?", "", comments, flags=re.MULTILINE)))
        if rest.strip():
            yield "code", rest


def _as_markdown(text: str) -> str:
    """The little reStructuredText that the gallery uses, as Markdown."""
    for mark, head in (("=", "#"), ("-", "##")):
        text = re.sub(rf"^(.+)\n{re.escape(mark)}{{3,}}$", rf"{head} \1", text, flags=re.MULTILINE)
    return text.replace("``", "`")


def _markdown(text: str) -> Iterator[Cell]:
    if text.strip():
        yield "markdown", text


def _text(source: Path, cells: Iterator[Cell]) -> str:
    made = f"Made from `docs/{source.relative_to(DOCS).as_posix()}` by `docs/make_notebooks.py`: change that, not this."
    written = []
    for number, (kind, text) in enumerate([("markdown", made), *cells]):
        lines = text.strip("\n").splitlines(keepends=True)
        cell: dict[str, object] = {"cell_type": kind, "id": f"cell-{number:02d}", "metadata": {}, "source": lines}
        written.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
    book = {"cells": written, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path, text in notebooks().items():
        path.write_text(text, encoding="utf-8")
