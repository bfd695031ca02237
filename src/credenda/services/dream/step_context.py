"""What every step of a night needs: its memory, whether it may write, and how changes are put in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from credenda.clock import DAY_US
from credenda.ids import IdKind, parse_id_number
from credenda.model.change import Actor, Add, Change
from credenda.model.memory import Layer, Memory, Status
from credenda.runtime import Parts
from credenda.storage.store import MemoryFilter, Reader, Watermark, Writer
from credenda.write.apply import Application, Applied, apply
from credenda.write.forget.tombstones import is_deleted

__all__ = ["HELD", "NO_CODE", "Night"]

T = TypeVar("T")

HELD: Final = frozenset({Status.ACTIVE, Status.CHALLENGED})
NO_CODE: Final = frozenset(Layer) - {Layer.CODEBASE}
_BATCH: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """One run of the cycle. `stay` renews its lease, and raises `HeldError` where another run has taken it."""

    parts: Parts
    dry_run: bool
    stay: Callable[[], None]

    @property
    def now_us(self) -> int:
        """The present moment."""
        return self.parts.clock.now_us()

    @property
    def today(self) -> int:
        """The day, in days since 1970-01-01 UTC: what is bounded to so many a night counts by it."""
        return self.now_us // DAY_US

    def held(self, layers: frozenset[Layer] = NO_CODE) -> Iterator[list[Memory]]:
        """Walk over what is held, newest first, each batch in a view of its own, standing back for callers between."""
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
        """Look at one moment's state."""
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
        """Put changes in place in one transaction, if all they were decided on still stands as it was `seen`.

        False where something has moved meanwhile, or where they would say again what was deleted: the next night sees
        it as it is. `then` is run in the same transaction.
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
        return self.parts.store.commit(self.parts.user_id, work)

    def forbids(self, changes: Sequence[Change]) -> bool:
        """Say whether what would be held says again what was deleted."""
        drafts = [one.draft for one in changes if isinstance(one, Add)]
        return self.see(lambda reader: any(is_deleted(reader, draft) for draft in drafts))

    def asked_today(self, name: str) -> bool:
        """Say whether what is done once a night was done today."""
        return self.see(lambda reader: reader.duties.watermark(f"dream:{name}")) == self.today

    def mark(self, name: str) -> None:
        """Note that it was."""
        mark = Watermark(name=f"dream:{name}", value=self.today, at_us=self.now_us)
        if not self.dry_run:
            self.parts.store.commit(self.parts.user_id, lambda writer: writer.put(mark))
