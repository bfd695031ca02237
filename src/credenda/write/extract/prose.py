"""The sentences of an event that its author says in their own voice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from credenda.text.sentences import TextSpan, split_sentences
from credenda.write.extract.voices import VOICE_CHARACTERS, Voice, split_voices

_SENTENCE_CHARACTERS: Final = 600
"""Longer sentences are pasted text or run-ons, of which nothing is read."""
_SENTENCES_MAX: Final = 256
_JOINT: Final = re.compile(
    r",\s+(?:(?:and|but|so|because)\s+)?(?=(?:I|we|my|our)(?:['’](?:m|ve|d|ll|re))?\b|(?:can|could|would|will) you\b)"
)
_BULLET: Final = re.compile(r"\s*(?:[-*\u2022\u2013]|\d{1,2}[.)])\s+")


def own_sentences(text: str, *, playing: bool = False) -> Iterator[TextSpan]:
    """Yield the sentences of a text that are wholly own prose, at most 256; see `voices.split_voices`."""
    return islice((span for span in _list_own(text, playing=playing) if _is_parsed(span)), _SENTENCES_MAX)


def _list_own(text: str, *, playing: bool) -> Iterator[TextSpan]:
    passages = iter(split_voices(text, playing=playing))
    passage = next(passages, None)
    for span in split_sentences(text):
        while passage is not None and passage.stop <= span.start:
            passage = next(passages, None)
        if passage is None:
            return
        if passage.voice is Voice.OWN and span.stop <= passage.stop:
            bullet = _BULLET.match(text, *span)
            own = span if bullet is None else TextSpan(bullet.end(), span.stop)
            yield from (own,) if _is_parsed(own) else _cut_run_on(text, own)


def _cut_run_on(text: str, span: TextSpan) -> Iterator[TextSpan]:
    """Cut a long sentence where its author begins anew: "…, and I …", "…, can you …"."""
    start = span.start
    for joint in _JOINT.finditer(text, span.start, span.stop):
        yield TextSpan(start, joint.start())
        start = joint.end()
    yield TextSpan(start, span.stop)


def _is_parsed(span: TextSpan) -> bool:
    return span.stop - span.start <= _SENTENCE_CHARACTERS


def find_unread(text: str) -> list[TextSpan]:
    """Return the own prose of a text that is too long to be parsed: long sentences, and what follows the last sentence.

    Cheap for short texts.
    """
    if len(text) <= _SENTENCE_CHARACTERS:
        return []
    own = list(_list_own(text, playing=False))
    parsed = [span for span in own if _is_parsed(span)]
    unread = [span for span in own if not _is_parsed(span)]
    if len(parsed) > _SENTENCES_MAX:
        unread.append(TextSpan(parsed[_SENTENCES_MAX].start, len(text)))
    elif len(text) > VOICE_CHARACTERS:
        unread.append(TextSpan(VOICE_CHARACTERS, len(text)))
    return unread
