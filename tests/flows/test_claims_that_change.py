"""Claims of an agent whose words tell a change: what they replace is never first, nor held true."""

from __future__ import annotations

from datetime import timedelta

import pytest

from credenda import Credenda
from credenda.model.event import ClaimReceipt
from credenda.testing import ManualClock

DAY = timedelta(days=1)


class Life:
    """A memory that is told one message with one claim after the other, each some days later."""

    def __init__(self, mem: Credenda, clock: ManualClock) -> None:
        self.mem, self.clock = mem, clock

    def tell(self, text: str, attribute: str, value: str, *, days: float = 30, **more: str) -> ClaimReceipt:
        self.clock.advance(DAY * days)
        claim = {"quote": text, "attribute": attribute, "value": value, **more}
        (result,) = self.mem.remember(text, claims=[claim]).claims
        return result

    def first(self, question: str) -> str:
        return self.mem.search(question).hits[0].text

    def lines(self, question: str, heading: str) -> list[str]:
        """Return the lines of a context under a heading."""
        found, under = list[str](), ""
        for line in self.mem.context(question).text.splitlines():
            if line.startswith("- "):
                found += [line] if under == heading else []
            else:
                under = line
        return found


@pytest.fixture
def life(mem: Credenda, clock: ManualClock) -> Life:
    return Life(mem, clock)


@pytest.mark.parametrize(
    ("attribute", "values", "told"),
    [
        ("gas supplier", ("Brightflame", "Nordlys"), ("switched the gas to Nordlys", "Who supplies our gas?")),
        ("locker number", ("118", "204"), ("they moved my locker to 204", "What is my locker number?")),
        ("piano tutor", ("Mrs Achterberg", "Silvio"), ("new piano tutor, Silvio, strict", "Who is my piano tutor?")),
        ("choir room", ("the crypt", "the loft"), ("choir room is the loft from now on", "Which choir room do I use?")),
    ],
)
def test_an_open_value_whose_words_tell_a_change_takes_the_place_of_the_old_one(
    life: Life, attribute: str, values: tuple[str, str], told: tuple[str, str]
) -> None:
    (old, new), (change, question) = values, told
    first = life.tell(f"for the record, {attribute}: {old}", attribute, old)
    second = life.tell(change, attribute, new)
    assert second.replaced == (first.memory_id,)
    assert new in life.first(question)
    assert not [line for line in life.lines(question, "Held true:") if old in line and "previously" not in line]


def test_a_chain_shows_the_last_value_alone_as_true(life: Life) -> None:
    names = ["the annexe", "the crypt", "the loft"]
    told = [life.tell("we rehearse in the annexe", "choir room", names[0])]
    told += [life.tell(f"rehearsals moved to {name}", "choir room", name) for name in names[1:]]
    assert [one.replaced for one in told] == [(), (told[0].memory_id,), (told[1].memory_id,)]
    (line,) = life.lines("Which choir room do we use?", "Held true:")
    assert "the loft" in line
    assert "annexe" not in line


def test_a_value_beside_another_replaces_nothing(life: Life) -> None:
    life.tell("our van is a Bedford", "van", "Bedford")
    second = life.tell("we have a second van now too, a Barkas", "van", "Barkas")
    assert second.replaced == ()
    assert {one.value for one in life.mem.list().items} == {"Bedford", "Barkas"}
    assert not life.lines("Which van do we have?", "In doubt:")


def test_an_older_value_without_a_sign_of_change_is_in_doubt_even_if_no_search_finds_the_newer_one(life: Life) -> None:
    life.tell("I ride a Brevet Supreme, steel frame", "racing bike", "Brevet Supreme")
    life.tell("insurance paid, bought a Pelizzoli", "racing bike", "Pelizzoli")
    question = "Which racing bike has the steel frame?"
    (hit, older) = [one for one in life.mem.search(question).hits if one.kind == "memory"][:2]
    assert "Pelizzoli" in hit.text
    assert older.newer == hit.id
    assert [line for line in life.lines(question, "In doubt:") if "Brevet" in line]


