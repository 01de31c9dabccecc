"""What privacy costs a model: kernel classification and regression, curves on covariates, principal components.

    python benchmarks/models.py [--quick] [--no-diffprivlib]

Every run draws fresh data, and all models of a run see the same data. Models without privacy use the same kernel as
ours; diffprivlib, which needs an older scikit-learn, gets an environment of its own (`diffprivlib_peers.py`) and the
same public bounds. Private fits are real releases: their noise comes from the operating system and differs every time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import common
import few_records
import numpy as np
from sklearn.datasets import make_moons
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDClassifier, SGDRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import SVC

import dpfda as dp

RUNS = {1000: 20, 10_000: 8, 100_000: 5}
QUICK_RUNS = {300: 2, 1000: 2}
EPSILONS, HEADLINE = (0.5, 1.0, 4.0), 1.0
HELD_OUT = 10_000
#: Models whose cost grows with the square of n or worse stop here; the slowest of them run here only once.
MOST_EXACT = 10_000
#: scikit-learn below 1.9 lets diffprivlib 0.6.6 import; below 1.8 its LogisticRegression also runs.
REQUIREMENTS = ("diffprivlib==0.6.6", "scikit-learn<1.8")


@dataclass(frozen=True)
class Sample:
    """What is fitted, what is asked of a fitted model, and what its answer is held against."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    truth: np.ndarray


@dataclass(frozen=True)
class Private:
    """A model of ours: `build` takes `epsilon`; `rival` names the model without privacy whose fit time is the limit."""

    build: Callable[..., Any]
    rival: str


@dataclass(frozen=True)
class Plain:
    """A model without privacy, fitted up to `most` records, and only in the first run from `once` records on."""

    build: Callable[[], Any]
    most: float = float("inf")
    once: float = float("inf")


@dataclass(frozen=True)
class Peer:
    """A model of diffprivlib with the public facts it is given, on inputs as they are or on public features of them."""

    model: str
    options: dict[str, Any]
    features: Callable[[np.ndarray], np.ndarray] = np.asarray


@dataclass(frozen=True)
class Task:
    """One table: how data are drawn, which models compete, and how their answers are scored.

    `limit` bounds `loss(ours, best without privacy)` in the first measure at the largest n and epsilon 1.
    """

    title: str
    draw: Callable[[int, np.random.Generator], Sample]
    score: Callable[[np.ndarray, Sample], dict[str, float]]
    plain: dict[str, Plain]
    private: dict[str, Private]
    goal: tuple[str, Callable[[float, float], float], float]
    best: Callable[[list[float]], float] = min
    peers: dict[str, Peer] = field(default_factory=dict)
    often: int = 1  # times as many runs, where errors vary much from one to the next


def excess(ours: float, other: float) -> float:
    """How much larger ours is, in percent."""
    return 100 * (ours / other - 1)


# -- kernel models ------------------------------------------------------------------------


def nystroem(kernel: dp.kernels.Gaussian, model: Any) -> Pipeline:
    """A hundred landmarks of the same kernel, then a linear model."""
    return make_pipeline(Nystroem(gamma=gamma(kernel), n_components=100, random_state=0), model)


def gamma(kernel: dp.kernels.Gaussian) -> float:
    return 1 / (2 * kernel.length_scale**2)


def waves(kernel: dp.kernels.Gaussian, dimension: int, size: int = 50) -> Callable[[np.ndarray], np.ndarray]:
    """Random Fourier features of the kernel: public functions of the input, every row of Euclidean norm one."""
    frequencies = np.random.default_rng(0).normal(0, 1 / kernel.length_scale, (dimension, size))

    def features(X: np.ndarray) -> np.ndarray:
        return np.hstack([np.cos(X @ frequencies), np.sin(X @ frequencies)]) / np.sqrt(size)

    return features


def kernel_models(kind: Any, losses: tuple[str, ...], rivals: Any, kernel: Any, **facts: Any) -> dict[str, Private]:
    """Ours with the kernel of the other models, one loss for each rival, and the first with a kernel of its own."""
    rows = {
        f"{kind.__name__}, {loss}": Private(partial(kind, loss, kernel=kernel, **facts), rival)
        for loss, rival in zip(losses, rivals)
    }
    return rows | {f"{kind.__name__}, default kernel": Private(partial(kind, **facts), next(iter(rivals)))}


