"""The third screen: the last word before a charge, and the page of the job that follows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from fractions import Fraction
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dpfda.core.errors import DpfdaError, ParameterError, shown
from dpfda.ledger import Entry, Ledger
from dpfda.plans import GroupPlan
from dpfda.plans.classes import ClassPlan
from dpfda.reports import budget
from dpfda.studio.accounts import amount
from dpfda.studio.choosing import chosen_in
from dpfda.studio.data_screen import OUTPUT, data_query
from dpfda.studio.fields import to_text
from dpfda.studio.figures import chance_rows
from dpfda.studio.jobs import Job, Order
from dpfda.studio.phrases import for_page
from dpfda.studio.planner import first_of, make_plan
from dpfda.studio.planning_screen import carried_by, said_in
from dpfda.studio.said import AnyPlan
from dpfda.studio.state import Studio, studio_of

#: Fields of a form that is sent: ours have a few.
MOST_FIELDS = 200
#: Seconds in which a job that is cancelled should have stopped.
CANCEL_WAIT = 3.0
NOTHING_DONE = "This page is stale, or was never made here: nothing was done now. Begin again at the data."


def release_screen(request: Request) -> Response:
    """What would be released, from what, for how much: with a fresh ticket."""
    studio, said = studio_of(request), said_in(request)
    carried = carried_by(studio.planner.planned(said))
    if not said.get("file"):
        return studio.screen("release_first", "release", carried, jobs=list(studio.jobs.latest().values())[::-1])
    try:
        order = order_of(studio, said)
        return _confirm(studio, order, studio.tickets.make(order))
    except DpfdaError as error:
        back = f"{studio.keys.path}/data?{data_query(said)}"
        return studio.screen("problem", "release", carried, 422, words=for_page(str(error)), back=back)


def order_of(studio: Studio, said: Mapping[str, str]) -> Order:
    """What an address asks for, checked as far as public facts go."""
    kind, facts, _, plan = make_plan(said)
    found = studio.folder.file(said["file"])
    ledger = studio.account.need()
    chosen = chosen_in(said, kind, facts, found, plan)
    name = said.get("output", "").strip().removesuffix(".json")
    if not OUTPUT.fullmatch(name):
        raise ParameterError(
            "the name of the result is made of letters, digits, spaces, dots, - and _",
            shown(name),
            "Write mean-2026, say.",
        )
    output = studio.folder.root / f"{name}.json"
    if os.path.lexists(output):
        raise ParameterError(
            "a new file is written",
            f"{name}.json, which exists already",
            "See it under Results, or choose another name.",
        )
    ledger.check(plan.epsilon, plan.delta)
    note, operator = (said.get(name, "").strip()[:500] for name in ("note", "operator"))
    Ledger(ledger.path, ledger.name, note, operator)  # refuses what no ledger takes
    return Order(kind, facts, plan, found, chosen, ledger.path, ledger.name, output, note, operator, data_query(said))


def _confirm(studio: Studio, order: Order, ticket: str, words: str = "", status: int = 200) -> Response:
    book = studio.account.need().book()
    before = _before(order, book.entries)
    cost = order.plan.epsilon
    left = studio.account.need().remaining
    planned = studio.planner.planned({"what": order.kind.key, **order.facts})
    return studio.screen(
        "release", "release", carried_by(planned), status, order=order, ticket=ticket, before=before,
        again=bool(before) or studio.jobs.under_way(order.plan.digest),
        noise=_is_noise(studio, order),
        bar=budget.bar(book, planned=cost), cost=amount(cost), left=amount(left), after=amount(left - cost),
        columns=_columns(order), planned=planned, words=words,
        back=f"{studio.keys.path}/data?{order.query}",
        command=order.kind.release_command(order.chosen, order.facts, studio.account.shown, order.output.name),
    )  # fmt: skip


def _is_noise(studio: Studio, order: Order) -> bool:
    """Whether a release will be mostly noise: by the plan alone, or by what is expected to be seen."""
    planned = studio.planner.planned({"what": order.kind.key, **order.facts})
    return "mostly noise" in (order.plan.verdict.word, planned.word)


def _before(order: Order, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Charges of the same plan."""
    return tuple(entry for entry in entries if entry.plan == order.plan.digest)


def _columns(order: Order) -> list[tuple[str, str]]:
    """What is released from which columns, how many there are, who is protected, and what a record can be."""
    rows = [("What", order.kind.title), ("File", order.file.name)]
    for role in order.kind.roles(order.facts):
        names = order.chosen.columns[role.name]
        said = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]} ({len(names)} columns)"
        rows.append((role.label, said))
    rows += [("Column of the groups", order.chosen.by)] if order.chosen.by else []
    rows += [(label, text) for label, text in (("Who", order.operator), ("Note", order.note)) if text]
    return rows + _limits(order)


def _limits(order: Order) -> list[tuple[str, str]]:
    facts, first = order.facts, first_of(order.plan)
    records, record = first.wording.records, first.wording.record
    guess = " (a guess; their number is protected too)" if facts["known"] == "guess" else " (public)"
    sizes = [f"{name} {plan.n:,}" if name else f"{plan.n:,}" for name, plan in order.plan.members.items()]
    many = sizes[:1] if isinstance(order.plan, ClassPlan) else sizes
    rows = [("How many", f"{', '.join(many)} {records}{guess}")]
    rows.append(
        ("Protected", f"all rows of one {record}, by column {facts['person']}")
        if facts.get("protect") == "all"
        else ("Protected", f"one row of the file: a {record} with several rows is protected less")
    )
    if "low" in facts:
        unit = facts.get("value_unit", facts.get("axis_unit", ""))
        low, high = (to_text(facts.number(name, "a limit")) for name in ("low", "high"))
        rows.append(("Bound", f"{low} to {high} {unit}".strip()))
    if "horizon" in facts:
        horizon = to_text(facts.number("horizon", "the horizon"))
        rows.append(("Up to", f"{horizon} {facts['axis_unit']}".strip()))
    if "inputs" in facts:
        inputs = facts.ranges("inputs", "inputs").items()
        rows.append(("Inputs between", ", ".join(f"{name} {to_text(a)}:{to_text(b)}" for name, (a, b) in inputs)))
    return rows + chance_rows(order.plan, first)


