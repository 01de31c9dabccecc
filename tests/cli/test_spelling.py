"""Cures are written once, for Python; the command spells them as its options. Looked at for every message there is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from typer.main import get_command

import dpfda
from dpfda.cli import app, spelling

ROOT = Path(dpfda.__file__).parent
#: Modules whose messages reach no command: they are about objects of Python.
PYTHON_ONLY = {
    "__init__.py", "datasets.py", "audits/children.py", "audits/run.py", "core/errors.py", "plans/opendp.py",
    "audits/functions.py", "bounds/function_trials.py",
    "plans/checks.py", "methods/centred.py", "methods/select.py", "methods/selection.py", "methods/staged.py",
    "reading/functional.py", "api/releasing.py", "api/comparing.py", "spaces/components.py", "spaces/steps.py",
}  # fmt: skip
#: Messages of other modules that reach no command either, by what they begin with.
NO_COMMAND = (
    "counts by group", "groups need labels | none | Pass counts", "there must be a printable name", "the plan and the",
    "progress is", "align is 'linear'", "the span", "weights must", "a ledger is", "these are releases", "level must",
    "components are counted", "kind must", "shrinkage must", "size must", "axes must be different", "the posterior",
    "loss=", "grid must be a Grid", "a plan is read", "The plan has", "missing must", "k of",
    "with invalid='center' cu", "a bound in units needs", "a bound in the units", "a guess is a finite",
    "sql takes a query", "records are rows, not",
)  # fmt: skip


def text_of(node: ast.AST) -> str:
    """The words of an argument, whatever stands for the rest."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "7" for part in node.values)
    if isinstance(node, ast.BinOp):
        return text_of(node.left) + text_of(node.right)
    return f"{text_of(node.body)} {text_of(node.orelse)}" if isinstance(node, ast.IfExp) else ""


def messages() -> list[tuple[str, str]]:
    """All messages of errors in the source, with where they are."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name in PYTHON_ONLY or name.startswith(("cli/", "results/", "estimators/")):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "").endswith(("Error", "Mismatch")):
                parts = [text_of(part) for part in (*node.args, *(k.value for k in node.keywords))]
                found.append((f"{name}:{node.lineno}", " | ".join(filter(None, parts))))
    return found


def test_no_message_shows_python_on_the_command_line():
    known = "|".join(sorted({*spelling.KNOWN, *spelling.OTHERS}))
    python = re.compile(rf"\bdp\.|(?<![\w:,-])(?:{known})=|\['")
    left = {
        where: said
        for where, message in messages()
        if not message.startswith(NO_COMMAND) and python.search(said := spelling.as_options(message))
    }
    assert left == {}
    assert len(messages()) > 300


def test_what_is_spelt_as_an_option_is_one():
    options: set[str] = set()
    for command in get_command(app).commands.values():
        for inner in getattr(command, "commands", {"": command}).values():
            options |= {name for parameter in getattr(inner, "loaded", inner).params for name in parameter.opts}
    assert {f"--{name}" for name in spelling.KNOWN} <= options
    assert {*spelling.OTHERS.values()} <= options
    assert {words.split()[0] for words in spelling.WITHIN.values()} <= options


@pytest.mark.parametrize(
    ("python", "option"),
    [
        ("Pass epsilon=0.5, or epsilon='1/4': no default.", "Pass --epsilon 0.5, or --epsilon 1/4: no default."),
        ("Pass grid=dp.Grid.uniform(0, 24, 48).", "Pass --grid 0:24:48."),
        ("Pass bound=dp.L2Ball(radius): public.", "Pass --radius R: public."),
        ("Pass domain=[(0, 1), (-3, 3)], one each.", "Pass --domain 0:1 --domain -3:3, one each."),
        ("Pass groups=['north', 'south', ...].", "Pass --groups north,south,...."),
        ("Pass classes=('no', 'yes').", "Pass --classes no,yes."),
        ("with between=('A', 'Mzz')), or so", "with --between A:Mzz), or so"),
        ("Pass align=dp.spaces.Smooth(gap=0.5), or not", "Pass --align smooth:gap=0.5, or not"),
        ("Pass layout=dp.Long(id='a', time='b', value='c').", "Pass --layout long:id=a,time=b,value=c."),
        ("Pass unit=dp.Unit(..., most=1000), or", "Pass --unit COLUMN --most 1000, or"),
        ("Pass method=dp.Auto(passes=1).", "Pass --method auto:passes=1."),
        ("Pass kernel=dp.kernels.Matern(nu=1.5, length_scale=0.1).", "Pass --kernel matern:1.5:0.1."),
        ("pass fill=<longest gap> to dp.read, or", "pass --fill <longest gap>, or"),
        ("Pass header=True to dp.read.", "Pass --header or --no-header."),
        ("Check by= and groups=.", "Check --by and --groups."),
        ("Pass columns='h *', say", "Pass --columns 'h *', say"),
        ("Pass axes=['age (years)'], say.", "Pass --axis 'age (years)', say."),
        ("Write --method qr:psi=2, x=3 and more=4.", "Write --method qr:psi=2, x=3 and more=4."),
        ("n = 30 and epsilon = 1", "n = 30 and epsilon = 1"),
    ],
)
def test_spellings(python, option):
    assert spelling.as_options(python) == option
