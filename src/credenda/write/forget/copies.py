"""Take deleted words out of the texts that were written from them: corrections of a value, merges and answers.

A correction of a value writes the new value into the old sentence, and a merge or an answer writes a text of its own.
No message of these memories has the words that they take from other memories, so that blanking messages does not reach
them. They are found through the replacements in every version, and keep their claim.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, cast

from credenda.model.change import Actor, ChangeKind, ChangeRecord, ContestCase, ContestState, Revise, to_contest_dict
from credenda.model.claim import Evidence, UpdateKind
from credenda.model.event import PROJECT, Event, NewEvent
from credenda.model.memory import Draft, Memory, MemoryType, Relation, Slot, Status, TypeClass
from credenda.storage.store import ChangeFilter, MemoryFilter, Reader, Writer
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_text, normalise_value
from credenda.text.sentences import split_sentences
from credenda.text.tokens import STOP_WORDS, fold
from credenda.write.apply import Application, apply
from credenda.write.forget.cut import Assertion, cut_claim, find_phrase, remove_cuts, widen_to_separator
from credenda.write.forget.derived import find_wordings, leave_out_wordings
from credenda.write.forget.scope import Blanker, find_other_support
from credenda.write.forget.tombstones import (
    SENTENCES_MAX,
    get_voice,
    get_voice_of_claim,
    hash_slot_forms,
    hash_text_forms,
    make_part_tombstones,
)
from credenda.write.reconcile.alternation import format_question
from credenda.write.reconcile.candidate import claim_hash, make_claim
from credenda.write.reconcile.slots import describe_claim, quote_parts

# Take the topic, tags and metadata of something deleted out of the memories that took them over.


@dataclass(frozen=True, slots=True)
class Labels:
    """The topics, tags and metadata of some memories or messages."""

    topics: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    metadata: tuple[tuple[str, object], ...] = ()

    @classmethod
    def of(cls, held: Iterable[Draft | Event]) -> Labels:
        """Return those of all of them."""
        each = list(held)
        return cls(
            frozenset(one.topic for one in each if one.topic),
            frozenset(tag for one in each for tag in one.tags),
            tuple(item for one in each for item in one.metadata.items()),
        )


def remove_labels(memory: Draft, gone: Labels, given: Labels, holds: Callable[[str], bool]) -> dict[str, object]:
    """Return the fields of a memory that lose labels, with what remains of them.

    It loses those that `gone` has, and those of which `holds` says that deleted words are in them; it keeps those
    `given` by its own messages. The project stays, which says where a memory holds.
    """
    topic = memory.topic
    if topic and topic not in given.topics and (topic in gone.topics or holds(topic)):
        topic = None
    tags = tuple(tag for tag in memory.tags if tag in given.tags or not (tag in gone.tags or holds(tag)))
    metadata = {
        name: value
        for name, value in memory.metadata.items()
        if (name, value) in given.metadata
        or not (((name, value) in gone.metadata and name != PROJECT) or holds(f"{name} {value}"))
    }
    left: dict[str, object] = {"topic": topic, "tags": tags, "metadata": metadata}
    return {name: value for name, value in left.items() if value != getattr(memory, name)}


# Take a deleted value out of the contests that name it, and log what remains of them.


@dataclass(frozen=True, slots=True)
class Contested:
    """The contests of a user, in the transaction of a deletion."""

    writer: Writer
    now_us: int
    actor: Actor

    def log(self, contest: ContestCase) -> None:
        """Log the remaining state of a contest, because its earlier log entries will be redacted."""
        self.writer.put(
            ChangeRecord(
                id="",
                kind=ChangeKind.DELETE,
                actor=self.actor,
                reason="a value was deleted",
                at_us=self.now_us,
                after={"contest": contest.id, "case": to_contest_dict(contest)},
            )
        )

    def log_quoting(self, memory: Memory, changed: set[str]) -> None:
        """Log the `changed` contests, those of the pair of a deleted memory, and those whose log quotes it."""
        phrases = quote_parts(memory.value, memory.text)
        for contest in self.writer.contests():
            if _has_pair(contest, memory) or contest.id in changed or _has_quote(contest, phrases):
                self.log(contest)

    def rename(self, before: str, after: str) -> None:
        """Let a memory take the place of another in every contest."""
        for contest in self.writer.contests():
            if before in contest.memory_ids:
                ids = tuple(after if one == before else one for one in contest.memory_ids)
                self.writer.put(replace(contest, memory_ids=ids))
                self.log(replace(contest, memory_ids=ids))

    def answered(self, memory: Memory) -> bool:
        """Return whether a contest about the pair of a memory was ever asked; answers name each other's values."""
        return bool(memory.attribute) and any(_has_pair(contest, memory) for contest in self.writer.contests())

    def remove(self, memory: Memory) -> set[str]:
        """Remove a memory's value from every contest that names it; return the ids of those contests.

        Closing a contest clears the `contested` flag of its remaining memory.
        """
        changed: set[str] = set()
        gone = normalise_value(memory.value or memory.text)
        for contest in self.writer.contests():
            named = any(normalise_value(one) == gone for one in contest.values)
            if memory.id in contest.memory_ids or (_has_pair(contest, memory) and named):
                left = self._remove_value(contest, memory)
                self.writer.put(left)
                changed.add(left.id)
                if contest.state is ContestState.OPEN and left.state is ContestState.RESOLVED:
                    self._settle(left)
        return changed

    def _settle(self, closed: ContestCase) -> None:
        """Clear the `contested` flag of the last value of a closed contest."""
        asked = {name for one in self.writer.contests(state=ContestState.OPEN) for name in one.memory_ids}
        reason, fields = "the conflicting value was deleted", {"contested": False}
        settled = [
            Revise(memory_id=one.id, fields=fields, reason=reason)
            for one in self.writer.memories([name for name in closed.memory_ids if name not in asked])
            if one.contested and one.status is not Status.DELETED
        ]
        apply(self.writer, settled, Application(actor=self.actor, now_us=self.now_us))

    def _remove_value(self, contest: ContestCase, memory: Memory) -> ContestCase:
        gone = normalise_value(memory.value or memory.text)
        left = self.writer.memories([one for one in contest.memory_ids if one != memory.id])
        if any(normalise_value(one.value or one.text) == gone for one in left):  # another memory has the value too
            gone = ""
        values = tuple(value for value in contest.values if normalise_value(value) != gone)
        slot = Slot(contest.speaker, contest.entity, contest.attribute, contest.scope, TypeClass(contest.type_class))
        still_open = contest.state is ContestState.OPEN and len(values) > 1
        return replace(
            contest,
            values=values,
            memory_ids=tuple(one for one in contest.memory_ids if one != memory.id),
            question=format_question(slot, values) if len(values) > 1 else "",
            state=ContestState.OPEN if still_open else ContestState.RESOLVED,
            resolved_us=contest.resolved_us or (None if still_open else self.now_us),
            resolution=None if still_open else "a value was deleted",
            scopes={value: scope for value, scope in contest.scopes.items() if normalise_value(value) != gone},
        )


