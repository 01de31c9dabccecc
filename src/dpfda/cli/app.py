"""The verbs. Figures go to standard output, progress and errors to standard error.

Exit codes: 0 done, 1 the input or a file is wrong, 2 the command line is wrong, 3 the ledger
refused or cannot be used.
"""

from __future__ import annotations

import functools
import json
import logging
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from .. import __version__, api, datasets, plots, words
from .. import release as exit
from ..errors import DpfdaError, FileError, LedgerError, ParameterError
from ..ledger import Ledger
from ..plans import MeanPlan
from ..readers import width
from . import parsing

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False,
                  help="Publish curves under pure differential privacy.")
ledger_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Keep the privacy budget of a study.")
app.add_typer(ledger_app, name="ledger")
out, err = Console(highlight=False, soft_wrap=True), Console(stderr=True, highlight=False, soft_wrap=True)


def main() -> None:
    app()


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Errors on purpose become one clear line and an exit code, never a traceback."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
        except DpfdaError as error:
            err.print(f"Error: {error}", style="bold red", markup=False)
            raise typer.Exit(3 if isinstance(error, LedgerError) else 1) from None
        except KeyboardInterrupt:
            err.print("Interrupted before the charge: nothing was released.", style="bold red")
            raise typer.Exit(130) from None

    return run


N = Annotated[int | None, typer.Option("--n", help="Number of curves (public), or a public guess under add-remove.")]
Epsilon = Annotated[str | None, typer.Option(help="Privacy budget: 1, 0.5 or 1/4. No default.")]
Radius = Annotated[float | None, typer.Option(help="Public bound on the norm of one curve. No default.")]
Norm = Annotated[str, typer.Option(help="Norm of the bound: l2 (curve) or l1 (coefficients).")]
Center = Annotated[float | None, typer.Option(help="Public centre of the bound, a constant level.")]
GridText = Annotated[str | None, typer.Option("--grid", help="start:stop:size[:midpoints]. Default 0:1:<columns>.")]
KernelText = Annotated[str | None, typer.Option("--kernel", help="matern:nu:length, gaussian:length, "
                                                "exponential:length; cosine-matern:nu:length for cosines.")]
MethodText = Annotated[str | None, typer.Option("--method", help="minimax, qr, frl, ar or knorm; options as "
                                                "qr:psi=0.01. Default: minimax or knorm, the smaller expected risk.")]
Axis = Annotated[str, typer.Option(help="Name of the domain, with its unit: 'hour (h)'.")]
Neighbors = Annotated[str, typer.Option(help="replace (n public) or add-remove (n private).")]
Invalid = Annotated[str, typer.Option(help="raise: stop at an unusable curve; center: count it as the centre.")]
Standardize = Annotated[bool, typer.Option("--standardize", help="Each curve minus its mean, over its norm.")]
Fill = Annotated[int | None, typer.Option(help="Interpolate a curve's own gaps up to this many points.")]
PlanFile = Annotated[Path | None, typer.Option("--plan", help="Use a plan written by 'dpfda plan --out'.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar and no summary.")]


def build_plan(plan: Path | None, n: int | None, epsilon: str | None, radius: float | None, norm: str,
               center: float | None, grid: str | None, kernel: str | None, method: str | None, neighbors: str,
               invalid: str, standardize: bool, fill: int | None, size: int | None = None, axis: str = "t") -> MeanPlan:
    """A plan from a file, or from the options of the command line."""
    if plan is not None:
        return read_plan(plan)
    if grid is None and size is None:
        raise ParameterError("a plan needs a grid", "none", "Pass --grid start:stop:size, for example --grid 0:24:48.")
    if n is None:
        raise ParameterError("a plan needs the public number of curves", "none", "Pass --n 1000.")
    return MeanPlan(n=n, epsilon=epsilon, bound=parsing.parse_bound(radius, norm, center),  # type: ignore[arg-type]
                    grid=parsing.parse_grid(grid or f"0:1:{size}", axis),
                    kernel=parsing.parse_kernel(kernel) if kernel else None,
                    method=parsing.parse_method(method) if method else None,
                    neighbors=neighbors, invalid=invalid, standardize=standardize, fill=fill)


def read_plan(path: Path) -> MeanPlan:
    try:
        return MeanPlan.from_json(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise FileError(f"{path.name!r} is not a plan: it is not text.") from None
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"The plan {path.name!r} cannot be read: {error.strerror}.") from None


