"""The beginning of a clause decides about whom it states a fact."""

import pytest

from credenda.write.llm.guards import about_another

from .build import turn_of

OTHERS = [
    ("My wife got a job at Acme.", "Acme", "employer"),
    ("My best friend Tom lives in Graz.", "Graz", "residence"),
    ("A friend of mine works at Bosch.", "Bosch", "employer"),
    ("Mark works at Bosch.", "Bosch", "employer"),
    ("He is allergic to nuts and I am allergic to eggs.", "nuts", "allergy"),
    ("We live in Rome, Tom lives in Oslo.", "Oslo", "residence"),
    ("Yesterday Ana moved to Oslo.", "Oslo", "residence"),
    ("The neighbours moved to Oslo.", "Oslo", "residence"),
    ("Your flight leaves at nine tomorrow.", "nine", "time"),
    ("My mother's name is Ana.", "Ana", "name"),
    ("Mum's on the blue inhaler.", "blue inhaler", "medication"),
    ("My doctor has asthma.", "asthma", "condition"),
    ("The physio says my son has runner's knee.", "runner's knee", "condition"),
    ("Pharmacist said she needs statins.", "statins", "medication"),
    ("Last month Ana moved to Oslo.", "Oslo", "residence"),
    ("Mein Bruder arbeitet bei Hellbach.", "Hellbach", "employer"),
    ("Ruth wohnt in Graz.", "Graz", "residence"),
    ("Ich wohne in Graz, Ruth wohnt in Wels.", "Wels", "residence"),
]
OWN = [
    ("My wife and I live in Rome.", "Rome", "residence"),
    ("He is allergic to nuts and I am allergic to eggs.", "eggs", "allergy"),
    ("My job is teacher.", "teacher", "job_title"),
    ("A teacher by trade, I live in Rome.", "teacher", "job_title"),
    ("My mother's name is Ana.", "Ana", "mother"),
    ("My car is a Volvo.", "Volvo", "car"),
    ("My landlord raised my rent to 900.", "900", "rent"),
    ("I work at Bosch with my brother.", "Bosch", "employer"),
    ("Our team uses Postgres.", "Postgres", "database"),
    ("The deadline is Friday.", "Friday", "deadline"),
    ("The user lives in Linz.", "Linz", "residence"),
    ("Always answer in French.", "French", "instruction"),
    ("Love hiking and biking in the Alps.", "hiking", "likes"),
    ("Vegan since 2015.", "2015", "diet"),
    ("employer is still Orrin & Sons btw, the shipping lot", "Orrin & Sons", "employer"),
    ("on a low dose of statins at night", "statins", "medication"),
    ("Consultant reckons it's a slipped disc, so no lifting.", "slipped disc", "condition"),
    ("bloods came back, doctor says low iron", "low iron", "condition"),
    ("They've put me on statins.", "statins", "medication"),
    ("My doctor put me on statins.", "statins", "medication"),
    ("Ich arbeite bei Hellbach.", "Hellbach", "employer"),
    ("Bei Hellbach bin ich seit Mai.", "Hellbach", "employer"),
    ("Mein Arbeitgeber heißt Hellbach.", "Hellbach", "employer"),
    ("Ruth wohnt in Wels, ich wohne in Graz.", "Graz", "residence"),
]


@pytest.mark.requirement("D-007")
@pytest.mark.parametrize(("text", "value", "attribute"), OTHERS)
def test_a_clause_that_begins_with_somebody_else_is_about_them(text: str, value: str, attribute: str) -> None:
    assert about_another(turn_of(text).event, text, value, attribute)


@pytest.mark.parametrize(("text", "value", "attribute"), OWN)
def test_a_clause_of_the_speaker_is_theirs(text: str, value: str, attribute: str) -> None:
    assert not about_another(turn_of(text).event, text, value, attribute)
