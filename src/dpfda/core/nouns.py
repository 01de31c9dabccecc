"""What one record is called, in words of the people whose it is: "home", several of them "homes"."""

from __future__ import annotations

from dataclasses import dataclass

from dpfda.core.errors import ParameterError, shown

#: Characters of a noun and its plural.
LONGEST = 60
#: Words that begin with a vowel and sound as if they did not, and the other way round.
SOUNDS_SHUT, SOUNDS_OPEN = ("eu", "one", "uni", "us", "ut"), ("heir", "honest", "honou", "hour")


def check_record(record: object) -> None:
    """What one record is called, with its plural behind a slash where that is irregular; or nothing."""
    if record is None:
        return
    parts = [part.strip() for part in record.split("/")] if isinstance(record, str) else []
    short = isinstance(record, str) and record.isprintable() and len(record) <= LONGEST
    if not short or len(parts) > 2 or not all(parts):
        raise ParameterError(
            f"record names what one record is, in a printable text of up to {LONGEST} characters",
            shown(record),
            "Pass record='home', say, or record='person/people' for a plural of its own, or leave it out.",
        )


def singular(record: str) -> str:
    """The noun without a plural of its own.

    >>> singular("person/people"), singular("home")
    ('person', 'home')
    """
    return record.partition("/")[0].strip()


def plural(record: str) -> str:
    """Several of a noun, by its own plural or by the rule.

    >>> [plural(noun) for noun in ("home", "family", "day", "class", "box", "branch", "person/people")]
    ['homes', 'families', 'days', 'classes', 'boxes', 'branches', 'people']
    """
    noun, _, own = (part.strip() for part in record.partition("/"))
    if own:
        return own
    if noun.endswith("y") and noun[-2:-1].lower() not in tuple("aeiou"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def a(noun: str, opening: bool = False) -> str:
    """A noun with its article, which may open a sentence.

    >>> [a(noun) for noun in ("home", "apartment", "user", "unit", "hour")], a("home", opening=True)
    (['a home', 'an apartment', 'a user', 'a unit', 'an hour'], 'A home')
    """
    word = noun.lower()
    vowel = word[:1] in tuple("aeiou") and not word.startswith(SOUNDS_SHUT)
    return f"{'A' if opening else 'a'}{'n' if vowel or word.startswith(SOUNDS_OPEN) else ''} {noun}"


@dataclass(frozen=True)
class Nouns:
    """What texts call a record, several of them, and what it holds.

    Parameters
    ----------
    record, records : str
        One record and several, by whatever name the plan gives them.
    item : str
        What one record is: a curve, a point.
    piece : str
        What a record is made of, where it is all that one person or household has; else nothing.
    """

    record: str
    records: str
    item: str
    piece: str = ""

    @classmethod
    def of(cls, item: str, record: str | None = None, unit: str | None = None, piece: str = "") -> Nouns:
        """A record by its own noun, else by the column that says whose it is, else by what it is.

        >>> Nouns.of("curve", "person/people").records, Nouns.of("curve", unit="patient").piece
        ('people', 'curve')
        """
        part = "" if unit is None else piece or item
        if record is not None:
            return cls(singular(record), plural(record), item, part)
        name = unit or item  # a column may be called anything
        return cls(name, f"{name}s", item, part)

    @property
    def has_item(self) -> bool:
        """Whether a record is somebody who has one item, called by a noun of its own."""
        return not self.piece and self.record != self.item

    @property
    def unusable(self) -> str:
        """What can be unusable: the curve of somebody, and not somebody."""
        return self.item if self.has_item else self.record
