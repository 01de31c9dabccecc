"""Wrong command lines as a table: each has its exit code and a message that a newcomer can act on.

The table is wrong_inputs.txt: one row a line, to which rows are added wherever they belong. Whatever the row, there is
no traceback, nothing of the records in the output, no file is written and nothing is charged.
"""

from __future__ import annotations

import re
import shlex
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner
from wrong_files import PRIVATE, make, state

import dpfda as dp
from dpfda.cli import app

TABLE = Path(__file__).with_name("wrong_inputs.txt")
ROWS = [
    (line, int(code), pattern)
    for row in TABLE.read_text().splitlines()
    if row and not row.startswith("#")
    for code, line, pattern in [row.split(" | ", 2)]
]
#: Words of Python that do not belong on a command line: a module, a keyword that is no part of an option, None.
PYTHON = re.compile(r"\bdp\.|\bNone\b|(?<![\w:,'-])(?!north=|name=|region=|month=)[a-z_]+=")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("wrong")
    with pytest.warns(dp.errors.NoiseWarning):  # thirty records
        make(made)
    return made


def test_the_table_is_long_and_has_no_row_twice():
    lines = [line for line, _, _ in ROWS]
    assert len(lines) == len(set(lines)) >= 200


@pytest.mark.parametrize(("line", "code", "pattern"), ROWS, ids=[line for line, _, _ in ROWS])
def test_a_wrong_line_is_told_what_is_wrong(line, code, pattern, folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = state(folder)
    done = CliRunner().invoke(app, shlex.split(line))
    said = " ".join((done.stderr or done.stdout).split())
    assert done.exit_code == code, done.output
    assert re.search(pattern, said), said
    assert "unforeseen" not in said
    assert "Traceback" not in said
    assert [word for word in PRIVATE if word in done.output] == []
    assert state(folder) == before
    assert dp.Ledger("study.ledger").spent == Fraction(0)
    if code in (1, 3):
        assert not PYTHON.search(said.rpartition("Error: ")[2]), said
