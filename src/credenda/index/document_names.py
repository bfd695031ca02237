"""Names of documents for those who file and compare vectors: a memory's text, or a passage of an event.

Documents are named by packed integers (`storage.store.pack_code`). Here ids become such names and names become ids, so
that nobody else packs or unpacks one.
"""

from __future__ import annotations

from collections.abc import Iterable

from credenda.ids import IdKind, format_id, parse_id_number
from credenda.storage.store import pack_code, unpack_code


def name_memory_document(memory_id: str, tag: str) -> int:
    """Name the document of a memory; raises `NotFound` for an id of another tenant."""
    return pack_code(parse_id_number(memory_id, IdKind.MEMORY, tag), memory=True)


def name_event_document(event_id: str, ordinal: int, tag: str) -> int:
    """Name a passage of an event, counted from 0; raises `NotFound` for an id of another tenant."""
    return pack_code(parse_id_number(event_id, IdKind.EVENT, tag), ordinal, memory=False)


def find_owner_id(document: int, tag: str) -> str:
    """Return the id of the memory or event whose document this is.

    >>> find_owner_id(name_event_document("e7-3fa9c2", 1, "3fa9c2"), "3fa9c2")
    'e7-3fa9c2'
    """
    is_memory, number, _ = unpack_code(document)
    return format_id(IdKind.MEMORY if is_memory else IdKind.EVENT, number, tag)


def list_memory_ids(documents: Iterable[int], tag: str) -> list[str]:
    """Return the ids of the memories among some documents, in their order."""
    return [format_id(IdKind.MEMORY, number, tag) for is_memory, number, _ in map(unpack_code, documents) if is_memory]


def list_event_ids(documents: Iterable[int], tag: str) -> list[str]:
    """Return the ids of the events among some documents, each once, in the order of their first document."""
    found = (number for is_memory, number, _ in map(unpack_code, documents) if not is_memory)
    return [format_id(IdKind.EVENT, number, tag) for number in dict.fromkeys(found)]
