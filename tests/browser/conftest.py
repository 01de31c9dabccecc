"""Fixtures: one browser for all tests, pages that are watched, a study on disk and a studio in it."""

from __future__ import annotations

import contextlib
import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser import ground, invented, walks
from browser.chromium import NOT_FOUND, find_chromium
from browser.studios import Studio

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever lies in this folder is for `make test-browser`."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests; without it they skip."""
    if ground.sync_playwright is None:
        ground.give_up("playwright or axe-playwright-python is not installed: they are in the extra `test`")
    path = find_chromium()
    if path is None:
        ground.give_up(NOT_FOUND)
    ground.expect.set_options(timeout=15_000)
    with ground.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=ground.FLAGS)
        yield started
        started.close()


@pytest.fixture
def watches(browser: Browser) -> Iterator[list[ground.Watch]]:
    """The watch of every context that a test opened. All are checked when it ends, then all contexts are closed."""
    watches: list[ground.Watch] = []
    yield watches
    try:
        for watch in watches:
            watch.check()
    finally:
        for watch in watches:
            watch.context.close()


@pytest.fixture
def new_page(browser: Browser, watches: list[ground.Watch]) -> Callable[..., Page]:
    """Open a page in a context of its own (another person's browser): `new_page(390, "dark", script=False)`.

    A second tab of the same person is `page.context.new_page()`.
    """

    def opened(width: int = 1280, scheme: str = "light", *, script: bool = True) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            java_script_enabled=script,
            locale="en-GB",
            timezone_id="UTC",
            reduced_motion="reduce",
            service_workers="block",
        )
        context.set_default_timeout(15_000)
        watches.append(ground.Watch(context))
        return context.new_page()

    return opened


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A page, 1280 wide and light."""
    return new_page()


@pytest.fixture
def watch(page: Page, watches: list[ground.Watch]) -> ground.Watch:
    """The watch of `page`."""
    return watches[0]


@pytest.fixture(params=ground.LOOKS, ids=lambda look: f"{look[0]}-{look[1]}")
def page_in_each_look(request: pytest.FixtureRequest, new_page: Callable[..., Page]) -> Page:
    """A page, once in each width and colour."""
    return new_page(*request.param)


@pytest.fixture(scope="session")
def _invented(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return invented.write_study(tmp_path_factory.mktemp("invented"))


@pytest.fixture
def study(_invented: Path, tmp_path: Path) -> Path:
    """A folder with the invented files, for this test alone."""
    return Path(shutil.copytree(_invented, tmp_path / "study"))


@pytest.fixture
def start_studio(tmp_path: Path) -> Iterator[Callable[..., Studio]]:
    """Start a studio in a folder: `start_studio(folder, "--ledger", path)`. All are stopped when the test ends."""
    with contextlib.ExitStack() as stack:
        number = itertools.count()

        def start(folder: Path, *options: str | Path, environment: dict[str, str] | None = None) -> Studio:
            started = Studio.start(folder, tmp_path / f"studio-{next(number)}", *options, environment=environment)
            stack.callback(started.stop)
            return started

        yield start


@pytest.fixture
def studio(study: Path, start_studio: Callable[..., Studio]) -> Studio:
    """A studio in `study`."""
    return start_studio(study)


@pytest.fixture(scope="module")
def person(browser: Browser, _invented: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[walks.Person]:
    """Somebody before a studio with a large budget, for all tests of a module that do not disturb one another."""
    place = tmp_path_factory.mktemp("person")
    folder = Path(shutil.copytree(_invented, place / "study"))
    studio = Studio.start(folder, place / "studio")
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(15_000)
    context.set_default_navigation_timeout(60_000)  # the picture of a model takes seconds
    watch = ground.Watch(context)
    page = context.new_page()
    try:
        walks.enter(page, studio)
        walks.make_ledger(page, "100")
        yield walks.Person(page, watch, studio, folder)
    finally:
        context.close()
        studio.stop()
