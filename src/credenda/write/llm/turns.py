"""Storage access of model extraction: load the passages that wait, and apply the answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final

from credenda import limits
from credenda.ids import IdKind, format_id
from credenda.model.attributes import get_attribute
from credenda.model.change import Actor, Change, Supersede, end_memory
from credenda.model.claim import Claim, Extractor
from credenda.model.event import Event
from credenda.model.memory import OPEN_STANCES, Cardinality, Memory, Relation, Stance, Status, get_valid_from_us
from credenda.storage.records import THINK
from credenda.storage.store import Job, MemoryFilter, Reader, Writer
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name
from credenda.text.tokens import tokenize
from credenda.write.apply import Application, apply
from credenda.write.extract.voices import VerbatimExtractor
from credenda.write.llm.prompt import Passage
from credenda.write.llm.reading import Understood, reread
from credenda.write.reconcile.slot_lookup import find_related, sort_by_id
from credenda.write.reconcile.slots import CURRENT_STATUSES, get_slot
from credenda.write.reconcile_job import ExtractedTurn, apply_claims, extract_turns

# Find the memories that a passage may affect.


_TERMS: Final = 128
"""Most words of one message by which memories are found."""
_NOMINATED: Final = 60
"""Most memories that are found by the words of one message, and of a kind of open ones."""
_OWN_READ: Final = 1_000
"""Most current memories among which those of the speakers are looked for."""
_CHARACTERS_EACH: Final = 60
"""Characters of a passage for which one memory more is shown."""
_OWN: Final = ("user", "speaker")
_PROFILE: Final = ("residence", "employer", "job_title", "partner", "marital_status", "school", "diet", "age")
"""Attributes of the speakers whose current values, after open plans, fill the room that is left."""
_OPEN: Final = frozenset({"plan", "considering", "goal"})
_LASTING: Final = frozenset({"likes", "dislikes", "prefers", "hobby", "visited", "favourite", "favorite"})
_BY_KEY: Final = 1.5
"""Weight of a word of entity, attribute or value, against one of the sentence."""
_BY_OTHERS: Final = 0.3
"""Weight of the words that all messages share with a memory, against those of the best message."""
_BY_COVERAGE: Final = 4.0
"""Weight of a message that has all words of entity, attribute and value."""
_BY_SLOT: Final = 3.0
_BY_OPEN: Final = 1.0
_BY_PROFILE: Final = 0.5
_BY_NEWNESS: Final = 0.2
_LEAST: Final = 0.1


def make_passage(reader: Reader, found: Sequence[ExtractedTurn]) -> Passage:
    """Make the passage of some messages, with the memories that they may change, the oldest first."""
    turns = tuple(one.turn for one in found)
    readings = {one.turn.event.id: one.claims for one in found}
    passage = Passage(turns=turns, readings=readings)
    return Passage(turns=turns, known=tuple(_find_known(reader, passage)), readings=readings)


def _find_known(reader: Reader, passage: Passage) -> list[Memory]:
    """Find memories by the words of each message, by single slots that the reader sees, open ones, and the speakers'.

    A word counts the more the fewer of these memories have it. A plan is changed more often than a liking or an event.
    """
    messages = [tokenize(turn.event.text) for turn in passage.turns]
    speakers = {turn.event.speaker for turn in passage.turns}
    readings = chain.from_iterable(passage.readings.values())
    pairs = [(one.entity, one.attribute) for one in readings if one.entity and one.attribute]
    slots = _find_by_pairs(reader, [pair for pair in pairs if get_attribute(pair[1]).cardinality is Cardinality.SINGLE])
    profile = _find_by_pairs(reader, [(speaker, name) for speaker in speakers for name in _PROFILE])
    nominated = chain.from_iterable(
        find_related(reader, list(dict.fromkeys(words))[:_TERMS], _NOMINATED) for words in messages if words
    )
    opened = _find_open(reader)
    newest = [
        one
        for one in reader.find(MemoryFilter(statuses=CURRENT_STATUSES, limit=_NOMINATED))
        if (one.attribute is not None and _rate_kind(one) >= 1)
    ]
    own = _find_own(reader, {normalise_name(speaker) for speaker in speakers})
    every = {one.id: one for one in (*slots, *opened, *profile, *newest, *nominated, *own) if _is_shown(one)}
    scores = _score(every, list(map(set, messages)), {*_OWN, *map(normalise_name, speakers)})
    groups = ((_BY_SLOT, slots), (_BY_OPEN, opened), (_BY_PROFILE, profile), (_BY_NEWNESS, newest))
    for weight, group in groups:
        for name in {one.id for one in group} & scores.keys():
            scores[name] += weight
    newest_first = [one for one in reversed(sort_by_id(every.values())) if scores[one.id] > _LEAST]
    best = sorted(newest_first, key=lambda one: scores[one.id], reverse=True)
    length = sum(len(turn.event.text) for turn in passage.turns)
    more = max(len(passage.turns), length // _CHARACTERS_EACH)
    most = min(limits.LLM_KNOWN_MEMORIES + more, limits.LLM_KNOWN_MEMORIES_MAX)
    left = [*own, *(one for one in best if one not in own)]
    chosen = islice((one for one in left if one.id in every and not _is_ending(reader, one)), max(most, len(own)))
    return sort_by_id(chosen)


def _find_own(reader: Reader, speakers: set[str]) -> list[Memory]:
    """Return every current memory with a slot that these speakers told; none if there are too many to show."""
    found = reader.find(MemoryFilter(statuses=CURRENT_STATUSES, limit=_OWN_READ))
    own = [one for one in found if get_slot(one) is not None and normalise_name(one.speaker) in speakers]
    return own if len(own) < limits.LLM_OWN_MEMORIES and len(found) < _OWN_READ else []


def _score(every: Mapping[str, Memory], messages: Sequence[set[str]], own: set[str]) -> dict[str, float]:
    """Return how likely messages change each memory, by the words that they share with it but for speakers' names."""
    names = set(chain.from_iterable(map(tokenize, own)))
    keys = {name: _list_key_words(one) - names for name, one in every.items()}
    words = {name: keys[name] | set(tokenize(one.text)) - names for name, one in every.items()}
    common = Counter(chain.from_iterable(words.values()))
    weights = {word: math.log((len(every) + 1) / count) for word, count in common.items()}

    def weigh(found: set[str]) -> float:
        return math.fsum(weights[word] for word in found)  # whatever the order of the set

    def rate(name: str) -> float:
        by_key = [weigh(keys[name] & message) for message in messages]
        shared = [
            weigh(words[name] & message) + (_BY_KEY - 1) * key for message, key in zip(messages, by_key, strict=True)
        ]
        covered = max(by_key) / (weigh(keys[name]) or 1.0)
        return _rate_kind(every[name]) * (max(shared) + _BY_OTHERS * sum(shared) + _BY_COVERAGE * covered)

    return {name: rate(name) for name in every}


