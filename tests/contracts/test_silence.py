"""What a record holds, and how many there are, is not told by warnings, logs, compilers or threads that fail."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import dpfda as dp
from dpfda.bounds import loops

GRID = dp.Grid.uniform(0, 1, 21)
FACTS = {"epsilon": 1.0, "grid": GRID, "bound": dp.L2Ball(1.0), "n": 400, "invalid": "center"}
needs_compiler = pytest.mark.skipif(loops.compiled_kernels() is None, reason="the fast extra is not installed")

VERBS = {
    "covariance": lambda x: dp.covariance(x, **FACTS),
    "filled": lambda x: dp.mean(dp.read(x, fill=2), **FACTS),
    "too many": lambda x: dp.mean(x, **(FACTS | {"n": 300})),
    "units": lambda x: dp.mean(x, unit=[f"p{i // 2}" for i in range(400)], **(FACTS | {"n": 200})),
    "percentiles": lambda x: dp.percentiles(x, epsilon=1.0, grid=GRID, range=(-1, 1), n=400, invalid="center"),
    "density": lambda x: dp.density(x[:, 4], epsilon=1.0, domain=(-1, 1), n=400, invalid="center"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_signalling_nan_in_single_precision_says_nothing(verb, rng):
    """Widening one warns of it: a word about a record, or an error where warnings are errors, even after a charge."""
    curves = (0.1 * rng.normal(size=(400, GRID.size))).astype(np.float32)
    curves.view(np.uint32)[3, 4] = 0x7F800001
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        VERBS[verb](curves)


def test_a_compiler_that_does_not_load_costs_nothing(monkeypatch, rng):
    """A library of the compiler that is missing is an OSError; a later pass may be the first to ask for it."""

    def fails(name: str) -> None:
        raise OSError("libllvmlite.so: cannot open shared object file")

    problem = dp.MeanPlan(method=dp.methods.QR(), **FACTS).problem
    batch = rng.normal(size=(40, GRID.size))
    expected = problem.total(batch)
    monkeypatch.setattr(loops, "import_module", fails)
    monkeypatch.setattr(loops, "WORTH", 0)
    loops.compiled_kernels.cache_clear()
    try:
        assert np.array_equal(problem.total(batch), expected)
    finally:
        loops.compiled_kernels.cache_clear()


@needs_compiler
def test_a_compiler_that_fails_says_nothing_of_a_private_count(monkeypatch, caplog, rng):
    """It is asked for from so many values on: who sees the warning knows on which side of that the count is."""

    def fails(*given: object) -> None:
        raise OSError("no space left")

    plan = dp.MeanPlan(neighbors="add-remove", method=dp.methods.QR(), **FACTS)
    seen = []
    for count in (399, 400):
        monkeypatch.setattr(loops.compiled_kernels(), "_sum_clipped", fails)
        monkeypatch.setattr(loops, "WORTH", 400 * GRID.size)
        monkeypatch.setattr(loops._Seen, "values", 0)
        monkeypatch.setattr(loops._Seen, "broken", False)
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            plan.summarize(rng.normal(size=(count, GRID.size)))
        seen.append([record.getMessage() for record in caplog.records])
    assert seen[0] == seen[1]


@pytest.mark.long
@needs_compiler
def test_what_was_compiled_for_another_ball_is_not_used(tmp_path):
    """After another radius in `lattice.py` kernels that were kept would clip to the old one, unlike sensitivities."""
    bounds = tmp_path / "dpfda" / "bounds"
    shutil.copytree(Path(dp.__file__).parent, bounds.parent, ignore=shutil.ignore_patterns("__pycache__"))
    script = (
        "import numpy as np\nfrom dpfda.bounds import compiled, lattice\nfar = np.full((1, 4), 2.0**26)\n"
        "steps = np.ones(1, dtype=bool), np.zeros(4), np.ones(4), np.arange(4), np.ones(4), np.full(4, 2.0**30)\n"
        "found = compiled.bring_to_pieces(far, *steps, 2.0**60, 2.0**20)[0]\n"
        "print(float((found**2).sum()) <= lattice.LIMIT)"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("NUMBA_CACHE_DIR", None)

    def inside() -> str:
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
        )
        return done.stdout.strip()

    assert inside() == "True"
    lattice = bounds / "lattice.py"
    lattice.write_text(lattice.read_text().replace("RADIUS_BITS = 24", "RADIUS_BITS = 23"))
    assert inside() == "True"
