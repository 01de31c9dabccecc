"""Every problem answers five small contracts, and nothing else is asked of one."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pytest

import dpfda as dp
from dpfda.problems import contracts, stage

CONTRACTS = {
    "Encoder": "alignment count_is_private invalid key kind record record_grid total width",
    "Statistic": "check estimate n n_public needs_count size",
    "Sensitive": "max_abs sensitivity",
    "Prior": "class_norms decay eta irreducible_error prior_energies prior_energy sampling shrinks smooths",
    "Target": "basis center_coefficients finish finish_variance grid offset typical",
}
FACTS = {"n": 500, "epsilon": 1.0}
CURVES = {"bound": dp.L2Ball(1.0), "grid": 16, **FACTS}
PLANS = {
    "mean": lambda: dp.MeanPlan(method=dp.methods.KNorm(4), **CURVES),
    "rounds": lambda: dp.MeanPlan(method=dp.methods.Staged(dp.methods.KNorm(4)), **CURVES),
    "choice": lambda: dp.MeanPlan(method=dp.methods.Select([dp.methods.KNorm(2), dp.methods.KNorm(4)]), **CURVES),
    "lattice": lambda: dp.MeanPlan(method=dp.methods.Bernstein(4), **CURVES),
    "covariance": lambda: dp.CovariancePlan(**CURVES),
    "density": lambda: dp.DensityPlan(domain=[(0, 1)], cells=16, **FACTS),
    "lattice density": lambda: dp.DensityPlan(domain=[(0, 1)], cells=16, method=dp.methods.Bernstein(4), **FACTS),
    "survival": lambda: dp.SurvivalPlan(horizon=900, **FACTS),
    "regression": lambda: dp.plans.RegressionPlan(covariates=1, covariate_bound=1.0, **CURVES),
    "kernel": lambda: dp.plans.KernelPlan(domain=[(0, 1)], bound=(0, 1), criterion="huber", **FACTS),
    "radius": lambda: dp.plans.RadiusPlan(smallest=0.1, bound=dp.L2Ball(10.0), grid=dp.Grid.uniform(0, 1, 16), **FACTS),
}


def members(contract: type) -> set[str]:
    return {name for name in vars(contract) if not name.startswith("_")}


@pytest.mark.parametrize("name", CONTRACTS)
def test_a_contract_is_small_and_says_what_each_member_is(name):
    contract = getattr(contracts, name)
    assert members(contract) == set(CONTRACTS[name].split())
    for member in members(contract):
        assert vars(contract)[member].__doc__, member


def test_a_problem_is_all_contracts_and_nothing_else():
    assert members(contracts.Problem) == set()
    assert [base.__name__ for base in contracts.Problem.__bases__ if base is not Protocol] == list(CONTRACTS)
    every = [member for names in CONTRACTS.values() for member in names.split()]
    assert len(every) == len(set(every)) == 33


@pytest.mark.parametrize("name", PLANS)
def test_problems_answer_all_of_them(name):
    plan, seen = PLANS[name](), []
    draws: list[np.ndarray] = []
    following: stage.Stage | None = plan.stage
    while following is not None:
        seen.append(following.problem)
        chosen = np.eye(following.problem.size)[0]
        draws.append(chosen)
        following = plan.schedule.next(draws)
    for problem in seen:
        for names in CONTRACTS.values():
            for member in names.split():
                getattr(problem, member)
        assert problem.prior_energies.shape[1] == problem.basis.size
        assert len(problem.class_norms) == len(problem.irreducible_error) == len(problem.prior_energies)
