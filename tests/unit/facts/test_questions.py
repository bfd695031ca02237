"""The reader that ships: questions state nothing, relatives of relatives are theirs, opinions are reports."""

from __future__ import annotations

import pytest

from credenda.model.claim import Turn
from credenda.model.event import Event, Role
from credenda.providers.tagger import TaggingReader
from credenda.write.facts.extractor import ReadingExtractor


def read(text: str) -> list[tuple[str | None, str | None, str | None, str]]:
    """Return the slots, values and stances of the claims of a message."""
    event = Event(text=text, role=Role.USER, speaker="user", occurred_us=0, id="e1", recorded_us=0)
    claims = ReadingExtractor(TaggingReader()).extract(Turn(event=event))
    return [(one.entity, one.attribute, one.value, one.stance.value) for one in claims if one.value]


@pytest.mark.parametrize(
    "text",
    [
        "Am I allergic to walnuts?",
        "So do we have a dog?",
        "Did I live in Porto?",
        "Does my wife like sushi?",
        "Is my dog allergic to chicken?",
        "Did my brother move to Malmö?",
        "Does my sister work at Siemens?",
        "does my sister work at siemens",
        "What's my wife's job at Charité?",
        "Has Anna quit her job at Bosch?",
        "Who is my boss, Henrike?",
        "Is Tom my boss?",
        "Isn't my mum allergic to penicillin?",
        "Which school does my son go to, Lincoln High?",
        "Which of my brothers lives in Malmö?",
        "Who is allergic to nuts, my son or my wife?",
        "My sister works at Siemens, right?",
        "My wife likes sushi?",
        "Is it true that my brother lives in Malmö?",
        "Do you know if my sister works at Siemens?",
        "Was my brother at Siemens before Bosch?",
    ],
)
def test_a_question_states_nothing(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("Did I tell you I moved to Graz?", ("user", "residence", "Graz")),
        ("Did I mention my wife Jana is a nurse?", ("user's wife Jana", "job_title", "nurse")),
        ("Do you remember that my sister Lea lives in Bern?", ("user's sister Lea", "residence", "Bern")),
        ("Did you know I'm allergic to nuts?", ("user", "allergy", "nuts")),
        ("Guess what, my brother got a job at Aldi!", ("user's brother", "employer", "Aldi")),
        ("I have asthma, is it safe to dive?", ("user", "condition", "asthma")),
        ("I moved to Graz, do you know a good vet for my cat Mo?", ("user", "residence", "Graz")),
        ("Could you help my brother, who lives in Malmö, find a job?", ("user's brother", "residence", "Malmö")),
        ("What can I cook for my wife who is vegan?", ("user's wife", "diet", "vegan")),
        ("Since my wife is vegan, what can I cook?", ("user's wife", "diet", "vegan")),
        ("Should my son take ibuprofen for his asthma?", ("user's son", "condition", "asthma")),
        ("Will my sister Lea move to Bern?", ("user", "sister", "Lea")),
        ("Can you find a vegan recipe for my daughter Mia?", ("user", "daughter", "Mia")),
        ("Did my PhD at ETH", ("user", "degree", "PhD")),
    ],
)
def test_what_stands_beside_a_question_is_held(text: str, held: tuple[str, str, str]) -> None:
    assert (*held, "asserted") in read(text)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("My brother's wife Ines is a dentist", ("user's brother", "wife", "Ines")),
        ("My wife's brother Tom has epilepsy", ("Tom", "condition", "epilepsy")),
        ("My sister's boyfriend Jo had a heart attack", ("Jo", "condition", "heart attack")),
        ("My boss's daughter Lia studies in Graz", ("user's boss", "daughter", "Lia")),
        ("My friend\u2019s cat Otto is diabetic", ("user's friend", "cat", "Otto")),
        ("My sister Lea just had a baby, a girl named Juna", ("user's sister Lea", "daughter", "Juna")),
        ("my sister Lea's dog Bruno is diabetic", ("user's sister Lea", "dog", "Bruno")),
        ("Our neighbours' dog Bello bit me", ("user's neighbour", "dog", "Bello")),
        ("My ex's new boyfriend Karl is a pilot", ("user's ex", "boyfriend", "Karl")),
        ("My mom's sister Ruth lives in Turin", ("user's mother", "sister", "Ruth")),
        ("My sister's husband has epilepsy", ("user's sister's husband", "condition", "epilepsy")),
        ("My wife's boss is a vegan", ("user's wife's boss", "diet", "vegan")),
        ("my cousin's son Leo is allergic to nuts", ("Leo", "allergy", "nuts")),
        ("My cousin adopted a cat named Mo", ("user's cousin", "cat", "Mo")),
        ("The neighbour's son Timo is 5", ("user's neighbour", "son", "Timo")),
        ("My brother's kids are Ada and Ben", ("user's brother", "child", "Ben")),
    ],
)
def test_a_relative_of_a_relative_is_theirs(text: str, held: tuple[str, str, str]) -> None:
    found = read(text)
    assert (*held, "asserted") in found
    theirs = {"wife", "boyfriend", "daughter", "son", "cat", "dog", "child"}
    assert not [one for one in found if one[0] == "user" and one[1] in theirs]


