"""Values that come back, told as people write: asked about once, or a change where the words say what is over."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from credenda import Credenda
from credenda.model.memory import Memory, Stance, Status

Say = Callable[..., None]

ASKED = [
    ("My employer is Zalando.", "I left Zalando and joined Delivery Hero.", "I re-joined Zalando last week."),
    ("I live in Turin with my sister", "Since last week I live in Milan", "So, Turin again! I couldn't stand it."),
    ("I live in Seville.", "I live in Malaga these days", "I'm in Seville again, for keeps this time."),
    ("I follow a keto diet.", "I dropped keto and follow a Mediterranean diet.", "It's keto once more for me."),
    (
        "I prefer to train in the evening.",
        "I prefer to train before breakfast now.",
        "The early shift is over, I'm training in the evening again as I used to.",
    ),
    (
        "I'm a freelance illustrator.",
        "I took a job as an art director.",
        "Agency life wasn't for me, I'm a freelance illustrator again.",
    ),
    ("My editor is Vim.", "My editor is VS Code now.", "We've reverted to Vim."),
    ("I write my code in Emacs.", "I write my code in PyCharm now.", "I write my code in Emacs again."),
    ("I'm on a sugar-free diet.", "I eat normally now.", "Going sugar-free again since Monday."),
    (
        "My email client is Thunderbird.",
        "My email client is Outlook now.",
        "I'm using Thunderbird as my email client again.",
    ),
    ("My doctor is Dr. Roth.", "My doctor is Dr. Stein now.", "I've returned to Dr. Roth."),
    (
        "My girlfriend Chloe loves hiking.",
        "Chloe dumped me. My girlfriend is Ivy now.",
        "Ivy moved abroad. I'm with Chloe again.",
    ),
]
CHANGED = [
    ("I work at Bosch.", "I'm with Siemens now.", "Siemens didn't work out, so I'm back at Bosch.", "Siemens"),
    ("My bank is ING.", "I changed my bank to N26.", "N26 locked my account, so I returned to ING.", "N26"),
    ("I live in Cork.", "I live in Galway now.", "Galway got too expensive so we relocated back to Cork.", "Galway"),
]
UNTOUCHED = [
    ("I work at Bosch.", "I work at Siemens now.", "Called Bosch again about my pension papers."),
    ("I work at Bosch.", "I work at Siemens now.", "I wrote to Bosch again."),
    ("I work at Bosch.", "I work at Siemens now.", "Bosch rang me back."),
    ("I work at Bosch.", "I work at Siemens now.", "I went back to Bosch to pick up my things."),
    ("I work at Bosch.", "I work at Siemens now.", "I'm thinking about going back to Bosch some day."),
    ("I work at Lufthansa.", "I work at Ryanair now.", "Flew Lufthansa again, the food is still better."),
    ("I work at Lufthansa.", "I work at Ryanair now.", "A colleague of mine went back to Lufthansa."),
    ("I work at Tesco.", "I work at Aldi now.", "Took the broken kettle back to Tesco."),
    ("I use Spotify for music.", "I use Tidal for music now.", "Spotify keeps sending me offers to come back."),
    ("I run Fedora on my laptop.", "I run Ubuntu on my laptop now.", "Someone asked me about Fedora again."),
    ("My bank is Barclays.", "My bank is Revolut now.", "I got my deposit back from Barclays."),
    ("I live in Porto.", "I live in Lyon now.", "We were in Porto again for the holidays."),
    ("I live in Porto.", "I live in Lyon now.", "I'm in Porto again this week."),
    ("I live in Porto.", "I live in Lyon now.", "My sister moved back to Porto last month."),
    ("I live in Porto.", "I live in Lyon now.", "Should I move back to Porto?"),
    ("My editor is Vim.", "My editor is VS Code now.", "I had to use Vim again on the server."),
    ("My editor is Vim.", "My editor is VS Code now.", "my boss wants us to go back to Vim"),
    ("My browser is Firefox.", "My browser is Chrome now.", "I had to open Firefox again as Chrome failed."),
    ("My phone is a Pixel 7.", "My phone is an iPhone 15 now.", "I gave the Pixel 7 back to the shop."),
    ("I'm vegan.", "I'm pescatarian now.", "I won't be vegan again."),
    ("I'm vegan.", "I'm pescatarian now.", "My husband is vegan again."),
]


def _list_held(mem: Credenda) -> dict[str, Memory]:
    return {one.id: one for one in mem.list().items if one.stance is not Stance.NEGATED}


@pytest.mark.requirement("R-012", "R-083")
@pytest.mark.parametrize("story", ASKED)
def test_a_value_that_is_back_is_asked_about_once_whatever_the_words(
    mem: Credenda, say: Say, story: tuple[str, str, str]
) -> None:
    say(*story, days=100)
    (case,) = mem.manage.contests()
    assert len(case.values) == 2
    mem.manage.resolve(case.id, keep=case.values[-1])
    say(story[2])
    assert [one.state for one in mem.manage.contests()] == ["resolved"]


@pytest.mark.requirement("R-012", "R-083")
@pytest.mark.parametrize(("first", "then", "back", "over"), CHANGED)
def test_a_return_that_tells_what_is_over_is_a_change_that_says_so(
    mem: Credenda, say: Say, *, first: str, then: str, back: str, over: str
) -> None:
    say(first, then, days=100)
    before = _list_held(mem)
    say(back)
    assert mem.manage.contests() == []
    (new,) = (one for one in _list_held(mem).values() if one.id not in before)
    assert f"is said to be back, in place of “{over}”" in mem.why(new.id).changes[0].reason


@pytest.mark.parametrize("story", UNTOUCHED)
def test_a_former_value_that_is_only_met_again_changes_nothing(
    mem: Credenda, say: Say, story: tuple[str, str, str]
) -> None:
    say(*story[:2], days=100)
    before = _list_held(mem)
    say(story[2])
    assert mem.manage.contests() == []
    assert dict.fromkeys(before, Status.ACTIVE) == {name: mem.get(name).status for name in before}


def test_the_surer_of_an_end_and_its_successor_names_their_slot(mem: Credenda, say: Say) -> None:
    say("My employer is Zalando.", "I left Zalando and joined Delivery Hero.")
    assert [one.value for one in mem.list(attribute="employer").items] == ["Delivery Hero"]


def test_words_that_join_a_noun_are_no_scope(mem: Credenda, say: Say) -> None:
    say("I use Vim as my editor.")
    assert [(one.attribute, one.value, one.scope) for one in mem.list().items] == [("editor", "Vim", None)]
