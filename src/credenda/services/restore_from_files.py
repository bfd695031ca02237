"""Restore a memory from a folder of pages alone: `rebuild --from-files`.

It fills an empty memory in one transaction; an interruption leaves it empty. The folder's tombstones apply even to
older pages.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

from credenda.errors import Conflict, CredendaError, NotFound
from credenda.ids import draw_tag, parse_serial
from credenda.model.change import Actor, Add, Change, Confirm, Contest, Resolve, Revise, Support
from credenda.model.claim import Span
from credenda.model.contest import ContestCase, ContestState
from credenda.model.event import Source
from credenda.model.memory import Slot, TypeClass
from credenda.model.report import RebuildDifference, RebuildReport
from credenda.paths import find_path_kind
from credenda.portability.files.folder import STATE, ZEROS, Folder, Found, open_folder
from credenda.portability.files.next_state import read_key, read_tombstones, write_tombstones
from credenda.portability.files.read_back import Believed, Filed, Record, record
from credenda.portability.files.state import Base, Line, Lines, State, dump_state, hash_tenant, hash_text, load_state
from credenda.portability.importers.format import make_stable_key
from credenda.runtime import Parts
from credenda.services.file_submission import check_owner
from credenda.storage.job_kinds import EMBED, KEEP
from credenda.storage.records import mark_complete
from credenda.storage.store import Job, JobFilter, Tombstone, Writer
from credenda.storage.tenant_transfer import ExportHeader, ImportRow
from credenda.text.counts import count_noun
from credenda.write.apply import Application, apply
from credenda.write.forget.tombstones import is_deleted
from credenda.write.intake.validate import AS_TYPE, Accepted, Submission, accept, screen_draft
from credenda.write.journal import compare_with_tombstones, file_submission

_REASON: Final = "read from a page"
_HASH_BYTES: Final = 16


def rebuild_from_files(parts: Parts, path: str | Path, *, dry_run: bool = False) -> RebuildReport:
    """Fill an empty memory from a folder of pages: events, memories with their status, and contests.

    Raises `NotFound` if the folder does not exist, `Conflict` if the memory is not empty or a page cannot be parsed;
    nothing is changed then.
    """
    if find_path_kind(Path(path).expanduser()) != "folder":
        raise NotFound(f"there is no folder {str(path)[:200]}", fix="pass a folder written by `files sync`")
    folder = open_folder(path)
    with folder.locked():
        found = _read_folder(folder)
        check_owner(parts, found)
        key, state = read_key(folder), load_state(folder.load(STATE))
        said = record(found.texts, lambda name, text: _was_edited(state, key, name, text))
        stones, others = read_tombstones(folder, key)
        _check_empty(parts, said)
        notes = _write_notes(said, others)
        start = partial(_Refill, parts, said, drawn=partial(_is_unchanged, state, key))
        run = start(notes=notes)
        if not dry_run:
            _take_over(parts, key, stones)
            with parts.active_calls:
                run = parts.store.commit(parts.user_id, lambda writer: start(notes=[*notes]).work(writer))
            parts.indexes.drop(parts.user_id, store=parts.store_name)
            parts.jobs_ready.set()
            _write_state(parts, folder, run, state)
    return RebuildReport(
        reextract=False,
        dry_run=dry_run,
        compared=len(said.memories),
        differences=tuple(
            RebuildDifference(id=run.ids.get(one.name), what="add", after=one.draft.text, reason=one.path)
            for one in said.memories
            if dry_run or one.name in run.ids
        ),
        applied=bool(run.ids) and not dry_run,
        kept=tuple(run.notes),
    )


def _read_folder(folder: Folder) -> Found:
    found = folder.read()
    found.troubles |= {text.path: ZEROS for text in found.texts if text.zeros}
    if found.troubles:
        name, why = min(found.troubles.items())
        raise Conflict(
            f"{name} {why}",
            why="a memory is restored from all pages or from none",
            fix="repair it, or remove it from the folder; nothing was changed",
        )
    return found


def _find_digest(state: State, key: bytes, name: str) -> str:
    """Return the hash of an entry's text at the last synchronisation, "" if unknown."""
    base = state.entries.get(name)
    return base.digest if base is not None and state.mark == hash_tenant(key) != "" else ""


def _was_edited(state: State, key: bytes, name: str, text: str) -> bool:
    return _find_digest(state, key, name) not in {"", hash_text(key, text)}


def _is_unchanged(state: State, key: bytes, name: str, text: str) -> bool:
    """Return whether an entry is unchanged since the last synchronisation, which had applied all deletions."""
    return _find_digest(state, key, name) == hash_text(key, text)


