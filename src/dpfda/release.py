"""The one exit: check, charge, draw, seal.

`execute` is the only function that turns a confidential summary into something public. The
charge is on disk before noise is drawn; a failure after it is not refunded, because a crash may
cost budget and never privacy. A sealed :class:`Release` holds public things only.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import codec, plots, words
from .errors import DpfdaError, FileError, ParameterError
from .files import write_whole
from .ledger import Ledger
from .postprocess import Band, band_half_width, shrink
from .protocol import Summary

log = logging.getLogger("dpfda")
VERSION = 1


def open_ledger(ledger: Ledger | str | os.PathLike[str] | None) -> Ledger | None:
    return ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(Path(ledger))


def check_budget(ledger: Ledger | None, plan: Any) -> None:
    """Refuse before the data is read what would be refused after."""
    if ledger is not None:
        ledger.check(plan.stage.epsilon, plan.stage.delta)


def execute(plan: Any, summary: Summary, ledger: Ledger | None, query: str) -> Release:
    """Check, charge, draw, seal: in this order, once."""
    stage = plan.stage
    stage.problem.check(summary)
    settled = stage.settle(summary)
    entry, study = None, ledger.name if ledger else None
    if ledger is not None:
        entry = ledger.charge(stage.epsilon, delta=stage.delta, plan=plan.digest, query=query)
    noisy = stage.spread([part.law.draw(s) for part, s in zip(stage.parts, settled, strict=True)])
    coefficients = stage.problem.finish(noisy, stage.parts)
    log.info("released %s for plan %s at epsilon %s", query, plan.digest[:12], plan.epsilon)
    return Release(
        plan=plan,
        coefficients=codec.frozen_array(coefficients),
        raw=codec.frozen_array(coefficients),
        query=query,
        created=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        study=study,
        entry=entry.number if entry else None,
        seal=entry.seal if entry else None,
    )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Release:
    """A released curve: call it, plot it, save it, read its statement.

    >>> import numpy as np, dpfda as dp
    >>> curves = np.sin(np.linspace(0, 6, 40)) * np.ones((500, 1))
    >>> release = dp.mean(curves, epsilon=1.0, bound=dp.L2Ball(1.0))
    >>> release([0.25, 0.5]).shape
    (2,)
    """

    plan: Any
    coefficients: np.ndarray
    raw: np.ndarray
    query: str = "mean"
    created: str = ""
    study: str | None = None
    entry: int | None = None
    seal: str | None = None
    steps: tuple[str, ...] = ()
    order: int = 0

    # -- the curve ------------------------------------------------------------------------

    def __call__(self, t: ArrayLike) -> np.ndarray:
        """The curve (or derivative) at any points of the domain; a number at a number."""
        values = self.plan.basis.evaluate(t, self.order) @ self.coefficients + self._offset(t)
        return values if np.ndim(t) else values[0]

    @property
    def grid(self) -> Any:
        return self.plan.grid

    @property
    def values(self) -> np.ndarray:
        """The curve at the grid points."""
        if self.order:
            return self(self.grid.points)
        return self.plan.basis.synthesize(self.coefficients) + self.plan.problem.offset

    def derivative(self) -> Release:
        """The derivative of the curve, with bands of its own."""
        if self.order:
            raise ParameterError("only the first derivative is released", "a second one", "Difference it on the grid.")
        return replace(self, order=1)

    def _offset(self, t: ArrayLike) -> np.ndarray:
        offset, x = self.plan.problem.offset, self.grid.points
        if not offset.any():
            return np.zeros(np.atleast_1d(t).shape)
        return np.interp(np.atleast_1d(np.asarray(t, dtype=float)), x, np.gradient(offset, x) if self.order else offset)

    def band(self, level: float = 0.95, t: ArrayLike | None = None) -> Band:
        """Simultaneous noise band around the raw curve, by simulation of the public noise.

        With probability `level` the filtered mean of the clipped data lies inside, everywhere.
        """
        points = self.grid.points if t is None else np.atleast_1d(np.asarray(t, dtype=float))
        functions = self.plan.basis.evaluate(points, self.order)
        width = band_half_width(self.plan.stage, level, functions, self.plan.problem.typical(self.raw))
        middle = functions @ self.raw + self._offset(points)
        return Band(points, middle - width, middle + width, level)

    def shrink(self, method: str = "bayes") -> Release:
        """A copy shrunk towards the public centre with the known noise law; `raw` keeps what was drawn."""
        return shrink(self, method)

    # -- words and pictures ---------------------------------------------------------------

    @property
    def statement(self) -> str:
        """What was protected, in words for a review board."""
        return words.statement(self)

    def plot(self, ax: Any = None, level: float = 0.95) -> Any:
        """The curve and its noise band on matplotlib axes."""
        t = plots.fine(self.grid)
        return plots.curve(
            self.grid,
            self(t),
            self.band(level, t),
            ax=ax,
            title=f"{self.title.capitalize()}, {float(self.plan.epsilon):g}-differentially private",
            label="; ".join([f"private {'derivative' if self.order else self.query}", *self.steps]),
        )

    @property
    def title(self) -> str:
        """What this is, in words."""
        return f"{'derivative of the ' if self.order else ''}{self.query} curve"

    def __repr__(self) -> str:
        low, high = self.grid.span
        return (
            f"Release({self.title} on [{low:g}, {high:g}], epsilon {float(self.plan.epsilon):g}, "
            f"plan {self.plan.digest[:12]})"
        )

    def _repr_html_(self) -> str:
        return plots.inline(self.plot) + self.plan._repr_html_()

    # -- files ----------------------------------------------------------------------------

    def to_json(self) -> str:
        """Everything public about the release, with a version and a checksum."""
        body = {
            "plan": codec.plain(self.plan),
            "chosen": codec.plain(self.plan.chosen),
            "scales": self.plan.scales.tolist(),
            "coefficients": self.coefficients.tolist(),
            "raw": self.raw.tolist(),
            "values": self.values.tolist(),
            "query": self.query,
            "created": self.created,
            "study": self.study,
            "entry": self.entry,
            "seal": self.seal,
            "steps": list(self.steps),
            "order": self.order,
            "statement": self.statement,
        }
        return codec.seal("release", VERSION, body)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write JSON with a version and a checksum; the file is whole or absent."""
        return write_whole(path, self.to_json())

    def to_csv(self, path: str | os.PathLike[str] | None = None, level: float = 0.95) -> str:
        """Grid, value and band as CSV text, and into a file if a path is given."""
        band = self.band(level)
        lines = [f"{_plain_cell(self.grid.name)},value,lower,upper"]
        lines += [
            f"{t!r},{v!r},{a!r},{b!r}"
            for t, v, a, b in zip(
                self.grid.points.tolist(), self.values.tolist(), band.lower.tolist(), band.upper.tolist(), strict=True
            )
        ]
        text = "\n".join(lines) + "\n"
        if path is not None:
            write_whole(path, text)
        return text

    def to_dataframe(self, level: float = 0.95) -> Any:
        """Grid, value and band as a pandas data frame."""
        import pandas

        band = self.band(level)
        return pandas.DataFrame(
            {self.grid.name: self.grid.points, "value": self.values, "lower": band.lower, "upper": band.upper}
        )

    def to_fdatagrid(self) -> Any:
        """The curve as a scikit-fda FDataGrid."""
        import skfda

        return skfda.FDataGrid(
            self.values[None, :],
            self.grid.points,
            domain_range=[self.grid.span],
            argument_names=[self.grid.name],
            sample_names=[self.query],
        )


