"""Turn the facts of a message into claims: the one place where a fact gets its slot, times and stance. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from credenda import limits
from credenda.model.attributes import NOTHING, find_exact_attribute, get_attribute, is_valid_value, load_asked
from credenda.model.claim import (
    CONFIDENCE_MAX,
    LISTENER,
    PRONOUNS,
    SPEAKER,
    Claim,
    Fact,
    FactChange,
    FactStatus,
    Span,
    Turn,
    UpdateKind,
)
from credenda.model.event import Role
from credenda.model.memory import OPEN_STANCES, Cardinality, MemoryType, Stance
from credenda.text.changes import has_more_words, is_return_of, is_return_to, leave_out_meant
from credenda.text.dates import find_dates
from credenda.text.normalize import fold_plural, is_same_value, normalise_attribute, normalise_value
from credenda.text.sentences import (
    USER,
    is_about_user,
    is_name_of_user,
)
from credenda.text.tokens import tokenize
from credenda.write.extract import voices
from credenda.write.extract.moments import YEARLY, iso_day
from credenda.write.extract.voices import Act, Voice, act_of, is_playing, lexicon, names, split_voices, who_speaks
from credenda.write.facts.clauses import read_clauses
from credenda.write.facts.doubts import drop_doubtful
from credenda.write.facts.framing import is_framing, is_posed
from credenda.write.facts.misread import has_words_of_return, is_for_good, is_of_relative
from credenda.write.facts.period import COMES_TRUE, find_period
from credenda.write.facts.schemas import FactSchema, load_fact_schemas
from credenda.write.facts.subjects import Antecedents, find_kin, give_owners
from credenda.write.facts.wording import (
    INSTITUTIONS,
    complete_name,
    has_words_of_birth,
    is_lasting_order,
    is_naming,
    is_naming_another,
    is_renaming,
    is_switch,
    read_wordings,
)
from credenda.write.intake.secrets import screen_secrets
from credenda.write.llm.guards import resolve_entity
from credenda.write.llm.prompt import widen_to_sentences

_STANCES: Final = {
    FactStatus.PLANNED: Stance.PLANNED,
    FactStatus.CONSIDERED: Stance.CONSIDERED,
    FactStatus.UNREAL: Stance.HYPOTHETICAL,
    FactStatus.DENIED: Stance.NEGATED,
    FactStatus.HEARSAY: Stance.REPORTED,
}
_MOVES: Final = {FactChange.CHANGED: UpdateKind.CHANGE, FactChange.CORRECTED: UpdateKind.CORRECT}
_BY_NATURE: Final = {"plan": Stance.PLANNED, "appointment": Stance.PLANNED, "considering": Stance.CONSIDERED}
"""Stances of attributes that are open whatever the words are."""
_CONFIDENCE: Final = {2: 0.85, 1: 0.75}
_IMPORTANCE: Final = {2: 0.7, 1: 0.5}
_WEIGHTY: Final = 0.8
"""The least importance of what corrects the assistant, of an explicit preference and of a decision (R-036, R-054)."""
_EXPLICIT: Final = frozenset({"prefers", "instruction", "favourite", "decision"})
_SENTENCE_CHARACTERS: Final = 400  # a longer sentence is quoted in part
_KEY_WORDS: Final = 3
_NEW: Final = re.compile(r"^(?:(?:my|our|some|new|another|other|first|second|own|an?|the) )+", re.IGNORECASE)
_MASK: Final = re.compile(r"removed\]|\[deleted")  # of what stands where a secret or deleted words stood
_FIRM: Final = (0.9, 0.75)
"""Certainties of a fact and its attribute from which its value replaces another without a word of change."""
_FIRM_KEYED: Final = (0.75, 0.5)
"""The same for a slot that words of its own name: its attribute matters less."""
_SLOT_OF_OLD: Final = 0.3
"""Certainty of the attribute of a value that names the one before: it takes the slot that holds that."""
_CERTAIN: Final = 0.95
"""Certainty of a fact from which it is held also where it could hurt."""
_OF_BACK: Final = 0.6
"""Certainty of a value that is said to be back: it counts only where that value is known."""
_OF_RETURN: Final = 0.8
"""The same of one that need not be known, since idioms have the same words: "back on track"."""
_ENTITY_WORDS: Final = 5
_OVER: Final = re.compile(r"\b(?:no longer|any ?more)\b", re.IGNORECASE)
"""Words of a change, whatever was said just before: "no longer vegan, vegetarian"."""
_OF_FRAGMENT: Final = 0.6
"""Certainty of a correction that names no slot: it counts only where the statement before has one that fits."""
_SUBJECT_WORDS: Final = 4
"""Words of a sentence from which it may be about something, and is more than "oh, sorry"."""
_NOTED: Final = re.compile(rf"\W{{0,3}}{USER} (?:has |just |also )*(?!.*\b(?:i|my|we|our)\b)", re.IGNORECASE)
"""The beginning of a note about the user, whose own words it gives: "User said Python is their favourite"."""
_TASTES: Final = frozenset({"likes", "dislikes", "prefers", "favourite", "hobby"})
_DENIED: Final = re.compile(r"^(?:not|no|never)\s+(?=\w)", re.IGNORECASE)
_CLOSING: Final = re.compile(r"\s+(?:in|as|at|for|on|to|with|since)\s.*", re.DOTALL)
"""Words behind the name of an employer: "Acme Bank in accounting"."""
_BEHIND: Final = re.compile(
    r"\s+(?:(?:near|since|opposite|close to|next to|as an?)\s"
    r"|for (?:(?:about|over|almost|nearly|the (?:last|past)) )?\w+(?: and a half)? (?:year|month|week|decade)s?\b).*",
    re.DOTALL | re.IGNORECASE,
)
"""Words behind a name that are no part of it: "Tartu near the station"."""
_DEPARTMENT: Final = re.compile(
    r"(?<=\w)\s+(?:in|on)\s+(?:(?:the|our|my|their)\s+)?(?:[a-z]\S*(?:\s+[a-z]\S*){0,3}|HR|IT|PR|QA|UX|R&D)$"
)
"""A department behind the name of an employer, and no place or part of a name: "Quillmark Press in sales"."""
_ARTICLE: Final = re.compile(r"^(?:the|an?|my|our|your|his|her|their|its|this|that|these|those)\s+", re.IGNORECASE)
_JOINS: Final = re.compile(r"^(?:(?:at|for|in|on|during|with|when|while|the|an?|my|our)(?:\s+|$))+", re.IGNORECASE)
"""Words that join a scope to its sentence, and are no part of its name: "at work" """
_OF_LISTENER: Final = re.compile(r"\b(?:when|whenever|if|while|as|before|since|because) you\b", re.IGNORECASE)
"""The beginning of what the assistant does, which limits no fact: "I'm vegetarian when you suggest dinners"."""
_LEFT_OVER: Final = re.compile(r"(?:\s+(?:for|of|at|in|on|with|to|by|from|and|or|the|an?))+$", re.IGNORECASE)
"""Words at the end of a scope that belong to what follows it."""
_QUOTED_I: Final = re.compile(
    r"(?:^|(?<=[\s:,(]))[\"'\u2018\u201c][^\"\u201c\u201d]*?\b(?:I|my|we|our)\b[^\"\u201c\u201d]*$", re.IGNORECASE
)
"""The beginning of a quotation with a first person, up to a value in it."""
_MET: Final = frozenset({"likes", "dislikes", "favourite", "opinion", "friend", "owns"})
"""What of something known is told again, and does not bring back what it was."""
_POINTS_BACK: Final = re.compile(r"(?:\S+ ){0,2}(?:it|them|there)\b(?! \w+er\b)", re.IGNORECASE)
"""A value that only points to what was said before: "visit it", "give them a try"."""
_REACHED: Final = frozenset({"colleague", "contact"})
"""Whom one writes to again is not back; whom one returns to is."""
_TITLED: Final = re.compile(r"(?:.*\b)?(?:book|novel|story|song|album|film|movie|play|blog|podcast|thesis|paper|show)")
"""Things of which the name may have the words of a sentence."""
_FICTION: Final = re.compile(r"\b(?:my|our) (?:\w+ )?(?:characters?|avatar|protagonist|persona)\b", re.IGNORECASE)
"""Somebody invented, whose facts are not those of the author."""
_KIND: Final = re.compile(r"\w \w+s$")
"""A plural that says of what kind a preferred thing is: "morning meetings" """
_AS_MY: Final = re.compile(
    r"\s+as (?:my|our)(?: (?:new|main|only|default|primary|daily|usual))* (?P<noun>[a-z]+)"
    r"(?=(?: (?:now|again|too|instead|these days))?\W*(?:$|[.,;!?]))",
    re.IGNORECASE,
)
"""Words behind a value that say what it is to somebody: "Brave as my browser" """
_MARK: Final = r"(?:[-*\u2022+]|\d{1,3}[.)])"
_MY_IS: Final = re.compile(
    r"\b(?:my|our)(?: (?:new|next|current|present|own))? (?P<noun>[a-z]+)(?: (?:is|was)|'s)(?: now)?"
    r"(?: called| named)? $",
    re.IGNORECASE,
)
_ROLES: Final = frozenset({"colleague", "contact"})
_YEAR: Final = re.compile(r"(?<=\d),? (?:19|20)\d\d(?=[.,;:!?)\n]|$| (?:and|but|so|at|in|for|with|when|to)\b)")
"""The year behind a day: "March 10, 2024"."""
_WORKS: Final = frozenset({"book", "film", "show", "game"})
"""Kinds of liked things that have titles, which a genre is not: "science fiction" is no book."""
_ITEM: Final = re.compile(rf"[ \t]*{_MARK}[ \t]+")
_NEXT_ITEM: Final = re.compile(rf"[\s.,;]*\n[ \t]*(?:{_MARK}|\d{{1,3}}$).*", re.DOTALL)
"""Where the next item of a list begins, of whose number a value may end in a part."""
_MARKS: Final = re.compile(r"[\"\u201c\u201d](?=[A-Za-z])|(?<![\d\s])[\"\u201c\u201d]")  # of quotation, not of inches
_TRAILING: Final = re.compile(
    r"[,\s]+(?:again|after all|as before|now|these days|at the moment|currently|any ?more|too|as well|please|lol)$",
    re.IGNORECASE,
)


_ONE_CLAUSE: Final = r"(?:(?!\b(?:and|but|because|so|since|as)\b)[^,;.!?])*$"
"""What may stand between words and a value of the same clause."""
_DONE: Final = frozenset({"visited", "experience", "favourite", "member_of"})
_WISHED: Final = re.compile(
    r"(?:(?:\bwould|'d) (?:really |definitely |absolutely )?(?:love|like|want) to\b|\b(?:day)?dream(?:s|ing)?"
    r" (?:of|about)\b|\bi wish\b|\b(?:i|we|i've|always) (?:want|wanted|hope|am hoping) to\b)" + _ONE_CLAUSE,
    re.IGNORECASE,
)
"""Words of a wish before what was then not seen or done: "I'd love to see Petra"."""
_LISTED: Final = re.compile(
    r"[^,;.!?]{0,40}? (?:is|are|was|has|have)(?: \w+){0,3}? (?:on my (?:\w+ )?list|my dream"
    r"|an? (?:dream|desire|wish|goal) of mine)\b"
    r"|,? (?:which |that |where )?(?:i'd|i would)(?: \w+ly)? (?:love|like|want) to\b",
    re.IGNORECASE,
)
"""The same behind it: "Petra is on my list", "in Petra I'd like to climb"."""
_LIKED_BEST: Final = re.compile(
    r"\b(?:fav\w*|best|most|top|beloved|all[- ]time|go-to|number one|(?:lov|ador|enjoy)\w*|fan|prefer\w*)\b",
    re.IGNORECASE,
)
"""Words of which one tells that something is a favourite."""
_YOURS: Final = re.compile(
    r"\b(?:your|ur)(?: \w+){0,2} $|\b(?:hope|think|guess|bet|know|hear|see|sure|glad|sorry|wish|that) (?:that )?"
    r"(?:you|u|ya)\b(?:(?!\b(?:i|we|my|our|me|us)\b)[^,;.!?])*$",
    re.IGNORECASE,
)
"""Words before what is the listener's: "how is your dog Rex?", "I hope you have no"."""
_IF: Final = re.compile(r"\b(?:if|unless|suppose|imagine)\b", re.IGNORECASE)
_ENJOYS: Final = re.compile(
    r"(?<!if )(?<!unless )\b(?:i|we) (?:\w+ly |really |just |also |always |both |do )*"
    r"(?:love|like|enjoy|adore|prefer)\b" + _ONE_CLAUSE,
    re.IGNORECASE,
)
"""Words before a liking that is told as it is, and is no plan: "I absolutely love exploring old towns"."""
_KIND_OF_FAVOURITE: Final = re.compile(r"\bfav(?:e|ou?rite)s? $", re.IGNORECASE)
"""Words before what a favourite is of: "my favourite tv show" names none."""
_FIRST_PERSON: Final = re.compile(
    r"\b(?:i|im|ive|me|my|mine|myself|we|us|our|ours)\b|\bfav(?:e|ou?rite)s?\b", re.IGNORECASE
)
_CLAUSE: Final = re.compile(
    r"[,;:]\s+(?:(?:and|but|so)\s)?|\s(?:and|but|because|although|though|while)\s", re.IGNORECASE
)
_TAKEN_UP: Final = re.compile(r"\b(?:i|we)\b.*\b(?:it|them|that|this|those|these|there|one|ones)\b", re.IGNORECASE)
"""Words of a later clause that tell what its speaker has to do with what the one before is about."""
_SECOND_PERSON: Final = re.compile(r"\b(?:you|your|yours|u|ur)\b", re.IGNORECASE)
_SAID_OF: Final = re.compile(
    r"(?: (?!(?:and|but|or|it|that|this|which|who|so|because|since|as|while|when|if|he|she|they|there)\b)[\w'-]+){0,3}?"
    r" (?:is|are|was|were|sounds?|looks?|seems?|has|have|had|would|will|can|could|must|makes?|creates?)\b",
    re.IGNORECASE,
)
"""Words behind a value that is, or is part of, the subject of its sentence."""
_TOLD_TERSELY: Final = frozenset(
    {"allergy", "medication", "condition", "diet", "residence", "home", "name", "preferred_name"}
)
"""Attributes for which nothing said is left out for the shape of its sentence."""
_CALLED: Final = re.compile(r"(?:^\W*(?:(?:hey|hi|hello|oh|yes|yeah|thanks|wow|well|so|and)\W+)*|,\s*)$", re.IGNORECASE)
_CALLED_ON: Final = re.compile(r"\s*(?:[,.!?\u2026]|$)")
"""What stands before and after a name by which somebody is addressed."""
OWN_VOICES: Final = frozenset({Voice.OWN, Voice.ROLE_PLAY})


