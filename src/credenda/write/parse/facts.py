"""Facts of clauses: the slot and value that a clause fills, by its verb and the relations of its phrases. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any, Final

from credenda.model.claim import UpdateKind
from credenda.model.memory import Cardinality, MemoryType, Stance
from credenda.write.extract.lexicon import lexicon, names
from credenda.write.extract.shapes import is_occupation
from credenda.write.parse.clauses import Clause, Tense
from credenda.write.parse.people import Party, PartyKind, find_kin, find_name
from credenda.write.parse.tree import CLAUSAL, Tree

__all__ = ["Fact", "read_clause_facts", "read_noun_facts"]

_WORDS_MAX: Final = 14
_OPEN_IMPORTANCE: Final = 0.6
_OBJECTS: Final = ("dobj", "attr", "oprd")
_PREFERENCES: Final = frozenset({"likes", "dislikes", "prefers"})
_NUMERIC: Final = re.compile(r"\d|\$|€|£")
_AGE: Final = re.compile(r"\d{1,3}|[a-z]+(?:-[a-z]+)?")
_PETS: Final = frozenset({"dog", "cat", "puppy", "kitten", "rabbit", "hamster", "parrot", "horse", "pet"})
_HEALTH: Final = frozenset(
    ["asthma", "diabetes", "migraine", "anxiety", "adhd", "depression", "arthritis", "epilepsy", "eczema", "anemia",
     "insomnia", "hypertension", "allergy", "intolerance", "condition", "syndrome", "disorder", "disease", "cancer"]
)  # fmt: skip
_APPOINTMENTS: Final = frozenset(
    ["appointment", "meeting", "interview", "exam", "flight", "call", "deadline", "presentation", "test", "session",
     "class", "rehearsal", "competition", "tournament", "recital", "party", "wedding", "conference"]
)  # fmt: skip
_CHANGES: Final = frozenset(
    ["increase", "raise", "reduce", "cut", "lower", "extend", "move", "switch", "change", "upgrade", "push", "bump",
     "adjust", "update", "expand", "drop", "shift", "improve", "grow", "migrate", "rename", "reschedule", "decrease", "go"]
)  # fmt: skip
_PLACES: Final = frozenset({"visited", "residence", "birthplace", "grew_up_in"})
"""Attributes whose values are names."""
_CLOSING: Final = frozenset({"no longer", "anymore", "any more"})
_NUMERIC_START: Final = re.compile(r"[$€£~]?\d")
_QUANTITY: Final = re.compile(r"(?:about |around |under |over |up to )?[$€£~]?\d[\d.,]*(?: ?%| ?[a-zA-Z/]{1,12}){0,2}")
_VAGUE: Final = frozenset(
    ["it", "that", "this", "them", "one", "something", "anything", "everything", "nothing", "someone", "thing", "stuff",
     "lot", "bit", "way", "time", "fun", "you", "him", "her", "these", "those", "what", "which", "who", "so", "there",
     "here", "things", "kind", "sort", "idea", "point", "look", "question", "chance"]
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact: its slot and value, and the characters [start, stop) of the text that say it."""

    entity: str
    attribute: str
    value: str
    start: int
    stop: int
    type: MemoryType = MemoryType.FACT
    stance: Stance = Stance.ASSERTED
    move: UpdateKind = UpdateKind.STATE
    prior: str | None = None
    many: bool = True
    hedged: bool = False
    general: bool = False
    """Whether the verb itself names the attribute: no frame did."""


@cache
def _load_frames() -> Mapping[str, Any]:
    return tomllib.loads(resources.files("credenda.write.parse").joinpath("frames.toml").read_text("utf-8"))


def read_clause_facts(tree: Tree, clause: Clause, party: Party) -> list[Fact]:
    """Return the facts of a clause about a party."""
    shaped = (_shape(tree, clause, fact) for fact in _read(tree, clause, party))
    return [fact for fact in shaped if fact is not None]


