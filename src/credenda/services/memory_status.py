"""Set the status of a memory, and list its earlier statuses."""

from __future__ import annotations

from credenda.model.change import Actor
from credenda.model.memory import Memory, Status
from credenda.model.query import StatusStep
from credenda.runtime import Parts
from credenda.services.edit import commit_edit, read_slot
from credenda.services.expectation import read_expectation
from credenda.services.lookup import get_current, get_expected
from credenda.services.short_ids import resolve_id, resolve_id_in
from credenda.storage.store import ChangeFilter, Writer
from credenda.validation import check_member, check_text
from credenda.write.apply import Application, apply
from credenda.write.corrections.set_status import decide_status
from credenda.write.intake.fields import screen_label

__all__ = ["read_status_history", "set_status"]


def set_status(parts: Parts, memory_id: str, status: str, reason: str) -> Memory:
    """Set the status of a memory and return the memory that now has its value."""
    wanted = check_member(Status, check_text(status, "status"), "status")
    why = screen_label(check_text(reason, "reason").strip(), parts.settings.secrets_policy) or "set by the user"
    memory_id = resolve_id(parts, memory_id)
    expected = read_expectation()

    def work(writer: Writer) -> Memory:
        memory = get_expected(writer, memory_id, expected)
        now_us = parts.clock.now_us()
        changes = decide_status(memory, wanted, why, slot_rows=read_slot(writer, memory), now_us=now_us)
        embeds = parts.embedder is not None
        apply(writer, changes, Application(actor=Actor.USER, now_us=now_us, embeds=embeds))
        after = get_current(writer, memory_id)
        moved_on = wanted is Status.ACTIVE and after.superseded_by is not None
        return get_current(writer, after.superseded_by) if moved_on and after.superseded_by else after

    return commit_edit(parts, work)


def read_status_history(parts: Parts, memory_id: str) -> list[StatusStep]:
    """Return every status that a memory has had, oldest first."""
    with parts.store.reader(parts.user_id) as reader:
        memory_id = get_current(reader, resolve_id_in(reader, memory_id)).id
        records = reader.changes(ChangeFilter(memory_ids=(memory_id,)))
    steps: list[StatusStep] = []
    previous: Status | None = None
    for record in records:
        named = record.after.get("status")
        status = Status(str(named)) if named is not None else Status.ACTIVE if previous is None else previous
        if status is previous:
            continue
        steps.append(
            StatusStep(
                status=status,
                previous=previous,
                kind=record.kind,
                actor=record.actor,
                reason=record.reason,
                at_us=record.at_us,
                change_id=record.id,
            )
        )
        previous = status
    return steps
