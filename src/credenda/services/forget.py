"""Forget a memory, and restore a forgotten one."""

from __future__ import annotations

from credenda.errors import Conflict
from credenda.model.change import Forget
from credenda.model.memory import Memory, Status
from credenda.runtime import Parts
from credenda.services.edit import commit_edit, make_application, read_slot
from credenda.services.expectation import read_expectation
from credenda.services.lookup import get_current, get_expected
from credenda.services.short_ids import resolve_id
from credenda.storage.store import ChangeFilter, Writer
from credenda.validation import check_text
from credenda.write.apply import apply
from credenda.write.corrections.set_status import decide_status
from credenda.write.intake.fields import screen_label

__all__ = ["forget", "restore"]


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
