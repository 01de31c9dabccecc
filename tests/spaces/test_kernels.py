import numpy as np
import pytest
from scipy.optimize import brentq

import dpfda as dp
from dpfda.spaces.kernels import Constant, Product, Sum, as_kernel

GRID = dp.Grid.uniform(0, 1, 400)
KERNELS = {
    "Matern": dp.kernels.Matern(1.5, 0.1),
    "Matern-general": dp.kernels.Matern(1.2, 0.3),
    "Matern-7/2": dp.kernels.Matern(3.5, 0.2),
    "Exponential": dp.kernels.Exponential(0.2),
    "Gaussian": dp.kernels.Gaussian(0.15),
    "Sum": dp.kernels.Matern(0.5, 0.1) + dp.kernels.Gaussian(0.3),
    "Product": dp.kernels.Matern(1.5, 0.5) * dp.kernels.Exponential(1.0),
    "Custom": dp.kernels.Custom(lambda s, t: np.minimum.outer(s, t)),
    "Cosine": dp.kernels.Cosine(dp.kernels.Matern(1.5, 0.1)),
    "Cosine-Gaussian": dp.kernels.Cosine(dp.kernels.Gaussian(0.05)),
}
GRIDS = {
    "uniform": dp.Grid.uniform(0, 1, 40),
    "equal": dp.Grid.uniform(0, 2, 40, weights="equal"),
    "midpoints": dp.Grid.midpoints(0, 1, 40),
    "irregular": dp.Grid(np.linspace(0.01, 1, 40) ** 1.7),
}


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_basis_is_orthonormal_in_the_grids_inner_product(kernel, grid):
    basis = KERNELS[kernel].basis(GRIDS[grid], 12)
    gram = basis.functions.T @ (basis.grid.weights[:, None] * basis.functions)
    assert gram == pytest.approx(np.eye(12), abs=1e-9)
    assert (np.diff(basis.eigenvalues) <= 0).all()
    assert np.linalg.eigvalsh(gram).max() <= 1 + basis.excess
    c = np.random.default_rng(0).normal(size=(3, 12))
    assert basis.coefficients(basis.synthesize(c)) == pytest.approx(c)
    assert basis.synthesize(c) == pytest.approx(c @ basis.functions.T)
    assert basis.evaluate(basis.grid.points) == pytest.approx(basis.functions, abs=1e-6)


def test_brownian_motion_has_its_eigenvalues():
    basis = KERNELS["Custom"].basis(GRID, 5)
    expected = ((np.arange(1, 6) - 0.5) * np.pi) ** -2.0
    assert basis.eigenvalues == pytest.approx(expected, rel=2e-3)
    t = np.array([0.113, 0.5, 0.777])
    assert np.abs(basis.evaluate(t)[:, 0]) == pytest.approx(np.sqrt(2) * np.sin(np.pi * t / 2), abs=1e-3)


def test_exponential_kernel_solves_its_transcendental_equation():
    """On [-a, a] with rate c: c = w tan(w a) (even) and w = -c tan(w a) (odd), lambda = 2c / (w^2 + c^2)."""
    c, a = 5.0, 0.5
    frequencies = [brentq(lambda w: c - w * np.tan(w * a), 1e-9, np.pi / 2 / a - 1e-9)]
    for k in range(1, 6):
        low, high = (k - 0.5) * np.pi / a + 1e-9, (k + 0.5) * np.pi / a - 1e-9
        frequencies.append(brentq(lambda w: w + c * np.tan(w * a), low, k * np.pi / a))
        frequencies.append(brentq(lambda w: c - w * np.tan(w * a), k * np.pi / a, high))
    exact = np.sort(2 * c / (np.array(frequencies) ** 2 + c * c))[::-1][:6]
    assert dp.kernels.Exponential(1 / c).basis(GRID, 6).eigenvalues == pytest.approx(exact, rel=2e-3)


