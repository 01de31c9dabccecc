"""`dpfda demo`: invented people, and their releases by the ordinary commands."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from dpfda import datasets
from dpfda.cli.console import guarded, out
from dpfda.core import files
from dpfda.core.errors import FileError, ParameterError
from dpfda.ledger import Ledger

DEMO = "demo households"


@guarded
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
    book = folder / "study.ledger"
    if book.exists():
        Ledger(book, DEMO)  # a folder of an earlier demo, or an error
    elif (folder / "curves.csv").exists() or (folder / "people.csv").exists():
        raise FileError(f"The folder {folder.name!r} holds data that is not the demo's. Choose another folder.")
    _invent(folder, curves)
    if not book.exists():
        Ledger.create(book, epsilon=100, study=DEMO)
    charge = ["--ledger", str(book), "--study", DEMO]
    mean = ["--epsilon", "1", "--radius", "5", "--center", "0.5", "--grid", "0:24:48:midpoints"]
    named = ["--axis", "hour (h)", *charge, *_outputs(folder, "mean", "statement")]
    _run(context, ["mean", str(folder / "curves.csv"), *mean, *named])
    density = ["--by", "sex", "--groups", "f,m", "--epsilon", "1", "--domain", "0:110"]
    named = ["--axis", "age (years)", *charge, *_outputs(folder, "density", "density-statement")]
    _run(context, ["density", str(folder / "people.csv"), *density, *named])
    surface = [
        "--epsilon",
        "1",
        "--radius",
        "5",
        "--center",
        "0.5",
        "--grid",
        "0:24:48:midpoints",
        "--axis",
        "hour (h)",
    ]
    shown = ["--components", str(folder / "components.png"), *_outputs(folder, "covariance", "covariance-statement")]
    _run(context, ["covariance", str(folder / "curves.csv"), *surface, *charge, *shown])
    regression = ["--covariates", "people,heating", "--covariate-range", "0:6", "--covariate-range", "0:1", *surface]
    _run(
        context,
        [
            "regress",
            str(folder / "homes.csv"),
            *regression,
            *charge,
            *_outputs(folder, "regression", "regression-statement"),
        ],
    )
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


def _outputs(folder: Path, name: str, statement: str) -> list[str]:
    places = {"out": f"{name}.json", "csv": f"{name}.csv", "plot": f"{name}.png", "statement": f"{statement}.txt"}
    return [word for option, file in places.items() for word in (f"--{option}", str(folder / file))]


def _run(context: typer.Context, command: list[str]) -> None:
    out.print(f"$ dpfda {shlex.join(command)}")
    if code := context.find_root().command.main(command, "dpfda", standalone_mode=False):
        raise typer.Exit(code)
