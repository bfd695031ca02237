"""Tombstones: keyed hashes of deleted text and values, and the check whether a text repeats them.

A tombstone holds no text: it is the HMAC-SHA-256 of a normal form under the tenant's own key. The normal form of a
sentence is its words, and the condition that it states. The normal form of a value is its singular or plural alike, or
its exact spelling for a name. A tombstone records the version of its form; new text is hashed in every version, so that
a later version does not void it.
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
from credenda.text.normalize import NORMALISER, normalise_attribute, normalise_name, normalise_text, normalise_value
from credenda.text.sentences import split_sentences
from credenda.text.singular_plural import (
    FORMS,
    detect_language,
    find_condition_forms,
    fold_plural,
    fold_plural_everywhere,
)

__all__ = [
    "SENTENCES_MAX",
    "get_tombstone_form",
    "hash_claim_forms",
    "hash_slot_forms",
    "hash_text_forms",
    "is_deleted",
    "list_value_forms",
    "make_memory_tombstones",
    "make_text_tombstones",
    "split_statements",
]

SENTENCES_MAX: Final = 5_000
"""Maximum number of sentences of one text that are compared with tombstones."""
_LABEL: Final = re.compile(r"[^\w\n]{0,8}\w[^:\n]{0,40}:[ \t]+")
"""The speaker or topic before a colon, as written in files: "Ana: I live in Linz"."""
_KINDS_OF_THINGS: Final = frozenset(
    {"allergy", "avoids", "condition", "dislikes", "drinks", "eats", "food", "has", "hobby", "intolerance", "likes"}
    | {"loves", "medication", "needs", "owns", "pet", "plays", "prefers", "wants"}
)
"""Attributes whose values are common nouns. For other attributes a capitalised German word may be a name."""


def hash_text_forms(key: bytes, text: str) -> list[bytes]:
    """Hash every form in which a sentence may have been deleted, that of its words first."""
    return [digest for digest, _ in _list_text_forms(key, text)]


def _list_text_forms(key: bytes, text: str) -> Iterator[tuple[bytes, int]]:
    yield _hash_parts(key, "text", normalise_text(text)), NORMALISER
    for form in sorted(find_condition_forms(text)):
        yield _hash_parts(key, "condition", form), FORMS


def _hash_parts(key: bytes, *parts: str) -> bytes:
    return hmac.digest(key, "\x00".join(parts).encode(), "sha256")


def split_statements(text: str) -> Iterator[tuple[int, int]]:
    """Yield the span of each sentence, of the part after its label, and of the whole text."""
    for start, stop in islice(split_sentences(text), SENTENCES_MAX):
        sentence = text[start:stop]
        if normalise_text(sentence):
            yield start, stop
        label = _LABEL.match(sentence)
        if label is not None and normalise_text(sentence[label.end() :]):
            yield start + label.end(), stop
    yield 0, len(text)


def list_value_forms(said: Claim | Draft) -> list[tuple[str, str]]:
    """Return every form in which a value may have been deleted, with the kind of the form."""
    if not (said.entity and said.attribute and said.value):
        return []
    return [
        ("value", normalise_value(said.value)),
        *(("thing", form) for form in sorted(fold_plural_everywhere(said.value))),
    ]


def get_tombstone_form(said: Draft) -> tuple[str, str] | None:
    """Return the form in which a value is deleted: exact spelling for a name; None if a part is missing."""
    if not (said.entity and said.attribute and said.value):
        return None
    language = detect_language(said.text)
    if not language or _is_name(said, language):
        return "value", normalise_value(said.value)
    return "thing", fold_plural(said.value, language)


def hash_slot_forms(key: bytes, said: Claim | Draft) -> list[bytes]:
    """Hash every form in which a slot and value may have been deleted; none if a part of them is missing."""
    places, forms = (_locate_value(said), _locate_value(said, apart=True)), list_value_forms(said)
    return [_hash_parts(key, kind, *place, form) for place in places for kind, form in forms]


def _locate_value(said: Claim | Draft, *, apart: bool = False) -> tuple[str, ...]:
    """Return the place of a value: entity and attribute, with `apart` also speaker and scope."""
    place = (normalise_name(said.entity or ""), normalise_attribute(said.attribute or ""))
    return (*place, normalise_name(said.speaker), normalise_name(said.scope or ""), "apart") if apart else place


def _make_value_tombstone(key: bytes, said: Draft, now_us: int, *, apart: bool) -> Tombstone | None:
    form = get_tombstone_form(said)
    if form is None:
        return None
    digest = _hash_parts(key, form[0], *_locate_value(said, apart=apart), form[1])
    version = NORMALISER if form[0] == "value" else FORMS
    return Tombstone(digest=digest, kind="value", normaliser=version, created_us=now_us)


def _is_name(said: Draft, language: str) -> bool:
    """Return whether a value is spelled as a name: Williams is not William."""
    value = said.value or ""
    if language == "de":
        return normalise_attribute(said.attribute or "") not in _KINDS_OF_THINGS
    shouted = said.text.upper() == said.text
    return not shouted and any(word[:1].isupper() for word in value.split())


def hash_claim_forms(key: bytes, claim: Claim | Draft) -> list[bytes]:
    """Return every hash under which a claim may have been deleted."""
    return [*hash_text_forms(key, claim.text), *hash_slot_forms(key, claim)]


def is_deleted(reader: Reader, said: Claim | Draft, *sentences: str) -> bool:
    """Return whether a claim, draft or memory, or a sentence that supports it, was deleted.

    Every path that stores text must call this or `hash_claim_forms`: journaling, importing, storing, correcting,
    resolving, undoing, rebuilding and re-extracting.
    """
    key = reader.tenant.key
    if not reader.tenant.has_tombstones:
        return False
    digests = [*hash_claim_forms(key, said), *(digest for text in sentences for digest in hash_text_forms(key, text))]
    return bool(reader.tombstoned(digests))


def make_memory_tombstones(
    key: bytes, memory: Memory, sentences: Iterable[str], now_us: int, *, apart: bool = False
) -> list[Tombstone]:
    """Return the tombstones of a memory that is being deleted, and of its supporting sentences.

    The tombstone of its value covers every scope, or with `apart` only its own scope, because another scope still has
    the value.
    """
    stones = {
        stone.digest: stone for text in (memory.text, *sentences) for stone in make_text_tombstones(key, text, now_us)
    }
    value = _make_value_tombstone(key, memory, now_us, apart=apart)
    return [*stones.values(), *([value] if value else [])]


def make_text_tombstones(key: bytes, text: str, now_us: int) -> list[Tombstone]:
    """Return the tombstones of a whole text; none for a text without words."""
    return [
        Tombstone(digest=digest, kind="text", normaliser=form, created_us=now_us)
        for digest, form in (_list_text_forms(key, text) if normalise_text(text) else ())
    ]
