"""Large stores and many tenants in minutes: messages and vectors go in through the store's own door.

What takes long about a large store is reading its messages for what they say. Here they are journaled and embedded but
not read, so that each is one document: what is searched, and how, is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.clock import seconds
from credenda.index.document_names import event_document
from credenda.index.quantize import encode
from credenda.model.event import NewEvent, Role
from credenda.providers.embed.protocol import Embedder
from credenda.runtime import Parts
from credenda.storage.store import Vector, Writer

__all__ = ["fill_store"]

_UNIT: Final = 2_000
"""Messages filed in one transaction."""
_SESSION: Final = 100
_BITS: Final = 16
_MINUTE_US: Final = 60_000_000


def fill_store(path: Path, texts: Sequence[str], *, user: str, embedder: str | Embedder) -> float:
    """Journal and embed messages without reading them, leave an image of the index, and return the seconds it took."""
    start = seconds()
    parts = build_parts(path, user=user, embedder=embedder)
    with Credenda(parts, workers=False) as memory:
        for at in range(0, len(texts), _UNIT):
            _store_messages(parts, texts[at : at + _UNIT], at)
        memory.search(texts[0])  # so that closing leaves an image of the index
    return seconds() - start


def _store_messages(parts: Parts, texts: Sequence[str], first: int) -> None:
    vectors = None if parts.embedder is None else parts.embedder.embed(texts)
    began_us = parts.clock.now_us()

    def work(writer: Writer) -> None:
        for place, text in enumerate(texts):
            event = NewEvent(
                text=text,
                role=Role.USER,
                speaker="user",
                session=f"session {(first + place) // _SESSION}",
                occurred_us=began_us + place * _MINUTE_US,
            )
            event_id = writer.put(event)
            if vectors is not None and parts.embedder is not None:
                data = encode(vectors[place], _BITS)
                code = event_document(event_id, 0, writer.tenant.tag)
                writer.put(Vector(code, parts.embedder.model_id, parts.embedder.dims, _BITS, 1.0, data))

    parts.store.commit(parts.user_id, work)
