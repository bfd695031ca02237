"""Items: values under a space and a key, each of one tenant, and gone with the words of their source."""

from __future__ import annotations

import pytest

from credenda.errors import Conflict
from credenda.model.core import Item, ItemFilter, ItemRemoval
from credenda.storage.store import Redaction, Rewording, Store

from .build import ANA, BEN, SetClock, add, held, put, said


def make(space: str, key: str, value: str = "1", **fields: object) -> Item:
    return Item(space=space, key=key, value=value, updated_us=5, **fields)  # type: ignore[arg-type]


def list_keys(store: Store, space: str, **conditions: object) -> list[tuple[str, str]]:
    found = store.items.find_items(ANA, ItemFilter(space=space, **conditions))  # type: ignore[arg-type]
    return [(one.space, one.key) for one in found]


def test_an_item_is_found_by_its_tenant_alone(store: Store) -> None:
    put(store, ANA, make("a/", "k", '{"x":1}'))
    assert [one.value for one in store.items.find_items(ANA, ItemFilter(space="a/"))] == ['{"x":1}']
    assert store.items.find_items(BEN, ItemFilter(space="a/")) == []
    put(store, BEN, ItemRemoval(space="a/"))
    assert list_keys(store, "a/") == [("a/", "k")]


def test_a_second_write_replaces_the_first_and_counts_the_version(store: Store) -> None:
    put(store, ANA, make("a/", "k"))
    put(store, ANA, Item(space="a/", key="k", value="2", updated_us=9))
    (found,) = store.items.find_items(ANA, ItemFilter(space="a/", key="k"))
    assert (found.value, found.version, found.created_us, found.updated_us) == ("2", 2, 5, 9)


def test_another_version_than_the_expected_one_is_a_conflict_and_changes_nothing(store: Store) -> None:
    put(store, ANA, make("a/", "k", version=0))
    for row in (make("a/", "k", "2", version=0), make("a/", "k", "2", version=2), ItemRemoval(space="a/", version=3)):
        with pytest.raises(Conflict):
            put(store, ANA, make("a/", "other"), row)
    assert list_keys(store, "a/") == [("a/", "k")]
    put(store, ANA, ItemRemoval(space="a/", key="k", version=1))
    assert list_keys(store, "a/") == []


@pytest.mark.parametrize("odd", ["a%", "a_", "A", "a\n", "a'", "ä", "a\\", "a\x1f"])
def test_names_are_compared_letter_by_letter(store: Store, odd: str) -> None:
    put(store, ANA, make("a", odd), make(f"{odd}/", "k"), make("ab", "k"), make("a", "k"))
    assert list_keys(store, "a", key=odd) == [("a", odd)]
    assert list_keys(store, f"{odd}/") == [(f"{odd}/", "k")]
    assert list_keys(store, f"{odd}/", below=True) == [(f"{odd}/", "k")]
    assert ("ab", "k") not in list_keys(store, "a")


def test_a_space_is_listed_with_those_that_begin_with_it_in_order(store: Store) -> None:
    put(store, ANA, *(make(space, key) for space in ("b/", "a/x/", "a/") for key in ("2", "1")))
    assert list_keys(store, "a/", below=True) == [("a/", "1"), ("a/", "2"), ("a/x/", "1"), ("a/x/", "2")]
    assert list_keys(store, "", below=True, newest=True, limit=1) == [("b/", "2")]
    assert list_keys(store, "a/", key_begins="1") == [("a/", "1")]


def test_items_without_a_key_are_numbered_in_their_space(store: Store) -> None:
    assert put(store, ANA, make("s", ""), make("s", ""), make("t", "")) == [f"{n:012}" for n in (1, 2, 1)]
    put(store, ANA, ItemRemoval(space="s", key=f"{2:012}"))
    assert put(store, ANA, make("s", "")) == [f"{2:012}"]


def test_an_expired_item_is_not_found_and_does_not_bar_a_new_one(store: Store, clock: SetClock) -> None:
    put(store, ANA, make("s", "k", expires_us=clock.now_us() + 10))
    assert list_keys(store, "s", now_us=clock.now_us()) == [("s", "k")]
    clock.us += 1_000_000
    assert list_keys(store, "s", now_us=clock.now_us()) == []
    put(store, ANA, make("s", "k", version=0))


def test_redacting_or_rewording_the_source_of_an_item_deletes_it(store: Store) -> None:
    (event,) = put(store, ANA, said("the safe is behind the picture"))
    first, second = add(store, ANA, held("the safe is behind the picture"), held("the picture is blue"))
    put(store, ANA, *(make("s", one, source=one) for one in (event, first, second)), make("s", "without"))
    assert list_keys(store, "s", sources=(first, second)) == [("s", first), ("s", second)]
    put(store, ANA, Redaction(id=event, at_us=9))
    put(store, ANA, Redaction(id=first, at_us=9))
    put(store, ANA, Rewording(id=second, texts={"the picture is blue": "the picture"}, moved=(), at_us=9))
    assert list_keys(store, "s") == [("s", "without")]