def test_a_slip_is_corrected_and_asks_nothing(life: Life) -> None:
    life.tell("Tarek's birthday is on 3 May", "birthday", "3 May", entity="Tarek")
    result = life.tell("sorry, 4 May, I mixed them up", "birthday", "4 May", entity="Tarek", days=0.01)
    assert len(result.replaced) == 1
    assert not life.mem.manage.contests()
    assert "4 May" in life.first("When is Tarek's birthday?")


def test_another_birthday_without_a_slip_is_still_a_question(life: Life) -> None:
    life.tell("Tarek's birthday is on 3 May", "birthday", "3 May", entity="Tarek")
    life.tell("Tarek's birthday is on 9 May", "birthday", "9 May", entity="Tarek")
    assert len(life.mem.manage.contests()) == 1


def test_a_value_holds_until_the_announced_one_begins(life: Life, clock: ManualClock) -> None:
    life.tell("rent is 640 a month", "rent", "640 a month")
    begins = (clock.now() + DAY * 100).strftime("%-d %B %Y")
    life.tell(f"the rent goes up to 690 from {begins}", "rent", "690", days=1)
    assert [line for line in life.lines("How much is the rent?", "Held true:") if "640" in line]
    assert "640" in life.first("How much is the rent?")
    clock.advance(DAY * 120)
    assert "690" in life.first("How much is the rent?")
    (line,) = life.lines("How much is the rent?", "Held true:")
    assert "690" in line
    assert [line for line in life.lines("How much is the rent?", "No longer true:") if "640" in line]


@pytest.mark.parametrize("days", [20, 200])
def test_an_announced_value_that_does_not_come_after_all_replaces_nothing(
    life: Life, clock: ManualClock, days: int
) -> None:
    life.tell("I clean at Haus Lindner", "employer", "Haus Lindner")
    begins = (clock.now() + DAY * 100).strftime("%-d %B %Y")
    life.tell(f"from {begins} I'm at Sonnhof", "employer", "Sonnhof", days=1)
    life.tell("staying at Haus Lindner after all", "employer", "Haus Lindner", days=days)
    clock.advance(DAY * 200)
    (line,) = life.lines("Who do I work for?", "Held true:")
    assert "Haus Lindner" in line


def test_what_is_affirmed_stands_before_a_denial_in_the_same_slot(life: Life) -> None:
    old = life.tell("I garden bed 9", "garden bed", "bed 9")
    assert old.memory_id is not None
    life.tell("gave up bed 9", "garden bed", "bed 9", stance="negated", replaces=old.memory_id)
    life.tell("they gave me bed 31", "garden bed", "bed 31", days=90)
    assert "bed 31" in life.first("Which garden bed do I have?")
    assert "not bed 9" in life.first("Do I still have garden bed number 9?")


def test_a_name_that_two_facts_share_makes_neither_a_change_of_the_other(life: Life) -> None:
    life.tell("Ada goes to Mill Lane School", "school", "Mill Lane School", entity="Ada")
    life.tell("Ada quit judo, it's fencing now", "hobby", "fencing", entity="Ada")
    assert "Mill Lane" in life.first("Which school does Ada go to?")


def test_a_value_that_is_told_again_is_newer_than_the_one_in_between(life: Life) -> None:
    life.tell("the lift is out of order", "lift state", "out of order")
    life.tell("the lift is running", "lift state", "running")
    life.tell("the lift is out of order", "lift state", "out of order")
    assert "out of order" in life.first("What is the lift state?")
    assert not [line for line in life.lines("What is the lift state?", "Held true:") if "running" in line]


def test_a_corrected_day_of_an_event_replaces_the_day_before(life: Life) -> None:
    life.tell("The farewell supper is on 9 December", "date", "9 December", entity="farewell supper", stance="planned")
    life.tell(
        "Correction, the supper is on 11 December",
        "date",
        "11 December",
        days=2,
        entity="farewell supper",
        stance="planned",
    )
    assert "11 December" in life.first("When is the farewell supper?")
    planned = [memory.value for memory in life.mem.list(entity="farewell supper").items]
    assert len(planned) == 1


def test_days_of_an_event_without_a_word_of_change_stand_side_by_side(life: Life) -> None:
    life.tell("The book fair is on 9 December", "date", "9 December", entity="book fair", stance="planned")
    life.tell("The book fair is on 11 December", "date", "11 December", days=2, entity="book fair", stance="planned")
    assert len(life.mem.list(entity="book fair").items) == 2


