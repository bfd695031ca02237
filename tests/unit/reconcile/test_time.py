"""Claims about other times: imported late, told as past, still to come."""

import pytest

from credenda.model.claim import UpdateKind
from credenda.model.memory import (
    Relation,
    Stance,
    Status,
    get_believed_from_us,
    get_valid_from_us,
    has_unknown_start,
)

from .build import World, claim, day, kinds, likes


@pytest.mark.requirement("R-080")
def test_an_older_event_imported_late_takes_its_place_in_the_past() -> None:
    world = World()
    world.tell(claim("Linz"), at=100)
    changes = world.tell(claim("Graz"), at=10)
    assert kinds(changes) == ["Add", "Supersede"]
    old = world.of("Graz")
    assert (old.status, old.relation, old.superseded_by) == (Status.SUPERSEDED, Relation.CHANGED, "m1-abc123")
    assert (world.true_at(50), world.true_at(150)) == (["Graz"], ["Linz"])
    assert world.of("Linz").status is Status.ACTIVE


@pytest.mark.requirement("R-080")
def test_what_is_told_late_cuts_short_the_period_that_it_falls_into() -> None:
    world = World()
    world.tell(claim("Linz"), at=0)
    world.tell(claim("Vienna"), at=100)
    world.tell(claim("Graz"), at=40)
    assert [world.true_at(at) for at in (20, 39, 40, 99, 100)] == [["Linz"], ["Linz"], ["Graz"], ["Graz"], ["Vienna"]]
    assert world.of("Linz").superseded_by == world.of("Graz").id


def test_a_doubtful_late_claim_cuts_nothing_short() -> None:
    world = World()
    world.tell(claim("Linz"), at=0)
    world.tell(claim("Vienna"), at=100)
    world.tell(claim("Graz"), at=40, trust=0.4)
    assert "Linz" in world.true_at(60)


@pytest.mark.requirement("R-080")
def test_a_stated_time_before_the_current_value_is_backfill_too() -> None:
    world = World()
    world.tell(claim("Linz", valid_from_us=day(100)), at=200)
    world.tell(claim("Graz", valid_from_us=day(10)), at=201)
    assert world.values() == ["Linz"]
    assert world.true_at(50) == ["Graz"]


@pytest.mark.requirement("R-080")
def test_words_of_change_said_later_are_about_the_present_whatever_date_they_name() -> None:
    world = World()
    world.tell(claim("Graz"), at=100)
    world.tell(claim("Linz", move=UpdateKind.CHANGE, valid_from_us=day(80)), at=120)
    assert world.values() == ["Linz"]
    assert (world.of("Graz").valid_from_us, world.of("Graz").valid_until_us) == (None, day(80))
    assert [world.true_at(at) for at in (10, 79, 80, 130)] == [["Graz"], ["Graz"], ["Linz"], ["Linz"]]


@pytest.mark.parametrize("since", [None, 10])
def test_a_value_that_had_ended_was_true_until_then_since_an_unknown_time(since: float | None) -> None:
    world = World()
    world.tell(claim("Graz", valid_from_us=None if since is None else day(since), valid_until_us=day(40)), at=100)
    old = world.of("Graz")
    assert (old.status, old.valid_until_us) == (Status.SUPERSEDED, day(40))
    assert (old.valid_from_us, has_unknown_start(old)) == ((None, True) if since is None else (day(10), False))
    assert get_valid_from_us(old) < day(40)
    assert (get_believed_from_us(old) < day(-10_000)) is (since is None)


def test_a_value_that_is_only_over_had_ended_before_the_present_one_began() -> None:
    world = World()
    world.tell(claim("Linz", valid_from_us=day(20)), at=90)
    world.tell(claim("Graz", valid_until_us=day(100)), at=100)
    assert (world.of("Graz").valid_from_us, world.of("Graz").valid_until_us) == (None, day(20))


def test_a_value_told_of_an_earlier_time_began_then() -> None:
    world = World()
    world.tell(claim("Graz"), at=100)
    assert kinds(world.tell(claim("Graz"), at=10)) == ["Confirm", "Revise"]
    assert world.of("Graz").valid_from_us == day(10)
    assert kinds(world.tell(claim("Graz", valid_from_us=day(-40)), at=120)) == ["Confirm", "Revise"]
    assert world.of("Graz").valid_from_us == day(-40)


def test_a_value_whose_place_another_held_in_between_does_not_begin_earlier() -> None:
    world = World()
    world.tell(claim("Linz"), at=0)
    world.tell(claim("Graz", move=UpdateKind.CHANGE), at=100)
    assert "Revise" not in kinds(world.tell(claim("Graz"), at=50))
    assert world.of("Graz").valid_from_us == day(100)


def test_a_value_that_a_less_trusted_source_tells_earlier_begins_when_the_user_told_it() -> None:
    world = World()
    world.tell(claim("Graz"), at=100)
    world.tell(claim("Graz"), at=10, trust=0.4)
    assert world.of("Graz").valid_from_us == day(100)


def test_a_value_holds_until_the_coming_day_on_which_it_ends() -> None:
    world = World()
    world.tell(claim("Graz"), at=0)
    changes = world.tell(claim("Graz", move=UpdateKind.END, valid_from_us=day(30)), at=2, now_us=day(2))
    assert kinds(changes) == ["Confirm", "Revise"]
    assert (world.of("Graz").status, world.of("Graz").valid_until_us) == (Status.ACTIVE, day(30))


