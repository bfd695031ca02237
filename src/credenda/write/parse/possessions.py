"""Name what somebody has: relatives, pets, health, appointments, or another possession. Pure."""

from __future__ import annotations

from typing import Final

from credenda.write.extract.lexicon import names
from credenda.write.parse.people import ACQUAINTANCES, find_name
from credenda.write.parse.tree import Tree

__all__ = ["PASSING", "PETS", "name_possession"]

PETS: Final = frozenset(
    {"dog", "cat", "puppy", "pup", "kitten", "kitty", "rabbit", "hamster", "parrot", "horse", "pet"}
)
_HEALTH: Final = frozenset(
    [
        *("asthma", "diabetes", "migraine", "anxiety", "adhd", "depression", "arthritis", "epilepsy", "eczema"),
        *("anemia", "insomnia", "hypertension", "allergy", "intolerance", "condition", "syndrome", "disorder"),
        *("disease", "cancer"),
    ]
)
_APPOINTMENTS: Final = frozenset(
    [
        *("appointment", "meeting", "interview", "exam", "flight", "deadline", "presentation", "rehearsal"),
        *("competition", "tournament", "recital", "wedding", "conference"),
    ]
)
PASSING: Final = frozenset(
    [
        *("day", "time", "evening", "morning", "night", "afternoon", "weekend", "moment", "conversation", "talk"),
        *("chat", "doubt", "issue", "problem", "question", "feeling", "chance", "opportunity", "fun", "pleasure"),
        *("discussion",),
    ]
)
"""What somebody has for a while only."""


def name_possession(tree: Tree, at: int) -> tuple[str, str]:
    """Return the attribute of what somebody has, and its value; "" for an acquaintance without a name."""
    lemma = tree.lemma(at)
    kin, cause = names().kin_noun(lemma), tree.preposition(at, "to")
    if lemma in {"allergy", "intolerance"} and cause is not None:
        return lemma, tree.phrase(cause)
    if kin is not None and lemma not in PETS:
        named = find_name(tree, at) or _find_naming(tree, at)
        return kin, named or ("" if kin in ACQUAINTANCES else tree.phrase(at))
    kinds = (("condition", _HEALTH), ("pet", PETS), ("appointment", _APPOINTMENTS))
    return next((name for name, nouns in kinds if lemma in nouns), "has"), tree.phrase(at)


def _find_naming(tree: Tree, at: int) -> str | None:
    """Return the name in "a sister named Ana", "a dog called Rex"."""
    for one in tree.find_all(at, "acl"):
        named = tree.find(one, "oprd", "dobj", "attr")
        if tree.lemma(one) in {"name", "call"} and named is not None:
            return tree.phrase(named, prepositions=False)
    return None
