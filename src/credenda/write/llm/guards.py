"""Check proposed claims; the checks hold whoever proposed them. Pure.

A proposal becomes the claim that it states, or where a check fails the nearest valid one: the sentence without a slot,
or the claim without its effect on a known memory. It is refused if there is no such form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from credenda import limits
from credenda.model.attributes import (
    NOTHING,
    AttributeSchema,
    answer_same_question,
    find_exact_attribute,
    get_attribute,
    is_valid_value,
    load_asked,
)
from credenda.model.claim import CONFIDENCE_MAX, Claim, Turn, UpdateKind
from credenda.model.event import Event, Role, Source
from credenda.model.memory import OPEN_STANCES, Cardinality, Memory, MemoryType, Stance
from credenda.model.statement import name_attribute
from credenda.text.dates import DateSpan, find_dates, leave_out_days, spell_out
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name
from credenda.text.passing import find_passing_end
from credenda.text.sentences import is_about_user
from credenda.text.tokens import tokenize
from credenda.write.extract.moments import PASSING, past_dates, stated_period
from credenda.write.extract.voices import (
    Act,
    Voice,
    act_of,
    is_question,
    lexicon,
    names,
    split_clauses,
    stands_alone,
    straighten,
    who_speaks,
)
from credenda.write.intake.secrets import screen_secrets
from credenda.write.llm.prompt import (
    DENYING,
    POINTING_BACK,
    Effect,
    Proposal,
    Refusal,
    Said,
    has_words_together,
    is_bare_reply,
    is_without,
    leave_out_addition,
    leave_out_time,
    locate,
    numbers,
    reach_value,
    says,
    says_closely,
    says_in_order,
    settle_denial,
    widen_to_sentences,
)
from credenda.write.reconcile.decide import Misfit, find_misfit
from credenda.write.reconcile.slots import ASSERTIVE_STANCES, UNCERTAIN_STANCES, get_slot, is_refinement

# Check the statement and the key that a proposal gives its claim: neither says anything beyond it.


_INSTRUCTION: Final = "instruction"
_DENIAL: Final = re.compile(
    r"\b(?:no|not|never|without|cannot|nor|neither|nicht|kein\w*|nie|pas|jamais|nunca|n\u00e3o|\w+n['\u2019]?t)\b",
    re.IGNORECASE,
)
_SMALL: Final = frozenset({"user", "longer", "any", "person", "speaker"})
"""Words of statements that add nothing: "the user no longer …"."""


class Excess(StrEnum):
    """Why a statement or a key is not kept; the claim itself stands."""

    WORDS = "the statement says more than the quoted words, so that a made one is shown"
    VALUE = "the statement does not name the value, so that a made one is shown"
    DENIAL = "the statement denies what the claim does not, or the other way round, so that a made one is shown"
    ORDER = "an instruction is shown by its own words"
    KEY = "the key says more than the quoted words, so that the attribute is shown"


def add_given(said: Said, claim: Claim, known: Iterable[Memory]) -> tuple[Claim, Excess | None]:
    """Add the statement and the key of a proposal to its claim where they fit, and say why one does not."""
    statement, key = said.proposal.statement or "", said.proposal.key or ""
    if not (statement or key):
        return claim, None
    fault = Excess.ORDER if claim.attribute == _INSTRUCTION else None
    allowed = set(_list_words(said, claim, known))
    if fault is None and statement:
        fault = _find_excess(said, claim, statement, allowed)
    kept = "" if fault else statement
    if key and (claim.attribute is None or not allowed.issuperset(tokenize(key))):
        key, fault = "", fault or Excess.KEY
    return replace(claim, statement=kept, key=key), fault


def _find_excess(said: Said, claim: Claim, statement: str, allowed: set[str]) -> Excess | None:
    # Cut the dates out of a statement that its sentences name too, or on which these were said.
    event = said.turn.event
    found = find_dates("today", event.occurred_us)
    named = [
        ((found[0].from_us, found[0].until_us) if found else (None, event.occurred_us)),
        *((one.from_us, one.until_us) for one in find_dates(said.sentence, event.occurred_us)),
    ]
    left = statement
    for one in reversed(find_dates(statement, event.occurred_us)):
        if any(_is_within(one, bounds) for bounds in named):
            left = f"{left[: one.start]} {left[one.stop :]}"
    if not allowed.issuperset(tokenize(_DENIAL.sub(" ", left))):
        return Excess.WORDS
    value = claim.value or ""
    if value and not (says(statement, value) or set(tokenize(value)) <= set(tokenize(statement))):
        return Excess.VALUE
    ends = claim.stance is Stance.NEGATED or claim.move is UpdateKind.END
    denied = _DENIAL.search(statement) is not None
    told = _DENIAL.search(f"{said.sentence} {value}") is not None
    return Excess.DENIAL if (ends and not denied) or (denied and not (ends or told)) else None


def _list_words(said: Said, claim: Claim, known: Iterable[Memory]) -> Iterator[str]:
    """Yield the terms that a statement of a claim may have."""
    attribute = normalise_attribute(claim.attribute or "")
    slot = (claim.entity, attribute.replace("_", " "), claim.value, claim.scope)
    phrases = load_asked().get(attribute, ())
    names = (name for one in known for name in _list_names(one))
    for text in (said.sentence, said.question, said.owner, claim.speaker, *slot, *phrases, *names):
        yield from tokenize(text or "")
    yield from _SMALL


def _list_names(memory: Memory) -> Iterator[str]:
    """Yield whom a memory names: its speaker, its entity, and the words of its value that have a capital letter."""
    yield from (memory.speaker, memory.entity or "")
    yield from (word for word in (memory.value or "").split() if word[0].isupper())


def _is_within(one: DateSpan, other: tuple[int | None, int | None]) -> bool:
    """Return whether two times begin or end together, or the first holds the second: a month its day."""
    begin, end = other
    if one.from_us is not None and one.from_us == begin:
        return True
    if one.from_us is None or one.until_us is None:
        return one.until_us is not None and one.until_us == end
    return begin is not None and end is not None and one.from_us <= begin and end <= one.until_us


# Determine whose fact a sentence states, independently of the model. Pure.


_SELF: Final = frozenset({"user", "me", "i", "myself", "speaker", "self"})
_FIRST_PERSON: Final = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|we|we're|we've|us|our|ours|ich|mich|mir|wir|uns)\b", re.IGNORECASE
)
_ADDRESS: Final = re.compile(
    r"^(?:(?:and|but|so|well|oh|yes|no|also|now|please|always|never|because|since|that|then|btw|by the way|yesterday"
    r"|today|tomorrow|recently|lately|apparently|(?:last|this|next) (?:week|month|year|night|summer|winter))\b[,:]? )+",
    re.IGNORECASE,
)
_OTHERS: Final = re.compile(r"(?:he|she|they|his|her|their|you|your)\b", re.IGNORECASE)
_OWNED: Final = re.compile(r"(?:my|our|an?|the|one of (?:my|our)) (?P<nouns>(?:(?!I )[\w-]+ ?){1,3})", re.IGNORECASE)
_NAMED: Final = re.compile(
    r"(?!(?:As|At|In|On|If|To|By|For|From|With|After|Before|During|Until|While|When|Where|What|How|Why|There|Here|It|This"
    r"|The|An|A|Some|Most|Every|Each|Last|Next|Today|Tomorrow|Yesterday|Maybe|Probably|Usually|Sometimes|Not"
    r"|No|One|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten|Both|Another|More|Only|Just|Still|Got|Back|New)\b)"
    r"[A-Z][\w-]+(?:'s)? (?:[A-Z][\w-]+ )?[a-z]"
)
_INTRODUCTION: Final = re.compile(
    r"[\w'’-]+(?: [A-Z][\w'’-]+)? here\b|(?:my name is|this is|it's) [A-Z]", re.IGNORECASE
)
"""Beginning of a message in which its writer says who they are: "Nico here, night nurse in Hull"."""
_GREETING: Final = re.compile(
    r"^(?:(?:hey|hi|hello|hallo|morning|evening|so|ok|okay)\b[!,. ]*(?:there|all|again)?[!,. ]*)+", re.IGNORECASE
)
_TO_SPEAKER: Final = re.compile(r"\b(?:me|us)\b", re.IGNORECASE)
_HEALTH: Final = (
    r"(?:(?:my|our|the|an?) )?(?:[\w-]+ )?(?:(?:doctors?|doc|nurse|professor)(?: [\w-]+)?|dr\.? [\w-]+|gp"
    r"|physio\w*|pharmacist|chemist|dentist|therapist|psychiatrist|surgeon|specialist|consultant|midwife|\w+ologist|allergist|hospital"
    r"|clinic|lab|bloods?|(?:blood )?tests?|results?|scans?|mri|x-?rays?)\b"
)
TELLER: Final = re.compile(
    rf"{_HEALTH}(?P<also>,? (?:just )?(?:rang|called|phoned|wrote)(?: me| us)? and)?,? (?:just |now |also |has |have )?"
    r"(?:says?|said|thinks?|thought|reckons?|confirm(?:s|ed)|f(?:inds?|ound)|shows?|showed|suspects?|told|tells"
    r"|diagnosed|put|gave|prescribed|started|switched|moved|came back)\b(?: me| us)?(?: that| with| as)? ?",
    re.IGNORECASE,
)
"""Somebody who tells a patient a fact about the patient: "physio says its runner's knee"."""
_HIM_OR_HERSELF: Final = re.compile(rf"{_HEALTH} (?:is|was|has|had|takes|lives|works)\b", re.IGNORECASE)
_FRAGMENT_WORDS: Final = 3
_NOUN_CHARACTERS: Final = 3
_POSSESSIVE: Final = re.compile(r"^(?:my|our|the user's|user's)\s+", re.IGNORECASE)
_QUOTED: Final = re.compile(r"[\"\u201c][^\"\u201d]{0,300}\b(?:I|I'm|my|My)\b[^\"\u201d]{0,300}[\"\u201d]")


def owner_of(event: Event) -> str | None:
    """Return the entity of "I" in an event; None in a document or an assistant's text."""
    return None if event.role is Role.ASSISTANT else who_speaks(event)[1]


