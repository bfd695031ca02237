"""The yardstick, against a score worked out by hand."""

from benchmarks.locomo import PlainBm25


def test_the_rarer_word_wins() -> None:
    plain = PlainBm25({"a": "tea tea coffee", "b": "coffee coffee coffee", "c": "tea bread milk"})
    assert plain.rank("bread", 10) == ["c"]
    assert plain.rank("tea", 10) == ["a", "c"]  # twice in a text of the same length counts more


def test_shorter_texts_score_higher_for_the_same_count() -> None:
    plain = PlainBm25({"long": "violin bakery orchard kayak", "short": "violin"})
    assert plain.rank("violin", 10) == ["short", "long"]


def test_equal_scores_keep_the_order_of_the_texts() -> None:
    plain = PlainBm25({"first": "violin", "second": "violin"})
    assert plain.rank("violin", 10) == ["first", "second"]
    assert plain.rank("violin", 1) == ["first"]


def test_stop_words_and_unknown_words_find_nothing() -> None:
    plain = PlainBm25({"a": "the violin"})
    assert plain.rank("the", 10) == []
    assert plain.rank("zebra", 10) == []
    assert PlainBm25({}).rank("violin", 10) == []
