"""Build large stores and many tenants quickly: journal and embed messages through the store directly.

Extraction takes most of the time of a large store. Here messages are journaled and embedded but not extracted, so that
each is one document: the searched index has the same size.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from credenda import Credenda
from credenda.bootstrap import build_parts
from credenda.clock import seconds
from credenda.index.document_names import name_event_document
from credenda.index.quantize import encode
from credenda.model.event import NewEvent, Role
from credenda.providers.embed.factory import Embedder
from credenda.runtime import Parts
from credenda.storage.store import Vector, Writer

_UNIT: Final = 2_000
"""Messages stored in one transaction."""
_SESSION: Final = 100
_BITS: Final = 16
_MINUTE_US: Final = 60_000_000


def fill_store(path: Path, texts: Sequence[str], *, user: str, embedder: str | Embedder) -> float:
    """Journal and embed messages without extraction, save a snapshot of the index, and return the seconds it took."""
    start = seconds()
    parts = build_parts(path, user=user, embedder=embedder)
    with Credenda(parts, workers=False) as memory:
        for at in range(0, len(texts), _UNIT):
            _store_messages(parts, texts[at : at + _UNIT], at)
        memory.search(texts[0])  # so that closing saves a snapshot of the index
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
                code = name_event_document(event_id, 0, writer.tenant.tag)
                writer.put(Vector(code, parts.embedder.model_id, parts.embedder.dims, _BITS, 1.0, data))

    parts.store.commit(parts.user_id, work)
