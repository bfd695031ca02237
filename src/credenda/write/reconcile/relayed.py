"""Statements that a model passes on: what a tool or document said stays theirs, and bursts are held back. Pure.

A model writes what it read as if its user had said it. Such a statement is as trusted as the text that it repeats, and
waits for the user like any suspect claim. So do the statements of a model that writes unusually often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from credenda import limits
from credenda.clock import SECOND_US
from credenda.model.claim import Claim
from credenda.model.event import QUARANTINED, Event, Role, Source
from credenda.text.sentences import split_sentences
from credenda.text.tokens import fold, tokenize
from credenda.write.reconcile.corroboration import is_users_own

__all__ = ["find_origin", "is_burst", "is_by_model", "lower_trust"]

_MODEL: Final = frozenset({Source.AI, Source.INTERACTION})
_FOREIGN: Final = frozenset({Source.INGEST, Source.CODE_SCAN})
_ABOUT: Final = frozenset({"user"})
"""Words by which a model names its user and the user does not."""
_FEWEST_TERMS: Final = (2, 1)
"""The fewest terms of a statement, and of a value, that are compared; one word of a statement is in many texts."""


def is_by_model(event: Event) -> bool:
    """Return whether a model wrote an event."""
    return event.source in _MODEL or (event.role is Role.ASSISTANT and event.source not in _FOREIGN)


def find_origin(event: Event, claim: Claim, earlier: Sequence[Event]) -> Event | None:
    """Return the text of a tool or document from which a statement of a model comes, the least trusted one.

    It repeats a text if one sentence has all its words. Where the user's own words of the session are known, a value
    that a text has and they have not is enough: the user cannot have said it. `earlier` are the events before it.
    Returns None if the user said it too.
    """
    if not is_by_model(event):
        return None
    own = [one for one in earlier if is_users_own(one)]
    wordings = [frozenset(tokenize(claim.text)) - _ABOUT]
    if claim.value and any(one.session == event.session for one in own):
        wordings.append(frozenset(tokenize(claim.value)))
    for terms, fewest in zip(wordings, _FEWEST_TERMS, strict=False):
        if len(terms) >= fewest and not any(_has_terms(one.text, terms) for one in own):
            origins = [one for one in earlier if _is_foreign(one) and _has_terms(one.text, terms)]
            if origins:
                return min(origins, key=lambda one: one.trust)
    return None


def is_burst(event: Event, earlier: Sequence[Event]) -> bool:
    """Return whether a model has stored more in a session within a minute than one does that listens to a user.

    Messages of one call count once, and the turns of a conversation not at all. `earlier` are the events before it.
    """
    if event.source is not Source.AI:
        return False
    since_us = event.recorded_us - limits.BURST_SECONDS * SECOND_US
    calls = {
        one.recorded_us
        for one in earlier
        if one.source is Source.AI and one.session == event.session and since_us < one.recorded_us <= event.recorded_us
    }
    return len(calls) >= limits.BURST_CALLS


def lower_trust(event: Event, origin: Event | None) -> Event:
    """Return an event as decisions are to take it: suspect, and no more trusted than its origin."""
    trust = event.trust if origin is None else min(event.trust, origin.trust)
    return replace(event, trust=trust, flags=tuple({*event.flags, QUARANTINED}))


def _is_foreign(event: Event) -> bool:
    return event.role is Role.DOCUMENT or event.source in _FOREIGN


def _has_terms(text: str, terms: frozenset[str]) -> bool:
    """Return whether one sentence of a text has all terms; the longest term excludes most texts before they are cut."""
    longest = max(terms, key=len)
    if longest[:4] not in fold(text):
        return False
    return any(terms <= frozenset(tokenize(text[start:stop])) for start, stop in split_sentences(text))