class _PlacedFact(NamedTuple):
    """A fact with its schema, the turn that tells it, whose it is, and the voice of its words."""

    fact: Fact
    schema: FactSchema
    turn: Turn
    entity: str
    voice: Voice


def make_claims(turn: Turn, facts: Iterable[Fact]) -> list[Claim]:
    """Return the claims that follow from the facts of a turn, in order, each slot and value once.

    A fact that the reader is not sure of, that stands in others' words, or whose value its attribute cannot have, makes
    no claim: its words stay findable in the message.
    """
    _, owner = who_speaks(turn.event)
    if owner is None or turn.event.role not in {Role.USER, Role.PERSON}:
        return []
    voices = split_voices(turn.event.text, playing=is_playing(turn))
    claims: dict[tuple[str | None, ...], Claim] = {}
    named = Antecedents(turn.event.text)
    text = turn.event.text
    heard = drop_doubtful(text, list(give_owners(text, read_clauses(text, _drop_overheard(list(facts))))))
    for fact in read_wordings(text, heard, turn.event.occurred_us):
        if fact.attribute in _TOLD_TERSELY and _OF_LISTENER.match(fact.scope):
            fact = replace(fact, scope="")  # noqa: PLW2901 - the same fact
        schema = load_fact_schemas().get(fact.attribute)
        named.take(fact, schema)
        if schema is None or (schema.order and (_is_among_persons(turn) or is_posed(fact.quote.text))):
            continue
        voice = max((one.voice for one in voices if _is_within(one.start, one.stop, fact)), default=Voice.OWN)
        told = _PlacedFact(fact, schema, turn, _find_entity(fact, turn, owner, named), voice)
        unplaced = _is_back(told) or _is_fragment(told) or is_switch(fact)
        certain = _FIRM_KEYED[1] if is_renaming(fact) or is_lasting_order(fact) else schema.certain
        if not unplaced and (fact.certainty < certain or not _is_sure(fact, schema)):
            continue
        placed = (bool(told.entity) or is_renaming(fact) or unplaced) and not _is_about_something_else(told)
        claim = _make_slotted_claim(told, owner) if placed and voice in OWN_VOICES else None
        if claim is not None:
            key = (claim.entity, claim.attribute, (claim.value or "").casefold(), claim.scope)
            claims.setdefault(key if claim.value else (claim.text,), claim)
    told = [one for one in claims.values() if not any(_is_covered(one, other) for other in claims.values())]
    return sorted((_keep_beside(one, told) for one in told), key=lambda one: one.span.start)


