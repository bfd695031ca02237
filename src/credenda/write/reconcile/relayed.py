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
_ENOUGH_TERMS: Final = 2
"""Fewer terms are in many texts by chance."""


def is_by_model(event: Event) -> bool:
    """Return whether a model wrote an event."""
    return event.source in _MODEL or (event.role is Role.ASSISTANT and event.source not in _FOREIGN)


def find_origin(event: Event, claim: Claim, earlier: Sequence[Event]) -> Event | None:
    """Return the text of a tool or document that a statement of a model repeats, the least trusted one.

    `earlier` are the events before it. Returns None if the user said it too.
    """
    terms = frozenset(tokenize(claim.text)) - _ABOUT
    if not is_by_model(event) or len(terms) < _ENOUGH_TERMS:
        return None
    foreign = [one for one in earlier if _is_foreign(one) and _has_terms(one.text, terms)]
    if not foreign or any(is_users_own(one) and _has_terms(one.text, terms) for one in earlier):
        return None
    return min(foreign, key=lambda one: one.trust)


def is_burst(event: Event, earlier: Sequence[Event]) -> bool:
    """Return whether a model has written to a session more often within a minute than one does that listens to a user.

    Messages of one call count once. `earlier` are the events before it.
    """
    if not is_by_model(event):
        return False
    since_us = event.recorded_us - limits.BURST_SECONDS * SECOND_US
    calls = {
        one.recorded_us
        for one in earlier
        if is_by_model(one) and one.session == event.session and since_us < one.recorded_us <= event.recorded_us
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
