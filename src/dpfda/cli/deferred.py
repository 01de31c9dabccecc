"""Commands that are loaded when they are asked for, so that help, the version and completion are quick."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, Protocol, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command


class Sections(Protocol):
    """What writes help."""

    def section(self, name: str) -> AbstractContextManager[None]: ...
    def write_dl(self, rows: Sequence[tuple[str, str]]) -> None: ...


class GroupedCommand(TyperCommand):
    """A command whose help, in plain text, shows options under the headings that they were declared with."""

    def format_options(self, ctx: Any, formatter: Sections) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
                sections.setdefault(getattr(parameter, "rich_help_panel", None) or kind, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


class Deferred(TyperCommand):
    """A command in a list, with the first sentence of its help: it is loaded when its arguments are read."""

    def __init__(self, name: str, home: str, summary: str):
        super().__init__(name, help=summary)
        self.home = home

    @cached_property
    def function(self) -> Callable[..., None]:
        """What does the work, from where it is written: ``module.function``."""
        module, _, function = self.home.partition(".")
        found: Callable[..., None] = getattr(import_module(f"dpfda.cli.{module}"), function)
        return found

    @cached_property
    def loaded(self) -> GroupedCommand:
        alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        alone.command(self.name, cls=GroupedCommand)(self.function)
        return cast(GroupedCommand, get_command(alone))

    def make_context(self, *given: object, **options: object) -> typer.Context:
        return cast(Callable[..., typer.Context], self.loaded.make_context)(*given, **options)


class DeferredGroup(TyperGroup):
    """A group of such commands: where each is written and the first sentence of its help, by its name."""

    deferred: ClassVar[Mapping[str, tuple[str, str]]]

    def __init__(self, **options: object):
        cast(Callable[..., None], super().__init__)(**options)
        own = {name: Deferred(name, home, summary) for name, (home, summary) in self.deferred.items()}
        self.commands = {**own, **self.commands}
