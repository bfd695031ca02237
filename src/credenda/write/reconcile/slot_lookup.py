"""Find the slot of a claim that names only a value: "I sold the Golf", "it's Split, not Zagreb".

The memory that holds the value determines the slot. Only an equal value counts, or for an ending the only memory whose
value contains all its words. If no slot or several slots hold the value, the claim stays unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Final

from credenda.ids import parse_serial
from credenda.model.attributes import TASTES, get_attribute
from credenda.model.claim import PRONOUNS, Claim, UpdateKind
from credenda.model.memory import Cardinality, Memory, MemoryType, Stance, Status
from credenda.storage.store import MemoryFilter, Reader
from credenda.text.changes import DEATH, is_of_others, is_return, is_return_to, is_subject
from credenda.text.normalize import (
    find_named_entities,
    is_same_value,
    normalise_attribute,
    normalise_name,
    normalise_value,
)
from credenda.text.sentences import find_distinction, split_distinct_name
from credenda.text.tokens import tokenize
from credenda.write.extract.moments import iso_day
from credenda.write.extract.voices import lexicon, names
from credenda.write.reconcile.alternation import CHOSEN, is_newer_than
from credenda.write.reconcile.slots import (
    ASSERTIVE_STANCES,
    find_number,
    get_slot,
    has_other_number,
    is_denial,
    is_number,
    replace_number,
    split_value,
)

# Memories that share words with what is being decided.


def find_related(reader: Reader, words: Sequence[str], limit: int) -> list[Memory]:
    """Return the memories that hold the rarest of some words, at most `limit`, in order of id."""
    return sort_by_id(reader.search_memories(words, limit))


def find_same_values(reader: Reader, claim: Claim, status: Status = Status.ACTIVE) -> list[Memory]:
    """Return the memories with a status of a claim's speaker and entity that assert its value, in whatever slot.

    What a thing of the speaker runs on they may have told of themselves: "we keep our docs in Notion".
    """
    own = {normalise_name(claim.speaker)} if claim.attribute in CHOSEN else set[str]()
    entities = own | {normalise_name(claim.entity or "")}
    return [
        one
        for one in find_related(reader, split_value(claim.value or ""), _NOMINATED)
        if one.status is status
        and one.stance is Stance.ASSERTED
        and is_same_value(one.value, claim.value)
        and normalise_name(one.speaker) == normalise_name(claim.speaker)
        and normalise_name(one.entity or "") in entities
        and not get_attribute(one.attribute or "").fixed  # who was born in Linz has not lived there
    ]


def sort_by_id(found: Iterable[Memory]) -> list[Memory]:
    """Put memories in order of id, the oldest first."""
    return sorted(found, key=lambda one: parse_serial(one.id))


_NOMINATED: Final = 64
_DAY: Final = re.compile(r"(?:\d{4}-|--)(?P<month>\d\d)-(?P<day>\d\d)(?: .*)?")
"""A day as values hold it: 2026-06-04, --06-04."""
_PROPERTY: Final = "property"
"""The attribute of what a thing has where the reader finds no name for it."""
_SCHEDULE: Final = "schedule"
_LIKINGS: Final = TASTES | {"likes", "hobby"}
_MET: Final = _LIKINGS | {"dislikes", "experience", "event", "friend", "owns"}
"""Attributes under which something known is met again, and does not take its former place."""
_PLACE: Final = "location"
"""The attribute of where a thing is; that of a person is another one."""
_REACHED: Final = frozenset({"colleague", "contact"})
"""Attributes of whom one may write to again; whom one returns to has a former place."""
_PURPOSE: Final = re.compile(r" to (?!(?:the|an?|my|our|work)\b)[a-z]")
"""Words behind a place where one went back for an hour: "to pick up my things"."""
_VISITED: Final = "visited"
"""The attribute of where one was; "so, Turin again" may tell a home all the same."""
_HAD_TO: Final = re.compile(r"\b(?:had|have|needed) to\b", re.IGNORECASE)
"""Words before what one needs for once: "I had to open Firefox again"."""
_NAMES_OF: Final = frozenset({"name", "full_name", "preferred_name"})
_SPELT_ALIKE: Final = 0.6
"""Share of common letters from which a word is another spelling of a name."""
_LIST: Final = re.compile(r",| (?:and|or) |&")
"""Signs of a value that names several things."""
_CONSUMED: Final = frozenset(tokenize("drink eat take"))
"""What one does with food and drinks, which may be left out: who is "back to coffee" may "drink coffee"."""
_VERBATIM_CONFIDENCE: Final = 0.5
_SPEAKERS: Final = frozenset({"", "user"})
_ACQUAINTED: Final = frozenset({"colleague", "contact", "lives_with"})
"""Relations that end with a job or a home, and no other one with them."""


_EMPLOYER: Final = "employer"
_ORGANISATION: Final = "organisation"
_AT_NOW: Final = re.compile(
    r"(?:(?:and|so|well),? )?I(?:['’]m| am) (?:at|with) (?P<place>[A-Z][\w&.'’-]*(?: [A-Z][\w&.'’-]*){0,2}) now[.!]*$"
)
_WHEREABOUTS: Final = frozenset(
    "airport station park hotel beach mall cafe café restaurant gym hospital museum stadium conference hall bar pub"  # noqa: SIM905
    " church school university college library starbucks ikea disneyland heathrow mcdonald's mcdonald’s".split()
)
"""Last words of places where somebody is for an hour."""
_NOW_CONFIDENCE: Final = 0.8


def has_no_slot(claim: Claim) -> bool:
    """Return whether a claim ends or corrects a value or gives a number without a slot, and so states nothing alone."""
    moves = {UpdateKind.END, UpdateKind.CORRECT}
    return get_slot(claim) is None and (claim.move in moves or is_bare_value(claim))


def is_bare_value(claim: Claim) -> bool:
    """Return whether a claim gives a new value for an unnamed thing: "make that 15", "sorry, 19 March, not 9"."""
    unnamed = claim.entity is None and claim.attribute is None
    return unnamed and claim.value is not None and claim.move in {UpdateKind.CHANGE, UpdateKind.CORRECT}


def keep_verbatim(claim: Claim) -> Claim:
    """Keep an ending of an unknown value as verbatim text: "I sold the boat" implies that there was a boat."""
    return replace(
        claim,
        entity=None,
        attribute=None,
        value=None,
        prior=None,
        move=UpdateKind.STATE,
        cardinality=Cardinality.SINGLE,
        confidence=min(claim.confidence, _VERBATIM_CONFIDENCE),
    )


def resolve_from_previous(claim: Claim, previous: Iterable[Memory], occurred_us: int) -> Claim:
    """Move a bare value to the slot of the only value of its kind in the previous statement, if there is one."""
    held = [
        one
        for one in previous
        if one.status is Status.ACTIVE and one.stance in ASSERTIVE_STANCES and get_slot(one) is not None
    ]
    if claim.prior:
        return _correct_named(claim, held, occurred_us)
    if claim.value and find_number(claim.value) is None:
        corrects = claim.move is UpdateKind.CORRECT
        named = [
            one
            for one in (held if corrects else _filter_replaceable(held))
            if _is_same_kind(one.value or "", claim.value)
        ]
        alone = len(named) == 1 and (corrects or len(held) == 1)
        return replace(_move_to_slot(named, claim), prior=named[0].value) if alone else claim
    numbered = [one for one in held if find_number(one.value or "") is not None]
    if len(numbered) != 1 or not claim.value:
        return claim
    return replace(_move_to_slot(numbered, claim), value=replace_number(numbered[0].value or "", claim.value))


def _correct_named(claim: Claim, held: Iterable[Memory], occurred_us: int) -> Claim:
    """Move a value to the one memory whose value has the wrong words that it names, if it is of the same kind."""
    wrong = {*tokenize(claim.prior or "")}
    named = [one for one in held if wrong <= {*tokenize(one.value or ""), *_list_day(one)}]
    if len(named) != 1 or not claim.value or named[0].stance is not Stance.ASSERTED:
        return claim
    (memory,) = named
    old, value = memory.value or "", claim.value
    if _list_day(memory):
        value = iso_day(value, occurred_us, memory.attribute or "")
        days = _DAY.fullmatch(value), _DAY.fullmatch(old)
        if days[0] is None or days[1] is None or days[0]["month"] != days[1]["month"]:
            return claim
        value = old[: days[1].start("month")] + value[days[0].start("month") :]
    elif find_number(old) is not None:
        unit = value.partition(" ")[2]
        if find_number(value) is None or not {*tokenize(unit)} <= {*tokenize(old)}:
            return claim
        value = replace_number(old, value)
    elif not is_same_value(old, claim.prior):
        value = _replace_part(claim, memory) or ""
    if not value:
        return claim
    return replace(_move_to_slot(named, claim), value=value, prior=old)


def _list_day(memory: Memory) -> list[str]:
    """List the day of the month of a value that is a day, as people write it."""
    found = _DAY.fullmatch(memory.value or "")
    return [] if found is None else [found["day"].lstrip("0")]


def _is_same_kind(one: str, other: str) -> bool:
    """Return whether two values could answer the same question: both are names, or things of one category."""
    if all(is_number(value.lower().removeprefix("at ")) for value in (one, other)):
        return True
    kinds = {lexicon().category(one), lexicon().category(other)}
    named = all(value.rpartition(" ")[2][:1].isupper() for value in (one, other))
    return named if None in kinds else len(kinds) == 1


def resolve_slot(reader: Reader, claim: Claim) -> Claim:
    """Move a claim to the slot of the memory that its words refer to; without one, return it unchanged."""
    if get_slot(claim) is None and claim.move is UpdateKind.STATE and claim.stance is Stance.ASSERTED:
        return _resolve_new_employer(reader, claim)
    claim = _resolve_liking(reader, claim)
    if claim.move is UpdateKind.END:
        return _resolve_ending(reader, claim)
    if claim.move is UpdateKind.CHANGE and is_without_attribute(claim) and not is_return(claim.text):
        return _resolve_switched(reader, claim)
    if claim.move is not UpdateKind.CORRECT and (returned := _resolve_returned(reader, claim)) is not claim:
        return returned
    return _resolve_replaced(reader, claim)


def _resolve_switched(reader: Reader, claim: Claim) -> Claim:
    """Give a firm to which somebody switched the slot of the only employer that is held of somebody of that name."""
    name = normalise_name((claim.entity or "").rpartition(_OWNER)[2])
    held = [
        one
        for one in _load_active(reader, name.rpartition(" ")[2])
        if one.attribute == _EMPLOYER
        and one.stance is Stance.ASSERTED
        and (normalise_name((one.entity or "").rpartition(_OWNER)[2]) == name or _is_named(one, name))
    ]
    return _move_to_slot(held, claim)


def _resolve_replaced(reader: Reader, claim: Claim) -> Claim:
    """Find the memory whose value a change or correction replaces."""
    if claim.move in {UpdateKind.CORRECT, UpdateKind.CHANGE} and claim.prior:
        held = [one for one in _find_mentions(reader, claim, claim.prior) if is_same_value(one.value, claim.prior)]
        here = get_slot(claim)
        known = _filter_replaceable(held) if claim.move is UpdateKind.CHANGE else held
        if any(here is not None and get_slot(one) == here for one in held):
            return claim
        if claim.move is UpdateKind.CORRECT and (corrected := _correct_part(reader, claim)) is not claim:
            return corrected
        return _move_to_slot(known, claim) if known else _resolve_wider(reader, claim)
    if claim.move is UpdateKind.CHANGE and claim.entity is not None and claim.value:
        own = normalise_name(claim.entity) == normalise_name(claim.speaker)
        if own and claim.attribute is not None and find_number(claim.value):
            # Find the only memory of another version under another attribute: "a Pixel 6" was stored as the phone.
            value = claim.value
            here = get_slot(claim)
            held = [
                one
                for one in _find_mentions(reader, claim, value)
                if _may_end(one) and has_other_number(value, one.value or "")
            ]
            return claim if any(get_slot(one) == here for one in held) else _move_to_slot(held, claim)
    return claim


def _correct_part(reader: Reader, claim: Claim) -> Claim:
    """Correct the part of the one held value that a claim names as wrong: "Tom Brandvold" by "Brandvoll"."""
    wrong, right = claim.prior or "", claim.value or ""
    mentions = [one for one in _find_mentions(reader, claim, wrong) if get_slot(claim) in {None, get_slot(one)}]
    found = [(one, value) for one in mentions if (value := _replace_part(claim, one)) is not None]
    if len(found) != 1 or not right:
        return claim
    memory, value = found[0]
    return replace(_move_to_slot([memory], claim), value=value, prior=memory.value)


def _replace_part(claim: Claim, memory: Memory) -> str | None:
    """Return the value of a memory with its wrong words replaced by as many right ones, if it has others beside them.

    Of somebody's first and last name another one is another person, unless it is spelt alike or is the name itself.
    """
    wrong, right, held = claim.prior or "", claim.value or "", memory.value or ""
    words = held.split()
    if "@" in held and "@" in right:
        return right  # of an address the wrong part is enough
    pattern = re.compile(rf"(?<![\w-]){re.escape(wrong)}(?![\w-])", re.IGNORECASE)
    if len(pattern.findall(held)) != 1 or len(wrong.split()) != len(right.split()) or len(words) <= len(wrong.split()):
        return None
    bearer = all(word[:1].isupper() for word in words) and memory.attribute not in _NAMES_OF
    alike = SequenceMatcher(None, wrong.casefold(), right.casefold()).ratio() >= _SPELT_ALIKE
    if get_attribute(memory.attribute or "").dated or (bearer and not alike):
        return None
    return pattern.sub(lambda _: right, held)


def resolve_property(reader: Reader, claim: Claim) -> Claim:
    """Move a property of a thing to the one attribute of that thing which the sentence names: "is on port 6432"."""
    if claim.attribute != _PROPERTY or not (claim.entity and claim.value):
        return claim
    wanted = MemoryFilter(entity=normalise_name(claim.entity), statuses=frozenset({Status.ACTIVE}), limit=_NOMINATED)
    said = {*tokenize(claim.text)} - {*tokenize(claim.entity)}
    named = {
        one.attribute
        for one in reader.find(wanted)
        if one.attribute and one.attribute != _PROPERTY and {*tokenize(one.attribute.replace("_", " "))} <= said
    }
    return replace(claim, attribute=named.pop()) if len(named) == 1 else claim


def resolve_owned(reader: Reader, claim: Claim) -> Claim:
    """Move the time of "the standup" to the slot that "my standup" opened, and a change the other way round."""
    own = normalise_name(claim.speaker)
    named = normalise_name(claim.entity or "") != own
    if named and claim.attribute == _SCHEDULE and claim.entity:
        pair = own, normalise_attribute(claim.entity)
    elif not named and claim.attribute and claim.move is UpdateKind.CHANGE and find_number(claim.value or ""):
        pair = normalise_name(claim.attribute.replace("_", " ")), _SCHEDULE
    else:
        return claim
    held = reader.find(MemoryFilter(pair=pair, statuses=frozenset({Status.ACTIVE}), limit=_NOMINATED))
    moved = _move_to_slot([one for one in held if get_slot(one) is not None], claim)
    return replace(moved, cardinality=claim.cardinality)


def _resolve_liking(reader: Reader, claim: Claim) -> Claim:
    """Move a liking to the slot that holds it: not every sentence tells the kind of thing."""
    if claim.type is not MemoryType.PREFERENCE or claim.attribute not in _LIKINGS or not claim.value:
        return claim
    held = [
        one
        for one in _find_mentions(reader, claim, claim.value)
        if one.type is MemoryType.PREFERENCE and one.attribute in _LIKINGS and is_same_value(one.value, claim.value)
    ]
    return claim if any(get_slot(one) == get_slot(claim) for one in held) else _move_to_slot(held, claim)


def _resolve_returned(reader: Reader, claim: Claim) -> Claim:
    """Move a value that is said to be back to the slot in which another one took its place.

    "I'm back together with Nadia" has the slot of "my girlfriend is Nadia", which now has another value.
    """
    told = bool(claim.entity and claim.value) and claim.stance is Stance.ASSERTED and is_return(claim.text)
    told = told and claim.attribute not in _MET and claim.valid_until_us is None
    ended = [
        one
        for one in (find_related(reader, split_value(claim.value or ""), _NOMINATED) if told else [])
        if one.status is Status.SUPERSEDED
        and one.stance is Stance.ASSERTED
        and _is_value_named(claim, one)
        and normalise_name(one.speaker) == normalise_name(claim.speaker)
        and _is_of_subject(claim, one)
        and _may_be_replaced(one)
    ]
    here = [one for one in ended if get_slot(one) == get_slot(claim)]
    here = here or (_find_without_noun(reader, claim) if told else [])
    if here:
        same = any(is_same_value(one.value, claim.value) for one in here)
        return claim if same else replace(claim, value=here[-1].value)
    if claim.move is not UpdateKind.CHANGE or not _is_for_good(claim):
        return claim
    kept = [one for one in ended if _is_taken(reader, one, free=claim.attribute is None)]
    if not kept and claim.attribute == _PLACE:
        held = _find_mentions(reader, replace(claim, entity=claim.speaker), claim.value or "")
        kept = [one for one in held if is_same_value(one.value, claim.value) and _is_of_subject(claim, one)]
    kept = kept or (_find_replaced_unended(reader, claim) if told else [])
    found = _move_to_slot(kept, claim)
    return claim if found is claim else replace(found, value=kept[-1].value)


def _find_replaced_unended(reader: Reader, claim: Claim) -> list[Memory]:
    """Find the memory that holds a value which is back, in another slot where a change to a value was told since.

    "We host on Heroku", "We host on Render now", "Heroku is our hosting again": the reader named the slot otherwise.
    """
    pair = (normalise_name(claim.entity or ""), normalise_attribute(claim.attribute or ""))
    if claim.attribute and reader.find(MemoryFilter(pair=pair, statuses=frozenset({Status.ACTIVE}), limit=1)):
        return []
    return [
        one
        for one in find_related(reader, split_value(claim.value or ""), _NOMINATED)
        if one.status is Status.ACTIVE
        and one.stance is Stance.ASSERTED
        and _is_value_named(claim, one)
        and normalise_name(one.speaker) == normalise_name(claim.speaker)
        and (_is_of_subject(claim, one) or _is_owned(one))
        and one.attribute not in _MET - TASTES
        and get_attribute(one.attribute or "").ends
        and any(is_newer_than(claim, one, other) for other in _find_beside(reader, one))
    ]


def _find_beside(reader: Reader, memory: Memory) -> list[Memory]:
    """Find the other values that are held beside one."""
    pair = (normalise_name(memory.entity or ""), normalise_attribute(memory.attribute or ""))
    held = reader.find(MemoryFilter(pair=pair, statuses=frozenset({Status.ACTIVE}), limit=_NOMINATED))
    return [one for one in held if one.stance is Stance.ASSERTED and not is_same_value(one.value, memory.value)]


def _is_owned(memory: Memory) -> bool:
    """Return whether a memory is about a thing that it calls the speaker's: "our CI runs on Jenkins"."""
    thing = memory.entity or ""
    return bool(thing) and re.search(rf"\b(?:my|our) {re.escape(thing)}\b", memory.text, re.IGNORECASE) is not None


