"""Delete a memory, an event, or all events that meet conditions, permanently."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TypeVar

from credenda.errors import NotFound
from credenda.ids import IdKind, parse_id
from credenda.model.change import Actor
from credenda.model.deletion import BlankedWords, DeletionPlan, DeletionReceipt, SharedMemory
from credenda.model.event import Event
from credenda.model.memory import Memory, Status
from credenda.runtime import Parts
from credenda.services.expectation import read_expectation
from credenda.services.short_ids import resolve_id_in
from credenda.storage.store import Writer
from credenda.write.forget.delete import Deletion

__all__ = ["attempt", "delete", "plan_deletion"]

T = TypeVar("T", Memory, Event)
P = TypeVar("P")


def delete(parts: Parts, target_id: str, *, actor: Actor = Actor.USER, whole_message: bool = False) -> DeletionReceipt:
    """Delete a memory or event with everything that only it supports; repeating this changes nothing.

    `actor` is the user, through an interface or a page. `whole_message` deletes the messages of a memory whole. Raises
    `NotFound` for an unknown id, `Conflict` under a legal hold.
    """
    expected = read_expectation()

    def work(writer: Writer) -> tuple[Deletion, tuple[str, ...]]:
        target = _find_target(writer, target_id)
        if isinstance(target, Memory):
            expected.check(target.id, target)
        reason = "removed from a page" if actor is Actor.FILE else "deleted by the user"
        run = Deletion(writer, parts.clock.now_us(), actor=actor, reason=reason, extractor=parts.extractor)
        _delete(run, target, whole_message=whole_message)
        return run, tuple(one.id for one in run.find_mentions())

    with parts.active_calls:
        run, mentions = parts.store.commit(parts.user_id, work)
    parts.jobs_ready.set()
    return DeletionReceipt(
        id=target_id,
        events=len(run.events),
        memories=run.deleted + len(run.withdrawn),
        kept=tuple(run.renamed.get(name, name) for name in run.kept),
        taken=tuple(name for name in run.removed if name != target_id),
        mentions=mentions,
        log_emptied=parts.store.log_emptied,
    )


def _delete(run: Deletion, target: Memory | Event, *, whole_message: bool) -> None:
    if isinstance(target, Event):
        run.event(target)
        return
    if whole_message and target.status is not Status.DELETED:
        run.messages(target)
    for memory in run.writer.memories([target.id]):
        run.memory(memory)


class _Undone(Exception):  # noqa: N818 - it only undoes the transaction, and never leaves this module
    """Undoes the transaction that raises it."""


def attempt(parts: Parts, work: Callable[[Writer], P]) -> P:
    """Return the result of some work, which is done in a transaction that is undone."""
    plans: list[P] = []

    def undo(writer: Writer) -> None:
        plans.append(work(writer))
        raise _Undone

    with contextlib.suppress(_Undone), parts.active_calls:
        parts.store.commit(parts.user_id, undo)
    return plans[-1]


def plan_deletion(parts: Parts, target_id: str, *, whole_message: bool = False) -> DeletionPlan:
    """Say what `delete` would remove: it deletes in a transaction that is undone. Short ids are accepted.

    Raises `NotFound` for an id that is unknown here, `Conflict` under a legal hold.
    """

    def work(writer: Writer) -> DeletionPlan:
        target = _find_target(writer, resolve_id_in(writer, target_id))
        run = Deletion(writer, parts.clock.now_us(), extractor=parts.extractor)
        _delete(run, target, whole_message=whole_message)
        return DeletionPlan(
            id=target.id,
            text=target.text,
            events=len(run.events),
            memories=run.deleted + len(run.withdrawn),
            blanked=tuple(BlankedWords(event_id=name, words=words) for name, words in run.blanked),
            kept=tuple(SharedMemory(id=name, text=text, left=left) for name, (text, left) in run.kept.items()),
            taken=tuple(SharedMemory(id=name, text=text) for name, text in run.removed.items() if name != target.id),
            mentions=tuple(SharedMemory(id=one.id, text=one.text, left=one.text) for one in run.find_mentions()),
        )

    return attempt(parts, work)


def _find_target(writer: Writer, target_id: str) -> Memory | Event:
    """Return the memory or event that an id names."""
    kind, _ = parse_id(target_id, writer.tenant.tag)
    if kind is IdKind.MEMORY:
        return _require_found(writer.memories([target_id]), target_id)
    if kind is IdKind.EVENT:
        return _require_found(writer.events([target_id]), target_id)
    raise NotFound(f"{target_id} is neither memory nor event", fix="give an id that begins with m or e")


def _require_found(found: list[T], target_id: str) -> T:
    if not found:
        raise NotFound(f"there is nothing called {target_id}", fix="copy an id from `list` or `search`")
    return found[0]
