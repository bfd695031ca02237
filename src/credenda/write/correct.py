"""Decide the changes of a user's correction: `correct(id, text=…, value=…)`. Pure."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Final, NamedTuple

from credenda.errors import Conflict, Invalid, LimitExceeded
from credenda.limits import MEMORY_TEXT_CHARACTERS
from credenda.model.change import (
    Add,
    Change,
    Confirm,
    Contest,
    ContestCase,
    ContestState,
    Forget,
    Resolve,
    Restore,
    Revise,
    SetStatus,
    Support,
    end_memory,
)
from credenda.model.claim import CONFIDENCE_MAX, Claim, Evidence, Span, UpdateKind
from credenda.model.memory import (
    HELD,
    TRANSITIONS,
    Draft,
    Memory,
    Relation,
    Slot,
    Stance,
    Status,
    TypeClass,
    adjust_importance,
    check_transition,
    get_type_class,
    get_valid_from_us,
)
from credenda.model.statement import is_in_words, replace_given
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_text, normalise_value
from credenda.write.reconcile.candidate import claim_hash, make_claim
from credenda.write.reconcile.slot_state import find_conflicting
from credenda.write.reconcile.slots import (
    ASSERTIVE_STANCES,
    CURRENT_STATUSES,
    StatementContext,
    display_value,
    explain_replacement,
    get_slot,
    has_same_meaning,
)

_CORRECTED_CONFIDENCE: Final = 0.95
"""A correction names the exact memory, so only the answer to a contest is as certain."""

_NOT: Final = re.compile(r"not[ \t]+(?=\w)", re.IGNORECASE)
_DENIAL: Final = re.compile(r"\b(?:not?|never|nicht|kein\w*|pas|nunca|não)\b|n['’]t\b", re.IGNORECASE)
_NAME: Final = re.compile(r"[^\W_]{3,}")
_CORRECTION_DRAFT_FIELDS: Final = tuple(field.name for field in fields(Draft))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The content that a correction gives: a text, a value, or both.

    `claims` are those that extraction finds in the text, `renamed` the one of them that says it of another entity.
    """

    text: str | None = None
    value: str | None = None
    claims: Sequence[Claim] = ()
    renamed: Claim | None = None


def find_renamed(memory: Memory, text: str, claims: Sequence[Claim]) -> Claim | None:
    """Return the one claim of a corrected text that gives the same attribute to another entity.

    None where the text still names the entity of the memory, or the memory's text never did.
    """
    names = _NAME.findall(memory.entity or "")
    same = [one for one in claims if _is_same_slot(one, memory)]
    other = [
        one
        for one in claims
        if one.entity
        and one.value
        and normalise_attribute(one.attribute or "") == normalise_attribute(memory.attribute or "")
    ]
    lost = any(_has_word(memory.text, name) and not _has_word(text, name) for name in names)
    return other[0] if lost and not same and len(other) == 1 and not memory.contested else None


def write_words(memory: Memory, value: str) -> str:
    """Write the words of a correction that gives only a value: the value alone where the words are the statement."""
    return value if get_slot(memory) is None or is_in_words(memory) else f"Correction: {value}"


def is_value_alone(memory: Memory) -> bool:
    """Return whether the words of a memory are those of a correction that gave only a value."""
    value = memory.value or ""
    words = {write_words(memory, one).casefold() for one in (value, f"not {value}")}
    return bool(value) and memory.text.casefold() in words


