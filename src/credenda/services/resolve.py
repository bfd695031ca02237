"""List contests, and resolve one by a choice or by scopes."""

from __future__ import annotations

from collections.abc import Mapping

from credenda.errors import Conflict, Invalid, NotFound
from credenda.ids import IdKind
from credenda.model.change import Add
from credenda.model.claim import Span
from credenda.model.contest import ContestCase, ContestState
from credenda.model.memory import Status
from credenda.model.report import Resolution
from credenda.runtime import Parts
from credenda.services.edit import check_not_deleted, journal_correction, make_application
from credenda.services.expectation import read_expectation
from credenda.services.lookup import get_current, resolve_id, resolve_id_in
from credenda.services.outcome import find_contradiction
from credenda.storage.plan import commit_decided
from credenda.storage.store import MemoryFilter, Reader, Writer
from credenda.text.normalize import normalise_attribute, normalise_name
from credenda.validation import check_text
from credenda.write.apply import Applied, apply
from credenda.write.contests.resolve import decide_resolution
from credenda.write.intake.validate import require_label
from credenda.write.reconcile_job import get_statement_context


def list_contests(parts: Parts) -> list[ContestCase]:
    """Return the contests, open ones first."""
    with parts.store.reader(parts.user_id) as reader:
        return reader.contests()


def get_contest(parts: Parts, contest_id: str) -> ContestCase:
    """Return one contest; raises `NotFound`."""
    with parts.store.reader(parts.user_id) as reader:
        return _read_contest(reader, resolve_id_in(reader, contest_id))


def resolve(
    parts: Parts, contest_id: str, *, keep: str | None = None, scopes: Mapping[str, str] | None = None
) -> Resolution:
    """Resolve a contest: keep one value, or give each value a scope.

    The id of a memory names the contradiction between it and earlier values, which becomes a contest with its answer.
    """
    named = resolve_id(parts, check_text(contest_id, "contest_id"))
    if scopes is not None and not isinstance(scopes, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise Invalid("scopes must map each value to its scope", fix='pass for example {"consulting": "morning"}')
    policy = parts.settings.secrets_policy
    keep = require_label(keep, "the answer", policy)
    scopes = scopes and {
        require_label(scope, "a scope", policy): require_label(value, "a value", policy)
        for scope, value in scopes.items()
    }

    expected = read_expectation()

    def decide(writer: Writer) -> tuple[str, tuple[str, ...]]:
        contest = _open_contest(parts, writer, named)
        expected.check(contest.id, contest)
        pair = (normalise_name(contest.entity), normalise_attribute(contest.attribute))
        members = {memory.id: memory for memory in writer.memories(contest.memory_ids)}
        members.update((memory.id, memory) for memory in writer.find(MemoryFilter(pair=pair)))
        event = journal_correction(parts, writer, _word_answer(contest, keep, scopes))
        changes = decide_resolution(
            contest,
            tuple(memory for memory in members.values() if memory.status is not Status.DELETED),
            keep=keep,
            scopes=scopes,
            occasion=get_statement_context(event, parts.clock.now_us()),
            span=Span(event.id, 0, len(event.text)),
        )
        check_not_deleted(writer, changes, event.text)
        applied: Applied = apply(writer, changes, make_application(parts, event.id))
        return contest.id, tuple(applied.ids[change.key] for change in changes if isinstance(change, Add))

    def finish(writer: Writer, decided: tuple[str, tuple[str, ...]]) -> Resolution:
        contest_id, memory_ids = decided
        return Resolution(contest=_read_contest(writer, contest_id), memory_ids=memory_ids)

    with parts.active_calls:
        resolution = commit_decided(parts.store, parts.user_id, decide, finish)
    parts.jobs_ready.set()
    return resolution


def _open_contest(parts: Parts, writer: Writer, name: str) -> ContestCase:
    """Return the contest of an id; that of a memory is opened first, for the contradiction in which it stands."""
    if not name.startswith(IdKind.MEMORY):
        return _read_contest(writer, name)
    memory = get_current(writer, name)
    pair = (normalise_name(memory.entity or ""), normalise_attribute(memory.attribute or ""))
    contests = writer.contests(pair=pair)
    asked = next((one for one in contests if memory.id in one.memory_ids and one.state is ContestState.OPEN), None)
    if asked is not None:
        return asked
    contest = find_contradiction(writer, memory, contests)
    if contest is None:
        raise Conflict(
            f"{name} contradicts nothing that is undecided",
            why="it was answered, or one of the values is not believed any more",
            fix="to change a value, use `correct`",
        )
    apply(writer, [contest], make_application(parts))
    return next(one for one in writer.contests(pair=pair, state=ContestState.OPEN) if memory.id in one.memory_ids)


def _read_contest(reader: Reader, contest_id: str) -> ContestCase:
    found = reader.contests(id=contest_id)
    if not found:
        raise NotFound(f"there is no contest {contest_id}", fix="copy an id from `contests`")
    return found[0]


def _word_answer(contest: ContestCase, keep: str | None, scopes: Mapping[str, str] | None) -> str:
    about = f"{contest.entity} {contest.attribute}".replace("_", " ")
    if keep and not scopes:
        return f"About {about}: {keep}"
    if scopes and not keep:
        parts = "; ".join(f"{scope}: {value}" for scope, value in scopes.items())
        return f"About {about}: {parts}"
    raise Invalid(
        "a contest needs one answer",
        why="either one value to keep, or a scope for each value",
        fix=f"choose among {', '.join(contest.values)}",
    )