def _rate_kind(memory: Memory) -> float:
    """Return how often memories of this kind change, against facts with a slot."""
    attribute = memory.attribute
    if attribute is None:
        return 0.7
    if memory.stance in OPEN_STANCES or attribute in _OPEN:
        return 1.3
    if get_attribute(attribute).episodic:
        return 0.6
    return 0.7 if attribute in _LASTING or attribute.startswith(("favourite_", "favorite_")) else 1.0


def _is_shown(memory: Memory) -> bool:
    return bool(memory.text) and not memory.provisional and memory.status in CURRENT_STATUSES


def _is_ending(reader: Reader, memory: Memory) -> bool:
    """Return whether a memory only says that another with its value holds no longer."""
    if memory.stance is not Stance.NEGATED or not (memory.entity and memory.attribute):
        return False
    pair = (normalise_name(memory.entity), normalise_attribute(memory.attribute))
    past = reader.find(MemoryFilter(pair=pair, statuses=frozenset({Status.SUPERSEDED}), limit=_NOMINATED))
    return any(one.superseded_by == memory.id and is_same_value(one.value, memory.value) for one in past)


def _find_open(reader: Reader) -> list[Memory]:
    """Find the newest plans, considerations and goals."""
    by_name = (MemoryFilter(attribute=name, statuses=CURRENT_STATUSES, limit=_NOMINATED) for name in sorted(_OPEN))
    by_stance = MemoryFilter(stances=OPEN_STANCES, statuses=CURRENT_STATUSES, limit=_NOMINATED)
    return list(chain.from_iterable(map(reader.find, (*by_name, by_stance))))


def _find_by_pairs(reader: Reader, pairs: Iterable[tuple[str, str]]) -> list[Memory]:
    """Find the current memories of some pairs of entity and attribute."""
    keys = dict.fromkeys((normalise_name(entity), normalise_attribute(attribute)) for entity, attribute in pairs)
    wanted = (MemoryFilter(pair=key, statuses=CURRENT_STATUSES, limit=limits.LLM_KNOWN_MEMORIES) for key in keys)
    return list(chain.from_iterable(map(reader.find, wanted)))


def _list_key_words(memory: Memory) -> set[str]:
    nouns = get_attribute(memory.attribute).words if memory.attribute else ()
    attribute = (memory.attribute or "").replace("_", " ")
    return set(tokenize(" ".join((memory.entity or "", attribute, *nouns, memory.value or ""))))


