"""Implied endings: a claim that ends a value of its entity under another attribute name. Pure.

That is the same functional attribute under another name (an employer and "unemployed", a spouse and "single"), or the
same value under an attribute that says the opposite or the past. Nothing else in another slot ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from credenda.model.attributes import TASTES
from credenda.model.change import Add, Change, Confirm, Contest, Supersede, end_memory
from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Memory, MemoryType, Relation, Stance, Status, get_valid_from_us
from credenda.text.changes import DEATH
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name, normalise_value
from credenda.text.tokens import stem
from credenda.write.extract.voices import lexicon, names
from credenda.write.reconcile.candidate import make_candidate
from credenda.write.reconcile.slots import (
    ASSERTIVE_STANCES,
    StatementContext,
    display_value,
    explain_replacement,
    get_slot,
    quote_value,
)

# Whether a statement settles a plan: what was planned is done, or what was considered is decided or planned. Pure.


PLANS: Final = frozenset({"plan", "considering", "wish", "goal", "travel_plan", "looking_for"})
"""Attributes of plans, considerations and wishes."""
_DONE: Final = frozenset(
    {"event", "owns", "has", "experience", "pets", "dog", "cat", "car", "drives", "does", "hobby", "status", "started"}
    | {"visited", "joined", "attends", "practices", "plays", "decision", "decided_against"}
    | {"bought", "met", "watched", "took_part_in", "explored", "celebrated"}
)
_REACHED: Final = frozenset(
    {"residence", "employer", "job_title", "uses", "language", "editor", "database", "framework", "operating_system"}
    | {"cloud", "ci", "version_control", "car", "school", "phone", "learning", "drives"}
)
_TAKEN: Final = frozenset({"bought", "owns", "joined"})
"""Attributes whose value was considered before it was taken: "a Golf"."""
_IMPLIED: Final = {"visited": "visit", "owns": "buy", "joined": "join", "practices": "practic", "plays": "play"} | {
    "bought": "buy",
    "met": "meet",
    "watched": "watch",
    "took_part_in": "particip",
    "explored": "explor",
    "celebrated": "celebr",
}
"""The verb of attributes whose values name only its object."""
_STARTING: Final = frozenset(
    stem(verb)
    for verb in (
        *("move", "switch", "join", "start", "buy", "get", "become", "work", "migrate", "relocate", "learn", "adopt"),
        "go",
    )
)
_COMPLETING: Final = frozenset(
    stem(verb)
    for verb in (
        *("complete", "finish", "finalize", "finalise", "submit", "cancel", "book", "deploy", "launch", "release"),
        *("ship", "publish", "merge"),
    )
)
_OPEN_ENDED: Final = frozenset(
    stem(verb)
    for verb in (
        *(
            "optimize",
            "optimise",
            "improve",
            "enhance",
            "monitor",
            "track",
            "maintain",
            "manage",
            "test",
            "debug",
            "fix",
        ),
        *("review", "secure", "refine", "reduce", "increase", "learn", "understand", "handle", "keep", "avoid"),
    )
)
"""Verbs of work that the completion of their object does not complete."""
_TRAVELLING: Final = frozenset({"go", "visit", "travel", "fli", "drive", "head"})
_EMPTY_VERBS: Final = frozenset({"be", "do", "have", "get", "make", "tri", "keep", "see", "know", "feel"})
"""Verbs that are the same action only with a whole, equal object."""
_REPEATED: Final = re.compile(
    r"\b(?:every|each|daily|weekly|monthly|regularly|always|usually|often|more|better|times an?|days an?)\b"
)
_PARTICLES: Final = frozenset({"to", "up", "out", "in", "on", "at", "for", "into", "about", "of", "a", "an", "the"})
_OWNERS: Final = frozenset({"my", "our", "some", "new", "another", "his", "her", "their", "own"})
_HAPPENED: Final = "happen"
_HELD_EVENT: Final = re.compile(r"(?!\w+ed\b)([\w' -]+?) (?:was|were|went|turned out)\b")
"""An event that took place: "cooking class was great"."""
_DESTINATION: Final = re.compile(r"\b(?:to|in|around|for) (?:the )?([A-Z]\w+)")
_DEFINITE: Final = re.compile(r"\b(?:the|my|our|that|this)\b", re.IGNORECASE)
_ENDS: Final = frozenset(
    "in on at to for from with without by of about into after before during through until till around near over under"  # noqa: SIM905
    " monday tuesday wednesday thursday friday saturday sunday morning afternoon evening night day week weekend month"
    " today tonight tomorrow yesterday soon now then again later next last first this too also as so because while"
    " when where which who that and or using instead specifically together finally right ago".split()
)


class _Action(NamedTuple):
    """A verb in its base form, the stems of its object, and whether that is in the plural."""

    verb: str
    words: tuple[str, ...]
    many: bool = False


def may_settle(claim: Claim) -> bool:
    """Return whether a claim tells something done, or a decision or plan, which may settle a plan before."""
    name = normalise_attribute(claim.attribute or "")
    if claim.stance is Stance.PLANNED:
        return name in PLANS
    reached = name in _REACHED and claim.move is UpdateKind.CHANGE
    return claim.stance is Stance.ASSERTED and (name in _DONE or reached or claim.type is MemoryType.DECISION)


def is_settled(claim: Claim, plan: Memory) -> bool:
    """Return whether a claim settles a plan; a plan settles only what was considered."""
    is_open = plan.stance not in ASSERTIVE_STANCES and _REPEATED.search(plan.value or "") is None
    if not is_open or not _is_same_agent(claim, plan):
        return False
    name = normalise_attribute(claim.attribute or "")
    planned = _read_action(plan.value or "", "", leading=normalise_attribute(plan.attribute or "") == "goal")
    taken = claim.type is MemoryType.DECISION or name in _TAKEN
    if taken and plan.attribute == "considering" and is_same_value(claim.value, plan.value):
        return True
    if claim.stance is Stance.PLANNED and (plan.stance is not Stance.CONSIDERED or name == "considering"):
        return False
    if name in _REACHED and claim.move is UpdateKind.CHANGE:
        reached = _read_action(claim.value or "", "get").words
        return planned.verb in _STARTING and bool(planned.words) and set(reached) <= set(planned.words)
    done = _read_done(claim, name)
    # "the trip was great" may be another one than that to Boston
    unnamed = done.verb == _HAPPENED and _DESTINATION.search(plan.value or "") is not None
    unnamed = unnamed and _DESTINATION.search(claim.value or "") is None
    if (
        unnamed
        or (name == "status" and (claim.value or "").partition(" ")[0].endswith("ing"))
        or _has_other_place(claim.value or "", plan.value or "")
    ):
        return False
    completes = done.verb in _COMPLETING and planned.verb not in _OPEN_ENDED and claim.stance is Stance.ASSERTED
    alike = completes or (
        bool(planned.verb) and (done.verb in {planned.verb, _HAPPENED} or {done.verb, planned.verb} <= _TRAVELLING)
    )
    return alike and bool(planned.words) and _has_same_object(done, planned, claim.value)


def _has_other_place(one: str, other: str) -> bool:
    """Return whether both name where to, and nowhere the same: "trip to Japan" is not the trip to Boston."""
    found = [set(_DESTINATION.findall(value)) for value in (one, other)]
    return bool(found[0] and found[1]) and found[0].isdisjoint(found[1])


def list_object_words(claim: Claim) -> list[str]:
    """Return the words of the act, by which its plan is found."""
    return re.findall(r"\w{3,}", f"{claim.value or ''} {claim.entity or ''}".casefold())


def _is_same_agent(claim: Claim, plan: Memory) -> bool:
    """Return whether both are about one person or thing, or one speaker does both, to whatever thing."""
    own = normalise_name(claim.speaker)
    if normalise_name(plan.speaker) != own:
        return False
    same = normalise_name(claim.entity or "") == normalise_name(plan.entity or "")
    return same or all(
        normalise_name(one.entity or "") in {own, "user"} or _is_about_object(one) for one in (claim, plan)
    )


def _is_about_object(said: Claim | Memory) -> bool:
    """Return whether the entity is the object of its action: the "login page" of "rewrite the login page"."""
    noun = (said.entity or "").rpartition("'s ")[2].casefold()
    return bool(noun) and (said.attribute == "status" or noun in (said.value or "").casefold())


def _read_done(claim: Claim, name: str) -> _Action:
    """Read an act; "completed" alone is told of the thing."""
    held = _HELD_EVENT.match(claim.value or "")
    if name == "experience" and held is not None:
        return _read_action(held[1], _HAPPENED)
    done = _read_action(claim.value or "", _IMPLIED.get(name, ""))
    if name == "status" and not done.words:
        return _read_action((claim.entity or "").rpartition("'s ")[2], done.verb or "complete")
    return done


def _has_same_object(done: _Action, planned: _Action, said: str | None) -> bool:
    """Return whether two objects have the same noun, and one names nothing that the other does not.

    "The class" may be the pottery class that was planned; "a class" is another one.
    """
    if not done.words or done.words[-1] != planned.words[-1] or done.many != planned.many:
        return False
    if set(planned.words) <= set(done.words):
        return done.verb not in _EMPTY_VERBS or len(planned.words) > 1 or done.words == planned.words
    definite = done.verb == _HAPPENED or _DEFINITE.search(said or "") is not None
    return set(done.words) <= set(planned.words) and definite


@lru_cache(maxsize=2_048)
def _read_action(value: str, verb: str, *, leading: bool = False) -> _Action:
    """Read "taking a cooking class today" as take, cooking class; `verb` is the verb of a value that names none.

    With `leading` the first word is a verb, whether it is known as one or not: "modularize my app".
    """
    words = re.findall(r"[\w'#+/.-]*\w", value.casefold().replace("’", "'"))
    if not verb and words and (_has_leading_verb(words) or (leading and words[0].isalpha())):
        verb, words = lemmatise_verb(words[0]), words[1:]
    while words and words[0] in _PARTICLES | _OWNERS:
        words = words[1:]
    end = next((at for at, word in enumerate(words) if word in _ENDS), len(words))
    words = [word for word in words[:end] if word not in _OWNERS | _PARTICLES]
    many = bool(words) and words[-1].endswith("s") and not words[-1].endswith("ss")
    return _Action(verb, tuple(map(stem, words)), many)


def _has_leading_verb(words: list[str]) -> bool:
    """Return whether a value begins with a verb: a known form, a gerund, or a word before an article or owner.

    "Peer review for April" names its object alone.
    """
    known = bool(words) and (words[0] in lexicon().verbs or words[0].endswith(("ing", "ed")))
    return known or (len(words) > 1 and words[1] in _PARTICLES | _OWNERS)


def lemmatise_verb(verb: str) -> str:
    """Return the stem of the base form of a verb."""
    return stem(lexicon().verbs.get(verb, verb).partition(" ")[0])


_JOBLESS: Final = (
    r"^(?:unemployed|between jobs|out of work|jobless|job[- ]hunting|looking for (?:a job|work)|laid off|fired|sacked"
    r"|dismissed|let go|made redundant|(?:quit|lose|leave) (?:my|his|her|their) job)"
)
_UNATTACHED: Final = r"^(?:single|unmarried|divorced|separated|widowed)"
_ATTACHED: Final = r"^(?:(?:happily|newly) )?(?:married|engaged|taken|in a relationship)"
_COURTING: Final = ("girlfriend", "boyfriend", "partner")
_ENGAGED: Final = ("fiancé", "fiancée", "fiance", "fiancee")
PARTNERS: Final = ("spouse", "wife", "husband", *_COURTING, *_ENGAGED)
_CHILDREN: Final = ("child", "baby", "son", "daughter", "twins", "twin", "girl", "boy", "birthday")
_BORN: Final = re.compile(
    r"\bgave birth\b|\bhad (?:our|my|the|a) (?:baby|twins|son|daughter|little \w+)\b"
    r"|\b(?:was|were) born (?:\w+ )?(?:today|yesterday|tonight|this \w+|last (?:night|week|\w+day)"
    r"|(?:on )?\w+day|at \d)"
    r"|\b(?:baby|girl|boy|twins)\b[^.,;!?]{0,20} (?:has|have|is|are) (?:finally )?(?:arrived|here)\b",
    re.IGNORECASE,
)
"""Words of a birth, after which nobody is pregnant."""
_FORMER: Final = "former_"
_GOES_ON: Final = re.compile(r"\b(?:currently|still|also|today|tonight|this (?:morning|week))\b", re.IGNORECASE)
"""Words of a past occasion that ends nothing: "I also had football today"."""
_FORMERLY: Final = "formerly"
_PRACTISED: Final = (
    *("does", "plays", "drinks", "eats", "uses", "habit", "hobby", "learning", "diet", "has", "owns", "dog", "cat"),
    *("member_of", "trait", "rides", "drives", "sport", "studies", "field_of_study", "lives_with", "situation"),
)
"""Attributes of activities, possessions and traits that "I used to" ends."""
_OPPOSITE_TASTES: Final = frozenset({"likes", "dislikes"})
_LIKED: Final = TASTES | {"hobby"}
_REFUSED: Final = re.compile(
    r"^(?:(?:i|we) )?(?:do(?:n['\u2019]?t| not)|never|no longer|can(?:['\u2019]?t|not)) (?P<act>\w+ \w.*)",
    re.IGNORECASE,
)
"""A value that says what somebody does not do: "don't drink coffee"."""
_VERBS_OF: Final = {"drinks": "drink", "eats": "eat", "plays": "play", "uses": "use"}
_ACTIVITIES: Final = (*_VERBS_OF, "routine", "habit", "does")
_OF_THE_LIVING: Final = (
    *("age", "allergy", "condition", "diet", "medication", "injury", "status"),
    *("residence", "location", "employer", "job_title", "employment_status", "school"),
)
_I: Final = re.compile(r"^(?:i|we)(?:['\u2019](?:m|re)| am| are)? ", re.IGNORECASE)
_SMALL: Final = frozenset({"a", "an", "the", "my", "our", "to", "some", "new", "another"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """A claim with one of these attributes and a matching value ends matching values of other attributes.

    `told`: only where its sentence says so. `changing`: only for a claim of change. `same`: only for an equal value.
    `over`: only for the end of a value that was held.
    """

    of: tuple[str, ...]
    says: re.Pattern[str] | None = None
    told: re.Pattern[str] | None = None
    ends: tuple[str, ...]
    held: re.Pattern[str] | None = None
    changing: bool = False
    same: bool = False
    over: bool = False


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
    _Rule(of=("marital_status",), says=_compile(_UNATTACHED), ends=PARTNERS, changing=True),
    _Rule(of=PARTNERS, ends=("marital_status",), held=_compile(_UNATTACHED)),
    _Rule(of=PARTNERS, ends=("marital_status",), held=_compile(_ATTACHED), over=True),
    _Rule(of=("spouse", "wife", "husband"), ends=(*_COURTING, *_ENGAGED), same=True),
    _Rule(of=_ENGAGED, ends=_COURTING, same=True),
    _Rule(
        of=_CHILDREN, told=_BORN, ends=("condition", "status"), held=_compile(r"^(?:\d+ \w+ )?(?:pregnant|expecting)")
    ),
    _Rule(of=("likes",), ends=("dislikes",), same=True),
    _Rule(of=("dislikes",), ends=("likes",), same=True),
)


def is_birth(claim: Claim) -> bool:
    """Return whether a claim tells of the birth of a child of its speaker, after which neither parent is expecting."""
    child = claim.stance is Stance.ASSERTED and normalise_attribute(claim.attribute or "") in _CHILDREN
    return child and _BORN.search(claim.text) is not None


def name_dead(claim: Claim) -> str:
    """Return the entity of a relative or pet of whose death a claim tells, as "user's dog rex"; "" for none."""
    over = claim.move is UpdateKind.END and claim.entity and claim.attribute and claim.value
    if not over or names().kin_noun(claim.attribute or "") is None or DEATH.search(claim.text) is None:
        return ""
    return normalise_name(f"{claim.entity}'s {claim.attribute} {claim.value}")


def _match_rules(claim: Claim) -> list[_Rule]:
    name = _name_slot(claim)
    value = claim.value or ""
    return [
        rule
        for rule in _RULES
        if name in rule.of
        and (rule.says is None or rule.says.search(value))
        and (rule.told is None or rule.told.search(claim.text))
        and (not rule.changing or claim.move is not UpdateKind.STATE)
        and rule.over == (claim.move is UpdateKind.END)
    ]


def _name_slot(said: Claim | Memory) -> str:
    """Return the attribute of a claim or memory; that of every liking, whatever its topic, is "likes"."""
    name = normalise_attribute(said.attribute or "")
    return "likes" if name in _LIKED and said.type is MemoryType.PREFERENCE else name


def find_affected_attributes(claim: Claim) -> tuple[str, ...]:
    """Return the attributes of the same entity whose values a claim may end; () for most claims."""
    if claim.entity is None or claim.attribute is None or claim.move is UpdateKind.RETRACT:
        return ()
    named = {one for rule in _match_rules(claim) for one in rule.ends}
    if claim.stance is not Stance.ASSERTED or claim.move is UpdateKind.END:
        return _OF_THE_LIVING if name_dead(claim) else tuple(sorted(named))
    named |= _LIKED if "likes" in named else set[str]()
    if _REFUSED.match(claim.value or ""):
        named |= {*_ACTIVITIES}
    if claim.attribute.startswith(_FORMER):
        named.add(claim.attribute.removeprefix(_FORMER))
    elif claim.attribute == _FORMERLY:
        named |= {*_PRACTISED}
    return tuple(sorted(named))


def find_implied_endings(
    claim: Claim,
    changes: Sequence[Change],
    held: Iterable[Memory],
    occasion: StatementContext,
    *,
    past: Iterable[Memory] = (),
) -> list[Change]:
    """Return the changes for values that end because of a claim decided by `changes`; [] if it was not accepted.

    `held` are active memories of the claim's entity under the attributes that `find_affected_attributes` returns,
    `past` those replaced ones that say the same: a liking that goes there and back is a question to the user.
    """
    successor = _find_successor(changes)
    saying = make_candidate(claim, occasion)
    if name_dead(claim) and any(isinstance(one, Supersede) for one in changes):
        return [end_memory(one, saying.begins_us, "they died") for one in held if _is_of_dead(claim, one)]
    over = claim.move is UpdateKind.END and not any(isinstance(one, Supersede) for one in changes)
    if successor is None or over:
        return []
    ended = [
        one
        for one in held
        if _is_ended(claim, one) and get_valid_from_us(one) <= max(saying.begins_us, occasion.occurred_us)
    ]
    before = {one.superseded_by for one in past if one.relation is Relation.CHANGED}
    back = [one for one in ended if _name_slot(one) in _OPPOSITE_TASTES and one.id in before]
    slot = get_slot(saying.claim)
    if back and slot is not None:
        values = (display_value(back[0]), display_value(claim))
        liked, ends = quote_value(claim.value or ""), "Which one holds, or when does each of them?"
        whom = "you like" if slot.entity == "user" else f"{claim.entity} likes"
        question = f"I have heard that {whom} {liked}, and the opposite. {ends}"
        return [
            Contest(
                slot=slot._replace(attribute="likes") if slot.attribute == "dislikes" else slot,
                memory_ids=(back[0].id, successor),
                values=values,
                question=question,
                reason=f"{quote_value(values[0])} and {quote_value(values[1])} alternate",
            )
        ]
    return [
        end_memory(
            one,
            saying.begins_us,
            explain_replacement(Relation.CHANGED, display_value(claim), display_value(one)),
            successor,
            relation=Relation.CHANGED if one.stance in ASSERTIVE_STANCES else Relation.REFINED,
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


def _is_of_dead(claim: Claim, memory: Memory) -> bool:
    same = normalise_name(memory.entity or "") == name_dead(claim)
    return same and memory.status is Status.ACTIVE and normalise_name(memory.speaker) == normalise_name(claim.speaker)


def _is_ended(claim: Claim, memory: Memory) -> bool:
    if memory.status is not Status.ACTIVE or normalise_name(memory.speaker) != normalise_name(claim.speaker):
        return False
    name = normalise_attribute(memory.attribute or "")
    if name in PLANS and may_settle(claim) and is_settled(claim, memory):
        return True
    same = normalise_name(claim.entity or "") == normalise_name(memory.entity or "") or is_birth(claim)
    if claim.stance is not Stance.ASSERTED or not same:
        return False
    if memory.stance is Stance.ASSERTED and (_is_past(claim, memory, name) or _is_refused(claim, memory, name)):
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
        over = _GOES_ON.search(claim.text) is None
        return over and name == told.removeprefix(_FORMER) and is_same_value(claim.value, memory.value)
    if told != _FORMERLY or name not in _PRACTISED:
        return False
    done = _normalise_action((claim.value or "").removeprefix("is "))
    return bool(done) and _normalise_action(_I.sub("", memory.text).rstrip(" .!")) == done


def _is_refused(claim: Claim, memory: Memory, name: str) -> bool:
    """Return whether a claim says that its speaker does not do what a memory says: "don't drink coffee"."""
    told = _REFUSED.match(claim.value or "") if name in _ACTIVITIES else None
    if told is None or (claim.scope or memory.scope) != memory.scope:
        return False
    refused, held = (
        _normalise_action(told["act"]),
        _normalise_action(f"{_VERBS_OF.get(name, '')} {memory.value}".strip()),
    )
    return held[: len(refused)] == refused


def _is_match(rule: _Rule, claim: Claim, memory: Memory) -> bool:
    if rule.same:
        if memory.contested:
            return False
        return is_same_value(claim.value, memory.value) and claim.scope == memory.scope
    return rule.held is None or rule.held.search(memory.value or "") is not None


def _normalise_action(value: str) -> list[str]:
    """Return the words of an action with its verb in the base form: "getting a dog" and "got a dog" are "get dog"."""
    words = [word for word in normalise_value(value).split() if word not in _SMALL]
    return [lemmatise_verb(words[0]), *words[1:]] if words else []