def _find_without_noun(reader: Reader, claim: Claim) -> list[Memory]:
    """Find the active memory of a claim's slot whose value the claim gives without the noun of the attribute."""
    held = _find_mentions(reader, claim, claim.value or "")
    return [one for one in held if get_slot(one) == get_slot(claim) and _is_value_named(claim, one)]


def _is_for_good(claim: Claim) -> bool:
    """Return whether a value is back, and not gone to for a purpose, needed for once, or written to again."""
    at = claim.text.find(claim.value or "")
    if at < 0 or _PURPOSE.match(claim.text, at + len(claim.value or "")):
        return False
    once = claim.attribute in _REACHED or _HAD_TO.search(claim.text, 0, at) is not None
    once = once or (claim.attribute == _VISITED and not is_subject(claim.text, claim.value or ""))
    return not is_of_others(claim.text, at) and (not once or is_return_to(claim.text, at))


def _is_value_named(claim: Claim, memory: Memory) -> bool:
    """Return whether a claim has the value of a memory, or a part of it and the rest beside it in its sentence.

    The noun of the attribute may be left out: "keto" is the "keto diet", and who is "training in the evening again" has
    the former "train in the evening".
    """
    if is_same_value(memory.value, claim.value):
        return True
    noun = {*tokenize((memory.attribute or "").replace("_", " "))} | _CONSUMED
    held, said = ({*tokenize(value or "")} - noun for value in (memory.value, claim.value))
    return bool(said) and said <= held <= {*tokenize(claim.text)}


