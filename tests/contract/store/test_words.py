"""Nomination: documents that hold a word, from the durable full-text index."""

import pytest

from credenda.ids import IdKind
from credenda.model.event import Role
from credenda.model.memory import Status
from credenda.storage.store import Redaction, Store, pack_code

from .build import ANA, BEN, add, current, ended, held, number, put, said, see, texts


def nominated(store: Store, *terms: str, limit: int = 50, user_id: str = ANA) -> list[int]:
    return see(store, user_id, lambda reader: reader.nominate(terms, limit))


def event_code(place: int, ordinal: int = 0) -> int:
    return pack_code(place, ordinal, memory=False)


def test_events_and_memories_are_nominated_by_any_of_the_terms(store: Store) -> None:
    put(store, ANA, said("I drink tea."), said("The sea is cold."), said("Nothing of the kind."))
    add(store, ANA, held("Ana loves green tea."))
    assert set(nominated(store, "tea")) == {event_code(1), pack_code(1, memory=True)}
    assert set(nominated(store, "sea", "tea")) == {event_code(1), event_code(2), pack_code(1, memory=True)}
    assert nominated(store, "coffee") == []
    assert nominated(store) == []


def test_messages_do_not_crowd_memories_out_where_only_these_are_asked_for(store: Store) -> None:
    put(store, ANA, *(said(f"I drink tea, cup {cup}.") for cup in range(10)))
    add(store, ANA, held("Ana loves green tea."), held("Ana keeps bees."))
    put(store, BEN, said("I drink tea."))
    add(store, BEN, held("Ben loves tea."), held("Ben pours tea."))
    for limit in (1, 5):
        found = see(store, ANA, lambda reader, limit=limit: reader.nominate(["tea", "cup"], limit, memories=True))
        assert found == [pack_code(1, memory=True)]


@pytest.mark.requirement("R-167")
def test_a_memory_is_nominated_by_the_words_of_its_slot(store: Store) -> None:
    add(store, ANA, held("She moved there.", entity="Ana", attribute="home_town", value="Linz"))
    for word in ("ana", "town", "linz", "moved"):
        assert nominated(store, word) == [pack_code(1, memory=True)]


def test_an_event_is_nominated_by_its_speaker_and_its_month(store: Store) -> None:
    put(store, ANA, said("Hello there.", role=Role.PERSON, speaker="Zoë"))
    assert nominated(store, "zoe") == nominated(store, "may") == [event_code(1)]


def test_a_superseded_memory_is_still_nominated_once(store: Store) -> None:
    (memory_id,) = add(store, ANA, held("Ana likes tea."))
    put(store, ANA, ended(current(store, ANA, memory_id)))
    assert nominated(store, "tea") == [pack_code(1, memory=True)]


def test_rare_terms_come_first_and_the_limit_holds(store: Store) -> None:
    put(store, ANA, *(said(f"tea {'saffron' if turn == 7 else 'milk'}") for turn in range(10)))
    assert nominated(store, "tea", "saffron", limit=3)[0] == event_code(8)
    assert len(nominated(store, "tea", "saffron", limit=3)) == 3
    assert len(nominated(store, "tea", "milk", limit=100)) == 10
    assert len(set(nominated(store, "tea", "milk", limit=9))) == 9


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Un café à Zürich.", ["cafe", "CAFÉ", "cafe\u0301", "zurich", "Zürich"]),
        ("Мій кіт живе в Києві.", ["києві", "Києві", "кіт"]),
        ("Πίνουμε καφέ.", ["καφε", "καφέ", "πινουμε"]),
        ("मैं हिन्दी भाषा बोलता हूँ", ["हिन्दी", "भाषा"]),
        ("Built with node.js v2.1 by ana@example.com", ["node.js", "v2.1", "ana@example.com", "node"]),
        ("She runs and was running.", ["run", "running"]),
        ("The databases accelerated.", ["database", "accelerate", "Databases"]),
    ],
)
def test_accents_scripts_and_joined_words_are_found(store: Store, text: str, terms: list[str]) -> None:
    put(store, ANA, said("Something else entirely."), said(text))
    for term in terms:
        assert nominated(store, term) == [event_code(2)], term


@pytest.mark.requirement("D-034")
@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("我喜欢喝绿茶", "绿茶"),
        ("東京都に住んでいます", "東京"),
        ("저는 서울에 살아요", "서울"),
        ("ผมชอบดื่มชาเขียว", "ชาเขียว"),
        ("My flat is in 東京都 since 2024", "東京都"),
    ],
)
def test_scripts_without_spaces_are_found_by_pairs_of_characters(store: Store, text: str, question: str) -> None:
    put(store, ANA, said("今天天气很好"), said(text))
    assert nominated(store, question) == [event_code(2)]


