"""Whether a statement settles a plan: what was planned is done, or what was considered is decided or planned. Pure.

The action must be the same: an equal verb, or one that completes or gives up, with the same object. The object is the
noun phrase after the verb, without its time, place and company.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from credenda.model.claim import Claim, UpdateKind
from credenda.model.memory import Memory, MemoryType, Stance
from credenda.text.languages import stem
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name
from credenda.write.extract.lexicon import lexicon
from credenda.write.reconcile.slots import ASSERTIVE_STANCES

__all__ = ["PLANS", "is_settled", "lemmatise_verb", "list_object_words", "may_settle"]

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
    if unnamed or _is_going_on(claim, name) or _has_other_place(claim.value or "", plan.value or ""):
        return False
    completes = done.verb in _COMPLETING and planned.verb not in _OPEN_ENDED and claim.stance is Stance.ASSERTED
    alike = completes or _has_same_verb(done.verb, planned.verb)
    return alike and bool(planned.words) and _has_same_object(done, planned, claim.value)


def _is_going_on(claim: Claim, name: str) -> bool:
    """Return whether work on a thing goes on: "I've been verifying my solutions"."""
    return name == "status" and (claim.value or "").partition(" ")[0].endswith("ing")


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


def _has_same_verb(one: str, other: str) -> bool:
    return bool(other) and (one in {other, _HAPPENED} or {one, other} <= _TRAVELLING)


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
