"""Split a message into passages by their voice: the author's own prose, or other text. Pure.

Only own prose asserts something about its author; a list of the author's own facts is own prose. Where the signs are
ambiguous, a passage counts as another voice: its words stay searchable in the event, and no belief rests on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from functools import cache, lru_cache
from itertools import groupby, islice
from typing import Final, NamedTuple

from credenda.model.claim import Turn
from credenda.text.sentences import TextSpan, split_sentences
from credenda.write.extract.clauses import load_table, names, open_contractions, straighten

VOICE_CHARACTERS: Final = 65_536
"""Longest beginning of a text that may be own prose; what follows it counts as pasted."""
_SENTENCES_MAX: Final = 2_048
_SCENE_MESSAGES: Final = 2
"""Number of the author's messages after which an unfinished role play ends."""
_MENTIONED_CODE: Final = re.compile(r"`[^`\n]+`")
_PROSE_WORDS: Final = 4
"""Fewest words around mentioned code that make a sentence prose."""
_FENCE: Final = re.compile(r"(?m)^[ \t]*(?:```|~~~)|```")
_QUOTE_LINE: Final = re.compile(r"(?m)^[ \t]*[>|].*(?:\n[ \t]*[>|].*)*")
_RECALLED_LINE: Final = re.compile(
    r"(?m)^[ \t]*[-*] \[[mek]\d+-[0-9a-f]+.*|^.*\[m\d+-[0-9a-f]+(?:, m\d+-[0-9a-f]+)*\][ \t]*$"
)
"""A line of a context or card, which cites what is already held."""
_SPEAKER_LINE: Final = re.compile(
    r"(?m)^(?:\[[^\]\n]{1,30}\] ?)?(?P<who>[A-Z][\w .'-]{0,24}?)(?: \([^)\n]{1,20}\))?: \S"
)
_QUOTED: Final = re.compile(
    r"(?<![\w\"])\"(?=\S)(?P<straight>[^\"\n]{8,600}?)(?<=\S)\"(?!\w)|\u201c(?P<curly>[^\u201c\u201d\n]{8,600})\u201d"
    r"|\u00ab(?P<angle>[^\u00ab\u00bb\n]{8,600})\u00bb"
)
_SELF: Final = re.compile(r"\b(?:i|i'm|i've|me|my|we|our)\b", re.IGNORECASE)
_QUOTED_WORDS: Final = (3, 8)
"""Words from which a quotation in the first person, and any quotation, is another voice; shorter ones are names."""
_TURNS_MIN: Final = 3
_LABELS_MIN: Final = 3
_GAME_LABELS_MIN: Final = 2
_ROLE: Final = re.compile(
    r"(?:er|or|ist|ian|eer|ant|yst|man|woman|smith|wright|ess|ee|nurse|chef|cook|judge|pilot|guide|clerk|pirate|king|queen"
    r"|wizard|knight|spy|vampire|robot|monk|priest|poet|thief|detective)$"
)
_PRAISE: Final = frozenset(
    {"listener", "lifesaver", "helper", "winner", "genius", "keeper", "believer", "pleasure", "bother"}
)
_APOSTROPHES: Final = str.maketrans("\u2018\u2019", "''")


class Voice(IntEnum):
    """The voice of a passage: its author's own, or another."""

    OWN = 0
    ROLE_PLAY = 1
    TASK = 2
    PASTED = 3
    TEMPLATE = 4
    QUOTED = 5
    CODE = 6


class Passage(NamedTuple):
    """Characters [start, stop) of a text in one voice."""

    voice: Voice
    start: int
    stop: int


def split_voices(text: str, *, playing: bool = False) -> tuple[Passage, ...]:
    """Return the passages of a message in order; they cover all of it.

    `playing`: an earlier message opened a role play that may continue, see `is_playing`.

    >>> [(one.voice.name, one.start, one.stop) for one in split_voices("I'm Lea. Translate this: I am a cook.")]
    [('OWN', 0, 9), ('TASK', 9, 37)]
    """
    return _split(text, playing) if len(text) <= VOICE_CHARACTERS else _split.__wrapped__(text, playing)


@lru_cache(maxsize=64)
def _split(text: str, playing: bool) -> tuple[Passage, ...]:  # noqa: FBT001 - a cached function takes it by place
    shown = text[:VOICE_CHARACTERS].translate(_APOSTROPHES)
    voices = bytearray(len(text))
    for passage in _find_passages(shown, playing=playing):
        voices[passage.start : passage.stop] = bytes([passage.voice]) * (passage.stop - passage.start)
    voices[VOICE_CHARACTERS:] = bytes([Voice.PASTED]) * max(0, len(text) - VOICE_CHARACTERS)
    passages: list[Passage] = []
    start = 0
    for voice, run in groupby(voices):
        stop = start + sum(1 for _ in run)
        passages.append(Passage(Voice(voice), start, stop))
        start = stop
    return tuple(passages)


