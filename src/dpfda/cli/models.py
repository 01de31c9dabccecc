"""`dpfda regress`, `dpfda fit` and `dpfda predict`: models from files, kept as releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dpfda import results
from dpfda.cli import options as opt
from dpfda.cli import parsing
from dpfda.cli.console import guarded, out, progress_bar
from dpfda.cli.releasing import check_options, split
from dpfda.cli.releasing import shown as shown_model
from dpfda.core import files
from dpfda.core.checks import check_choice, check_guess
from dpfda.core.errors import FileError, ParameterError, RecordError
from dpfda.core.labels import Coder, as_groups
from dpfda.estimators import KernelClassifier, KernelRegressor, predictions
from dpfda.ledger import Ledger
from dpfda.plans import RegressionPlan
from dpfda.reading import source as readers
from dpfda.results.base import plain_cell

#: What to do about a record without a class.
UNLABELLED = "Repair or drop it, or pass --classes no,yes --invalid center to let it count without a say."
Inputs = Annotated[
    str | None,
    typer.Option(help="Columns of the inputs, separated by commas. Default: all others; to predict, the model's."),
]


@guarded
def regress_command(
    context: typer.Context,
    records: Annotated[Path, typer.Argument(help="CSV or Parquet file, one row a record: covariates and a curve.")],
    covariates: Annotated[str | None, typer.Option(help="Columns of the covariates, separated by commas.")] = None,
    epsilon: opt.Epsilon = None,
    radius: opt.Radius = None,
    center: opt.Center = None,
    covariate_bound: Annotated[float | None, typer.Option(help="Public bound on the norm of the covariates.")] = None,
    covariate_range: Annotated[
        list[str] | None, typer.Option(help="Or a public range low:high, once per covariate.")
    ] = None,
    grid: opt.GridText = None,
    axis: opt.Axis = "t",
    kernel: opt.KernelText = None,
    share: Annotated[float | None, typer.Option("--split", help="Share of the first moment. Default: chosen.")] = None,
    passes: Annotated[int | None, typer.Option(help="1 reads the file once, 4 refines. Default: chosen.")] = None,
    neighbors: opt.Neighbors = "replace",
    invalid: opt.Invalid = "raise",
    n: opt.N = None,
    columns: opt.ValueColumns = None,
    header: opt.Header = None,
    ledger: opt.Book = None,
    study: opt.Study = None,
    output: opt.Out = None,
    csv: opt.Csv = None,
    plot: opt.Picture = None,
    statement: opt.StatementFile = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Explain curves by covariates: an intercept and one coefficient function each.

    Example: dpfda regress visits.csv --covariates age,dose --covariate-range 0:110 --covariate-range 0:5
    --epsilon 1 --radius 3 --out regression.json --plot regression.png
    """
    outputs = _outputs(output, csv, plot, statement, as_json)
    check_options(context, (), None, ledger, study)
    check_guess(n, neighbors)
    if not covariates:
        raise ParameterError("a regression needs covariates", "none", "Pass --covariates age,dose.")
    names = [name.strip() for name in covariates.split(",")]
    source = readers.Source(records, header=header, lenient=invalid == "center")
    values = readers.pick([name for name in source.column_names() if name not in names], split(columns))
    book = Ledger(ledger, study) if ledger else None
    bound = _covariate_bound(covariate_bound, covariate_range)
    with outputs.reserved(records, ledger) as write, progress_bar(quiet or as_json):
        batch = _table(readers.Source(records, [*names, *values], header, invalid == "center"), neighbors)
        options = opt.plan_options(
            epsilon, radius, "l2", center, grid, axis, kernel, None, neighbors=neighbors, invalid=invalid,
        )  # fmt: skip
        options["grid"] = options["grid"] or len(values)
        options.pop("method")
        plan = RegressionPlan(
            n=len(batch) if n is None else n, covariates=len(names), covariate_bound=bound, split=share,
            passes=passes, names=tuple(names), **options,
        )  # fmt: skip
        release = plan.release(batch, book)
        written = write(release)
    _say(release, written, as_json, quiet)


def _covariate_bound(norm: float | None, ranges: list[str] | None) -> Any:
    if norm is not None and ranges:
        raise ParameterError("covariates have a norm or ranges", "both", "Drop --covariate-bound or --covariate-range.")
    return parsing.parse_domain(ranges) if ranges else norm


