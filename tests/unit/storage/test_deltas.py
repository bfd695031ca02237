"""The change log writes letters for names, reads both, and keeps no words of what was deleted in either form."""

import json
from dataclasses import fields

import pytest

from credenda.model.change import Actor, ChangeKind, ChangeRecord
from credenda.model.memory import Memory
from credenda.storage.rows import (
    SHORT,
    expand_fields,
    remove_words_from_delta,
    shorten_fields,
    to_change,
    to_change_row,
)

TAG = "abcde1"
SAID = {"text": "Tea, please.", "entity": "tea", "type": "fact", "valid_from_us": 5, "linked": ["m2-abcde1"]}


def logged() -> ChangeRecord:
    return ChangeRecord(
        id="", kind=ChangeKind.ADD, actor=Actor.USER, reason="said", at_us=7, before={"status": "active"}, after=SAID
    )


def test_letters_are_names_of_nothing_else_and_each_stands_for_one_field() -> None:
    names = {field.name for field in fields(Memory)}
    assert set(SHORT) <= names
    assert not names & set(SHORT.values())
    assert len(set(SHORT.values())) == len(SHORT)
    assert expand_fields(shorten_fields(SAID)) == SAID


def test_a_change_is_read_as_it_was_written() -> None:
    row = to_change_row(logged(), TAG) | {"id": 1, "at": 7, "checksum": None}
    read = to_change(row, TAG)
    assert (read.before, read.after) == ({"status": "active"}, SAID)
    assert "valid_from_us" not in str(row["delta"])


@pytest.mark.parametrize("after", [SAID, shorten_fields(SAID)])
def test_older_logs_with_whole_names_are_read_and_redacted_alike(after: dict[str, object]) -> None:
    delta = json.dumps({"a": after, "b": {"status": "active"}})
    row = to_change_row(logged(), TAG) | {"id": 1, "at": 7, "checksum": None, "delta": delta}
    assert to_change(row, TAG).after == SAID
    wordless = to_change_row(logged(), TAG) | {
        "id": 1,
        "at": 7,
        "checksum": None,
        "delta": remove_words_from_delta(delta),
    }
    assert to_change(wordless, TAG).after == {"type": "fact", "valid_from_us": 5}
    assert to_change(wordless, TAG).before == {"status": "active"}
