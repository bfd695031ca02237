"""The documents, states and vectors that an index has not read yet."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from credenda.ids import IdKind
from credenda.model.event import CODE
from credenda.model.memory import Layer, Memory, Status
from credenda.storage import rows
from credenda.storage.damage import guard_row
from credenda.storage.rows import compile_type_check
from credenda.storage.sql.statements import Record, StatementRunner
from credenda.storage.store import Delta, Document, DocumentState, IndexPosition, Vector, pack_code
from credenda.text.passages import compose_event_text, compose_memory_text
from credenda.text.tokens import fold, is_run, segment_document, segment_query, tokenize

_check_document: Final = compile_type_check(Document)


def read_delta(
    run: StatementRunner, tip: IndexPosition, heads: IndexPosition, *, model_id: str | None, limit: int
) -> Delta:
    """Read at most `limit` events, changes and vectors between the index position `heads` and the end `tip`."""
    if tip == heads:
        return Delta(heads=heads)
    documents, event_head = _read_events(run, heads.event, limit) if tip.event > heads.event else ([], heads.event)
    change_head = int(run("change_at", after=heads.change, limit=limit).fetchone()[0])
    states: list[tuple[int, DocumentState]] = []
    for row in run("changed_memories", after=heads.change, until=change_head):
        document = _build_memory_document(row)
        states.append((document.code, document.state))
        if row["fresh"] and document.state is not DocumentState.GONE:
            documents.append(document)
    redacted = run("redacted_events", event=heads.event, after=heads.change, until=change_head).fetchall()
    for row in redacted:
        documents += _build_event_documents(row, _read_spans(run, row))
        states += _mark_as_gone(row)
    until = int(run("vector_at", after=heads.vector, limit=limit).fetchone()[0])
    vectors = _read_vectors(run, heads.vector, until, model_id) if until > heads.vector else []
    vector_head = until if until > heads.vector else max(heads.vector, tip.vector)
    return Delta(
        heads=IndexPosition(event_head, change_head, vector_head),
        documents=tuple(sorted(documents, key=lambda document: document.code)),
        states=tuple(sorted(states)),
        vectors=tuple(sorted(vectors, key=lambda vector: vector.code)),
    )


def _read_events(run: StatementRunner, after: int, limit: int) -> tuple[list[Document], int]:
    found = run("events_after", after=after, limit=limit).fetchall()
    if not found:
        return [], after
    until = found[-1]["id"]
    cut: dict[int, list[tuple[int, int, int]]] = {}
    if any(row["passages"] != 1 for row in found):
        for row in run("passages_after", after=after, until=until):
            cut.setdefault(row["event"], []).append((row["ordinal"], row["start"], row["stop"]))
    documents: list[Document] = []
    for row in found:
        documents += _build_event_documents(row, cut.get(row["id"]))
    return documents, until


def _read_spans(run: StatementRunner, row: Record) -> list[tuple[int, int, int]] | None:
    if row["passages"] == 1:
        return None
    found = run("passages_of", event=row["id"])
    return [(passage["ordinal"], passage["start"], passage["stop"]) for passage in found]


@guard_row("events", IdKind.EVENT)
def _build_event_documents(row: Record, spans: Iterable[tuple[int, int, int]] | None) -> list[Document]:
    """Build the documents of an event's passages; without spans its text is one passage."""
    if not row["text"]:
        return []
    return [
        _check_document(
            Document(
                code=pack_code(row["id"], ordinal, memory=False),
                text=compose_event_text(
                    speaker=row["speaker"],
                    role=row["role"],
                    occurred_us=row["occurred_at"],
                    text=row["text"][start:stop],
                ),
                session=row["session_id"],
                speaker=row["speaker"],
                occurred_us=row["occurred_at"],
                state=DocumentState.HIDDEN if _is_code(row) else DocumentState.CURRENT,
            )
        )
        for ordinal, start, stop in ([(0, 0, len(row["text"]))] if spans is None else spans)
    ]


def _is_code(row: Record) -> bool:
    """Return whether a code scan created an event: a search then finds its memory instead."""
    return row["flags"] is not None and CODE in json.loads(row["flags"])


def _mark_as_gone(row: Record) -> list[tuple[int, DocumentState]]:
    if row["text"]:
        return []
    return [(pack_code(row["id"], ordinal, memory=False), DocumentState.GONE) for ordinal in range(row["passages"])]


