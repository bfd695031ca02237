"""Said to be one thing and not the other: the other is held, and what was put right is not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from credenda import Credenda
from credenda.testing import ManualClock

Say = Callable[..., None]


def values(mem: Credenda) -> set[str]:
    return {one.value or one.text for one in mem.list(limit=50).items if one.stance != "negated"}


@pytest.mark.parametrize(
    ("before", "told", "wrong", "right"),
    [
        ("My name is Sam.", "My name isn't Sam, it's Pam.", "Sam", "Pam"),
        ("My name is Sam.", "No, my name's not Sam, it is Pam!", "Sam", "Pam"),
        ("My dog is called Rex.", "My dog's name isn't Rex, it's Max.", "Rex", "Max"),
        ("My birthday is on 3 May.", "My birthday isn't on 3 May, it's on 4 May.", "--05-03", "--05-04"),
        ("My favourite colour is blue.", "My favourite colour isn't blue, it's green.", "blue", "green"),
        ("My boss is Anna.", "My boss isn't Anna, it's Tom.", "Anna", "Tom"),
        ("My sister is a doctor.", "My sister isn't a doctor, she's a nurse.", "doctor", "nurse"),
        ("I have two kids.", "I don't have two kids, I have three.", "two kids", "three kids"),
        ("I'm vegan.", "I'm not vegan, just vegetarian.", "vegan", "vegetarian"),
        (
            "My name is Tom Brandvold",
            "actually my name is spelled Brandvoll, not Brandvold",
            "Tom Brandvold",
            "Tom Brandvoll",
        ),
        ("My name is Tom Brandvold", "It's Brandvoll, not Brandvold", "Tom Brandvold", "Tom Brandvoll"),
        (
            "My sister is called Carla Brandvold",
            "My sister's name is Karla, not Carla",
            "Carla Brandvold",
            "Karla Brandvold",
        ),
        ("My boss is Anna Schmidt.", "My boss isn't Anna, it's Tom.", "Anna Schmidt", "Tom"),
    ],
)
def test_the_right_one_takes_the_place_of_the_wrong_one(
    mem: Credenda, say: Say, *, before: str, told: str, wrong: str, right: str
) -> None:
    say(before)
    assert wrong in values(mem)
    say(told)
    assert right in values(mem)
    assert wrong not in values(mem)


@pytest.mark.parametrize(
    ("before", "told", "gone"),
    [
        ("I'm allergic to peanuts.", "I'm over my peanut allergy.", "peanuts"),
        ("I'm allergic to milk.", "I outgrew my milk allergy.", "milk"),
        ("I have a cat.", "We had to put our cat down.", "cat"),
        ("I own a car.", "I sold my car to my brother.", "car"),
    ],
)
def test_what_was_outgrown_lost_or_sold_is_no_longer_so(
    mem: Credenda, say: Say, *, before: str, told: str, gone: str
) -> None:
    say(before)
    assert gone in values(mem)
    say(told)
    assert gone not in values(mem)


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ("I have a dog named Rex.", "My sister's dog died yesterday."),
        ("I have a dog named Rex.", "My neighbour's dog died."),
        ("I'm allergic to peanuts.", "I outgrew my milk allergy."),
        ("My boss is Anna.", "My boss isn't angry, she's just tired."),
        ("I work at Lumen Labs.", "My sister Tess got a job at Bramble, she left Lumen Labs."),
        ("I drink coffee and green tea.", "I don't drink coffee any more."),
        ("I live in Porto.", "My cousin Rui's family moved from Porto to Lisbon."),
    ],
)
def test_what_was_said_of_something_else_ends_nothing(mem: Credenda, say: Say, *, before: str, told: str) -> None:
    say(before)
    said = values(mem)
    say(told)
    assert said <= values(mem)


@pytest.mark.parametrize(
    ("told", "attribute", "value"),
    [
        ("I don't like tea, I love it.", "likes", "tea"),
        ("I don't just like jazz, I love it.", "likes", "jazz"),
        ("I used to hate olives but now I love them.", "likes", "olives"),
        ("It turned out I'm lactose intolerant.", "intolerance", "lactose"),
        ("It turned out that my sister lives in Graz.", "residence", "Graz"),
    ],
)
def test_what_is_more_than_was_denied_is_held(
    mem: Credenda, say: Say, *, told: str, attribute: str, value: str
) -> None:
    say(told)
    (memory,) = mem.list().items
    assert (memory.attribute, memory.value, memory.stance) == (attribute, value, "asserted")


def test_what_was_only_thought_is_denied(mem: Credenda, say: Say) -> None:
    say("I thought I was allergic to cats but I'm not.")
    (memory,) = mem.list().items
    assert (memory.attribute, memory.value, memory.stance) == ("allergy", "cats", "negated")


def test_who_is_engaged_has_a_partner_and_no_spouse(mem: Credenda, say: Say) -> None:
    say("I got engaged to Tom in May.")
    assert {one.attribute: one.value for one in mem.list().items} == {"partner": "Tom", "marital_status": "engaged"}


def test_a_corrected_sentence_gives_the_value_that_is_read_in_the_slot(mem: Credenda, say: Say) -> None:
    """The text of a correction is extracted; a text that says nothing of the slot leaves the memory without a value."""
    say("Ruth is allergic to penicillin.")
    (held,) = mem.list(attribute="allergy").items
    right = mem.correct(held.id, text="Ruth has a sulfa allergy.")
    assert (right.value, right.entity, right.stance) == ("sulfa", "Ruth", "asserted")
    assert [one.id for one in mem.list(attribute="allergy").items] == [right.id]
    loose = mem.correct(right.id, text="Ruth came by on Tuesday.")
    assert (loose.text, loose.value) == ("Ruth came by on Tuesday.", None)


def test_a_correction_of_a_denial_asserts_the_value(mem: Credenda, say: Say) -> None:
    say("I'm not allergic to penicillin.")
    (held,) = mem.list(attribute="allergy").items
    assert held.stance == "negated"
    assert mem.correct(held.id, value="sulfa").stance == "asserted"
    assert "not allergic" not in mem.manage.core().text


@pytest.mark.parametrize(
    ("before", "told", "old", "new"),
    [
        ("I've been vegan since January.", "not vegan anymore, vegetarian. cheese won.", "vegan", "vegetarian"),
        ("I've been vegan since January.", "No longer vegan, vegetarian.", "vegan", "vegetarian"),
        ("I'm vegan.", "I'm not vegan any more, vegetarian.", "vegan", "vegetarian"),
        ("I'm vegan.", "I'm no longer vegan, just vegetarian.", "vegan", "vegetarian"),
        ("My boss is Anna.", "My boss isn't Anna any more, it's Tom.", "Anna", "Tom"),
        ("My boss is Anna.", "My boss is Tom, not Anna anymore.", "Anna", "Tom"),
        ("My boss is Anna.", "My boss is no longer Anna, it's Tom.", "Anna", "Tom"),
        ("My budget is 300 euros.", "My budget is not 300 euros anymore, 400 euros.", "300 euros", "400 euros"),
    ],
)
def test_a_value_that_is_no_longer_true_was_true_until_then(
    mem: Credenda, say: Say, clock: ManualClock, *, before: str, told: str, old: str, new: str
) -> None:
    """ "Not X any more, Y" changes the value from then on: an as-of search before it finds X."""
    say(before)
    (held,) = [one for one in mem.list().items if one.value == old]
    clock.advance(timedelta(days=60))
    say(told)
    assert new in values(mem)
    assert old not in values(mem)
    gone = mem.get(held.id)
    assert (gone.status, gone.relation) == ("superseded", "changed")
    earlier = mem.list(as_of=clock.now() - timedelta(days=30)).items
    assert old in {one.value for one in earlier}
    assert new not in {one.value for one in earlier}


def test_a_value_corrected_to_one_that_is_held_is_confirmed_there(mem: Credenda, say: Say) -> None:
    say("I'm allergic to prawns.", "I'm allergic to peanuts.")
    wrong = next(one for one in mem.list(attribute="allergy").items if one.value == "peanuts")
    right = mem.correct(wrong.id, value="prawns")
    assert [one.id for one in mem.list(attribute="allergy").items] == [right.id]
    old = mem.get(wrong.id)
    assert (old.status, old.relation, old.superseded_by) == ("superseded", "corrected", right.id)
    assert (right.confirmations, len(mem.why(right.id).evidence)) == (1, 2)


def test_the_quotation_of_a_corrected_value_is_what_was_said(mem: Credenda, say: Say) -> None:
    say("I'm allergic to peanuts.")
    right = mem.correct(mem.list(attribute="allergy").items[0].id, value="cashews")
    ((event, start, stop),) = mem.why(right.id).evidence
    (hit,) = mem.search("What am I allergic to?", kinds=["memory"]).hits
    assert right.quote == hit.quote == event.text[start:stop] == "Correction: cashews"
    assert right.statement.startswith("user: allergy: cashews")