def test_half_integer_forms_agree_with_bessel_functions():
    s, t = np.linspace(0, 1, 7), np.linspace(0, 1, 9)
    for nu in (0.5, 1.5, 2.5, 3.5):
        assert dp.kernels.Matern(nu, 0.3)(s, t) == pytest.approx(dp.kernels.Matern(nu + 1e-9, 0.3)(s, t), abs=1e-7)
    assert dp.kernels.Matern(0.5, 0.3)(s, t) == pytest.approx(dp.kernels.Exponential(0.3)(s, t))
    assert dp.kernels.Matern(50, 0.3)(s, t) == pytest.approx(dp.kernels.Gaussian(0.3)(s, t), abs=0.02)


def test_unit_trace():
    basis = dp.kernels.Matern(1.5, 2.0).basis(dp.Grid.uniform(0, 24, 48), normalize=True)
    assert basis.eigenvalues.sum() == pytest.approx(1.0)
    assert basis.evaluate(basis.grid.points) == pytest.approx(basis.functions, abs=1e-8)


def test_tiny_and_negative_eigenvalues_are_dropped():
    basis = dp.kernels.Gaussian(0.3).basis(GRIDS["uniform"])
    assert basis.size < 40
    assert basis.eigenvalues.min() > 1e-10 * basis.eigenvalues.max()
    with pytest.raises(dp.errors.ParameterError, match="between 1 and"):
        dp.kernels.Gaussian(0.3).basis(GRIDS["uniform"], 40)
    indefinite = dp.kernels.Custom(lambda s, t: np.cos(40 * np.abs(np.subtract.outer(s, t))) - 0.5)
    assert (indefinite.basis(GRIDS["uniform"]).eigenvalues > 0).all()


def test_decompositions_are_computed_once_per_content():
    assert dp.kernels.Matern(1.5, 0.1).basis(dp.Grid.uniform(0, 1, 30)) is dp.kernels.Matern(1.5, 0.1).basis(
        dp.Grid.uniform(0, 1, 30)
    )
    assert dp.kernels.Matern(1.5, 0.1).basis(dp.Grid.uniform(0, 1, 30)) is not dp.kernels.Matern(1.5, 0.2).basis(
        dp.Grid.uniform(0, 1, 30)
    )


@pytest.mark.parametrize("kernel", ["Matern", "Gaussian", "Cosine"])
def test_derivatives_match_differences(kernel):
    basis = KERNELS[kernel].basis(dp.Grid.midpoints(0, 1, 60), 6)
    t, h = np.array([0.21, 0.5, 0.83]), 1e-4
    slope = (basis.evaluate(t + h) - basis.evaluate(t - h)) / (2 * h)
    assert basis.evaluate(t, derivative=1) == pytest.approx(slope, rel=1e-3, abs=1e-3)
    with pytest.raises(dp.errors.ParameterError, match="first derivative"):
        basis.evaluate(t, derivative=2)
    with pytest.raises(dp.errors.ParameterError, match="domain"):
        basis.evaluate([1.5])


def test_cosine_transforms_are_the_matrix_products(rng):
    basis = dp.kernels.Cosine(dp.kernels.Exponential(0.1)).basis(dp.Grid.midpoints(2, 5, 33), 20)
    f = rng.normal(size=(4, 33))
    assert basis.coefficients(f) == pytest.approx(f @ (basis.grid.weights[:, None] * basis.functions))
    assert basis.eigenvalues == pytest.approx(1 / (1 + (0.1 * np.pi * np.arange(20) / 3) ** 2))