def _is_about_something_else(told: _PlacedFact) -> bool:
    """Return whether the sentence of a fact about its speaker tells of another thing: "Yosemite is breathtaking".

    A sentence in the first person is about its speaker (of a liking, the clause), and so is one without a subject:
    "vegan, two cats". A name by which the speaker calls the listener is no fact at all.
    """
    fact, turn = told.fact, told.turn
    if fact.value.start < 0:
        return False
    start, stop = _find_sentence(fact, turn)
    before, after = turn.event.text[start : fact.value.start], turn.event.text[fact.value.stop : stop]
    own = _FIRST_PERSON.search(before + fact.value.text + after) is not None
    asked = after.rstrip().endswith("?") and fact.subject == SPEAKER and _is_among_persons(turn)
    others = (asked and not own) or (
        _YOURS.search(before) is not None and fact.subject != LISTENER and not told.schema.order
    )
    if others or (fact.attribute == "favourite" and not _is_called_favourite(fact, turn, before, after)):
        return True
    heard = turn.addressed
    if heard is not None and heard.role is Role.PERSON and is_same_value(fact.value.text, heard.speaker):
        return bool(_CALLED.search(before) and _CALLED_ON.match(after))
    exempt = told.schema.kin or told.schema.order or fact.attribute in _TOLD_TERSELY
    over = fact.status in {FactStatus.ENDED, FactStatus.DENIED}
    exempt = exempt or over or bool(fact.old) or fact.change is not FactChange.NONE
    exempt = exempt or _skip_note(turn.event.text, start, stop) > start
    if told.schema.name in _TASTES and not _TAKEN_UP.search(after):
        before, after = _CLAUSE.split(before)[-1], _CLAUSE.split(after)[0]
    if fact.subject != SPEAKER or exempt or _FIRST_PERSON.search(before + fact.value.text + after):
        return False
    return bool(_SAID_OF.match(after) or (_is_among_persons(turn) and _SECOND_PERSON.search(before + after)))


