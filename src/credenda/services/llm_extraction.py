"""LLM extraction: its cost so far, cost estimates, and processing of pending messages."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from credenda import limits
from credenda.clock import has_ended
from credenda.errors import CredendaError, Invalid
from credenda.ids import IdKind, format_id, parse_serial
from credenda.model.change import ChangeKind, ChangeRecord, ContestState
from credenda.model.claim import Claim, Extractor, Turn, keep_weightiest
from credenda.model.evaluation import ExtractionPreview, PreviewedClaim, PreviewOutcome, ReplacedMemory
from credenda.model.event import Event, NewEvent, Role
from credenda.model.report import ExtractionReport, ModelUse
from credenda.portability.importers.format import Boundary, Piece
from credenda.portability.importing import read_file
from credenda.providers.llm.client import ModelClient, estimate_question_tokens, find_price, parse_price
from credenda.runtime import Parts
from credenda.storage.plan import try_out
from credenda.storage.records import EXTRACT, REREAD, THINK
from credenda.storage.store import Counts, Job, JobFilter, JobStatus, Reader, Snapshot, Writer
from credenda.validation import check_name
from credenda.workers.llm_jobs import COUNTED, EXTRACTION, MESSAGES, ask_about_jobs, to_day
from credenda.workers.loop import run_llm_jobs
from credenda.write.apply import Applied
from credenda.write.extract.voices import find_unread
from credenda.write.intake.validate import Submission, accept
from credenda.write.journal import compare_with_tombstones, file_events
from credenda.write.llm.prompt import PROMPT, Passage, question_about
from credenda.write.llm.reading import read_text, reader_name, skip
from credenda.write.llm.turns import load_passage
from credenda.write.reconcile_job import apply_claims, extract_turns

# The cost of extracting a file with a model, without calling the model or storing anything.


def read_file_turns(parts: Parts, path: Path) -> Iterator[Turn]:
    """Yield the messages of a file as an import would; skip malformed items."""
    before: list[Event] = []
    for piece in read_file(path, None, parts.user_id):
        if isinstance(piece, Boundary):
            before = []
        elif isinstance(piece, Piece):
            try:
                yield from _make_turns(_accept(parts, piece.submission), before)
            except CredendaError:
                continue  # an import reports it and continues


def make_text_turns(parts: Parts, text: str) -> Iterator[Turn]:
    """Yield a text as one message, as `remember` would store it."""
    yield from _make_turns(_accept(parts, Submission(content=text, user_id=parts.user_id)), [])


def _accept(parts: Parts, submission: Submission) -> Sequence[NewEvent]:
    settings = parts.settings
    return accept(submission, policy=settings.secrets_policy, zone=settings.zone, now_us=parts.clock.now_us()).events


def _make_turns(events: Sequence[NewEvent], before: list[Event]) -> Iterator[Turn]:
    for new in events:
        content = {name: getattr(new, name) for name in NewEvent.__dataclass_fields__}
        event = Event(**content, id="e0", recorded_us=new.occurred_us)
        yield Turn(event=event, before=tuple(before[-limits.LLM_CONTEXT_TURNS :]))
        before.append(event)
        del before[: -limits.LLM_CONTEXT_TURNS]


_WAITING: Final = frozenset({JobStatus.QUEUED, JobStatus.PROCESSING, JobStatus.FAILED})
_ANSWER_TOKENS: Final = 160
"""Typical size of an answer: one or two claims. An estimate; `credenda stats` shows the real numbers."""
_ASKED_MOST: Final = 2


def count_waiting(reader: Reader) -> dict[str, int]:
    """Count the turns that wait for an LLM, by the reason why it was not available."""
    waiting = reader.jobs(JobFilter(statuses=_WAITING, kinds=frozenset({REREAD})))
    return dict(Counter(job.error or "its time has not come" for job in waiting))


def describe_model_use(parts: Parts, counts: Counts, waiting: Mapping[str, int]) -> ModelUse | None:
    """Return today's use of the LLM; None if there is nothing to report."""
    now_us = parts.clock.now_us()
    rows = [spend for spend in counts.spends if spend.day == to_day(now_us)]
    today = [spend for spend in rows if not spend.operation.startswith(COUNTED)]
    line = parts.llm
    if line is None and not rows and not waiting:
        return None
    counted = Counter[str]()
    for spend in rows:
        if spend.operation.startswith(COUNTED):
            counted[spend.operation.removeprefix(COUNTED)] += spend.calls
    messages = counted.pop(MESSAGES, 0)
    extracting = [spend for spend in today if spend.operation == EXTRACTION]
    return ModelUse(
        messages=messages,
        tokens_a_message=sum(spend.tokens_in + spend.tokens_out for spend in extracting) / max(messages, 1),
        claims=dict(counted),
        model_id=None if line is None else line.model.model_id,
        prompt=PROMPT,
        calls=sum(spend.calls for spend in today),
        tokens=sum(spend.tokens_in + spend.tokens_out for spend in today),
        tokens_max=parts.settings.llm_daily_tokens,
        cost_usd=sum(spend.cost_usd for spend in today),
        waiting=waiting,
        trouble="" if line is None or has_ended(line.open_until_us, now_us) else line.trouble,
    )


