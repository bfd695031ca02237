"""Values that an agent words otherwise than the sentence that it quotes, and what they replace and answer."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from credenda import Credenda
from credenda.model.event import ClaimReceipt

TOLD = datetime(2026, 1, 15, 9, tzinfo=UTC)
BRISTOL = ("I live in Bristol", "residence", "Bristol", "")
LATER = datetime(2026, 2, 15, 9, tzinfo=UTC)


def tell(mem: Credenda, text: str, when: datetime = TOLD, /, **claim: str) -> ClaimReceipt:
    (result,) = mem.remember(text, claims=[{"quote": text, **claim}], occurred_at=when).claims
    return result


def values(mem: Credenda, attribute: str) -> list[str | None]:
    return sorted((one.value for one in mem.list().items if one.attribute == attribute), key=str)


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("dentist tues 20th at 2.30", "appointment", "Tuesday 20 January at 2.30"),
        ("opticians weds 18 nov 5pm", "appointment", "Wednesday 18 November 5pm"),
        ("booked lisbon w rhys 12-16 feb", "trip", "Lisbon, 12-16 February"),
        ("wfh tues + thurs here, not fridays", "office days", "Tuesdays and Thursdays"),
        ("emil goes down at half 7 these days", "bedtime", "7:30pm"),
        ("its 80mg of propranolol now", "medication", "propranolol 80 mg"),
        ("passport came, good till sept 2036", "passport expiry", "September 2036"),
    ],
)
def test_a_value_in_other_words_of_its_sentence_keeps_its_slot(
    mem: Credenda, text: str, attribute: str, value: str
) -> None:
    result = tell(mem, text, attribute=attribute, value=value)
    assert (result.outcome, result.reason) == ("kept", "")
    assert value in result.understood


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("no more ramipril, losartan 50mg now", "medication", "ramipril 50mg"),
        ("dentist tues 20th at 2.30", "appointment", "Wednesday 21 January at 2.30"),
        ("emil goes down at half 7 these days", "bedtime", "8:30pm"),
        ("I take 40mg of it a day", "medication", "propranolol 80 mg a day"),
        ("I take 500 mg of metformin and 10 mg of warfarin.", "medication", "500 mg of warfarin"),
        ("I'm allergic to peanuts, not to tree nuts.", "allergy", "tree peanuts"),
        ("I don't take Warfarin.", "medication", "Warfarin tablets"),
        ("I love veggie burgers.", "diet", "vegetarian"),
        ("I lived in Cardiff, before Leeds.", "residence", "Cardiff, before Leeds"),
        ("Anna arrives at 6pm, the train is 40 minutes late.", "arrival", "6am"),
        ("My birthday is on 3 April.", "birthday", "3 April 1990"),
    ],
)
def test_a_value_that_its_sentence_does_not_say_fills_no_slot(
    mem: Credenda, text: str, attribute: str, value: str
) -> None:
    tell(mem, text, attribute=attribute, value=value)
    assert values(mem, attribute) == []


@pytest.mark.parametrize(
    ("text", "attribute", "value", "kept"),
    [
        ("Eoin starts with Boston Scientific the 3rd", "offer", "Boston Scientific from 3 March", "Boston Scientific"),
        ("my base is Mountbellew these days", "base", "Mountbellew, since spring", "Mountbellew"),
        ("I turn out to be a vegetarian", "diet", "vegetarian since October", "vegetarian"),
        ("branches are named feature/<ticket>-slug", "branch name", "feature/<ticket>-slug", "feature/<ticket>-slug"),
        ("I like music", "favourite music", "jazz", None),
        ("we hired someone", "foreman", "Otto", None),
        ("I have hens", "hens", "none", None),
        ("I eat meat", "diet", "vegetarian, except fish", None),
        ("I used to take metformin.", "medication", "metformin until recently", None),
        ("I signed with Initech.", "employer", "Initech starting in autumn", None),
        ("I'm allergic to everything but penicillin.", "allergy", "penicillin, an exception", None),
        ("The door code is not 4412.", "door code", "4412 (wrong)", None),
        ("I work from the garden shed now", "desk", "the garden shed at home", "the garden shed at home"),
        ("Bernadette who gives ISL is Deaf", "role", "ISL teacher, Deaf herself", "ISL teacher, Deaf herself"),
        (
            "a coffee a day, not a drop after lunch",
            "coffee",
            "a coffee a day, none after lunch",
            "a coffee a day, none after lunch",
        ),
        ("The dog isn't allowed on the sofa.", "dog rule", "allowed on the sofa, supervised", None),
        ("I love coffee in the morning.", "coffee", "hates coffee", None),
        ("Meetings happen on Mondays.", "meetings", "never on Mondays, they happen", None),
        ("I quit PureGym.", "gym", "PureGym (cancelled)", None),
        ("My ex-boss is Lena Hart.", "supervisor", "Lena Hart (former)", "Lena Hart (former)"),
        ("I quit PureGym.", "gym", "PureGym, since 2019 in Graz", "PureGym"),
        ("I quit PureGym.", "gym", "PureGym, cancelled", None),
        ("The team is nine of us counting me.", "staff", "nine, including Collins", "nine"),
        ("Her teacher is Tr. Beatrice.", "class teacher", "Tr. Beatrice", "Tr. Beatrice"),
        ("My husband is Alistair he is 74", "husband", "Alistair, 74", "Alistair"),
        ("I have tree nuts - cashew and pistachio", "allergy", "tree nuts - cashew and pistachio", "tree nuts"),
        ("I quit PureGym.", "gym", "PureGym (12 months)", None),
        ("The dog isn't allowed on the sofa.", "dog rule", "allowed, supervised only", None),
        ("The surgery is on the left knee.", "surgery side", "right knee", None),
        ("The fire exit is the open door.", "fire exit", "closed door", None),
        ("Hi [First Name], I am allergic to [substance].", "allergy", "[substance]", None),
        ("Dear {{name}}, my name is Max Stone.", "name", "Max Stone", None),
    ],
)
def test_of_a_value_that_says_more_than_its_sentence_only_its_time_is_left_out(  # noqa: PLR0917 - a table's row
    mem: Credenda, text: str, attribute: str, value: str, kept: str | None
) -> None:
    tell(mem, text, attribute=attribute, value=value)
    held = values(mem, attribute.replace(" ", "_")) or values(mem, attribute)
    assert held == ([] if kept is None else [kept])


@pytest.mark.parametrize(
    ("text", "attribute", "value", "later", "none"),
    [
        ("My lease is two years at Mill Road.", "lease", "two years at Mill Road", "The lease hasn't ended.", "ended"),
        ("My insulin is Lantus.", "insulin", "Lantus", "The pharmacy has no insulin left.", "gone"),
        ("We keep six hens.", "hens", "six hens", "No hens are allowed in the new flat.", "none"),
    ],
)
def test_a_word_for_nothing_ends_nothing(  # noqa: PLR0917 - a table's row
    mem: Credenda, text: str, attribute: str, value: str, later: str, none: str
) -> None:
    tell(mem, text, attribute=attribute, value=value)
    tell(mem, later, LATER, attribute=attribute, value=none)
    assert value in values(mem, attribute)


@pytest.mark.parametrize(
    ("text", "attribute", "value", "shown"),
    [
        ("I stopped the pilates in June.", "pilates", "stopped", "pilates: stopped"),
        ("Sadly the hens are no more.", "hens", "none", "hens: none"),
        ("No house help for now.", "house help", "none for now, Nafula has left", "house help: none for now"),
        ("I'm not diabetic.", "diabetes", "not diabetic", "diabetes: not diabetic"),
        ("No more PT for me.", "physical therapy", "no more PT", "physical therapy: no more PT"),
        ("She is not leaving the restaurant.", "leaving", "not leaving", "leaving: not leaving"),
        ("I can't have dairy.", "diet", "no dairy", "diet: not dairy"),
        ("The lease hasn't ended.", "lease", "ended", "lease: not ended"),
        ("I don't row any more.", "hobby", "rowing", "hobby: not rowing"),
    ],
)
def test_a_denied_value_is_denied_once(  # noqa: PLR0917 - a table's row
    mem: Credenda, text: str, attribute: str, value: str, shown: str
) -> None:
    result = tell(mem, text, attribute=attribute, value=value, stance="negated")
    assert result.reason == ""
    assert result.understood.replace("_", " ").endswith(shown)


def test_a_denied_thing_takes_the_place_of_what_was_there(mem: Credenda) -> None:
    tell(mem, "Our house help is Nafula.", attribute="house help", value="Nafula")
    tell(mem, "No house help for now.", LATER, attribute="house help", value="none for now", stance="negated")
    mem.settle()
    assert "none for now" in mem.search("Who is our house help?").hits[0].text


def test_a_denial_of_something_else_says_nothing_of_a_thing(mem: Credenda) -> None:
    text = "I have no time this week to feed the hens."
    assert tell(mem, text, attribute="hens", value="none", stance="negated").outcome == "refused"


def test_a_long_name_of_an_attribute_is_one(mem: Credenda) -> None:
    name = "clinic doctor seen on 24 August"
    assert tell(mem, "saw Dr Folan at the clinic on 24 August", attribute=name, value="Dr Folan").reason == ""


def test_a_new_dose_of_the_named_medicine_may_stand_apart_from_its_name(mem: Credenda) -> None:
    first = tell(mem, "sertraline is 100mg now", attribute="medication", value="sertraline 100mg")
    assert first.memory_id is not None
    text = "dr nowak put me back down to 50mg on the sertraline"
    claim = {"attribute": "medication", "value": "sertraline 50mg", "replaces": first.memory_id}
    assert tell(mem, text, LATER, **claim).replaced == (first.memory_id,)


def test_what_stays_the_same_comes_from_the_value_before(mem: Credenda) -> None:
    first = tell(mem, "choir is tuesdays 7.30pm", attribute="choir rehearsal", value="Tuesdays 7.30pm")
    text = "choir is on thursdays now, same time"
    second = tell(mem, text, LATER, attribute="choir rehearsal", value="Thursdays 7.30pm")
    assert second.replaced == (first.memory_id,)


@pytest.mark.requirement("R-077")
def test_a_number_given_later_for_the_same_slot_takes_its_place(mem: Credenda) -> None:
    first = tell(mem, "we have 9 hens", attribute="number of hens", value="9")
    second = tell(mem, "fox had 4 of the hens. 5 left", LATER, attribute="number of hens", value="5")
    assert second.replaced == (first.memory_id,)
    tell(mem, "gp appointment 9 march", LATER, attribute="appointment", value="9 March")
    tell(mem, "dentist appointment 3 may", LATER.replace(day=20), attribute="appointment", value="3 May")
    assert values(mem, "appointment") == ["3 May", "9 March"]


@pytest.mark.parametrize(
    ("claims", "question", "first"),
    [
        (
            [
                ("I live in Bristol", "residence", "Bristol", ""),
                ("moving to Cardiff", "residence", "Cardiff", "planned"),
            ],
            "Where do I live?",
            "Bristol",
        ),
        (
            [
                ("I live in Bristol", "residence", "Bristol", ""),
                ("i wfh fridays", "work from home days", "Fridays", ""),
            ],
            "Which days do I work from home?",
            "Fridays",
        ),
    ],
)
def test_the_asked_value_that_holds_now_is_first(
    mem: Credenda, claims: list[tuple[str, str, str, str]], question: str, first: str
) -> None:
    for text, attribute, value, stance in claims:
        tell(mem, text, attribute=attribute, value=value, **({"stance": stance} if stance else {}))
    assert first in mem.search(question).hits[0].text


def test_a_relative_of_the_user_is_found_by_what_they_are(mem: Credenda) -> None:
    tell(mem, "mam is called Nesta", attribute="mother", value="Nesta")
    tell(mem, "Nesta is in room 4", entity="Nesta", attribute="room number", value="4")
    tell(mem, "Nesta turned 90", entity="Nesta", attribute="age", value="90")
    assert "room number: 4" in mem.search("Which room is my mother in?").hits[0].text


def test_of_several_scopes_the_named_one_is_first_and_of_one_sentence_the_fitting_value(mem: Credenda) -> None:
    text = "site days i start at 7, office days 9"
    for scope, value in (("site days", "7"), ("office days", "9")):
        mem.remember(text, claims=[{"quote": text, "attribute": "start time", "value": value, "scope": scope}])
    assert "(office days)" in mem.search("On office days when do I start?").hits[0].text
    text = "wedding moved to 12 june 2027, hafod barn near here"
    slots = (("wedding date", "12 June 2027"), ("wedding venue", "Hafod Barn"))
    mem.remember(text, claims=[{"quote": text, "attribute": name, "value": value} for name, value in slots])
    assert "Hafod Barn" in mem.search("Where is the wedding?").hits[0].text


def test_an_assistant_that_repeats_what_it_was_told_is_not_first(mem: Credenda) -> None:
    slot = {"entity": "Gwyn", "attribute": "hip operation date"}
    tell(mem, "gwyns hip op came thru, 9 march at gobowen", **slot, value="9 March")
    answer = "Got it: Gwyn's hip operation is on 9 March at Gobowen."
    mem.remember([{"role": "assistant", "content": answer}], occurred_at=TOLD)
    tell(mem, "gwyns op is put back to 23 april", LATER, **slot, value="23 April")
    assert "23 April" in mem.search("When is Gwyn's hip operation?").hits[0].text


@pytest.mark.parametrize(
    "text", ["private health insurance since May", "public transport is free here", "import duties went up"]
)
def test_words_of_code_that_begin_a_sentence_are_no_code(mem: Credenda, text: str) -> None:
    result = tell(mem, text, attribute="note", value=text.split()[1])
    assert result.outcome == "kept"
    assert result.reason == ""


@pytest.mark.parametrize(
    ("held", "text", "slot"),
    [
        ("My sister lives in Port Talbot.", "I moved to Port Laoise.", ("residence", "Port Talbot")),
        ("My wife works at Deutsche Bank.", "I work at Deutsche Bahn now.", ("employer", "Deutsche Bank")),
        ("My mum takes Vitamin K.", "My doctor told me to take Vitamin C.", ("medication", "Vitamin K")),
    ],
)
def test_a_known_name_is_not_taken_for_another_one(mem: Credenda, held: str, text: str, slot: tuple[str, str]) -> None:
    attribute, value = slot
    tell(mem, held, entity="somebody", attribute="place", value=value)
    tell(mem, text, LATER, attribute=attribute, value=value)
    assert values(mem, attribute) == []


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize(
    ("attribute", "first", "second"),
    [
        ("exam", ("I have an exam on 4 May.", "4 May"), ("My other exam is on 9 May.", "9 May")),
        ("dose", ("5 ml of the syrup", "5 ml"), ("2 ml of the drops", "2 ml")),
        ("medication", ("I take ramipril.", "ramipril"), ("I take aspirin, but not instead of ramipril.", "aspirin")),
        ("ticket price", ("the adult ticket is 20 euros", "20 euros"), ("the child ticket is 10 euros", "10 euros")),
        ("medication", ("I take ramipril.", "ramipril"), ("Mum is off ramipril, I got losartan", "losartan")),
        ("allergy", ("allergic to nuts", "nuts"), ("I eat seeds instead of nuts, and sesame is an allergy", "sesame")),
    ],
)
def test_what_stands_beside_the_old_value_ends_nothing(
    mem: Credenda, attribute: str, first: tuple[str, str], second: tuple[str, str]
) -> None:
    tell(mem, first[0], attribute=attribute, value=first[1])
    assert tell(mem, second[0], LATER, attribute=attribute, value=second[1]).replaced == ()


@pytest.mark.parametrize("scope", ["at home", "in the flat"])
def test_an_agent_words_a_scope_as_it_understood_it(mem: Credenda, scope: str) -> None:
    result = tell(mem, "guests at my place join Otterbox", attribute="wifi network", value="Otterbox", scope=scope)
    assert (result.reason, values(mem, "wifi_network")) == ("", ["Otterbox"])


def test_a_scope_is_never_invented_for_what_could_hurt_or_with_a_number(mem: Credenda) -> None:
    tell(mem, "I can't have walnuts", attribute="allergy", value="walnuts", scope="at work")
    tell(mem, "guests at my place join Otterbox", attribute="wifi network", value="Otterbox", scope="in flat 12")
    assert values(mem, "allergy") == values(mem, "wifi_network") == []


@pytest.mark.requirement("R-077")
@pytest.mark.parametrize(
    ("held", "over"),
    [
        (
            ("I teach the glazing course at Ryde", "second job", "teach the glazing course at Ryde"),
            "glazing course over",
        ),
        (("mornings I swim at the lido", "exercise habit", "swim at the lido"), "no more lido"),
    ],
)
def test_an_agent_may_tell_in_other_words_that_a_value_is_over(
    mem: Credenda, held: tuple[str, str, str], over: str
) -> None:
    text, attribute, value = held
    first = tell(mem, text, attribute=attribute, value=value)
    tell(mem, f"{over}, phew", LATER, attribute=attribute, value=over, stance="past")
    assert first.memory_id is not None
    assert mem.get(first.memory_id).status == "superseded"


def test_what_is_over_ends_no_other_value(mem: Credenda) -> None:
    kept = tell(mem, "I teach the glazing course at Ryde", attribute="second job", value="the glazing course")
    tell(mem, "the market stall is over", LATER, attribute="second job", value="the market stall", stance="past")
    assert kept.memory_id is not None
    assert mem.get(kept.memory_id).status == "active"


@pytest.mark.requirement("R-077")
def test_what_is_told_after_its_day_takes_the_place_of_a_plan(mem: Credenda) -> None:
    claim = {"attribute": "rent", "value": "1,040 from 1 February", "stance": "planned"}
    plan = tell(mem, "rent goes to 1,040 from 1 February", **claim)
    tell(mem, "paid the 1,040", LATER, attribute="rent", value="1,040")
    assert plan.memory_id is not None
    assert mem.get(plan.memory_id).status == "superseded"


def test_a_new_version_of_a_thing_takes_the_place_of_the_one_before(mem: Credenda) -> None:
    tell(mem, "the Merlin valve is at v0.4", entity="Merlin valve", attribute="version", value="v0.4")
    tell(mem, "Merlin valve v0.5 is on the bench", LATER, entity="Merlin valve", attribute="version", value="v0.5")
    held = [one for one in mem.list().items if one.attribute == "version"]
    assert [(one.value, one.status) for one in held] == [("v0.5", "active")]


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("I don't work at Google.", "employer", "Google"),
        ("I'm not vegan.", "diet", "vegan"),
        ("I never said that I live in Graz.", "home", "Graz"),
    ],
)
def test_a_value_that_its_own_sentence_denies_is_refused_each_time(
    mem: Credenda, text: str, attribute: str, value: str
) -> None:
    results = [tell(mem, text, attribute=attribute, value=value) for _ in range(2)]
    assert [(one.outcome, "denies this value" in one.reason) for one in results] == [("refused", True)] * 2
    assert mem.list().items == ()
    assert tell(mem, text, attribute=attribute, value=value, stance="negated").outcome == "kept"


def test_what_another_clause_denies_is_no_denial_of_the_value(mem: Credenda) -> None:
    text = "I don't work at Google, I work at Arup."
    assert tell(mem, text, attribute="employer", value="Arup").outcome == "kept"


def test_a_stance_may_have_the_name_of_a_status(mem: Credenda) -> None:
    tell(mem, "Tom says my rent goes up to 900", attribute="rent", value="900", stance="hearsay")
    tell(mem, "no more dairy for me", attribute="diet", value="dairy", stance="denied")
    assert {one.attribute: one.stance for one in mem.list().items} == {"rent": "reported", "diet": "negated"}