def _has_pair(contest: ContestCase, memory: Memory) -> bool:
    return (normalise_name(contest.entity), normalise_attribute(contest.attribute)) == (
        normalise_name(memory.entity or ""),
        normalise_attribute(memory.attribute or ""),
    )


def _has_quote(contest: ContestCase, phrases: Iterable[str]) -> bool:
    """Return whether the log of a contest quotes one of these phrases, so that its entry must be redacted too."""
    told = (contest.question, contest.resolution or "", *quote_parts(*contest.values))
    return any(phrase in text for phrase in phrases for text in told)


_Spans = tuple[tuple[int, int], ...]
_Field = tuple[str, object, object]
_WORD_RUN: Final = re.compile(r"[^\W_]+")
_DENIED: Final = re.compile(
    r"\b(?:not|no longer|never|instead of|rather than|from|formerly|previously|zuvor|nicht|kein\w*|statt|pas|au lieu de"
    r"|nunca|no|en vez de|n\u00e3o|em vez de)\W+(?:\w+\W+){0,2}$",
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
    parts = [word for word in list_names(value) if not find_phrase(own, word)]
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
        for name in list_names(one.entity or "")
        if find_phrase(deleted, name) and not any(find_phrase(text, name) for text in own)
    }
    return [("entity", entity, None) for entity in found]


