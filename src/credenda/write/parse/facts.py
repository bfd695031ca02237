"""The facts of a clause, with its stance. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from credenda.model.attributes import get_attribute
from credenda.model.claim import UpdateKind
from credenda.model.memory import Stance
from credenda.write.extract.lexicon import expression
from credenda.write.parse.actions import read_actions, read_journeys
from credenda.write.parse.clauses import HEDGING, Tense
from credenda.write.parse.fact import Fact, Statement
from credenda.write.parse.favourites import read_favourites
from credenda.write.parse.identities import read_capacity, read_identities
from credenda.write.parse.measures import read_object_dates
from credenda.write.parse.people import PartyKind
from credenda.write.parse.properties import read_change, read_outcome, read_property, read_quantities, read_taken_place
from credenda.write.parse.tools import read_tools

__all__ = ["read_facts"]

_ENDING: Final = ("no longer", "anymore", "any more")
_ENDING_CHARACTERS: Final = 12
_BACKGROUND: Final = frozenset({"when", "before", "until", "till", "while"})
_CONVINCED: Final = frozenset({"convinced", "sure", "certain", "afraid", "worried", "scared", "feared"})
"""Words of a thought that need not be so, beside the verbs of thinking."""
_CHANGING: Final = frozenset({"likes", "dislikes", "prefers", "hobby", "fears", "job_title", "pet"})
"""Attributes that change in a life, beside those that can hurt."""
_VAGUE: Final = frozenset(
    [
        *("it", "that", "this", "them", "one", "something", "anything", "everything", "nothing", "someone", "thing"),
        *("stuff", "lot", "bit", "way", "time", "fun", "you", "him", "her", "these", "those", "what", "which", "who"),
        *("ourselves", "myself", "yourself", "themselves", "itself"),
        *("project", "projects", "campus", "no", "yes", "ways", "tips", "advice", "help", "options", "steps"),
        *("so", "there", "here", "things", "kind", "sort", "idea", "point", "look", "question", "chance"),
    ]
)


def read_facts(said: Statement) -> list[Fact]:
    """Return the facts of a statement, without those whose value names nothing."""
    return [_apply_stance(said, fact) for fact in _read(said) if _is_informative(said, fact)]


def _is_informative(said: Statement, fact: Fact) -> bool:
    """Return whether a value names something, and an attribute is one that a person has, for a person known by name."""
    if not fact.value or fact.value.lower() in _VAGUE:
        return False
    if fact.value.lower() == fact.attribute.replace("_", " ").lower():
        return False
    if fact.value.endswith((" to get", " to do", " to go", " to be", " to have", " to make")):
        return False
    # "I've never co-hosted any event": the parser loses the "never" of a word with a hyphen
    unread = "any" in fact.value.lower().split() and not said.clause.negated
    if unread and said.clause.stance is Stance.ASSERTED and fact.stance is Stance.ASSERTED:
        return False
    if (_is_bygone(said) or _was_thought(said)) and _is_state(fact.attribute):
        return False
    of_stranger = said.party.stranger and fact.entity == said.party.owner
    return not of_stranger or get_attribute(fact.attribute).person


def _is_bygone(said: Statement) -> bool:
    """Return whether a past clause tells of a time of life that is over, or only gives the time of another clause."""
    tree, clause = said.tree, said.clause
    if clause.tense is not Tense.PAST:
        return False
    linked = {tree.lemma(one) for one in tree.find_all(clause.head, "mark", "advmod")}
    background = tree.tokens[clause.head].dep == "advcl" and bool(linked & _BACKGROUND)
    return background or expression("checks", "bygone").search(tree.text, clause.start, clause.stop) is not None


def _was_thought(said: Statement) -> bool:
    """Return whether a clause is what somebody once thought: "I thought I have celiac disease"."""
    tree, above = said.tree, list(said.tree.ancestors(said.clause.head))
    past = any(tree.tokens[two].tag == "VBD" for one in above for two in (one, *tree.find_all(one, "aux", "auxpass")))
    return past and any(tree.lemma(one) in HEDGING or tree.tokens[one].text.lower() in _CONVINCED for one in above)


def _is_state(attribute: str) -> bool:
    return attribute in _CHANGING or get_attribute(attribute).hurts


def _read(said: Statement) -> Iterator[Fact]:
    if said.party.kind is PartyKind.UNKNOWN:
        yield from read_favourites(said)
        return
    below = _find_managed(said)
    if below is not None:
        said = said._replace(clause=replace(said.clause, head=below))  # "I managed to cut the budget"
    found = [*read_change(said), *read_favourites(said), *read_object_dates(said)]
    yield from read_capacity(said)
    yield from read_journeys(said)
    yield from read_tools(said)
    yield from read_quantities(said)
    if found:
        yield from found
    elif said.party.kind in {PartyKind.THING, PartyKind.OWN_THING}:
        yield from read_property(said)
        yield from read_taken_place(said)
        yield from read_outcome(said)
    elif said.tree.lemma(said.clause.head) == "be" and not said.clause.passive:
        yield from read_identities(said)
    else:
        yield from read_actions(said)


def _find_managed(said: Statement) -> int | None:
    """Return what somebody managed, got or ended up to do, but not what they "gotta" do."""
    tree, head = said.tree, said.clause.head
    below, lemma = tree.find(head, "xcomp"), tree.lemma(head)
    if below is None or lemma not in {"manage", "end", "get"} or tree.find(head, "dobj") is not None:
        return None
    past = said.clause.tense is Tense.PAST or said.clause.perfect
    must = any(tree.tokens[one].text == "ta" for one in tree.find_all(below, "aux"))
    return below if lemma == "manage" or (past and not must) else None


def _apply_stance(said: Statement, fact: Fact) -> Fact:
    """Give a fact the stance of its clause; "no longer" and "used to" end it."""
    clause = said.clause
    ending = said.tree.text[clause.start : clause.stop + _ENDING_CHARACTERS].lower()
    if clause.tense is Tense.FORMER or (clause.negated and any(one in ending for one in _ENDING)):
        fact = replace(fact, move=UpdateKind.END, stance=Stance.NEGATED)
    elif clause.negated:  # "I don't want to move" is no plan
        fact = replace(fact, stance=Stance.NEGATED)
    elif fact.stance is Stance.ASSERTED:
        fact = replace(fact, stance=clause.stance)
    return replace(fact, hedged=clause.hedged)