def load(path: str | os.PathLike[str]) -> Release:
    """A release read from the file that :meth:`Release.save` wrote; damaged files are refused.

    The file decides: parameters that another version or machine would select differently are taken
    as they were chosen.
    """
    name = Path(path).name
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(f"{name!r} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise FileError(f"{name!r} is not a release: it is not text.") from None
    body = codec.unseal(text, "release", VERSION)
    try:
        plan = codec.revive(body["plan"])
        scales, values = np.array(body["scales"], dtype=float), np.array(body["values"], dtype=float)
        if not np.allclose(scales, plan.scales, rtol=1e-6, atol=0):
            plan = replace(plan, method=codec.revive(body["chosen"]))
        release = Release(
            plan=plan,
            coefficients=codec.frozen_array(body["coefficients"]),
            raw=codec.frozen_array(body["raw"]),
            query=str(body["query"]),
            created=str(body["created"]),
            study=body["study"],
            entry=body["entry"],
            seal=body["seal"],
            steps=tuple(map(str, body["steps"])),
            order=int(body["order"]),
        )
        whole = release.coefficients.shape == release.raw.shape == (plan.basis.size,)
        whole = whole and values.shape == (plan.grid.size,) and release.order in (0, 1)
        whole = whole and np.allclose(scales, plan.scales, rtol=1e-3, atol=0)
        whole = whole and all(np.isfinite(a).all() for a in (release.coefficients, release.raw, values))
        whole = whole and _well_named(release)
    except DpfdaError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, ArithmeticError, MemoryError):
        whole = False
    if not whole:
        raise FileError(f"{name!r} does not hold a whole release.")
    return _on_this_machine(release, values)


def _well_named(release: Release) -> bool:
    """Names that can be printed, and a charge that is recorded whole or not at all."""
    charge = (release.study, release.entry, release.seal)
    recorded = isinstance(charge[0], str) and isinstance(charge[1], int) and isinstance(charge[2], str)
    texts = [release.query, release.created, *release.steps, *(x for x in charge if isinstance(x, str))]
    return (recorded or charge == (None, None, None)) and all(text.isprintable() for text in texts)


def _on_this_machine(release: Release, values: np.ndarray) -> Release:
    """Eigenvectors may come out rotated under another linear-algebra library; the saved values decide."""
    if release.order or np.allclose(release.values, values, rtol=0, atol=1e-9 * (1 + np.abs(values).max())):
        return release
    about = codec.frozen_array(release.plan.basis.coefficients(values - release.plan.problem.offset))
    return replace(release, coefficients=about, raw=about, steps=(*release.steps, "re-expressed in this basis"))


def _plain_cell(text: str) -> str:
    """A name that no spreadsheet will run as a formula."""
    safe = text.replace('"', "'").replace("\n", " ").replace(",", " ")
    return f"'{safe}" if safe[:1] in "=+-@\t" else safe
