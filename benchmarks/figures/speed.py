"""Times: what people run, over what they would run without privacy."""

from __future__ import annotations

from typing import Any

from figures.saved import Saved
from figures.text import number, span, table

#: Rows of the benchmark, as the page calls them and what they are measured over.
ROWS = {
    "dp.mean, default, 3 passes, 1,000,000 x 100 float64": (
        "`dp.mean(X, epsilon, bound)`, a million x 100",
        "`X.mean(axis=0)`, a pass",
    ),
    "the same, Auto(passes=1, check=False)": ("the same, `Auto(passes=1, check=False)`", "`X.mean(axis=0)`"),
    "the same, Minimax()": ("the same, `Minimax()`", "`X.mean(axis=0)`"),
    "dp.mean, Minimax(), 1,000,000 x 100 float32": ("float32, `Minimax()`", "`X32.mean(axis=0)`"),
    "dp.covariance, default, 200,000 x 100": ("`dp.covariance`, default, 200,000 x 100", "`PCA(3).fit`"),
    "dp.density, default, 10,000,000 points": ("`dp.density`, default, ten million points", "`np.histogram`, 512 bins"),
    "FunctionOnScalarRegression.fit, 200,000 x 100, two covariates": (
        "`FunctionOnScalarRegression.fit`, 200,000 x 100",
        "`LinearRegression().fit`",
    ),
    "dp.mean, default, 2,500,000 x 100 in 20 Parquet files": (
        "`dp.mean`, default, 2.5 million x 100 in 20 Parquet files",
        "a pyarrow loop that only sums",
    ),
    "dp.mean, default, 500,000 x 100 on Spark local[2], a DataFrame": (
        "`dp.mean`, default, on Spark `local[2]`, a DataFrame",
        "the local engine",
    ),
    "dp.mean, default, 500,000 x 100 on Spark local[2], files by name": ("the same, files by name", "the local engine"),
    "import dpfda": ("`import dpfda`", "`import numpy`"),
    "import dpfda and all names but estimators": ("`import dpfda` and all names but estimators", "`import numpy`"),
    "dpfda --help": ("`dpfda --help`", "`import numpy`"),
}


def figures(saved: Saved) -> dict[str, Any]:
    """The table of what people run, its asides, noise curves, models and checks of files."""
    speed, noise = saved.take("speed"), saved.take("noise_speed", "noise-speed")["noise_curves"]
    rows, asides = {row["what"]: row for row in speed["rows"]}, speed["asides"]
    first = rows["dp.mean, default, 3 passes, 1,000,000 x 100 float64"]["more"]["in all"]
    once = rows["the same, Auto(passes=1, check=False)"]["reached"]
    ratios = noise["ratio_to_laplace"]
    ours = ("dpfda, cosine basis", "dpfda, Nystrom basis (any kernel)", "rng.laplace, as many variates")
    peers = [found for name, found in ratios.items() if name not in ours]
    check = saved.take("check_speed", "check-speed")
    seconds = saved.take("models")["fit_seconds"]
    return {
        "whole_fast": number(first["fast"]),
        "whole_numpy": number(first["numpy"]),
        "once_fast": number(once["fast"]),
        "once_numpy": number(once["numpy"]),
        "people": table(["what you write", "fast extra", "wanted", "numpy alone", "wanted", "times"],
                        [_row(rows[what], name, over) for what, (name, over) in ROWS.items()]),
        **{name: number(rows[what]["reached"]["fast"], 1) for name, what in PLANNING.items()},
        "megabytes_bare": number(rows["peak memory of import dpfda"]["reached"]["fast"]),
        "megabytes_all": number(rows["peak memory with all names but estimators"]["reached"]["fast"]),
        "beside": number(asides["megabytes_beside_the_data"]),
        "first_call": number(asides["first_call_seconds"]),
        "later_call": number(asides["first_call_of_a_later_process_seconds"]),
        "cosines": number(max(ratios["dpfda, cosine basis"].values())),
        "cosines_wanted": f"{noise['wanted']:g}",
        "any_kernel": span(ratios["dpfda, Nystrom basis (any kernel)"].values()),
        "peers_100": span(found["100"] for found in peers),
        "peers_1000": span(found["1000"] for found in peers),
        "check": table(["file", "MB", "`dpfda check` over `pandas.read_csv`", "over a pyarrow stream"],
                       [[FILES[name], number(found["megabytes"], 3), found["ratio"], found["ratio_to_stream"]]
                        for name, found in check.items() if name in FILES]),
        "fits": table(["task", "model", "times the non-private fit", "seconds"], list(_fits(seconds))),
    }  # fmt: skip


#: What planning takes, by the name of the figure.
PLANNING = {
    "solve_mean": "solve, mean",
    "solve_density": "solve, density",
    "solve_plane": "solve, density in the plane",
    "solve_covariance": "solve, covariance",
    "plan_mean": "a mean's plan, band and ten simulated releases",
}
FILES = {"clean": "numbers alone", "ids": "with names of people", "commas": "semicolons and decimal commas"}


def _row(row: dict[str, Any], name: str, over: str) -> list[str]:
    """A line of the table; what missed its mark is bold."""
    cells = [name]
    for kind in ("fast", "numpy"):
        reached, wanted = row["reached"].get(kind), row["wanted"].get(kind)
        text = "" if reached is None else number(reached)
        cells += [f"**{text}**" if kind in row["missed"] else text, "" if wanted is None else f"{wanted:g}"]
    return [*cells, over]


def _fits(seconds: dict[str, dict[str, float]]) -> Any:
    """Fit times of the private models at the largest size, over the fastest rival."""
    for task, found in seconds.items():
        rivals = [name for name in found if not _private(name)]
        rival = min(rivals, key=lambda name: found[name])
        for name in found:
            if _private(name):
                yield [task, f"`{name}`", f"{number(found[name] / found[rival])} ({rival})", found[name]]


def _private(model: str) -> bool:
    return model.startswith(("KernelClassifier", "KernelRegressor", "FunctionOnScalar", "covariance", "dp."))
