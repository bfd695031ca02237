"""What people say about themselves, their people and their things."""

import pytest

from credenda.model.memory import MemoryType

from .build import hear, only, slot, slots

ABOUT_ME = [
    ("I work at Initech.", "employer", "Initech"),
    ("I work for a small bank.", "employer", "small bank"),
    ("I'm employed by Siemens.", "employer", "Siemens"),
    ("I'm a nurse.", "job_title", "nurse"),
    ("I'm a freelance translator.", "job_title", "freelance translator"),
    ("I work as a plumber.", "job_title", "plumber"),
    ("My job is bus driver.", "job_title", "bus driver"),
    ("I work in finance.", "work_field", "finance"),
    ("I live in Porto with my husband.", "residence", "Porto"),
    ("I'm based in Nairobi.", "residence", "Nairobi"),
    ("I've been living in Linz for three years.", "residence", "Linz"),
    ("I have lived in Oslo since 2015.", "residence", "Oslo"),
    ("My city is Ghent.", "residence", "Ghent"),
    ("My home town is Leeds.", "origin", "Leeds"),
    ("I'm originally from Quito.", "origin", "Quito"),
    ("I grew up in Ghent.", "grew_up_in", "Ghent"),
    ("My name is Ana.", "name", "Ana"),
    ("My name's Ana.", "name", "Ana"),
    ("Hi, I'm Ana.", "name", "Ana"),
    ("My surname is Kovač.", "last_name", "Kovač"),
    ("I'm 34 years old.", "age", "34"),
    ("I just turned fifty.", "age", "fifty"),
    ("I'm vegan.", "diet", "vegan"),
    ("I'm left-handed.", "handedness", "left-handed"),
    ("I'm divorced.", "marital_status", "divorced"),
    ("I'm self-employed.", "employment_status", "self-employed"),
    ("I'm Portuguese.", "nationality", "Portuguese"),
    ("I'm allergic to penicillin.", "allergy", "penicillin"),
    ("I have a shellfish allergy.", "allergy", "shellfish"),
    ("I have an allergy to latex.", "allergy", "latex"),
    ("I'm gluten intolerant.", "intolerance", "gluten"),
    ("I have asthma.", "condition", "asthma"),
    ("I take metformin twice a day.", "medication", "metformin"),
    ("I have a cat called Miso.", "cat", "Miso"),
    ("My dog is called Rex.", "dog", "Rex"),
    ("My dog's name is Rex.", "dog", "Rex"),
    ("I have a sister named Noa.", "sister", "Noa"),
    ("My sister's name is Noa.", "sister", "Noa"),
    ("My manager is Lena.", "manager", "Lena"),
    ("Lena is my manager.", "manager", "Lena"),
    ("Jonas is our new product manager.", "product_manager", "Jonas"),
    ("I have three sons.", "son_count", "three sons"),
    ("I'm married to Tom.", "spouse", "Tom"),
    ("I speak Basque.", "spoken_language", "Basque"),
    ("I can speak Welsh.", "spoken_language", "Welsh"),
    ("I'm fluent in Dutch.", "spoken_language", "Dutch"),
    ("I'm learning Japanese.", "learning", "Japanese"),
    ("I have a PhD in chemistry.", "degree", "PhD in chemistry"),
    ("I play the cello.", "plays", "cello"),
    ("I drive an electric van.", "drives", "electric van"),
    ("I get up at five.", "wake_time", "five"),
    ("My working hours are nine to five.", "working_hours", "nine to five"),
    ("My timezone is UTC+2.", "timezone", "UTC+2"),
    ("I'm in the CET time zone.", "timezone", "CET"),
    ("My rent is 900 euros.", "rent", "900 euros"),
    ("My email is ana@example.org.", "email", "ana@example.org"),
    ("I wear glasses.", "does", "wear glasses"),
    ("I teach maths at a high school.", "does", "teach maths at a high school"),
    ("I work the night shift.", "work_mode", "the night shift"),
    ("I have a mortgage with Triodos.", "has", "mortgage with Triodos"),
    ("We have 40 employees.", "has", "40 employees"),
    ("I studied history in Bologna.", "education", "history in Bologna"),
    ("My husband and I have two girls.", "daughter_count", "two girls"),
    ("I'm a member of the works council.", "member_of", "the works council"),
]


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(("text", "attribute", "value"), ABOUT_ME)
def test_a_fact_about_oneself_fills_a_slot_of_the_user(text: str, attribute: str, value: str) -> None:
    (claim, *_) = hear(text)
    assert (claim.type, claim.entity, claim.attribute, claim.value) == (MemoryType.FACT, "user", attribute, value)
    assert claim.confidence >= 0.7


ABOUT_OTHERS = [
    ("My sister works at Bosch.", "user's sister", "employer", "Bosch"),
    ("My older brother lives in Canada.", "user's older brother", "residence", "Canada"),
    ("My wife's employer is Siemens.", "user's wife", "employer", "Siemens"),
    ("My sister's husband is a pilot.", "user's sister's husband", "job_title", "pilot"),
    ("My parents live in Ohio.", "user's parents", "residence", "Ohio"),
    ("My mum is from Ireland.", "user's mother", "origin", "Ireland"),
    ("My daughter is lactose intolerant.", "user's daughter", "intolerance", "lactose"),
    ("My best friend Ivo is a dentist.", "user's best friend", "job_title", "dentist"),
    ("My boss is Swiss.", "user's boss", "nationality", "Swiss"),
    ("Jack works for Lidl.", "Jack", "employer", "Lidl"),
    ("Jonas leads the data team.", "Jonas", "does", "lead the data team"),
    ("Ana's birthday is 5 May 1990.", "Ana", "birthday", "1990-05-05"),
    ("Jack is allergic to cats.", "Jack", "allergy", "cats"),
    ("My daughter Emma is seven.", "user's daughter Emma", "age", "seven"),
    ("Sara handles our invoices.", "Sara", "does", "handle our invoices"),
    ("My son started university.", "user's son", "milestone", "start university"),
    ("The client is colour-blind.", "client", "condition", "colour-blind"),
]


