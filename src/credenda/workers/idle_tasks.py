"""Writes in idle time: buffered impressions, and the snapshot of a changed index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from credenda.errors import CredendaError
from credenda.ids import IdKind, parse_id_number
from credenda.index.document_names import name_memory_document
from credenda.runtime import Parts
from credenda.storage.job_kinds import EMBED
from credenda.storage.store import Access, Job, Writer

__all__ = ["COMPRESSED", "flush_accesses", "save_index"]

COMPRESSED: Final = "compressed"
"""The watermark that records that some vectors have few bits, and since when."""
_EXACT_BITS: Final = 16


def flush_accesses(parts: Parts) -> None:
    """Write the buffered impressions; after a failure they stay buffered."""
    waiting = parts.accesses.drain()
    if waiting:
        with parts.store.reader(parts.user_id) as reader:  # a tenant erased since has no rows to update
            waiting = [one for one in waiting if one.memory_id.endswith(f"-{reader.tenant.tag}")]
    if not waiting:
        return
    try:
        parts.store.commit(parts.user_id, lambda writer: _write_accesses(parts, writer, waiting))
    except CredendaError:
        for access in waiting:
            parts.accesses.add(access)
        raise


def _write_accesses(parts: Parts, writer: Writer, waiting: Sequence[Access]) -> None:
    """Insert impressions, and queue embedding jobs for recalled memories whose vectors have few bits (C-024)."""
    for access in waiting:
        writer.put(access)
    if parts.embedder is None or writer.duties.watermark(COMPRESSED) is None:
        return
    tag = writer.tenant.tag
    codes = {name_memory_document(one.memory_id, tag): one.memory_id for one in waiting}
    stored = writer.vectors(list(codes), parts.embedder.model_id)
    rough = [codes[vector.code] for vector in stored if vector.bits < _EXACT_BITS]
    for memory_id in rough:
        evidence = writer.evidence(memory_ids=[memory_id])
        if evidence:
            number = parse_id_number(evidence[0].span.event_id, IdKind.EVENT, tag)
            writer.put(Job(kind=EMBED, first=number, last=number))
    if rough:
        parts.jobs_ready.set()


def save_index(parts: Parts) -> None:
    """Write a snapshot of the index when it has changed enough, so that the next process starts fast."""
    if not parts.resident.in_use:
        return
    model_id = parts.embedder.model_id if parts.embedder else None
    with parts.store.reader(parts.user_id) as reader:
        index = parts.indexes.held(reader, model_id=model_id, store=parts.store_name)
        tag = reader.tenant.tag
    if index is not None and parts.indexes.needs_saving(index):
        image = parts.indexes.image(index, tag)

        def work(writer: Writer) -> None:
            if writer.tenant.tag == tag and writer.duties.lineage(index.heads) == index.lineage:  # not erased since
                writer.put(image)

        parts.store.commit(parts.user_id, work)
