"""Asking for other times, and what the answers must be."""

from __future__ import annotations

from credenda import Credenda
from credenda.clock import format_time
from credenda.limits import LIST_LIMIT
from credenda.model.memory import Memory, Relation, Status

from .world import Ledger, standing


def look_back(mem: Credenda, ledger: Ledger, pick: int) -> None:
    """What was known at a time is what the ledger saw then, but for what was deleted since."""
    if not ledger.seen:
        return
    at = sorted(ledger.seen)[pick % len(ledger.seen)]
    when = format_time(at)
    now = standing(mem.list(status=None, limit=LIST_LIMIT).items)
    expected = {name: one for name, one in ledger.seen[at].items() if name in now}
    then = mem.list(status=None, limit=LIST_LIMIT, known_at=when).items
    assert {name: one for name, one in standing(then).items() if name in now} == expected
    for memory in then:
        assert standing([mem.get(memory.id, known_at=when)]) == standing([memory])
    found = {hit.id for hit in mem.search("Where do I live?", known_at=when, kinds=("memory",)).hits}
    assert found <= {one.id for one in then}


def look_at(mem: Credenda, at: int) -> None:
    """What was true at a time is what begins before it and ends after it, and was not taken back."""
    when = format_time(at)
    every = mem.list(status=None, limit=LIST_LIMIT).items
    expected = {one.id for one in every if _was_true(one, at)}
    assert {one.id for one in mem.list(status=None, limit=LIST_LIMIT, as_of=when).items} == expected
    found = {hit.id for hit in mem.search("Where do I live?", as_of=when, kinds=("memory",)).hits}
    assert found <= expected
    told = {one.memory_id for one in mem.history(entity="user", attribute="residence", as_of=when)}
    assert told <= expected, (told, expected)


def _was_true(memory: Memory, at: int) -> bool:
    begins = memory.created_us if memory.valid_from_us is None else memory.valid_from_us
    ended = memory.valid_until_us is not None and memory.valid_until_us <= at
    wrong = memory.relation is Relation.CORRECTED or memory.status is Status.INVALIDATED
    return begins <= at and not ended and not wrong
