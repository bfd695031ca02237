"""Likings are filed under their topic, where it is clear, and remain likings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda

pytestmark = pytest.mark.usefixtures("with_parser")
Say = Callable[..., None]


def list_values(mem: Credenda, attribute: str, status: str = "active") -> set[tuple[str | None, str]]:
    found = mem.list(status=status, limit=50).items
    return {(one.value, one.stance.value) for one in found if one.attribute == attribute}


def test_a_question_for_a_topic_finds_what_is_liked_of_it(mem: Credenda, say: Say) -> None:
    say("I love jazz.", "I'm a big soccer fan!", "I live in Graz.", "I enjoy sushi.", "I like green tea.")
    for question, answer in [("What music do I like?", "jazz"), ("Which food do I like?", "sushi")]:
        assert answer in mem.search(question, limit=1).hits[0].text
    assert list_values(mem, "sport") == {("soccer", "asserted")}


def test_one_liked_thing_never_replaces_another(mem: Credenda, say: Say) -> None:
    say("I love sushi.", "I love pizza.", "I like pasta now.", "I don't like mushrooms.")
    liked = {("sushi", "asserted"), ("pizza", "asserted"), ("pasta", "asserted"), ("mushrooms", "negated")}
    assert list_values(mem, "food") == liked
    assert list_values(mem, "food", "superseded") == set()


def test_whoever_dislikes_what_was_liked_likes_it_no_more(mem: Credenda, say: Say) -> None:
    say("I love jazz.", "I love blues.", "I love disco.", "I love hikes.", "I love operas.")
    say("I hate jazz now.", "I don't like blues anymore.", "I no longer like disco.", "I hate hikes now.")
    gone = {("jazz", "asserted"), ("blues", "asserted"), ("disco", "asserted")}
    assert list_values(mem, "music", "superseded") == gone
    assert list_values(mem, "music") == {("blues", "negated"), ("disco", "negated"), ("operas", "asserted")}
    assert list_values(mem, "hobby", "superseded") == {("hikes", "asserted")}


def test_what_was_disliked_may_be_liked_later(mem: Credenda, say: Say) -> None:
    say("I hate mushrooms.", "I love mushrooms now!")
    assert list_values(mem, "food") == {("mushrooms", "asserted")}
    assert list_values(mem, "dislikes") == set()


def test_only_a_dislike_ends_a_liking_and_nothing_else(mem: Credenda, say: Say) -> None:
    say("I love guitars.", "I sold my guitars.", "My book is Dune.", "I hate Dune.")
    assert ("guitars", "asserted") in list_values(mem, "music")
    assert ("Dune", "asserted") in list_values(mem, "book")
