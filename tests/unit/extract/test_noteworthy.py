"""What a sentence of a conversation is worth: kept in its words, left as it is, or dropped (R-050)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from credenda.model.claim import Claim, Span, Turn, UpdateKind
from credenda.model.event import Event, Role
from credenda.model.memory import MemoryType, Stance
from credenda.write.extract.noteworthy import WeighingExtractor, estimate_noteworthy, list_sentences

OPENING = "Hey, good to hear from you!"
PAST = "Last week I signed up for a pottery class at the community center."
PLAN = "I'm going to volunteer at the animal shelter next month."


class Proposing:
    """An extractor that proposes what it was told to, each claim about some words of the turn."""

    def __init__(self, claims: Mapping[str, str], **more: object) -> None:
        self.claims = claims
        self.more = more

    def extract(self, turn: Turn) -> list[Claim]:
        return [make_claim(turn, words, attribute, **self.more) for attribute, words in self.claims.items()]


def make_claim(turn: Turn, words: str, attribute: str, **more: object) -> Claim:
    start = turn.event.text.index(words)
    slot = {} if attribute == "none" else {"entity": "Ben", "attribute": attribute, "value": words}
    said = Claim(
        text=words,
        type=MemoryType.FACT,
        span=Span(turn.event.id, start, start + len(words)),
        speaker="Ben",
        confidence=0.5,
        importance=0.5,
    )
    return replace(said, **{**slot, **more})


def say(text: str, *, role: Role = Role.PERSON) -> Turn:
    speaker = "Ben" if role is Role.PERSON else "user"
    return Turn(event=Event(text=text, role=role, speaker=speaker, occurred_us=0, id="e1", recorded_us=0))


def weigh(text: str, claims: Mapping[str, str] | None = None, *, role: Role = Role.PERSON) -> list[Claim]:
    return WeighingExtractor(Proposing(claims or {})).extract(say(text, role=role))


def get_texts(claims: Sequence[Claim]) -> list[str]:
    return [one.text for one in claims]


def test_a_noteworthy_sentence_is_kept_in_its_words() -> None:
    (kept,) = weigh(f"{OPENING} {PAST} That sounds lovely.")
    assert (kept.text, kept.attribute, kept.stance, kept.confidence) == (PAST, None, Stance.ASSERTED, 0.6)
    assert (kept.speaker, kept.span.start) == ("Ben", len(OPENING) + 1)


def test_a_plan_is_kept_as_a_plan() -> None:
    (kept,) = weigh(f"{OPENING} {PLAN}")
    assert (kept.text, kept.stance, kept.confidence) == (PLAN, Stance.PLANNED, 0.5)


@pytest.mark.parametrize(
    "text",
    [
        OPENING,
        "That's awesome, congratulations on your new job!",
        "How long have you been painting, and where did you learn it?",
        "They asked me to mentor a group of new programmers last month.",
        "Imagine I had signed up for a pottery class last week.",
        "I went.",
        "My new manager says I'm the calmest person she has hired since last year.",
        "Write me a short poem about the trip that we made last week.",
        "I'm getting a KeyError since the last rebase of my branch.",
        "Last week I moved the class to src/orders/writer.py for my project.",
    ],
)
def test_small_talk_questions_tasks_and_what_leans_on_another_sentence_are_left_to_the_event(text: str) -> None:
    assert weigh(f"{OPENING} {text}") == []


def test_a_statement_before_a_question_is_kept_without_it() -> None:
    text = f"{OPENING} I'm allergic to the oil paint in my studio, so I switched to acrylics last month, is that wise?"
    (kept,) = weigh(text)
    assert kept.text == "I'm allergic to the oil paint in my studio, so I switched to acrylics last month"


def test_a_claim_that_no_reader_would_note_is_dropped() -> None:
    assert weigh(f"{OPENING} Love the red and blue.", {"likes": "the red and blue"}) == []


@pytest.mark.parametrize("attribute", ["allergy", "name", "employer", "instruction"])
def test_what_tells_of_a_persons_life_is_never_dropped(attribute: str) -> None:
    (kept,) = weigh(f"{OPENING} Love the red and blue.", {attribute: "the red and blue"})
    assert kept.attribute == attribute


@pytest.mark.parametrize(
    "more", [{"move": UpdateKind.END}, {"type": MemoryType.DECISION}, {"type": MemoryType.PROCEDURE}]
)
def test_changes_decisions_and_procedures_are_never_dropped(more: dict[str, object]) -> None:
    inner = Proposing({"likes": "the red and blue"}, **more)
    assert WeighingExtractor(inner).extract(say(f"{OPENING} Love the red and blue."))


def test_a_kept_sentence_is_as_sure_as_its_speaker() -> None:
    (kept,) = weigh(f"{OPENING} {PAST}", {"none": PAST})
    assert kept.confidence == 0.6


def test_a_sentence_with_a_slot_is_kept_too_where_its_other_part_is_noteworthy() -> None:
    text = f"{OPENING} I work with computers, and last week I signed up for a pottery class at the community center."
    whole = text.removeprefix(f"{OPENING} ")
    assert get_texts(weigh(text, {"job_title": "I work with computers"})) == ["I work with computers", whole]
    assert get_texts(weigh(text, {"experience": whole})) == [whole]


def test_a_short_note_is_left_as_it_is() -> None:
    note = "I signed up for a pottery class last week."
    assert weigh(note, role=Role.USER) == []
    assert get_texts(weigh("Love the red and blue.", {"likes": "the red and blue"}, role=Role.USER)) == [
        "the red and blue"
    ]
    assert get_texts(weigh(f"{OPENING} {PAST}", role=Role.USER)) == [PAST]


def test_nothing_is_weighed_in_another_language_or_of_an_assistant() -> None:
    text = (
        "Letzte Woche habe ich mich für einen Töpferkurs im Gemeindezentrum angemeldet. Das Rot gefällt mir sehr gut."
    )
    assert get_texts(weigh(text, {"likes": "Das Rot"})) == ["Das Rot"]
    assert weigh(f"{OPENING} {PAST}", role=Role.ASSISTANT) == []


def test_the_words_end_where_the_sentence_does() -> None:
    long = f"{PAST[:-1]}, and " * 12
    kept = weigh(f"{OPENING} {long}I love it.")
    assert all(not one.text.endswith((",", "and", " ")) for one in kept)


def test_the_shares_sum_to_one_and_tell_episodes_from_thanks() -> None:
    told, thanks = estimate_noteworthy(PAST, 3), estimate_noteworthy("Thanks so much!", 3)
    assert sum(told) == pytest.approx(1.0)
    assert told.noted > 0.5 > thanks.noted
    assert estimate_noteworthy(PLAN, 2).planned > estimate_noteworthy(PAST, 2).planned


def test_sentences_are_plain_and_counted_with_their_turn() -> None:
    ((span, plain, count), _) = list_sentences(say("I’m in Graz. We like it."))
    assert (span, plain, count) == ((0, 12), "I am in Graz.", 2)