def _is_of_subject(claim: Claim, memory: Memory) -> bool:
    """Return whether a memory is about the subject of a claim: a pronoun may stand for it, or a thing it tells of.

    "My notes live in Obsidian again" is about the user, who said "I take my notes in Obsidian".
    """
    held, told = normalise_name(memory.entity or ""), normalise_name(claim.entity or "")
    own = held == normalise_name(claim.speaker)
    place = own and claim.attribute == _PLACE and {*tokenize(told)} <= {*tokenize(memory.text)}
    return held == told or place or (told in PRONOUNS and not own)


def _is_taken(reader: Reader, ended: Memory, *, free: bool) -> bool:
    """Return whether another value has taken the place of one that ended; `free`: or none holds there now."""
    pair = (normalise_name(ended.entity or ""), normalise_attribute(ended.attribute or ""))
    held = reader.find(MemoryFilter(pair=pair, statuses=frozenset({Status.ACTIVE}), limit=_NOMINATED))
    here = [one for one in held if get_slot(one) == get_slot(ended) and one.stance is Stance.ASSERTED]
    return (bool(here) or free) and not any(is_same_value(one.value, ended.value) for one in here)


def is_without_attribute(claim: Claim) -> bool:
    """Return whether a claim says that a value is back without saying of what: "I returned to Bosch"."""
    return claim.entity is not None and claim.attribute is None and claim.value is not None


