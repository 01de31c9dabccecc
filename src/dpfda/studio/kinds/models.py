"""Models: curves explained by covariates, a number explained by inputs, a class told from inputs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from dpfda.core import watching
from dpfda.core.labels import Coder
from dpfda.ledger import Ledger
from dpfda.plans import ClassPlan, KernelPlan, RegressionPlan
from dpfda.plans.smoother import SmootherPlan
from dpfda.plans.squared import squared_plan
from dpfda.reading.dialect import Dialect
from dpfda.reading.source import Source
from dpfda.results.saved import Saved
from dpfda.studio import shapes
from dpfda.studio.fields import Facts, Field, Fieldset, WrongField
from dpfda.studio.kinds.base import (
    EPSILON,
    KNOWN,
    MORE,
    NUMBER,
    RECORD,
    Chosen,
    Kind,
    Role,
    bound,
    budget,
    colon,
    ends,
    how_many,
    input_roles,
    pairs,
    repeated,
)
from dpfda.studio.kinds.curves import ALONG, EXPECT, VALUES, along, expected, value
from dpfda.studio.said import AnyPlan, OnePlan, Recipe, Said, in_shell

WHO = Fieldset("Who and how much", (RECORD, NUMBER, KNOWN, EPSILON),
               hint="one row each: a second row of a person is not protected with the first")  # fmt: skip
INPUTS = Field("inputs", "Inputs, with their public ranges", "lines", "age 0:110\nweight 0:200",
               hint="a name and low:high, one a line; named as the columns")  # fmt: skip


class OfModels(Kind):
    """What models share: their own commands, and no groups."""

    def release_command(self, chosen: Chosen, facts: Facts, ledger: str, output: str) -> list[str]:
        command = self.recipe(facts).command()
        words = [*command, *self.column_words(chosen, facts), *chosen.dialect_words()]
        words = [chosen.name if word == "FILE" else word for word in words]
        return [in_shell([*words, "--ledger", ledger, "--out", output])]


class Regression(OfModels):
    """Curves explained by covariates."""

    key, title, verb = "regression", "Curves explained by covariates", "regress"
    judged = 20
    fieldsets: ClassVar[tuple[Fieldset, ...]] = (
        WHO,
        Fieldset("What explains", (
            Field("inputs", "Covariates, with their public ranges", "lines", "age 0:110\ndose 0:5",
                  hint="a name and low:high, one a line; named as the columns"),
        )),
        VALUES,
        ALONG,
        EXPECT,
        MORE,
    )  # fmt: skip

    def recipe(self, facts: Facts) -> Recipe:
        ranges = facts.ranges("inputs", "covariates")
        names, sides = tuple(ranges), list(ranges.values())
        said = (
            *budget(facts),
            Said("covariates", len(names), command=("--covariates", ",".join(names))),
            Said("names", names),
            Said("covariate_bound", sides, f"[{pairs(sides)}]", repeated("--covariate-range", sides)),
            bound(facts),
            *along(facts),
            *value(facts),
        )
        return Recipe(RegressionPlan, "plans.RegressionPlan", said, how_many(facts), {}, ("regress", "FILE"))

    def guess(self, facts: Facts, plan: OnePlan) -> np.ndarray:
        assert isinstance(plan, RegressionPlan)
        ranges, (low, high) = facts.ranges("inputs", "covariates"), ends(facts, "low", "high", "value")
        mean = expected(facts, plan.grid.points)
        return shapes.regression_rows(list(ranges.values()), mean, 0.3 * (high - low))

    def roles(self, facts: Facts) -> tuple[Role, ...]:
        return (*input_roles(facts, "covariates"), Role("values", "Columns of the values", many=True))

    def column_words(self, chosen: Chosen, facts: Facts) -> list[str]:
        ignored = ["--ignore", ",".join(chosen.ignored)] if chosen.ignored else []
        return ["--columns", ",".join(chosen.columns["values"]), *ignored]


class Model(OfModels):
    """A number explained by inputs."""

    key, title, verb = "model", "A number explained by inputs", "fit"
    judged = 50
    fieldsets: ClassVar[tuple[Fieldset, ...]] = (
        WHO,
        Fieldset("What explains", (INPUTS,)),
        Fieldset("What is explained", (
            Field("value", "What is measured", default="pressure", hint="a name for pictures", half=True),
            Field("value_unit", "Its unit", default="mmHg", half=True),
            Field("low", "Lowest possible value", "number", "60", hint="from knowledge, not from the data", half=True),
            Field("high", "Highest possible value", "number", "240", half=True),
        )),
        MORE,
    )  # fmt: skip

    def recipe(self, facts: Facts) -> Recipe:
        ranges = facts.ranges("inputs", "inputs")
        low, high = ends(facts, "low", "high", "value")
        kind, name = smaller(facts, ranges, (low, high))
        huber = [Said("criterion", "huber")] if kind is KernelPlan else []
        said = (
            *budget(facts),
            inputs_said(ranges, "--loss", "squared"),
            Said("names", tuple(ranges)),
            Said("bound", (low, high), pairs([(low, high)]), ("--bound", colon(low, high))),
            *huber,
            *value(facts),
        )  # fmt: skip
        return Recipe(kind, name, said, how_many(facts), {}, ("fit", "FILE"))

    def guess(self, facts: Facts, plan: OnePlan) -> np.ndarray:
        return shapes.model_rows(list(facts.ranges("inputs", "inputs").values()), *ends(facts, "low", "high", "value"))

    def roles(self, facts: Facts) -> tuple[Role, ...]:
        return (*input_roles(facts, "inputs"), Role("target", "Column of what is explained"))

    def column_words(self, chosen: Chosen, facts: Facts) -> list[str]:
        return ["--target", chosen.columns["target"][0]]


def inputs_said(ranges: dict[str, tuple[float, float]], *more: str) -> Said:
    """The domain of the inputs, with their names on the command line."""
    sides = list(ranges.values())
    return Said(
        "domain", sides, f"[{pairs(sides)}]", ("--inputs", ",".join(ranges), *repeated("--domain", sides), *more)
    )


def smaller(
    facts: Facts, ranges: dict[str, tuple[float, float]], bound: tuple[float, float]
) -> tuple[type[KernelPlan | SmootherPlan], str]:
    """By moments or by a penalised loss, as :class:`dpfda.KernelRegressor` chooses."""
    keywords: dict[str, Any] = {fact.name: fact.value for fact in budget(facts)}
    kind = type(squared_plan(n=how_many(facts), domain=list(ranges.values()), bound=bound, **keywords))
    return kind, f"plans.{kind.__name__}"


class Classes(OfModels):
    """A class told from inputs."""

    key, title, verb = "classes", "A class told from inputs", "fit"
    judged = 50
    fieldsets: ClassVar[tuple[Fieldset, ...]] = (
        WHO,
        Fieldset("What tells them apart", (INPUTS,)),
        Fieldset("The classes", (
            Field("classes", "Their public names", "lines", "no\nyes", hint="as the column spells them, one a line"),
        )),
        MORE,
    )  # fmt: skip

    def recipe(self, facts: Facts) -> Recipe:
        ranges, classes = facts.ranges("inputs", "inputs"), tuple(facts.listed("classes"))
        if len(classes) < 2:
            raise WrongField("classes", "there are at least two classes", f"{len(classes)}", "Write no and yes.")
        said = (
            *budget(facts),
            inputs_said(ranges),
            Said("names", tuple(ranges)),
            Said("classes", classes, command=("--classes", ",".join(classes))),
        )
        n = how_many(facts)
        if len(classes) == 2:
            return Recipe(KernelPlan, "plans.KernelPlan", said, n, {}, ("fit", "FILE"))
        return Recipe(one_each, "plans.KernelPlan", said, n, {}, ("fit", "FILE"), classes)

    def guess(self, facts: Facts, plan: OnePlan) -> np.ndarray:
        return shapes.class_rows(list(facts.ranges("inputs", "inputs").values()), len(facts.listed("classes")))

    def roles(self, facts: Facts) -> tuple[Role, ...]:
        return (*input_roles(facts, "inputs"), Role("target", "Column of the class", prefers="text"))

    def column_words(self, chosen: Chosen, facts: Facts) -> list[str]:
        return ["--target", chosen.columns["target"][0]]

    def release(self, plan: AnyPlan, chosen: Chosen, facts: Facts, ledger: Ledger, query: str) -> Saved:
        coder = Coder(tuple(facts.listed("classes")))
        columns = [name for role in self.roles(facts)[:-1] for name in chosen.columns[role.name]]
        source = Source(
            str(chosen.path), columns, chosen.header, by=chosen.columns["target"][0], coder=coder,
            lenient=facts["invalid"] == "center", text=Dialect(chosen.separator, chosen.decimal, chosen.encoding),
        )  # fmt: skip
        return plan.release(self._coded(source, len(columns), facts), ledger, query=query)

    @staticmethod
    def _coded(source: Source, width: int, facts: Facts) -> np.ndarray:
        """All rows, the class as its number: read whole before the release, and told to whoever watches."""
        watching.begin()
        watching.reading(1)
        told, batches, done = watching.on_rows(facts["known"] == "guess"), [np.empty((0, width + 1))], 0
        for inputs, codes in source.labelled():
            batches.append(np.column_stack([inputs, codes]))
            done += len(inputs)
            if told is not None:
                told(done, None)
        return np.concatenate(batches)

    def release_python(self, chosen: Chosen, facts: Facts, ledger: str, output: str) -> list[str]:
        module, read = ("parquet", "") if chosen.path.suffix == ".parquet" else ("csv", _arrow_options(chosen))
        name = "read_table" if module == "parquet" else "read_csv"
        columns = [_arrow_name(name, chosen) for role in self.roles(facts) for name in chosen.columns[role.name]]
        domain = ", ".join(f"{name!r}: {side}" for name, side in facts.ranges("inputs", "inputs").items())
        said = {fact.name: fact.text for fact in self.recipe(facts).facts if fact.name != "names"}
        said["domain"] = f"{{{domain}}}"
        return [
            "import numpy as np",
            f"from pyarrow import {module}",
            "import dpfda as dp",
            "",
            f"table = {module}.{name}({chosen.name!r}{read})",
            "model = dp.KernelClassifier(",
            *(f"    {name}={text}," for name, text in said.items()),
            f"    n={how_many(facts)},",
            f"    ledger={ledger!r},",
            ")",
            f"inputs = np.column_stack([table[name] for name in {columns[:-1]!r}])",
            f"model.fit(inputs, table[{columns[-1]!r}].cast('string').to_pylist())",
            f"model.save({output!r})",
        ]


def _arrow_name(name: str, chosen: Chosen) -> str:
    """A column as arrow calls it: without names f0, f1, ..."""
    return f"f{int(name) - 1}" if chosen.ignored is None else name


def _arrow_options(chosen: Chosen) -> str:
    """How a text file is written, as arrow is told of it."""
    read = [f"encoding={chosen.encoding!r}"] if chosen.encoding else []
    read += ["autogenerate_column_names=True"] if chosen.header is False else []
    parse = [f"delimiter={chosen.separator!r}"] if chosen.separator else []
    convert = [f"decimal_point={chosen.decimal!r}"] if chosen.decimal != "." else []
    options = {"read": read, "parse": parse, "convert": convert}
    return "".join(
        f", {name}_options=csv.{name.title()}Options({', '.join(words)})" for name, words in options.items() if words
    )


def one_each(n: int, epsilon: Fraction, classes: tuple[str, ...], **facts: Any) -> ClassPlan:
    """One class against the rest, for each of more than two: their parts of epsilon add up."""
    part = epsilon / len(classes)
    plans = tuple(KernelPlan(n=n, epsilon=part, classes=classes, positive=i, **facts) for i in range(len(classes)))
    return ClassPlan(classes, plans)