def decide_correction(
    memory: Memory,
    wanted: Wanted,
    *,
    reason: str,
    occasion: StatementContext,
    span: Span,
    slot_rows: Sequence[Memory] = (),
) -> list[Change]:
    """Replace a current memory by the corrected one; the wrong one leaves as-of answers.

    A value is asserted, also in place of a denial, unless it begins with "not"; the words are those of the correction.
    Of a text alone, the claim of this slot gives the value; without such a claim, the value is the part in which the
    two texts differ, or the old one if the text has it; a text that gives none, or several, leaves the memory without
    a value. `slot_rows` are the memories of its pair: one of them that has the corrected value already is confirmed.

    Raises `Invalid` when neither is given or nothing differs, and `Conflict` when the memory is no longer current.
    """
    # Return the new content, or raise for an invalid correction.
    if memory.status not in HELD:
        raise Conflict(
            f"the memory is {memory.status} and cannot be corrected",
            why="only a current memory can be",
            fix="correct its replacement, or restore this one first",
            memory_id=memory.id,
        )
    said, named = (wanted.text or "").strip(), (wanted.value or "").strip()
    if not said and not named:
        raise Invalid("there is nothing to correct", why="neither text nor value is given", fix="give one of them")
    if len(said) > MEMORY_TEXT_CHARACTERS:
        raise LimitExceeded(f"a text of {len(said)} characters", why=f"a memory has at most {MEMORY_TEXT_CHARACTERS}")
    new = _take_value(memory, said, named) if named else _find_value(memory, said, wanted)
    if new[:3] == (memory.text if said else new.text, memory.value, memory.stance):
        raise Invalid("nothing would change", why="the memory already says this", fix="give another text or value")
    draft = _draft_correction(memory, new, occasion)
    support = Support(span=span, claim_hash=claim_hash(make_claim(draft, span, UpdateKind.CORRECT)))
    key = f"new:{support.claim_hash.hex()}"
    why = reason.strip() or "corrected by the user"
    twin = _find_twin(memory, draft, slot_rows)
    if twin is not None:
        back = (
            [SetStatus(memory_id=twin.id, status=Status.ACTIVE, reason=why)] if twin.status is not draft.status else []
        )
        return [
            Confirm(memory_id=twin.id, support=(support,), reason=why),
            *back,
            end_memory(memory, occasion.occurred_us, why, twin.id, relation=Relation.CORRECTED),
        ]
    return [
        Add(key=key, draft=draft, support=(support,), reason=why),
        end_memory(memory, occasion.occurred_us, why, key, relation=Relation.CORRECTED),
    ]


def _find_twin(memory: Memory, draft: Draft, slot_rows: Sequence[Memory]) -> Memory | None:
    """Find the current memory that has the corrected value already, an active one first."""
    slot = get_slot(draft)
    found = [
        one
        for one in slot_rows
        if slot is not None
        and one.id != memory.id
        and one.status in CURRENT_STATUSES
        and get_slot(one) == slot
        and has_same_meaning(draft, one)
    ]
    return min(found, key=lambda one: (one.status is not Status.ACTIVE, one.id), default=None)


class _Content(NamedTuple):
    text: str
    value: str | None
    stance: Stance
    entity: str | None


def _draft_correction(memory: Memory, new: _Content, occasion: StatementContext) -> Draft:
    """Copy all fields but the content; the corrected value is valid since the wrong one was."""
    kept = Draft(**{name: getattr(memory, name) for name in _CORRECTION_DRAFT_FIELDS})
    sure, most = new.stance in ASSERTIVE_STANCES, CONFIDENCE_MAX.get(new.stance, 1.0)
    return replace(
        kept,
        text=new.text,
        value=new.value,
        stance=new.stance,
        entity=new.entity,
        confidence=max(memory.confidence, _CORRECTED_CONFIDENCE) if sure else min(memory.confidence, most),
        status=Status.ACTIVE,
        valid_from_us=get_valid_from_us(memory),
        trust=max(memory.trust, occasion.trust),
        provisional=False,
        source_session=occasion.session,
        metadata=replace_given(kept.metadata),
    )


def _take_value(memory: Memory, text: str, value: str) -> _Content:
    """Return the content of a given value: an assertion, or the denial of the words after "not"."""
    denied = _NOT.match(value) if memory.attribute and memory.stance in ASSERTIVE_STANCES else None
    stance = Stance.NEGATED if denied else memory.stance
    if not denied and stance is Stance.NEGATED:
        stance = Stance.ASSERTED
    bare = value[denied.end() :] if denied else value
    return _Content(text or write_words(memory, value), bare, stance, memory.entity)


