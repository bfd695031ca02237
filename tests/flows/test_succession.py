"""A sentence that tells of a change without naming the slot: it takes the place of the one memory it is about."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda
from credenda.model.memory import Memory

Say = Callable[..., None]


def texts(mem: Credenda, status: str = "active") -> set[str]:
    return {one.text for one in mem.list(status=status, limit=50).items}


def replaced(mem: Credenda) -> Memory:
    (one,) = mem.list(status="superseded").items
    return one


@pytest.mark.requirement("R-077", "R-082")
@pytest.mark.parametrize(
    ("said", "value"),
    [
        (("I go to the gym on Tuesdays.", "My gym day is Thursday now."), "Thursday"),
        (("Our staging server is called hobbit.", "Staging was renamed to gandalf."), "gandalf"),
        (("The deadline for the grant is 1 May.", "They extended the grant deadline to 15 May."), "2026-05-15"),
        (("My email is jo@oldmail.com.", "Please use jo@newmail.org from now on."), "jo@newmail.org"),
        (("I'm studying architecture.", "I changed majors, it's urban planning now."), "urban planning"),
        (("I prefer window seats.", "These days I'd rather have the aisle."), "aisle"),
        (("My password manager is LastPass.", "Dumped LastPass, everything is in Bitwarden."), "Bitwarden"),
        (("I pay 30 euros for the gym.", "The gym costs me 35 now."), "35"),
        (("I live with my parents.", "I've got my own place now."), "own place"),
        (("I have a meeting with Ana at 3.", "The meeting with Ana is at 4, not 3."), "4"),
        (("My cousin's name is Stephen.", "I wrote it wrong, my cousin is Stefan."), "Stefan"),
    ],
)
def test_another_slot_or_none_takes_the_place(mem: Credenda, say: Say, said: tuple[str, str], value: str) -> None:
    say(*said)
    assert texts(mem, "superseded") == {said[0]}
    assert any(value in f"{one.value} {one.text}" for one in mem.list().items)


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize("since", ["as of this week", "since Monday", "since January"])
def test_what_has_been_so_for_a_while_is_the_newer_belief(mem: Credenda, say: Say, since: str) -> None:
    say("Our docs are built with Sphinx.", f"Our docs are built with Hugo {since}.")
    assert {one.value for one in mem.list().items} == {"Hugo"}
    assert replaced(mem).value == "Sphinx"


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize(
    ("said", "value"),
    [
        (
            (
                "I'm signed up for the pottery course.",
                "I've cancelled the pottery course, I enrolled in pharmacy.",
            ),
            "enrol in pharmacy",
        ),
        (
            (
                "I am enrolled at the university in Brno.",
                "I finished the university in Brno, now I am working as architect.",
            ),
            "architect",
        ),
    ],
)
def test_what_one_clause_gives_does_not_hide_the_change_told_in_another(
    mem: Credenda, say: Say, said: tuple[str, str], value: str
) -> None:
    say(*said)
    assert said[0] in texts(mem, "superseded")
    assert {one.value for one in mem.list().items} == {value}


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I smoke a pack a day.", "Haven't touched a cigarette since Easter."),
        ("I go to church every Sunday.", "I stopped going to church."),
        ("I teach at the Lycée Hugo.", "I don't teach there any more."),
        ("I'm moving to Porto in May.", "The move to Porto is off."),
        ("My mother lives in a nursing home.", "My mother passed away in March."),
    ],
)
def test_what_has_ended_is_held_no_more(mem: Credenda, say: Say, old: str, new: str) -> None:
    say(old, new)
    assert old in texts(mem, "superseded")
    assert old not in texts(mem)


@pytest.mark.requirement("R-074", "R-082")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The design review is on Monday.", "The code review was moved to Friday."),
        ("The dev database is MySQL.", "The prod database is Oracle now."),
        ("I pay 12 euros for Netflix.", "I pay 11 euros for Spotify now."),
        ("My manager is Yolanda.", "My boss moved to Brno."),
        ("My car is a Fiat.", "My wife's car is a Volvo now."),
        ("I like hiking.", "These days I'm really into climbing too."),
        ("We use Jira.", "Someone suggested moving to Linear."),
        ("The deadline is 1 July.", "Can we move the deadline to 8 July?"),
        ("I take the tram to work.", "Today I took a taxi to work."),
        ("The release is on 12 June.", "The release notes were changed on Friday."),
        ("My office is on Baker Street.", "My gym moved to King Street."),
        ("I'm vegan.", "My brother says he's not vegan anymore."),
        ("I live in Rome.", "I moved my savings to Unicredit."),
        ("I work at Volvo.", "If I left Volvo I'd earn more."),
        ("My sister works at Shell.", "I left Shell."),
    ],
)
def test_another_matter_owner_or_day_replaces_nothing(mem: Credenda, say: Say, old: str, new: str) -> None:
    say(old)
    before = texts(mem)
    say(new)
    assert before <= texts(mem)
    assert texts(mem, "superseded") == set()


@pytest.mark.requirement("R-082")
def test_two_memories_that_fit_alike_are_left_alone(mem: Credenda, say: Say) -> None:
    say("My car is a Golf.", "My dog is called Golf.", "The Golf is gone.")
    assert texts(mem, "superseded") == set()


def test_the_reason_names_what_matched(mem: Credenda, say: Say) -> None:
    say("I go to the gym on Tuesdays.", "My gym day is Thursday now.")
    change = mem.why(replaced(mem).id).changes[-1]
    assert (change.kind, change.actor) == ("supersede", "rule")
    assert "“Thursday” replaces “on Tuesdays”" in change.reason
    assert "(gym)" in change.reason


def test_it_can_be_taken_back_and_is_not_decided_again(mem: Credenda, say: Say) -> None:
    old = "My password manager is LastPass."
    say(old, "Dumped LastPass, everything is in Bitwarden.")
    event = mem.why(replaced(mem).id).changes[-1].cause
    assert event is not None
    for change in reversed(mem.changes(event)):
        mem.manage.undo(change.id)
    assert texts(mem, "superseded") == set()
    assert old in texts(mem)
    mem.settle()
    assert old in texts(mem)


def test_what_was_said_later_is_not_retired_by_what_was_said_before(mem: Credenda, say: Say) -> None:
    say("I go to the gym on Tuesdays.")
    mem.remember("My gym day is Thursday now.", occurred_at="2026-01-02T09:00:00Z")
    mem.settle()
    assert "I go to the gym on Tuesdays." in texts(mem)


@pytest.mark.requirement("R-077", "R-082")
def test_what_no_rule_knows_is_weighed_said_why_and_taken_back(mem: Credenda, say: Say) -> None:
    old, new = "My thesis is about river pollution.", "The thesis is on urban noise instead, pollution was taken."
    say(old, "My thesis supervisor lent me a book on river pollution.")
    assert old in texts(mem)
    say(new)
    assert texts(mem, "superseded") == {old}
    assert any("urban noise" in one for one in texts(mem))
    change = mem.why(replaced(mem).id).changes[-1]
    assert change.kind == "supersede"
    assert "classified as a replacement by wording (" in change.reason
    mem.manage.undo(change.id)
    assert old in texts(mem)