def moons() -> Task:
    kernel, domain = dp.kernels.Gaussian(0.5), [(-2.0, 3.0), (-1.5, 2.0)]
    low, high = np.array(domain).T
    half = (high - low) / 2

    def draw(n: int, rng: np.random.Generator) -> Sample:
        X, y = make_moons(n + HELD_OUT, noise=0.2, random_state=int(rng.integers(2**31)))
        X = np.clip(X, low, high)
        return Sample(X[:n], y[:n], X[n:], y[n:], y[n:])

    def score(labels: np.ndarray, sample: Sample) -> dict[str, float]:
        return {"accuracy %": 100 * float(np.mean(labels == sample.y_test))}

    plain = {
        "Nystroem + LogisticRegression": Plain(lambda: nystroem(kernel, LogisticRegression(max_iter=1000))),
        "Nystroem + SGDClassifier (hinge)": Plain(lambda: nystroem(kernel, SGDClassifier(random_state=0))),
        "SVC": Plain(lambda: SVC(gamma=gamma(kernel)), MOST_EXACT),
    }
    private = kernel_models(dp.KernelClassifier, ("logistic", "hinge"), plain, kernel, domain=domain, classes=[0, 1])
    peers = {
        "diffprivlib LogisticRegression": Peer(
            "logistic", {"data_norm": float(np.linalg.norm(half))}, lambda X: X - (low + high) / 2
        ),
        "diffprivlib on random Fourier features": Peer("logistic", {"data_norm": 1.0}, waves(kernel, 2)),
    }
    goal = ("percentage points below the best without privacy", lambda ours, other: other - ours, 1.0)
    return Task("Two moons", draw, score, plain, private, goal, max, peers)


@dataclass(frozen=True)
class Curve:
    """A smooth function on a public box."""

    title: str
    value: Callable[[np.ndarray], np.ndarray]
    domain: list[tuple[float, float]]
    kernel: dp.kernels.Gaussian

    @cached_property
    def spread(self) -> float:
        """Standard deviation of the values over the box."""
        low, high = np.array(self.domain).T
        return float(self.value(np.random.default_rng(0).uniform(low, high, (10**5, len(low)))).std())


CURVES = (
    Curve(
        "one input",
        lambda X: np.sin(4 * np.pi * X[:, 0]) * np.exp(-X[:, 0]) + X[:, 0],
        [(0.0, 1.0)],
        dp.kernels.Gaussian(0.1),
    ),
    Curve(
        "two inputs",
        lambda X: np.sin(2 * X[:, 0]) * np.exp(-(X[:, 1] ** 2)) + 0.5 * X[:, 1],
        [(-1.0, 1.0)] * 2,
        dp.kernels.Gaussian(0.4),
    ),
)


def regression(curve: Curve) -> Task:
    kernel, noise, bound = curve.kernel, 0.3 * curve.spread, (-2.5, 2.5)
    low, high = np.array(curve.domain).T

    def draw(n: int, rng: np.random.Generator) -> Sample:
        X = rng.uniform(low, high, (n + HELD_OUT, len(low)))
        truth = curve.value(X)
        y = np.clip(truth + rng.normal(0, noise, len(X)), *bound)
        return Sample(X[:n], y[:n], X[n:], y[n:], truth[n:])

    def score(values: np.ndarray, sample: Sample) -> dict[str, float]:
        return {
            "RMSE": float(np.sqrt(np.mean((values - sample.y_test) ** 2))),
            "to f": float(np.sqrt(np.mean((values - sample.truth) ** 2))),
        }

    # The penalty a Gaussian process of these variances would take: noise over signal.
    alpha = (noise / curve.spread) ** 2
    huber = {"loss": "huber", "epsilon": 0.5, "alpha": 1e-6, "random_state": 0}
    exact = {"alpha": alpha, "kernel": "rbf", "gamma": gamma(kernel)}
    plain = {
        "Nystroem + Ridge": Plain(lambda: nystroem(kernel, Ridge(alpha))),
        "Nystroem + SGDRegressor (Huber)": Plain(lambda: nystroem(kernel, SGDRegressor(**huber))),
        "KernelRidge (one run at 10,000)": Plain(lambda: KernelRidge(**exact), MOST_EXACT, MOST_EXACT),
    }
    facts = {"domain": curve.domain, "bound": bound}
    private = kernel_models(dp.KernelRegressor, ("squared", "huber"), plain, kernel, **facts)
    box = {"bounds_X": [low.tolist(), high.tolist()], "bounds_y": list(bound)}
    goal = ("% of RMSE above the best without privacy", excess, 10.0)
    peers = {"diffprivlib LinearRegression": Peer("linear", box)}
    return Task(f"A smooth function of {curve.title}", draw, score, plain, private, goal, peers=peers)


