"""LLM extraction of messages that were extracted before, for `rebuild --reextract`.

Answers cost money and time, so each is stored when it arrives and is not requested twice: an interrupted run, or one
that exceeded the daily budget, continues where it stopped. Answers are stored as snapshots, which any redaction drops,
and are removed once the beliefs derived from them are in place.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from credenda.ids import IdKind, format_id
from credenda.model.claim import Claim, Extractor, Turn
from credenda.providers.llm.client import ModelClient
from credenda.runtime import Parts
from credenda.storage.job_kinds import THINK
from credenda.storage.store import Job, Reader, Snapshot, Writer
from credenda.workers.llm_jobs import ModelAnswer, ask_about_jobs
from credenda.write.extract_job import extract_turns
from credenda.write.llm.gate import skip
from credenda.write.llm.passage import Passage
from credenda.write.llm.reading import read_text, reader_name

__all__ = ["Answers", "ask_again", "forget_answers"]

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
        return list(read_text(passage, answer, self.answers.reader).claims[turn.event.id])


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
        stopped = [number for number, one in thoughts.items() if number not in fresh and not _has_no_words(one)]
        unread |= {number for number in stopped if _is_message_at_fault(thoughts[number])}
        again = [number for number in stopped if number not in unread]
        left = again + left
        why = _word_reason(thoughts, again)
    return Answers(
        reader=reader_of,
        texts=texts,
        numbers=wanted,
        unread=frozenset(unread),
        asked=asked,
        waiting=len(left),
        why=why,
    )


def _may_need_model(reader: Reader, number: int, rules: Extractor) -> bool:
    turns = extract_turns(reader, number, number, rules)
    return bool(turns) and bool(turns[0].turn.event.text) and skip(turns[0].turn, turns[0].claims) is None


def _has_no_words(thought: ModelAnswer | None) -> bool:
    """Return whether the words of the event were deleted meanwhile."""
    return thought is not None and thought.asked is None and thought.error is None


def _is_message_at_fault(thought: ModelAnswer | None) -> bool:
    """Return whether the message, not the LLM, is the reason why there is no answer."""
    return thought is not None and (thought.counts or thought.error is not None)


def _word_reason(thoughts: Mapping[int, ModelAnswer | None], again: Sequence[int]) -> str:
    found = (thoughts[number] for number in again)
    return next((one.why for one in found if one is not None and one.why), "it was stopped" if again else "")


def _write_claims(writer: Writer, reader_of: str, answers: Mapping[int, str]) -> None:
    for number, answer in answers.items():
        writer.put(Snapshot(name=_name(reader_of, number), blobs=(answer.encode(),)))


def forget_answers(writer: Writer, answers: Answers) -> None:
    """Delete the answers whose beliefs are in place, in the caller's transaction."""
    for number in answers.numbers:
        writer.put(Snapshot(name=_name(answers.reader, number), blobs=()))


def _name(reader_of: str, number: int) -> str:
    return f"reading {hashlib.blake2b(reader_of.encode(), digest_size=8).hexdigest()} {number}"