def figures(plan: MeanPlan) -> dict[str, Any]:
    """The numbers of a plan, for --json."""
    return {"plan": plan.digest, "n": plan.n, "epsilon": str(plan.epsilon), "method": repr(plan.method),
            "expected_error": plan.expected_error, "expected_risk": plan.expected_risk,
            "relative_error": float(np.sqrt(plan.expected_risk) / plan.bound.outer),
            "numbers_released": int(sum(part.where.size for part in plan.stage.parts))}


@app.command("plan")
@guarded
def plan_command(n: N = None, epsilon: Epsilon = None, radius: Radius = None, norm: Norm = "l2", center: Center = None,
                 grid: GridText = None, axis: Axis = "t", kernel: KernelText = None, method: MethodText = None,
                 neighbors: Neighbors = "replace", invalid: Invalid = "raise", standardize: Standardize = False,
                 fill: Fill = None, output: Annotated[Path | None, typer.Option("--out", help="Write the plan.")] = None,
                 explain: Annotated[bool, typer.Option("--explain", help="Say in plain words what it means.")] = False,
                 target: Annotated[float | None, typer.Option(help="Also find the epsilon and the n whose expected "
                                                              "risk is this.")] = None,
                 as_json: AsJson = False) -> None:
    """Plan a mean curve before touching data: how accurate will it be?

    Example: dpfda plan --n 1000 --epsilon 1 --radius 1 --grid 0:1:48 --explain
    """
    plan = build_plan(None, n, epsilon, radius, norm, center, grid, kernel, method, neighbors, invalid, standardize, fill,
                      axis=axis)
    if output:
        exit.write_whole(output, plan.to_json())
    reach = {} if target is None else {"target": target, "epsilon_for_target": plan.solve(target),
                                       "n_for_target": plan.solve(target, vary="n")}
    if as_json:
        out.print_json(data={**figures(plan), **reach})
        return
    out.print(plan.explain() if explain else repr(plan), markup=False)
    if reach:
        out.print(f"  risk {target:g} needs epsilon {reach['epsilon_for_target']:.4g} at this n, "
                  f"or n {reach['n_for_target']:,} at this epsilon")


