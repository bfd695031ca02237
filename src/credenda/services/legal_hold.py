"""Set, lift and list legal holds."""

from __future__ import annotations

from credenda.errors import Conflict, Invalid
from credenda.model.retention_policy import LegalHold
from credenda.runtime import Parts
from credenda.storage.store import Writer
from credenda.validation import check_text
from credenda.write.intake.fields import screen_label

__all__ = ["hold", "lift_hold", "list_holds"]


def hold(parts: Parts, reason: str) -> LegalHold:
    """Forbid every deletion in this tenant until the hold is lifted; raises `Conflict` if a hold is in force."""
    why = _check_reason(parts, reason)

    def work(writer: Writer) -> LegalHold:
        if writer.tenant.hold is not None:
            raise Conflict("a legal hold is in force", why=writer.tenant.hold, fix="lift it before setting another")
        made = LegalHold(reason=why, set_us=parts.clock.now_us())
        writer.put(made)
        return made

    with parts.active_calls:
        return parts.store.commit(parts.user_id, work)


def lift_hold(parts: Parts, reason: str) -> LegalHold:
    """Allow deletions again; raises `Conflict` if no hold is in force."""
    why = _check_reason(parts, reason)

    def work(writer: Writer) -> None:
        if writer.tenant.hold is None:
            raise Conflict("there is no legal hold", why="none is in force", fix="see `credenda holds`")
        writer.put(LegalHold(reason="", set_us=0, lifted_us=parts.clock.now_us(), lifted_reason=why))

    with parts.active_calls:
        parts.store.commit(parts.user_id, work)
    return list_holds(parts)[-1]


def list_holds(parts: Parts) -> tuple[LegalHold, ...]:
    """Return every legal hold, oldest first, with when and why it was lifted."""
    return parts.store.rules(parts.user_id).holds


def _check_reason(parts: Parts, reason: str) -> str:
    why = screen_label(check_text(reason, "reason").strip(), parts.settings.secrets_policy)
    if not why:
        raise Invalid(
            "a legal hold needs a reason",
            why="the hold is kept as a record",
            fix="pass a reason, such as a case number",
        )
    return why
