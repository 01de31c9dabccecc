"""What the planning screen shows for a set of public facts, and a memory of what was shown before.

Nothing here opens a file: facts come from a form, the guess is invented, and possible releases are simulated.
"""

from __future__ import annotations

import gc
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from dpfda.bounds.loops import one_blas_thread
from dpfda.core.errors import DpfdaError
from dpfda.pages.charts import Chart, HeatMap
from dpfda.plans import GroupPlan, MeanPlan
from dpfda.plans.hypothetical import Hypothetical
from dpfda.plans.radius import RadiusPlan
from dpfda.results.verdict import Verdict
from dpfda.studio import figures, views
from dpfda.studio.fields import Facts, WrongField
from dpfda.studio.kinds import KINDS, Kind
from dpfda.studio.said import AnyPlan, OnePlan, Recipe, in_shell

#: Screens that are remembered: plans of some kinds hold large tables.
REMEMBERED = 200
#: The seed of the releases that a plan is judged by: whoever draws others sees other lines, and the same verdict.
JUDGED = 0
#: Seconds for which nobody asks before screens are made ahead: while a slider moves, the screen itself comes first.
QUIET = 0.15
HEADS = {
    "clear": ("good", "Clear: the shape will show, if your guess is right"),
    "coarse": ("fair", "Coarse: only large features will show"),
    "mostly noise": ("poor", "Mostly noise: do not release this plan"),
}

#: The same where the curve comes out close, and the band that says how close is too wide to show it.
WIDE = ("fair", "Close, if your guess is right, but its band will not show the shape")


@dataclass(frozen=True)
class Planned:
    """A plan as the screen shows it, or what is wrong with the facts."""

    kind: Kind
    facts: Facts
    plan: AnyPlan | None = None
    pictures: tuple[Chart | HeatMap, ...] = ()
    word: str = ""
    sentences: tuple[str, ...] = ()
    rows: tuple[tuple[str, str], ...] = ()
    shares: tuple[tuple[str, str, str], ...] = ()
    method: str = ""
    python: tuple[str, ...] = ()
    #: Empty where no command plans without data.
    command: str = ""
    #: Whether what is released is a curve with a band about it, and whether a flat line fits inside.
    has_band: bool = False
    wide: bool = False
    error: str = ""
    wrong: str = ""

    @property
    def head(self) -> tuple[str, str]:
        """How the verdict looks, and its headline."""
        return WIDE if self.word == "clear" and self.wide else HEADS[self.word]


@dataclass
class Planner:
    """Plans for screens: each is made once, and neighbours of a slider ahead of time."""

    _found: OrderedDict[tuple[object, ...], Planned] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _asked: int = 0
    _waiting: Future[None] | None = None
    _ahead: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "plan-ahead"))

    def planned(self, said: Mapping[str, str]) -> Planned:
        """The screen for what an address says."""
        with self._lock:
            self._asked += 1
        return self._made(said)

    def _made(self, said: Mapping[str, str]) -> Planned:
        kind = KINDS.get(said.get("what", ""), KINDS["mean"])
        facts, seed = kind.facts(said), seed_in(said)
        key = (kind.key, tuple(facts.values()), seed)
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        made = _planned(kind, facts, seed)
        if not kind.quick:
            gc.collect()  # plans refer to themselves, and hold large tables
        with self._lock:
            self._found[key] = made
            while len(self._found) > REMEMBERED:
                self._found.popitem(last=False)
        return made

    def plan_ahead(self, said: Mapping[str, str]) -> None:
        """Make ready, in the background, what the next steps of the sliders would show."""
        kind = KINDS.get(said.get("what", ""), KINDS["mean"])
        if not kind.quick:
            return
        with self._lock:
            if self._waiting is not None:  # what an earlier screen would have needed next
                self._waiting.cancel()
            self._waiting = self._ahead.submit(self._make_ready, _next_steps(kind, said), self._asked)

    def _make_ready(self, screens: list[dict[str, str]], asked: int) -> None:
        time.sleep(QUIET)
        for said in screens:
            if self._asked != asked:
                return
            self._made(said)

    def warm_up(self) -> None:
        """Load and compile in the background what the first screen needs."""
        self._ahead.submit(self._made, {})

    def stop(self) -> None:
        self._ahead.shutdown(wait=False, cancel_futures=True)


def _next_steps(kind: Kind, said: Mapping[str, str]) -> list[dict[str, str]]:
    """What an address would say one step of a slider further, up or down."""
    facts, found = kind.facts(said), []
    for each in (each for part in kind.fieldsets for each in part.fields):
        if each.steps and facts[each.name] in each.steps:
            place = each.steps.index(facts[each.name])
            near = [near for near in (place + 1, place - 1) if 0 <= near < len(each.steps)]
            found += [{**said, each.name: each.steps[place]} for place in near]
    return found


