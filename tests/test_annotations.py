"""How much of the library has no type of its own: `Any` in signatures and `type: ignore`, room by room.

The numbers can only go down. What is left is forced by others (scikit-learn, pyarrow, pandas, Dask, Spark and Typer
have no types of use here), is JSON before it was read, or stands for options that are passed on.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "dpfda"
#: The most that is allowed in each room: parameters and returns whose annotation holds `Any`, and `type: ignore`.
ANY = {
    "api": 3,
    "audits": 9,
    "cli": 22,
    "core": 4,
    "engines": 21,
    "estimators": 9,
    "hall": 2,
    "methods": 5,
    "noise": 4,
    "plans": 13,
    "problems": 1,
    "reading": 54,
    "release": 2,
    "results": 8,
    "spaces": 8,
    "studio": 5,
}
IGNORED = {
    "audits": 1,
    "problems": 1,
    "reading": 1,
    "results": 1,
    "spaces": 12,
}


def room_of(path: Path) -> str:
    """The room of a module; those that stand alone are the hall."""
    inside = path.relative_to(ROOT)
    return inside.parts[0] if len(inside.parts) > 1 else "hall"


def annotations(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    """What is said of the parameters and of the return."""
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    said = [argument.annotation for argument in every if argument is not None]
    return [annotation for annotation in (*said, function.returns) if annotation is not None]


def holds_any(annotation: ast.expr) -> bool:
    """Whether `Any` is in an annotation, by name or within a text."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                if holds_any(ast.parse(node.value, mode="eval").body):
                    return True
            except SyntaxError:  # a text of a Literal
                continue
        if (isinstance(node, ast.Name) and node.id == "Any") or (
            isinstance(node, ast.Attribute) and node.attr == "Any"
        ):
            return True
    return False


def found() -> tuple[Counter[str], Counter[str]]:
    """Both numbers for every room."""
    signatures: Counter[str] = Counter()
    ignored: Counter[str] = Counter()
    for path in ROOT.rglob("*.py"):
        text, room = path.read_text(), room_of(path)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                signatures[room] += sum(map(holds_any, annotations(node)))
        comments = (
            t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT
        )
        ignored[room] += sum("type: ignore" in comment for comment in comments)
    return signatures, ignored


@pytest.mark.parametrize(
    ("what", "number", "most"), [("Any in signatures", 0, ANY), ("type: ignore", 1, IGNORED)], ids=["any", "ignored"]
)
def test_what_has_no_type_can_only_get_less(what, number, most):
    counted = {room: count for room, count in found()[number].items() if count}
    more = {room: count for room, count in counted.items() if count > most.get(room, 0)}
    assert not more, f"{what}: more than the table allows in {more}. Say what it is instead."
    less = {room: counted.get(room, 0) for room, count in most.items() if counted.get(room, 0) < count}
    assert not less, f"{what}: fewer than the table allows. It can only go down: lower the table to {less}."


def test_any_is_seen_wherever_it_stands():
    text = "def f(a: Any, b: typing.Any, c: 'list[Any]', d: Literal['Any other'], e: int, *f: Any, g: Any) -> Any: ..."
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    assert [holds_any(said) for said in annotations(function)] == [True, True, True, False, False, True, True, True]
