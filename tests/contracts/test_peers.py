"""The two peer mechanisms on means: Bernstein on a lattice, and the Gaussian process with its delta."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from conftest import BOUNDS, GRID, hostile, plan_of
from scipy.stats import norm

import dpfda as dp
from dpfda.noise.gaussian import discrete_multiplier, multiplier
from dpfda.spaces.bernstein import BernsteinBasis

#: Tests of what is read from data are elsewhere (test_labels_read).
pytestmark = pytest.mark.filterwarnings("ignore:Which (groups|classes) there are:dpfda.errors.NotPrivateWarning")

PEERS = {
    "Bernstein": dp.methods.Bernstein(5),
    "Bernstein-tight": dp.methods.Bernstein(6, sensitivity="tight"),
    "Bernstein-iterated": dp.methods.Bernstein(6, order=4, sensitivity="tight"),
    "GaussianProcess": dp.methods.GaussianProcess(0.01),
}


def plan_for(
    method: dp.methods.Bernstein | dp.methods.GaussianProcess, bound: str = "L2", **options: object
) -> dp.MeanPlan:
    facts = {"n": 40, "epsilon": 1.0, "grid": GRID, "kernel": dp.kernels.Matern(1.5, 0.2)} | options
    return dp.MeanPlan(method=method, bound=BOUNDS[bound], **facts)


def statistic(plan: dp.MeanPlan, curves: np.ndarray) -> np.ndarray:
    return plan.statistic(plan.summarize(curves))


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("method", PEERS)
def test_no_record_moves_the_statistic_past_epsilon(method, bound, relation, rng):
    plan = plan_for(PEERS[method], bound, neighbors=relation, invalid="center")
    base = rng.normal(0, 0.5, (39, GRID.size))
    wild = [*hostile(GRID.size), *rng.normal(0, 3, (20, GRID.size)), *np.eye(GRID.size)[::4] * 100]
    seen = [statistic(plan, np.vstack([base, record])) for record in wild]
    pairs = product(seen, repeat=2) if relation == "replace" else ((one, statistic(plan, base)) for one in seen)
    assert max(plan.loss(a - b) for a, b in pairs) <= 1


@pytest.mark.parametrize(
    ("method", "least"), [("Bernstein-tight", 0.99), ("Bernstein-iterated", 0.99), ("Bernstein", 0.3)]
)
def test_the_worst_pair_of_a_lattice(method, least):
    """Values at all lattice points at once, as far up as the ball allows, against as far down."""
    plan = plan_for(PEERS[method])
    sight = plan.problem._sight
    worst = sight.sum(axis=1) / np.sqrt(GRID.weights)
    base = np.zeros((39, GRID.size))
    up, down = (statistic(plan, np.vstack([base, sign * 1e3 * worst])) for sign in (1, -1))
    assert least <= plan.loss(up - down) <= 1


def test_the_worst_pair_of_a_gaussian_process():
    plan = plan_for(PEERS["GaussianProcess"])
    worst = plan.basis.functions[:, int(np.argmax(plan.filter / np.sqrt(plan.basis.eigenvalues)))]
    base = np.zeros((39, GRID.size))
    up, down = (statistic(plan, np.vstack([base, sign * 1e3 * worst])) for sign in (1, -1))
    assert 0.99 <= plan.loss(up - down) <= 1


@pytest.mark.parametrize("ratio", [1e12, 1e16, 1e20])
@pytest.mark.parametrize("bound", [dp.bounds.Box, dp.bounds.Ellipsoid])
def test_a_lattice_that_hardly_sees_a_huge_coordinate(bound, ratio):
    """A function that vanishes at the lattice but for rounding, and a side that makes up for it."""

    def kernel(s, t):
        return 1 + 1.8 * np.outer(np.sin(2 * np.pi * s), np.sin(2 * np.pi * t))

    for sensitivity in ("tight", "paper"):
        plan = dp.MeanPlan(
            n=10, epsilon=1, bound=bound([1, ratio]), grid=dp.Grid.uniform(0, 1, 25), kernel=kernel,
            method=dp.methods.Bernstein(1, sensitivity=sensitivity),
        )  # fmt: skip
        curves = np.zeros((10, 25))
        for worst in ([1, ratio], [1, -ratio], [0, ratio]):
            curves[0] = plan.problem.code.functions @ np.array(worst)
            assert plan.loss(statistic(plan, curves) - statistic(plan, -curves)) <= 1


class TestBernstein:
    def test_check_values(self):
        basis = BernsteinBasis(dp.Grid.uniform(0, 1, 5), 25)
        x = basis.lattice_points
        values = basis.evaluate([0.2, 0.5, 0.9]) @ (x * np.sin(10 * x))
        assert values == pytest.approx([0.110178601933, -0.272450850626, 0.271507204195], abs=1e-12)

    @pytest.mark.parametrize("order", [1, 2, 5])
    @pytest.mark.parametrize("dimension", [1, 2])
    def test_the_iterated_operator(self, order, dimension):
        """``I - (I - B)^h`` built by applying B again and again to functions."""
        grid = dp.Grid.midpoints(0, 2, 7)
        grid = grid if dimension == 1 else dp.Grid.product(grid, dp.Grid.midpoints(-1, 1, 6))
        plain, iterated = BernsteinBasis(grid, 4), BernsteinBasis(grid, 4, order)
        lattice = np.random.default_rng(0).normal(size=plain.size)
        t, nodes = grid.points, plain.lattice_points

        def smooth(at_lattice):
            """B of a function known at the lattice: its values at t and at the lattice."""
            return plain.evaluate(t) @ at_lattice, plain.evaluate(nodes) @ at_lattice

        rest, total = lattice, 0.0
        for _ in range(order):
            everywhere, seen = smooth(rest)
            total, rest = total + everywhere, rest - seen
        assert iterated.evaluate(t) @ lattice == pytest.approx(total, abs=1e-12)
        assert iterated.synthesize(lattice) == pytest.approx(total, abs=1e-12)
        assert iterated.synthesize(np.ones(plain.size)) == pytest.approx(np.ones(grid.size))

    def test_derivative(self):
        basis = BernsteinBasis(dp.Grid.uniform(0, 3, 5), 6, 2)
        t = np.linspace(0.1, 2.9, 9)
        slope = (basis.evaluate(t + 1e-6) - basis.evaluate(t - 1e-6)) / 2e-6
        assert basis.evaluate(t, 1) == pytest.approx(slope, abs=1e-6)

    def test_noise_of_the_original_mechanism(self):
        """S (k+1)^d / eps, with S the largest change of one lattice value."""
        for method, points in ((dp.methods.Bernstein(4), 5), (dp.methods.Bernstein(10), 11)):
            plan = dp.MeanPlan(n=100, epsilon=0.5, bound=dp.L2Ball(2.0), grid=dp.Grid.uniform(0, 1, 21), method=method)
            largest = 2 * 2.0 / 100 / np.sqrt(plan.grid.weights.min())
            assert plan.scales == pytest.approx(np.full(points, largest * points / 0.5), rel=1e-5)
            tight = dp.MeanPlan(
                n=100,
                epsilon=0.5,
                bound=dp.L2Ball(2.0),
                grid=plan.grid,
                method=dp.methods.Bernstein(points - 1, sensitivity="tight"),
            )
            chosen = np.linspace(0, 20, points).astype(int)
            together = 2 * 2.0 / 100 * np.sqrt((1 / plan.grid.weights[chosen]).sum())
            assert tight.scales == pytest.approx(np.full(points, together / 0.5), rel=1e-5)

    def test_a_surface(self, rng):
        grid = dp.Grid.product(dp.Grid.uniform(0, 1, 7), dp.Grid.uniform(0, 2, 6))
        smooth = np.outer(np.linspace(0, 1, 7), np.linspace(1, 0, 6)).ravel()
        release = dp.mean(
            smooth + 0 * rng.normal(size=(50, 42)), epsilon=10_000, bound=dp.L2Ball(3.0), grid=grid,
            method=dp.methods.Bernstein(3), kernel=dp.kernels.Matern(1.5, 0.5),
        )  # fmt: skip
        assert release.values == pytest.approx(smooth.reshape(7, 6), abs=0.05)  # Bernstein keeps bilinear surfaces
        assert release.plan.expected_error == pytest.approx(
            float((release.plan.scales**2 * 2 * release.plan.basis.energies).sum())
        )
        assert dp.results.plots.png(release.plot())[:4] == b"\x89PNG"

    def test_orders_lower_the_bias_and_not_the_noise_of_the_lattice(self):
        facts = {"n": 1000, "epsilon": 1, "bound": dp.L2Ball(1.0), "grid": 51}
        plans = [dp.MeanPlan(**facts, method=dp.methods.Bernstein(20, order=h)) for h in (1, 4)]
        assert plans[0].scales == pytest.approx(plans[1].scales)
        assert plans[1].problem.irreducible_error[0] < 0.5 * plans[0].problem.irreducible_error[0]

    def test_the_risk_is_what_simulations_say(self, rng):
        """Targets from the guess, noise from the law: the average error is the expected risk, within 5 %."""
        plan = dp.MeanPlan(
            n=200, epsilon=1, bound=dp.L2Ball(1.0), grid=31, method=dp.methods.Bernstein(8, sensitivity="tight")
        )
        code, lattice = plan.problem.code, plan.basis.lattice_points
        errors = []
        for _ in range(4000):
            c = rng.normal(size=code.size) * np.sqrt(plan.problem._prior)
            noisy = dp.noise.simulate(plan, code.evaluate(lattice) @ c, 1, rng)[0]
            errors.append(plan.grid.weights @ (plan.basis.synthesize(noisy) - code.synthesize(c)) ** 2)
        assert np.mean(errors) == pytest.approx(plan.expected_risk, rel=0.1)

    def test_a_centre_is_kept(self):
        centre = np.sin(np.linspace(0, 3, 21))
        plan = dp.MeanPlan(n=50, epsilon=9_000, bound=dp.L2Ball(0.5, centre), grid=21, method=dp.methods.Bernstein(5))
        assert plan.release(np.tile(centre, (50, 1))).values == pytest.approx(centre, abs=0.01)


class TestGaussianProcess:
    def test_within_two_per_cent_of_the_analytic_formula(self):
        for epsilon, delta in product((0.1, 1, 5), ("1e-9", "0.01")):
            plan = plan_for(dp.methods.GaussianProcess(delta), epsilon=epsilon)
            law, root = plan.stage.parts[0].law, np.sqrt(plan.basis.eigenvalues)
            distance = 2 * 0.8 / 40 * (plan.filter / root).max()
            analytic = multiplier(epsilon, float(delta)) * distance * root
            assert (law.scales >= analytic).all()
            assert law.scales == pytest.approx(analytic, rel=1e-4)

    @pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.01), (0.2, 1e-5), (3.0, 1e-8)])
    def test_the_discrete_law_meets_its_delta(self, epsilon, delta):
        """All integers, one by one: the exact delta of the discrete Gaussian that would be drawn."""
        sensitivity = 30_000
        exact = discrete_multiplier(Fraction(str(epsilon)), Fraction(str(delta)), 1, float(sensitivity))
        sigma = exact * sensitivity
        k = np.arange(-int(12 * sigma), int(12 * sigma))
        p = np.exp(-0.5 * (k / sigma) ** 2)
        p /= p.sum()
        moved = np.zeros_like(p)
        moved[sensitivity:] = p[:-sensitivity]
        spent = np.maximum(p - np.exp(epsilon) * moved, 0).sum()
        assert 0.97 * delta <= spent <= delta
        assert exact <= 1.02 * multiplier(epsilon, delta)

    def test_the_analytic_formula(self):
        for epsilon, delta in ((1, 0.01), (0.5, 1e-6), (8, 1e-3)):
            s = multiplier(epsilon, delta)
            spent = norm.cdf(0.5 / s - epsilon * s) - np.exp(epsilon) * norm.cdf(-0.5 / s - epsilon * s)
            assert spent == pytest.approx(delta, rel=1e-6)

    def test_draws_have_the_stated_scale(self):
        """3,000 exact draws of one coordinate: the variance lies within 6 standard errors (once in 5e8)."""
        plan = plan_for(dp.methods.GaussianProcess(0.01, psi=1e-3))
        law = plan.stage.parts[0].law
        draws = np.array([law.draw([0] * law.steps.size) for _ in range(300)]) / law.scales
        flat = draws[:, :10].ravel()
        assert abs((flat**2).mean() - 1) < 6 * np.sqrt(2 / flat.size)
        assert abs(flat.mean()) < 6 / np.sqrt(flat.size)

    def test_delta_is_charged_and_said_everywhere(self, tmp_path):
        curves = np.random.default_rng(0).normal(0, 0.2, (40, GRID.size))
        plan = plan_for(dp.methods.GaussianProcess("1e-3"))
        assert plan.delta == Fraction(1, 1000)
        pure = dp.Ledger.create(tmp_path / "pure.ledger", epsilon=5, study="pure")
        with pytest.raises(dp.errors.BudgetExceeded):
            plan.release(curves, pure)
        assert pure.spent == 0
        book = dp.Ledger.create(tmp_path / "approximate.ledger", epsilon=5, delta="0.01", study="approximate")
        release = plan.release(curves, book)
        assert book.history()[0].delta == Fraction(1, 1000)
        for text in (repr(plan), plan.explain(), release.statement):
            assert "not pure" in text
        assert "pure, no delta" not in release.statement
        assert "(not pure)" in release.plot().get_title(loc="left")
        assert "delta 0.001" in repr(release)
        assert "no delta" in plan_of().explain()
        assert (book.delta_spent, book.delta_budget) == (Fraction(1, 1000), Fraction(1, 100))
        groups = dp.density(
            np.linspace(0, 1, 40),
            by=["a", "b"] * 20,
            epsilon=1,
            domain=[(0, 1)],
            method=dp.methods.GaussianProcess("1e-3"),
        )
        assert groups.plan.delta == Fraction(1, 1000)  # groups share no record: one delta, not two
        for text in (repr(groups), repr(groups.plan), groups.plan.composition, groups.statement):
            assert "not pure" in text

    def test_only_this_method_has_a_delta(self):
        for method in (
            dp.methods.FRL(),
            dp.methods.QR(),
            dp.methods.AR(),
            dp.methods.Minimax(),
            dp.methods.KNorm(),
            dp.methods.Bernstein(5),
        ):
            assert plan_for(method).delta == 0
