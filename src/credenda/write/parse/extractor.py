"""The extractor over parsed sentences: it adds to the claims of the rules what their patterns do not match. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from credenda import limits
from credenda.model.attributes import get_attribute, is_valid_value
from credenda.model.claim import CONFIDENCE_MAX, Claim, Extractor, Span, Turn, UpdateKind
from credenda.model.event import Role
from credenda.model.memory import Cardinality, MemoryType, Stance
from credenda.model.parsed import Parser
from credenda.text.normalize import normalise_attribute
from credenda.text.sentences import TextSpan
from credenda.write.extract.acts import Act, act_of
from credenda.write.extract.checks import is_hollow
from credenda.write.extract.clauses import straighten
from credenda.write.extract.lexicon import lexicon, names
from credenda.write.extract.moments import clause_dates
from credenda.write.extract.noteworthy import is_hardly_english
from credenda.write.extract.prose import own_sentences
from credenda.write.extract.third_person import who_speaks
from credenda.write.extract.voices import is_playing
from credenda.write.parse.clauses import Tense, read_clauses
from credenda.write.parse.context import complete_answer, find_open_question, is_greeting, resolve_it
from credenda.write.parse.fact import Fact, Statement
from credenda.write.parse.facts import read_facts
from credenda.write.parse.figures import read_figures
from credenda.write.parse.keeping import is_filling
from credenda.write.parse.measures import find_measured, is_measured
from credenda.write.parse.objects import file_under_topic
from credenda.write.parse.people import Party, PartyKind, find_last_object, identify
from credenda.write.parse.properties import read_noun_facts
from credenda.write.parse.topics import name_topic
from credenda.write.parse.tree import CLAUSAL, Tree

__all__ = ["ParsingExtractor", "list_facts"]

_CONFIDENCE: Final = 0.8
_HEDGED: Final = 0.5
_IMPORTANCE: Final = 0.5
_ENTITY_WORDS: Final = 3
_SINGLE: Final = frozenset({"residence", "employer", "grew_up_in", "weight"})
_READ_OF_THINGS: Final = frozenset({"date", "amount"})
_STATES: Final = frozenset({"residence", "employer", "job_title"})
"""Attributes of which a planned value begins on its day."""
_SCHEDULED: Final = frozenset({"start", "begin", "join", "move", "leave", "fly", "arrive"})
"""Verbs whose present tells of a coming day: "I start on Monday"."""
_TORN_NAME: Final = re.compile(r"\d{1,3} |(?:to|from|of|by|in|on|at|for|with) ")
"""The start of what is no name of a thing: "2 scenes" of "2 scenes per week"."""
_OPEN_TIMES: Final = frozenset({"for", "by", "until", "till", "since", "from"})
_VAGUE: Final = frozenset({"likes", "dislikes", "prefers", "plan", "considering", "event", "experience", "does", "has"})
"""Attributes of the rules that say less than a clause."""
_RULED: Final = frozenset(
    [
        *("instruction", "residence", "employer", "likes", "dislikes", "prefers", "plan", "considering", "diet"),
        *("eats", "employment_status", "avoids", "family_status"),
    ]
)


class ParsingExtractor:
    """Extracts by the rules, then from the clauses that they left. Stateless but for the parser."""

    def __init__(self, parser: Parser, rules: Extractor) -> None:
        """Take a parser of English and the extractor whose claims stand first."""
        self._parser = parser
        self._rules = rules

    def extract(self, turn: Turn) -> list[Claim]:
        """Return the claims of a turn in the order of their spans; an assistant's text gives none."""
        claims = self._rules.extract(turn)
        if turn.event.role is Role.ASSISTANT:
            return claims
        told = [(_find_place(span, fact), tree, fact) for span, tree, fact in list_facts(self._parser, turn)]
        found = [_make_claim(turn, place, fact) for place, tree, fact in told if is_filling(tree, fact)]
        read, filled = [place for place, _, _ in told], [(one.span.start, one.span.stop) for one in found]
        foreign = [one for one in claims if is_hardly_english(one.text)]
        claims = [one for one in claims if one not in foreign and _is_precise(one)]
        vague = [one for one in claims if _is_vague(one) and _is_taken(one.span, read if one.attribute else filled)]
        claims = [one for one in claims if one not in vague]
        ruled = [one for one in claims if one.attribute is not None]
        claims += [one for one in found if not any(_is_covered(other, one) for other in ruled)]
        return sorted([*foreign, *map(name_topic, claims)], key=lambda one: one.span.start)


