"""The first screen: how accurate would it be? Nothing here reads data."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from dpfda.core.errors import DpfdaError
from dpfda.reports.writing import page_of
from dpfda.studio.kinds import KINDS
from dpfda.studio.kinds.base import EPSILON, GROUPS, KNOWN, NUMBER, RECORD
from dpfda.studio.planner import Planned, make_plan, reach
from dpfda.studio.said import in_shell
from dpfda.studio.state import studio_of

#: What is kept when another kind of release is looked at.
KEPT = {each.name for each in (RECORD, NUMBER, KNOWN, EPSILON, GROUPS)}


def said_in(request: Request) -> dict[str, str]:
    """What an address says; of another kind than the form was for, only what all kinds share."""
    said = dict(request.query_params.multi_items())
    if said.get("was", said.get("what")) != said.get("what"):
        said = {name: text for name, text in said.items() if name in KEPT or name == "what"}
    if said.pop("again", "") and (seed := said.get("seed", "0")).isdigit() and len(seed) < 9:
        said["seed"] = str(int(seed) + 1)
    return said


def carried_by(planned: Planned) -> str:
    """The plan as the query of the next screens."""
    return f"what={planned.kind.key}&{planned.facts.query()}".rstrip("&")


def kept_in(request: Request) -> str:
    """The plan that an address of another screen carries along."""
    said = said_in(request)
    kind = KINDS.get(said.get("what", ""))
    return "" if kind is None else f"what={kind.key}&{kind.facts(said).query()}".rstrip("&")


def plan_screen(request: Request) -> Response:
    studio, said = studio_of(request), said_in(request)
    planned = studio.planner.planned(said)
    answer = studio.screen(
        "plan", "plan", carried_by(planned), planned=planned, kinds=KINDS, seed=int(_digits(said.get("seed"))),
        wish=said.get("wish", ""), vary=said.get("vary", "epsilon"), reached=_reached(planned, said),
        download=f"{carried_by(planned)}&", reset=f"{studio.keys.path}/plan?what={planned.kind.key}",
    )  # fmt: skip
    answer.background = BackgroundTask(studio.planner.plan_ahead, said)
    return answer


def _digits(text: str | None) -> str:
    return text if text and text.isascii() and text.isdigit() and len(text) < 10 else "0"


def plan_part(request: Request) -> Response:
    """The part of the screen that changes while a slider moves."""
    studio, said = studio_of(request), said_in(request)
    planned = studio.planner.planned(said)
    answer = studio.screen(
        "plan_result", "plan", carried_by(planned), planned=planned, download=f"{carried_by(planned)}&",
        seed=int(_digits(said.get("seed"))),
    )  # fmt: skip
    answer.background = BackgroundTask(studio.planner.plan_ahead, said)
    return answer


def _reached(planned: Planned, said: dict[str, str]) -> str:
    """What it takes for the band to be as narrow as was asked for, in words."""
    wish, vary = said.get("wish", "").strip(), said.get("vary", "epsilon")
    if not wish or planned.plan is None or vary not in ("epsilon", "n"):
        return ""
    try:
        target = float(wish)
        if not 0 < target < float("inf"):
            raise ValueError
        found = reach({"what": planned.kind.key, **planned.facts}, target, vary)
    except ValueError:
        return "How narrow the band should be is a number above 0, such as 0.1."
    except DpfdaError as error:
        return str(error)
    what = "epsilon" if vary == "epsilon" else "n"
    if not found:
        return f"No {what} on the scale makes the band that narrow."
    where = f"{carried_by(planned)}&{urlencode({vary: found})}"
    return f"From {what} {found} on the band is at most ± {target:g}.|{where}"


def plan_download(request: Request) -> Response:
    """The plan as a file, its report, its command or its Python."""
    what, said = request.path_params["what"], said_in(request)
    _, _, recipe, plan = make_plan(said)
    contents = {
        "plan.json": lambda: plan.to_json(),
        "plan.report.html": lambda: page_of(plan, file="plan.json"),
        "plan.sh": lambda: in_shell(recipe.command()) + "\n",
        "plan.py": lambda: "\n".join(recipe.python()) + "\n",
    }
    if what not in contents:
        return PlainTextResponse("There is no such file.\n", 404)
    return attachment(contents[what](), what)


def attachment(content: str | bytes, name: str) -> Response:
    """A file to be kept: never shown as a page of the studio."""
    kinds = {"json": "application/json", "html": "text/html", "csv": "text/csv", "png": "image/png", "pdf":
             "application/pdf", "svg": "image/svg+xml"}  # fmt: skip
    kind = kinds.get(name.rpartition(".")[2], "text/plain")
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)
    return Response(content, media_type=kind, headers={"content-disposition": f'attachment; filename="{plain}"'})
