"""Messages about options of a command, about keys of a study file."""

from __future__ import annotations

import re

#: Options that are true or false, and words that follow an option without being its value.
FLAGS = ("anyway", "header", "standardize", "raw")
WORDS = re.compile("and|are|for|goes|has|in|instead|is|means|must|needs|of|on|or|to|too|with")
VALUED = re.compile(r"--([a-z][a-z-]*)[ =]([^\s,;]*[^\s,;.])")
ALONE = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")


def as_keys(message: str) -> str:
    """The message as a study file spells it.

    >>> as_keys("Write --range 2:25, or --range=-5:5.")
    'Write range = "2:25", or range = "-5:5".'
    >>> as_keys("--range is low:high. Pass --header or --no-header.")
    'range is low:high. Pass header = true or header = false.'
    """
    return ALONE.sub(_alone, VALUED.sub(_valued, message))


def _valued(found: re.Match[str]) -> str:
    name, value = found.groups()
    return found[0] if WORDS.fullmatch(value) or value.startswith(("--", "<")) else f'{name} = "{value}"'


def _alone(found: re.Match[str]) -> str:
    name = found[1]
    if name.startswith("no-") and name[3:] in FLAGS:
        return f"{name[3:]} = false"
    return f"{name} = true" if name in FLAGS else name
