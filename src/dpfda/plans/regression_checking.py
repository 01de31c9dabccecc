"""The check of a regression: what the last moments of residuals leave out, and how large residuals are, for bands.

It leaves with those moments, in the same pass, for a small share of epsilon (derivations: bands of regressions).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpfda.noise import Ball, Laplace
from dpfda.problems.checked_residuals import CheckedResiduals
from dpfda.problems.design import CurveResponse, Response
from dpfda.problems.moments import ResidualProblem
from dpfda.problems.stage import Part, Stage
from dpfda.results.coefficient_bands import CheckedFit, floored_inverse

if TYPE_CHECKING:
    from dpfda.plans.guided import Regression

#: Share of the check, of what the radius of responses leaves: 3 % for lengths of what is left out, as for means, and
#: 2 % for energies.
LENGTH, ENERGY = Fraction(3, 100), Fraction(1, 50)
CHECK = LENGTH + ENERGY
#: What is left out of a residual may be as long as most residuals are in the released functions, and residuals half as
#: long again; up to four times with more records times epsilon than these, as the noise of energies allows. Where
#: residuals have more in other functions, their energies tell.
FAR, MOST_FAR, FEW = 1.5, 4.0, 10_000.0
#: Pieces of the domain that energies of residuals are told for, and points at which they are taken.
PIECES, POINTS = 4, 32


def sides(plan: Regression, response: Response) -> dict[str, Any]:
    """What problems of all stages share: both sides of the records, and who may differ."""
    return {
        "basis": plan.released_basis, "design": plan.design, "response": response, "n": plan.n,
        "neighbors": plan.neighbors, "invalid": plan.invalid,
    }  # fmt: skip


def check_size(plan: Regression) -> int:
    """How many numbers a check has."""
    return 2 * plan.design.size + _pieces(plan)


def _pieces(plan: Regression) -> int:
    assert isinstance(plan.response, CurveResponse)
    return min(PIECES, plan.response.code.grid.size)


def checked_residuals(plan: Regression, residuals: ResidualProblem, gram: np.ndarray, outer: float) -> CheckedResiduals:
    """The same moments with their check, for the first moment that was released and responses clipped to `outer`."""
    assert isinstance(plan.response, CurveResponse)
    line = plan.response.code.basis
    typical = float(np.sqrt(max(np.trace(gram), plan.design.constant**2)))
    cap = min(outer, float(np.sqrt((residuals.axes**2).mean())) / typical)
    solving = plan.design.restoring @ floored_inverse(gram)
    units = np.sqrt(plan.design.size * np.maximum(np.einsum("ij,jk,ik->i", solving, gram, solving), 1e-12))
    far = min(MOST_FAR, FAR * max(1.0, float(np.sqrt(plan.n * float(plan.epsilon) / FEW))))
    points = np.unique(np.rint(np.linspace(0, line.grid.size - 1, POINTS)).astype(int))
    return CheckedResiduals(
        **sides(plan, plan.response), rough=residuals.rough, axes=residuals.axes, cap=cap,
        largest=min(outer, far * cap), solving=solving / units[:, None], functions=line.functions[points],
        pieces=_pieces(plan), span=float(line.grid.length),
    )  # fmt: skip


def check_parts(problem: CheckedResiduals, epsilon: Fraction) -> tuple[Part, Part]:
    """The parts of the check, with their shares of its epsilon."""
    rows, every = problem.design.size, np.ones(problem.energies)
    lengths = problem.moments + np.arange(rows)
    share = epsilon * LENGTH / CHECK
    ball = Ball.calibrated(share, problem.length_sensitivity, problem.max_abs[lengths])
    energies = problem.moments + rows + np.arange(problem.energies)
    scales = every * problem.energy_sensitivity.support(every) / float(epsilon - share)
    law = Laplace.calibrated(epsilon - share, scales, every, problem.energy_sensitivity, problem.max_abs[energies])
    return Part(lengths, np.ones(rows), ball), Part(energies, every, law)


def checked_fit(
    plan: Regression,
    last: Stage,
    drawn: np.ndarray,
    numbers: np.ndarray,
    first_noise: Callable[[int, np.random.Generator], np.ndarray],
    outer: float,
) -> CheckedFit:
    """What the last stage drew, for bands; `numbers` are the first moment's, and their noise is simulated."""
    problem, gram = last.problem, plan.design.gram
    assert isinstance(problem, CheckedResiduals)
    rows, size = plan.design.size, problem.moments

    def simulate(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        grams = gram.matrix(numbers - first_noise(count, rng)[:, : gram.size])
        return grams, last.parts[0].law.simulate(count, rng).reshape(count, rows, -1)

    units = plan.design.restoring @ floored_inverse(gram.matrix(numbers))
    units = np.linalg.norm(units, axis=1) / np.linalg.norm(problem.solving, axis=1)
    return CheckedFit(
        rough=problem.rough, moments=drawn[:size].reshape(rows, -1), gram=gram.matrix(numbers),
        restoring=plan.design.restoring, simulate=simulate, n=plan.n, units=units,
        lengths=drawn[size : size + rows], length_noise=np.sqrt(last.parts[1].law.variance), cap=problem.cap,
        by_coefficient=2 * drawn[size + rows : size + 2 * rows], by_piece=2 * drawn[size + 2 * rows :],
        energy_scale=2 * float(last.parts[2].law.scales[0]), largest=problem.largest, outer=outer, span=problem.span,
    )  # fmt: skip
