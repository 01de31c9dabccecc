"""Whatever stands in an address is a text: it is read here, or refused by the name of its field."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

from dpfda.studio.fields import LONGEST, Facts, Field, Fieldset, WrongField, in_python, ladder

FORM = (Fieldset("One", (Field("n", "N", "whole", "10"), Field("text", "Text"), Field("groups", "Groups", "lines"))),)


def facts(**said: str) -> Facts:
    return Facts.of(said, FORM)


def test_what_was_not_said_is_the_default_and_does_not_stand_in_the_address():
    found = facts(text=" a b&c ")
    assert dict(found) == {"n": "10", "text": "a b&c", "groups": ""}
    assert found.query() == "text=a+b%26c"
    assert found.query(n="7") == "text=a+b%26c&n=7"
    assert facts(n="10").query() == ""


def test_an_emptied_field_is_empty_and_stays_so():
    assert facts(n="")["n"] == ""
    assert facts(n="").query() == "n="


def test_what_no_field_asks_for_is_left_out():
    assert dict(facts(other="x")) == dict(facts())


def test_what_is_far_too_long_is_refused_and_not_left_out():
    with pytest.raises(WrongField, match="up to 20,000 characters, got 20,001"):
        facts(text="x" * (LONGEST + 1))


@pytest.mark.parametrize("text", ["", "many", "1.5", "-3", "²", "１２", "1" * 13, "1", "0x10", "1e3"])
def test_a_whole_number_is_one(text):
    with pytest.raises(WrongField, match="whole number of at least 2") as told:
        facts(n=text).whole("n", "the number", 2)
    assert told.value.name == "n"


@pytest.mark.parametrize(("text", "number"), [("1000", 1000), ("1,000", 1000), ("12 000", 12000)])
def test_a_whole_number_may_be_written_as_people_do(text, number):
    assert facts(n=text).whole("n", "the number") == number


@pytest.mark.parametrize("text", ["1,5", "1,00", "10,00,000", "1.000", "0,100"])
def test_a_whole_number_with_decimals_or_odd_commas_is_none(text):
    with pytest.raises(WrongField, match="whole number"):
        facts(n=text).whole("n", "the number")


@pytest.mark.parametrize(
    ("text", "number"),
    [("0,8", 0.8), ("-1,5", -1.5), ("0,125", 0.125), ("1 000", 1000), ("-1 000,5", -1000.5), ("1,234,567", 1234567),
     ("1,234.5", 1234.5), ("12,3456", 12.3456), ("1e3", 1000)],
)  # fmt: skip
def test_a_number_may_be_written_as_people_do(text, number):
    assert facts(text=text).number("text", "it") == number
    assert facts(text=text).decimal("text") == in_python(text)
    assert float(in_python(text)) == number


@pytest.mark.parametrize("text", ["1,000", "-12,345", "999,999"])
def test_what_may_be_a_thousand_or_one_is_asked_about(text):
    with pytest.raises(WrongField, match=f"Write {text.replace(',', '')} or {text.replace(',', '.')}, whichever"):
        facts(text=text).number("text", "it")
    with pytest.raises(WrongField, match="above 0"):
        facts(text=text).amount("text", "epsilon")


@pytest.mark.parametrize("text", ["", "nan", "inf", "-inf", "1e400", "a", "1,5,0", "1,", "1.234,5"])
def test_a_number_is_finite(text):
    with pytest.raises(WrongField, match="is a number"):
        facts(text=text).number("text", "it")


@pytest.mark.parametrize("text", ["", "0", "-1", "nan", "inf", "1/0", "a", "1" * 41])
def test_an_amount_is_above_zero(text):
    with pytest.raises(WrongField, match="above 0"):
        facts(text=text).amount("text", "epsilon")


@pytest.mark.parametrize(("text", "value"), [("0.1", Fraction(1, 10)), ("1/3", Fraction(1, 3)), ("2", Fraction(2))])
def test_an_amount_is_exact(text, value):
    assert facts(text=text).amount("text", "epsilon") == value


@pytest.mark.parametrize(
    "text", ["north", "north=", "=5", "north=many", "a=1\na=2", "a=²\nb=3", "a=1", f"a={'9' * 9000}"]
)
def test_groups_are_names_with_numbers_each_once(text):
    with pytest.raises(WrongField) as told:
        facts(groups=text).sizes("groups")
    assert told.value.name == "groups"


def test_groups_keep_their_order_and_names_that_hold_signs():
    assert facts(groups="b=2\n\n a = b =3, c=4 ").sizes("groups") == {"b": 2, "a = b": 3, "c": 4}
    assert facts().sizes("groups") == {}


@pytest.mark.parametrize(
    "text", ["", "age", "age 0", "0:110", "age 0-110", "age a:b", "age nan:1", "age 0:inf", "age 1:0"]
)
def test_ranges_are_named(text):
    with pytest.raises(WrongField):
        facts(groups=text).ranges("groups", "inputs")


def test_ranges_may_have_names_of_several_words():
    assert facts(groups="age now 0:110\n\nx -1:1").ranges("groups", "inputs") == {"age now": (0, 110), "x": (-1, 1)}


@pytest.mark.parametrize("text", ["", "1", "1 a", "1 nan", "1 inf"])
def test_a_curve_has_two_numbers_or_more(text):
    with pytest.raises(WrongField, match="at least two of them"):
        facts(groups=text).numbers("groups", "of them")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("1, 2;3\n4  5e-1", [1, 2, 3, 4, 0.5]), ("0,5 0,7", [0.5, 0.7]), ("0,5;1;0,7", [0.5, 1, 0.7]), ("5,25", [5, 25]),
     ("0.2,0.5 0.3", [0.2, 0.5, 0.3]), ("1,2,3 4,5,6", [1, 2, 3, 4, 5, 6])],
)  # fmt: skip
def test_a_curve_is_read_however_people_separate_numbers(text, numbers):
    assert facts(groups=text).numbers("groups", "of them").tolist() == numbers


@pytest.mark.parametrize("text", ["0,2, 0,5", "1,000 2,000", "1,2 3,4,5", "1, 2,3"])
def test_a_curve_whose_commas_may_be_either_is_refused(text):
    with pytest.raises(WrongField, match="at least two of them"):
        facts(groups=text).numbers("groups", "of them")


def test_ranges_take_decimal_commas():
    assert facts(groups="dose 0:0,5").ranges("groups", "inputs") == {"dose": (0, 0.5)}
    with pytest.raises(WrongField, match="low:high"):
        facts(groups="dose 0:1,000").ranges("groups", "inputs")


def test_a_choice_is_one_of_them():
    with pytest.raises(WrongField, match="a, b") as told:
        facts(text="c").choice("text", ("a", "b"))
    assert told.value.name == "text"


def test_a_wrong_field_keeps_its_name_through_a_pickle():
    error = WrongField("n", "rule", "given", "cure")
    again = pickle.loads(pickle.dumps(error))
    assert (again.name, str(again)) == ("n", str(error))


def test_a_ladder_stays_between_its_ends():
    assert ladder(50, 1_000_000)[0] == "50"
    assert ladder(50, 1_000_000)[-1] == "1000000"


def test_no_more_groups_than_a_page_can_plan():
    with pytest.raises(WrongField, match="up to 24 groups, got 25"):
        facts(groups="\n".join(f"g{i}=50" for i in range(25))).sizes("groups")
