"""Edits of beliefs by the user: correct, forget, restore, pin, and resolve a contest."""

from __future__ import annotations

from collections.abc import Callable

from credenda.model.change import Actor
from credenda.model.memory import Memory
from credenda.runtime import Parts
from credenda.storage.plan import commit_decided
from credenda.storage.store import MemoryFilter, Reader, Writer
from credenda.storage.turns import take_turn
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.write.apply import Application

__all__ = ["commit_edit", "make_application", "read_slot"]


def read_slot(reader: Reader, memory: Memory) -> list[Memory]:
    """Return the memories with the entity and attribute of a memory."""
    if not memory.entity or not memory.attribute:
        return []
    return reader.find(MemoryFilter(pair=(normalise_name(memory.entity), normalise_attribute(memory.attribute))))


def commit_edit(parts: Parts, work: Callable[[Writer], Memory]) -> Memory:
    """Decide an edit on a view, file it in a short unit, and wake the worker; returns the memory as filed.

    `work` returns the memory and may run several times (`storage.plan`).
    """
    with parts.active_calls, take_turn(parts.store, parts.user_id):
        memory = commit_decided(parts.store, parts.user_id, work, _read_filed)
    parts.jobs_ready.set()
    return memory


def _read_filed(writer: Writer, memory: Memory) -> Memory:
    return writer.memories([memory.id])[0]


def make_application(parts: Parts, cause: str | None = None, actor: Actor = Actor.USER) -> Application:
    """Return the actor, time and cause of changes that are applied now."""
    embeds = parts.embedder is not None
    return Application(actor=actor, now_us=parts.clock.now_us(), cause=cause, embeds=embeds)
