"""The words of items that nobody needs any more. Not pure: it reads and writes the store."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Final

from credenda.errors import Conflict
from credenda.model.change import Actor
from credenda.model.core import Item, ItemFilter, ItemRemoval
from credenda.model.event import Source
from credenda.model.memory import HELD, Status
from credenda.runtime import Parts
from credenda.storage.store import Writer
from credenda.write.forget.delete import Deletion, check_hold

ITEM_SESSIONS: Final = ("page ", "store ")
"""Beginnings of the sessions under which the words of items are journaled."""


def sweep_items(parts: Parts, space: str = "", *, limit: int = -1) -> int:
    """Delete the items whose time is over in the spaces that begin with a name, with words that only they state.

    Return how many there were. The same words may be stored again. Raises `Conflict` under a legal hold.
    """
    wanted = ItemFilter(space=space, below=True, expired=True, now_us=parts.clock.now_us(), limit=limit)
    found = parts.store.items.find_items(parts.user_id, wanted)
    if found:
        with parts.store.reader(parts.user_id) as reader:
            check_hold(reader)
    return sum(_sweep(parts, item) for item in found)


def _sweep(parts: Parts, item: Item) -> bool:
    removal = ItemRemoval(space=item.space, key=item.key, version=0)  # one that was stored anew has a version
    with suppress(Conflict):
        parts.store.commit(parts.user_id, lambda writer: writer.put(removal))
        for memory_id in list_unused(parts, [item.source] if item.source else []):
            parts.store.commit(parts.user_id, lambda writer, name=memory_id: _erase(parts, writer, name))
        return True
    return False


def _erase(parts: Parts, writer: Writer, memory_id: str) -> None:
    deletion = Deletion(
        writer,
        parts.clock.now_us(),
        actor=Actor.SCHEDULE,
        reason="its time was over",
        buried=False,
        extractor=parts.extractor,
    )
    for memory in writer.memories([memory_id]):
        deletion.memory(memory)


def list_unused(parts: Parts, sources: Collection[str]) -> list[str]:
    """Return the ids of memories that only items stated and no item states any more."""
    memories = sorted({one for one in sources if one.startswith("m")})
    if not memories:
        return []
    used = {
        one.source
        for one in parts.store.items.find_items(
            parts.user_id, ItemFilter(space="", below=True, sources=tuple(memories))
        )
    }
    with parts.store.reader(parts.user_id) as reader:
        believed = {one.id for one in reader.memories(memories) if one.status in HELD or one.status is Status.CANDIDATE}
        evidence = reader.evidence(memory_ids=memories)
        events = {one.id: one for one in reader.events(sorted({item.span.event_id for item in evidence}))}
    unused: list[str] = []
    for memory_id in memories:
        said = [events.get(item.span.event_id) for item in evidence if item.memory_id == memory_id]
        own = all(
            one is not None and one.source is Source.AI and (one.session or "").startswith(ITEM_SESSIONS)
            for one in said
        )
        if own and memory_id in believed and memory_id not in used:
            unused.append(memory_id)
    return unused
