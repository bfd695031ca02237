"""What is written in quiet moments: showings that wait, and the image of an index that has moved."""

from __future__ import annotations

from credenda.errors import CredendaError
from credenda.parts import Parts
from credenda.storage.store import Writer

__all__ = ["flush_accesses", "save_index"]


def flush_accesses(parts: Parts) -> None:
    """Write the showings that wait; when that fails they wait on."""
    waiting = parts.accesses.drain()
    if waiting:
        with parts.store.reader(parts.user_id) as reader:  # what was erased meanwhile has no rows to note it on
            waiting = [one for one in waiting if one.memory_id.endswith(f"-{reader.tenant.tag}")]
    if not waiting:
        return
    try:
        parts.store.commit(parts.user_id, lambda writer: [writer.put(access) for access in waiting])
    except CredendaError:
        for access in waiting:
            parts.accesses.add(access)
        raise


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
