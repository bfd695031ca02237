"""Steps four and five of a write, for one job: reconcile and apply.

What is known is read, and decided on, in a view that shows what was decided before it; one short transaction then files
the outcome and completes the job (`storage.plan`). Everything is keyed by event and claim, so running a job twice
changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from credenda import limits
from credenda.clock import DAY_US
from credenda.ids import IdKind, format_id, parse_id_number
from credenda.index.document_names import list_event_ids
from credenda.model.attributes import get_attribute, has_same_kind
from credenda.model.change import Actor, Change, ChangeKind, Confirm, Support
from credenda.model.claim import Claim, Extractor, Span, Turn, UpdateKind
from credenda.model.event import CODE, DENIED, Event, get_project, is_bound_to_project
from credenda.model.memory import Memory, Stance, Status, get_valid_from_us, is_dreamed
from credenda.storage.current_trust import find_current_trust
from credenda.storage.store import ChangeFilter, EventFilter, MemoryFilter, Reader, Writer
from credenda.text.changes import has_more_words, is_beside, is_correction, is_return
from credenda.text.dates import find_dates
from credenda.text.normalize import is_same_value, normalise_attribute, normalise_name
from credenda.text.sentences import REMOVED
from credenda.text.tokens import tokenize
from credenda.write.apply import Application, Applied, apply
from credenda.write.extract.moments import iso_day
from credenda.write.extract.orders import INSTRUCTION
from credenda.write.forget.scope import Blanker, has_overlap
from credenda.write.forget.tombstones import get_voice, hash_slot_forms, hash_text_forms, remove_claims
from credenda.write.messages import extract_around_blanks, keep_requested_type
from credenda.write.reconcile.aliases import extract_alias_claims, resolve_alias
from credenda.write.reconcile.candidate import (
    admit_claims,
    find_quarantined,
    is_foreign_instruction,
    is_suspect,
    make_candidate,
    may_corroborate,
    promote_quarantined,
    quarantine_claim,
    weigh_repetition,
)
from credenda.write.reconcile.decide import (
    BY_HASH,
    SlotRows,
    StatementContext,
    claim_hash,
    decide,
    find_origin,
    is_burst,
    is_by_model,
    lower_trust,
    move_to_rival,
    name_replaced,
    settle_rival,
)
from credenda.write.reconcile.implications import (
    PARTNERS,
    PLANS,
    find_affected_attributes,
    find_implied_endings,
    is_birth,
    list_object_words,
    may_settle,
    name_dead,
)
from credenda.write.reconcile.orders import find_affected_orders
from credenda.write.reconcile.past_claims import CONTACT, choose_named, is_about_kind
from credenda.write.reconcile.renaming import list_wrong_name, rename_entities
from credenda.write.reconcile.same_words import find_unread_changes, read_same_words
from credenda.write.reconcile.slot_lookup import (
    find_related,
    find_same_values,
    has_no_slot,
    is_bare_value,
    is_without_attribute,
    keep_verbatim,
    resolve_bearer,
    resolve_from_previous,
    resolve_owned,
    resolve_property,
    resolve_relative,
    resolve_slot,
    sort_by_id,
)
from credenda.write.reconcile.slots import get_slot, split_value
from credenda.write.undo import is_undone_decision, list_memories_to_check

# Step three of a write, for one job: extract claims. No writer transaction is open while the extractor runs.


_BEFORE: Final = 4
"""Earlier events of the session that the extractor sees as context."""
_REACH: Final = 64
"""How many events back the session's earlier events are searched."""


class ExtractedTurn(NamedTuple):
    """A turn and the claims extracted from it."""

    turn: Turn
    claims: tuple[Claim, ...]


def load_turns(reader: Reader, first: int, last: int) -> list[Turn]:
    """Load the events with these numbers as turns, each with the events before it as context."""
    tag = reader.tenant.tag
    ids = [format_id(IdKind.EVENT, number, tag) for number in range(first, last + 1)]
    events = [event for event in reader.events(ids) if event.redacted_us is None or event.text]
    every = [*(load_context(reader, events[0], first) if events else []), *events]
    starts = range(len(every) - len(events), len(every))
    return [Turn(event=every[at], before=tuple(every[max(0, at - _BEFORE) : at])) for at in starts]