def _check_empty(parts: Parts, said: Record) -> None:
    with parts.store.reader(parts.user_id) as reader:
        counts = reader.counts()
    if counts.events or counts.memories:
        raise Conflict(
            f"the memory of {parts.user_id} is not empty",
            why="restoring the pages would duplicate its contents",
            fix="use a new database or another user; to apply edits in pages, use `files sync`",
        )
    if not (said.events or said.memories):
        raise NotFound("the folder contains no entry", fix="pass a folder written by `files sync`")


def _write_notes(said: Record, others: int) -> list[str]:
    notes = list(said.notes)
    if said.statements:
        notes.append(f"{count_noun(said.statements, 'statement')} without a comment; `files sync` takes them in")
    if others:
        notes.append(f"{others} tombstones cannot be checked: their key is not in this folder")
    return notes


def _take_over(parts: Parts, key: bytes, stones: list[Tombstone]) -> None:
    """Give the empty memory the key and tombstones of the store that wrote the folder; they depend on each other."""
    if not key or not stones:
        return
    origin = ExportHeader(user_id=parts.user_id, tag=draw_tag(), key=key, created_us=parts.clock.now_us(), schema=0)
    rows = (
        ImportRow(number, "tombstones", {**_make_tombstone_row(stone)})
        for number, stone in enumerate(sorted(stones, key=lambda one: one.digest), 1)
    )
    parts.store.load(parts.user_id, origin, rows)


def _make_tombstone_row(stone: Tombstone) -> Mapping[str, int | str | bytes]:
    return {
        "digest": stone.digest,
        "kind": stone.kind,
        "normaliser": stone.normaliser,
        "created_at": stone.created_us,
    }


def _write_state(parts: Parts, folder: Folder, run: _Refill, before: State) -> None:
    """Write the new ids of the entries to the folder, as the state for the next synchronisation."""
    with parts.store.reader(parts.user_id) as reader:
        tenant = reader.tenant
    entries = {
        one.name: Base(run.ids[one.name], one.path, hash_text(tenant.key, text), held=held)
        for one, text, held in run.placed()
        if one.name in run.ids
    }
    write_tombstones(parts, folder)
    new = State(mark=hash_tenant(tenant.key), tag=tenant.tag, entries=entries, lines=_rename_lines(before, run.ids))
    folder.save(STATE, dump_state(new))


def _rename_lines(before: State, ids: Mapping[str, str]) -> Lines:
    """Return the lines that stay in their pages, with the new ids of their events."""
    names = {one.local: name for name, one in before.entries.items()}
    return {
        path: {
            name: Line(tuple(ids[known] for one in line.events if (known := names.get(one, one)) in ids))
            for name, line in lines.items()
        }
        for path, lines in before.lines.items()
    }


