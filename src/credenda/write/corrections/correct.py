"""Decide the changes of a user's correction: `correct(id, text=…, value=…)`. Pure."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Final

from credenda.errors import Conflict, Invalid, LimitExceeded
from credenda.limits import MEMORY_TEXT_CHARACTERS
from credenda.model.change import Add, Change, Supersede, Support
from credenda.model.claim import Span, UpdateKind
from credenda.model.memory import HELD, Draft, Memory, Relation, Status
from credenda.write.reconcile.candidate import claim_hash, make_claim
from credenda.write.reconcile.inputs import StatementContext
from credenda.write.reconcile.slots import ASSERTIVE_STANCES, get_valid_from_us
from credenda.write.reconcile.wording import describe_slot

__all__ = ["decide_correction"]

_CORRECTED_CONFIDENCE: Final = 0.95
"""A correction names the exact memory, so only the answer to a contest is as certain."""

_DRAFT_FIELDS: Final = tuple(field.name for field in fields(Draft))


def decide_correction(
    memory: Memory, *, text: str | None, value: str | None, reason: str, occasion: StatementContext, span: Span
) -> list[Change]:
    """Replace a current memory by the corrected one; the wrong one leaves as-of answers.

    With only a value given, it replaces the old value in the text. With only a text given, the value is extracted from
    the place where the texts differ, and is None if they differ elsewhere.

    Raises `Invalid` when neither is given or nothing differs, `Conflict` when the memory is no longer current.
    """
    new_text, new_value = _check_correction(memory, text, value)
    draft = _draft_correction(memory, new_text, new_value, occasion)
    support = Support(span=span, claim_hash=claim_hash(make_claim(draft, span, UpdateKind.CORRECT)))
    key = f"new:{support.claim_hash.hex()}"
    why = reason.strip() or "corrected by the user"
    return [
        Add(key=key, draft=draft, support=(support,), reason=why),
        Supersede(
            memory_id=memory.id,
            successor=key,
            relation=Relation.CORRECTED,
            valid_until_us=max(get_valid_from_us(memory), occasion.occurred_us),
            reason=why,
        ),
    ]


def _check_correction(memory: Memory, text: str | None, value: str | None) -> tuple[str, str | None]:
    """Return the new text and value, or raise for an invalid correction."""
    if memory.status not in HELD:
        raise Conflict(
            f"the memory is {memory.status} and cannot be corrected",
            why="only a current memory can be",
            fix="correct its replacement, or restore this one first",
            memory_id=memory.id,
        )
    said, named = (text or "").strip(), (value or "").strip()
    if not said and not named:
        raise Invalid("there is nothing to correct", why="neither text nor value is given", fix="give one of them")
    if len(said) > MEMORY_TEXT_CHARACTERS:
        raise LimitExceeded(f"a text of {len(said)} characters", why=f"a memory has at most {MEMORY_TEXT_CHARACTERS}")
    new_text = said or _replace_value(memory, named)
    new_value = named or _find_value(memory, new_text)
    if (new_text, new_value) == (memory.text, memory.value):
        raise Invalid("nothing would change", why="the memory already says this", fix="give another text or value")
    return new_text, new_value


def _draft_correction(memory: Memory, text: str, value: str | None, occasion: StatementContext) -> Draft:
    """Copy all fields but the text; the corrected value is valid since the wrong one was."""
    kept = Draft(**{name: getattr(memory, name) for name in _DRAFT_FIELDS})
    sure = memory.stance in ASSERTIVE_STANCES
    return replace(
        kept,
        text=text,
        value=value,
        confidence=max(memory.confidence, _CORRECTED_CONFIDENCE) if sure else memory.confidence,
        status=Status.ACTIVE,
        valid_from_us=get_valid_from_us(memory),
        trust=max(memory.trust, occasion.trust),
        provisional=False,
        source_session=occasion.session,
    )


def _replace_value(memory: Memory, value: str) -> str:
    """Replace the old value in the text, or write a new text if the old value does not occur exactly once."""
    place = _compile_value(memory.value)
    if place is not None and len(place.findall(memory.text)) == 1:
        return place.sub(lambda _: value, memory.text)
    return f"{describe_slot(memory.entity, memory.attribute)}: {value}" if memory.entity and memory.attribute else value


def _find_value(memory: Memory, text: str) -> str | None:
    """Extract the value from a new text: the old value if it occurs, else the text in its place."""
    place = _compile_value(memory.value)
    if place is None or place.search(text):
        return memory.value
    found = place.search(memory.text)
    if found is None:
        return None
    before, after = memory.text[: found.start()], memory.text[found.end() :]
    framed = text.startswith(before) and text.endswith(after) and len(text) > len(before) + len(after)
    return text[len(before) : len(text) - len(after)].strip() or None if framed else None


def _compile_value(value: str | None) -> re.Pattern[str] | None:
    """Compile a pattern that finds a value as whole words in any case."""
    return re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE) if value else None