def _find_passages(text: str, *, playing: bool) -> Iterator[Passage]:
    """Yield passages in other voices; where they overlap, the later one decides."""
    sentences = list(islice(split_sentences(text), _SENTENCES_MAX))
    if sentences and len(sentences) == _SENTENCES_MAX:
        yield Passage(Voice.PASTED, sentences[-1].stop, len(text))
    yield from _find_scenes(text, sentences, playing=playing)
    yield from _find_material(text, sentences)
    if "\n" in text:
        yield from _find_mail(text)
        yield from _find_transcript(text)
        yield from _find_sheets(text)
    yield from (Passage(Voice.TEMPLATE, *span) for span in sentences if _has_blank(text, span))
    yield from _find_quotations(text)
    yield from (Passage(Voice.CODE, *span) for span in sentences if _is_code(text[span.start : span.stop]))
    yield from _find_fences(text)


def is_playing(turn: Turn) -> bool:
    """Return whether an earlier message of the same author leaves them in a role that they play themselves.

    A role for the assistant alone ends with its message.
    """
    event = turn.event
    earlier = [one.text for one in turn.before if (one.role, one.speaker) == (event.role, event.speaker)]
    recent = earlier[-_SCENE_MESSAGES:]
    for number, text in enumerate(recent):
        opens = _starts_scene(text) and _expression("scene", "author").search(text.translate(_APOSTROPHES))
        if opens and not any(_expression("scene", "end").search(later) for later in recent[number:]):
            return True
    return False


@cache
def _expression(group: str, name: str) -> re.Pattern[str]:
    return re.compile(load_table("voices")[group][name], re.IGNORECASE)


def _has_sign(group: str, text: str) -> bool:
    """Return whether a text has one of the signs of a group, before the slower expressions."""
    return any(sign in text for sign in load_table("voices")[group]["has"])


def _starts_scene(text: str) -> bool:
    plain = text.translate(_APOSTROPHES)
    expected = _has_sign("scene", plain.lower())
    return expected and _expression("scene", "start").search(plain) is not None


def _opens_scene(sentence: str) -> bool:
    """Return whether a sentence makes the rest of its message a role play or a supposition."""
    if _starts_scene(sentence):
        return True
    found = _expression("scene", "opening").match(open_contractions(straighten(sentence)))
    return found is not None and (found["role"] is None or _is_role(found["role"]))


def _is_role(text: str) -> bool:
    """Return whether a noun phrase names an occupation or relative, and no praise: "my landlord", "a pirate"."""
    noun = text.split(" in ", maxsplit=1)[0].split(" of ", maxsplit=1)[0].rpartition(" ")[2].casefold()
    return noun not in _PRAISE and (names().kin_noun(noun) is not None or _ROLE.search(noun) is not None)


def _leaves(sentence: str) -> bool:
    return _expression("scene", "leave").match(sentence) is not None


def _find_scenes(text: str, sentences: Iterable[TextSpan], *, playing: bool) -> Iterator[Passage]:
    inside = playing
    ended = 0
    for first, stop in sentences:
        sentence = text[first:stop]
        start, ended = ended if inside else first, stop
        if inside and (_leaves(sentence) or _expression("scene", "end").search(sentence)):
            inside = False
        elif not inside:
            inside = _opens_scene(sentence)
        if inside:
            yield Passage(Voice.ROLE_PLAY, start, stop)


def _find_material(text: str, sentences: Sequence[TextSpan]) -> Iterator[Passage]:
    folded = text.lower()
    if not _has_sign("material", folded):
        return
    inside: Voice | None = None
    ended = 0
    for first, stop in sentences:
        sentence = text[first:stop]
        start, ended = first if inside is None else ended, stop
        if inside is not None and _leaves(sentence):
            inside = None
        if inside is None:
            quoted = _QUOTE_LINE.search(text, first)
            inside = (
                None
                if (quoted is not None and text[first : quoted.start()].rstrip().endswith(":"))
                else _opens_material(sentence)
            )
            if inside is None and _matches("whole", sentence):
                yield Passage(Voice.TASK, start, stop)
            back = _matches("back", sentence)
            if back:
                yield Passage(Voice.TASK, 0, stop)
            if (back and not text[:first].strip()) or _matches("ahead", sentence):
                yield Passage(Voice.TASK, stop, len(text))
        if inside is not None:
            yield Passage(inside, start, stop)