def list_facts(parser: Parser, turn: Turn) -> Iterator[tuple[TextSpan, Tree, Fact]]:
    """Yield what the sentences of a turn tell, each with its sentence and the tree of that."""
    event = turn.event
    _, owner = who_speaks(event)
    if owner is None:
        return
    reading = _Reading(owner, event.occurred_us)
    asked, before = find_open_question(turn), None
    for span in own_sentences(event.text, playing=is_playing(turn)):
        text = event.text[span.start : span.stop].replace("’", "'")
        if is_hardly_english(text):
            asked, before = "", None
            continue
        tree = Tree(text, parser.parse(text))
        found = reading.read(tree)
        yield from ((span, tree, fact) for fact in found)
        completed = (complete_answer(tree, asked) if asked else "") or resolve_it(tree, before)
        if completed:
            whole = Tree(completed, parser.parse(completed))
            more = _leave_out_known(reading.read(whole), found)
            safe = [one for one in more if not get_attribute(one.attribute).hurts]
            yield from ((span, whole, replace(one, completes=len(text))) for one in safe)
        asked, before = asked if is_greeting(text) else "", tree


class _Reading:
    """Reads the sentences of a turn in order, and remembers whom and what they were about."""

    def __init__(self, owner: str, now_us: int) -> None:
        self._owner, self._now_us = owner, now_us
        self._topic = self._last_object = ""
        self._last_person: str | None = None

    def read(self, tree: Tree) -> list[Fact]:
        """Return the facts of the next sentence."""
        facts: list[Fact] = []
        clauses = read_clauses(tree)
        asserted = {one.head for one in clauses if one.stance is Stance.ASSERTED and not one.negated}
        for clause in clauses:
            party = identify(tree, find_measured(tree, clause), self._owner, self._last_person)
            party = party or Party(PartyKind.UNKNOWN, self._owner)
            self._last_person = party.owner if party.kind is PartyKind.PERSON else self._last_person
            facts += read_facts(_schedule(Statement(tree, clause, party, self._owner, self._last_object), self._now_us))
            self._last_object = find_last_object(tree, clause, party) or self._last_object
        facts += read_noun_facts(tree, self._owner)
        facts += _leave_out_known(read_figures(tree, self._owner, asserted), facts)
        self._topic, facts = file_under_topic(facts, self._owner, self._topic)
        doubtful = act_of(straighten(tree.text)) is not Act.STATEMENT
        whole = [one for one in facts if not is_hollow(one.value, one.attribute) and not _TORN_NAME.match(one.entity)]
        return [one for one in whole if _is_safe(one, doubtful=doubtful)]


def _is_safe(fact: Fact, *, doubtful: bool) -> bool:
    """Return whether a fact names whom it says, and tells of a person's life only in a plain statement."""
    schema = get_attribute(fact.attribute)
    nameless = schema.kind == "person" and fact.value[:1].islower()  # "married to my job"
    return not nameless and not (doubtful and (schema.hurts or schema.person))


def _schedule(said: Statement, now_us: int) -> Statement:
    """Return a statement as a plan if it tells in the present of an act on a coming day: "I'm moving in May"."""
    tree, clause = said.tree, said.clause
    scheduled = tree.tokens[clause.head].tag == "VBG" or tree.lemma(clause.head) in _SCHEDULED
    present = clause.tense is Tense.PRESENT and not clause.perfect and clause.stance is Stance.ASSERTED
    if not (scheduled and present and said.party.kind in {PartyKind.SPEAKER, PartyKind.PERSON}):
        return said
    for at in tree.find_all(clause.head, "npadvmod", "prep", "advmod"):
        words = [] if tree.lemma(at) in _OPEN_TIMES else tree.descend(at, CLAUSAL)
        dated = words and clause_dates(tree.slice(words[0], words[-1]), now_us, "future").ahead
        if dated and any(tree.tokens[one].entity == "DATE" for one in words):
            return said._replace(clause=replace(clause, tense=Tense.FUTURE, stance=Stance.PLANNED))
    return said