def test_what_one_does_too_much_is_still_a_change(life: Life) -> None:
    life.tell("I play second violin", "orchestra part", "second violin")
    life.tell("I am playing viola these days, there were too many violins", "orchestra part", "viola")
    assert "viola" in life.first("Which orchestra part do I play?")


def test_the_value_of_somebody_else_replaces_nothing(life: Life) -> None:
    life.tell("We live in Sligo now", "residence", "Sligo")
    life.tell("Orla has moved in with her aunt in Ennis", "residence", "Ennis", entity="Orla")
    assert "Sligo" in life.first("What is my place of residence?")


def test_a_pronoun_may_stand_for_the_thing_of_the_replaced_memory(life: Life) -> None:
    life.tell("The Marigold is moored at Kilrush", "mooring", "Kilrush", entity="Marigold")
    (old,) = life.mem.list(entity="Marigold").items
    life.tell("I moved the boat, she lies at Foynes now", "mooring", "Foynes", entity="Marigold", replaces=old.id)
    assert "Foynes" in life.first("Where is the Marigold moored?")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Doctor Abara says it is shingles on the back", "shingles"),
        ("Three broken fingers, no rowing for weeks", "broken fingers"),
    ],
)
def test_a_named_doctor_and_a_number_are_no_other_person(life: Life, text: str, value: str) -> None:
    life.tell(text, "condition", value)
    assert [(one.entity, one.value) for one in life.mem.list(attribute="condition").items] == [("user", value)]


@pytest.mark.parametrize("text", ["Doctor Abara has shingles himself", "Doctor Abara says he has shingles"])
def test_what_a_doctor_has_is_not_the_users(life: Life, text: str) -> None:
    life.tell(text, "condition", "shingles")
    assert not life.mem.list(attribute="condition").items


def test_a_value_in_fewer_of_its_words_is_no_other_value(life: Life) -> None:
    life.tell("I study at Aalto University", "school", "Aalto University")
    life.tell("My term at Aalto begins next week", "school", "Aalto")
    assert [memory.value for memory in life.mem.list(attribute="school").items] == ["Aalto University"]
    assert life.mem.list(attribute="school", status="superseded").items == ()


@pytest.mark.parametrize("stance", ["past", "negated"])
@pytest.mark.parametrize(
    ("slot", "words"),
    [
        (("pet", "tortoise called Bruno"), ("we keep a tortoise called Bruno", "Bruno died in his sleep")),
        (("travel plan", "a month in Bergen"), ("a month in Bergen next May is booked", "Bergen fell through")),
        (("rowing club", "Isis"), ("I row for Isis", "Isis is history")),
    ],
)
def test_what_is_told_as_past_ends_what_it_names(
    life: Life, slot: tuple[str, str], words: tuple[str, str], stance: str
) -> None:
    old = life.tell(words[0], *slot, stance="planned" if slot[0] == "travel plan" else "asserted")
    assert old.memory_id is not None
    ended = life.tell(words[1], *slot, stance=stance, replaces=old.memory_id)
    assert ended.replaced == (old.memory_id,)
    assert life.mem.get(old.memory_id).status == "superseded"
    assert not [one for one in life.mem.list().items if one.value == slot[1] and one.stance != "negated"]


def test_a_change_told_of_a_thing_that_holds_several_values_comes_first(life: Life) -> None:
    life.tell("film circle is watching Stalker, slowly", "film", "Stalker", entity="film circle")
    life.tell("film circle moved on to Solaris", "film", "Solaris", entity="film circle")
    assert "Solaris" in life.first("What is the film circle watching?")


def test_a_change_of_another_slot_with_a_word_of_the_question_is_not_its_answer(life: Life) -> None:
    life.tell("we got a hen called Berta", "pet", "hen called Berta")
    life.tell("I can't stand phone calls, send me a note instead", "dislikes", "phone calls")
    (pet,) = [hit for hit in life.mem.search("What is our hen called?").hits if hit.memory and "Berta" in hit.text]
    assert pet.newer is None
