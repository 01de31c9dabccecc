"""What a user says about a picture: names and colours of lines, words on the axes, a title, a legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypedDict, TypeVar, cast

from dpfda.core.errors import ParameterError, shown
from dpfda.results.pictures import colors, matplotlib

if TYPE_CHECKING:
    from dpfda.results.pictures import Colormap, ColorType

    #: A text; where there are several lines, one for each, by name or in order.
    Labels: TypeAlias = str | Mapping[str, str] | Sequence[str]
    #: Anything that matplotlib takes as a colour, in the same way; of a map, a colour map or its name.
    Colors: TypeAlias = ColorType | Mapping[str, ColorType] | Sequence[ColorType] | Colormap
T = TypeVar("T")
#: Characters of what a user writes into a picture.
LONGEST = 300


class Words(TypedDict):
    """What a picture is told."""

    label: Labels | None
    color: Colors | None
    xlabel: str | None
    ylabel: str | None
    title: str | None
    legend: bool


@dataclass(frozen=True)
class Look:
    """The six words of a picture. None leaves one to us; an empty text leaves it out."""

    label: Labels | None = None
    color: Colors | None = None
    xlabel: str | None = None
    ylabel: str | None = None
    title: str | None = None
    legend: bool = True
    #: Names of lines that are ours: whatever they hold, it is no formula.
    ours: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name in ("xlabel", "ylabel", "title"):
            _check_text(name, getattr(self, name))
        if self.legend not in (True, False) or not isinstance(self.legend, int):
            raise ParameterError("legend is True or False", shown(self.legend), "Pass legend=False to leave it out.")

    def along(self, words: str | None) -> Look:
        """The same with these words along the curves, where a user has none."""
        return self if words is None or self.xlabel is not None else replace(self, xlabel=words)

    @property
    def words(self) -> Words:
        """The six of them, as a picture takes them."""
        return Words(
            label=self.label, color=self.color, xlabel=self.xlabel, ylabel=self.ylabel, title=self.title,
            legend=self.legend,
        )  # fmt: skip

    @property
    def own(self) -> frozenset[str]:
        """What the user wrote: shown as matplotlib shows it, formulas too."""
        said = [self.xlabel, self.ylabel, self.title]
        said += [self.label] if isinstance(self.label, str) else list(_each(self.label))
        return frozenset(text for text in said if text) - self.ours

    def with_names(self, names: Mapping[str, str]) -> Look:
        """The same, with these names of lines where the user gave none."""
        theirs: dict[str, str] = _by_name("label", self.label, list(names))
        ours = frozenset(name for key, name in names.items() if key not in theirs)
        return replace(self, label={**names, **theirs}, ours=ours)

    def one(self, label: str) -> tuple[str, ColorType | None]:
        """The name and the colour of a single line."""
        if self.label is not None and not isinstance(self.label, str):
            raise ParameterError("there is one line, and one label", shown(self.label), "Pass label='a text'.")
        _check_text("label", self.label)
        _check_color(self.color)
        return label if self.label is None else self.label, cast("ColorType | None", self.color)

    def several(self, names: Sequence[str]) -> tuple[dict[str, str], dict[str, ColorType]]:
        """Names and colours of lines, where they were given."""
        labels: dict[str, str] = _by_name("label", self.label, names)
        chosen: dict[str, ColorType] = _by_name("color", cast("Labels | None", self.color), names)
        for text in labels.values():
            _check_text("label", text)
        for color in chosen.values():
            _check_color(color)
        return labels, chosen

    def of_map(self, label: str) -> tuple[str, str | Colormap | None]:
        """The words beside the colours of a map, and its colour map."""
        if self.label is not None and not isinstance(self.label, str):
            raise ParameterError("a map has one label", shown(self.label), "Pass label='a text'.")
        _check_text("label", self.label)
        named = isinstance(self.color, str) and self.color in matplotlib.colormaps
        known = self.color is None or named or isinstance(self.color, colors.Colormap)
        if not known:
            raise ParameterError(
                "the colours of a map are a colour map of matplotlib", shown(self.color), "Pass color='viridis', say."
            )
        return label if self.label is None else self.label, cast("str | Colormap | None", self.color)


def _each(label: object) -> Sequence[str]:
    values = label.values() if isinstance(label, Mapping) else label if isinstance(label, Sequence) else ()
    return [text for text in values if isinstance(text, str)]


def _by_name(word: str, given: T | Mapping[str, T] | Sequence[T] | None, names: Sequence[str]) -> dict[str, T]:
    """One of something for some names: by name, or one for each in order."""
    cure = f"Pass {word}={{{names[0]!r}: ...}}, or one for each of {len(names)} in order."
    if given is None:
        return {}
    if isinstance(given, Mapping):
        found = {str(name): each for name, each in given.items()}
        if unknown := [name for name in found if name not in names]:
            raise ParameterError(f"{word} is for {', '.join(names)}"[:200], shown(unknown[0]), cure)
        return found
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != len(names):
        if len(names) == 1 and isinstance(given, str):
            return {names[0]: given}
        raise ParameterError(f"there are {len(names)} lines, with a {word} each", shown(given), cure)
    return dict(zip(names, given, strict=True))


def _check_text(name: str, text: object) -> None:
    if text is None:
        return
    if not isinstance(text, str) or len(text) > LONGEST or not text.replace("\n", "").isprintable():
        raise ParameterError(
            f"{name} is a printable text of up to {LONGEST} characters",
            shown(text),
            f"Pass {name}='a text', or {name}='' for none.",
        )


def _check_color(color: object) -> None:
    if color is not None and not colors.is_color_like(color):
        raise ParameterError(
            "color is a colour that matplotlib knows", shown(color), "Pass color='darkred' or color='#1b4b72', say."
        )