@pytest.mark.parametrize("text", ["Tom left. Her best friend is Lou", "My cousin had twins, Ada and Bea"])
def test_a_relative_of_somebody_else_is_never_the_speakers(text: str) -> None:
    assert [one for one in read(text) if one[0] == "user"] == []


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("My wife Jana is a nurse", ("user", "wife", "Jana")),
        ("My wife's name is Jana", ("user", "wife", "Jana")),
        ("My brother's called Tom", ("user", "brother", "Tom")),
        ("My dog's name is Rex", ("user", "dog", "Rex")),
        ("Anna's my sister", ("user", "sister", "Anna")),
        ("My mom had my brother Tom at 40", ("user", "brother", "Tom")),
        ("My son's birthday is 4 May", ("user's son", "birthday", "--05-04")),
        ("My dad's allergic to nuts", ("user's father", "allergy", "nuts")),
        ("my mother in law Gerda moved in with us", ("user", "mother-in-law", "Gerda")),
        ("my brother in law Uwe works at Aldi", ("user's brother-in-law Uwe", "employer", "Aldi")),
    ],
)
def test_the_speakers_own_relatives_stay_theirs(text: str, held: tuple[str, str, str]) -> None:
    assert (*held, "asserted") in read(text)


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("My mom thinks I have anxiety", "condition", "anxiety"),
        ("My son says I have a drinking problem", "condition", "drinking problem"),
        ("My wife says I snore", "condition", "snore"),
        ("My therapist suspects I have ADHD", "condition", "ADHD"),
        ("My doctor says I have asthma", "condition", "asthma"),
        ("My doctor told me I have diabetes", "condition", "diabetes"),
        ("my boss reckons I live in Graz", "residence", "Graz"),
        ("My sister thinks that I'm allergic to nuts", "allergy", "nuts"),
        ("My sister claims I'm diabetic", "condition", "diabetic"),
        ("My coach believes that I have asthma", "condition", "asthma"),
        ("Anna says we're vegan", "diet", "vegan"),
        ("Emily says I'm vegan", "diet", "vegan"),
        ("My friends think I am vegan", "diet", "vegan"),
        ("My teacher thought I was Spanish", "nationality", "Spanish"),
        ("My wife tells everyone I'm a pilot", "job_title", "pilot"),
    ],
)
def test_what_others_think_of_the_speaker_is_a_report(text: str, attribute: str, value: str) -> None:
    assert read(text) == [("user", attribute, value, "reported")]


@pytest.mark.parametrize(
    "text", ["My dad believes I'm a lawyer", "My mom thinks I should be a doctor", "Tom says I don't have asthma"]
)
def test_a_doubtful_or_denied_opinion_is_nothing(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("My son says hi and I work at Bosch", ("user", "employer", "Bosch", "asserted")),
        ("My wife thinks it's cold, but I live in Graz", ("user", "residence", "Graz", "asserted")),
        ("My brother says he works at Aldi", ("user's brother", "employer", "Aldi", "reported")),
        ("The doctor isn't sure whether I have asthma", ("user", "condition", "asthma", "considered")),
        ("My daughter has a job as a nurse", ("user's daughter", "job_title", "nurse", "asserted")),
    ],
)
def test_what_stands_beside_a_report_keeps_its_stance(text: str, held: tuple[str, str, str, str]) -> None:
    assert held in read(text)


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("My boss is called Henrike and she's super strict about PTO", "preferred_name"),
        ("lol jk I'm Dortmund through and through", "visited"),
        ("My son Ben has a new teacher.", "job_title"),
        ("My brother has a lawyer", "job_title"),
    ],
)
def test_words_before_a_value_may_make_it_something_else(text: str, attribute: str) -> None:
    assert attribute not in {one[1] for one in read(text)}


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("I drive an old VW Golf, it's from 2009", False),
        ("I've got a Golf and it's from 2009", False),
        ("I have asthma, it was diagnosed in 2009", True),
    ],
)
def test_the_age_of_a_thing_is_not_how_long_somebody_has_it(text: str, dated: bool) -> None:  # noqa: FBT001 - a column of a table
    now_us = 1_796_000_000_000_000
    event = Event(text=text, role=Role.USER, speaker="user", occurred_us=now_us, id="e1", recorded_us=now_us)
    (claim,) = ReadingExtractor(TaggingReader()).extract(Turn(event=event))
    assert (claim.valid_from_us is not None) is dated
