"""The table of statuses."""

import pytest

from credenda.errors import Conflict
from credenda.model.memory import TRANSITIONS, UNTRUE, Status, check_transition


@pytest.mark.requirement("E-015", "E-016", "E-017", "E-018", "E-019", "E-021")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (Status.ACTIVE, Status.CHALLENGED),
        (Status.CHALLENGED, Status.ACTIVE),
        (Status.CHALLENGED, Status.INVALIDATED),
        (Status.ACTIVE, Status.MERGED),
        (Status.ACTIVE, Status.SUPERSEDED),
        (Status.ACTIVE, Status.ARCHIVED),
        (Status.ARCHIVED, Status.ACTIVE),
        (Status.CANDIDATE, Status.ACTIVE),
        (Status.SUPERSEDED, Status.ACTIVE),
        (Status.INVALIDATED, Status.ACTIVE),
    ],
)
def test_the_ways_a_belief_goes_are_open(old: Status, new: Status) -> None:
    check_transition(old, new)


@pytest.mark.requirement("E-021")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (Status.DELETED, Status.ACTIVE),
        (Status.DELETED, Status.FORGOTTEN),
        (Status.ACTIVE, Status.CANDIDATE),
        (Status.SUPERSEDED, Status.MERGED),
        (Status.INVALIDATED, Status.ARCHIVED),
        (Status.MERGED, Status.SUPERSEDED),
        (Status.ACTIVE, Status.ACTIVE),
    ],
)
def test_other_ways_are_closed_and_the_error_names_the_status(old: Status, new: Status) -> None:
    with pytest.raises(Conflict, match=old.value):
        check_transition(old, new)


def test_every_status_has_its_ways_and_only_deletion_is_final() -> None:
    assert set(TRANSITIONS) == set(Status)
    assert [old for old, ways in TRANSITIONS.items() if not ways] == [Status.DELETED]
    assert all(Status.DELETED in ways for old, ways in TRANSITIONS.items() if old is not Status.DELETED)


def test_what_was_forgotten_can_be_restored_to_any_status_it_had() -> None:
    for old in set(Status) - {Status.FORGOTTEN, Status.DELETED}:
        check_transition(old, Status.FORGOTTEN)
        check_transition(Status.FORGOTTEN, old)


@pytest.mark.requirement("C-014")
def test_what_is_held_can_become_untrue_in_each_way() -> None:
    assert all(TRANSITIONS[old] >= UNTRUE for old in (Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED))
