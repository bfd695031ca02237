"""Search without a resident index, over candidates from the indexes on disk: by words, and by vectors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

from credenda import limits
from credenda.ids import IdKind, format_id, parse_id_number
from credenda.index.resident import ResidentIndex
from credenda.model.event import CODE, Event
from credenda.model.memory import Layer, Memory, Status, get_valid_from_us
from credenda.read.plan import Plan
from credenda.storage.store import (
    Delta,
    Document,
    DocumentState,
    IndexPosition,
    MemoryFilter,
    Reader,
    pack_code,
    unpack_code,
)
from credenda.text.documents import compose_event_text, compose_memory_text
from credenda.text.passages import split_passages
from credenda.text.tokens import ALTERNATIVE, space_runs, tokenize

_NOMINATED: Final = 1_000
"""Maximum number of documents fetched; their statistics rank the sample."""
_HIDDEN: Final = frozenset({Status.CANDIDATE, Status.ARCHIVED, Status.FORGOTTEN})
_SHOWN: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})


def build_partial_index(
    reader: Reader, question: str, made: Plan, *, model_id: str | None = None, near: Sequence[int] = ()
) -> ResidentIndex:
    """Build an index for one search from the documents that contain a word of the question, rarest words first.

    `near` are codes of documents whose vectors of a model are near; the index then holds vectors.

    A question about the user as a whole also gets the newest memories about the user.

    The idf of a term is computed within this sample, which keeps the order of rarity but not its scale.
    """
    words = space_runs(question).split()
    stems = [stem for term in made.terms for stem in term.split(ALTERNATIVE)[1:]]
    codes = list(
        {*reader.nominate(([*([word for word in words if tokenize(word)] or words), *stems]), _NOMINATED), *near}
    )
    wanted = set(codes)
    tag = reader.tenant.tag
    parts = [unpack_code(code) for code in codes]
    memory_ids = {format_id(IdKind.MEMORY, number, tag) for is_memory, number, _ in parts if is_memory}
    event_ids = {format_id(IdKind.EVENT, number, tag): number for is_memory, number, _ in parts if not is_memory}
    memories = reader.memories(list(memory_ids))
    known = reader.find(MemoryFilter(entity="user", limit=limits.PROFILE_ROWS)) if made.profile else []
    if made.asked is not None:
        pairs = itertools.product(made.asked.entities, sorted(made.asked.attributes))
        known += [memory for pair in pairs for memory in reader.find(MemoryFilter(pair=pair, limit=limits.SLOT_ROWS))]
    memories += {memory.id: memory for memory in known if memory.id not in memory_ids}.values()
    documents = [_make_memory_document(memory, parse_id_number(memory.id, IdKind.MEMORY, tag)) for memory in memories]
    for event in reader.events(list(event_ids)):
        documents += (made for made in _make_event_documents(event, event_ids[event.id]) if made.code in wanted)
    index = ResidentIndex(model_id=model_id if near else None)
    vectors = reader.vectors([one.code for one in documents], model_id) if near and model_id else []
    index.fold(
        Delta(
            heads=IndexPosition(),
            documents=tuple(sorted(documents, key=lambda one: one.code)),
            vectors=tuple(vectors),
        )
    )
    return index


def _make_memory_document(memory: Memory, number: int) -> Document:
    return Document(
        code=pack_code(number, memory=True),
        text=compose_memory_text(memory.text, entity=memory.entity, attribute=memory.attribute, value=memory.value),
        session="",
        speaker=memory.speaker,
        occurred_us=get_valid_from_us(memory),
        state=DocumentState.HIDDEN if memory.layer is Layer.CODEBASE else _choose_state(memory.status),
    )


def _choose_state(status: Status) -> DocumentState:
    if status in _SHOWN:
        return DocumentState.CURRENT
    if status is Status.DELETED:
        return DocumentState.GONE
    return DocumentState.HIDDEN if status in _HIDDEN else DocumentState.PAST


def _make_event_documents(event: Event, number: int) -> list[Document]:
    return [
        Document(
            code=pack_code(number, ordinal, memory=False),
            text=compose_event_text(
                speaker=event.speaker,
                role=event.role,
                occurred_us=event.occurred_us,
                text=event.text[start:stop],
            ),
            session=event.session,
            speaker=event.speaker,
            occurred_us=event.occurred_us,
            state=DocumentState.HIDDEN if CODE in event.flags else DocumentState.CURRENT,
        )
        for ordinal, (start, stop) in enumerate(split_passages(event.text))
    ]
