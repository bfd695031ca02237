"""The context of each step: its memory, whether it may write, and how it applies changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final, TypeVar

from credenda.clock import DAY_US, to_datetime
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import Actor, Add, Change
from credenda.model.dream import DreamStep
from credenda.model.memory import Layer, Memory, Status
from credenda.runtime import Parts
from credenda.storage.plan import commit_decided, return_decided
from credenda.storage.store import MemoryFilter, Reader, Watermark, Writer
from credenda.write.apply import Application, Applied, apply
from credenda.write.forget.tombstones import is_deleted

T = TypeVar("T")

HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})
NO_CODE: Final = frozenset(Layer) - {Layer.CODEBASE}
_BATCH: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """One run of the dream; `stay` renews its lease and raises `HeldError` if another run has taken it."""

    parts: Parts
    dry_run: bool
    stay: Callable[[], None]

    @property
    def now_us(self) -> int:
        """The current time."""
        return self.parts.clock.now_us()

    @property
    def today(self) -> int:
        """The day, in days since 1970-01-01 UTC; daily limits count by it."""
        return self.now_us // DAY_US

    def held(self, layers: frozenset[Layer] = NO_CODE) -> Iterator[list[Memory]]:
        """Yield the current memories, newest first, each batch in its own view, yielding to callers in between."""
        below: int | None = None
        while True:
            with self.parts.store.reader(self.parts.user_id) as reader:
                tag = reader.tenant.tag
                found = reader.find(MemoryFilter(statuses=HELD, layers=layers, below=below, limit=_BATCH))
            if not found:
                return
            yield found
            below = parse_id_number(found[-1].id, IdKind.MEMORY, tag)
            self.parts.active_calls.wait_idle(1.0)

    def see(self, look: Callable[[Reader], T]) -> T:
        """Run a function on a consistent view of the store."""
        with self.parts.store.reader(self.parts.user_id) as reader:
            return look(reader)

    def commit(
        self,
        changes: Sequence[Change],
        seen: Mapping[str, Memory],
        *,
        cause: str,
        then: Callable[[Writer, Applied], None] | None = None,
    ) -> bool:
        """Apply changes in one transaction if all memories they depend on are unchanged since `seen`.

        Return False if a memory has changed, or if a change would restore deleted content; the next run tries again.
        `then` runs in the same transaction.
        """

        def work(writer: Writer) -> bool:
            held = {one.id: one for one in writer.memories(sorted(seen))}
            if any(name not in held or held[name].version != memory.version for name, memory in seen.items()):
                return False
            if any(isinstance(one, Add) and is_deleted(writer, one.draft) for one in changes):
                return False
            application = Application(actor=Actor.DREAM, now_us=self.now_us, cause=f"dream:{cause}")
            applied = apply(writer, changes, application)
            if then is not None:
                then(writer, applied)
            return True

        self.stay()
        return commit_decided(self.parts.store, self.parts.user_id, work, return_decided)

    def forbids(self, changes: Sequence[Change]) -> bool:
        """Return whether the changes would restore deleted content."""
        drafts = [one.draft for one in changes if isinstance(one, Add)]
        return self.see(lambda reader: any(is_deleted(reader, draft) for draft in drafts))

    def asked_today(self, name: str) -> bool:
        """Return whether a daily task has run today."""
        return self.see(lambda reader: reader.duties.watermark(f"dream:{name}")) == self.today

    def mark(self, name: str) -> None:
        """Record that a daily task has run today."""
        mark = Watermark(name=f"dream:{name}", value=self.today, at_us=self.now_us)
        if not self.dry_run:
            self.parts.store.commit(self.parts.user_id, lambda writer: writer.put(mark))


# The text of a dream report: open findings first, then the completed work.


_TITLES: Final = {
    "forgetting": "Forgetting",
    "merge": "Merged",
    "cards": "Cards",
    "bridges": "Bridges",
    "probe": "To review",
    "drift": "Code drift",
    "prune": "Pruned",
}
_SHOWN: Final = 5
_UNSETTLED: Final = ("probe", "drift")
"""Steps with findings for the user; they come first."""


def write_report(steps: Sequence[DreamStep], now_us: int, zone: tzinfo, *, dry_run: bool) -> str:
    """Return the report text of a dream; findings that need a person come before completed work."""
    day = to_datetime(now_us).astimezone(zone)
    opening = "A dream now would do this:" if dry_run else f"Dream of {day:%A}, {day.day} {day:%B %Y}."
    lines = [opening]
    busy = [step for step in steps if step.told and not step.failed]
    for step in sorted(busy, key=lambda one: one.name not in _UNSETTLED):
        lines += ["", _TITLES.get(step.name, step.name), *(f"  - {one}" for one in step.told[:_SHOWN])]
        if len(step.told) > _SHOWN:
            lines.append(f"  - and {len(step.told) - _SHOWN:,} more.")
    if not busy:
        lines += ["", "Nothing changed."]
    quiet = [_TITLES.get(step.name, step.name).casefold() for step in steps if step.ran and not step.told]
    if quiet and busy:
        lines += ["", f"Nothing to do: {', '.join(quiet)}."]
    skipped = [step for step in steps if not step.ran]
    lines += (
        ["", *(f"Not done: {_TITLES.get(step.name, step.name).casefold()}; {step.reason}." for step in skipped)]
        if skipped
        else []
    )
    failed = [step for step in steps if step.failed]
    lines += ["", *(f"Failed and skipped: {step.name} ({step.reason})." for step in failed)] if failed else []
    return "\n".join(lines)
