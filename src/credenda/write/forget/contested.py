"""Take a deleted value out of the contests that name it, and log what remains of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from credenda.model.change import Actor, ChangeKind, ChangeRecord, Revise
from credenda.model.contest import ContestCase, ContestState, to_contest_dict
from credenda.model.memory import Memory, Slot, Status, TypeClass
from credenda.storage.store import Writer
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_value
from credenda.write.apply import Application, apply
from credenda.write.reconcile.contest_trigger import format_question
from credenda.write.reconcile.wording import quote_parts

__all__ = ["Contested"]


@dataclass(frozen=True, slots=True)
class Contested:
    """The contests of a user, in the transaction of a deletion."""

    writer: Writer
    now_us: int
    actor: Actor

    def log(self, contest: ContestCase) -> None:
        """Log the remaining state of a contest, because its earlier log entries will be redacted."""
        self.writer.put(
            ChangeRecord(
                id="",
                kind=ChangeKind.DELETE,
                actor=self.actor,
                reason="a value was deleted",
                at_us=self.now_us,
                after={"contest": contest.id, "case": to_contest_dict(contest)},
            )
        )

    def log_quoting(self, memory: Memory, changed: set[str]) -> None:
        """Log the `changed` contests, those of the pair of a deleted memory, and those whose log quotes it."""
        phrases = quote_parts(memory.value, memory.text)
        for contest in self.writer.contests():
            if _has_pair(contest, memory) or contest.id in changed or _has_quote(contest, phrases):
                self.log(contest)

    def rename(self, before: str, after: str) -> None:
        """Let a memory take the place of another in every contest."""
        for contest in self.writer.contests():
            if before in contest.memory_ids:
                ids = tuple(after if one == before else one for one in contest.memory_ids)
                self.writer.put(replace(contest, memory_ids=ids))
                self.log(replace(contest, memory_ids=ids))

    def answered(self, memory: Memory) -> bool:
        """Return whether a contest about the pair of a memory was ever asked; answers name each other's values."""
        return bool(memory.attribute) and any(_has_pair(contest, memory) for contest in self.writer.contests())

    def remove(self, memory: Memory) -> set[str]:
        """Remove a memory's value from every contest that names it; return the ids of those contests.

        Closing a contest clears the `contested` flag of its remaining memory.
        """
        changed: set[str] = set()
        gone = normalise_value(memory.value or memory.text)
        for contest in self.writer.contests():
            named = any(normalise_value(one) == gone for one in contest.values)
            if memory.id in contest.memory_ids or (_has_pair(contest, memory) and named):
                left = self._remove_value(contest, memory)
                self.writer.put(left)
                changed.add(left.id)
                if contest.state is ContestState.OPEN and left.state is ContestState.RESOLVED:
                    self._settle(left)
        return changed

    def _settle(self, closed: ContestCase) -> None:
        """Clear the `contested` flag of the last value of a closed contest."""
        asked = {name for one in self.writer.contests(state=ContestState.OPEN) for name in one.memory_ids}
        reason, fields = "the conflicting value was deleted", {"contested": False}
        settled = [
            Revise(memory_id=one.id, fields=fields, reason=reason)
            for one in self.writer.memories([name for name in closed.memory_ids if name not in asked])
            if one.contested and one.status is not Status.DELETED
        ]
        apply(self.writer, settled, Application(actor=self.actor, now_us=self.now_us))

    def _remove_value(self, contest: ContestCase, memory: Memory) -> ContestCase:
        gone = normalise_value(memory.value or memory.text)
        left = self.writer.memories([one for one in contest.memory_ids if one != memory.id])
        if any(normalise_value(one.value or one.text) == gone for one in left):  # another memory has the value too
            gone = ""
        values = tuple(value for value in contest.values if normalise_value(value) != gone)
        slot = Slot(contest.speaker, contest.entity, contest.attribute, contest.scope, TypeClass(contest.type_class))
        still_open = contest.state is ContestState.OPEN and len(values) > 1
        return replace(
            contest,
            values=values,
            memory_ids=tuple(one for one in contest.memory_ids if one != memory.id),
            question=format_question(slot, values) if len(values) > 1 else "",
            state=ContestState.OPEN if still_open else ContestState.RESOLVED,
            resolved_us=contest.resolved_us or (None if still_open else self.now_us),
            resolution=None if still_open else "a value was deleted",
            scopes={value: scope for value, scope in contest.scopes.items() if normalise_value(value) != gone},
        )


def _has_pair(contest: ContestCase, memory: Memory) -> bool:
    return (normalise_name(contest.entity), normalise_attribute(contest.attribute)) == (
        normalise_name(memory.entity or ""),
        normalise_attribute(memory.attribute or ""),
    )


def _has_quote(contest: ContestCase, phrases: Iterable[str]) -> bool:
    """Return whether the log of a contest quotes one of these phrases, so that its entry must be redacted too."""
    told = (contest.question, contest.resolution or "", *quote_parts(*contest.values))
    return any(phrase in text for phrase in phrases for text in told)
