"""Set and remove retention policies."""

from __future__ import annotations

from credenda import limits
from credenda.errors import Invalid
from credenda.model.retention_policy import RetentionPolicy
from credenda.private import has_private
from credenda.runtime import Parts
from credenda.validation import check_condition

__all__ = ["set_policy"]


def set_policy(
    parts: Parts, days: int | None, topic: str | None, *, remove: bool = False
) -> tuple[RetentionPolicy, ...]:
    """Set or remove a policy, or change nothing; return the policies in force, by topic."""
    name = check_condition(topic, "topic")
    if has_private(name or ""):
        raise Invalid("the topic of a policy contains private text", fix="use another topic")
    if remove and days is not None:
        raise Invalid("a policy is set or removed, not both", why="days and remove are both given", fix="give one")
    if days is not None and not (type(days) is int and 1 <= days <= limits.POLICY_DAYS):
        raise Invalid(
            f"a policy cannot be {days!r} days", why=f"it must be 1 to {limits.POLICY_DAYS}", fix="give whole days"
        )
    if days is None and not remove and topic is not None:
        raise Invalid("a topic alone is not a policy", why="neither days nor remove is given", fix="give one of them")
    if days is not None or remove:
        row = RetentionPolicy(topic=name, days=days or 0, set_us=parts.clock.now_us())
        with parts.active_calls:
            parts.store.commit(parts.user_id, lambda writer: writer.put(row))
    return parts.store.rules(parts.user_id).policies
