"""Slots that hold several values, and denials in both kinds of slot."""

import pytest

from credenda.model.claim import UpdateKind
from credenda.model.memory import Relation, Stance, Status

from .build import World, claim, day, kinds, likes


@pytest.mark.requirement("D-007")
def test_values_of_a_set_live_side_by_side() -> None:
    world = World()
    world.tell(likes("FastAPI", "uses_framework"))
    changes = world.tell(likes("React", "uses_framework"), at=1)
    assert kinds(changes) == ["Add"]
    assert world.values() == ["FastAPI", "React"]


@pytest.mark.requirement("D-007")
def test_where_sayings_disagree_about_how_many_values_there_are_both_stand() -> None:
    world = World()
    world.tell(likes("coffee"))
    world.tell(claim("tea", "drink"), at=1)
    assert world.values() == ["coffee", "tea"]


@pytest.mark.requirement("D-007")
def test_no_longer_ends_exactly_that_value() -> None:
    world = World()
    world.tell(likes("coffee"))
    world.tell(likes("green tea"))
    changes = world.tell(likes("coffee", move=UpdateKind.END, stance=Stance.NEGATED), at=9)
    assert kinds(changes) == ["Add", "Supersede"]
    ended = world.memories["m1-abc123"]
    assert (ended.status, ended.relation, ended.valid_until_us) == (Status.SUPERSEDED, Relation.CHANGED, day(9))
    denial = world.of("coffee")
    assert (denial.id, denial.stance, denial.status) == (ended.superseded_by, Stance.NEGATED, Status.ACTIVE)
    assert world.of("green tea").status is Status.ACTIVE


def test_an_ending_is_a_denial_whatever_its_stance_and_may_name_its_time() -> None:
    world = World()
    world.tell(likes("coffee"))
    world.tell(likes("coffee", move=UpdateKind.END, valid_until_us=day(4)), at=9)
    denial = world.of("coffee")
    assert (denial.stance, denial.valid_from_us, denial.valid_until_us) == (Stance.NEGATED, day(4), None)
    assert world.memories["m1-abc123"].valid_until_us == day(4)


def test_naming_only_what_is_wrong_denies_it() -> None:
    world = World()
    world.tell(claim("Graz"))
    world.tell(claim(None, prior="Graz", move=UpdateKind.CORRECT, text="No, not Graz"), at=1)
    assert world.of("Graz").stance is Stance.NEGATED
    assert world.memories["m1-abc123"].relation is Relation.CORRECTED


@pytest.mark.requirement("D-007")
@pytest.mark.parametrize(
    ("move", "relation"), [(UpdateKind.CORRECT, Relation.CORRECTED), (UpdateKind.CHANGE, Relation.CHANGED)]
)
def test_a_value_named_as_past_ends_and_the_others_stay(move: UpdateKind, relation: Relation) -> None:
    world = World()
    for value in ("React", "FastAPI"):
        world.tell(likes(value, "uses_framework"))
    world.tell(likes("Vue", "uses_framework", move=move, prior="React"), at=1)
    assert world.values() == ["FastAPI", "Vue"]
    assert world.of("React").relation is relation


def test_a_value_named_as_past_ends_though_the_new_one_was_known() -> None:
    world = World()
    for value in ("React", "Vue"):
        world.tell(likes(value, "uses_framework"))
    changes = world.tell(likes("Vue", "uses_framework", move=UpdateKind.CORRECT, prior="React"), at=1)
    assert kinds(changes) == ["Confirm", "Supersede"]
    assert world.values() == ["Vue"]
    assert world.of("React").superseded_by == world.of("Vue").id


@pytest.mark.requirement("C-004")
def test_denying_what_none_held_is_kept_as_a_denial() -> None:
    world = World()
    world.tell(claim("Linz"))
    changes = world.tell(claim("Graz", stance=Stance.NEGATED), at=1)
    assert kinds(changes) == ["Add"]
    assert world.of("Linz").status is Status.ACTIVE
    assert kinds(world.tell(claim("Graz", stance=Stance.NEGATED), at=2)) == ["Confirm"]


@pytest.mark.parametrize("single", [True, False])
def test_what_was_ended_can_be_taken_up_again(*, single: bool) -> None:
    world = World()
    make = claim if single else likes
    world.tell(make("fish", "eats"))
    world.tell(make("fish", "eats", move=UpdateKind.END), at=1)
    changes = world.tell(make("fish", "eats"), at=40)
    assert kinds(changes) == ["Add", "Supersede"]
    first, denial, second = world.memories.values()
    assert (denial.status, denial.relation) == (Status.SUPERSEDED, Relation.CHANGED)
    assert second.status is Status.ACTIVE
    assert first.status is Status.SUPERSEDED, "the two periods are kept apart"
    assert second.valid_from_us == day(40)


def test_a_new_value_replaces_the_current_one_and_leaves_denials_of_others() -> None:
    world = World()
    world.tell(claim("Graz", stance=Stance.NEGATED))
    world.tell(claim("Linz"), at=1)
    world.tell(claim("Wels"), at=2)
    assert world.values() == ["Graz", "Wels"]