def extract_turns(reader: Reader, first: int, last: int, extractor: Extractor) -> list[ExtractedTurn]:
    """Extract the claims of the events with these numbers."""
    return [ExtractedTurn(turn, extract_claims(turn, extractor)) for turn in load_turns(reader, first, last)]


def is_skipped(event: Event) -> bool:
    """Return whether no claims are extracted from an event: it was denied, or a code scan stored it."""
    return DENIED in event.flags or CODE in event.flags


def extract_claims(turn: Turn, extractor: Extractor) -> tuple[Claim, ...]:
    """Extract the claims of a turn, and the aliases that it states."""
    if is_skipped(turn.event):
        return ()
    found = [one for one in extract_around_blanks(extractor, turn.event, turn.before) if REMOVED not in one.text]
    named = [
        one for one in extract_alias_claims(turn.event) if claim_hash(one) not in {claim_hash(other) for other in found}
    ]
    return keep_requested_type(turn.event, [*found, *named])


def load_context(reader: Reader, event: Event, number: int) -> list[Event]:
    """Return the events of the session before an event with this number, oldest first."""
    wanted = EventFilter(
        session=event.session, after=max(0, number - _REACH), below=number, limit=_BEFORE, newest_first=True
    )
    return reader.find_events(wanted)[::-1]


_FULL_TRUST: Final = 1.0
_CURRENT: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED})
_UNDO: Final = frozenset({ChangeKind.UNDO})
_REPLACED: Final = frozenset({Status.SUPERSEDED, Status.MERGED})


def apply_claims(
    writer: Writer,
    turns: Sequence[tuple[Event, tuple[Claim, ...]]],
    now_us: int,
    *,
    embeds: bool,
    standing: Sequence[Span] | None = None,
) -> list[tuple[Claim, Applied]]:
    """Decide and apply the claims of some turns, in order, and return those that changed something.

    Claims that were applied before are skipped.

    Text that was deleted before extraction is redacted and yields no memory. Re-extraction passes `standing`, the spans
    that support current beliefs: nothing is redacted, and text in those spans is accepted although an event with the
    same text was deleted.
    """
    applied: list[tuple[Claim, Applied]] = []
    for event, read in turns:
        claims = () if is_skipped(event) else (*read, *_read_same_words(writer, event, read))  # else no memory at all
        links = writer.evidence(event_ids=[event.id]) if claims else []
        seen = {item.claim_hash for item in links}
        new = [claim for claim in claims if claim_hash(claim) not in seen]
        gone = [claim for claim in new if _is_deleted(writer, claim, standing or (), get_voice(event))]
        if gone:
            left = remove_claims(event, gone, claims)
            if standing is None and not any(has_overlap(one.span, item.span) for one in gone for item in links):
                _blank_words(writer, event.id, left.spans, now_us)
            new = [left.moved[claim] for claim in new if claim in left.moved]
        for claim, admitted in admit_claims(new):
            changes = _resolve_and_decide(writer, event, _bind_to_project(event, admitted), now_us, read=claim)
            changes = [*changes, *_weigh_repetitions(writer, event, changes)]
            if changes and not _is_undone(writer, changes, event, {item.memory_id for item in links}):
                actor = Actor.MODEL if claim.reader else Actor.RULE
                application = Application(actor=actor, now_us=now_us, cause=event.id, embeds=embeds)
                applied.append((claim, apply(writer, changes, application)))
    return applied


def _read_same_words(reader: Reader, event: Event, claims: Sequence[Claim]) -> list[Claim]:
    """Read the sentences without a claim that tell a change in the words of a held one."""
    found: list[Claim] = []
    if any(one.reader for one in claims):
        return found  # a model or an agent has read them
    for place in find_unread_changes(event, claims):
        words = sorted({*tokenize(event.text[place.start : place.stop])})
        near = [one for one in find_related(reader, words, limits.SLOT_ROWS) if one.status in _CURRENT | _REPLACED]
        claim = read_same_words(event, place, near[::-1])
        found += [] if claim is None else [claim]
    return found


def _weigh_repetitions(writer: Writer, event: Event, changes: Sequence[Change]) -> list[Change]:
    """Return the changes by which confirmed memories gain importance."""
    names = {one.memory_id for one in changes if isinstance(one, Confirm)}
    return [
        change
        for memory in writer.memories(sorted(names))
        if memory.importance < 1.0
        for change in weigh_repetition(memory, _find_events(writer, memory), event)
    ]