def resolve_entity(entity: str, owner: str) -> str:
    """Normalise an entity: "my sister" is "user's sister", and "brother Sam" is "user's brother Sam"."""
    if normalise_name(entity) in _SELF or normalise_name(entity) == normalise_name(owner):
        return owner
    plain = _POSSESSIVE.sub("", entity.strip())
    whose, of, theirs = plain.replace("\u2019", "'").rpartition("'s ")
    if of and names().kin_noun(theirs) and (path := resolve_entity(whose, owner)) != whose:
        return f"{path}'s {names().kin_noun(theirs)}"  # "my brother's wife"
    noun, _, name = plain.partition(" ")
    kin = names().kin_noun(plain) or (names().kin_noun(noun) if name[:1].isupper() else None)
    if kin is None:
        return entity.strip()
    return f"{owner}'s {kin}" if names().kin_noun(plain) else f"{owner}'s {kin} {name}"


def named_in(entity: str, texts: tuple[str, ...]) -> bool:
    """Return whether a text speaks of an entity: by a name or noun in it, or by a word for the same kinship.

    >>> named_in("snack budget", ("The budget is $75 now.",)), named_in("Nadia", ("My sister moved.",))
    (True, False)
    """
    noun = entity.rpartition("'s ")[2]
    words = [word.removesuffix("'s") for word in noun.split()]
    spoken = set(tokenize(" ".join(word for word in words if word.isupper() or len(word) >= _NOUN_CHARACTERS)))
    kin = names().kin_noun(words[-1]) if words else None
    return any(
        says(text, noun)
        or not spoken.isdisjoint(tokenize(text))
        or (kin is not None and any(names().kin_noun(word) == kin for word in re.findall(r"\w+", text)))
        for text in texts
    )