def _matches(name: str, sentence: str) -> bool:
    return _expression("material", name).search(sentence) is not None


def _opens_material(sentence: str) -> Voice | None:
    if ":" in sentence:
        if _matches("lead", sentence) or _matches("asked", sentence):
            return Voice.TASK
        if _matches("here", sentence):
            return Voice.PASTED
    return Voice.PASTED if _matches("forward", sentence) else None


def _list_lines(text: str) -> list[TextSpan]:
    lines: list[TextSpan] = []
    start = 0
    for line in text.splitlines(keepends=True):
        lines.append(TextSpan(start, start + len(line)))
        start += len(line)
    return lines


def _find_mail(text: str) -> Iterator[Passage]:
    """Find forwarded mail from its headers to the end, and a letter from its salutation to its signature."""
    lines = _list_lines(text)
    dear: int | None = None
    before = False
    for number, (start, stop) in enumerate(lines):
        line = text[start:stop].rstrip()
        header = _matches("header", line)
        if header and before:
            yield Passage(Voice.PASTED, lines[number - 1].start, len(text))
            return
        before = header
        if dear is None and _matches("dear", line):
            dear = start
        elif dear is not None and _matches("signed", line):
            following = lines[number + 1].stop if number + 1 < len(lines) else stop
            yield Passage(Voice.PASTED, dear, following)
            dear = None


def _find_transcript(text: str) -> Iterator[Passage]:
    """Find a pasted conversation: lines of at least two speakers, of whom one speaks again."""
    found = list(_SPEAKER_LINE.finditer(text))
    names = [one["who"] for one in found]
    if len(names) >= _TURNS_MIN and 1 < len(set(names)) < len(names):
        yield Passage(Voice.PASTED, found[0].start(), len(text))


def _find_sheets(text: str) -> Iterator[Passage]:
    """Find character sheets: lines of labels of a game, or of any labels under the title of a character."""
    block: list[TextSpan] = []
    labels: list[str] = []
    titled = False
    for start, stop in [*_list_lines(text), TextSpan(len(text), len(text))]:
        line = text[start:stop]
        found = _expression("sheet", "label").match(line)
        if found is not None:
            block.append(TextSpan(start, stop))
            labels.append(found["label"].strip().lower())
            continue
        if not line.strip() and stop < len(text):
            continue
        game = sum(label in load_table("voices")["sheet"]["game"] for label in labels)
        if block and (titled or (len(labels) >= _LABELS_MIN and game >= _GAME_LABELS_MIN)):
            yield Passage(Voice.TEMPLATE, block[0].start, block[-1].stop)
        titled = _expression("sheet", "titled").search(line) is not None
        block, labels = [], []


def _has_blank(text: str, span: TextSpan) -> bool:
    return re.search(load_table("voices")["sheet"]["blank"], text[span.start : span.stop]) is not None


def _find_quotations(text: str) -> Iterator[Passage]:
    """Find quoted lines, and quotations within a line that are long enough to be somebody's words."""
    recalled = _RECALLED_LINE.finditer(text) if "[" in text else ()
    for found in (*_QUOTE_LINE.finditer(text), *recalled):
        yield Passage(Voice.QUOTED, found.start(), found.end())
    own, most = _QUOTED_WORDS
    for found in _QUOTED.finditer(text):
        words = found[0].count(" ") + 1
        if words >= most or (words >= own and _SELF.search(found[0])):
            yield Passage(Voice.QUOTED, found.start(), found.end())


def _is_code(sentence: str) -> bool:
    """Return whether a sentence is code; code that a sentence mentions inside `…` does not count."""
    if _compile_code("begins").match(sentence):
        return True
    if not _has_sign("code", sentence):
        return False
    rest = _MENTIONED_CODE.sub(" ", sentence)
    told = rest if len(rest.split()) >= _PROSE_WORDS else sentence
    return _compile_code("holds").search(told) is not None


@lru_cache(maxsize=2)
def _compile_code(where: str) -> re.Pattern[str]:
    """Compile the signs of code, which respect case."""
    return re.compile("|".join(f"(?:{text})" for text in load_table("voices")["code"][where]))


def _find_fences(text: str) -> Iterator[Passage]:
    """Find fenced code; a fence that is not closed lasts until the end."""
    marks = [found.start() for found in _FENCE.finditer(text)]
    for first, last in zip(marks[::2], [*marks[1::2], len(text)], strict=False):
        yield Passage(Voice.CODE, first, min(last + 3, len(text)))
