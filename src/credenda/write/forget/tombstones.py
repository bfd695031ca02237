"""Tombstones: keyed hashes of deleted text and values, and the check whether a text repeats them.

A tombstone holds no text: it is the HMAC-SHA-256 of a normal form under the tenant's own key. The normal form of a
sentence is its words, and the condition that it states, with the person who said it. The normal form of a value is its
singular or plural alike, its exact spelling for a name, number and currency for an amount of money, or the digits of a
long number, which counts in every slot of its entity. Words that were
deleted from a sentence which keeps others are hashed with that sentence. A tombstone records the version of its form;
new text is hashed in every version, so that a later version does not void it.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from credenda.model.claim import Claim, Extractor, Turn
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
    normalise_number,
    normalise_text,
    normalise_value,
)
from credenda.text.sentences import BLANK, blank_span, leave_out_blanks, split_sentences
from credenda.write.forget.cut import (
    Assertion,
    Cut,
    cut_claim,
    find_phrase,
    list_clauses,
    remove_cuts,
    widen_to_separator,
)

_VERSION: Final = 5
"""The version of the forms that new tombstones have; `NORMALISER` and `FORMS` are those of versions 1 and 2.

Version 4 adds the form of an amount of money, version 5 that of a long number.
"""
NUMBER: Final = "number"
"""The kind of the form of a long number."""
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
    number = normalise_number(said.value)
    forms |= set() if number is None else {(NUMBER, number)}
    return [*(("value", normalise_value(value)) for value in spellings), *sorted(forms)]


def get_tombstone_form(said: Draft) -> tuple[str, str] | None:
    """Return the form by which a deleted value is known: number and currency of an amount, exact spelling of a name.

    A long number is known by its digits. None if a part is missing.
    """
    amount, number = normalise_money(said.value or ""), normalise_number(said.value or "")
    if number is not None and said.entity and said.attribute:
        return NUMBER, number
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
    return [
        _hash_parts(key, kind, *_locate_value(said, entity, kind, apart=apart), form)
        for entity in entities
        for apart in (False, True)
        for kind, form in forms
    ]


def _locate_value(said: Claim | Draft, entity: str, kind: str, *, apart: bool = False) -> tuple[str, ...]:
    """Return the place of a value: entity and attribute, with `apart` also speaker and scope.

    That of a long number is the entity alone, unless it is apart.
    """
    if kind == NUMBER and not apart:
        return (normalise_name(entity),)
    place = (normalise_name(entity), normalise_attribute(said.attribute or ""))
    return (*place, normalise_name(said.speaker), normalise_name(said.scope or ""), "apart") if apart else place


def _make_value_tombstones(key: bytes, said: Draft, now_us: int, *, apart: bool) -> list[Tombstone]:
    """Return the tombstones of a value; an amount is also known by its spelling, without a currency."""
    entity = fold_lookalikes(said.entity or "")
    forms = dict.fromkeys(form for form in (get_tombstone_form(said), _get_spelled_form(said)) if form is not None)
    return [
        Tombstone(
            digest=_hash_parts(key, kind, *_locate_value(said, entity, kind, apart=apart), form),
            kind="value",
            normaliser=_VERSION,
            created_us=now_us,
        )
        for kind, form in forms
    ]


def _is_name(said: Draft, language: str) -> bool:
    """Return whether a value is spelled as a name: Williams is not William."""
    value = said.value or ""
    if language == "de":
        return normalise_attribute(said.attribute or "") not in _KINDS_OF_THINGS
    shouted = said.text.upper() == said.text
    return not shouted and any(word[:1].isupper() for word in value.split())


def is_deleted(reader: Reader, said: Claim | Draft, *sentences: str) -> bool:
    """Return whether a claim, draft or memory, or a sentence that supports it, was deleted, whole or in part.

    Every path that stores text must call this: journaling, importing, storing, correcting,
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


# Find the words of an event that repeat something deleted: whole sentences, clauses, or the words of one claim.


Extract = Callable[[str], Sequence[Claim]]
"""Extracts the claims of a text, as if an event had no other words."""
_WORD_RUN: Final = re.compile(r"[^\W_]+")
_SHOWN_PART: Final = re.compile(rf"[^\s{BLANK},;:)](?:[\s\S]*[^\s{BLANK}])?")
_LEADING: Final = 4
"""At most one word fewer leads to a value: "from", "instead of", "and not the"."""
_PIECES_MAX: Final = 200
"""Maximum number of clauses and sentences of an event that are extracted by themselves."""
_PART_WORDS: Final = 80
"""A longer sentence of which a part was deleted is taken for the part."""


@dataclass(frozen=True, slots=True)
class Restatement:
    """The spans of an event that repeat deleted words, and the tombstones that they match."""

    spans: tuple[tuple[int, int], ...] = ()
    digests: frozenset[bytes] = frozenset()