def list_names(text: str) -> list[str]:
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
    words = (word for word in list_names(memory.text) if find_phrase(deleted, word) and not find_phrase(kept, word))
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


# Remove deleted text from the other fields of an event: tags, topic, session and metadata.


_LABEL: Final = re.compile(r"[^\w\n]{0,8}\w[^:\n]{0,120}:[ \t]*")
"""A speaker or topic before a colon, without the text that followed."""
_NOTHING: Final = object()
_SLOT: Final = ("entity", "attribute", "value")
"""The keys under which the metadata of an imported memory has its slot."""


def is_label(text: str, original: str = "") -> bool:
    """Return whether every line of a text is a label without a text, as in `original`, or has no words.

    >>> is_label("Ana: "), is_label("Ana: tea"), is_label("")
    (True, False, True)
    """
    labels = {normalise_text(found[0]) for line in original.split("\n") if (found := _LABEL.match(line))} | {""}
    return all(_LABEL.fullmatch(line) or normalise_text(line) in labels for line in text.split("\n"))


def remove_deleted_fields(
    reader: Reader, event: NewEvent, cut: Collection[str], lifted: AbstractSet[bytes] = frozenset()
) -> NewEvent:
    """Remove every field, or part of one, that repeats deleted text.

    `cut` are normal forms of text cut here, `lifted` tombstones that the same call removes.
    """
    key, voice = reader.tenant.key, get_voice(event)

    def is_deleted(told: str) -> bool:
        pieces = [told[start:stop] for start, stop in islice(split_sentences(told), SENTENCES_MAX)]
        said = [piece for piece in (told, *pieces) if normalise_text(piece)]
        digests = [digest for piece in said for digest in hash_text_forms(key, piece, voice)]
        return bool(digests and reader.tombstoned(digests) - lifted)

    def is_gone(told: str) -> bool:
        said = normalise_text(told)
        return any(one in said for one in cut) or is_deleted(told)

    def holds_value(table: Mapping[str, object]) -> bool:
        entity, attribute, value = (str(table.get(name) or "") for name in _SLOT)
        said = Draft(text="", type=MemoryType.FACT, entity=entity, attribute=attribute, value=value)
        return bool(value and reader.tombstoned(hash_slot_forms(key, said)) - lifted)

    metadata = _clean(event.metadata, is_gone, holds_value)
    return replace(
        event,
        topic=None if event.topic and is_deleted(event.topic) else event.topic,
        session="" if event.session and is_deleted(event.session) else event.session,
        tags=tuple(tag for tag in event.tags if not is_deleted(tag)),
        metadata=cast("Mapping[str, object]", {} if metadata is _NOTHING else metadata),
    )


def _clean(
    value: object, is_gone: Callable[[str], bool], holds_value: Callable[[Mapping[str, object]], bool]
) -> object:
    """Return a value without its deleted parts, such as the value of a slot; `_NOTHING` if it is deleted itself."""
    if isinstance(value, str):
        return _NOTHING if is_gone(value) else value
    if isinstance(value, Mapping):
        table = cast("Mapping[str, object]", value)
        bare = {name: one for name, one in table.items() if name != "value"} if holds_value(table) else table
        kept = ((name, _clean(one, is_gone, holds_value)) for name, one in bare.items() if not is_gone(name))
        return {name: one for name, one in kept if one is not _NOTHING}
    if isinstance(value, list | tuple):
        items = cast("list[object]", value)
        return [one for one in (_clean(item, is_gone, holds_value) for item in items) if one is not _NOTHING]
    return value
