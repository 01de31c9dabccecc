"""A methods paragraph for a paper: what was estimated, from what, under which guarantee, by which mechanism.

It is made of the facts that statements are made of (:mod:`dpfda.results.statements`), and of nothing else. The
statement tells a review board what is protected; this tells a reader of a journal what was done.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from dpfda.core.version import VERSION
from dpfda.methods.base import Method
from dpfda.noise import Ball, Choice, Gaussian, Laplace
from dpfda.results import statements
from dpfda.results.sources import references
from dpfda.results.wording import Planned, Together, number

if TYPE_CHECKING:
    from dpfda.noise.law import Law

#: Noise laws in words that a statistician knows, with whom to cite. A private choice is told of by itself.
BALL = (
    "multivariate noise whose density falls exponentially with a scaled Euclidean norm (the K-norm mechanism; Hardt "
    "and Talwar, 2010)"
)
BLOCKS = (
    "multivariate noise whose density falls exponentially with a sum of scaled Euclidean norms, one for each block of "
    "coefficients (a K-norm mechanism; Hardt and Talwar, 2010)"
)
BALL_SHORT = "noise of the K-norm mechanism with one scaled Euclidean norm (Hardt and Talwar, 2010)"
LAPLACE = "independent discrete Laplace noise"
GAUSSIAN = (
    "discrete Gaussian noise with standard deviations proportional to the square roots of the eigenvalues, that is, a "
    "Gaussian process (Hall, Rinaldo and Wasserman, 2013; Mirshani, Reimherr and Slavkovic, 2019)"
)
CHOICE = "Private choices are made by permute and flip (McKenna and Sheldon, 2020)."
#: How scales of independent Laplace noise are shared out among coefficients.
SCALES = {
    "matched": ", with the scales on coefficients that have the least total variance for what one record can change",
    "kernel": ", with scales on coefficients that are proportional to the square roots of the eigenvalues (the "
    "independent component Laplace process; Lin and Reimherr, 2024)",
}
#: What statements tell a review board and a paper has no room for.
FOR_A_BOARD = re.compile(
    r" ?(The guarantee holds whatever the data is;|Each time every record is clipped again|A run stops with an error)"
    r"[^.]*\."
)
#: A share of epsilon, and how many sentences about a band there are room for.
SHARE, OF_BANDS = re.compile(r"(\d+/\d+) of epsilon"), 2
#: Where numbers and randomness come from.
EXACT = (
    "Records are added up in exact integer arithmetic, and all randomness is drawn exactly, from the operating "
    "system's generator."
)


class Told(statements.Drawn, Protocol):
    """What a methods paragraph needs of a release."""

    @property
    def query(self) -> str: ...
    @property
    def order(self) -> int: ...
    @property
    def cautions(self) -> tuple[str, ...]: ...


def text_of(release: Told, bands: str) -> str:
    """The paragraphs and references of one release; `bands` says what its band promises."""
    plan = release.plan
    guess = " (a public guess; their number is protected too)" if plan.problem.count_is_private else ""
    lead = (
        f"An estimate of the {_what(release)} was computed from {statements.counted(plan)}{guess} and released under "
        f"{_guarantee(plan, plan.epsilon, plan.delta)}"
    )
    first = [lead, plan.wording.assumption, statements.unusable(plan)]
    second = [mechanism(release), plan.schedule.outcome(release.drawn), _size(release), statements.after_noise(release)]
    return _joined(first, [*second, EXACT], [_opening(bands), *release.cautions], _made(release, plan.digest))


def text_of_several(
    plan: Together, releases: Mapping[str, Told], bands: str, cautions: Sequence[str], lead: str = ""
) -> str:
    """The same of several releases under one charge; `lead` says what was made, `cautions` what they warn of."""
    some = next(iter(releases.values()))
    guess = " (public guesses; their numbers are protected too)" if some.plan.problem.count_is_private else ""
    counts = ", ".join(f"{name} ({statements.counted(release.plan)})" for name, release in releases.items())
    if not statements.own_records(plan):  # all of them see all records
        counts = f"{', '.join(releases)} (from {statements.counted(some.plan)})"
    members = "classes" if plan.member_word == "class" else f"{plan.member_word}s"
    each = (
        f"An estimate of the {_what(some)} was computed for each of {len(plan.names)} {members}: {counts}{guess}"
        if len(releases) == len(plan.names)
        else f"Estimates of the {_what(some)} were computed for {len(plan.names)} {members}, of which these are "
        f"compared: {counts}{guess}"
    )
    first = [lead, f"{each}. They were released together under {_guarantee(some.plan, plan.epsilon, plan.delta)}"]
    first += [
        plan.composition,
        some.plan.wording.assumption,
        statements.unusable(some.plan, statements.own_records(plan)),
    ]
    how = _by_name({name: mechanism(release) for name, release in releases.items()}, plan.member_word)
    outcomes = {name: release.plan.schedule.outcome(release.drawn) for name, release in releases.items()}
    found = [f"{name}: {outcome}" for name, outcome in outcomes.items() if outcome]
    after = _by_name({name: statements.after_noise(release) for name, release in releases.items()}, plan.member_word)
    return _joined(first, [*how, *found, *after, EXACT], [_opening(bands), *cautions], _made(some, plan.digest))


def in_a_paper(text: str) -> str:
    """Sentences of a statement as a paper has them: shares in percent, and nothing that is for a board.

    >>> in_a_paper("A rough centre (1/4 of epsilon). A run stops with an error if a curve is unusable.")
    'A rough centre (25 % of epsilon).'
    """
    shares = SHARE.sub(lambda found: f"{100 * float(Fraction(found[1])):.4g} % of epsilon", text)
    return FOR_A_BOARD.sub("", shares).strip()


def _opening(bands: str) -> str:
    """What a band promises; what it rests on is in the statement."""
    return " ".join(re.split(r"(?<=[.:]) (?=[A-Z])", bands)[:OF_BANDS])


def _by_name(texts: Mapping[str, str], word: str) -> list[str]:
    """Each text once, with the names that it is for where they are not all."""
    names: dict[str, list[str]] = {}
    for name, text in texts.items():
        names.setdefault(text, []).append(name)
    if len(names) == 1:
        return list(names)
    return [f"For {word} {' and '.join(found)}, {text[0].lower()}{text[1:]}" for text, found in names.items() if text]


def _joined(*paragraphs: list[str]) -> str:
    """Paragraphs, without what is empty or for a board, and the references that they name."""
    texts = [" ".join(sentence for sentence in sentences if sentence) for sentences in paragraphs]
    body = "\n\n".join(in_a_paper(text) for text in texts if text)
    return "\n".join([body, "", "References", *references(body)])


# -- sentences ----------------------------------------------------------------------------


def _what(release: Told) -> str:
    """What was estimated, and what it is called where that says more."""
    plan = release.plan
    named = "" if release.query == getattr(plan, "query", release.query) else f" (called {release.query!r})"
    values = f" (values: {plan.value})" if plan.value else ""
    return f"{'derivative of the ' if release.order else ''}{plan.wording.release}{named}{values}"


def _guarantee(plan: Planned, epsilon: Fraction, delta: Fraction) -> str:
    """Which differential privacy, with its numbers, and what that means."""
    factor, change = statements.chance_factor(float(epsilon)), statements.neighbours(plan)
    means = f"if {change}, the probability of any outcome changes by at most a factor of {factor} (e to the epsilon)"
    if not delta:
        return f"pure differential privacy with epsilon = {exact(epsilon)}: {means}."
    both = f"epsilon = {exact(epsilon)} and delta = {float(delta):g}"
    return f"approximate (not pure) differential privacy with {both}: {means}, plus {float(delta):g}."


def exact(value: Fraction) -> str:
    """A number as a decimal where that is exact, else as a fraction.

    >>> exact(Fraction(1, 10)), exact(Fraction(1, 3))
    ('0.1', '1/3')
    """
    text = f"{float(value):g}"
    return text if Fraction(text) == value else str(value)


def mechanism(release: Told) -> str:
    """Stages and their shares of epsilon, what noise is added to, which noise, and how choices are made."""
    plan, words = release.plan, release.plan.wording
    laws = [law for law in statements.laws(release) if not isinstance(law, Choice)]
    found = [words.passes, words.fit]
    if laws and isinstance(plan.chosen, Method):
        main, last = dict.fromkeys(_law(law, plan.chosen) for law in _last_laws(release)), _last_laws(release)
        found.append(f"Noise is added to {plan.chosen.describe(words.basis)}: {' and '.join(main)}.")
        others = [short for short in dict.fromkeys(map(_short, laws)) if short not in map(_short, last)]
        if others and words.passes:
            found.append(f"Other numbers carry {' or '.join(others)}.")
    elif laws:
        noise = " or ".join(dict.fromkeys(_law(law, plan.chosen) for law in laws))
        found.append(f"Estimates are expanded in {words.basis}, and all that leaves in these stages carries {noise}.")
    if len(laws) < len(statements.laws(release)):
        found.append(CHOICE)
    if plan.problem.needs_count and not words.passes:
        share = exact(laws[-1].epsilon / plan.epsilon)
        found.append(f"Sums are divided by a count of the {words.records} with {LAPLACE}, for {share} of epsilon.")
    return " ".join(sentence for sentence in found if sentence)


def _last_laws(release: Told) -> list[Law]:
    """The noise of the numbers that are published; a count beside them is told of by itself."""
    stage = release.plan.schedule.last(release.drawn)
    parts = [part for part in stage.parts if not stage.problem.needs_count or part.where.max() < stage.problem.size - 1]
    return [part.law for part in parts if not isinstance(part.law, Choice)]


def _law(law: Law, chosen: object) -> str:
    if isinstance(law, Ball):
        return BALL if len(law.starts) == 1 else BLOCKS
    if isinstance(law, Laplace):
        return LAPLACE + SCALES.get(getattr(getattr(chosen, "method", chosen), "noise", ""), "")
    return GAUSSIAN if isinstance(law, Gaussian) else law.description


def _short(law: Law) -> str:
    """The same in a few words."""
    if isinstance(law, Ball):
        return BALL_SHORT if len(law.starts) == 1 else BLOCKS
    return LAPLACE if isinstance(law, Laplace) else law.description


def _size(release: Told) -> str:
    """How large the noise is, where it was known before data and nothing else tells."""
    plan = release.plan
    if plan.schedule.keeps_draws or release.order or all(isinstance(law, Choice) for law in statements.laws(release)):
        return ""
    return f"As drawn, the noise has a root mean squared L2 size of {number(math.sqrt(plan.expected_error))}."


def _made(release: Told, digest: str) -> list[str]:
    """When, with what, by which plan, and which ledger was charged."""
    software = "the Python package dpfda, which builds on the work of Lin and Reimherr (2024)"
    return [
        f"The release was made at {release.created} with {software}; version {VERSION} of it wrote this text.",
        f"Its plan has the digest {digest[:12]}.",
        statements.charged_to(release),
    ]