def _shape(tree: Tree, clause: Clause, fact: Fact) -> Fact | None:
    """Apply the stance of the clause to a fact."""
    words = fact.value.lower().split()
    if not words or (len(words) == 1 and words[0] in _VAGUE):
        return None
    if fact.stance is Stance.ASSERTED:
        fact = replace(fact, stance=Stance.NEGATED if clause.negated else clause.stance)
    ending = tree.text[clause.start : clause.stop + 12].lower()
    if clause.negated and any(one in ending for one in _CLOSING):
        fact = replace(fact, move=UpdateKind.END, stance=Stance.NEGATED)
    if clause.tense is Tense.FORMER:
        fact = replace(fact, move=UpdateKind.END, stance=Stance.NEGATED)
    return replace(fact, hedged=fact.hedged or clause.hedged)


def _read(tree: Tree, clause: Clause, party: Party) -> Iterator[Fact]:
    head = clause.head
    if tree.lemma(head) == "be" and not clause.passive:
        yield from _read_copula(tree, clause, party)
        return
    changed = list(_read_change(tree, clause, party))
    if changed:
        yield from changed
        return
    if party.kind in {PartyKind.THING, PartyKind.OWN_THING}:
        yield from _read_thing(tree, clause, party)
        return
    yield from _read_verb(tree, clause, party, head)


def _fact(clause: Clause, entity: str, attribute: str, value: str, **more: Any) -> Fact:  # noqa: ANN401
    known = lexicon().attribute(attribute)
    many = more.pop("many", known.cardinality is Cardinality.SET or not _is_known(attribute))
    kind = MemoryType.PREFERENCE if attribute in _PREFERENCES or attribute.startswith("favo") else MemoryType.FACT
    return Fact(
        entity=entity,
        attribute=attribute,
        value=value,
        start=clause.start,
        stop=clause.stop,
        many=many,
        type=more.pop("type", MemoryType.DECISION if attribute == "decision" else kind),
        **more,
    )


def _is_known(attribute: str) -> bool:
    return attribute in {
        *("residence", "employer", "job_title", "school", "degree", "name", "age", "birthday", "birthplace", "origin"),
        *("marital_status", "diet", "grew_up_in", "weight"),
    }


def _read_copula(tree: Tree, clause: Clause, party: Party) -> Iterator[Fact]:
    head = clause.head
    noun, adjective = tree.find(head, "attr"), tree.find(head, "acomp")
    if party.kind in {PartyKind.THING, PartyKind.OWN_THING}:
        yield from _read_thing(tree, clause, party)
        return
    if noun is not None:
        for one in tree.conjuncts(noun):
            yield from _read_identity(tree, clause, party, one)
    if adjective is not None:
        for one in tree.conjuncts(adjective):
            yield from _read_state(tree, clause, party, one)
    origin = tree.preposition(head, "from")
    if origin is not None and tree.tokens[origin].pos == "PROPN":
        yield _fact(clause, party.owner, "origin", tree.phrase(origin))
    liked = tree.preposition(head, "into")
    for one in [] if liked is None else tree.conjuncts(liked):
        yield _fact(clause, party.owner, "likes", tree.phrase(one))
    below = tree.find(head, "xcomp")
    if below is not None and noun is None and adjective is None:
        yield from _read_verb(tree, clause, party, below)


def _read_identity(tree: Tree, clause: Clause, party: Party, at: int) -> Iterator[Fact]:
    """Read "I am X": a name, an age, a role, or what X is."""
    token = tree.tokens[at]
    bare = tree.find(at, "det", "poss") is None
    if token.pos == "PROPN" and bare and token.entity in {"PERSON", ""} and token.tag == "NNP":
        yield _fact(clause, party.owner, "name", tree.phrase(at, prepositions=False))
        for one in tree.find_all(at, "appos"):
            yield from _read_role(tree, clause, party, one)
        return
    if token.pos == "NUM" and tree.find(at, "prep") is None:
        yield _fact(clause, party.owner, "age", token.text)
        return
    kin = names().kin_noun(token.lemma)
    if kin is not None and not bare and (owner := tree.find(at, "poss")) is not None:
        if tree.tokens[owner].text.lower() in {"my", "our"}:
            yield _fact(clause, "user", kin, party.owner)
        return
    yield from _read_role(tree, clause, party, at)


