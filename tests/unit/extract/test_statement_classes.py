"""Plain sentences said alone, class by class: what they are kept as, what is skipped, what is only imagined."""

import pytest

from credenda.model.claim import UpdateKind
from credenda.model.memory import MemoryType, Stance

from .build import hear, only, slot

SLOTS = [
    # a hobby told from its own side
    ("Mosaics are another pastime of mine.", ("user", "hobby", "Mosaics")),
    ("Origami is one of my hobbies.", ("user", "hobby", "Origami")),
    ("I go geocaching with my nephew.", ("user", "hobby", "geocaching")),
    # colours, rooms and things of one's own
    ("Our fence is painted green.", ("fence", "colour", "green")),
    ("The hallway at our place is lilac.", ("hallway", "colour", "lilac")),
    # a common noun as the value of a slot
    ("My evening course is upholstery.", ("user", "evening_course", "upholstery")),
    ("My stage name is foxtail.", ("user", "stage_name", "foxtail")),
    # school years
    ("My niece is in year four.", ("user's niece", "school_year", "year four")),
    ("My grandson is in the sixth form.", ("user's grandson", "school_year", "the sixth form")),
    # what one's team uses, one uses
    # groups, aids, duties
    ("I'm in a string quartet, too.", ("user", "member_of", "string quartet")),
    # somebody beside one, and a name between commas
    ("The man upstairs, Emil, is eighty-two.", ("user's neighbour Emil", "age", "eighty-two")),
    ("My sister, Nora, is a plumber.", ("user's sister Nora", "job_title", "plumber")),
    # an unknown word after "I" is a verb
    ("I tat lace.", ("user", "does", "tat lace")),
    # what one likes best, within a scope or to one's mind
    ("The pen I like best for letters is a Kaweco.", ("user", "favourite_pen", "Kaweco")),
    ("The best soup for me is minestrone.", ("user", "favourite_soup", "minestrone")),
    ("I take my cocoa without sugar.", ("user", "cocoa", "without sugar")),
    ("I'm fifty-two, not fifty-three.", ("user", "age", "fifty-two")),
    ("um I live in like a tiny village near Ulm", ("user", "residence", "tiny village near Ulm")),
    ("Like I said before, I live in Ulm.", ("user", "residence", "Ulm")),
    # pay, in whatever words
    ("I earn 14 euros an hour.", ("user", "salary", "14 euros an hour")),
    ("I got a rise, I earn 16 euros an hour.", ("user", "salary", "16 euros an hour")),
    ("I'm on 40k a year.", ("user", "salary", "40k a year")),
    ("From January the rent is 750.", ("user", "rent", "750")),
    # a change by its day
    ("Starting Monday the standup is at ten.", ("standup", "date", "ten")),
    ("From Monday on I work at Globex.", ("user", "employer", "Globex")),
    ("The team decided on spaces.", ("user", "indentation", "spaces")),
    # things told of in the plural
    ("Backups run on Sundays.", ("Backups", "runs_on", "Sundays")),
    # company
    ("I'm seeing someone.", ("user", "marital_status", "in a relationship")),
    ("I upgraded to a Pixel 8.", ("user", "phone", "Pixel 8")),
]


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(("text", "expected"), SLOTS)
def test_a_plain_statement_fills_a_slot(text: str, expected: tuple[str, str, str]) -> None:
    assert slot(text) == expected


KINDS = [
    ("If I have the choice, I take the window seat over the aisle.", MemoryType.PREFERENCE),
    ("Brown bread yes, white bread never.", MemoryType.PREFERENCE),
    ("I don't care for opera.", MemoryType.PREFERENCE),
    ("When you suggest films, leave out anything with ghosts.", MemoryType.PREFERENCE),
    ("British spelling, please.", MemoryType.PREFERENCE),
    ("Decision made: I'm joining the evening class in Dutch.", MemoryType.DECISION),
    ("Verdict of the meeting: dues go up in August.", MemoryType.DECISION),
    ("My brothers and I have resolved to keep the allotment.", MemoryType.DECISION),
    ("The three of us resolved to open-source the tool.", MemoryType.DECISION),
    ("We're moving the party to June, we decided it last night.", MemoryType.DECISION),
    ("Never put the copper pot in the dishwasher; dry it by hand.", MemoryType.PROCEDURE),
    ("If Gran has a dizzy spell, sit her down, give her water, then ring the surgery next door.", MemoryType.PROCEDURE),
    ("Whoever leaves last locks the door and sets the alarm.", MemoryType.PROCEDURE),
    (
        "so to start the mower you pull the choke out um then pull the cord twice and push the choke back",
        MemoryType.PROCEDURE,
    ),
    ("I quit smoking in May.", MemoryType.FACT),
    ("You'll find our registry at registry.birch.internal.", MemoryType.FACT),
]


