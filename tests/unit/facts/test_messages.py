"""The messages that the reader learns from keep their form."""

from __future__ import annotations

from collections import Counter
from typing import Any

from training import check
from training.labels import ATTRIBUTES
from training.messages import is_held_out, list_files, load_rows

FILES = list_files(["de", "es", "fr", "pt"])


def test_every_span_stands_in_its_message_and_every_label_in_its_list() -> None:
    assert [fault for path in FILES for fault in check.find_faults(path)] == []


def test_there_are_enough_messages_of_each_attribute_and_enough_with_nothing() -> None:
    rows = load_rows(FILES)
    counted = Counter(fact["attribute"] for row in rows for fact in row["facts"])
    assert len(rows) >= 25_000
    assert min(counted[name] for name in ATTRIBUTES) >= 200
    assert 0.3 < sum(not row["facts"] for row in rows) / len(rows) < 0.6
    assert 0.02 < sum(is_held_out(row["id"]) for row in rows) / len(rows) < 0.1


def test_a_person_is_kept_apart_as_a_whole() -> None:
    groups: dict[str, set[bool]] = {}
    for row in load_rows(FILES):
        if row["id"].count("-") > 1:
            groups.setdefault(row["id"].rpartition("-")[0], set()).add(is_held_out(row["id"]))
    assert all(len(kept) == 1 for kept in groups.values())


def test_a_broken_line_is_found() -> None:
    row: dict[str, Any] = {"id": "s-1", "text": "I live in Loja", "facts": [], "notes": []}
    fact = {
        "quote": "I live",
        "subject": "me",
        "attribute": "residence",
        "value": "Quito",
        "status": "now",
        "weight": 2,
    }
    assert list(check.list_faults(row | {"facts": [fact]}, set())) == ["value 'Quito' is not in the text"]