def form_of(request: Request) -> dict[str, str]:
    """The fields of a form that was sent."""
    body: bytes = request.scope["state"]["body"]
    try:
        return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        raise ParameterError(f"a form has at most {MOST_FIELDS} fields", "more", "Nothing was done.") from None


def release_now(request: Request) -> Response:
    """The last word: a ticket leads to one job, however often it is sent."""
    studio, form = studio_of(request), form_of(request)
    ticket = form.get("ticket", "")
    with studio.last_word:  # two pages for one plan, or two clicks on one page, speak one after the other
        job, order = studio.tickets.job(ticket), studio.tickets.order(ticket)
        if job is None and order is None:
            return studio.screen("problem", "release", "", 409, words=NOTHING_DONE, back=f"{studio.keys.path}/data")
        if job is None and order is not None:
            if words := _missing(studio, order, form):
                return _confirm(studio, order, ticket, words, 422)
            job = studio.tickets.use(ticket, studio.jobs.start)
    assert job is not None
    return RedirectResponse(f"{studio.keys.path}/job/{job.id}", 303)


def _missing(studio: Studio, order: Order, form: Mapping[str, str]) -> str:
    """What a last word lacks."""
    if form.get("study", "").strip() != order.study:
        return "Type the name of the study, as it stands above. Nothing was charged."
    # First what goes on, then what was charged: a job that ends between the two is in one of them.
    before = studio.jobs.under_way(order.plan.digest) or bool(_before(order, studio.account.need().history()))
    if before and form.get("again") != "yes":
        return (
            "This plan was released before, or is just now. Tick the box if you mean to pay again. Nothing was charged."
        )
    if _is_noise(studio, order) and form.get("anyway") != "yes":
        return "This plan is mostly noise. Tick the box if you mean to release it. Nothing was charged."
    return ""


# -- the job ------------------------------------------------------------------------------------


def job_screen(request: Request, part: bool = False) -> Response:
    studio = studio_of(request)
    job = studio.jobs.find(request.path_params["job"])
    if job is None:
        words = "This job is not known here: the studio was started anew since. The ledger tells what was charged."
        return studio.screen("problem", "release", "", 404, words=words, back=f"{studio.keys.path}/ledger")
    if job.state == "done" and not part:
        return RedirectResponse(f"{studio.keys.path}/results/{_result_id(studio, job)}", 303)
    name = "job_part" if part else "job"
    return studio.screen(name, "release", job=job, words=progress_words(job), share=share(job), jobs_over=job.over)


def job_part(request: Request) -> Response:
    """The part of a job's page that changes."""
    return job_screen(request, part=True)


def _result_id(studio: Studio, job: Job) -> str:
    found = studio.folder.found(job.order.output)
    return "" if found is None else found.id


def job_cancel(request: Request) -> Response:
    """Cancel a job, if it is not charged yet."""
    studio = studio_of(request)
    job = studio.jobs.find(request.path_params["job"])
    if job is not None:
        job.cancel()
        job.done.wait(CANCEL_WAIT)
    return RedirectResponse(f"{studio.keys.path}/job/{request.path_params['job']}", 303)


def progress_words(job: Job) -> str:
    """What a job does, in words."""
    phase = job.phase
    if job.state == "done":
        return f"Done. Charged as entry {job.entry}; the result is written."
    if job.state == "cancelled":
        return "Cancelled. Nothing was charged."
    if job.state == "failed" and job.unsure:
        return f"{job.words} It is not known here whether it was charged: the ledger tells."
    if job.state == "failed":
        return f"{job.words} Nothing was charged."
    if job.state == "lost":
        return (
            f"{job.words} Entry {job.entry} was charged and its result is lost: a charge is never refunded. "
            "The ledger says so."
        )
    if job.entry is not None:
        doing = f" {phase.words}." if phase is not None and phase.name == "reading" else ""
        return f"Charged as entry {job.entry}.{doing} It cannot be cancelled; you may close this page."
    if job.cancelling:
        return "Cancelling: it stops as soon as it can. Nothing is charged."
    if job.state == "waiting":
        return "Waiting until the release before it is done. Nothing is charged yet."
    if phase is None or phase.name == "checking":
        return "Checking. Nothing is charged yet."
    return f"{phase.words}. Nothing is charged yet."


def share(job: Job) -> Fraction | None:
    """How much of the present reading is done, where that is public."""
    phase = job.phase
    if phase is None or phase.name != "reading" or job.over:
        return None
    done, total = phase.bytes, phase.bytes_total
    if phase.rows is not None:  # told only where the number of records is public
        done, total = phase.rows, phase.rows_total or _rows(job.order.plan)
    return Fraction(min(done, total), total) if done is not None and total else None


def _rows(plan: AnyPlan) -> int | None:
    """How many rows the data has, where the plan says it: not where somebody has several."""
    first = first_of(plan)
    if getattr(first, "unit", None):
        return None
    return sum(member.n for member in plan.members.values()) if isinstance(plan, GroupPlan) else first.n
