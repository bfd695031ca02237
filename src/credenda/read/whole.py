"""Questions about the whole: what changed, what is planned, what is known about the user or about their family.

No text has the words of such a question, so its answer is read from the slots, in an order of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from credenda import limits
from credenda.model.attributes import get_attribute, load_attributes
from credenda.model.memory import (
    OPEN_STANCES,
    Memory,
    MemoryType,
    Relation,
    Stance,
    Status,
    get_valid_from_us,
    has_ended,
)
from credenda.model.query import Query
from credenda.read.plan import Interval, Plan, read_subject
from credenda.read.visibility import flag_memory
from credenda.read.weights import Questions, load_questions
from credenda.storage.store import MemoryFilter, Reader
from credenda.text.dates import DateSpan, find_dates_in
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.text.tokens import tokenize

_USER: Final = "user"
_INSTRUCTION: Final = "instruction"
_REPLACED: Final = frozenset({Status.SUPERSEDED})
_JOINS: Final = re.compile(r"\b(?:for|during|over|of|about)\s*$", re.IGNORECASE)
_SPACE: Final = re.compile(r"[\s,]+")
_CHANGED: Final = re.compile(r"\b(?:chang|differ|updat)", re.IGNORECASE)
_NEWS: Final = 1
_TRIFLE: Final = 2
_ASKING_WORDS: Final = 3
"""Fewer words without a question mark are a search for them: "news"."""
_ALWAYS: Final = (Interval(None, None),)


def add_whole(reader: Reader, query: Query, made: Plan, now_us: int) -> Plan:
    """Add the memories that answer a question about the whole, best first; any other plan stays as it is.

    Where there are none, or the question names a group such as the family, the words of the question count as well.
    """
    lexicon = load_questions()
    anchor_us = now_us if query.as_of_us is None else query.as_of_us
    found: Iterable[Memory] = ()
    terms = made.terms
    if made.profile:
        memories = _read_own(reader, query)
        order = {name: place for place, name in enumerate(lexicon.profile)}
        found = sorted(memories, key=lambda one: _place(one, order))
    elif (group := _name_group(query.text, lexicon)) is not None:
        found = _list_group(reader, query, group, now_us)
    elif (spans := _match(query, lexicon.plans, anchor_us, future=True)) is not None:
        made = replace(made, intervals=tuple(Interval(one.from_us, one.until_us) for one in spans))
        found = _list_plans(reader, query, made.intervals or _ALWAYS, anchor_us)
    elif _match(query, lexicon.changes, anchor_us, future=False) is not None:
        found = _list_changes(reader, query, made.intervals or _ALWAYS, lexicon)
        terms = () if "?" in query.text or len(query.text.split()) >= _ASKING_WORDS else terms
    flagged = [(one.id, flags) for one in found if (flags := flag_memory(one, query, now_us)) is not None]
    shown = dict.fromkeys(name for name, _ in sorted(flagged, key=lambda one: "stale" in one[1]))
    if not shown:
        return made
    subject = made.subject if terms else ()
    return replace(made, asked=None, whole=tuple(shown)[: limits.PROFILE_ROWS], terms=terms, subject=subject)


def _match(query: Query, pattern: re.Pattern[str], anchor_us: int, *, future: bool) -> Sequence[DateSpan] | None:
    """Return the times in a question whose other words all match a pattern, else None."""
    text = query.text.replace("\u2019", "'")
    spans = find_dates_in(query.zone, text, anchor_us, "future" if future else "past")
    plain = text
    for span in reversed(spans):
        plain = f"{_JOINS.sub('', plain[: span.start])} {plain[span.stop :]}"
    found = pattern.fullmatch(_SPACE.sub(" ", plain).strip(" ?!.").casefold())
    return None if found is None or (found["timed"] and not spans) else spans


def _is_within(interval: Interval, since_us: int, until_us: int | None = None) -> bool:
    """Return whether a period, or a moment, has a part in an interval."""
    begins = interval.until_us is None or since_us < interval.until_us
    ends = interval.from_us is None or (since_us if until_us is None else until_us) >= interval.from_us
    return begins and ends


def _filter(query: Query, **wanted: str) -> MemoryFilter:
    return MemoryFilter(**wanted, limit=limits.PROFILE_ROWS, known_at_us=query.known_at_us, as_of_us=query.as_of_us)  # pyright: ignore[reportArgumentType] - names of an entity


def _read_own(reader: Reader, query: Query) -> list[Memory]:
    return reader.find(_filter(query, entity=_USER))


def _place(memory: Memory, order: Mapping[str, int]) -> tuple[bool, int, bool, float, int]:
    """Return the place of a memory among those of one entity: the listed attributes, then by importance and time."""
    attribute = normalise_attribute(memory.attribute or "")
    relative = get_attribute(attribute).kind == "person"
    place = order.get(attribute, order["relative"] if relative else len(order))
    return memory.stance in OPEN_STANCES, place, not attribute, -memory.importance, -get_valid_from_us(memory)


def _name_group(text: str, lexicon: Questions) -> str | None:
    """Return the term of the group of persons or animals that is all a question asks about: "my family"."""
    subject = read_subject(text, lexicon).words
    words = [word for word in re.findall(r"[\w']+", subject.casefold()) if word not in lexicon.plain]
    terms = [term for word in words for term in tokenize(word)]
    mine = not lexicon.mine.isdisjoint(re.findall(r"[\w]+", subject.casefold()))
    return terms[0] if len(terms) == 1 and mine and terms[0] in lexicon.kin else None


def _list_group(reader: Reader, query: Query, group: str, now_us: int) -> list[Memory]:
    """Return who belongs to a group of the user's, each with the facts about them, and then former members."""
    lexicon = load_questions()
    members = {stem: place for place, stem in enumerate((*lexicon.groups[group], group))}

    def rank(attribute: str | None) -> int | None:
        return min((members[stem] for stem in tokenize(attribute or "") if stem in members), default=None)

    own = [(place, one) for one in _read_own(reader, query) if (place := rank(one.attribute)) is not None]
    gone = [(len(members) + place, one) for place, one in own if one.stance is Stance.NEGATED]
    held = (one for one in own if one[1].stance is not Stance.NEGATED)
    own = [one for one in held if flag_memory(one[1], query, now_us) is not None]
    names = {one.attribute or "": place for place, one in own}
    names |= {name: place for name in load_attributes() if (place := rank(name)) is not None}
    about: dict[str, int] = {}
    for attribute, place in sorted(names.items(), key=lambda one: one[1]):
        values = [one.value for _, one in own if one.attribute == attribute and one.value]
        kin = f"{_USER}'s {attribute.replace('_', ' ')}"
        about |= dict.fromkeys([kin, *(name for value in values for name in (f"{kin} {value}", value))], place)
    listed = [(place, 0, one) for place, one in (*own, *gone)]
    order = {name: at for at, name in enumerate(lexicon.profile)}
    for name, place in about.items():
        facts = sorted(reader.find(_filter(query, entity=normalise_name(name))), key=lambda one: _place(one, order))
        listed += [(place, 1, one) for one in facts]
    return [one for _, _, one in sorted(listed, key=lambda one: one[:2])]


