"""The second screen: which file, which columns. Names and kinds are shown, values never."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from dpfda.core.errors import DpfdaError
from dpfda.studio.choosing import hints, look, suggested
from dpfda.studio.kinds import Kind
from dpfda.studio.phrases import for_page
from dpfda.studio.planning_screen import carried_by, said_in
from dpfda.studio.state import studio_of

OUTPUT = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,80}")


def data_screen(request: Request) -> Response:
    studio, said = studio_of(request), said_in(request)
    planned = studio.planner.planned(said)
    facts: dict[str, Any] = {"planned": planned, "files": studio.folder.files(), "file": None, "columns": None}
    facts |= {
        "said": {**dict.fromkeys(("header", "separator", "decimal", "encoding", "note", "operator"), ""), **said},
        "error": planned.error,
        "roles": (),
        "chosen": {},
        "hints": [],
    }
    if said.get("file") and planned.plan is not None:
        try:
            found = studio.folder.file(said["file"])
            columns = look(found, said)
            roles = planned.kind.roles(planned.facts)
            facts |= {"file": found, "columns": columns, "roles": roles}
            facts["chosen"] = suggested(roles, columns, planned.facts, said)
            facts["hints"] = hints(roles, columns, planned.facts)
            facts["output"] = said.get("output", default_output(planned.kind))
        except DpfdaError as error:
            facts["error"] = for_page(str(error))
    return studio.screen("data", "data", carried_by(planned), **facts)


def default_output(kind: Kind) -> str:
    return f"{kind.key}-{datetime.now(UTC):%Y%m%d-%H%M%S}.json"


def data_query(said: Mapping[str, str]) -> str:
    """The address of the page of the data, with all that was chosen there."""
    return urlencode({name: text for name, text in said.items() if name not in ("was", "seed", "wish", "vary")})