def _bind_to_project(event: Event, claim: Claim) -> Claim:
    """Add the project to the scope of a claim that holds there alone, so that it replaces nothing of other projects."""
    project = get_project(event.metadata)
    if project is None or claim.attribute is None or not is_bound_to_project(claim.entity, claim.type, claim.text):
        return claim
    return replace(claim, scope=f"{claim.scope} in {project}" if claim.scope else project)


def _blank_words(writer: Writer, event_id: str, spans: Sequence[tuple[int, int]], now_us: int) -> None:
    """Blank words that repeat deleted text; under a legal hold they stay but yield no memory."""
    if writer.tenant.hold is None:
        Blanker(writer, now_us, Actor.RULE, set()).blank(event_id, spans)


def _is_undone(writer: Writer, changes: Sequence[Change], event: Event, resting: set[str]) -> bool:
    """Return whether the user undid this decision before: the same evidence does not repeat it."""
    names = {*list_memories_to_check(changes, again=bool(resting)), *resting}
    if not any(writer.changes(ChangeFilter(memory_ids=(name,), kinds=_UNDO, limit=1)) for name in names):
        return False
    log = {name: writer.changes(ChangeFilter(memory_ids=(name,))) for name in names}
    return is_undone_decision(changes, event.id, log, writer.memories(sorted(resting)) if resting else ())


def _is_deleted(writer: Writer, claim: Claim, standing: Sequence[Span], voice: str) -> bool:
    tenant = writer.tenant
    if not tenant.has_tombstones:
        return False
    stands = any(has_overlap(claim.span, span) for span in standing)
    words = [] if stands else hash_text_forms(tenant.key, claim.text, voice)
    return bool(writer.tombstoned([*words, *hash_slot_forms(tenant.key, claim)]))


def _rate_event(writer: Writer, event: Event, claim: Claim, now_us: int) -> Event:
    """Return the event as it is to be trusted: a model's repetition of a tool is the tool's, and a burst is suspect."""
    if not is_by_model(event):
        return event
    earlier = _find_before(writer, event)
    origin = find_origin(event, claim, earlier)
    if origin is not None or is_burst(event, earlier) or _is_waiting_as_relayed(writer, event, claim, now_us):
        return lower_trust(event, origin)
    return event


def _is_waiting_as_relayed(writer: Writer, event: Event, claim: Claim, now_us: int) -> bool:
    """Return whether a candidate says the same that a model once repeated of a tool, however long ago."""
    known = load_slot_rows(writer, event, claim)
    twins = find_quarantined(make_candidate(claim, get_statement_context(event, now_us), claim), known)
    return any(_is_relayed(writer, one, claim) for twin in twins for one in _find_events(writer, twin))


def _find_before(reader: Reader, event: Event) -> list[Event]:
    number = _get_event_number(reader, event)
    return reader.find_events(EventFilter(after=max(0, number - limits.RELAYED_EVENTS - 1), below=number))


def _is_relayed(reader: Reader, event: Event, claim: Claim) -> bool:
    """Return whether an event repeated a tool or document."""
    return is_by_model(event) and find_origin(event, claim, _find_before(reader, event)) is not None


def _resolve_and_decide(writer: Writer, event: Event, claim: Claim, now_us: int, *, read: Claim) -> list[Change]:
    if claim.reader:
        return _decide_proposed(writer, event, claim, now_us, read=read)
    if claim.attribute == INSTRUCTION:
        placed = claim if claim.entity else _place_order(writer, claim)
        rated = _rate_event(writer, event, claim, now_us)
        return [] if placed is None else _decide_with_endings(writer, rated, placed, now_us, read=read)
    fragment = (
        claim.move is UpdateKind.CORRECT
        and claim.prior
        and not has_more_words(claim.text, f"{claim.value} {claim.prior}")
    )
    if fragment and is_bare_value(claim):
        # it corrects what was said just before; if that has not the wrong word, the one slot that holds it
        found = resolve_from_previous(claim, _find_previous(writer, event, claim), event.occurred_us)
        elsewhere = is_bare_value(found) and not re.search(r"\d", f"{claim.prior}{claim.value}")
        elsewhere = elsewhere and not find_dates(f"on {claim.prior}", event.occurred_us)
        if elsewhere and not _is_in_statement_before(writer, event, claim.prior or ""):
            found = resolve_slot(writer, found)
    else:
        found = resolve_slot(writer, claim)
    if is_without_attribute(found):
        return []
    if is_bare_value(found) and not found.prior:
        found = resolve_from_previous(found, _find_previous(writer, event, found), event.occurred_us)
    found = resolve_relative(writer, resolve_alias(writer, resolve_owned(writer, found)))
    if is_bare_value(found) and not has_more_words(found.text, f"{found.value} {found.prior or ''}"):
        return []
    found = _name_replaced_value(writer, resolve_property(writer, found), event)
    found = _name_moved_day(writer, found, event)
    if has_no_slot(found):
        found = keep_verbatim(found)
    event = _rate_event(writer, event, found, now_us)
    return _decide_with_endings(writer, event, found, now_us, read=read)