def group_jobs(reader: Reader, jobs: Sequence[Job], most: int) -> list[list[Job]]:
    """Group waiting jobs into at most `most` passages, in order: the next messages of a session together.

    A session has one passage at a time, so that the next one sees what followed from it. Messages without a session,
    and second attempts, are passages of their own.
    """
    tag = reader.tenant.tag
    ids = {format_id(IdKind.EVENT, job.first, tag): job for job in jobs}
    events = {ids[event.id].first: event for event in reader.events(list(ids))}
    groups: list[list[Job]] = []
    open_groups: dict[str, _Open] = {}
    for job in jobs:
        event = events.get(job.first)
        session = event.session if event is not None else ""
        started = open_groups.get(session)
        if started is not None and event is not None:
            if job.kind == THINK and started.has_room(event):
                started.add(job, event)
            else:
                started.room = 0
        elif len(groups) < most:
            groups.append([job])
            if session and event is not None:
                open_groups[session] = _Open(groups[-1], event, grows=job.kind == THINK)
    return groups


class _Open:
    """A passage that may take the next message of its session."""

    def __init__(self, jobs: list[Job], event: Event, *, grows: bool) -> None:
        self._jobs = jobs
        self.room = limits.LLM_PASSAGE_CHARACTERS - len(event.text) if grows else 0

    def has_room(self, event: Event) -> bool:
        return len(event.text) <= self.room and len(self._jobs) < limits.LLM_PASSAGE_TURNS

    def add(self, job: Job, event: Event) -> None:
        self._jobs.append(job)
        self.room -= len(event.text)


def load_turn(reader: Reader, number: int, extractor: Extractor) -> ExtractedTurn | None:
    """Load the message with this number and the claims of the reader; None if its text was deleted."""
    found = extract_turns(reader, number, number, extractor)
    return next((one for one in found if one.turn.event.text), None)


def load_passage(reader: Reader, numbers: Sequence[int], extractor: Extractor) -> Passage | None:
    """Load the passage of the messages with these numbers; None if all their texts were deleted."""
    found = [one for number in numbers if (one := load_turn(reader, number, extractor)) is not None]
    return make_passage(reader, found) if found else None


def still_so(writer: Writer, passage: Passage, understood: Understood) -> Iterator[tuple[Event, tuple[Claim, ...]]]:
    """Yield the messages of a passage that are unchanged, with the claims of an answer that hold now.

    The model ran outside any transaction: if a memory that it was shown has changed, its answer is checked without it.
    The model is not asked again.
    """
    held = {event.id: event for event in writer.events(passage.event_ids)}
    shown: Mapping[str, Memory] = {one.id: one for one in writer.memories([one.id for one in passage.known])}
    same = all(shown.get(one.id) == one for one in passage.known)
    claims = understood.claims if same else reread(understood, shown)
    for turn in passage.turns:
        now = held.get(turn.event.id)
        if now is not None and now.text == turn.event.text:
            yield turn.event, claims.get(turn.event.id, ())


def fallback(found: ExtractedTurn) -> tuple[Claim, ...]:
    """Return the claims to use without a model: the reader's claims, else the verbatim text (R-050)."""
    return found.claims or tuple(VerbatimExtractor().extract(found.turn))


def believe_again(writer: Writer, event: Event, claims: Sequence[Claim], now_us: int, *, embeds: bool) -> None:
    """Apply the claims of a later extraction of an event, in the caller's transaction.

    Existing evidence of the event is not counted again. Text that was stored verbatim for lack of an answer is
    superseded.
    """
    resting = _resting_on(writer, event)
    fresh = [claim for claim in claims if not any(_says_it(one, claim) for one in resting)]
    apply_claims(writer, [(event, tuple(fresh))], now_us, embeds=embeds)
    kept = [one for one in resting if one.provisional and one.status in CURRENT_STATUSES]
    successor = next(
        (one.id for one in _resting_on(writer, event) if not one.provisional and one.status in CURRENT_STATUSES), None
    )
    changes: list[Change] = [_gives_way(one, successor) for one in kept]
    if changes:
        apply(writer, changes, Application(actor=Actor.MODEL, now_us=now_us, cause=event.id, embeds=embeds))


def _resting_on(writer: Writer, event: Event) -> list[Memory]:
    return writer.memories(sorted({item.memory_id for item in writer.evidence(event_ids=[event.id])}))


def _says_it(memory: Memory, claim: Claim) -> bool:
    if memory.provisional:
        return False
    if claim.value is None or memory.value is None:
        return claim.value is memory.value and normalise_name(memory.text) == normalise_name(claim.text)
    return normalise_name(memory.entity or "") == normalise_name(claim.entity or "") and is_same_value(
        memory.value, claim.value
    )


def _gives_way(memory: Memory, successor: str | None) -> Supersede:
    """Supersede a verbatim memory: refined by the extracted claims, or superfluous without any."""
    reason = "re-extracted with a language model" if successor else "the model found nothing to remember in it"
    relation = Relation.REFINED if successor else Relation.DUPLICATE
    return end_memory(memory, get_valid_from_us(memory), reason, successor, relation=relation)