def _leave_out_known(found: Iterable[Fact], facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts that none of a sentence says already."""
    return [one for one in found if all((one.attribute, one.value) != (two.attribute, two.value) for two in facts)]


def _is_precise(claim: Claim) -> bool:
    """Return whether a claim of the rules fills a slot that they know; their open slots are left to the parser."""
    if claim.attribute is None:
        return claim.move is not UpdateKind.STATE or claim.stance is Stance.ASSERTED
    value = claim.value or ""
    if names().kin_noun(value.lower()) == claim.attribute or (claim.attribute == "job_title" and "favo" in value):
        return False  # "my mom" names nobody
    if claim.entity is not None and (claim.entity.count(" ") >= _ENTITY_WORDS or claim.entity.startswith("favo")):
        return False
    is_read = claim.attribute in _READ_OF_THINGS and claim.prior is None
    if is_read or (claim.move is UpdateKind.STATE and not is_valid_value(claim.attribute, value)):
        return False
    held = claim.attribute.removeprefix("former_")
    noun = held.replace("_", " ")
    known = get_attribute(noun).person or lexicon().attribute(noun).known
    named = known or noun in lexicon().kin or held in _RULED
    named = named or claim.type is MemoryType.DECISION
    return named or noun.startswith("favourite") or claim.prior is not None


def _is_vague(claim: Claim) -> bool:
    """Return whether a claim of the rules is only kept where no clause is read."""
    return claim.move is UpdateKind.STATE and (claim.attribute is None or claim.attribute in _VAGUE)


def _is_taken(span: Span, taken: list[tuple[int, int]]) -> bool:
    return any(start < span.stop and span.start < stop for start, stop in taken)


def _is_covered(ruled: Claim, found: Claim) -> bool:
    """Return whether a claim of the rules leaves a parsed one of its sentence nothing to add.

    A change of another slot of a person adds to it: "I quit, next week I start at Siemens".
    """
    adds = found.move is not UpdateKind.STATE and found.attribute != ruled.attribute and found.value != ruled.value
    return _is_taken(found.span, [(ruled.span.start, ruled.span.stop)]) and not adds


def _is_set(attribute: str) -> bool:
    """Return whether values of an attribute stand side by side; only a known slot holds a single one."""
    known = lexicon().attribute(attribute.replace("_", " "))
    single = known.known or attribute in _SINGLE or is_measured(attribute)
    return known.cardinality is Cardinality.SET or not single


def _find_type(attribute: str) -> MemoryType:
    if attribute == "decision":
        return MemoryType.DECISION
    liked = attribute in {"likes", "dislikes", "prefers"} or attribute.startswith("favo")
    return MemoryType.PREFERENCE if liked else MemoryType.FACT


def _find_place(span: TextSpan, fact: Fact) -> tuple[int, int]:
    """Return the characters of the turn that tell a fact: the whole sentence if that leaves words out."""
    if fact.completes:
        return span.start, span.start + fact.completes
    return span.start + fact.start, span.start + fact.stop


def _make_claim(turn: Turn, place: tuple[int, int], fact: Fact) -> Claim:
    """Return the claim of a fact that characters of the turn tell."""
    event = turn.event
    speaker, _ = who_speaks(event)
    start, stop = place
    text = event.text[start:stop][: limits.MEMORY_TEXT_CHARACTERS]
    many = fact.many or _is_set(fact.attribute)
    confidence = min(_HEDGED if fact.hedged else _CONFIDENCE, CONFIDENCE_MAX.get(fact.stance, 1.0))
    coming = fact.stance is Stance.PLANNED and fact.attribute in _STATES
    return Claim(
        text=text,
        type=_find_type(fact.attribute),
        span=Span(event.id, start, start + len(text)),
        speaker=speaker,
        entity=fact.entity,
        attribute=normalise_attribute(fact.attribute),
        value=fact.value,
        prior=fact.prior,
        cardinality=Cardinality.SET if many else Cardinality.SINGLE,
        stance=fact.stance,
        move=UpdateKind.STATE if fact.stance is Stance.PLANNED else fact.move,
        valid_from_us=clause_dates(text, event.occurred_us, "future").coming if coming else None,
        valid_until_us=event.occurred_us if fact.past and fact.stance is Stance.ASSERTED else None,
        confidence=confidence,
        importance=_IMPORTANCE,
        topic=event.topic,
        tags=event.tags,
        completed=fact.said.tree.text if fact.completes and fact.said is not None else "",
    )
