"""Near misses are made from questions: what is asked for becomes another thing, which was never said so."""

from benchmarks.unanswerable import Word, list_words, make_near_misses

SESSIONS = {"boat": {1, 2, 3}, "uncl": {1}, "violin": {7}, "garden": {1, 2, 3}, "kite": {1}}
SUBJECT = ["boat", "uncl"]
QUESTION = "Which boat did her uncle build?"


def sessions(term: str) -> frozenset[int]:
    return frozenset(SESSIONS.get(term, ()))


def word(text: str, term: str) -> Word:
    return Word(text, term, 0, len(text))


def made(*stock: Word) -> dict[str, str]:
    return make_near_misses(QUESTION, SUBJECT, stock=stock, sessions=sessions, pick=lambda count: count - 1)


def test_the_rarest_thing_asked_for_becomes_one_that_was_never_said_or_said_elsewhere() -> None:
    found = made(word("cello", "cello"), word("violin", "violin"))
    assert found == {"unsaid": "Which boat did her cello build?", "elsewhere": "Which boat did her violin build?"}


def test_what_is_common_or_stands_beside_the_rest_is_no_near_miss() -> None:
    assert made(word("garden", "garden"), word("kite", "kite"), word("uncle", "uncl")) == {}


def test_a_word_is_replaced_by_one_of_its_form() -> None:
    assert made(word("Cello", "cello"), word("sailing", "sail"), word("cellos", "cello")) == {}
    assert {word("baking", "bake").form, word("rowing", "row").form} == {(False, "ing")}


def test_a_question_of_one_thing_has_no_near_miss() -> None:
    stock = [word("cello", "cello")]
    assert make_near_misses("Which boat?", ["boat"], stock=stock, sessions=sessions, pick=lambda _: 0) == {}


def test_names_of_persons_and_first_words_are_not_replaced() -> None:
    assert [one.text for one in list_words("Boats of Ana or boats of Ben?", ["boat"])] == ["boats"]