def test_a_doubtful_end_on_a_coming_day_limits_nothing() -> None:
    world = World()
    world.tell(claim("Graz"), at=0)
    world.tell(claim("Graz", move=UpdateKind.END, valid_from_us=day(30)), at=2, now_us=day(2), trust=0.4)
    assert world.of("Graz").valid_until_us is None


def test_a_correction_is_never_backfill() -> None:
    world = World()
    world.tell(claim("Graz"), at=100)
    world.tell(claim("Linz", move=UpdateKind.CORRECT), at=50)
    assert world.values() == ["Linz"]


def test_what_was_already_known_of_a_time_is_confirmed() -> None:
    world = World()
    world.tell(claim("Graz"), at=0)
    world.tell(claim("Linz"), at=100)
    assert kinds(world.tell(claim("Graz"), at=50)) == ["Confirm"], "it lies in a known period"
    assert world.of("Graz").confirmations == 1


def test_the_current_value_said_of_an_earlier_time_is_confirmed_unless_another_lay_between() -> None:
    plain, between = World(), World()
    plain.tell(claim("Linz"), at=100)
    assert kinds(plain.tell(claim("Linz"), at=50)) == ["Confirm", "Revise"]
    between.tell(claim("Graz"), at=60)
    between.tell(claim("Linz"), at=100)
    between.tell(claim("Linz"), at=50)
    assert between.true_at(55) == ["Linz"]
    assert between.true_at(70) == ["Graz"]


def test_a_current_value_with_its_true_beginning_is_only_confirmed() -> None:
    world = World()
    world.tell(claim("Graz"), at=10)
    world.tell(claim("Linz"), at=100)
    assert kinds(world.tell(claim("Linz", valid_from_us=day(5)), at=120)) == ["Confirm"]


def test_late_backfill_of_an_ended_value() -> None:
    world = World()
    world.tell(likes("fish"), at=10)
    world.tell(likes("fish", move=UpdateKind.END), at=50)
    assert kinds(world.tell(likes("fish"), at=20)) == ["Confirm"]
    assert [one.stance for one in world.memories.values() if one.status is Status.ACTIVE] == [Stance.NEGATED]


def test_a_late_denial_ends_nothing_that_was_said_later() -> None:
    world = World()
    world.tell(claim("Linz"), at=100)
    world.tell(claim("Linz", move=UpdateKind.END), at=50)
    assert world.values() == ["Linz"]
    assert world.memories["m1-abc123"].status is Status.ACTIVE


def test_a_value_named_as_past_survives_if_it_was_said_again_since() -> None:
    world = World()
    world.tell(likes("React"), at=100)
    world.tell(likes("Vue", move=UpdateKind.CHANGE, prior="React"), at=50)
    assert world.values() == ["React", "Vue"]


@pytest.mark.requirement("S-055")
def test_what_is_told_as_past_is_kept_as_past() -> None:
    world = World()
    world.tell(claim("Microsoft", "employer"))
    changes = world.tell(claim("Google", "employer", valid_from_us=day(-900), valid_until_us=day(-300)), at=1)
    assert kinds(changes) == ["Add", "Supersede"]
    assert world.values() == ["Microsoft"]
    assert world.of("Google").superseded_by is None
    assert world.true_at(-500) == ["Google"]


def test_what_was_over_when_it_was_told_ends_the_memory_of_it() -> None:
    world = World()
    world.tell(claim("Acme", "employer"))
    changes = world.tell(claim("Acme", "employer", valid_until_us=day(20)), at=30)
    assert kinds(changes) == ["Confirm", "Supersede"]
    assert (world.values(), world.true_at(10), world.true_at(25)) == ([], ["Acme"], [])
    assert kinds(world.tell(claim("Acme", "employer", valid_until_us=day(20)), at=31)) == ["Confirm"]


def test_a_stated_end_still_to_come_bounds_the_old_period() -> None:
    world = World()
    world.tell(claim("Rome", valid_until_us=day(5)))
    world.tell(claim("Linz"), at=10)
    assert world.of("Rome").valid_until_us == day(5)


def test_what_is_yet_to_come_replaces_nothing_and_is_taken_over_when_it_comes() -> None:
    world = World()
    world.tell(claim("Acme", "employer"), now_us=day(0))
    coming = claim("Globex", "employer", move=UpdateKind.CHANGE, valid_from_us=day(60))
    assert kinds(world.tell(coming, at=1, now_us=day(1))) == ["Add", "Revise"]
    assert world.of("Acme").valid_until_us == day(60), "it holds until the coming value begins"
    assert world.of("Acme").status is Status.ACTIVE
    assert kinds(world.tell(coming, at=2, now_us=day(2))) == ["Confirm"]
    assert world.true_at(30) == ["Acme"]
    world.tell(claim("Initech", "employer"), at=20, now_us=day(20))
    assert world.values() == ["Globex", "Initech"], "a value of the present leaves the coming one alone"
    world.tell(claim("Globex", "employer", move=UpdateKind.CHANGE), at=61, now_us=day(61))
    assert world.values() == ["Globex"]
    assert world.true_at(70) == ["Globex"]


def test_what_is_yet_to_come_can_be_called_off() -> None:
    world = World()
    world.tell(claim("Globex", "employer", valid_from_us=day(60)), now_us=day(0))
    world.tell(claim("Globex", "employer", move=UpdateKind.END), at=5, now_us=day(5))
    assert world.of("Globex").stance is Stance.NEGATED
    assert world.memories["m1-abc123"].status is Status.SUPERSEDED
