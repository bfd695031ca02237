"""The progress of consolidation: watermarks that survive a crash, separate for each judge (S-047, S-102, D-033).

Nothing at or below `low` is pending. All memories at or below `top` were judged, except the few whose group failed.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from credenda.clock import has_ended
from credenda.errors import Unavailable
from credenda.ids import IdKind, format_id
from credenda.manage.consolidation_guards import Member
from credenda.manage.consolidation_judge import PROMPT_VERSION, ParsedAnswer, build_question, parse_answer
from credenda.model.job import Finding
from credenda.providers.llm.client import ModelClient, open_model
from credenda.providers.llm.protocol import ModelFailure
from credenda.runtime import Parts
from credenda.storage.store import Reader, Watermark, Writer
from credenda.text.recalled_block import count_noun
from credenda.workers.llm_jobs import OverBudgetError, ask_within_budget
from credenda.write.intake.secrets import screen_secrets

ATTEMPTS: Final = 3
"""Attempts after which the new memories of a failing group are left out."""
RAN: Final = "consolidation.ran"
"""Watermark of the last run, in microseconds."""
_SHIFT: Final = 3
"""Bits for the number of attempts in a failure's value; the higher bits are the memory's number."""
_KEPT: Final = 10_000
_NAMED: Final = 20
_JUDGES: Final = ("rules", "model", "dream.rules", "dream.model")


@dataclass(slots=True)
class Marks:
    """Progress by memory number: all up to `top` are judged except `failed`, which counts attempts."""

    top: int = 0
    failed: dict[int, int] = field(default_factory=dict[int, int])
    rows: int = 0
    """Number of failure rows in the store, so that obsolete ones are cleared."""

    @property
    def waiting(self) -> frozenset[int]:
        """The failed memories that will be tried again."""
        return frozenset(number for number, attempts in self.failed.items() if attempts < ATTEMPTS)

    @property
    def quarantined(self) -> frozenset[int]:
        """The memories that failed too often."""
        return frozenset(self.failed) - self.waiting

    @property
    def low(self) -> int:
        """The number up to which nothing is pending."""
        return min((*self.waiting, self.top + 1)) - 1

    def note(self, judged: Iterable[int], failed: Mapping[int, bool]) -> None:
        """Record the result of judging these memories; `failed` says whether each failure counts as an attempt."""
        for number in judged:
            if number not in failed:
                self.failed.pop(number, None)
            elif len(self.failed) < _KEPT:
                self.failed[number] = self.failed.get(number, 0) + failed[number]


def read_marks(reader: Reader, judge: str) -> Marks:
    """Read the progress of a judge: "rules", "model", "dream.rules" or "dream.model"."""
    name = f"consolidation.{judge}"
    rows = reader.duties.watermark(f"{name}.failures") or 0
    failed = (reader.duties.watermark(f"{name}.failure.{at}") or 0 for at in range(rows))
    return Marks(
        top=reader.duties.watermark(f"{name}.top") or 0,
        failed={row >> _SHIFT: row & ((1 << _SHIFT) - 1) for row in failed},
        rows=rows,
    )


def write_watermarks(writer: Writer, judge: str, marks: Marks, now_us: int) -> None:
    """Write the progress, in the caller's transaction."""
    name = f"consolidation.{judge}"
    failures = sorted(marks.failed.items())
    for at, (number, attempts) in enumerate(failures):
        writer.put(Watermark(name=f"{name}.failure.{at}", value=number << _SHIFT | attempts, at_us=now_us))
    for at in range(len(failures), marks.rows):
        writer.put(Watermark(name=f"{name}.failure.{at}", value=None))
    marks.rows = len(failures)
    writer.put(Watermark(name=f"{name}.failures", value=len(failures), at_us=now_us))
    writer.put(Watermark(name=f"{name}.top", value=marks.top, at_us=now_us))
    writer.put(Watermark(name=name, value=marks.low, at_us=now_us))