def _resolve_new_employer(reader: Reader, claim: Claim) -> Claim:
    """Read "I'm at Microsoft now" as a change of employer, if the speaker has one employer."""
    found = _AT_NOW.match(claim.text)
    if found is None or found["place"].casefold().split()[-1] in _WHEREABOUTS:
        return claim
    held = [
        one
        for one in reader.find(
            MemoryFilter(
                pair=(normalise_name(claim.speaker), _EMPLOYER), statuses=frozenset({Status.ACTIVE}), limit=_NOMINATED
            )
        )
        if one.stance is Stance.ASSERTED and normalise_name(one.speaker) == normalise_name(claim.speaker)
    ]
    if len({get_slot(one) for one in held}) != 1:
        return claim
    moved = _move_to_slot(held, claim)
    return replace(
        moved, value=found["place"], move=UpdateKind.CHANGE, confidence=max(claim.confidence, _NOW_CONFIDENCE)
    )


def _resolve_wider(reader: Reader, claim: Claim) -> Claim:
    """Find the only memory whose value has all the replaced words: "my Samsung" is the "Samsung phone"."""
    words = set(split_value(claim.prior or ""))
    held = [one for one in _find_mentions(reader, claim, claim.prior or "") if _may_be_replaced(one)]
    wider = [
        one for one in held if claim.move is UpdateKind.CHANGE and words and words <= set(split_value(one.value or ""))
    ]
    found = _move_to_slot(wider, claim)
    return found if found is claim else replace(found, prior=wider[0].value)