def _find_value(memory: Memory, text: str, wanted: Wanted) -> _Content:
    """Return the content of a text: the value that is extracted from it in this slot, else the text in its place.

    The old value stays if no value is read and the text has it, and denies nothing.
    """
    entity, renamed = memory.entity, wanted.renamed
    if not (entity and memory.attribute and memory.value):
        return _Content(text, memory.value, memory.stance, entity)
    if renamed is not None:
        return _Content(text, renamed.value, _get_stance(renamed), renamed.entity)
    found = {(one.value, _get_stance(one)) for one in wanted.claims if one.value and _is_same_slot(one, memory)}
    held = {one for one in found if one[1] is not Stance.NEGATED} or found
    if len(held) == 1:
        return _Content(text, *held.pop(), entity)
    if held:
        return _Content(text, None, memory.stance, entity)
    old = _compile_value(memory.value)
    kept = old is not None and old.search(text) is not None and _DENIAL.search(text) is None
    return _Content(text, memory.value if kept else _find_framed(memory, text), memory.stance, entity)


def _get_stance(claim: Claim) -> Stance:
    return Stance.NEGATED if claim.move is UpdateKind.END else claim.stance


def _is_same_slot(claim: Claim, memory: Memory) -> bool:
    """Return whether a claim states a value of the entity and attribute of a memory."""
    return (normalise_name(claim.entity or ""), normalise_attribute(claim.attribute or "")) == (
        normalise_name(memory.entity or ""),
        normalise_attribute(memory.attribute or ""),
    )


def _find_framed(memory: Memory, text: str) -> str | None:
    """Return the words in the place of the old value if all other words, of which there are some, are the same."""
    place = _compile_value(memory.value)
    found = place.search(memory.text) if place is not None else None
    if found is None:
        return None
    before, after = memory.text[: found.start()], memory.text[found.end() :]
    framed = text.startswith(before) and text.endswith(after) and len(text) > len(before) + len(after)
    has_words = re.search(r"\w", before + after) is not None
    return text[len(before) : len(text) - len(after)].strip() or None if framed and has_words else None


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def _compile_value(value: str | None) -> re.Pattern[str] | None:
    """Compile a pattern that finds a value as whole words in any case."""
    return re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE) if value else None


# Decide the changes of a status set by the user, such as promoting a candidate. Pure.


def decide_status(
    memory: Memory, status: Status, reason: str, *, slot_rows: Sequence[Memory], now_us: int
) -> list[Change]:
    """Set the status of a memory; the same status changes nothing.

    A memory that becomes active supersedes the conflicting active values of its slot, unless both belong to a contest.
    If its value is active already, it is merged into that memory. `slot_rows` are the memories of its pair. Raises
    `Conflict` for an illegal transition and `Invalid` for `deleted`, which cannot be set.
    """
    if status is Status.DELETED:
        raise Invalid("the status deleted cannot be set", why="a deletion also redacts the text", fix="use delete")
    if status is memory.status:
        return []
    if memory.status is Status.FORGOTTEN:
        back = Restore(memory_id=memory.id, status=status, reason=reason)
        return [back, *_supersede_conflicting(memory, slot_rows, now_us)] if status is Status.ACTIVE else [back]
    check_transition(memory.status, status)
    if status is Status.FORGOTTEN:
        return [Forget(memory_id=memory.id, reason=reason)]
    step = SetStatus(memory_id=memory.id, status=status, reason=reason)
    if status is not Status.ACTIVE:
        return [step]
    twin = next((one for one in slot_rows if _is_same_value(memory, one)), None)
    if twin is not None:
        if Status.MERGED not in TRANSITIONS[memory.status]:
            why = f"{twin.id} already has its value"
            raise Conflict(
                f"{memory.id} cannot become active", why=why, fix="forget that one first", memory_id=memory.id
            )
        return [
            end_memory(memory, now_us, reason, twin.id, relation=Relation.DUPLICATE),
            Confirm(memory_id=twin.id, support=(), reason=reason),
        ]
    return [step, *_supersede_conflicting(memory, slot_rows, now_us)]


