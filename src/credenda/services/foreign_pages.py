"""Pages of a synchronised folder that code did not write: their days, and deletions on both sides."""

from __future__ import annotations

from typing import Final

from credenda.model.memory import Draft, MemoryType, Status
from credenda.portability.files.folder import Folder, Found
from credenda.portability.files.foreign import find_days_of_lines
from credenda.portability.files.markers import to_file_text
from credenda.portability.files.memory_side import View
from credenda.portability.files.parse import Said
from credenda.portability.files.state import Line, hash_line
from credenda.portability.files.three_way_diff import Plan
from credenda.portability.files.tombstones import read_deleted_texts
from credenda.portability.files.types import Sides, Spot, Tier
from credenda.runtime import Parts
from credenda.storage.store import Reader, Writer
from credenda.text.counts import count_noun
from credenda.text.normalize import normalise_text
from credenda.write.forget.tombstones import is_deleted, make_text_tombstones

__all__ = ["find_days", "find_deleted_words", "take_over_deletions"]

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
    if not texts:
        return
    now_us = parts.clock.now_us()

    def work(writer: Writer) -> None:
        stones = [one for text in texts for one in make_text_tombstones(writer.tenant.key, text, now_us)]
        known = writer.tombstoned([one.digest for one in stones])
        for stone in stones:
            if stone.digest not in known:
                writer.put(stone)

    parts.store.commit(parts.user_id, work)


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
                count += not forgotten.isdisjoint(events) or (not known and _has_tombstone(reader, line))
            if count:
                notes.append(f"{text.path}: {count_noun(count, 'line')} {_WORDS_STAND}")
    return notes


def _has_tombstone(reader: Reader, text: str) -> bool:
    return is_deleted(reader, Draft(text=text, type=MemoryType.FACT))
