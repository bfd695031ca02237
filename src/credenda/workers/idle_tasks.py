"""Writes in idle time: buffered impressions, the snapshot of a changed index, and the vectors of a large memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from credenda import limits
from credenda.errors import CredendaError
from credenda.ids import IdKind, parse_id_number
from credenda.index.document_names import name_memory_document
from credenda.lazy import import_on_use
from credenda.runtime import Parts
from credenda.storage.job_kinds import EMBED
from credenda.storage.store import Access, Job, VectorCopies, Writer

if TYPE_CHECKING:
    from credenda.index import neighbours as disk_vectors
else:
    disk_vectors = import_on_use("credenda.index.neighbours")

COMPRESSED: Final = "compressed"
"""The watermark that records that some vectors have few bits, and since when."""
_EXACT_BITS: Final = 16
_PAGES: Final = 20
"""Pages of vectors that are copied at a time: some 10,000 vectors."""


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


def copy_large_vectors(parts: Parts, *, pages: int = _PAGES) -> int:
    """Copy vectors of a memory that may be too large for an index in memory to the index of its backend.

    At most so many pages; returns how many vectors were copied. A backend without such an index copies nothing.
    """
    if parts.embedder is None:
        return 0
    model_id, copied = parts.embedder.model_id, 0
    for _ in range(pages):
        with parts.store.reader(parts.user_id) as reader:
            if reader.duties.heads.vector <= limits.RESIDENT_DOCUMENTS:
                return copied
            copies, tag = disk_vectors.copy_vectors(reader, model_id), reader.tenant.tag
        if copies is None:
            return copied
        parts.store.commit(parts.user_id, partial(_put_copies, tag=tag, copies=copies))
        copied += len(copies.vectors)
    return copied


def _put_copies(writer: Writer, *, tag: str, copies: VectorCopies) -> None:
    if writer.tenant.tag == tag:  # not erased since
        writer.put(copies)


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
