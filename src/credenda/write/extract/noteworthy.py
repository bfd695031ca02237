"""Weigh the sentences of a conversation: keep what a careful reader would note of it, and nothing else. Pure.

A linear classifier over the signs of `worth.py` estimates whether a reader who writes down what a memory should hold
would note a sentence, and whether as a plan. `benchmarks/fit_noteworthy.py` fits its weights on conversations that
readers annotated; they are in `data/noteworthy.tsv`. A user's short notes are weighed by `worthwhile.py` instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import exp
from typing import Final, NamedTuple

from credenda import limits
from credenda.model.attributes import get_attribute
from credenda.model.claim import Claim, Extractor, Span, Turn, UpdateKind
from credenda.model.event import Role
from credenda.model.memory import MemoryType, Stance
from credenda.text.sentences import TextSpan
from credenda.write.extract.acts import Act, act_of, is_question, is_transient
from credenda.write.extract.clauses import open_contractions, open_sentence, read_clause, straighten
from credenda.write.extract.lasting import points_back
from credenda.write.extract.lexicon import lexicon, load_weights, words_of
from credenda.write.extract.prose import NOTE_CHARACTERS, cut_question, own_sentences
from credenda.write.extract.spoken import fluent
from credenda.write.extract.third_person import who_speaks
from credenda.write.extract.voices import is_playing
from credenda.write.extract.worth import signs_of
from credenda.write.extract.worthwhile import is_at_hand

__all__ = [
    "LABELS",
    "SCALE",
    "Noteworthy",
    "WeighingExtractor",
    "estimate_noteworthy",
    "find_signs",
    "list_sentences",
]

LABELS: Final = ("skip", "told", "planned")
SCALE: Final = 100.0
"""Weights are integers in hundredths of a logit."""
_KEPT: Final = 0.4
"""The probability from which a sentence that gave no claim is kept in its words."""
_DROPPED: Final = 0.15
"""The probability below which claims of a sentence are dropped, unless their slot tells of a person's life."""
_CONFIDENCE: Final = 0.6
_IMPORTANCE: Final = 0.4
_COUNTS: Final = (1, 2, 3, 4, 5, 6)
"""Numbers of sentences in a turn that are told apart; more count as six."""
_TO_DO: Final = frozenset({MemoryType.DECISION, MemoryType.PROCEDURE})
_WORDS_MIN: Final = 4
_WORDS_MAX: Final = 60
_JOINT: Final = re.compile(r"[\s,;:–—-]*(?:(?:and|but|so)\s+)?", re.IGNORECASE)
"""What joins a part of a sentence to the part before."""
_LOOSE_END: Final = re.compile(r"[\s,;:–—-]+(?:and|but|so|because|or)?$", re.IGNORECASE)
"""What is left at the end of a sentence that was cut."""
_FILE: Final = re.compile(r"`|\b[\w-]+\(\)|\b\w+/\w+/|\b[\w-]{2,}\.(?!com\b|org\b|net\b)[a-z]{1,4}\b(?!\.)")
"""A name of a file, a path or a call."""
_READ: Final = 0.4
"""Share of the words that must have a weight; other languages have less."""


class Noteworthy(NamedTuple):
    """The probability of each label, in the order of `LABELS`; sums to 1."""

    skip: float
    told: float
    planned: float

    @property
    def noted(self) -> float:
        """The probability that a reader would note the sentence."""
        return self.told + self.planned


class WeighingExtractor:
    """Adds to the claims of another extractor what is noteworthy, and drops what is not. Stateless."""

    def __init__(self, inner: Extractor) -> None:
        """Take the extractor whose claims are weighed."""
        self._inner = inner

    def extract(self, turn: Turn) -> list[Claim]:
        """Return the claims of a turn in the order of their spans; those of a short note as they are."""
        claims = self._inner.extract(turn)
        event = turn.event
        speaker, owner = who_speaks(event)
        is_note = owner == "user" and len(event.text) <= NOTE_CHARACTERS
        if event.role is Role.ASSISTANT or owner is None or is_note:
            return claims
        sentences = [(span, _weigh(text, count)) for span, text, count in list_sentences(turn)]
        kept = [weighed for claim in claims for weighed in _weigh_claim(claim, sentences)]
        added = _list_added(turn, speaker, claims, sentences)
        return sorted([*kept, *added], key=lambda one: one.span.start)


def list_sentences(turn: Turn) -> Iterator[tuple[TextSpan, str, int]]:
    """Yield the statements of a turn's own prose: place, plain text, and the number of sentences of the turn."""
    text = turn.event.text
    found = [cut_question(text, span) for span in own_sentences(text, playing=is_playing(turn))]
    for span in found:
        yield span, _make_plain(text[span.start : span.stop]), len(found)


def _make_plain(text: str) -> str:
    return open_contractions(fluent(straighten(text)))


def find_signs(sentence: str, count: int) -> set[str]:
    """Return the signs of a plain sentence in a turn of `count` sentences, as named in `data/noteworthy.tsv`."""
    return signs_of(sentence) | {f"t:{sum(map(count.__ge__, _COUNTS))}"}


