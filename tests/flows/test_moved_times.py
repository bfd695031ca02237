"""Times of things that were moved, and moved back: whose thing it is need not be told again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda
from credenda.model.memory import Status

Say = Callable[..., None]


@pytest.mark.parametrize(
    "story",
    [
        ("My standup is at 9.", "The standup moved to 10.", "The standup is back at 9."),
        ("My standup is at 9.", "My standup moved to 10.", "My standup is at 9 again."),
        (
            "The weekly sync is on Mondays.",
            "The weekly sync is now on Thursdays.",
            "The weekly sync is on Mondays again, as before.",
        ),
        (
            "Our weekly sync is on Mondays.",
            "Our weekly sync moved to Thursdays.",
            "Our weekly sync is on Mondays again.",
        ),
        ("The retro is on Fridays.", "The retro got moved to Tuesdays.", "The retro is back on Fridays."),
        ("My gym class is at 18:00.", "The gym class is at 19:00 now.", "The gym class is back at 18:00."),
        (
            "Our team lunch is on Wednesdays.",
            "The team lunch is on Thursdays now.",
            "The team lunch is back on Wednesdays.",
        ),
    ],
)
def test_a_moved_time_takes_the_place_of_the_one_before_and_its_return_is_asked_about(
    mem: Credenda, say: Say, story: tuple[str, str, str]
) -> None:
    say(*story[:2])
    (first, second) = sorted(mem.list(status=None).items, key=lambda one: one.status.value)
    assert (first.status, second.status) == (Status.ACTIVE, Status.SUPERSEDED)
    say(story[2])
    (case,) = mem.manage.contests()
    assert len(case.values) == 2


@pytest.mark.parametrize(
    "story",
    [
        ("The weekly sync is on Mondays.", "Our weekly sync moved to Thursdays."),
        ("Bin day is Tuesday.", "Bin day is Wednesday now."),
    ],
)
def test_a_thing_that_is_called_ours_is_the_one_of_that_name(mem: Credenda, say: Say, story: tuple[str, str]) -> None:
    say(*story)
    assert len(mem.list().items) == 1


@pytest.mark.parametrize(
    "story",
    [
        ("The standup is at 9.", "The standup is at 10 today."),
        ("The standup is at 9.", "The standup is at 10 this week."),
        ("My standup is at 9.", "The standup is also at 15:00 on Fridays now."),
        ("The standup is at 9.", "The standup was at 10 yesterday."),
        ("The retro is on Fridays.", "The retro is on Tuesdays."),
        ("The standup is at 9.", "The retro moved to 10."),
    ],
)
def test_a_time_for_once_or_beside_or_without_words_of_a_move_ends_none(
    mem: Credenda, say: Say, story: tuple[str, str]
) -> None:
    say(*story)
    assert all(one.status is Status.ACTIVE for one in mem.list(status=None).items)
    assert len(mem.list().items) == 2


@pytest.mark.parametrize("words", ["my dog Biscuit is 3 today", "I'm 34 today.", "My daughter Emma is 7 today!"])
def test_an_age_that_is_reached_today_holds_on(mem: Credenda, say: Say, words: str) -> None:
    say(words)
    (age,) = mem.list(attribute="age").items
    assert age.valid_until_us is None
