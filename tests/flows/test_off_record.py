"""A message whose words ask that it is not kept is written nowhere, and the receipt says so."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from credenda import Credenda

pytestmark = pytest.mark.sqlite_file  # the bytes of the file are searched
WORD: Final = "zorkmid"


def test_a_message_that_asks_not_to_be_kept_is_not_stored_and_no_answer_to_it(mem: Credenda, path: Path) -> None:
    refused = "asked not to be kept: nothing of it was written"
    receipt = mem.remember(f"Don't save this: I earn {WORD} a year.", idempotency_key="k", tags=["pay"])
    assert (receipt.event_ids, receipt.refused) == ((), (refused,))
    receipt = mem.remember(
        [
            {"role": "user", "content": f"Off the record, my PIN is {WORD}."},
            {"role": "assistant", "content": f"I will not keep that your PIN is {WORD}."},
            {"role": "user", "content": "I live in Linz."},
            {"role": "assistant", "content": "Linz is on the Danube."},
        ]
    )
    assert receipt.refused == (f"message 1: {refused}", f"message 2: answers a message that {refused}")
    assert [mem.event(one).event.text for one in receipt.event_ids] == ["I live in Linz.", "Linz is on the Danube."]
    mem.settle()
    mem.close()
    assert all(WORD.encode() not in one.read_bytes() for one in path.parent.glob("memory.db*"))


def test_words_not_to_be_kept_that_refer_back_take_the_last_message_back(mem: Credenda) -> None:
    claims = [{"quote": "I live in Linz", "entity": "user", "attribute": "residence", "value": "Linz"}]
    mem.remember("I live in Linz.", session="s", claims=claims)
    assert [one.value for one in mem.list().items] == ["Linz"]
    mem.remember("Don't save that.", session="s")
    mem.settle()
    assert mem.list().items == ()
