"""A memory reads as its claim: one fact a line, and nothing that ended is printed as true."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

import pytest

from credenda import Credenda
from credenda.model.memory import Memory, Status
from credenda.testing import ManualClock
from credenda.text.fence import estimate_tokens

Say = Callable[..., None]


def tell(mem: Credenda, clock: ManualClock, text: str, *claims: Mapping[str, object], name: str = "") -> None:
    """Store a message with its claims, a day after the one before."""
    message = {"role": "person", "name": name, "content": text} if name else text
    mem.remember(message, claims=[{"quote": text, "entity": name or "user", **one} for one in claims])
    clock.advance(timedelta(days=1))


def everything(mem: Credenda) -> list[Memory]:
    return [one for status in Status for one in mem.list(status=status.value).items]


def find(mem: Credenda, value: str) -> Memory:
    """Return the memory with a value, whatever its status."""
    (found,) = [one for one in everything(mem) if one.value == value]
    return found


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("- ")]


def words(text: str) -> list[str]:
    """Return the lines without their ids."""
    return [line.partition("] ")[2] for line in lines(text)]


def slot(attribute: str, value: str, **more: object) -> dict[str, object]:
    return {"attribute": attribute, "value": value, **more}


def test_a_sentence_with_three_claims_is_three_lines(mem: Credenda, clock: ManualClock) -> None:
    text = "i'm Ilse, 41, i teach at Marlow Lane and keep a parrot called Otto"
    claims = (slot("name", "Ilse"), slot("employer", "Marlow Lane"), slot("parrot", "Otto"))
    tell(mem, clock, text, *claims)
    told = words(mem.context("Where does Ilse teach, and what is my parrot called?").text)
    assert sorted(told) == [
        "employer: Marlow Lane (told 1 Mar 2026)",
        "name: Ilse (told 1 Mar 2026)",
        "parrot: Otto (told 1 Mar 2026)",
    ]
    assert text not in mem.context().text
    hits = mem.search("Where does Ilse teach, and what is my parrot called?").hits
    assert len({hit.text for hit in hits}) == len(hits) == 3
    assert {hit.quote for hit in hits} == {text}


def test_what_ended_is_printed_nowhere_as_true(mem: Credenda, clock: ManualClock) -> None:
    both = "I rent a flat in Bergen and I row for Vika."
    tell(mem, clock, both, slot("residence", "Bergen"), slot("club", "Vika"))
    tell(mem, clock, "I moved to Tromso.", slot("residence", "Tromso", replaces=find(mem, "Bergen").id))
    for question in (None, "Where do I live?", "Which club do I row for?", "Bergen Vika", "I rent a flat in Bergen"):
        told = words(mem.context(question).text if question else mem.context().text)
        assert told, question
        for line in told:
            assert "Bergen" not in line or "previously Bergen" in line or "no longer true" in line, (question, told)
    best = mem.search("Where do I live?").hits[0]
    assert best.text.startswith("user: residence: Tromso, told 2026-03-02")
    assert best.memory is not None
    assert best.memory.quote == "I moved to Tromso."


def test_a_corrected_value_was_never_true(mem: Credenda, clock: ManualClock) -> None:
    tell(mem, clock, "My phone is a Quill 4.", slot("phone", "Quill 4"))
    mem.correct(find(mem, "Quill 4").id, text="My phone is a Nib 7.", value="Nib 7")
    old = find(mem, "Quill 4")
    assert old.statement == "user: phone: Quill 4, corrected, never true"
    told = words(mem.context("Which phone do I have?").text)
    assert told
    assert [line for line in told if "Quill" in line] == []


def test_a_deleted_word_is_in_no_statement(mem: Credenda, clock: ManualClock) -> None:
    tell(mem, clock, "My dentist is Dr. Zorn.", slot("dentist", "Dr. Zorn"))
    old = find(mem, "Dr. Zorn")
    tell(mem, clock, "My dentist is Dr. Ueda now.", slot("dentist", "Dr. Ueda", replaces=old.id))
    assert "before: Dr. Zorn" in mem.search("Who is my dentist?").hits[0].text
    mem.delete(old.id)
    shown = [repr(mem.search("Who is my dentist?")), repr(everything(mem)), mem.context("my dentist?").text]
    assert all("Zorn" not in one for one in shown)


@pytest.mark.parametrize(
    ("claim", "statement"),
    [
        (slot("likes", "bouldering"), "user: likes bouldering"),
        (slot("likes", "bouldering", stance="negated"), "user: does not like bouldering"),
        (slot("diet", "pork", stance="negated"), "user: diet: not pork"),
        (slot("likes", "bouldering", entity="Jonas"), "user: Jonas likes bouldering"),
        (slot("does", "fix clocks", entity="Jonas"), "user: Jonas's activity: fix clocks"),
        (slot("lives_with", "two cats"), "user: lives with two cats"),
        (slot("name", "Ada", entity="user's sister"), "user: sister's name: Ada"),
        (slot("desk", "by the door", scope="Fridays"), "user: desk: by the door (Fridays)"),
    ],
)
def test_a_statement_reads_as_english(
    mem: Credenda, clock: ManualClock, claim: Mapping[str, object], statement: str
) -> None:
    text = "Jonas, my sister and I: bouldering, pork, fix clocks, two cats, Ada, by the door on Fridays."
    tell(mem, clock, text, claim)
    assert [one.statement for one in mem.list().items if one.value] == [f"{statement}, as of 2026-03-01"]
    (hit,) = [one for one in mem.search(str(claim["value"])).hits if one.memory and one.memory.value]
    assert hit.text == f"{statement}, told 2026-03-01"


def test_another_speaker_is_named(mem: Credenda, clock: ManualClock) -> None:
    tell(mem, clock, "I work at Orrery Ltd.", slot("employer", "Orrery Ltd"), name="Tess")
    assert words(mem.context("Where does Tess work?").text) == ["Tess: employer: Orrery Ltd (told 1 Mar 2026)"]


@pytest.mark.parametrize(
    ("stance", "shown"),
    [
        ("reported", ("In doubt:", "hearsay")),
        ("planned", ("Planned or considered:", "planned")),
        ("considered", ("Planned or considered:", "considered")),
    ],
)
def test_only_what_is_asserted_is_held_true(
    mem: Credenda, clock: ManualClock, stance: str, shown: tuple[str, str]
) -> None:
    heading, note = shown
    tell(mem, clock, "The visitor said I live in Vaduz.", slot("residence", "Vaduz", stance=stance))
    block = mem.context("Vaduz: where do I live?").text
    assert "Held true:" not in block
    assert heading in block
    assert note in next(line for line in lines(block) if "Vaduz" in line)


def test_twenty_lines_are_short(mem: Credenda, clock: ManualClock) -> None:
    things = ("lamp", "kettle", "rug", "stove", "mirror", "bench", "clock", "tent", "canoe", "piano")
    colours: Sequence[str] = ("amber", "teal", "ivory", "plum", "olive", "coral", "navy", "beige", "khaki", "mauve")
    for thing, colour in zip(things, colours, strict=True):
        text = f"Since you ask, my {thing} is {colour}, and its brother in the attic is {colour} as well, I believe."
        tell(mem, clock, text, slot(f"{thing}_colour", colour), slot(f"attic_{thing}", colour))
    told = lines(
        mem.context("What colour are my " + ", ".join(things) + " in the attic?", token_budget=4_000, limit=40).text
    )
    assert len(told) == len(set(words("\n".join(told)))) == 20
    assert estimate_tokens("\n".join(told)) <= 600


def test_german_talk_is_stated_in_german_and_any_other_in_english(mem: Credenda, clock: ManualClock) -> None:
    tell(mem, clock, "Mein Hobby ist Schach.", slot("hobby", "Schach"))
    tell(mem, clock, "Ich mag keinen Koriander.", slot("likes", "Koriander", stance="negated"))
    tell(mem, clock, "Meine Schwester Ada wohnt in Graz.", slot("residence", "Graz", entity="user's sister Ada"))
    tell(mem, clock, "J'habite à Lyon et j'y travaille.", slot("residence", "Lyon"))
    stated = {one.value: one.statement for one in everything(mem)}
    assert stated == {
        "Schach": "Nutzer: Hobby: Schach, Stand 2026-03-01",
        "Koriander": "Nutzer: mag Koriander nicht, Stand 2026-03-02",
        "Graz": "Nutzer: Wohnort von Schwester Ada: Graz, Stand 2026-03-03",
        "Lyon": "user: residence: Lyon, as of 2026-03-04",
    }
    assert "Hobby: Schach (told 1 Mar 2026)" in words(mem.context("Was ist mein Hobby?").text)


def test_english_without_its_apostrophe_is_no_german(mem: Credenda) -> None:
    claims = [{"quote": "im davie rennie", "entity": "user", "attribute": "name", "value": "davie rennie"}]
    mem.remember("im davie rennie, 55, plumber, glasgow", claims=claims)
    mem.settle()
    assert [one.statement.partition(",")[0] for one in mem.list(attribute="name").items] == ["user: name: davie rennie"]
