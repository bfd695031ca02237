"""Store new input: `remember` and `store`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Any, Final, NamedTuple, cast

from credenda import limits
from credenda.errors import Conflict, Invalid, LimitExceeded
from credenda.ids import IdKind, parse_id_number, parse_serial
from credenda.model.attributes import answer_same_question, find_exact_attribute, get_attribute
from credenda.model.change import Actor, Add, Change, Confirm, Pin, SetLayer
from credenda.model.claim import Claim, Span, Turn, UpdateKind
from credenda.model.event import DENIED, QUARANTINED, ClaimReceipt, Event, NewEvent, Receipt, Role, Source
from credenda.model.memory import (
    ASSERTIVE_STANCES,
    Cardinality,
    Layer,
    Memory,
    MemoryType,
    MemoryUnit,
    Stance,
    Status,
)
from credenda.model.statement import format_validity, name_value
from credenda.private import cut_private, cut_private_fields
from credenda.runtime import Parts
from credenda.services.browse import get_current, resolve_id_in
from credenda.services.edit import commit_edit
from credenda.storage.plan import commit_decided
from credenda.storage.records import EMBED, KEEP, mark_complete, take_turn
from credenda.storage.store import EventFilter, Job, Reader, Writer
from credenda.text.given_time import parse_start
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name
from credenda.text.passing import find_passing_end
from credenda.validation import check_fraction, check_member, check_name
from credenda.write.apply import Application, Applied, apply
from credenda.write.extract.moments import PASSING
from credenda.write.extract.voices import find_unread
from credenda.write.forget.copies import remove_deleted_fields
from credenda.write.forget.tombstones import is_deleted
from credenda.write.intake.validate import Accepted, Submission, accept, screen_label
from credenda.write.journal import (
    Compared,
    commit_compared,
    compare_with_tombstones,
    file_events,
    file_submission,
    find_earlier_receipt,
    make_job,
)
from credenda.write.llm.guards import Verdict, check
from credenda.write.llm.prompt import DENYING, Effect, Proposal, Refusal, parse_proposal
from credenda.write.messages import HEARD_EVENTS, find_quoted
from credenda.write.reconcile.candidate import is_users_own
from credenda.write.reconcile.decide import claim_hash
from credenda.write.reconcile.slot_lookup import find_related
from credenda.write.reconcile_job import apply_claims, decide_claim, load_context

# Hold back the messages of a model that writes to one session unusually often.


_REASON: Final = (
    f"quarantined: a model made more than {limits.BURST_CALLS} calls to this session within {limits.BURST_SECONDS} "
    "seconds; a candidate until it is confirmed"
)


def hold_back_burst(parts: Parts, accepted: Accepted) -> Accepted:
    """Count a call, and quarantine its events if the model has made too many."""
    first = next(iter(accepted.events), None)
    if first is None or first.source is not Source.AI:  # of all events of a call
        return accepted
    calls = parts.model_calls.count(first.session, parts.clock.now_us())
    if calls <= limits.BURST_CALLS:
        return accepted
    events = tuple(replace(event, flags=tuple(dict.fromkeys((*event.flags, QUARANTINED)))) for event in accepted.events)
    return replace(accepted, events=events, refused=(*accepted.refused, _REASON))


# Store messages with the claims that a calling agent extracted from them.


# Store messages together with their beliefs, in one commit and without a job that derives any.


Believe = Callable[[Writer, tuple[str, ...]], tuple[ClaimReceipt, ...]]
"""Applies the claims about filed events, named by their ids, and returns the results to show."""


def commit_with_beliefs(parts: Parts, accepted: Accepted, believe: Believe) -> Receipt:
    """File messages and the beliefs that `believe` makes; a call repeated with its key gets its first receipt.

    Where `believe` raises, nothing is stored.
    """

    def decide(writer: Writer) -> Receipt:
        earlier = find_earlier_receipt(writer, accepted)
        if earlier is not None:
            return earlier
        ids, refused = file_events(writer, compare_with_tombstones(writer, accepted, parts.extractor))
        results = believe(writer, ids)
        return Receipt(job_id=None, event_ids=ids, queued=False, refused=refused, claims=results)

    def finish(writer: Writer, receipt: Receipt) -> Receipt:
        if receipt.cached or not receipt.event_ids:
            return receipt
        job = mark_complete(make_job(writer, accepted, receipt.event_ids, KEEP))
        job_id = writer.put(job)
        if parts.embedder is not None:
            writer.put(Job(kind=EMBED, first=job.first, last=job.last))
        return replace(receipt, job_id=job_id)

    with parts.active_calls, take_turn(parts.store, parts.user_id):
        return commit_decided(parts.store, parts.user_id, decide, finish)


_FIELDS: Final = ("quote", "entity", "attribute", "value", "stance", "scope", "statement", "key", "replaces")
_LABELS: Final = ("entity", "attribute", "value", "scope", "statement", "key")
_AGENT: Final = "agent"
_WORD: Final = re.compile(r"\w{2,}")
_STANDING: Final = frozenset({Status.ACTIVE, Status.SUPERSEDED, Status.MERGED})


def remember_claims(parts: Parts, submission: Submission, claims: object) -> Receipt:
    """Store messages and the claims about them; the receipt has the result of each claim.

    Raises `Invalid` for a malformed claim and `NotFound` for an unknown memory in `replaces`; then nothing was stored.
    """
    now_us, embeds = parts.clock.now_us(), parts.embedder is not None
    policy = parts.settings.secrets_policy
    accepted = _sign(accept(submission, policy=policy, zone=parts.settings.zone, now_us=now_us), claims)
    proposals = _parse_claims(claims, policy)
    accepted = hold_back_burst(parts, accepted)
    reader_name = f"{_AGENT} {submission.agent or ''}".strip()

    def believe(writer: Writer, ids: tuple[str, ...]) -> tuple[ClaimReceipt, ...]:
        words = {word for one in proposals for text in (one.statement, one.key) for word in _WORD.findall(text or "")}
        known = {
            **({one.id: one for one in find_related(writer, sorted(words), limits.SLOT_ROWS)} if words else {}),
            **{
                target: get_current(writer, resolve_id_in(writer, target))
                for target in dict.fromkeys(one.target for one in proposals if one.target)
            },
        }
        told = (text or "" for one in proposals for text in (one.entity, one.attribute, one.value))
        named = {word for text in told for word in _WORD.findall(text)}
        turns = _list_turns(
            writer,
            writer.events(ids),
            tuple(find_related(writer, sorted(named), limits.SLOT_ROWS)) if named else (),
        )
        verdicts = [_check(proposal, turns, known, reader_name) for proposal in proposals]
        denied = {turn.event.id: _list_denied(parts, turn, verdicts) for turn in turns}
        verdicts = [_refuse_denied(one, denied) for one in verdicts]
        found = [(turn.event, _list_claims(turn.event, verdicts)) for turn in turns]
        applied = apply_claims(writer, found, now_us, embeds=embeds)
        results = _Results(writer, ids, {claim_hash(claim): one for claim, one in applied}, parts.settings.zone)
        targets = [known.get(proposal.target) for proposal in proposals]
        return tuple(
            results.describe(number, verdict, target)
            for number, (verdict, target) in enumerate(zip(verdicts, targets, strict=True), 1)
        )

    return commit_with_beliefs(parts, accepted, believe)


def _sign(accepted: Accepted, claims: object) -> Accepted:
    """Let the hash of a call with an idempotency key cover its claims."""
    if accepted.idempotency_key is None:
        return accepted
    body = json.dumps(cut_private_fields(claims), default=str, sort_keys=True).encode()
    return replace(accepted, payload_hash=hashlib.blake2b(accepted.payload_hash + body, digest_size=16).digest())


def _parse_claims(claims: object, policy: str) -> list[Proposal]:
    fix = 'give [{"quote": …, "entity": …, "attribute": …, "value": …}]'
    if not isinstance(claims, Sequence) or isinstance(claims, str | bytes):
        raise Invalid("claims must be a list of tables", why=f"it is a {type(claims).__name__}", fix=fix)
    listed = cast("Sequence[object]", claims)
    if len(listed) > limits.CLAIMS_PER_CALL:
        what = f"{len(listed)} claims in one call"
        raise LimitExceeded(what, why=f"at most {limits.CLAIMS_PER_CALL} are taken", fix="split the messages")
    found: list[Proposal] = []
    for number, claim in enumerate(listed, 1):
        try:
            found.append(_parse_claim(claim, policy))
        except ValueError as error:
            what = f"claim {number} cannot be read"
            raise Invalid(what, why=str(error), fix=f"{fix}; also stance, scope, statement, key and replaces") from None
    return found


def _parse_claim(claim: object, policy: str) -> Proposal:
    if not isinstance(claim, Mapping):
        raise ValueError("it is not a table")  # noqa: TRY004 - one kind of complaint about foreign input
    given = cast("Mapping[str, Any]", claim)
    if unknown := sorted(map(str, given.keys() - set(_FIELDS))):
        raise ValueError(f"it has no field {unknown[0][:64]!r}; its fields are {', '.join(_FIELDS)}")
    proposal = parse_proposal({name: value for name, value in given.items() if name != "replaces"})
    target = given.get("replaces") or ""
    if not isinstance(target, str):
        raise ValueError("replaces must be the id of a memory")  # noqa: TRY004 - as above
    target = target.strip()
    labels = {name: screen_label(getattr(proposal, name), policy) or None for name in _LABELS}
    quote = cut_private(proposal.quote)
    return replace(proposal, **labels, quote=quote, effect=Effect.REPLACES if target else None, target=target)


def _list_turns(reader: Reader, events: Sequence[Event], known: tuple[Memory, ...]) -> list[Turn]:
    """Return the turns of a call, each with the earlier events of its session and the `known` memories."""
    if not events:
        return []
    before = load_context(reader, events[0], parse_serial(events[0].id))
    return [Turn(event=event, before=(*before, *events[:at]), known=known) for at, event in enumerate(events)]


def _check(proposal: Proposal, turns: Sequence[Turn], known: Mapping[str, Memory], reader: str) -> Verdict:
    """Check a claim against the first message that holds its quote; none holds one that is private as a whole."""
    for turn in turns if proposal.quote else ():
        verdict = check(proposal, turn, known, reader=reader, by_agent=True)
        if verdict.why is not Refusal.QUOTE:
            return verdict
    return Verdict(None, Refusal.QUOTE)


def _list_denied(parts: Parts, turn: Turn, verdicts: Sequence[Verdict]) -> list[Claim]:
    """Return what the reader reads as denied in a message, if a claim asserts something of a sentence that denies."""
    if not any(_is_assertion(one) and DENYING.search(one.text) for one in _list_claims(turn.event, verdicts)):
        return []
    return [one for one in parts.extractor.extract(turn) if one.stance is Stance.NEGATED]


def _refuse_denied(verdict: Verdict, denied: Mapping[str, Sequence[Claim]]) -> Verdict:
    """Refuse a claim that asserts the value that its own sentence denies: "I don't drink coffee" tells no drink."""
    claim = verdict.claim
    if claim is None or not _is_assertion(claim):
        return verdict
    attribute = find_exact_attribute(claim.attribute or "")
    same = (
        one.text == claim.text
        and (one.attribute == attribute or answer_same_question(one.attribute or "", attribute))
        and normalise_name(one.entity or "") == normalise_name(claim.entity or "")
        and is_same_value(one.value, claim.value)
        for one in denied.get(claim.span.event_id, ())
    )
    return Verdict(None, Refusal.DENIED) if any(same) else verdict


def _is_assertion(claim: Claim) -> bool:
    return claim.stance is Stance.ASSERTED and claim.move is not UpdateKind.END and claim.value is not None


def _list_claims(event: Event, verdicts: Sequence[Verdict]) -> tuple[Claim, ...]:
    return tuple(one.claim for one in verdicts if one.claim is not None and one.claim.span.event_id == event.id)


@dataclass(frozen=True, slots=True)
class _Results:
    """The decisions about the claims of a call, by the hashes of the claims."""

    writer: Writer
    event_ids: Sequence[str]
    applied: Mapping[bytes, Applied]
    zone: tzinfo

    def describe(self, number: int, verdict: Verdict, target: Memory | None) -> ClaimReceipt:
        """Describe the result of one claim, which was to replace `target`."""
        claim = verdict.claim
        if claim is None:
            return ClaimReceipt(number=number, outcome="refused", reason=str(verdict.why or ""))
        digest = claim_hash(claim)
        links = self.writer.evidence(event_ids=self.event_ids)
        memory_id = next((one.memory_id for one in links if one.claim_hash == digest), None)
        done = self.applied.get(digest)
        if memory_id is None or done is None:
            reason = "nothing may follow from it: it was deleted or undone before, or it cannot have this value"
            return ClaimReceipt(number=number, outcome="refused", reason=str(verdict.why or reason))
        memory = self.writer.memories([memory_id])[0]
        mine = next((one for one in done.records if one.memory_id == memory_id), None)
        replaced = tuple(
            one.memory_id for one in done.records if one.memory_id and one.after.get("superseded_by") == memory_id
        )
        unusual = mine.reason if mine is not None and (memory.contested or memory.status not in _STANDING) else ""
        if target is None or target.id in {memory_id, *replaced}:
            stays = ""
        elif target.status is Status.ACTIVE:
            stays = "the memory named in replaces stays"
        else:
            stays = f"the memory named in replaces was {target.status.value} before"
        return ClaimReceipt(
            number=number,
            outcome="kept" if memory_id in done.ids.values() else "confirmed",
            understood=_write_understood(memory, self.zone),
            memory_id=memory_id,
            replaced=replaced,
            reason=str(verdict.why or unusual or stays),
        )


def _write_understood(memory: Memory, zone: tzinfo) -> str:
    """Write a claim as it is believed; one that does not hold now with its stance and times, as in statements."""
    scope = f" ({memory.scope})" if memory.scope else ""
    slotted = memory.entity is not None and memory.attribute is not None
    said = f"{memory.entity} {memory.attribute}{scope}: {name_value(memory)}" if slotted else memory.text
    open_or_past = memory.stance not in ASSERTIVE_STANCES or memory.status is Status.SUPERSEDED
    return ", ".join([said, *(format_validity(memory, zone) if open_or_past else ())])


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
    # Name the parts of messages from which no claims are extracted because they are too long
    unread = tuple(
        f"characters {start} to {stop} of message {number}: too long to extract claims from; send it in parts"
        for number, event in enumerate(accepted.events, 1)
        if event.role in _SPEAKING
        for start, stop in find_unread(event.text)
    )
    if parts.reader_problem and parts.llm is None and any(event.role in _SPEAKING for event in accepted.events):
        unread = (parts.reader_problem, *unread)
    return replace(receipt, unread=unread) if unread else receipt


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
        turns = [
            (
                event,
                (
                    Claim(
                        text=event.text.strip()[: limits.MEMORY_TEXT_CHARACTERS],
                        type=MemoryType.FACT,
                        span=Span(event.id, 0, len(event.text)),
                        speaker=event.speaker,
                    ),
                ),
            )
            for event in writer.events(ids)
        ]
        apply_claims(writer, turns, now_us, embeds=embeds)
        return ()

    return commit_with_beliefs(parts, accepted, believe)


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
        memory = writer.memories([memory_id])[0]
        pin_and_layer: list[Change] = []
        layer = None if unit.layer is None else Layer(unit.layer)
        if unit.pinned and not memory.pinned:
            pin_and_layer.append(Pin(memory_id=memory.id, pinned=True, reason="stored as pinned"))
        if layer is not None and memory.layer is not layer:
            pin_and_layer.append(SetLayer(memory_id=memory.id, layer=layer, reason="stored in this layer"))
        if pin_and_layer:
            apply(writer, pin_and_layer, Application(actor=Actor.USER, now_us=parts.clock.now_us()))
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
    if unit.cardinality is not None:
        cardinality = check_member(Cardinality, unit.cardinality, "cardinality")
    else:
        cardinality = (
            get_attribute(normalise_attribute(unit.attribute)).cardinality if unit.attribute else Cardinality.SINGLE
        )
    claim = Claim(
        text=event.text.strip(),
        type=check_member(MemoryType, unit.type, "type"),
        span=Span("", 0, len(event.text)),
        speaker="user",
        entity=slot.entity,
        attribute=slot.attribute,
        value=slot.value,
        scope=slot.scope,
        cardinality=cardinality,
        confidence=check_fraction(unit.confidence, "confidence"),
        importance=check_fraction(unit.importance, "importance"),
        valid_from_us=None if unit.valid_from is None else parse_start(unit.valid_from, zone, now_us),
        valid_until_us=None if unit.valid_until is None else parse_start(unit.valid_until, zone, now_us),
        topic=event.topic,
        tags=event.tags,
    )
    if claim.valid_until_us is None and claim.valid_from_us is None and claim.value and claim.attribute in PASSING:
        claim = replace(claim, valid_until_us=find_passing_end(claim.value, claim.text, event.occurred_us))
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
