"""Help: the first screen shows what matters, the rest is advanced, and an option means the same in every command."""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from test_cli import commands, deferred
from typer.testing import CliRunner

from dpfda.cli import app
from dpfda.cli.commands import ADVANCED, Options, command
from dpfda.cli.deferred import GroupedCommand

SCREEN = 24
#: What the first screen must show, by command: the data, then the options that matter.
FIRST = {
    "mean": ("curves...", "epsilon range radius above grid columns by unit ledger out plot"),
    "covariance": ("curves...", "epsilon range radius grid columns by unit ledger out plot"),
    "density": ("points...", "epsilon domain columns by ledger out plot"),
    "percentiles": ("curves...", "epsilon range levels grid columns by unit ledger out plot"),
    "survival": ("files...", "epsilon horizon time event by unit ledger out plot"),
    "radius": ("curves...", "epsilon range quantile grid columns unit ledger out"),
    "regress": ("records", "covariates covariate-range epsilon range radius grid columns ledger out plot"),
    "fit": ("records", "target inputs domain loss bound classes epsilon ledger out plot"),
    "plan": ("", "n epsilon range radius grid domain horizon levels covariance unit explain target out"),
    "compare": ("", "n range radius grid domain methods epsilons plot"),
    "summarize": ("records...", "plan out columns by"),
    "release": ("summaries...", "ledger out plot"),
}
#: Options that mean something of its own in some command: another thing is written, or named.
DELIBERATE = {
    "--axis",
    "--components",
    "--domain",
    "--dry-run",
    "--groups",
    "--ledger",
    "--methods-text",
    "--out",
    "--plan",
    "--study",
    "--target",
}


def help_of(name: str) -> list[str]:
    """What a terminal of a hundred columns shows."""
    done = CliRunner().invoke(app, [name, "--help"], prog_name="dpfda", terminal_width=98)
    assert done.exit_code == 0
    return done.output.splitlines()


def options_in(lines: list[str]) -> list[str]:
    lines = lines[lines.index("Options:") :] if "Options:" in lines else lines
    return [found for line in lines for found in re.findall(r"^  (?:-\w, )?--([\w-]+)", line)]


@pytest.mark.parametrize("name", FIRST)
def test_the_first_screen_shows_what_matters(name):
    data, wanted = FIRST[name]
    lines = help_of(name)
    screen = lines[:SCREEN]
    assert screen[0].startswith(f"Usage: dpfda {name} [OPTIONS]")
    assert "Example: dpfda" in "\n".join(screen)
    assert f"  {data}" in "\n".join(screen)
    assert options_in(screen)[: len(wanted.split())] == wanted.split()
    assert max(map(len, lines)) <= 98


@pytest.mark.parametrize("name", FIRST)
def test_everything_else_is_under_a_heading_of_its_own(name):
    lines = help_of(name)
    assert lines.count(f"{ADVANCED}:") == 1
    split = lines.index(f"{ADVANCED}:")
    assert options_in(lines[:split]) == [*FIRST[name][1].split(), "help"]
    assert not set(options_in(lines[split:])) & set(options_in(lines[:split]))
    shown = {f"--{option}" for option in options_in(lines)}
    declared = [parameter for parameter in commands()[name].params if not getattr(parameter, "hidden", False)]
    assert shown == {option for parameter in declared for option in parameter.opts if "--" in option} | {"--help"}


def test_an_option_is_declared_once():
    helps = defaultdict(set)
    for each in commands().values():
        for parameter in each.params:
            for option in parameter.opts:
                helps[option].add(getattr(parameter, "help", None))
    several = {option for option, texts in helps.items() if option.startswith("--") and len(texts) > 1}
    assert several == DELIBERATE


def test_commands_are_short():
    for each in deferred().values():
        function = each.function
        node = ast.parse(inspect.getsource(inspect.unwrap(function))).body[0]
        body = node.body[1:]
        assert body[-1].end_lineno - body[0].lineno < 40, function.__name__


def test_lists_of_commands_show_the_first_sentence_of_their_help():
    """They are not loaded for a list: what it says of them is written a second time."""
    for name, each in deferred().items():
        assert each.help == re.split(r"(?<=[.?])\s", inspect.cleandoc(each.loaded.help))[0], name


def test_groups_of_options_reach_a_command_whole():
    """The decorator alone: order, headings, defaults and values."""
    seen = []
    small = typer.Typer(rich_markup_mode=None)
    small.command(cls=GroupedCommand)(sample(seen))
    runner = CliRunner()
    assert runner.invoke(small, ["here", "--size", "3", "--last"]).exit_code == 0
    assert seen == [("here", Sample(size=3), True)]
    text = runner.invoke(small, ["--help"]).output
    assert text.index("place") < text.index("--colour") < text.index(f"{ADVANCED}:") < text.index("--size")


Size = Annotated[int, typer.Option(help="How large.")]
Colour = Annotated[str, typer.Option(help="Which colour.")]


@dataclass(frozen=True)
class Sample(Options):
    """A group."""

    size: Size = 1
    colour: Colour = "red"


def sample(seen: list):
    @command(first="colour")
    def show(
        place: Annotated[str, typer.Argument()], *, group: Sample, last: Annotated[bool, typer.Option("--last")] = False
    ) -> None:
        """Show it."""
        seen.append((place, group, last))

    return show
