"""Errors of the library in the words of the page: what a script would pass is a field here."""

from __future__ import annotations

import re

#: What the library says, and what somebody at the page can do about it.
PHRASES = (
    (r"Under 'replace' n is public and must match: build the plan with n=(\d+)", r"Their number is public and must "
     r"match: write \1 in the plan"),
    (r"[Pp]ass encoding='cp1252', say", "Choose how letters are written under “How the file is written”"),
    (r"outside='clip'", "“counts as the limit” under More in the plan"),
    (r"invalid='center'", "“counts as the public middle” under More in the plan"),
    (r"\bunit must name a column", "the column that says whose a row is must be in the file"),
    (r"Check by= and groups=", "Check the column of the groups, and how the plan spells them"),
    (r"\bby must name", "the column of the groups must be"),
    (r"Pass epsilon=0\.5, or epsilon='1/4', .*", "Write 0.5 or 1/4."),
    (r"Pass epsilon=0\.5, or epsilon='1/4'", "Write 0.5 or 1/4"),
    (r"Pass record='home', say", "Write home, say"),
    (r"pass fill=<longest gap> to dp\.read", "leave those rows out of the file"),
    (r"\bor Choose\b", "or choose"),
    (r"decimal=','", "a decimal comma under “How the file is written”"),
    (r"separator=';'", "a semicolon under “How the file is written”"),
    (r"Pass (?=“)", "Choose "),
    (r"pass (?=“)", "choose "),
)  # fmt: skip


def for_page(words: str) -> str:
    """An error as the page says it.

    >>> for_page("A point lies outside. Pass outside='clip' to move it.")
    'A point lies outside. Choose “counts as the limit” under More in the plan to move it.'
    """
    for pattern, said in PHRASES:
        words = re.sub(pattern, said, words)
    return words