def _list_plans(reader: Reader, query: Query, intervals: Sequence[Interval], now_us: int) -> list[Memory]:
    """Return what is planned within some times and not over, the next one first, and then what has no date."""
    open_plans = reader.find(replace(_filter(query), stances=OPEN_STANCES))
    dated = [one for one in _read_own(reader, query) if one.valid_from_us is not None and one.valid_from_us > now_us]
    plans = {one.id: one for one in [*open_plans, *dated]}.values()
    ahead = [one for one in plans if not has_ended(one, now_us)]
    timed = [one for one in ahead if get_valid_from_us(one) > now_us or (one.valid_until_us or 0) > now_us]
    undated = [one for one in ahead if one not in timed and intervals is _ALWAYS]
    within = [
        one
        for one in timed
        if any(_is_within(interval, get_valid_from_us(one), one.valid_until_us) for interval in intervals)
    ]
    ordered = [*sorted(within, key=get_valid_from_us), *sorted(undated, key=lambda one: -one.recorded_us)]
    return sorted(ordered, key=lambda one: one.entity != _USER and not get_attribute(one.attribute or "").dated)


def _list_changes(reader: Reader, query: Query, intervals: Sequence[Interval], lexicon: Questions) -> list[Memory]:
    """Return what replaced, corrected or ended another belief within some times, and then what was new, newest first.

    A belief belongs to the time at which it was told first, and to the time since when it holds; what is true since
    before the message that told of it is news all the same. News of the life come before the rest, which is left out
    where a question asks for changes.
    """
    held = [one for one in reader.find(_filter(query)) if one.attribute and one.attribute != _INSTRUCTION]
    sources: dict[str, list[str]] = {}
    for link in reader.evidence(memory_ids=[one.id for one in held]) if held else ():
        sources.setdefault(link.memory_id, []).append(link.span.event_id)
    names = sorted({name for ids in sources.values() for name in ids})
    occurred = {event.id: event.occurred_us for event in reader.events(names)} if names else {}
    statements = {name: [occurred[one] for one in ids if one in occurred] for name, ids in sources.items()}
    first_us = {name: min(times) for name, times in statements.items() if times}
    replaced = reader.find(replace(_filter(query), statuses=_REPLACED)) if query.as_of_us is None else []
    successors = {one.superseded_by for one in replaced if one.relation in {Relation.CHANGED, Relation.CORRECTED}}
    fresh: list[tuple[int, int, Memory]] = []
    least = _TRIFLE if _CHANGED.search(query.text) is None else _NEWS
    for one in held:
        moments = (first_us.get(one.id, one.recorded_us), get_valid_from_us(one))
        inside = [at for at in moments if any(_is_within(interval, at) for interval in intervals)]
        if one.id in successors or one.stance is Stance.NEGATED:
            rank = 0
        else:
            # Whether something new is of the life: who somebody is and lives with, their health, work and plans.
            attribute = normalise_attribute(one.attribute or "")
            weighty = get_attribute(attribute).kind == "person" and (attribute != "name" or one.entity == _USER)
            weighty = weighty or (attribute in lexicon.profile and attribute != "name")
            rank = _NEWS if weighty or one.stance in OPEN_STANCES or one.type is MemoryType.DECISION else _TRIFLE
        if inside and rank <= least:
            fresh.append((rank, -inside[0], one))
    return [one for _, _, one in sorted(fresh, key=lambda one: one[:2])]