# -- curves -------------------------------------------------------------------------------

GRID = dp.Grid.uniform(0, 1, 50)


def smooth_errors(n: int, rng: np.random.Generator, length: float = 0.2) -> np.ndarray:
    """Gaussian processes of unit variance at every point, so of unit squared norm on average."""
    values, vectors = np.linalg.eigh(dp.kernels.Gaussian(length)(GRID.points, GRID.points))
    kept = values > 1e-10
    return rng.normal(size=(n, kept.sum())) @ (vectors[:, kept] * np.sqrt(values[kept])).T


def function_on_scalar() -> Task:
    """Curves on two standard covariates: intercept and coefficients of unit norm, errors of unit scale."""
    t = GRID.points
    functions = np.sqrt(2) * np.array([np.sin(np.pi * t), np.cos(np.pi * t), np.sin(2 * np.pi * t)])
    radius, covariates, height = 5.0, 4.0, 6.0
    # Predictions at no covariate and at one unit of each hold the intercept and all coefficients.
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])

    def draw(n: int, rng: np.random.Generator) -> Sample:
        X = rng.normal(size=(n, 2))
        Y = functions[0] + X @ functions[1:] + smooth_errors(n, rng)
        return Sample(X, Y, corners, functions, functions)

    def score(values: np.ndarray, sample: Sample) -> dict[str, float]:
        found = np.vstack([values[0], values[1:] - values[0]])
        return {"squared L2 error": float((GRID.norm(found - sample.truth) ** 2).sum())}

    facts = {"bound": dp.L2Ball(radius), "covariate_bound": covariates, "grid": GRID}
    plain = {"LinearRegression at every point": Plain(LinearRegression)}
    private = {"FunctionOnScalarRegression": Private(partial(dp.FunctionOnScalarRegression, **facts), *plain)}
    box = {"bounds_X": [-covariates, covariates], "bounds_y": [-height, height]}
    peers = {"diffprivlib LinearRegression, 50 outputs": Peer("linear", box)}
    goal = ("% of integrated error above the fit without privacy", excess, 25.0)
    return Task("Curves on two covariates", draw, score, plain, private, goal, peers=peers, often=4)


class PlainComponents:
    """Leading eigenfunctions of the sample covariance, in the grid's inner product."""

    def fit(self, X: np.ndarray, y: Any = None) -> PlainComponents:
        self.components_ = PCA(2).fit(X * np.sqrt(GRID.weights)).components_ / np.sqrt(GRID.weights)
        return self

    def predict(self, X: Any = None) -> np.ndarray:
        return self.components_


class PrivateComponents(PlainComponents):
    """The same of a private covariance."""

    def __init__(self, epsilon: float, radius: float) -> None:
        self.facts = {"epsilon": epsilon, "bound": dp.L2Ball(radius), "grid": GRID}

    def fit(self, X: np.ndarray, y: Any = None) -> PrivateComponents:
        release = dp.covariance(X, **self.facts)
        if release.rank < 2:  # with few curves shrinkage may leave fewer; the numbers as drawn have two
            release = release.unprocessed()
        self.components_ = release.eigenfunctions(2)
        return self


