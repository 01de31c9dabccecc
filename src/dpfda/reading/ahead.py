"""Reading ahead: what comes next is decoded in one thread of its own while what is here is added up.

Items keep their order, few of them wait, and an error is raised where it would have been. However the reading ends, the
thread ends with it, or after one more item: no lock is held in Python, which an interruption (Ctrl-C) could leave
locked for ever.
"""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Generator, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
#: Items that wait, at most, and seconds after which a waiting thread looks whether it is still wanted.
WAITING, LOOKS = 3, 0.1


def ahead(items: Generator[T, None, None]) -> Iterator[T]:
    """The same items, made in a thread of their own."""
    ready, room = queue.SimpleQueue[tuple[str, Any]](), queue.SimpleQueue[None]()
    wanted = True
    for _ in range(WAITING):
        room.put(None)

    def hand_on(kind: str, what: object) -> None:
        while wanted:
            try:
                room.get(timeout=LOOKS)
            except queue.Empty:
                continue
            return ready.put((kind, what))

    def work() -> None:
        try:
            for item in items:
                hand_on("item", item)
                del item  # whoever took it may be done with its memory
                if not wanted:
                    break
        except BaseException as error:  # it is the reader's, who meets it in its turn
            hand_on("error", error)
        else:
            hand_on("end", None)
        finally:
            items.close()

    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), name="dpfda-ahead", daemon=True)
    try:
        try:
            thread.start()
        except RuntimeError:  # no more threads here
            yield from items
            return
        while True:
            kind, what = ready.get()
            room.put(None)
            if kind == "end":
                return
            if kind == "error":
                raise what
            yield what
            del what
    finally:
        wanted = False
        room.put(None)  # nobody waits for room
        if thread.is_alive():
            thread.join()
