"""The order of hits that may be an older and a newer value of one thing. Pure.

It changes no status. A link puts the newest hit first and names it on the older ones. Of texts that differ in one
phrase alone, the newest comes first without a link.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

from credenda.clock import DAY_US
from credenda.ids import parse_serial
from credenda.model.attributes import answer_same_question, get_attribute, has_same_kind, is_measure, load_asked
from credenda.model.memory import Cardinality, Memory, Stance, Status, get_valid_from_us
from credenda.model.query import Hit
from credenda.read.candidates import Row
from credenda.read.plan import Interval
from credenda.text.changes import PARTING, Changes, is_subject, load_changes
from credenda.text.dates import find_dates
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name, normalise_value
from credenda.text.passages import compose_memory_text
from credenda.text.sentences import split_sentences
from credenda.text.tokens import ALTERNATIVE, extract_document_terms, tokenize

_MARKS: Final = str.maketrans(dict.fromkeys('.,;:!?"()', " "))
_MOMENTS: Final = frozenset({"now", "currently", "today", "still", "nowadays", "actually"})
"""Words that set a later statement apart without another meaning."""
_COVERED_LEAST: Final = 0.3
"""Share of the question's idf that two wordings must have."""
_CHARACTERS_MAX: Final = 160
"""Longest text that is compared; a longer one says more than one thing."""
_SHARED_LEAST: Final = 2
_VALUE_WORDS_MAX: Final = 4
_ROUNDED: Final = 4
_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_SCORE_LEAST: Final = 0.5
"""Score of a newer hit relative to the older one: one that matches the question less is about something else."""
_APART: Final = frozenset({"superseded", "low_confidence", "contested", "challenged"})


class _Compared(NamedTuple):
    """A hit prepared for comparison: hits of one `key` are about the same speaker, slot and scope."""

    id: str
    time: tuple[int, str]
    key: tuple[str | None, ...]
    value: str
    score: float
    since_us: int
    beside: bool


def link_newer(
    hits: Sequence[Hit], changed: Mapping[str, str] = _NONE, now_us: int = 0, *, moves: bool = True
) -> tuple[Hit, ...]:
    """Name on each hit the newest hit that may replace it, and put that one before it if that `moves`.

    `changed` has the hits that another one tells to be outdated, by id. What begins after `now_us` replaces
    nothing yet.
    """
    groups: dict[tuple[str | None, ...], list[_Compared]] = {}
    for hit in hits:
        if hit.memory is None or not has_begun(hit.memory, now_us):
            continue
        if (one := _prepare(hit, hit.memory)) is not None:
            groups.setdefault(one.key, []).append(one)
    shown = {hit.id for hit in hits}
    newer = {old: new for old, new in changed.items() if {old, new} <= shown}
    for group in groups.values():
        group.sort(key=lambda one: one.time, reverse=True)
        for at, old in enumerate(group):
            found = next((one for one in group[:at] if one.time[0] > old.time[0] and _may_replace(one, old)), None)
            if found is not None and newer.get(found.id) != old.id:
                newer[old.id] = found.id
    if not newer:
        return tuple(hits)
    linked = [replace(hit, newer=newer[hit.id]) if hit.id in newer else hit for hit in hits]
    return tuple(put_newest_first(linked) if moves else linked)


def has_begun(memory: Memory, now_us: int) -> bool:
    """Return whether a value holds by now; 0 is an unknown time."""
    return not now_us or memory.valid_from_us is None or memory.valid_from_us <= now_us


def put_newest_first(hits: Sequence[Hit]) -> list[Hit]:
    """Move each newer hit before the first hit that names it; the others keep their order."""
    by_id, placed = {hit.id: hit for hit in hits}, dict[str, Hit]()
    for hit in hits:
        if hit.newer is not None and hit.newer in by_id:
            placed.setdefault(hit.newer, by_id[hit.newer])
        placed.setdefault(hit.id, hit)
    return list(placed.values())


def _prepare(hit: Hit, memory: Memory) -> _Compared | None:
    """Prepare an active, asserted memory with a value of an attribute that holds no set; else None."""
    if memory.status is not Status.ACTIVE or memory.stance is not Stance.ASSERTED or memory.contested:
        return None
    attribute = normalise_attribute(memory.attribute or "")
    if not (memory.entity and memory.value and attribute) or get_attribute(attribute).cardinality is Cardinality.SET:
        return None
    since_us = get_valid_from_us(memory)
    time = max([since_us, *(event.occurred_us for event in hit.evidence)]), hit.id
    key = (normalise_name(memory.speaker), memory.scope, normalise_name(memory.entity), attribute)
    beside = load_changes().beside.search(memory.text.casefold()) is not None
    return _Compared(hit.id, time, key, memory.value, hit.score, since_us, beside)


