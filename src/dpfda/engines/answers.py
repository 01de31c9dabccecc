"""What a worker answers with: what it found, or an error that is ours. Texts of others may quote data and stay."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpfda.bounds import loops
from dpfda.core import errors
from dpfda.core.errors import ClusterError, DpfdaError


@dataclass(frozen=True, repr=False)
class Answer:
    """What was found, or what went wrong."""

    found: Any = None
    error: DpfdaError | None = None


def guarded(work: Callable[[], Any]) -> Answer:
    """Do the work on one thread, beside other workers; whatever goes wrong becomes an answer."""
    try:
        with loops.using(threads=1):
            found = work()
    except DpfdaError as error:
        return Answer(error=error)
    except Exception as error:  # whatever it is, its text may quote data and a worker would log it
        return Answer(error=ClusterError(f"A worker stopped with an unforeseen {type(error).__name__}."))
    return Answer(found)


def opened(answer: Answer) -> Any:
    """What was found; an error is raised."""
    if answer.error is not None:
        raise answer.error
    return answer.found


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
