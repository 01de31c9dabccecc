"""A statement as data, and its paragraphs: plain words about a plan or a release, for the people who decide.

Every sentence is computed from public facts, so it can be read by a review board before any
data is touched and printed beside the release afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Protocol

from dpfda.core.nouns import a
from dpfda.results.wording import Planned, Priced, Together

if TYPE_CHECKING:
    import numpy as np

    from dpfda.core.renewal import Renewal
    from dpfda.noise.law import Law


@dataclass(frozen=True)
class Statement:
    """The parts of a statement by name, in the order of its paragraphs; a part that is empty is left out.

    ``str(parts)`` is the text, with a blank line between paragraphs. Other statements are made of its parts (by
    ``dataclasses.replace``), never of its text.

    Parameters
    ----------
    heading : str
        What this is about.
    guarantee : str
        What is promised.
    composition : str
        What several releases cost together.
    assumption : str
        How records are treated, and what the guarantee does not rest on.
    passes : str
        How often the data is read, where a schedule says so.
    method : str
        How the release was drawn.
    groups : mapping
        One line for each group or class.
    accuracy : str
        How accurate the release is expected to be.
    bands : str
        What the shown band promises, and what the release itself says against trusting it.
    bound : str
        What the release itself says of the public bound: that it is too small, or that nothing was measured.
    limits : str
        What is not protected.
    charge : str
        Which ledger was charged.
    choice : str
        Why a method was chosen.

    Examples
    --------
    >>> import dpfda as dp
    >>> parts = dp.results.Statement(heading="Heights.", guarantee="Private.", groups={"f": "n 5", "m": "n 6"})
    >>> dict(parts.items())["groups"], str(parts)[:14]
    ('f: n 5\\nm: n 6', 'Heights.\\n\\nPriv')
    """

    heading: str
    guarantee: str
    #: What several releases cost together.
    composition: str = ""
    assumption: str = ""
    #: How often the data is read, where a schedule says so.
    passes: str = ""
    #: How the release was drawn.
    method: str = ""
    #: One line for each group or class.
    groups: Mapping[str, str] = field(default_factory=dict)
    accuracy: str = ""
    #: What the shown band promises, and what the release itself says against trusting it.
    bands: str = ""
    #: What the release itself says of the public bound.
    bound: str = ""
    #: What is not protected.
    limits: str = ""
    #: Which ledger was charged.
    charge: str = ""
    #: Why a method was chosen.
    choice: str = ""

    def items(self) -> list[tuple[str, str]]:
        """Name and paragraph of every part that is not empty."""
        found = ((part.name, getattr(self, part.name)) for part in fields(self))
        return [(name, part if isinstance(part, str) else _lines(part)) for name, part in found if part]

    def __str__(self) -> str:
        return "\n\n".join(paragraph for _, paragraph in self.items())


def _lines(named: Mapping[str, str]) -> str:
    return "\n".join(f"{name}: {line}" for name, line in named.items())


class Released(Protocol):
    """What a statement needs of a release."""

    @property
    def plan(self) -> Planned: ...
    @property
    def title(self) -> str: ...
    @property
    def created(self) -> str: ...
    @property
    def study(self) -> str | None: ...
    @property
    def entry(self) -> int | None: ...
    @property
    def seal(self) -> str | None: ...
    @property
    def renewal(self) -> Renewal | None: ...


class Drawn(Released, Protocol):
    """The same where the draws are told of as well."""

    @property
    def steps(self) -> tuple[str, ...]: ...
    @property
    def drawn(self) -> tuple[np.ndarray, ...]: ...


#: Where all randomness comes from, and what it is added to.
RANDOMNESS = "All of it is drawn from the operating system's generator, on exact integer totals."
#: Of every plan, before data: what its word and its error do not say.
BEFORE = (
    "That is the error of the estimate. Where a release has a band, the band is wider, often several times: it holds "
    "everywhere at once, and counts sampling and what is left out. plan.hypothetical(guess) shows releases that could "
    "come out, with their band."
)
#: What a difference costs.
FREE = "A difference is made of two releases after the noise: it reads no records and costs nothing of its own."


# -- whole statements ---------------------------------------------------------------------


def explanation(plan: Planned) -> Statement:
    """A plan in words, before data."""
    words = plan.wording
    return Statement(
        heading=f"Plan {plan.digest[:12]}: the {words.target} of {counted(plan)}{_with_items(plan)}.",
        guarantee=protection(plan),
        assumption=words.assumption,
        passes=words.passes,
        accuracy=words.accuracy.sentence,
        bands=BEFORE,
        limits=limits(plan),
    )


def statement(release: Released, method: str = "", bands: str = "", bound: str = "") -> Statement:
    """What was protected, to be shown beside a release; `method` says how, where the assumption does not.

    `bands` says what the band beside it promises, and `bound` what the release says of its public bound.
    """
    made = f"released {release.created} (plan {release.plan.digest[:12]})"
    heading = f"Privacy statement for a {release.title} {made}."
    parts = replace(explanation(release.plan), heading=heading, method=method)
    return replace(parts, bands=bands, bound=bound, charge=charged_to(release))


def group_statement(plan: Together, releases: Mapping[str, Drawn], bands: str = "", bound: str = "") -> Statement:
    """What was protected in all groups together, and how each was made; `bands` and `bound` as for one of them."""
    first = next(iter(releases.values()))
    made = f"released {first.created} (plan {plan.digest[:12]})"
    drawn = {name: drawn_with(release) for name, release in releases.items()}
    alike, after = len(set(drawn.values())) == 1, {after_noise(release) for release in releases.values()}
    method = [f"Each {plan.member_word}{drawn_with(first)}."] if alike else []
    method += [RANDOMNESS, *(after if len(after) == 1 else ())]
    return Statement(
        heading=f"Privacy statement for a {first.title} per {plan.member_word}, {made}.",
        guarantee=protection(first.plan, plan),
        composition=plan.composition,
        assumption=first.plan.wording.assumption,
        method=" ".join(method).strip(),
        groups={name: member(release.plan, "" if alike else drawn[name]) for name, release in releases.items()},
        bands=bands,
        bound=bound,
        limits=limits(first.plan, own_records(plan)),
        charge=charged_to(first),
    )


def difference_statement(plan: Together, first: str, second: str, releases: Sequence[Drawn], bands: str) -> Statement:
    """What was protected in two releases of groups, one of which is taken from the other; `bands` as for a release."""
    names = dict(zip((first, second), releases, strict=True))
    left = releases[0]
    made = f"of releases of {left.created} (plan {plan.digest[:12]})"
    return replace(
        group_statement(plan, names, bands),
        heading=f"Privacy statement for the difference of a {left.title}, {first} minus {second}, {made}.",
        composition=f"{FREE} {plan.composition}",
    )


# -- paragraphs ---------------------------------------------------------------------------


def chance_factor(epsilon: float) -> str:
    """How many times as likely one record can make any outcome, in words.

    The same holds for the chance that anybody concludes something. Odds could change by twice epsilon: a chance and
    that of its opposite both move.
    """
    factor = math.exp(epsilon) if epsilon < 700 else math.inf
    if factor >= 1e6:
        return "over a million (that is hardly any protection)"
    return f"{factor:.3f}" if factor < 2 else f"{factor:.2f}" if factor < 100 else f"{factor:,.0f}"


def neighbours(plan: Planned) -> str:
    """What two data sets differ by that the guarantee speaks of."""
    record = plan.wording.record
    if plan.problem.count_is_private:
        return f"one {record} is added to the data or removed from it"
    return f"one {record} in the data is replaced by any other {record}"


def protection(plan: Planned, together: Priced | None = None) -> str:
    """The guarantee; `together` is the price of several releases."""
    price = plan if together is None else together
    epsilon, record, nouns = float(price.epsilon), plan.wording.record, plan.wording.nouns
    factor, change = chance_factor(epsilon), neighbours(plan)
    named = nouns.piece or nouns.has_item
    who = f"one {record}" if named else f"a person with one {record} in the data"
    other = (
        f"had that {record if named else 'person'} not been in the data"
        if plan.problem.count_is_private
        else f"had all {nouns.piece}s of that {record} been different ones"
        if nouns.piece
        else f"had that {record if nouns.has_item else 'person'}'s {nouns.item} been a different one"
    )
    count = f" The number of {nouns.records} is protected too." if plan.problem.count_is_private else ""
    if not price.delta:
        return (
            f"The release is {epsilon:g}-differentially private (pure, no delta). If {change}, the probability of "
            f"any outcome changes by at most a factor of {factor}. So the chance that anyone infers something about "
            f"{who} from the release is at most {factor} times what it would be {other}.{count}"
        )
    delta = f"{float(price.delta):g}"
    return (
        f"The release is ({epsilon:g}, {delta})-differentially private: approximate, not pure. If {change}, the "
        f"probability of any outcome changes by at most a factor of {factor}, plus {delta}. So the chance that anyone "
        f"infers something about {who} from the release is at most {factor} times, plus {delta}, what it would be "
        f"{other}.{count}"
    )


def limits(plan: Planned, group: str = "") -> str:
    """What is not protected; of the plan of a `group` (or class), what holds for all of them."""
    words = plan.wording
    size = "" if plan.problem.count_is_private or group else f" The number of {words.records}, {plan.n:,}, is public."
    several = (
        f"{'somebody' if words.record == 'person' else 'a person'} whose data stand under several {words.records}"
        if words.piece
        else f"{a(words.record)} with several {words.nouns.item}s in the data"
        if words.nouns.has_item
        else f"a person who contributes several {words.records}"
    )
    return (
        f"What is not protected: facts about the population that the {words.target} itself shows; {several} "
        f"is protected only as far as epsilon times their number; other releases "
        f"from the same data add their own epsilon; the time a run takes and the computer it runs on.{size} "
        f"{unusable(plan, group)}"
    )


def unusable(plan: Planned, group: str = "") -> str:
    """What becomes of records that cannot be used; of the plan of a `group`, as for :func:`limits`."""
    return stops(plan) if plan.invalid == "raise" else goes_on(plan, group)


def stops(plan: Planned) -> str:
    """What stops a run, where something in the data may."""
    words = plan.wording
    twice = f", or if parts of the data that are put together may hold the same {words.record}"
    parts = twice if words.piece and not plan.problem.count_is_private else ""
    reason = f"{a(words.nouns.unusable)} is unusable{parts}"
    return f"A run stops with an error if {reason}; whether it stopped is outside the guarantee."


def goes_on(plan: Planned, group: str = "") -> str:
    """What becomes of what cannot be used, where nothing in the data may stop a run."""
    words = plan.wording
    most = f"{words.records} than the public number of a {group}" if group else f"than {plan.n:,} {words.records}"
    nobody = " A row that does not say whose it is (or which group it belongs to) is left out." if words.piece else ""
    too_many = (
        ""
        if plan.problem.count_is_private
        else f" Of more {most} as many are used, by a fixed hash of what each holds; one that "
        f"is missing {words.unusable}."
    )
    return f"An unusable {words.nouns.unusable} {words.unusable}, so the guarantee covers it.{nobody}{too_many}"


def how_drawn(release: Drawn) -> str:
    """How a release was drawn, and what was done after the noise."""
    outcome = release.plan.schedule.outcome(release.drawn)
    came, after = (f" {words}" if words else "" for words in (outcome, after_noise(release)))
    return f"Method {release.plan.wording.method}{drawn_with(release)}. {RANDOMNESS}{came}{after}"


def drawn_with(release: Drawn) -> str:
    """The kernel and the noise of a release, as they follow its method."""
    kernel = f" with {release.plan.wording.kernel}" if release.plan.wording.kernel else ""
    return f"{kernel}: {'; '.join(dict.fromkeys(law.description for law in laws(release)))}"


def laws(release: Drawn) -> list[Law]:
    """The noise laws of a release, stage by stage."""
    stages = release.plan.schedule.stages(release.drawn)
    return [part.law for stage in stages for part in stage.parts]


def after_noise(release: Drawn) -> str:
    """What was done after the noise, if anything was."""
    steps = "; ".join(release.steps)
    return f"After the noise: {steps} (post-processing, free of privacy cost)." if steps else ""


def member(plan: Planned, drawn: str = "") -> str:
    """One group or class in a line; `drawn` says with which kernel and noise, where they are not all alike."""
    words = plan.wording
    how = f"{words.method}{drawn};" if drawn else f"{words.method},"
    return f"{counted(plan)}, {how} {words.accuracy.brief_error}. {plan.verdict.sentence}"


def counted(plan: Planned) -> str:
    """How many records there are: exactly only where that is public."""
    return f"{'about ' if plan.problem.count_is_private else ''}{plan.n:,} {plan.wording.records}"


def _with_items(plan: Planned) -> str:
    """What is said of records with several components after they are counted."""
    words = plan.wording
    return f" ({words.nouns.item}s{words.more})" if words.more and words.nouns.has_item else words.more


def told_of_each(texts: Mapping[str, str]) -> str:
    """What texts by name have in common, once, and then what only some of them say, with their names.

    >>> told_of_each({"a": "It holds. Up to 3.", "b": "It holds. Up to 4."})
    'It holds. a: Up to 3. b: Up to 4.'
    """
    sentences = {name: text.removesuffix(".").split(". ") for name, text in texts.items() if text}
    if not sentences:
        return ""
    first = next(iter(sentences.values()))
    common = [words for words in first if len(sentences) == len(texts) and all(words in s for s in sentences.values())]
    found = [". ".join(common)] if common else []
    for name, said in sentences.items():
        if own := [words for words in said if words not in common]:
            found.append(f"{name}: {'. '.join(own)}")
    return f"{'. '.join(found)}."


def own_records(plan: Together) -> str:
    """What each of several plans has records of its own for: a group. Classes share theirs, and it is nothing."""
    return plan.member_word if plan.member_word == "group" else ""


def charged_to(release: Released) -> str:
    """Which ledger was charged, if any."""
    if not release.study:
        return "No ledger was charged: whoever made this release keeps account of the budget."
    seal = (release.seal or "")[:16]
    charged = f"Charged to the ledger of study {release.study!r} as entry {release.entry}, seal {seal}."
    return f"{charged} {release.renewal}" if release.renewal else charged