@dataclass(slots=True)
class _Refill:
    """One restore, inside one transaction; `ids` maps the ids in the files to the new ones.

    Tombstones do not apply to an entry that `drawn` accepts: it was written after the same sentence or value had been
    deleted elsewhere.
    """

    parts: Parts
    said: Record
    notes: list[str]
    drawn: Callable[[str, str], bool]
    ids: dict[str, str] = field(default_factory=dict[str, str])

    def placed(self) -> Iterator[tuple[Filed | Believed, str, bool]]:
        """Yield every entry with its text and whether it is current."""
        yield from ((one, one.text, True) for one in self.said.events)
        for one in self.said.memories:
            yield one, one.draft.text, one.draft.status.value in ("active", "challenged")

    def work(self, writer: Writer) -> _Refill:
        """Add the events, memories and contests of the folder, and return itself."""
        numbers = [parse_serial(name) for one in self.said.events if (name := self._event(writer, one))]
        application = Application(actor=Actor.FILE, now_us=self.parts.clock.now_us())
        adds = [add for one in self.said.memories if (add := self._add(writer, one))]
        self.ids |= {key.removeprefix("new:"): local for key, local in apply(writer, adds, application).ids.items()}
        apply(writer, list(self._confirmations()), application)
        for case in self.said.cases:
            self._case(writer, case, application)
        apply(writer, list(self._standing(writer)), application)
        if self.parts.embedder is not None and numbers:
            writer.put(Job(kind=EMBED, first=numbers[0], last=numbers[-1]))
        return self

    def _event(self, writer: Writer, one: Filed) -> str | None:
        """Add an event without its deleted parts; it is not extracted again."""
        try:
            accepted = self._accepted(one)
            if self.drawn(one.name, one.text):
                self.ids[one.name] = event_id = writer.put(accepted.events[0])
                number = parse_serial(event_id)
                writer.put(mark_complete(Job(kind=KEEP, first=number, last=number)))
                return event_id
            receipt = file_submission(writer, compare_with_tombstones(writer, accepted, self.parts.extractor), KEEP)
        except CredendaError as error:
            self.notes.append(f"{one.path}: {one.name[:32]}: {error.what}")
            return None
        self.notes += [f"{one.path}: {one.name[:32]}: {refused}" for refused in receipt.refused]
        if receipt.job_id is not None:
            (job,) = writer.jobs(JobFilter(id=receipt.job_id))
            writer.put(mark_complete(job))
        self.ids[one.name] = receipt.event_ids[0]
        return receipt.event_ids[0]

    def _accepted(self, one: Filed) -> Accepted:
        table = one.table
        message = {"role": table.get("role", "user"), "content": one.text, "id": table.get("external_id")}
        if message["role"] != "user":
            message["name"] = table.get("speaker")
        sources = table.get("sources") or [Source.FILE.value]
        accepted = accept(
            Submission(
                content=[message],
                user_id=self.parts.user_id,
                topic=table.get("topic"),
                session=table.get("session"),
                agent=table.get("agent"),
                source=str(sources[0]),
                occurred_at=table.get("said") or table.get("first_seen"),
                tags=table.get("tags") or (),
                metadata=table.get("metadata"),
                expires_at=table.get("expires"),
                idempotency_key=make_stable_key("refill", one.name),
            ),
            policy=self.parts.settings.secrets_policy,
            zone=self.parts.settings.zone,
            now_us=self.parts.clock.now_us(),
        )
        event = accepted.get_event()
        asked = tuple(flag for flag in table.get("flags") or () if str(flag).startswith(AS_TYPE))
        return replace(accepted, events=(replace(event, flags=(*event.flags, *asked)),))

    def _add(self, writer: Writer, one: Believed) -> Add | None:
        support: list[Support] = []
        for place, span in enumerate(one.sources):
            event_id = self.ids.get(span.event_id)
            if event_id is not None:
                (event,) = writer.events([event_id])
                stop = max(0, min(span.stop, len(event.text)))
                hashed = hashlib.blake2b(f"{one.name}\x00{place}".encode(), digest_size=_HASH_BYTES).digest()
                support.append(Support(span=Span(event_id, min(max(span.start, 0), stop), stop), claim_hash=hashed))
        if self._is_deleted(writer, one):
            self.notes.append(f"{one.path}: {one.name[:32]} was skipped, because it was deleted")
            return None
        draft = screen_draft(one.draft, self.parts.settings.secrets_policy)
        return Add(key=f"new:{one.name}", draft=draft, support=tuple(support), reason=_REASON)

    def _is_deleted(self, writer: Writer, one: Believed) -> bool:
        return not self.drawn(one.name, one.draft.text) and is_deleted(writer, one.draft)

    def _confirmations(self) -> Iterator[Change]:
        for one in self.said.memories:
            if one.name in self.ids:
                for _ in range(one.confirmations):
                    yield Confirm(memory_id=self.ids[one.name], support=(), reason=_REASON)

    def _case(self, writer: Writer, case: ContestCase, application: Application) -> None:
        """Open a contest, and resolve it if it was resolved; a contest about missing memories is skipped."""
        members = tuple(self.ids[name] for name in case.memory_ids if name in self.ids)
        if not members or len(members) < len(case.memory_ids):
            self.notes.append(f"the contest {case.id[:32]} was skipped, because its memories are missing")
            return
        slot = Slot(case.speaker, case.entity, case.attribute, case.scope, TypeClass(case.type_class))
        asked = Contest(slot=slot, memory_ids=members, values=case.values, question=case.question, reason=_REASON)
        records = apply(writer, [asked], application).records
        if case.state is ContestState.RESOLVED:
            answer = Resolve(
                contest_id=str(records[0].after["contest"]),
                resolution=case.resolution or "",
                scopes=case.scopes,
                keep=(),
                reason=_REASON,
            )
            apply(writer, [answer], application)

    def _standing(self, writer: Writer) -> Iterator[Change]:
        """Yield the changes that set each memory to the status in its page, which contests may have changed."""
        for one in self.said.memories:
            local = self.ids.get(one.name)
            if local is None:
                continue
            wanted: dict[str, object] = {
                "status": one.draft.status,
                "valid_until_us": one.draft.valid_until_us,
                "relation": one.relation,
                "superseded_by": self.ids.get(one.superseded_by or ""),
                "contested": one.contested,
            }
            (memory,) = writer.memories([local])
            moved = {name: value for name, value in wanted.items() if getattr(memory, name) != value}
            if moved:
                yield Revise(memory_id=local, fields=moved, reason=_REASON)
