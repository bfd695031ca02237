"""Embed memories, score their surprise, and find near-duplicates after they are written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from credenda import index, limits
from credenda import index as index_modules
from credenda.errors import NotFound
from credenda.ids import IdKind, format_id
from credenda.index.document_names import find_owner_id, name_event_document, name_memory_document
from credenda.model.change import Actor, Change, Confirm, Retag, Support
from credenda.model.event import CODE, Event, Role
from credenda.model.memory import (
    DUPLICATE_OF,
    DUPLICATE_SIMILARITY,
    HELD,
    NEIGHBOURS,
    Layer,
    Memory,
    Status,
    adjust_importance,
    compute_surprise,
    get_type_class,
)
from credenda.providers.embed.factory import (
    ClaimEmbedder,
    Embedder,
    TokenEmbedder,
    TokenVectors,
    call_token_embedder,
    embed_checked,
)
from credenda.storage.records import EMBED, mark_complete
from credenda.storage.store import Job, Reader, Surprise, Vector, Writer
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name, normalise_text
from credenda.text.passages import compose_memory_meaning, split_passages
from credenda.text.sentences import leave_out_blanks
from credenda.write.apply import Application, apply
from credenda.write.correct import is_value_alone

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from credenda.index.resident import ResidentIndex

__all__ = [
    "EMBED",
    "MissingVector",
    "Novelty",
    "embed",
    "find_missing_vectors",
    "is_exact_repeat",
    "may_repeat",
    "measure_novelty",
    "store_novelties",
    "store_novelty",
    "store_vectors",
]


# Whether a memory near another in the embedding space may repeat it, or exactly repeats it.


_NUMBER: Final = re.compile(r"\d[\d.,:/%-]*")
_NAME: Final = re.compile(r"(?<![.!?:]\s)(?<!^)\b[^\W\d_a-z]\w+")
_NEGATION: Final = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|nicht|kein\w*|nie|ohne|jamais|sans|sin|nunca)\b"
    r"|n['\u2019]t\b"
)
_FILLING: Final = frozenset(
    [
        *("a", "also", "actually", "an", "and", "anyway", "honestly", "i", "it", "just", "me", "my", "our"),
        *("please", "really", "so", "still", "that", "the", "then", "there", "this", "to", "too", "user"),
        *("very", "way", "well"),
    ]
)
"""Words that do not affect the meaning; words of tense, place and direction do."""


def may_repeat(one: Memory, other: Memory) -> bool:
    """Return whether no rule distinguishes two memories, so that they may have the same meaning."""
    return _is_same_slot(one, other) and _get_signature(one.text) == _get_signature(other.text)


def is_exact_repeat(one: Memory, other: Memory) -> bool:
    """Return whether two memories differ only in filler words, case and punctuation."""
    return may_repeat(one, other) and _strip_fillers(one.text) == _strip_fillers(other.text)


def _is_same_slot(one: Memory, other: Memory) -> bool:
    """Compare speaker, slot, scope and stance; a slot that only one memory has is no difference."""
    if (one.speaker, one.stance, get_type_class(one.type)) != (other.speaker, other.stance, get_type_class(other.type)):
        return False
    if normalise_name(one.scope or "") != normalise_name(other.scope or "") or (one.topic or "") != (other.topic or ""):
        return False
    if one.entity and other.entity and normalise_name(one.entity) != normalise_name(other.entity):
        return False
    if one.attribute and other.attribute:
        alike = normalise_attribute(one.attribute) == normalise_attribute(other.attribute)
        return alike and is_same_value(one.value, other.value)
    return True


def _get_signature(text: str) -> tuple[frozenset[str], frozenset[str], int]:
    """Return the numbers and names of a text, and its number of negations."""
    numbers = frozenset(found.rstrip(".,:/-") for found in _NUMBER.findall(text))
    names = frozenset(found.casefold() for found in _NAME.findall(text))
    return numbers, names, len(_NEGATION.findall(text.casefold()))


def _strip_fillers(text: str) -> tuple[str, ...]:
    return tuple(word for word in normalise_text(text).split() if word not in _FILLING)


# Surprise: how new a memory is compared with earlier memories; the last step of a write.


_PLACES: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Novelty:
    """How surprising a memory is, and the id of its nearest neighbour with their cosine, where there is one."""

    surprise: float
    nearest: str | None = None
    similarity: float = 0.0


def measure_novelty(reader: Reader, index: ResidentIndex, vectors: Sequence[Vector]) -> Mapping[int, Novelty]:
    """Compare the vectors of memories, by code, with those of earlier memories (E-043).

    Later memories do not count, in whatever order their jobs ran, nor do archived, quarantined and code memories.
    """
    found = index_modules.resident.find_nearest_memories(index, reader, vectors, NEIGHBOURS)
    return {vector.code: _score_novelty(near, reader.tenant.tag) for vector, near in zip(vectors, found, strict=True)}


def _score_novelty(near: Sequence[tuple[int, float]], tag: str) -> Novelty:
    if not near:
        return Novelty(surprise=compute_surprise(()))
    code, similarity = near[0]
    return Novelty(
        surprise=compute_surprise([cosine for _, cosine in near]),
        nearest=find_owner_id(code, tag),
        similarity=similarity,
    )


def store_novelty(writer: Writer, memory: Memory, novelty: Novelty, now_us: int) -> None:
    """Store the surprise and importance of a memory that has none yet, and flag repetitions (E-044, E-048)."""
    if memory.surprise is not None:
        return
    moved = memory.importance != memory.base_importance  # told again since, which weighs more
    worth = memory.importance if moved else adjust_importance(memory.base_importance, novelty.surprise)
    writer.put(Surprise(memory_id=memory.id, score=novelty.surprise, importance=worth))
    changes = _flag_repeat(writer, memory, novelty)
    if changes:
        cause = next((item.span.event_id for item in writer.evidence(memory_ids=[memory.id])), None)
        apply(writer, changes, Application(actor=Actor.SCHEDULE, now_us=now_us, cause=cause))


def _flag_repeat(writer: Writer, memory: Memory, novelty: Novelty) -> list[Change]:
    """Flag a memory that may repeat its neighbour; an exact repetition also confirms the neighbour."""
    if novelty.nearest is None or novelty.similarity < DUPLICATE_SIMILARITY:
        return []
    other_id = novelty.nearest
    found = writer.memories([other_id])
    if not found or found[0].status not in HELD or memory.status not in HELD or not may_repeat(memory, found[0]):
        return []
    alike = f"similarity {novelty.similarity:.{_PLACES}f}"
    changes: list[Change] = [
        Retag(
            memory_id=memory.id,
            metadata={**memory.metadata, DUPLICATE_OF: other_id},
            reason=f"possible duplicate of {other_id} ({alike})",
        )
    ]
    known = {item.span.event_id for item in writer.evidence(memory_ids=[other_id])}
    support = tuple(
        Support(item.span, item.claim_hash, item.reader or "")
        for item in writer.evidence(memory_ids=[memory.id])
        if item.span.event_id not in known
    )
    if support and is_exact_repeat(memory, found[0]):
        reason = f"restated as {memory.id} with only filler words changed ({alike})"
        changes.append(Confirm(memory_id=other_id, support=support, reason=reason))
    return changes


_TOKEN_BITS: Final = 8
"""Bits of each number of a token vector."""
_REPLACED: Final = frozenset({Status.SUPERSEDED, Status.MERGED})
_APART: Final = frozenset({Status.CANDIDATE, Status.ARCHIVED, Status.FORGOTTEN, Status.DELETED})
"""Statuses that no search returns by default."""


@dataclass(frozen=True, slots=True)
class MissingVector:
    """A document without a vector, and its text."""

    code: int
    text: str
    claim: bool = False
    """Whether the text is that of a claim that a model or an agent gave."""
    counts: bool = False
    """Whether its surprise is still to be measured: a memory that is neither code nor hidden from search."""


def find_missing_vectors(
    reader: Reader, jobs: Sequence[Job], model_id: str, *, least_bits: int = 0, tokens: str | None = None
) -> list[MissingVector]:
    """List the passages of the events of jobs, and the memories resting on them, that lack a vector of this model.

    An event whose text equals a current memory needs no vector: search finds it through that memory. The vector of a
    memory that a model or an agent gave, or whose value a person corrected, is that of its claim and sentence. That of
    any other is of the sentence alone: the reader is less sure of slots, and so more is found (any@10 of LoCoMo 93.6
    instead of 91.8). With `least_bits`, documents whose vector has fewer bits are listed too, and with `tokens`, the
    model of token vectors, short texts without those.
    """
    tag = reader.tenant.tag
    ids = _list_events(reader, jobs, tag)
    evidence = reader.evidence(event_ids=ids)
    memories = {memory.id: memory for memory in reader.memories(sorted({item.memory_id for item in evidence}))}
    standing = {memory.text for memory in memories.values() if memory.status not in _REPLACED}
    spoken_for = {item.span.event_id for item in evidence if item.memory_id in memories}
    wanted: list[MissingVector] = []
    events = reader.events(ids)
    given = {item.memory_id for item in evidence if item.reader}
    given.update(one.id for one in memories.values() if is_value_alone(one))
    for event in events:
        alike = event.role is Role.USER and event.id in spoken_for
        if CODE in event.flags or (alike and leave_out_blanks(event.text).text.strip() in standing):
            continue
        for ordinal, (start, stop) in enumerate(split_passages(event.text)):
            spoken = _prefix_speaker(event, leave_out_blanks(event.text[start:stop]).text)
            wanted.append(MissingVector(name_event_document(event.id, ordinal, tag), spoken))
    wanted += (
        MissingVector(
            name_memory_document(memory.id, tag),
            _write_meaning(memory) if memory.id in given else memory.text,
            claim=memory.id in given,
            counts=_is_unmeasured(memory),
        )
        for memory in memories.values()
        if memory.text
    )
    present = {vector.code: vector.bits for vector in reader.vectors([one.code for one in wanted], model_id)}
    short = [one.code for one in wanted if _has_token_vectors(one)] if tokens else []
    split = {code for code, _, _ in reader.vector_data(sorted(short), tokens or "")} if short else set(short)
    lacking = set(short) - split
    return [
        replace(one, counts=one.counts and one.code not in present)
        for one in wanted
        if present.get(one.code, -1) < least_bits or one.code not in present or one.code in lacking
    ]


def _write_meaning(memory: Memory) -> str:
    return compose_memory_meaning(memory.text, entity=memory.entity, attribute=memory.attribute, value=memory.value)


def _has_token_vectors(one: MissingVector) -> bool:
    return len(one.text) <= limits.TOKEN_TEXT_CHARACTERS


def _is_unmeasured(memory: Memory) -> bool:
    apart = memory.layer is Layer.CODEBASE or memory.status in _APART
    return memory.surprise is None and not apart


def _prefix_speaker(event: Event, text: str) -> str:
    """Prefix a named speaker; the user and the assistant occur everywhere and distinguish nothing."""
    return f"{event.speaker}: {text}" if event.role is Role.PERSON else text


def embed(
    embedder: Embedder, wanted: Sequence[MissingVector], bits: int, *, tokens: TokenEmbedder | None = None
) -> list[tuple[Vector, ...]]:
    """Embed texts and encode the vectors for storage; raises `Unavailable` for unusable vectors.

    Each text has one vector and, with `tokens` (the embedder itself), a second one with those of its tokens if it is
    short: t · d numbers of 8 bits, from the same encoding.
    """
    if not wanted:
        return []
    if tokens is None:
        matrix = embed_checked(embedder, _list_texts(wanted))
        return [(one,) for one in _encode_vectors(embedder, wanted, _place_claims(embedder, wanted, matrix), bits)]
    matrix, split = call_token_embedder(tokens, _list_texts(wanted))
    whole = _encode_vectors(embedder, wanted, _place_claims(embedder, wanted, matrix), bits)
    return [
        (vector, _encode_tokens(tokens, one.code, found)) if _has_token_vectors(one) else (vector,)
        for one, vector, found in zip(wanted, whole, split, strict=True)
    ]


def _place_claims(
    embedder: Embedder, wanted: Sequence[MissingVector], matrix: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Give claims the vectors that an embedder has for them, in place of those of their texts."""
    claims = {place: one.text for place, one in enumerate(wanted) if one.claim}
    if claims and isinstance(embedder, ClaimEmbedder):
        matrix[list(claims)] = embed_checked(embedder, list(claims.values()), way=embedder.embed_claims)
    return matrix


