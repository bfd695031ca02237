"""A simple base: BM25 and one vector, each with a share of the neighbours in the session, and five priors.

It is what a good afternoon's work reaches, and a second baseline beside plain BM25. Its weights are round numbers that
were set by hand, before any fit, and are the same for all conversations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.locomo import Conversation, PlainBm25

Floats = NDArray[np.float64]
_BACK: Final = 0.5
_AHEAD: Final = 0.3
_LONG: Final = 25
"""Words from which a text counts as long."""


class SimpleBase:
    """Ranks the messages of one conversation; `vectors` (n, d) are those of its messages, in order."""

    def __init__(self, conversation: Conversation, vectors: Floats) -> None:
        said = [(place, one) for place, (_, messages) in enumerate(conversation.sessions) for one in messages]
        self._turns = [str(one["id"]) for _, one in said]
        self._session = np.array([place for place, _ in said])
        self._speaker = [str(one.get("name") or one["role"]) for _, one in said]
        texts = [str(one["content"]) for _, one in said]
        marked = [f"{who} {_name_day(one)} {one['content']}" for who, (_, one) in zip(self._speaker, said, strict=True)]
        self._words = PlainBm25(dict(zip(self._turns, marked, strict=True)))
        self._whole = PlainBm25(_join_sessions(self._session.tolist(), marked))
        self._vectors = self._share(vectors)
        self._vectors /= np.maximum(np.linalg.norm(self._vectors, axis=1, keepdims=True), 1e-9)
        length = np.array([min(len(text.split()), _LONG) / _LONG for text in texts])
        asks = np.array([text.rstrip().endswith("?") for text in texts])
        by_user = np.array([who == "user" for who in self._speaker])
        self._prior = 0.3 * length - 0.2 * asks + 0.6 * by_user

    def rank(self, question: str, vector: Floats, limit: int) -> list[str]:
        """Return the ids of the best messages, best first; `vector` (d,) is that of the question."""
        words, sessions = self._words.score(question), self._whole.score(question)
        spread = self._share(np.array([words.get(turn, 0.0) for turn in self._turns]))
        whole = np.array([sessions.get(str(place), 0.0) for place in self._session.tolist()])
        asked = question.casefold()
        people = {who for who in set(self._speaker) - {"user", "assistant"} if who.casefold().split()[0] in asked}
        named = np.array([len(people) == 1 and who in people for who in self._speaker])
        score = 0.4 * _standardise(spread) + 0.5 * _standardise(self._vectors @ vector) + 0.25 * _standardise(whole)
        order: list[int] = np.argsort(-(score + 1.6 * named + self._prior), kind="stable").tolist()
        return [self._turns[at] for at in order[:limit]]

    def _share(self, values: Floats) -> Floats:
        """Add half of the previous message and three tenths of the next one of the same session."""
        same = (self._session[1:] == self._session[:-1]).astype(np.float64)
        same = same.reshape(-1, *[1] * (values.ndim - 1))
        shared = values.astype(np.float64)
        shared[1:] += _BACK * values[:-1] * same
        shared[:-1] += _AHEAD * values[1:] * same
        return shared


def _name_day(message: Mapping[str, object]) -> str:
    if not message.get("timestamp"):
        return ""
    moment = datetime.fromisoformat(str(message["timestamp"]))
    return f"{moment.day} {moment:%B %Y}"


def _join_sessions(places: Sequence[int], texts: Sequence[str]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for place, text in zip(places, texts, strict=True):
        joined[str(place)] = f"{joined.get(str(place), '')} {text}"
    return joined


def _standardise(values: Floats) -> Floats:
    return (values - values.mean()) / (values.std() + 1e-9)