@guarded
def fit_command(
    context: typer.Context,
    records: Annotated[Path, typer.Argument(help="CSV or Parquet file, one row a record.")],
    target: Annotated[str | None, typer.Option(help="Column of the response or the class.")] = None,
    inputs: Inputs = None,
    epsilon: opt.Epsilon = None,
    domain: Annotated[
        list[str] | None, typer.Option(help="Public range of an input, low:high; once each, or once for all.")
    ] = None,
    loss: Annotated[str, typer.Option(help="squared or huber (regression); logistic or hinge (classes).")] = "logistic",
    bound: Annotated[str | None, typer.Option(help="Public range of responses, low:high (regression).")] = None,
    classes: Annotated[str | None, typer.Option(help="The classes, separated by commas (public).")] = None,
    kernel: Annotated[str | None, typer.Option(help="gaussian, exponential or matern:nu; :length for a scale.")] = None,
    components: Annotated[int | None, typer.Option(help="Functions of the kernel. Default: chosen.")] = None,
    psi: Annotated[float | None, typer.Option(help="Penalty (huber, logistic, hinge). Default: chosen.")] = None,
    neighbors: opt.Neighbors = "replace",
    invalid: Annotated[
        str, typer.Option(help="raise: stop at an unusable record; center: count it without a say.")
    ] = "raise",
    n: opt.N = None,
    header: opt.Header = None,
    ledger: opt.Book = None,
    study: opt.Study = None,
    output: opt.Out = None,
    csv: opt.Csv = None,
    plot: opt.Picture = None,
    statement: opt.StatementFile = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> None:
    """Fit a kernel model: a function of one to ten inputs, or classes of them.

    Example: dpfda fit people.csv --target sick --inputs age,weight --domain 0:110 --domain 0:200 --epsilon 1
    --out model.json --plot model.png
    """
    outputs = _outputs(output, csv, plot, statement, as_json)
    check_options(context, (), None, ledger, study)
    check_guess(n, neighbors)
    check_choice("loss", loss, ("squared", "huber", "logistic", "hinge"))
    if not target:
        raise ParameterError("a model needs a target", "none", "Pass --target COLUMN.")
    if not domain:
        raise ParameterError("a model needs a public box", "none", "Pass --domain low:high, once per input or once.")
    facts: dict[str, Any] = {
        "epsilon": epsilon, "kernel": parsing.parse_kernel(kernel) if kernel else None,
        "components": components, "psi": psi, "neighbors": neighbors, "invalid": invalid, "n": n,
        "ledger": Ledger(ledger, study) if ledger else None,
    }  # fmt: skip
    source = readers.Source(records, header=header, lenient=invalid == "center")
    names = split_names(inputs) or [name for name in source.column_names() if name != target]
    facts["domain"] = _domain(domain, names)
    if loss in ("logistic", "hinge") and classes is None and (neighbors == "add-remove" or invalid == "center"):
        raise ParameterError(
            "which classes exist must be public here (add-remove, or invalid='center')",
            "no list",
            "Pass --classes no,yes.",
        )
    with outputs.reserved(records, ledger) as write:
        if loss in ("squared", "huber"):
            if classes is not None:
                raise ParameterError("a regression has no classes", "--classes", "Choose --loss logistic or hinge.")
            table = _table(readers.Source(records, [*names, target], header, invalid == "center"), neighbors)
            _check_numbers(table, invalid)
            model: Any = KernelRegressor(loss, bound=_range(bound), **facts).fit(table[:, :-1], table[:, -1])
        else:
            if bound is not None:
                raise ParameterError("classes have no range", "--bound", "Choose --loss squared or huber.")
            listed = as_groups(split_names(classes))
            source = readers.Source(records, names, header, invalid == "center", by=target, coder=Coder(listed))
            X, labels = _labelled(source, neighbors)
            _check_numbers(X, invalid)
            if listed is None and (unknown := np.flatnonzero(labels == "")).size:
                raise RecordError("A label is missing", unknown.tolist(), UNLABELLED)
            model = KernelClassifier(loss, classes=listed, **facts).fit(X, labels)
        written = write(model.release_)
    _say(model.release_, written, as_json, quiet)


@guarded
def predict_command(
    model: Annotated[Path, typer.Argument(help="A model written by 'dpfda fit --out' or 'dpfda regress --out'.")],
    records: Annotated[Path, typer.Argument(help="CSV or Parquet file, one row of inputs a prediction.")],
    inputs: Inputs = None,
    header: opt.Header = None,
    output: Annotated[Path | None, typer.Option("--out", help="Write the predictions as CSV.")] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Predict with a saved model. Inputs outside its public box are clipped to it; nothing is charged.

    Example: dpfda predict model.json people.csv --inputs age,weight --out predictions.csv
    """
    release = results.load(model)
    width, known = _inputs_of(release)
    names = split_names(inputs) or known
    if known and names and set(names) == set(known):
        names = known  # whatever their order on the command line
    table = _table(readers.Source(records, names, header))
    if table.shape[1] != width:
        raise RecordError(
            f"The model has {width} inputs and the file {table.shape[1]}", cure="Choose them with --inputs."
        )
    found = predictions(release, table)
    if as_json:
        out.print_json(data={"predictions": found.tolist()})
        return
    rows = found if found.ndim == 2 else found[:, None]
    head = [f"t={t:g}" for t in release.plan.grid.points] if found.ndim == 2 else ["prediction"]
    cells = [[plain_cell(x) if isinstance(x, str) else repr(x) for x in row] for row in rows.tolist()]
    text = "\n".join(",".join(row) for row in [head, *cells]) + "\n"
    if output is None:
        out.print(text, end="")
        return
    with files.reserved([output], [model, records]) as places:
        places[output].write(text)
    out.print(f"Written: {output}")


def _outputs(
    output: Path | None, csv: Path | None, plot: Path | None, statement: Path | None, json: bool
) -> opt.Outputs:
    outputs = opt.Outputs(output, csv, plot, statement)
    if not outputs.paths and not json:
        raise FileError("A model needs a place to go. Pass --out, --csv, --plot, --statement or --json.")
    return outputs


def _say(release: Any, written: list[str], as_json: bool, quiet: bool) -> None:
    if as_json:
        out.print_json(data={**shown_model(release), "written": written})
    elif not quiet:
        out.print(repr(release.plan))
        out.print(f"Written: {', '.join(written)}")


def split_names(text: str | None) -> list[str] | None:
    return None if not text else [name.strip() for name in text.split(",")]


def _domain(ranges: list[str] | None, names: list[str]) -> dict[str, tuple[float, float]]:
    """A range for each input: its own, or the one for all."""
    found = parsing.parse_domain(ranges)
    if len(found) not in (1, len(names)):
        raise ParameterError(
            f"there are {len(names)} inputs", f"{len(found)} ranges", "Pass --domain once each, or once."
        )
    return dict(zip(names, found * len(names) if len(found) == 1 else found, strict=False))


def _range(text: str | None) -> tuple[float, float] | None:
    return None if text is None else parsing.parse_domain([text])[0]


def _table(source: readers.Source, neighbors: str = "replace") -> np.ndarray:
    """All rows of a file in memory; none at all is an error only where their number is public."""
    batches = list(source.batches())
    if not batches and neighbors == "replace":
        raise RecordError("The data holds no records", cure="Check the path and the columns.")
    width = len(source.columns or ())
    return np.concatenate([np.empty((0, width)), *batches] if width else batches)


def _check_numbers(inputs: np.ndarray, invalid: str) -> None:
    """Refuse missing and infinite numbers by their rows, unless they are to count as they can."""
    if invalid == "raise" and (bad := np.flatnonzero(~np.isfinite(inputs).all(axis=1))).size:
        raise RecordError(
            "A record has a missing or infinite number",
            bad.tolist(),
            "Repair or drop it, or pass invalid='center' to let it count without a say.",
        )


def _labelled(source: readers.Source, neighbors: str) -> tuple[np.ndarray, np.ndarray]:
    """Inputs, and the class of each record (empty where it has none)."""
    batches = list(source.labelled())
    if not batches and neighbors == "replace":
        raise RecordError("The data holds no records", cure="Check the path and the columns.")
    assert source.coder is not None
    inputs = np.concatenate([np.empty((0, len(source.columns or ()))), *(batch for batch, _ in batches)])
    codes = np.concatenate([np.empty(0), *(codes for _, codes in batches)])
    known = np.array([*source.coder.names, ""])
    return inputs, known[np.where(np.isnan(codes), len(known) - 1, codes).astype(int)]


def _inputs_of(release: Any) -> tuple[int, list[str] | None]:
    """How many inputs a model has, and their names where it knows them."""
    plan = release.plan.plans[0] if isinstance(release, results.GroupRelease) else release.plan
    if not hasattr(plan, "covariates") and not hasattr(plan, "box"):
        raise ParameterError("predictions need a model", type(plan).__name__, "Make one with dpfda fit or regress.")
    count = plan.covariates if hasattr(plan, "covariates") else plan.box.dimension
    return int(count), None if plan.names is None else list(plan.names)