def _is_same_value(memory: Memory, other: Memory) -> bool:
    same_slot = get_slot(memory) is not None and get_slot(other) == get_slot(memory)
    return same_slot and other.id != memory.id and other.status is Status.ACTIVE and has_same_meaning(memory, other)


def _supersede_conflicting(memory: Memory, slot_rows: Sequence[Memory], now_us: int) -> list[Change]:
    rivals = [one for one in find_conflicting(memory, slot_rows) if not (one.contested and memory.contested)]
    return [
        end_memory(
            one, now_us, explain_replacement(Relation.CHANGED, display_value(memory), display_value(one)), memory.id
        )
        for one in rivals
    ]


# Compare current beliefs with beliefs freshly derived from the journal, and plan the changes.


_DIFF_DRAFT_FIELDS: Final = tuple(one.name for one in fields(Draft))
_NOT_IN_DRAFT: Final = ("relation", "superseded_by", "contested", "confirmations")
"""Memory fields that a draft does not have."""
_ENDING: Final = frozenset({"status", "valid_until_us", "relation", "superseded_by"})
_HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED, Status.CANDIDATE})
_RE_EXTRACTED: Final = "re-extracted from the messages"
_NOT_EXTRACTED: Final = "the current rules no longer extract this"


class BeliefIdentity(NamedTuple):
    """The normalised meaning of a memory; memories with equal identity are the same belief."""

    speaker: str
    entity: str
    attribute: str
    scope: str
    type_class: TypeClass
    said: str


def get_identity(memory: Memory) -> BeliefIdentity:
    """Return the normalised meaning of a memory."""
    said = normalise_value(memory.value) if memory.value and memory.attribute else normalise_text(memory.text)
    return BeliefIdentity(
        normalise_name(memory.speaker),
        normalise_name(memory.entity or ""),
        normalise_attribute(memory.attribute or ""),
        normalise_name(memory.scope or ""),
        get_type_class(memory.type),
        f"{memory.stance}:{said}",
    )


def get_slot_key(contest: ContestCase) -> tuple[str, ...]:
    """Return the normalised slot of a contest."""
    return (
        normalise_name(contest.speaker),
        normalise_name(contest.entity),
        normalise_attribute(contest.attribute),
        normalise_name(contest.scope or ""),
        contest.type_class,
    )


@dataclass(frozen=True, kw_only=True)
class BeliefSet:
    """A set of beliefs: current versions, and the evidence of each by its id."""

    memories: Mapping[str, Memory]
    evidence: Mapping[str, tuple[Evidence, ...]]
    contests: tuple[ContestCase, ...] = ()

    @cached_property
    def by_identity(self) -> dict[BeliefIdentity, list[Memory]]:
        """The memories by identity."""
        found: dict[BeliefIdentity, list[Memory]] = {}
        for one in self.memories.values():
            found.setdefault(get_identity(one), []).append(one)
        return found

    @cached_property
    def by_event(self) -> dict[str, list[Memory]]:
        """The memories by supporting event."""
        found: dict[str, list[Memory]] = {}
        for one in self.memories.values():
            for event_id in self.events(one.id):
                found.setdefault(event_id, []).append(one)
        return found

    def events(self, memory_id: str) -> frozenset[str]:
        """Return the ids of the events that support a memory."""
        return frozenset(item.span.event_id for item in self.evidence.get(memory_id, ()))


