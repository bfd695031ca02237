"""Find the memory that a sentence of an event replaces: reads the store, decides by the pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from credenda import limits
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import ChangeKind
from credenda.model.claim import Claim, Span
from credenda.model.derived import is_dreamed
from credenda.model.event import CODE, DENIED, QUARANTINED, Event, Role
from credenda.model.memory import Memory, MemoryType, Status
from credenda.storage.store import ChangeFilter, MemoryFilter, Reader
from credenda.text.normalize import normalise_name
from credenda.write.extract.acts import Act, act_of
from credenda.write.extract.clauses import straighten
from credenda.write.extract.prose import is_alone, own_sentences
from credenda.write.extract.restate import retold
from credenda.write.reconcile.slots import ASSERTIVE_STANCES, TRUST_MARGIN, get_valid_from_us
from credenda.write.related import find_related, sort_by_id
from credenda.write.succession.closer import closer, may_be_closer
from credenda.write.succession.decide import Told
from credenda.write.succession.likely import Assertion, Nearness, said_of
from credenda.write.succession.match import best, fitting
from credenda.write.succession.old import Match
from credenda.write.succession.table import table
from credenda.write.succession.tongues import as_compared, in_english, in_own_words, looked_for
from credenda.write.succession.turning import Turning, turning, turns
from credenda.write.succession.weigh import closest, likeliest, may_take
from credenda.write.succession.words import phrase

__all__ = ["heard", "laid_on", "told_before", "told_changes"]

_CHARACTERS: Final = 400
"""Longer sentences are mostly texts, not facts about the speaker."""
_NOMINATED: Final = 24
_THRESHOLD: Final = 2.3
"""Minimum score of a match."""
_TOGETHER: Final = 64
"""Number above the changes of one claim; they are logged side by side, in any order."""
_WEIGHED: Final = 4
"""Memories to classify: those that share the rarest words. One takes .2 ms."""
_MEANT_LEAST: Final = 3
"""Minimum assumed number of competitors without a shared word: an index always returns some nearest memory."""
_TOKENS_MAX: Final = 30
_TOGETHER_MAX: Final = 3
"""Maximum number of sentences of a text that is classified as a whole."""
_SUPERSEDE: Final = frozenset({ChangeKind.SUPERSEDE})
_SILENT: Final = frozenset({DENIED, CODE, QUARANTINED})


def told_changes(reader: Reader, event: Event, nearness: Nearness | None = None) -> Iterator[Told]:
    """Yield the sentences of an event that replace memories in other slots.

    `nearness` holds similarities between sentences and memories, if known.
    """
    if not _is_heard(event):
        return
    told, looked_at = False, list[Memory]()
    for start, stop in own_sentences(event.text):
        spoken = straighten(event.text[start:stop])
        sentence = in_english(spoken)
        worded = _wordings(sentence)
        near = may_be_closer(sentence)
        if not (near or worded) or any(act_of(one) is not Act.STATEMENT for one in {spoken, sentence}):
            continue
        resting = _resting(reader, event, start, stop)
        said = closer(sentence, _near(reader, event, sentence, {one.id for one in resting})) if near else []
        if said:
            told = True
            yield _told(reader, event, (start, stop), matches=said, resting=resting)
            continue
        found, seen = _fitting(reader, event, worded, resting)
        told, looked_at = told or bool(found), seen or looked_at  # two equal matches: neither is replaced
        if matches := best(found):
            yield _told(reader, event, (start, stop), matches=matches, resting=resting)
    if not told:
        yield from _weighed(reader, event, looked_at, nearness or {})


def _fitting(
    reader: Reader, event: Event, worded: Sequence[str], resting: Sequence[Memory]
) -> tuple[list[Match], list[Memory]]:
    """Find the matches of the first wording of a sentence that has any, and all memories examined."""
    looked_at = list[Memory]()
    if any(one.contested or one.status is not Status.ACTIVE for one in resting):
        return [], looked_at
    for one in worded:
        turn = turning(one, [as_compared(given) for given in resting])
        if turn is None:
            continue
        looked_at = _around(reader, event, turn, {given.id for given in resting})
        if found := fitting(turn, looked_at, _THRESHOLD):
            return [] if _done(reader, event, resting) else found, looked_at
    return [], looked_at


def _wordings(sentence: str) -> list[str]:
    """Yield the wordings of a sentence with a change cue: as written, and canonical; none without a cue."""
    said = [sentence] if table().may_turn(sentence) and turns(sentence) else []
    plain = retold(sentence)
    return said if plain is None or not turns(plain) else [*said, plain]


def _told(
    reader: Reader, event: Event, place: tuple[int, int], *, matches: Sequence[Match], resting: Sequence[Memory]
) -> Told:
    """Return the replacement in the stored memories' own language."""
    start, stop = place
    spoken = straighten(event.text[start:stop])
    kept = {one.id: one for one in reader.memories([match.memory.id for match in matches])}
    own = (in_own_words(match, kept[match.memory.id], spoken) for match in matches)
    return Told(claim=_words(event, start, stop), matches=tuple(own), resting=tuple(resting))