def _place_order(reader: Reader, claim: Claim) -> Claim | None:
    """Give words that only tell how to answer the slot of the standing order whose place they take, if there is one."""
    held = reader.find(MemoryFilter(attribute=INSTRUCTION, statuses=frozenset({Status.ACTIVE}), limit=limits.SLOT_ROWS))
    own = [one for one in held if one.speaker == claim.speaker and not one.scope]
    found = find_affected_orders(claim, own)
    return replace(claim, entity=found[0].entity, type=found[0].type) if found else None


_SEVERAL: Final = frozenset({"property", "device", "location"})
_HAS: Final = re.compile(r"\b(?:has|have|got|with)\b", re.IGNORECASE)
"""What a thing now has stands beside what it had."""


def _name_replaced_value(writer: Writer, claim: Claim, event: Event) -> Claim:
    """Let a claim about a thing, whose words tell a change, take the place of the newest value of its open attribute.

    "The build is fixed now." A person's attributes of that kind hold several values.
    """
    own = normalise_name(claim.entity or "") in {"", normalise_name(claim.speaker), "user"}
    told = claim.move in {UpdateKind.CHANGE, UpdateKind.CORRECT} and claim.prior is None and not claim.scope
    if own or not told or claim.attribute is None:
        return claim
    several = claim.attribute in _SEVERAL or _HAS.search(claim.text) is not None
    held = _find_active(writer, claim.entity or "", claim.attribute)
    if several or get_attribute(claim.attribute).known:
        # of several values a correction means the only one
        only = len(held) == 1 and claim.move is UpdateKind.CORRECT and is_correction(claim.text, soon=True)
        only = only and not is_beside(claim.text)
        same = only and has_same_kind(claim.value or "", held[0].value or "")
        return move_to_rival(replace(claim, rival=held[0].id), held[0]) if same else claim
    named = name_replaced(replace(claim, move=UpdateKind.STATE), held, event.occurred_us)
    moved = replace(named, move=claim.move)
    return move_to_rival(moved, _find_rival(writer, moved)) if named.rival else claim


_DAYS: Final = frozenset({"date", "deadline"})
_MOVES: Final = re.compile(
    r"\b(?:(?:moved|pushed|postponed|rescheduled|put off|brought forward|shifted|delayed|bumped)\b.{0,40}?"
    r"\b(?:to|until|till|for|on)\b|(?:is|are|takes place|will be) now (?:on|at|due)\b|now (?:takes place|is|due) on\b"
    r"|verschoben\b|vorverlegt\b)",
    re.IGNORECASE,
)
"""Words of a thing that takes place on another day than was told."""
_CLAUSES: Final = re.compile(r"[;.!?]\s|,\s|\b(?:and|but)\b", re.IGNORECASE)
_RESCHEDULED: Final = frozenset({"moved", "pushed", "postponed", "rescheduled", "delayed"})
"""Attributes that are such a word, of which the value is the new day."""


def _name_moved_day(reader: Reader, claim: Claim, event: Event) -> Claim:
    """Let a claim whose words tell a move take the place of the only day that is held of the same thing.

    A thing without an owner has no slot across sentences otherwise.
    """
    if claim.attribute in _RESCHEDULED and find_dates(claim.value or "", event.occurred_us):
        claim = replace(claim, attribute="date", value=iso_day(claim.value or "", event.occurred_us, "date"))
    told = claim.attribute in _DAYS and claim.stance is Stance.ASSERTED and not (claim.prior or claim.rival)
    if not (told and claim.entity and _is_moved(claim.text, claim.entity)) or is_beside(claim.text):
        return claim
    held = _find_active(reader, normalise_name(claim.entity), claim.attribute or "")
    days = [one for one in held if get_slot(one) == get_slot(claim) and one.stance is Stance.ASSERTED]
    if len(days) != 1 or is_same_value(days[0].value, claim.value):
        return claim
    return replace(claim, move=UpdateKind.CHANGE, prior=days[0].value, valid_from_us=None)


