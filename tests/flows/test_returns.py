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
ASKED_OF_TOOLS_AND_DRINKS = [
    ("We deploy with Jenkins.", "We deploy with GitHub Actions now.", "We're deploying with Jenkins again."),
    ("We use GitHub Actions for CI.", "We moved CI to GitLab CI.", "We're back on GitHub Actions."),
    ("Our CI runs on GitHub Actions.", "Our CI runs on CircleCI now.", "We're back on GitHub Actions."),
    ("We track bugs in Jira.", "We track bugs in Linear now.", "We're tracking bugs in Jira again."),
    ("I write notes in Evernote.", "I switched to Notion for my notes.", "I'm using Evernote for notes again."),
    ("We host on Heroku.", "We host on Fly.io now.", "We're hosting on Heroku again, like before."),
    ("I use zsh.", "I use fish now.", "I went back to zsh."),
    (
        "I use Postgres for the shop.",
        "I switched the shop to MySQL.",
        "We're still on Postgres for the shop after all.",
    ),
    ("I drink coffee in the morning.", "I drink tea in the morning now.", "I'm back to coffee again."),
    ("I drink coffee.", "I've switched to tea.", "I'm back to coffee again."),
    ("My drink is coffee.", "My drink is green tea now.", "I'm drinking coffee again."),
    ("I drink decaf.", "I drink regular coffee now.", "I'm on decaf again."),
    ("My usual drink is beer.", "My usual drink is kombucha now.", "Back to beer as my usual drink, as before."),
    ("My flat is in Nice.", "My flat is in Lyon now.", "My flat is in Nice again."),
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
    ("We deploy with Jenkins.", "We deploy with GitHub Actions now.", "Call me back again."),
    ("We deploy with Jenkins.", "We deploy with GitHub Actions now.", "The Jenkins build failed again."),
    ("We deploy with Jenkins.", "We deploy with GitHub Actions now.", "Back then we deployed with Jenkins."),
    ("We deploy with Jenkins.", "We deploy with GitHub Actions now.", "Are we back on Jenkins?"),
    (
        "We deploy with Jenkins.",
        "We deploy with GitHub Actions now.",
        "We looked at Jenkins again and decided against it.",
    ),
    ("We host on Heroku.", "We host on Render now.", "If Render fails we're back to Heroku."),
    ("We host on Heroku.", "We host on Render now.", "I got my Heroku money back."),
    ("I use zsh.", "I use fish now.", "Tom went back to zsh."),
    ("I use zsh.", "I use Figma now.", "I'm using zsh again."),
    ("We use Kafka for events.", "We use RabbitMQ for events now.", "I read Kafka again."),
    ("I drink espresso.", "I'm vegan now.", "I'll have an espresso again after lunch."),
    ("I drink coffee.", "I drink tea now.", "I have back pain."),
    ("I drink coffee.", "I drink tea now.", "I spilled coffee on my back again."),
    ("I drink coffee.", "I drink tea now.", "I had coffee again with Anna."),
    ("I drink coffee.", "I drink tea now.", "I'm not going back to coffee."),
]


def _list_held(mem: Credenda) -> dict[str, Memory]:
    return {one.id: one for one in mem.list().items if one.stance is not Stance.NEGATED}


@pytest.mark.requirement("R-012", "R-083")
@pytest.mark.parametrize("story", [*ASKED, *ASKED_OF_TOOLS_AND_DRINKS])
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


def test_a_sentence_in_the_words_of_a_held_one_tells_a_change_that_the_reader_missed(mem: Credenda, say: Say) -> None:
    say("We deploy with Jenkins.", "We deploy with GitHub Actions now.", "We deploy with care now.")
    tools = {one.value: one for one in mem.list(attribute="tool").items}
    assert set(tools) == {"Jenkins", "GitHub Actions"}
    assert tools["GitHub Actions"].text == "We deploy with GitHub Actions now."


@pytest.mark.parametrize("said", ["We're back to square one with the login bug.", "We're back to the drawing board."])
def test_an_idiom_of_return_is_no_fact(mem: Credenda, say: Say, said: str) -> None:
    say(said)
    assert mem.list().items == ()


def test_who_moved_back_where_a_town_was_only_named_is_not_asked(mem: Credenda, say: Say) -> None:
    say("I grew up in Linz.", "I live in Graz.", "I moved back to Linz.")
    assert mem.manage.contests() == []
    assert [one.value for one in mem.list(attribute="residence").items] == ["Linz"]


def test_what_was_so_previously_takes_no_place_of_the_present_value(mem: Credenda, say: Say) -> None:
    say("I work at Microsoft now; previously at Google.")
    assert {one.attribute: one.value for one in mem.list().items} == {
        "employer": "Microsoft",
        "former_employer": "Google",
    }