def test_arithmetic_and_numbers():
    assert isinstance(dp.kernels.Matern() + 1.0, Sum)
    assert isinstance(2.0 * dp.kernels.Matern(), Product)
    assert as_kernel(3.0) == Constant(3.0)
    assert (2.0 * dp.kernels.Matern()).basis(GRID, 3).eigenvalues == pytest.approx(
        2 * dp.kernels.Matern().basis(GRID, 3).eigenvalues
    )
    assert (dp.kernels.Matern(1.5) + dp.kernels.Exponential()).decay == 2.0


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: dp.kernels.Matern(nu=0), "nu must be positive"),
        (lambda: dp.kernels.Matern(nu=80), "at most 50"),
        (lambda: dp.kernels.Gaussian(-1), "length_scale must be positive"),
        (lambda: as_kernel("matern"), "kernel must be"),
        (lambda: dp.kernels.Cosine(dp.kernels.Matern() + dp.kernels.Gaussian()), "plain stationary"),
        (lambda: dp.kernels.Cosine(3), "wraps one plain stationary"),
        (lambda: dp.kernels.Custom(lambda s, t: np.subtract.outer(s, t)).basis(GRID), "symmetric"),
        (lambda: dp.kernels.Custom(lambda s, t: np.full((s.size, t.size), np.nan)).basis(GRID), "finite"),
        (lambda: dp.kernels.Custom(lambda s, t: -np.minimum.outer(s, t)).basis(GRID), "positive somewhere"),
        (lambda: dp.kernels.Cosine(dp.kernels.Matern())(GRID.points, GRID.points), "basis only"),
    ],
)
def test_bad_kernels_are_refused(make, rule):
    with pytest.raises(dp.errors.ParameterError, match=rule):
        make()


def test_an_open_length_scale_is_a_tenth_of_the_domain():
    day = dp.Grid.uniform(0, 24, 48)
    for kernel, settled in (
        (dp.kernels.Matern(), dp.kernels.Matern(1.5, 2.4)),
        (dp.kernels.Cosine(dp.kernels.Gaussian()), dp.kernels.Cosine(dp.kernels.Gaussian(2.4))),
        (
            dp.kernels.Matern() + 2 * dp.kernels.Exponential(),
            dp.kernels.Matern(1.5, 2.4) + 2 * dp.kernels.Exponential(2.4),
        ),
    ):
        assert kernel.on(day) == settled
        assert kernel.basis(day) is settled.basis(day)
    with pytest.raises(dp.errors.ParameterError, match="length scale"):
        dp.kernels.Matern()(np.zeros(1), np.zeros(1))


def test_surfaces_can_be_evaluated_off_their_grid():
    grid = dp.Grid.product(dp.Grid.uniform(0, 1, 6), dp.Grid.uniform(0, 1, 5))
    basis = dp.kernels.Matern(1.5, 0.5).basis(grid, 4)
    assert basis.evaluate(grid.points) == pytest.approx(basis.functions, abs=1e-8)


def test_first_functions_need_no_new_decomposition():
    whole = dp.kernels.Matern(1.5, 0.2).basis(GRIDS["uniform"])
    assert np.shares_memory(whole.first(5).functions, whole.functions)
    assert np.array_equal(whole.first(5).eigenvalues, whole.eigenvalues[:5])
    mixed = dp.kernels.Cosine(dp.kernels.Matern(1.5, 0.2)).basis(GRIDS["irregular"])
    assert mixed.first(5).evaluate([0.3]) == pytest.approx(mixed.evaluate([0.3])[:, :5])
    with pytest.raises(ValueError, match="read-only"):
        whole.functions[0, 0] = 1.0


def test_many_kernels_add_up_quickly():
    kernel = dp.kernels.Matern()
    for _ in range(60):
        kernel = kernel + dp.kernels.Exponential()
    assert kernel.decay == 2.0


def test_grids_that_would_not_fit_are_refused():
    with pytest.raises(dp.errors.ParameterError, match="decomposed on at most"):
        dp.kernels.Matern().basis(dp.Grid.uniform(0, 1, 100_000))
    irregular = dp.Grid(np.linspace(0, 1, 200) ** 2)
    assert 5 < dp.kernels.Cosine(dp.kernels.Matern()).basis(irregular).size < 200