def find_counterpart(
    memory: Memory, mine: Iterable[Evidence], among: BeliefSet, taken: Container[str] = ()
) -> str | None:
    """Find the counterpart of a memory in `among`: the same meaning, preferably from the same events.

    Otherwise return the only memory from overlapping evidence with the same attribute, or the only one at all.
    """
    spans = list(mine)
    events = {item.span.event_id for item in spans}
    same = [one for one in among.by_identity.get(get_identity(memory), ()) if one.id not in taken]
    if same:
        return max(same, key=lambda one: (len(among.events(one.id) & events), -_parse_number(one.id))).id
    resting = {one.id: one for event_id in sorted(events) for one in among.by_event.get(event_id, ())}
    near = [
        one
        for one in resting.values()
        if one.id not in taken
        and any(_has_overlap(item, other) for item in among.evidence.get(one.id, ()) for other in spans)
    ]
    alike = [
        one for one in near if normalise_attribute(one.attribute or "") == normalise_attribute(memory.attribute or "")
    ]
    found = alike or near
    return found[0].id if len(found) == 1 else None


def _parse_number(memory_id: str) -> int:
    return int(memory_id[1:].partition("-")[0])


def _has_overlap(one: Evidence, other: Evidence) -> bool:
    mine, theirs = one.span, other.span
    return mine.event_id == theirs.event_id and mine.start < theirs.stop and theirs.start < mine.stop


@dataclass(slots=True)
class RederivationPlan:
    """The changes to apply, and messages about the memories that are kept."""

    changes: list[Change] = field(default_factory=list[Change])
    kept: list[str] = field(default_factory=list[str])


def diff_beliefs(
    live: BeliefSet,
    fresh: BeliefSet,
    *,
    replayed: Mapping[str, str],
    touched: Mapping[str, frozenset[str]],
    personal: frozenset[str],
) -> RederivationPlan:
    """Plan the changes that turn the current beliefs into the freshly derived ones.

    `replayed` maps live memories that were not derived (from users and models) to fresh ones. `touched` names the
    fields of live memories that scheduled tasks have changed, which stay; `personal` the memories that the user has
    pinned, restored or rated.
    """
    run = _BeliefDiff(live, fresh, touched, personal)
    run.pair(replayed)
    run.add()
    run.revise()
    run.withdraw()
    run.contests()
    return run.plan