def normalise_assertion(said: Assertion) -> tuple[str, str, str]:
    """Return the normal form of a slot and value."""
    return (
        normalise_name(said.entity or ""),
        normalise_attribute(said.attribute or ""),
        normalise_value(said.value or ""),
    )


def make_extract(extractor: Extractor, event: Event | NewEvent) -> Extract:
    """Return a function that extracts a text as if it stood in an event."""
    if isinstance(event, Event):
        return lambda text: extractor.extract(Turn(event=replace(event, text=leave_out_blanks(text).text)))
    content = {name: getattr(event, name) for name in NewEvent.__dataclass_fields__ if name != "text"}
    return lambda text: extractor.extract(
        Turn(event=Event(**content, text=text, id="e0", recorded_us=event.occurred_us))
    )


def cut_from_others(
    text: str, gone: Assertion, kept: Sequence[Assertion], extract: Extract | None, *, yields: bool = False
) -> Cut | None:
    """Return the words that state a claim; where the rest can be extracted, the rest must still state the others."""
    if extract is None or not kept:
        return cut_claim(text, gone, kept, yields=yields)
    stated = {normalise_assertion(Assertion.of(claim)) for claim in extract(text)}
    wanted = {normalise_assertion(one) for one in kept} & stated

    def works(remaining: str) -> bool:
        found = {normalise_assertion(Assertion.of(claim)) for claim in extract(remaining)}
        stated = all(any(_is_stated_by(one, other) for other in found) for one in wanted)
        return stated and normalise_assertion(gone) not in found

    return cut_claim(text, gone, kept, works if wanted else None, yields=yields)


def _is_stated_by(wanted: tuple[str, str, str], found: tuple[str, str, str]) -> bool:
    """Return whether a claim is in the slot of another and has its value, perhaps with a word more or less."""
    words, others = set(wanted[2].split()), set(found[2].split())
    return wanted[:2] == found[:2] and (words <= others or others <= words)


def cut_mention(
    text: str, gone: Assertion, kept: Sequence[Assertion], extract: Extract | None, *, needed: bool
) -> Sequence[tuple[int, int]]:
    """Return the words that name a deleted value in a text of other claims, with those that lead to it.

    With `needed` there are none if the rest would not state these claims any more; none of them has the value.
    """
    value = gone.value or ""
    places = find_phrase(text, value)
    if not places or any(find_phrase(one.value or "", value) for one in kept):
        return ()
    stated = {normalise_assertion(Assertion.of(claim)) for claim in (extract(text) if extract else ())}
    wanted = {normalise_assertion(one) for one in kept} & stated
    cut = cut_from_others(text, gone, kept, extract)
    choices = [cut.spans] if cut is not None and not cut.whole else []
    choices += [tuple((_find_start(text, start, words), stop) for start, stop in places) for words in range(_LEADING)]
    for spans in choices:
        found = {
            normalise_assertion(Assertion.of(one)) for one in (extract(remove_cuts(text, spans)) if extract else ())
        }
        if wanted <= found and not (needed and not wanted):
            return spans
    return () if needed else choices[0]


def _find_start(text: str, start: int, words: int) -> int:
    """Return where some words before a place begin."""
    before = [found.start() for found in _WORD_RUN.finditer(text, 0, start)]
    return before[-words] if 0 < words <= len(before) else start


def find_restated(
    reader: Reader, event: Event | NewEvent, extractor: Extractor | None, lifted: AbstractSet[bytes] = frozenset()
) -> Restatement:
    """Find the spans of an event that match a tombstone: by their text, by a deleted part, or by slot and value.

    `lifted` are tombstones that no longer count.
    """
    if not normalise_text(event.text):
        return Restatement()
    key, voice = reader.tenant.key, get_voice(event)
    texts = list(_list_texts(event.text))
    extract = None if extractor is None else make_extract(extractor, event)
    claims = [] if extract is None else _read_claims(event.text, extract)
    by_text = [(digest, span) for span in texts for digest in hash_text_forms(key, event.text[slice(*span)], voice)]
    parted = [(hash_parted(key, event.text[slice(*span)], voice), span) for span in texts]
    by_claim = [(digest, claim) for claim in claims for digest in _hash_claim(key, claim, voice)]
    gone = reader.tombstoned([digest for digest, _ in (*by_text, *parted, *by_claim)]) - lifted
    if not gone:
        return Restatement()
    spans = {_widen(event.text, span) for digest, span in by_text if digest in gone}
    found = set(gone)
    for digest, span in parted:
        if digest in gone:
            matched, part = _find_parts(reader, event.text, span, voice)
            spans |= matched
            found |= part
    spans |= _cut_claims(event.text, [claim for digest, claim in by_claim if digest in gone], claims, extract)
    return Restatement(_merge_spans(spans), frozenset(found))


