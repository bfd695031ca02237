"""What a message asks for, and whether it is known from another door. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from credenda import limits
from credenda.model.claim import Claim, Extractor, Span, Turn
from credenda.model.event import QUARANTINED, Event, NewEvent, Role, Source
from credenda.model.memory import MemoryType
from credenda.text.normalize import normalise_text
from credenda.text.recalled_block import extract_spoken
from credenda.text.sentences import has_blanks, leave_out_blanks, split_sentences
from credenda.write.intake.validate import AS_TYPE

_ANY: Final = MemoryType.FACT
"""The type of whatever has no more exact one: asked for, it makes no preference or instruction less exact."""


def keep_requested_type(event: Event, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Give the memories of a message the type that the caller asked for, and store its text if none has (E-012).

    A narrative is one memory, the whole text; the facts of a longer one keep their own types beside it. Quarantined
    text is stored as a candidate that the user can inspect.
    """
    asked = next((flag.removeprefix(AS_TYPE) for flag in event.flags if flag.startswith(AS_TYPE)), None)
    if asked is None and not claims and QUARANTINED in event.flags:
        asked = MemoryType.FACT.value
    if asked is None:
        return tuple(claims)
    kind = MemoryType(asked)
    text = leave_out_blanks(event.text).text.strip()[: limits.MEMORY_TEXT_CHARACTERS]
    typed = [one for one in claims if kind is not MemoryType.NARRATIVE or one.text.strip() == text]
    if typed:
        return tuple(replace(one, type=kind) if one in typed and kind is not _ANY else one for one in claims)
    whole = Claim(text=text, type=kind, span=Span(event.id, 0, len(event.text)), speaker=event.speaker)
    return (*claims, whole)


# Whether a message is known from another door: a hook, a transcript of the host, or a tool of a model.


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


# Extract an event of which words were blanked, as if they had never stood there.


def extract_around_blanks(extractor: Extractor, event: Event, before: Sequence[Event] = ()) -> list[Claim]:
    """Extract the claims of an event and leave out its blanks; their spans are those of the whole text."""
    if not has_blanks(event.text):
        return extractor.extract(Turn(event=event, before=tuple(before)))
    left = leave_out_blanks(event.text)
    claims = extractor.extract(Turn(event=replace(event, text=left.text), before=tuple(before)))
    return [replace(one, span=Span(one.span.event_id, *left.to_whole(one.span.start, one.span.stop))) for one in claims]