class _BeliefDiff:
    def __init__(
        self, live: BeliefSet, fresh: BeliefSet, touched: Mapping[str, frozenset[str]], personal: frozenset[str]
    ) -> None:
        self.plan = RederivationPlan()
        self._live, self._fresh = live, fresh
        self._touched, self._personal = touched, personal
        self._to_fresh: dict[str, str] = {}
        self._names: dict[str, str] = {}
        """The id of a fresh memory in the changes: its live id, or the key of its `Add`."""

    def pair(self, replayed: Mapping[str, str]) -> None:
        """Pair each live memory with its fresh counterpart; deleted memories have none."""
        held = [one for one in self._live.memories.values() if one.status is not Status.DELETED]
        for one in held:
            if one.id in replayed:
                self._take(one.id, replayed[one.id])
        for alike in (True, False):  # pairs with common evidence first
            for one in held:
                if one.id in self._to_fresh:
                    continue
                found = find_counterpart(one, self._live.evidence.get(one.id, ()), self._fresh, self._names)
                same = found is not None and get_identity(self._fresh.memories[found]) == get_identity(one)
                shares = found is not None and bool(self._fresh.events(found) & self._live.events(one.id))
                if found is not None and same and (shares or not alike):
                    self._take(one.id, found)
        for fresh_id in self._fresh.memories:
            self._names.setdefault(fresh_id, f"new:{fresh_id}")

    def _take(self, live_id: str, fresh_id: str) -> None:
        self._to_fresh[live_id] = fresh_id
        self._names[fresh_id] = live_id

    def _supports(self, fresh_id: str, held: Iterable[Evidence] = ()) -> tuple[Support, ...]:
        known = {(item.span, item.claim_hash) for item in held}
        return tuple(
            Support(item.span, item.claim_hash, item.reader)
            for item in self._fresh.evidence.get(fresh_id, ())
            if (item.span, item.claim_hash) not in known
        )

    def add(self) -> None:
        """Add fresh memories without a live counterpart."""
        for fresh_id, name in self._names.items():
            if name.startswith("new:"):
                memory = self._fresh.memories[fresh_id]
                draft = Draft(**{one: getattr(memory, one) for one in _DIFF_DRAFT_FIELDS})
                self.plan.changes.append(
                    Add(key=name, draft=draft, support=self._supports(fresh_id), reason=_RE_EXTRACTED)
                )

    def revise(self) -> None:
        """Update changed fields; for new memories, those that a draft does not have."""
        for live_id, fresh_id in self._to_fresh.items():
            before, after = self._live.memories[live_id], self._fresh.memories[fresh_id]
            moved = self._apart(before, after, (*_DIFF_DRAFT_FIELDS, *_NOT_IN_DRAFT))
            support = self._supports(fresh_id, self._live.evidence.get(live_id, ()))
            if moved or support:
                self.plan.changes.append(Revise(memory_id=live_id, fields=moved, reason=_RE_EXTRACTED, support=support))
        for fresh_id, name in self._names.items():
            after = self._fresh.memories[fresh_id]
            if name.startswith("new:"):
                bare = {"relation": None, "superseded_by": None, "contested": False, "confirmations": 0}
                moved = {one: value for one in _NOT_IN_DRAFT if (value := self._value(after, one)) != bare[one]}
                if moved:
                    self.plan.changes.append(Revise(memory_id=name, fields=moved, reason=_RE_EXTRACTED))

    def _value(self, fresh: Memory, name: str) -> object:
        value = getattr(fresh, name)
        return self._names.get(str(value)) if name == "superseded_by" and value is not None else value

    def _apart(self, before: Memory, after: Memory, names: Iterable[str]) -> dict[str, object]:
        left = self._touched.get(before.id, frozenset[str]())
        if before.superseded_by is not None:
            successor = self._live.memories.get(before.superseded_by)
            if successor is None or successor.status is Status.DELETED:
                left |= _ENDING
        if before.importance == adjust_importance(after.importance, before.surprise):
            left |= {"importance"}  # surprise adjusted it; extraction did not change it
        return {
            name: value
            for name in names
            if name not in left and (value := self._value(after, name)) != getattr(before, name)
        }

    def withdraw(self) -> None:
        """Supersede memories that are no longer derived, except those that the user has changed."""
        for one in self._live.memories.values():
            if one.id in self._to_fresh or one.status not in _HELD | {Status.SUPERSEDED}:
                continue
            if one.id in self._personal:
                self.plan.kept.append(f"{one.id} is no longer extracted, but a person has changed it")
            elif one.status is Status.SUPERSEDED:
                if one.relation is not Relation.CORRECTED:
                    fields_moved = {"relation": Relation.CORRECTED}
                    self.plan.changes.append(Revise(memory_id=one.id, fields=fields_moved, reason=_NOT_EXTRACTED))
            else:
                self._supersede(one)

    def _supersede(self, one: Memory) -> None:
        reread = find_counterpart(one, self._live.evidence.get(one.id, ()), self._fresh)
        successor = self._names[reread] if reread else None
        ended = end_memory(one, get_valid_from_us(one), _NOT_EXTRACTED, successor, relation=Relation.CORRECTED)
        self.plan.changes.append(ended)

    def contests(self) -> None:
        """Open the contests that are new, and close those that are gone."""
        asked = {get_slot_key(one): one for one in self._fresh.contests if one.state is ContestState.OPEN}
        held = {get_slot_key(one): one for one in self._live.contests if one.state is ContestState.OPEN}
        for key, one in asked.items():
            if key not in held:
                slot = Slot(one.speaker, one.entity, one.attribute, one.scope, TypeClass(one.type_class))
                members = tuple(self._names[name] for name in one.memory_ids if name in self._names)
                self.plan.changes.append(
                    Contest(
                        slot=slot, memory_ids=members, values=one.values, question=one.question, reason=_RE_EXTRACTED
                    )
                )
        for key, one in held.items():
            if key not in asked:
                self.plan.changes.append(
                    Resolve(
                        contest_id=one.id,
                        resolution="no longer contested",
                        scopes={},
                        keep=(),
                        reason="the current rules no longer contest this",
                    )
                )