def find_skipped_groups(parts: Parts, *, repair: bool) -> list[Finding]:
    """Find memories whose groups failed too often; `repair` makes them pending again."""
    found: list[Finding] = []
    for judge in _JUDGES:
        with parts.store.reader(parts.user_id) as reader:
            marks, tag = read_marks(reader, judge), reader.tenant.tag
        names = [format_id(IdKind.MEMORY, one, tag) for one in sorted(marks.quarantined)]
        if not names:
            continue
        if repair:
            marks.failed |= dict.fromkeys(marks.quarantined, 0)
            now_us = parts.clock.now_us()
            parts.store.commit(parts.user_id, partial(write_watermarks, judge=judge, marks=marks, now_us=now_us))
        found.append(
            Finding(
                check="consolidation",
                detail=f"{count_noun(len(names), 'memory')} failed {ATTEMPTS} times to be consolidated: left out",
                repaired=repair,
                where=", ".join(names[:_NAMED]),
                fix="run `credenda doctor --repair` to try them again",
            )
        )
    return found


def forget_marks(writer: Writer) -> None:
    """Reset the progress, because all memories were rebuilt (S-054)."""
    for judge in _JUDGES:
        marks = read_marks(writer, judge)
        write_watermarks(writer, judge, Marks(rows=marks.rows), 0)


# The LLM judge of consolidation: one group per call, within the daily budget, with every answer checked.


_OPERATION: Final = "consolidate"
"""The operation that its tokens are booked under."""
_FAILURES: Final = 3
"""Consecutive failures of the LLM after which it is not called again in this run."""


class ModelAwayError(Unavailable):
    """The LLM is not available now; the failure does not count against the group."""


class ModelJudge:
    """An LLM as judge; `gave_up` is the reason why it is not called again in this run, or "".

    `answered` counts the groups with a usable answer.
    """

    def __init__(self, parts: Parts, line: ModelClient) -> None:
        self._parts = parts
        self._line = line
        self._away = 0
        self.gave_up = ""
        self.answered = 0

    @property
    def model_id(self) -> str:
        """The prompt and the model, as named in reports."""
        return f"{PROMPT_VERSION} {self._line.model.model_id}"

    def resting(self) -> str:
        """Return why the LLM cannot be called now, or ""."""
        if not has_ended(self._line.open_until_us, self._parts.clock.now_us()):
            return self._line.trouble
        return ""

    def judge(self, members: Sequence[Member]) -> ParsedAnswer:
        """Return the verdicts on a group; raises `Unavailable` if there is no usable answer."""
        if self.gave_up:
            raise ModelAwayError("the model is not called again in this run", why=self.gave_up)
        question = build_question(members, lambda text: screen_secrets(text, "mask").text)
        try:
            reply = ask_within_budget(self._parts, self._line, question, _OPERATION)
            ruling = parse_answer(reply.text, members)
        except OverBudgetError as error:
            self.gave_up = "the day's budget is spent"
            raise ModelAwayError(self.gave_up) from error
        except ModelFailure as failure:
            self._line.failed(failure, self._parts.clock.now_us())
            self._away = self._away + 1 if failure.trouble.is_model_fault else 0
            if self._away >= _FAILURES:
                self.gave_up = str(failure)
            kind = ModelAwayError if failure.trouble.is_model_fault else Unavailable
            raise kind(str(failure), fix="the next run tries again") from failure
        except ValueError as error:
            raise Unavailable("the model's answer cannot be used", why=str(error)) from error
        self._away = 0
        self.answered += 1
        self._line.answered()
        return ruling


@contextmanager
def open_judge(parts: Parts) -> Generator[ModelJudge | None]:
    """Open the LLM judge: the model of its setting, else the one of extraction; None means rules alone."""
    named = parts.settings.memory_consolidation_model.strip()
    if not named:
        yield None if parts.llm is None else ModelJudge(parts, parts.llm)
        return
    line = open_model(named, parts.settings)
    try:
        yield None if line is None else ModelJudge(parts, line)
    finally:
        if line is not None:
            line.close()