def _resolve_ending(reader: Reader, claim: Claim) -> Claim:
    """Find the memory that ends; the extracted slot is right if it holds the value."""
    if not claim.value:
        return claim
    held = [one for one in _find_mentions(reader, claim, claim.value) if _may_end(one)]
    here = get_slot(claim)
    named = [one for one in held if is_same_value(one.value, claim.value)]
    exact = [one for one in named if _may_end_relation(claim, one)]
    if exact:
        same = any(here is not None and get_slot(one) == here for one in exact)
        return claim if same else _move_to_slot(exact, claim)
    if named or (claim.attribute in _ACQUAINTED and claim.value[:1].isupper() and not held):
        return replace(claim, attribute=None)  # it ends nothing that is held
    bare = rf"\b{re.escape(claim.value)}(?:\W*$|[,.;!]| (?:any ?more|now|but|because|since)\b)" if claim.value else "$^"
    if here is not None and is_same_value(claim.value, claim.attribute) and re.search(bare, claim.text, re.IGNORECASE):
        # "I no longer have a dog" ends the one that is held, whatever its name is
        pair = (normalise_name(claim.entity or ""), normalise_attribute(claim.attribute or ""))
        named = reader.find(MemoryFilter(pair=pair, statuses=frozenset({Status.ACTIVE}), limit=_NOMINATED))
        named = [one for one in named if get_slot(one) == here and one.stance is Stance.ASSERTED]
        return replace(claim, value=named[0].value) if len(named) == 1 else keep_verbatim(claim)
    named = [one for one in held if get_slot(one) == here and _is_named_by_kind(claim.value, one)]
    named = named or _find_by_role(reader, claim) or [one for one in held if _is_named_with_noun(claim.value, one)]
    if len({get_slot(one) for one in named}) == len(named) == 1:
        claim = _move_to_slot(named, claim)
        return replace(claim, value=named[0].value)
    wider = [
        one
        for one in held
        if not get_attribute(one.attribute or "").hurts
        and set(split_value(claim.value)) <= set(split_value(one.value or ""))
        and not _LIST.search(one.value or "")  # who gives up coffee may go on with the tea
    ]
    found = _move_to_slot(wider, claim)
    only = len({normalise_value(one.value or "") for one in wider}) == 1
    return replace(found, value=wider[0].value) if only and found is not claim else found


