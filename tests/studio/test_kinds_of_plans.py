"""Kinds of releases in process: every fact in every form gives a plan or says what is wrong; three forms of one plan
agree."""

from __future__ import annotations

import shlex

import pytest
from browser.walks import WALKS
from typer.testing import CliRunner

import dpfda as dp
from dpfda.cli.app import app
from dpfda.studio.kinds import KINDS
from dpfda.studio.planner import Planner, make_plan
from dpfda.studio.said import Said, in_shell

pytestmark = pytest.mark.long  # many screens, by a real server

#: What people and others may write into a field.
TEXTS = ("", "nan", "-1", "1e400", "²", "9" * 30, "a", "\x00", "a=²\nb=3", "x 0:nan", "x 1:0", "<b>")
NAMES = ("", "\x00", "<b>")
FIELDS = [
    (what, field.name) for what, kind in KINDS.items() for part in kind.fieldsets for field in part.fields
]  # fmt: skip


def words_of(command: list[str]) -> list[str]:
    """A command as a shell gives it to a process."""
    return shlex.split(in_shell(command))[1:]


@pytest.fixture(scope="module")
def planner():
    found = Planner()
    yield found
    found.stop()


@pytest.mark.parametrize("what", KINDS)
def test_the_first_plan_of_every_kind_is_worth_showing(planner, what):
    planned = planner.planned({"what": what})
    assert planned.error == ""
    assert planned.word in ("clear", "coarse")
    assert planned.plan is not None
    assert planned.pictures or what == "radius"
    assert ("Plan", planned.plan.digest[:12]) in planned.rows


@pytest.mark.parametrize(("what", "name"), FIELDS, ids=[f"{what}-{name}" for what, name in FIELDS])
def test_whatever_is_written_into_a_field_is_a_plan_or_an_error_in_words(what, name):
    field = next(each for part in KINDS[what].fieldsets for each in part.fields if each.name == name)
    asked = {} if field.when is None else {field.when[0]: field.when[1][0]}
    errors: list[str] = []
    for text in NAMES if field.kind == "text" and name != "level" else TEXTS:
        try:
            _, _, recipe, plan = make_plan({"what": what, **asked, name: text})
        except dp.DpfdaError as error:
            errors.append(str(error))
            continue
        assert plan.digest
        assert recipe.command()
    assert all(len(error) < 1000 for error in errors)


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.name.replace(" ", "-"))
def test_the_python_of_a_plan_makes_the_same_plan(walk):
    _, _, recipe, plan = make_plan({"what": walk.what, **walk.facts})
    names: dict[str, object] = {}
    exec("\n".join(recipe.python()), names)
    assert names["plan"].digest == plan.digest


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.name.replace(" ", "-"))
def test_the_command_of_a_plan_makes_the_same_plan(walk, tmp_path):
    _, _, recipe, plan = make_plan({"what": walk.what, **walk.facts})
    words = shlex.split(in_shell(recipe.command()))[1:]
    if words[0] != "plan":
        pytest.skip("this command needs data: tests/browser/test_kinds.py runs it")
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "plan.json")])
    assert done.exit_code == 0, done.output
    assert type(plan).from_json((tmp_path / "plan.json").read_text()).digest == plan.digest


@pytest.mark.parametrize("text", ["it's", "$(rm x)", "-1", "--epsilon", "`x`", 'a"b', "a;b", "\\"])
def test_hostile_words_are_one_word_of_a_shell_and_one_text_in_python(text):
    said = {"what": "mean", "value": text, "value_unit": "", "record": "home"}
    _, _, recipe, plan = make_plan(said)
    names: dict[str, object] = {}
    exec("\n".join(recipe.python()), names)
    assert names["plan"].value == plan.value
    words = shlex.split(in_shell(recipe.command()))
    assert any(word in (text, f"--value={text}") for word in words)


def test_a_value_like_an_option_is_joined_to_its_own():
    assert in_shell(["plan", "--range", "-1:2"]) == "dpfda plan --range=-1:2"


def test_a_fact_without_its_own_spelling_is_written_as_python_writes_it():
    assert Said("n", 3).text == "3"
    assert Said("n", 3, "three").text == "three"


@pytest.mark.parametrize("text", ["two\nlines", "\u202e", "\x00", "x" * 200])
def test_words_that_cannot_be_printed_are_told(text):
    with pytest.raises(dp.DpfdaError, match="printable"):
        make_plan({"what": "mean", "value": text})


def test_a_guess_that_is_the_middle_of_the_bound_is_shown(planner):
    planned = planner.planned({"what": "mean", "least": "1", "most": "1"})
    assert planned.error == ""
    assert planned.word == "mostly noise"  # there is nothing to see


@pytest.mark.parametrize(
    ("said", "field", "words"),
    [({"high": "0.9"}, "most", "between 0 and 0.9"), ({"low": "40", "high": "400"}, "least", "between 40 and 400"),
     ({"most": "0.1"}, "most", "not below the lowest"), ({"least": ""}, "least", "is a number"),
     ({"shape": "own", "curve": "0 1 3"}, "curve", "between 0 and 2")],
)  # fmt: skip
def test_a_guess_that_values_cannot_have_is_refused_where_it_stands(planner, said, field, words):
    planned = planner.planned({"what": "mean", **said})
    assert planned.wrong == field
    assert words in planned.error


def test_a_wider_bound_is_a_worse_verdict(planner):
    errors = [planner.planned({"what": "mean", "high": high}).rows[0][1] for high in ("2", "6", "20")]
    assert float(errors[0].split()[0]) < float(errors[1].split()[0]) < float(errors[2].split()[0])
    assert planner.planned({"what": "mean", "high": "20"}).word != "clear"


def test_word_and_cure_are_of_one_piece(planner):
    for epsilon in ("0.1", "0.15", "0.2", "0.3", "0.5"):
        planned = planner.planned({"what": "mean", "epsilon": epsilon, "high": "3"})
        better = {"mostly noise": "Coarse from", "coarse": "Clear from", "clear": ""}[planned.word]
        assert better in planned.sentences[-1], planned.sentences


def test_names_beside_the_plan_do_not_change_its_digest():
    one = make_plan({"what": "mean"})[3]
    other = make_plan({"what": "mean", "record": "home", "value": "heat", "value_unit": "J"})[3]
    assert one.digest == other.digest
