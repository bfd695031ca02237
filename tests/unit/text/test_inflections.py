"""Singular and plural meet, and what is another thing stays apart."""

from __future__ import annotations

import pytest

from credenda.text.normalize import detect_language, find_condition_forms, fold_plural, fold_plural_everywhere

SAME = {
    "en": "peanut peanuts, cookie cookies, potato potatoes, shoe shoes, peach peaches, headache headaches, box boxes, "
    "glass glasses, mouse mice, child children, knife knives, strawberry strawberries, toy toys, house houses, "
    "virus viruses, T-shirt T-shirts",
    "de": "Erdnuss Erdnüsse, Erdnuß Erdnuesse, Katze Katzen, Hund Hunde, Apfel Äpfel, Biene Bienen, Tomate Tomaten, "
    "Mandel Mandeln, Ei Eier, Kind Kinder, Auto Autos, Freundin Freundinnen, Haus Häuser",
    "fr": "arachide arachides, noix noix, cheval chevaux, oeuf œufs, gâteau gâteaux, bijou bijoux, animal animaux",
    "es": "cacahuete cacahuetes, gato gatos, nuez nueces, flor flores, ratón ratones, avión aviones, animal animales",
    "pt": "amendoim amendoins, noz nozes, camarão camarões, cão cães, animal animais, papel papéis, flor flores",
}
APART = {
    "en": "university universe, bear beer, car care, not note, running run, coding code, C++ C, C# C, C++ C#, US USA, "
    "10 100, v1 v2, pine pin",
    "de": "Wien Wiener, Lehrer Lehre, Kirsche Kirche, Bier Bär, Hase Haus, Tee Teer",
    "fr": "chat chatte, poison poisson, noix noisette",
    "es": "hijo hija, gato gata, nuez nuca, hombre hombro, mes mesa",
    "pt": "filho filha, mau mal, sal sala",
}


def _pairs(table: dict[str, str]) -> list[tuple[str, str, str]]:
    pairs = ((language, pair.split()) for language, told in table.items() for pair in told.split(", "))
    return [(language, one, other) for language, (one, other) in pairs]


@pytest.mark.parametrize(("language", "one", "other"), _pairs(SAME))
def test_a_thing_is_one_in_both_numbers(language: str, one: str, other: str) -> None:
    assert fold_plural(one, language) == fold_plural(other, language)
    assert fold_plural(one, language) in fold_plural_everywhere(other)


@pytest.mark.parametrize(("language", "one", "other"), _pairs(APART))
def test_two_things_stay_two(language: str, one: str, other: str) -> None:
    assert fold_plural(one, language) != fold_plural(other, language)


@pytest.mark.parametrize("value", ["", "the", "?", "ß", "\u0130", "ꜳ" * 3, "a" * 5_000, "日本", "l'", "-", "--"])
def test_any_value_has_a_form_and_the_same_spelling_the_same(value: str) -> None:
    assert (
        fold_plural_everywhere(value) == fold_plural_everywhere(value.upper()) or value.upper().lower() != value.lower()
    )
    assert find_condition_forms(value) == set()


def test_a_condition_is_told_in_many_ways_of_one_person() -> None:
    mine = find_condition_forms("I'm allergic to peanuts.")
    for again in ("I have a peanut allergy", "I've got a severe allergy to the peanut!", "My peanut allergy"):
        assert mine & find_condition_forms(again), again
    for other in (
        "I'm not allergic to peanuts",
        "I was allergic to peanuts",
        "He is allergic to peanuts",
        "I'm allergic to peanuts and dust",
        "Am I allergic to peanuts?",
        "I like peanuts",
    ):
        assert not mine & find_condition_forms(other), other
    assert find_condition_forms("Ich bin laktoseintolerant") & find_condition_forms("Ich habe eine Laktoseintoleranz")
    assert find_condition_forms("I'm diabetic") & find_condition_forms("I have diabetes")
    assert find_condition_forms("Soy asmático") & find_condition_forms("Tengo asma")


def test_a_long_text_tells_no_condition_and_costs_no_time() -> None:
    assert find_condition_forms("I'm allergic to peanuts. " + "We talked about my allergy. " * 40_000) == set()


def test_a_language_is_told_by_its_words() -> None:
    told = {
        "I like tea": "en",
        "Ich mag Tee": "de",
        "Je suis là": "fr",
        "Soy alérgico a todo": "es",
        "Sou alérgico": "pt",
    }
    assert {text: detect_language(text) for text in told} == told
    assert detect_language("Mi piacciono i gatti e non ho cani") == ""
