"""Read what somebody has: relatives, pets, health, appointments, or another possession. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from credenda.write.extract.lexicon import names
from credenda.write.parse.fact import Fact, Statement, make_fact
from credenda.write.parse.people import ACQUAINTANCES, find_name
from credenda.write.parse.tree import Tree, is_pointing

__all__ = ["PASSING", "read_possession"]

_PETS: Final = frozenset(
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


def read_possession(said: Statement, one: int) -> Iterator[Fact]:
    """Yield what a noun after "have" says; nothing of what passes."""
    tree = said.tree
    lemma = tree.lemma(one)
    if lemma in PASSING or is_pointing(tree, one):
        return
    kin = names().kin_noun(lemma)
    cause = tree.preposition(one, "to")
    if lemma in {"allergy", "intolerance"} and cause is not None:
        yield make_fact(said, lemma, tree.phrase(cause))
    elif lemma in _HEALTH:
        yield make_fact(said, "condition", tree.phrase(one))
    elif lemma in _PETS:
        yield make_fact(said, "pet", tree.phrase(one))
    elif kin is not None:
        name = find_name(tree, one) or _find_naming(tree, one)
        if name is not None or kin not in ACQUAINTANCES:
            yield make_fact(said, kin, name or tree.phrase(one))
    else:
        yield make_fact(said, "appointment" if lemma in _APPOINTMENTS else "has", tree.phrase(one))


def _find_naming(tree: Tree, at: int) -> str | None:
    """Return the name in "a sister named Ana", "a dog called Rex"."""
    for one in tree.find_all(at, "acl"):
        named = tree.find(one, "oprd", "dobj", "attr")
        if tree.lemma(one) in {"name", "call"} and named is not None:
            return tree.phrase(named, prepositions=False)
    return None
