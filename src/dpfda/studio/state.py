"""What the studio knows while it runs: its folder, its ledger, plans it has shown, orders and jobs. Nothing of it is
kept when it ends; what counts is on disk, in the ledger and in the releases."""

from __future__ import annotations

import html
import threading
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from dpfda.core.version import VERSION
from dpfda.pages.render import environment
from dpfda.pages.safe import jinja2, markup, text
from dpfda.reading.columns import FileColumns
from dpfda.studio.accounts import Account
from dpfda.studio.folder import Folder
from dpfda.studio.guard import Keys
from dpfda.studio.jobs import Job, Jobs, Order
from dpfda.studio.planner import Planner
from dpfda.studio.tickets import Tickets

if TYPE_CHECKING:
    from dpfda.pages.safe import Markup

TEMPLATES = Path(__file__).parent / "templates"
SCREENS = (("plan", "1 Plan"), ("data", "2 Data"), ("release", "3 Release"), ("results", "4 Results"),
           ("ledger", "Ledger"))  # fmt: skip


@dataclass
class Studio:
    """One running studio."""

    folder: Folder
    account: Account
    keys: Keys
    planner: Planner = field(default_factory=Planner)
    tickets: Tickets[Order, Job] = field(default_factory=Tickets)
    #: Small orders, such as a new ledger: what each did, in words.
    deeds: Tickets[str, str] = field(default_factory=Tickets)
    #: Held while a last word is taken.
    last_word: threading.Lock = field(default_factory=threading.Lock)
    jobs: Jobs = field(init=False)

    def __post_init__(self) -> None:
        self.jobs = Jobs(self.folder)

    @cached_property
    def templates(self) -> jinja2.Environment:
        made = environment(TEMPLATES)
        made.globals |= {"lines": lines, "raw": raw, "pairs": pairs, "paragraphs": str.splitlines, "newline": "\n"}
        return made

    def screen(self, name: str, current: str, carried: str = "", status: int = 200, **facts: object) -> Response:
        """A page, with the head that all have; `carried` is the plan, as the query of an address."""
        study, words = self.account.summary()
        made = self.templates.get_template(f"{name}.html").render(
            base=self.keys.path, current=current, screens=SCREENS, study=study, budget=words, carried=carried,
            version=VERSION, **facts,
        )  # fmt: skip
        return HTMLResponse(made, status)


def lines(words: str) -> Markup:
    """A text of several lines, each of printable signs."""
    return markup("\n".join(map(text, words.split("\n"))))


def raw(words: str) -> Markup:
    """What stands in a field of a form and comes back as it was: escaped, and nothing else."""
    return markup(html.escape(words))


def pairs(columns: FileColumns) -> list[tuple[str, str]]:
    """Columns with their kinds; where they have no names, by their numbers."""
    names = columns.names or [f"column {place + 1}" for place in range(len(columns.kinds))]
    return list(zip(names, columns.kinds, strict=True))


def studio_of(request: Request) -> Studio:
    """The studio that a request came to."""
    found = request.app.state.studio
    assert isinstance(found, Studio)
    return found
