"""What is written in quiet moments: showings that wait, and the image of an index that has moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from credenda.errors import CredendaError
from credenda.ids import IdKind, parse_id_number
from credenda.index.document_names import memory_document
from credenda.runtime import Parts
from credenda.storage.job_kinds import EMBED
from credenda.storage.store import Access, Job, Writer

__all__ = ["COMPRESSED", "flush_accesses", "save_index"]

COMPRESSED: Final = "compressed"
"""The mark that some vectors are kept at few bits, and since when."""
_EXACT_BITS: Final = 16


def flush_accesses(parts: Parts) -> None:
    """Write the showings that wait; when that fails they wait on."""
    waiting = parts.accesses.drain()
    if waiting:
        with parts.store.reader(parts.user_id) as reader:  # what was erased meanwhile has no rows to note it on
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
    """File showings, and let a job embed again what was recalled and is kept at few bits (C-024)."""
    for access in waiting:
        writer.put(access)
    if parts.embedder is None or writer.duties.watermark(COMPRESSED) is None:
        return
    tag = writer.tenant.tag
    codes = {memory_document(one.memory_id, tag): one.memory_id for one in waiting}
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
    """Write an image of the index when it has moved far enough, so that the next process starts fast."""
    if not parts.resident.in_use:
        return
    model_id = parts.embedder.model_id if parts.embedder else None
    with parts.store.reader(parts.user_id) as reader:
        index = parts.indexes.held(reader, model_id=model_id, store=parts.store_name)
        tag = reader.tenant.tag
    if index is not None and parts.indexes.needs_saving(index):
        image = parts.indexes.image(index, tag)

        def work(writer: Writer) -> None:
            if writer.tenant.tag == tag:  # not erased meanwhile
                writer.put(image)

        parts.store.commit(parts.user_id, work)
