"""The last step of a write: vectors of what was said and of what is believed because of it.

The engine runs outside any transaction; a failure raises and the job is tried again, never a zero vector written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from credenda.errors import NotFound
from credenda.ids import IdKind, format_id
from credenda.index.document_names import event_document, memory_document, owner_id
from credenda.model.event import CODE, Event, Role
from credenda.model.memory import Layer, Memory, Status
from credenda.providers.embed.protocol import Embedder, embed_checked
from credenda.storage.job_kinds import EMBED
from credenda.storage.store import Job, Reader, Vector, Writer
from credenda.text.passages import split_passages
from credenda.write.indexing.surprise import Novelty, store_novelty
from credenda.write.reconcile_job import mark_complete

__all__ = ["EMBED", "MissingVector", "embed", "find_missing_vectors", "store_vectors"]

_REPLACED: Final = frozenset({Status.SUPERSEDED, Status.MERGED})
_APART: Final = frozenset({Status.CANDIDATE, Status.ARCHIVED, Status.FORGOTTEN, Status.DELETED})
"""Statuses of memories that no search shows unasked."""


@dataclass(frozen=True, slots=True)
class MissingVector:
    """A document that lacks a vector, and the text to embed for it."""

    code: int
    text: str
    counts: bool = False
    """Whether it is a memory whose surprise is to be found: not of code, not kept apart, not measured before."""


def find_missing_vectors(reader: Reader, job: Job, model_id: str, *, least_bits: int = 0) -> list[MissingVector]:
    """List the passages of a job's events, and the memories resting on them, that have no vector of this model.

    An event that is one memory word for word needs none of its own while that is held: the memory stands for it. With
    `least_bits` those are listed too whose vector is kept at fewer.
    """
    tag = reader.tenant.tag
    ids = [format_id(IdKind.EVENT, number, tag) for number in range(job.first, job.last + 1)]
    evidence = reader.evidence(event_ids=ids)
    memories = {memory.id: memory for memory in reader.memories(sorted({item.memory_id for item in evidence}))}
    standing = {memory.text for memory in memories.values() if memory.status not in _REPLACED}
    spoken_for = {item.span.event_id for item in evidence if item.memory_id in memories}
    wanted: list[MissingVector] = []
    for event in reader.events(ids):
        alike = event.role is Role.USER and event.id in spoken_for
        if CODE in event.flags or (alike and event.text.strip() in standing):
            continue
        for ordinal, (start, stop) in enumerate(split_passages(event.text)):
            spoken = _prefix_speaker(event, event.text[start:stop])
            wanted.append(MissingVector(event_document(event.id, ordinal, tag), spoken))
    wanted += (
        MissingVector(memory_document(memory.id, tag), memory.text, counts=_is_unmeasured(memory))
        for memory in memories.values()
        if memory.text
    )
    present = {vector.code: vector.bits for vector in reader.vectors([one.code for one in wanted], model_id)}
    return [
        replace(one, counts=one.counts and one.code not in present)
        for one in wanted
        if present.get(one.code, -1) < least_bits or one.code not in present
    ]


def _is_unmeasured(memory: Memory) -> bool:
    apart = memory.layer is Layer.CODEBASE or memory.status in _APART
    return memory.surprise is None and not apart


def _prefix_speaker(event: Event, text: str) -> str:
    """Name a person who speaks; the tenant and the assistant are in every text and tell none apart."""
    return f"{event.speaker}: {text}" if event.role is Role.PERSON else text


def embed(embedder: Embedder, wanted: Sequence[MissingVector], bits: int) -> list[Vector]:
    """Embed texts and encode the vectors for storage; raises `Unavailable` for vectors that say nothing."""
    from credenda.index.quantize import encode

    if not wanted:
        return []
    matrix = embed_checked(embedder, [one.text for one in wanted])
    return [
        Vector(
            code=one.code,
            model_id=embedder.model_id,
            dims=embedder.dims,
            bits=bits,
            scale=1.0,
            data=encode(row, bits),
        )
        for one, row in zip(wanted, matrix, strict=True)
    ]


def store_vectors(
    writer: Writer,
    job: Job,
    vectors: Sequence[Vector],
    *,
    of: str,
    last: bool = True,
    novel: Mapping[int, Novelty] | None = None,
    now_us: int = 0,
) -> None:
    """File vectors, and with the last ones complete the job; a document that was redacted meanwhile gets none.

    `of` is the tag of the tenant whose texts were embedded: one who was erased meanwhile gets none either. `novel`
    holds how new the memories among them are, by code.
    """
    tag = writer.tenant.tag
    if tag != of:
        raise NotFound("what was to be embedded is no longer there", why="this user was erased meanwhile")
    ids = [format_id(IdKind.EVENT, number, tag) for number in range(job.first, job.last + 1)]
    readable = {event.id for event in writer.events(ids) if event.text}
    held = {
        memory.id: memory
        for memory in writer.memories(sorted({item.memory_id for item in writer.evidence(event_ids=ids)}))
        if memory.text
    }
    for vector in vectors:
        owner = owner_id(vector.code, tag)
        if owner in held or owner in readable:
            writer.put(vector)
            if novel is not None and vector.code in novel:
                store_novelty(writer, held[owner], novel[vector.code], now_us)
    if last:
        writer.put(mark_complete(job))
