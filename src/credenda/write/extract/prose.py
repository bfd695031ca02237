"""The sentences of an event that its author says in their own voice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from credenda.text.sentences import TextSpan, split_sentences
from credenda.write.extract.acts import is_question
from credenda.write.extract.clauses import split_clauses
from credenda.write.extract.voices import VOICE_CHARACTERS, Voice, split_voices

__all__ = [
    "NOTE_CHARACTERS",
    "SENTENCE_CHARACTERS",
    "cut_question",
    "find_unread",
    "is_alone",
    "is_own_item",
    "own_sentences",
]

SENTENCE_CHARACTERS: Final = 600
"""Longer sentences are pasted text or run-ons that no rule parses well."""
_SENTENCES_MAX: Final = 256
_JOINT: Final = re.compile(
    r",\s+(?:(?:and|but|so|because)\s+)?(?=(?:I|we|my|our)(?:['’](?:m|ve|d|ll|re))?\b|(?:can|could|would|will) you\b)"
)
_BULLET: Final = re.compile(r"\s*(?:[-*\u2022\u2013]|\d{1,2}[.)])\s+")
_MARKS: Final = ("-", "*", "\u2022", "\u2013", ".", ")")
_LIST_CHARACTERS: Final = 2_000
_ABOUT_ME: Final = re.compile(
    r"\b(?:about (?:me|myself)|my (?:\w+ )?(?:details|facts|profile|data|info\w*|background|bio)|who i am)\b",
    re.IGNORECASE,
)
_PIECES_MIN: Final = 2
NOTE_CHARACTERS: Final = 90
_ALONE_CHARACTERS: Final = 240
"""Maximum length of a single sentence that counts as alone; of several, only short ones are a note."""


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


def is_own_item(text: str, start: int) -> bool:
    r"""Return whether the sentence at `start` is an item of a list that its author titles as one about themselves.

    >>> is_own_item("About me:\n- live in Graz", 12), is_own_item("To do:\n- live in Graz", 9)
    (True, False)
    """
    if not text[:start].rstrip().endswith(_MARKS):
        return False
    above = text[max(0, start - _LIST_CHARACTERS) : start].splitlines()[:-1]
    title = next((line for line in reversed(above) if line.strip() and not _BULLET.match(line)), "")
    return _ABOUT_ME.search(title) is not None


def _cut_run_on(text: str, span: TextSpan) -> Iterator[TextSpan]:
    """Cut a long sentence where its author begins anew: "…, and I …", "…, can you …"."""
    start = span.start
    for joint in _JOINT.finditer(text, span.start, span.stop):
        yield TextSpan(start, joint.start())
        start = joint.end()
    yield TextSpan(start, span.stop)


def _is_parsed(span: TextSpan) -> bool:
    return span.stop - span.start <= SENTENCE_CHARACTERS


def cut_question(text: str, span: TextSpan) -> TextSpan:
    """Return the statement of a sentence that ends in a question, or the whole sentence if it has none.

    >>> text = "I'm on a MacBook Air M2, will that be enough?"
    >>> text[slice(*cut_question(text, TextSpan(0, len(text))))]
    "I'm on a MacBook Air M2"
    """
    sentence = text[span.start : span.stop]
    pieces = split_clauses(sentence) if sentence.endswith("?") else []
    if len(pieces) < _PIECES_MIN or not is_question(pieces[-1].strip(" ,;")):
        return span
    stated = sentence[: sentence.rindex(pieces[-1])].rstrip(" ,;:-\u2013\u2014")
    return TextSpan(span.start, span.start + len(stated)) if stated else span


def find_unread(text: str) -> list[TextSpan]:
    """Return the own prose of a text that is too long to be parsed: long sentences, and what follows the last sentence.

    Cheap for short texts.
    """
    if len(text) <= SENTENCE_CHARACTERS:
        return []
    own = list(_list_own(text, playing=False))
    parsed = [span for span in own if _is_parsed(span)]
    unread = [span for span in own if not _is_parsed(span)]
    if len(parsed) > _SENTENCES_MAX:
        unread.append(TextSpan(parsed[_SENTENCES_MAX].start, len(text)))
    elif len(text) > VOICE_CHARACTERS:
        unread.append(TextSpan(VOICE_CHARACTERS, len(text)))
    return unread


def is_alone(text: str) -> bool:
    """Return whether a turn is one short note, or a single sentence."""
    return len(text) <= NOTE_CHARACTERS or (len(text) <= _ALONE_CHARACTERS and len(list(own_sentences(text))) == 1)