def _is_called_favourite(fact: Fact, turn: Turn, before: str, after: str) -> bool:
    """Return whether words call a value a favourite, and it is more than the kind of one: "my favourite tv show"."""
    asked = turn.addressed.text if turn.addressed is not None else ""
    kind = _KIND_OF_FAVOURITE.search(before) and fact.value.text.islower()
    return not kind and _LIKED_BEST.search(f"{asked} {before} {fact.value.text} {after}") is not None


def _is_sure(fact: Fact, schema: FactSchema) -> bool:
    """Return whether the attribute of a fact is sure enough: what it replaces or ends tells the slot as well."""
    if is_renaming(fact):
        return True
    back = schema.type is MemoryType.FACT and not (schema.order or schema.event) and has_words_of_return(fact)
    if back and fact.certainty < _OF_RETURN:
        return False
    corrects = fact.change is FactChange.CORRECTED and fact.subject == SPEAKER and schema.both > 0
    if not corrects and (fact.old or (fact.status is FactStatus.ENDED and not schema.kin)):
        return fact.attribute_certainty >= min(schema.sure, _SLOT_OF_OLD)
    whole = fact.change is FactChange.NONE or corrects or back
    both = schema.both if whole and fact.subject == SPEAKER else 0.0
    sure = (fact.certainty >= _CERTAIN and not back) or fact.certainty * fact.attribute_certainty >= both
    return sure and fact.attribute_certainty >= schema.sure


def _is_back(told: _PlacedFact, *, unsure: bool = False) -> bool:
    """Return whether a fact says that a value is back, but not surely of what or whom: what is held tells that."""
    fact, schema = told.fact, told.schema
    unsure = unsure or not _is_sure(fact, schema) or fact.attribute == "plan" or not told.entity
    unsure = unsure or fact.certainty < schema.certain
    unsure = unsure or (schema.thing and fact.subject == SPEAKER and not (fact.key or fact.when))
    someone = fact.subject == SPEAKER or (not told.entity and fact.subject.casefold() in PRONOUNS)
    sure = fact.status is FactStatus.NOW and fact.certainty >= _OF_BACK
    if (
        not (unsure and someone and sure)
        or fact.change is FactChange.NONE
        or schema.order
        or fact.attribute in _MET
        or fact.value.start < 0
        or (fact.attribute in _REACHED and not is_return_to(told.turn.event.text, fact.value.start))
        or (fact.attribute == "location" and is_return_to(told.turn.event.text, fact.value.start))
    ):
        return False
    start, stop = fact.value.start - fact.quote.start, fact.value.stop - fact.quote.start
    return is_return_of(fact.quote.text, start, stop)