def _may_replace(new: _Compared, old: _Compared) -> bool:
    """Return whether a value may stand in the place of another: it fits the question, or was told again after it."""
    again = new.since_us < old.since_us < new.time[0]
    fits = again or new.score >= _SCORE_LEAST * old.score
    fits = fits and not new.beside
    return fits and not is_same_value(new.value, old.value) and has_same_kind(new.value, old.value)


def lift_newer_wording(rows: Sequence[Row]) -> list[Row]:
    """Move the newest of ordered rows that say the same with another value before the others.

    Such texts are by one speaker, match the question by the same words and answer type, and differ in one phrase: "Bo
    drives a Panda", "Bo drives an Ibiza now". The newest gets the key of the best one.
    """
    alike: dict[tuple[str, float, float], list[int]] = {}
    for at, row in enumerate(rows):
        if row.signs.claim is None and row.signs.coverage >= _COVERED_LEAST and _is_single_value(row):
            speaker = row.event.speaker if row.event else row.memory.speaker if row.memory else ""
            key = normalise_name(speaker), round(row.signs.coverage, _ROUNDED), row.terms.get("answers", 0.0)
            alike.setdefault(key, []).append(at)
    ordered: list[Row] | None = None
    for places in alike.values():
        for best, newest in _pair_wordings([rows[at] for at in places]) if len(places) > 1 else ():
            ordered = list(rows) if ordered is None else ordered
            ordered.remove(newest)
            gained = best.key - newest.key
            lifted = newest._replace(key=best.key, terms={**newest.terms, "newer": gained} if newest.terms else {})
            ordered.insert(ordered.index(best), lifted)
    return list(rows) if ordered is None else ordered


