"""Set the status of a memory, and list its earlier statuses."""

from __future__ import annotations

from typing import Final

from credenda.errors import Conflict
from credenda.manage.lifecycle import LADDER, get_next_layer
from credenda.model.change import Actor, Forget, Pin, SetLayer
from credenda.model.memory import Memory, Status
from credenda.model.query import StatusStep
from credenda.runtime import Parts
from credenda.services.edit import commit_edit, make_application, read_slot
from credenda.services.expectation import read_expectation
from credenda.services.lookup import get_current, get_expected, resolve_id, resolve_id_in
from credenda.storage.store import ChangeFilter, Writer
from credenda.validation import check_member, check_text
from credenda.write.apply import Application, apply
from credenda.write.corrections.correct import decide_status
from credenda.write.intake.validate import screen_label


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


# Pin and unpin a memory.


_PINNABLE: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})


def pin(parts: Parts, memory_id: str, *, pinned: bool) -> Memory:
    """Pin or unpin a memory; pinned memories are in every context. Repeating this changes nothing."""
    memory_id = resolve_id(parts, memory_id)
    expected = read_expectation()

    def work(writer: Writer) -> Memory:
        memory = get_expected(writer, memory_id, expected)
        if memory.status not in _PINNABLE and pinned:
            raise Conflict(f"{memory_id} cannot be pinned", why=f"it is {memory.status}", fix="restore it first")
        if memory.pinned != pinned:
            reason = "pinned by the user" if pinned else "unpinned by the user"
            apply(writer, [Pin(memory_id=memory_id, pinned=pinned, reason=reason)], make_application(parts))
        return get_current(writer, memory_id)

    return commit_edit(parts, work)


# Move a memory to the next or the previous layer.


def move_layer(parts: Parts, memory_id: str, *, up: bool) -> Memory:
    """Move a memory one layer up or down (E-061).

    Raises `Conflict` at the ends of the ladder and for layers outside it, and `NotFound`.
    """
    memory_id = resolve_id(parts, memory_id)
    expected = read_expectation()

    def work(writer: Writer) -> Memory:
        memory = get_expected(writer, memory_id, expected)
        layer = get_next_layer(memory.layer, up=up)
        if layer is None:
            raise Conflict(
                f"{memory_id} cannot be {'promoted' if up else 'demoted'}",
                why=f"it is {memory.layer}, and the ladder is {' → '.join(LADDER)}",
                fix="no further move is possible",
            )
        reason = "promoted by the user" if up else "demoted by the user"
        application = Application(actor=Actor.USER, now_us=parts.clock.now_us())
        apply(writer, [SetLayer(memory_id=memory_id, layer=layer, reason=reason)], application)
        return get_current(writer, memory_id)

    return commit_edit(parts, work)


# Forget a memory, and restore a forgotten one.


def forget(parts: Parts, memory_id: str, reason: str = "") -> Memory:
    """Take a memory out of use; `restore` reverses this. Forgetting it twice changes nothing."""
    why = screen_label(check_text(reason, "reason").strip(), parts.settings.secrets_policy) or "forgotten by the user"
    memory_id = resolve_id(parts, memory_id)
    expected = read_expectation()

    def work(writer: Writer) -> Memory:
        memory = get_expected(writer, memory_id, expected)
        if memory.status is not Status.FORGOTTEN:
            change = Forget(memory_id=memory_id, reason=why)
            apply(writer, [change], make_application(parts))
        return get_current(writer, memory_id)

    return commit_edit(parts, work)


def restore(parts: Parts, memory_id: str) -> Memory:
    """Restore a forgotten memory with its former status; it replaces the value its slot has had since."""
    memory_id = resolve_id(parts, memory_id)
    expected = read_expectation()

    def work(writer: Writer) -> Memory:
        memory = get_expected(writer, memory_id, expected)
        if memory.status is not Status.FORGOTTEN:
            raise Conflict(
                f"{memory_id} is not forgotten", why=f"it is {memory.status}", fix="only forgotten memories come back"
            )
        log = writer.changes(ChangeFilter(memory_ids=(memory_id,)))
        forgets = [one for one in log if one.after.get("status") == Status.FORGOTTEN]
        status = Status(str(forgets[-1].before.get("status", Status.ACTIVE))) if forgets else Status.ACTIVE
        why, run = "restored by the user", make_application(parts)
        changes = decide_status(memory, status, why, slot_rows=read_slot(writer, memory), now_us=run.now_us)
        apply(writer, changes, run)
        return get_current(writer, memory_id)

    return commit_edit(parts, work)