def _is_moved(text: str, thing: str) -> bool:
    """Return whether a clause that names a thing tells that it was moved."""
    named = {*tokenize(thing), "it"}
    clauses = _CLAUSES.split(text)
    return any(
        _MOVES.search(one) and not named.isdisjoint({*tokenize(one), *one.casefold().split()}) for one in clauses
    )


def _decide_proposed(writer: Writer, event: Event, claim: Claim, now_us: int, *, read: Claim) -> list[Change]:
    """Decide a claim of a model or an agent, which names its slot, and its rival if it has one, by itself."""
    claim = _name_moved_day(writer, claim, event)
    if not claim.rival and claim.entity and claim.attribute:
        pair = (normalise_name(claim.entity), normalise_attribute(claim.attribute))
        held = writer.find(MemoryFilter(pair=pair, statuses=frozenset({Status.ACTIVE}), limit=limits.SLOT_ROWS))
        claim = name_replaced(claim, held, event.occurred_us)
    rival = _find_rival(writer, claim)
    found = resolve_relative(writer, resolve_alias(writer, move_to_rival(claim, rival) if claim.rival else claim))
    found = resolve_bearer(writer, found)
    event = _rate_event(writer, event, found, now_us)
    changes = _decide_with_endings(writer, event, found, now_us, read=read)
    if is_suspect(event, found):
        return changes
    return [*changes, *settle_rival(read, changes, rival, get_statement_context(event, now_us))]


def _find_rival(reader: Reader, claim: Claim) -> Memory | None:
    """Find the current memory that a claim names: by its id, or by the claim from which it followed."""
    name, by_hash, digest = (claim.rival or "").partition(BY_HASH)
    if by_hash:
        links = reader.evidence(event_ids=[name])
        name = next((link.memory_id for link in links if link.claim_hash.hex() == digest), "")
    found = next(iter(reader.memories([name])), None) if name else None
    return found if found is not None and found.status in _CURRENT else None


def _decide_with_endings(writer: Writer, event: Event, found: Claim, now_us: int, *, read: Claim) -> list[Change]:
    changes = decide_claim(writer, event, found, now_us, read=read)
    if is_suspect(event, found):
        return changes
    occasion = get_statement_context(event, now_us)
    related = _find_related(writer, found)
    past = find_same_values(writer, found, Status.SUPERSEDED) if related else ()
    implied = find_implied_endings(found, changes, related, occasion, past=past)
    return [*changes, *implied, *_rename(writer, found, changes)]


def _rename(reader: Reader, claim: Claim, changes: Sequence[Change]) -> list[Change]:
    """Return the changes of the memories about somebody with the wrong name that a claim corrects."""
    words = list_wrong_name(claim)
    held = find_related(reader, words, limits.SLOT_ROWS) if words else []
    supports: dict[str, tuple[Support, ...]] = {one.id: () for one in held}
    for link in reader.evidence(memory_ids=[*supports]) if held else ():
        supports[link.memory_id] += (Support(link.span, link.claim_hash, link.reader),)
    return rename_entities(claim, changes, held, supports)


def decide_claim(writer: Writer, event: Event, claim: Claim, now_us: int, *, read: Claim | None = None) -> list[Change]:
    """Decide a claim of an event; a suspect claim is quarantined."""
    known, occasion = load_slot_rows(writer, event, claim), get_statement_context(event, now_us)
    changes = decide(claim, known, occasion, read)
    suspect = is_suspect(event, claim)
    if not suspect and not known.candidates:
        return changes
    saying = make_candidate(claim, occasion, read)
    twins = find_quarantined(saying, known)
    vouched = [
        one
        for one in twins
        if not is_foreign_instruction(event, claim) and may_corroborate(event, _find_events(writer, one))
    ]
    if vouched:
        return promote_quarantined(changes, vouched, saying)
    return quarantine_claim(changes, twins, saying) if suspect else changes


def _find_events(writer: Writer, memory: Memory) -> list[Event]:
    links = writer.evidence(memory_ids=[memory.id])
    return writer.events(sorted({link.span.event_id for link in links}))


