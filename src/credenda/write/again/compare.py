"""Compare a claim with a memory: is it a paraphrase, or a refinement? Pure.

A false match would lose a new fact, so every distinguishing feature must agree: topic, word order, amounts, negation,
time, owner and scope. In doubt both are kept.
"""

from __future__ import annotations

import re
from typing import Final

from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Memory, MemoryType, Status, get_type_class
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name, normalise_value
from credenda.text.singular_plural import fold_plural
from credenda.write.again.sense import Sense, plainly, sense, table
from credenda.write.extract.lexicon import lexicon, names
from credenda.write.extract.restate import restated
from credenda.write.reconcile.slots import ASSERTIVE_STANCES, get_slot, is_denial, is_newly_visible
from credenda.write.reconcile.wording import is_refinement, split_value

__all__ = ["comparable", "more_exact", "other_words", "same_said", "told_plainly"]

_TELLING: Final = 2
"""Minimum number of shared content words of two sentences; fewer occur in any sentence."""
_INSTRUCTION: Final = "instruction"
_ADDED_MAX: Final = 6
_PLURAL: Final = frozenset({"allergy", "likes", "dislikes", "intolerance", "fear", "speaks", "prefers"})
_INDEFINITE: Final = frozenset({"a", "an", "some"})
_DETERMINERS: Final = _INDEFINITE | {"the", "my", "our", "his", "her", "their", "this", "that", "your"}
_VERBAL: Final = frozenset({"run", "use"})
_CHARACTERS: Final = 240
_OPENING: Final = re.compile(
    r"^(?:to be (?:more )?(?:exact|precise|specific)|(?:more )?(?:exactly|precisely|specifically))[,:]? ", re.IGNORECASE
)
_EVENTS: Final = frozenset({"event", "experience", "milestone"})


def told_plainly(claim: Claim) -> bool:
    """Return whether a claim may be a paraphrase: an assertive claim without change. Cheap."""
    plain = (
        claim.move is UpdateKind.STATE
        and claim.stance in ASSERTIVE_STANCES
        and claim.prior is None
        and not claim.provisional
    )
    return plain and len(claim.text) <= _CHARACTERS and "?" not in claim.text and claim.attribute not in _EVENTS


def comparable(claim: Claim, memory: Memory) -> bool:
    """Return whether a memory is assertive and has the speaker, scope and type class of the claim."""
    if (
        memory.status is not Status.ACTIVE
        or memory.contested
        or memory.provisional
        or memory.stance not in ASSERTIVE_STANCES
    ):
        return False
    if normalise_name(claim.speaker) != normalise_name(memory.speaker) or memory.type is MemoryType.NARRATIVE:
        return False
    if (claim.valid_until_us, claim.topic or "") != (memory.valid_until_us, memory.topic or ""):
        return False
    if is_newly_visible(claim, memory) or memory.attribute in _EVENTS or len(memory.text) > _CHARACTERS:
        return False
    loose = get_slot(claim) is None or get_slot(memory) is None
    return loose or get_type_class(claim.type) == get_type_class(memory.type)


def same_said(claim: Claim, memory: Memory, *, alone: bool) -> str | None:
    """Return the shared words by which a claim paraphrases a memory; None if it does not.

    `alone`: the claim and the memory are the only results of their sentences, so that the sentences may be compared.
    """
    known = _same_slot(claim, memory) if is_denial(claim) == is_denial(memory) else _opposite(claim, memory)
    if known is not None:
        return known
    if not alone or normalise_name(claim.scope or "") != normalise_name(memory.scope or ""):
        return None
    asks = claim.attribute == memory.attribute == _INSTRUCTION
    one, other = sense(plainly(claim.text), asks=asks), sense(plainly(memory.text), asks=asks)
    if _same_sense(one, other, asks=asks) and _same_count(claim, memory):
        return ", ".join(dict.fromkeys(one.matters))
    return None


def _same_slot(claim: Claim, memory: Memory) -> str | None:
    """Compare by slot and value, for different words that name one thing."""
    if get_slot(claim) is None or get_slot(memory) is None or not claim.value or not memory.value:
        return None
    mine, its = normalise_attribute(claim.attribute or ""), normalise_attribute(memory.attribute or "")
    if _whose(claim.entity) != _whose(memory.entity) or normalise_name(claim.scope or "") != normalise_name(
        memory.scope or ""
    ):
        return None
    words = table()
    told, held = (f"{name} = {normalise_value(value)}" for name, value in ((mine, claim.value), (its, memory.value)))
    if told != held and any(told in one and held in one for one in words.statements):
        return held
    alike = mine == its or any(mine in one and its in one for one in words.groups) or _named_by(claim, memory)
    if not alike:
        return None
    plural = mine == its and mine in _PLURAL and sense(plainly(claim.text)).bag == sense(plainly(memory.text)).bag
    if mine == its == "allergy" or plural:
        return its if fold_plural(claim.value, "en") == fold_plural(memory.value, "en") else None
    differs = mine != its or normalise_name(claim.entity or "") != normalise_name(memory.entity or "")
    return its if differs and is_same_value(claim.value, memory.value) else None