def _is_heard(event: Event) -> bool:
    told = event.role in {Role.USER, Role.PERSON} and len(event.text) <= _CHARACTERS
    return told and _SILENT.isdisjoint(event.flags)


def heard(event: Event, *, near: bool) -> Iterator[tuple[int, int, Assertion]]:
    """Yield the parts of an event to classify, with their spans: those that may state a change.

    `near` tells whether similarities are known.
    """
    for start, stop in _units(event.text) if _is_heard(event) else ():
        said = said_of(in_english(straighten(event.text[start:stop])))
        if said.terms and len(said.tokens) <= _TOKENS_MAX and may_take(said, near=near):
            yield start, stop, said


def laid_on(reader: Reader, event: Event, said: Assertion) -> list[Memory]:
    """Load the earlier memories that share a word with a sentence."""
    return _active(reader, event, [*looked_for(event.text), *(one.text for one in said.content)], set())


def told_before(reader: Reader, event: Event, texts: Iterable[str]) -> list[Memory]:
    """Read the memories of some texts whose place an event may take."""
    found = (reader.find(MemoryFilter(same_text_as=text, limit=limits.SLOT_ROWS)) for text in texts)
    return [one for held in found for one in held if _replaceable(event, one)]


def _weighed(reader: Reader, event: Event, looked_at: Sequence[Memory], nearness: Nearness) -> Iterator[Told]:
    """Yield the replacements that the classifier finds if no rule does; a short text is classified as a whole.

    The memories `looked_at` before are classified, if any, instead of loading them again. Events that a model has
    extracted are skipped, because the model saw the known memories.
    """
    if any(one.reader for one in reader.evidence(event_ids=[event.id])):
        return
    alone = is_alone(event.text)
    for start, stop, said in heard(event, near=bool(nearness)):
        rested = _resting(reader, event, start, stop)
        resting = _standing(rested)
        if any(_unfit(one) for one in resting) or _done(reader, event, rested):
            continue
        words = [*looked_for(event.text[start:stop]), *(one.text for one in said.content)]
        given, compared = {one.id for one in resting}, [as_compared(one) for one in resting]
        near, among = closest(said, looked_at, _WEIGHED), len(looked_at)
        if not near:
            found = reader.search_memories(words, _NOMINATED)
            near, among = _compared(_held(event, sort_by_id(found[:_WEIGHED]), given)), len(found)
        others = [one for one in near if one.id not in given]
        found = likeliest(said, others, compared, among=among, nearness=nearness, alone=alone)
        if found is None and alone and said.cues:
            meant = [one for one in _meant(reader, event, said, nearness) if one.id not in given]
            among = max(len(meant), _MEANT_LEAST)
            found = likeliest(said, meant, compared, among=among, nearness=nearness, alone=alone)
        if found is not None:
            yield _told(reader, event, (start, stop), matches=[found], resting=resting)


def _meant(reader: Reader, event: Event, said: Assertion, nearness: Nearness) -> list[Memory]:
    """Load the memories that are similar to a sentence and share no word with it, the most similar first."""
    near = [
        (cosine, text)
        for (sentence, text), cosine in nearness.items()
        if sentence == said.phrase.text and said.terms.isdisjoint(phrase(text).terms)
    ]
    return told_before(reader, event, [text for _, text in sorted(near, reverse=True)[:_WEIGHED]])