def _read_role(tree: Tree, clause: Clause, party: Party, at: int) -> Iterator[Fact]:
    value = tree.phrase(at, prepositions=False)
    if tree.tokens[at].pos not in {"NOUN", "PROPN"}:
        return
    if is_occupation(value):
        yield _fact(clause, party.owner, "job_title", value)
    elif tree.lemma(at) == "fan" and (liked := tree.preposition(at, "of")) is not None:
        for one in tree.conjuncts(liked):
            yield _fact(clause, party.owner, "likes", tree.phrase(one))
    elif party.kind is PartyKind.SPEAKER and tree.find(at, "det", "poss") is not None:
        yield _fact(clause, party.owner, "way", tree.phrase(at), general=True)
    workplace = tree.preposition(at, "at")
    if workplace is not None and is_occupation(value):
        yield _fact(clause, party.owner, "employer", tree.phrase(workplace))
    home = tree.preposition(at, "from")
    if home is not None and tree.tokens[home].pos == "PROPN":
        yield _fact(clause, party.owner, "origin", tree.phrase(home))


def _read_state(tree: Tree, clause: Clause, party: Party, at: int) -> Iterator[Fact]:
    """Read "I am ADJECTIVE …"."""
    token = tree.tokens[at]
    years = tree.find(at, "npadvmod")
    if token.lemma == "old" and years is not None:
        number = tree.find(years, "nummod")
        if number is not None:
            yield _fact(clause, party.owner, "age", tree.tokens[number].text)
        return
    frame = _load_frames()["adjectives"].get(token.text.lower())
    if frame is None:
        return
    for word, attribute in frame.items():
        target = at if word == "itself" else tree.preposition(at, word)
        if target is None:
            continue
        for one in [target] if word == "itself" else tree.conjuncts(target):
            value = token.text if word == "itself" else tree.phrase(one)
            yield _fact(clause, party.owner, attribute, value)


def _read_thing(tree: Tree, clause: Clause, party: Party) -> Iterator[Fact]:
    """Read "my deadline is …": the noun names the attribute. Of another's things only amounts and days are kept."""
    head = clause.head
    below = tree.find(head, "xcomp")
    if tree.lemma(head) in {"have", "get", "need"} and below is not None and tree.lemma(below) == "be":
        head = below  # "my favourite has to be …"
    if tree.lemma(head) != "be" or clause.passive:
        return
    target = tree.find(head, "attr", "acomp", "oprd")
    if target is None:
        places = (tree.preposition(head, word) for word in ("on", "at", "in", "for", "from", "around", "by"))
        target = next((place for place in places if place is not None), None)
    below = tree.find(head, "xcomp", "ccomp")
    if target is not None:
        value = tree.phrase(target, whole=True)
    elif below is not None and any(tree.lemma(one) == "to" for one in tree.find_all(below, "aux")):
        value = _say_action(tree, below)
    else:
        return
    own = party.kind is PartyKind.OWN_THING
    if not own and not _NUMERIC_START.match(value):
        return
    if own and target is not None and tree.tokens[target].pos == "ADJ" and not _names_slot(party.noun):
        return
    entity, attribute = (party.owner, party.noun.lower()) if own else (party.noun, "amount")
    yield _fact(clause, entity, _slot_name(attribute), value, many=not own)


def _names_slot(noun: str) -> bool:
    return noun.lower().startswith("favo") or lexicon().attribute(noun).importance > _OPEN_IMPORTANCE


def _slot_name(noun: str) -> str:
    """Return the attribute of a noun: that of a row which the noun names, else the noun."""
    known = lexicon().attribute(noun)
    return known.name or noun


def _read_change(tree: Tree, clause: Clause, party: Party) -> Iterator[Fact]:
    """Read "increased the budget from A to B": the object, or the subject, changed its value."""
    head = clause.head
    if tree.lemma(head) not in _CHANGES:
        return
    old, new = tree.preposition(head, "from"), tree.preposition(head, "to")
    changed = tree.find(head, "dobj")
    if changed is not None:
        old = old if old is not None else tree.preposition(changed, "from")
        new = new if new is not None else tree.preposition(changed, "to")
    if new is None or (old is None and not _NUMERIC.search(tree.phrase(new))):
        return
    if changed is None and party.kind in {PartyKind.SPEAKER, PartyKind.PERSON}:
        if tree.lemma(head) in {"move", "go"} or old is None:
            return
        entity, attribute = party.owner, "uses"
    elif changed is None:
        entity, attribute = party.owner if party.kind is PartyKind.OWN_THING else "user", party.noun.lower()
    else:
        entity, attribute = party.owner, tree.phrase(changed, prepositions=False).lower()
    yield _fact(
        clause,
        entity,
        _slot_name(attribute),
        tree.phrase(new),
        move=UpdateKind.CHANGE,
        prior=None if old is None else tree.phrase(old),
        many=False,
    )


