"""Messages of frameworks as those of `remember`."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Any, cast

from credenda.client import Credenda
from credenda.errors import Unavailable, format_install
from credenda.model.query import Hit
from credenda.private import cut_private


def join_texts(content: object) -> str:
    r"""Return the words of a content: a text, or a list of parts with a field `text`.

    >>> join_texts([{"text": "one"}, {"image": b""}, {"text": "two"}])
    'one\ntwo'
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, Iterable):
        return ""
    return "\n".join(filter(None, (_get_text(part) for part in cast("Iterable[object]", content))))


def _get_text(part: object) -> str:
    found = cast("Mapping[str, Any]", part).get("text") if isinstance(part, Mapping) else getattr(part, "text", None)
    return found if isinstance(found, str) else ""


def make_message(role: str, text: str, *, id: str | None = None, timestamp: str | None = None) -> dict[str, str]:
    """Make a message; `role` is user or assistant, `id` makes repeating it harmless."""
    given = {"id": id, "timestamp": timestamp}
    return {"role": role, "content": text, **{name: value for name, value in given.items() if value is not None}}


def remember_each(
    memory: Credenda,
    messages: Iterable[Mapping[str, str]],
    *,
    session: str | None,
    agent: str,
    metadata: Mapping[str, object] | None = None,
) -> None:
    """Remember messages, those with an id once: the same id and words in the same session are stored already."""
    for message in messages:
        key = None
        if "id" in message:
            words = "\x1f".join([agent, session or "", message["id"], cut_private(message["content"])])
            key = f"{agent[:32]} {hashlib.sha256(words.encode('utf-8', 'replace')).hexdigest()}"
        memory.remember([message], session=session, agent=agent, metadata=metadata, idempotency_key=key)


def describe_hit(hit: Hit) -> dict[str, object]:
    """Return the facts about a hit beside its words, as JSON: id, kind, score, times, flags."""
    facts: dict[str, object] = {"id": hit.id, "kind": hit.kind, "score": hit.score, "flags": sorted(hit.flags)}
    if hit.memory is not None:
        since, until = hit.memory.valid_from, hit.memory.valid_until
        facts |= {"type": hit.memory.type.value, "status": hit.memory.status.value, "confidence": hit.memory.confidence}
        facts |= {"valid_from": since and since.isoformat(), "valid_until": until and until.isoformat()}
    elif hit.event is not None:
        facts |= {"role": hit.event.role.value, "session": hit.event.session}
    return facts


@contextmanager
def require_framework(framework: str, extra: str) -> Generator[None]:
    """Import a framework in the block; raise `Unavailable`, with the extra that installs it, where it is missing."""
    try:
        yield
    except ImportError as error:
        raise Unavailable(f"this adapter needs {framework}", why=str(error), fix=format_install(extra)) from error