@dataclass(frozen=True, slots=True)
class RemainingClaims:
    """The claims of an event without deleted ones, `moved` by the claim as extracted, and the spans of the latter."""

    spans: tuple[tuple[int, int], ...]
    moved: Mapping[Claim, Claim]

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The remaining claims, in order."""
        return tuple(self.moved.values())


def remove_claims(event: Event, gone: Sequence[Claim], claims: Sequence[Claim]) -> RemainingClaims:
    """Take the words of deleted claims out of the other claims; a claim without words of its own goes too."""
    kept = [one for one in claims if one not in gone]
    spans = _merge_spans(_cut_claims(event.text, gone, claims, None))
    moved: dict[Claim, Claim] = {}
    for one in kept:
        inside = [(a, b) for a, b in spans if a < one.span.stop and one.span.start < b]
        if not inside:
            moved[one] = one
            continue
        text = event.text
        for start, stop in inside:
            text = blank_span(text, start, stop)
        piece = text[one.span.start : one.span.stop]
        found = _SHOWN_PART.search(piece)
        if found is None or not normalise_text(found[0].replace(BLANK, "")):
            continue
        if normalise_text(one.value or "") not in normalise_text(leave_out_blanks(piece).text):
            continue
        place = replace(one.span, start=one.span.start + found.start(), stop=one.span.start + found.end())
        said = event.text[one.span.start : one.span.stop]
        whole = normalise_text(one.text) == normalise_text(leave_out_blanks(said).text)
        words = leave_out_blanks(found[0]).text.strip().lstrip(",;:) ") if whole else one.text
        moved[one] = replace(one, text=words, span=place)
    return RemainingClaims(spans, moved)


def _hash_claim(key: bytes, claim: Claim, voice: str) -> list[bytes]:
    return [*hash_text_forms(key, claim.text, voice), *hash_slot_forms(key, claim)]


def _list_texts(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans that are compared: statements, and the clauses of each sentence."""
    seen: set[tuple[int, int]] = set()
    for start, stop in split_statements(text):
        clauses = [] if (start, stop) == (0, len(text)) and seen else list_clauses(text[start:stop])
        spans = [(start, stop), *((start + begin, start + end) for begin, end in clauses)]
        yield from (span for span in spans if span not in seen)
        seen.update(spans)


def _read_claims(text: str, extract: Extract) -> list[Claim]:
    """Extract the claims of a text, and of each clause and each disguised sentence by itself."""
    claims = list(extract(text))
    known = {normalise_assertion(Assertion.of(claim)) for claim in claims}
    for start, stop in islice(_list_pieces(text), _PIECES_MAX):
        for claim in extract(fold_lookalikes(text[start:stop])):
            said = normalise_assertion(Assertion.of(claim))
            if all(said) and said not in known:
                claims.append(replace(claim, span=replace(claim.span, start=start, stop=stop), text=text[start:stop]))
    return claims


def _list_pieces(text: str) -> Iterator[tuple[int, int]]:
    for start, stop in split_sentences(text):
        piece = text[start:stop]
        if fold_lookalikes(piece) != piece:
            yield start, stop
        yield from ((start + begin, start + end) for begin, end in list_clauses(piece))


def _cut_claims(
    text: str, gone: Iterable[Claim], claims: Sequence[Claim], extract: Extract | None
) -> set[tuple[int, int]]:
    deleted = list({(one.span, normalise_assertion(Assertion.of(one))): one for one in gone}.values())
    names = {normalise_assertion(Assertion.of(one)) for one in deleted}
    spans: set[tuple[int, int]] = set()
    for one in deleted:
        start, stop = one.span.start, one.span.stop
        kept = [
            Assertion.of(claim)
            for claim in claims
            if claim.span.start < stop
            and start < claim.span.stop
            and normalise_assertion(Assertion.of(claim)) not in names
        ]
        cut = cut_from_others(text[start:stop], Assertion.of(one), kept, extract) if one.value else None
        if cut is None or cut.whole:
            spans.add((start, stop))
        else:
            spans.update((start + begin, start + end) for begin, end in cut.spans)
    return spans


def _find_parts(
    reader: Reader, text: str, span: tuple[int, int], voice: str
) -> tuple[set[tuple[int, int]], set[bytes]]:
    """Find the words that were deleted from this sentence; all of it if they cannot be found."""
    sentence, key = text[slice(*span)], reader.tenant.key
    words = [found.span() for found in _WORD_RUN.finditer(sentence)]
    if len(words) > _PART_WORDS:
        return {span}, set()
    windows = {
        hash_part(key, sentence, sentence[start:stop], voice): (start, stop)
        for at, (start, _) in enumerate(words)
        for _, stop in words[at:]
    }
    gone = reader.tombstoned(list(windows))
    if not gone:
        return {span}, set()
    found = {_widen(sentence, windows[digest]) for digest in gone}
    return {(span[0] + start, span[0] + stop) for start, stop in found}, gone


def _widen(text: str, span: tuple[int, int]) -> tuple[int, int]:
    return widen_to_separator(text, *span)


def _merge_spans(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the spans in order, overlapping ones as one."""
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], stop))
        else:
            merged.append((start, stop))
    return tuple(merged)
