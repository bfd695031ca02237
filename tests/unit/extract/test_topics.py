"""The topic of what somebody likes."""

from __future__ import annotations

import pytest

from credenda.model.attributes import TASTES, get_attribute
from credenda.model.claim import Claim, Span
from credenda.model.memory import Cardinality, MemoryType
from credenda.write.extract.topics import find_topic, name_topic


@pytest.mark.parametrize(
    ("value", "topic"),
    [
        ("live music", "music"),
        ("jazz", "music"),
        ("the Beatles", "music"),
        ("delicious Tiramisu", "food"),
        ("Sardines", "food"),
        ("fish", "food"),
        ("green tea", "drink"),
        ("a wide variety of sweets", "food"),
        ("hot dogs", "food"),
        ("dogs", ""),
        ("eggs in any form", "food"),
        ("game of padel, or badminton", "game"),
        ("historical fiction novels", "book"),
        ("fantasy movies", "film"),
        ("rock climbing", "sport"),
        ("hikes", "hobby"),
        ("growing cherry tomatoes", ""),
        ("Game of Thrones", ""),
        ("helping people", ""),
        ("food", ""),
        ("", ""),
        ("!", ""),
    ],
)
def test_a_noun_phrase_has_the_topic_of_its_noun_if_that_is_clear(value: str, topic: str) -> None:
    assert find_topic(value) == topic


def test_only_a_liking_is_filed_under_its_topic() -> None:
    span = Span("e1", 0, 11)
    liked = Claim(text="I love jazz", type=MemoryType.PREFERENCE, span=span, attribute="likes", value="jazz")
    hated = Claim(text="I hate jazz", type=MemoryType.PREFERENCE, span=span, attribute="dislikes", value="jazz")
    assert name_topic(liked).attribute == "music"
    assert name_topic(hated) == hated


def test_several_values_of_a_topic_stand_side_by_side() -> None:
    assert {get_attribute(name).cardinality for name in TASTES} == {Cardinality.SET}