@app.command("mean")
@guarded
def mean_command(curves: Annotated[Path, typer.Argument(help="CSV or Parquet file, one row a curve.")],
                 epsilon: Epsilon = None, radius: Radius = None, norm: Norm = "l2", center: Center = None,
                 grid: GridText = None, axis: Axis = "t", kernel: KernelText = None, method: MethodText = None,
                 neighbors: Neighbors = "replace", invalid: Invalid = "raise", standardize: Standardize = False,
                 fill: Fill = None, n: N = None, plan: PlanFile = None,
                 columns: Annotated[str | None, typer.Option(help="Value columns: a pattern (hh*) or a comma list.")] = None,
                 ledger: Annotated[Path | None, typer.Option(help="Ledger to charge.")] = None,
                 study: Annotated[str | None, typer.Option(help="The study the ledger must belong to.")] = None,
                 output: Annotated[Path | None, typer.Option("--out", help="Write the release as JSON.")] = None,
                 csv: Annotated[Path | None, typer.Option(help="Write curve and band as CSV.")] = None,
                 plot: Annotated[Path | None, typer.Option(help="Write a picture (PNG).")] = None,
                 statement: Annotated[Path | None, typer.Option(help="Write the privacy statement as text.")] = None,
                 shrink: Annotated[str | None, typer.Option(help="Shrink after the noise: bayes or james-stein.")] = None,
                 as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Release the mean of a file of curves.

    Example: dpfda mean curves.csv --epsilon 1 --radius 1 --out mean.json --csv mean.csv --plot mean.png
    """
    chosen = columns.split(",") if columns and "," in columns else columns
    for path in filter(None, (output, csv, plot, statement)):
        exit.check_writable(path)
    if plot and plot.suffix != ".png":
        raise FileError(f"The picture {plot.name!r} must end in .png.")
    check_shrink(shrink)
    book = Ledger(ledger, study) if ledger else None
    with progress_bar(quiet or as_json) as progress:
        if plan is not None:
            release = read_plan(plan).release(curves, book, columns=chosen, progress=progress)
        else:
            draft = build_plan(None, n or api.PLACEHOLDER, epsilon, radius, norm, center, grid, kernel, method, neighbors,
                               invalid, standardize, fill, None if grid else width(curves, chosen), axis)
            release = api.mean(curves, n=n, epsilon=draft.epsilon, bound=draft.bound, kernel=draft.kernel,
                               grid=draft.grid, method=draft.method if method else None, neighbors=neighbors, invalid=invalid, ledger=book,
                               columns=chosen, standardize=standardize, fill=fill, progress=progress)
    if shrink:
        release = release.shrink(shrink)
    written = write_outputs(release, output, csv, plot, statement)
    if as_json:
        out.print_json(data={**figures(release.plan), "study": release.study, "entry": release.entry,
                             "written": written, "grid": release.grid.points.tolist(), "values": release.values.tolist()})
    elif not quiet:
        out.print(repr(release.plan), markup=False)
        out.print(f"Written: {', '.join(written)}" if written else
                  "Nothing was written: pass --out, --csv, --plot or --statement.", markup=False)


def check_shrink(method: str | None) -> None:
    from ..postprocess import SHRINKAGE

    if method is not None and method not in SHRINKAGE:
        raise ParameterError(f"shrinkage must be one of {', '.join(SHRINKAGE)}", repr(method)[:40],
                             "Write --shrink bayes.")


def write_outputs(release: exit.Release, output: Path | None, csv: Path | None, plot: Path | None,
                  statement: Path | None) -> list[str]:
    if output:
        release.save(output)
    if csv:
        release.to_csv(csv)
    if plot:
        plots.save(release.plot(), plot)
    if statement:
        exit.write_whole(statement, release.statement + "\n")
    return [str(path) for path in (output, csv, plot, statement) if path]


@contextmanager
def progress_bar(silent: bool) -> Iterator[Callable[[int, int | None], None] | None]:
    """Rows read so far, on standard error, when a person is watching."""
    if silent or not sys.stderr.isatty():
        yield None
        return
    with Progress(TextColumn("reading"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=err,
                  transient=True) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@app.command("compare")
@guarded
def compare_command(n: N = None, radius: Radius = None, norm: Norm = "l2", center: Center = None, grid: GridText = None,
                    kernel: KernelText = None, neighbors: Neighbors = "replace",
                    methods: Annotated[str, typer.Option(help="Methods, separated by spaces.")] = "frl ar qr minimax knorm",
                    epsilons: Annotated[str, typer.Option(help="Budgets, separated by spaces.")] = "1/8 1/4 1/2 1 2 4",
                    measure: Annotated[str, typer.Option(help="risk (noise plus prior bias) or error (noise).")] = "risk",
                    plot: Annotated[Path | None, typer.Option(help="Write a picture (PNG).")] = None,
                    as_json: AsJson = False) -> None:
    """Compare methods over budgets, without data.

    Example: dpfda compare --n 508 --radius 1 --grid 0:1:48 --epsilons "1/2 1 2" --plot compare.png
    """
    if measure not in ("risk", "error"):
        raise ParameterError("measure must be risk or error", repr(measure)[:40], "Write --measure risk.")
    budgets = epsilons.split()
    if not budgets or not methods.split():
        raise ParameterError("a comparison needs methods and budgets", "none", "Write --epsilons '1/2 1 2'.")
    base = build_plan(None, n, budgets[0], radius, norm, center, grid, kernel, "minimax", neighbors, "raise", False, None)
    plans = api.compare(base, [parsing.parse_method(m) for m in methods.split()], budgets)
    risks = {name: [getattr(p, f"expected_{measure}") for p in row] for name, row in plans.items()}
    if plot:
        exit.check_writable(plot)
        plots.save(plots.comparison([float(p.epsilon) for p in next(iter(plans.values()))], risks), plot)
    if as_json:
        out.print_json(data={"measure": f"expected_{measure}", "epsilons": budgets, "methods": risks})
        return
    table = Table(title=f"expected {measure}, squared L2, n = {base.n:,}", title_justify="left")
    table.add_column("method")
    for budget in budgets:
        table.add_column(f"eps {budget}", justify="right")
    for name, values in risks.items():
        table.add_row(name, *(words.number(v) for v in values))
    out.print(table)


@app.command("show")
@guarded
def show_command(file: Annotated[Path, typer.Argument(help="A release or a plan, as JSON.")],
                 plot: Annotated[Path | None, typer.Option(help="Write a picture of a release (PNG).")] = None,
                 csv: Annotated[Path | None, typer.Option(help="Write curve and band of a release as CSV.")] = None,
                 as_json: AsJson = False) -> None:
    """Show a saved release (its statement) or a plan (its table).

    Example: dpfda show mean.json --plot again.png
    """
    if kind_of(file) == "plan":
        plan = read_plan(file)
        out.print_json(data=figures(plan)) if as_json else out.print(repr(plan), markup=False)
        return
    release = exit.load(file)
    for path in filter(None, (plot, csv)):
        exit.check_writable(path)
    write_outputs(release, None, csv, plot, None)
    if as_json:
        out.print_json(data={**figures(release.plan), "created": release.created, "study": release.study,
                             "entry": release.entry, "steps": list(release.steps),
                             "grid": release.grid.points.tolist(), "values": release.values.tolist()})
    else:
        out.print(release.statement, markup=False)


def kind_of(file: Path) -> str:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{file.name!r} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise FileError(f"{file.name!r} is neither a release nor a plan: it is not JSON text.") from None
    return str(data.get("dpfda")) if isinstance(data, dict) else ""


@ledger_app.command("create")
@guarded
def ledger_create(path: Annotated[Path, typer.Argument(help="The new ledger file.")],
                  epsilon: Epsilon = None,
                  study: Annotated[str, typer.Option(help="Name of the study.")] = "",
                  delta: Annotated[str, typer.Option(help="Budget for delta; 0 for pure privacy.")] = "0") -> None:
    """Make a ledger with a total budget.

    Example: dpfda ledger create study.ledger --epsilon 2 --study "load curves"
    """
    made = Ledger.create(path, epsilon=epsilon, study=study, delta=delta)
    out.print(f"Ledger {path.name} for study {made.name!r}: budget epsilon {made.budget}.", markup=False)


@ledger_app.command("show")
@guarded
def ledger_show(path: Annotated[Path, typer.Argument(help="A ledger file.")], as_json: AsJson = False) -> None:
    """Show budget, spent and remaining.

    Example: dpfda ledger show study.ledger
    """
    book = Ledger(path)
    data = {"study": book.name, "budget": str(book.budget), "spent": str(book.spent), "remaining": str(book.remaining),
            "entries": len(book.history())}
    out.print_json(data=data) if as_json else out.print(
        "\n".join(f"{key:<10} {value}" for key, value in data.items()), markup=False)


@ledger_app.command("history")
@guarded
def ledger_history(path: Annotated[Path, typer.Argument(help="A ledger file.")], as_json: AsJson = False) -> None:
    """List every charge, oldest first.

    Example: dpfda ledger history study.ledger --json
    """
    entries = Ledger(path).history()
    if as_json:
        out.print_json(data=[{"number": e.number, "time": e.time, "plan": e.plan, "query": e.query,
                              "epsilon": str(e.epsilon), "delta": str(e.delta)} for e in entries])
        return
    table = Table()
    for name in ("#", "time", "query", "epsilon", "delta", "plan"):
        table.add_column(name)
    for e in entries:
        table.add_row(str(e.number), e.time, e.query, str(e.epsilon), str(e.delta), e.plan[:12])
    out.print(table)


@app.command("demo")
@guarded
def demo_command(folder: Annotated[Path, typer.Option("--out", help="Folder for the files.")] = Path("demo"),
                 curves: Annotated[int, typer.Option(help="How many households.")] = 1000) -> None:
    """Generate household load curves and release their mean with the ordinary command.

    Example: dpfda demo --out demo
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"The folder {folder.name!r} cannot be made: {error.strerror}.") from None
    sample = datasets.load_curves(curves, np.random.default_rng(2024))
    header = ",".join(f"h{i:02d}" for i in range(sample.grid.size))
    rows = "\n".join(",".join(f"{x:.4f}" for x in row) for row in sample.curves)
    exit.write_whole(folder / "curves.csv", f"{header}\n{rows}\n")
    book = folder / "study.ledger"
    if not book.exists():
        Ledger.create(book, epsilon=100, study="demo households")
    words_ = ["mean", str(folder / "curves.csv"), "--epsilon", "1", "--radius", "5", "--center", "0.5",
              "--grid", "0:24:48:midpoints", "--axis", "hour (h)", "--ledger", str(book), "--out", str(folder / "mean.json"),
              "--csv", str(folder / "mean.csv"), "--plot", str(folder / "mean.png"),
              "--statement", str(folder / "statement.txt")]
    out.print(f"$ dpfda {shlex.join(words_)}", markup=False)
    app(words_, standalone_mode=False)
    out.print((folder / "statement.txt").read_text(encoding="utf-8"), markup=False)


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"dpfda {__version__}")
        raise typer.Exit


@app.callback()
def options(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True,
                                                  help="Print the version.")] = False,
            verbose: Annotated[bool, typer.Option("--verbose", help="Log steps to standard error.")] = False) -> None:
    if verbose:
        logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(name)s: %(message)s")
