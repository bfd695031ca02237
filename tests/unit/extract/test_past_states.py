"""What somebody was, had or liked is not told of today: a past state fills no present slot."""

import pytest

from .build import hear, slots

OVER = [
    "I was a big fan of chess.",
    "I was really into chess back then.",
    "Hiking was a hobby of mine.",
    "My boss was into sailing.",
    "I was engaged to Ben once.",
    "I was a member of the chess club at school.",
    "I had a dog called Rex when I was small.",
    "We moved to Berlin when I was ten.",
    "I joined Siemens back then.",
    "I was allergic to eggs as a kid.",
    "I was a vegetarian in college.",
]
FORMER = [
    ("I was a nurse.", "former_job_title", "nurse"),
    ("I worked at Bosch when I was a student.", "former_employer", "Bosch"),
    ("I lived in Porto as a student.", "former_residence", "Porto"),
    ("I was married to Tom until 2015.", "former_spouse", "Tom"),
    ("I had asthma as a child.", "former_condition", "asthma"),
    ("I suffered from migraines in my twenties.", "former_condition", "migraines"),
    ("I ran a bakery business in Leeds.", "former_business", "bakery business in Leeds"),
]
LASTING = [
    ("I've been into chess since 2010.", "likes", "chess"),
    ("I'm a member of the chess club.", "member_of", "the chess club"),
    ("I joined the chess club.", "member_of", "the chess club"),
    ("I adopted a dog called Rex.", "dog", "Rex"),
    ("We had a baby girl named Mia in March.", "daughter", "Mia"),
    ("I got married to Tom in May.", "spouse", "Tom"),
    ("I married Tom.", "spouse", "Tom"),
    ("I got engaged to Ben.", "partner", "Ben"),
    ("We were married in 2010.", "marital_status", "married"),
    ("I was diagnosed with ADHD last year.", "condition", "ADHD"),
    ("I've been diagnosed with Crohn's disease and arthritis.", "condition", "arthritis"),
    ("I grew up in Leeds as a kid.", "grew_up_in", "Leeds"),
    ("I moved to Leeds last month.", "residence", "Leeds"),
]


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize("text", OVER)
def test_a_past_state_fills_no_slot(text: str) -> None:
    assert [one.attribute for one in hear(text)] in ([], [None])


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(("text", "attribute", "value"), FORMER)
def test_what_somebody_had_is_held_as_former(text: str, attribute: str, value: str) -> None:
    assert slots(hear(text)) == [("user", attribute, value)]


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(("text", "attribute", "value"), LASTING)
def test_an_event_begins_what_still_holds(text: str, attribute: str, value: str) -> None:
    assert ("user", attribute, value) in slots(hear(text))
