"""Every kind of release through the page: from the plan to the ledger, with real files, and the same elsewhere."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

import dpfda as dp
from browser import walks
from browser.ground import Watch, expect
from browser.walks import KINDS, WALKS, Person, Walk


def name_of(walk: Walk) -> str:
    return walk.name.replace(" ", "-")


of_kinds = pytest.mark.parametrize("walked", KINDS, indirect=True, ids=name_of)
#: Walks whose screens on the way differ most.
SEVERAL = [walk for walk in KINDS if walk.name in ("mean by groups", "density of two numbers", "regression")]


@dataclass
class Walked:
    """A walk that was made, with the addresses of its screens."""

    walk: Walk
    page: object
    watch: Watch
    folder: Path
    shown: str
    output: Path
    entries: tuple
    plan: str
    columns: str
    confirm: str
    result: str

    @property
    def release(self):
        return dp.load(self.output)

    def get(self, address: str) -> bytes:
        return self.page.context.request.get(address).body()


@pytest.fixture(scope="module")
def made() -> dict[str, Walked]:
    """Walks that were made, by their names."""
    return {}


@pytest.fixture(params=WALKS, ids=name_of)
def walked(request: pytest.FixtureRequest, person: Person, made: dict[str, Walked]) -> Walked:
    """The whole walk, once; tests look at what it left."""
    if request.param.name not in made:
        made[request.param.name] = whole_walk(person, request.param)
    return made[request.param.name]


def whole_walk(person: Person, walk: Walk) -> Walked:
    page = person.page
    before = person.charges
    output = walk.name.replace(" ", "-")
    shown = walks.plan(page, walk)
    plan = page.url
    walks.choose(page, walk)
    columns = page.url
    walks.confirm(page, output)
    confirm = page.url
    walks.say_it(page)
    walks.button(page).click()
    walks.wait_for_result(page)
    person.watch.check()
    path = person.folder / f"{output}.json"
    entries = tuple(person.ledger.history()[before:])
    return Walked(walk, page, person.watch, person.folder, shown, path, entries, plan, columns, confirm, page.url)


def test_the_result_is_written_for_its_owner_and_is_the_plan_that_was_shown(walked):
    assert len(walked.shown) >= 8
    assert walked.release.plan.digest.startswith(walked.shown)
    assert stat.S_IMODE(walked.output.stat().st_mode) == 0o600


def test_the_ledger_has_one_charge_and_knows_its_result(walked):
    (entry,) = walked.entries
    assert entry.plan.startswith(walked.shown)
    assert float(entry.epsilon) == float(walked.walk.facts.get("epsilon", 1))
    ledger = dp.Ledger(walked.folder / "study.ledger")
    (output,) = [each for each in ledger.book().outputs if each.charge == entry.number]
    assert (ledger.path.parent / output.file).resolve() == walked.output
    assert not ledger.examine([walked.release])[0].problem


def test_the_page_of_the_result_has_picture_table_and_statement(walked):
    page = walked.page
    page.goto(walked.result)
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    if walked.walk.what != "radius":
        expect(page.locator("main svg[role=img]").first).to_be_visible()
    assert page.locator("main table tbody tr").count() >= 2
    told = " ".join((page.locator("main").text_content() or "").split())
    for paragraph in walked.release.statement.splitlines():
        assert " ".join(paragraph.split()) in told
    walked.watch.check()


def test_the_result_is_found_again_from_results_and_ledger(walked):
    page = walked.page
    for screen, link in (("Results", walked.output.name), ("Ledger", "result here")):
        walks.go(page, screen)
        row = page.get_by_role("row").filter(has_text=link)
        if screen == "Ledger":
            row = row.filter(has=page.get_by_role("rowheader", name=f"{walked.entries[0].number}", exact=True))
        row.get_by_role("link").click()
        page.wait_for_url(walked.result)
    walked.watch.check()


def test_every_file_of_the_result_is_given(walked):
    page = walked.page
    page.goto(walked.result)
    links = [each.get_attribute("href") for each in page.locator("main .buttons a").all()]
    assert {"report.html", "json", "plan.json"} <= {link.rpartition("/")[2] for link in links}
    for link in links:
        answer = page.context.request.get(f"{walks.base(page).rpartition('/')[0]}{link}", timeout=60_000)
        assert answer.ok, link
        assert answer.headers["content-disposition"].startswith("attachment")
        assert len(answer.body()) > 50, link
    given = page.context.request.get(f"{walked.result}/json").body()
    assert given == walked.output.read_bytes()


@of_kinds
def test_the_page_of_the_result_is_sound_in_each_look(walked):
    walked.page.goto(walked.result)
    walks.sound(walked.page)
    walked.watch.check()


@pytest.mark.parametrize("walked", SEVERAL, indirect=True, ids=name_of)
@pytest.mark.parametrize("screen", ["plan", "columns", "confirm"])
def test_screens_on_the_way_are_sound_in_each_look(walked, screen):
    address = getattr(walked, screen)
    if screen == "confirm":  # for another file: this one is there now
        address = with_output(address, "another")
    walked.page.goto(address)
    walks.sound(walked.page)
    walked.watch.check()


def with_output(address: str, output: str) -> str:
    parts = urlsplit(address)
    return parts._replace(query=urlencode({**dict(parse_qsl(parts.query)), "output": output})).geturl()


# -- the same elsewhere ------------------------------------------------------------------------------


def run(words: list[str], folder: Path) -> str:
    """What a process prints; its sources are those of these tests."""
    sources = os.pathsep.join([str(Path(dp.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        words, cwd=folder, env={**os.environ, "PYTHONPATH": sources}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def command(text: str) -> list[str]:
    """A line of shell as words of a process."""
    first, *words = shlex.split(text)
    assert first == "dpfda"
    return [sys.executable, "-m", "dpfda", *words]


def download(walked: Walked, name: str) -> str:
    """A file that the plan screen offers."""
    walked.page.goto(walked.plan)
    link = walked.page.locator(f"a[href*='/plan/{name}']").get_attribute("href")
    return walked.get(f"{walks.base(walked.page).rpartition('/')[0]}{link}").decode()


def commands_of(walked: Walked) -> tuple[str, str]:
    """Command and Python of the page of the result, as they stand there."""
    walked.page.goto(walked.result)
    walked.page.locator("details", has_text="Python and command").evaluate("each => { each.open = true }")

    def block(head: str) -> str:
        return walked.page.locator("h3", has_text=head).locator("xpath=following-sibling::pre[1]").inner_text()

    return block("with the command"), block("Make such a release in Python")


def elsewhere(walked: Walked, tmp_path: Path) -> Path:
    """A folder with the same file and a ledger of its own."""
    place = tmp_path / walked.walk.file  # named as the folder sees it
    place.parent.mkdir(exist_ok=True)
    shutil.copy(walked.folder / walked.walk.file, place)
    dp.Ledger.create(tmp_path / "study.ledger", epsilon=10, study="elsewhere")
    return tmp_path


@of_kinds
def test_the_file_of_the_plan_screen_is_the_same_plan(walked):
    plan = walked.release.plan
    assert type(plan).from_json(download(walked, "plan.json")).digest == plan.digest


@of_kinds
def test_the_command_of_the_plan_screen_makes_the_same_plan(walked, tmp_path):
    walked.page.goto(walked.plan)
    if walked.walk.what in ("regression", "model", "classes"):  # planned by the command that releases them, run below
        expect(walked.page.locator("a[href*='/plan/plan.sh']")).to_have_count(0)
        return
    words = command(download(walked, "plan.sh").strip())
    if words[3] == "plan":
        run([*words, "--out", "plan.json"], tmp_path)
        digest = type(walked.release.plan).from_json((tmp_path / "plan.json").read_text()).digest
        assert digest == walked.release.plan.digest
    else:  # of a radius: the command of the result, which is run below, says the same and where the data is
        shell, _ = commands_of(walked)
        assert set(words) - {"FILE", "--dry-run"} <= set(command(shell.strip()))


def test_the_command_of_the_result_releases_the_same_plan(walked, tmp_path):
    folder = elsewhere(walked, tmp_path)
    shell, _ = commands_of(walked)
    for line in shell.strip().splitlines():
        run(command(line), folder)
    assert dp.load(folder / walked.output.name).plan.digest == walked.release.plan.digest


def test_python_of_the_plan_and_of_the_result_make_the_same_plan(walked, tmp_path):
    folder = elsewhere(walked, tmp_path)
    _, python = commands_of(walked)
    if walked.walk.what != "classes":  # whose labels an estimator reads
        assert python.startswith(download(walked, "plan.py").strip())
    (folder / "release.py").write_text(python)
    run([sys.executable, "release.py"], folder)
    assert dp.load(folder / walked.output.name).plan.digest == walked.release.plan.digest
