"""Words of many languages: stems by script, and by the language that a text seems to be in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda.text.tokens import (
    ALTERNATIVE,
    LANGUAGES,
    extract_document_terms,
    extract_query_terms,
    extract_question_terms,
    get_function_words,
    guess_languages,
    segment_document,
    segment_query,
    stem_by_script,
    tag_stems,
    tokenize,
)

TEXTS = st.text(st.one_of(st.characters(), st.sampled_from("abc d'é 東京がテสวัкиךّ'.@#+,:\n")), max_size=80)


def meets(text: str, question: str) -> bool:
    """Say whether any term of a question is among those of a text, by any of its alternatives."""
    held = set(extract_document_terms(text))
    asked = [alternative for term in extract_question_terms(question) for alternative in term.split(ALTERNATIVE)]
    return any(one in held or (len(one) == 1 and any(term[0] == one for term in held)) for one in asked)


@pytest.mark.requirement("D-034")
@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("我每天喝绿茶", "茶"),
        ("毎朝お茶を飲みます", "茶を飲む"),
        ("ｺｰﾋｰが好き", "コーヒー"),
        ("차를 팔았어요", "차"),
        ("ฉันดื่มชาทุกเช้า", "ชา"),
        ("Ich habe zwei Katzen", "Katze"),
        ("Die Müllers kommen", "MÜLLER"),
        ("Wir suchen neue Häuser", "Welches Haus ist neu?"),
        ("Mes sœurs habitent à l'hôtel", "hôtel"),
        ("J'ai acheté des voitures électriques", "voiture"),
        ("Mis hermanas viven en Sevilla", "hermana"),
        ("As minhas irmãs moram em Lisboa", "Onde mora a minha irmã?"),
        ("Abbiamo comprato delle biciclette", "bicicletta"),
        ("Wij hebben twee katten", "kat"),
        ("Jag har två katter och en hund", "katt"),
        ("Kedilerim çok tembel", "kedi"),
        ("Мы купили новые велосипеды", "велосипед"),
        ("Новый дом", "нового дома"),
        ("أعيش في المدينة", "مدينة"),
        ("הכלב שלי", "כלב"),
        ("אני גר בירושלים", "ירושלים"),
        ("Αγόρασα καινούργια ποδήλατα", "ποδήλατο"),
        ("मैंने दो किताबें खरीदीं", "किताब"),
    ],
)
def test_another_form_of_a_word_finds_it(text: str, question: str) -> None:
    assert meets(text, question)


@pytest.mark.parametrize(("text", "question"), [("車を買う", "東"), ("漢語", "汉语"), ("Die Katze schläft", "Hund")])
def test_another_word_does_not(text: str, question: str) -> None:
    assert not meets(text, question)


@pytest.mark.parametrize(
    "text",
    [
        "I had die-cast cars as a child in the war",
        "We flew to Rio de Janeiro and La Paz",
        "El Paso was too hot for us",
        "My son met a man in a van",
        "no way me too",
        "",
    ],
)
def test_english_stays_as_it_was(text: str) -> None:
    assert extract_document_terms(text) == tokenize(text)


def test_an_english_question_has_no_alternatives() -> None:
    asked = "Where did my sister live before she moved to the city?"
    assert extract_question_terms(asked) == extract_query_terms(asked)


def test_no_english_text_is_found_by_a_foreign_stem() -> None:
    assert not meets("We made a plan of the house", "planes")
    assert not meets("The past is past", "pasta")


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_is_recognised_by_its_function_words(language: str) -> None:
    others = {word for other in (*LANGUAGES, "en") if other != language for word in get_function_words(other)}
    own = sorted(get_function_words(language) - others)[:4]
    assert guess_languages(own)[0] == language


def test_the_function_words_of_a_question_do_not_count() -> None:
    assert [term.split(ALTERNATIVE)[0] for term in extract_question_terms("Wann war die Katze im Haus?")] == [
        "katz",
        "haus",
    ]


def test_a_question_of_function_words_alone_keeps_them() -> None:
    assert extract_question_terms("Wer war die?")


@pytest.mark.parametrize("word", ["garden", "über", "東京", "abcя", "123", ""])
def test_a_word_of_no_script_of_its_own_has_no_stem_by_script(word: str) -> None:
    assert stem_by_script(word) is None


def test_tagged_stems_are_words_that_nobody_writes() -> None:
    assert tag_stems(["katzen", "die"], "de") == ["katz0de"]


@given(TEXTS)
def test_a_text_meets_itself(text: str) -> None:
    terms = tokenize(text)
    if terms:
        assert set(terms) <= set(extract_document_terms(text))
        assert meets(text, text)


@given(TEXTS)
def test_what_is_written_to_disk_holds_what_is_asked_of_it(text: str) -> None:
    assert set(segment_query(text).split()) <= set(segment_document(text).split())


@given(TEXTS)
def test_terms_never_hold_the_mark_between_alternatives(text: str) -> None:
    assert all(ALTERNATIVE not in term for term in extract_document_terms(text))
