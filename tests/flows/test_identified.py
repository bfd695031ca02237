"""Only an identified rival is retired; everything else stands beside what was said before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.limits import SLOT_PAST_ROWS
from credenda.model.claim import Claim, Span
from credenda.model.memory import Memory, MemoryType, Relation, Status
from credenda.storage.store import Writer
from credenda.testing import ManualClock
from credenda.write.reconcile_job import decide_claim, load_slot_rows

Say = Callable[..., None]
PEOPLE = ("Sven", "Anna", "Hassan", "Mei")
PLACES = ("Porto", "Oslo", "Graz")


def values(mem: Credenda, attribute: str, status: str = "active") -> set[str]:
    held = mem.list(attribute=attribute, status=status, limit=50).items
    return {f"{'not ' if one.stance == 'negated' else ''}{one.value}" for one in held}


def texts(mem: Credenda, status: str = "active") -> set[str]:
    return {one.text for one in mem.list(status=status, limit=50).items}


@pytest.mark.requirement("R-074", "R-075")
def test_a_hundred_notes_of_different_people_retire_nothing(mem: Credenda) -> None:
    for number in range(100):
        who, place = PEOPLE[number % 4], PLACES[number % 3]
        mem.remember(
            f"{who} planted a desk in {place} on {1 + number % 28} March {1900 + number % 100} with an aunt; "
            f"the reference number was {number:06d}-253, and the pick-up day was {1 + number % 28} April."
        )
    mem.settle(600)
    assert mem.stats().memories.get("superseded", 0) == 0
    assert mem.stats().open_contests == 0


@pytest.mark.requirement("R-074", "R-075")
@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("The meeting is on Monday.", "The meeting is on Friday."),
        ("The project uses Postgres.", "The project uses MySQL now."),
        ("I write in Java.", "I write in Kotlin now."),
        ("I like Italian food.", "My favourite pasta is ravioli."),
        ("I'm from California.", "I'm from Los Angeles, born and raised."),
        ("I study law in Orlando.", "I am fine just came back from school."),
        ("I go to the gym on Tuesdays.", "My gym day is Thursday now."),
        ("I have a dog named Rex.", "I don't have any pets."),
        ("I take ibuprofen.", "I'm not on any medication."),
        ("I play an instrument.", "I play the oboe."),
        ("Our staging server is called hobbit.", "Staging was renamed to gandalf."),
        ("I pay 30 euros for the gym.", "The gym costs me 35 now."),
        ("I live with my parents.", "I've got my own place now."),
        ("The bus leaves at 7:20.", "New timetable: the bus leaves at 7:35."),
        ("My daughter plays handball.", "My daughter plays handball as a pivot."),
        ("We have a dog.", "Our dog is a beagle."),
        ("I eat meat.", "I'm a vegetarian."),
        ("I'm thinking of moving to Rome.", "I'm thinking of moving to Lyon instead."),
    ],
)
def test_a_likeness_retires_nothing(mem: Credenda, say: Say, first: str, then: str) -> None:
    say(first)
    before = {one.id for one in mem.list().items}
    say(then)
    assert before
    assert before <= {one.id for one in mem.list().items}
    assert not mem.list(status="superseded").items


@pytest.mark.requirement("R-077", "R-081", "R-082")
@pytest.mark.parametrize(
    ("first", "then", "attribute", "held", "gone"),
    [
        ("I live in Munich.", "I moved to Berlin.", "residence", "Berlin", "Munich"),
        ("I work at Google.", "I'm at Microsoft now.", "employer", "Microsoft", "Google"),
        ("I work at Nordlicht.", "I quit Nordlicht, I'm at DeepL now.", "employer", "DeepL", "Nordlicht"),
        ("I live in Linz.", "Actually, I live in Graz, not in Linz.", "residence", "Graz", "Linz"),
        ("The release is on Monday.", "The release was moved from Monday to Friday.", "date", "Friday", "Monday"),
    ],
)
def test_an_identified_rival_is_retired(
    mem: Credenda, say: Say, *, first: str, then: str, attribute: str, held: str, gone: str
) -> None:
    say(first, then)
    assert values(mem, attribute) == {held}
    assert values(mem, attribute, "superseded") == {gone}


@pytest.mark.parametrize("then", ["I'm at Heathrow Airport now.", "I'm at home now.", "I'm with Anna."])
def test_where_somebody_is_for_an_hour_is_no_employer(mem: Credenda, say: Say, then: str) -> None:
    say("I work at Google.", then)
    assert values(mem, "employer") == {"Google"}


@pytest.mark.requirement("R-074")
@pytest.mark.parametrize(
    ("first", "then", "left"),
    [
        ("I'm allergic to penicillin.", "I'm no longer allergic to pollen.", {"penicillin", "not pollen"}),
        ("I'm allergic to gluten.", "I'm not allergic to nuts.", {"gluten", "not nuts"}),
        ("I'm allergic to grass pollen.", "I'm no longer allergic to pollen.", {"grass pollen", "not pollen"}),
        (
            "I'm allergic to pollen and penicillin.",
            "I'm not allergic to pollen any more.",
            {"penicillin", "not pollen"},
        ),
    ],
)
def test_a_denial_ends_what_it_denies_and_nothing_else(
    mem: Credenda, say: Say, *, first: str, then: str, left: set[str]
) -> None:
    say(first, then)
    assert values(mem, "allergy") == left


def test_another_value_of_what_does_not_change_is_a_question_to_the_user(mem: Credenda, say: Say) -> None:
    say("My birthday is on 3 May.", "My birthday is on 4 May.")
    (case,) = mem.manage.contests()
    assert case.attribute == "birthday"
    assert values(mem, "birthday") == {"--05-03", "--05-04"}


def test_a_search_shows_the_newest_first_and_names_it_on_the_older(mem: Credenda, say: Say) -> None:
    say("The meeting is on Monday.", "The meeting is on Friday.")
    new, old = (one for one in mem.search("When is the meeting?").hits if one.memory is not None)
    assert (new.memory and new.memory.value, new.newer) == ("Friday", None)
    assert (old.memory and old.memory.value, old.newer) == ("Monday", new.id)
    assert "perhaps replaced since" in mem.context("When is the meeting?").text


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


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize("since", ["as of this week", "since Monday", "since January"])
def test_what_has_been_so_for_a_while_is_the_newer_belief(mem: Credenda, say: Say, since: str) -> None:
    say("Our docs are built with Sphinx.", f"Our docs are built with Hugo {since}.")
    assert {one.value for one in mem.list().items} == {"Hugo"}
    assert {one.value for one in mem.list(status="superseded").items} == {"Sphinx"}


def test_a_change_can_be_taken_back_and_is_not_decided_again(mem: Credenda, say: Say) -> None:
    say("I live in Munich.", "I moved to Berlin.")
    (gone,) = mem.list(status="superseded").items
    change = mem.why(gone.id).changes[-1]
    assert (change.kind, change.actor) == ("supersede", "rule")
    assert "\u201cBerlin\u201d replaces \u201cMunich\u201d" in change.reason
    mem.manage.undo(change.id)
    mem.settle()
    assert "I live in Munich." in texts(mem)


def fill(writer: Writer, person: str, changes: int) -> None:
    """Write a home that changed so many times."""
    for number in range(changes + 1):
        last = number == changes
        writer.put(
            Memory(
                id="",
                version=1,
                text=f"{person} lives in Town{number}.",
                type=MemoryType.FACT,
                entity=person,
                attribute="residence",
                value=f"Town{number}",
                status=Status.ACTIVE if last else Status.SUPERSEDED,
                relation=None if last else Relation.CHANGED,
                valid_from_us=number,
                valid_until_us=None if last else number + 1,
                created_us=number,
                recorded_us=number,
            )
        )


@pytest.mark.requirement("R-074")
def test_a_slot_that_changed_a_thousand_times_costs_what_it_cost_at_a_hundred(path: Path, clock: ManualClock) -> None:
    parts = build_parts(path, user="ana", embedder="none", clock=clock)
    cost: dict[int, tuple[int, int]] = {}
    with Credenda(parts, workers=False) as mem:
        (event_id,) = mem.remember("Hello.").event_ids
        mem.settle()

        def decide(writer: Writer) -> None:
            (event,) = writer.events([event_id])
            for changes in (100, 1_000):
                person = f"Person{changes}"
                fill(writer, person, changes)
                said = Claim(
                    text=f"{person} lives in Graz.",
                    type=MemoryType.FACT,
                    span=Span(event.id, 0, 6),
                    entity=person,
                    attribute="residence",
                    value="Graz",
                )
                rows = load_slot_rows(writer, event, said)
                read = len(rows.current) + len(rows.past) + len(rows.contests)
                cost[changes] = read, len(decide_claim(writer, event, said, clock.now_us()))

        parts.store.commit("ana", decide)
    assert cost[100] == cost[1_000]
    assert cost[1_000][0] <= SLOT_PAST_ROWS + 1
