"""`dpfda regress`, `dpfda fit` and `dpfda predict`: models from files, kept as releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dpfda import results
from dpfda.cli import options, outputs, parsing, sources
from dpfda.cli.commands import Keywords, command
from dpfda.cli.console import out
from dpfda.cli.tables import check_numbers, column_names, read_labelled, read_numbers
from dpfda.core import files
from dpfda.core.checks import check_choice, check_guess, check_value
from dpfda.core.errors import ParameterError, RecordError
from dpfda.core.labels import Coder, as_groups
from dpfda.core.nouns import check_record
from dpfda.estimators import KernelClassifier, KernelRegressor, predictions
from dpfda.plans import RegressionPlan
from dpfda.reading.absent import no_column
from dpfda.reading.headers import FromHeader, header_grid
from dpfda.reading.source import Source
from dpfda.results.columns import plain_cell

#: What --loss may be, for numbers and for classes.
NUMBERS, CLASSES = ("squared", "huber"), ("logistic", "hinge")
#: What to do about a record without a class.
UNLABELLED = "Repair or drop it, or pass --classes no,yes --invalid center to let it count without a say."
Inputs = Annotated[
    str | None,
    typer.Option(help="Columns of the inputs, separated by commas. Default: all others; to predict, the model's."),
]


@command(first="covariates covariate_range epsilon range radius grid columns ledger out plot")
def regress_command(
    records: Annotated[Path, typer.Argument(help="CSV or Parquet file, one row a record: covariates and a curve.")],
    *,
    covariates: Annotated[str | None, typer.Option(help="Columns of the covariates, separated by commas.")] = None,
    covariate_range: Annotated[
        list[str] | None, typer.Option(help="Public range low:high of a covariate, once each.")
    ] = None,
    covariate_bound: Annotated[
        float | None, typer.Option(help="Or a public bound on the norm of the covariates.")
    ] = None,
    share: Annotated[float | None, typer.Option("--split", help="Share of the first moment. Default: chosen.")] = None,
    passes: Annotated[int | None, typer.Option(help="1 reads the file once, 4 refines. Default: chosen.")] = None,
    protection: options.Protection,
    space: options.Space,
    value: options.Value = None,
    table: sources.Table,
    charge: options.Charge,
    output: outputs.Outputs,
    display: outputs.Display,
) -> None:
    """Explain curves by covariates: an intercept and one coefficient function each.

    Example: dpfda regress visits.csv --covariates age,dose --epsilon 1 --radius 3 --covariate-range 0:110
    --covariate-range 0:5 --out regression.json --plot regression.png
    """
    output.check_given(display, "A model")
    check_value(value)
    check_record(protection.record)
    ledger = charge.opened()
    check_guess(protection.n, protection.neighbors)
    facts = covariate_facts(covariates, covariate_range, covariate_bound)
    names, lenient = facts["names"], protection.invalid == "center"
    with output.reserved(records, charge.ledger) as write, table.data([str(records)]) as data:
        found = column_names(Source(data, lenient=lenient, **table.facts))
        if absent := [name for name in names if name not in found]:
            raise no_column("--covariates", absent[0], found)
        values = table.values_among([name for name in found if name not in names])
        source = Source(data, [*names, *values], lenient=lenient, **table.facts)
        batch = read_numbers(source, protection.neighbors)
        keywords = protection.keywords() | space.keywords()
        if isinstance(keywords["grid"], FromHeader):
            keywords["grid"] = header_grid(values, table.decimal, keywords["grid"])
        keywords["grid"] = keywords["grid"] or len(values)
        keywords["n"] = len(batch) if protection.n is None else protection.n
        plan = RegressionPlan(split=share, passes=passes, value=value, **facts, **keywords)
        release = plan.release(batch, ledger)
        written = write(release, ledger)
    display.say(release, written)


def covariate_facts(covariates: str | None, ranges: list[str] | None, norm: float | None) -> Keywords:
    """What a plan is told of the covariates: their names, and their public ranges or norm."""
    names = _listed(covariates)
    if not names:
        raise ParameterError("a regression needs covariates", "none", "Pass --covariates age,dose.")
    bound = _covariate_bound(norm, ranges, len(names))
    return {"covariates": len(names), "names": tuple(names), "covariate_bound": bound}


def _covariate_bound(norm: float | None, ranges: list[str] | None, count: int) -> Any:
    if norm is not None and ranges:
        raise ParameterError("covariates have a norm or ranges", "both", "Drop --covariate-bound or --covariate-range.")
    if norm is None and len(ranges or ()) != count:
        raise ParameterError(
            "covariates need a public range each, never read from the data",
            f"{len(ranges or ())} of {count}",
            "Pass --covariate-range low:high once per covariate, in their order, or --covariate-bound for their norm.",
        )
    return parsing.parse_domain(ranges, "--covariate-range") if ranges else norm


@command(first="target inputs domain loss bound classes epsilon ledger out plot")
def fit_command(
    records: Annotated[Path, typer.Argument(help="CSV or Parquet file, one row a record.")],
    *,
    target: Annotated[str | None, typer.Option(help="Column of the response or the class.")] = None,
    inputs: Inputs = None,
    domain: Annotated[
        list[str] | None, typer.Option(help="Public range of an input, low:high; once each, or once for all.")
    ] = None,
    loss: Annotated[str, typer.Option(help="squared or huber (regression); logistic or hinge (classes).")] = "logistic",
    bound: Annotated[str | None, typer.Option(help="Public range of responses, low:high (regression).")] = None,
    classes: Annotated[str | None, typer.Option(help="The classes, separated by commas (public).")] = None,
    kernel: options.KernelText = None,
    components: Annotated[int | None, typer.Option(help="Functions of the kernel. Default: chosen.")] = None,
    psi: Annotated[float | None, typer.Option(help="Penalty (huber, logistic, hinge). Default: chosen.")] = None,
    value: options.Value = None,
    protection: options.Protection,
    text: sources.Written,
    charge: options.Charge,
    output: outputs.Outputs,
    display: outputs.Display,
) -> None:
    """Fit a kernel model: a function of one to ten inputs, or classes of them.

    Example: dpfda fit people.csv --target sick --inputs age,weight --domain 0:110 --domain 0:200 --epsilon 1
    --out model.json --plot model.png
    """
    output.check_given(display, "A model")
    ledger = charge.opened()
    check_guess(protection.n, protection.neighbors)
    check_choice("loss", loss, (*NUMBERS, *CLASSES))
    _check_loss(loss, protection, bound, classes, value)
    if not target:
        raise ParameterError("a model needs a target", "none", "Pass --target COLUMN.")
    if not domain:
        raise ParameterError("a model needs a public box", "none", "Pass --domain low:high, once per input or once.")
    lenient = protection.invalid == "center"
    found = column_names(Source(records, lenient=lenient, **text.facts))
    if target not in found:
        raise no_column("--target", target, found)
    names = _listed(inputs) or [name for name in found if name != target]
    if absent := [name for name in names if name not in found]:
        raise no_column("--inputs", absent[0], found)
    keywords = protection.keywords() | {
        "kernel": parsing.if_given(parsing.parse_kernel, kernel), "components": components, "psi": psi,
        "domain": _domain(domain, names), "ledger": ledger,
    }  # fmt: skip
    release: results.Release | results.ClassRelease
    with output.reserved(records, charge.ledger) as write:
        if loss in NUMBERS:
            source = Source(records, [*names, target], lenient=lenient, **text.facts)
            release = _fit_numbers(loss, source, bound, keywords | {"value": value})
        else:
            public = as_groups(_listed(classes))
            source = Source(records, names, lenient=lenient, by=target, coder=Coder(public), **text.facts)
            release = _fit_classes(loss, source, public, keywords)
        written = write(release, ledger)
    display.say(release, written)


def _check_loss(
    loss: str, protection: options.Protection, bound: str | None, classes: str | None, value: str | None
) -> None:
    """Refuse what does not go with the loss, and classes that a record could reveal."""
    check_value(value)
    check_record(protection.record)
    if loss in CLASSES and value is not None:
        raise ParameterError("classes have no unit", "--value", "Choose --loss squared or huber, or drop it.")
    if loss in NUMBERS and bound is None:
        raise ParameterError(
            "a regression needs a public range of responses", "none", "Pass --bound low:high, never read from the data."
        )
    if loss in NUMBERS and classes is not None:
        raise ParameterError("a regression has no classes", "--classes", "Choose --loss logistic or hinge.")
    if loss in CLASSES and bound is not None:
        raise ParameterError("classes have no range", "--bound", "Choose --loss squared or huber.")
    must_be_public = protection.neighbors == "add-remove" or protection.invalid == "center"
    if loss in CLASSES and classes is None and must_be_public:
        raise ParameterError(
            "which classes exist must be public here (add-remove, or invalid='center')",
            "no list",
            "Pass --classes no,yes.",
        )


def _fit_numbers(loss: str, source: Source, bound: str | None, keywords: Keywords) -> results.Release:
    table = read_numbers(source, keywords["neighbors"])
    check_numbers(table, keywords["invalid"])
    responses = None if bound is None else parsing.parse_domain([bound], "--bound")[0]
    model = KernelRegressor(loss, bound=responses, **keywords).fit(table[:, :-1], table[:, -1])
    return model.release_


def _fit_classes(
    loss: str, source: Source, classes: tuple[str, ...] | None, keywords: Keywords
) -> results.Release | results.ClassRelease:
    inputs, labels = read_labelled(source, keywords["neighbors"])
    check_numbers(inputs, keywords["invalid"])
    if classes is None and (unknown := np.flatnonzero(labels == "")).size:
        raise RecordError("A label is missing", unknown.tolist(), UNLABELLED)
    return KernelClassifier(loss, classes=classes, **keywords).fit(inputs, labels).release_


def _domain(ranges: list[str], names: list[str]) -> dict[str, tuple[float, float]]:
    """A range for each input: its own, or the one for all."""
    found = parsing.parse_domain(ranges)
    if len(found) not in (1, len(names)):
        raise ParameterError(
            f"there are {len(names)} inputs", f"{len(found)} ranges", "Pass --domain once each, or once."
        )
    return dict(zip(names, found * len(names) if len(found) == 1 else found, strict=False))


@command()
def predict_command(
    model: Annotated[Path, typer.Argument(help="A model written by 'dpfda fit --out' or 'dpfda regress --out'.")],
    records: Annotated[Path, typer.Argument(help="CSV or Parquet file, one row of inputs a prediction.")],
    *,
    inputs: Inputs = None,
    written: sources.Written,
    output: Annotated[Path | None, typer.Option("--out", help="Write the predictions as CSV.")] = None,
    as_json: outputs.AsJson = False,
) -> None:
    """Predict with a saved model. Inputs outside its public box are clipped to it; nothing is charged.

    Example: dpfda predict model.json people.csv --inputs age,weight --out predictions.csv
    """
    release: Any = results.load(model)
    width, known = _inputs_of(release)
    names = _listed(inputs) or known
    if known and names and set(names) == set(known):
        names = known  # whatever their order on the command line
    table = read_numbers(Source(records, names, **written.facts))
    if table.shape[1] != width:
        raise RecordError(
            f"The model has {width} inputs and the file {table.shape[1]}", cure="Choose them with --inputs."
        )
    found = predictions(release, table)
    if as_json:
        out.print_json(data={"predictions": found.tolist()})
        return
    text = _as_csv(found, release)
    if output is None:
        out.print(text, end="")
        return
    with files.reserved([output], [model, records]) as places:
        places[output].write(text)
    out.print(f"Written: {output}")


def _as_csv(found: np.ndarray, release: Any) -> str:
    """Predictions, one row each: a number, a class or a curve."""
    rows = found if found.ndim == 2 else found[:, None]
    head = [f"t={t:g}" for t in release.plan.grid.points] if found.ndim == 2 else ["prediction"]
    cells = [[plain_cell(x) if isinstance(x, str) else repr(x) for x in row] for row in rows.tolist()]
    return "\n".join(",".join(row) for row in [head, *cells]) + "\n"


def _inputs_of(release: Any) -> tuple[int, list[str] | None]:
    """How many inputs a model has, and their names where it knows them."""
    plan = release.plan.plans[0] if isinstance(release, results.ClassRelease) else release.plan
    if not hasattr(plan, "covariates") and not hasattr(plan, "box"):
        raise ParameterError(
            "predictions need a model", f"a release of a {plan.query}", "Make one with dpfda fit or dpfda regress."
        )
    count = plan.covariates if hasattr(plan, "covariates") else plan.box.dimension
    return int(count), None if plan.names is None else list(plan.names)


def _listed(text: str | None) -> list[str] | None:
    """Names separated by commas."""
    return [name.strip() for name in text.split(",")] if text else None
