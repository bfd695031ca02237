"""The cells of a new event and its chain link. Every acknowledgement runs this, so it must be fast."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, Final, NamedTuple

from credenda.model.event import NewEvent
from credenda.storage.rows import pack_json

__all__ = [
    "GENESIS",
    "EventPosition",
    "build_event_cells",
    "build_extra_cells",
    "clear_name_cache",
    "compute_chain_link",
    "compute_content_hmac",
]

GENESIS: Final = b"\x00" * 32


class EventPosition(NamedTuple):
    """The position of a new event: tenant, number, previous chain link, and recording time."""

    user_id: str
    number: int
    previous: bytes
    recorded_us: int


def compute_content_hmac(key: bytes, text: str) -> bytes:
    """Sign an event's text with the tenant's key: keyed BLAKE2b (RFC 7693), 16 bytes."""
    return hashlib.blake2b(text.encode(), key=key, digest_size=16).digest()


@lru_cache(maxsize=256)
def _encode_names(names: tuple[str, ...]) -> str:
    return ",".join(map(encode_basestring, names))


def clear_name_cache() -> None:
    """Clear the cached names of recent events, as an erasure must."""
    _encode_names.cache_clear()


def _hash_link(before: bytes, body: str) -> bytes:
    return hashlib.blake2b(before + body.encode(), digest_size=32).digest()


def compute_chain_link(previous: bytes, event: Mapping[str, Any]) -> bytes:
    """Hash an event onto the journal's chain: BLAKE2b, 32 bytes, of the previous link and of canonical JSON.

    It covers the text by its keyed hash only, so that the chain remains valid after a redaction.
    """
    who = _encode_names(tuple(event[name] for name in ("role", "speaker", "source", "session", "agent")))
    body = f"[{event['id']},{who},{event['occurred_us']},{event['recorded_us']}]"
    return _hash_link(previous + event["content_hmac"], body)


def build_event_cells(event: NewEvent, place: EventPosition, key: bytes) -> tuple[bytes, tuple[object, ...]]:
    """Return an event's chain link, and its cells in the order of `insert_plain_event`."""
    role, source = event.role.value, event.source.value
    signed = compute_content_hmac(key, event.text)
    who = _encode_names((role, event.speaker, source, event.session, event.agent))
    body = f"[{place.number},{who},{event.occurred_us},{place.recorded_us}]"
    link = _hash_link(place.previous + signed, body)
    said = (event.session, event.agent, role, event.speaker, source, event.trust, event.topic, event.text)
    times_us = (event.occurred_us, place.recorded_us)
    return link, (place.user_id, place.number, *said, *times_us, signed, link)


def build_extra_cells(event: NewEvent, passages: int) -> tuple[object, ...]:
    """Return the cells that only `insert_event` has; () where they equal the table's defaults."""
    bare = not (event.flags or event.tags or event.metadata)
    if bare and passages == 1 and event.external_id is None and event.expires_us is None:
        return ()
    lists = (pack_json(event.flags), pack_json(event.tags), pack_json(event.metadata))
    return (passages, event.external_id, *lists, event.expires_us)