def seed_in(said: Mapping[str, str]) -> int:
    """Which lines an address asks for."""
    text = said.get("seed", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else JUDGED


def make_plan(said: Mapping[str, str]) -> tuple[Kind, Facts, Recipe, AnyPlan]:
    """The kind, the facts and the plan that an address says; raises what is wrong with them."""
    kind = KINDS.get(said.get("what", ""), KINDS["mean"])
    facts = kind.facts(said)
    recipe = kind.recipe(facts)
    return kind, facts, recipe, recipe.plan()


def first_of(plan: AnyPlan) -> OnePlan:
    """The plan itself, or the first of several."""
    first: OnePlan = next(iter(plan.members.values()))
    return first


def _planned(kind: Kind, facts: Facts, seed: int) -> Planned:
    try:
        recipe = kind.recipe(facts)
        plan = recipe.plan()
        with one_blas_thread():  # a release that is simulated is many small matrices
            shown = _shown(kind, facts, plan, seed)
    except WrongField as error:
        words = f"{error.rule}. {error.cure}"
        return Planned(kind, facts, error=f"{words[:1].upper()}{words[1:]}", wrong=error.name)
    except DpfdaError as error:
        return Planned(kind, facts, error=str(error))
    return Planned(
        kind,
        facts,
        plan if kind.quick else recipe.plan(),  # anew: large tables were made for its pictures
        shares=_shares(plan),
        method=first_of(plan).wording.method,
        python=tuple(recipe.python()),
        command=in_shell(recipe.command()) if recipe.plans_by_command else "",
        **shown,
    )


def hypotheticals(kind: Kind, facts: Facts, plan: AnyPlan, size: int, seed: int) -> dict[str, Hypothetical]:
    """Possible releases of a plan, or of each of its members, by name; none where there is nothing to expect."""
    guess = kind.guess(facts, first_of(plan))
    if guess is None or isinstance(plan, RadiusPlan):
        return {}
    spread = kind.spread(facts)
    more = {} if spread is None else {"spread": spread}
    found = plan.hypothetical(guess, size=size, seed=seed, **more)
    return {"": found} if isinstance(found, Hypothetical) else dict(found)


def _shown(kind: Kind, facts: Facts, plan: AnyPlan, seed: int) -> dict[str, Any]:
    found = hypotheticals(kind, facts, plan, kind.judged, JUDGED)
    if not found:
        first_of(plan).check_worth()
        return {"word": plan.verdict.word, "sentences": (str(plan.verdict),), "rows": figures.rows(plan, {}, {})}
    count = min(kind.drawn, kind.judged)
    drawn = found if seed == JUDGED else hypotheticals(kind, facts, plan, count, seed)
    drawn = {name: replace(each, values=each.values[:count].copy()) for name, each in drawn.items()}
    worst = max(found.values(), key=lambda each: each.ratio)
    sentences = [figures.sentence(each, name, plan) for name, each in found.items()]
    bands = {name: each.band() for name, each in found.items() if views.has_bands(each)}
    wide = any(views.holds_a_flat_line(band) for band in bands.values())
    if wide:
        sentences.append("A flat line fits inside the band of such a release: the band alone does not show the shape.")
    if worst.word != "clear":
        sentences.append(_verdict(plan, worst).cure_for(worst.word))
    return {
        "word": worst.word,
        "sentences": tuple(filter(None, sentences)),
        "pictures": tuple(views.pictures(drawn, bands)),
        "rows": figures.rows(plan, found, bands),
        "has_band": any(views.has_band(each) for each in found.values()),
        "wide": wide,
    }


def _verdict(plan: AnyPlan, worst: Hypothetical) -> Verdict:
    """The library's verdict for the guess, which knows what would do better."""
    member = worst.plan
    return member.verdict_for(worst.truth) if isinstance(member, MeanPlan) and member.of is None else plan.verdict


def _shares(plan: AnyPlan) -> tuple[tuple[str, str, str], ...]:
    parts = plan.shares if hasattr(plan, "shares") else ()
    return tuple((f"reading {part.reading}", part.step, f"{float(part.share):.3g}") for part in parts)


def can_vary(planned: Planned) -> tuple[str, ...]:
    """What could make a band narrower: nothing where there is none, and no n where each group has its own."""
    if not planned.has_band:
        return ()
    return ("epsilon",) if isinstance(planned.plan, GroupPlan) else ("epsilon", "n")


def reach(said: Mapping[str, str], target: float, vary: str) -> tuple[str, float]:
    """The epsilon, or the n, from which on the band is at most `target` to either side, and how far it then reaches.

    Empty where none on the scale will do: then it is how narrow the band is at the end of the scale.
    """
    kind, facts, _, _ = make_plan(said)
    field = next(each for part in kind.fieldsets for each in part.fields if each.name == vary)

    def half(text: str) -> float:
        found = hypotheticals(kind, (other := kind.facts({**facts, vary: text})), kind.recipe(other).plan(), 2, JUDGED)
        bands = [each.band() for each in found.values()]
        return max(float((band.upper - band.lower).max() / 2) for band in bands)

    low, high = 0, len(field.steps) - 1
    if (width := half(field.steps[high])) > target:
        return "", width
    while low < high:
        middle = (low + high) // 2
        if (now := half(field.steps[middle])) <= target:
            high, width = middle, now
        else:
            low = middle + 1
    found = field.steps[high]
    for text in _between(field.steps[high - 1], found) if high else ():  # the step may be a large one
        if (now := half(text)) <= target:
            return text, now
    return found, width


def _between(low: str, high: str) -> list[str]:
    """Three numbers between two steps of a scale, round as they are."""
    first, last = float(low), float(high)
    found = [f"{first + (last - first) * share:.2g}" for share in (0.25, 0.5, 0.75)]
    return [text if "e" not in text else f"{float(text):.10g}" for text in found if first < float(text) < last]
