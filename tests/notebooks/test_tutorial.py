"""The tutorial prints what it says that it prints."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from dpfda.cli import app

PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "README.md"
QUOTED = re.compile(r"^```(python|console)\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def as_pattern(text: str) -> str:
    """Words with any space between them, and three dots for anything."""
    return r"\s+".join(re.escape(word).replace(r"\.\.\.", ".*?") for word in text.split())


def run(language: str, code: str, names: dict[str, object]) -> str:
    """What a block prints."""
    if language == "console":
        lines = [line.removeprefix("$ dpfda ") for line in code.strip().splitlines()]
        return "".join(CliRunner().invoke(app, shlex.split(line), terminal_width=200).output for line in lines)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(compile(code, "tutorial", "exec"), names)
    return said.getvalue()


def test_outputs_are_as_quoted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    quoted = 0
    for language, code, text in QUOTED.findall(PAGE.read_text(encoding="utf-8")):
        said = run(language, code, names)
        if text:
            quoted += 1
            assert re.fullmatch(as_pattern(text), said.strip(), re.DOTALL), (text, said)
    assert quoted >= 12
    for made in ("mean.png", "mean.json", "mean.csv", "report.html", "homes.ledger", "load.html"):
        assert (tmp_path / made).stat().st_size > 0, made


def test_every_step_says_what_one_sees_and_what_goes_wrong():
    steps = re.split(r"^## (?=\d+\. )", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert len(steps) >= 10
    for step in steps:
        title = step.splitlines()[0]
        assert "**You should see**" in step or title.startswith("5."), title
        assert "**What goes wrong.**" in step, title


def test_sentences_are_short():
    text = re.sub(r"```.*?```", "", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for part in re.split(r"\n\s*\n|\n(?=[-#])", text):
        for sentence in re.split(r"(?<=[.!?])\s+", " ".join(part.split())):
            assert len(sentence.split()) <= 30, sentence