def extract(
    parts: Parts,
    path: Path | None = None,
    *,
    text: str | None = None,
    model: str | None = None,
    dry_run: bool = False,
) -> ExtractionReport:
    """Process the turns that wait for an LLM; with `dry_run` only estimate the cost of these, a file or a text.

    Raises `Invalid` for a file or text without `dry_run`: use `import` or `remember` for those.
    """
    if dry_run:
        with closing(_read_wanted_turns(parts, path, text)) as turns:
            return _price_turns(parts, turns, check_name(model, "model"))
    if path is not None or text is not None or model is not None:
        raise Invalid(
            "a file, a text or a model can only be passed in a dry run",
            why="extraction processes only stored messages",
            fix="add dry_run (--dry-run), or use import or remember",
        )
    line = parts.llm
    if line is None:
        raise Invalid("no LLM is configured", why="extraction uses rules alone", fix='set llm, like "openai:MODEL"')
    line.answered()  # the user requests another attempt
    parts.store.commit(parts.user_id, _call_up)
    turns, before = 0, _count_calls(parts)
    while ran := run_llm_jobs(parts):
        turns += ran
    with parts.store.reader(parts.user_id) as reader:
        waiting = sum(count_waiting(reader).values())
    report = ExtractionReport(model_id=line.model.model_id, prompt=PROMPT, dry_run=False)
    return replace(report, turns=turns, calls=_count_calls(parts) - before, waiting=waiting)


def _count_calls(parts: Parts) -> int:
    with parts.store.reader(parts.user_id) as reader:
        return sum(spend.calls for spend in reader.counts().spends if spend.operation == EXTRACTION)


def _call_up(writer: Writer) -> None:
    """Make all jobs that wait for an LLM due, including those that had given up."""
    kinds = frozenset({REREAD})
    for job in writer.jobs(JobFilter(statuses=frozenset({JobStatus.QUEUED, JobStatus.DEAD}), kinds=kinds)):
        writer.put(replace(job, status=JobStatus.QUEUED, attempts=0, run_after_us=0))


def _read_wanted_turns(parts: Parts, path: Path | None, text: str | None) -> Generator[Passage]:
    """Yield each message as a passage of its own, which costs more than several in one question."""
    if path is not None and text is not None:
        raise Invalid("a file and a text cannot be combined", fix="pass one of them")
    if path is None and text is None:
        with parts.store.reader(parts.user_id) as reader:
            jobs: list[Job] = reader.jobs(JobFilter(statuses=_WAITING, kinds=frozenset({EXTRACT, THINK, REREAD})))
            for job in jobs:
                for number in range(job.first, job.last + 1):
                    passage = load_passage(reader, [number], parts.extractor)
                    if passage is not None:
                        yield passage
        return
    turns: Iterable[Turn] = make_text_turns(parts, text or "") if path is None else read_file_turns(parts, path)
    for turn in turns:
        yield Passage(turns=(turn,), readings={turn.event.id: tuple(parts.extractor.extract(turn))})


def _price_turns(parts: Parts, passages: Iterable[Passage], model: str | None) -> ExtractionReport:
    line = parts.llm
    if model is None and line is not None:
        model_id, price = line.model.model_id, line.price
    else:
        named = model or parts.settings.llm
        if named in {"", "none"}:
            raise Invalid(
                "there is no LLM to estimate",
                why="no LLM is configured",
                fix="name one, like anthropic:claude-haiku-4-5",
            )
        model_id, price = named, parse_price(parts.settings.llm_price) or find_price(named)
    skipped: Counter[str] = Counter()
    calls = tokens_in = 0
    tokens_most = (0, 0)
    for passage in passages:
        turn = passage.turns[0]
        why = skip(turn, passage.readings[turn.event.id])
        if why is not None:
            skipped[why.value] += 1
            continue
        question = question_about(passage)
        read = estimate_question_tokens(question)
        calls, tokens_in = calls + 1, tokens_in + read
        most_in = _ASKED_MOST * read + question.tokens_max  # the second request includes the first answer
        tokens_most = (tokens_most[0] + most_in, tokens_most[1] + _ASKED_MOST * question.tokens_max)
    tokens_out = calls * _ANSWER_TOKENS
    return ExtractionReport(
        model_id=model_id,
        prompt=PROMPT,
        dry_run=True,
        turns=calls + skipped.total(),
        skipped=dict(skipped),
        calls=calls,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost_usd=price.cost(tokens_in, tokens_out) if price else None,
        cost_usd_most=price.cost(*tokens_most) if price else None,
        price_source=price.source if price else "",
    )