@pytest.mark.parametrize(
    "term",
    [
        "",
        " ",
        '"',
        '""',
        "'",
        "*",
        "^",
        "(",
        "body:",
        "{",
        "NEAR(",
        "-",
        "+",
        ";--",
        "\x00",
        "\ud800",
        "🎉",
        "%",
        "_",
    ],
)
def test_marks_alone_nominate_nothing(store: Store, term: str) -> None:
    put(store, ANA, said("I drink tea."))
    assert nominated(store, term) == []
    assert nominated(store, term, "tea") == [event_code(1)]


@pytest.mark.parametrize(
    "term", ['tea"', '"tea', "tea*", "^tea", "tea)", "-tea", "tea\x00", "'tea'", 'tea" OR body : "sea', "body:tea"]
)
def test_operators_around_a_word_are_harmless(store: Store, term: str) -> None:
    put(store, ANA, said("I drink tea."), said("The sea is cold."))
    assert event_code(2) not in nominated(store, term)


@pytest.mark.parametrize("word", ["and", "or", "not", "near"])
def test_words_that_a_query_language_knows_are_only_words(store: Store, word: str) -> None:
    put(store, ANA, said("I drink tea."), said(f"It is {word} so."))
    assert nominated(store, word.upper()) == [event_code(2)]


def test_a_long_event_is_nominated_by_the_passage_that_holds_the_word(store: Store) -> None:
    parts = [" ".join(f"{name}{turn}" for turn in range(150)) + "." for name in ("alpha", "beta", "gamma")]
    put(store, ANA, said("\n\n".join(parts)))
    ordinals = [nominated(store, word) for word in ("alpha149", "beta149", "gamma149")]
    assert [len(codes) for codes in ordinals] == [1, 1, 1]
    assert ordinals[0] < ordinals[1] < ordinals[2]
    assert nominated(store, "gamma149") != [event_code(1)]


def test_a_word_of_any_length_is_found_whole_and_taken_out_again(store: Store) -> None:
    word = "".join(f"x{turn}y" for turn in range(1_000))
    memory_id, _ = add(store, ANA, held(f"The key is {word} and no other."), held("Ana likes tea."))
    assert nominated(store, word) == [pack_code(1, memory=True)]
    assert nominated(store, word[:-2]) == nominated(store, word[:200]) == []
    assert store.check(ANA) == []
    put(store, ANA, Redaction(id=memory_id, at_us=9))
    assert nominated(store, word) == []
    assert store.check(ANA) == []


@pytest.mark.requirement("R-202", "R-201")
def test_another_tenants_documents_are_never_nominated(store: Store) -> None:
    put(store, BEN, said("Ben hides saffron."), said("More saffron."))
    add(store, BEN, held("Ben loves saffron."))
    (event_id,) = put(store, ANA, said("Ana likes saffron."))
    assert nominated(store, "saffron") == [event_code(number(store, ANA, IdKind.EVENT, event_id))]
    assert nominated(store, "ben", "hides") == []
    tag = see(store, BEN, lambda reader: reader.tenant.tag)
    assert nominated(store, tag) == []
    assert nominated(store, "saffron", user_id="nobody") == []
    assert len(nominated(store, "saffron", user_id=BEN)) == 3


def searched(store: Store, *words: str, limit: int = 10, most: int | None = None) -> list[str]:
    return texts(see(store, ANA, lambda reader: reader.search_memories(words, limit, most=most)))


def test_memories_are_searched_by_words_as_written_and_messages_are_left_out(store: Store) -> None:
    put(store, ANA, said("Cats, cats, cats."))
    add(store, ANA, held("Three cats sleep."), held("A dog runs."), held("Naïve hopes."))
    add(store, BEN, held("Ben has cats."))
    for word in ("cat", "Cats", "CATS"):
        assert searched(store, word) == ["Three cats sleep."]
    assert searched(store, "running") == ["A dog runs."]
    assert searched(store, "naive") == ["Naïve hopes."]
    assert searched(store, "fish") == searched(store) == searched(store, "!?") == []


def test_memories_with_the_rarest_words_come_first(store: Store) -> None:
    add(store, ANA, *(held(f"Tea {number}.") for number in range(6)), held("Tea with honey."))
    assert searched(store, "tea", "honey", limit=3) == ["Tea with honey.", "Tea 0.", "Tea 1."]
    assert searched(store, "tea", "honey", limit=3, most=1) == ["Tea with honey."]
    assert searched(store, "tea", "honey", limit=3, most=0) == []


def test_a_searched_memory_comes_as_its_current_version_whatever_its_status(store: Store) -> None:
    (memory_id,) = add(store, ANA, held("I like tea."))
    put(store, ANA, ended(current(store, ANA, memory_id)))
    (found,) = see(store, ANA, lambda reader: reader.search_memories(["tea"], 10))
    assert (found.version, found.status) == (2, Status.SUPERSEDED)
