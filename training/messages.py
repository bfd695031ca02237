"""Annotated messages: their files, and what a network sees of them."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from credenda.text.sentences import split_sentences
from training.bases import DATA, Base

__all__ = [
    "Example",
    "Target",
    "encode_message",
    "is_held_out",
    "list_files",
    "load_rows",
    "make_examples",
]

PIECES: Final = 192
BEFORE: Final = 48
"""Pieces of the message before: its last ones."""
_SPECIAL: Final = 3
_HELD_OUT: Final = 10
"""One group of persons in so many is kept apart for testing."""
_BLOCK: Final = 40
"""Messages of a file without persons that count as one group."""
Span = tuple[int, int]


@dataclass(slots=True)
class Target:
    """A fact as the network should find it: first and last piece of each span."""

    value: Span
    attribute: str
    subject: int
    status: str
    change: str
    weight: int
    topic: str
    """The kind of thing that is liked or not; "" for other facts, and where nobody said."""
    spans: dict[str, Span]


@dataclass(slots=True)
class Example:
    """A message as pieces: `[CLS] message before [SEP] message [SEP]`; `first` is the first piece of the message."""

    ids: list[int]
    kinds: list[int]
    first: int
    targets: list[Target] = field(default_factory=list[Target])


def list_files(languages: Iterable[str] = ()) -> list[Path]:
    """List the files of messages: those in English, and those of the languages ("de") given."""
    english = [one for one in sorted(DATA.glob("*.jsonl")) if not one.stem.startswith("x")]
    return english + [one for language in languages for one in sorted(DATA.glob(f"x{language}*.jsonl"))]


def load_rows(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Load the messages of some files."""
    return [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines() if line.strip()]


def is_held_out(name: str) -> bool:
    """Return whether a message belongs to the part that tests: whole persons or conversations, by their names.

    Only files written after the first set count: its messages taught the weights that a run may begin with.
    """
    if name[0] not in "abeijlmnovxyz":
        return False
    group, _, number = name.rpartition("-")
    if "-" not in group:
        group = f"{group}-{int(re.sub(r'[^0-9]', '', number) or 0) // _BLOCK}"
    return zlib.crc32(group.encode()) % _HELD_OUT == 0


def encode_message(base: Base, text: str, before: str) -> tuple[Example, list[Span], list[Span]]:
    """Encode a message; also return the characters of its pieces, and of those of the message before."""
    head = base.open_tokenizer().encode(before, add_special_tokens=False)
    tail = base.open_tokenizer().encode(text, add_special_tokens=False)
    head_ids, head_places = head.ids[-BEFORE:], head.offsets[-BEFORE:]
    kept = PIECES - len(head_ids) - _SPECIAL
    ids = [base.cls, *head_ids, base.sep, *tail.ids[:kept], base.sep]
    first = len(head_ids) + 2
    return Example(ids, [0] * first + [1] * (len(ids) - first), first), tail.offsets[:kept], head_places


def make_examples(base: Base, row: dict[str, Any], most: int) -> Iterator[Example]:
    """Yield the examples of an annotated message, each of a few sentences and of what stands before them.

    `most` is the number of pieces up to which short sentences are joined. What goes before is the part before, or the
    message before. A fact belongs to the part that holds its value.
    """
    text = row["text"]
    parts = list(_cut_parts(base, text, most)) or [(0, len(text))]
    facts = [(fact, _find_value(text, fact, parts)) for fact in row["facts"]]
    for at, (start, stop) in enumerate(parts):
        told = [fact for fact, place in facts if start <= place < stop]
        before = text[slice(*parts[at - 1])] if at else row.get("prev", "")
        yield _make_example(base, text[start:stop], before, told)


def _cut_parts(base: Base, text: str, most: int) -> Iterator[Span]:
    """Yield the places of the parts of a message."""
    start, stop, length = 0, 0, 0
    for sentence in split_sentences(text):
        size = len(base.open_tokenizer().encode(text[sentence.start : sentence.stop], add_special_tokens=False).ids)
        if length and length + size > most:
            yield start, stop
            start, length = sentence.start, 0
        stop, length = sentence.stop, length + size
    if length:
        yield start, stop


def _find_value(text: str, fact: dict[str, Any], parts: list[Span]) -> int:
    """Find where a value begins; of one in the message before, where the words begin that take it up."""
    quote = _find(text, fact.get("quote", ""))
    found = quote if fact.get("from") == "prev" else _find(text, fact["value"], quote)
    return found[0] if found else parts[0][0]


def _make_example(base: Base, text: str, before: str, facts: list[dict[str, Any]]) -> Example:
    example, places, head_places = encode_message(base, text, before)
    for fact in facts:
        quote = _find(text, fact.get("quote", ""))
        if fact.get("from") == "prev":
            value = _to_pieces(head_places, 1, _find(before, fact["value"]))
        else:
            value = _to_pieces(places, example.first, _find(text, fact["value"], quote))
        if value is not None:
            example.targets.append(_make_target(fact, text, (quote, value), (places, example.first)))
    return example


def _make_target(
    fact: dict[str, Any], text: str, found: tuple[Span | None, Span], shown: tuple[list[Span], int]
) -> Target:
    quote, value = found
    places, base = shown
    subject = {"me": 0, "you": 1}.get(fact["subject"], 2)
    wanted = {role: fact.get(role, "") for role in ("key", "old", "when", "scope")}
    wanted["subject"] = fact["subject"] if subject == 2 else ""  # noqa: PLR2004 - neither me nor you
    spans = {role: _to_pieces(places, base, _find(text, words, quote)) for role, words in wanted.items()}
    spans["quote"] = _to_pieces(places, base, quote)
    return Target(
        value=value,
        attribute=fact["attribute"],
        subject=subject,
        status=fact["status"],
        change=fact.get("change", ""),
        weight=fact["weight"],
        topic=fact.get("topic", ""),
        spans={role: span for role, span in spans.items() if span is not None},
    )


def _find(text: str, words: str, near: Span | None = None) -> Span | None:
    """Find some words: on word borders if possible, inside or else near the quotation."""
    if not words:
        return None

    def rank(start: int) -> tuple[int, bool, int]:
        stop = start + len(words)
        borders = (start == 0 or not text[start - 1].isalnum()) + (stop == len(text) or not text[stop].isalnum())
        within = near is not None and near[0] <= start and stop <= near[1]
        return borders, within, -abs(start - (near[0] if near else 0))

    starts = [one.start() for one in re.finditer(re.escape(words), text)]
    return (best := max(starts, key=rank), best + len(words)) if starts else None


def _to_pieces(places: list[Span], base: int, found: Span | None) -> Span | None:
    if found is None:
        return None
    touched = [at for at, (start, stop) in enumerate(places) if start < found[1] and stop > found[0]]
    return (base + touched[0], base + touched[-1]) if touched else None
