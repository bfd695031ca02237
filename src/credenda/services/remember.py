"""Store new input: `remember` and `store`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from credenda import limits
from credenda.clock import parse_time
from credenda.errors import Conflict, Invalid, LimitExceeded
from credenda.ids import IdKind, parse_id_number
from credenda.model.attributes import get_attribute
from credenda.model.change import Actor, Add, Change, Confirm, Pin, SetLayer
from credenda.model.claim import Claim, Span, Turn
from credenda.model.event import DENIED, QUARANTINED, ClaimReceipt, Event, NewEvent, Receipt, Role, Source
from credenda.model.memory import Cardinality, Layer, Memory, MemoryType, MemoryUnit
from credenda.runtime import Parts
from credenda.services.agent_claims import commit_with_beliefs
from credenda.services.bursts import hold_back_burst
from credenda.services.edit import commit_edit
from credenda.storage.job_kinds import EMBED
from credenda.storage.store import EventFilter, Job, Writer
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.validation import check_fraction, check_member, check_name
from credenda.write.apply import Application, apply
from credenda.write.extract.prose import find_unread
from credenda.write.forget.copies import remove_deleted_fields
from credenda.write.forget.tombstones import is_deleted
from credenda.write.intake.validate import Accepted, Submission, accept, screen_label
from credenda.write.journal import Compared, commit_compared, file_submission
from credenda.write.reconcile.candidate import is_users_own
from credenda.write.reconcile_job import apply_claims, decide_claim
from credenda.write.same_utterance import HEARD_EVENTS, find_quoted

_SPEAKING: Final = frozenset({Role.USER, Role.PERSON})


def remember(parts: Parts, submission: Submission) -> Receipt:
    """Store messages as events and return when they are on disk; a job derives the beliefs."""
    accepted = accept(
        submission, policy=parts.settings.secrets_policy, zone=parts.settings.zone, now_us=parts.clock.now_us()
    )
    accepted = hold_back_burst(parts, accepted)
    with parts.active_calls:
        receipt = commit_compared(parts.store, parts.user_id, [accepted], _file, extractor=parts.extractor)
    if receipt.queued and not parts.jobs_ready.is_set():
        parts.jobs_ready.set()
    unread = _list_unread(accepted)
    return replace(receipt, unread=unread) if unread else receipt


def _list_unread(accepted: Accepted) -> tuple[str, ...]:
    """Name the parts of messages from which no claims are extracted because they are too long."""
    return tuple(
        f"characters {start} to {stop} of message {number}: too long to extract claims from; send it in parts"
        for number, event in enumerate(accepted.events, 1)
        if event.role in _SPEAKING
        for start, stop in find_unread(event.text)
    )


def _file(writer: Writer, compared: Sequence[Compared]) -> Receipt:
    said = compared[0].events
    plain = len(said) == 1 and not (said[0].topic or said[0].tags or said[0].expires_us)  # nothing beside the words
    if plain and said[0].source is Source.AI and compared[0].accepted.idempotency_key is None:
        recent = writer.find_events(EventFilter(limit=HEARD_EVENTS, newest_first=True))
        if (quoted := find_quoted(recent, said[0])) is not None:
            return Receipt(job_id=None, event_ids=(quoted.id,), queued=False, cached=True)
    return file_submission(writer, compared[0])


def keep(parts: Parts, submission: Submission) -> Receipt:
    """Store messages as events and each as a verbatim memory, in one commit, without extraction.

    A message longer than a memory is cut in the memory; the event has its full text.
    """
    now_us, embeds = parts.clock.now_us(), parts.embedder is not None
    accepted = accept(submission, policy=parts.settings.secrets_policy, zone=parts.settings.zone, now_us=now_us)

    def believe(writer: Writer, ids: tuple[str, ...]) -> tuple[ClaimReceipt, ...]:
        turns = [(event, (_make_verbatim_claim(event),)) for event in writer.events(ids)]
        apply_claims(writer, turns, now_us, embeds=embeds)
        return ()

    return commit_with_beliefs(parts, accepted, believe)


def _make_verbatim_claim(event: Event) -> Claim:
    text = event.text.strip()[: limits.MEMORY_TEXT_CHARACTERS]
    return Claim(text=text, type=MemoryType.FACT, span=Span(event.id, 0, len(event.text)), speaker=event.speaker)


# Store one memory directly, for tests, seeding and migration; it is reconciled like any other.


_ORDER: Final = "instruction"
_SELF: Final = frozenset({"user", "me", "i", "myself"})


def store(parts: Parts, unit: MemoryUnit) -> Memory:
    """Store a memory at once, without extraction; it competes for its slot like any other (R-067)."""
    if not isinstance(unit, MemoryUnit):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise Invalid(
            "a memory must be a MemoryUnit", why=f"it is a {type(unit).__name__}", fix='give MemoryUnit(text="…")'
        )
    event, claim = _build_event_and_claim(parts, unit)

    def work(writer: Writer) -> Memory:
        if is_deleted(writer, claim, event.text):
            raise Conflict(
                "this was deleted",
                why="a tombstone covers its words or its slot and value",
                fix="to add it again on purpose, use remember(…, allow_deleted=True)",
            )
        kept = remove_deleted_fields(writer, event, ()) if writer.tenant.has_tombstones else event
        filed = writer.events([writer.put(kept)])[0]
        span = replace(claim.span, event_id=filed.id)
        said = replace(claim, span=span, topic=kept.topic, tags=kept.tags)
        changes = decide_claim(writer, filed, said, parts.clock.now_us())
        memory_id = _apply(parts, writer, filed, changes)
        _set_pin_and_layer(parts, writer, writer.memories([memory_id])[0], unit)
        if parts.embedder is not None:
            number = parse_id_number(filed.id, IdKind.EVENT, writer.tenant.tag)
            writer.put(Job(kind=EMBED, first=number, last=number))
        return writer.memories([memory_id])[0]

    return commit_edit(parts, work)


def _apply(parts: Parts, writer: Writer, event: Event, changes: list[Change]) -> str:
    """Apply the changes and return the id of the memory that has the new value."""
    embeds = parts.embedder is not None
    application = Application(actor=Actor.USER, now_us=parts.clock.now_us(), cause=event.id, embeds=embeds)
    applied = apply(writer, changes, application)
    for change in changes:
        if isinstance(change, Add):
            return applied.ids[change.key]
        if isinstance(change, Confirm):
            return change.memory_id
    return writer.evidence(event_ids=[event.id])[0].memory_id


def _set_pin_and_layer(parts: Parts, writer: Writer, memory: Memory, unit: MemoryUnit) -> None:
    """Pin the memory, or move it to the requested layer."""
    changes: list[Change] = []
    layer = None if unit.layer is None else Layer(unit.layer)
    if unit.pinned and not memory.pinned:
        changes.append(Pin(memory_id=memory.id, pinned=True, reason="stored as pinned"))
    if layer is not None and memory.layer is not layer:
        changes.append(SetLayer(memory_id=memory.id, layer=layer, reason="stored in this layer"))
    if changes:
        apply(writer, changes, Application(actor=Actor.USER, now_us=parts.clock.now_us()))


def _build_event_and_claim(parts: Parts, unit: MemoryUnit) -> tuple[NewEvent, Claim]:
    zone, now_us = parts.settings.zone, parts.clock.now_us()
    submission = Submission(
        content=unit.text,
        user_id=parts.user_id,
        topic=unit.topic,
        session=unit.source_session or None,
        source=unit.source,
        occurred_at=unit.created_at,
        tags=unit.tags,
        metadata=unit.metadata,
        expires_at=unit.expires_at,
    )
    accepted = accept(submission, policy=parts.settings.secrets_policy, zone=zone, now_us=now_us)
    event = accepted.get_event()
    if DENIED in event.flags:
        raise Invalid(
            "this cannot be stored as a memory",
            why="it looks like prompt injection, or its topic is reserved",
            fix="state a fact instead of an instruction",
        )
    if len(event.text) > limits.MEMORY_TEXT_CHARACTERS:
        what = f"a memory cannot have {len(event.text)} characters"
        raise LimitExceeded(what, why=f"the maximum is {limits.MEMORY_TEXT_CHARACTERS}", fix="use remember instead")
    slot = _check_slot(unit, parts.settings.secrets_policy)
    claim = Claim(
        text=event.text.strip(),
        type=check_member(MemoryType, unit.type, "type"),
        span=Span("", 0, len(event.text)),
        speaker="user",
        entity=slot.entity,
        attribute=slot.attribute,
        value=slot.value,
        scope=slot.scope,
        cardinality=_check_cardinality(unit),
        confidence=check_fraction(unit.confidence, "confidence"),
        importance=check_fraction(unit.importance, "importance"),
        valid_from_us=None if unit.valid_from is None else parse_time(unit.valid_from, zone),
        valid_until_us=None if unit.valid_until is None else parse_time(unit.valid_until, zone),
        topic=event.topic,
        tags=event.tags,
    )
    if claim.valid_until_us is not None and claim.valid_until_us < (claim.valid_from_us or event.occurred_us):
        raise Invalid("valid_until lies before the memory begins", fix="swap the times, or pass valid_from")
    if unit.layer is not None:
        check_member(Layer, unit.layer, "layer")
    event = replace(event, role=Role.USER)
    if not is_users_own(event) and _is_instruction(parts, event):
        event = replace(event, flags=(*event.flags, QUARANTINED))
    return event, claim


def _is_instruction(parts: Parts, event: NewEvent) -> bool:
    """Return whether a text would be a standing instruction if the user had said it."""
    said = Event(**{name: getattr(event, name) for name in NewEvent.__dataclass_fields__}, id="e0", recorded_us=0)
    return any(claim.attribute == _ORDER for claim in parts.extractor.extract(Turn(event=said)))


class _Slot(NamedTuple):
    entity: str | None
    attribute: str | None
    value: str | None
    scope: str | None


def _check_slot(unit: MemoryUnit, policy: str) -> _Slot:
    entity = screen_label(check_name(unit.entity, "entity"), policy) or None
    if entity is not None and normalise_name(entity) in _SELF:
        entity = "user"
    attribute = screen_label(check_name(unit.attribute, "attribute"), policy) or None
    if attribute is not None and not normalise_attribute(attribute):
        raise Invalid(
            f"{attribute!r} is not an attribute", why="it contains no letter", fix="use words, like home_town"
        )
    return _Slot(
        entity=entity,
        attribute=normalise_attribute(attribute) if attribute else None,
        value=screen_label(check_name(unit.value, "value"), policy) or None,
        scope=screen_label(check_name(unit.scope, "scope"), policy) or None,
    )


def _check_cardinality(unit: MemoryUnit) -> Cardinality:
    if unit.cardinality is not None:
        return check_member(Cardinality, unit.cardinality, "cardinality")
    return get_attribute(normalise_attribute(unit.attribute)).cardinality if unit.attribute else Cardinality.SINGLE
