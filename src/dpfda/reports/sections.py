"""The sections of a report in their order, as data: for a release after it was made, and for a plan before any data.

>>> import numpy as np, dpfda as dp
>>> release = dp.mean(np.zeros((500, 12)), epsilon=1.0, bound=dp.L2Ball(1.0))
>>> [section.title for section in sections(release)][:3]
['What was released', 'Who is protected, and how well', 'How sure the curve is']
"""

from __future__ import annotations

from itertools import combinations

from dpfda.plans.base import Plan
from dpfda.plans.joint import JointPlan
from dpfda.reports import budget, planned, words
from dpfda.reports.curves import LEVEL
from dpfda.reports.parts import Block, Bullets, Code, Note, Pictures, Quote, Section, Table, Verdict, Words
from dpfda.reports.pictures import MOST, pictures
from dpfda.reports.sureness import how_sure, mean_times
from dpfda.reports.tables import PRINTED, more_tables, table
from dpfda.results import ClassRelease, Difference, GroupRelease, RadiusRelease
from dpfda.results.saved import Saved
from dpfda.results.verdict import WORDS

#: Groups of which all pairs are compared; of more, each is compared with the first.
ALL_PAIRS = 4
#: How the parts of a methods text are told apart.
REFERENCES = "\n\nReferences\n"


def sections(
    thing: Saved | words.Planned,
    ledger: budget.LedgerOrPath = None,
    *,
    file: str = "",
    digest: str = "",
    rows: int | None = PRINTED,
    level: float = LEVEL,
) -> list[Section]:
    """What a report says, section by section.

    Parameters
    ----------
    thing : release or plan
        Of any kind, or a difference.
    ledger : Ledger or path, optional
        The ledger that was charged (or that a plan would be charged to).
    file : str, optional
        What the file of it is called, for the commands at the end.
    digest : str, optional
        SHA-256 of that file: where the ledger noted another one for the charge, the report says so first.
    rows : int, optional
        About how many rows the table of values has; None for every point.
    level : float, optional
        The probability of the bands.

    Returns
    -------
    list of Section
        Each with a title and blocks: words, pictures, tables.

    Raises
    ------
    dpfda.errors.LedgerError
        Where the ledger is not the one that was charged.

    Examples
    --------
    >>> import dpfda as dp
    >>> plan = dp.MeanPlan(n=500, epsilon=1.0, bound=dp.L2Ball(1.0), grid=12)
    >>> sections(plan)[0].title
    'What would be released'
    """
    book = budget.opened(ledger)
    name = "" if book is None else book.path.name
    if isinstance(thing, Plan | JointPlan):
        return planned.sections(thing, book, file or "plan.json")
    other = [Note(told, "poor")] if (told := budget.told_of_file(thing, book, digest)) else []
    return [
        Section("What was released", [*other, *_warning(thing), *_shown(thing, rows, level)]),
        *_comparisons(thing, level),
        Section("Who is protected, and how well", [Words(text) for text in words.protected(thing)]),
        Section(_sure_title(thing), [Words(text) for text in how_sure(thing, level)]),
        Section("What is not protected", [Bullets(tuple(words.not_protected(thing)))]),
        Section("How it was made", _made(thing)),
        budget.of_release(thing, book),
        Section("Check it yourself", _checks(thing, file or "release.json", name)),
    ]


def _warning(thing: Saved) -> list[Block]:
    """That a release is mostly noise, before anything else."""
    verdict = words.price_of(thing).verdict
    if verdict.word != WORDS[2]:
        return []
    return [Verdict("Mostly noise", (planned.told(verdict),), "poor")]


def _shown(thing: Saved, rows: int | None, level: float) -> list[Block]:
    """What was released: sentence, pictures, cautions right below them, tables."""
    blocks: list[Block] = [Words(f"{words.released(thing)} {words.source(thing)}")]
    drawn = pictures(thing, level)
    maps = [each for each in drawn if hasattr(each, "values")]
    others = [each for each in drawn if not hasattr(each, "values")]
    blocks += [Pictures(tuple(group)) for group in (maps, others) if group]
    blocks += [Note(caution, "poor") for caution in thing.cautions]
    blocks += [Note(text) for text in _about_bound(thing) if not any(text in caution for caution in thing.cautions)]
    if isinstance(thing, GroupRelease) and len(thing) > MOST:
        blocks.append(Words(f"{MOST} of {len(thing)} groups are drawn."))
    if isinstance(thing, RadiusRelease):
        return [*blocks, table(thing)]
    parts = words.parts_of(thing)
    for name, part in parts.items() if not isinstance(thing, Difference) else ():
        blocks += [_named(each, name) for each in more_tables(part, level)]
    return [*blocks, table(thing, rows, level)]


def _named(found: Table, name: str) -> Table:
    return Table(found.head, found.rows, f"{name}: {found.caption}") if name else found


def _about_bound(thing: Saved) -> list[str]:
    """What releases say of their public bound, each once."""
    found = (getattr(part, "bound_words", "") for part in words.parts_of(thing).values())
    return [text for text in dict.fromkeys(found) if text]


def _comparisons(thing: Saved, level: float) -> list[Section]:
    """Groups against each other: bands of differences, and where they differ."""
    if not isinstance(thing, GroupRelease) or len(thing) < 2:
        return []
    names = list(thing)
    pairs = list(combinations(names, 2)) if len(names) <= ALL_PAIRS else [(each, names[0]) for each in names[1:MOST]]
    blocks: list[Block] = [
        Words("Differences are made of the releases above, after the noise: they read no records and cost nothing.")
    ]
    if len(pairs) > 1:
        blocks.append(Words("Each comparison holds by itself with the probability stated, not all of them together."))
    for first, second in pairs:
        gap = thing.difference(first, second)
        said = f"{first} minus {second}"
        told = [str(gap.test(level)), *mean_times(gap, level)] if gap.has_bands else [gap.band_promise]
        blocks.append(Words(f"{said}: {' '.join(told)}"))
        blocks += [Pictures(tuple(drawn))] if (drawn := pictures(gap, level)) else []
    if len(names) > ALL_PAIRS:
        blocks.append(Words(f"Each group is compared with {names[0]}; other pairs: dpfda show --difference A,B."))
    return [Section("How the groups differ", blocks)]


def _sure_title(thing: Saved) -> str:
    if isinstance(thing, RadiusRelease):
        return "How sure the radius is"
    many = isinstance(thing, GroupRelease | ClassRelease)
    return f"How sure the {'curves are' if many else 'difference is' if isinstance(thing, Difference) else 'curve is'}"


def _made(thing: Saved) -> list[Block]:
    """The methods paragraph in quotation marks, and what to cite."""
    body, _, references = thing.methods_text().partition(REFERENCES)
    found: list[Block] = [Words("For a methods section:"), Quote(tuple(body.split("\n\n")))]
    if references:
        found += [Words("To cite:"), Bullets(tuple(references.strip().split("\n")))]
    return found


def _checks(thing: Saved, file: str, ledger: str) -> list[Block]:
    """Three commands that anybody with the files can run."""
    verify = f"dpfda ledger verify {quoted(ledger or 'study.ledger')} {quoted(file)}"
    charged = (
        "the second, run by whoever keeps the ledger, says that the charge stands and that the ledger is no older copy"
        if thing.study
        else "the second says that no ledger was charged for it"
    )
    return [
        Code((f"dpfda show {quoted(file)}", verify, f"dpfda audit {quoted(file)}")),
        Words(f"The first refuses a damaged file; {charged}; the third attacks the plan and reads no data."),
    ]


quoted = planned.quoted
