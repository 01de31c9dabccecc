"""The studio as an application: which screen lies where, behind the guard."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from dpfda.core.errors import DpfdaError
from dpfda.pages.render import style
from dpfda.studio import data_screen, ledger_screen, planning_screen, release_screen, results_screen
from dpfda.studio.guard import Guard, Members
from dpfda.studio.phrases import for_page
from dpfda.studio.state import Studio, studio_of

log = logging.getLogger("dpfda")
STATIC = Path(__file__).parent / "static"
KINDS = {"studio.js": "text/javascript", "studio.css": "text/css"}


@cache
def _content(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name == "style.css":
        return Response(style(), media_type="text/css")
    if name in KINDS:
        return Response(_content(name), media_type=KINDS[name])
    return PlainTextResponse("There is no such file.\n", 404)


def _home(request: Request) -> Response:
    return RedirectResponse(f"{studio_of(request).keys.path}/plan", 303)


def _our_error(request: Request, error: Exception) -> Response:
    """Only our own errors speak in words: they never hold a value."""
    return studio_of(request).screen(
        "problem", "", "", 422, words=for_page(str(error)), back=f"{studio_of(request).keys.path}/"
    )


def _any_error(request: Request, error: Exception) -> Response:
    """Of any other only the kind is told: its text may quote data."""
    log.warning("a page of the studio stopped with %s", type(error).__name__)
    words = f"This page stopped with an unforeseen {type(error).__name__}. The ledger tells what was charged."
    return studio_of(request).screen("problem", "", "", 500, words=words, back=f"{studio_of(request).keys.path}/")


def _unknown(request: Request, error: Exception) -> Response:
    return studio_of(request).screen(
        "problem", "", "", 404, words="There is no such page here.", back=f"{studio_of(request).keys.path}/"
    )


def application(studio: Studio, port: Callable[[], int]) -> ASGIApp:
    """The guarded application of a studio that listens on a port."""
    routes = [
        Route("/", _home),
        Route("/static/{name}", _static),
        Route("/plan", planning_screen.plan_screen),
        Route("/plan/part", planning_screen.plan_part),
        Route("/plan/{what}", planning_screen.plan_download),
        Route("/data", data_screen.data_screen),
        Route("/release", release_screen.release_screen, methods=["GET"]),
        Route("/release", release_screen.release_now, methods=["POST"]),
        Route("/job/{job}", release_screen.job_screen),
        Route("/job/{job}/part", release_screen.job_part),
        Route("/job/{job}/cancel", release_screen.job_cancel, methods=["POST"]),
        Route("/results", results_screen.results_screen),
        Route("/results/{result}", results_screen.result_screen),
        Route("/results/{result}/{what}", results_screen.result_download),
        Route("/ledger", ledger_screen.ledger_screen),
        Route("/ledger/ledger.csv", ledger_screen.ledger_csv),
        *(
            Route(f"/ledger/{what}", ledger_screen.ledger_change, methods=["POST"], name=what)
            for what in ("create", "backup")
        ),
    ]
    app = Starlette(
        routes=[Mount(studio.keys.path, routes=routes)],
        middleware=[Middleware(Members, keys=studio.keys)],
        exception_handlers={DpfdaError: _our_error, 404: _unknown, 405: _unknown, Exception: _any_error},
    )
    app.state.studio = studio
    return Guard(app, studio.keys, port)