@pytest.mark.requirement("R-035")
@pytest.mark.parametrize(("text", "entity", "attribute", "value"), ABOUT_OTHERS)
def test_a_fact_about_another_is_never_the_users(text: str, entity: str, attribute: str, value: str) -> None:
    assert slots(hear(text)) == [(entity, attribute, value)]


ABOUT_THINGS = [
    ("Our CI runs on Jenkins.", "user", "ci", "Jenkins"),
    ("The API is hosted on Hetzner.", "API", "hosted_on", "Hetzner"),
    ("The backend is written in Go.", "backend", "written_in", "Go"),
    ("The staging server is called onyx.", "staging server", "name", "onyx"),
    ("Our database is MySQL.", "user", "database", "MySQL"),
    ("The deadline for the report is 5 May 2027.", "report", "deadline", "2027-05-05"),
    ("My deadline for the thesis is 12 June 2026.", "thesis", "deadline", "2026-06-12"),
    ("The invoice number is 4471.", "user", "invoice_number", "4471"),
    ("The release train leaves on Thursday.", "release train", "date", "Thursday"),
    ("Our standup is at 9:30 every day.", "standup", "date", "9:30 every day"),
    ("Our API gateway listens on port 8443.", "API gateway", "listen_on", "port 8443"),
    ("We deploy from the release tag.", "deployment", "from", "the release tag"),
    ("Deployments come from the release tag.", "deployment", "from", "the release tag"),
    ("The office closes at six.", "office", "closes", "six"),
    ("Our product launches on 3 September 2026.", "product", "date", "2026-09-03"),
    ("My laptop runs Fedora.", "laptop", "operating_system", "Fedora"),
    ("Our office is in Utrecht.", "office", "location", "Utrecht"),
]


@pytest.mark.requirement("R-045")
@pytest.mark.parametrize(("text", "entity", "attribute", "value"), ABOUT_THINGS)
def test_a_slot_needs_no_entry_in_the_lexicon(text: str, entity: str, attribute: str, value: str) -> None:
    assert slots(hear(text)) == [(entity, attribute, value)]


@pytest.mark.requirement("R-017")
@pytest.mark.parametrize("text", ["I work at Initech.", "  My sister works at Bosch. ", "- I speak Basque."])
def test_the_text_of_a_claim_is_its_whole_sentence(text: str) -> None:
    assert only(text).text == text.strip().removeprefix("- ")


@pytest.mark.requirement("D-007")
def test_a_list_becomes_one_claim_an_item() -> None:
    claims = hear("I speak German, English and Croatian.")
    assert [claim.value for claim in claims] == ["German", "English", "Croatian"]
    assert {claim.cardinality for claim in claims} == {"set"}
    assert {claim.text for claim in claims} == {"I speak German, English and Croatian."}


@pytest.mark.requirement("D-007")
@pytest.mark.parametrize(
    ("text", "cardinality"),
    [
        ("I work at Initech.", "single"),
        ("I live in Porto.", "single"),
        ("My manager is Lena.", "single"),
        ("I'm allergic to latex.", "set"),
        ("I use Django.", "set"),
        ("I have a sister named Noa.", "set"),
        ("I play go.", "set"),
    ],
)
def test_the_lexicon_says_how_many_values_a_slot_holds(text: str, cardinality: str) -> None:
    assert only(text).cardinality == cardinality


@pytest.mark.requirement("R-035")
def test_two_slots_may_be_filled_by_one_sentence() -> None:
    assert slots(hear("I'm a software engineer at Google.")) == [
        ("user", "job_title", "software engineer"),
        ("user", "employer", "Google"),
    ]


@pytest.mark.requirement("R-035")
def test_she_is_the_person_just_named() -> None:
    claims = hear("My sister Ana is a nurse. She lives in Bern.")
    assert slots(claims) == [("user's sister Ana", "job_title", "nurse"), ("user's sister Ana", "residence", "Bern")]


@pytest.mark.requirement("R-035")
def test_she_without_anybody_named_is_nobody() -> None:
    assert hear("She lives in Bern.") == []


@pytest.mark.requirement("R-036")
def test_the_fact_before_a_request_is_heard() -> None:
    assert slot("I live in Zagreb, can you recommend a restaurant?") == ("user", "residence", "Zagreb")


@pytest.mark.requirement("R-035", "D-007")
@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("My timezone is EST. Could you convert it?", ["EST"]),
        ("I drink coffee and mint tea.", ["coffee", "mint tea"]),
        ("For Ruby I use Standard, for Go I use gofmt.", ["Standard", "gofmt"]),
    ],
)
def test_neither_a_second_item_nor_a_second_clause_is_lost(text: str, values: list[str]) -> None:
    assert [claim.value for claim in hear(text)] == values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("My dog is called Rex 🐕.", "Rex"),
        ("I work at Acme 😀!", "Acme"),
        ("🎉 I live in Linz", "Linz"),
        ("I live in Linz 👩🏽‍💻❤️ and I love it", "Linz"),
        ("I'm allergic to peanuts 🥜🥜", "peanuts"),
    ],
)
def test_an_emoji_is_no_part_of_a_value(text: str, value: str) -> None:
    first = hear(text)[0]
    assert first.value == value
    assert first.text in text
