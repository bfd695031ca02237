"""What else ends when something begins: who finds work is not unemployed, what is done is no longer planned. Pure.

Slots do not know of one another; these few know. Only a claim that says how things are concludes anything, only about
its own entity, and only what cannot be so beside it: in doubt both stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from credenda.model.change import Add, Change, Confirm, Supersede
from credenda.model.claim import Claim, Move
from credenda.model.memory import Memory, Relation, Stance, Status
from credenda.text.normalize import attribute_key, name_key, same_value, value_key
from credenda.write.reconcile.candidate import saying_of
from credenda.write.reconcile.inputs import Occasion
from credenda.write.reconcile.slots import FIRM, begins_us, denies, label
from credenda.write.reconcile.wording import because

__all__ = ["PLANS", "concluded", "touched"]

PLANS: Final = frozenset({"plan", "considering", "wish"})
"""Attributes under which extraction keeps what may come."""

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
"""Where extraction keeps what somebody does, has or is, which "I used to" tells is no longer so."""
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
"""By attribute a value that names only a kind of thing, and the values that are of that kind and say more."""
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
    """A claim of these attributes, with such a value, ends these values of these attributes.

    `changing`: only where the words speak of a change. `same`: only the very value that is claimed. `negated`: values
    that are denied. `denies`: a claim that says there is none of a kind ends what is of it.
    """

    of: tuple[str, ...]
    says: re.Pattern[str] | None = None
    ends: tuple[str, ...]
    held: re.Pattern[str] | None = None
    changing: bool = False
    same: bool = False
    negated: bool = False
    denies: bool = False


def _like(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_RULES: Final = (
    _Rule(of=("employer", "job_title"), ends=("employment_status",), held=_like(_JOBLESS)),
    _Rule(
        of=("employer",),
        ends=("employment_status",),
        held=_like(r"^(?:self-employed|freelance|retired)"),
        changing=True,
    ),
    _Rule(of=("employment_status",), says=_like(rf"{_JOBLESS}|^retired"), ends=("employer", "former_employment")),
    _Rule(of=("employment_status",), says=_like("^(?:freelance|self)"), ends=("employer",), changing=True),
    _Rule(of=("marital_status",), says=_like(_UNATTACHED), ends=_PARTNERS, changing=True),
    _Rule(of=_PARTNERS, ends=("marital_status",), held=_like(_UNATTACHED)),
    _Rule(
        of=("spouse", "wife", "husband"), ends=("girlfriend", "boyfriend", "partner", "fiancé", "fiancée"), same=True
    ),
    _Rule(of=("likes",), ends=("dislikes",), same=True),
    _Rule(of=("dislikes",), ends=("likes",), same=True),
    _Rule(of=("diet",), says=_like(r"^(?:vegan|vegetarian|plant-based)"), ends=("eats",), held=_like(_MEAT)),
    _Rule(of=("diet",), says=_like(r"^pescatarian"), ends=("eats",), held=_like(_MEAT)),
    _Rule(of=("eats",), says=_like(_MEAT), ends=("diet",), held=_like(r"^(?:vegan|vegetarian|pescatarian)")),
    _Rule(of=("eats",), says=_like("^(?:fish|seafood)"), ends=("diet",), held=_like(r"^(?:vegan|vegetarian)")),
    _Rule(
        of=("drinks",),
        says=_like(r"^(?:beer|wine|red wine|white wine|whisky|alcohol|cocktails)"),
        ends=("drinks",),
        held=_like("^alcohol$"),
        negated=True,
    ),
    _Rule(
        of=("event", "education", "degree", "alma_mater"),
        says=_like(r"^(?:graduate|finish\w* (?:my |the )?(?:degree|studies|university|school|college|phd))"),
        ends=("job_title",),
        held=_like(r"^(?:\w+ )?student\b"),
    ),
    _Rule(
        of=("event",),
        says=_like(r"\bborn\b|^g[ai]ve birth|^have (?:a|our|my) baby"),
        ends=("condition", "trait", "situation"),
        held=_like("^(?:heavily )?pregnant|^expecting"),
    ),
    _Rule(
        of=("event", "does", "owns"),
        says=_like(r"^(?:buy|own|purchase) (?:\w+ ){0,2}(?:house|flat|home|apartment|place)\b"),
        ends=("does", "doing", "owns", "housing"),
        held=_like(r"^(?:rent\b(?! out)|(?:an? )?rented)"),
    ),
    _Rule(
        of=("event",),
        says=_like(r"^(?:go|move|fly|travel|drive) back(?: home)?\b|^(?:go|fly|drive) home\b|^leave\b|^move out\b"),
        ends=("doing", "does", "lives_with"),
        held=_like(r"^(?:stay|live)(?:s|ing)? (?:with|at) (?:me|us|my|our)\b"),
    ),
    *(
        _Rule(
            of=("event", "owns", "does", kind),
            says=_like(rf"^(?:buy|get|own) (?:an?|my|our|a new|the|my first|our first) (?:\w+ )?{kind}\b"),
            ends=("owns", "has", kind),
            held=_like(rf"^(?:an? |any )?{kind}$"),
            negated=True,
        )
        for kind in ("car", "bike", "tv", "house", "dishwasher", "smartphone", "laptop", "garden")
    ),
    _Rule(of=("alma_mater",), ends=("job_title",), held=_like(r"^(?:\w+ )?student\b")),
    _Rule(of=("car",), ends=("owns", "has"), held=_like(r"^(?:own )?car$")),
    *(
        _Rule(of=(kind,), says=_like(rf"^(?!{kind}$)"), ends=(kind,), held=_like(f"^{kind}$"))
        for kind in ("cat", "dog", "horse", "parrot", "rabbit", "hamster", "son", "daughter", "sister", "brother")
    ),
    *(
        _Rule(of=(kind,), says=_like(rf"^(?!{general[1:]}).*{exact}"), ends=(kind,), held=_like(general))
        for kind, general, exact in _GENERAL
    ),
    _Rule(of=("spoken_language",), ends=("does",), held=_like("^speaks? (?:an? |another )?(?:foreign )?language")),
    _Rule(of=("cat", "dog", "rabbit", "hamster", "parrot"), ends=("has", "owns"), held=_like("^(?:an? )?pet$")),
    _Rule(
        of=_PETS,
        ends=("has",),
        held=_like(r"^(?:any |no )?pets$"),
        negated=True,
    ),
    _Rule(
        of=("has", "owns"),
        says=_like(r"^(?:an? |any )?car$"),
        ends=("drives", "car"),
        held=_like(r"^(?!.*\b(?:bus|taxi|cab|truck|lorry|van|tram|train|tractor|ambulance|scooter|moped|motor\w*)\b)"),
        denies=True,
    ),
    _Rule(of=("has", "owns", "pets"), says=_like(r"^(?:any )?(?:pets?|animals?)$"), ends=(*_PETS, "pets"), denies=True),
    _Rule(
        of=("medication",),
        says=_like(r"^(?:any )?(?:meds|medications?|medicine|pills)$"),
        ends=("medication",),
        denies=True,
    ),
)


def _matching(claim: Claim) -> list[_Rule]:
    name = attribute_key(claim.attribute or "")
    value = claim.value or ""
    return [
        rule
        for rule in _RULES
        if name in rule.of
        and rule.denies is _denied(claim)
        and (not rule.denies or _WHOLLY.search(claim.text))
        and (rule.says is None or rule.says.search(value))
        and (not rule.changing or claim.move is not Move.STATE)
    ]


_WHOLLY: Final = _like(
    r"\b(?:car|pets?|animals?|meds|medications?|medicine|pills)(?:: (?:none|no|nil|nothing|n/?a))?"
    r"(?: (?:any ?more|any longer|now|right now|currently|at the moment|these days|at all))*\W*$"
)
"""The kind that there is none of ends the sentence: "I don't take any medication for my knee" denies less."""


def _denied(claim: Claim) -> bool:
    return claim.stance is Stance.NEGATED or claim.move is Move.END


def touched(claim: Claim) -> tuple[str, ...]:
    """Name the attributes of the same entity whose values a claim may end; () for most claims."""
    if claim.entity is None or claim.attribute is None or claim.move is Move.RETRACT:
        return ()
    if _denied(claim):
        return tuple(sorted({one for rule in _matching(claim) for one in rule.ends}))
    if claim.stance is not Stance.ASSERTED:
        return ()
    named = {one for rule in _matching(claim) for one in rule.ends}
    if claim.attribute.startswith(_FORMER):
        named.add(claim.attribute.removeprefix(_FORMER))
    elif claim.attribute == _FORMERLY:
        named |= {*_PRACTISED}
    if claim.attribute in _DONE or (claim.attribute in _REACHED and claim.move is Move.CHANGE):
        named |= PLANS
    return tuple(sorted(named))


def concluded(claim: Claim, changes: Sequence[Change], held: Iterable[Memory], occasion: Occasion) -> list[Change]:
    """Give what ends because of a claim that was decided by `changes`; [] where the claim itself was not believed.

    `held` are active memories of the claim's entity under the attributes that `touched` names.
    """
    successor = _successor(changes)
    if successor is None:
        return []
    saying = saying_of(claim, occasion)
    ended = [one for one in held if _ends(claim, one) and begins_us(one) <= max(saying.begins_us, occasion.occurred_us)]
    return [
        Supersede(
            memory_id=one.id,
            successor=successor,
            relation=Relation.CHANGED if one.stance in FIRM and not _bare_kind(one) else Relation.REFINED,
            valid_until_us=max(begins_us(one), saying.begins_us),
            reason=because(Relation.CHANGED, label(claim), label(one)),
        )
        for one in ended
        if one.id != successor
    ]


def _bare_kind(memory: Memory) -> bool:
    """Say whether a value names only a kind of thing, as in "I have a dog": a named one says it more exactly."""
    name, value = attribute_key(memory.attribute or ""), memory.value or ""
    general = any(name == kind and re.search(held, value.lower()) is not None for kind, held, _ in _GENERAL)
    return value_key(value) == name or general


def _successor(changes: Sequence[Change]) -> str | None:
    """Name the memory that carries the claim, if it is now believed."""
    for change in changes:
        if isinstance(change, Add) and change.draft.status is Status.ACTIVE:
            return change.key
        if isinstance(change, Confirm):
            return change.memory_id
    return None


def _ends(claim: Claim, memory: Memory) -> bool:
    if memory.status is not Status.ACTIVE or name_key(memory.speaker) != name_key(claim.speaker):
        return False
    name = attribute_key(memory.attribute or "")
    if name in PLANS and memory.stance not in FIRM:
        return _fulfils(claim, memory)
    if memory.stance is Stance.ASSERTED and _is_past(claim, memory, name):
        return True
    return any(
        name in rule.ends and _held(rule, claim, memory)
        for rule in _matching(claim)
        if denies(memory) == rule.negated and memory.stance in FIRM
    )


def _is_past(claim: Claim, memory: Memory, name: str) -> bool:
    """Say whether "I used to …" tells what a memory holds as present."""
    told = claim.attribute or ""
    if told.startswith(_FORMER):
        return name == told.removeprefix(_FORMER) and same_value(claim.value, memory.value)
    if told != _FORMERLY or name not in _PRACTISED:
        return False
    done = _deed((claim.value or "").removeprefix("is "))
    return bool(done) and _deed(_I.sub("", memory.text).rstrip(" .!")) == done


def _held(rule: _Rule, claim: Claim, memory: Memory) -> bool:
    if rule.same:
        return same_value(claim.value, memory.value) and claim.scope == memory.scope
    return rule.held is None or rule.held.search(memory.value or "") is not None


def _deed(value: str) -> list[str]:
    """Give the words of a deed with its verb in the base form: "getting a dog" and "got a dog" are "get dog"."""
    words = [word for word in value_key(value).split() if word not in _SMALL]
    if not words:
        return []
    return [_base(words[0]), *words[1:]]


def _base(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    stem = verb.removesuffix("ing") if verb.endswith("ing") else verb.removesuffix("ed")
    if stem == verb:
        return verb
    doubled = len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz"  # noqa: PLR2004 - "getting", not "egg"
    return stem[:-1] if doubled else stem


def _alike(one: str, other: str) -> bool:
    """Say whether two verbs are one, as far as a dropped "e" goes: "mov" and "move"."""
    return one in {other, f"{other}e"} or other == f"{one}e"


def _fulfils(claim: Claim, wish: Memory) -> bool:
    """Say whether a wish came true, or something else was done in its place."""
    done, wished = _deed(claim.value or ""), _deed(wish.value or "")
    if not done or not wished:
        return False
    if claim.attribute in _REACHED and claim.move is Move.CHANGE:
        return wished[0] in {_base(one) for one in _STARTING} | _STARTING and set(
            value_key(claim.value or "").split()
        ) <= set(wished)
    same_verb = _alike(done[0], wished[0])
    whole = len(wished) > 1 and set(wished[1:]) <= set(done[1:])
    return same_verb and (whole or re.search(r"\binstead\b", claim.text, re.IGNORECASE) is not None)
