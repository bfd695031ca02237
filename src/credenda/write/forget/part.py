"""The words of a memory in one event, among those of other memories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from credenda.model.claim import Evidence, Extractor
from credenda.model.event import Event
from credenda.model.memory import Memory, Relation, Status
from credenda.storage.store import Reader, Tombstone
from credenda.text.normalize import normalise_text
from credenda.write.forget.cut import Assertion, Cut
from credenda.write.forget.restated import cut_from_others, make_extract
from credenda.write.forget.scope import find_other_support, has_overlap, is_stated
from credenda.write.forget.tombstones import (
    get_voice,
    get_voice_of_claim,
    make_memory_tombstones,
    make_part_tombstones,
)

__all__ = ["Part", "find_part", "make_tombstones"]


@dataclass(frozen=True, slots=True)
class Part:
    """The words that state a memory in a sentence of an event.

    `spans` of the event are to be blanked. `text` is the sentence, `alone` the words that state the memory alone; it
    equals `text` if the sentence states nothing else. `inseparable` are the ids of memories on the same words.
    """

    event: Event
    item: Evidence
    text: str
    spans: tuple[tuple[int, int], ...] = ()
    whole: bool = True
    alone: str | None = None
    inseparable: tuple[str, ...] = ()

    def narrow(self) -> Evidence:
        """Return the evidence with the span of the first of these words."""
        start, stop = self.spans[0]
        return replace(self.item, span=replace(self.item.span, start=start, stop=stop))


def find_part(
    reader: Reader, memory: Memory, event: Event, item: Evidence, *, without: set[str], extractor: Extractor | None
) -> Part:
    """Find the words of a memory in its sentence; memories in `without` are deleted with it and claim no words.

    They are the whole sentence if another was typed in its place, and no other memory rests on it.
    """
    start, stop = item.span.start, item.span.stop
    text = event.text[start:stop]
    others = _find_others(reader, event, item, without)
    extract = None if extractor is None else make_extract(extractor, event)
    gone = Assertion.of(memory)
    inseparable = [one for one in others if _is_inseparable(text, gone, one)]
    kept = [Assertion.of(one) for one in others if one.value and one not in inseparable]
    cut = cut_from_others(text, gone, kept, extract) if gone.value or kept else None
    if cut is None or (not others and _is_retyped(reader, memory, without)):
        same = tuple(one.id for one in others)
        return Part(event, item, text, ((start, stop),), whole=True, alone=text, inseparable=same)
    return _to_part(Part(event, item, text, inseparable=tuple(one.id for one in inseparable)), cut)


def _to_part(part: Part, cut: Cut) -> Part:
    start, stop = part.item.span.start, part.item.span.stop
    if cut.whole:
        return replace(part, spans=((start, stop),), whole=True, alone=part.text)
    spans = tuple((start + begin, start + end) for begin, end in cut.spans)
    return replace(part, spans=spans, whole=False, alone=cut.alone)


def _is_retyped(reader: Reader, memory: Memory, without: set[str]) -> bool:
    """Return whether the user corrected a memory by a sentence, not by a value alone."""
    corrected = memory.superseded_by if memory.relation is Relation.CORRECTED else None
    found = reader.memories([corrected]) if corrected else []
    return any(one.id in without or is_stated(one, find_other_support(reader, one, ())) for one in found)


def _is_inseparable(text: str, gone: Assertion, other: Memory) -> bool:
    """Return whether the words of a claim carry another memory too."""
    return bool(other.value) and cut_from_others(text, gone, [Assertion.of(other)], None) is None


def _find_others(reader: Reader, event: Event, item: Evidence, without: set[str]) -> list[Memory]:
    near = [one for one in reader.evidence(event_ids=[event.id]) if has_overlap(one.span, item.span)]
    found = reader.memories(sorted({one.memory_id for one in near} - without - {item.memory_id}))
    return [one for one in found if one.status is not Status.DELETED]


def make_tombstones(
    reader: Reader, memory: Memory, parts: Sequence[Part], now_us: int, *, apart: bool, value: bool
) -> Iterator[Tombstone]:
    """Yield the tombstones of a memory: of its own words, of its part of other sentences, and of its value.

    The whole sentence gets none if it states other memories too, so that it may be said again without these words.
    """
    key = reader.tenant.key
    said = [(part.alone or part.text, get_voice(part.event)) for part in parts if part.whole or part.alone]
    shared = {normalise_text(part.text) for part in parts if not part.whole}
    if normalise_text(memory.text) not in shared:
        said.append((memory.text, get_voice(parts[0].event) if parts else get_voice_of_claim(memory)))
    for stone in make_memory_tombstones(key, memory, said, now_us, apart=apart):
        if value or stone.kind == "text":
            yield stone
    for part in parts:
        if not part.whole:
            begin = part.item.span.start
            words = [part.text[start - begin : stop - begin] for start, stop in part.spans]
            yield from make_part_tombstones(key, part.text, words, now_us, voice=get_voice(part.event))
