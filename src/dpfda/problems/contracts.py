"""What a problem answers, in five small contracts.

Records are *encoded* into exact integers. Their totals make a *statistic*, which a neighbour can change by so much: it
is *sensitive*. What is publicly guessed of it is its *prior*, and noisy statistics lead to a *target*, a function.
Most of the library needs one or two of these: engines an encoder, noise what is sensitive, choices a prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dpfda.bounds.loops import Block
from dpfda.bounds.sensitivity import Sensitivity
from dpfda.problems.summary import Summary
from dpfda.spaces.basis import Eigenbasis
from dpfda.spaces.grid import AnyGrid
from dpfda.spaces.rules import Rules

if TYPE_CHECKING:  # a stage is made of a problem and parts
    from dpfda.problems.stage import Part


class Encoder(Protocol):
    """How records are read and added up, each encoded alone: all that an engine needs."""

    @property
    def key(self) -> str:
        """Digest of everything that decides how a record is encoded."""

    @property
    def width(self) -> int:
        """Numbers in one record."""

    @property
    def record(self) -> str:
        """What a record is called."""

    @property
    def record_grid(self) -> AnyGrid | None:
        """Where a record that is a curve lives."""

    @property
    def alignment(self) -> Rules | None:
        """How rows become a record (whose they are, at which times); None where a row is a record as it is."""

    @property
    def invalid(self) -> str:
        """What becomes of a record that cannot be used: "raise" an error, or "center"."""

    @property
    def count_is_private(self) -> bool:
        """Whether neighbours differ by one record more or less (the count is then private)."""

    @property
    def kind(self) -> type[Summary]:
        """What totals are kept in, and how they merge."""

    def total(self, batch: np.ndarray) -> np.ndarray:
        """Sum of the encoded records of a batch, exact integers."""


class Statistic(Protocol):
    """What exact totals mean: the numbers that will carry noise."""

    @property
    def n(self) -> int:
        """The public number of records, or the public guess of it."""

    @property
    def size(self) -> int:
        """Length of the statistic."""

    @property
    def n_public(self) -> int:
        """How many coordinates, the first ones, are the same for all data: no noise, no share of the budget."""

    @property
    def needs_count(self) -> bool:
        """Whether a noisy count must be released beside the statistic."""

    def check(self, summary: Summary) -> None:
        """Refuse a summary that does not belong here, before anything is charged."""

    def estimate(self, summary: Summary) -> list[Fraction]:
        """The statistic before filtering, exactly."""


class Sensitive(Protocol):
    """What the statistic can be, and how far one neighbour can move it: all that privacy rests on."""

    @property
    def sensitivity(self) -> Sensitivity:
        """Every difference that two neighbours can make in the statistic before filtering."""

    @property
    def max_abs(self) -> np.ndarray:
        """Largest absolute value of each coordinate of the statistic before filtering."""


class Prior(Protocol):
    """What is guessed of the target before data, for choosing parameters: right or wrong, no privacy rests on it."""

    @property
    def prior_energy(self) -> np.ndarray:
        """Public guess of the target's squared coefficients about the centre."""

    @property
    def prior_energies(self) -> np.ndarray:
        """One such guess per row: a class of targets over which relative errors are averaged."""

    @property
    def class_norms(self) -> np.ndarray:
        """Squared norm of each member of the class, what is public about it included."""

    @property
    def irreducible_error(self) -> np.ndarray:
        """Squared error that no filter can mend, for each member of the class."""

    @property
    def sampling(self) -> np.ndarray:
        """Variance that the records themselves bring to each coordinate, zero where it is not known."""

    @property
    def decay(self) -> float | None:
        """Polynomial decay of the eigenvalues, if they have one."""

    @property
    def eta(self) -> float | None:
        """Power of the kernel in an estimator that smooths by it; None where a penalty does."""

    @property
    def smooths(self) -> bool:
        """Whether the estimator itself is the kernel's (a density), so that filters are powers of eigenvalues."""

    @property
    def shrinks(self) -> bool:
        """Whether releases are shrunk after the noise, so that risks count what is left then."""


class Target(Protocol):
    """The function that is released: from noisy statistics to coefficients, all of it public."""

    @property
    def basis(self) -> Eigenbasis:
        """The functions that coefficients belong to."""

    @property
    def grid(self) -> AnyGrid:
        """Where the function is evaluated."""

    @property
    def center_coefficients(self) -> np.ndarray:
        """Coefficients of the public centre."""

    @property
    def offset(self) -> np.ndarray:
        """The part of the public centre that the basis cannot express, on the grid."""

    def finish(self, noisy: np.ndarray, parts: Sequence[Part]) -> np.ndarray:
        """From noisy statistics to coefficients: post-processing, public."""

    def finish_variance(self, variance: np.ndarray) -> np.ndarray:
        """From the noise variances of the statistic to those of the coefficients."""

    def typical(self, coefficients: np.ndarray | None = None) -> np.ndarray:
        """A statistic that these coefficients (or the public guess) would come from, for simulation."""


class Problem(Encoder, Statistic, Sensitive, Prior, Target, Protocol):
    """What is estimated: all five contracts, and nothing else. `DefaultProblem` gives most of the answers."""


class BlockProblem(Problem, Protocol):
    """A problem that adds up block by block, so that several can read the same blocks together."""

    def block_totals(self, block: Block) -> np.ndarray:
        """Sum of the encoded records of a block, exact integers."""
