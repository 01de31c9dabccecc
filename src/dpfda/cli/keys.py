"""Messages about options of a command, about keys of a study file."""

from __future__ import annotations

import re

#: Options that are true or false; and what follows an option is its value if it looks like one, or is one of these.
FLAGS = ("anyway", "header", "standardize", "raw")
VALUE = re.compile(r"[0-9:=*|/]")
CHOICES = ("add-remove", "center", "dask", "header", "linear", "raise", "replace", "smooth", "spark", "tab")
VALUED = re.compile(r"--([a-z][a-z-]*)[ =]((?:[^\s,;]|,(?=[0-9]))*[^\s,;.:])")
ALONE = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")


def as_keys(message: str) -> str:
    """The message as a study file spells it.

    >>> as_keys("Write --range 2:25, or --range=-5:5.")
    'Write range = "2:25", or range = "-5:5".'
    >>> as_keys("--range is low:high. Pass --header or --no-header.")
    'range is low:high. Pass header = true or header = false.'
    >>> as_keys("Write --levels 5,50,95: 0.1 would be 0.1 %.")
    'Write levels = "5,50,95": 0.1 would be 0.1 %.'
    """
    return ALONE.sub(_alone, VALUED.sub(_valued, message))


def _valued(found: re.Match[str]) -> str:
    name, value = found[1], found[2].strip("'\"")
    is_value = VALUE.search(value) or value in CHOICES or found[0][len(name) + 2] == "="
    return f'{name} = "{value}"' if is_value and not value.startswith(("--", "<")) else found[0]


def _alone(found: re.Match[str]) -> str:
    name = found[1]
    if name.startswith("no-") and name[3:] in FLAGS:
        return f"{name[3:]} = false"
    return f"{name} = true" if name in FLAGS else name