def _read_verb(tree: Tree, clause: Clause, party: Party, head: int) -> Iterator[Fact]:
    lemma = tree.lemma(head)
    frames = _load_frames()
    frame = frames["verbs"].get(lemma)
    particle = tree.find(head, "prt")
    if lemma == "have":
        yield from _read_having(tree, clause, party, head)
        return
    below = tree.find(head, "xcomp")
    if lemma == "go" and below is not None and tree.tokens[head].tag == "VBG":
        yield _fact(clause, party.owner, "plan", _say_action(tree, below), stance=Stance.PLANNED)
        return
    if lemma == "use" and clause.tense is Tense.FORMER and below is not None:
        yield from _read_verb(tree, clause, party, below)
        return
    if lemma in {"love", "like"} and any(tree.lemma(one) in {"would", "'d", "d"} for one in tree.find_all(head, "aux")):
        frame = {"object": "wish", "to": "wish", "plan": True}
    done = 0
    if frame is not None and particle is None:
        for fact in _fill_frame(tree, clause, party, head, frame):
            done += 1
            yield fact
    if not done and party.kind is PartyKind.SPEAKER:
        yield from _read_general(tree, clause, party, head)


def _fill_frame(tree: Tree, clause: Clause, party: Party, head: int, frame: Mapping[str, Any]) -> Iterator[Fact]:
    move = UpdateKind(frame["move"]) if "move" in frame else UpdateKind.STATE
    if frame.get("change"):
        move = UpdateKind.CHANGE
    more: dict[str, Any] = {"move": move}
    if frame.get("plan"):
        more["stance"] = Stance.CONSIDERED if tree.lemma(head) in {"consider", "think"} else Stance.PLANNED
    if move is UpdateKind.END:
        more["stance"] = Stance.NEGATED
    for word, attribute in frame.items():
        if word in {"move", "plan", "change"}:
            continue
        if word == "object":
            target = tree.find(head, *_OBJECTS)
        elif word == "to":
            target = tree.find(head, "xcomp")
            if target is not None and tree.lemma(target) in _load_frames()["empty"]["verbs"]:
                continue
            if target is not None and tree.tokens[target].pos in {"VERB", "AUX"}:
                yield _fact(clause, party.owner, attribute, _say_action(tree, target), **more)
                continue
            target = tree.preposition(head, "to")
        else:
            target = tree.preposition(head, word)
            if target is None:
                gerund = _find_gerund(tree, head, word)
                if gerund is not None:
                    yield _fact(clause, party.owner, attribute, _say_action(tree, gerund), **more)
                continue
        if target is None:
            continue
        prior = tree.preposition(head, "from") if move is UpdateKind.CHANGE else None
        over = tree.preposition(head, "over", "to") if attribute == "prefers" else None
        for one in tree.conjuncts(target):
            value = tree.phrase(one)
            if attribute in _PLACES and tree.tokens[one].pos != "PROPN":
                continue
            yield _fact(
                clause, party.owner, attribute, value,
                prior=tree.phrase(prior) if prior is not None else tree.phrase(over) if over is not None else None,
                **more,
            )  # fmt: skip


def _find_gerund(tree: Tree, head: int, word: str) -> int | None:
    """Return the verb after a preposition: "thinking about moving"."""
    for one in tree.find_all(head, "prep"):
        if tree.lemma(one) == word:
            return tree.find(one, "pcomp")
    return None