def _opposite(claim: Claim, memory: Memory) -> str | None:
    """Compare a negated sentence with its positive opposite: "I don't like beer", "I dislike beer"."""
    pair = frozenset({normalise_attribute(claim.attribute or ""), normalise_attribute(memory.attribute or "")})
    entity = normalise_name(claim.entity or "") == normalise_name(memory.entity or "")
    scope = normalise_name(claim.scope or "") == normalise_name(memory.scope or "")
    alike = entity and scope and pair in table().opposite and is_same_value(claim.value, memory.value)
    denied = memory if is_denial(memory) else claim
    return memory.attribute if alike and denied.attribute == "likes" else None


def other_words(claim: Claim) -> list[str]:
    """Return the words of paraphrases that share no word with the claim."""
    told = f"{normalise_attribute(claim.attribute or '')} = {normalise_value(claim.value or '')}"
    same = [one for group in table().statements if told in group for one in group]
    return sorted({word for one in same for word in one.partition(" = ")[2].split()})


def _named_by(claim: Claim, memory: Memory) -> bool:
    """Return whether one names a thing by what the other does with it: "edit with X", "my editor is X"."""
    for one, other in ((claim, memory), (memory, claim)):
        if normalise_attribute(one.attribute or "") == "uses":
            called = sense(f"it is a {normalise_attribute(other.attribute or '').replace('_', ' ')}")
            if called.made and set(called.matters) <= set(sense(plainly(one.text)).matters):
                return True
    return False


def _whose(entity: str | None) -> str:
    key = normalise_name(entity or "")
    owner, of, noun = key.rpartition("'s ")
    return f"{owner}{of}{table().families.get(noun, noun)}"


def _same_sense(one: Sense, other: Sense, *, asks: bool) -> bool:
    if one.moving or other.moving or one.bag != other.bag or len(one.bag) < (1 if asks else _TELLING):
        return False
    if (one.denies, one.past) != (other.denies, other.past):
        return False
    free = one.made | other.made
    ordered = [tuple(word for word in said.matters if word not in free) for said in (one, other)]
    return ordered[0] == ordered[1] and _same_role(one, other)


def _same_role(one: Sense, other: Sense) -> bool:
    """Compare the role of the speaker: "I rehearse" matches "my rehearsals", "I teach" does not match "my teacher"."""
    if one.who == other.who:
        return True
    roles = {one.who, other.who}
    if roles <= {"", "my"} or roles <= {"", "our"}:
        return True
    nominal = bool(one.made | other.made) and not (one.doing or other.doing)
    return nominal and roles in ({"i", "my"}, {"we", "our"})


def _same_count(claim: Claim, memory: Memory) -> bool:
    """Compare number for possessions: one thing is not several."""
    held = {normalise_attribute(one.attribute or "") for one in (claim, memory)} & {"has", "owns", "pet", "child"}
    return not held or set(split_value(claim.value or "")) == set(split_value(memory.value or ""))


def more_exact(claim: Claim, memory: Memory) -> str | None:
    """Return the words that a refinement adds to a memory; None for any other claim."""
    words = table()
    if is_denial(claim) or is_denial(memory) or (claim.attribute or "") == _INSTRUCTION:
        return None
    if normalise_name(claim.scope or "") != normalise_name(memory.scope or ""):
        return None
    kind = _of_its_kind(claim, memory)
    if kind is not None:
        return kind
    if normalise_attribute(memory.attribute or "") in words.beside:
        return None
    one, other = plainly(claim.text), plainly(memory.text)
    return _added(one, other) or _added(restated(one), restated(other))


def _added(new: str, old: str) -> str | None:
    """Return the one run of words that a sentence adds to another, if it makes it more specific."""
    more, less, words = split_value(new), split_value(old), table()
    if len(less) < _TELLING or not is_refinement(new, old) or len(more) - len(less) > _ADDED_MAX:
        return None
    start = next((place for place, word in enumerate(less) if more[place] != word), len(less))
    stop = start + len(more) - len(less)
    added = more[start:stop]
    if more[stop:] != less[start:] or not words.never.isdisjoint(added):
        return None
    if stop == len(more):
        led = added[0] in words.begins and len(added) > 1
        return " ".join(added) if led else None
    verbs = start < _TELLING or words.makes_other & set(added)
    return None if verbs else " ".join(added)


def _of_its_kind(claim: Claim, memory: Memory) -> str | None:
    """Return the specific value that "my dog is a beagle" gives to "a dog"."""
    words, said = table(), _OPENING.sub("", plainly(claim.text))
    found = words.things.match(said)
    if found is None or not memory.value:
        return None
    noun, value, told = found["noun"].lower(), found["value"], plainly(memory.text)
    if names().kin_noun(noun) is not None and noun not in words.animals:
        return None
    left, held = set(sense(f"it is the {found['left']}").matters), sense(told)
    if held.moving or not left <= {*held.matters, "call", "to", "for", "with"} or not _is_indefinite(noun, told):
        return None
    if any(word not in lexicon().forms for word in set(held.matters) - left):
        return None
    named = words.named.match(value) is not None or (found["left"] != noun and words.plural.match(value) is not None)
    return value if named and noun not in split_value(value)[:1] else None


def _is_indefinite(noun: str, told: str) -> bool:
    """Return whether a sentence names a thing only by its kind: "a dog", "nuts"."""
    before = told.lower().partition(noun)[0].split()
    if noun not in told.lower() or not before:
        return False
    nearest = next((word for word in reversed(before) if word in _DETERMINERS), None)
    return nearest in _INDEFINITE or (noun.endswith("s") and before[-1] not in _DETERMINERS) or before[-1] in _VERBAL
