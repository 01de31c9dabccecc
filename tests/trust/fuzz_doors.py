"""Every reader, file and text of the package through the door that a user takes: functions of bytes.

A target returns, or raises an error of the package: anything else (another exception, a warning, a dead process, more
than a few seconds) is a defect.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from fuzz_seeds import mean_plan
from typer.main import get_command

import dpfda as dp
from dpfda.cli import app, parsing, sources
from dpfda.core import codec
from dpfda.core.checks import as_epsilon
from dpfda.core.errors import DpfdaError
from dpfda.core.labels import Coder, as_groups, label_text
from dpfda.engines import checkpoints
from dpfda.estimators import predictions
from dpfda.plans.base import Plan
from dpfda.plans.joint import JointPlan
from dpfda.reading.layouts import Long, zone_of
from dpfda.reading.roles import pick
from dpfda.spaces.own_times import Interpolate

INPUTS = np.linspace(0, 1, 6)


class Defect(Exception):
    """Something ended in a way that nothing may."""


# -- doors ------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def scratch() -> Path:
    """A folder of this process, in memory where the machine has such a place; deep, so that ``..`` stays within."""
    base = Path("/dev/shm")
    folder = tempfile.mkdtemp(prefix="dpfda-cases-", dir=base if os.access(base, os.W_OK) else None)
    deep = Path(folder) / "a" / "b" / "c" / "d"
    deep.mkdir(parents=True)
    atexit.register(drop_scratch)
    return deep


def drop_scratch() -> None:
    if scratch.cache_info().currsize:
        shutil.rmtree(scratch().parents[3], ignore_errors=True)
        scratch.cache_clear()


def file_of(data: bytes, name: str) -> Path:
    path = scratch() / name
    path.write_bytes(data)
    return path


@cache
def plan_for(door: str) -> dp.MeanPlan:
    """A plan that any number of records fits."""
    options: dict[str, Any] = {"neighbors": "add-remove"}
    if door == "csv-center":
        options["invalid"] = "center"
    if door == "csv-days":
        options["grid"] = dp.Grid.uniform(0, 24, 4)
    if door in ("csv-long", "csv-days"):
        options |= {"align": Interpolate(gap=1.0, least=1), "unit": dp.Unit("id") if door == "csv-long" else None}
    plan = mean_plan(**options)
    plan.stage  # noqa: B018
    return plan


def read_table(door: str, name: str, **reading: Any) -> Callable[[bytes], None]:
    def run(data: bytes) -> None:
        plan_for(door).release(dp.read(file_of(data, name), **reading))

    return run


def read_groups(data: bytes) -> None:
    problem = plan_for("csv").stage.encoder
    dp.engines.summarize_groups(problem, dp.read(file_of(data, "g.csv"), header=True), "side", ("north", "south"))


def read_parquet(data: bytes) -> None:
    path = file_of(data, "x.parquet")
    with contextlib.suppress(DpfdaError):
        read_groups_of(path)
    plan_for("csv").release(path)


def read_groups_of(records: Any) -> None:
    problem = plan_for("csv").stage.encoder
    columns = ["h1", "h2", "h3", "h4"]
    dp.engines.summarize_groups(problem, dp.read(records, columns=columns), "side", None)


def read_arrow(data: bytes) -> None:
    """What Arrow itself refuses to open never reaches us; what it opens may still be damaged."""
    try:
        reader = pa.ipc.open_file(data) if data[:6] == b"ARROW1" else pa.ipc.open_stream(data)
        table = reader.read_all()
    except (pa.ArrowException, OSError, ValueError, EOFError) as error:
        raise dp.errors.FileError("Arrow refuses it.") from error
    with contextlib.suppress(DpfdaError):
        read_groups_of(table)
    plan_for("csv").release(table)


def read_npy(data: bytes) -> None:
    """A path that ends so is refused; an array that numpy opens is read as any other."""
    with contextlib.suppress(DpfdaError):
        plan_for("csv").release(file_of(data, "x.npy"))
        raise Defect("a file of an array was read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of numpy, about headers
            array = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, OSError, EOFError, MemoryError, TypeError, SyntaxError, OverflowError, KeyError) as error:
        raise dp.errors.FileError("numpy refuses it.") from error
    except Exception as error:  # of its tokenizer
        if type(error).__module__ != "tokenize":
            raise
        raise dp.errors.FileError("numpy refuses it.") from error
    plan_for("csv-center").summarize(array)
    plan_for("csv").release(array)


def read_plan(data: bytes) -> None:
    """A plan, and all that is shown of it."""
    text = data.decode("utf-8", "surrogateescape")
    plan = codec.from_plain(codec.unseal(text, "plan", 1).get("plan"))
    if not isinstance(plan, Plan | JointPlan):
        raise dp.errors.FileError("No plan.")
    repr(plan)
    assert codec.from_plain(codec.unseal(plan.to_json(), "plan", 1)["plan"]) == plan
    if isinstance(plan, Plan):
        plan.explain()
        plan._repr_html_()


def read_release(data: bytes) -> None:
    release = dp.load(file_of(data, "x.json"))
    repr(release)
    release.statement  # noqa: B018
    assert "Lin and Reimherr (2024)" in release.methods_text()
    assert type(dp.load(release.save(scratch() / "y.json"))) is type(release)


def read_summary(data: bytes) -> None:
    saved = checkpoints.load(file_of(data, "x.summary"))
    repr(saved)
    with contextlib.suppress(dp.errors.PlanMismatch, dp.errors.RecordError):
        checkpoints.merged([saved, saved])
    with contextlib.suppress(dp.errors.PlanMismatch):
        plan_for("csv").release(saved.summary)
    checkpoints.load(saved.save(scratch() / "y.summary"))


def read_ledger(data: bytes) -> None:
    for old in scratch().glob("x.ledger-*"):
        old.unlink()
    book = dp.Ledger(file_of(data, "x.ledger"))
    facts = (book.name, book.budget, book.spent, book.remaining, book.delta_budget, book.delta_spent)
    str(facts), repr(book.history())
    with contextlib.suppress(dp.errors.LedgerError):  # too much, or a copy
        book.charge("1/7", plan="c" * 64, query="mean")


PARSERS: dict[str, Callable[[str], Any]] = {
    "grid": parsing.parse_grid,
    "axis": lambda text: parsing.parse_grid("0:1:4", text),
    "kernel": parsing.parse_kernel,
    "method": parsing.parse_method,
    "domain": lambda text: parsing.parse_domain(text.split(" ")),
    "cells": parsing.parse_cells,
    "edges": parsing.parse_edges,
    "layout": sources.parse_layout,
    "align": sources.parse_align,
    "groups": lambda text: as_groups(sources.groups_of(text)),
    "epsilon": as_epsilon,
    "zone": zone_of,
    "columns": lambda text: pick(["h1", "h2"], text),
    "unit": lambda text: sources.parse_unit(*_three(text)),
    "bound": lambda text: parsing.parse_bound(*_bound(text)),
}


def _bound(text: str) -> tuple[str | None, float | None, float | None, str, float | None]:
    """As the command line brings them, which reads numbers itself."""
    radius, norm, center = [*text.split(" "), "", ""][:3]
    if ":" in radius:
        return radius, None, None, norm or "l2", None
    try:
        return None, float(radius or 1), None, norm, float(center or 0)
    except ValueError as error:
        raise dp.errors.ParameterError("a radius is a number", "another", "Correct it.") from error


def _three(text: str) -> tuple[str, int | None, str | None]:
    name, most, order = [*text.split(" "), "", ""][:3]
    return name, int(most) if most.isascii() and most.isdigit() and len(most) < 30 else None, order or None


def read_words(data: bytes) -> None:
    name, _, text = data.decode("utf-8", "surrogateescape").partition(" ")
    if name not in PARSERS:
        raise dp.errors.ParameterError("a parser has a name", "another", "Choose one.")
    repr(PARSERS[name](text))


def read_labels(data: bytes) -> None:
    try:
        labels = json.loads(data)
    except (ValueError, RecursionError):
        labels = [data, data.decode("utf-8", "replace"), *data.split(b",")]
    labels = labels if isinstance(labels, list) else [labels]
    for label in labels:
        assert label_text(label_text(label)) == label_text(label)
    names = Coder().column(labels)
    assert names.shape == (len(labels),)
    as_groups([label for label in labels if isinstance(label, str)] or ["a"])


@lru_cache(maxsize=1)
def _command() -> Any:
    return get_command(app)


def run_command(words: list[str]) -> str:
    """The command in this process; a refusal is an exit code and a paragraph."""
    said, code = io.StringIO(), 0
    with contextlib.chdir(scratch()), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            _command()(args=words, prog_name="dpfda")
        except SystemExit as end:
            code = int(end.code or 0)
    output = said.getvalue()
    if code not in (0, 1, 2, 3):
        raise Defect(f"{words} ends with {code}")
    if "Traceback" in output or "unforeseen" in output:
        raise Defect(f"{words} speaks of a defect: {output[-300:]}")
    # A wrong command line is repeated to the one who wrote it; anything else comes from files.
    if code != 2 and not all(line.isprintable() for line in output.split("\n")):
        raise Defect(f"{words} steers the terminal: {output[-300:]!r}")
    if code:
        raise dp.errors.ParameterError("a command line must be right", "another", "Try --help.")
    return output


def read_command(data: bytes) -> None:
    run_command(data.decode("utf-8", "surrogateescape").split("\0")[:20])


def show(data: bytes) -> None:
    run_command(["show", str(file_of(data, "x.json"))])


def predict(data: bytes) -> None:
    release = dp.load(file_of(data, "x.json"))
    for width in (1, 2):
        with contextlib.suppress(DpfdaError):
            predictions(release, np.repeat(INPUTS[:, None], width, axis=1))


TARGETS: dict[str, Callable[[bytes], None]] = {
    "csv": read_table("csv", "x.csv"),
    "csv-center": read_table("csv-center", "x.csv", header=True),
    "csv-long": read_table("csv-long", "x.csv", layout=Long()),
    "csv-days": read_table("csv-days", "x.csv", layout=Long(day="Australia/Adelaide")),
    "csv-groups": read_groups,
    "tsv": read_table("csv", "x.tsv", columns="h*", header=True),
    "parquet": read_parquet,
    "arrow": read_arrow,
    "npy": read_npy,
    "plan": read_plan,
    "release": read_release,
    "summary": read_summary,
    "ledger": read_ledger,
    "words": read_words,
    "labels": read_labels,
    "command": read_command,
    "show": show,
    "predict": predict,
}
