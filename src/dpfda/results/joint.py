"""Several releases under one charge: what releases of groups and of classes share."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from dpfda.core import codec
from dpfda.core.errors import ParameterError, shown
from dpfda.core.files import write_whole
from dpfda.results import maps, plots, profiles, statements
from dpfda.results.arrays import AsArray
from dpfda.results.bands import Band
from dpfda.results.base import VERSION, Release
from dpfda.results.beyond import TOO_SMALL
from dpfda.results.columns import csv_of
from dpfda.results.methods_text import text_of_several
from dpfda.results.one_charge import UnderOneCharge
from dpfda.results.percentiles import PercentileRelease
from dpfda.results.statements import Statement
from dpfda.results.survival import SurvivalRelease
from dpfda.results.survival_curves import NAMES, check_picture
from dpfda.results.wording import cost, price

if TYPE_CHECKING:
    from pandas import DataFrame

    from dpfda.plans.joint import JointPlan
    from dpfda.results.looks import Colors, Labels

#: More bands than that hide each other in one picture, and more pictures side by side are too small to be read.
MOST_BANDS, MOST_PANELS = 4, 24
R = TypeVar("R", bound=Release, covariant=True)


@dataclass(frozen=True, eq=False, repr=False)
class JointRelease(UnderOneCharge, AsArray, Mapping[str, R]):
    """Releases by name: a mapping, with one charge and one statement for all."""

    plan: JointPlan[Any]
    releases: dict[str, R]

    def __getitem__(self, name: object) -> R:
        """The release of this name (or of a number that spells it)."""
        if name not in self:
            raise ParameterError(
                f"a {self.plan.member_word} must be one of {', '.join(self.releases)}",
                shown(name),
                "Check the spelling.",
            )
        return self.releases[str(name)]

    def __contains__(self, name: object) -> bool:
        return str(name) in self.releases

    def get(self, name: object, default: Any = None) -> Any:
        """The release of this name, or `default`.

        Parameters
        ----------
        name : str
            The name of a member.
        default : object, optional
            What comes back where there is none. Default: None.
        """
        return self.releases.get(str(name), default)

    def __iter__(self) -> Iterator[str]:
        return iter(self.releases)

    def __len__(self) -> int:
        return len(self.releases)

    def band(self, name: str, level: float = 0.95) -> Band:
        """The band of one of them, for what its records would have given without privacy.

        Parameters
        ----------
        name : str
            The name of a member.
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        """
        return self[name].band(level)

    def confidence_band(self, name: str, level: float = 0.95) -> Band:
        """The band of one of them, for the population its records are a sample of.

        Parameters
        ----------
        name : str
            The name of a member.
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        """
        return self[name].confidence_band(level)

    def noise_band(self, name: str, level: float = 0.95) -> Band:
        """What the noise alone can do to one of them.

        Parameters
        ----------
        name : str
            The name of a member.
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        """
        return self[name].noise_band(level)

    @property
    def _any(self) -> R:
        return next(iter(self.releases.values()))

    @property
    def statement(self) -> str:
        """What was protected in all of them together, and how each was made."""
        return str(self.statement_parts)

    @property
    def statement_parts(self) -> Statement:
        """The statement as data: its paragraphs by name, and one line for each."""
        cautions = [caution for caution in self.cautions if not caution.endswith(TOO_SMALL)]
        bands = " ".join([self._promises, *cautions]).strip()
        return statements.group_statement(self.plan, self.releases, bands, self._bound_words)

    def methods_text(self) -> str:
        """How they were made, for the methods section of a paper: paragraphs with all numbers, and what to cite."""
        return text_of_several(self.plan, self.releases, self._promises, self.cautions)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the released numbers themselves say against trusting them, a sentence each, with the names it is for."""
        names: dict[str, list[str]] = {}
        for name, part in self.releases.items():
            for caution in part.cautions:
                names.setdefault(caution, []).append(name)
        return tuple(f"{', '.join(found)}: {caution}" for caution, found in names.items())

    @property
    def _promises(self) -> str:
        """What the bands of each promise."""
        return statements.told_of_each({name: part.band_promise for name, part in self.releases.items()})

    @property
    def _bound_words(self) -> str:
        """What each says of its public bound; once where all say the same."""
        said = {name: part.bound_words for name, part in self.releases.items()}
        if len(set(said.values())) == 1:
            return next(iter(said.values()))
        return " ".join(f"{name}: {words}" for name, words in said.items() if words)

    def plot(
        self,
        ax: plots.Places = None,
        level: float = 0.95,
        kind: str | None = None,
        *,
        of: str | None = None,
        at_risk: bool = True,
        label: Labels | None = None,
        color: Colors | None = None,
        xlabel: str | None = None,
        ylabel: str | None = None,
        title: str | None = None,
        legend: bool = True,
    ) -> plots.Axes:
        """All curves with their bands: up to four in one picture, more of them side by side; surfaces always so.

        In one `ax`, more than four curves, or curves of several components, have no bands: they would hide each other.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; of surfaces, one for each. Default: a new figure.
        level : float, optional
            The probability of the bands.
        kind, of, at_risk : optional
            Of survival curves: as for :meth:`SurvivalRelease.plot`. Others have no such choice.
        label, color : mapping or sequence, optional
            Names and colours of the lines, by the name of each, or in order. Of surfaces: the words beside the colours,
            and a colour map.
        xlabel, ylabel, title, legend : optional
            As for :meth:`Release.plot`.

        Returns
        -------
        matplotlib Axes
            The first, where there are several.
        """
        look = plots.Look(label, color, xlabel, ylabel, title, legend)
        if isinstance(self._any, SurvivalRelease):
            return plots.fit(self._draw_survival(ax, level, look, kind or "smooth", of or "survival", at_risk))
        for name, word in {"kind": kind, "of": of}.items():
            if word is not None:
                raise ParameterError(
                    f"{name} is for pictures of survival curves",
                    f"{name}={shown(word)} for {self.query}",
                    f"Leave it out, or plot one {self.plan.member_word} at a time.",
                )
        return plots.fit(self._draw(ax, level, look))

    def _draw_survival(
        self, ax: plots.Places, level: float, look: plots.Look, kind: str, of: str, at_risk: bool
    ) -> plots.Axes:
        """Survival curves, or what is made of them, with their bands and numbers at risk."""
        check_picture(kind, of, at_risk)
        releases: dict[str, SurvivalRelease] = cast(Any, self.releases)
        first, steps = next(iter(releases.values())), kind == "steps"
        parts = {name: part.drawn_as(level, steps, of) for name, part in releases.items()}
        look = look.with_names({name: self._label(name, part) for name, part in releases.items()})
        named = first.title if of == "survival" else NAMES[of]
        words = f"{named[:1].upper()}{named[1:]} by {self.plan.member_word}, {price(self.plan)}", NAMES[of]
        if ax is None and MOST_BANDS < len(self) <= MOST_PANELS:
            ax = plots.multiples(parts, first.grid.axes[-1], look, *words, steps)
            return plots.caution(ax, self.cautions)
        bands = [band for _, band in parts.values()] if len(self) <= MOST_BANDS else ()
        curves, t = {name: values for name, (values, _) in parts.items()}, next(iter(parts.values()))[1].t
        ax = plots.overlay(first.grid, curves, ax, words[0], bands, look, words[1], t, steps)
        return plots.caution(first._draw_more(ax, releases if at_risk else {}, of), self.cautions)

    def _draw(self, ax: plots.Places, level: float, look: plots.Look) -> plots.Axes:
        first = self._any
        heading = f"{first.title[:1].upper()}{first.title[1:]} by {self.plan.member_word}, {price(self.plan)}"
        if first.dimension == 2:
            return plots.caution(self._draw_maps(ax, look, heading), self.cautions)
        if first.dimension > 2:
            raise ParameterError(
                "pictures have at most two dimensions", "three", f"Plot one {self.plan.member_word} at a time."
            )
        names = {name: self._label(name, part) for name, part in self.releases.items()}
        if isinstance(first, PercentileRelease):
            parts = {name: (part.values, part.shown_band(level)) for name, part in self.releases.items()}
            heading = f"Percentile curves by {self.plan.member_word}, {price(self.plan)}"
            words = (look.with_names(names), heading, str(first.measure), first.within)
            return plots.caution(profiles.groups(parts, first.grid, first.levels, ax, *words), self.cautions)
        lines = {
            f"{name} {line}".rstrip(): (f"{names[name]} {line}".rstrip(), values)
            for name, part in self.releases.items()
            for line, values in part.lines.items()
        }
        look = look.with_names({key: said for key, (said, _) in lines.items()})
        single, ylabel = len(lines) == len(self), str(first.measure)
        if single and ax is None and MOST_BANDS < len(self) <= MOST_PANELS:
            several = {name: (part.values, part.shown_band(level)) for name, part in self.releases.items()}
            look = look.along(first.along)
            ax = plots.multiples(several, first.grid.axes[-1], look, heading, ylabel)
        else:
            few = single and len(self) <= MOST_BANDS
            bands = [part.shown_band(level) for part in self.releases.values()] if few else ()
            look = look.along(first.along)
            curves = {key: values for key, (_, values) in lines.items()}
            ax = plots.overlay(first.grid, curves, ax, heading, bands, look, ylabel)
            if first.within is not None:
                plots.within(ax, first.within)
        return plots.caution(ax, self.cautions)

    def _draw_maps(self, ax: plots.Places, look: plots.Look, heading: str) -> plots.Axes:
        parts, first = list(self.releases.values()), self._any
        words, square = first.map_words
        return maps.panels(parts, ax, look, heading, list(self.releases), first.is_signed, words, square)

    def _label(self, name: str, release: Release) -> str:
        """How a picture names one of them."""
        return name

    def _repr_html_(self) -> str:
        picture = plots.inline(self.plot, self.query) if self._any.dimension < 3 else ""
        return picture + self.plan._repr_html_()

    @property
    def _array(self) -> np.ndarray:
        """The values of all of them, in their order."""
        return np.stack([release.values for release in self.releases.values()])

    def __repr__(self) -> str:
        small = [name for name, part in self.releases.items() if part.bound_too_small]
        more = f"; the bound is too small for {', '.join(small)}" if small else ""
        return f"{type(self).__name__}({', '.join(self.releases)}; {cost(self.plan)} together{more})"

    def to_json(self) -> str:
        """Everything public about all releases, with a version and a checksum."""
        bodies = {name: release.body() for name, release in self.releases.items()}
        return codec.seal("releases", VERSION, {"plan": codec.to_plain(self.plan, beside=True), "releases": bodies})

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write JSON with a version and a checksum; the file is whole or absent.

        Parameters
        ----------
        path : path
            Where the file goes.
        """
        return write_whole(path, self.to_json())

    def to_csv(self, path: str | os.PathLike[str] | None = None, level: float = 0.95) -> str:
        """Group, grid, value and band as CSV text, and into a file if a path is given.

        Parameters
        ----------
        path : path, optional
            Where the text goes as well. Default: no file.
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        """
        parts = [release._columns(level) for release in self.releases.values()]
        groups = np.repeat(list(self.releases), [len(part["value"]) for part in parts])
        text = csv_of({"group": groups} | {name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
        if path is not None:
            write_whole(path, text)
        return text

    def to_dataframe(self, level: float = 0.95) -> DataFrame:
        """Group, grid, value and band as a pandas data frame.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        """
        import pandas

        frames = {name: release.to_dataframe(level) for name, release in self.releases.items()}
        return pandas.concat(frames, names=["group"]).reset_index(level=0).reset_index(drop=True)
