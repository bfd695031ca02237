"""Keyed hashes of what was deleted, and where a text says it again.

A tombstone never holds words: it is HMAC-SHA-256 under the tenant's own key, of the normal form of a sentence, or of a
slot and value. `NORMALISER` is kept with it, so that a later normal form does not void it.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from credenda.model.claim import Claim
from credenda.model.memory import Draft, Memory
from credenda.storage.store import Reader, Tombstone
from credenda.text.normal import NORMALISER, attribute_key, name_key, text_key, value_key
from credenda.text.sentences import sentence_spans

__all__ = [
    "SENTENCES_MAX",
    "claim_digests",
    "is_deleted",
    "memory_tombstones",
    "sayings",
    "text_digest",
    "text_tombstone",
]

SENTENCES_MAX: Final = 5_000
"""Sentences of one text that are held against tombstones."""
_LABEL: Final = re.compile(r"[^\w\n]{0,8}\w[^:\n]{0,40}:[ \t]+")
"""Who or what a sentence is about, as files write it before a colon: "Ana: I live in Linz"."""


def text_digest(key: bytes, text: str) -> bytes:
    """Hash the normal form of a sentence."""
    return hmac.digest(key, b"text\x00" + text_key(text).encode(), "sha256")


def sayings(text: str) -> Iterator[tuple[int, int]]:
    """Give the characters of each sentence, of what follows a label in it, and of the whole text."""
    for start, stop in islice(sentence_spans(text), SENTENCES_MAX):
        sentence = text[start:stop]
        if text_key(sentence):
            yield start, stop
        label = _LABEL.match(sentence)
        if label is not None and text_key(sentence[label.end() :]):
            yield start + label.end(), stop
    yield 0, len(text)


def _value_digest(key: bytes, entity: str, attribute: str, value: str) -> bytes:
    parts = (name_key(entity), attribute_key(attribute), value_key(value))
    return hmac.digest(key, b"value\x00" + "\x00".join(parts).encode(), "sha256")


def _slot_digests(key: bytes, said: Claim | Draft) -> list[bytes]:
    if said.entity and said.attribute and said.value:
        return [_value_digest(key, said.entity, said.attribute, said.value)]
    return []


def claim_digests(key: bytes, claim: Claim | Draft) -> list[bytes]:
    """Give every hash under which a claim may have been deleted."""
    return [text_digest(key, claim.text), *_slot_digests(key, claim)]


def is_deleted(reader: Reader, said: Claim | Draft, *sentences: str) -> bool:
    """Say whether what would be held, or a sentence it would rest on, was deleted: what every way in must ask.

    `said` may be a claim, a draft or a memory. Journaling, importing, storing, correcting, resolving, undoing,
    rebuilding and reading anew all ask here, or hash by `claim_digests` what they ask about together.
    """
    tenant = reader.tenant
    if not tenant.has_tombstones:
        return False
    digests = [*claim_digests(tenant.key, said), *(text_digest(tenant.key, text) for text in sentences)]
    return bool(reader.tombstoned(digests))


def memory_tombstones(key: bytes, memory: Memory, sentences: Iterable[str], now_us: int) -> list[Tombstone]:
    """Give the tombstones of a memory that is being deleted, and of the sentences it rested on."""
    stones = {text_digest(key, text): "text" for text in (memory.text, *sentences) if text_key(text)}
    stones.update(dict.fromkeys(_slot_digests(key, memory), "value"))
    return [
        Tombstone(digest=digest, kind=kind, normaliser=NORMALISER, created_us=now_us) for digest, kind in stones.items()
    ]


def text_tombstone(key: bytes, text: str, now_us: int) -> Tombstone:
    """Give the tombstone of a whole text."""
    return Tombstone(digest=text_digest(key, text), kind="text", normaliser=NORMALISER, created_us=now_us)
