"""A released radius: a number that is public now, and the bound that it makes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpfda.bounds.bodies import L2Ball
from dpfda.core import codec, markup
from dpfda.core.files import write_whole
from dpfda.core.renewal import Renewal
from dpfda.results import statements
from dpfda.results.arrays import AsArray
from dpfda.results.base import VERSION
from dpfda.results.methods_text import text_of
from dpfda.results.statements import Statement

if TYPE_CHECKING:
    from dpfda.plans.radius import RadiusPlan

#: What a radius at an end of those on offer means.
WHOLE = "The radius is the bound's own: curves lie near its edge, or beyond it. A centre closer to them does better."
SMALLEST = (
    "The radius is one of the smallest on offer: either curves are as close to the centre as that, or the bound misses "
    "nearly all of them. Use it only if the bound surely holds them."
)
#: How many times the smallest radius is still next to it, at most.
SURE = 2.0


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RadiusRelease(AsArray):
    """A private quantile of norms: use it as a number, or its `bound` in the next plan.

    Parameters
    ----------
    plan : RadiusPlan
        The plan that was carried out.
    coefficients, raw : array
        The radius, as an array of one number.
    query, created, study, entry, seal, renewal, steps : optional
        As for :class:`Release`.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> curves = np.sin(np.linspace(0, 6, 40)) * np.ones((5000, 1))
    >>> 0.6 < dp.suggest_radius(curves, epsilon=0.5, bound=dp.Range(-5, 5)).radius < 4.0
    True
    """

    plan: RadiusPlan
    coefficients: np.ndarray
    raw: np.ndarray
    query: str = "radius"
    created: str = ""
    study: str | None = None
    entry: int | None = None
    seal: str | None = None
    renewal: Renewal | None = None
    steps: tuple[str, ...] = ()
    title, order, drawn = "radius", 0, ()

    @property
    def radius(self) -> float:
        """The radius as a number, in the units of the norm."""
        return float(self.coefficients[0])

    def __float__(self) -> float:
        return self.radius

    @property
    def bound(self) -> L2Ball:
        """The ball of this radius about the plan's centre."""
        return L2Ball(self.radius, self.plan.center)

    @property
    def _array(self) -> np.ndarray:
        return np.array(self.radius)

    @property
    def about(self) -> str:
        """What the radius is about, in words."""
        center = self.plan.center
        return "zero" if center is None else f"{float(center):g}" if center.ndim == 0 else "a public curve"

    @property
    def statement(self) -> str:
        """What was protected, in words for a review board."""
        return str(self.statement_parts)

    @property
    def statement_parts(self) -> Statement:
        """The statement as data: its paragraphs by name."""
        return statements.statement(self, bound=" ".join(self.cautions))

    def methods_text(self) -> str:
        """How it was made, for the methods section of a paper: paragraphs with all numbers, and what to cite."""
        return text_of(self, f"The radius that was released is {self.radius:.6g}, about {self.about}.")

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the radius itself says against trusting it: at either end of those on offer."""
        if self.radius >= self.plan.largest:
            return (WHOLE,)
        near = self.plan.smallest * min(self.plan.times or 1.0, SURE)
        return (SMALLEST,) if self.plan.choices is not None and self.radius <= near else ()

    def to_json(self) -> str:
        """The radius with its plan and its charge, with a version and a checksum."""
        charge = {"created": self.created, "study": self.study, "entry": self.entry, "seal": self.seal}
        charge |= {"renewal": self.renewal.to_plain()} if self.renewal else {}
        facts = {"plan": codec.to_plain(self.plan, beside=True), "radius": self.radius, "query": self.query}
        return codec.seal("radius", VERSION, facts | charge)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write JSON with a version and a checksum; the file is whole or absent.

        Parameters
        ----------
        path : path
            Where the file goes.
        """
        return write_whole(path, self.to_json())

    def _repr_html_(self) -> str:
        rows = [("radius", f"{self.radius:.6g}"), ("about", self.about)]
        return markup.facts("RadiusRelease", rows) + self.plan._repr_html_()

    def __repr__(self) -> str:
        return (
            f"RadiusRelease({self.radius:.6g}, meant to hold {self.plan.quantile:.3g} of the curves, epsilon "
            f"{float(self.plan.epsilon):g}, plan {self.plan.digest[:12]})"
        )
