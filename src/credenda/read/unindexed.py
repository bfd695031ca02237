"""Search without a resident index, over candidates from the full-text index on disk."""

from __future__ import annotations

from typing import Final

from credenda.ids import Kind, public_id
from credenda.index.resident import ResidentIndex
from credenda.model.event import CODE, Event
from credenda.model.memory import Layer, Memory, Status
from credenda.storage.store import Delta, Document, DocumentState, Heads, Reader, pack_code, unpack_code
from credenda.text.documents import event_text, memory_text
from credenda.text.passages import passages
from credenda.text.tokens import ALTERNATIVE, question_terms, spaced, tokenize

__all__ = ["cold_index"]

_NOMINATED: Final = 1_000
"""Maximum number of documents fetched; their statistics rank the sample."""
_HIDDEN: Final = frozenset({Status.CANDIDATE, Status.ARCHIVED, Status.FORGOTTEN})
_SHOWN: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})


def cold_index(reader: Reader, question: str) -> ResidentIndex:
    """Build an index for one search from the documents that contain a word of the question, rarest words first.

    The idf of a term is computed within this sample, which keeps the order of rarity but not its scale.
    """
    codes = reader.nominate(_words(question), _NOMINATED)
    wanted = set(codes)
    tag = reader.tenant.tag
    parts = [unpack_code(code) for code in codes]
    memory_ids = {public_id(Kind.MEMORY, number, tag): number for is_memory, number, _ in parts if is_memory}
    event_ids = {public_id(Kind.EVENT, number, tag): number for is_memory, number, _ in parts if not is_memory}
    documents = [_of_memory(memory, memory_ids[memory.id]) for memory in reader.memories(list(memory_ids))]
    for event in reader.events(list(event_ids)):
        documents += (made for made in _of_event(event, event_ids[event.id]) if made.code in wanted)
    index = ResidentIndex()
    index.fold(Delta(heads=Heads(), documents=tuple(sorted(documents, key=lambda one: one.code))))
    return index


def _words(question: str) -> list[str]:
    """Return the words as written, without stop words; the index on disk uses its own stemmer.

    Stems in other languages follow, because the index on disk stores these stems.
    """
    words = spaced(question).split()
    stems = [stem for term in question_terms(question) for stem in term.split(ALTERNATIVE)[1:]]
    return [*([word for word in words if tokenize(word)] or words), *stems]


def _of_memory(memory: Memory, number: int) -> Document:
    return Document(
        code=pack_code(number, memory=True),
        text=memory_text(memory.text, entity=memory.entity, attribute=memory.attribute, value=memory.value),
        session="",
        speaker=memory.speaker,
        occurred_us=memory.created_us if memory.valid_from_us is None else memory.valid_from_us,
        state=DocumentState.HIDDEN if memory.layer is Layer.CODEBASE else _state(memory.status),
    )


def _state(status: Status) -> DocumentState:
    if status in _SHOWN:
        return DocumentState.CURRENT
    if status is Status.DELETED:
        return DocumentState.GONE
    return DocumentState.HIDDEN if status in _HIDDEN else DocumentState.PAST


def _of_event(event: Event, number: int) -> list[Document]:
    return [
        Document(
            code=pack_code(number, ordinal, memory=False),
            text=event_text(
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
        for ordinal, (start, stop) in enumerate(passages(event.text))
    ]
