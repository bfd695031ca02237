"""Tombstones: keyed hashes of deleted text and values, and the check whether a text repeats them.

A tombstone holds no text: it is the HMAC-SHA-256 of a normal form under the tenant's own key. The normal form of a
sentence is its words, and the condition that it states, with the person who said it. The normal form of a value is its
singular or plural alike, its exact spelling for a name, or number and currency for an amount of money. Words that were
deleted from a sentence which keeps others are hashed with that sentence. A tombstone records the version of its form;
new text is hashed in every version, so that a later version does not void it.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from credenda.model.claim import Claim
from credenda.model.event import Event, NewEvent, Role
from credenda.model.memory import Draft, Memory
from credenda.storage.store import Reader, Tombstone, Writer
from credenda.text.normalize import (
    detect_language,
    find_condition_forms,
    fold_lookalikes,
    fold_plural,
    fold_plural_everywhere,
    normalise_attribute,
    normalise_money,
    normalise_name,
    normalise_text,
    normalise_value,
)
from credenda.text.sentences import split_sentences
from credenda.write.forget.cut import list_clauses

_VERSION: Final = 4
"""The version of the forms that new tombstones have; `NORMALISER` and `FORMS` are those of versions 1 and 2.

Version 4 adds the form of an amount of money.
"""
_NO_PERSONS: Final = frozenset({"", "user", "assistant", "ai", "model", "system", "tool", "function", "document"})
SENTENCES_MAX: Final = 5_000
"""Maximum number of sentences of one text that are compared with tombstones."""
_LABEL: Final = re.compile(r"[^\w\n]{0,8}\w[^:\n]{0,40}:[ \t]+")
"""The speaker or topic before a colon, as written in files: "Ana: I live in Linz"."""
_KINDS_OF_THINGS: Final = frozenset(
    {"allergy", "avoids", "condition", "dislikes", "drinks", "eats", "food", "has", "hobby", "intolerance", "likes"}
    | {"loves", "medication", "needs", "owns", "pet", "plays", "prefers", "wants"}
)
"""Attributes whose values are common nouns. For other attributes a capitalised German word may be a name."""


def get_voice(event: Event | NewEvent) -> str:
    """Return the person whose words an event holds: a named person, or "" for the user, a model and a document."""
    return normalise_name(event.speaker) if event.role is Role.PERSON else ""


def get_voice_of_claim(said: Claim | Draft) -> str:
    """Return the person whose words a claim, draft or memory holds, as far as its speaker says."""
    name = normalise_name(said.speaker)
    return "" if name in _NO_PERSONS else name


def hash_text_forms(key: bytes, text: str, voice: str = "") -> list[bytes]:
    """Hash every form in which a person's sentence may have been deleted, that of its words first."""
    earlier = [_hash_parts(key, "text", normalise_text(text))]
    earlier += [_hash_parts(key, "condition", form) for form in sorted(find_condition_forms(text))]
    return [*_list_text_forms(key, text, voice), *earlier]


def _list_text_forms(key: bytes, text: str, voice: str) -> list[bytes]:
    plain = fold_lookalikes(text)
    conditions = [_hash_parts(key, "condition", voice, form) for form in sorted(find_condition_forms(plain))]
    return [_hash_parts(key, "said", voice, normalise_text(plain)), *conditions]


def hash_parted(key: bytes, sentence: str, voice: str) -> bytes:
    """Hash a sentence of which a part may have been deleted."""
    return _hash_parts(key, "parted", voice, normalise_text(fold_lookalikes(sentence)))


def hash_part(key: bytes, sentence: str, words: str, voice: str) -> bytes:
    """Hash words that may have been deleted from a sentence."""
    return _hash_parts(key, "part", voice, *(normalise_text(fold_lookalikes(text)) for text in (sentence, words)))


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
    spellings = dict.fromkeys((said.value, fold_lookalikes(said.value)))
    forms = {("thing", form) for value in spellings for form in fold_plural_everywhere(value)}
    amount = normalise_money(said.value)
    forms |= set() if amount is None else {("amount", amount)}
    return [*(("value", normalise_value(value)) for value in spellings), *sorted(forms)]


def get_tombstone_form(said: Draft) -> tuple[str, str] | None:
    """Return the form by which a deleted value is known: number and currency of an amount, exact spelling of a name.

    None if a part is missing.
    """
    amount = normalise_money(said.value or "")
    return _get_spelled_form(said) if amount is None or not (said.entity and said.attribute) else ("amount", amount)


def _get_spelled_form(said: Draft) -> tuple[str, str] | None:
    if not (said.entity and said.attribute and said.value):
        return None
    language = detect_language(said.text)
    if not language or _is_name(said, language):
        return "value", normalise_value(fold_lookalikes(said.value))
    return "thing", fold_plural(fold_lookalikes(said.value), language)