@pytest.mark.requirement("R-035", "R-036")
@pytest.mark.parametrize(("text", "kind"), KINDS)
def test_a_plain_statement_is_kept_as_what_it_is(text: str, kind: MemoryType) -> None:
    claim = hear(text)[0]
    assert (claim.type, claim.confidence >= 0.5) == (kind, True)


@pytest.mark.requirement("R-037")
@pytest.mark.parametrize(
    "text",
    ["Since last week I live in Ulm.", "As of this sprint we release weekly.", "From this term on I live in Ulm."],
)
def test_what_holds_since_lately_is_a_change(text: str) -> None:
    assert only(text).move is UpdateKind.CHANGE


SKIPPED = [
    "My tea's gone cold again.",
    "I slept badly last night.",
    "Hang on, I dropped my ruler.",
    "Of course, nothing's nicer than a flat tyre on a Monday.",
    "Sort this list by date, would you?",
    "I don't get the joke.",
    "I have a sore throat.",
    "Gold is heavier than silver.",
]


@pytest.mark.requirement("R-038", "R-039", "R-043")
@pytest.mark.parametrize("text", SKIPPED)
def test_the_moment_the_task_and_sarcasm_are_passed_over(text: str) -> None:
    assert [claim for claim in hear(text) if claim.confidence > 0.3] == []


IMAGINED = [
    # orders to suppose
    "Assume for a moment that I live in Chile.",
    "Just suppose, for the sake of argument, that our shop burnt down.",
    "For argument's sake, I'm diabetic.",
    "Say the mill closed, what would break first?",
    # orders to believe and to play
    "Make believe that I'm five years old.",
    "Play the part of my strict aunt.",
    "Take on the role of a grumpy customs officer.",
    "Put yourself in my landlord's shoes.",
    # jokes taken back, in the same sentence or the next
    "I'm married to a film star, nah, I'm pulling your leg.",
    "I have fourteen children. Nah, I'm pulling your leg.",
    "My car is a Ferrari. Okay, that was a joke.",
    "I own a castle, just winding you up.",
    "I'm a spy, hehe.",
    "We own three islands, not really.",
    "I wrote the whole of Linux myself. lol no, I can't even type",
    # labels of what is only practised
    "Practice interview: I'm Dana and I speak Dutch.",
    "Test only: my favourite colour is mauve.",
]


@pytest.mark.requirement("R-040")
@pytest.mark.parametrize("text", IMAGINED)
def test_pretence_is_kept_faintly_and_fills_no_slot(text: str) -> None:
    claims = hear(text)
    assert claims
    assert all(claim.confidence <= 0.3 and claim.attribute is None for claim in claims)


CONSIDERED = [
    "I'm half inclined to buy a kayak.",
    "We're mulling over a move to Ulm.",
    "I've been pondering whether to sell the van.",
    "I'm playing with the thought of moving abroad.",
    "We haven't decided whether to renovate.",
    "It's possible that we'll drop the newsletter, nothing's fixed.",
]


@pytest.mark.requirement("R-040")
@pytest.mark.parametrize("text", CONSIDERED)
def test_what_is_only_turned_over_is_a_plan(text: str) -> None:
    claims = hear(text)
    assert claims
    assert all(claim.stance in {Stance.CONSIDERED, Stance.PLANNED} and claim.confidence <= 0.5 for claim in claims)


@pytest.mark.requirement("R-035", "R-040")
@pytest.mark.parametrize(
    "text",
    [
        "I play the cello in an orchestra.",
        "My uncle plays the role of Macbeth at the town theatre.",
        "I believe in God.",
        "Say hello to my brother Tim.",
    ],
)
def test_what_only_sounds_like_pretence_is_meant(text: str) -> None:
    assert all(claim.stance not in {Stance.ROLE_PLAY, Stance.HYPOTHETICAL} for claim in hear(text))