def _list_texts(wanted: Sequence[MissingVector]) -> list[str]:
    return [one.text for one in wanted]


def _encode_tokens(embedder: TokenEmbedder, code: int, found: TokenVectors) -> Vector:
    flat = found.vectors.ravel()
    data = index.quantize.encode(flat, _TOKEN_BITS)
    return Vector(code=code, model_id=embedder.token_model_id, dims=len(flat), bits=_TOKEN_BITS, scale=1.0, data=data)


def _encode_vectors(
    embedder: Embedder, wanted: Sequence[MissingVector], matrix: NDArray[np.float32], bits: int
) -> list[Vector]:
    return [
        Vector(
            code=one.code,
            model_id=embedder.model_id,
            dims=embedder.dims,
            bits=bits,
            scale=1.0,
            data=index.quantize.encode(row, bits),
        )
        for one, row in zip(wanted, matrix, strict=True)
    ]


def store_vectors(
    writer: Writer,
    jobs: Sequence[Job],
    vectors: Sequence[Vector],
    *,
    of: str,
    last: bool = True,
) -> None:
    """Store vectors and, with the last ones, complete the jobs; documents redacted in the meantime are skipped.

    `of` is the tag of the tenant whose texts were embedded; raises `NotFound` if that tenant was erased in the
    meantime.
    """
    ids = _list_events(writer, jobs, of)
    owners = {event.id for event in writer.events(ids) if event.text} | _find_resting(writer, ids).keys()
    for vector in vectors:
        if find_owner_id(vector.code, of) in owners:
            writer.put(vector)
    for job in jobs if last else ():
        writer.put(mark_complete(job))


def store_novelties(writer: Writer, jobs: Sequence[Job], novel: Mapping[int, Novelty], *, of: str, now_us: int) -> None:
    """Store the novelty of memories, by code, and flag repetitions; memories redacted in the meantime are skipped."""
    held = _find_resting(writer, _list_events(writer, jobs, of))
    for code, novelty in novel.items():
        memory = held.get(find_owner_id(code, of))
        if memory is not None:
            store_novelty(writer, memory, novelty, now_us)


def _list_events(reader: Reader, jobs: Sequence[Job], of: str) -> list[str]:
    """Return the ids of the events of jobs; raises `NotFound` if their tenant was erased."""
    if reader.tenant.tag != of:
        raise NotFound("the text to embed no longer exists", why="this user was erased in the meantime")
    numbers = {number for job in jobs for number in range(job.first, job.last + 1)}
    return [format_id(IdKind.EVENT, number, of) for number in sorted(numbers)]


def _find_resting(reader: Reader, event_ids: Sequence[str]) -> dict[str, Memory]:
    """Find the memories with text that rest on these events, by id."""
    names = sorted({item.memory_id for item in reader.evidence(event_ids=event_ids)})
    return {memory.id: memory for memory in reader.memories(names) if memory.text}