def hash_slot_forms(key: bytes, said: Claim | Draft) -> list[bytes]:
    """Hash every form in which a slot and value may have been deleted; none if a part of them is missing."""
    forms = list_value_forms(said)
    if not forms:
        return []
    entities = dict.fromkeys((said.entity or "", fold_lookalikes(said.entity or "")))
    places = [_locate_value(said, entity, apart=apart) for entity in entities for apart in (False, True)]
    return [_hash_parts(key, kind, *place, form) for place in places for kind, form in forms]


def _locate_value(said: Claim | Draft, entity: str, *, apart: bool = False) -> tuple[str, ...]:
    """Return the place of a value: entity and attribute, with `apart` also speaker and scope."""
    place = (normalise_name(entity), normalise_attribute(said.attribute or ""))
    return (*place, normalise_name(said.speaker), normalise_name(said.scope or ""), "apart") if apart else place


def _make_value_tombstones(key: bytes, said: Draft, now_us: int, *, apart: bool) -> list[Tombstone]:
    """Return the tombstones of a value; an amount is also known by its spelling, without a currency."""
    place = _locate_value(said, fold_lookalikes(said.entity or ""), apart=apart)
    forms = dict.fromkeys(form for form in (get_tombstone_form(said), _get_spelled_form(said)) if form is not None)
    return [
        Tombstone(digest=_hash_parts(key, kind, *place, form), kind="value", normaliser=_VERSION, created_us=now_us)
        for kind, form in forms
    ]


def _is_name(said: Draft, language: str) -> bool:
    """Return whether a value is spelled as a name: Williams is not William."""
    value = said.value or ""
    if language == "de":
        return normalise_attribute(said.attribute or "") not in _KINDS_OF_THINGS
    shouted = said.text.upper() == said.text
    return not shouted and any(word[:1].isupper() for word in value.split())


def hash_claim_forms(key: bytes, claim: Claim | Draft) -> list[bytes]:
    """Return every hash under which a claim may have been deleted."""
    return [*hash_text_forms(key, claim.text, get_voice_of_claim(claim)), *hash_slot_forms(key, claim)]


def is_deleted(reader: Reader, said: Claim | Draft, *sentences: str) -> bool:
    """Return whether a claim, draft or memory, or a sentence that supports it, was deleted, whole or in part.

    Every path that stores text must call this or `hash_claim_forms`: journaling, importing, storing, correcting,
    resolving, undoing, rebuilding and re-extracting.
    """
    key = reader.tenant.key
    if not reader.tenant.has_tombstones:
        return False
    voice = get_voice_of_claim(said)
    digests = hash_slot_forms(key, said)
    for text in (said.text, *sentences):
        digests += hash_text_forms(key, text, voice)
        for start, stop in split_statements(text):
            piece = text[start:stop]
            digests.append(hash_parted(key, piece, voice))
            digests += [
                one for begin, end in list_clauses(piece) for one in hash_text_forms(key, piece[begin:end], voice)
            ]
    return bool(reader.tombstoned(digests))


def make_memory_tombstones(
    key: bytes, memory: Memory, sentences: Iterable[tuple[str, str]], now_us: int, *, apart: bool = False
) -> list[Tombstone]:
    """Return the tombstones of a memory that is being deleted, and of sentences with the person who said each.

    The tombstone of its value covers every scope, or with `apart` only its own scope, because another scope still has
    the value.
    """
    stones = {
        stone.digest: stone for text, voice in sentences for stone in make_text_tombstones(key, text, now_us, voice)
    }
    return [*stones.values(), *_make_value_tombstones(key, memory, now_us, apart=apart)]


def make_text_tombstones(key: bytes, text: str, now_us: int, voice: str = "") -> list[Tombstone]:
    """Return the tombstones of a person's whole text; none for a text without words."""
    return [
        Tombstone(digest=digest, kind="text", normaliser=_VERSION, created_us=now_us)
        for digest in (_list_text_forms(key, text, voice) if normalise_text(text) else ())
    ]


def put_deleted_texts(writer: Writer, texts: Iterable[str], now_us: int) -> None:
    """Put the tombstones of texts that were deleted in another program, unless they are there."""
    stones = [one for text in texts for one in make_text_tombstones(writer.tenant.key, text, now_us)]
    known = writer.tombstoned([one.digest for one in stones])
    for stone in stones:
        if stone.digest not in known:
            writer.put(stone)


def make_part_tombstones(
    key: bytes, sentence: str, parts: Iterable[str], now_us: int, *, voice: str = ""
) -> list[Tombstone]:
    """Return the tombstones of words that are being deleted from a sentence which keeps others."""
    digests = [hash_parted(key, sentence, voice), *(hash_part(key, sentence, words, voice) for words in parts)]
    return [Tombstone(digest=digest, kind="part", normaliser=_VERSION, created_us=now_us) for digest in digests]