def _pair_wordings(rows: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Return the best and the newest row of each group of wordings in which these are different rows."""
    groups: list[list[tuple[Row, list[str]]]] = []
    for row in rows:
        words = [word for word in row.text.casefold().translate(_MARKS).split() if word not in _MOMENTS]
        group = next((one for one in groups if _has_other_value(one[0][1], words)), None)
        if group is None:
            groups.append([(row, words)])
        else:
            group.append((row, words))
    pairs = [(group[0][0], max((row for row, _ in group), key=_get_start)) for group in groups]
    return [(best, newest) for best, newest in pairs if _get_start(newest) > _get_start(best)]


def _has_other_value(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether two texts differ in one phrase of a few words."""
    if one[:1] != other[:1] and one[-1:] != other[-1:]:
        return False
    shortest = min(len(one), len(other))
    before = next((at for at in range(shortest) if one[at] != other[at]), shortest)
    rest = shortest - before
    after = next((at for at in range(rest) if one[-1 - at] != other[-1 - at]), rest)
    values = [len(text) - before - after for text in (one, other)]
    return before + after >= _SHARED_LEAST and min(values) > 0 and max(values) <= _VALUE_WORDS_MAX


def _is_single_value(row: Row) -> bool:
    """Return whether a row is a short, current text, and not one value of a set."""
    if len(row.text) > _CHARACTERS_MAX or not _APART.isdisjoint(row.flags):
        return False
    attribute = row.memory.attribute if row.memory else None
    return attribute is None or get_attribute(normalise_attribute(attribute)).cardinality is not Cardinality.SET


def _get_start(row: Row) -> int:
    """Return when a text was said, or since when a memory holds."""
    if row.event is not None:
        return row.event.occurred_us
    memory = row.memory
    if memory is None:
        return 0
    return get_valid_from_us(memory)


# Whether one text tells that the matter of an older one has changed. Pure.


_TOLD_CHARACTERS_MAX: Final = 240
"""Longest text that is compared; a longer one says more than one thing."""
_NUMBER: Final = re.compile(r"\d[\d.,:/-]*")
_REST_MAX: Final = 3
"""Most words of an older text that a later one without a strong sign may leave out: the value, and little else."""
_HALF: Final = 2
_DENIED_WORDS: Final = 4
_DENIED_NUMBER: Final = 2
"""Words after a denial in which the denied number stands."""
_BARE_WORDS: Final = 4
"""A sentence of so few words that tells a change ("Scratch that.") is about the next one."""


class _Text(NamedTuple):
    """A sentence of a row, prepared for comparison: its speaker, time and terms, and what of the question it has."""

    row: Row
    speaker: str
    time: int
    terms: frozenset[str]
    asked: frozenset[str]
    numbers: frozenset[str]
    folded: str
    many: bool
    first: str
    """Its first term, which mostly names what it is about."""
    names: frozenset[str]
    """Terms of whose it is, which many statements share: "Wren" of her school and of her hobby."""

    @property
    def value(self) -> frozenset[str]:
        """Its terms that the question does not have."""
        return self.terms - {part for one in self.asked for part in one.split(ALTERNATIVE)}


def find_changed(
    rows: Sequence[Row], terms: Sequence[str], confirmed: Mapping[str, int], now_us: int
) -> dict[str, str]:
    """Map each row that a later row replaces to the newest such row, by id.

    `terms` are those of the question's subject, `confirmed` the times at which memories were last told, by id.
    """
    signs = load_changes()
    texts = [
        _prepare_changed(row, sentence, terms, tell_time(row, confirmed.get(row.id)))
        for row in rows
        if _is_comparable(row)
        for sentence in _split(row.text)
    ]
    begun = {row.id for row in rows if row.memory is None or has_begun(row.memory, now_us)}
    later = [text for text in texts if text.row.id in begun and _may_tell_change(text, signs)]
    changed: dict[str, str] = {}
    for old in _pick_fitting(texts) if later else ():
        # Two memories that were compared as claims have versions instead (read/versions.py).
        others = (new for new in later if old.row.signs.claim is None or new.row.signs.claim is None)
        found = [new for new in others if new.time > old.time and _has_changed(old, new, signs, len(terms))]
        if found:
            changed[old.row.id] = max(found, key=lambda new: new.time).row.id
    return changed


def _split(text: str) -> list[str]:
    """Return the sentences of a text; a few words alone belong to the next sentence."""
    sentences: list[str] = []
    bare = ""
    for start, stop in split_sentences(text):
        sentence = f"{bare} {text[start:stop]}".strip()
        bare = sentence if len(sentence.split()) <= _BARE_WORDS else ""
        if not bare:
            sentences.append(sentence)
    return [*sentences, bare] if bare else sentences


def _may_tell_change(text: _Text, signs: Changes) -> bool:
    if text.folded.rstrip().endswith("?") or signs.beside.search(text.folded):
        return False
    found = any(sign.search(text.folded) for sign in (signs.strong, signs.named, signs.weak, signs.negation))
    return found or bool(text.numbers)


def _pick_fitting(texts: Sequence[_Text]) -> list[_Text]:
    """Return of each row that fits the question the sentence with most of it."""
    best: dict[str, _Text] = {}
    for text in texts:
        fits = text.row.signs.coverage >= _COVERED_LEAST or text.row.signs.slot
        if fits and text.asked and len(text.asked) > len(best.get(text.row.id, _NOTHING).asked):
            best[text.row.id] = text
    return list(best.values())


def place_before(rows: Sequence[Row], newer: Mapping[str, str]) -> list[Row]:
    """Move each newer row before the first row that it replaces, with the key and the fit of that one."""
    by_id, placed = {row.id: row for row in rows}, dict[str, Row]()
    for row in rows:
        first = by_id.get(_follow(newer, row.id))
        if first is not None and first.id not in placed and first.id != row.id:
            placed[first.id] = _raise_to(first, row)
        placed.setdefault(row.id, row)
    return list(placed.values())


def count_matches(memory: Memory, asked: Sequence[str]) -> int:
    """Return how many terms of a question the sentence and the slot of a memory have."""
    terms = list_terms(memory, memory.text)
    return sum(not terms.isdisjoint(term.split(ALTERNATIVE)) for term in asked)


def is_value_asked(memory: Memory, other: Memory, asked: Sequence[str]) -> bool:
    """Return whether a question names the value of a memory by words that another memory does not have."""
    value = frozenset(extract_document_terms(memory.value or ""))
    named = [term.split(ALTERNATIVE) for term in asked if not value.isdisjoint(term.split(ALTERNATIVE))]
    terms = list_terms(other, other.text) if named else frozenset[str]()
    return any(terms.isdisjoint(term) for term in named)


def tell_time(row: Row, confirmed_us: int | None) -> int:
    """Return when a text was said last; of a memory that holds only from a later time, that time.

    A memory of which no event was read counts from when it was stored, which is long after an import's messages.
    """
    if row.event is not None:
        return row.event.occurred_us
    memory = row.memory
    if memory is None:
        return 0
    return max(memory.created_us if confirmed_us is None else confirmed_us, memory.valid_from_us or 0)


def _follow(newer: Mapping[str, str], name: str) -> str:
    """Return the last row of a chain of replacements; one that leads back to a row ends before it."""
    seen = {name}
    while name in newer and newer[name] not in seen:
        name = newer[name]
        seen.add(name)
    return name


def _raise_to(row: Row, place: Row) -> Row:
    if row.key >= place.key:
        return row
    terms = {**row.terms, "newer": place.key - row.key} if row.terms else row.terms
    return row._replace(key=place.key, terms=terms, signs=row.signs.joined(place.signs))


def _is_comparable(row: Row) -> bool:
    """Return whether a row is a short, current statement."""
    if len(row.text) > _TOLD_CHARACTERS_MAX or not _APART.isdisjoint(row.flags) or row.text.rstrip().endswith("?"):
        return False
    return row.memory is None or row.memory.stance is not Stance.PLANNED


def _prepare_changed(row: Row, sentence: str, asked: Sequence[str], time: int) -> _Text:
    memory = row.memory
    terms = frozenset(extract_document_terms(sentence)) if memory is None else list_terms(memory, sentence)
    attribute = get_attribute(normalise_attribute(memory.attribute)) if memory and memory.attribute else None
    speaker = row.event.speaker if row.event else memory.speaker if memory else ""
    return _Text(
        row=row,
        speaker=normalise_name(speaker),
        time=time,
        terms=terms,
        asked=frozenset(term for term in asked if not terms.isdisjoint(term.split(ALTERNATIVE))),
        numbers=frozenset(found.rstrip(".,:/-") for found in _NUMBER.findall(sentence)),
        folded=sentence.casefold().replace("\u2019", "'"),
        many=attribute is not None and attribute.known and attribute.cardinality is Cardinality.SET,
        first=next(iter(tokenize(sentence)), ""),
        names=frozenset(tokenize(memory.entity or "")) if memory and memory.attribute else frozenset(),
    )


def list_terms(memory: Memory, sentence: str) -> frozenset[str]:
    """Return the terms of a sentence and of the slot of a memory."""
    slot = {"entity": memory.entity, "attribute": memory.attribute, "value": memory.value}
    return frozenset(extract_document_terms(compose_memory_text(sentence, **slot)))


def _has_changed(old: _Text, new: _Text, signs: Changes, terms: int) -> bool:
    """Return whether `new`, said later, tells that what `old` says is no longer so; `terms` is what a question has."""
    apart = _is_another_member(old, new) or _has_other_owner(old, new) or _is_about_person(old, new)
    if new.speaker != old.speaker or apart:
        return False
    asked = old.asked & new.asked
    if _has_denied_number(old, new, signs) or (asked and signs.weak.search(new.folded) and _has_new_measure(old, new)):
        return True
    named = not {part for one in asked for part in one.split(ALTERNATIVE)} <= old.names
    named = named or (len(asked) == terms and signs.corrects.search(new.folded) is not None)
    alike = _is_same_slot(old, new)
    about = (named or alike is True) and alike is not False
    about = about and len(asked) >= len(old.asked) - 1 and len(asked) * _HALF >= terms
    strong = _has_strong_sign(old, new, signs, about=about)
    if strong is not None or not asked or asked != old.asked or old.many or new.many:
        return bool(strong)
    after = (new.folded[found.end() :].split()[:_DENIED_WORDS] for found in signs.negation.finditer(new.folded))
    if any(not old.value.isdisjoint(extract_document_terms(" ".join(words))) for words in after):
        return True
    held = old.terms if old.row.memory is None or not old.names else list_terms(old.row.memory, "")
    left = len(held - new.terms)
    if signs.weak.search(new.folded):
        alike = old.first == new.first or new.first in old.names
        return alike and 0 < left <= min(_REST_MAX, len(held & new.terms))
    return _has_other_number(old, new) and not any(signs.dated.search(one.folded) for one in (old, new))


def _is_another_member(old: _Text, new: _Text) -> bool:
    """Return whether two memories have different values of a set in which a wrong one could hurt, such as allergies.

    That one allergy is over leaves the others as they are.
    """
    one, other = old.row.memory, new.row.memory
    if one is None or other is None or not one.value or one.attribute != other.attribute:
        return False
    hurts = old.many and get_attribute(one.attribute or "").hurts
    return hurts and new.terms.isdisjoint(extract_document_terms(one.value))


def _has_other_owner(old: _Text, new: _Text) -> bool:
    """Return whether two memories tell the same of two owners.

    One of them is the speaker, or the question has all words of the older one, and not those of the other.
    """
    one, other = old.row.memory, new.row.memory
    if one is None or other is None or not (one.entity and one.value and other.entity and other.value):
        return False
    owners = {normalise_name(one.entity), normalise_name(other.entity)}
    attribute = normalise_attribute(one.attribute or "")
    if attribute != normalise_attribute(other.attribute or "") or len(owners) == 1:
        return False
    asked = {part for term in old.asked | new.asked for part in term.split(ALTERNATIVE)}
    own = new.names - asked
    named = bool(old.names and own) and old.names <= asked and own.isdisjoint(tokenize(one.value))
    return named or (get_attribute(attribute).known and normalise_name(new.speaker) in owners)


def _is_about_person(old: _Text, new: _Text) -> bool:
    """Return whether a later text begins with a partner or relative whom the older one names, and ends no relation.

    "Jana switched to Vivantes" leaves her the wife that she is.
    """
    memory = old.row.memory
    attribute = memory.attribute or "" if memory is not None else ""
    related = get_attribute(attribute).by_birth or answer_same_question(attribute, "partner")
    if memory is None or not attribute or not related:
        return False
    return is_subject(new.folded, (memory.value or "").casefold()) and PARTING.search(new.folded) is None


def _is_same_slot(old: _Text, new: _Text) -> bool | None:
    """Return whether two memories fill one slot, or slots that are known to differ; None if that is open."""
    one, other = old.row.memory, new.row.memory
    if one is None or other is None or not (one.entity and one.value and other.entity and other.value):
        return None
    names = [normalise_attribute(memory.attribute or "") for memory in (one, other)]
    if names[0] == names[1]:
        return normalise_name(one.entity) == normalise_name(other.entity) or None
    return False if load_asked().keys() >= {*names} else None


def _has_strong_sign(old: _Text, new: _Text, signs: Changes, *, about: bool) -> bool | None:
    """Return whether words that only a change has are about the older text; None without such words."""
    named = signs.named.search(new.folded)
    if named is not None:
        before = {*extract_document_terms(named["old"] or named["given"])}
        return bool(before & old.value) and (about or before <= old.terms)
    if signs.strong.search(new.folded):
        return about or (bool(old.value) and old.value <= new.terms)
    return None


def _has_denied_number(old: _Text, new: _Text, signs: Changes) -> bool:
    """Return whether a later text denies a number of the older one and gives another: "19 March, not 9".

    The texts share a word beside it, or the later one corrects.
    """
    after = (new.folded[found.end() :].split()[:_DENIED_NUMBER] for found in signs.negation.finditer(new.folded))
    denied = {number.rstrip(".,:/-") for words in after for number in _NUMBER.findall(" ".join(words))}
    if denied.isdisjoint(old.numbers) or not new.numbers - denied:
        return False
    shared = any(not any(character.isdigit() for character in term) for term in old.terms & new.terms)
    return shared or any(sign.search(new.folded) for sign in (signs.corrects, signs.slips))


def _has_other_number(old: _Text, new: _Text) -> bool:
    """Return whether a later text has all words of the older one, with another number."""
    if not old.numbers or not new.numbers or not old.numbers.isdisjoint(new.numbers):
        return False
    return all(any(character.isdigit() for character in term) for term in old.terms - new.terms)


_MEASURE: Final = re.compile(
    r"(?P<before>\b(?:at|from|by|until) )?[\u20ac$\u00a3]?\d[\d.,:]*(?P<unit>(?: ?[a-z%\u20ac\u00a3$]+){0,3})"
)
_NO_UNIT: Final = frozenset("a an the per now since and is from in at on again".split())  # noqa: SIM905


def _has_new_measure(old: _Text, new: _Text) -> bool:
    """Return whether a later text gives another number of the same measure for what begins both, or is asked about.

    "I open at 8 now" after "I open the shop at 9", "Kim gets 14 an hour now" after "I pay Kim 12 pounds an hour".
    """
    if not old.numbers.isdisjoint(new.numbers):
        return False
    alike = old.first == new.first
    asked = alike or new.first in {part for one in new.asked for part in one.split(ALTERNATIVE)}
    for one in _MEASURE.finditer(old.folded):
        for other in _MEASURE.finditer(new.folded):
            units = [set(found["unit"].split()) - _NO_UNIT for found in (one, other)]
            same_clock = alike and one["before"] is not None and one["before"] == other["before"] and not any(units)
            if same_clock or (asked and units[0] & units[1]):
                return True
    return False


_NOTHING: Final = _Text(
    Row("event", "", "", 0.0), "", 0, frozenset(), frozenset(), frozenset(), "", many=False, first="", names=frozenset()
)


# Other values in the slot of a memory, whether or not a search found them. Pure.


def may_have_rivals(memory: Memory) -> bool:
    """Return whether a current value may be outdated by another that replaced nothing: an open attribute holds one."""
    name = normalise_attribute(memory.attribute or "")
    if not (memory.entity and memory.value and name) or memory.status is not Status.ACTIVE or memory.contested:
        return False
    row = get_attribute(name)
    return not row.known and row.cardinality is Cardinality.SINGLE and memory.stance is Stance.ASSERTED


def find_rival(memory: Memory, held: Sequence[Memory], now_us: int, *, told_us: int = 0) -> Memory | None:
    """Return the newest value in the slot of a memory that was told on a later day and may take its place.

    `told_us` is when the memory was told last.
    """
    last_us = max(get_valid_from_us(memory), told_us)
    beside = load_changes().beside
    later = [
        one
        for one in held
        if may_have_rivals(one)
        and (normalise_name(one.speaker), one.scope) == (normalise_name(memory.speaker), memory.scope)
        and has_begun(one, now_us)
        and get_valid_from_us(one) - last_us >= DAY_US
        and not is_same_value(one.value, memory.value)
        and has_same_kind(one.value or "", memory.value or "")
        and beside.search(one.text.casefold()) is None
    ]
    return max(later, key=lambda one: (get_valid_from_us(one), one.id), default=None)


def was_valid_within(memory: Memory, times: Sequence[Interval]) -> bool:
    """Return whether an earlier value had not ended before all of some times; True without times."""
    end = memory.valid_until_us
    return not times or end is None or any(time.from_us is None or time.from_us < end for time in times)


def put_then_first(hits: Sequence[Hit], then: Mapping[str, Hit]) -> tuple[Hit, ...]:
    """Put each hit in `then`, by the id of the value held now, before that one, and leave out its messages."""
    told = {event.id for one in then.values() for event in one.evidence}
    placed = dict[str, Hit]()
    for hit in hits:
        if hit.id in then:
            placed.setdefault(then[hit.id].id, then[hit.id])
        if hit.id not in told:
            placed.setdefault(hit.id, hit)
    return tuple(placed.values())


def is_older(one: Memory, memory: Memory) -> bool:
    """Return whether a value that nothing replaced is an earlier one in the slot of another."""
    same = (one.entity, one.attribute, one.scope) == (memory.entity, memory.attribute, memory.scope)
    both = all(held.status is Status.ACTIVE and held.stance is Stance.ASSERTED for held in (one, memory))
    schema = get_attribute(memory.attribute or "")
    single = schema.known and schema.cardinality is Cardinality.SINGLE
    return same and both and single and one.value != memory.value and get_valid_from_us(one) < get_valid_from_us(memory)


def find_affirmed(rows: Sequence[Row], question: str) -> dict[str, str]:
    """Map each value that is denied or over to the first row that affirms another in its slot, or it of another one.

    A question that names the denied value is about it, and one that names whom it is denied of is about them.
    """
    asked = set(tokenize(question))
    found: dict[str, str] = {}
    for row in rows:
        denied = row.memory
        if denied is None or not (denied.stance is Stance.NEGATED or _is_over(row)):
            continue
        attribute = set(tokenize((denied.attribute or "").replace("_", " ")))
        named = set(tokenize(denied.value or "")) - attribute
        about_value = not asked.isdisjoint(named)
        about_owner = not asked.isdisjoint(tokenize(denied.entity or ""))
        affirmed = (
            one.id
            for one in rows
            if one.memory is not None
            and one.memory.stance is Stance.ASSERTED
            and not one.flags
            and normalise_attribute(one.memory.attribute or "") == normalise_attribute(denied.attribute or "")
            and (
                not (about_value if has_same_owner(one.memory, denied) else about_owner)
                or not asked.isdisjoint(set(tokenize(one.memory.value or "")) - named - attribute)
            )
            and (has_same_owner(one.memory, denied) or is_same_value(one.memory.value, denied.value))
        )
        if first := next(affirmed, ""):
            found[row.id] = first
    return found


_USER: Final = "user"
_WHO: Final = re.compile(r"\b(?:who|whom|whose|names?|called|call)\b", re.IGNORECASE)
_WHICH: Final = re.compile(r"\W*(?:what|which|where|when|who|how)\b", re.IGNORECASE)


def find_statement_about(rows: Sequence[Row], question: str) -> dict[str, str]:
    """Map each row that only says who or what a question is about to the first row that tells something of it.

    "wife: Lea" does not answer "is my wife on nights", and "boat: Otter" does not answer "where is Otter moored".
    """
    asked, found = set(tokenize(question)), _ASKING.search(question)
    fits = _FITTING[found[0].split()[0].lower()] if found else None
    names_nobody = _WHO.search(question) is None
    told: dict[str, str] = {}
    for row in rows:
        memory = row.memory
        if memory is None or not memory.value or row.flags or memory.stance is not Stance.ASSERTED:
            continue
        if normalise_name(memory.entity or "") != _USER:
            continue  # persons who talk have long stories, of which a name tells little
        attribute = set(tokenize((memory.attribute or "").replace("_", " ")))
        kin = names_nobody and get_attribute(memory.attribute or "").kind == "person" and attribute <= asked
        value = set(tokenize(memory.value))
        if not kin and not (value and value <= asked and _WHICH.match(question)):
            continue
        others = [one for one in rows if one.memory is not None and one.memory.value and one is not row]
        own = normalise_name(memory.value)
        first = next((one for one in others if not one.flags and normalise_name(_get_entity(one)) == own), None)
        if first is None and fits is not None and not fits(memory.value, memory.created_us):
            first = next((one for one in others if not one.flags and _has_term(one, asked - value - attribute)), None)
            first = (
                first if first and first.memory and fits(first.memory.value or "", first.memory.created_us) else None
            )
        if first is None and not kin:
            named = (one for one in others if not one.flags and not attribute.isdisjoint(tokenize(_get_slot(one))))
            first = next(named, None)
        if first is not None:
            told[row.id] = first.id
    return told


def _get_entity(row: Row) -> str:
    return (row.memory.entity if row.memory is not None else None) or ""


def _get_slot(row: Row) -> str:
    return (row.memory.attribute if row.memory is not None and row.memory.attribute else "").replace("_", " ")


def _has_term(row: Row, terms: Collection[str]) -> bool:
    return not set(terms).isdisjoint(tokenize(f"{_get_slot(row)} {row.text}"))


def has_same_owner(one: Memory, other: Memory) -> bool:
    """Return whether two memories are about the same person or thing."""
    return normalise_name(one.entity or "") == normalise_name(other.entity or "")


def _is_over(row: Row) -> bool:
    memory = row.memory
    if memory is None or memory.valid_until_us is None or memory.stance is not Stance.ASSERTED:
        return False
    return "stale" in row.flags


# The order of what one sentence, or one attribute, says of several things.


_AMOUNT: Final = re.compile(r"\W*\d[\d.,:]*k?(?: ?[^\W\d]+)?\W*")
_FITTING: Final[Mapping[str, Callable[[str, int], bool]]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("where", "who"), lambda value, at_us: not _AMOUNT.fullmatch(value) and not _is_time(value, at_us)
        ),
        "when": lambda value, at_us: bool(find_dates(f"on {value}", at_us, "future")),
        "how": lambda value, at_us: _AMOUNT.search(value) is not None and not _is_time(value, at_us),
    }
)
"""Whether a value may answer a question with such a word."""
_STATED: Final = frozenset({Stance.ASSERTED, Stance.PLANNED})
_ASKING: Final = re.compile(r"\b(?:where|when|who|how (?=many|much|old|long|far))", re.IGNORECASE)


