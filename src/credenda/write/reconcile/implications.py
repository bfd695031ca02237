"""Implied endings: a new claim that ends values in other slots, such as a new job that ends "unemployed". Pure.

Only an asserted claim implies an ending, only for its own entity, and only for values that cannot hold beside it. In
doubt both values stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from credenda.model.change import Add, Change, Confirm, Supersede
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Memory, Relation, Stance, Status
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name, normalise_value
from credenda.write.reconcile.candidate import make_candidate
from credenda.write.reconcile.inputs import StatementContext
from credenda.write.reconcile.slots import ASSERTIVE_STANCES, display_value, get_valid_from_us, is_denial
from credenda.write.reconcile.wording import explain_replacement

__all__ = ["PLANS", "find_affected_attributes", "find_implied_endings"]

PLANS: Final = frozenset({"plan", "considering", "wish"})
"""Attributes of plans, considerations and wishes."""

_JOBLESS: Final = (
    r"^(?:unemployed|between jobs|out of work|jobless|job[- ]hunting|looking for (?:a job|work)|laid off|fired|sacked"
    r"|dismissed|let go|made redundant|(?:quit|lose|leave) (?:my|his|her|their) job)"
)
_UNATTACHED: Final = r"^(?:single|unmarried|divorced|separated|widowed)"
_MEAT: Final = r"^(?:red |any )?(?:meat|beef|pork|chicken|steaks?|lamb|bacon|ham|turkey|sausages?|burgers?)"
_PARTNERS: Final = ("spouse", "wife", "husband", "girlfriend", "boyfriend", "partner", "fiancé", "fiancée")
_PETS: Final = ("cat", "dog", "kitten", "puppy", "rabbit", "hamster", "parrot", "cat_count", "dog_count")
_DONE: Final = frozenset({"event", "owns", "has", "experience", "pets", "dog", "cat", "car", "drives", "does", "hobby"})
_REACHED: Final = frozenset(
    {"residence", "employer", "job_title", "uses", "language", "editor", "database", "framework", "operating_system"}
    | {"cloud", "ci", "version_control", "car", "school", "phone", "learning", "drives"}
)
_FORMER: Final = "former_"
_FORMERLY: Final = "formerly"
_PRACTISED: Final = (
    *("does", "plays", "drinks", "eats", "uses", "habit", "hobby", "learning", "diet", "has", "owns", "dog", "cat"),
    *("member_of", "trait", "rides", "drives", "sport", "studies", "field_of_study", "lives_with", "situation"),
)
"""Attributes of activities, possessions and traits that "I used to" ends."""
_I: Final = re.compile(r"^(?:i|we)(?:['\u2019](?:m|re)| am| are)? ", re.IGNORECASE)
_INSTRUMENTS: Final = (
    r"\b(?:guitar|piano|violin|viola|cello|bass|bassoon|oboe|clarinet|flute|recorder|sax|saxophone|trumpet|trombone|tuba"
    r"|horn|harp|drums|accordion|organ|ukulele|banjo|mandolin|harmonica|bagpipes|lute|keyboard|fiddle|xylophone|sitar)\b"
)
_SPORTS: Final = (
    r"\b(?:football|soccer|rugby|hockey|handball|volleyball|basketball|baseball|cricket|tennis|badminton|squash|golf"
    r"|netball|lacrosse|padel|table tennis|water polo|softball|darts|bowls)\b"
)
_EATEN: Final = (
    r"\b(?:nuts?|peanuts?|walnuts?|hazelnuts?|almonds?|cashews?|pistachios?|sesame|soya?|wheat|gluten|milk|dairy|eggs?|fish"
    r"|shellfish|prawns?|shrimps?|crab|lobster|mussels|celery|mustard|lupins?|strawberr(?:y|ies)|kiwis?|apples?|peach(?:es)?"
    r"|bananas?|tomato(?:es)?|oranges?|citrus|pineapple|avocados?|chocolate|honey|corn|garlic|onions?|carrots?)\b"
)
_GENERAL: Final = (
    ("plays", r"^(?:an? |the )?(?:musical )?instruments?$", _INSTRUMENTS),
    ("plays", r"^(?:an? )?(?:team |ball )?sports?$", _SPORTS),
    ("spoken_language", r"^(?:an? |another |two |three )?(?:foreign )?languages?$", r"."),
    ("allergy", r"^(?:some |certain |a )?(?:foods?|something)$", _EATEN),
)
"""(attribute, general value, specific values): a specific value replaces the general one."""
_SMALL: Final = frozenset({"a", "an", "the", "my", "our", "to", "some", "new", "another"})
_STARTING: Final = frozenset(
    {"move", "moving", "switch", "switching", "join", "joining", "start", "starting", "buy", "buying", "get", "getting"}
    | {"become", "becoming", "work", "working", "migrate", "migrating", "relocate", "relocating", "learn", "learning"}
    | {"adopt", "adopting", "go", "going"}
)
_IRREGULAR: Final = {
    "bought": "buy",
    "got": "get",
    "went": "go",
    "sold": "sell",
    "ran": "run",
    "began": "begin",
    "became": "become",
    "left": "leave",
    "quit": "quit",
    "took": "take",
    "built": "build",
    "wrote": "write",
    "made": "make",
    "did": "do",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """A claim with one of these attributes and a matching value ends matching values of other attributes.

    `changing`: only for a claim of change. `same`: only for an equal value. `negated`: ends denied values. `is_denial`:
    a claim that denies a whole kind ends its members.
    """

    of: tuple[str, ...]
    says: re.Pattern[str] | None = None
    ends: tuple[str, ...]
    held: re.Pattern[str] | None = None
    changing: bool = False
    same: bool = False
    negated: bool = False
    denies: bool = False


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
    _Rule(of=("diet",), says=_compile(r"^(?:vegan|vegetarian|plant-based)"), ends=("eats",), held=_compile(_MEAT)),
    _Rule(of=("diet",), says=_compile(r"^pescatarian"), ends=("eats",), held=_compile(_MEAT)),
    _Rule(of=("eats",), says=_compile(_MEAT), ends=("diet",), held=_compile(r"^(?:vegan|vegetarian|pescatarian)")),
    _Rule(of=("eats",), says=_compile("^(?:fish|seafood)"), ends=("diet",), held=_compile(r"^(?:vegan|vegetarian)")),
    _Rule(
        of=("drinks",),
        says=_compile(r"^(?:beer|wine|red wine|white wine|whisky|alcohol|cocktails)"),
        ends=("drinks",),
        held=_compile("^alcohol$"),
        negated=True,
    ),
    _Rule(
        of=("event", "education", "degree", "alma_mater"),
        says=_compile(r"^(?:graduate|finish\w* (?:my |the )?(?:degree|studies|university|school|college|phd))"),
        ends=("job_title",),
        held=_compile(r"^(?:\w+ )?student\b"),
    ),
    _Rule(
        of=("event",),
        says=_compile(r"\bborn\b|^g[ai]ve birth|^have (?:a|our|my) baby"),
        ends=("condition", "trait", "situation"),
        held=_compile("^(?:heavily )?pregnant|^expecting"),
    ),
    _Rule(
        of=("event", "does", "owns"),
        says=_compile(r"^(?:buy|own|purchase) (?:\w+ ){0,2}(?:house|flat|home|apartment|place)\b"),
        ends=("does", "doing", "owns", "housing"),
        held=_compile(r"^(?:rent\b(?! out)|(?:an? )?rented)"),
    ),
    _Rule(
        of=("event",),
        says=_compile(r"^(?:go|move|fly|travel|drive) back(?: home)?\b|^(?:go|fly|drive) home\b|^leave\b|^move out\b"),
        ends=("doing", "does", "lives_with"),
        held=_compile(r"^(?:stay|live)(?:s|ing)? (?:with|at) (?:me|us|my|our)\b"),
    ),
    *(
        _Rule(
            of=("event", "owns", "does", kind),
            says=_compile(rf"^(?:buy|get|own) (?:an?|my|our|a new|the|my first|our first) (?:\w+ )?{kind}\b"),
            ends=("owns", "has", kind),
            held=_compile(rf"^(?:an? |any )?{kind}$"),
            negated=True,
        )
        for kind in ("car", "bike", "tv", "house", "dishwasher", "smartphone", "laptop", "garden")
    ),
    _Rule(of=("alma_mater",), ends=("job_title",), held=_compile(r"^(?:\w+ )?student\b")),
    _Rule(of=("car",), ends=("owns", "has"), held=_compile(r"^(?:own )?car$")),
    *(
        _Rule(of=(kind,), says=_compile(rf"^(?!{kind}$)"), ends=(kind,), held=_compile(f"^{kind}$"))
        for kind in ("cat", "dog", "horse", "parrot", "rabbit", "hamster", "son", "daughter", "sister", "brother")
    ),
    *(
        _Rule(of=(kind,), says=_compile(rf"^(?!{general[1:]}).*{exact}"), ends=(kind,), held=_compile(general))
        for kind, general, exact in _GENERAL
    ),
    _Rule(of=("spoken_language",), ends=("does",), held=_compile("^speaks? (?:an? |another )?(?:foreign )?language")),
    _Rule(of=("cat", "dog", "rabbit", "hamster", "parrot"), ends=("has", "owns"), held=_compile("^(?:an? )?pet$")),
    _Rule(
        of=_PETS,
        ends=("has",),
        held=_compile(r"^(?:any |no )?pets$"),
        negated=True,
    ),
    _Rule(
        of=("has", "owns"),
        says=_compile(r"^(?:an? |any )?car$"),
        ends=("drives", "car"),
        held=_compile(
            r"^(?!.*\b(?:bus|taxi|cab|truck|lorry|van|tram|train|tractor|ambulance|scooter|moped|motor\w*)\b)"
        ),
        denies=True,
    ),
    _Rule(
        of=("has", "owns", "pets"), says=_compile(r"^(?:any )?(?:pets?|animals?)$"), ends=(*_PETS, "pets"), denies=True
    ),
    _Rule(
        of=("medication",),
        says=_compile(r"^(?:any )?(?:meds|medications?|medicine|pills)$"),
        ends=("medication",),
        denies=True,
    ),
)


def _match_rules(claim: Claim) -> list[_Rule]:
    name = normalise_attribute(claim.attribute or "")
    value = claim.value or ""
    return [
        rule
        for rule in _RULES
        if name in rule.of
        and rule.denies is _is_denial(claim)
        and (not rule.denies or _WHOLLY.search(claim.text))
        and (rule.says is None or rule.says.search(value))
        and (not rule.changing or claim.move is not UpdateKind.STATE)
    ]


_WHOLLY: Final = _compile(
    r"\b(?:car|pets?|animals?|meds|medications?|medicine|pills)(?:: (?:none|no|nil|nothing|n/?a))?"
    r"(?: (?:any ?more|any longer|now|right now|currently|at the moment|these days|at all))*\W*$"
)
"""The denied kind ends the sentence. "I don't take any medication for my knee" denies less and does not match."""


def _is_denial(claim: Claim) -> bool:
    return claim.stance is Stance.NEGATED or claim.move is UpdateKind.END


def find_affected_attributes(claim: Claim) -> tuple[str, ...]:
    """Return the attributes of the same entity whose values a claim may end; () for most claims."""
    if claim.entity is None or claim.attribute is None or claim.move is UpdateKind.RETRACT:
        return ()
    if _is_denial(claim):
        return tuple(sorted({one for rule in _match_rules(claim) for one in rule.ends}))
    if claim.stance is not Stance.ASSERTED:
        return ()
    named = {one for rule in _match_rules(claim) for one in rule.ends}
    if claim.attribute.startswith(_FORMER):
        named.add(claim.attribute.removeprefix(_FORMER))
    elif claim.attribute == _FORMERLY:
        named |= {*_PRACTISED}
    if claim.attribute in _DONE or (claim.attribute in _REACHED and claim.move is UpdateKind.CHANGE):
        named |= PLANS
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
            relation=Relation.CHANGED
            if one.stance in ASSERTIVE_STANCES and not _is_bare_kind(one)
            else Relation.REFINED,
            valid_until_us=max(get_valid_from_us(one), saying.begins_us),
            reason=explain_replacement(Relation.CHANGED, display_value(claim), display_value(one)),
        )
        for one in ended
        if one.id != successor
    ]


def _is_bare_kind(memory: Memory) -> bool:
    """Return whether a value names only a kind, as in "I have a dog"; a named one is more specific."""
    name, value = normalise_attribute(memory.attribute or ""), memory.value or ""
    general = any(name == kind and re.search(held, value.lower()) is not None for kind, held, _ in _GENERAL)
    return normalise_value(value) == name or general


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
    if name in PLANS and memory.stance not in ASSERTIVE_STANCES:
        return _is_fulfilled(claim, memory)
    if memory.stance is Stance.ASSERTED and _is_past(claim, memory, name):
        return True
    return any(
        name in rule.ends and _is_match(rule, claim, memory)
        for rule in _match_rules(claim)
        if is_denial(memory) == rule.negated and memory.stance in ASSERTIVE_STANCES
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
    if not words:
        return []
    return [_lemmatise_verb(words[0]), *words[1:]]


def _lemmatise_verb(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    stem = verb.removesuffix("ing") if verb.endswith("ing") else verb.removesuffix("ed")
    if stem == verb:
        return verb
    doubled = len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz"  # noqa: PLR2004 - "getting", not "egg"
    return stem[:-1] if doubled else stem


def _is_same_verb(one: str, other: str) -> bool:
    """Return whether two verbs are equal apart from a dropped "e": "mov" and "move"."""
    return one in {other, f"{other}e"} or other == f"{one}e"


def _is_fulfilled(claim: Claim, wish: Memory) -> bool:
    """Return whether the claim fulfils a wish, or replaces it by another action."""
    done, wished = _normalise_action(claim.value or ""), _normalise_action(wish.value or "")
    if not done or not wished:
        return False
    if claim.attribute in _REACHED and claim.move is UpdateKind.CHANGE:
        return wished[0] in {_lemmatise_verb(one) for one in _STARTING} | _STARTING and set(
            normalise_value(claim.value or "").split()
        ) <= set(wished)
    same_verb = _is_same_verb(done[0], wished[0])
    whole = len(wished) > 1 and set(wished[1:]) <= set(done[1:])
    return same_verb and (whole or re.search(r"\binstead\b", claim.text, re.IGNORECASE) is not None)
