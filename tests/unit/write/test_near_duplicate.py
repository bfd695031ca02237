"""What may repeat, what surely does, and what only lies near by its vector."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.model.memory import Memory, MemoryType, Stance
from credenda.write.indexing import is_exact_repeat, may_repeat


def memory(text: str, **fields: object) -> Memory:
    bare = Memory(text=text, type=MemoryType.FACT, id="m1-x", version=1, created_us=0, recorded_us=0)
    return replace(bare, **fields)  # type: ignore[arg-type]


SAME = [
    ("I saw an owl in the garden.", "Saw an owl in the garden!"),
    ("Really, I saw an owl in the garden.", "I saw the owl in my garden."),
]
NEAR = [
    ("Spotted an owl in the garden.", "I saw an owl in the garden."),
    ("I visited the coast.", "I visit the coast."),
]
APART = [
    ("My rate is 40 euros.", "My rate is 45 euros."),
    ("I eat meat.", "I do not eat meat."),
    ("I don\u2019t eat meat.", "I eat meat."),
    ("Yesterday Ana lent me a book.", "Yesterday Ben lent me a book."),
]


@pytest.mark.requirement("E-048")
@pytest.mark.parametrize(("one", "other"), SAME)
def test_filling_words_do_not_tell_memories_apart(one: str, other: str) -> None:
    assert is_exact_repeat(memory(one), memory(other))


@pytest.mark.parametrize(("one", "other"), NEAR)
def test_other_words_may_repeat_and_never_surely_do(one: str, other: str) -> None:
    assert may_repeat(memory(one), memory(other))
    assert not is_exact_repeat(memory(one), memory(other))


@pytest.mark.requirement("E-048")
@pytest.mark.parametrize(("one", "other"), APART)
def test_numbers_names_and_negations_tell_memories_apart(one: str, other: str) -> None:
    assert not may_repeat(memory(one), memory(other))


@pytest.mark.parametrize(
    "fields",
    [
        {"speaker": "Ana"},
        {"stance": Stance.HYPOTHETICAL},
        {"type": MemoryType.DECISION},
        {"scope": "at work"},
        {"topic": "health"},
        {"entity": "sister"},
        {"attribute": "drink", "value": "coffee"},
        {"attribute": "breakfast", "value": "tea"},
    ],
)
def test_the_same_words_of_another_place_are_another_memory(fields: dict[str, object]) -> None:
    one = memory("Drinks tea.", entity="user", attribute="drink", value="tea")
    assert may_repeat(one, replace(one, id="m2-x"))
    assert not may_repeat(one, replace(one, **fields))  # type: ignore[arg-type]


@given(st.text(max_size=60), st.text(max_size=60))
def test_likeness_goes_both_ways(one: str, other: str) -> None:
    first, second = memory(one), memory(other)
    assert may_repeat(first, first)
    assert may_repeat(first, second) == may_repeat(second, first)
    assert is_exact_repeat(first, second) == is_exact_repeat(second, first)
    assert may_repeat(first, second) or not is_exact_repeat(first, second)