def _is_time(value: str, at_us: int) -> bool:
    """Return whether a value is a time and nothing else."""
    return any(one.stop - one.start == len(value) for one in find_dates(value, at_us, "future"))


def order_siblings(rows: Sequence[Row], asked: str) -> list[Row]:
    """Order the memories of one sentence by whether their value answers the question, in the places that they hold.

    Of the values of one attribute in several scopes those go first whose scope the question names, and of the values
    of an open attribute the one that was told last.
    """
    found = _ASKING.search(asked)
    fits = _FITTING[found[0].split()[0].lower()] if found else None
    words = set(tokenize(asked))
    groups: dict[tuple[str | None, ...], list[int]] = {}
    for place, row in enumerate(rows):
        memory = row.memory
        if memory is None or not memory.value or row.flags:
            continue
        slot = (memory.speaker, memory.entity, memory.attribute)
        if fits is not None:
            groups.setdefault(("sentence", memory.text, memory.entity), []).append(place)
        if memory.scope:
            groups.setdefault(("scope", *slot), []).append(place)
        elif _is_open(memory) and (row.signs.slot or is_measure(memory.value)):
            groups.setdefault(("value", *slot), []).append(place)
    rates: dict[str | None, Callable[[Memory], int]] = {
        "sentence": lambda one: int(fits is not None and fits(one.value or "", one.created_us)),
        "scope": lambda one: len(words.intersection(tokenize(one.scope or ""))),
        "value": lambda one: parse_serial(one.id),
    }
    ordered = list(rows)
    moved: set[int] = set()
    for (kind, *_), places in groups.items():
        if len(places) == 1 or not moved.isdisjoint(places):
            continue
        rate = rates[kind]
        ranked = sorted((rows[at] for at in places), key=lambda row: -rate(row.memory) if row.memory else 0)
        for place, row in zip(places, ranked, strict=True):
            held = rows[place]
            if row is not held:
                ordered[place] = row._replace(key=held.key, signs=held.signs.joined(row.signs), terms=held.terms)
                moved.add(place)
    return ordered


