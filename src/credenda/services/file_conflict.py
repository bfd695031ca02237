"""Open a contest about a memory that was changed both in a page and in the store."""

from __future__ import annotations

from dataclasses import replace

from credenda.ids import IdKind, parse_id_number
from credenda.model.change import Actor, Add, Contest
from credenda.model.claim import Span
from credenda.model.contest import ContestState
from credenda.model.event import Source
from credenda.model.memory import Draft, Memory, Slot, Status, get_type_class
from credenda.runtime import Parts
from credenda.services.correct import check_not_deleted, extract_correction, journal_correction
from credenda.services.edit import commit_edit, make_application
from credenda.services.lookup import get_current
from credenda.storage.store import Writer
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_value
from credenda.write.apply import apply
from credenda.write.corrections.correct import Wanted, decide_correction
from credenda.write.reconcile.contest_trigger import format_question, get_contest_slot
from credenda.write.reconcile.slots import display_value, get_slot
from credenda.write.reconcile_job import get_statement_context

__all__ = ["contest_edit"]


def contest_edit(parts: Parts, memory_id: str, text: str, *, base: str) -> Memory:
    """Add the user's text as a second memory, open a contest between the two, and return the new memory.

    `base` is the memory that the user saw, which may have been replaced since. Raises the errors of `correct`; nothing
    is changed then.
    """

    def work(writer: Writer) -> Memory:
        memory = get_current(writer, memory_id)
        event = journal_correction(parts, writer, text, source=Source.FILE)
        why = "changed in a page and in the memory"
        seen = replace(get_current(writer, base), status=Status.ACTIVE, valid_until_us=None)
        changes = decide_correction(
            seen,
            Wanted(text=event.text, claims=extract_correction(parts, writer, event)),
            reason=why,
            occasion=get_statement_context(event, parts.clock.now_us()),
            span=Span(event.id, 0, len(event.text)),
        )
        check_not_deleted(writer, changes, event.text)
        (add,) = (one for one in changes if isinstance(one, Add))
        asked = _open_contest(writer, memory, add, why)
        applied = apply(writer, [add, asked], make_application(parts, event.id, Actor.FILE))
        return get_current(writer, applied.ids[add.key])

    return commit_edit(parts, work)


def _open_contest(writer: Writer, memory: Memory, add: Add, why: str) -> Contest:
    """Build the contest, including the values of a contest that is already open in this slot."""
    slot = get_slot(memory) or _name_slot(writer, memory)
    ids: list[str] = []
    values = [_name_value(memory, add.draft), _name_value(add.draft, memory)]
    for case in writer.contests(pair=(slot.entity, slot.attribute)):
        if case.state is ContestState.OPEN and get_contest_slot(case) == slot:
            ids, values = [*case.memory_ids], [*case.values, *values]
    told = tuple({normalise_value(value): value for value in values}.values())
    return Contest(
        slot=slot,
        memory_ids=tuple(dict.fromkeys([*ids, memory.id, add.key])),
        values=told,
        question=format_question(slot, told),
        reason=why,
    )


def _name_value(one: Draft, other: Draft) -> str:
    """Return the value of a memory, or its text if the values do not distinguish the two."""
    apart = one.value and other.value and normalise_value(display_value(one)) != normalise_value(display_value(other))
    return display_value(one) if apart else one.text


def _name_slot(writer: Writer, memory: Memory) -> Slot:
    """Return a slot of its own for a memory without one."""
    number = parse_id_number(memory.id, IdKind.MEMORY, writer.tenant.tag)
    return Slot(
        speaker=normalise_name(memory.speaker),
        entity=normalise_name(memory.entity or "user"),
        attribute=normalise_attribute(f"wording {number}"),
        scope=None,
        type_class=get_type_class(memory.type),
    )