@guard_row("memories", IdKind.MEMORY)
def _build_memory_document(row: Record) -> Document:
    return _check_document(
        Document(
            code=pack_code(row["id"], memory=True),
            text=compose_memory_text(row["text"], entity=row["entity"], attribute=row["attribute"], value=row["value"]),
            session="",
            speaker=row["speaker"],
            occurred_us=row["valid_from"] or row["created_at"],
            state=rows.derive_document_state(Status(row["status"]), Layer(row["layer"])),
        )
    )


def _read_vectors(run: StatementRunner, after: int, until: int, model_id: str | None) -> list[Vector]:
    return [rows.to_vector(row) for row in run("vectors_after", after=after, until=until, model_id=model_id)]


def renew_indexes(run: StatementRunner) -> None:
    """Give the rows of a tenant another generation and delete the stored indexes, so that all are built again."""
    for name in ("renew_generation", "delete_index_images"):
        run(name)


# The words under which documents are indexed, and whether a document holds a word, as the full-text index says.


# Letters and digits, except New Tai Lue and Vedic marks, which FTS5 treats as spaces.
_WORDS: Final = re.compile(r"[^\W_\u19b0-\u19c9\u1cf2\u1cf3]+")


def compose_event_words(role: str, speaker: str, occurred_us: int, text: str) -> str:
    """Return the text under which the full-text index stores an event's passage."""
    return segment_document(fold(compose_event_text(speaker=speaker, role=role, occurred_us=occurred_us, text=text)))


def compose_memory_words(text: str, entity: str | None, attribute: str | None, value: str | None) -> str:
    """Return the text under which the full-text index stores a memory."""
    return segment_document(fold(compose_memory_text(text, entity=entity, attribute=attribute, value=value)))


class MemoryWords:
    """The words of memories, each split once."""

    def __init__(self) -> None:
        """Start empty."""
        self._held: dict[str, tuple[Memory, frozenset[str]]] = {}

    def of(self, memory: Memory) -> frozenset[str]:
        """Return the words of a memory and their stems."""
        held = self._held.get(memory.id)
        if held is None or held[0] is not memory:
            body = compose_memory_words(memory.text, memory.entity, memory.attribute, memory.value)
            held = self._held[memory.id] = (memory, split_words(body))
        return held[1]


def split_words(body: str) -> frozenset[str]:
    """Return the words of a body of text and their stems."""
    return frozenset(_WORDS.findall(body)) | frozenset(tokenize(body))


def _split_term(term: str) -> list[str]:
    return _WORDS.findall(segment_query(fold(term)))


def analyse_term(term: str) -> list[tuple[str, frozenset[str], bool]]:
    """Return each word of a term with its stems, and whether a document needs only a word that begins with it.

    A document holds the term if it holds, for each of its words, the word or all of its stems.
    """
    return [(word, frozenset(tokenize(word)), _is_prefix(word)) for word in _split_term(term)]


def compile_term(term: str) -> Callable[[frozenset[str]], bool]:
    """Compile a test whether a body with some words matches a term, as `to_match_query` asks the full-text index."""
    words = analyse_term(term)

    def matches(held: frozenset[str]) -> bool:
        return all(
            any(one.startswith(word) for one in held) if prefix else word in held or (bool(stems) and stems <= held)
            for word, stems, prefix in words
        )

    return matches


def to_match_query(term: str) -> str:
    """Build a full-text query for a term; "" for a term without letters or digits.

    The index stores no positions, so that a term of several words ("node.js") asks for each of them. A single character
    of a script that is indexed as bigrams asks for all bigrams that begin with it.
    """
    return " AND ".join(f'{{body}} : "{word}"{" *" if _is_prefix(word) else ""}' for word in _split_term(term))


def _is_prefix(word: str) -> bool:
    return len(word) == 1 and is_run(word)


# The vectors of a tenant in a backend without an index of them.


class SqlVectorView:
    """A `VectorView` that runs named statements."""

    def __init__(self, run: StatementRunner) -> None:
        """Bind to a runner of statements for one tenant."""
        self._run = run

    @property
    def is_indexed(self) -> bool:
        """Whether this backend has an index of vectors."""
        return False

    def nearest(self, model_id: str, vector: Sequence[float], limit: int) -> tuple[list[int], int]:  # noqa: ARG002 - for an index
        """Return nothing: there is no index."""
        return [], 0

    def page(self, model_id: str, after: int, limit: int) -> list[tuple[int, int, int, int, bytes]]:
        """Return (number, code, dims, bits, data) of the next vectors of a model after a number, in their order."""
        return [tuple(row) for row in self._run("vector_page", model_id=model_id, after=after, limit=limit)]
