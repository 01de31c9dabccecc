"""What a worker answers with: what it found, or an error that is ours. Texts of others may quote data and stay."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from dpfda.bounds import loops
from dpfda.core import errors
from dpfda.core.errors import ClusterError, DpfdaError
from dpfda.reading.source import Source
from dpfda.reading.tables import Watch


@dataclass(frozen=True, repr=False)
class Answer:
    """`repeats` names a column in which labels repeat, where that is worth a warning."""

    found: Any = None
    error: DpfdaError | None = None
    repeats: str | None = None


def guarded(work: Callable[[], Any], source: Source | None = None) -> Answer:
    """Do the work on one thread, beside other workers; whatever goes wrong becomes an answer."""
    try:
        with loops.using(threads=1):
            found = work()
    except DpfdaError as error:
        return Answer(error=error)
    except Exception as error:  # whatever it is, its text may quote data and a worker would log it
        return Answer(error=ClusterError(f"A worker stopped with an unforeseen {type(error).__name__}."))
    return Answer(found, repeats=(source.watch.repeated or None) if source is not None else None)


def opened(answer: Answer) -> Any:
    """What was found; an error is raised, a warning given, here."""
    found = passed(answer)
    if answer.repeats is not None:
        Watch().warn(answer.repeats)
    return found


def passed(answer: Answer) -> Any:
    """What was found, for other work on the way; an error is raised."""
    if answer.error is not None:
        raise answer.error
    return answer.found


def telling(answer: Answer, before: Iterable[Answer]) -> Answer:
    """The answer with the warning of one that it was made from: it is given where all meet."""
    repeats = [one.repeats for one in before if one.repeats is not None]
    return replace(answer, repeats=repeats[0]) if repeats and answer.repeats is None else answer


def died(engine: str, error: Exception) -> ClusterError:
    """What is left to say when the cluster itself gave up."""
    return ClusterError(
        f"{engine} gave up on a part ({type(error).__name__}). Nothing was charged; look at its workers' logs (is "
        "dpfda installed for their Python?), give them more memory or smaller parts, and run again."
    )


def to_text(error: DpfdaError) -> str:
    """An error as text, for a column of a table."""
    parts: Any = error.__reduce__()
    return json.dumps([type(error).__name__, parts[1]])


def read(text: str) -> DpfdaError:
    """The error that :func:`to_text` wrote."""
    name, given = json.loads(text)
    kind = getattr(errors, name, ClusterError)
    return kind(*given) if isinstance(kind, type) and issubclass(kind, DpfdaError) else ClusterError(text)
