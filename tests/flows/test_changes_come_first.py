"""What was told later as a change comes before what it changes, with or without a memory of either."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from credenda import Credenda
from credenda.testing import ManualClock

Say = Callable[..., None]

CHANGES = [
    ("The spare key hangs behind the boiler.", "The spare key no longer hangs there, it sits in the blue tin.", "Where is the spare key?", "blue tin"),  # noqa: E501 - one row a change
    ("Marta runs the onboarding project.", "The onboarding project is with Jonas now.", "Who runs the onboarding project?", "Jonas"),  # noqa: E501
    ("Our standup starts at 9:15.", "Standup starts at 10:00 since we hired the Lisbon people.", "When does our standup start?", "10:00"),  # noqa: E501
    ("The staging server is called heron.", "The staging server got renamed from heron to kestrel.", "What is the staging server called?", "kestrel"),  # noqa: E501
    ("I pay 38 euros a month for the gym.", "The gym raised my fee to 45 euros a month.", "How much do I pay for the gym?", "45"),  # noqa: E501
    ("The printer takes cartridge 305.", "I was wrong, the printer takes cartridge 307.", "Which cartridge does the printer take?", "307"),  # noqa: E501
    ("Send the timesheets to Petra.", "Send the timesheets to Lukas instead.", "Who gets the timesheets?", "Lukas"),
    ("My daughter goes to the Montessori school.", "My daughter changed from the Montessori school to the Steiner school.", "Which school does my daughter go to?", "changed"),  # noqa: E501
    ("The alarm tone is Marimba.", "Scratch that, the alarm tone is Ripples.", "What is the alarm tone?", "Ripples"),
    ("My running shoes are size 42.", "Turns out my running shoes are size 43, not 42.", "What size are my running shoes?", "43"),  # noqa: E501
    ("Meine Katze frisst nur Trockenfutter.", "Meine Katze frisst kein Trockenfutter mehr, nur noch Nassfutter.", "Was frisst meine Katze?", "Nassfutter"),  # noqa: E501
    ("The water tap at the orchard is broken.", "The water tap at the orchard works again.", "Does the water tap at the orchard work?", "works again"),  # noqa: E501
    ("The router in the hall is a Fritzbox.", "Correction: the router in the hall is a Turris, not a Fritzbox.", "What is the router in the hall?", "Turris"),  # noqa: E501
    ("The queue listens on port 7001.", "Scratch that, the queue listens on port 7015.", "Which port does the queue listen on?", "7015"),  # noqa: E501
    ("Hugo is the owner of the search service.", "Hugo is no longer the owner of the search service, Vera is.", "Who owns the search service?", "Vera"),  # noqa: E501
    ("I take 5 mg of Ramipril at noon.", "My doctor raised my Ramipril to 10 mg.", "How much Ramipril do I take?", "10 mg"),  # noqa: E501
    ("The lift is stuck. It has been for days.", "The lift is running again.", "Is the lift stuck?", "running again"),
    ("I'm pregnant, due in May.", "Our baby boy Emil was born yesterday!", "Am I pregnant?", "born"),
    ("The main channel is called lobby.", "We renamed the main channel from lobby to foyer.", "What is the main channel called?", "foyer"),  # noqa: E501
    ("The ferry leaves at 6:40.", "The ferry leaves at 6:55 since the storm.", "When does the ferry leave?", "6:55"),
    ("Receipts go to money@elm.example.", "Receipts don't go to money@elm.example any more, send them to books@elm.example.", "Where do receipts go?", "books@"),  # noqa: E501
    ("The garage costs 70 euros a month.", "The garage costs 85 euros a month since January.", "How much does the garage cost?", "85"),  # noqa: E501
    ("Ich wohne in Passau.", "Ich bin letzten Mai nach Trier umgezogen.", "Wo wohne ich?", "Trier"),
    ("From today put 'drafted by a tool' under every letter.", "Last word on letters: only 'The team' under them.", "What do we put under letters?", "The team"),  # noqa: E501
    ("Two spoons of honey in my porridge, please.", "No honey in my porridge any more.", "How much honey do I take in my porridge?", "No honey"),  # noqa: E501
    ("The premiere is on 4 May.", "The premiere has moved to 11 May.", "When is the premiere?", "11 May"),
    ("The ladder is in the shed.", "I had that wrong, the ladder is in the garage.", "Where is the ladder?", "garage"),
    ("We order 12 crates from Lucerne.", "We order 15 crates from Lucerne now.", "How many crates do we order?", "15"),
    ("The glass is collected on Mondays.", "They changed the glass collection from Mondays to Thursdays.", "When is the glass collected?", "Thursdays"),  # noqa: E501
    ("The vet is Dr. Kaya.", "Dr. Kaya retired, our vet is Dr. Lund now.", "Who is our vet?", "Lund"),
    ("My locker is number 41.", "My locker is number 97.", "Which number is my locker?", "97"),
    ("Deploys need approval from Rosa.", "Deploys don't need approval from Rosa any more, ask Milo.", "Who approves deploys?", "Milo"),  # noqa: E501
    ("The big room is called Aspen.", "Aspen is now called Birch.", "What is the big room called?", "Birch"),
    ("Theo handles the payroll.", "The payroll is with Ines now.", "Who handles the payroll?", "Ines"),
    ("Our rent is 900 euros.", "The landlord raised the rent to 960 euros.", "How much is our rent?", "960"),
    ("The seed catalogue lives in Dropbox.", "Scrap that, the seed catalogue is in Notion.", "Where is the seed catalogue?", "Notion"),  # noqa: E501
    ("Nadia's recital is on 7 May, I should bring flowers.", "Sorry, the recital, 17 May not 7.", "When is Nadia's recital?", "17 May"),  # noqa: E501
    ("We order 30 kilns of bricks for the wall.", "It's 36 kilns now, not 30.", "How many kilns do we order?", "36"),
    ("The builds run on Jenkins.", "We moved the builds from Jenkins to Buildkite.", "What do the builds run on?", "Buildkite"),  # noqa: E501
]  # fmt: skip
BESIDE = [
    ("My blood pressure was 140/90 on Monday.", "My blood pressure was 125/80 on Friday."),
    ("The dentist sees me on 3 October at 9.", "The dentist sees me on 3 December at 9."),
    ("We had lunch with Otto on 4 June.", "We had lunch with Otto on 9 July."),
    ("I like the harbour.", "I also like the lighthouse now."),
    ("Bea coaches the juniors.", "The juniors have a new bus since May."),
    ("The tower has 30 steps to the bell.", "I'm 31, not 29."),
    ("Our fern stands in the hall.", "Another fern stands in the kitchen now."),
]
QUESTIONS = {
    "My blood pressure was 140/90 on Monday.": "What was my blood pressure?",
    "The dentist sees me on 3 October at 9.": "When does the dentist see me?",
    "We had lunch with Otto on 4 June.": "When did we have lunch with Otto?",
    "I like the harbour.": "What do I like?",
    "Bea coaches the juniors.": "Who coaches the juniors?",
    "The tower has 30 steps to the bell.": "How many steps has the tower?",
    "Our fern stands in the hall.": "Where does our fern stand?",
}


@pytest.mark.requirement("R-074")
@pytest.mark.parametrize("way", ["read", "messages", "imported"])
@pytest.mark.parametrize("change", CHANGES, ids=[row[2] for row in CHANGES])
def test_the_later_text_comes_first_and_is_named_on_the_older_one(
    mem: Credenda, clock: ManualClock, change: tuple[str, str, str, str], way: str
) -> None:
    before, after, asked, value = change
    began = clock.now()
    for days, sentence in enumerate((before, after)):
        mem.remember(sentence, occurred_at=began - timedelta(days=90 - 30 * days) if way == "imported" else None)
        if way != "messages":
            mem.settle()
        if way != "imported":
            clock.advance(timedelta(days=30))
    first, *others = mem.search(asked).hits
    assert value in f"{first.text} {first.quote}"
    for hit in others:
        assert before not in {hit.text, hit.quote} or hit.newer is not None or "superseded" in hit.flags


@pytest.mark.parametrize(("one", "other"), BESIDE)
def test_two_occasions_measurements_or_things_do_not_replace_each_other(
    mem: Credenda, clock: ManualClock, one: str, other: str
) -> None:
    for sentence in (one, other):
        mem.remember(sentence)
        clock.advance(timedelta(days=60))
    hits = mem.search(QUESTIONS[one]).hits
    assert [hit.newer for hit in hits] == [None] * len(hits)


@pytest.mark.requirement("R-074")
def test_a_message_that_is_outdated_in_part_stands_below_the_new_value(mem: Credenda, say: Say) -> None:
    say("The depot is called Larch, and I live in Passau.", "We renamed the depot from Larch to Maple.")
    first, *others = mem.search("What is the depot called?").hits
    assert "Maple" in f"{first.text} {first.quote}"
    assert [hit.newer for hit in others if hit.quote.startswith("The depot")] == [first.id]


def test_a_question_about_the_past_keeps_the_older_text_first(mem: Credenda, clock: ManualClock) -> None:
    for sentence in ("The queue listened on port 7001.", "Scratch that, the queue is on port 7015."):
        mem.remember(sentence)
        clock.advance(timedelta(days=30))
    hits = mem.search("Which port did the queue listen on before?").hits
    assert [hit.newer for hit in hits] == [None, None]


def test_other_words_of_the_same_speaker_only_replace_his_own(mem: Credenda, clock: ManualClock) -> None:
    mem.remember("The queue listens on port 7001.")
    clock.advance(timedelta(days=1))
    mem.remember([{"role": "person", "name": "Bo", "content": "The queue is no longer on port 7001."}])
    hits = mem.search("Which port does the queue listen on?").hits
    assert [hit.newer for hit in hits] == [None] * len(hits)
