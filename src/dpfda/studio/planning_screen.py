"""The first screen: how accurate would it be? Nothing here reads data."""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from dpfda.core.errors import DpfdaError
from dpfda.reports.writing import page_of
from dpfda.studio.fields import number_in
from dpfda.studio.kinds import KINDS
from dpfda.studio.kinds.base import EPSILON, GROUPS, KNOWN, NUMBER, RECORD
from dpfda.studio.phrases import for_page
from dpfda.studio.planner import Planned, can_vary, make_plan, reach, seed_in
from dpfda.studio.said import in_shell
from dpfda.studio.state import studio_of

#: What is kept when another kind of release is looked at.
KEPT = {each.name for each in (RECORD, NUMBER, KNOWN, EPSILON, GROUPS)}


def said_in(request: Request) -> dict[str, str]:
    """What an address says; of another kind than the form was for, only what all kinds share."""
    said = dict(request.query_params.multi_items())
    if said.get("was", said.get("what")) != said.get("what"):
        said = {name: text for name, text in said.items() if name in KEPT or name == "what"}
    if said.pop("again", ""):
        said["seed"] = str(seed_in(said) + 1)
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
        "plan", "plan", carried_by(planned), planned=planned, kinds=KINDS, seed=seed_in(said),
        changed=request.query_params.get("was", planned.kind.key) != planned.kind.key, can_vary=can_vary(planned),
        wish=said.get("wish", ""), vary=said.get("vary", "epsilon"), reached=_reached(planned, said),
        download=f"{carried_by(planned)}&", reset=f"{studio.keys.path}/plan?what={planned.kind.key}",
    )  # fmt: skip
    answer.background = BackgroundTask(studio.planner.plan_ahead, said)
    return answer


def plan_part(request: Request) -> Response:
    """The part of the screen that changes while a slider moves."""
    studio, said = studio_of(request), said_in(request)
    planned = studio.planner.planned(said)
    answer = studio.screen(
        "plan_result", "plan", carried_by(planned), planned=planned, download=f"{carried_by(planned)}&",
        seed=seed_in(said),
    )  # fmt: skip
    answer.background = BackgroundTask(studio.planner.plan_ahead, said)
    return answer


def _reached(planned: Planned, said: dict[str, str]) -> tuple[str, str]:
    """What it takes for the band to be as narrow as was asked for, in words; and the plan that does it, as a query."""
    wish, vary = said.get("wish", "").strip(), said.get("vary", "epsilon")
    if not wish or vary not in can_vary(planned):
        return "", ""
    target = number_in(wish)
    if not target > 0:
        return "How narrow the band should be is a number above 0, such as 0.1.", ""
    try:
        found, width = reach({"what": planned.kind.key, **planned.facts}, target, vary)
    except DpfdaError as error:
        return for_page(str(error)), ""
    if not found:
        return f"No {vary} on the scale makes the band that narrow: at its end it is ± {width:.2g}.", ""
    where = f"{carried_by(planned)}&{urlencode({vary: found})}"
    return f"From {vary} {found} on the band is at most ± {target:g}: there it is ± {width:.2g}.", where


def plan_download(request: Request) -> Response:
    """The plan as a file, its report, its command or its Python."""
    what, said = request.path_params["what"], said_in(request)
    _, _, recipe, plan = make_plan(said)
    contents = {
        "plan.json": lambda: plan.to_json(),
        "plan.report.html": lambda: page_of(plan, file="plan.json"),
        "plan.py": lambda: "\n".join(recipe.python()) + "\n",
    }
    if recipe.plans_by_command:
        contents["plan.sh"] = lambda: in_shell(recipe.command()) + "\n"
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