def _find_related(reader: Reader, claim: Claim) -> list[Memory]:
    """Load the memories that a claim may end in other slots of its entity."""
    entity = normalise_name(claim.entity or "")
    found: list[Memory] = []
    owners = [dead] if (dead := name_dead(claim)) else [entity]
    for owner in (*owners, *(_list_partners(reader, entity) if is_birth(claim) else ())):
        for name in find_affected_attributes(claim):
            found.extend(_find_active(reader, owner, name))
    if may_settle(claim) and claim.move is not UpdateKind.END:
        plans = find_related(reader, list_object_words(claim), limits.SLOT_ROWS)
        plans = [one for one in plans if one.status is Status.ACTIVE and one.attribute in PLANS]
        told = reader.evidence(event_ids=[claim.span.event_id]) if plans else []
        found.extend(one for one in plans if all(link.memory_id != one.id for link in told))
    return found


def _list_partners(reader: Reader, entity: str) -> list[str]:
    """Return the names under which the partner of somebody may be filed."""
    listed: list[str] = []
    for kin in PARTNERS:
        for one in _find_active(reader, entity, kin):
            called = f"{entity}'s {kin}"
            listed += [normalise_name(name) for name in (called, f"{called} {one.value}", one.value or called)]
    return listed


def _find_active(reader: Reader, entity: str, attribute: str) -> list[Memory]:
    pair = entity, normalise_attribute(attribute)
    return reader.find(MemoryFilter(pair=pair, statuses=frozenset({Status.ACTIVE}), limit=limits.SLOT_ROWS))


def get_statement_context(event: Event, now_us: int) -> StatementContext:
    """Return the context of an event that decisions need."""
    return StatementContext(
        occurred_us=event.occurred_us,
        now_us=now_us,
        trust=event.trust,
        session=event.session,
        topic=event.topic,
        tags=event.tags,
        metadata=event.metadata,
        expires_us=event.expires_us,
    )


def load_slot_rows(reader: Reader, event: Event, claim: Claim) -> SlotRows:
    """Load the memories and contests that a claim may affect."""
    if claim.move is UpdateKind.RETRACT and claim.entity:
        return SlotRows(previous=tuple(choose_named(claim, _find_named(reader, claim))))
    if claim.move is UpdateKind.RETRACT:
        previous = _find_previous(reader, event, claim)
        return SlotRows(previous=tuple(previous), past=tuple(_find_replaced(reader, previous)))
    found: dict[str, Memory] = {}
    same_text = MemoryFilter(same_text_as=claim.text, limit=limits.SLOT_ROWS)
    found.update((memory.id, memory) for memory in reader.find(same_text) if not is_dreamed(memory))
    if claim.entity is None or claim.attribute is None:
        return SlotRows(
            current=tuple(memory for memory in found.values() if memory.status in _CURRENT),
            candidates=tuple(memory for memory in found.values() if memory.status is Status.CANDIDATE),
        )
    pair = (normalise_name(claim.entity), normalise_attribute(claim.attribute))
    held = reader.find(MemoryFilter(pair=pair, statuses=_CURRENT | {Status.CANDIDATE}, limit=limits.SLOT_ROWS))
    gone = reader.find(MemoryFilter(pair=pair, statuses=_REPLACED, limit=limits.SLOT_PAST_ROWS))
    if len(gone) == limits.SLOT_PAST_ROWS and _is_late(event, claim, (*held, *gone)):
        gone = reader.find(MemoryFilter(pair=pair, statuses=_REPLACED))  # it may belong among older values
    found.update((memory.id, memory) for memory in (*held, *gone))
    current = [memory for memory in found.values() if memory.status in _CURRENT]
    if event.trust < _FULL_TRUST:  # only then may it be too little to replace a memory
        current = find_current_trust(reader, current)
    return SlotRows(
        current=tuple(current),
        candidates=tuple(memory for memory in found.values() if memory.status is Status.CANDIDATE),
        past=tuple(
            sorted(
                (memory for memory in found.values() if memory.status in _REPLACED),
                key=lambda memory: memory.valid_until_us or 0,
            )
        ),
        contests=tuple(reader.contests(pair=pair)),
        elsewhere=tuple(find_same_values(reader, claim)) if is_return(claim.text) else (),
        said_us=_find_first_statement(reader, event, claim) if is_return(claim.text) else None,
    )


