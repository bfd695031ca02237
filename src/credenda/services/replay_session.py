"""Replay the prompts of a session: the context that each would have got when it was said, with and without a memory.

Each context is built on a copy of the memory, cut at the moment before the prompt and rebuilt from the change log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Final

from credenda import services
from credenda.errors import Invalid, NotFound
from credenda.ids import IdKind, parse_id_number
from credenda.model.belief_test import ReplayedPrompt, ReplayReport
from credenda.model.event import Event, Role
from credenda.model.memory import Status
from credenda.model.query import Context
from credenda.runtime import Parts
from credenda.services.short_ids import resolve_id
from credenda.storage.store import EventFilter
from credenda.validation import check_name

__all__ = ["OpenPast", "replay_session"]

OpenPast = Callable[[Event], AbstractContextManager[Parts]]
"""Opens a copy of the memory as it was before an event."""
_PROMPTS_MAX: Final = 50


def replay_session(
    parts: Parts,
    open_past: OpenPast,
    session: str,
    *,
    without: str | None = None,
    token_budget: int | None = None,
    automatic: bool = False,
    limit: int = 20,
) -> ReplayReport:
    """Rebuild the contexts of the last prompts of a session, at most `limit`.

    Leaving a memory out means deleting it in the copy, with everything that only it supports. Raises `NotFound` for a
    session without prompts and for an unknown memory, `Invalid` for a deleted one, whose text is gone.
    """
    if not isinstance(limit, int) or not 1 <= limit <= _PROMPTS_MAX:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise Invalid(f"a limit of {limit!r}", why=f"it must be 1 to {_PROMPTS_MAX}", fix="leave it out for 20")
    named = check_name(session, "session")
    target = None if without is None else _find_memory(parts, without)
    prompts = _read_prompts(parts, named or "")
    if not prompts:
        raise NotFound(f"no prompt was said in session {session!r}", fix="copy a session from `get EVENT_ID`")
    chosen = prompts[-limit:]
    replayed = tuple(
        _replay(open_past, event, target, token_budget=token_budget, automatic=automatic) for event in chosen
    )
    return ReplayReport(
        session=session,
        without=target,
        prompts=replayed,
        changed=sum(one.changed for one in replayed),
        left_out=len(prompts) - len(chosen),
    )


def _find_memory(parts: Parts, name: str) -> str:
    found = resolve_id(parts, name)
    with parts.store.reader(parts.user_id) as reader:
        rows = reader.memories([found])
    if not rows:
        raise NotFound(f"no memory is called {name!r}", fix="copy an id from `list` or `search`")
    if rows[0].status is Status.DELETED:
        raise Invalid(f"{found} was deleted", why="its text is gone from every past too", fix="name another memory")
    return found


def _read_prompts(parts: Parts, session: str) -> Sequence[Event]:
    with parts.store.reader(parts.user_id) as reader:
        found = reader.find_events(EventFilter(session=session))
    return [event for event in found if event.role is Role.USER and event.text.strip() and event.redacted_us is None]


def _replay(
    open_past: OpenPast, event: Event, target: str | None, *, token_budget: int | None, automatic: bool
) -> ReplayedPrompt:
    def build(past: Parts) -> Context:
        return services.context.context(past, event.text, token_budget, {"record_access": False}, automatic=automatic)

    with open_past(event) as past:
        whole = build(past)
        less: Context | None = None
        if target is not None and _is_known(past, target):
            services.delete.delete(past, target)
            less = build(past)
    return ReplayedPrompt(
        event_id=event.id,
        at_us=event.recorded_us,
        prompt=event.text,
        with_text=whole.text,
        with_tokens=whole.tokens,
        without_text=None if target is None else whole.text if less is None else less.text,
        without_tokens=whole.tokens if less is None else less.tokens,
    )


def _is_known(past: Parts, target: str) -> bool:
    with past.store.reader(past.user_id) as reader:
        parse_id_number(target, IdKind.MEMORY, reader.tenant.tag)
        return bool(reader.memories([target]))
