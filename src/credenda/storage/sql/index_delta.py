"""The documents, states and vectors that an index has not read yet."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from credenda.ids import IdKind
from credenda.model.event import CODE
from credenda.model.memory import Layer, Status
from credenda.storage import rows
from credenda.storage.damage import guard_row
from credenda.storage.row_mapper import compile_type_check
from credenda.storage.sql.run import Record, StatementRunner
from credenda.storage.store import Delta, Document, DocumentState, IndexPosition, Vector, pack_code
from credenda.text.documents import compose_event_text, compose_memory_text

__all__ = ["read_delta", "renew_indexes"]

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
