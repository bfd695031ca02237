"""When extraction fails, the words themselves are kept, and marked."""

import pytest

from credenda.limits import VERBATIM_CHARACTERS
from credenda.model.claim import Claim, Turn
from credenda.model.event import Role
from credenda.model.memory import MemoryType
from credenda.write.extract.voices import VerbatimExtractor

from .build import event


def keep(text: str, role: Role = Role.USER, speaker: str = "user") -> list[Claim]:
    return VerbatimExtractor().extract(Turn(event=event(text, role, speaker)))


@pytest.mark.requirement("R-050", "R-051", "R-052")
def test_the_words_become_one_provisional_memory_of_low_confidence() -> None:
    (claim,) = keep("  anything at all, even junk ")
    assert (claim.text, claim.type, claim.provisional) == ("anything at all, even junk", MemoryType.FACT, True)
    assert (claim.entity, claim.attribute, claim.value, claim.confidence <= 0.3) == (None, None, None, True)
    assert (claim.span.start, claim.span.stop) == (2, 28)


@pytest.mark.requirement("R-050")
@pytest.mark.parametrize("text", ["word " * 300, "x" * 2_000, "é" * 501])
def test_a_long_text_is_cut(text: str) -> None:
    (claim,) = keep(text)
    assert 0 < len(claim.text) <= VERBATIM_CHARACTERS
    assert text[claim.span.start : claim.span.stop] == claim.text


@pytest.mark.requirement("R-050")
def test_a_word_is_not_cut_in_two() -> None:
    (claim,) = keep("seven77 " * 100)
    assert claim.text.endswith("seven77")


@pytest.mark.requirement("R-051")
@pytest.mark.parametrize(("text", "role"), [("", Role.USER), (" \n", Role.USER), ("I am an AI.", Role.ASSISTANT)])
def test_blank_text_and_assistants_give_nothing(text: str, role: Role) -> None:
    assert keep(text, role, role.value) == []


@pytest.mark.requirement("R-052")
def test_a_persons_words_are_that_persons() -> None:
    (claim,) = keep("hmm", Role.PERSON, "Caroline")
    assert claim.speaker == "Caroline"
