"""What an undo would bring about, in sentences."""

from __future__ import annotations

import pytest

from credenda.interfaces.web.languages import load_messages
from credenda.interfaces.web.view import Outcome, describe_undo
from credenda.model.memory import Memory, MemoryType, Status
from credenda.model.report import UndoneMemory

GONE = {"status": Status.SUPERSEDED, "valid_until": "2026-01-01", "superseded_by": "m2"}
BACK = {"status": Status.ACTIVE, "valid_until": None, "superseded_by": None}


def make(name: str, text: str, value: str | None = None, attribute: str | None = "employer") -> Memory:
    entity = "user" if value else None
    return Memory(
        id=name, text=text, type=MemoryType.FACT, entity=entity, attribute=attribute, value=value, version=1,
        created_us=1, recorded_us=1,
    )  # fmt: skip


def describe(*undone: UndoneMemory, memories: tuple[Memory, ...]) -> list[Outcome]:
    return list(describe_undo(undone, {one.id: one for one in memories}))


def test_a_value_that_returns_is_named_with_the_one_that_leaves() -> None:
    old, new = make("m1", "I work at Google.", "Google"), make("m2", "I work at Microsoft.", "Microsoft")
    (outcome,) = describe(
        UndoneMemory(id="m1", before=GONE, after=BACK),
        UndoneMemory(id="m2", before={"status": Status.ACTIVE}, after={"status": Status.FORGOTTEN}),
        memories=(old, new),
    )
    assert outcome.message == "{slot}: {now} → {then} again"
    assert outcome.values == {"slot": "user · employer", "now": "Microsoft", "then": "Google"}
    assert outcome.memory is old


def test_an_earlier_wording_of_the_same_value_is_told_apart() -> None:
    old, new = make("m1", "I work at google.", "google"), make("m2", "I work at Google now.", "Google")
    (outcome,) = describe(
        UndoneMemory(id="m1", before=GONE, after=BACK),
        UndoneMemory(id="m2", before={"status": Status.ACTIVE}, after={"status": Status.FORGOTTEN}),
        memories=(old, new),
    )
    assert "in its earlier words" in outcome.message


def test_a_memory_without_a_slot_is_believed_again_or_no_more() -> None:
    note, other = make("m1", "The tap took hours.", attribute=None), make("m2", "It rained.", attribute=None)
    back, gone = describe(
        UndoneMemory(id="m1", before={"status": Status.ARCHIVED}, after={"status": Status.ACTIVE}),
        UndoneMemory(id="m2", before={"status": Status.ACTIVE}, after={"status": Status.FORGOTTEN}),
        memories=(note, other),
    )
    assert back.message == "It would be believed again"
    assert gone.words == {"status": "forgotten"}


@pytest.mark.parametrize(
    ("after", "message"),
    [
        ({"pinned": False}, "It would not be pinned"),
        ({"pinned": True}, "It would be pinned again"),
        ({"contested": True}, "It would be contested again"),
        ({"layer": "episodic"}, "It would be in the layer {layer} again"),
        ({"confirmations": 2}, "It would count as said {n} times"),
        ({"confirmations": 0}, "It would count as said once"),
        ({"text": "Before."}, "It would read again: {text}"),
        ({"status": "forgotten"}, "Its status: {status}"),
        ({"tags": ("a",), "topic": None}, "As before: {fields}"),
    ],
)
def test_every_other_field_has_a_sentence_in_every_language(after: dict[str, object], message: str) -> None:
    before: dict[str, object] = {"status": "merged"} if "status" in after else {}
    (outcome,) = describe(UndoneMemory(id="m1", before=before, after=after), memories=(make("m1", "Now.", "x"),))
    assert outcome.message == message
    assert message in load_messages("de")


def test_a_memory_whose_words_are_gone_is_left_out() -> None:
    assert describe(UndoneMemory(id="m1", before=GONE, after=BACK), memories=()) == []


def test_a_value_that_would_stand_beside_a_returning_one_is_in_doubt() -> None:
    old, new = make("m1", "I work at Google.", "Google"), make("m2", "I work at Microsoft.", "Microsoft")
    doubt = UndoneMemory(id="m2", before={"status": Status.ACTIVE}, after={"status": Status.CHALLENGED})
    (both,) = describe(UndoneMemory(id="m1", before=GONE, after=BACK), doubt, memories=(old, new))
    assert both.message == "{slot}: {then} again, and {now} in doubt"
    (alone,) = describe(doubt, memories=(new,))
    assert alone.message == "It would be in doubt"
