"""The fourth screen: what was released, with its picture, its words and its files."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from dpfda import results
from dpfda.core.errors import DpfdaError, FileError, LedgerError
from dpfda.core.files import digest_of, read_head
from dpfda.ledger import Ledger
from dpfda.reports.sections import sections
from dpfda.reports.writing import page_of, subtitle, title
from dpfda.results import plots
from dpfda.results.radius import RadiusRelease
from dpfda.results.saved import DAMAGE, Saved
from dpfda.studio.folder import MOST_FILES, Found
from dpfda.studio.jobs import Job
from dpfda.studio.planning_screen import attachment, kept_in
from dpfda.studio.state import Studio, studio_of

#: Kinds of saved files that can be shown.
SAVED = ("release", "releases", "radius", "difference")
#: Every point of a curve that the page plans; of a surface a table that people can read: all of it is in the CSV.
ROWS = 2000
PICTURES = ("png", "svg", "pdf")
#: Bytes of a release that the page shows.
LARGEST = 1 << 26
#: Bytes of a file by which it is told what it is.
HEAD = 200
KIND = re.compile(r'\s*\{\s*"dpfda":\s*"(\w+)"')


@dataclass(frozen=True)
class Listed:
    """A saved release of the folder."""

    file: Found
    charge: str


def results_screen(request: Request) -> Response:
    studio = studio_of(request)
    charged: dict[str, str] = {}
    words = ""
    try:
        if studio.account.path is not None:
            rows = studio.account.rows()
            charged = {str(row.file): f"entry {row.entry.number}, {row.result}" for row in rows if row.file}
    except DpfdaError as error:
        words = str(error)
    files = islice(filter(_saved, studio.folder.saved()), MOST_FILES)
    listed = [Listed(file, charged.get(str(file.place), "")) for file in files]
    return studio.screen("results", "results", kept_in(request), listed=listed, words=words, most=MOST_FILES)


def _saved(file: Found) -> bool:
    try:
        told = KIND.match(read_head(file.place, "release", HEAD).decode("utf-8", "replace"))
    except DpfdaError:
        return False
    return told is not None and told[1] in SAVED


def _loaded(studio: Studio, id: str) -> tuple[Found, Saved, Ledger | None]:
    """A saved release, and the ledger if that is the one it was charged to."""
    file = studio.folder.file(id)
    if not file.name.endswith(".json"):
        raise FileError("This is no release. Choose one on the page of results.")
    if file.place.stat().st_size > LARGEST:
        raise FileError(f"This file is larger than the {LARGEST >> 20} MB that the page shows. Use dpfda show.")
    release = results.load(file.place)
    ledger = studio.account.ledger()
    return file, release, ledger if ledger is not None and ledger.name == release.study else None


def result_screen(request: Request) -> Response:
    studio = studio_of(request)
    try:
        file, release, ledger = _loaded(studio, request.path_params["result"])
        problem, digest = "", digest_of(file.place)
        try:
            found = sections(release, ledger, file=file.name, digest=digest, rows=ROWS)
        except LedgerError as error:
            problem, found = str(error), sections(release, None, file=file.name, rows=ROWS)
        except DAMAGE:  # numbers that no release has
            raise FileError(f"{file.name}: what it holds cannot be shown. It was edited, or is damaged.") from None
    except DpfdaError as error:
        return studio.screen("problem", "results", "", 404, words=str(error), back=f"{studio.keys.path}/results")
    jobs = [job for job in studio.jobs.latest().values() if job.order.output == file.place and job.state == "done"]
    made = _made(studio, jobs[-1]) if jobs else None
    return studio.screen(
        "result", "results", kept_in(request), file=file, title=title(release), subtitle=subtitle(release),
        sections=found, downloads=list(_downloads(release)), made=made, python=_python(file.place.name),
        problem=problem, cautions=jobs[-1].cautions if jobs else [], statement=release.statement,
    )  # fmt: skip


def _made(studio: Studio, job: Job) -> dict[str, str]:
    """How the same release is made elsewhere."""
    order = job.order
    arguments = (order.chosen, order.facts, studio.account.shown, order.output.name)
    return {
        "command": "\n".join(order.kind.release_command(*arguments)),
        "python": "\n".join(order.kind.release_python(*arguments)),
    }


def _python(name: str) -> str:
    return f"import dpfda as dp\n\nrelease = dp.load({name!r})\nrelease.plot()\nprint(release.statement)"


def _downloads(release: Saved) -> dict[str, Callable[[], str | bytes]]:
    """The files that a release gives, by their endings."""
    found: dict[str, Callable[[], str | bytes]] = {
        "json": lambda: release.to_json(),
        "statement.txt": lambda: f"{release.statement}\n",
        "methods.txt": lambda: f"{release.methods_text()}\n",
        "plan.json": lambda: release.plan.to_json(),
    }
    if isinstance(release, RadiusRelease):
        return found
    found["csv"] = lambda: release.to_csv()
    if getattr(release, "dimension", 1) < 3:
        found |= {ending: _picture(release, ending) for ending in PICTURES}
    return found


def _picture(release: Saved, ending: str) -> Callable[[], bytes]:
    assert not isinstance(release, RadiusRelease)
    return lambda: plots.picture(release.plot(), f".{ending}")


def result_download(request: Request) -> Response:
    """One file of a release."""
    studio, what = studio_of(request), request.path_params["what"]
    try:
        file, release, ledger = _loaded(studio, request.path_params["result"])
    except DpfdaError as error:
        return PlainTextResponse(f"{error}\n", 404)
    stem = file.place.name.removesuffix(".json")
    if what == "report.html":
        try:
            page = page_of(release, ledger, file.place.name, digest_of(file.place))
        except LedgerError:  # as on the page of the result, which says why
            page = page_of(release, None, file.place.name)
        return attachment(page, f"{stem}.report.html")
    contents = _downloads(release)
    if what not in contents:
        return PlainTextResponse("There is no such file.\n", 404)
    try:
        return attachment(contents[what](), f"{stem}.{what}")
    except DAMAGE:
        return PlainTextResponse("This cannot be made: the file was edited, or is damaged.\n", 422)