def _keep_beside(claim: Claim, others: Sequence[Claim]) -> Claim:
    """Let the values that one message states for a slot stand side by side: a list is no change."""
    slot = (claim.entity, claim.attribute, claim.scope)
    listed = [one for one in others if (one.entity, one.attribute, one.scope) == slot and one.move is UpdateKind.STATE]
    beside = claim.attribute and claim.move is UpdateKind.STATE and len(listed) > 1
    return replace(claim, cardinality=Cardinality.SET) if beside else claim


def _drop_overheard(facts: list[Fact]) -> list[Fact]:
    """Leave out values of the message before that no words take up: those that are quoted tell another value.

    "Me too" takes up a value, and "I live in Rome" after "I work at a bakery" does not.
    """
    own = [one.value for one in facts if one.value.start >= 0]
    return [
        one
        for one in facts
        if one.value.start >= 0 or not any(one.quote.start <= value.start < one.quote.stop for value in own)
    ]


def _is_covered(claim: Claim, by: Claim) -> bool:
    """Return whether another claim says what a claim says and more: what takes the place of its value, or a name."""
    if claim.entity != by.entity:
        return False
    if is_same_value(claim.value, by.value):  # "my dog Otto" is no second pet
        return claim.attribute == "pet" != by.attribute and names().kin_noun(by.attribute or "") is not None
    over = claim.move is UpdateKind.END or claim.stance is Stance.NEGATED
    if over and by.stance is Stance.PLANNED:
        return False  # what is to come has ended nothing yet
    if over and by.prior:
        return f" {normalise_value(by.prior)} " in f" {normalise_value(claim.value or '')} "
    same = (claim.attribute, claim.scope) == (by.attribute, by.scope)
    if over:
        return same and by.move is UpdateKind.CHANGE and by.cardinality is Cardinality.SINGLE
    return same and is_same_value(claim.value, claim.attribute)  # "my daughter is Mira" names her twice


def _is_among_persons(turn: Turn) -> bool:
    """Return whether a message belongs to talk between persons, in which nobody instructs the assistant."""
    roles = {one.role for one in (turn.event, *turn.before)}
    return Role.PERSON in roles and Role.ASSISTANT not in roles


def _is_within(start: int, stop: int, fact: Fact) -> bool:
    place = fact.value if fact.value.start >= 0 else fact.quote
    return start < place.stop and place.start < stop


def _find_entity(fact: Fact, turn: Turn, owner: str, before: Antecedents) -> str:
    """Return the entity of a fact, "" if no words name it."""
    if fact.subject == SPEAKER:
        others = fact.attribute == "name" and is_naming_another(fact)
        return "" if others else owner
    if fact.subject == LISTENER:
        heard = turn.addressed
        return heard.speaker if heard is not None and heard.role is Role.PERSON else ""
    named = _ARTICLE.sub("", before.name(fact).strip())
    if is_name_of_user(named, turn.event.text):
        return owner
    if load_fact_schemas()[fact.attribute].thing and fact.value.start >= 0:
        named = complete_name(named, turn.event.text[slice(*_find_sentence(fact, turn))])
    noun, _, name = named.partition(" ")
    kin = names().kin_noun(noun)
    if kin and name[:1].isupper():
        return f"{owner}'s {kin} {name}"
    return resolve_entity(named, owner) if named and len(named.split()) <= _ENTITY_WORDS else ""


def _make_slotted_claim(told: _PlacedFact, owner: str) -> Claim | None:
    """Return the claim of a fact; None if it has no slot, or its value is not one of that."""
    fact, event = told.fact, told.turn.event
    span = _find_span(fact, told.turn)
    text = event.text[span.start : span.stop]
    place = _find_sentence(fact, told.turn)
    links = told.schema.name in _TASTES and "://" in fact.value.text  # the address behind a word
    fragment = _is_fragment(told)
    asks = fact.attribute == "birthday" and not fragment and not has_words_of_birth(told.turn)
    if links or asks or screen_secrets(text, "mask").masked:
        return None
    stance = _find_stance(told, text, place[0], span.stop)
    quoted = fact.subject == SPEAKER and _QUOTED_I.search(
        event.text, _skip_note(event.text, *place), max(fact.value.start, 0)
    )
    others = stance is Stance.REPORTED and (told.schema.order or quoted)
    if others or (told.schema.event and stance is Stance.NEGATED):
        return None  # no order of the user, whose "I" that is not; and what was not done ends nothing
    plain = Claim(
        text=text[: limits.MEMORY_TEXT_CHARACTERS],
        type=told.schema.type,
        span=span,
        speaker=who_speaks(event)[0],
        stance=stance,
        confidence=min(_CONFIDENCE[fact.weight], CONFIDENCE_MAX.get(stance, 1.0)),
        importance=_IMPORTANCE[fact.weight],
        topic=event.topic,
        tags=event.tags,
    )
    if stance in {Stance.HYPOTHETICAL, Stance.ROLE_PLAY, Stance.SARCASTIC}:
        return replace(plain, type=MemoryType.FACT)
    if _is_back(told) or is_renaming(fact) or fragment or is_switch(fact):
        return _make_unplaced_claim(plain, told, fragment=fragment)
    entity, attribute = _find_slot(told, owner)
    fitted = _fit_value(fact, attribute)
    if fitted is None and attribute == "name" and _TITLED.fullmatch(entity):
        attribute, fitted = "title", _fit_value(fact, "title")
    if fitted is not None:
        return _fill_slot(replace(plain, entity=entity, attribute=attribute), told._replace(fact=fitted))
    return _make_unplaced_claim(plain, told) if _is_back(told, unsure=True) else None


