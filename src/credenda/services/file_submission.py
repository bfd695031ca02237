"""The submission of a new statement in a synchronised folder, and the part of its results that its page shows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from credenda import limits
from credenda.errors import Conflict, Invalid, LimitExceeded
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import Actor, Add, Contest
from credenda.model.claim import Span
from credenda.model.contest import ContestState
from credenda.model.event import DENIED, QUARANTINED, Receipt, Source
from credenda.model.memory import Draft, Memory, MemoryType, Slot, Status, get_type_class
from credenda.portability.files.folder import Folder, Found
from credenda.portability.files.foreign import find_days_of_lines
from credenda.portability.files.memory_side import View
from credenda.portability.files.next_state import read_deleted_texts
from credenda.portability.files.parse import Said, to_file_text
from credenda.portability.files.state import Added, Line, Sides, Spot, Tier, hash_line
from credenda.portability.files.three_way_diff import Plan
from credenda.portability.importers.format import make_stable_key
from credenda.portability.importers.mcp_memory import word_observation
from credenda.runtime import Parts
from credenda.services.edit import (
    check_not_deleted,
    commit_edit,
    extract_correction,
    journal_correction,
    make_application,
)
from credenda.services.lookup import get_current
from credenda.storage.store import Writer
from credenda.text.counts import count_noun
from credenda.text.normalize import normalise_attribute, normalise_name, normalise_text, normalise_value
from credenda.write.apply import apply
from credenda.write.corrections.correct import Wanted, decide_correction
from credenda.write.forget.tombstones import is_deleted, put_deleted_texts
from credenda.write.intake.validate import Submission, accept
from credenda.write.reconcile.decide import format_question, get_contest_slot
from credenda.write.reconcile.slots import display_value, get_slot
from credenda.write.reconcile_job import get_statement_context

_OWN_WORDS: Final = ("i ", "i'", "i’", "my ", "we ", "our ", "me ")


def make_submission(news: Added, user_id: str, number: int, *, by_agent: bool = False) -> Submission:
    """Build the submission of a statement, with an idempotency key for this round."""
    about = news.about if normalise_name(news.about) not in ("", "user", "notes") else ""
    own = news.text.casefold().startswith(_OWN_WORDS)
    text = word_observation(about, news.text) if about and not own and news.tier is Tier.PAGES else news.text
    short = len(text) <= limits.MEMORY_TEXT_CHARACTERS
    place = news.name or f"{news.spot.path}:{news.spot.block}"
    return Submission(
        content=text,
        user_id=user_id,
        source=(Source.AI if by_agent else Source.FILE).value,
        metadata={"file": news.spot.path},
        occurred_at=news.said or None,
        memory_type="fact" if short and news.tier is not Tier.ARCHIVE else None,
        idempotency_key=make_stable_key("file", str(number), place, text, *filter(None, [news.said])),
    )


def may_replace(parts: Parts, text: str) -> bool:
    """Return whether a text can replace a memory: not too long, no prompt injection, and not private as a whole."""
    try:
        event = accept(
            Submission(content=text, user_id=parts.user_id, source=Source.FILE.value),
            policy=parts.settings.secrets_policy,
            zone=parts.settings.zone,
            now_us=parts.clock.now_us(),
        ).get_event()
    except (Invalid, LimitExceeded):
        return False
    return len(text) <= limits.MEMORY_TEXT_CHARACTERS and not {DENIED, QUARANTINED} & set(event.flags)


def is_kept(news: Added, receipt: Receipt, texts: Sequence[str]) -> bool:
    """Return whether a line stays in its page as it is: it is a message of a day, or its memories say less than it."""
    shown = normalise_text(" ".join(texts))
    stays = news.tier is Tier.ARCHIVE or not shown.endswith(normalise_text(news.text))
    return stays and news.line and not receipt.refused


def list_results(news: Added, receipt: Receipt, memory_ids: Sequence[str], standing: Collection[str]) -> list[str]:
    """Return the new ids of a statement that have no place yet: events in the archive, memories on a page."""
    if news.tier is Tier.ARCHIVE:
        return list(receipt.event_ids) if news.name else []
    made = dict.fromkeys(one for one in memory_ids if one not in standing)
    return list(made) if news.tier is Tier.PAGES else []


# Check whether the entries of a folder belong to another user.


def check_owner(parts: Parts, found: Found) -> None:
    """Raise `Conflict` if a folder has entries of another user of this database.

    An entry's id ends with the tag of its user. Tags of other databases and of erased users are ignored.
    """
    tags = {one.name.rpartition("-")[2] for text in found.texts for one in text.page.entries}
    owners = {owner for tag in sorted(tags) if (owner := parts.store.user_of(tag)) is not None}
    if owners - {parts.user_id}:
        raise Conflict(
            "this folder contains the memory of another user",
            why="ids in its pages belong to another user of this database",
            fix="use a separate folder for each user; nothing was changed",
        )


# Pages of a synchronised folder that code did not write: their days, and deletions on both sides.


_WORDS_STAND: Final = "with words that were deleted or forgotten here; they stay in this page until you remove them"


def find_days(parts: Parts, found: Found) -> dict[Spot, str]:
    """Return the day or time of each line in days and in the pages that are not ours."""
    zone, now_us = parts.settings.zone, parts.clock.now_us()
    return {
        Spot(text.path, number): said
        for text in found.texts
        if text.theirs or text.tier is Tier.ARCHIVE
        for number, said in find_days_of_lines(text, zone, now_us).items()
    }


def take_over_deletions(parts: Parts, folder: Folder, sides: Sides) -> None:
    """Put a tombstone for every text that another program deleted in the folder, unless the memory has it."""
    held = {normalise_text(mine.text) for mine in sides.ours.values()}
    texts = [text for text in read_deleted_texts(folder) if normalise_text(text) not in held]
    if texts:
        now_us = parts.clock.now_us()
        parts.store.commit(parts.user_id, lambda writer: put_deleted_texts(writer, texts, now_us))


def find_deleted_words(parts: Parts, found: Found, plan: Plan, after: View) -> list[str]:
    """Name the pages, not ours, in which words stand that were deleted or forgotten."""
    status = {one.id: one.status for one in after.memories}
    forgotten = {
        one.span.event_id
        for local, evidence in after.evidence.items()
        if status.get(local) is Status.FORGOTTEN
        for one in evidence
    }
    said = {one.id: to_file_text(one.text) for one in after.events}
    notes: list[str] = []
    with parts.store.reader(parts.user_id) as reader:
        for text in found.texts:
            read = plan.read.get(text.path, {})
            lines = [] if not text.theirs else [one.text for one in text.page.blocks if isinstance(one, Said)]
            count = 0
            for line in lines:
                events = read.get(hash_line(line), Line()).events
                known = any(to_file_text(line) in said.get(one, "") for one in events)  # its words are not deleted
                count += not forgotten.isdisjoint(events) or (
                    not known and is_deleted(reader, Draft(text=line, type=MemoryType.FACT))
                )
            if count:
                notes.append(f"{text.path}: {count_noun(count, 'line')} {_WORDS_STAND}")
    return notes


# Open a contest about a memory that was changed both in a page and in the store.


def contest_edit(parts: Parts, memory_id: str, text: str, *, base: str) -> Memory:
    """Add the user's text as a second memory, open a contest between the two, and return the new memory.

    `base` is the memory that the user saw, which may have been replaced since. Raises the errors of `correct`; nothing
    is changed then.
    """

    def work(writer: Writer) -> Memory:
        memory = get_current(writer, memory_id)
        event = journal_correction(parts, writer, text, source=Source.FILE)
        why = "changed in a page and in the memory"
        seen = replace(get_current(writer, base), status=Status.ACTIVE, valid_until_us=None)
        changes = decide_correction(
            seen,
            Wanted(text=event.text, claims=extract_correction(parts, writer, event)),
            reason=why,
            occasion=get_statement_context(event, parts.clock.now_us()),
            span=Span(event.id, 0, len(event.text)),
        )
        check_not_deleted(writer, changes, event.text)
        (add,) = (one for one in changes if isinstance(one, Add))
        # Build the contest, including the values of a contest that is already open in this slot.
        slot = get_slot(memory) or _name_slot(writer, memory)
        ids: list[str] = []
        values = [_name_value(memory, add.draft), _name_value(add.draft, memory)]
        for case in writer.contests(pair=(slot.entity, slot.attribute)):
            if case.state is ContestState.OPEN and get_contest_slot(case) == slot:
                ids, values = [*case.memory_ids], [*case.values, *values]
        told = tuple({normalise_value(value): value for value in values}.values())
        asked = Contest(
            slot=slot,
            memory_ids=tuple(dict.fromkeys([*ids, memory.id, add.key])),
            values=told,
            question=format_question(slot, told),
            reason=why,
        )
        applied = apply(writer, [add, asked], make_application(parts, event.id, Actor.FILE))
        return get_current(writer, applied.ids[add.key])

    return commit_edit(parts, work)


def _name_value(one: Draft, other: Draft) -> str:
    """Return the value of a memory, or its text if the values do not distinguish the two."""
    apart = one.value and other.value and normalise_value(display_value(one)) != normalise_value(display_value(other))
    return display_value(one) if apart else one.text


def _name_slot(writer: Writer, memory: Memory) -> Slot:
    """Return a slot of its own for a memory without one."""
    number = parse_id_number(memory.id, IdKind.MEMORY, writer.tenant.tag)
    return Slot(
        speaker=normalise_name(memory.speaker),
        entity=normalise_name(memory.entity or "user"),
        attribute=normalise_attribute(f"wording {number}"),
        scope=None,
        type_class=get_type_class(memory.type),
    )