# LLM extraction of messages that were extracted before, for `rebuild --reextract`.


_TOGETHER: Final = 16
"""Answers per commit; an interruption loses at most one such batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The LLM's answers by event id, and the events that are still to be processed.

    `numbers` are the events to process, `unread` those that the LLM cannot process; their beliefs stay. While `waiting`
    is not 0, `why` says what stopped the run.
    """

    reader: str
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    numbers: Sequence[int] = ()
    unread: frozenset[int] = frozenset()
    asked: int = 0
    waiting: int = 0
    why: str = ""
    most: int = 5
    """Most claims of one message."""

    def extractor(self, rules: Extractor) -> Extractor:
        """Return an extractor that uses the LLM's answer for a turn, or the reader if there is none."""
        return _AnsweredExtractor(rules, self)


@dataclass(frozen=True, slots=True)
class _AnsweredExtractor:
    rules: Extractor
    answers: Answers

    def extract(self, turn: Turn) -> list[Claim]:
        """Return the claims of a turn; an answer passes the same checks as when it arrived."""
        readings = tuple(self.rules.extract(turn))
        answer = self.answers.texts.get(turn.event.id)
        if answer is None:
            return list(readings)
        passage = Passage(turns=(turn,), readings={turn.event.id: readings})
        claims = read_text(passage, answer, self.answers.reader).claims[turn.event.id]
        return keep_weightiest(claims, self.answers.most)


def ask_again(parts: Parts, line: ModelClient, readable: Sequence[int]) -> Answers:
    """Call the LLM for the events that may contain claims, except for those with a stored answer.

    Changes no beliefs. Stops if the daily budget is spent or the LLM is not available.
    """
    reader_of = reader_name(line.model)
    with parts.store.reader(parts.user_id) as reader:
        tag = reader.tenant.tag
        wanted = [number for number in readable if _may_need_model(reader, number, parts.extractor)]
        held = {number: blobs[0] for number in wanted if (blobs := reader.snapshot(_name(reader_of, number)))}
    texts = {format_id(IdKind.EVENT, number, tag): body.decode() for number, body in held.items()}
    left = [number for number in wanted if number not in held]
    unread: set[int] = set()
    asked, why = 0, ""
    while left and not why:
        batch, left = left[:_TOGETHER], left[_TOGETHER:]
        jobs = [Job(kind=THINK, first=number, last=number) for number in batch]
        thoughts = dict(zip(batch, ask_about_jobs(parts, line, [[job] for job in jobs], afresh=True), strict=True))
        fresh = {number: one.understood.answers[0][1] for number, one in thoughts.items() if one and one.understood}
        parts.store.commit(parts.user_id, lambda writer, said=fresh: _write_claims(writer, reader_of, said))
        asked += len(fresh)
        texts.update((format_id(IdKind.EVENT, number, tag), answer) for number, answer in fresh.items())
        stopped = [
            number
            for number, one in thoughts.items()
            if number not in fresh and not (one is not None and one.asked is None and one.error is None)
        ]
        unread |= {
            number
            for number in stopped
            if (thought := thoughts[number]) is not None and (thought.counts or thought.error is not None)
        }
        again = [number for number in stopped if number not in unread]
        left = again + left
        found = (thoughts[number] for number in again)
        why = next((one.why for one in found if one is not None and one.why), "it was stopped" if again else "")
    return Answers(
        reader=reader_of,
        texts=texts,
        numbers=wanted,
        unread=frozenset(unread),
        asked=asked,
        waiting=len(left),
        why=why,
        most=parts.settings.memories_per_message,
    )


def _may_need_model(reader: Reader, number: int, rules: Extractor) -> bool:
    turns = extract_turns(reader, number, number, rules)
    return bool(turns) and bool(turns[0].turn.event.text) and skip(turns[0].turn, turns[0].claims) is None


def _write_claims(writer: Writer, reader_of: str, answers: Mapping[int, str]) -> None:
    for number, answer in answers.items():
        writer.put(Snapshot(name=_name(reader_of, number), blobs=(answer.encode(),)))


def forget_answers(writer: Writer, answers: Answers) -> None:
    """Delete the answers whose beliefs are in place, in the caller's transaction."""
    for number in answers.numbers:
        writer.put(Snapshot(name=_name(answers.reader, number), blobs=()))


def _name(reader_of: str, number: int) -> str:
    return f"reading {hashlib.blake2b(reader_of.encode(), digest_size=8).hexdigest()} {number}"


# Say what would become of a text if it were remembered; nothing is stored.