def _is_fragment(told: _PlacedFact) -> bool:
    """Return whether a correction says no more than the right value and the wrong one: "sorry, 19 March, not 9"."""
    fact = told.fact
    corrects = _find_move(fact) is UpdateKind.CORRECT and fact.certainty >= _OF_FRAGMENT
    if not corrects or not fact.old or fact.subject != SPEAKER or fact.value.start < 0:
        return False
    sentence = leave_out_meant(told.turn.event.text[slice(*_find_sentence(fact, told.turn))])
    if _FIRST_PERSON.search(sentence) or _OVER.search(sentence):
        return False
    return not has_more_words(sentence, f"{fact.value.text} {fact.old}")


def _make_unplaced_claim(plain: Claim, told: _PlacedFact, *, fragment: bool = False) -> Claim | None:
    """Return the claim of a value whose slot only the memory tells: one that is back, or that corrects another."""
    fact = told.fact
    if not fragment and not is_renaming(fact):
        return replace(
            plain,
            entity=told.entity or fact.subject.casefold(),
            value=_trim(_leave_out(fact.value.text, fact.scope)),
            stance=Stance.ASSERTED,
            confidence=_CONFIDENCE[fact.weight],
            move=UpdateKind.CHANGE,
        )
    named = fragment or fact.attribute == "name" or is_naming(fact)
    before = told.turn.event.text[: _find_sentence(fact, told.turn)[0]]
    if (fragment or not named) and len(before.split()) >= _SUBJECT_WORDS:
        return None  # "it" is what the sentence before is about
    return replace(
        plain,
        entity=None if named else "it",
        value=_trim(fact.value.text),
        prior=fact.old or None,
        move=UpdateKind.CORRECT,
        importance=_WEIGHTY,
    )


def _fit_value(fact: Fact, attribute: str) -> Fact | None:
    """Return a fact with the words of its value that are one of an attribute; None if there are none."""
    if not attribute or _MASK.search(fact.value.text) or NOTHING.fullmatch(fact.value.text):
        return None
    if not load_fact_schemas()[fact.attribute].order and _POINTS_BACK.match(fact.value.text):
        return None
    named = fact.attribute == "pet" or fact.status is FactStatus.ENDED  # an end needs no name
    if not named and fold_plural(_NEW.sub("", fact.value.text), "en") == attribute:
        return None  # "a new hobby" does not say which
    said = [fact.value.text, _CLOSING.sub("", fact.value.text) if attribute == "employer" else ""]
    if attribute in INSTITUTIONS or attribute == "residence":
        said.insert(0, _cut_behind(fact.value.text, department=attribute not in {"residence", "member_of"}))
    fitting = next((one for one in said if is_valid_value(attribute, _trim(one))), None)
    return replace(fact, value=fact.value._replace(text=fitting)) if fitting else None


def _cut_behind(value: str, *, department: bool) -> str:
    """Leave out what follows a name, where it is no part of that.

    >>> _cut_behind("Quillmark Press in sales", department=True), _cut_behind("Partners in Health", department=True)
    ('Quillmark Press', 'Partners in Health')
    """
    name = _BEHIND.sub("", value)
    head = _DEPARTMENT.sub("", name) if department else name
    return head if head.split(" ")[-1][:1].isupper() else name


def _find_stance(told: _PlacedFact, text: str, start: int, stop: int) -> Stance:
    """Return the stance of a fact with these words, in the sentence that begins at `start`."""
    fact, schema, message = told.fact, told.schema, told.turn.event.text
    stance = _STANCES.get(fact.status, _BY_NATURE.get(fact.attribute, Stance.ASSERTED))
    stance = Stance.ASSERTED if _is_coming_true(told) else stance
    before, after = message[start : max(fact.value.start, start)].replace("\u2019", "'"), message[fact.value.stop :]
    if schema.name in _TASTES and stance in OPEN_STANCES and _ENJOYS.search(before):
        stance = Stance.ASSERTED
    if stance is Stance.ASSERTED and not schema.order and _DENIED.match(fact.value.text):
        stance = Stance.NEGATED
    noted = fact.subject == SPEAKER and _skip_note(message, start, stop) > start
    stance = Stance.ASSERTED if stance is Stance.REPORTED and noted else stance
    stance = Stance.ROLE_PLAY if told.voice is Voice.ROLE_PLAY else stance
    if stance is Stance.ASSERTED and schema.name in _TASTES and act_of(message[start:stop]) is Act.SARCASM:
        stance = Stance.SARCASTIC
    wished = _WISHED.search(before) or _LISTED.match(after)
    told_as = fact.attribute in _DONE if stance is Stance.ASSERTED else not _IF.search(before)
    if wished and told_as and stance in {Stance.ASSERTED, Stance.HYPOTHETICAL}:
        stance = Stance.CONSIDERED
    posed = (
        stance is Stance.ASSERTED and fact.attribute == "job_title" and (is_posed(text) or is_framing(fact, message))
    )
    invented = fact.subject == SPEAKER and _FICTION.search(message, start, stop)
    return Stance.HYPOTHETICAL if posed or invented else stance


def _is_coming_true(told: _PlacedFact) -> bool:
    """Return whether a fact becomes true on its day by itself: "I turn 34 on 19 July"."""
    fact, now_us = told.fact, told.turn.event.occurred_us
    if fact.status is not FactStatus.PLANNED or fact.attribute not in COMES_TRUE:
        return False
    return fact.when.casefold() == "today" or find_period(fact, fact.value.text, now_us, planned=True)[0] is not None