def _units(text: str) -> list[tuple[int, int]]:
    """Split a text into units to classify: all of a short text, else each statement."""
    spans = [(span.start, span.stop) for span in own_sentences(text)]
    stated = [one for one in spans if act_of(straighten(text[slice(*one)])) is Act.STATEMENT]
    if 1 < len(spans) <= _TOGETHER_MAX and len(stated) == len(spans):
        return [(spans[0][0], spans[-1][1])]
    return stated


def _unfit(one: Memory) -> bool:
    return one.contested or one.status is not Status.ACTIVE or one.stance not in ASSERTIVE_STANCES


def _standing(resting: Sequence[Memory]) -> list[Memory]:
    """Remove the memories that another claim of the same sentence has replaced."""
    names = {one.id for one in resting}
    return [one for one in resting if one.superseded_by not in names]


def _words(event: Event, start: int, stop: int) -> Claim:
    return Claim(
        text=event.text[start:stop],
        type=MemoryType.FACT,
        span=Span(event.id, start, stop),
        speaker=event.speaker,
        topic=event.topic,
        tags=event.tags,
    )


def _resting(reader: Reader, event: Event, start: int, stop: int) -> list[Memory]:
    links = [one for one in reader.evidence(event_ids=[event.id]) if one.span.start < stop and start < one.span.stop]
    return reader.memories(sorted({one.memory_id for one in links})) if links else []


def _done(reader: Reader, event: Event, resting: Sequence[Memory]) -> bool:
    """Return whether the sentence's own claims have replaced something already."""
    names = {one.id for one in resting}
    if not names:
        return False
    log = reader.changes(ChangeFilter(cause=event.id, kinds=_SUPERSEDE, after=_before_given(reader, event, names)))
    return any(record.after.get("superseded_by") in names and record.memory_id not in names for record in log)


def _before_given(reader: Reader, event: Event, names: set[str]) -> int:
    """Return a log number before which the event gave no evidence to some memories, to limit the look-up.

    0 if the log does not tell which change linked one of them to the event, as after a merge.
    """
    firsts = [reader.changes(ChangeFilter(memory_id=name, cause=event.id, limit=1)) for name in sorted(names)]
    if not all(firsts):
        return 0
    return max(0, min(parse_id_number(first.id, IdKind.CHANGE, reader.tenant.tag) for (first,) in firsts) - _TOGETHER)


def _around(reader: Reader, event: Event, turn: Turning, given: set[str]) -> list[Memory]:
    """Load the speaker's earlier active memories that share a word or topic with the sentence."""
    return _compared(_active(reader, event, [*looked_for(event.text), *turn.search_words], given))


def _near(reader: Reader, event: Event, sentence: str, given: set[str]) -> list[Memory]:
    """Load the speaker's earlier active memories that share a word with the sentence."""
    words = [*looked_for(event.text), *(one.text for one in phrase(sentence).content)]
    return _compared(_active(reader, event, words, given))


def _active(reader: Reader, event: Event, words: list[str], given: set[str]) -> list[Memory]:
    return _held(event, find_related(reader, words, _NOMINATED), given)


def _compared(found: Sequence[Memory]) -> list[Memory]:
    return [as_compared(one) for one in found]


def _held(event: Event, found: Sequence[Memory], given: set[str]) -> list[Memory]:
    """Keep of some memories the speaker's active ones that were there before and can be replaced."""
    return [one for one in found if one.id not in given and _replaceable(event, one)]


def _replaceable(event: Event, one: Memory) -> bool:
    """Return whether an event may replace a memory: same speaker, active, and earlier."""
    return (
        one.status is Status.ACTIVE
        and not one.contested
        and not one.provisional
        and not is_dreamed(one)
        and normalise_name(one.speaker) == normalise_name(event.speaker)
        and get_valid_from_us(one) <= event.occurred_us
        and event.trust >= one.trust - TRUST_MARGIN
    )
