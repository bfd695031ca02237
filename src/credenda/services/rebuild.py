"""Rebuild the beliefs from the change log or the journal, and the vectors with another model or with fewer bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from credenda import model as model_modules
from credenda import services, workers
from credenda.errors import Corrupt, Invalid
from credenda.index.document_names import name_memory_document
from credenda.index.quantize import FORGOTTEN, TIERS, choose_bits, decode_rows, encode
from credenda.manage.rebuild import LogDifferences, compare_with_log, repair_rows
from credenda.model.evaluation import RebuildDifference, RebuildReport
from credenda.model.job import Finding
from credenda.model.memory import Memory, Status
from credenda.model.report import CompressReport, CompressTier
from credenda.providers.embed.factory import open_embedder
from credenda.runtime import Parts
from credenda.services.lifecycle import walk_retention
from credenda.storage.store import Vector, Watermark, Writer
from credenda.text.recalled_block import count_noun
from credenda.workers.loop import COMPRESSED, flush_accesses

_LOG_CHECKS: Final = frozenset(
    {
        *("change_numbers", "change_rows"),
        *("journal_numbers", "journal_rows", "journal_chain", "journal_text", "file"),
    }
)
"""Checks that must pass before a rebuild from the journal and the log."""
_NAMED: Final = 5
_VECTORS: Final = "vector_checksums"


def rebuild(parts: Parts, *, reextract: bool = False, model: bool = False, dry_run: bool = False) -> RebuildReport:
    """Rebuild memories, evidence and contests from the change log, and replace the rows that differ.

    All differences are replaced in one transaction, while searches continue; an interruption changes nothing. Indexes
    are rebuilt. With `reextract` the beliefs are derived from the journal instead, by rules or by the `model`. Raises
    `Corrupt`, and changes nothing, if the journal or log is damaged.
    """
    if model and not reextract:
        raise Invalid("a model can only be used with reextract", fix="add reextract (--reextract)")
    # Raise `Corrupt` if the journal or log is damaged: the rows may then be the only remaining copy.
    wrong = [one for one in parts.store.check(parts.user_id) if one.check in _LOG_CHECKS]
    if wrong:
        raise Corrupt(
            "nothing can be rebuilt from a damaged log",
            why=f"{wrong[0].check}: {wrong[0].detail}",
            fix="restore a backup; nothing was changed",
        )
    if reextract:
        return services.restore_from_files.reextract(parts, dry_run=dry_run, model=model)
    with parts.store.reader(parts.user_id) as reader:
        found = compare_with_log(reader)
    if not dry_run:
        put_right(parts, found)
        check_rows(parts, repair=True)
        parts.store.renew_indexes(parts.user_id)
        parts.indexes.drop(parts.user_id, store=parts.store_name)
    return RebuildReport(
        reextract=False,
        dry_run=dry_run,
        compared=found.compared,
        differences=tuple(_list_differences(found)),
        applied=bool(found) and not dry_run,
        unexplained=found.unexplained,
        redacted=found.redacted,
        unsupported=found.unsupported,
    )


def check_rows(parts: Parts, *, repair: bool) -> list[Finding]:
    """Verify the file and the rows; the repair makes damaged vectors again, if there is a model to embed with."""
    findings = parts.store.check(parts.user_id, repair=repair)
    if parts.embedder is not None and any(one.check == _VECTORS and one.repaired for one in findings):
        workers.handlers.embed_missing(parts, parts.embedder)
    return findings


def put_right(parts: Parts, found: LogDifferences) -> int:
    """Replace the rows that differ from the change log; return how many."""
    if not found:
        return 0
    now_us = parts.clock.now_us()
    with parts.active_calls:
        return parts.store.commit(parts.user_id, lambda writer: repair_rows(writer, found, now_us))


def _list_differences(found: LogDifferences) -> list[RebuildDifference]:
    reason = "the rows differ from the change log"
    return [
        *(
            RebuildDifference(id=name, what="refold", fields=names, reason=reason)
            for name, names in found.memories.items()
        ),
        *(RebuildDifference(id=name, what="refold", fields=("contest",), reason=reason) for name in found.contests),
    ]


def log_findings(parts: Parts, *, repair: bool) -> list[Finding]:
    """Replay the change log and compare it with the rows; repair the rows if requested and the log is sound."""
    with parts.store.reader(parts.user_id) as reader:
        found = compare_with_log(reader)
    findings: list[Finding] = []
    if found:
        names = [*found.memories, *found.contests]
        fields = sorted(
            {name for names in found.memories.values() for name in names} | ({"contest"} if found.contests else set())
        )
        sound = repair and not any(one.check in _LOG_CHECKS for one in parts.store.check(parts.user_id))
        if sound:
            put_right(parts, found)
            parts.indexes.drop(parts.user_id, store=parts.store_name)
        findings.append(
            Finding(
                check="change_fold",
                detail=f"{count_noun(len(names), 'row', 'differs')} from the change log in {', '.join(fields)}",
                repaired=sound,
                where=", ".join([*names[:_NAMED], *(["…"] if len(names) > _NAMED else [])]),
                fix="run `credenda rebuild` to rebuild them from the change log",
            )
        )
    lost = [one for one in found.unexplained if one.startswith("k")]
    if lost:
        findings.append(
            Finding(
                check="change_log",
                detail=f"{count_noun(len(lost), 'contest')} that no change in the log explains",
                where=", ".join(lost[:_NAMED]),
                fix="restore a backup; they were not changed",
            )
        )
    return findings


# Embed all texts again with another model.


def reembed(
    parts: Parts,
    model: str | None = None,
    *,
    clear_existing: bool = False,
    drop_others: bool = False,
    dry_run: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
) -> model_modules.report.ReembedReport:
    """Embed every text with a model, by default the configured one; raises `Invalid` if there is none.

    With `drop_others` the vectors of other models are deleted then; raises `Invalid` unless the model is in use.
    """
    embedder = parts.embedder if model is None else open_embedder(model, parts.settings)
    if embedder is None:
        raise Invalid("there is no model to embed with", why="words alone are searched", fix='name one, like "minilm"')
    in_use = parts.embedder is not None and parts.embedder.model_id == embedder.model_id
    if drop_others and not in_use:
        raise Invalid(
            "the vectors in use cannot be deleted",
            why=f"searches do not use {embedder.model_id} yet",
            fix="open the memory with that model, and delete the others then",
        )
    embedded = workers.handlers.embed_missing(parts, embedder, progress, again=clear_existing, dry_run=dry_run)
    if drop_others and not dry_run:
        workers.handlers.drop_other_models(parts, embedder)
    with parts.store.reader(parts.user_id) as reader:
        counts = reader.counts()
    return model_modules.report.ReembedReport(
        model_id=embedder.model_id,
        embedded=embedded,
        vectors_by_model=counts.vectors_by_model,
        dry_run=dry_run,
        in_use=in_use,
    )


# Store the vectors of fading memories with fewer bits. Only vectors change; words, beliefs and the log stay.
# Compression only reduces precision (E-089): a job embeds a recalled memory again from its words (C-024).


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
    found = tuple(
        CompressTier(
            bits=bits,
            vectors=one.vectors,
            compressed=one.moved,
            bytes_before=one.before,
            bytes_after=one.after,
            fidelity=round(sum(one.kept) / len(one.kept), 5) if one.kept else None,
            least_fidelity=round(min(one.kept), 5) if one.kept else None,
        )
        for bits, one in tiers.items()
    )
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
