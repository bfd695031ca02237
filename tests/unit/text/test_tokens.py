"""Search terms: what is folded, kept whole, left out, stemmed, and cut into bigrams."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credenda import limits
from credenda.text.tokens import extract_query_terms, fold, segment_query, tokenize

TEXTS = st.text(st.one_of(st.characters(), st.sampled_from("abc 東京がテﾃสวัé'.@#+,:\n")), max_size=80)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("She was RUNNING, he runs", ["run", "run"]),
        ("C++ and C# beat c, notepad++", ["c++", "c#", "beat", "c", "notepad++"]),
        ("k8s v2.1 on python3.11", ["k8s", "v2.1", "python3.11", "python3", "11"]),
        ("mail ana@example.com", ["mail", "ana@example.com", "ana", "exampl", "com"]),
        ("node.js, home.Then", ["node.js", "node", "js", "home.then", "home"]),
        ("snake_case well-known a/b", ["snake", "case", "well", "known", "b"]),
        ("1,250 at 10:30 or 3.14", ["1250", "10:30", "3.14"]),
        ("issue #12, x:y2", ["issu", "12", "x", "y2"]),
        ("[8 May 2023] 8th, 08", ["8", "may", "2023", "8", "8"]),
        ("Ana's dog, O\u2019Brien\u2019s, I don't, they\u2019ve", ["ana", "dog", "obrien"]),
        ("0 007", ["0", "7"]),
        ("?!… --", []),
        ("", []),
    ],
)
def test_words_numbers_and_names_stay_usable(text: str, terms: list[str]) -> None:
    assert tokenize(text) == terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café Ångström", "CAFE angstrom"),
        ("\uff26\uff55\uff4c\uff4c width", "full width"),
        ("Größe", "GRÖSSE"),
        ("Ελλάδα", "ελλαδα"),
        ("ёлка", "ЕЛКА"),
        ("مُحَمَّد", "محمد"),
        ("cafe\u0301", "café"),
        ("ﾃｽﾄ", "テスト"),
    ],
)
def test_case_width_and_accents_make_no_difference(one: str, other: str) -> None:
    assert tokenize(one) == tokenize(other)
    assert tokenize(one)


@pytest.mark.parametrize(
    "text",
    [
        "the and of with they're isn't",
        "und nicht der ich mit",
        "je ne pas les est que",
        "el los por que muy una",
        "ao uma não você da",
    ],
)
def test_stop_words_of_five_languages_say_nothing(text: str) -> None:
    assert tokenize(text) == []


@pytest.mark.parametrize("word", ["die", "war", "hat", "son", "sin", "fur", "may", "us", "chat", "main"])
def test_no_stop_word_swallows_an_english_word_of_meaning(word: str) -> None:
    assert len(tokenize(word)) == 1


@pytest.mark.requirement("D-034")
@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("我喜欢喝茶", ["我喜", "喜欢", "欢喝", "喝茶"]),
        ("東京都に住む", ["東京", "京都", "住"]),
        ("東京でTeslaを買った", ["東京", "tesla", "買"]),
        ("すしを食べます", ["すし", "しを", "食", "べま"]),
        ("です", ["です"]),
        ("コーヒー", ["コー", "ーヒ", "ヒー"]),
        ("茶", ["茶"]),
        ("我用Python写code", ["我用", "python", "写", "code"]),
        ("茶。水", ["茶", "水"]),
        ("서울에", ["서울", "울에"]),
        ("ชา", ["ชา"]),
    ],
)
def test_scripts_without_word_spaces_become_overlapping_bigrams(text: str, terms: list[str]) -> None:
    assert tokenize(text) == terms


def test_words_of_indic_scripts_keep_their_vowel_signs() -> None:
    assert tokenize("தமிழ் 1") == [tokenize("தமிழ்")[0], "1"]
    assert tokenize("हिन्दी में")[0].startswith("हिन्द")


@pytest.mark.requirement("D-034")
@pytest.mark.parametrize(("query", "found"), [("喜欢", 1), ("喝茶", 1), ("东京", 0), ("Linz", 1)])
def test_a_segmented_text_is_found_by_two_characters_in_full_text_search(query: str, found: int) -> None:
    database = sqlite3.connect(":memory:")
    try:
        database.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter unicode61')")
        database.execute("INSERT INTO words VALUES (?)", (segment_query("我喜欢喝茶 in Linz"),))
        asked = " ".join(f'"{word}"' for word in segment_query(query).split())
        (count,) = database.execute("SELECT count(*) FROM words WHERE words MATCH ?", (asked,)).fetchone()
    finally:
        database.close()
    assert count == found


def test_segment_leaves_other_text_alone() -> None:
    assert segment_query("Grüße an José, don't change") == "Grüße an José, don't change"
    assert segment_query("plain ascii") == "plain ascii"
    assert segment_query("ﾃｽﾄ!").split() == ["テス", "スト", "!"]


def test_query_terms_are_distinct_in_order_and_bounded() -> None:
    assert extract_query_terms("tea, coffee and tea; teas") == ["tea", "coffe"]
    many = " ".join(f"w{number}" for number in range(500))
    assert extract_query_terms(many) == [f"w{number}" for number in range(limits.QUERY_TERMS)]


def test_a_question_of_stop_words_keeps_them() -> None:
    assert extract_query_terms("Who is it?") == ["who", "is", "it"]
    assert extract_query_terms(" ?! ") == []


@given(TEXTS)
def test_any_text_gives_clean_terms(text: str) -> None:
    for term in tokenize(text):
        assert term
        assert not any(character.isspace() for character in term)
    assert tokenize(text) == tokenize(text)
    segment_query(text)


@given(TEXTS, TEXTS)
def test_lines_are_read_apart(one: str, other: str) -> None:
    assert tokenize(f"{one}\n{other}") == tokenize(one) + tokenize(other)


@given(TEXTS)
def test_folding_twice_changes_nothing(text: str) -> None:
    once = fold(text)
    assert fold(once) == once