def estimate_noteworthy(sentence: str, count: int) -> Noteworthy:
    """Estimate how a reader would note a plain sentence in a turn of `count` sentences."""
    weights = _load()
    sums = [0.0] * len(LABELS)
    for sign in find_signs(sentence, count):
        for at, weight in enumerate(weights.get(sign, ())):
            sums[at] += weight
    shares = [exp(one - max(sums)) for one in sums]
    return Noteworthy(*(one / sum(shares) for one in shares))


@cache
def _load() -> Mapping[str, Sequence[float]]:
    return {sign: [int(one) / SCALE for one in numbers] for sign, *numbers in load_weights("noteworthy").rows}


class _Weighed(NamedTuple):
    """A sentence in plain words, and what it is worth; None if it is hardly English."""

    text: str
    worth: Noteworthy | None


def _weigh(text: str, count: int) -> _Weighed:
    words = re.findall(r"[^\W\d_]+", text.lower())
    known = sum(f"w:{word}" in _load() for word in words)
    return _Weighed(text, estimate_noteworthy(text, count) if words and known >= _READ * len(words) else None)


def _weigh_claim(claim: Claim, sentences: Sequence[tuple[TextSpan, _Weighed]]) -> Iterator[Claim]:
    """Yield a claim, surer if it has no slot and is noteworthy; nothing for one that no reader would note."""
    found = [one.worth for span, one in sentences if _overlaps(claim, span) and one.worth is not None]
    noted = max((one.noted for one in found), default=None)
    if noted is None or claim.move is not UpdateKind.STATE or claim.type in _TO_DO:
        yield claim
    elif claim.attribute is None:
        firm = claim.stance is Stance.ASSERTED and noted >= _KEPT
        if noted >= _DROPPED:
            yield replace(claim, confidence=max(claim.confidence, _CONFIDENCE)) if firm else claim
    else:
        schema = get_attribute(claim.attribute)
        settles = claim.attribute == "experience" and claim.entity != claim.speaker  # "the exam went well"
        lasts = schema.hurts or schema.person or claim.attribute == "instruction"
        if noted >= _DROPPED or settles or lasts:
            yield claim


def _overlaps(claim: Claim, span: TextSpan) -> bool:
    return claim.span.start < span.stop and span.start < claim.span.stop


def _list_added(
    turn: Turn, speaker: str, claims: Sequence[Claim], sentences: Sequence[tuple[TextSpan, _Weighed]]
) -> Iterator[Claim]:
    """Yield the words of the sentences that gave no claim, are noteworthy and need no other sentence."""
    event = turn.event
    for span, (text, worth) in sentences:
        if worth is None or worth.noted < _KEPT or not _is_whole(text):
            continue
        taken = [one.span for one in claims if _overlaps(one, span)]
        if taken and not any(_is_noted(part, len(sentences)) for part in _list_gaps(event.text, span, taken)):
            continue
        planned = worth.planned > worth.told
        said = _LOOSE_END.sub("", event.text[span.start : span.stop])[: limits.MEMORY_TEXT_CHARACTERS]
        yield Claim(
            text=said,
            type=MemoryType.FACT,
            span=Span(event.id, span.start, span.start + len(said)),
            speaker=speaker,
            stance=Stance.PLANNED if planned else Stance.ASSERTED,
            confidence=0.5 if planned else _CONFIDENCE,
            importance=_IMPORTANCE,
            topic=event.topic,
            tags=event.tags,
        )


def _is_noted(part: str, count: int) -> bool:
    """Return whether a reader would note a part of a sentence for itself."""
    return _is_whole(part) and estimate_noteworthy(part, count).noted >= _KEPT


def _list_gaps(text: str, span: TextSpan, taken: Sequence[Span]) -> Iterator[str]:
    """Yield the parts of a sentence that no claim is about, in plain words, without those that join them."""
    at = span.start
    for start, stop in [*sorted((one.start, one.stop) for one in taken), (span.stop, span.stop)]:
        if start > at:
            joint = _JOINT.match(text, at, start)
            yield _make_plain(text[joint.end() if joint else at : start])
        at = max(at, stop)


def _is_whole(sentence: str) -> bool:
    """Return whether a sentence states something in its speaker's own words, and says of what."""
    count = sentence.count(" ") + 1
    told = _WORDS_MIN <= count <= _WORDS_MAX and not sentence.rstrip().endswith(("?", ":"))
    opened = open_sentence(sentence.strip()).text
    if not told or not opened or is_question(opened) or is_transient(sentence) or _is_task(sentence, opened):
        return False
    clause = read_clause(sentence.strip())
    hearsay = clause is not None and clause.report
    return act_of(sentence) is Act.STATEMENT and not hearsay and not points_back(opened)


def _is_task(sentence: str, opened: str) -> bool:
    """Return whether a sentence is an order, or about a file or an error of the running task."""
    words = words_of(opened)
    first = lexicon().forms.get(opened.split(" ", 1)[0].lower())
    ordered = first is not None and "base" in first.kinds and "i" not in words
    return ordered or is_at_hand(sentence) or _FILE.search(sentence) is not None
