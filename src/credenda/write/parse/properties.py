"""Read facts of objects: "my deadline is May 3", "we raised the budget to $550", "a limit of 20 calls". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from credenda.model.claim import UpdateKind
from credenda.model.memory import Stance
from credenda.write.extract.lexicon import lexicon, names
from credenda.write.parse.clauses import Tense
from credenda.write.parse.fact import Fact, Statement, load_frames, make_fact
from credenda.write.parse.figures import name_known
from credenda.write.parse.measures import Measure, find_measure_before, find_measured, is_day, read_day, split_measure
from credenda.write.parse.open_acts import COMPLETIONS
from credenda.write.parse.people import ACQUAINTANCES, PartyKind, find_name, is_owned, is_title
from credenda.write.parse.possessions import PETS
from credenda.write.parse.tree import CLAUSAL, Tree

__all__ = ["read_change", "read_noun_facts", "read_outcome", "read_property", "read_quantities", "read_taken_place"]

_OPEN_IMPORTANCE: Final = 0.6
_PLACED_BY: Final = ("on", "at", "in", "for", "from", "around", "by")
_NUMERIC: Final = re.compile(r"\d|\$|€|£")
_NUMERIC_START: Final = re.compile(r"[$€£~]?\d")
_QUANTITY: Final = re.compile(r"(?:about |around |under |over |up to )?[$€£~]?\d[\d.,]*(?: ?%| ?[a-zA-Z/]{1,12}){0,2}")
_COUNTED: Final = re.compile(r"((?:about |around |over |under )?[$€£~]?\d[\d.,]*(?: ?%|[a-zA-Z]{1,2}\b)?) ([a-z].*)")
_UNCOUNTED: Final = frozenset({"status", "number", "port", "version"})
"""Measures whose value stands behind them: "201 status" is no status."""
_PARTS: Final = frozenset({"end", "start", "beginning", "middle", "rest", "half", "part", "couple", "most", "total"})
"""Nouns of a part: "by the end of 2024" measures nothing."""
_RANGE: Final = re.compile(r"(\S*\d\S*(?: \w+)?) to (\S*\d.*)")
_CHANGES: Final = frozenset(
    [
        *("increase", "raise", "reduce", "cut", "lower", "extend", "move", "switch", "change", "upgrade", "push"),
        *("bump", "adjust", "update", "expand", "drop", "shift", "improve", "grow", "migrate", "rename"),
        *("reschedule", "decrease", "go"),
    ]
)


def read_property(said: Statement) -> Iterator[Fact]:
    """Yield what a thing is: its noun names the attribute. Of things without an owner only amounts are kept."""
    tree, head, party = said.tree, said.clause.head, said.party
    below = tree.find(head, "xcomp")
    if tree.lemma(head) in {"have", "get", "need"} and below is not None and tree.lemma(below) == "be":
        head = below  # "my favourite has to be …"
    if tree.lemma(head) != "be" or said.clause.passive:
        return
    target = tree.find(head, "attr", "acomp", "oprd")
    if target is None:
        places = (tree.preposition(head, word) for word in _PLACED_BY)
        target = next((place for place in places if place is not None), None)
        placed = target is not None and party.kind is PartyKind.OWN_THING
        if placed and not (_has_slot(party.noun) or tree.tokens[target or 0].entity in {"DATE", "TIME"}):
            return  # "my app is on slow devices"
    value = _read_aim(tree, head) if target is None else tree.phrase(target, whole=True)
    if party.kind is PartyKind.THING:
        if _NUMERIC_START.match(value):
            slot = split_measure(party.noun)
            if slot is not None:
                yield make_fact(said, slot.attribute, value, entity=_find_owner(said) or slot.owner or said.speaker)
    elif value and (target is None or tree.tokens[target].pos != "ADJ" or _has_slot(party.noun)):
        yield make_fact(said, _name_slot(party.noun), value)


def read_outcome(said: Statement) -> Iterator[Fact]:
    """Yield the acts upon a thing, whoever did them: "my application was accepted"."""
    tree, clause, at = said.tree, said.clause, said.clause.subject
    settled = tree.lemma(clause.head) in {*load_frames()["outcomes"]["verbs"], *COMPLETIONS, "approve", "deny", "grant"}
    told = clause.stance is Stance.ASSERTED and all(
        tree.lemma(one) != "to" for one in tree.find_all(clause.head, "aux")
    )
    if at is None or not (settled and clause.passive and told) or clause.negated:
        return
    thing = name_known(tree, at, said.speaker)
    definite = any(tree.lemma(one) == "the" for one in tree.find_all(at, "det"))
    if thing and (definite or said.party.kind is PartyKind.OWN_THING):
        yield make_fact(said, "status", tree.tokens[clause.head].text.lower(), entity=thing)


def read_taken_place(said: Statement) -> Iterator[Fact]:
    """Yield that something took place, which the speaker judges: "the exam went well"."""
    tree, clause, at = said.tree, said.clause, said.clause.subject
    if at is None or clause.tense is not Tense.PAST or clause.negated or tree.lemma(clause.head) not in {"be", "go"}:
        return
    definite = is_owned(tree, at) or any(tree.lemma(one) == "the" for one in tree.find_all(at, "det"))
    if definite and tree.lemma(at) in load_frames()["events"]["nouns"]:
        told = tree.slice(clause.head, tree.descend(clause.head, {*CLAUSAL, "conj", "cc", "punct"})[-1])
        yield make_fact(said, "experience", f"{tree.phrase(at)} {told}", entity=said.speaker)


def _read_aim(tree: Tree, head: int) -> str:
    """Return the action in "my goal is to run"."""
    below = tree.find(head, "xcomp", "ccomp")
    if below is None or all(tree.lemma(one) != "to" for one in tree.find_all(below, "aux")):
        return ""
    return tree.action(below)


def _has_slot(noun: str) -> bool:
    known = lexicon().attribute(noun)
    return "favo" in noun.lower() or known.known or known.importance > _OPEN_IMPORTANCE


def _name_slot(noun: str) -> str:
    """Return the attribute that a noun names, else the noun itself."""
    return lexicon().attribute(noun.lower()).name or noun.lower()


def read_change(said: Statement) -> Iterator[Fact]:
    """Yield the new and the old value in "increased the budget from A to B"."""
    tree, head, party = said.tree, said.clause.head, said.party
    if tree.lemma(head) not in _CHANGES:
        return
    changed = tree.find(head, "dobj")
    ends = _find_ends(tree, [head] if changed is None else [head, changed])
    if ends[1] is not None and is_day(tree, ends[1]):
        yield from _read_new_date(said, said.clause.subject if changed is None else changed, ends[1])
        return
    values = _split_range(tree, *ends)
    unnamed = changed is not None and tree.lemma(changed) == "it"
    changed = find_measure_before(tree, changed) if changed is not None and unnamed else changed
    if values is None or (unnamed and changed is None):
        return
    entity = party.owner
    if changed is not None or party.kind in {PartyKind.OWN_THING, PartyKind.THING}:
        noun = party.noun if changed is None else tree.phrase(changed, prepositions=False)
        slot = split_measure(noun) or Measure("", noun)
        if changed is not None and party.kind is PartyKind.THING and not (slot.owner or _find_owner(said)):
            return  # a tool that "cut the sizes to 180KB" has no sizes
        attribute, entity = slot.attribute, _find_owner(said) or slot.owner or entity
        if attribute == "number":
            return  # of whatever follows: no telephone number
    elif tree.lemma(head) in {"switch", "change", "migrate"} and values[0] is not None:
        attribute = "uses"
    else:
        return
    prior, value = values
    attribute = _name_slot(attribute)
    yield make_fact(said, attribute, value, entity=entity, move=UpdateKind.CHANGE, prior=prior)
    if prior is not None:
        yield make_fact(said, attribute, prior, entity=entity, past=True)


def _read_new_date(said: Statement, at: int | None, day: int) -> Iterator[Fact]:
    """Yield the day to which a thing was moved: "I rescheduled my interview to 5 July"."""
    thing = "" if at is None else name_known(said.tree, at, said.speaker)
    if thing and said.clause.stance is Stance.ASSERTED:
        yield make_fact(said, "date", read_day(said.tree, day), entity=thing, move=UpdateKind.CHANGE)


def _find_ends(tree: Tree, places: Sequence[int]) -> tuple[int | None, int | None]:
    """Return the nouns after "from" and "to", each of which may depend on the other."""
    old = next((at for place in places if (at := tree.preposition(place, "from")) is not None), None)
    new = next((at for place in places if (at := tree.preposition(place, "to")) is not None), None)
    if old is None and new is not None:
        old = tree.preposition(new, "from")
    elif old is not None and new is None:
        new = tree.preposition(tree.tokens[old].head, "to")
    return old, new


def read_quantities(said: Statement) -> Iterator[Fact]:
    """Yield the number of a measure that a clause reports: "I've reached 85% test coverage on my modules"."""
    tree, head = said.tree, said.clause.head
    if said.clause.negated or load_frames()["verbs"].get(tree.lemma(head), {}).get("plan"):
        return
    for at in tree.descend(head, {*CLAUSAL, "conj", "xcomp", "acl", "pcomp"}):
        found = _COUNTED.fullmatch(tree.phrase(at, prepositions=False)) if tree.tokens[at].pos == "NOUN" else None
        slot = None if found is None else split_measure(found[2])
        if found is not None and slot is not None and slot.attribute not in _UNCOUNTED:
            place = tree.preposition(at, "for", "of", "on") or tree.preposition(head, "for", "on")
            thing = slot.owner if place is None else tree.phrase(place, prepositions=False)
            entity = thing or said.party.noun
            yield make_fact(said, slot.attribute, found[1], entity=entity or said.speaker, loose=not entity)


def _find_owner(said: Statement) -> str:
    """Return the object of "the coverage for my module", of which a clause tells the coverage."""
    tree, measured = said.tree, find_measured(said.tree, said.clause)
    place = None if measured is None else tree.preposition(measured, "for", "of", "on")
    return "" if place is None else tree.phrase(place, prepositions=False)


def _split_range(tree: Tree, old: int | None, new: int | None) -> tuple[str | None, str] | None:
    """Return the old and the new value; "from $500 to $550" may be one phrase. Only an amount needs no old value.

    An amount gives way to an amount: "the Time to Interactive from 3.5s" names no new value.
    """
    if new is None:
        found = None if old is None else _RANGE.fullmatch(tree.phrase(old))
        return None if found is None else (found[1], found[2])
    if old is None:
        value = tree.phrase(new, prepositions=False)
        return (None, value) if _NUMERIC.search(value) else None
    before, after = tree.phrase(old), tree.phrase(new, prepositions=tree.preposition(new, "from") is None)
    return None if _NUMERIC_START.match(before) and not _NUMERIC.search(after) else (before, after)


def read_noun_facts(tree: Tree, speaker: str) -> Iterator[Fact]:
    """Yield facts that a noun phrase carries, even in a question: "my sister Ana", "a response time of 280 ms"."""
    for at, token in enumerate(tree.tokens):
        if token.pos not in {"NOUN", "PROPN"}:
            continue
        kin = names().kin_noun(token.lemma)
        if kin not in ACQUAINTANCES and is_title(tree, at):
            slot = (tree.phrase(token.head, prepositions=False), "job_title", tree.phrase(at, prepositions=False))
            yield _make_noun_fact(tree, tree.descend(token.head, {*CLAUSAL, "prep"}), slot)
        beside = token.dep == "appos" and tree.tokens[token.head].pos == "PROPN"
        befriended = beside and kin in ACQUAINTANCES and tree.find(at, "det") is not None
        if kin is not None and kin != "fish" and (befriended or is_owned(tree, at)):
            named = find_name(tree, at)
            if named is None and token.lemma in PETS:
                kin, named = "pet", token.lemma
            if named is not None:
                inside = [*tree.descend(at, CLAUSAL), *tree.descend(_find_end(tree, at, named), CLAUSAL)]
                yield _make_noun_fact(tree, sorted(inside), (speaker, kin, named))
        amount = tree.preposition(at, "of")
        value = "" if amount is None else tree.phrase(amount, prepositions=False)
        if token.pos == "NOUN" and token.lemma not in _PARTS and _QUANTITY.fullmatch(value):
            noun = tree.phrase(at, prepositions=False)
            slot = split_measure(noun) or Measure("", noun.lower())
            place = tree.preposition(at, "for") or tree.preposition(token.head, "for")
            thing = tree.phrase(place, prepositions=False) if place is not None else slot.owner
            thing = thing or _find_holder(tree, at)
            fact = _make_noun_fact(tree, tree.descend(at, CLAUSAL), (thing or speaker, slot.attribute, value))
            yield replace(fact, loose=not (thing or is_owned(tree, at)))


def _find_end(tree: Tree, at: int, named: str) -> int:
    """Return the name that follows a noun without hanging on it, else the noun."""
    follows = at + 1 < len(tree.tokens) and tree.tokens[at + 1].text == named
    return at + 1 if follows else at


def _find_holder(tree: Tree, at: int) -> str:
    """Return the thing that has something: "the endpoint has a response time of 280 ms"."""
    verb = tree.tokens[at].head
    holder = tree.find(verb, "nsubj") if tree.lemma(verb) == "have" and tree.tokens[at].dep == "dobj" else None
    named = holder is not None and tree.tokens[holder].pos in {"NOUN", "PROPN"}
    return tree.phrase(holder, prepositions=False) if holder is not None and named else ""


def _make_noun_fact(tree: Tree, inside: Sequence[int], slot: tuple[str, str, str]) -> Fact:
    entity, attribute, value = slot
    start, stop = tree.tokens[inside[0]].start, tree.tokens[inside[-1]].stop
    return Fact(entity=entity, attribute=attribute, value=value, start=start, stop=stop)
