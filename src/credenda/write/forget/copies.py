"""Take deleted words out of the texts that were written from them: corrections of a value, merges and answers.

A correction of a value writes the new value into the old sentence, and a merge or an answer writes a text of its own.
No message of these memories has the words that they take from other memories, so that blanking messages does not reach
them. They are found through the replacements in every version, and keep their claim.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from credenda.model.claim import Evidence, UpdateKind
from credenda.model.event import Event
from credenda.model.memory import Memory, Relation, Status
from credenda.storage.store import ChangeFilter, MemoryFilter, Reader, Writer
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_text
from credenda.text.stopwords import STOP_WORDS
from credenda.text.tokens import fold
from credenda.write.forget.blank import Blanker
from credenda.write.forget.contested import Contested
from credenda.write.forget.cut import Assertion, cut_claim, find_phrase, remove_cuts, widen_to_separator
from credenda.write.forget.labels import Labels, remove_labels
from credenda.write.forget.scope import find_other_support
from credenda.write.forget.tombstones import get_voice_of_claim, make_part_tombstones
from credenda.write.forget.wordings import find_wordings, leave_out_wordings
from credenda.write.reconcile.candidate import claim_hash, make_claim
from credenda.write.reconcile.wording import describe_claim

__all__ = ["Copies", "Removal", "is_mentioned", "list_descendants", "list_mentions"]

_Spans = tuple[tuple[int, int], ...]
_Field = tuple[str, object, object]
_WORD_RUN: Final = re.compile(r"[^\W_]+")
_DENIED: Final = re.compile(
    r"\b(?:not|no longer|never|instead of|rather than|from|formerly|previously|nicht|kein\w*|statt|pas|au lieu de|nunca"
    r"|no|en vez de|n\u00e3o|em vez de)\W+(?:\w+\W+){0,2}$",
    re.IGNORECASE,
)
"""What leads to a value that is not held any more, with two words between: "not my good old"."""
_NAME_CHARACTERS: Final = 4
"""A shorter word of a value is taken for a common one."""


@dataclass(frozen=True, slots=True)
class Removal:
    """Deleted words, the claim that they stated, and the memories that had them.

    `memory` is the one that was deleted with its value, None if the words were only taken out of the others. `labels`
    are those of what was deleted.
    """

    roots: tuple[str, ...]
    words: tuple[str, ...]
    said: Assertion
    memory: Memory | None = None
    labels: Labels = field(default_factory=Labels)


def list_descendants(reader: Reader, roots: Collection[str]) -> dict[str, bool]:
    """List the memories that replaced some memories in any version, their own replacements, and so on.

    The value tells whether each step was a correction, whose text may be that of the root with another value.
    """
    found: dict[str, bool] = {}
    waiting = dict.fromkeys(roots, True)
    while waiting:
        steps: dict[str, bool] = {}
        for one in reader.versions(sorted(waiting)):
            name = one.superseded_by
            corrected = waiting[one.id] and one.relation is Relation.CORRECTED
            if name and name not in roots and (name not in found or corrected > found[name]):
                steps[name] = corrected or steps.get(name, False)
        found |= steps
        waiting = steps
    return found


def list_mentions(removal: Removal, memory: Memory, *, corrected: bool) -> tuple[str, ...]:
    """List the phrases by which a memory may name the value of a deleted one.

    A correction may name it in part: "not Plimquist" for "Doctor Plimquist". Words of its own claim are not a mention.
    """
    value = removal.said.value
    if removal.memory is None or not value:
        return ()
    own = " ".join((memory.entity or "", (memory.attribute or "").replace("_", " "), memory.value or ""))
    parts = [word for word in _list_names(value) if not find_phrase(own, word)]
    return (value, *(dict.fromkeys(parts) if corrected else ()))


def is_mentioned(removal: Removal, phrase: str, text: str) -> bool:
    """Return whether a text means a deleted value by a phrase of it, rather than some other thing by a common word.

    It does by the whole value, by a name in capitals or with digits, and in a denial: "not plimquist".
    """
    bare = phrase.casefold()
    return phrase == removal.said.value or any(
        any(map(str.isdigit, phrase))
        or (phrase != bare and text[start:stop] != text[start:stop].casefold())
        or _DENIED.search(text[:start]) is not None
        for start, stop in find_phrase(text, phrase)
    )


@dataclass(frozen=True, slots=True)
class Copies:
    """Cleans copies in the transaction of a deletion; with `buried`, their old texts get tombstones too."""

    writer: Writer
    blanker: Blanker
    contested: Contested
    buried: bool

    def find(self, removal: Removal) -> dict[str, bool]:
        """Find the memories that may hold deleted words, and whether each is a correction of the deleted memory."""
        found = list_descendants(self.writer, removal.roots)
        gone = removal.memory
        if gone is None:
            return {**dict.fromkeys((*removal.roots, *found), False)}
        if gone.value and self.contested.answered(gone):  # each answer names the values of the others
            pair = (normalise_name(gone.entity or ""), normalise_attribute(gone.attribute or ""))
            near = (one.id for one in self.writer.find(MemoryFilter(pair=pair)))
            found = {**dict.fromkeys(near, False), **found}
        return found

    def clean(self, memory: Memory, removal: Removal, *, corrected: bool) -> list[str] | None:
        """Rewrite a memory without deleted words; return the texts that it had, or None if nothing is left of it.

        Words of its own messages stay. A correction of a deleted memory is written anew from its claim, and so is a
        merged text that has words which only the deleted one had.
        """
        if memory.status is Status.DELETED or not memory.text:
            return []
        said = find_other_support(self.writer, memory, ())
        own = [text for texts in said.values() for text in texts]
        texts: dict[str, str] = {}
        spans: dict[str, _Spans] = {}
        versions = self.writer.versions([memory.id])
        for one in versions:
            if one.text and one.text not in texts and not _is_stated(one.text, own):
                left = [] if corrected or self._is_answered(removal) else _locate_source(one, removal, own)
                spans[one.text] = tuple(sorted({*_locate(one, removal), *left}))
                texts[one.text] = _rewrite(one, removal, spans[one.text], own, anew=corrected or bool(left))
        texts = {old: new for old, new in texts.items() if old != new}
        if texts.get(memory.text) == "":
            return None
        named = (
            *removal.words,
            _choose_value(memory, removal),
            *list_mentions(removal, memory, corrected=corrected)[1:],
        )
        fields = _list_fields(versions, removal.labels, self.writer.events(sorted(said)), named)
        if corrected:
            fields += _list_entities(versions, removal.words, [*own, texts.get(memory.text, memory.text)])
        if texts or fields or self._has_reason(memory, named):
            self._put(memory, texts, named, fields)
            self._bury(memory, texts, spans)
            self.blanker.cleaned[memory.id] = memory.text
        return list(texts)

    def reword(self, removal: Removal) -> None:
        """Let memories whose wording has words of deleted ones have none."""
        value = removal.said.value or ""
        for one in find_wordings(self.writer, (*removal.words, value)):
            if one.id not in self.blanker.done:
                self.blanker.put(one, {}, (), words=(value,), fields=leave_out_wordings([one]))

    def _is_answered(self, removal: Removal) -> bool:
        """Return whether the copies of something deleted may be answers, which are texts of their own."""
        return removal.memory is None or self.contested.answered(removal.memory)

    def _has_reason(self, memory: Memory, phrases: Iterable[str]) -> bool:
        """Return whether a reason of the changes of a memory holds one of these phrases."""
        reasons = [normalise_text(one.reason) for one in self.writer.changes(ChangeFilter(memory_ids=(memory.id,)))]
        return any(wanted in one for wanted in map(normalise_text, phrases) if wanted for one in reasons)

    def _put(self, memory: Memory, texts: Mapping[str, str], named: Iterable[str], fields: Iterable[_Field]) -> None:
        current = texts.get(memory.text, memory.text)
        items = self.writer.evidence(memory_ids=[memory.id])
        moved = [(item, _update_hash(item, memory, current)) for item in items]
        self.blanker.put(memory, texts, moved, words=named, fields=fields)

    def _bury(self, memory: Memory, texts: Iterable[str], spans: Mapping[str, _Spans]) -> None:
        """Put tombstones, so that an old copy of the text loses these words when it comes in again."""
        key, voice = self.writer.tenant.key, get_voice_of_claim(memory)
        for text in texts if self.buried else ():
            words = [text[start:stop] for start, stop in spans[text]]
            if words:
                for stone in make_part_tombstones(key, text, words, self.blanker.now_us, voice=voice):
                    self.writer.put(stone)


def _list_fields(
    versions: Iterable[Memory], gone: Labels, events: Iterable[Event], phrases: Collection[str]
) -> list[_Field]:
    """Return the fields in which versions of a memory lose labels: their values before and after."""
    given = Labels.of(events)

    def holds(label: str) -> bool:
        return any(find_phrase(label, phrase) for phrase in phrases)

    return [
        (name, getattr(one, name), now)
        for one in versions
        for name, now in remove_labels(one, gone, given, holds).items()
    ]


def _list_entities(versions: Iterable[Memory], words: Iterable[str], own: Collection[str]) -> list[_Field]:
    """Return the entities of versions that were read from deleted words, and that no text of the memory names."""
    deleted = " ".join(words)
    found = {
        one.entity
        for one in versions
        for name in _list_names(one.entity or "")
        if find_phrase(deleted, name) and not any(find_phrase(text, name) for text in own)
    }
    return [("entity", entity, None) for entity in found]


def _list_names(text: str) -> list[str]:
    """Return the words of a value or an entity that may be names."""
    return [word for word in _WORD_RUN.findall(text) if len(word) >= _NAME_CHARACTERS and fold(word) not in STOP_WORDS]


def _is_stated(text: str, own: Iterable[str]) -> bool:
    whole = normalise_text(text)
    return any(whole in normalise_text(one) for one in own)


def _locate(memory: Memory, removal: Removal) -> _Spans:
    """Find deleted words, and the deleted value, in the text of a memory."""
    phrases = (*removal.words, _choose_value(memory, removal))
    return tuple(sorted({span for phrase in phrases for span in find_phrase(memory.text, phrase)}))


def _locate_source(memory: Memory, removal: Removal, own: Iterable[str]) -> list[tuple[int, int]]:
    """Find the words of a text that are in deleted words, and neither in its claim nor in its own messages."""
    claim = (memory.entity or "", (memory.attribute or "").replace("_", " "), memory.value or "")
    kept, deleted = " ".join((*own, *claim)), " ".join(removal.words)
    words = (word for word in _list_names(memory.text) if find_phrase(deleted, word) and not find_phrase(kept, word))
    return [span for word in dict.fromkeys(words) for span in find_phrase(memory.text, word)]


def _choose_value(memory: Memory, removal: Removal) -> str:
    """Return the deleted value, "" where a memory has it itself."""
    value = removal.said.value or ""
    return "" if find_phrase(memory.value or "", value) else value


def _rewrite(memory: Memory, removal: Removal, spans: _Spans, own: list[str], *, anew: bool) -> str:
    """Return a text without the words at some spans: the rest of it, or else its claim or its own words."""
    if not spans and not anew:
        return memory.text
    if memory.value and not anew:
        claim = cut_claim(memory.text, removal.said, [Assertion.of(memory)]) if removal.said.value else None
        words = [span for phrase in removal.words for span in find_phrase(memory.text, phrase)]
        for cuts in ([widen_to_separator(memory.text, *span) for span in words], claim.spans if claim else ()):
            left = remove_cuts(memory.text, cuts)
            if find_phrase(left, memory.value) and not _locate(replace(memory, text=left), removal):
                return left
    return describe_claim(memory) or next(iter(own), "").strip()


def _update_hash(item: Evidence, memory: Memory, text: str) -> Evidence:
    """Return evidence whose hash is that of the new text, where it was that of the old one."""
    for move in (UpdateKind.CORRECT, UpdateKind.STATE):
        if item.claim_hash == claim_hash(make_claim(memory, item.span, move)):
            return replace(item, claim_hash=claim_hash(make_claim(replace(memory, text=text), item.span, move)))
    return item
