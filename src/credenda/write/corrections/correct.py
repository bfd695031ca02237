"""What a person's own correction of a memory changes: `correct(id, text=…, value=…)`. Pure."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Final

from credenda.errors import Conflict, Invalid, LimitExceeded
from credenda.limits import MEMORY_TEXT_CHARACTERS
from credenda.model.change import Add, Change, Supersede, Support
from credenda.model.claim import Move, Span
from credenda.model.memory import Draft, Memory, Relation, Status
from credenda.model.transitions import HELD
from credenda.write.reconcile.candidate import claim_hash, claim_of
from credenda.write.reconcile.inputs import Occasion
from credenda.write.reconcile.slots import FIRM, begins_us
from credenda.write.reconcile.wording import about

__all__ = ["decide_correction"]

_CORRECTED_CONFIDENCE: Final = 0.95
"""A person looked at this very memory and put it right; nothing is surer but what was answered when asked."""

_DRAFT_FIELDS: Final = tuple(field.name for field in fields(Draft))


def decide_correction(
    memory: Memory, *, text: str | None, value: str | None, reason: str, occasion: Occasion, span: Span
) -> list[Change]:
    """Replace a current memory by what a person says it should be; the old one was wrong and leaves as-of answers.

    Where only the value is given, it takes the old one's place in the text; where only the text is given, the value is
    read from the place where the texts differ, and is unknown if that place is another one.

    Raises `Invalid` when neither is given or nothing differs, `Conflict` when the memory is not held any more.
    """
    new_text, new_value = _checked(memory, text, value)
    draft = _corrected(memory, new_text, new_value, occasion)
    support = Support(span=span, claim_hash=claim_hash(claim_of(draft, span, Move.CORRECT)))
    key = f"new:{support.claim_hash.hex()}"
    why = reason.strip() or "corrected by hand"
    return [
        Add(key=key, draft=draft, support=(support,), reason=why),
        Supersede(
            memory_id=memory.id,
            successor=key,
            relation=Relation.CORRECTED,
            valid_until_us=max(begins_us(memory), occasion.occurred_us),
            reason=why,
        ),
    ]


def _checked(memory: Memory, text: str | None, value: str | None) -> tuple[str, str | None]:
    """Give the new text and value, or raise for what cannot be a correction."""
    if memory.status not in HELD:
        raise Conflict(
            f"the memory is {memory.status} and cannot be corrected",
            why="only what is held now can be",
            fix="correct the memory that took its place, or restore this one first",
            memory_id=memory.id,
        )
    said, named = (text or "").strip(), (value or "").strip()
    if not said and not named:
        raise Invalid("there is nothing to correct", why="neither text nor value is given", fix="give one of them")
    if len(said) > MEMORY_TEXT_CHARACTERS:
        raise LimitExceeded(f"a text of {len(said)} characters", why=f"a memory has at most {MEMORY_TEXT_CHARACTERS}")
    new_text = said or _reworded(memory, named)
    new_value = named or _value_in(memory, new_text)
    if (new_text, new_value) == (memory.text, memory.value):
        raise Invalid("nothing differs", why="the memory already says this", fix="say what it should say instead")
    return new_text, new_value


def _corrected(memory: Memory, text: str, value: str | None, occasion: Occasion) -> Draft:
    """Carry everything over but the words; the truth holds since the error was held."""
    kept = Draft(**{name: getattr(memory, name) for name in _DRAFT_FIELDS})
    sure = memory.stance in FIRM
    return replace(
        kept,
        text=text,
        value=value,
        confidence=max(memory.confidence, _CORRECTED_CONFIDENCE) if sure else memory.confidence,
        status=Status.ACTIVE,
        valid_from_us=begins_us(memory),
        trust=max(memory.trust, occasion.trust),
        provisional=False,
        source_session=occasion.session,
    )


def _reworded(memory: Memory, value: str) -> str:
    """Put a new value in the place of the old one, or say it anew where the text does not hold the old one once."""
    place = _place(memory.value)
    if place is not None and len(place.findall(memory.text)) == 1:
        return place.sub(lambda _: value, memory.text)
    return f"{about(memory.entity, memory.attribute)}: {value}" if memory.entity and memory.attribute else value


def _value_in(memory: Memory, text: str) -> str | None:
    """Read the value from a new text: the old one if it is still there, else what stands in its place."""
    place = _place(memory.value)
    if place is None or place.search(text):
        return memory.value
    found = place.search(memory.text)
    if found is None:
        return None
    before, after = memory.text[: found.start()], memory.text[found.end() :]
    framed = text.startswith(before) and text.endswith(after) and len(text) > len(before) + len(after)
    return text[len(before) : len(text) - len(after)].strip() or None if framed else None


def _place(value: str | None) -> re.Pattern[str] | None:
    """Find a value as whole words, whatever the case."""
    return re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE) if value else None
