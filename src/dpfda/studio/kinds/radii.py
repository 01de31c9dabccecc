"""A radius that holds most curves: a small release of its own, for a bound that nobody knows."""

from __future__ import annotations

from typing import ClassVar

from dpfda.plans.radius import RadiusPlan
from dpfda.studio.fields import Facts, Field, Fieldset, WrongField, to_text
from dpfda.studio.kinds.base import (
    EPSILON,
    KNOWN,
    MORE,
    NUMBER,
    PERSON,
    PROTECT,
    RECORD,
    Chosen,
    Kind,
    Role,
    bound,
    budget,
    how_many,
    unit,
)
from dpfda.studio.kinds.curves import ALONG, along
from dpfda.studio.said import Recipe, Said, in_shell


class Radius(Kind):
    """A private radius, looked for within a wide public range."""

    key, title, verb = "radius", "A radius for a bound", "radius"
    fieldsets: ClassVar[tuple[Fieldset, ...]] = (
        Fieldset("Who and how much", (RECORD, NUMBER, KNOWN, EPSILON, PROTECT, PERSON)),
        Fieldset("What one curve can be", (
            Field("low", "Surely above", "number", "0", hint="a wide public range", half=True),
            Field("high", "Surely below", "number", "20", half=True),
            Field("quantile", "Share of curves that it should hold", "number", "0.95"),
        )),
        ALONG,
        MORE,
    )  # fmt: skip

    def recipe(self, facts: Facts) -> Recipe:
        share = facts.number("quantile", "the share of curves")
        if not 0 < share < 1:
            raise WrongField("quantile", "a share lies between 0 and 1", facts["quantile"], "Write 0.95.")
        said = (
            *(fact for fact in budget(facts) if fact.name != "record"),
            bound(facts),
            *along(facts),
            Said("quantile", share, to_text(share), ("--quantile", to_text(share))),
            *unit(facts),
        )
        return Recipe(RadiusPlan, "plans.RadiusPlan", said, how_many(facts), {}, ("radius", "FILE", "--dry-run"))

    def roles(self, facts: Facts) -> tuple[Role, ...]:
        return (Role("values", "Columns of the values", many=True),)

    def release_command(self, chosen: Chosen, facts: Facts, ledger: str, output: str) -> list[str]:
        words = [word for word in self.recipe(facts).command() if word not in ("FILE", "--dry-run")]
        columns = [*self.column_words(chosen, facts), *chosen.dialect_words()]
        return [in_shell([words[0], chosen.name, *words[1:], *columns, "--ledger", ledger, "--out", output])]