_SPEAKING: Final = frozenset({Role.USER, Role.PERSON})
_NOTHING: Final = "nothing follows from it: it was said before, deleted or undone, or it has no value of its own"


def try_extraction(
    parts: Parts,
    text: str,
    *,
    topic: str | None = None,
    session: str | None = None,
    source: str = "human",
    occurred_at: datetime | str | None = None,
) -> ExtractionPreview:
    """Extract and reconcile a text on a view of the memory, as `remember` would, and describe the result."""
    submission = Submission(
        content=text, user_id=parts.user_id, topic=topic, session=session, source=source, occurred_at=occurred_at
    )
    now_us = parts.clock.now_us()
    accepted = accept(submission, policy=parts.settings.secrets_policy, zone=parts.settings.zone, now_us=now_us)

    def decide(writer: Writer) -> ExtractionPreview:
        ids, refused = file_events(writer, compare_with_tombstones(writer, accepted, parts.extractor))
        numbers = [parse_serial(one) for one in ids]
        found = extract_turns(writer, numbers[0], numbers[-1], parts.extractor) if numbers else ()
        turns = [(one.turn.event, one.claims) for one in found]
        applied = apply_claims(writer, turns, now_us, embeds=False, standing=())
        return ExtractionPreview(
            messages=tuple(event.text for event, _ in turns),
            claims=tuple(_describe(writer, turns, applied)),
            refused=refused,
            unread=tuple(_list_unread([event for event, _ in turns])),
            model_would_read=parts.llm is not None,
        )

    with parts.active_calls:
        return try_out(parts.store, parts.user_id, decide)


def _list_unread(events: Sequence[Event]) -> Iterable[str]:
    for number, event in enumerate(events, 1):
        for start, stop in find_unread(event.text) if event.role in _SPEAKING else ():
            yield f"characters {start} to {stop} of message {number}: too long to extract claims from"


def _describe(
    writer: Writer, turns: Sequence[tuple[Event, tuple[Claim, ...]]], applied: Sequence[tuple[Claim, Applied]]
) -> Iterable[PreviewedClaim]:
    done = {id(claim): one for claim, one in applied}
    by_place = {(claim.span, claim.attribute, claim.value): one for claim, one in applied}
    for number, (event, read) in enumerate(turns, 1):
        same_words = (one for one, _ in applied if one.span.event_id == event.id and one not in read)
        for claim in (*read, *same_words):
            found = done.get(id(claim)) or by_place.get((claim.span, claim.attribute, claim.value))
            records = () if found is None else found.records
            kinds: Mapping[ChangeKind, ChangeRecord] = {one.kind: one for one in reversed(records)}
            ended = [one for one in records if one.kind is ChangeKind.SUPERSEDE and one.memory_id]
            outcome = _choose_outcome(kinds, bool(ended))
            deciding = next((kinds[kind] for kind in _DECIDING if kind in kinds), None)
            confirmed = kinds.get(ChangeKind.CONFIRM)
            contested = writer.contests(state=ContestState.OPEN) if outcome is PreviewOutcome.CONTESTED else ()
            changed = {one.memory_id for one in records}
            yield PreviewedClaim(
                message=number,
                start=claim.span.start,
                end=claim.span.stop,
                text=claim.text,
                entity=claim.entity,
                attribute=claim.attribute,
                value=claim.value,
                stance=claim.stance.value,
                confidence=claim.confidence,
                outcome=outcome,
                reason=_NOTHING if deciding is None else deciding.reason,
                memory_id=confirmed.memory_id
                if confirmed is not None and outcome is PreviewOutcome.CONFIRMED
                else None,
                replaced=tuple(_describe_replaced(writer, one) for one in ended),
                question=next((case.question for case in contested if not changed.isdisjoint(case.memory_ids)), ""),
            )


_DECIDING: Final = (ChangeKind.CONTEST, ChangeKind.SUPERSEDE, ChangeKind.ADD, ChangeKind.CONFIRM, ChangeKind.SET_STATUS)
"""The change that says best why, first."""


def _choose_outcome(kinds: Mapping[ChangeKind, ChangeRecord], ended: bool) -> PreviewOutcome:  # noqa: FBT001 - one of two facts
    if ChangeKind.CONTEST in kinds:
        return PreviewOutcome.CONTESTED
    if ChangeKind.ADD in kinds:
        return PreviewOutcome.REPLACED if ended else PreviewOutcome.STORED
    if ChangeKind.CONFIRM in kinds:
        return PreviewOutcome.CONFIRMED
    return PreviewOutcome.ENDED if ended else PreviewOutcome.REFUSED


def _describe_replaced(writer: Writer, record: ChangeRecord) -> ReplacedMemory:
    memory_id = record.memory_id or ""
    found = writer.memories([memory_id])
    return ReplacedMemory(id=memory_id, text=found[0].text if found else "", reason=record.reason)