_SAID: Final = 64
"""Earlier messages in which a value that is back is looked for."""


def _find_first_statement(reader: Reader, event: Event, claim: Claim) -> int | None:
    """Return when the speaker of an event first named the value of its claim, None if they did not before."""
    words = {*tokenize(claim.value or "")}
    codes = reader.nominate(split_value(claim.value or ""), _SAID) if words else []
    told = reader.events(list_event_ids(codes, reader.tenant.tag))
    earlier = (one for one in told if one.speaker == event.speaker and one.occurred_us < event.occurred_us)
    return min((one.occurred_us for one in earlier if words <= {*tokenize(one.text)}), default=None)


def _is_late(event: Event, claim: Claim, known: Sequence[Memory]) -> bool:
    """Return whether a claim is about a time before a known value, so that older values matter."""
    stated = [event.occurred_us, *(one for one in (claim.valid_from_us, claim.valid_until_us) if one is not None)]
    return any(get_valid_from_us(memory) > min(stated) for memory in known)


def _list_own_events_before(reader: Reader, event: Event) -> Iterator[Event]:
    """Yield what the speaker of an event said before it in its session, within a day, newest first."""
    wanted = EventFilter(
        session=event.session, below=_get_event_number(reader, event), limit=_BEFORE * 2, newest_first=True
    )
    for earlier in reader.find_events(wanted):
        if event.occurred_us - earlier.occurred_us > DAY_US:
            return
        if earlier.role is event.role and earlier.speaker == event.speaker:
            yield earlier


def _is_in_statement_before(reader: Reader, event: Event, words: str) -> bool:
    before = next(_list_own_events_before(reader, event), None)
    return before is not None and {*tokenize(words)} <= {*tokenize(before.text)}


def _find_previous(reader: Reader, event: Event, claim: Claim) -> list[Memory]:
    """Find the memories of the speaker's previous statement in this session, in the same event first.

    A retraction that names a kind ("forget that number") is about the latest statement with a value of that kind.
    """
    same = _find_supported(reader, event, claim.span.start)
    if same and is_about_kind(claim, same):
        return same
    for earlier in _list_own_events_before(reader, event):
        found = _find_supported(reader, earlier, len(earlier.text) + 1)
        if is_about_kind(claim, found):
            return found
    return []


def _find_named(reader: Reader, claim: Claim) -> list[Memory]:
    """Find the memories, replaced ones too, that a retraction may name by a slot or by words."""
    if claim.entity and claim.attribute:
        owner, held = normalise_name(claim.entity), _CURRENT | {Status.SUPERSEDED}
        names = dict.fromkeys((normalise_attribute(claim.attribute), CONTACT))
        return [one for name in names for one in reader.find(MemoryFilter(pair=(owner, name), statuses=held))]
    words = normalise_name(claim.entity or "").rpartition("'s ")[2].split()
    found = {one.id: one for one in find_related(reader, words, limits.SLOT_ROWS)}
    owners = {normalise_name(one.entity or "") for one in found.values()}
    for owner in sorted(owners):
        if not set(words).isdisjoint(owner.split()):
            found.update((one.id, one) for one in reader.find(MemoryFilter(entity=owner)))
    return sort_by_id(one for one in found.values() if one.status in _CURRENT | {Status.SUPERSEDED})


def _find_supported(reader: Reader, event: Event, before: int) -> list[Memory]:
    spans = [item for item in reader.evidence(event_ids=[event.id]) if item.span.start < before]
    if not spans:
        return []
    last = max(item.span.start for item in spans)
    ids = {item.memory_id for item in spans if item.span.start == last}
    return reader.memories(sorted(ids))[::-1]


def _find_replaced(reader: Reader, memories: Sequence[Memory]) -> list[Memory]:
    """Find the memories that these superseded, so that a retraction can reactivate them."""
    gone: Mapping[str, Memory] = {memory.id: memory for memory in memories}
    found: list[Memory] = []
    for memory in memories:
        if memory.entity and memory.attribute:
            pair = (normalise_name(memory.entity), normalise_attribute(memory.attribute))
            found += [one for one in reader.find(MemoryFilter(pair=pair)) if one.superseded_by in gone]
    return found


def _get_event_number(reader: Reader, event: Event) -> int:
    return parse_id_number(event.id, IdKind.EVENT, reader.tenant.tag)
