"""A correction that names the deleted value in part loses these words too, in its text and in its reason."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from credenda import Credenda, MemoryUnit


def _check_bytes(mem: Credenda, path: Path, *words: str) -> None:
    """Look for words in every byte of the files of a memory, which is closed."""
    assert all(word not in str(mem.search(word, include=("superseded",)).hits) for word in words)
    mem.close()
    everything = b"".join(one.read_bytes() for one in path.parent.rglob("*") if one.is_file()).lower()
    assert not [word for word in words if word.casefold().encode() in everything]


@pytest.mark.requirement("S-061")
def test_a_typed_sentence_that_names_the_value_in_part_loses_the_name(mem: Credenda, path: Path) -> None:
    mem.remember("My dentist is Doctor Quarnbichler.")
    mem.settle()
    (first,) = mem.list().items
    right = mem.correct(
        first.id, text="My dentist is Doctor Lind, not Quarnbichler.", reason="Quarnbichler has retired"
    )
    assert right.id in {one.id for one in mem.manage.plan_deletion(first.id).kept}
    mem.delete(first.id)
    assert [one.text for one in mem.list().items] == ["My dentist is Doctor Lind."]
    _check_bytes(mem, path, "Quarnbichler")


@pytest.mark.requirement("S-061")
@pytest.mark.parametrize("reason", ["Wobbelklee was a joke", "nobody says Wobbe\u0301lklee"])
def test_a_reason_that_names_the_value_in_part_goes(mem: Credenda, path: Path, reason: str) -> None:
    name = unicodedata.normalize("NFC", reason).split()[-1 if reason.startswith("nobody") else 0]
    text = f"I prefer {name} meetings."
    first = mem.store(MemoryUnit(text=text, entity="user", attribute="meeting_time", value=f"{name} meetings"))
    mem.correct(first.id, value="Monday meetings", reason=reason)
    mem.delete(first.id)
    assert "Monday meetings" in {one.value for one in mem.list().items}
    _check_bytes(mem, path, name, unicodedata.normalize("NFD", name))


@pytest.mark.requirement("S-061")
def test_the_new_words_of_a_correction_stay_where_its_first_version_goes(mem: Credenda) -> None:
    mem.remember("I have a cat called Zorbel and a dog called Bix.")
    mem.settle()
    (first,) = mem.list().items
    mem.correct(first.id, text="I have a cat called Zorbel and a dog called Rex.")
    mem.delete(first.id)
    assert "Rex" in mem.search("Rex").hits[0].quote
    assert not any("Zorbel" in one.text for one in mem.search("Zorbel").hits)


def test_common_words_of_a_deleted_value_stay_in_its_correction(mem: Credenda) -> None:
    value = "the old Green house by the river"
    unit = MemoryUnit(text=f"I live in {value}.", entity="user", attribute="residence", value=value)
    first = mem.store(unit)
    text = "I live in the white cottage, with a green door."
    right = mem.correct(first.id, text=text, value="the white cottage")
    mem.delete(first.id)
    assert mem.get(right.id).text == text


@pytest.mark.requirement("S-061")
@pytest.mark.parametrize(
    "said", ["not my old plimquist", "no longer plimquist", "Plimquist has retired", "nicht plimquist"]
)
def test_a_denied_or_capital_word_of_it_goes(mem: Credenda, path: Path, said: str) -> None:
    value = "doctor plimquist" if said[0].islower() else "Doctor Plimquist"
    first = mem.store(MemoryUnit(text=f"My dentist is {value}.", entity="user", attribute="dentist", value=value))
    right = mem.correct(first.id, text=f"My dentist is Lind, {said}.", value="Lind")
    assert right.id in {one.id for one in mem.manage.plan_deletion(first.id).kept}
    mem.delete(first.id)
    assert mem.get(right.id).value == "Lind"
    _check_bytes(mem, path, "plimquist")


@pytest.mark.requirement("S-061")
def test_a_quotation_in_the_log_of_another_memory_is_found_in_either_form(mem: Credenda, path: Path) -> None:
    name = "\u00c9milienne"
    first = mem.store(MemoryUnit(text=f"My dentist is {name}.", entity="user", attribute="dentist", value=name))
    other = mem.store(MemoryUnit(text="The bakery is closed.", entity="bakery"))
    apart = unicodedata.normalize("NFD", name)
    mem.correct(other.id, text="The bakery is open.", reason=f"says \u201c{apart}\u201d")
    mem.delete(first.id)
    _check_bytes(mem, path, name, apart)


def test_a_memory_whose_reason_alone_holds_the_words_is_named(mem: Credenda, path: Path) -> None:
    value = "Wobbelklee"
    first = mem.store(MemoryUnit(text=f"My dentist is {value}.", entity="user", attribute="dentist", value=value))
    right = mem.correct(first.id, text="My dentist is Lind.", value="Lind", reason=f"{value} has retired")
    (named,) = mem.manage.plan_deletion(first.id).kept
    assert (named.id, named.text, named.left) == (right.id, right.text, right.text)
    assert mem.delete(first.id).kept == (right.id,)
    _check_bytes(mem, path, value)
