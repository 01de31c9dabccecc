"""How a function becomes a command: it takes groups of options whole, and its help shows first what matters."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Protocol, TypeAlias, get_origin, get_type_hints

import typer
from typer.models import OptionInfo, ParameterInfo

from dpfda.cli.console import guarded
from dpfda.core.errors import ParameterError, shown

#: Options as the keywords of a verb or a plan, which checks them.
Keywords: TypeAlias = dict[str, Any]
ADVANCED = "Advanced"


@dataclass(frozen=True)
class Options:
    """Options that come together. Each field of a subclass is an option, declared as for a command of typer."""

    @classmethod
    def names(cls) -> tuple[str, ...]:
        return tuple(field.name for field in fields(cls))


def command(first: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a command.

    A parameter that is a group of options (a subclass of `Options`) stands for all options of the group. `first` names
    the options that matter, in the order in which help shows them; all others are shown as advanced. Without it they
    are shown as they come. Errors are said in one line (`guarded`).
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(function, include_extras=True)
        groups = {name: hint for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, Options)}

        @functools.wraps(function)
        def run(**given: Any) -> None:
            for name, group in groups.items():
                given[name] = group(**{option: given.pop(option) for option in group.names()})
            function(**given)

        found: list[inspect.Parameter] = []
        for name, parameter in inspect.signature(function).parameters.items():
            found += _options_of(groups[name]) if name in groups else [_parameter(name, hints[name], parameter.default)]
        run.__dict__["__signature__"] = inspect.Signature(_by_weight(found, first.split()) if first else found)
        return guarded(run)

    return decorate


def _parameter(name: str, annotation: object, default: object) -> inspect.Parameter:
    for part in getattr(annotation, "__metadata__", ()):
        if isinstance(part, ParameterInfo):
            part.readable = False  # what cannot be read is said where it is read, with its own exit code
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _options_of(group: type[Options]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [_parameter(field.name, hints[field.name], field.default) for field in fields(group)]


def _by_weight(parameters: Iterable[inspect.Parameter], first: Sequence[str]) -> list[inspect.Parameter]:
    """Arguments, then the options that matter in their order, then the others under a heading of their own."""
    left = {parameter.name: parameter for parameter in parameters}
    arguments = [left.pop(name) for name in list(left) if not _is_option(left[name])]
    return [*arguments, *(left.pop(name) for name in first), *map(_advanced, left.values())]


def _is_option(parameter: inspect.Parameter) -> bool:
    return any(isinstance(part, OptionInfo) for part in getattr(parameter.annotation, "__metadata__", ()))


def _advanced(parameter: inspect.Parameter) -> inspect.Parameter:
    annotation: Any = parameter.annotation
    assert get_origin(annotation) is Annotated
    option = copy.copy(annotation.__metadata__[0])
    option.rich_help_panel = ADVANCED
    declared: Any = Annotated
    return parameter.replace(annotation=declared[annotation.__origin__, option])


class Declared(Protocol):
    """What is used of an option as a command declares it."""

    opts: list[str]
    secondary_opts: list[str]
    multiple: bool
    is_flag: bool


@dataclass(frozen=True)
class Parameters:
    """The options of a command by their long names, for whoever writes them elsewhere than on a command line."""

    options: Mapping[str, Declared]

    @classmethod
    def of(cls, declared: Iterable[Declared]) -> Parameters:
        """Those among what a command declares."""
        return cls({word[2:]: one for one in declared for word in one.opts if word.startswith("--")})

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.options)

    def spelt(self, name: str, value: object) -> list[str]:
        """An option of this name with its value, as words of a command line."""
        option = self.options[name]
        if isinstance(value, bool):
            if not option.is_flag:
                raise ParameterError(f"{name} has a value", shown(value), "Write a text or a number.")
            return [f"--{name}"] if value else list(option.secondary_opts)
        if option.is_flag:
            raise ParameterError(f"{name} is true or false", shown(value), f"Write {name} = true.")
        if name == "groups" and isinstance(value, dict):  # each with its number of records
            value = [f"{group}={size}" for group, size in value.items()]
        values = value if isinstance(value, list) else [value]
        if not values or not all(type(one) in (str, int, float) for one in values):
            raise ParameterError(f"{name} is a text, a number or a list of them", shown(value), "Mend it.")
        texts = [str(one) for one in values]
        if option.multiple:
            return [f"--{name}={text}" for text in texts]
        if isinstance(value, list) and (wrong := [text for text in texts if "," in text]):
            raise ParameterError(
                f"{name} is a list that commas part", shown(wrong[0]), "Names with commas cannot be listed."
            )
        return [f"--{name}={(':' if name == 'range' else ',').join(texts)}"]


def given(context: typer.Context, names: Iterable[str]) -> list[str]:
    """Those of the options that are on the command line, as they are written there."""
    return [f"--{name}" for name in names if str(context.get_parameter_source(name)).endswith("COMMANDLINE")]
