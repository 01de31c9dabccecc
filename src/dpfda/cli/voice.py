"""What the command says: figures on standard output; errors, warnings and the log of a job on standard error.

A job may want its log as JSON, a line each. Then everything that is said on standard error is such a line, also what
the commands that it runs say by themselves.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from rich.console import Console

from dpfda.cli.keys import as_keys

plain_text: dict[str, Any] = {"highlight": False, "soft_wrap": True, "emoji": False, "markup": False}
out, err = Console(**plain_text), Console(stderr=True, **plain_text)
STYLES = {"error": "bold red", "refused": "bold red", "warning": "bold yellow", "info": ""}


@dataclass
class Journal:
    """Where words go on standard error: to people, or as JSON. `facts` stand in every line of JSON."""

    as_json: bool = False
    facts: dict[str, Any] = field(default_factory=dict)

    def say(self, level: str, message: str, event: str = "", **facts: object) -> None:
        """One thing that happened: an error, a refusal, a warning, or what a job has done.

        What a command says of a release, without an event, is about keys of the study file there.
        """
        message = as_keys(message) if "release" in self.facts and not event else message
        if self.as_json:
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            line = {"time": now, "level": "error" if level == "refused" else level, "event": event or level}
            err.out(json.dumps(line | self.facts | facts | {"message": message}), highlight=False)
        else:
            about = f"{self.facts['release']}: " if "release" in self.facts else ""
            words = f"{about}{message}"
            err.print(words if level == "info" else f"{level.capitalize()}: {words}", style=STYLES[level])

    @contextmanager
    def about(self, **facts: object) -> Iterator[None]:
        """While this is open, every line has these facts."""
        before, self.facts = self.facts, self.facts | facts
        try:
            yield
        finally:
            self.facts = before


#: The one in use, last: a command that a job runs speaks into the job's.
_journals = [Journal()]


def journal() -> Journal:
    return _journals[-1]


def say(level: str, message: str, error: str = "") -> None:
    """Say something on standard error; the kind of an error stands in a log of JSON only."""
    journal().say(level, message, **({"error": error} if error else {}))


@contextmanager
def speaking(form: str | None) -> Iterator[None]:
    """While this is open, words go out as text or as JSON; as before where nothing is said of that."""
    _journals.append(Journal(form == "json") if form in ("text", "json") else journal())
    others = _Others(logging.WARNING)
    if form == "json":
        logging.getLogger().addHandler(others)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(others)
        _journals.pop()


class _Others(logging.Handler):
    """What other packages log, said here: else it would stand between the lines of JSON."""

    def emit(self, record: logging.LogRecord) -> None:
        say("warning", f"{record.name}: {record.getMessage()}")