def about_another(event: Event, sentence: str, value: str | None, attribute: str | None) -> bool:
    """Return whether a sentence states another person's fact, which cannot be the speaker's (D-007).

    It is about its speaker unless it names somebody else: the beginning of the clause with the value decides; without
    such a clause, that of all clauses.
    """
    plain = straighten(sentence)
    if event.role is Role.USER and (event.source is Source.INGEST or is_about_user(event.text)):
        return False
    if _QUOTED.search(plain) and not _FIRST_PERSON.search(_QUOTED.sub(" ", plain)):
        return True
    if _INTRODUCTION.match(_GREETING.sub("", plain)) and event.role is Role.USER:
        return False
    clauses = [_ADDRESS.sub("", one) for one in split_clauses(plain)]
    holding = [clause for clause in clauses if value and says(clause, value)] or clauses
    noun = normalise_attribute(attribute or "").replace("_", " ")
    named = "|".join(re.escape(name_attribute(noun.replace(" ", "_"), language)) for language in ("en", "de"))
    mine = re.compile(rf"\b(?:my|our|mein\w*|unser\w*|^the) (?:\w+ )?(?:{named})\b", re.IGNORECASE)
    if noun and any(mine.search(clause) for clause in holding):
        return False
    return all(_is_of_another(clause, value, noun) for clause in holding)


def _is_of_another(clause: str, value: str | None, noun: str) -> bool:
    """Return whether a clause begins with another person, who is not the value itself: "my wife is Ana"."""
    told = TELLER.match(clause)
    if told is not None:
        return _is_of_another(clause[told.end() :], value, noun)
    if _HIM_OR_HERSELF.match(clause):
        return True
    if _OTHERS.match(clause):
        return _TO_SPEAKER.search(clause) is None
    subject = _OWNED.match(clause)
    nouns = subject["nouns"].split() if subject is not None else clause.replace("'s", " ").split()[:1]
    if nouns and not (subject is not None and clause[subject.end() :].startswith("I ")):
        kin, named = _find_kin(nouns)
        if kin is not None:
            return kin != names().kin_noun(noun) and not (value and says(named, value))
        if subject is not None:
            return False
    named_first = _NAMED.match(clause) is not None and _FIRST_PERSON.search(clause) is None
    return named_first and not _omits_subject(clause, value)


def _find_kin(words: list[str]) -> tuple[str | None, str]:
    """Return the relative that a subject names, before any verb, and the words of the subject."""
    for at, word in enumerate(words):
        if kin := names().kin_noun(word) or names().kin_noun(word.removesuffix("s")):
            return kin, " ".join(words[: at + 1])
        if word in lexicon().verbs:
            break
    return None, ""


def _omits_subject(clause: str, value: str | None) -> bool:
    """Return whether a clause has no subject, as in notes about oneself and requests.

    It is short, or begins with its value or a verb: "Vegan since 2015", "Based in Rome", "Always answer in French".
    """
    words = [word.strip(",.").lower() for word in _ADDRESS.sub("", clause).split()]
    if len(words) <= _FRAGMENT_WORDS or (value is not None and says(value, words[0])):
        return True
    verbs = lexicon().verbs
    return words[0].endswith(("ing", "ed")) or (
        words[0] in verbs and (words[1] not in verbs or words[1].endswith("ing"))
    )


