"""Open a contest about a memory that was changed both in a page and in the store."""

from __future__ import annotations

from dataclasses import replace

from credenda.ids import Kind, number_of
from credenda.model.change import Actor, Add, Contest
from credenda.model.claim import Span
from credenda.model.contest import ContestState
from credenda.model.event import Source
from credenda.model.memory import Draft, Memory, Slot, Status, type_class
from credenda.runtime import Parts
from credenda.services.edit import application, check_not_deleted, journaled
from credenda.services.lookup import current
from credenda.storage.store import Writer
from credenda.text.normalize import attribute_key, name_key, value_key
from credenda.write.apply import apply
from credenda.write.corrections.correct import decide_correction
from credenda.write.reconcile.contest_trigger import question, slot_of_case
from credenda.write.reconcile.slots import label, slot_of
from credenda.write.reconcile_job import occasion_of

__all__ = ["dispute"]


def dispute(parts: Parts, memory_id: str, text: str, *, base: str) -> Memory:
    """Add the user's text as a second memory, open a contest between the two, and return the new memory.

    `base` is the memory that the user saw, which may have been replaced since. Raises the errors of `correct`; nothing
    is changed then.
    """

    def work(writer: Writer) -> Memory:
        memory = current(writer, memory_id)
        event = journaled(parts, writer, text, source=Source.FILE)
        why = "changed in a page and in the memory"
        seen = replace(current(writer, base), status=Status.ACTIVE, valid_until_us=None)
        changes = decide_correction(
            seen,
            text=event.text,
            value=None,
            reason=why,
            occasion=occasion_of(event, parts.clock.now_us()),
            span=Span(event.id, 0, len(event.text)),
        )
        check_not_deleted(writer, changes, event.text)
        (add,) = (one for one in changes if isinstance(one, Add))
        asked = _contest(writer, memory, add, why)
        applied = apply(writer, [add, asked], application(parts, event.id, Actor.FILE))
        return current(writer, applied.ids[add.key])

    with parts.foreground:
        memory = parts.store.commit(parts.user_id, work)
    parts.work_waits.set()
    return memory


def _contest(writer: Writer, memory: Memory, add: Add, why: str) -> Contest:
    """Build the contest, including the values of a contest that is already open in this slot."""
    slot = slot_of(memory) or _place(writer, memory)
    ids: list[str] = []
    values = [_named(memory, add.draft), _named(add.draft, memory)]
    for case in writer.contests(pair=(slot.entity, slot.attribute)):
        if case.state is ContestState.OPEN and slot_of_case(case) == slot:
            ids, values = [*case.memory_ids], [*case.values, *values]
    told = tuple({value_key(value): value for value in values}.values())
    return Contest(
        slot=slot,
        memory_ids=tuple(dict.fromkeys([*ids, memory.id, add.key])),
        values=told,
        question=question(slot, told),
        reason=why,
    )


def _named(one: Draft, other: Draft) -> str:
    """Return the value of a memory, or its text if the values do not distinguish the two."""
    apart = one.value and other.value and value_key(label(one)) != value_key(label(other))
    return label(one) if apart else one.text


def _place(writer: Writer, memory: Memory) -> Slot:
    """Return a slot of its own for a memory without one."""
    number = number_of(memory.id, Kind.MEMORY, writer.tenant.tag)
    return Slot(
        speaker=name_key(memory.speaker),
        entity=name_key(memory.entity or "user"),
        attribute=attribute_key(f"wording {number}"),
        scope=None,
        type_class=type_class(memory.type),
    )
