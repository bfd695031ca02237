"""Store the vectors of fading memories with fewer bits; a recall restores the precision.

Only vectors change; words, beliefs and the log stay. Compression only reduces precision (E-089): a job embeds a
recalled memory again from its words (C-024).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from credenda.index.document_names import name_memory_document
from credenda.index.quantize import FORGOTTEN, TIERS, choose_bits, decode_rows, encode
from credenda.model.memory import Memory, Status
from credenda.model.report import CompressReport, CompressTier
from credenda.runtime import Parts
from credenda.services.lifecycle import walk_retention
from credenda.storage.store import Vector, Watermark, Writer
from credenda.workers.loop import COMPRESSED, flush_accesses

_KEPT: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED})
_WRITTEN_TOGETHER: Final = 200
"""Vectors per transaction: about a millisecond, so that other writers do not wait."""


@dataclass(slots=True)
class _Tier:
    """The counts of a tier so far."""

    vectors: int = 0
    moved: int = 0
    before: int = 0
    after: int = 0
    kept: list[float] = field(default_factory=list[float])


@dataclass(frozen=True, slots=True)
class _Rough:
    """A vector to compress: as stored, as compressed, and the cosine of the two."""

    memory_id: str
    before: Vector
    after: Vector
    fidelity: float


def compress(parts: Parts, *, dry_run: bool = True) -> CompressReport:
    """Reduce vectors to the bits that the retention of their memories requires; a dry run only counts.

    Uses short transactions; an interrupted run can be repeated, and a second complete run finds nothing to do.
    """
    flush_accesses(parts)
    with parts.store.reader(parts.user_id) as reader:
        models = sorted(reader.counts().vectors_by_model)
    tiers = {bits: _Tier() for _, bits in TIERS} | {FORGOTTEN: _Tier()}
    for model_id in models:
        for batch in walk_retention(parts, _KEPT):
            rough = list(_examine_batch(parts, batch, model_id, tiers))
            if dry_run:
                continue
            for start in range(0, len(rough), _WRITTEN_TOGETHER):
                _write_vectors(parts, rough[start : start + _WRITTEN_TOGETHER])
    found = tuple(_count_tier(bits, one) for bits, one in tiers.items())
    return CompressReport(
        examined=sum(one.vectors for one in found),
        compressed=sum(one.compressed for one in found),
        bytes_before=sum(one.bytes_before for one in found),
        bytes_after=sum(one.bytes_after for one in found),
        tiers=found,
        dry_run=dry_run,
        restores=parts.embedder is not None,
    )


def _examine_batch(
    parts: Parts, batch: Sequence[tuple[Memory, float]], model_id: str, tiers: dict[int, _Tier]
) -> Iterator[_Rough]:
    """Count the vectors of a batch of memories by tier, and yield those to compress."""
    with parts.store.reader(parts.user_id) as reader:
        tag = reader.tenant.tag
        codes = {name_memory_document(one.id, tag): (one.id, score) for one, score in batch}
        stored = reader.vectors(list(codes), model_id)
    for vector in stored:
        memory_id, score = codes[vector.code]
        bits = choose_bits(score)
        tier = tiers[bits]
        tier.vectors += 1
        tier.before += len(vector.data)
        if bits == FORGOTTEN or bits >= vector.bits:
            tier.after += len(vector.data)
            continue
        (exact,) = decode_rows([vector.data], vector.bits, vector.dims)
        data = encode(exact, bits)
        (back,) = decode_rows([data], bits, vector.dims)
        length = float(np.linalg.norm(exact)) or 1.0
        rough = _Rough(memory_id, vector, vector._replace(bits=bits, data=data), float(exact @ back) / length)
        tier.moved += 1
        tier.after += len(rough.after.data)
        tier.kept.append(rough.fidelity)
        yield rough


def _write_vectors(parts: Parts, rough: Sequence[_Rough]) -> None:
    """Write the compressed vectors that have not changed since; a memory that was deleted meanwhile gets none."""

    def work(writer: Writer) -> None:
        worded = {one.id for one in writer.memories([one.memory_id for one in rough]) if one.text}
        held = {one.code: one for one in writer.vectors([one.before.code for one in rough], rough[0].before.model_id)}
        for one in rough:
            if one.memory_id in worded and held.get(one.before.code) == one.before:
                writer.put(one.after)
        writer.put(Watermark(name=COMPRESSED, value=1, at_us=parts.clock.now_us()))

    parts.store.commit(parts.user_id, work)


def _count_tier(bits: int, one: _Tier) -> CompressTier:
    return CompressTier(
        bits=bits,
        vectors=one.vectors,
        compressed=one.moved,
        bytes_before=one.before,
        bytes_after=one.after,
        fidelity=round(sum(one.kept) / len(one.kept), 5) if one.kept else None,
        least_fidelity=round(min(one.kept), 5) if one.kept else None,
    )
