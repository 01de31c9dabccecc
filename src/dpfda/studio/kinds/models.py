"""Models: curves explained by covariates, a number explained by inputs, a class told from inputs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from dpfda.bounds import Range
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
from dpfda.studio.fields import Facts, Field, Fieldset, WrongField, spelt
from dpfda.studio.kinds.base import (
    EPSILON,
    KNOWN,
    MORE,
    NUMBER,
    RECORD,
    Chosen,
    Kind,
    Role,
    budget,
    colon,
    ends,
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
        low, high = ends(facts, "low", "high", "value")
        names, sides = tuple(ranges), list(ranges.values())
        text = ", ".join(f"({spelt(a)}, {spelt(b)})" for a, b in sides)
        words = [word for a, b in sides for word in ("--covariate-range", colon(a, b))]
        said = (
            *budget(facts),
            Said("covariates", len(names), command=("--covariates", ",".join(names))),
            Said("names", names),
            Said("covariate_bound", sides, f"[{text}]", tuple(words)),
            Said("bound", Range(low, high), f"dp.Range({spelt(low)}, {spelt(high)})", ("--range", colon(low, high))),
            *along(facts),
            *value(facts),
        )
        n = facts.whole("n", "the number of records", 2)
        return Recipe(RegressionPlan, "plans.RegressionPlan", said, n, {}, ("regress", "FILE"))

    def guess(self, facts: Facts, plan: OnePlan) -> np.ndarray:
        assert isinstance(plan, RegressionPlan)
        ranges, (low, high) = facts.ranges("inputs", "covariates"), ends(facts, "low", "high", "value")
        mean = expected(facts, plan.grid.points)
        return shapes.regression_rows(list(ranges.values()), mean, 0.3 * (high - low))

    def roles(self, facts: Facts) -> tuple[Role, ...]:
        inputs = tuple(Role(f"input {name}", f"Column of {name}") for name in facts.ranges("inputs", "covariates"))
        return (*inputs, Role("values", "Columns of the values", many=True))

    def column_words(self, chosen: Chosen, facts: Facts) -> list[str]:
        ignored = ["--ignore", ",".join(chosen.ignored)] if chosen.ignored else []
        return ["--columns", ",".join(chosen.columns["values"]), *ignored]


class Model(OfModels):
    """A number explained by inputs."""

    key, title, verb = "model", "A number explained by inputs", "fit"
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
        words = [word for a, b in ranges.values() for word in ("--domain", colon(a, b))]
        sides = ", ".join(f"({spelt(a)}, {spelt(b)})" for a, b in ranges.values())
        huber = [Said("criterion", "huber")] if kind is KernelPlan else []
        said = (
            *budget(facts),
            Said("domain", list(ranges.values()), f"[{sides}]",
                 ("--inputs", ",".join(ranges), *words, "--loss", "squared")),
            Said("names", tuple(ranges)),
            Said("bound", (low, high), f"({spelt(low)}, {spelt(high)})", ("--bound", colon(low, high))),
            *huber,
            *value(facts),
        )  # fmt: skip
        n = facts.whole("n", "the number of records", 2)
        return Recipe(kind, name, said, n, {}, ("fit", "FILE"))

    def guess(self, facts: Facts, plan: OnePlan) -> np.ndarray:
        return shapes.model_rows(list(facts.ranges("inputs", "inputs").values()), *ends(facts, "low", "high", "value"))

    def roles(self, facts: Facts) -> tuple[Role, ...]:
        inputs = tuple(Role(f"input {name}", f"Column of {name}") for name in facts.ranges("inputs", "inputs"))
        return (*inputs, Role("target", "Column of what is explained"))

    def column_words(self, chosen: Chosen, facts: Facts) -> list[str]:
        return ["--target", chosen.columns["target"][0]]


def smaller(
    facts: Facts, ranges: dict[str, tuple[float, float]], bound: tuple[float, float]
) -> tuple[type[KernelPlan | SmootherPlan], str]:
    """By moments or by a penalised loss, as :class:`dpfda.KernelRegressor` chooses."""
    keywords: dict[str, Any] = {fact.name: fact.value for fact in budget(facts)}
    n = facts.whole("n", "the number of records", 2)
    kind = type(squared_plan(n=n, domain=list(ranges.values()), bound=bound, **keywords))
    return kind, f"plans.{kind.__name__}"


class Classes(OfModels):
    """A class told from inputs."""

    key, title, verb = "classes", "A class told from inputs", "fit"
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
        words = [word for a, b in ranges.values() for word in ("--domain", colon(a, b))]
        sides = ", ".join(f"({spelt(a)}, {spelt(b)})" for a, b in ranges.values())
        said = (
            *budget(facts),
            Said("domain", list(ranges.values()), f"[{sides}]", ("--inputs", ",".join(ranges), *words)),
            Said("names", tuple(ranges)),
            Said("classes", classes, command=("--classes", ",".join(classes))),
        )
        n = facts.whole("n", "the number of records", 2)
        if len(classes) == 2:
            return Recipe(KernelPlan, "plans.KernelPlan", said, n, {}, ("fit", "FILE"))
        return Recipe(one_each, "plans.KernelPlan", said, n, {}, ("fit", "FILE"), classes)

    def guess(self, facts: Facts, plan: OnePlan) -> np.ndarray:
        return shapes.class_rows(list(facts.ranges("inputs", "inputs").values()), len(facts.listed("classes")))

    def roles(self, facts: Facts) -> tuple[Role, ...]:
        inputs = tuple(Role(f"input {name}", f"Column of {name}") for name in facts.ranges("inputs", "inputs"))
        return (*inputs, Role("target", "Column of the class", prefers="text"))

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
        inputs = [name for role in self.roles(facts)[:-1] for name in chosen.columns[role.name]]
        said = {fact.name: fact.text for fact in self.recipe(facts).facts if fact.name != "names"}
        words = [f"    {name}={text}," for name, text in said.items()]
        kind = "parquet" if chosen.path.suffix == ".parquet" else "csv"
        dialect = (
            {"sep": chosen.separator, "decimal": chosen.decimal, "encoding": chosen.encoding} if kind == "csv" else {}
        )
        how = "".join(f", {name}={value!r}" for name, value in dialect.items() if value not in (None, "."))
        return [
            "import pandas",
            "import dpfda as dp",
            "",
            f"table = pandas.read_{kind}({chosen.name!r}{how})",
            "model = dp.KernelClassifier(",
            *words,
            f"    n={facts.whole('n', 'the number of records', 2)},",
            f"    ledger={ledger!r},",
            ")",
            f"model.fit(table[{inputs!r}], table[{chosen.columns['target'][0]!r}])",
            f"model.save({output!r})",
        ]


def one_each(n: int, epsilon: Fraction, classes: tuple[str, ...], **facts: Any) -> ClassPlan:
    """One class against the rest, for each of more than two: their parts of epsilon add up."""
    part = epsilon / len(classes)
    plans = tuple(KernelPlan(n=n, epsilon=part, classes=classes, positive=i, **facts) for i in range(len(classes)))
    return ClassPlan(classes, plans)
