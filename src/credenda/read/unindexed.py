"""Search without a resident index, over candidates from the full-text index on disk."""

from __future__ import annotations

from typing import Final

from credenda.ids import IdKind, format_id
from credenda.index.resident import ResidentIndex
from credenda.model.event import CODE, Event
from credenda.model.memory import Layer, Memory, Status
from credenda.storage.store import Delta, Document, DocumentState, IndexPosition, Reader, pack_code, unpack_code
from credenda.text.documents import compose_event_text, compose_memory_text
from credenda.text.passages import split_passages
from credenda.text.tokens import ALTERNATIVE, extract_question_terms, space_runs, tokenize

__all__ = ["build_partial_index"]

_NOMINATED: Final = 1_000
"""Maximum number of documents fetched; their statistics rank the sample."""
_HIDDEN: Final = frozenset({Status.CANDIDATE, Status.ARCHIVED, Status.FORGOTTEN})
_SHOWN: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})


def build_partial_index(reader: Reader, question: str) -> ResidentIndex:
    """Build an index for one search from the documents that contain a word of the question, rarest words first.

    The idf of a term is computed within this sample, which keeps the order of rarity but not its scale.
    """
    codes = reader.nominate(_list_words(question), _NOMINATED)
    wanted = set(codes)
    tag = reader.tenant.tag
    parts = [unpack_code(code) for code in codes]
    memory_ids = {format_id(IdKind.MEMORY, number, tag): number for is_memory, number, _ in parts if is_memory}
    event_ids = {format_id(IdKind.EVENT, number, tag): number for is_memory, number, _ in parts if not is_memory}
    documents = [_make_memory_document(memory, memory_ids[memory.id]) for memory in reader.memories(list(memory_ids))]
    for event in reader.events(list(event_ids)):
        documents += (made for made in _make_event_documents(event, event_ids[event.id]) if made.code in wanted)
    index = ResidentIndex()
    index.fold(Delta(heads=IndexPosition(), documents=tuple(sorted(documents, key=lambda one: one.code))))
    return index


def _list_words(question: str) -> list[str]:
    """Return the words as written, without stop words; the index on disk uses its own stemmer.

    Stems in other languages follow, because the index on disk stores these stems.
    """
    words = space_runs(question).split()
    stems = [stem for term in extract_question_terms(question) for stem in term.split(ALTERNATIVE)[1:]]
    return [*([word for word in words if tokenize(word)] or words), *stems]


def _make_memory_document(memory: Memory, number: int) -> Document:
    return Document(
        code=pack_code(number, memory=True),
        text=compose_memory_text(memory.text, entity=memory.entity, attribute=memory.attribute, value=memory.value),
        session="",
        speaker=memory.speaker,
        occurred_us=memory.created_us if memory.valid_from_us is None else memory.valid_from_us,
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
