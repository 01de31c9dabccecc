"""Messages about keywords of Python, about options of the command.

Errors and warnings name keywords as Python spells them: ``fill=3``, ``grid=dp.Grid.uniform(0, 1, 48)``. They are read
as Python reads them and written as the command does: ``--fill 3``, ``--grid 0:1:48``.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable

from dpfda.cli.parsing import KERNELS, METHODS
from dpfda.methods import Method

#: Keywords that are options of some command; those that are spelt otherwise there follow.
KNOWN = frozenset((
    "align", "bandwidth", "between", "bound", "by", "cells", "center", "classes", "columns", "components",
    "covariates", "decimal", "delta", "domain", "edges", "encoding", "engine", "epsilon", "epsilons", "eta", "fill",
    "grid", "groups", "header", "horizon", "ignore", "invalid", "kernel", "layout", "ledger", "loss",
    "measure", "method", "methods", "most", "n", "neighbors", "order", "outside", "passes", "psi", "quantile",
    "radius", "record", "separator", "site", "smallest", "spent", "split", "standardize", "study",
    "target", "unit", "value",
))  # fmt: skip
OTHERS = {"axes": "--axis", "covariate_bound": "--covariate-bound", "criterion": "--loss", "releases": "--release"}
#: Keywords that are part of another option, with one that they may be written in.
WITHIN = {
    "gap": "--align linear:gap=", "least": "--align linear:least=", "penalty": "--align smooth:penalty=",
    "day": "--layout long:day=", "nu": "--kernel matern:", "length_scale": "--kernel gaussian:",
}  # fmt: skip
#: What a keyword begins with: its name, which nothing else ends in.
KEYWORD = re.compile(r"(?<![\w.,({\[:])(\w+)=(?=[^\s=.,;)]|\.\.\.)")
#: What stands for something that the user knows, and is no Python.
BLANK = re.compile(r"<[^<>]*>|\.\.\.")
#: One option of the reading, which goes to the command as all others do.
READING = re.compile(r"dp\.read\(\.\.\., (\w+='[^']*')\)")
#: Things that commands have no option for, or that go without saying there.
ASIDE = (
    # Only commands that have no --sql come to say this.
    (re.compile(r"Pass dp\.sql\('[^']*', connection\) instead\."), "Write its rows to a CSV or Parquet file first."),
    (re.compile(r" to dp\.\w+"), ""),  # all options go to one command
    (re.compile(r" out of dp\.\w+"), " out"),
    (re.compile(rf"(?<![\w:,-])({'|'.join(sorted(KNOWN))})=(?=$|[\s.,;)])"), r"--\1"),
    (re.compile(r"dp\.(?:methods|kernels)\.(\w+)\(\)"), lambda found: found[1].lower()),
    (re.compile(r"\b(KNorm|Minimax|QR|FRL|AR)\(\)"), lambda found: found[1].lower()),
)


def as_options(message: str) -> str:
    """The message as the command would say it.

    >>> as_options("Repair it, pass fill=<longest gap> to dp.read, or invalid='center' to count it as the centre.")
    'Repair it, pass --fill <longest gap>, or --invalid center to count it as the centre.'
    >>> as_options("Pass grid=dp.Grid.uniform(0, 24, 48).")
    'Pass --grid 0:24:48.'
    """
    message = READING.sub(r"\1", message)
    said, done = "", 0
    for found in KEYWORD.finditer(message):
        if found.start() < done or found[1] not in (*KNOWN, *OTHERS, *WITHIN):
            continue  # within a value, or nothing that a command has
        value, stop = _value(message, found.end())
        if value is None:
            continue
        said += message[done : found.start()] + _option(found[1], value)
        done = stop
    said += message[done:]
    for pattern, words in ASIDE:
        said = pattern.sub(words, said)
    return said


def _value(text: str, start: int) -> tuple[ast.expr | str | None, int]:
    """What is written from `start` on, and where it ends: the longest stretch that Python can read, or a blank."""
    if blank := BLANK.match(text, start):
        return blank[0], blank.end()
    ends = [m.end() for m in re.finditer(r"[\w'\"\])}]", text[start : start + 200])]
    for end in reversed(ends):
        candidate = BLANK.sub("_", text[start : start + end])
        if _is_one(candidate):
            try:
                return ast.parse(candidate, mode="eval").body, start + end
            except SyntaxError:
                continue
    return None, start


def _is_one(text: str) -> bool:
    """Whether a text is one value and not the start of a sentence: brackets and quotes hold all of its spaces."""
    depth, quote = 0, ""
    for c in text:
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif depth == 0 and c in " ,;:":
            return False
    return depth == 0 and not quote


def _option(name: str, value: ast.expr | str) -> str:
    """A keyword and its value as an option."""
    if name == "header":
        return "--header or --no-header" if _plain(value) == "True" else "--no-header"
    if name == "bound" and isinstance(value, ast.Call):
        return _bound(value)
    if name == "unit" and isinstance(value, ast.Call):
        rest = [f"--{k.arg} {_plain(k.value)}" for k in value.keywords]
        return " ".join(["--unit COLUMN", *rest])
    if name == "covariate_bound" and isinstance(value, ast.List | ast.Tuple):
        return "--covariate-range low:high"
    if name in WITHIN:
        return f"{WITHIN[name]}{_plain(value)}"
    option = OTHERS.get(name, f"--{name}")
    if _plain(value) in ("True", "False"):
        return option
    if name == "domain" and isinstance(value, ast.List):
        return " ".join(f"{option} {_plain(pair)}" for pair in value.elts)
    between = {"classes": ",", "groups": ",", "epsilons": " ", "methods": " "}.get(name)
    if between and isinstance(value, ast.List | ast.Tuple):
        return f"{option} {shlex.quote(between.join(map(_plain, value.elts)))}"
    return f"{option} {_plain(value)}"


def _bound(call: ast.Call) -> str:
    """A bound by the option for its kind."""
    given = [_plain(a) for a in call.args]
    kind = ast.unparse(call.func).rpartition(".")[2]
    if kind == "Range":
        return f"--range {':'.join(given)}"
    return "--rms R" if kind == "RMS" else "--radius R"


def _plain(value: ast.expr | str) -> str:
    """A value as it is written on a command line."""
    if isinstance(value, str):
        return value
    if isinstance(value, ast.Constant):
        return shlex.quote(value.value) if isinstance(value.value, str) else str(value.value)
    if isinstance(value, ast.List):
        return ",".join(map(_plain, value.elts))
    if isinstance(value, ast.Tuple):
        return ":".join(map(_plain, value.elts))
    if isinstance(value, ast.Call):
        return _call(ast.unparse(value.func).split(".")[1:], value)
    return "..." if isinstance(value, ast.Name) and value.id == "_" else ast.unparse(value).replace(" ", "")


def _call(path: list[str], call: ast.Call) -> str:
    """Something that is made, by its short spelling."""
    name = path[-1] if path else ""
    given = [_plain(a) for a in call.args]
    named = [f"{k.arg}={_plain(k.value)}" for k in call.keywords]
    if path[:1] == ["Grid"]:
        return ":".join(given) if path[1:] == ["uniform"] else "start:stop:size"
    short: dict[str, Callable[[], str]] = {
        "Interpolate": lambda: _with("linear", named),
        "Smooth": lambda: _with("smooth", named),
        "Long": lambda: _with("long", named),
        "Lists": lambda: _with("lists", named),
    }
    if name in short:
        return short[name]()
    if name.lower() in KERNELS:
        return ":".join([name.lower(), *given, *(_plain(k.value) for k in call.keywords)])
    return _with(_method(name), named)


def _method(name: str) -> str:
    kinds: dict[str, type[Method]] = METHODS
    return next((short for short, kind in kinds.items() if kind.__name__ == name), name.lower())


def _with(name: str, options: list[str]) -> str:
    return ":".join([name, ",".join(options)] if options else [name])
