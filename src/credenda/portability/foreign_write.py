"""Store memories of another memory as they stood there: with their status, slot, layer and times."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from credenda import limits
from credenda.clock import DAY_US
from credenda.errors import Conflict
from credenda.model.attributes import get_attribute
from credenda.model.change import Actor, Add, Change, ChangeKind, Forget, SetStatus, Supersede, Support, end_memory
from credenda.model.claim import Claim, Evidence, Extractor, Span, Turn
from credenda.model.event import UPLOADED, Event, NewEvent, Receipt
from credenda.model.memory import HELD, UNTRUE, Cardinality, Draft, Memory, Relation, Stance, Status
from credenda.portability.importers.format import ForeignMemory, Parsed, Piece, Problem, Source, name_file_session
from credenda.portability.importers.wording import word_about_user
from credenda.runtime import Parts
from credenda.storage.plan import commit_decided, return_decided
from credenda.storage.records import EMBED, Access
from credenda.storage.store import ChangeFilter, EventFilter, Writer
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_value
from credenda.write.apply import Application, apply
from credenda.write.contests import build_contradiction
from credenda.write.forget.tombstones import is_deleted
from credenda.write.journal import Compared, file_submission, find_earlier_receipt
from credenda.write.reconcile.candidate import claim_hash, is_suspect
from credenda.write.reconcile.slots import VISIBLE_CONFIDENCE
from credenda.write.reconcile_job import decide_claim, load_slot_rows

ForeignIds = dict[str, str]
"""The ids of memories here by their ids in the other memory."""
_FOREIGN_REASON: Final = "held so in the imported memory"
_RIVALS: Final = "the imported memory held both"
_DELETED: Final = "it was deleted here"
_ORDER: Final = "instruction"
_ENDED: Final = UNTRUE | {Status.FORGOTTEN}
_SESSION: Final = "import"
_BROUGHT_BACK: Final = frozenset({ChangeKind.UNDO, ChangeKind.RESTORE})


def find_slot(held: ForeignMemory, new: NewEvent, extractor: Extractor) -> ForeignMemory:
    """Return a memory without a slot with that of the one claim that its text makes, if it makes one.

    A standing instruction gets none, so that it does not reach every prompt; an uploaded one waits as a candidate.
    """
    if held.draft.attribute is not None:
        return held
    content = {name: getattr(new, name) for name in NewEvent.__dataclass_fields__}
    content["text"] = word_about_user(new.text) if new.role == "user" else new.text
    claims = extractor.extract(Turn(event=Event(**content, id="e0", recorded_us=new.occurred_us)))
    if any(one.attribute == _ORDER for one in claims):
        waits = UPLOADED in new.flags and held.draft.status in HELD
        return replace(held, draft=replace(held.draft, status=Status.CANDIDATE)) if waits else held
    present = [one for one in claims if not (one.attribute or "").startswith("former_")]  # "…; previously at Acme"
    one = present[0] if len(present) == 1 else None
    if one is None or not (one.entity and one.attribute and one.value) or one.stance is not Stance.ASSERTED:
        return held
    slot = {"entity": one.entity, "attribute": one.attribute, "value": one.value, "scope": one.scope}
    return replace(held, draft=replace(held.draft, **slot), may_compete=True)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class ForeignWriter:
    """Stores memories of another memory in one unit; `known` are the ids here by the ids there."""

    writer: Writer
    known: ForeignIds
    now_us: int

    def file(self, compared: Compared, held: ForeignMemory) -> Receipt | None:
        """Store the message of a memory, and the memory itself; of a repeated one, only that it has ended since.

        Returns None if its key was used with other text.
        """
        try:
            earlier = find_earlier_receipt(self.writer, compared.accepted)
        except Conflict:
            return None
        texts = [one.text for one in compared.events]
        if earlier is None and (compared.refused or not texts or is_deleted(self.writer, held.draft, *texts)):
            refused = compared.refused or compared.accepted.refused or (_DELETED,)
            return Receipt(job_id=None, event_ids=(), queued=False, refused=refused)
        receipt = earlier or file_submission(self.writer, compared, EMBED)
        event = self.writer.events(receipt.event_ids)[0]
        draft = _complete(held.draft, event)
        application = Application(actor=Actor.USER, now_us=self.now_us, cause=event.id)
        if receipt.cached:
            changes = [one for name in self._find_lasting(event) for one in self._list_endings(name, draft, held)]
            apply(self.writer, changes, application)
        else:
            self._believe(event, draft, held, application)
        for link in self.writer.evidence(event_ids=[event.id]):
            self.known[held.id] = link.memory_id
        return receipt

    def _find_lasting(self, event: Event) -> list[str]:
        """Return the held memories that rest on an event alone, and that nobody brought back."""
        names = {link.memory_id for link in self.writer.evidence(event_ids=[event.id])}
        return [
            one.id
            for one in self.writer.memories(sorted(names))
            if one.status in HELD
            and not one.pinned
            and {link.span.event_id for link in self.writer.evidence(memory_ids=[one.id])} == {event.id}
            and not self.writer.changes(ChangeFilter(memory_ids=(one.id,), kinds=_BROUGHT_BACK, limit=1))
        ]

    def _believe(self, event: Event, draft: Draft, held: ForeignMemory, application: Application) -> None:
        claim = Claim(
            text=draft.text,
            type=draft.type,
            span=Span(event.id, 0, len(event.text)),
            speaker="user",
            entity=draft.entity,
            attribute=draft.attribute,
            value=draft.value,
            scope=draft.scope,
            cardinality=draft.cardinality,
            confidence=draft.confidence,
            importance=draft.importance,
            valid_from_us=draft.valid_from_us,
            topic=draft.topic,
        )
        if is_suspect(event, claim) and draft.status in HELD:
            draft = replace(draft, status=Status.CANDIDATE)
        current = load_slot_rows(self.writer, event, claim).current if draft.status in HELD else ()
        rivals = [] if held.may_compete else self._find_rivals(draft, current)
        if current and not rivals:
            changes = [_keep_layer(one, draft) for one in decide_claim(self.writer, event, claim, self.now_us)]
        else:
            key = f"new:{claim_hash(claim).hex()}"
            begins = replace(draft, status=Status.ACTIVE) if draft.status in _ENDED else draft
            support = Support(span=claim.span, claim_hash=claim_hash(claim))
            changes = [Add(key=key, draft=begins, support=(support,), reason=held.reason or _FOREIGN_REASON)]
            changes += self._list_endings(key, draft, held)
        made = apply(self.writer, changes, application).ids
        if rivals and made:
            pair = (normalise_name(draft.entity or ""), normalise_attribute(draft.attribute or ""))
            (mine,) = self.writer.memories(list(made.values()))
            found = build_contradiction(mine, rivals, self.writer.contests(pair=pair), _RIVALS)
            apply(self.writer, [] if found is None else [found], application)
        if held.accessed_us is not None:
            for name in made.values():
                day = held.accessed_us // DAY_US
                self.writer.put(Access(memory_id=name, session=_SESSION, day=day, at_us=held.accessed_us, shown=1))

    def _find_rivals(self, draft: Draft, current: Sequence[Memory]) -> list[Memory]:
        """Return the values that the other memory holds beside this one in a slot with one value, the newest first.

        A value that no search shows is no rival: reconciliation decides it.
        """
        if draft.value is None or draft.cardinality is Cardinality.SET or draft.confidence < VISIBLE_CONFIDENCE:
            return []
        value, theirs = normalise_value(draft.value), set(self.known.values())
        alike = any(one.value is not None and normalise_value(one.value) == value for one in current)
        shown = [one for one in reversed(current) if one.status in HELD and one.confidence >= VISIBLE_CONFIDENCE]
        return [] if alike else [one for one in shown if one.id in theirs]

    def _list_endings(self, name: str, draft: Draft, held: ForeignMemory) -> list[Change]:
        """Return the changes after which a held memory has the status that it had there."""
        reason = held.reason or _FOREIGN_REASON
        match draft.status:
            case Status.SUPERSEDED | Status.MERGED:
                merged = draft.status is Status.MERGED
                ending = Supersede(
                    memory_id=name,
                    successor=self.known.get(held.successor),
                    relation=Relation.MERGED if merged else Relation.CHANGED,
                    valid_until_us=self.now_us if draft.valid_until_us is None else draft.valid_until_us,
                    reason=reason,
                )
                return [ending]
            case Status.INVALIDATED:
                return [SetStatus(memory_id=name, status=draft.status, reason=reason)]
            case Status.FORGOTTEN:
                return [Forget(memory_id=name, reason=reason)]
            case _:
                return []


def _complete(draft: Draft, event: Event) -> Draft:
    """Return a draft with the checked words of its message."""
    since = event.occurred_us if draft.valid_from_us is None else draft.valid_from_us
    until = draft.valid_until_us
    return replace(
        draft,
        text=event.text.strip()[: limits.MEMORY_TEXT_CHARACTERS],
        topic=event.topic,
        metadata=event.metadata,
        trust=event.trust,
        source_session=event.session,
        pinned=draft.pinned and UPLOADED not in event.flags,
        cardinality=get_attribute(draft.attribute).cardinality if draft.attribute else draft.cardinality,
        valid_from_us=since,
        valid_until_us=None if until is None else max(until, since),
    )


def _keep_layer(change: Change, draft: Draft) -> Change:
    """Give an addition that reconciliation decided the layer, the weights and the pin that the memory had."""
    if not isinstance(change, Add):
        return change
    kept = {name: getattr(draft, name) for name in ("layer", "confidence", "importance", "pinned")}
    return replace(change, draft=replace(change.draft, **kept))


# A document that is imported again from the same path is a new state: a memory that rests on lines it lost has
# ended.


_DOCUMENTS: Final = frozenset({"markdown", "obsidian", "text", "memory-folder", "hermes", "openclaw", "suzent"})
_LOG: Final = ".log"
_STATE_REASON: Final = "its file does not say it any more"


@dataclass(slots=True)
class FileStates:
    """The sessions of the documents that were read as a whole, and digests of all texts that were found."""

    _whole: set[str] = field(default_factory=set[str])
    _damaged: set[str] = field(default_factory=set[str])
    _texts: set[bytes] = field(default_factory=set[bytes])

    def watch(self, pieces: Iterable[Parsed], source: Source, format_name: str) -> Iterator[Parsed]:
        """Pass on the pieces of a file, and note its session once it has been read to its end without a loss."""
        session = name_file_session(source)
        found = False
        for piece in pieces:
            found = found or isinstance(piece, Piece)
            if isinstance(piece, Problem) and piece.lost:
                self._damaged.add(session)
            yield piece
        if found and format_name in _DOCUMENTS and source.path.suffix.casefold() != _LOG:
            self._whole.add(session)

    def list_sessions(self) -> list[str]:
        """Return the sessions of the files whose new state is known."""
        return sorted(self._whole - self._damaged)

    def add_text(self, text: str) -> None:
        """Note a text that stands in a file."""
        self._texts.add(_hash_text(text))

    def find_lost(self, events: Iterable[Event]) -> list[str]:
        """Return the ids of the events with a text that no file of this import has."""
        return [event.id for event in events if _hash_text(event.text) not in self._texts]


def end_lost_memories(parts: Parts, states: FileStates) -> int:
    """End the memories of lines that left their files; return their number."""
    return sum(_end_of_session(parts, states, session) for session in states.list_sessions())


def _end_of_session(parts: Parts, states: FileStates, session: str) -> int:
    now_us = parts.clock.now_us()

    def work(writer: Writer) -> int:
        lost = states.find_lost(writer.find_events(EventFilter(session=session, source="ingest")))
        ids = sorted({one.memory_id for one in writer.evidence(event_ids=lost)}) if lost else []
        ended = _choose_ended(*((writer.memories(ids), writer.evidence(memory_ids=ids)) if ids else ([], [])), lost)
        changes = [end_memory(memory, now_us, _STATE_REASON) for memory in ended]
        if changes:
            apply(writer, changes, Application(actor=Actor.FILE, now_us=now_us, cause="import"))
        return len(changes)

    with parts.store.reader(parts.user_id) as reader:
        if not states.find_lost(reader.find_events(EventFilter(session=session, source="ingest"))):
            return 0
    with parts.active_calls:
        return commit_decided(parts.store, parts.user_id, work, return_decided)


def _choose_ended(memories: Sequence[Memory], evidence: Sequence[Evidence], lost: Collection[str]) -> list[Memory]:
    """Return the active memories that rest on lost events alone."""
    gone = set(lost)
    kept = {one.memory_id for one in evidence if one.span.event_id not in gone}
    return [one for one in memories if one.status is Status.ACTIVE and not one.pinned and one.id not in kept]


def _hash_text(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