def _find_by_role(reader: Reader, claim: Claim) -> list[Memory]:
    """Find whom the slot of a claim holds as what it names: "my flatmate moved out", and "my flatmate Ivo" before."""
    if get_slot(claim) is None or not (claim.value or "").islower():
        return []
    pair = (normalise_name(claim.entity or ""), normalise_attribute(claim.attribute or ""))
    return [
        one
        for one in reader.find(MemoryFilter(pair=pair, statuses=frozenset({Status.ACTIVE}), limit=_NOMINATED))
        if get_slot(one) == get_slot(claim)
        and one.stance is Stance.ASSERTED
        and f" {normalise_value(f'{claim.value} {one.value}')} " in f" {normalise_value(one.text)} "
    ]


def _is_named_with_noun(value: str, memory: Memory) -> bool:
    """Return whether a value has the noun of its attribute beside it: "FitX membership" of the membership "FitX"."""
    noun = {*tokenize((memory.attribute or "").replace("_", " "))}
    told, held = ({*tokenize(one)} for one in (value, memory.value or ""))
    return bool(held) and held < told and told - held <= noun


def _may_end_relation(claim: Claim, memory: Memory) -> bool:
    """Return whether an end can be that of the relation that a memory holds; of any other memory it can.

    The end of another relation ends none by birth, and who moves out or leaves a firm is still a friend.
    """
    held, told = normalise_attribute(memory.attribute or ""), normalise_attribute(claim.attribute or "")
    noun = held.replace("_", " ")
    if names().kin_noun(noun) is None and held not in _ACQUAINTED:
        return True
    which = find_distinction(claim.value or "", claim.text)
    if which and which.casefold() not in memory.text.casefold():
        return False  # another one of that name
    if held == told or re.search(rf"\b{re.escape(noun)}\b", claim.text, re.IGNORECASE) or DEATH.search(claim.text):
        return True
    return told not in _ACQUAINTED and not get_attribute(held).by_birth


