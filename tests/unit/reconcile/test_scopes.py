"""Scopes and speakers make slots of their own."""

import pytest

from credenda.model.claim import UpdateKind
from credenda.model.memory import MemoryType, Relation

from .build import World, claim, kinds, prefers


@pytest.mark.requirement("C-006", "R-087")
def test_values_of_different_scopes_live_side_by_side() -> None:
    world = World()
    world.tell(prefers("Black", "formatter", scope="Python"))
    world.tell(prefers("gofmt", "formatter", scope="Go"))
    world.tell(prefers("prettier", "formatter"))
    assert world.values() == ["Black", "gofmt", "prettier"]


@pytest.mark.requirement("C-006")
def test_a_scope_is_compared_in_normal_form() -> None:
    world = World()
    world.tell(prefers("Black", "formatter", scope="Python"))
    world.tell(prefers("Ruff", "formatter", scope=" python "), at=1)
    assert world.values() == ["Ruff"]


@pytest.mark.requirement("R-087")
def test_a_scoped_value_repeated_without_its_scope_confirms_the_scoped_one() -> None:
    world = World()
    world.tell(prefers("tabs", "indentation"))
    world.tell(prefers("spaces", "indentation", scope="Python"))
    changes = world.tell(prefers("spaces", "indentation"), at=1)
    assert kinds(changes) == ["Confirm"]
    assert world.of("spaces").confirmations == 1
    assert world.values() == ["tabs", "spaces"]


@pytest.mark.requirement("R-087")
def test_words_of_change_are_no_mere_repetition() -> None:
    world = World()
    world.tell(prefers("tabs", "indentation"))
    world.tell(prefers("spaces", "indentation", scope="Python"))
    world.tell(prefers("spaces", "indentation", move=UpdateKind.CHANGE), at=1)
    assert world.values() == ["spaces", "spaces"]
    assert world.of("tabs").relation is Relation.CHANGED


@pytest.mark.requirement("C-004")
def test_slots_never_cross_speakers() -> None:
    world = World()
    world.tell(claim("Linz"))
    changes = world.tell(claim("Graz", speaker="Ana"), at=1)
    assert kinds(changes) == ["Add"]
    same_words = world.tell(claim("Linz", speaker="Ana"), at=2)
    assert kinds(same_words) == ["Add", "Supersede"]
    assert world.of("Graz").speaker == "Ana"
    assert world.values() == ["Linz", "Linz"]


@pytest.mark.requirement("C-004")
def test_the_same_words_of_two_speakers_are_two_memories() -> None:
    world = World()
    world.tell(claim(None, None, text="The build is green"))
    assert kinds(world.tell(claim(None, None, text="The build is green", speaker="Ana"))) == ["Add"]


@pytest.mark.requirement("S-096")
def test_a_fact_across_topics_is_forced_into_none() -> None:
    world = World()
    deploy = claim("AWS", "deployment", type=MemoryType.PROCEDURE, scope="Fridays", text="Deploy to AWS on Fridays")
    world.tell(deploy)
    assert world.of("AWS").topic is None
    changes = world.tell(deploy, at=1, topic="work")
    assert kinds(changes) == ["Confirm"], "a topic is no part of a slot"
