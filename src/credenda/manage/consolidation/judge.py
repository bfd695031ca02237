"""The rule-based judge: find duplicates, write changed values as one entry, keep the rest. Pure.

Two memories are duplicates only if their texts are equal, or their slots and values. Memories that differ in a number,
date, name, unit, negation or value stay, however similar they are (D-016).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from credenda.manage.consolidation.absolute_dates import resolve_relative_dates
from credenda.manage.consolidation.guards import is_distinct
from credenda.manage.consolidation.member import ASSERTIVE_STANCES, Member
from credenda.manage.consolidation.plan_changes import Keep, Remove, Replace, Verdict
from credenda.model.derived import CONSOLIDATED, is_dreamed
from credenda.model.memory import Cardinality, Layer, Memory, Relation, Stance, Status
from credenda.text.normalize import is_same_value, normalise_value

__all__ = ["is_candidate", "judge_by_rules", "link_remaining"]

_PREVIOUS_MOST: Final = 3
"""Maximum number of values after "previously"; `history` returns all."""
_OPENING: Final = re.compile(r"^(?:actually|sorry|oops|correction|wait|no|i mean(?:t)?)\b[,:;. ]+", re.IGNORECASE)
_LINKED: Final = "similar, but not confirmed as the same; both are kept"


def is_candidate(memory: Memory) -> bool:
    """Return whether a memory may be judged: active, assertive, not contested, and not derived."""
    return (
        memory.status is Status.ACTIVE
        and memory.stance in ASSERTIVE_STANCES
        and not memory.contested
        and not memory.provisional
        and memory.layer is not Layer.CODEBASE
        and not is_dreamed(memory)
    )


def judge_by_rules(members: Sequence[Member]) -> list[Verdict]:
    """Judge a group; a memory is changed by one verdict at most, except one that receives its duplicates.

    >>> judge_by_rules([])
    []
    """
    open_to = sorted(filter(_may_be_judged, members), key=_rank_member)
    verdicts: list[Verdict] = []
    kept: list[Member] = []
    for one in open_to:
        twin = next((other for other in kept if not is_distinct(one, other)), None)
        if twin is None:
            kept.append(one)
        else:
            verdicts.append(Remove(target=one.id, same_as=twin.id, reason="duplicate of another memory"))
    taken = {verdict.same_as for verdict in verdicts if isinstance(verdict, Remove)}
    alone = [one for one in kept if one.id not in taken]
    return [*verdicts, *(told for one in alone if (told := _write_timeline(one) or _remove_error(one)) is not None)]


def link_remaining(members: Sequence[Member], verdicts: Sequence[Verdict]) -> Keep | None:
    """Link the memories of a group that stay; None for fewer than two, or if all are linked already."""
    gone = {verdict.target for verdict in verdicts if isinstance(verdict, Remove)}
    for verdict in verdicts:
        if isinstance(verdict, Replace):
            gone |= {verdict.target, *verdict.sources}
    left = [one for one in members if one.id not in gone and _may_be_judged(one)]
    ids = tuple(one.id for one in left)
    known = all(one.linked.issuperset(set(ids) - {one.id}) for one in left)
    return Keep(ids=ids, reason=_LINKED) if len(ids) > 1 and not known else None


def _may_be_judged(member: Member) -> bool:
    return not member.left_alone and is_candidate(member.memory)


def _rank_member(member: Member) -> tuple[object, ...]:
    """Order memories by which to keep: pinned first, then without a scope, then by trust, confidence and age."""
    memory = member.memory
    return (
        not memory.pinned,
        bool(memory.scope),
        -memory.trust,
        -memory.confidence,
        memory.created_us,
        len(member.id),
        member.id,
    )


def _write_timeline(member: Member) -> Replace | None:
    """Write current and previous values as one entry (S-041, S-055, S-093)."""
    memory = member.memory
    if memory.cardinality is not Cardinality.SINGLE or memory.stance is Stance.NEGATED or not memory.value:
        return None
    before: dict[str, Member] = {}
    for one in sorted(member.past, key=lambda past: -(past.memory.valid_until_us or 0)):
        value = one.memory.value
        if value and one.memory.relation is Relation.CHANGED and not is_same_value(value, memory.value):
            before.setdefault(normalise_value(value), one)
    told = list(before.values())[:_PREVIOUS_MOST]
    if not told:
        return None
    values = ", ".join(one.memory.value or "" for one in told)
    sentence = resolve_relative_dates(_strip_timeline(memory), member.said_us).rstrip(" .!")
    text = f"{sentence} (currently {memory.value}; previously {values})."
    if text == memory.text:
        return None
    return Replace(
        target=member.id,
        sources=(),
        text=text,
        relation=Relation.MERGED,
        past=tuple(one.id for one in told),
        reason="current and previous values in one entry",
    )


def _remove_error(member: Member) -> Replace | None:
    """Remove the wrong value from the text of a correction (S-095)."""
    memory = member.memory
    wrong = [
        one.memory.value
        for one in member.past
        if one.memory.relation is Relation.CORRECTED and one.memory.superseded_by == memory.id and one.memory.value
    ]
    text = memory.text
    for value in wrong:
        text = re.sub(rf"(?:,|;| \(| \u2014| -)? (?:and )?not {re.escape(value)}\b\)?", "", text, flags=re.IGNORECASE)
    if (
        text == memory.text
        or memory.stance is Stance.NEGATED
        or normalise_value(memory.value or "") not in normalise_value(text)
    ):
        return None
    plain = _OPENING.sub("", resolve_relative_dates(text, member.said_us))
    return Replace(
        target=member.id,
        sources=(),
        text=plain[:1].upper() + plain[1:],
        relation=Relation.MERGED,
        reason="rewritten without the wrong value",
    )


def _strip_timeline(memory: Memory) -> str:
    """Return the text without the values that an earlier run appended."""
    head, mark, _ = memory.text.partition(" (currently ")
    return head if mark and memory.metadata.get(CONSOLIDATED) else memory.text