def _skip_note(text: str, start: int, stop: int) -> int:
    """Return where the words begin that a note about the user gives as theirs, else the start of the sentence."""
    noted = _NOTED.match(text, start, stop) if is_about_user(text) else None
    return noted.end() if noted else start


def _find_sentence(fact: Fact, turn: Turn) -> tuple[int, int]:
    """Return the place of the sentence that holds a value, else of the whole text."""
    text, start = turn.event.text, fact.value.start
    whole = widen_to_sentences(text, Span("", start, fact.value.stop)) if start >= 0 else Span("", 0, len(text))
    return whole.start, whole.stop


def _find_span(fact: Fact, turn: Turn) -> Span:
    """Return the sentences that tell a fact, or the quoted words if those are long or part of a question.

    An item of a list tells what it tells alone, without its mark.
    """
    text, quoted = turn.event.text, Span(turn.event.id, fact.quote.start, fact.quote.stop)
    if (line := text.rfind("\n", 0, max(fact.value.start, 0)) + 1) and _ITEM.match(text, line):
        after = text.find("\n", fact.value.start) % (len(text) + 1)  # the end of the text, if it is the last line
        quoted = replace(quoted, start=max(line, quoted.start), stop=min(quoted.stop, after))
    whole = widen_to_sentences(text, quoted)
    if (mark := _ITEM.match(text, whole.start)) is not None:
        whole = replace(whole, start=mark.end())
    if whole.stop - whole.start > _SENTENCE_CHARACTERS:
        return quoted
    asked = text[whole.start : whole.stop].endswith("?")
    return replace(quoted, stop=len(text[: quoted.stop].rstrip("?! "))) if asked else whole


def _find_slot(told: _PlacedFact, owner: str) -> tuple[str, str]:
    """Return the entity and attribute of a fact; "" for one that has no slot."""
    fact, schema, entity = told.fact, told.schema, told.entity
    if schema.thing and entity.casefold().endswith(f" {schema.name}"):
        entity = entity[: -len(schema.name) - 1]  # the "report deadline" is the deadline of the report
    key = _find_key(told)
    timed = schema.thing or fact.attribute == "schedule"
    if timed and key and set(key.casefold().split()) < set(entity.casefold().split()):
        key = entity  # a part of its name is no property of the "lego bubble passkey"
    last = fact.value.text.rpartition(" ")[2]
    sentence = told.turn.event.text[_find_sentence(fact, told.turn)[0] :]
    nameless = fact.value.text.islower() and sentence[:1].isupper()  # "my six-year-olds"
    nameless = nameless or bool(
        names().kin_noun(fact.value.text) or names().kin_noun(last) or names().kin_noun(last.removesuffix("s"))
    )
    if schema.kin and fact.attribute != "pet" and nameless:
        born = (
            fact.attribute == "child" and fact.status is FactStatus.NOW and fact.change is FactChange.CHANGED
        )  # "I gave birth to twins"
        left = find_kin(fact) if fact.status is FactStatus.ENDED else None  # "I no longer have a boyfriend"
        left = names().kin_noun(last) if is_of_relative(fact, left) else left
        return entity, schema.name if born else left or ""
    if schema.kin:
        noun = find_kin(fact)
        of_owner = noun is not None and entity == f"{owner}'s {noun}"  # "my girlfriend is Ivy" names her twice
        if of_owner and (fact.attribute == "pet" or is_of_relative(fact, noun)):
            of_owner, noun = False, None  # "my neighbour has two parrots"
        return owner if of_owner else entity, noun or schema.name
    if fact.attribute == "name" and entity != owner:
        noun = entity.rpartition("'s ")[2]
        return (owner, noun) if entity.startswith(f"{owner}'s ") and names().kin_noun(noun) else (entity, schema.name)
    if schema.keyed and key and len(key.split()) <= _KEY_WORDS:
        noun = f"favourite {key}" if fact.attribute == "favourite" else key
        entity = owner if entity.casefold() == key.casefold() else entity  # "my gym is Sats now" names no gym's gym
        return entity, lexicon().attribute(noun.lower()).name or normalise_attribute(noun)
    if schema.thing and entity == owner and not (fact.attribute == "location" and fact.when):
        return entity, ""  # but for a stay: "I'm in Faro this week"
    return entity, find_exact_attribute(schema.name)


def _find_key(told: _PlacedFact) -> str:
    """Return the words that name the slot of a fact more closely than its attribute, "" for none."""
    fact, key = told.fact, _ARTICLE.sub("", told.fact.key.strip())
    start, stop = _find_sentence(fact, told.turn)
    if is_same_value(key, _trim(_leave_out(fact.value.text, fact.scope))):
        key = ""  # what is told of tea is no tea
    if find_exact_attribute(key) == told.schema.name:
        key = ""  # the "due date" of a report is its deadline
    text = told.turn.event.text
    if (
        key
        and fact.attribute == "favourite"
        and re.search(
            rf"{_LIKED_BEST.pattern} (?:is|are|was|were|include)\b[^.!?]*\b{re.escape(key)}\b",
            text[start:stop],
            re.IGNORECASE,
        )
    ):
        key = ""  # of "my favourites are figs, dates and plums" no fruit is what the others are
    if not key and (
        named := _AS_MY.match(text, fact.value.stop, stop) or _find_role(fact, text[start : fact.value.start])
    ):
        key = named["noun"]
    beside = key.casefold() not in text[start:stop].casefold()  # of another sentence
    last = _trim(fact.value.text).rpartition(" ")[2]
    if key in _WORKS and beside and last.islower() and {last, last.removesuffix("s")}.isdisjoint(load_asked()[key]):
        key = ""  # a genre
    kind = fact.attribute == "prefers" and (not key or beside) and _KIND.search(_trim(fact.value.text))
    return _trim(fact.value.text).split()[-1] if kind else key