def _read_having(tree: Tree, clause: Clause, party: Party, head: int) -> Iterator[Fact]:
    """Read "I have …": relatives, pets, health, appointments, or what is had; "I have to …" is a need."""
    below = tree.find(head, "xcomp")
    if below is not None:
        if tree.lemma(below) not in _load_frames()["empty"]["verbs"]:
            yield _fact(clause, party.owner, "plan", _say_action(tree, below), stance=Stance.PLANNED)
        return
    target = tree.find(head, "dobj")
    if target is None:
        return
    for one in tree.conjuncts(target):
        lemma = tree.lemma(one)
        kin = names().kin_noun(lemma)
        value = tree.phrase(one)
        if lemma in {"allergy", "intolerance"} and (to := tree.preposition(one, "to")) is not None:
            yield _fact(clause, party.owner, lemma, tree.phrase(to))
        elif lemma in _HEALTH:
            yield _fact(clause, party.owner, "condition", value)
        elif lemma in _PETS:
            yield _fact(clause, party.owner, "pet", value)
        elif kin is not None:
            named = find_name(tree, one) or _find_naming(tree, one)
            yield _fact(clause, party.owner, kin, named or value)
        elif lemma in _APPOINTMENTS:
            yield _fact(clause, party.owner, "appointment", value)
        else:
            yield _fact(clause, party.owner, "has", value, general=True)


def _find_naming(tree: Tree, at: int) -> str | None:
    """Return the name in "a sister named Ana", "a dog called Rex"."""
    for one in tree.find_all(at, "acl"):
        if tree.lemma(one) in {"name", "call"} and (named := tree.find(one, "oprd", "dobj", "attr")) is not None:
            return tree.phrase(named, prepositions=False)
    return None


def _read_general(tree: Tree, clause: Clause, party: Party, head: int) -> Iterator[Fact]:
    """Keep what a verb without a frame says: the verb is the attribute, the rest of its phrase the value."""
    lemma = tree.lemma(head)
    particle = tree.find(head, "prt")
    if (lemma in _load_frames()["light"]["verbs"] and particle is None) or tree.tokens[head].pos != "VERB":
        return
    if _say(tree, head):
        attribute = "experience" if clause.tense is Tense.PAST or clause.perfect else "does"
        yield _fact(clause, party.owner, attribute, _say_action(tree, head), general=True)


def _say(tree: Tree, head: int) -> str:
    """Return the words after a verb in its own phrase."""
    inside = [one for one in tree.descend(head, {*CLAUSAL, "conj", "cc"}) if one > head]
    while inside and tree.tokens[inside[0]].dep in {"prt", "neg", "advmod", "det", "punct"}:
        inside = inside[1:]
    while inside and tree.tokens[inside[-1]].pos in {"PUNCT", "CCONJ", "INTJ"}:
        inside = inside[:-1]
    run: list[int] = []
    for one in inside[:_WORDS_MAX]:
        if run and one != run[-1] + 1:
            break
        run.append(one)
    return tree.slice(run[0], run[-1]) if run else ""


def _say_action(tree: Tree, head: int) -> str:
    """Return an action with its verb: "visit Hawaii with friends"."""
    said = _say(tree, head)
    return f"{tree.tokens[head].text} {said}".strip()


def read_noun_facts(tree: Tree, speaker: str) -> Iterator[Fact]:
    """Read facts that a noun phrase carries, even in a question: "my sister Ana", "a response time of 280 ms"."""
    for at, token in enumerate(tree.tokens):
        if token.pos not in {"NOUN", "PROPN"}:
            continue
        kin = names().kin_noun(token.lemma)
        named = find_name(tree, at) if kin is not None and find_kin(tree, at, speaker) else None
        if kin is not None and named is not None:
            inside = tree.descend(at, CLAUSAL)
            yield _noun_fact(tree, inside, speaker, kin, named, many=True)
        amount = tree.preposition(at, "of")
        value = "" if amount is None else tree.phrase(amount, prepositions=False)
        if token.pos == "NOUN" and amount is not None and _QUANTITY.fullmatch(value):
            inside = tree.descend(at, CLAUSAL)
            yield _noun_fact(tree, inside, speaker, _noun_before(tree, at), value, many=True)


def _noun_before(tree: Tree, at: int) -> str:
    return tree.phrase(at, prepositions=False).lower()


def _noun_fact(tree: Tree, inside: list[int], entity: str, attribute: str, value: str, *, many: bool) -> Fact:
    start, stop = tree.tokens[inside[0]].start, tree.tokens[inside[-1]].stop
    return Fact(entity=entity, attribute=attribute, value=value, start=start, stop=stop, many=many)
