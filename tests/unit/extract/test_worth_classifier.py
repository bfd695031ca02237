"""What no pattern reads is judged by weights: kept as said, kept as unsure, or passed over."""

import hashlib
from pathlib import Path

import pytest

from credenda.model.event import Role
from credenda.model.memory import MemoryType, Stance
from credenda.write.extract.lexicon import load_weights
from credenda.write.extract.worth import LABELS, signs_of, worth_of

from .build import hear, only

DATA = Path(__file__).parents[2] / "data/beliefs"
BYTES_MAX = 70_000

KEPT = [
    ("got two guinea pigs, salt and pepper", MemoryType.FACT),
    ("kids are in bed by half past seven so evenings are mine", MemoryType.FACT),
    ("Our window cleaner comes on the first Monday of the month.", MemoryType.FACT),
    ("The reason I ask is that my nephew has haemophilia.", MemoryType.FACT),
    ("I find oysters revolting.", MemoryType.PREFERENCE),
    ("Tabs, not spaces, in every file.", MemoryType.PREFERENCE),
    ("Password resets are always done by the service desk.", MemoryType.PROCEDURE),
]
PASSED_OVER = [
    "That means a lot to me, thank you.",
    "We had such a great time together.",
    "Good luck with the move!",
    "My head is spinning.",
    "I'm on my way.",
    "The second version was much clearer, thanks.",
    "Rewrite the last sentence.",
    "Water freezes at zero degrees.",
    "Which of these two is cheaper, the blue one or the red one?",
]


@pytest.mark.requirement("R-045")
@pytest.mark.parametrize(("text", "kind"), KEPT)
def test_what_is_worth_keeping_is_kept_in_its_own_words(text: str, kind: MemoryType) -> None:
    claim = hear(text)[0]
    assert claim.type is kind
    assert claim.text in text


@pytest.mark.requirement("R-039")
@pytest.mark.parametrize("text", PASSED_OVER)
def test_talk_the_moment_and_the_world_are_passed_over(text: str) -> None:
    assert hear(text) == []


@pytest.mark.requirement("R-045")
def test_what_is_judged_has_no_slot_and_is_no_surer_than_half() -> None:
    claim = only("Our window cleaner comes on the first Monday of the month.")
    assert (claim.entity, claim.attribute, claim.value) == (None, None, None)
    assert claim.confidence <= 0.5


@pytest.mark.requirement("R-040", "D-005")
@pytest.mark.parametrize("text", ["might go veggie after christmas", "tempted to get a campervan next spring"])
def test_what_is_not_settled_is_a_plan_at_most(text: str) -> None:
    claim = only(text)
    assert claim.stance in {Stance.CONSIDERED, Stance.PLANNED}
    assert claim.confidence <= 0.5


def test_what_another_speaker_asks_for_is_no_instruction() -> None:
    asked = "Tabs, not spaces, in every file."
    assert only(asked).type is MemoryType.PREFERENCE
    assert hear(asked, Role.PERSON, "Caroline") == []


def test_an_unnamed_person_and_a_quotation_give_nothing() -> None:
    assert hear("They moved to the harbour last week.") == []
    assert hear('In the play somebody shouts "no sugar in my tea".') == []


def test_a_longer_turn_must_be_surer_and_stand_by_itself() -> None:
    talk = "What a week it has been for everyone around here, honestly! "
    assert hear(talk + "It comes on the first Monday of the month.") == []


def test_shares_are_of_all_labels() -> None:
    found = worth_of("I keep bees.")
    assert len(found.shares) == len(LABELS)
    assert sum(found.shares) == pytest.approx(1.0)
    assert found.kept + found.unsure + found.shares[0] == pytest.approx(1.0)


def test_packed_weights_add_up_as_they_are_written() -> None:
    text = "My sister keeps bees in Linz."
    table = {sign: [int(number) for number in numbers] for sign, *numbers in load_weights("worth").rows}
    added = [sum(table[sign][at] for sign in signs_of(text) if sign in table) for at in range(len(LABELS))]
    shares = worth_of(text).shares
    assert max(LABELS, key=lambda label: added[LABELS.index(label)]) == LABELS[shares.index(max(shares))]


@pytest.mark.parametrize("text", ["", "?", "a", "word " * 500, "\u4f60\u597d"])
def test_any_text_has_signs(text: str) -> None:
    assert "o:*" in signs_of(text)
    assert sum(worth_of(text).shares) == pytest.approx(1.0)


def test_the_weights_were_fitted_on_the_sentences_that_are_there() -> None:
    noted = load_weights("worth").notes["data"]
    assert noted == [
        f"{name} sha256:{hashlib.sha256((DATA / name).read_bytes()).hexdigest()[:16]}"
        for name in ("utterances_tuning.jsonl", "utterances_judge.jsonl", "pairs_tuning.jsonl")
    ], "run benchmarks/fit_worth.py --write"


def test_the_weights_are_few_and_written_for_every_label() -> None:
    rows = load_weights("worth").rows
    assert sum(len("\t".join(row).encode()) + 1 for row in rows) < BYTES_MAX
    assert len({sign for sign, *_ in rows}) == len(rows)
    assert {len(numbers) for _, *numbers in rows} == {len(LABELS)}
