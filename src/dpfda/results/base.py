"""A released curve or surface: public numbers, sealed with their plan."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core import codec
from dpfda.core.errors import ParameterError
from dpfda.core.files import write_whole
from dpfda.core.renewal import Renewal
from dpfda.results import plots, statements
from dpfda.results.arrays import AsArray, data_array, data_grid
from dpfda.results.bands import NOISE_ONLY, Band, band_half_width
from dpfda.results.columns import axis_names, csv_of
from dpfda.results.drawn import Drawn
from dpfda.results.methods_text import text_of
from dpfda.results.postprocess import shrink
from dpfda.results.statements import Statement
from dpfda.spaces.grid import AnyGrid
from dpfda.spaces.points import interpolated, like

if TYPE_CHECKING:
    from pandas import DataFrame
    from xarray import DataArray

    from dpfda.plans.base import Plan
    from dpfda.problems.stage import Stage
    from dpfda.results.terms import Terms

VERSION = 1


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Release(AsArray, Drawn):
    """A released curve or surface: call it, plot it, save it, read its statement.

    Verbs, plans and models make releases; :func:`dpfda.load` reads saved ones. All of it is public.

    Parameters
    ----------
    plan : plan
        The plan that was carried out.
    coefficients : array
        Coefficients of the released function in the plan's basis, after whatever was done after the noise.
    raw : array
        The same as they were drawn.
    query : str
        The name of the release in the ledger and in its statement.
    created : str
        When it was made, in UTC.
    study, entry, seal : optional
        The ledger that was charged: its study, the number of the charge and the seal of it. None without a ledger.
    renewal : optional
        Of a budget that renews: the period that was charged, and what all periods add up to.
    steps : tuple of str
        What was done after the noise, in words.
    order : int
        0 for the function itself, 1 for its derivative.
    drawn : tuple of arrays
        What each stage drew, where there are several.

    Examples
    --------
    >>> import numpy as np, dpfda as dp
    >>> curves = np.sin(np.linspace(0, 6, 40)) * np.ones((500, 1))
    >>> release = dp.mean(curves, epsilon=1.0, bound=dp.L2Ball(1.0))
    >>> release([0.25, 0.5]).shape
    (2,)
    """

    plan: Plan[Any]
    coefficients: np.ndarray
    raw: np.ndarray
    query: str = "mean"
    created: str = ""
    study: str | None = None
    entry: int | None = None
    seal: str | None = None
    renewal: Renewal | None = None
    steps: tuple[str, ...] = ()
    order: int = 0
    drawn: tuple[np.ndarray, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether its numbers are as many as the plan has."""
        return self.coefficients.shape == self.raw.shape == (self.plan.basis.size,)

    # -- the curve or surface -------------------------------------------------------------

    @property
    def dimension(self) -> int:
        """How many coordinates a point of the domain has."""
        return len(self.grid.axes)

    @property
    def lines(self) -> dict[str, np.ndarray]:
        """The curves that a picture shows, by what tells them apart: one, without a name."""
        return {"": self.values}

    def __call__(self, t: ArrayLike) -> np.ndarray:
        """The value (or derivative) at any points of the domain; a number at a single point."""
        values = self.plan.basis.evaluate(t, self.order) @ self.coefficients + self._offset(t)
        return like(t, values, self.grid)

    @property
    def grid(self) -> AnyGrid:
        """Where values are released."""
        return self.plan.problem.grid

    @property
    def values(self) -> np.ndarray:
        """The curve at the grid points; a surface in the grid's shape."""
        if self.order:
            return self(self.grid.points).reshape(self.grid.shape)
        values: np.ndarray = (self.plan.basis.synthesize(self.coefficients) + self.plan.problem.offset).reshape(
            self.grid.shape
        )
        return values

    @property
    def _array(self) -> np.ndarray:
        return self.values

    def derivative(self) -> Self:
        """The derivative of the curve, with bands of its own."""
        if self.order or self.dimension > 1:
            raise ParameterError(
                "only the first derivative of a curve is released", "another one", "Difference it on the grid."
            )
        return replace(self, order=1)

    def _offset(self, t: ArrayLike) -> np.ndarray:
        offset, points = self.plan.problem.offset, self.plan.basis.points(t)
        if not offset.any():
            return np.zeros(len(points))
        return interpolated(self.grid, np.gradient(offset, self.grid.points) if self.order else offset, points)

    def noise_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """What the noise alone can do: a simultaneous band around the raw curve, by simulation of the public noise.

        With probability `level` the filtered estimate from the clipped data lies inside, everywhere. What was left out
        or clipped, and how the data differ from their population, is not in it: it is no error bar.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        basis = self.plan.basis
        points = self.grid.points if t is None else basis.points(t)
        stage = self.stage
        width = band_half_width(
            stage, level, points, stage.problem.typical(self.raw[: stage.problem.basis.size]), self.order
        )
        middle = basis.evaluate(points, self.order) @ self.raw if t is not None or self.order else None
        middle = (basis.synthesize(self.raw) if middle is None else middle) + self._offset(points)
        shape = self.grid.shape if t is None else middle.shape
        return Band(points, (middle - width).reshape(shape), (middle + width).reshape(shape), level, NOISE_ONLY)

    def band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """Simultaneous band for what the records themselves would have given without privacy.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        raise self._no_band()

    def confidence_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """Simultaneous band for the population that the records are a sample of.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        raise self._no_band()

    def _no_band(self) -> ParameterError:
        return ParameterError("no band covers more than the noise here", self.title, "Use noise_band().")

    @property
    def has_bands(self) -> bool:
        """Whether bands cover more than the noise."""
        return False

    def shown_band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """The band of pictures and tables: the most honest one there is, which says what it covers.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        t : array, optional
            Points of the domain. Default: the grid.
        """
        return self.confidence_band(level, t) if self.has_bands else self.noise_band(level, t)

    @property
    def data_have_one(self) -> bool:
        """Whether the records themselves have what is released (a mean), or only their population (a density)."""
        return True

    @property
    def terms(self) -> Terms | None:
        """The parts of the bands, where they can be told apart: differences of releases are narrower for it."""
        return None

    @property
    def bound_too_small(self) -> bool | None:
        """Whether most records reach beyond the public bound, by released numbers; None where nothing tells."""
        return None

    @property
    def bound_words(self) -> str:
        """What the release says of its public bound: that it is too small, or that nothing tells."""
        return ""

    @property
    def cautions(self) -> tuple[str, ...]:
        """What the released numbers themselves say against trusting them, a sentence each."""
        return ()

    @property
    def band_promise(self) -> str:
        """What the shown band promises, in a sentence or two."""
        return "The band shows what the noise alone can do: it is no error bar." if self.dimension == 1 else ""

    @property
    def stage(self) -> Stage:
        """The stage whose noise the released coefficients carry."""
        return self.plan.schedule.last(self.drawn)

    def shrink(self, method: str = "bayes") -> Self:
        """A copy shrunk towards the public centre with the known noise law; `raw` keeps what was drawn.

        Parameters
        ----------
        method : {"bayes", "james-stein", "posterior-mean"}
            How: see :func:`dpfda.postprocess.shrink`. Default: "bayes".
        """
        return shrink(self, method)

    # -- words and pictures ---------------------------------------------------------------

    @property
    def statement(self) -> str:
        """What was protected, in words for a review board."""
        return str(self.statement_parts)

    @property
    def statement_parts(self) -> Statement:
        """The statement as data: its paragraphs by name."""
        others = (caution for caution in self.cautions if caution != self.bound_words)
        bands = " ".join([self.band_promise, *others]).strip()
        return statements.statement(self, statements.how_drawn(self), bands, self.bound_words)

    def methods_text(self) -> str:
        """How it was made, for the methods section of a paper: paragraphs with all numbers, and what to cite.

        Returns
        -------
        str
            Paragraphs, and the references that they name.

        Examples
        --------
        >>> import numpy as np, dpfda as dp
        >>> release = dp.mean(np.zeros((500, 12)), epsilon=1.0, bound=dp.L2Ball(1.0))
        >>> release.methods_text()[:81]
        'An estimate of the mean curve was computed from 500 curves and released under pur'
        """
        return text_of(self, self.band_promise)

    @property
    def title(self) -> str:
        """What this is, in words."""
        words = self.plan.wording
        return self._titled(f"{words.noun}{words.more}")

    def _titled(self, noun: str) -> str:
        return f"{'derivative of the ' if self.order else ''}{self.query} {noun}".replace(f"{noun} {noun}", noun)

    def __repr__(self) -> str:
        where = " x ".join(f"[{axis.span[0]:g}, {axis.span[1]:g}]" for axis in self.grid.domain.axes)
        delta = f", delta {float(self.plan.delta):g}" if self.plan.delta else ""
        return (
            f"{type(self).__name__}({self.title} on {where}, epsilon {float(self.plan.epsilon):g}{delta}, "
            f"plan {self.plan.digest[:12]}{'; its bound is too small' if self.bound_too_small else ''})"
        )

    def _repr_html_(self) -> str:
        picture = plots.inline(self.plot, self.title) if self.dimension < 3 else ""
        return picture + self.plan._repr_html_()

    # -- files ----------------------------------------------------------------------------

    def to_json(self) -> str:
        """Everything public about the release, with a version and a checksum."""
        return codec.seal("release", VERSION, self.body())

    def body(self) -> dict[str, object]:
        """The content of a saved release, as plain data."""
        return {
            "plan": codec.to_plain(self.plan, beside=True),
            "chosen": codec.to_plain(self.plan.chosen),
            "scales": self.plan.scales.tolist(),
            "coefficients": self.coefficients.tolist(),
            "raw": self.raw.tolist(),
            "values": self.values.ravel().tolist(),
            "query": self.query,
            "created": self.created,
            "study": self.study,
            "entry": self.entry,
            "seal": self.seal,
            **({"renewal": self.renewal.to_plain()} if self.renewal else {}),
            "steps": list(self.steps),
            "order": self.order,
            "statement": self.statement,
            **({"drawn": [d.tolist() for d in self.drawn]} if self.drawn else {}),
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write JSON with a version and a checksum; the file is whole or absent.

        Parameters
        ----------
        path : path
            Where the file goes.
        """
        return write_whole(path, self.to_json())

    def _columns(self, level: float) -> dict[str, np.ndarray]:
        band = self.shown_band(level)
        points = self.grid.points.reshape(self.grid.size, -1)
        axes = {name: points[:, a] for a, name in enumerate(axis_names(self.grid))}
        return {**axes, "value": self.values.ravel(), "lower": band.lower.ravel(), "upper": band.upper.ravel()}

    def to_csv(self, path: str | os.PathLike[str] | None = None, level: float = 0.95) -> str:
        """Grid, value and band as CSV text, and into a file if a path is given.

        Parameters
        ----------
        path : path, optional
            Where the text goes as well. Default: no file.
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        """
        text = csv_of(self._columns(level))
        if path is not None:
            write_whole(path, text)
        return text

    def to_dataframe(self, level: float = 0.95) -> DataFrame:
        """Grid, value and band as a pandas data frame.

        Parameters
        ----------
        level : float
            The probability with which the band holds everywhere at once. Default: 0.95.
        """
        import pandas

        return pandas.DataFrame(self._columns(level))

    def to_xarray(self) -> DataArray:
        """The curve or surface as an xarray DataArray, with the grid as its coordinates."""
        return data_array(self)

    def to_fdatagrid(self) -> Any:
        """The curve or surface as a scikit-fda FDataGrid."""
        return data_grid(self)