def _find_role(fact: Fact, before: str) -> re.Match[str] | None:
    """Find the noun that says what a value is to the speaker: "my new apprentice is called", "my editor is"."""
    named = _MY_IS.search(before) if fact.value.start >= 0 else None
    own = fact.attribute in _ROLES and fact.subject == SPEAKER
    return named if named and (own or fact.subject.casefold() in {named["noun"], f"my {named['noun']}"}) else None


def _trim(value: str) -> str:
    """Leave out closing words that say when or that a value holds, and are no part of it.

    >>> _trim("morning meetings again")
    'morning meetings'
    """
    return _TRAILING.sub("", _NEXT_ITEM.sub("", _MARKS.sub("", value).strip()).strip("[]"))


def _find_move(fact: Fact) -> UpdateKind:
    """Return the effect of a fact on earlier values; "this, not that" corrects without a word of correction."""
    if fact.status is FactStatus.ENDED:
        return UpdateKind.END
    denied = fact.old and f" not {fact.old.casefold()}" in fact.quote.text.casefold()
    return _MOVES.get(fact.change, UpdateKind.CORRECT if denied else UpdateKind.STATE)


def _leave_out(value: str, scope: str) -> str:
    """Leave out a scope that closes a value, unless it is all of it.

    >>> _leave_out("tea at work", "at work")
    'tea'
    """
    closes = bool(scope) and value.casefold().endswith(f" {scope.casefold()}")
    return value[: -len(scope)].rstrip(" ,") if closes else value


_BEFORE_DATE: Final = re.compile(r"^(?:on|in|since|from|by)\s+", re.IGNORECASE)


def _find_whole_date(told: _PlacedFact) -> str:
    """Return the date of a message of which a value is a part, as the year of "19 July 1992"; "" for no part of one."""
    value, text, now_us = told.fact.value, told.turn.event.text, told.turn.event.occurred_us
    spans = find_dates(text, now_us, "past") if value.start >= 0 else []
    whole = (one for one in spans if one.start <= value.start < value.stop <= one.stop)
    return next((_BEFORE_DATE.sub("", text[one.start : one.stop]) for one in whole), "")


def _fill_slot(plain: Claim, told: _PlacedFact) -> Claim:
    """Give a claim its value, the effect of its words on earlier values, and its times."""
    fact, schema, now_us = told.fact, told.schema, told.turn.event.occurred_us
    attribute = plain.attribute or ""
    known, value = get_attribute(attribute), _trim(_leave_out(fact.value.text, fact.scope))
    year = _YEAR.match(told.turn.event.text, fact.value.stop) if known.dated and fact.value.start >= 0 else None
    value = value + year[0] if year else value  # the reader may leave out what stands behind a comma
    value = _find_whole_date(told) or value if attribute in YEARLY else value
    value = _DENIED.sub("", value) if plain.stance is Stance.NEGATED and not schema.order else value
    value = f"do not {value}" if schema.order and voices.is_forbidden(told.turn.event.text, fact.value.start) else value
    beside = fact.attribute == "measure" and bool(fact.when)  # measured on another day: no change
    turns = _is_coming_true(told)
    since, until = find_period(fact, value, now_us, planned=turns or plain.stance is Stance.PLANNED)
    fact = replace(fact, change=FactChange.CHANGED) if turns else fact
    changes = fact.change is not FactChange.NONE or bool(fact.old)
    passing = plain.stance is Stance.ASSERTED and fact.attribute != "deadline" and until is not None and until > now_us
    moved = fact.attribute == attribute == "schedule" and plain.entity != plain.speaker and is_for_good(plain.text)
    many = (
        beside
        or passing  # a stay of a week takes no place of a home
        or (schema.many and attribute in {schema.name, fact.attribute} and not (moved and changes))
        or (fact.attribute == "pet" and not changes)  # another dog takes no dog's place
        or known.cardinality is Cardinality.SET
    )
    certain, sure = _FIRM_KEYED if schema.keyed and attribute not in {schema.name, fact.attribute} else _FIRM
    firm = (fact.certainty >= certain and fact.attribute_certainty >= sure) or known.kind == "age"  # nobody has two
    lasts = known.episodic or schema.event or fact.attribute == "favourite"  # "my favourite part was": it still is
    if fact.status is FactStatus.PAST and until is None and not lasts:
        plain = replace(plain, attribute=f"former_{attribute}")
    move = UpdateKind.STATE if passing else _find_move(fact)
    scope = _LEFT_OVER.sub("", _JOINS.sub("", _ARTICLE.sub("", fact.scope)))
    weighty = _WEIGHTY if move is UpdateKind.CORRECT or fact.attribute in _EXPLICIT else 0.0
    return replace(
        plain,
        value=iso_day(value, now_us, attribute) if known.dated else value,
        prior=fact.old or None,
        scope=None if f" {fact.scope} " in f"{value} " or not tokenize(scope) else scope,  # the value says it
        cardinality=Cardinality.SET if many or not (changes or firm) else Cardinality.SINGLE,
        move=move,
        importance=max(plain.importance, known.importance if known.known else 0.0, weighty),
        valid_from_us=since,
        valid_until_us=until,
    )
