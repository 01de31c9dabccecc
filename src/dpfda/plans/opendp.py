"""A plan among the queries of OpenDP: a measurement for its compositors, with its own word on what it costs.

The function of the measurement is the one exit of this package and the map is exact: epsilon for each record,
rounded up. OpenDP does not look whether data is a member of a domain before it calls a function, so both functions
here look for themselves. When they stop they speak of the shape of the data only: of no row and no content.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from dpfda.core.errors import ParameterError, RecordError, shown
from dpfda.core.lazy import lazy
from dpfda.noise.common import upwards
from dpfda.reading.arrays import rows_of
from dpfda.reading.curves import Curves
from dpfda.reading.curves import Records as FromRecords
from dpfda.reading.roles import Columns

if TYPE_CHECKING:
    from opendp import domains, measurements, measures, metrics, mod, transformations
    from opendp.mod import Domain as Domain
    from opendp.mod import Measurement as Measurement

    from dpfda.plans.base import Plan
else:
    domains, measurements, measures = lazy("opendp.domains"), lazy("opendp.measurements"), lazy("opendp.measures")
    metrics, mod, transformations = lazy("opendp.metrics"), lazy("opendp.mod"), lazy("opendp.transformations")

R = TypeVar("R")

FEATURES = ("contrib", "honest-but-curious")
#: Domains of OpenDP whose members are made of records: numbers, the rows of a lazy frame, what a user says.
OF_RECORDS = ("VectorDomain", "LazyFrameDomain", "ExtrinsicDomain")


@dataclass(frozen=True)
class Records:
    """Tables of records, `size` of them (or any number): arrays, lists of rows, data frames, all in memory.

    Two plans share this domain, and may meet in one composition, if they protect the same number of records, whatever
    they read of them.
    """

    size: int | None = None

    @property
    def domain(self) -> Domain:
        """As OpenDP knows it. Equal names are equal domains there."""
        return domains.user_domain(
            f"dpfda.records({'' if self.size is None else f'size={self.size}'})", self.holds, self
        )

    def holds(self, data: FromRecords) -> bool:
        """Whether these are records in memory, as many as there must be."""
        if isinstance(data, str | bytes | os.PathLike | Mapping) or not hasattr(data, "__len__"):
            return False
        if getattr(data, "ndim", 1) == 0:
            return False
        return self.size is None or len(data) == self.size

    def check(self, data: FromRecords) -> None:
        if not self.holds(data):
            number = "" if self.size is None else f", exactly {self.size} of them: n is public here and fixed"
            raise RecordError(
                f"The data must be records in memory{number}", cure="Pass an array or a table, and plan with its n."
            )


def measurement(plan: Plan[R], domain: Domain | None = None, columns: Columns = None) -> Measurement:
    """The plan as a measurement from records to a release, under pure differential privacy.

    Neighbours by replacement are OpenDP's change-one distance, neighbours by addition and removal its symmetric
    distance. `domain` is one of OpenDP's own, where data is shared with other queries: of lazy frames, or of vectors
    for records of one number. `columns` picks value columns of frames. Data for a plan of units is a list with one
    table of curves for each unit. No ledger is charged: the composition keeps the books.

    >>> import numpy as np, dpfda as dp, opendp.prelude as odp
    >>> odp.enable_features("contrib", "honest-but-curious")
    >>> mean = dp.MeanPlan(n=1000, epsilon="0.1", bound=dp.L2Ball(1.0), grid=24, invalid="center").to_opendp()
    >>> mean.input_space
    (dpfda.records(size=1000), ChangeOneDistance())
    >>> mean.map(3)
    0.30000000000000004
    >>> mean(np.zeros((1000, 24))).values.shape
    (24,)
    """
    _check_features()
    plan.check_worth()
    if plan.delta > 0:
        raise ParameterError(
            "a measurement under max divergence is pure: it cannot state a delta",
            f"delta {float(plan.delta):g}",
            "Plan with a pure method, such as method=dp.methods.KNorm().",
        )
    if plan.problem.invalid != "center" or getattr(plan, "outside", "clip") != "clip":
        wanted = "invalid='center'" + (", outside='clip'" if hasattr(plan, "outside") else "")
        raise ParameterError(
            "OpenDP charges nothing for a query that fails, so each record must have its place in the answer",
            f"a plan without {wanted}",
            f"Plan with {wanted}.",
        )
    unit = getattr(plan, "unit", None)
    if unit is not None and (domain is not None or columns is not None or unit.order is not None):
        raise ParameterError(
            "with a unit, data is a list with one table of curves for each",
            "a domain, columns or an order",
            "Leave them out.",
        )
    records = Records(None if plan.problem.count_is_private else plan.n)
    return measurements.make_user_measurement(
        records.domain if domain is None else _shared(domain, _width(plan)),
        metrics.symmetric_distance() if plan.problem.count_is_private else metrics.change_one_distance(),
        measures.max_divergence(),
        lambda data: _released(plan, records, data, columns),
        lambda d_in: upwards(plan.epsilon * d_in),
    )


def make_per_record(
    input_domain: Domain, input_metric: mod.Metric, function: Callable[[np.ndarray], float], missing: float = 0.0
) -> mod.Transformation:
    """One number per record, for OpenDP's own queries about records that a plan reads.

    `function` takes the values of one record and looks at nothing else. Where it fails, or its result is not a number,
    or the record is not all numbers (a table with a column of names), the public number `missing` stands. The result is
    a vector under symmetric distance, where a record that is replaced counts as two.

    >>> import numpy as np, dpfda as dp, opendp.prelude as odp
    >>> odp.enable_features("contrib", "honest-but-curious")
    >>> plan = dp.MeanPlan(n=1000, epsilon=1.0, bound=dp.L2Ball(1.0), grid=24, invalid="center")
    >>> peaks = make_per_record(*plan.to_opendp().input_space, np.max)
    >>> peak = peaks >> odp.t.then_clamp((0.0, 1.0)) >> odp.t.then_mean() >> odp.m.then_laplace(scale=0.01)
    >>> round(peak.map(1), 6)
    0.1
    """
    _check_features()
    records, cure = getattr(input_domain, "descriptor", None), "Pass the input_space of plan.to_opendp()."
    if not isinstance(records, Records):
        raise ParameterError("values per record are made of the records of a plan", str(input_domain), cure)
    steps = {str(metrics.change_one_distance()): 2, str(metrics.symmetric_distance()): 1}.get(str(input_metric))
    if steps is None:
        raise ParameterError("distances must count records", str(input_metric), cure)
    if isinstance(missing, bool) or not isinstance(missing, int | float) or not math.isfinite(missing):
        raise ParameterError("missing must be a finite number", shown(missing), "Pass missing=0.0.")

    def values(data: FromRecords) -> list[float]:
        records.check(data)
        with np.errstate(all="ignore"):  # what a record does when it is read is nobody's business
            rows = data if isinstance(data, list | tuple) else np.asarray(data)
            return [_value(function, row, float(missing)) for row in rows]

    numbers = domains.vector_domain(domains.atom_domain(T="f64", nan=False), size=records.size)
    return transformations.make_user_transformation(
        input_domain, input_metric, numbers, metrics.symmetric_distance(), values, lambda d_in: steps * d_in
    )


@contextmanager
def allowed() -> Iterator[None]:
    """Queries that are made elsewhere are allowed for a while: for audits."""
    before = set(mod.GLOBAL_FEATURES)
    mod.enable_features(*FEATURES)
    try:
        yield
    finally:
        mod.GLOBAL_FEATURES.clear()
        mod.GLOBAL_FEATURES.update(before)


def _check_features() -> None:
    """Callbacks are a matter of trust in OpenDP, and that is for its user to say."""
    mod.enable_features("contrib")  # as noise does
    try:
        mod.assert_features(*FEATURES)
    except mod.OpenDPException:
        names = ", ".join(f'"{name}"' for name in FEATURES)
        raise ParameterError(
            "OpenDP must allow queries that are made elsewhere",
            "features that are not enabled",
            f"Call opendp.prelude.enable_features({names}).",
        ) from None


def _shared(domain: object, width: int) -> Domain:
    """A domain of OpenDP that this plan can read records from."""
    cure = "Pass that of a lazy frame, or of a vector, or leave it out."
    kind = str(domain.type).partition("<")[0] if isinstance(domain, mod.Domain) else ""
    if not isinstance(domain, mod.Domain) or kind not in OF_RECORDS:
        raise ParameterError("domain must be one of OpenDP, of records", kind or shown(domain), cure)
    if kind == "VectorDomain" and width > 1:
        raise ParameterError(
            "a vector holds records of one number", f"a plan whose records have {width}", "Use a lazy frame."
        )
    return domain


def _width(plan: Plan[R]) -> int:
    """Numbers in one row, as it is read."""
    rules = plan.problem.alignment
    return plan.problem.width if rules is None else rules.width


def _released(plan: Plan[R], records: Records, data: FromRecords, columns: Columns) -> R:
    """The real release. OpenDP charges nothing for a query that fails, so failures say nothing but the data's shape."""
    whole = getattr(plan, "unit", None) is not None
    try:
        data = data.collect() if hasattr(data, "collect") else data
        records.check(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning about records would be an answer that nobody is charged for
            if isinstance(data, list | tuple):  # a record that is a text is no path
                data = [None if isinstance(record, str | os.PathLike) else record for record in data]
            if whole:
                curves, units = _of_units(data, _width(plan))
                return plan.release(curves, units=units)
            return plan.release(Curves(data, columns))
    except Exception as error:
        if isinstance(error, RecordError) and not error.rows and not whole:
            raise  # about the shape of the data, not about a record
        raise RecordError(
            "Some records, or the columns, cannot be used",
            cure="plan.summarize tells the data holder why. With invalid='center' no record stops a query.",
        ) from None


def _of_units(data: FromRecords, width: int) -> tuple[np.ndarray, Sequence[int]]:
    """Curves of all units, one after another, and whose they are: a member of the data is all that one unit has."""
    parts = [_curves(part, width) for part in data]
    whose = np.repeat(np.arange(len(parts)), np.array([len(part) for part in parts], dtype=int))
    return np.concatenate([np.empty((0, width)), *parts]), cast(Sequence[int], whose)


def _curves(part: FromRecords, width: int) -> np.ndarray:
    """The curves of one unit, alone; one without any counts too, as one that is unusable."""
    try:
        rows = np.asarray(rows_of(part, width, True), dtype=float)
    except Exception:  # whatever a unit does when it is read, it does alone
        rows = np.empty((0, width))
    return rows if len(rows) and rows.shape[1] == width else np.full((1, width), np.nan)


def _value(function: Callable[[np.ndarray], float], row: ArrayLike, missing: float) -> float:
    """What the function makes of one record, alone."""
    try:
        value = float(function(np.array(row, dtype=float, ndmin=1)))  # a copy: the data is for other queries too
    except Exception:
        return missing
    return missing if math.isnan(value) else value
