"""The plan of a kernel regression with squared loss: a smooth function of inputs in a public box."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np

from dpfda.core.checks import (
    INVALID,
    NEIGHBORS,
    Epsilon,
    Invalid,
    Neighbors,
    as_epsilon,
    as_names,
    as_range,
    check_choice,
    check_integer,
    check_value,
    number_of_records,
)
from dpfda.core.codec import BESIDE, LATER
from dpfda.core.nouns import Nouns, check_record
from dpfda.plans.checks import CHOSEN, as_box
from dpfda.plans.guessed_kinds import FunctionGuesses
from dpfda.plans.guided import RULE, SLOPES
from dpfda.plans.kernel import ROUGH
from dpfda.plans.kernel_choice import as_stationary, candidates
from dpfda.plans.kernel_words import kernel_words
from dpfda.plans.moments import RISK, MomentAccuracy, MomentPlan, stage_words
from dpfda.plans.verdict import OtherFacts
from dpfda.problems.design import Features, NumberResponse
from dpfda.results.function import SmootherRelease
from dpfda.results.wording import AccuracyWords, Wording, kernel_in_words
from dpfda.spaces.basis import Eigenbasis
from dpfda.spaces.inputs import FeatureMap, InputBox
from dpfda.spaces.stationary import Stationary

#: Pairs of waves that a regression has above three dimensions.
SMOOTHING = 12


class SmootherAccuracy(MomentAccuracy):
    """Of predicted numbers."""

    plan: SmootherPlan

    @cached_property
    def expected_error(self) -> float:
        return self.moment_risk()

    @cached_property
    def expected_risk(self) -> float:
        """Noise, and the signal in functions that are left out, under public guesses."""
        kept = float(self.plan.features.expected(ROUGH[0])[: self.plan.components].sum())
        return self.expected_error + self.plan.forecast.signal * max(0.0, 1 - kept)

    @cached_property
    def typical_sd(self) -> float:
        return float(np.sqrt(self.expected_error))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SmootherPlan(MomentPlan[SmootherRelease]):
    """The plan of a private kernel regression with squared loss, by released moments and clipped residuals.

    Parameters
    ----------
    n : int
        How many records there are: public where neighbours replace a record, a public guess where they add or remove
        one.
    epsilon : float, str or Fraction
        The privacy budget; 0.1 means one tenth, as "1/10" does.
    domain : sequence of (low, high)
        One public range per input.
    bound : float or (low, high)
        The public range of responses; a number B stands for (-B, B).
    names : sequence of str, optional
        Public names of the inputs.
    kernel : Stationary, optional
        Gaussian, Exponential or Matern. Default: Gaussian with a tenth of each side as length scale.
    components : int, optional
        How many of the kernel's functions are used. Default: by expected risk.
    split : float, optional
        The first moment's share of its stage's budget. Default: by expected risk.
    passes : {1, 4}, optional
        1 reads the data once, 4 refines with clipped residuals. Default: a private radius of responses first, then
        whichever should predict better; above three inputs, 1.
    neighbors : {"replace", "add-remove"}
        What neighbours differ by: one record exchanged for another, or one record more or less.
    invalid : {"raise", "center"}
        What an unusable record does: it stops the run, or it counts as the public middle.
    rule : int, optional
        The rule by which stages are chosen where neither `split` nor `passes` is given. None is that of older files,
        without a radius.
    value : str, optional
        What responses are, with their unit in brackets, such as "glucose (mmol/L)": a name for pictures, kept in files
        and outside the digest.
    record : str, optional
        What one record is called, such as "home", or "person/people" for a plural of its own: a word for statements,
        kept in files and outside the digest.

    Raises
    ------
    dpfda.errors.ParameterError
        Where a fact is missing or wrong, or the plan could not be carried out.

    Examples
    --------
    >>> import dpfda as dp
    >>> plan = dp.plans.SmootherPlan(n=50_000, epsilon=1.0, domain=[(0, 1)], bound=(-1, 1))
    >>> plan.chosen.passes, dp.plans.SmootherPlan.from_json(plan.to_json()) == plan
    (5, True)
    """

    query: ClassVar[str] = "regression"
    _guesses: ClassVar[FunctionGuesses] = FunctionGuesses()
    if TYPE_CHECKING:  # what may be passed is more than what is kept

        def __init__(
            self,
            *,
            n: int,
            epsilon: Epsilon,
            domain: Iterable[Iterable[float]],
            bound: float | Iterable[float],
            names: Iterable[str] | None = None,
            kernel: Stationary | None = None,
            components: int | None = None,
            split: float | None = None,
            passes: int | None = None,
            neighbors: Neighbors = "replace",
            invalid: Invalid = "raise",
            rule: int | None = RULE,
            value: str | None = None,
            record: str | None = None,
        ) -> None: ...

    n: int
    epsilon: Fraction
    domain: tuple[tuple[float, float], ...]
    bound: tuple[float, float]
    names: tuple[str, ...] | None = None
    kernel: Stationary = CHOSEN
    components: int = CHOSEN
    split: float | None = None
    passes: int | None = None
    neighbors: str = "replace"
    invalid: str = "raise"
    #: The rule by which stages were chosen; older files name none, and keep theirs.
    rule: int | None = field(default=RULE, metadata=LATER)
    value: str | None = field(default=None, compare=False, metadata=BESIDE)
    record: str | None = field(default=None, compare=False, metadata=BESIDE)

    def __post_init__(self) -> None:
        put = partial(object.__setattr__, self)
        self._check_stages()
        put("epsilon", as_epsilon(self.epsilon))
        put("n", number_of_records(self.n, "A model of one record is that record; privacy needs company."))
        put("domain", as_box(self.domain))
        put("names", as_names(self.names, len(self.domain)))
        put("bound", as_range(self.bound))
        check_value(self.value)
        check_record(self.record)
        put("kernel", as_stationary(self.kernel))
        check_choice("neighbors", self.neighbors, NEIGHBORS)
        check_choice("invalid", self.invalid, INVALID)
        if self.components is None:
            put("components", self._best_components())
        put("components", check_integer("components", self.components, 2, "Leave it out to have it chosen."))
        if self.passes is None and self.box.dimension > 3:  # waves overlap: a first moment with noise misleads
            put("passes", 1)
        self.schedule.rehearse()  # a plan that cannot be carried out is refused when it is made

    def _best_components(self) -> int:
        """As many functions as serve predictions best, by the forecast; above three dimensions a fixed number."""
        if self.box.dimension > 3:
            return 2 * SMOOTHING + 1
        counts = candidates(self.box, self.kernel)
        return min(counts, key=lambda count: self._unrehearsed(count).expected_risk)

    def _unrehearsed(self, components: int) -> SmootherPlan:
        """This plan with so many functions, to be compared with others: the one that is taken is rehearsed."""
        other = object.__new__(type(self))
        for fact in fields(self):
            object.__setattr__(other, fact.name, getattr(self, fact.name))
        object.__setattr__(other, "components", components)
        return other

    @cached_property
    def accuracy(self) -> MomentAccuracy:
        return SmootherAccuracy(self)

    @property
    def box(self) -> InputBox:
        """The public ranges of the inputs, with their names."""
        return InputBox(self.domain, self.names)

    @cached_property
    def features(self) -> FeatureMap:
        """The functions of the kernel that the released function is made of."""
        return FeatureMap(self.box, self.kernel, self.components)

    @cached_property
    def design(self) -> Features:
        """The functions as covariates."""
        return Features(self.features, 0.1 * self.n * float(self.epsilon))

    @cached_property
    def response(self) -> NumberResponse:
        """The numbers that are explained, within their bound."""
        return NumberResponse(self.bound)

    @cached_property
    def released_basis(self) -> Eigenbasis:
        return self.features.basis

    @property
    def smoothness(self) -> np.ndarray:
        return np.ones(1)

    @property
    def level(self) -> float:
        """The public middle of the responses, about which the function is released."""
        return self.response.middle

    def way(self, records: float) -> str:
        """Fewer records than a slope needs are spent on the level alone.

        Parameters
        ----------
        records : float
            The number of records times epsilon.
        """
        return "mean" if records < SLOPES else "moments"

    def _varied(self, **facts: Unpack[OtherFacts]) -> SmootherPlan:
        anew: dict[str, Any] = {"components": None}
        return replace(self, **{**anew, **facts})

    @property
    def release_type(self) -> type[SmootherRelease]:
        return SmootherRelease

    @property
    def wording(self) -> Wording:
        sides = " x ".join(f"[{low:g}, {high:g}]" for low, high in self.domain)
        low, high = self.bound
        clipped = f"clipped to [{low:g}, {high:g}]"
        return Wording(
            noun="function",
            release=f"regression function of {len(self.domain)} input{'s' if len(self.domain) > 1 else ''}",
            nouns=Nouns.of("record", self.record),
            target="fitted function",
            assumption=f"Inputs are clipped to the public box {sides} and snapped to its cells; responses are "
            f"{clipped}. The guarantee holds whatever the data is; only accuracy depends on these ranges. "
            f"{stage_words(self)}",
            unusable="counts as the public middle",
            rows=(
                ("inputs", f"clipped to {sides}"),
                ("loss", f"squared, by released moments of {self.components} functions"),
                ("responses", clipped if self.value is None else f"{self.value}, {clipped}"),
                ("passes", str(self.chosen.passes)),
            ),
            method=repr(self.chosen),
            numbers=self.schedule.numbers_text,
            accuracy=AccuracyWords(self, (high - low) / 2, "half the range of responses", RISK),
            kernel=kernel_words(self.kernel, self.box),
            basis=f"basis functions of {kernel_in_words(kernel_words(self.kernel, self.box))}",
        )
