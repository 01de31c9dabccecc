"""The ledger: its bar, every charge and where its result is; a new one, a check, a backup, a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from dpfda import results
from dpfda.core.errors import DpfdaError
from dpfda.reports import budget
from dpfda.results.columns import plain_cell
from dpfda.studio.accounts import Row, amount
from dpfda.studio.fields import in_python
from dpfda.studio.phrases import for_page
from dpfda.studio.planning_screen import attachment, kept_in
from dpfda.studio.release_screen import NOTHING_DONE, form_of
from dpfda.studio.state import Studio, studio_of

RESULTS = {"here": "result here", "changed": "result was changed", "not found": "charged, result not found here"}
NAMES = ("number", "time", "operator", "query", "note", "epsilon", "delta", "period", "plan", "seal", "result")


def ledger_screen(
    request: Request, words: str = "", status: int = 200, form: Mapping[str, str] | None = None
) -> Response:
    studio = studio_of(request)
    verified = request.query_params.get("check") == "yes" and studio.account.path is not None
    facts: dict[str, Any] = {"rows": [], "bar": None, "said": words, "results": RESULTS, "found": []}
    facts["form"] = {"study": "", "epsilon": "", "period": "", **(form or {})}
    facts["done"] = studio.deeds.job(request.query_params.get("made", "")) or ""
    facts["ticket"] = studio.deeds.make("ledger")
    if studio.account.path is None:
        return studio.screen("ledger", "ledger", kept_in(request), status, ledger=None, **facts)
    try:
        ledger = studio.account.need()
        book = ledger.book()
        rows = studio.account.rows()
        places = [None if row.file is None else studio.folder.found(row.file) for row in rows]
        listed = [(row, "" if file is None else file.id) for row, file in zip(rows, places, strict=True)]
        facts |= {"rows": listed, "bar": budget.bar(book)}
        facts |= {"words": ": ".join(studio.account.summary()), "found": _verified(studio, rows) if verified else []}
        return studio.screen("ledger", "ledger", kept_in(request), status, ledger=ledger, amount=amount, **facts)
    except DpfdaError as error:
        return studio.screen("problem", "ledger", "", 422, words=str(error), back=f"{studio.keys.path}/plan")


def _verified(studio: Studio, rows: list[Row]) -> list[tuple[str, str]]:
    """What a check of the ledger and its results finds, one line each."""
    ledger = studio.account.need()
    found = [("The ledger", "is whole: every seal fits" + ("" if ledger.in_use else ", but it is a copy: adopt it"))]
    for row in rows:
        name = f"Entry {row.entry.number}"
        if row.file is None:
            found.append((name, RESULTS[row.result]))
            continue
        try:
            finding = ledger.examine([results.load(row.file)])[0]
            found.append((name, finding.problem or RESULTS[row.result]))
        except DpfdaError as error:
            found.append((name, str(error)))
    return found


def ledger_change(request: Request) -> Response:
    """Make a ledger, or a backup of it: once for each page."""
    studio, form = studio_of(request), form_of(request)
    ticket = form.get("ticket", "")
    if studio.deeds.order(ticket) is None:
        return studio.screen("problem", "ledger", "", 409, words=NOTHING_DONE, back=f"{studio.keys.path}/ledger")
    try:
        studio.deeds.use(ticket, lambda _: _change(studio, request.url.path.rpartition("/")[2], form))
    except DpfdaError as error:
        return ledger_screen(request, for_page(str(error)), 422, form)
    kept, made = kept_in(request), studio.deeds.job(ticket)
    said = f"made={ticket}" if made else ""
    return RedirectResponse(f"{studio.keys.path}/ledger?{'&'.join(filter(None, (kept, said)))}", 303)


def _change(studio: Studio, what: str, form: Mapping[str, str]) -> str:
    if what == "create":
        epsilon = in_python(form.get("epsilon", ""))
        studio.account.create(form.get("study", "").strip(), epsilon, form.get("period", ""))
        return "The ledger is made."
    place = studio.folder.root / f"study-{datetime.now(UTC):%Y%m%d-%H%M%S}.backup"
    studio.account.need().backup(place)
    return f"The ledger is backed up as {place.name}. A backup refuses charges until it is adopted."


def ledger_csv(request: Request) -> Response:
    """Every charge as a table."""
    studio, text = studio_of(request), io.StringIO()
    writer = csv.writer(text)
    writer.writerow(NAMES)
    for row in reversed(studio.account.rows()):
        entry = row.entry
        cells = (
            str(entry.number), entry.time, entry.operator, entry.query, entry.note, str(entry.epsilon),
            str(entry.delta), entry.period, entry.plan, entry.seal, RESULTS[row.result],
        )  # fmt: skip
        writer.writerow([plain_cell(cell) for cell in cells])
    return attachment(text.getvalue(), "ledger.csv")