_BY_ACT: Final = {Act.HYPOTHETICAL: Stance.HYPOTHETICAL, Act.ROLE_PLAY: Stance.ROLE_PLAY}
_SILENT: Final = frozenset({Act.PASTED, Act.SARCASM, Act.RETRACTION})
_OWN_VOICES: Final = frozenset({Voice.OWN, Voice.ROLE_PLAY})
_OWN_OPENING: Final = re.compile(r"(?:I|My|We|Our)\b", re.IGNORECASE)
"""Beginning of words that are prose, although signs of code stand in their sentence."""
_NO: Final = re.compile(r"^(?:no|not|never|without)\s+(?=\w)", re.IGNORECASE)
_MANY: Final = 3
_DENIED_FROM: Final = 6
"""How many words before the quoted ones may deny them."""
_TIMED: Final = frozenset({"since", "from", "until", "till", "by", "starting"})
_BLANK: Final = re.compile(r"\w[/.:_-]*[<{\[]|[>}\]][/.:_-]*\w")
"""A blank inside a name that is a pattern: "feature/<ticket>-slug"."""
_NAME_WORDS: Final = 2
_SCOPE_WORDS: Final = 4
_OFTEN: Final = frozenset({"day", "daili", "week", "night", "morn", "even", "month"})
"""Stems of words for how often something is taken."""
_OCCASIONS: Final = frozenset({"trip", "holiday", "visit", "appointment", "meeting"})
_SHORTENED: Final = frozenset({"employer", "school", "member_of"})
"""Attributes whose values are names that people shorten."""
_DENIED: Final = re.compile(rf"{DENYING.pattern}|\bnone\b", re.IGNORECASE)
_USER: Final = "user"
_SURE: Final = 0.9
_UNSURE: Final = 0.5
_ATTRIBUTE_WORDS: Final = 8
_ANYTHING: Final = frozenset({"plan", "goal", "considering", "event", "experience", "decision", "status", "likes"})
"""Attributes that name no thing."""
_ANYBODYS: Final = frozenset({"text", "day", "amount"})
"""Kinds of values that belong to the speaker in sentences about others too: "my boss gave me until Friday"."""
_TYPES: Final = {
    "decision": MemoryType.DECISION,
    "procedure": MemoryType.PROCEDURE,
    **dict.fromkeys(("likes", "dislikes", "prefers", _INSTRUCTION), MemoryType.PREFERENCE),
}
_IMPORTANCE: Final = {MemoryType.DECISION: 0.8, MemoryType.PROCEDURE: 0.7, MemoryType.PREFERENCE: 0.7}
_INSTRUCTION_IMPORTANCE: Final = 0.9
_MOVES: Final = {
    Effect.REPLACES: UpdateKind.CHANGE,
    Effect.CORRECTS: UpdateKind.CORRECT,
    Effect.ENDS: UpdateKind.END,
    Effect.CONTRADICTS: UpdateKind.CONTRADICT,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """The claim to believe, None if it is refused; `why` is None for a claim that stands as it was proposed."""

    claim: Claim | None
    why: Refusal | Misfit | Excess | None = None


def check(
    proposal: Proposal, turn: Turn, known: Mapping[str, Memory], *, reader: str, by_agent: bool = False
) -> Verdict:
    """Turn a proposal about a turn into a claim, or say why not.

    `known` are the memories that may be named, by their names; `reader` names who proposed it. A calling agent may also
    quote its own words about the user, as those of the assistant.
    """
    event = turn.event
    quoted = locate(event.text, proposal.quote, event.id)
    if quoted is None:  # the message lost its secrets before it was stored
        masked = screen_secrets(proposal.quote, "mask").masked
        return Verdict(None, Refusal.SECRET if masked else Refusal.QUOTE)
    own = by_agent and event.role is Role.ASSISTANT
    owner = _USER if own else owner_of(event)
    if owner is None:
        return Verdict(None, Refusal.DOCUMENT)
    memory = known.get(proposal.target)
    denied = memory or (None if proposal.target else _find_denied(proposal, turn, owner))
    if denied is not None and _denies(proposal, denied):
        proposal, memory = replace(proposal, effect=Effect.ENDS, past=False), denied
    elif proposal.value is not None and not get_attribute(find_exact_attribute(proposal.attribute or "")).hurts:
        quoted = reach_value(event.text, quoted, proposal.value, memory)
    proposal = settle_denial(proposal)
    said = Said(proposal, turn, quoted, widen_to_sentences(event.text, quoted), owner, memory, by_agent)
    if (refusal := _find_silence(said)) is not None:
        return Verdict(None, refusal)
    apart = memory is not None and proposal.effect is not Effect.REPEATS and not _speaks_of(said, memory)
    if apart:
        said, memory = replace(said, proposal=replace(proposal, effect=None)), None
    verdict = _check_slot(said, memory)
    verdict = replace(verdict, why=verdict.why or Refusal.APART) if apart else verdict
    if verdict.claim is None:
        return verdict
    claim = replace(verdict.claim, reader=reader, speaker=event.speaker if own else owner)
    named = _name_rival(said.proposal.effect, replace(verdict, claim=claim), memory)
    return named if named.claim is None else _word(said, named.claim, named.why, known)


def _find_denied(proposal: Proposal, turn: Turn, owner: str) -> Memory | None:
    """Find the only value of a slot, of which a proposal says in other words that it is over: "the lab is done"."""
    there = [
        one
        for one in turn.known
        if _is_there(one, proposal, owner) and one.scope == proposal.scope and one.stance is Stance.ASSERTED
    ]
    own, held = (
        set(tokenize(proposal.value or "")),
        set(tokenize(there[0].value or "")) if len(there) == 1 else set[str](),
    )
    return there[0] if 2 * len(own & held) >= min(len(own), len(held)) > 0 else None


def _denies(proposal: Proposal, memory: Memory) -> bool:
    """Return whether a proposal denies the very memory that it replaces, or calls it past: "we sold the Genesis"."""
    over = proposal.past or proposal.stance is Stance.NEGATED
    if (proposal.target and proposal.effect is not Effect.REPLACES) or not over or get_slot(memory) is None:
        return False
    own, held = set(tokenize(proposal.value or "")), set(tokenize(memory.value or ""))
    if (attribute := normalise_attribute(proposal.attribute or "")) != normalise_attribute(memory.attribute or ""):
        return False
    alike = own <= held or held <= own if get_attribute(attribute).hurts else not own.isdisjoint(held)
    return bool(own) and alike and (memory.stance is Stance.ASSERTED or memory.stance in OPEN_STANCES)


def _word(said: Said, claim: Claim, why: Refusal | Misfit | Excess | None, known: Mapping[str, Memory]) -> Verdict:
    """Let a claim have the statement and key that were given with it, if they fit."""
    worded, excess = add_given(said, claim, (*said.turn.known, *known.values()))
    return Verdict(worded, why or excess)


def _speaks_of(said: Said, memory: Memory) -> bool:
    """Return whether a proposal has the attribute of a memory that holds, or words of its thing or value.

    Where the quoted words point, their message and the one before count too. A past state settles no plan.
    """
    proposal, event = said.proposal, said.turn.event
    if proposal.past and memory.stance in OPEN_STANCES:
        return False
    attribute = normalise_attribute(memory.attribute or "")
    own = find_exact_attribute(proposal.attribute or "")
    alike = own == attribute or answer_same_question(own, attribute)
    if memory.stance in ASSERTIVE_STANCES and attribute and alike:
        return True
    near = [one.text for one in (*said.turn.before[-1:], event)] if POINTING_BACK.search(said.quote) else []
    slot = (proposal.entity or "", (proposal.attribute or "").replace("_", " "), proposal.value or "")
    told = set(tokenize(" ".join((said.sentence, said.question, *near, *slot))))
    thing = "" if attribute in _ANYTHING else attribute.replace("_", " ")
    held = set(tokenize(f"{memory.entity or ''} {thing} {memory.value or memory.text}"))
    owner = set(tokenize(f"{_USER} {said.owner} {event.speaker}"))
    return any(word not in owner and not word.isdigit() for word in told & held)


def _find_silence(said: Said) -> Refusal | None:
    """Find why no claim may rest on the quoted words."""
    form = said.voice is Voice.TEMPLATE and said.by_agent and _BLANK.search(said.proposal.value or "") is not None
    if said.voice not in _OWN_VOICES and not form and not (said.voice is Voice.CODE and _OWN_OPENING.match(said.quote)):
        return Refusal.VOICE
    if screen_secrets(f"{said.question} {said.sentence}", "mask").masked:
        return Refusal.SECRET
    plain = straighten(said.quote)
    act = act_of(plain)
    if act in _SILENT:
        return Refusal.PASSING
    asks = said.sentence.rstrip("\"')”’ ").endswith("?") and said.reaches_end and is_question(plain)
    open_choice = said.proposal.stance is Stance.CONSIDERED or act in _BY_ACT
    return Refusal.QUESTION if asks and not open_choice else None


def _check_slot(said: Said, memory: Memory | None) -> Verdict:
    """Give a claim its slot, or leave its sentence without one."""
    proposal = said.proposal
    stance = _find_stance(said)
    if proposal.effect is Effect.REPEATS and memory is not None and _is_repeated(said, memory, stance):
        return Verdict(_place(_make_claim(said, stance, memory.attribute), memory))
    if proposal.effect is Effect.ENDS and memory is not None and get_slot(memory) is not None:
        if stance in UNCERTAIN_STANCES:
            return _leave_sentence(said, stance, Misfit.OPEN)
        return Verdict(_place(_make_claim(said, Stance.ASSERTED, memory.attribute), memory))
    fault = _find_fault(said, stance)
    if fault in {Refusal.VALUE, Refusal.INVALID}:
        shorter = next(
            (one for one in _shorten(said, stance, cut=fault is Refusal.INVALID) if _find_fault(one, stance) is None),
            None,
        )
        said, fault = (said, fault) if shorter is None else (shorter, None)
    if fault is not None:
        return _leave_sentence(said, stance, fault)
    if proposal.attribute is None or stance in UNCERTAIN_STANCES:
        return _leave_sentence(said, stance, None)
    return Verdict(_fill_slot(said, stance))


def _shorten(said: Said, stance: Stance, *, cut: bool) -> Iterator[Said]:
    """Yield a proposal without the parts of its value that its sentence may not tell: the time, and an addition.

    `cut`: the addition goes even where a wrong value could hurt.
    """
    value, hurts = said.proposal.value or "", get_attribute(find_exact_attribute(said.proposal.attribute or "")).hurts
    before = said.turn.event.text[said.sentences.start : said.quoted.start].split()[-_DENIED_FROM:]
    if DENYING.search(" ".join((*before, said.quote))) and not NOTHING.match(value):
        return
    without = leave_out_time(value, begun=stance in OPEN_STANCES or not hurts)
    cuts = (without,) if hurts and not cut else (without, leave_out_addition(value), leave_out_addition(without))
    for one in cuts:
        if one and one != value:
            yield replace(said, proposal=replace(said.proposal, value=one))


def _name_rival(effect: Effect | None, verdict: Verdict, memory: Memory | None) -> Verdict:
    """Attach a claim to the memory that it names, or say why it has no effect on that."""
    claim = verdict.claim
    if claim is None or effect is None:
        return verdict
    if memory is None:
        return Verdict(claim, verdict.why or Refusal.KNOWN)
    if effect is Effect.REPEATS:
        if get_slot(claim) == get_slot(memory) and is_same_value(claim.value, memory.value):
            return verdict
        if get_slot(claim) == get_slot(memory) and _is_fuller(claim.value, claim.stance, memory):
            return replace(verdict, claim=replace(claim, rival=memory.id))
        return Verdict(claim, verdict.why or Refusal.REPEATED)
    linked = replace(claim, move=_MOVES[effect], rival=memory.id)
    misfit = find_misfit(linked, memory)
    return Verdict(claim, verdict.why or misfit) if misfit is not None else replace(verdict, claim=linked)


def _find_fault(said: Said, stance: Stance) -> Refusal | None:
    """Find the part of a slot that the sentence does not support."""
    proposal = said.proposal
    if proposal.attribute is None and proposal.value is None:
        return None
    name = normalise_attribute(proposal.attribute or "")
    if not name or proposal.value is None or name.count("_") >= _ATTRIBUTE_WORDS:
        return Refusal.SLOT
    attribute = find_exact_attribute(proposal.attribute or "")
    if not _is_said(said, get_attribute(attribute)) and not _is_mostly_told(said, get_attribute(attribute)):
        return Refusal.VALUE
    if not is_valid_value(attribute, proposal.value):
        return Refusal.INVALID
    if proposal.scope is not None and not _is_scope(said, proposal.scope, get_attribute(attribute)):
        return Refusal.SCOPE
    return None if stance in UNCERTAIN_STANCES else _find_stranger(said)


def _is_scope(said: Said, scope: str, schema: AttributeSchema) -> bool:
    """Return whether a scope stands in the sentence, or is one that the slot has; an agent may word it otherwise."""
    if says(said.sentence, scope) or any(is_same_value(one.scope, scope) for one in _list_slot(said)):
        return True
    return said.by_agent and not schema.hurts and len(scope.split()) <= _SCOPE_WORDS and not numbers(scope)


def _is_said(said: Said, schema: AttributeSchema) -> bool:
    """Return whether the value stands in the sentence, or where that points; if a wrong one could hurt, word by word.

    Otherwise its words may stand apart in the sentence, and up to half of them in earlier messages: all of them, if
    the sentence has a pronoun or answers a question.
    """
    event, value = said.turn.event, spell_out(said.proposal.value or "")
    sentence = spell_out(said.sentence)
    left = value if schema.dated else leave_out_days(value, sentence, event.occurred_us)
    dated = left != value
    if _is_worded_otherwise(said, left, sentence, hurts=schema.hurts, dated=dated) or _is_known_name(said, schema):
        return True
    value = left
    if DENYING.search(sentence):
        if NOTHING.fullmatch(value):
            return not schema.hurts and is_without(sentence, said.proposal.attribute or "")
        value = _NO.sub("", value)
    if says(sentence, value) or (said.question and says(said.question, value)):
        return True
    wanted, own = set(tokenize(value)), set(tokenize(sentence))
    if schema.hurts:
        return says_closely(sentence, value)
    if says_in_order(sentence, value):
        return True
    told = own.union(*(tokenize(text) for text in (event.text, *(one.text for one in said.turn.before))))
    points = POINTING_BACK.search(sentence) is not None or bool(said.question)
    return bool(wanted) and wanted <= told and (points or 2 * len(wanted & own) >= len(wanted))


def _is_mostly_told(said: Said, schema: AttributeSchema) -> bool:
    """Return whether an agent adds at most a third of the words of a value, and no names, numbers, times or denial."""
    value = said.proposal.value or ""
    if not said.by_agent or schema.hurts or bool(DENYING.search(said.sentence)) != bool(_DENIED.search(value)):
        return False
    told = set(tokenize(" ".join((said.turn.event.text, *(one.text for one in said.turn.before)))))
    words = [word for word in value.split() if tokenize(word)]
    added = [word for word in words if not told.issuperset(tokenize(word))]
    plain = _TIMED.isdisjoint(value.casefold().split()) and all(word.islower() and not numbers(word) for word in added)
    return plain and len(words) >= _MANY and 3 * len(added) <= len(words)


def _is_worded_otherwise(said: Said, value: str, sentence: str, *, hurts: bool, dated: bool) -> bool:
    """Return whether a sentence has all words of a value in another order, but for what the slot holds already.

    `dated`: it names the days that were left out of the value. If a wrong value could hurt, its words stand together,
    and the held value adds a frequency at most ("a day").
    """
    wanted = set(tokenize(value))
    own = wanted.intersection(tokenize(sentence))
    if hurts:
        if said.replaced is None:
            return bool(own) and wanted == own and has_words_together(sentence, own)
        held = _OFTEN.union(tokenize(spell_out(said.replaced.value or "")))
        return bool(own) and wanted - own <= held and not any(word.isdigit() for word in wanted - own)
    slot = set(tokenize(spell_out(" ".join(one.value or "" for one in _list_slot(said)))))
    new = {word for word in wanted - own if word.isdigit()}
    if new and not (dated or "same" in sentence.casefold()):
        return False
    return wanted <= own | slot and (dated or bool(own))


def _list_slot(said: Said) -> Iterator[Memory]:
    """Yield the memories that are held where a proposal puts its value, in any scope."""
    yield from (one for one in said.turn.known if _is_there(one, said.proposal, said.owner))
    if said.replaced is not None:
        yield said.replaced


def _is_there(memory: Memory, proposal: Proposal, owner: str) -> bool:
    entity = normalise_name(resolve_entity(proposal.entity or owner, owner))
    attribute = find_exact_attribute(proposal.attribute or "")
    return normalise_name(memory.entity or "") == entity and normalise_attribute(memory.attribute or "") == attribute


def _is_known_name(said: Said, schema: AttributeSchema) -> bool:
    """Return whether a value is a name that is held, of which the sentence says the first word: "day one at Acme"."""
    value = said.proposal.value or ""
    words, first = tokenize(value), re.escape(value.partition(" ")[0])
    if len(words) < _NAME_WORDS or not value[:1].isupper() or (schema.hurts and schema.name not in _SHORTENED):
        return False
    if re.search(rf"(?i:\b{first}\b)(?! [A-Z0-9])", said.sentence) is None or DENYING.search(said.sentence):
        return False
    known = {normalise_name(name or "") for one in said.turn.known for name in (one.value, one.entity)}
    alike = {name for name in known if name.partition(" ")[0] == normalise_name(value).partition(" ")[0]}
    return alike == {normalise_name(value)}


def _find_stranger(said: Said) -> Refusal | None:
    """Find a fact of somebody else that is given to the speaker, or an entity that nobody speaks of."""
    proposal, turn, owner = said.proposal, said.turn, said.owner
    entity = resolve_entity(proposal.entity or owner, owner)
    attribute = find_exact_attribute(proposal.attribute or "")
    schema = get_attribute(attribute)
    if entity == owner and turn.event.role is not Role.ASSISTANT:
        personal = (schema.person or schema.hurts or schema.kind not in _ANYBODYS) and schema.kind != "person"
        other = personal and about_another(turn.event, said.sentence, proposal.value, attribute)
        return Refusal.PERSON if other else None
    held = (*turn.known, *(() if said.replaced is None else (said.replaced,)))
    texts = (turn.event.text, *(one.text for one in turn.before), *(_name_slot(one) for one in held))
    noun = entity.rpartition("'s ")[2]  # "crush" may stand for "she"
    spoken = entity == owner or (noun.islower() and not schema.hurts) or named_in(entity, texts)
    return None if spoken else Refusal.ENTITY


def _name_slot(memory: Memory) -> str:
    return f"{memory.entity or ''} {(memory.attribute or '').replace('_', ' ')} {memory.value or ''}"


def _find_stance(said: Said) -> Stance:
    """Return the proposed stance; pretence in the clause of the value stays pretence."""
    if said.voice is Voice.ROLE_PLAY:
        return Stance.ROLE_PLAY
    wanted = said.proposal.value or said.quote
    clauses = split_clauses(straighten(said.sentence))
    holding = [clause for clause in clauses if says(clause, wanted)] or [straighten(said.quote)]
    pretended = next((act for clause in holding if (act := _BY_ACT.get(act_of(clause)))), None)
    return said.proposal.stance if pretended is None or said.proposal.stance in OPEN_STANCES else pretended


def _make_claim(said: Said, stance: Stance, attribute: str | None) -> Claim:
    """Build a claim without a slot; the text is the sentence where that is a statement, else the quoted words."""
    event = said.turn.event
    span = said.sentences if said.states else said.quoted
    text = event.text[span.start : span.stop]
    if said.question and not (said.proposal.value and says(text, said.proposal.value)):
        text = f"“{said.question}” {text}"
    kind = _find_type(attribute)
    importance = _INSTRUCTION_IMPORTANCE if attribute == _INSTRUCTION else _IMPORTANCE.get(kind)
    return Claim(
        text=text[: limits.MEMORY_TEXT_CHARACTERS],
        type=kind,
        span=span,
        speaker=said.owner,
        stance=stance,
        confidence=min(_SURE, CONFIDENCE_MAX.get(stance, 1.0)),
        importance=importance or get_attribute(attribute or "").importance,
        topic=event.topic,
        tags=event.tags,
    )


def _find_type(attribute: str | None) -> MemoryType:
    return MemoryType.FACT if attribute is None else _TYPES.get(attribute) or get_attribute(attribute).type


def _fill_slot(said: Said, stance: Stance) -> Claim:
    """Build the claim with its slot. An open attribute holds several values: only a named rival replaces one."""
    proposal, event = said.proposal, said.turn.event
    name = find_exact_attribute(proposal.attribute or "")
    schema = get_attribute(name)
    dates = past_dates(straighten(said.sentence), event.occurred_us)
    ended = proposal.past and not schema.episodic  # not "5 interviews between April 25 and May 1"
    over_us = event.occurred_us if schema.known or name in _OCCASIONS else None
    since_us, until_us = dates.since, dates.until or over_us if ended else None
    if stance is Stance.PLANNED:
        dated = _find_dated_words(said)
        several = len(find_dates(said.sentence, event.occurred_us, "future")) > 1
        clock = dated if several else said.sentence
        since_us, until_us = stated_period(dated, clock, event.occurred_us, planned=True)
    elif not ended and stance in ASSERTIVE_STANCES and (name in PASSING or not schema.known):
        until_us = find_passing_end(proposal.value or "", said.sentence, event.occurred_us)
    passing = until_us is not None and until_us > event.occurred_us
    return replace(
        _make_claim(said, stance, name),
        entity=resolve_entity(proposal.entity or said.owner, said.owner),
        attribute=name,
        value=proposal.value,
        scope=proposal.scope,
        cardinality=schema.cardinality if schema.known and not passing else Cardinality.SET,
        valid_from_us=since_us,
        valid_until_us=until_us,
    )


def _find_dated_words(said: Said) -> str:
    """Return the words that name the day of a plan: its value, the quoted words or else the sentence.

    A sentence may name the days of several: "eye test on 4 August, boiler service on 6 August".
    """
    for words in (said.proposal.value or "", said.quote):
        if find_dates(words, said.turn.event.occurred_us, "future") or find_dates(f"on {words}", 0, "future"):
            return f"on {words}"
    return said.sentence


def _is_repeated(said: Said, memory: Memory, stance: Stance) -> bool:
    """Return whether a sentence says the value of a memory, in any order or in part, and no fuller one."""
    value, held = said.proposal.value, memory.value or ""
    part = set(tokenize(value or "")) <= set(tokenize(held)) and not numbers(held) - numbers(said.sentence)
    same = is_same_value(value, held) or (bool(held) and (says(said.sentence, held) or (bool(value) and part)))
    fuller = _is_fuller(value, stance, memory)
    return same and not fuller and stance is memory.stance and get_slot(memory) is not None


def _is_fuller(value: str | None, stance: Stance, memory: Memory) -> bool:
    """Return whether a value is that of a memory that holds, with words added."""
    holds = memory.stance is stance and stance in ASSERTIVE_STANCES
    return holds and is_refinement(value or "", memory.value or "")


def _place(claim: Claim, memory: Memory) -> Claim:
    """Move a claim into the slot of a memory, with its value."""
    return replace(
        claim,
        type=memory.type,
        entity=memory.entity,
        attribute=memory.attribute,
        value=memory.value,
        scope=memory.scope,
        cardinality=memory.cardinality,
    )


def _leave_sentence(said: Said, stance: Stance, why: Refusal | Misfit | None) -> Verdict:
    """Keep the words without a slot, if they say something by themselves."""
    claim = replace(_make_claim(said, stance, None), type=_find_type(said.proposal.attribute))
    if stance is Stance.PLANNED:
        words = f"on {said.quote}"
        since_us, until_us = stated_period(words, words, said.turn.event.occurred_us, planned=True)
        claim = replace(claim, valid_from_us=since_us, valid_until_us=until_us)
    if said.proposal.attribute is not None or why is not None:
        claim = replace(claim, confidence=min(claim.confidence, _UNSURE))
    if is_bare_reply(said.sentence):
        stands = bool(said.question) and why is None
    else:
        stands = said.states and stands_alone(straighten(claim.text))
    if not stands:
        return Verdict(None, why or Refusal.EMPTY)
    return Verdict(claim, why)