def degrees(f: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Angles between functions, row by row, whatever their signs."""
    cosine = np.abs(GRID.inner(f, g)) / (GRID.norm(f) * GRID.norm(g))
    return np.degrees(np.arccos(np.minimum(cosine, 1.0)))


def principal_components() -> Task:
    """Curves about a smooth mean, with six smooth components whose variances fall by a factor 0.4."""
    t, orders = GRID.points, np.arange(1, 7)
    raw = np.sin(np.outer(orders, np.pi * (t + 0.3) / 1.3))
    root = np.sqrt(GRID.weights)
    functions = np.linalg.qr((raw * root).T)[0].T / root
    spreads, centre = np.sqrt(0.4 ** (orders - 1)), 0.5 * np.sin(np.pi * t)

    def draw(n: int, rng: np.random.Generator) -> Sample:
        curves = centre + (rng.normal(size=(n, len(orders))) * spreads) @ functions
        return Sample(curves, np.zeros(n), np.zeros(0), PlainComponents().fit(curves).predict(), functions[:2])

    def score(found: np.ndarray, sample: Sample) -> dict[str, float]:
        """The larger of the two angles, in degrees."""
        sides = {"degrees to PCA": sample.y_test, "to the truth": sample.truth}
        return {name: float(degrees(found, other).max()) for name, other in sides.items()}

    plain = {"PCA": Plain(PlainComponents)}
    private = {"covariance": Private(partial(PrivateComponents, radius=4.0), *plain)}
    goal = ("degrees from the eigenfunctions without privacy", lambda ours, other: ours, 5.0)
    return Task("Two leading eigenfunctions", draw, score, plain, private, goal)


# -- diffprivlib in an environment of its own ---------------------------------------------


class Elsewhere:
    """A Python with diffprivlib in a temporary folder, or the reason why there is none."""

    def __init__(self, folder: Path, wanted: bool) -> None:
        self.folder, self.reason = folder, None if wanted else "left out by --no-diffprivlib"
        self.python = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        if wanted:
            self._run([sys.executable, "-m", "venv", str(folder / "env")], "no virtual environment")
            self._run([self.python, "-m", "pip", "install", "--quiet", *REQUIREMENTS], "pip could not install it")

    def _run(self, command: list[Any], failure: str) -> None:
        if self.reason is None:
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                told = [line for line in done.stderr.splitlines() if "Error" in line or "ERROR" in line]
                self.reason = f"{failure}: {told[-1] if told else f'exit code {done.returncode}'}"

    def answers(self, peer: Peer, samples: list[Sample]) -> list[np.ndarray] | None:
        """For each sample the predictions by epsilon; None where diffprivlib cannot run."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            folder, jobs = Path(name), []
            for i, s in enumerate(samples):
                np.savez(folder / f"data{i}.npz", X=peer.features(s.X), y=s.y, X_test=peer.features(s.X_test))
                jobs.append({"data": f"data{i}.npz", "model": peer.model, "options": peer.options, "seed": i})
            jobs = [job | {"epsilons": EPSILONS} for job in jobs]
            (folder / "jobs.json").write_text(json.dumps(jobs), encoding="utf-8")
            script = Path(__file__).with_name("diffprivlib_peers.py")
            # Isolated (-I): the packages of this environment must not reach the other one.
            self._run([self.python, "-I", script, folder], "diffprivlib failed")
            return None if self.reason else [np.load(folder / f"answer{i}.npy") for i in range(len(samples))]


# -- errors -------------------------------------------------------------------------------


def averaged(scores: list[dict[str, float]]) -> dict[str, Any]:
    """Mean, its standard error, and median of every measure over the runs."""
    values = {name: np.array([s[name] for s in scores]) for name in scores[0]}
    root = np.sqrt(max(len(scores) - 1, 1))
    return {
        "mean": {name: float(v.mean()) for name, v in values.items()},
        "standard error": {name: float(v.std() / root) for name, v in values.items()},
        "median": {name: float(np.median(v)) for name, v in values.items()},
        "runs": len(scores),
    }


def fitted_scores(task: Task, build: Callable[[], Any], samples: list[Sample]) -> dict[str, Any]:
    return averaged([task.score(build().fit(s.X, s.y).predict(s.X_test), s) for s in samples])


def errors_at(task: Task, n: int, runs: int, elsewhere: Elsewhere) -> dict[str, Any]:
    """Rows of one n: every model on the same samples (diffprivlib on the first of them)."""
    samples = [task.draw(n, np.random.default_rng([11, n, run])) for run in range(runs * task.often)]
    rows: dict[str, Any] = {}
    for name, model in task.plain.items():
        if n <= model.most:
            rows[name] = fitted_scores(task, model.build, samples[:1] if n >= model.once else samples)
    for name, model in task.private.items():
        for epsilon in EPSILONS:
            rows[labelled(name, epsilon)] = fitted_scores(task, lambda: model.build(epsilon=epsilon), samples)  # noqa: B023
    for name, peer in task.peers.items():
        answers = elsewhere.answers(peer, samples[:runs])
        for e, epsilon in enumerate(EPSILONS):
            rows[labelled(name, epsilon)] = (
                {"not available here": elsewhere.reason} if answers is None
                else averaged([task.score(a[e], s) for a, s in zip(answers, samples[:runs])])
            )  # fmt: skip
    return rows


def labelled(name: str, epsilon: float) -> str:
    return f"{name}, epsilon {epsilon:g}"


def errors(task: Task, runs: dict[int, int], elsewhere: Elsewhere) -> dict[str, dict[int, Any]]:
    """By model and n; a row ends where its model would take too long."""
    table: dict[str, dict[int, Any]] = {}
    for n, many in runs.items():
        for name, cell in errors_at(task, n, many, elsewhere).items():
            table.setdefault(name, {})[n] = cell
    measures = list(next(iter(table.values()))[min(runs)]["mean"])
    head = ["model", *(f"{n:,}: {measure}" for n in runs for measure in measures)]
    rows = [[name, *(shown(cells.get(n), m) for n in runs for m in measures)] for name, cells in table.items()]
    times = ", ".join(f"{many * task.often} at {n:,}" for n, many in runs.items())
    common.show(f"{task.title} (average over runs: {times})", head, rows)
    if task.peers and elsewhere.reason:
        print(f"diffprivlib is not available here: {elsewhere.reason}")
    return table


def shown(cell: dict[str, Any] | None, measure: str) -> float | str:
    if cell is None:
        return "too slow"
    return cell["mean"][measure] if "mean" in cell else "not available here"


# -- fit times and targets ----------------------------------------------------------------


def fit_times(task: Task, n: int, quick: bool) -> dict[str, float]:
    """Shortest of several fits at epsilon 1, in seconds: ours and every model without privacy that takes n records."""
    sample = task.draw(n, np.random.default_rng([12, n]))
    small = task.draw(200, np.random.default_rng(13))
    builders = {name: model.build for name, model in task.plain.items() if n <= model.most}
    builders |= {name: lambda model=model: model.build(epsilon=HEADLINE) for name, model in task.private.items()}
    seconds = {}
    for name, build in builders.items():
        build().fit(small.X, small.y)
        least = 1 if quick else 3
        seconds[name] = common.best_time(lambda: build().fit(sample.X, sample.y), seconds=0.5, least=least)  # noqa: B023
    rows = [[name, s, *ratios(task, name, seconds)] for name, s in seconds.items()]
    common.show(f"{task.title}: fit time, n = {n:,}", ["model", "seconds", "ratio", "over"], rows)
    return seconds


def ratios(task: Task, name: str, seconds: dict[str, float]) -> list[Any]:
    rival = task.private[name].rival if name in task.private else None
    return ["", ""] if rival is None else [seconds[name] / seconds[rival], rival]


def targets(task: Task, table: dict[str, dict[int, Any]], seconds: dict[str, float], n: int) -> list[dict[str, Any]]:
    """What was promised at the largest n and epsilon 1, what was measured, and whether it is met."""
    words, loss, limit = task.goal
    reached = [first_measure(table[name][n]) for name in task.plain if n in table[name]]
    found = []
    for name, model in task.private.items():
        ours = first_measure(table[labelled(name, HEADLINE)][n])
        found.append((name, words, loss(ours, task.best(reached)), limit))
        found.append((name, f"fit time over {model.rival}", seconds[name] / seconds[model.rival], 1.0))
    keys = ("task", "model", "target", "measured", "limit", "met")
    return [dict(zip(keys, (task.title, *row, bool(row[2] <= row[3])))) for row in found]


def first_measure(cell: dict[str, Any]) -> float:
    return next(iter(cell["mean"].values()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, nothing is saved")
    parser.add_argument("--no-diffprivlib", action="store_true", help="do not make an environment for diffprivlib")
    chosen = parser.parse_args()
    runs = QUICK_RUNS if chosen.quick else RUNS
    tasks = [moons(), *(regression(curve) for curve in CURVES), function_on_scalar(), principal_components()]
    figures: dict[str, Any] = {"errors": {}, "fit_seconds": {}, "targets": []}
    with tempfile.TemporaryDirectory() as folder:
        elsewhere = Elsewhere(Path(folder), not chosen.no_diffprivlib)
        for task in tasks:
            table = figures["errors"][task.title] = errors(task, runs, elsewhere)
            seconds = figures["fit_seconds"][task.title] = fit_times(task, max(runs), chosen.quick)
            figures["targets"] += targets(task, table, seconds, max(runs))
    figures["regression at n = 100"] = few_records.study(chosen.quick)
    figures |= {"n": max(runs), "epsilon": HEADLINE, "diffprivlib": elsewhere.reason or " ".join(REQUIREMENTS)}
    head = ["model", "target", "measured", "limit", "met"]
    rows = [[t[k] if k != "model" else f"{t['task']}: {t[k]}" for k in head] for t in figures["targets"]]
    common.show(f"Targets at n = {max(runs):,}, epsilon {HEADLINE:g}", head, rows)
    if not chosen.quick:
        common.save("models", figures)


if __name__ == "__main__":
    main()
