"""A claim with its context, and the changes that store it: the memory to add, or the memory to confirm. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from credenda.clock import DAY_US
from credenda.model.attributes import get_attribute, is_valid_value
from credenda.model.change import (
    Add,
    Change,
    Confirm,
    Contest,
    Forget,
    Pin,
    Restore,
    Revise,
    SetStatus,
    Supersede,
    Support,
    end_memory,
)
from credenda.model.claim import Claim, Span, UpdateKind
from credenda.model.event import DENIED, OWN_SOURCES, QUARANTINED, TRUST, UPLOADED, Event, NewEvent, Role, Source
from credenda.model.memory import (
    Cardinality,
    Draft,
    Layer,
    Memory,
    MemoryType,
    Relation,
    Stance,
    Status,
    get_initial_layer,
    get_type_class,
)
from credenda.model.statement import replace_given
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_text, normalise_value
from credenda.write.extract.voices import names
from credenda.write.reconcile.slots import (
    ASSERTIVE_STANCES,
    UNCERTAIN_STANCES,
    SlotRows,
    StatementContext,
    get_slot,
    has_same_meaning,
)

_UNCERTAIN_CONFIDENCE_MAX: Final = 0.3
_HASH_BYTES: Final = 16
_WORKING_STANCES: Final = UNCERTAIN_STANCES | {Stance.CONSIDERED}
"""Stances whose memories begin in the working layer, which decays first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A normalised claim with its context and its support."""

    claim: Claim
    occasion: StatementContext
    support: Support

    @property
    def key(self) -> str:
        """The key of the memory that the claim would add; equal claims have equal keys."""
        return f"new:{self.support.claim_hash.hex()}"

    @property
    def begins_us(self) -> int:
        """When the value becomes valid: as stated, else when the claim was made.

        For an ending: when the value ended.
        """
        said = self.claim
        stated = said.valid_until_us if _is_ending(said) and said.valid_from_us is None else said.valid_from_us
        return self.occasion.occurred_us if stated is None else stated

    @property
    def is_future(self) -> bool:
        """Whether the value is not valid yet. A bare date may lie a day ahead in another time zone."""
        return self.begins_us > self.occasion.now_us + DAY_US

    @property
    def over(self) -> bool:
        """Whether the value had ended when the claim was made: "until 2022 I worked at …"."""
        until_us = None if _is_ending(self.claim) else self.claim.valid_until_us
        return until_us is not None and until_us <= self.occasion.occurred_us

    def add(self, reason: str, *, status: Status = Status.ACTIVE, begins_us: int | None = None) -> Add:
        """Add the claim as a new memory."""
        begins = self.begins_us if begins_us is None else begins_us
        return Add(key=self.key, draft=self._draft(status, begins), support=(self.support,), reason=reason)

    def confirm(self, memory: Memory, reason: str) -> Confirm:
        """Confirm a memory with the evidence of this claim."""
        return Confirm(memory_id=memory.id, support=(self.support,), reason=reason)

    def _draft(self, status: Status, begins_us: int) -> Draft:
        said, occasion = self.claim, self.occasion
        return Draft(
            text=said.text,
            type=said.type,
            topic=said.topic or occasion.topic,
            entity=said.entity,
            attribute=said.attribute,
            value=said.value,
            scope=said.scope,
            cardinality=said.cardinality,
            stance=said.stance,
            speaker=said.speaker,
            confidence=said.confidence,
            importance=said.importance,
            layer=_choose_layer(said),
            status=status,
            valid_from_us=begins_us,
            valid_until_us=None if _is_ending(said) else said.valid_until_us,
            trust=occasion.trust,
            provisional=said.provisional,
            source_session=occasion.session,
            tags=tuple(dict.fromkeys(occasion.tags + said.tags)),
            metadata=replace_given(occasion.metadata, said.statement, said.key),
            expires_us=occasion.expires_us,
        )


def _choose_layer(said: Claim) -> Layer:
    """Return the layer in which a claim's memory begins."""
    if said.stance in _WORKING_STANCES:
        return Layer.WORKING
    if said.type is MemoryType.FACT and said.attribute and get_attribute(said.attribute).episodic:
        return Layer.EPISODIC
    return get_initial_layer(said.type, said.attribute)


def make_candidate(claim: Claim, occasion: StatementContext, read: Claim | None = None) -> Candidate:
    """Normalise a claim for comparison; its hash is that of the claim as extracted."""
    return Candidate(
        claim=_normalise_claim(claim),
        occasion=occasion,
        support=Support(span=claim.span, claim_hash=claim_hash(read or claim), reader=claim.reader),
    )


def _is_ending(claim: Claim) -> bool:
    return claim.move is UpdateKind.END


