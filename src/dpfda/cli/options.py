"""The options that several commands share, each declared once, and the groups in which they come."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from dpfda.bounds import BoundLike, RecordFunction
from dpfda.cli import parsing
from dpfda.cli.commands import Keywords, Options
from dpfda.core.errors import ParameterError
from dpfda.ledger import Ledger

N = Annotated[int | None, typer.Option("--n", help="Number of records (public), or a public guess under add-remove.")]
Epsilon = Annotated[str | None, typer.Option(help="Privacy budget: 1, 0.5 or 1/4. No default.")]
Neighbors = Annotated[str, typer.Option(help="replace (n public) or add-remove (n private).")]
Invalid = Annotated[
    str,
    typer.Option(
        help="raise: stop at an unusable record; center: count it as the public centre (in a density: as spread "
        "evenly; in survival: as censored at 0; in a model: without a say)."
    ),
]
Range = Annotated[
    str | None, typer.Option(help="Public bound: values between low:high, 2:25 or --range=-5:5. No default.")
]
Radius = Annotated[float | None, typer.Option(help="Or a public bound on the norm of one curve.")]
Rms = Annotated[
    float | None, typer.Option(help="Or a public bound on the root mean square of one curve, in its own units.")
]
Norm = Annotated[str, typer.Option(help="Norm of the bound: l2 (curve) or l1 (coefficients).")]
Center = Annotated[float | None, typer.Option(help="Public centre of --radius or --rms, a constant level.")]
Above = Annotated[
    float | None,
    typer.Option(help="Share of curves above this level, instead of their mean; brings its own bound."),
]
TimeAbove = Annotated[
    str | None,
    typer.Option(
        help="The mean share of time above each level, start:stop:size or 70,140,180, instead of the mean curve; needs "
        "no bound."
    ),
]
GridText = Annotated[
    str | None,
    typer.Option("--grid", help="start:stop:size[:midpoints], or header: the columns' names. Default 0:1:<columns>."),
]
Axis = Annotated[str, typer.Option(help="Name of the domain, with its unit: 'hour (h)'.")]
Axes = Annotated[list[str] | None, typer.Option("--axis", help="Name of a coordinate, 'age (years)'; once each.")]
KernelText = Annotated[
    str | None,
    typer.Option(
        "--kernel",
        help="matern:nu:length, gaussian:length or exponential:length (the length may be left out); for curves also "
        "cosine-matern:nu:length, for cosines.",
    ),
]
MethodText = Annotated[
    str | None,
    typer.Option(
        "--method",
        help="auto, minimax, qr, frl, knorm, blocks, ar (not for densities), bernstein:lattice=20,order=5 (not for "
        "covariances) or gaussianprocess:delta=1e-6 (not pure); options as qr:psi=0.01 or auto:spread=1,passes=1 (a "
        "public radius about the mean; read the file once). Default: auto, by expected risk.",
    ),
]
Standardize = Annotated[bool, typer.Option("--standardize", help="Each curve minus its mean, over its norm.")]
Raw = Annotated[
    bool, typer.Option("--raw", help="The numbers as drawn: no shrinkage and no projection after the noise.")
]
Domain = Annotated[
    list[str] | None, typer.Option(help="Public range of a coordinate, low:high; once per coordinate. No default.")
]
Cells = Annotated[str | None, typer.Option(help="Cells per coordinate: 512, or 64x64.")]
Bandwidth = Annotated[
    float | None,
    typer.Option(
        help="Bandwidth of the kernel for qr, bernstein, gaussianprocess (default width times n^(-1/(4+d))); "
        "giving it makes qr the default method."
    ),
]
Eta = Annotated[
    float | None, typer.Option(help="Power of the kernel for the same; giving it makes qr the default method.")
]
Edges = Annotated[
    str | None, typer.Option(help="Edges of bins of counts: 0,1,5,10 or start:stop:step, joined by commas.")
]
Outside = Annotated[str, typer.Option(help="raise: stop at a point outside the domain; clip: move it to the edge.")]
HorizonTime = Annotated[
    float | None,
    typer.Option("--horizon", help="Public end of a survival curve. No default."),
]
TimeAxis = Annotated[str, typer.Option("--axis", help="What time is called, with its unit: 'time (days)'.")]
Levels = Annotated[
    str | None, typer.Option("--levels", help="Percentiles to show, separated by commas. Default 5,25,50,75,95.")
]
#: Names the ledger where none is named otherwise.
LEDGER_VARIABLE = "DPFDA_LEDGER"
LedgerFile = Annotated[Path | None, typer.Option("--ledger", envvar=LEDGER_VARIABLE, help="Ledger to charge.")]
LedgerPath = Annotated[Path, typer.Argument(envvar=LEDGER_VARIABLE, help="A ledger file.")]
#: Which run of a job this is: `dpfda run` says it, and a run is charged once.
Run = Annotated[str, typer.Option("--run", hidden=True)]
Note = Annotated[str, typer.Option(help="A note that the charge carries in the ledger.")]
Operator = Annotated[str, typer.Option(help="Who makes the release, for the ledger.")]
Study = Annotated[str | None, typer.Option(help="The study the ledger must belong to.")]
Anyway = Annotated[
    bool, typer.Option("--anyway", help="Release also what will be mostly noise. Default: refused, nothing charged.")
]
Value = Annotated[
    str | None, typer.Option("--value", help="What values are, with their unit: 'glucose (mmol/L)'. For pictures.")
]
Record = Annotated[
    str | None, typer.Option("--record", help="What one record is: home, or person/people. For statements.")
]
PlanFile = Annotated[Path | None, typer.Option("--plan", help="Use a plan written by 'dpfda plan --out'.")]


@dataclass(frozen=True)
class Protection(Options):
    """What is protected, and at what price."""

    epsilon: Epsilon = None
    n: N = None
    neighbors: Neighbors = "replace"
    invalid: Invalid = "raise"
    record: Record = None

    @classmethod
    def settled(cls) -> tuple[str, ...]:
        """Those that a plan file settles: all but the words beside a plan."""
        return tuple(name for name in cls.names() if name != "record")

    def keywords(self) -> Keywords:
        """As the verbs and plans spell them, which check them too."""
        return dict(vars(self))


@dataclass(frozen=True)
class Limits(Options):
    """The public bound on a curve: a range of values, a norm or a root mean square."""

    range: Range = None
    radius: Radius = None
    rms: Rms = None
    center: Center = None

    def bound(self, norm: str = "l2", of: RecordFunction | None = None) -> BoundLike | None:
        """The bound that was given; none beside a function of the curves, which brings its own."""
        if of is None:
            return parsing.parse_bound(self.range, self.radius, self.rms, norm, self.center)
        given = [f"--{name}" for name, value in vars(self).items() if name in Limits.names() and value is not None]
        if given or norm != "l2":
            raise ParameterError(
                "a function of a curve brings its own bound",
                " and ".join(given) or "--norm",
                "Drop it, or the function.",
            )
        return None


@dataclass(frozen=True)
class Functions(Options):
    """Of which function of the curves the mean is, if of one."""

    above: Above = None
    time_above: TimeAbove = None

    def function(self) -> RecordFunction | None:
        return parsing.parse_function(self.above, self.time_above)


@dataclass(frozen=True)
class Space(Limits):
    """The same, where its values are, and how smooth it is."""

    grid: GridText = None
    axis: Axis = "t"
    kernel: KernelText = None

    def keywords(self, norm: str = "l2", of: RecordFunction | None = None) -> Keywords:
        return {
            "bound": self.bound(norm, of),
            **({} if of is None else {"of": of}),
            "grid": parsing.parse_grid(self.grid, self.axis) if self.grid else None,
            "kernel": parsing.if_given(parsing.parse_kernel, self.kernel),
        }


@dataclass(frozen=True)
class Estimate(Space):
    """The same, and what is made of the curves."""

    method: MethodText = None
    standardize: Standardize = False
    raw: Raw = False

    def keywords(self, norm: str = "l2", of: RecordFunction | None = None) -> Keywords:
        method = parsing.if_given(parsing.parse_method, self.method)
        if self.standardize and self.radius is None and (self.range or self.rms):
            raise ParameterError(
                "standardised curves have no units left, and norm one",
                "--standardize with --range or --rms",
                "Write --radius 1 instead.",
            )
        more = {"method": method, "standardize": self.standardize, "postprocess": not self.raw}
        return super().keywords(norm, of) | more


@dataclass(frozen=True)
class Box(Options):
    """Where points lie, and how they are smoothed."""

    domain: Domain = None
    cells: Cells = None
    bandwidth: Bandwidth = None
    eta: Eta = None

    def keywords(self) -> Keywords:
        return {
            "domain": parsing.parse_domain(self.domain),
            "cells": parsing.if_given(parsing.parse_cells, self.cells),
            "bandwidth": self.bandwidth,
            "eta": self.eta,
        }


@dataclass(frozen=True)
class Bins(Box):
    """The same, with the bins of a table of counts, and what becomes of points outside."""

    edges: Edges = None
    outside: Outside = "raise"

    def keywords(self) -> Keywords:
        edges = parsing.if_given(parsing.parse_edges, self.edges)
        return super().keywords() | {"edges": edges, "outside": self.outside}


@dataclass(frozen=True)
class Horizon(Options):
    """Up to when times are followed, and what they are called."""

    horizon: HorizonTime = None
    axis: TimeAxis = "time"

    def keywords(self) -> Keywords:
        return dict(vars(self))


@dataclass(frozen=True)
class Ranks(Options):
    """Of which values percentiles are, which are shown, and where."""

    range: Range = None
    levels: Levels = None
    grid: GridText = None
    axis: Axis = "t"

    def keywords(self) -> Keywords:
        levels = {} if self.levels is None else {"levels": parsing.parse_levels(self.levels)}
        if self.range is None:
            cure = "Pass --range LOW:HIGH for values between two public numbers: it is never read from the data."
            raise ParameterError("percentiles need a public range of values", "none", cure)
        return {
            "range": parsing.parse_range(self.range),
            **levels,
            "grid": parsing.parse_grid(self.grid, self.axis) if self.grid else None,
        }


@dataclass(frozen=True)
class Charge(Options):
    """What is charged, and whether that is wanted where little will come of it."""

    ledger: LedgerFile = None
    study: Study = None
    note: Note = ""
    operator: Operator = ""
    run: Run = ""
    anyway: Anyway = False

    def opened(self) -> Ledger | None:
        if self.ledger is None and (self.study is not None or self.note or self.operator):
            raise ParameterError("--study, --note and --operator are about a ledger", "no ledger", "Pass --ledger too.")
        return Ledger(self.ledger, self.study, self.note, self.operator, self.run) if self.ledger else None