def _is_named_by_kind(value: str, memory: Memory) -> bool:
    """Return whether a value is what an organisation is, by the end of its name: "the bakery" is "Lumen Bakery"."""
    organisation = get_attribute(memory.attribute or "").kind == _ORGANISATION
    return organisation and normalise_value(memory.value or "").endswith(f" {normalise_value(value)}")


def _may_end(memory: Memory) -> bool:
    name = memory.attribute or ""
    is_liked = name in TASTES and memory.type is MemoryType.PREFERENCE
    return get_attribute(name).ends and not is_liked and not name.startswith(("former_", "favourite_"))


def _may_be_replaced(memory: Memory) -> bool:
    """Return whether another value can replace this one; a relative by birth has no replacement."""
    return _may_end(memory) and not get_attribute(memory.attribute or "").by_birth


def _filter_replaceable(held: list[Memory]) -> list[Memory]:
    """Choose the memories that another value can replace; a favourite only if no other memory has its value."""
    favourites = [one for one in held if (one.attribute or "").startswith("favourite_")]
    return [one for one in held if _may_be_replaced(one)] or favourites


def _find_mentions(reader: Reader, claim: Claim, value: str) -> list[Memory]:
    """Give the active memories about the speaker that mention a value, found by its words."""
    speaker = normalise_name(claim.speaker)
    return [
        one
        for one in find_related(reader, split_value(value), _NOMINATED)
        if one.status is Status.ACTIVE
        and one.stance in ASSERTIVE_STANCES
        and not is_denial(one)
        and normalise_name(one.speaker) == speaker
        and get_slot(one) is not None
        and _is_about_same(claim, one)
    ]


def _is_about_same(claim: Claim, memory: Memory) -> bool:
    """Return whether the claim can be about the person of a memory: "I left Shell" is not about the speaker's sister.

    A claim about the sister is not about the speaker's memory either, unless the memory names her.
    """
    if normalise_name(claim.entity or "") == normalise_name(memory.entity or ""):
        return True
    if split_distinct_name(claim.entity or "") is not None:
        return False
    of_claim, of_memory = _list_person_words(claim), _list_person_words(memory)
    if of_claim and of_claim.isdisjoint(split_value(memory.text)):
        return False
    return not of_memory or not of_memory.isdisjoint(split_value(claim.text))


def _list_person_words(said: Claim | Memory) -> frozenset[str]:
    """Return the words that name the other person of a claim or memory; none if it is about the speaker or a thing."""
    key = normalise_name(said.entity or "")
    if key in _SPEAKERS or key == normalise_name(said.speaker):
        return frozenset()
    bare = key.removeprefix("user's ").removeprefix("my ")
    kin = names().kin_noun(bare.rpartition("'s ")[2].partition(" ")[0])
    capital = (said.entity or "")[:1].isupper() and said.attribute != "date"
    return frozenset(split_value(bare)) if kin is not None or capital else frozenset()


def _move_to_slot(held: Iterable[Memory], claim: Claim) -> Claim:
    found = {get_slot(one): one for one in held}
    if len(found) != 1:
        return claim
    (memory,) = found.values()
    return replace(
        claim,
        entity=memory.entity,
        attribute=memory.attribute,
        scope=memory.scope,
        type=memory.type,
        cardinality=memory.cardinality,
    )


# Resolve which of several relatives or pets a claim is about: "my son Emil", and "my son" after it.


_OWNER: Final = "'s "
_OF_PERSONS: Final = {"location": "residence", "lives_in": "residence"}
"""Attributes that extraction gives to things and places, and their names for persons."""
_NAME: Final = re.compile(r"[A-Z\u00c0-\u00de][\w-]{1,30}$")
"""A first name alone."""
_REPLACING_KINDS: Final = frozenset({UpdateKind.CHANGE, UpdateKind.END, UpdateKind.CORRECT})


def resolve_relative(reader: Reader, claim: Claim) -> Claim:
    """Move a claim about one of several relatives or pets to the entity whose slot has a value already."""
    claim = _resolve_distinct(reader, claim)
    found = _split_kin_and_name(claim.entity or "")
    if found is None or not claim.attribute:
        return _resolve_by_name(reader, claim) if claim.attribute and _NAME.match(claim.entity or "") else claim
    kin, name = found
    held = [
        one
        for one in _find_relatives(reader, kin)
        if normalise_attribute(one.attribute or "") == normalise_attribute(claim.attribute)
    ]
    if any(normalise_name(one.entity or "") == normalise_name(claim.entity or "") for one in held):
        return claim
    others = {one.entity for one in held if one.entity}
    if not name:
        return replace(claim, entity=next(iter(others))) if len(others) == 1 else claim
    unnamed = [one for one in held if normalise_name(one.entity or "") == normalise_name(kin)]
    same = claim.move in _REPLACING_KINDS or any(is_same_value(one.value, claim.value) for one in unnamed)
    if len(others) == 1 and unnamed and (same or _is_called(reader, kin, name)):
        return replace(claim, entity=unnamed[0].entity)
    return claim


