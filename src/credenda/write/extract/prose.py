"""Split an event into the author's own sentences, without code, quotes, logs or addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import islice
from typing import Final

from credenda.text.sentences import TextSpan, split_sentences
from credenda.write.extract.lexicon import load_table, occurs

__all__ = ["NOTE_CHARACTERS", "SENTENCE_CHARACTERS", "is_alone", "own_sentences"]

SENTENCE_CHARACTERS: Final = 600
"""Longer sentences are pasted text or run-ons that no rule parses well."""
_SENTENCES_MAX: Final = 256
_CANDIDATES_MAX: Final = 2_048
_LINE_BACK: Final = 1_000
_TALK_CHARACTERS: Final = 400
"""Longer texts are not cached."""
NOTE_CHARACTERS: Final = 90
_ALONE_CHARACTERS: Final = 240
"""Maximum length of a single sentence that counts as alone; of several, only short ones are a note."""
_FENCE: Final = re.compile(r"```|~~~")


@cache
def _not_prose(where: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{text})" for text in load_table("prose")[where]))


def _is_prose(sentence: str) -> bool:
    if _not_prose("begins").match(sentence):
        return False
    return not (occurs(load_table("prose")["has"], sentence) and _not_prose("holds").search(sentence))


class _Fences:
    """Tells, for rising offsets, whether a span lies inside a fenced block."""

    def __init__(self, text: str) -> None:
        self.marks = _FENCE.finditer(text)
        self.next = next(self.marks, None)
        self.inside = False

    def covers(self, start: int, stop: int) -> bool:
        """Return whether [start, stop) overlaps or touches a fence."""
        touched = False
        while self.next is not None and self.next.start() < stop:
            touched = touched or self.next.start() >= start
            self.inside = not self.inside
            self.next = next(self.marks, None)
        return self.inside or touched


def _is_quoted(text: str, start: int) -> bool:
    line = text.rfind("\n", max(0, start - _LINE_BACK), start) + 1
    return text[max(line, start - _LINE_BACK) : start + 1].lstrip().startswith((">", "|"))


def own_sentences(text: str) -> Iterator[TextSpan]:
    """Yield the sentences to parse, at most 256, from the first 2,048 of a text."""
    return iter(_of_talk(text)) if len(text) <= _TALK_CHARACTERS else islice(_readable(text), _SENTENCES_MAX)


def is_alone(text: str) -> bool:
    """Return whether a turn is one short note, or a single sentence."""
    return len(text) <= NOTE_CHARACTERS or (len(text) <= _ALONE_CHARACTERS and len(list(own_sentences(text))) == 1)


@lru_cache(maxsize=256)
def _of_talk(text: str) -> tuple[TextSpan, ...]:
    """Return the sentences of a short text; cached, because extraction and decision both need them."""
    return tuple(islice(_readable(text), _SENTENCES_MAX))


def _readable(text: str) -> Iterator[TextSpan]:
    fences = _Fences(text) if "```" in text or "~~~" in text else None
    for span in islice(split_sentences(text), _CANDIDATES_MAX):
        fenced = fences is not None and fences.covers(span.start, span.stop)
        if fenced or span.stop - span.start > SENTENCE_CHARACTERS or _is_quoted(text, span.start):
            continue
        if _is_prose(text[span.start : span.stop]):
            yield span
