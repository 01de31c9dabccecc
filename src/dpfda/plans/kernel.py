"""The plan of a function of the input that minimises a regularised risk, and of one such function per class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack

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
    check_positive,
    check_value,
    number_of_records,
)
from dpfda.core.codec import BESIDE, LATER, frozen_array
from dpfda.core.errors import ParameterError, shown
from dpfda.core.labels import as_groups
from dpfda.core.nouns import check_record
from dpfda.methods import KNorm, Method
from dpfda.plans.accuracy import Accuracy, KernelAccuracy
from dpfda.plans.base import Plan
from dpfda.plans.checks import CHOSEN, as_box, check_method
from dpfda.plans.class_densities import ClassDensities, components_for, density_functions, suits
from dpfda.plans.guessed_kinds import FunctionGuesses
from dpfda.plans.kernel_choice import as_stationary, candidates, quieter
from dpfda.plans.kernel_words import kernel_wording
from dpfda.plans.schedule import Schedule
from dpfda.plans.verdict import OtherFacts
from dpfda.problems.label_moments import LabelMoments
from dpfda.problems.losses import Hinge, Huber, Logistic, Loss
from dpfda.problems.risk import RiskProblem
from dpfda.results.function import FunctionRelease
from dpfda.results.wording import Wording
from dpfda.spaces.inputs import FeatureMap, InputBox
from dpfda.spaces.stationary import Stationary

LOSSES = ("logistic", "hinge", "huber")
#: Public guesses by which a penalty is chosen: how strongly losses curve where it matters, and how large a decision
#: function is (in margins), or a regression (as a share of half the range, squared).
CURVATURE, MARGIN, SIGNAL = {"logistic": 0.2, "hinge": 0.5, "huber": 1.0}, 4.0, 0.05
#: Share of a signal that is as rough as the kernel says: of a regression, of a decision.
ROUGH = (0.1, 0.9)
#: Levels that responses of a robust regression are rounded to.
LEVELS = 256
#: Responses beyond this share of their range pull no harder.
THRESHOLD = 0.1
#: A penalty this many times the curvature leaves little but the direction of the first step; more makes it smaller.
MOST_PENALTY = 0.3
#: Penalties below this share of the loss's largest curvature would take the certain solver too long, and thresholds
#: below this share of the range would drown in the rounding of predictions.
LEAST_PENALTY, LEAST_THRESHOLD = 1e-7, 0.01


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class KernelPlan(Plan[FunctionRelease]):
    """The plan of a private decision function, or of a robust regression, in the functions of a kernel.

    Parameters
    ----------
    n : int
        How many records there are: public where neighbours replace a record, a public guess where they add or remove
        one.
    epsilon : float, str or Fraction
        The privacy budget; 0.1 means one tenth, as "1/10" does.
    domain : sequence of (low, high)
        One public range per input.
    names : sequence of str, optional
        Public names of the inputs.
    criterion : {"logistic", "hinge", "huber"}
        The loss: the first two are for a decision function, the last for a robust regression.
    kernel : Stationary, optional
        Gaussian, Exponential or Matern. Default: Gaussian with a tenth of each side as length scale.
    components : int, optional
        How many of the kernel's functions are used. Default: by expected risk.
    psi : float, optional
        The penalty. Default: none where classes are told apart by densities (few inputs, moderately many records); else
        by expected risk.
    classes : sequence, optional
        The public classes, at least two. A decision function needs them.
    positive : int
        The place in `classes` of the one that is told apart from the rest, from 0.
    bound : float or (low, high), optional
        The public range of responses; a number B stands for (-B, B). A regression needs it.
    threshold : float, optional
        Residuals beyond it pull no harder. Default: a tenth of the range of responses.
    neighbors : {"replace", "add-remove"}
        What neighbours differ by: one record exchanged for another, or one record more or less.
    invalid : {"raise", "center"}
        What an unusable record does: it stops the run, or it counts, and has no say in the fit.
    method : Method, optional
        How noise is added. Default: ball noise or independent Laplace noise, whichever is smaller.
    labels_read : bool, optional
        Whether the list of classes was read from the data, where it is not private.
    way : {"densities"}, optional
        How a decision is made where no loss is minimised. Default: by densities, unless `psi` or `method` is given.
    value : str, optional
        What responses of a regression are, with their unit: a name for pictures, kept in files, outside the digest.
    record : str, optional
        What one record is called, such as "home", or "person/people": a word for statements, kept likewise.

    Raises
    ------
    dpfda.errors.ParameterError
        Where a fact is missing or wrong, or the plan could not be carried out.

    Examples
    --------
    >>> import dpfda as dp
    >>> plan = dp.plans.KernelPlan(n=10_000, epsilon=1.0, domain=[(0, 1), (0, 1)], classes=("no", "yes"))
    >>> plan.accuracy.typical_sd < 1, dp.plans.KernelPlan.from_json(plan.to_json()) == plan
    (True, True)
    """

    _accuracy_kind: ClassVar[type[Accuracy]] = KernelAccuracy
    _guesses: ClassVar[FunctionGuesses] = FunctionGuesses()
    if TYPE_CHECKING:  # what may be passed is more than what is kept

        def __init__(
            self,
            *,
            n: int,
            epsilon: Epsilon,
            domain: Iterable[Iterable[float]],
            names: Iterable[str] | None = None,
            criterion: Literal["logistic", "hinge", "huber"] = "logistic",
            kernel: Stationary | None = None,
            components: int | None = None,
            psi: float | None = None,
            classes: Sequence[object] | None = None,
            positive: int = 1,
            bound: float | Iterable[float] | None = None,
            threshold: float | None = None,
            neighbors: Neighbors = "replace",
            invalid: Invalid = "raise",
            method: Method | None = None,
            labels_read: bool | None = None,
            way: Literal["densities"] | None = None,
            value: str | None = None,
            record: str | None = None,
        ) -> None: ...

    n: int
    epsilon: Fraction
    domain: tuple[tuple[float, float], ...]
    names: tuple[str, ...] | None = None
    criterion: str = "logistic"
    kernel: Stationary = CHOSEN
    components: int = CHOSEN
    psi: float = CHOSEN
    classes: tuple[str, ...] | None = None
    positive: int = 1
    bound: tuple[float, float] | None = None
    threshold: float | None = None
    neighbors: str = "replace"
    invalid: str = "raise"
    method: Method = CHOSEN
    #: Whether the list of classes was read from the data, where it is not private.
    labels_read: bool | None = field(default=None, metadata=LATER)
    #: "densities" where classes are told apart by their densities; nothing where a penalised loss is minimised.
    way: str | None = field(default=None, metadata=LATER)
    value: str | None = field(default=None, compare=False, metadata=BESIDE)
    record: str | None = field(default=None, compare=False, metadata=BESIDE)

    def __post_init__(self) -> None:
        put = partial(object.__setattr__, self)
        put("epsilon", as_epsilon(self.epsilon))
        put("n", number_of_records(self.n, "A model of one record is that record; privacy needs company."))
        put("domain", as_box(self.domain))
        put("names", as_names(self.names, len(self.domain)))
        check_choice("criterion", self.criterion, LOSSES)
        check_value(self.value)
        check_record(self.record)
        put("kernel", as_stationary(self.kernel))
        self._settle_responses()
        check_choice("neighbors", self.neighbors, NEIGHBORS)
        check_choice("invalid", self.invalid, INVALID)
        if self.components is not None:
            put("components", check_integer("components", self.components, 1, "Leave it out to have it chosen."))
        check_positive("psi", self.psi)
        self._settle_way()
        if self.way is not None:
            self._settle_densities()
            self.stage  # noqa: B018  (as below)
            return
        if self.components is None or self.psi is None:
            components, psi = self._balanced()
            put("components", components)
            put("psi", psi)
        if self.psi < (least := self._least_penalty(self.features)):
            raise ParameterError(f"psi must be at least {least:.1e} here", self.psi, "Leave it out to have it chosen.")
        check_method(self.method)
        if self.method is None:
            put("method", quieter(self.features.axes))
        self.stage  # noqa: B018  (calibrate now: a plan that cannot be carried out is refused when it is made)

    def _settle_way(self) -> None:
        """Densities of the classes, unless a penalty or method is given, or inputs or records are too many for them."""
        decides = self.criterion != "huber" and self.box.dimension <= 3
        left_open = self.way is None and self.psi is None and self.method is None
        if left_open and decides and suits(self.box, self.n * float(self.epsilon)):
            object.__setattr__(self, "way", "densities")
        if self.way is None:
            return
        check_choice("way", self.way, ("densities",))
        if not decides or self.psi is not None:
            raise ParameterError(
                "densities are for classes of up to three inputs, without a penalty", "another plan", "Drop way or psi."
            )

    def _settle_densities(self) -> None:
        put = partial(object.__setattr__, self)
        if self.components is None:
            put("components", components_for(self.box, self.kernel, self.n * float(self.epsilon)))
        if self.method is None:
            put("method", KNorm(self.components))
        if self.method != KNorm(self.components):
            raise ParameterError("densities are released with ball noise", shown(self.method), "Drop method.")

    def _settle_responses(self) -> None:
        put = partial(object.__setattr__, self)
        if self.criterion == "huber":
            low, high = as_range(self.bound)
            put("bound", (low, high))
            check_positive("threshold", self.threshold)
            span = high - low
            threshold = THRESHOLD * span if self.threshold is None else self.threshold
            put("threshold", threshold)
            if not LEAST_THRESHOLD * span <= threshold <= span:
                raise ParameterError(
                    "threshold must lie between a hundredth of the range of responses and all of it",
                    threshold,
                    "Leave it out to have it chosen.",
                )
            if self.classes is not None:
                raise ParameterError("a regression has no classes", shown(self.classes), "Choose another criterion.")
            return
        if any(given is not None for given in (self.bound, self.threshold, self.value)):
            raise ParameterError("labels have no range, threshold or unit", "one", "Choose 'huber', or drop it.")
        put("classes", as_groups(self.classes))
        if self.classes is None or len(self.classes) < 2:
            raise ParameterError(
                "a classifier needs at least two public classes", shown(self.classes), "Pass classes=('no', 'yes')."
            )
        put("positive", check_integer("positive", self.positive, 0, "It is the place of a class in the list."))
        if self.positive >= len(self.classes):
            raise ParameterError("positive must be the place of a class", self.positive, "Count from 0.")

    def _balanced(self) -> tuple[int, float]:
        """Components and penalty for which noise, what the penalty takes away and what is left out are least."""
        counts = candidates(self.box, self.kernel) if self.components is None else [self.components]
        found = []
        for count in counts:
            features = FeatureMap(self.box, self.kernel, count)
            least = self._least_penalty(features) * (1 + 1e-9)
            most = MOST_PENALTY * CURVATURE[self.criterion] * features.kappa**2
            penalties = np.geomspace(least, most, 161) if self.psi is None else np.array([self.psi])
            risks = self._risks(features, penalties)
            best = int(np.argmin(risks))
            found.append((float(risks[best]), count, float(penalties[best])))
        return min(found)[1:]

    @property
    def risk_at_a_point(self) -> float:
        """Expected squared error at a typical point, noise and bias, under the public guesses."""
        return float(self._risks(self.features, np.array([self.psi]))[0])

    @property
    def guessed_signal(self) -> float:
        """Squared size of the function at a typical point: a public guess."""
        return MARGIN**2 if self.bound is None else SIGNAL * ((self.bound[1] - self.bound[0]) / 2) ** 2

    def _varied(self, **facts: Unpack[OtherFacts]) -> KernelPlan:
        anew: dict[str, Any] = {"components": None, "psi": None, "method": None, "way": None}
        return replace(self, **{**anew, **facts})

    def _least_penalty(self, features: FeatureMap) -> float:
        return LEAST_PENALTY * self.loss_function.curvature * features.kappa**2

    def _risks(self, features: FeatureMap, penalties: np.ndarray) -> np.ndarray:
        """Expected squared error at a point for each penalty, under the public guesses."""
        loss, energies = self.loss_function, features.energies
        signal = self.guessed_signal
        with np.errstate(divide="ignore", over="ignore"):  # a penalty of next to nothing lets any noise in
            far = loss.slope * features.kappa / (penalties * self.n * float(self.epsilon))
            noise = (features.size + 1) * far**2 * float(energies.sum())
        guess = features.expected(ROUGH[self.bound is None])[: features.size]
        bent = CURVATURE[self.criterion] * energies[:, None]
        kept = bent / (bent + 2 * penalties)
        if self.bound is None:  # only the sign of a decision matters: any multiple of the function will do
            risks: np.ndarray = signal * (1 - (guess @ kept) ** 2 / (guess @ kept**2 + noise / signal))
        else:
            risks = noise + signal * (guess @ (1 - kept) ** 2 + max(0.0, 1 - float(guess.sum())))
        return risks

    @property
    def box(self) -> InputBox:
        """The public ranges of the inputs, with their names."""
        return InputBox(self.domain, self.names)

    @cached_property
    def features(self) -> FeatureMap:
        """The functions of the kernel that the released function is made of."""
        return FeatureMap(self.box, self.kernel, self.components)

    @property
    def query(self) -> str:
        """What a release is called in ledgers and statements."""
        return "regression" if self.criterion == "huber" else "decision"

    @property
    def level(self) -> float:
        """The public middle of the responses, about which the function is released."""
        return 0.0 if self.bound is None else (self.bound[0] + self.bound[1]) / 2

    @cached_property
    def loss_function(self) -> Loss:
        """What a wrong prediction costs, as a function."""
        if self.criterion == "huber" and self.threshold is not None:
            return Huber(float(self.threshold))
        return Hinge() if self.criterion == "hinge" else Logistic()

    @cached_property
    def schedule(self) -> Schedule:
        problem = self.problem
        return ClassDensities.of(problem, self.epsilon) if isinstance(problem, LabelMoments) else super().schedule

    def postprocessed(self, release: FunctionRelease) -> FunctionRelease:
        """Densities are shrunk to their posterior mean; a minimiser stays as it was drawn.

        Parameters
        ----------
        release : FunctionRelease
            A release of this plan.
        """
        if not isinstance(self.schedule, ClassDensities):
            return release
        found = frozen_array(self.schedule.shrunk(release.drawn))
        return replace(release, coefficients=found, steps=("posterior mean",))

    @cached_property
    def problem(self) -> RiskProblem | LabelMoments:
        if self.bound is None:
            levels = tuple(1.0 if i == self.positive else -1.0 for i in range(len(self.classes or ())))
            if self.way is not None:
                beside = density_functions(self.components) if self.criterion == "logistic" else 0
                return LabelMoments(self.features, self.n, levels, beside, self.neighbors, self.invalid)
        else:
            half = (self.bound[1] - self.bound[0]) / 2
            levels = tuple(np.linspace(-half, half, LEVELS).tolist())
        return RiskProblem(
            self.features, self.loss_function, self.psi, self.n, levels, None if self.bound is None else self.level,
            self.neighbors, self.invalid,
        )  # fmt: skip

    @property
    def release_type(self) -> type[FunctionRelease]:
        return FunctionRelease

    @property
    def wording(self) -> Wording:
        return kernel_wording(self)
