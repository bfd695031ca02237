"""Decide the changes of a user's correction: `correct(id, text=…, value=…)`. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Final, NamedTuple

from credenda.errors import Conflict, Invalid, LimitExceeded
from credenda.limits import MEMORY_TEXT_CHARACTERS
from credenda.model.change import Add, Change, Confirm, Forget, Restore, SetStatus, Support, end_memory
from credenda.model.claim import CONFIDENCE_MAX, Claim, Span, UpdateKind
from credenda.model.memory import (
    HELD,
    TRANSITIONS,
    Draft,
    Memory,
    Relation,
    Stance,
    Status,
    check_transition,
    get_valid_from_us,
)
from credenda.model.statement import replace_given
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.write.reconcile.candidate import claim_hash, make_claim
from credenda.write.reconcile.slot_state import find_conflicting
from credenda.write.reconcile.slots import (
    ASSERTIVE_STANCES,
    StatementContext,
    describe_claim,
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
_DRAFT_FIELDS: Final = tuple(field.name for field in fields(Draft))


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


def decide_correction(
    memory: Memory, wanted: Wanted, *, reason: str, occasion: StatementContext, span: Span
) -> list[Change]:
    """Replace a current memory by the corrected one; the wrong one leaves as-of answers.

    A value is asserted, also in place of a denial, unless it begins with "not"; it replaces the old value in the text
    where that still says the same. Of a text alone, the claim of this slot gives the value; without such a claim, the
    value is the part in which the two texts differ, or the old one if the text has it; a text that gives none, or
    several, leaves the memory without a value.

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
    if new[:3] == (memory.text, memory.value, memory.stance):
        raise Invalid("nothing would change", why="the memory already says this", fix="give another text or value")
    draft = _draft_correction(memory, new, occasion)
    support = Support(span=span, claim_hash=claim_hash(make_claim(draft, span, UpdateKind.CORRECT)))
    key = f"new:{support.claim_hash.hex()}"
    why = reason.strip() or "corrected by the user"
    return [
        Add(key=key, draft=draft, support=(support,), reason=why),
        end_memory(memory, occasion.occurred_us, why, key, relation=Relation.CORRECTED),
    ]


class _Content(NamedTuple):
    text: str
    value: str | None
    stance: Stance
    entity: str | None


def _draft_correction(memory: Memory, new: _Content, occasion: StatementContext) -> Draft:
    """Copy all fields but the content; the corrected value is valid since the wrong one was."""
    kept = Draft(**{name: getattr(memory, name) for name in _DRAFT_FIELDS})
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
    return _Content(text or _write_text(memory, bare, stance), bare, stance, memory.entity)


def _write_text(memory: Memory, bare: str, stance: Stance) -> str:
    """Replace the old value in the text, or write a new text where that would not say the new value alone."""
    old, new = _compile_value(memory.value), _compile_value(bare)
    once = old is not None and len(old.findall(memory.text)) == 1
    if old is not None and once and stance is memory.stance and not (new and new.search(old.sub("", memory.text))):
        return old.sub(lambda _: bare, memory.text)
    return describe_claim(replace(memory, value=bare, stance=stance))


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