def _is_open(memory: Memory) -> bool:
    """Return whether a memory fills an attribute without a row, of which a thing has mostly one value."""
    name = normalise_attribute(memory.attribute or "")
    row = get_attribute(name)
    several_words = "_" in name  # one noun, such as "drink", has many values
    return not row.known and row.cardinality is Cardinality.SINGLE and several_words and memory.stance in _STATED


# The order of appointments of one kind: the day that a question asks for comes first. Pure.


_BACK: Final = re.compile(
    r"^(?!.*\b(?:next|coming|upcoming)\b).*\b(?:last|latest|previous|was|were|did|had)\b", re.IGNORECASE
)


def order_appointments(rows: Sequence[Row], now_us: int, asked: str, *, past: bool = False) -> list[Row]:
    """Order appointments with the same thing by their days, in the places that they hold among all rows.

    `past` tells that the question is known to be about the past. The next one is first, then those after it, and the
    latest of those that are over; for a question about the past, the latest that is over comes first.
    """
    past = past or _BACK.search(asked) is not None
    ordered = list(rows)
    dated = [place for place, row in enumerate(rows) if row.memory is not None and _is_dated_plan(row.memory)]
    while dated:
        first = dated[0]
        places = [one for one in dated if _is_same_kind(rows[first].memory, rows[one].memory)]
        dated = [one for one in dated if one not in places]
        by_day = sorted((rows[one] for one in places), key=lambda row: _rate_day(row.memory, now_us, past=past))
        for place, row in zip(places, by_day, strict=True):
            held = rows[place]
            ordered[place] = row._replace(key=held.key, signs=held.signs.joined(row.signs), terms=held.terms)
    return ordered


def _is_dated_plan(memory: Memory) -> bool:
    return memory.stance is Stance.PLANNED and None not in (memory.valid_from_us, memory.valid_until_us)


def _is_same_kind(one: Memory | None, other: Memory | None) -> bool:
    """Return whether the words of one appointment are among those of the other: "dentist", "dentist appointment"."""
    if one is None or other is None or (one.entity, one.attribute) != (other.entity, other.attribute):
        return False
    words, others = (set(normalise_value(memory.value or memory.text).split()) for memory in (one, other))
    return words <= others or others <= words


def _rate_day(memory: Memory | None, now_us: int, *, past: bool) -> tuple[bool, int]:
    """Return the rank of an appointment, the first one lowest: those asked for by their distance from now."""
    if memory is None:
        return True, 0
    over = (memory.valid_until_us or 0) <= now_us
    return over != past, abs((memory.valid_from_us or 0) - now_us)