def _normalise_claim(claim: Claim) -> Claim:
    """Turn an ending, and a claim that names only a past value, into the denial of that value."""
    if claim.stance in UNCERTAIN_STANCES:
        return replace(claim, confidence=min(claim.confidence, _UNCERTAIN_CONFIDENCE_MAX))
    only_prior = not claim.value and claim.prior is not None
    if claim.stance in ASSERTIVE_STANCES and (_is_ending(claim) or only_prior):
        return replace(claim, stance=Stance.NEGATED, value=claim.value or claim.prior, prior=None)
    return claim


def make_claim(draft: Draft, span: Span, move: UpdateKind) -> Claim:
    """Return the claim that the user made by a correction or an answer, for its hash."""
    return Claim(
        text=draft.text,
        type=draft.type,
        span=span,
        speaker=draft.speaker,
        entity=draft.entity,
        attribute=draft.attribute,
        value=draft.value,
        scope=draft.scope,
        stance=draft.stance,
        move=move,
    )


def claim_hash(claim: Claim) -> bytes:
    """Return the hash (16 bytes) that makes applying a claim idempotent: its content, speaker and span.

    It leaves out confidence and importance, because a better extractor may estimate them differently.
    """
    parts = (
        normalise_name(claim.speaker),
        claim.entity and normalise_name(claim.entity),
        claim.attribute and normalise_attribute(claim.attribute),
        claim.value and normalise_value(claim.value),
        claim.scope and normalise_name(claim.scope),
        get_type_class(claim.type),
        claim.move,
        claim.stance,
        normalise_text(claim.text),
        claim.span.event_id,
        str(claim.span.start),
        str(claim.span.stop),
    )
    digest = hashlib.blake2b(digest_size=_HASH_BYTES)
    for part in parts:
        data = (part or "").encode()
        digest.update(len(data).to_bytes(4, "big") + data)
    return digest.digest()


# The importance of what the user tells again. Pure.


_REPEATED: Final = 0.7
_EACH: Final = 0.05
"""A memory told in n sessions is worth at least .7 + .05 · n: .8 for the second, 1 from the sixth on (R-054)."""


def weigh_repetition(memory: Memory, told: Sequence[Event], event: Event) -> list[Change]:
    """Return the change by which a memory gains importance that the user tells again in another session.

    `told` are the events on which it rests. Without sessions, days tell them apart.
    """
    before = {_name_occasion(one) for one in told if one.id != event.id}
    occasion = _name_occasion(event)
    worth = round(min(1.0, _REPEATED + _EACH * (len(before) + 1)), 2)
    if not is_users_own(event) or not before or occasion in before or memory.importance >= worth:
        return []
    reason = f"told in {len(before) + 1} sessions"
    return [Revise(memory_id=memory.id, fields={"importance": worth}, reason=reason)]


