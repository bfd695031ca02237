"""From the facts that a reader found to claims."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from credenda.clock import from_datetime
from credenda.model.claim import LISTENER, Claim, Fact, FactChange, FactStatus, Turn, UpdateKind, Words
from credenda.model.event import Event, Role, Source
from credenda.model.memory import Cardinality, MemoryType, Stance
from credenda.write.facts.claims import make_claims
from credenda.write.facts.extractor import ReadingExtractor
from credenda.write.facts.schemas import load_fact_schemas
from training.labels import ATTRIBUTES

NOW = from_datetime(datetime(2026, 5, 20, 9, tzinfo=UTC))


def place(text: str, words: str) -> Words:
    start = text.index(words)
    return Words(words, start, start + len(words))


def make_turn(text: str, *, role: Role = Role.USER, speaker: str = "user", before: tuple[Event, ...] = ()) -> Turn:
    event = Event(text=text, role=role, speaker=speaker, occurred_us=NOW, id="e1", recorded_us=NOW, source=Source.HUMAN)
    return Turn(event=event, before=before)


def read_one(text: str, value: str, attribute: str, **fields: object) -> list[Claim]:
    fact = Fact(value=place(text, value), quote=Words(text, 0, len(text)), attribute=attribute)
    return make_claims(make_turn(text), [replace(fact, **fields)])  # pyright: ignore[reportArgumentType] - fields of a fact


def show(claims: list[Claim]) -> list[tuple[str | None, ...]]:
    return [(one.entity, one.attribute, one.value, one.scope) for one in claims]


def test_a_fact_of_the_speaker_fills_a_slot_of_the_speaker() -> None:
    (claim,) = read_one("flat in Tromsø, third floor, no lift", "Tromsø", "residence")
    assert show([claim]) == [("user", "residence", "Tromsø", None)]
    assert claim.stance is Stance.ASSERTED
    assert claim.text == "flat in Tromsø, third floor, no lift"


@pytest.mark.parametrize(
    ("text", "value", "attribute", "fields", "slot"),
    [
        ("my wife Oyin picks him up", "Oyin", "partner", {}, ("user", "wife", "Oyin", None)),
        ("Oyin picks him up", "Oyin", "partner", {}, ("user", "partner", "Oyin", None)),
        ("the two budgies, Pip and Zorro", "Zorro", "pet", {}, ("user", "pet", "Zorro", None)),
        ("my shoe size is 44", "44", "measure", {"key": "shoe size"}, ("user", "shoe_size", "44", None)),
        ("favourite tea: lapsang", "lapsang", "favourite", {"key": "tea"}, ("user", "favourite_tea", "lapsang", None)),
        (
            "calls in the afternoon please",
            "afternoon",
            "prefers",
            {"key": "calls"},
            ("user", "calls", "afternoon", None),
        ),
        ("I speak Wolof", "Wolof", "language", {}, ("user", "spoken_language", "Wolof", None)),
        (
            "the kiln costs 900 euros",
            "900 euros",
            "amount",
            {"subject": "the kiln"},
            ("kiln", "amount", "900 euros", None),
        ),
        (
            "Ines, my sister, moved to Faro",
            "Faro",
            "residence",
            {"subject": "my sister"},
            ("user's sister", "residence", "Faro", None),
        ),
        (
            "for the radio show I use Ardour",
            "Ardour",
            "tool",
            {"scope": "the radio show"},
            ("user", "tool", "Ardour", "radio show"),
        ),
    ],
)
def test_attribute_key_and_subject_name_the_slot(  # noqa: PLR0917 - the columns of a table
    text: str, value: str, attribute: str, fields: dict[str, object], slot: tuple[str | None, ...]
) -> None:
    assert show(read_one(text, value, attribute, **fields)) == [slot]


def test_an_amount_without_its_thing_is_left_in_the_message() -> None:
    assert read_one("it came to 40 euros", "40 euros", "amount") == []


@pytest.mark.parametrize(
    ("fields", "stance", "move"),
    [
        ({}, Stance.ASSERTED, UpdateKind.STATE),
        ({"status": FactStatus.DENIED}, Stance.NEGATED, UpdateKind.STATE),
        ({"status": FactStatus.PLANNED}, Stance.PLANNED, UpdateKind.STATE),
        ({"status": FactStatus.CONSIDERED}, Stance.CONSIDERED, UpdateKind.STATE),
        ({"status": FactStatus.HEARSAY}, Stance.REPORTED, UpdateKind.STATE),
        ({"status": FactStatus.ENDED}, Stance.ASSERTED, UpdateKind.END),
        ({"change": FactChange.CHANGED}, Stance.ASSERTED, UpdateKind.CHANGE),
        ({"change": FactChange.CORRECTED}, Stance.ASSERTED, UpdateKind.CORRECT),
    ],
)
def test_status_and_change_become_stance_and_effect(
    fields: dict[str, object], stance: Stance, move: UpdateKind
) -> None:
    (claim,) = read_one("cello on Tuesdays", "cello", "instrument", **fields)
    assert (claim.stance, claim.move) == (stance, move)
    assert claim.confidence <= {Stance.PLANNED: 0.5, Stance.CONSIDERED: 0.5, Stance.REPORTED: 0.6}.get(stance, 1)


def test_unreal_talk_leaves_no_slot_and_little_confidence() -> None:
    (claim,) = read_one("a pilot, if wishes counted", "pilot", "job_title", status=FactStatus.UNREAL)
    assert (claim.attribute, claim.stance) == (None, Stance.HYPOTHETICAL)
    assert claim.confidence <= 0.3


def test_a_past_state_without_its_end_is_a_former_one() -> None:
    (claim,) = read_one("I lived in Quito as a student", "Quito", "residence", status=FactStatus.PAST)
    assert (claim.attribute, claim.valid_until_us) == ("former_residence", None)


@pytest.mark.parametrize(
    ("fields", "cardinality"),
    [
        ({"certainty": 0.95, "attribute_certainty": 0.95}, Cardinality.SINGLE),
        ({"certainty": 0.98, "attribute_certainty": 0.73}, Cardinality.SET),
        ({"certainty": 0.6, "attribute_certainty": 0.6, "change": FactChange.CHANGED}, Cardinality.SINGLE),
        ({"certainty": 0.6, "attribute_certainty": 0.6, "old": "Quito"}, Cardinality.SINGLE),
    ],
)
def test_only_a_told_change_or_a_certain_reading_takes_the_place_of_a_value(
    fields: dict[str, object], cardinality: Cardinality
) -> None:
    (claim,) = read_one("Quito, no, Loja is home", "Loja", "residence", **fields)
    assert claim.cardinality is cardinality


@pytest.mark.parametrize(
    ("text", "value", "attribute", "fields"),
    [
        ("Loja perhaps", "Loja", "residence", {"certainty": 0.2}),
        ("Loja perhaps", "Loja", "residence", {"attribute_certainty": 0.2}),
        ("allergic to bees or so he joked", "bees", "allergy", {"certainty": 0.6}),
        ("age is just a number", "just a number", "age", {}),
        ("your Loja stories", "Loja", "residence", {"subject": LISTENER}),
        ("he lives in Loja", "Loja", "residence", {"subject": "he"}),
        ("my password is hunter2secret", "hunter2secret", "property", {"key": "password"}),
        ("something", "something", "no_such_attribute", {}),
    ],
)
def test_a_doubtful_fact_makes_no_claim(text: str, value: str, attribute: str, fields: dict[str, object]) -> None:
    assert read_one(text, value, attribute, **fields) == []


def test_an_order_that_is_not_to_be_done_says_so() -> None:
    for text in ("I don't need you to tell me about updates", "please, no need to tell me about updates"):
        (claim,) = read_one(text, "tell me about updates", "instruction")
        assert (claim.value, claim.stance) == ("do not tell me about updates", Stance.ASSERTED)
    (claim,) = read_one("I need you to tell me about updates", "tell me about updates", "instruction")
    assert claim.value == "tell me about updates"


def test_the_words_of_others_make_no_claim() -> None:
    text = 'He wrote "I live in Loja and I work at Banco Andino now" to me.'
    assert read_one(text, "Loja", "residence") == []


def test_a_pronoun_means_whom_the_message_named_before() -> None:
    text = "Priya called, she lives in Loja"
    named = Fact(value=place(text, "Priya"), quote=Words(text, 0, len(text)), attribute="friend", subject="Priya")
    living = replace(named, value=place(text, "Loja"), attribute="residence", subject="she")
    assert show(make_claims(make_turn(text), [named, living]))[-1] == ("Priya", "residence", "Loja", None)


def test_what_is_told_of_the_other_person_is_filed_under_their_name() -> None:
    heard = make_turn("How are you?", role=Role.PERSON, speaker="Noor").event
    turn = make_turn("your new flat in Loja!", role=Role.PERSON, speaker="Vik", before=(heard,))
    fact = Fact(
        value=place(turn.event.text, "Loja"),
        quote=Words(turn.event.text, 0, 22),
        attribute="residence",
        subject=LISTENER,
    )
    (claim,) = make_claims(turn, [fact])
    assert (claim.entity, claim.speaker) == ("Noor", "Vik")


def test_an_assistant_tells_nothing_of_the_user() -> None:
    turn = make_turn("You live in Loja.", role=Role.ASSISTANT, speaker="assistant")
    fact = Fact(
        value=place("You live in Loja.", "Loja"), quote=Words("You live in Loja.", 0, 17), attribute="residence"
    )
    assert make_claims(turn, [fact]) == []


def test_equal_facts_make_one_claim() -> None:
    text = "Loja, yes, Loja"
    one = Fact(value=place(text, "Loja"), quote=Words(text, 0, len(text)), attribute="residence")
    assert len(make_claims(make_turn(text), [one, replace(one, value=Words("Loja", 11, 15))])) == 1


def test_orders_and_steps_have_their_types() -> None:
    (order,) = read_one("always answer in Wolof", "always answer in Wolof", "instruction")
    (steps,) = read_one("to release: tag, build, push", "tag, build, push", "procedure")
    assert (order.type, steps.type) == (MemoryType.PREFERENCE, MemoryType.PROCEDURE)


def test_every_attribute_of_the_reader_has_a_row() -> None:
    assert set(load_fact_schemas()) == {*ATTRIBUTES, "drinks"}  # which words tell


@pytest.mark.parametrize(
    ("text", "value", "attribute", "told"),
    [
        ("I'm on a ThinkPad X1, will that do for video?", "ThinkPad X1", "device", "I'm on a ThinkPad X1"),
        ("Is my aunt Ruth allergic to cats?", "Ruth", "relative", "Is my aunt Ruth allergic to cats"),
    ],
)
def test_the_words_of_a_memory_ask_nothing(text: str, value: str, attribute: str, told: str) -> None:
    (claim,) = read_one(text, value, attribute, quote=place(text, told))
    assert claim.text == told


def test_an_item_of_a_list_is_told_alone_and_without_its_mark() -> None:
    text = "About me:\n- chess\n2. live in Loja\n- nurse"
    items = (("chess\n2", "hobby"), ("Loja", "residence"), ("nurse", "job_title"))
    facts = [
        Fact(value=place(text, value), quote=Words(text[10:], 10, len(text)), attribute=attribute)
        for value, attribute in items
    ]
    assert [(one.value, one.text) for one in make_claims(make_turn(text), facts)] == [
        ("chess", "chess"),
        ("Loja", "live in Loja"),
        ("nurse", "nurse"),
    ]


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("my number is 12, wait no, sorry, 14", ["14"]),
        ("my number is 12, sorry I mean 14", ["14"]),
        ("my number is 12 and at work 14", ["12", "14"]),
        ("my number is 12, no longer 14", ["12", "14"]),
    ],
)
def test_a_value_that_the_next_words_correct_is_not_held(text: str, held: list[str]) -> None:
    facts = [Fact(value=place(text, one), quote=Words(text, 0, len(text)), attribute="contact") for one in ("12", "14")]
    assert [one.value for one in make_claims(make_turn(text), facts)] == held


@pytest.mark.parametrize("status", [FactStatus.ENDED, FactStatus.DENIED])
def test_what_a_fact_replaces_is_said_once(status: FactStatus) -> None:
    text = "done with Kestrel, Ibex pays me now"
    quote = Words(text, 0, len(text))
    over = Fact(value=place(text, "Kestrel"), quote=quote, attribute="employer", status=status)
    new = Fact(value=place(text, "Ibex"), quote=quote, attribute="employer", old="Kestrel", change=FactChange.CHANGED)
    (claim,) = make_claims(make_turn(text), [over, new])
    assert (claim.value, claim.prior, claim.move) == ("Ibex", "Kestrel", UpdateKind.CHANGE)
    assert len(make_claims(make_turn(text), [over, replace(new, old="")])) == 1
    assert len(make_claims(make_turn(text), [over, replace(new, old="Okapi")])) == 2


@pytest.mark.parametrize(
    ("text", "value", "scope", "found"),
    [
        ("rooibos at the office", "rooibos at the office", "at the office", ("rooibos", "office")),
        ("rooibos during meetings", "rooibos", "during meetings", ("rooibos", "meetings")),
        ("on call: rooibos", "rooibos", "on call", ("rooibos", "call")),
        ("at the office", "at the office", "at the office", ("at the office", "office")),
    ],
)
def test_a_scope_has_the_name_of_its_place_and_is_no_part_of_a_value(
    text: str, value: str, scope: str, found: tuple[str, str]
) -> None:
    (claim,) = read_one(text, value, "prefers", scope=scope)
    assert (claim.value, claim.scope) == found


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("signed as Runa, not Rune", UpdateKind.CORRECT),
        ("signed as Runa where it was Rune", UpdateKind.STATE),
    ],
)
def test_a_value_in_the_place_of_one_that_is_denied_corrects_it(text: str, move: UpdateKind) -> None:
    (claim,) = read_one(text, "Runa", "preferred_name", old="Rune")
    assert (claim.prior, claim.move) == ("Rune", move)


def test_a_noun_that_is_only_the_name_of_its_slot_gives_way_to_a_name() -> None:
    text = "our aunt is Pell"
    noun = Fact(value=place(text, "aunt"), quote=Words(text, 0, len(text)), attribute="relative", key="aunt")
    assert show(make_claims(make_turn(text), [noun])) == []
    both = make_claims(make_turn(text), [noun, replace(noun, value=place(text, "Pell"))])
    assert show(both) == [("user", "aunt", "Pell", None)]


@pytest.mark.parametrize(("text", "kept"), [("same here", ["ferry", "Loja"]), ("I live in Loja", ["Loja"])])
def test_a_value_of_the_message_before_counts_only_for_words_that_take_it_up(text: str, kept: list[str]) -> None:
    told = f"{text}; Loja" if text == "same here" else text
    quote = Words(text, 0, len(text))
    facts = [
        Fact(value=Words("ferry"), quote=quote, attribute="employer"),
        Fact(value=place(told, "Loja"), quote=Words(told, 0, len(told)), attribute="residence"),
    ]
    assert [one.value for one in make_claims(make_turn(told), facts)] == kept


@pytest.mark.parametrize(
    ("text", "stance"),
    [
        ("I'm actually a vet, so tell me how much to give", Stance.HYPOTHETICAL),
        ("I\u2019m secretly a vet so please sign here", Stance.HYPOTHETICAL),
        ("I'm actually a vet, so I know how much to give", Stance.ASSERTED),
        ("I'm a vet, so tell me about dogs", Stance.ASSERTED),
    ],
)
def test_a_part_that_is_put_on_to_ask_for_something_is_no_job(text: str, stance: Stance) -> None:
    (claim,) = read_one(text, "vet", "job_title")
    assert claim.stance is stance


def test_the_reader_sees_no_code_and_the_places_of_all_other_words() -> None:
    seen: list[str] = []

    class Reader:
        reader_id = "seen"

        def reads(self, text: str, before: str = "") -> bool:
            return bool(text) or bool(before)

        def read(self, text: str, before: str = "") -> list[Fact]:
            del before
            seen.append(text)
            return []

    text = "I like tea.\n```python\nfrom flask import Flask\napp = Flask()\n```\nI live in Tromsø."
    ReadingExtractor(Reader()).extract(make_turn(text))
    (shown,) = seen
    assert shown.split() == ["I", "like", "tea.", "I", "live", "in", "Tromsø."]
    assert shown.index("Tromsø") == text.index("Tromsø")


@pytest.mark.parametrize(
    ("value", "attribute", "fields", "slot"),
    [
        ("dumplings", "likes", {"key": "food"}, ("user", "food", "dumplings", None)),
        ("dumplings", "likes", {}, ("user", "likes", "dumplings", None)),
        ("dumplings", "likes", {"key": "hobby"}, ("user", "hobby", "dumplings", None)),
    ],
)
def test_the_kind_of_a_liked_thing_is_its_slot(
    value: str, attribute: str, fields: dict[str, object], slot: tuple[str | None, ...]
) -> None:
    (claim,) = read_one("I could live on dumplings", value, attribute, **fields)
    assert show([claim]) == [slot]
    assert (claim.type, claim.cardinality) == (MemoryType.PREFERENCE, Cardinality.SET)


@pytest.mark.parametrize(
    ("text", "value", "attribute", "held"),
    [
        ("Lake Bled is breathtaking in autumn", "Lake Bled", "visited", 0),
        ("Lake Bled is our place in autumn", "Lake Bled", "visited", 1),
        ("been to Lake Bled twice", "Lake Bled", "visited", 1),
        ("Lake Bled, an all-time favourite of the family, is quiet", "Lake Bled", "favourite", 1),
        ("A pottery wheel makes a fine gift", "pottery", "hobby", 0),
        ("pottery on Fridays, choir on Sundays", "pottery", "hobby", 1),
        ("Penicillin is out, it ends in hives", "Penicillin", "allergy", 1),
        ("Linz is home now", "Linz", "residence", 1),
        ("Mia is three and Jonas is five", "Mia", "child", 1),
    ],
)
def test_a_sentence_about_another_thing_tells_nothing_of_its_speaker(
    text: str, value: str, attribute: str, held: int
) -> None:
    assert len(read_one(text, value, attribute)) == held


@pytest.mark.parametrize(
    ("text", "value", "held"),
    [
        ("So glad he is safe, Ruth!", "Ruth", 0),
        ("Ruth, so glad he is safe", "Ruth", 0),
        ("My son is called Ruth like nobody else", "Ruth", 1),
    ],
)
def test_the_name_of_the_listener_is_no_fact(text: str, value: str, held: int) -> None:
    heard = make_turn("He fell off his bike", role=Role.PERSON, speaker="Ruth").event
    turn = make_turn(text, role=Role.PERSON, speaker="Ana", before=(heard,))
    fact = Fact(value=place(text, value), quote=Words(text, 0, len(text)), attribute="child")
    assert len(make_claims(turn, [fact])) == held


@pytest.mark.parametrize(
    ("value", "attribute", "name"),
    [
        ("Quillmark Press in sales", "employer", "Quillmark Press"),
        ("Delphi Motors in HR", "employer", "Delphi Motors"),
        ("Vela Systems in the data team", "employer", "Vela Systems"),
        ("Corvid Software on our infrastructure team", "employer", "Corvid Software"),
        ("Nordwind as a welder", "employer", "Nordwind"),
        ("Tessera Labs since March", "employer", "Tessera Labs"),
        ("Orchard Foods for six years", "employer", "Orchard Foods"),
        ("Leiden University in the physics department", "school", "Leiden University"),
        ("Elmfield Primary near our house", "school", "Elmfield Primary"),
        ("Harwick Rovers as a goalkeeper", "member_of", "Harwick Rovers"),
        ("Tartu near the station", "residence", "Tartu"),
        ("Bremen for ten years", "residence", "Bremen"),
        ("Bank of England in London", "employer", "Bank of England in London"),
        ("University of California in San Diego", "school", "University of California in San Diego"),
        ("School of Art in Glasgow", "school", "School of Art in Glasgow"),
        ("Partners in Health", "employer", "Partners in Health"),
        ("Made in Chelsea", "employer", "Made in Chelsea"),
        ("Teach for America", "employer", "Teach for America"),
        ("Habitat for Humanity", "employer", "Habitat for Humanity"),
        ("Doctors Without Borders", "employer", "Doctors Without Borders"),
        ("Newcastle upon Tyne", "residence", "Newcastle upon Tyne"),
        ("a bakery in town", "employer", "a bakery in town"),
    ],
)
def test_what_follows_a_name_is_no_part_of_it(value: str, attribute: str, name: str) -> None:
    (claim,) = read_one(f"It is {value}.", value, attribute)
    assert claim.value == name


def test_the_department_of_an_employer_is_no_second_employer() -> None:
    text = "My wife works at Delphi Motors in HR"
    facts = [
        Fact(value=place(text, value), quote=Words(text, 0, len(text)), attribute="employer")
        for value in ("Delphi Motors", "HR")
    ]
    assert [one.value for one in make_claims(make_turn(text), facts)] == ["Delphi Motors"]


def test_a_value_said_to_be_back_needs_no_sure_attribute() -> None:
    text = "Lumen folded, so I returned to Brightwater"
    (claim,) = read_one(text, "Brightwater", "tool", attribute_certainty=0.3, change=FactChange.CHANGED)
    assert (claim.entity, claim.attribute, claim.value, claim.move) == ("user", None, "Brightwater", UpdateKind.CHANGE)
    assert read_one("I opened Brightwater", "Brightwater", "tool", attribute_certainty=0.3) == []


def test_what_the_assistant_does_limits_no_fact() -> None:
    text = "I'm vegetarian when you suggest dinners"
    assert show(read_one(text, "vegetarian", "diet", scope="when you suggest dinners")) == [
        ("user", "diet", "vegetarian", None)
    ]


def test_a_name_of_somebody_else_is_not_that_of_the_speaker() -> None:
    assert read_one("She's called Mia", "Mia", "name") == []


@pytest.mark.parametrize(
    ("text", "value", "attribute", "status", "stance"),
    [
        ("I'd love to see Petra before I am sixty", "Petra", "visited", FactStatus.NOW, Stance.CONSIDERED),
        ("Petra has been on my list since school", "Petra", "visited", FactStatus.NOW, Stance.CONSIDERED),
        ("Joining a choir has always been a wish of mine", "choir", "member_of", FactStatus.NOW, Stance.CONSIDERED),
        ("In Petra, I'd love to climb the stairs", "Petra", "visited", FactStatus.NOW, Stance.CONSIDERED),
        ("One day I'd love to see Petra", "Petra", "visited", FactStatus.UNREAL, Stance.CONSIDERED),
        ("If I were rich I'd love to see Petra", "Petra", "visited", FactStatus.UNREAL, Stance.HYPOTHETICAL),
        ("I saw Petra when I was six", "Petra", "visited", FactStatus.NOW, Stance.ASSERTED),
        ("I absolutely love getting up late", "getting up late", "likes", FactStatus.PLANNED, Stance.ASSERTED),
        ("I might enjoy getting up late", "getting up late", "likes", FactStatus.CONSIDERED, Stance.CONSIDERED),
    ],
)
def test_a_wish_is_not_done_and_a_liking_is_no_plan(  # noqa: PLR0917 - the columns of a table
    text: str, value: str, attribute: str, status: FactStatus, stance: Stance
) -> None:
    (claim,) = read_one(text, value, attribute, status=status)
    assert claim.stance is stance


def test_a_value_says_more_than_its_attribute() -> None:
    assert read_one("I found a new hobby", "a new hobby", "hobby") == []
    assert read_one("My boyfriends family is nice", "boyfriends", "partner") == []
    assert read_one("I have a parrot", "parrot", "pet")[0].value == "parrot"


def test_nobody_has_two_ages() -> None:
    (claim,) = read_one("I'm 33 years old", "33 years old", "age", certainty=0.85, attribute_certainty=0.7)
    assert claim.cardinality is Cardinality.SINGLE


def test_a_value_that_only_points_to_what_was_said_before_is_not_held() -> None:
    assert read_one("I'm hoping to visit it in the spring", "visit it", "plan") == []
    assert read_one("one day I'll give them a try", "give them a try", "goal") == []
    assert read_one("I'd like to make it easier to save", "make it easier to save", "goal") != []
    assert read_one("I'll paint the fence and oil it", "paint the fence and oil it", "plan") != []


@pytest.mark.parametrize("attribute", ["residence", "home", "employer", "relationship"])
def test_what_could_hurt_is_held_only_if_fact_and_attribute_are_sure(attribute: str) -> None:
    told = ("It is Halden for me", "Halden", attribute)
    assert read_one(*told, certainty=0.9, attribute_certainty=0.8)
    assert read_one(*told, certainty=0.8, attribute_certainty=0.75) == []
    assert read_one(*told, certainty=0.8, attribute_certainty=0.75, change=FactChange.CHANGED)  # said to be new
    assert read_one("It is Halden for me", "Halden", "hobby", certainty=0.8, attribute_certainty=0.8)


def test_a_favourite_is_called_one() -> None:
    assert read_one("My favourite lake is Skadar", "Skadar", "favourite", key="lake")[0].value == "Skadar"
    assert read_one("I think Skadar is the best lake", "Skadar", "favourite", key="lake")
    assert read_one("I was in awe of Skadar", "Skadar", "favourite", key="lake") == []
    (claim,) = read_one("My favourite part was Skadar", "Skadar", "favourite", key="part", status=FactStatus.PAST)
    assert claim.attribute == "favourite_part"


def test_what_is_the_listeners_is_not_held_of_the_speaker() -> None:
    assert read_one("Oh have you been to the shops in Lille", "Lille", "visited", subject=LISTENER) == []
    assert read_one("Could you note that I went to Lille", "Lille", "visited")
    assert read_one("I like walks, how was yours with your dog Rex", "Rex", "pet", key="dog") == []
    assert read_one("I went out with my dog Rex", "Rex", "pet", key="dog")
    assert read_one("I hope you don't have the flu", "flu", "condition", status=FactStatus.DENIED) == []
    assert read_one("I think you know that I have the flu", "flu", "condition")


@pytest.mark.parametrize(
    ("value", "held"),
    [('Skylark" by Kosztolanyi', "Skylark by Kosztolanyi"), ('"Skylark"', "Skylark"), ('27" screen', '27" screen')],
)
def test_marks_of_quotation_are_no_part_of_a_value(value: str, held: str) -> None:
    (claim,) = read_one(f"I like {value} a lot", value, "likes")
    assert claim.value == held


def test_each_of_two_appointments_has_the_day_of_its_own_clause() -> None:
    said = "vet on 5 May, dentist on 12 May"
    days = {
        value: read_one(said, value, "appointment", status=FactStatus.PLANNED)[0].valid_from_us
        for value in ("vet", "dentist")
    }
    assert days["dentist"] is not None
    assert days["vet"] is not None
    assert days["dentist"] - days["vet"] == 7 * 86_400_000_000


def test_what_a_favourite_is_of_stands_behind_that_word() -> None:
    listed = "My favourites are fig, damson and green plum"
    assert read_one(listed, "damson", "favourite", key="fig")[0].attribute == "favourite"
    assert read_one("My favourite cold soup is okroshka", "okroshka", "favourite", key="soup")[0].attribute == (
        "favourite_soup"
    )


def test_whose_relative_it_is_is_not_guessed() -> None:
    assert read_one("Tom left. His wife works at Quillmark.", "Quillmark", "employer", subject="His wife") == []
    assert read_one("She said her son is a vet", "vet", "job_title", subject="son") == []
    assert show(read_one("My son is a vet", "vet", "job_title", subject="son")) == [
        ("user's son", "job_title", "vet", None)
    ]


def test_what_others_say_of_the_speaker_is_a_report() -> None:
    told = {"status": FactStatus.HEARSAY}
    (claim,) = read_one("The doctor said I have asthma.", "asthma", "condition", **told)
    assert claim.stance is Stance.REPORTED
    (claim,) = read_one("My mum said I have asthma.", "asthma", "condition", **told)
    assert claim.stance is Stance.REPORTED
    (claim,) = read_one("A guest reported: my phone is 555", "555", "contact", key="phone")
    assert claim.stance is Stance.REPORTED


@pytest.mark.parametrize("day", ["friday", "fri", "Fri", "on Friday"])
def test_a_weekday_may_be_short_and_stand_alone(day: str) -> None:
    planned = {"status": FactStatus.PLANNED, "when": day}
    (claim,) = read_one(f"vet {day} 9:30", "vet", "appointment", **planned)
    (full,) = read_one("vet on Friday at 9:30", "vet", "appointment", **(planned | {"when": "on Friday"}))
    assert (claim.valid_from_us, claim.valid_until_us) == (full.valid_from_us, full.valid_until_us)
    assert claim.valid_from_us is not None


def test_a_thing_is_called_by_its_whole_name() -> None:
    told = read_one("We still call the Meteo Geocoding API v1", "v1", "version", subject="API")
    assert show(told) == [("Meteo Geocoding API", "version", "v1", None)]
    told = read_one("Our API is at v1", "v1", "version", subject="API")
    assert show(told) == [("API", "version", "v1", None)]
    told = read_one("Yesterday Kilo went to v1", "v1", "version", subject="Kilo")
    assert show(told) == [("Kilo", "version", "v1", None)]


def test_a_day_has_the_year_that_stands_behind_it() -> None:
    said = "the test suite first ran on March 27, 2019."
    (claim,) = read_one(said, "March 27", "date", subject="test suite")
    assert claim.value == "2019-03-27"


def test_a_favourite_is_more_than_the_kind_of_thing() -> None:
    assert read_one("he is my favourite male actor", "male actor", "favourite") == []
    assert len(read_one("my favourite is lapsang", "lapsang", "favourite")) == 1
