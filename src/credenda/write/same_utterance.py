"""Whether a message is known from another door: a hook, a transcript of the host, or a tool of a model. Pure.

A host gives the doors no name of an utterance that all of them see. Its session, speaker, words and time say as much.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from credenda.model.event import Event, NewEvent, Role, Source
from credenda.text.normalize import normalise_text
from credenda.text.sentences import split_sentences
from credenda.text.spoken import extract_spoken

_APART_US: Final = 120_000_000
"""How far apart a hook and a transcript may date one message: an answer is dated where it begins, or where it ends."""
_TURN_US: Final = 3_600_000_000
"""How long after a message of the user a model may still work on it."""
HEARD_EVENTS: Final = 40
"""How many of the newest events are looked at for the words that a model passes on."""


class HeardMessages:
    """The messages that hooks have stored, by session and words; those of a transcript have an id of their own."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._times: dict[tuple[str, str, Role, str], list[int]] = {}
        for event in events:
            if event.external_id is None and event.agent and event.session:
                self._times.setdefault(_name_utterance(event), []).append(event.occurred_us)

    def has(self, event: NewEvent) -> bool:
        """Return whether a hook has stored a message of a transcript."""
        times = self._times.get(_name_utterance(event), ())
        return any(abs(one - event.occurred_us) <= _APART_US for one in times)


def _name_utterance(event: NewEvent) -> tuple[str, str, Role, str]:
    return event.agent, event.session, event.role, normalise_text(extract_spoken(event.text))


def find_quoted(events: Sequence[Event], told: NewEvent) -> Event | None:
    """Return the message of the user that has the words that a model passes on in the same turn; `events` are recent.

    The words must be whole sentences of the message, so that no word of it is left out or turned round.
    """
    if told.source is not Source.AI or told.role is not Role.USER:
        return None
    words = _list_sentences(told.text)
    for event in events:
        mine = event.source is Source.HUMAN and event.role is Role.USER and event.agent and event.session
        if mine and 0 <= told.occurred_us - event.occurred_us <= _TURN_US and _has_in_a_row(event.text, words):
            return event
    return None


def _list_sentences(text: str) -> list[str]:
    found = (normalise_text(text[start:stop]) for start, stop in split_sentences(text))
    return [one for one in found if one]


def _has_in_a_row(text: str, words: Sequence[str]) -> bool:
    mine = _list_sentences(text)
    return bool(words) and any(mine[at : at + len(words)] == words for at in range(len(mine)))
