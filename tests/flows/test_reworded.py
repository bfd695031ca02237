"""What a tombstone covers: the deleted sentence, and other words for the same slot and value; not a paraphrase."""

from __future__ import annotations

import pytest

from credenda import Credenda


@pytest.fixture
def forgetful(mem: Credenda) -> Credenda:
    """A memory from which an allergy was deleted."""
    mem.remember("I'm allergic to peanuts.")
    mem.settle()
    (memory,) = mem.list(attribute="allergy").items
    mem.delete(memory.id)
    return mem


@pytest.mark.requirement("S-063")
@pytest.mark.parametrize(
    "text", ["I'm allergic to peanuts!", "i am allergic to PEANUTS", "I have an allergy to peanuts."]
)
def test_other_words_for_the_same_value_are_refused(forgetful: Credenda, text: str) -> None:
    receipt = forgetful.remember(text)
    forgetful.settle()
    assert receipt.refused
    assert not forgetful.list(attribute="allergy").items


@pytest.mark.requirement("S-063")
def test_a_paraphrase_that_names_no_slot_is_new(forgetful: Credenda) -> None:
    """The limit, stated in docs/reference/forgetting.md: nothing recognises it, so it is kept like anything new."""
    receipt = forgetful.remember("My throat swells up when somebody opens a jar of groundnut butter.")
    forgetful.settle()
    assert not receipt.refused
    assert any("groundnut" in hit.quote for hit in forgetful.search("groundnut butter").hits)
