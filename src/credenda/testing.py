"""Test doubles for users: a clock that moves on command, and a model that answers from a script.

>>> from datetime import UTC, datetime, timedelta
>>> clock = ManualClock(datetime(2026, 3, 1, tzinfo=UTC))
>>> clock.advance(timedelta(days=1))
>>> clock.now().isoformat()
'2026-03-02T00:00:00+00:00'

>>> model = ScriptedModel([{"claims": [], "more": False}])
>>> model.model_id
'scripted:script'
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from threading import Lock
from typing import cast

from credenda.clock import from_datetime, parse_time, to_datetime
from credenda.providers.llm.protocol import ModelFailure, Question, Reply, Trouble

__all__ = ["Answer", "ManualClock", "ModelFailure", "Question", "ScriptedModel", "Trouble"]

Answer = Mapping[str, object] | Iterable[Mapping[str, object]] | str | Exception
"""An answer of a scripted model: a document, a list of claims, raw text, or an exception to raise."""


class ManualClock:
    """A clock that stands still until it is advanced."""

    def __init__(self, start: datetime | str) -> None:
        """Start at a moment, given as an aware datetime or as RFC 3339."""
        self._lock = Lock()
        self._now_us = parse_time(start)

    def now_us(self) -> int:
        """Return the present moment in microseconds since 1970-01-01 UTC."""
        with self._lock:
            return self._now_us

    def now(self) -> datetime:
        """Return the present moment as an aware datetime."""
        return to_datetime(self.now_us())

    def advance(self, step: timedelta) -> None:
        """Move forward; raises `ValueError` for a negative step."""
        if step < timedelta(0):
            raise ValueError("a clock moves forward")
        self._move(step)

    def put_back(self, step: timedelta) -> None:
        """Move back, as a computer does whose clock was wrong; raises `ValueError` for a negative step."""
        if step < timedelta(0):
            raise ValueError("say by how much, as a positive step")
        self._move(-step)

    def _move(self, step: timedelta) -> None:
        with self._lock:
            self._now_us = from_datetime(to_datetime(self._now_us) + step)


class ScriptedModel:
    """A model that answers from a script, for tests of programs that use Credenda.

    `answers` are given in order, or by a function of the question. Each is the JSON document that a model would write,
    a list of its claims, raw text (which need not be JSON), or an exception to raise: a `ModelFailure` for a failure. A
    claim needs only the relevant fields: `quote`, `attribute`, `value` …; the rest has the defaults of a user's simple
    statement. For a consolidation, a list contains operations. At the end of the script the answers contain
    nothing to store and nothing to consolidate.

    `asked` contains every question. `tokens` is the cost of each answer: in, out.
    """

    def __init__(
        self,
        answers: Iterable[Answer] | Callable[[Question], Answer] = (),
        *,
        model_id: str = "scripted:script",
        tokens: tuple[int, int] = (100, 20),
    ) -> None:
        self._answer = answers if callable(answers) else None
        self._answers: list[Answer] = [] if callable(answers) else list(answers)
        self._model_id = model_id
        self._tokens = tokens
        self._lock = Lock()
        self.asked: list[Question] = []

    @property
    def model_id(self) -> str:
        """The name given to it."""
        return self._model_id

    @property
    def at_once(self) -> int:
        """One question at a time, so that the script stays in order."""
        return 1

    def say(self, *answers: Answer) -> None:
        """Append to the script."""
        with self._lock:
            self._answers += answers

    def ask(self, question: Question) -> Reply:
        """Return the next answer of the script."""
        with self._lock:
            self.asked.append(question)
            answer: Answer = self._answers.pop(0) if self._answers else []
        if self._answer is not None:
            answer = self._answer(question)
        if isinstance(answer, Exception):
            raise answer
        tokens_in, tokens_out = self._tokens
        properties = question.schema.get("properties")
        return Reply(
            text=_render_answer(
                answer, ("operations" if isinstance(properties, Mapping) and "operations" in properties else "claims")
            ),
            tokens_in=tokens_in,
            tokens_out=tokens_out,
        )

    def close(self) -> None:
        """Do nothing."""


_PLAIN_CLAIM: Mapping[str, object] = {
    "turn": "",
    "entity": "user",
    "attribute": None,
    "value": None,
    "scope": None,
    "stance": "asserted",
    "effect": None,
}


def _render_answer(answer: Mapping[str, object] | Iterable[Mapping[str, object]] | str, wanted: str) -> str:
    """Write an answer as a model would, with defaults for the fields that the script leaves out."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, Mapping):
        document = cast("dict[str, object]", dict(answer))
    else:
        document: dict[str, object] = {wanted: list(answer)}
    claims = document.get("claims")
    if isinstance(claims, list):
        listed = cast("list[object]", claims)
        document["claims"] = [{**_PLAIN_CLAIM, **one} if isinstance(one, Mapping) else one for one in listed]
    if wanted == "claims":
        document.setdefault("more", False)
    return json.dumps(document, ensure_ascii=False)