def _resolve_distinct(reader: Reader, claim: Claim) -> Claim:
    """Move a claim about "Anna from school" to the one friend Anna whose memories have these words."""
    found = split_distinct_name(claim.entity or "")
    if found is None or found[1] == "other":
        return claim
    name, which = normalise_name(found[0]), found[1].casefold()
    told = [one for one in _load_active(reader, name) if _is_named(one, name) and which in one.text.casefold()]
    bearers = {one.entity for one in told}
    return replace(claim, entity=told[0].entity) if len(bearers) == 1 else claim


def _resolve_by_name(reader: Reader, claim: Claim) -> Claim:
    """Move a claim about "Emil" to the son of that name, if only his slot has a value.

    A claim about an attribute of persons is moved to the only entity of that name, if the bare name has no memory.
    """
    key, name = normalise_attribute(claim.attribute or ""), normalise_name(claim.entity or "")
    if find_distinction(claim.entity or "", claim.text):
        return claim  # somebody new of that name
    known = _load_active(reader, name)
    lives = (key in _OF_PERSONS or key == "residence") and (claim.value or "").casefold().rpartition(" ")[
        2
    ] not in _WHEREABOUTS
    asked = {key, *(one for one in (*_OF_PERSONS, "residence") if lives)}
    held = [one for one in known if normalise_attribute(one.attribute or "") in asked]
    own = {one.attribute or "" for one in held if normalise_name(one.entity or "") == name}
    if own:
        return replace(claim, attribute=next(iter(own))) if len(own) == 1 and key not in own else claim
    called = {(one.entity, one.attribute) for one in held if _is_named(one, name)}
    if len(called) == 1:
        ((entity, attribute),) = called
        return replace(claim, entity=entity, attribute=attribute)
    bearers = {one.entity for one in known if _is_named(one, name)}
    bare = any(normalise_name(one.entity or "") == name for one in known)
    alone = not called and not bare and len(bearers) == 1 and get_attribute(key).person
    return replace(claim, entity=next(iter(bearers))) if alone else claim


def resolve_bearer(reader: Reader, claim: Claim) -> Claim:
    """Move a claim about a bare name to the only entity that bears it, if the bare name has no memory."""
    known = _load_active(reader, claim.entity) if claim.entity and _NAME.match(claim.entity) else []
    found = find_named_entities(claim.entity or "", (one.entity or "" for one in known))
    return replace(claim, entity=found[0]) if len(found) == 1 else claim


def _is_named(memory: Memory, name: str) -> bool:
    known, distinct = _split_kin_and_name(memory.entity or ""), split_distinct_name(memory.entity or "")
    named = known[1] if known is not None else distinct[0] if distinct is not None else ""
    return normalise_name(named) == name


def _load_active(reader: Reader, word: str) -> list[Memory]:
    return [one for one in find_related(reader, [word], _NOMINATED) if one.status is Status.ACTIVE and one.entity]


def _split_kin_and_name(entity: str) -> tuple[str, str] | None:
    """Split "user's son Emil" into relation and name; None for other entities.

    >>> (_split_kin_and_name("user's older sister Ana Maria"), _split_kin_and_name("user's son"),
    ... _split_kin_and_name("user's bicycle"))
    (("user's older sister", 'Ana Maria'), ("user's son", ''), None)
    """
    owner, _, rest = entity.rpartition(_OWNER)
    words = rest.split(" ")
    at = next((place for place, word in enumerate(words) if names().kin_noun(word)), None)
    if not owner or at is None or not all(word[:1].isupper() for word in words[at + 1 :]):
        return None
    return f"{owner}{_OWNER}{' '.join(words[: at + 1])}", " ".join(words[at + 1 :])


def _find_relatives(reader: Reader, kin: str) -> list[Memory]:
    """Read the active memories about whoever is such a relative, found by the word for it."""
    key = normalise_name(kin)
    return [
        one
        for one in _load_active(reader, kin.rpartition(" ")[2])
        if (known := _split_kin_and_name(one.entity or "")) is not None and normalise_name(known[0]) == key
    ]


def _is_called(reader: Reader, kin: str, name: str) -> bool:
    """Return whether the only relative of that kind is known to have this name."""
    owner, _, noun = kin.rpartition(_OWNER)
    wanted = MemoryFilter(
        pair=(normalise_name(owner), normalise_attribute(noun)), statuses=frozenset({Status.ACTIVE}), limit=2
    )
    called = reader.find(wanted)
    return len(called) == 1 and is_same_value(called[0].value, name)
