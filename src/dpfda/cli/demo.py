"""`dpfda demo`: invented people, and their releases by the ordinary commands."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from dpfda import datasets
from dpfda.cli.commands import command
from dpfda.cli.console import out
from dpfda.core import files
from dpfda.core.errors import FileError, ParameterError
from dpfda.ledger import Ledger

DEMO = "demo households"
#: With fewer households some of the releases are mostly noise.
ENOUGH = 1000


@command()
def demo_command(
    context: typer.Context,
    folder: Annotated[Path, typer.Option("--out", help="Folder for the files.")] = Path("demo"),
    curves: Annotated[int, typer.Option(help="How many households, and how many ages.")] = 1000,
) -> None:
    """Invent load curves, homes and ages at death, and release means, surfaces, models and densities of them.

    Example: dpfda demo --out demo
    """
    if curves < 10:
        raise ParameterError("a demo needs at least ten households", curves, "Write --curves 1000.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"The folder {folder.name!r} cannot be made: {error.strerror}.") from None
    ledger_file = folder / "study.ledger"
    if ledger_file.exists():
        Ledger(ledger_file, DEMO)  # a folder of an earlier demo, or an error
    elif (folder / "curves.csv").exists() or (folder / "people.csv").exists():
        raise FileError(f"The folder {folder.name!r} holds data that is not the demo's. Choose another folder.")
    _invent(folder, curves)
    if not ledger_file.exists():
        Ledger.create(ledger_file, epsilon=100, study=DEMO)
    charge = ["--ledger", str(ledger_file), "--study", DEMO, *(["--anyway"] if curves < ENOUGH else [])]
    curve = ["--epsilon", "1", "--radius", "5", "--center", "0.5", "--grid", "0:24:48:midpoints", "--axis", "hour (h)"]
    curve += ["--value", "load (kW)", "--record", "home"]
    density = ["--by", "sex", "--groups", "f,m", "--epsilon", "1", "--domain", "0:110", "--axis", "age (years)"]
    covariates = ["--covariates", "people,heating", "--covariate-range", "0:6", "--covariate-range", "0:1"]
    components = ["--components", str(folder / "components.png")]
    for name, file, words in (
        ("mean", "curves.csv", [*curve, *charge, *_outputs(folder, "mean", "statement")]),
        ("density", "people.csv", [*density, *charge, *_outputs(folder, "density")]),
        ("covariance", "curves.csv", [*curve, *charge, *components, *_outputs(folder, "covariance")]),
        ("regress", "homes.csv", [*covariates, *curve, *charge, *_outputs(folder, "regression")]),
    ):
        _run(context, [name, str(folder / file), *words])
    page = ["--ledger", str(ledger_file), "--out", str(folder / "report.html")]
    _run(context, ["report", str(folder / "mean.json"), *page])
    out.print((folder / "statement.txt").read_text(encoding="utf-8"))


def _invent(folder: Path, count: int) -> None:
    sample = datasets.load_curves(count, np.random.default_rng(2024))
    header = ",".join(f"h{i:02d}" for i in range(sample.grid.size))
    rows = "\n".join(",".join(f"{x:.4f}" for x in row) for row in sample.curves)
    files.write_whole(folder / "curves.csv", f"{header}\n{rows}\n")
    ages, sex = datasets.lifetimes(count, np.random.default_rng(2024))
    covariates, loads, _ = datasets.homes(count, np.random.default_rng(2024))
    rows = "\n".join(
        ",".join([f"{x:.0f}" for x in x_row] + [f"{y:.4f}" for y in y_row])
        for x_row, y_row in zip(covariates, loads, strict=True)
    )
    files.write_whole(folder / "homes.csv", f"people,heating,{header}\n{rows}\n")
    people = "\n".join(f"{s},{a}" for s, a in zip(sex.tolist(), ages.tolist(), strict=True))
    files.write_whole(folder / "people.csv", f"sex,age\n{people}\n")


def _outputs(folder: Path, name: str, statement: str = "") -> list[str]:
    places = {"out": f"{name}.json", "csv": f"{name}.csv", "plot": f"{name}.png"}
    places["statement"] = f"{statement or f'{name}-statement'}.txt"
    return [word for option, file in places.items() for word in (f"--{option}", str(folder / file))]


def _run(context: typer.Context, command: list[str]) -> None:
    out.print(f"$ dpfda {shlex.join(command)}")
    if code := context.find_root().command.main(command, "dpfda", standalone_mode=False):
        raise typer.Exit(code)
