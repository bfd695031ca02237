"""Implied endings: a claim that ends a value of its entity under another attribute name. Pure.

That is the same functional attribute under another name (an employer and "unemployed", a spouse and "single"), or the
same value under an attribute that says the opposite or the past. Nothing else in another slot ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from credenda.model.attributes import TASTES
from credenda.model.change import Add, Change, Confirm, Supersede
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Memory, MemoryType, Relation, Stance, Status
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name, normalise_value
from credenda.write.reconcile.candidate import make_candidate
from credenda.write.reconcile.fulfilment import PLANS, is_settled, lemmatise_verb, may_settle
from credenda.write.reconcile.inputs import StatementContext
from credenda.write.reconcile.slots import ASSERTIVE_STANCES, display_value, get_valid_from_us
from credenda.write.reconcile.wording import explain_replacement

__all__ = ["PLANS", "find_affected_attributes", "find_implied_endings"]

_JOBLESS: Final = (
    r"^(?:unemployed|between jobs|out of work|jobless|job[- ]hunting|looking for (?:a job|work)|laid off|fired|sacked"
    r"|dismissed|let go|made redundant|(?:quit|lose|leave) (?:my|his|her|their) job)"
)
_UNATTACHED: Final = r"^(?:single|unmarried|divorced|separated|widowed)"
_PARTNERS: Final = ("spouse", "wife", "husband", "girlfriend", "boyfriend", "partner", "fiancé", "fiancée")
_FORMER: Final = "former_"
_FORMERLY: Final = "formerly"
_PRACTISED: Final = (
    *("does", "plays", "drinks", "eats", "uses", "habit", "hobby", "learning", "diet", "has", "owns", "dog", "cat"),
    *("member_of", "trait", "rides", "drives", "sport", "studies", "field_of_study", "lives_with", "situation"),
)
"""Attributes of activities, possessions and traits that "I used to" ends."""
_LIKED: Final = TASTES | {"hobby"}
_I: Final = re.compile(r"^(?:i|we)(?:['\u2019](?:m|re)| am| are)? ", re.IGNORECASE)
_SMALL: Final = frozenset({"a", "an", "the", "my", "our", "to", "some", "new", "another"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """A claim with one of these attributes and a matching value ends matching values of other attributes.

    `changing`: only for a claim of change. `same`: only for an equal value.
    """

    of: tuple[str, ...]
    says: re.Pattern[str] | None = None
    ends: tuple[str, ...]
    held: re.Pattern[str] | None = None
    changing: bool = False
    same: bool = False


def _compile(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_RULES: Final = (
    _Rule(of=("employer", "job_title"), ends=("employment_status",), held=_compile(_JOBLESS)),
    _Rule(
        of=("employer",),
        ends=("employment_status",),
        held=_compile(r"^(?:self-employed|freelance|retired)"),
        changing=True,
    ),
    _Rule(of=("employment_status",), says=_compile(rf"{_JOBLESS}|^retired"), ends=("employer", "former_employment")),
    _Rule(of=("employment_status",), says=_compile("^(?:freelance|self)"), ends=("employer",), changing=True),
    _Rule(of=("marital_status",), says=_compile(_UNATTACHED), ends=_PARTNERS, changing=True),
    _Rule(of=_PARTNERS, ends=("marital_status",), held=_compile(_UNATTACHED)),
    _Rule(
        of=("spouse", "wife", "husband"), ends=("girlfriend", "boyfriend", "partner", "fiancé", "fiancée"), same=True
    ),
    _Rule(of=("likes",), ends=("dislikes",), same=True),
    _Rule(of=("dislikes",), ends=("likes",), same=True),
)


def _match_rules(claim: Claim) -> list[_Rule]:
    name = _name_slot(claim)
    value = claim.value or ""
    return [
        rule
        for rule in _RULES
        if name in rule.of
        and (rule.says is None or rule.says.search(value))
        and (not rule.changing or claim.move is not UpdateKind.STATE)
    ]


def _name_slot(said: Claim | Memory) -> str:
    """Return the attribute of a claim or memory; that of every liking, whatever its topic, is "likes"."""
    name = normalise_attribute(said.attribute or "")
    return "likes" if name in _LIKED and said.type is MemoryType.PREFERENCE else name


def find_affected_attributes(claim: Claim) -> tuple[str, ...]:
    """Return the attributes of the same entity whose values a claim may end; () for most claims."""
    if claim.entity is None or claim.attribute is None or claim.move is UpdateKind.RETRACT:
        return ()
    if claim.stance is not Stance.ASSERTED or claim.move is UpdateKind.END:
        return ()
    named = {one for rule in _match_rules(claim) for one in rule.ends}
    named |= _LIKED if "likes" in named else set[str]()
    if claim.attribute.startswith(_FORMER):
        named.add(claim.attribute.removeprefix(_FORMER))
    elif claim.attribute == _FORMERLY:
        named |= {*_PRACTISED}
    return tuple(sorted(named))


def find_implied_endings(
    claim: Claim, changes: Sequence[Change], held: Iterable[Memory], occasion: StatementContext
) -> list[Change]:
    """Return the changes for values that end because of a claim decided by `changes`; [] if it was not accepted.

    `held` are active memories of the claim's entity under the attributes that `find_affected_attributes` returns.
    """
    successor = _find_successor(changes)
    if successor is None:
        return []
    saying = make_candidate(claim, occasion)
    ended = [
        one
        for one in held
        if _is_ended(claim, one) and get_valid_from_us(one) <= max(saying.begins_us, occasion.occurred_us)
    ]
    return [
        Supersede(
            memory_id=one.id,
            successor=successor,
            relation=Relation.CHANGED if one.stance in ASSERTIVE_STANCES else Relation.REFINED,
            valid_until_us=max(get_valid_from_us(one), saying.begins_us),
            reason=explain_replacement(Relation.CHANGED, display_value(claim), display_value(one)),
        )
        for one in ended
        if one.id != successor
    ]


def _find_successor(changes: Sequence[Change]) -> str | None:
    """Return the memory that carries the claim, if the claim was accepted."""
    for change in changes:
        if isinstance(change, Add) and change.draft.status is Status.ACTIVE:
            return change.key
        if isinstance(change, Confirm):
            return change.memory_id
    return None


def _is_ended(claim: Claim, memory: Memory) -> bool:
    if memory.status is not Status.ACTIVE or normalise_name(memory.speaker) != normalise_name(claim.speaker):
        return False
    name = normalise_attribute(memory.attribute or "")
    if name in PLANS and may_settle(claim) and is_settled(claim, memory):
        return True
    if claim.stance is not Stance.ASSERTED or normalise_name(claim.entity or "") != normalise_name(memory.entity or ""):
        return False
    if memory.stance is Stance.ASSERTED and _is_past(claim, memory, name):
        return True
    return any(
        _name_slot(memory) in rule.ends and _is_match(rule, claim, memory)
        for rule in _match_rules(claim)
        if memory.stance is Stance.ASSERTED
    )


def _is_past(claim: Claim, memory: Memory, name: str) -> bool:
    """Return whether an "I used to …" claim ends the activity that a memory states as present."""
    told = claim.attribute or ""
    if told.startswith(_FORMER):
        return name == told.removeprefix(_FORMER) and is_same_value(claim.value, memory.value)
    if told != _FORMERLY or name not in _PRACTISED:
        return False
    done = _normalise_action((claim.value or "").removeprefix("is "))
    return bool(done) and _normalise_action(_I.sub("", memory.text).rstrip(" .!")) == done


def _is_match(rule: _Rule, claim: Claim, memory: Memory) -> bool:
    if rule.same:
        return is_same_value(claim.value, memory.value) and claim.scope == memory.scope
    return rule.held is None or rule.held.search(memory.value or "") is not None


def _normalise_action(value: str) -> list[str]:
    """Return the words of an action with its verb in the base form: "getting a dog" and "got a dog" are "get dog"."""
    words = [word for word in normalise_value(value).split() if word not in _SMALL]
    return [lemmatise_verb(words[0]), *words[1:]] if words else []