def _name_occasion(event: Event) -> str:
    return event.session or str(event.occurred_us // DAY_US)


# Whether a claim may have its slot: a valid value, and a thing whose owner the sentence names. Pure.


_VERBATIM_CONFIDENCE: Final = 0.5
_CACHED: Final = 1_024
_POSSESSIVE: Final = (
    r"(?:my|our|your|his|her|their|mein\w{0,2}|unser\w{0,2}|mon|ma|mes|notre|nos|mi|mis|nuestr[oa]s?|meus?|minhas?|noss[oa]s?"
    r"|[\w.-]+['’]s|[\w.-]+s['’])"
)
_DEFINITE: Final = r"(?:the|this|that|these|those|der|die|das|le|la|les|el|los|las|o|os|as)"
_BETWEEN: Final = r"\s+(?:[\w'’-]+\s+){0,3}"
_SPEAKER: Final = re.compile(r"\b(?:i|we|ich|wir|je|nous|yo|nosotros|eu|nós)\b")
_ORDINAL: Final = re.compile(r"(?:first|second|third|fourth|fifth|final|last|next)\s+\w")
"""One of several things in order: "the first sprint"."""
_OWNER_WORD: Final = r"\s+(?:of|for|at|with|von|für|de|du|des|da|do|para|pour)\s+\S"


def admit_claim(claim: Claim) -> Claim | None:
    """Return a claim as reconciliation may use it; None if a wrong value in its slot could hurt.

    A value that its attribute cannot have makes no claim about the slot: the sentence stays as a memory without one.
    A thing without an owner opens no slot across sentences, so its values stand side by side, unless words tell that
    its time was moved.
    """
    if get_slot(claim) is None or claim.move in {UpdateKind.RETRACT, UpdateKind.END} or claim.provisional:
        return claim
    attribute, value = claim.attribute or "", claim.value or ""
    if not is_valid_value(attribute, value):
        return None if get_attribute(attribute).hurts else remove_slot(claim)
    told = claim.completed or claim.text
    moved = claim.move is UpdateKind.CHANGE and attribute == "schedule"
    if (
        not moved
        and claim.cardinality is Cardinality.SINGLE
        and is_unowned(claim.entity or "", attribute, claim.speaker, told)
    ):
        return replace(claim, cardinality=Cardinality.SET)
    return claim


def admit_claims(claims: Sequence[Claim]) -> list[tuple[Claim, Claim]]:
    """Return each claim that may be decided, as extracted and as reconciliation may use it.

    A sentence whose other claim keeps its slot needs no memory without one.
    """
    pairs = [(claim, admitted) for claim in claims if (admitted := admit_claim(claim)) is not None]
    placed = [admitted.span for _, admitted in pairs if get_slot(admitted) is not None]
    return [
        (claim, admitted)
        for claim, admitted in pairs
        if get_slot(claim) is None or get_slot(admitted) is not None or admitted.span not in placed
    ]


def remove_slot(claim: Claim) -> Claim:
    """Return a claim that only states its sentence."""
    return replace(
        claim,
        entity=None,
        attribute=None,
        value=None,
        prior=None,
        scope=None,
        move=UpdateKind.STATE,
        cardinality=Cardinality.SINGLE,
        confidence=min(claim.confidence, _VERBATIM_CONFIDENCE),
    )


def is_unowned(entity: str, attribute: str, speaker: str, text: str) -> bool:
    """Return whether a sentence names a thing without an owner, such as "the meeting" or "the reference number".

    >>> is_unowned("meeting", "date", "user", "The meeting is on Monday.")
    True
    >>> is_unowned("meeting", "date", "user", "Our meeting is on Monday.")
    False
    >>> is_unowned("user", "deadline", "user", "The deadline is 1 July.")
    True
    >>> is_unowned("grant", "deadline", "user", "The deadline for the grant is 1 May.")
    False
    """
    key = normalise_name(entity)
    of_speaker = key in {"user", normalise_name(speaker)}
    if not of_speaker and _is_owner(entity, key, text):
        return False
    lower, nouns = text.casefold(), _list_nouns(attribute)
    if of_speaker:
        return any(_is_definite(noun, lower) for noun in nouns)
    if _find_owned(key).search(lower) is not None:
        return False
    return not any(_find_joined(noun, key).search(lower) is not None for noun in nouns)


def _is_definite(noun: str, lower: str) -> bool:
    """Return whether a sentence names a noun by its article alone, without an owner and without the speaker."""
    found = _find_definite(noun).search(lower)
    if found is None or _SPEAKER.search(lower[: found.start()]) is not None:
        return False
    return re.match(_OWNER_WORD, lower[found.end() :]) is None and _find_owned(noun).search(lower) is None


def _is_owner(entity: str, key: str, text: str) -> bool:
    """Return whether an entity identifies itself: a person, a relative, a named thing, or an owned thing."""
    if "'s " in key or names().kin_noun(key.rpartition(" ")[2]) is not None or _ORDINAL.match(key) is not None:
        return True
    common = " " not in key and re.search(rf"\b(?:der|die|das) {re.escape(key)}\b", text.casefold()) is not None
    return not common and any(word[:1].isupper() or word[:1].isdigit() for word in entity.split())


@lru_cache(maxsize=_CACHED)
def _list_nouns(attribute: str) -> tuple[str, ...]:
    schema = get_attribute(attribute)
    return tuple(dict.fromkeys([normalise_attribute(attribute).replace("_", " "), *schema.words]))


@lru_cache(maxsize=_CACHED)
def _find_definite(noun: str) -> re.Pattern[str]:
    return re.compile(rf"\b{_DEFINITE}{_BETWEEN}{re.escape(noun)}\b")


@lru_cache(maxsize=_CACHED)
def _find_owned(noun: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){_POSSESSIVE}{_BETWEEN}{re.escape(noun)}\b|\b{re.escape(noun)}{_OWNER_WORD}")


@lru_cache(maxsize=_CACHED)
def _find_joined(noun: str, owner: str) -> re.Pattern[str]:
    """Find a noun joined to its owner: "the deadline for the grant", "the grant deadline", "the grant's deadline"."""
    first, second = re.escape(noun), re.escape(owner)
    return re.compile(rf"\b{first}{_OWNER_WORD[:-2]}(?:[\w-]+\s+){{0,2}}{second}\b|\b{second}(?:['’]s)?\s+{first}\b")


# Quarantine: a suspect claim becomes a candidate memory until independent evidence confirms it. Pure.


_LOW_TRUST: Final = 0.45
"""Claims from sources below this trust are quarantined. Only dreams lie below it."""
_ORDER: Final = "instruction"
"""The attribute of standing instructions, which reach every prompt."""
_UPLOADED: Final = "uploaded to a server; awaits the user's confirmation"
_PERSON: Final = TRUST[Source.HUMAN]


def is_suspect(event: Event, claim: Claim) -> bool:
    """Return whether a claim must be quarantined."""
    return QUARANTINED in event.flags or event.trust < _LOW_TRUST or is_foreign_instruction(event, claim)


def is_foreign_instruction(event: Event, claim: Claim) -> bool:
    """Return whether a claim is a standing instruction in other words than the user's own."""
    return claim.attribute == _ORDER and (UPLOADED in event.flags or not is_users_own(event))


def is_users_own(event: Event | NewEvent) -> bool:
    """Return whether the words of an event are the user's own."""
    return event.role is Role.USER and event.source in OWN_SOURCES


def find_quarantined(candidate: Candidate, known: SlotRows) -> list[Memory]:
    """Find the quarantined memories with the same value in the same slot, or the same text by the same speaker."""
    slot, claim = get_slot(candidate.claim), candidate.claim
    words = normalise_text(claim.text)
    return [
        one
        for one in sorted(known.candidates, key=lambda one: (one.created_us, one.id))
        if (slot is not None and get_slot(one) == slot and has_same_meaning(claim, one))
        or (normalise_text(one.text) == words and normalise_name(one.speaker) == normalise_name(claim.speaker))
    ]


def may_corroborate(event: Event, said_before: Sequence[Event]) -> bool:
    """Return whether an event is independent of the events that support a candidate, and may confirm it."""
    if DENIED in event.flags or not said_before:
        return False
    other_source = all(_is_from_elsewhere(one, event) for one in said_before)
    other_session = bool(event.session) and all(one.session and one.session != event.session for one in said_before)
    if QUARANTINED in event.flags:
        return other_source and event.trust >= _PERSON
    return other_source or other_session


def _is_from_elsewhere(before: Event, event: Event) -> bool:
    """Return whether an event has another source or speaker, or is said now while the other one was uploaded."""
    is_said_now = UPLOADED in before.flags and UPLOADED not in event.flags
    return before.source is not event.source or before.role is not event.role or is_said_now


def hold_back_instructions(instructions: Iterable[Memory], pinned: Iterable[Memory]) -> list[Change]:
    """Return the changes after which these memories govern no prompt until the user confirms them.

    No belief becomes a candidate, so that an instruction is forgotten, and restored as one.
    """
    changes: list[Change] = [Pin(memory_id=one.id, pinned=False, reason=_UPLOADED) for one in pinned]
    for one in instructions:
        changes.append(Forget(memory_id=one.id, reason=_UPLOADED))
        changes.append(Restore(memory_id=one.id, status=Status.CANDIDATE, reason=_UPLOADED))
    return changes


def promote_quarantined(changes: Sequence[Change], candidates: Sequence[Memory], candidate: Candidate) -> list[Change]:
    """Promote the first quarantined memory instead of adding a new one; merge the others into it.

    If the decision only confirms a current memory, merge all of them into that.
    """
    first, *rest = candidates
    added = next((one for one in changes if isinstance(one, Add) and one.key == candidate.key), None)
    confirmed = next((one.memory_id for one in changes if isinstance(one, Confirm)), None)
    if added is None:
        return [*changes, *(_merge_duplicate(one, confirmed, candidate) for one in candidates if confirmed is not None)]
    reason = "confirmed independently"
    step = SetStatus(memory_id=first.id, status=added.draft.status, reason=reason, trust=added.draft.trust)
    others = [_redirect_change(one, added.key, first.id) for one in changes if one is not added]
    return [
        step,
        candidate.confirm(first, reason),
        *others,
        *(_merge_duplicate(one, first.id, candidate) for one in rest),
    ]


def _merge_duplicate(memory: Memory, into: str | None, candidate: Candidate) -> Supersede:
    return end_memory(memory, candidate.occasion.now_us, "confirmed independently", into, relation=Relation.DUPLICATE)


def _redirect_change(change: Change, key: str, memory_id: str) -> Change:
    """Redirect a change from the memory to be added to the promoted one."""
    if isinstance(change, Supersede) and change.successor == key:
        return replace(change, successor=memory_id)
    if isinstance(change, Contest):
        return replace(change, memory_ids=tuple(memory_id if one == key else one for one in change.memory_ids))
    return change


def quarantine_claim(changes: Iterable[Change], same: Sequence[Memory], candidate: Candidate) -> list[Change]:
    """Quarantine a suspect claim: confirm its candidate or add one, and change no belief."""
    decision = list(changes)
    if candidate.claim.move is UpdateKind.RETRACT:
        return []
    if decision and all(isinstance(one, Confirm) for one in decision):
        return decision
    if same:
        return [candidate.confirm(same[0], "restated, but not independently")]
    return [candidate.add("awaits independent confirmation", status=Status.CANDIDATE)]
