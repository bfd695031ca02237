"""Split a message into passages by their voice: the author's own prose, or other text. Pure.

Only own prose asserts something about its author; a list of the author's own facts is own prose. Where the signs are
ambiguous, a passage counts as another voice: its words stay searchable in the event, and no belief rests on it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import cache, lru_cache
from importlib import resources
from itertools import groupby, islice
from typing import Any, Final, NamedTuple

from credenda import limits
from credenda.model.attributes import AttributeSchema, get_attribute, load_attributes
from credenda.model.claim import Claim, Span, Turn
from credenda.model.event import Event, Role
from credenda.model.memory import MemoryType
from credenda.text.normalize import normalise_attribute, normalise_value
from credenda.text.sentences import TextSpan, split_sentences

# Straighten a sentence, expand its contractions, and split it into clauses.


_CLAUSES_MAX: Final = 8
_QUOTES: Final = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u00a0": " "})
_EMOJI: Final = re.compile(
    " ?(?:[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff]"
    "[\ufe0e\ufe0f\u200d\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*)+"
)
"""Emoji with their variation and joining characters; they mark tone, and belong to no name."""
_CLAUSES_BULLET: Final = re.compile(r"^(?:[-*\u2022+]|\d{1,3}[.)]|#{1,6})\s+|^[^\w\"'(>]+")
_MARKUP: Final = re.compile(r"\*\*|__|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)|`")
_CONTRACTIONS: Final = [
    (re.compile(form, re.IGNORECASE), full)
    for form, full in (
        (r"\bcan't\b", "cannot"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"'m\b", " am"),
        (r"'re\b", " are"),
        (r"'ve\b", " have"),
        (r"'ll\b", " will"),
        (r"\blet's\b", "let us"),
        (r"\b(here|that|it|there|what|who|where|how|he|she)'s\b", r"\1 is"),
    )
]
_SUBJECT: Final = (
    r"(?:(?:i|we|he|she|they|it|you|my|our|his|her|their|your|the|what|how|why|can|could|would|will|should|do|does|is|are"
    r"|please)\b(?!')|(?:i|we|he|she|they|it|you|that|what)'|(?-i:[A-Z][\w-]+(?: [A-Z][\w-]+)? [a-z]))"
)
_CLAUSES_JOINT: Final = re.compile(
    rf"(?:\s*[,;:]|\s+[-–—]{{1,3}}|\s*—)\s*(?:(?:and|but|so|then|while|though|or|because|yet|also)\s+){{0,3}}(?={_SUBJECT})"
    rf"|\s+(?:and|but|so|while|because)\s+(?:(?:also|now|then)\s+){{0,2}}(?={_SUBJECT})",
    re.IGNORECASE,
)
_WITH_ME: Final = re.compile(r"(?i:my|our) (?:[\w-]+ ){0,2}[\w-]+|[A-Z][\w-]+")
"""A person whom "and I" joins to the speaker."""


def straighten(sentence: str) -> str:
    """Normalise quotes and spaces of a sentence; remove list markers, emphasis marks and emoji."""
    worded = sentence if sentence.isascii() else _EMOJI.sub("", sentence.translate(_QUOTES))
    plain = " ".join(worded.split())
    if "*" in plain or "`" in plain or "__" in plain:
        plain = _MARKUP.sub("", plain)
    return _CLAUSES_BULLET.sub("", plain)


def open_contractions(text: str) -> str:
    """Expand "I'm", "don't" and "we've".

    >>> open_contractions("I'm sure we don't")
    'I am sure we do not'
    """
    if "'" in text:
        for form, full in _CONTRACTIONS:
            text = form.sub(full, text)
    return text


def split_clauses(sentence: str) -> list[str]:
    """Split a sentence where a new subject, a question or a request begins.

    >>> split_clauses("I live in Rome and my brother lives in Oslo"), split_clauses("My wife and I live in Rome")
    (['I live in Rome', 'my brother lives in Oslo'], ['My wife and I live in Rome'])
    """
    clauses: list[str] = []
    start = 0
    for joint in _CLAUSES_JOINT.finditer(sentence):
        if len(clauses) < _CLAUSES_MAX and not _WITH_ME.fullmatch(sentence, start, joint.start()):
            clauses.append(sentence[start : joint.start()])
            start = joint.end()
    return [clause for clause in (*clauses, sentence[start:]) if clause]


# A small vocabulary: nouns of attributes, categories of named things, relatives and pets, and verb forms.


_FAVOURITE: Final = re.compile(
    r"^(?:all[- ]time )?(?:favou?rite|fave?|preferred|go-to|go to) (?P<noun>.+)$", re.IGNORECASE
)
_QUALIFIER: Final = re.compile(r"^(?:(?:current|new|present|own|usual|main|primary) )+", re.IGNORECASE)


@cache
def load_table(name: str) -> dict[str, Any]:
    """Load one data file of this package; the result is shared and must not be changed."""
    folder = resources.files("credenda.write.extract").joinpath("data")
    return tomllib.loads(folder.joinpath(f"{name}.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Attributes by every noun that names them, categories by value, and the base of a verb by every form."""

    attributes: Mapping[str, AttributeSchema]
    categories: Mapping[str, str]
    verbs: Mapping[str, str]

    def attribute(self, noun: str) -> AttributeSchema:
        """Return the attribute of a noun phrase; an unknown noun is its own attribute."""
        folded = noun.casefold()
        bare = _QUALIFIER.sub("", folded)
        found = None if names().kin_noun(folded) else self.attributes.get(folded) or self.attributes.get(bare)
        if found is not None:
            return found
        if favourite := _FAVOURITE.match(bare):
            name = f"favourite_{normalise_attribute(favourite['noun'])}"
            return AttributeSchema(name=name, type=MemoryType.PREFERENCE, importance=0.8)
        name = normalise_attribute(folded)
        return AttributeSchema(name=name, known=False, cardinality=get_attribute(name).cardinality)

    def category(self, value: str) -> str | None:
        """Return the category of a named thing: "PostgreSQL" is a database, "TypeScript 5" a language; or None."""
        key = normalise_value(value)
        found = self.categories.get(key)
        if found is None and " " in key:
            first, _, rest = key.rpartition(" ")
            found = self.categories.get(first) if rest.removeprefix("v")[:1].isdigit() else None
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Words for relatives, pets and others around a person."""

    kin: frozenset[str]
    same_kin: Mapping[str, str]
    plural_kin: Mapping[str, str]

    def kin_noun(self, word: str) -> str | None:
        """Return the base noun of a relative or pet ("mom" is a mother), or None."""
        folded = word.casefold().replace(" in law", "-in-law")
        if folded in self.plural_kin:
            return self.plural_kin[folded]
        return self.same_kin.get(folded, folded) if folded in self.kin else None


def _doubled(base: str) -> bool:
    return len(base) == 3 and base[-1] in "gtpbdmn" and base[-2] in "aeiou"  # noqa: PLR2004


def _regular(base: str) -> tuple[str, ...]:
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ies", f"{base[:-1]}ied", f"{base}ing"
    third = f"{base}es" if base.endswith(("s", "sh", "ch", "x", "z")) else f"{base}s"
    if base.endswith("e"):
        return third, f"{base}d", f"{base[:-1]}ing"
    stem = base + base[-1] if _doubled(base) else base
    return third, f"{stem}ed", f"{stem}ing"


def _verbs(table: Mapping[str, Any]) -> dict[str, str]:
    doubled = {base: (f"{base}s", f"{base}{base[-1]}ed", f"{base}{base[-1]}ing") for base in table["doubling"]}
    forms = {base: _regular(base) for base in table["regular"]} | doubled | table["irregular"]
    found: dict[str, str] = {}
    for base, others in forms.items():
        for form in (base, *others):
            found.setdefault(form, base)
    return found | dict.fromkeys(("am", "are", "were"), "be")


def _attributes_by_noun() -> Iterator[tuple[str, AttributeSchema]]:
    for name, attribute in load_attributes().items():
        if attribute.words:
            yield name, attribute
        for word in attribute.words:
            yield word, attribute


@cache
def lexicon() -> Lexicon:
    """Load attributes, categories and verbs; cached."""
    categories = load_table("categories")["of"]
    return Lexicon(
        attributes=dict(_attributes_by_noun()),
        categories={normalise_value(value): name for name, values in categories.items() for value in values},
        verbs=_verbs(load_table("lexicon")["verbs"]),
    )


@cache
def names() -> Names:
    """Load the words for relatives and pets; cached."""
    kin = load_table("lexicon")["kin"]
    return Names(
        kin=frozenset(word.casefold() for word in (*kin["words"], *kin["pets"])),
        same_kin=kin["same"],
        plural_kin=kin["plural"],
    )


# The speech act of a sentence, as far as it decides whether a claim may rest on it.


_MACRO: Final = re.compile(r"\{([A-Z]+)\}")


class Act(StrEnum):
    """The speech act of a sentence."""

    STATEMENT = "statement"
    PASTED = "pasted"
    RETRACTION = "retraction"
    SARCASM = "sarcasm"
    HYPOTHETICAL = "hypothetical"
    ROLE_PLAY = "role_play"


@cache
def _signs() -> Mapping[Act, re.Pattern[str]]:
    table = load_table("acts")

    def compile_signs(signs: list[str]) -> re.Pattern[str]:
        return re.compile(_MACRO.sub(lambda found: table["macros"][found[1]], "|".join(signs)), re.IGNORECASE)

    return {Act(name): compile_signs(signs) for name, signs in table["act"].items()}


@cache
def _question() -> re.Pattern[str]:
    return re.compile(load_table("acts")["question"], re.IGNORECASE)


def act_of(sentence: str) -> Act:
    """Classify one sentence, given with straight quotes and single spaces.

    >>> act_of("What if I lived in Bern?").value, act_of("I live in Bern.").value
    ('hypothetical', 'statement')
    """
    return next((act for act, signs in _signs().items() if signs.search(sentence)), Act.STATEMENT)


def is_question(clause: str) -> bool:
    """Return whether a clause begins as a question or request."""
    return _question().match(clause) is not None


# The speaker of an event.


def who_speaks(event: Event) -> tuple[str, str | None]:
    """Return the speaker, and the entity of "I" (None in a document)."""
    if event.role is Role.USER:
        return "user", "user"
    if event.role is Role.DOCUMENT:
        return event.speaker, None
    return event.speaker, event.speaker


VOICE_CHARACTERS: Final = 65_536
"""Longest beginning of a text that may be own prose; what follows it counts as pasted."""
_VOICES_SENTENCES_MAX: Final = 2_048
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
    sentences = list(islice(split_sentences(text), _VOICES_SENTENCES_MAX))
    if sentences and len(sentences) == _VOICES_SENTENCES_MAX:
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


_NOT_TO: Final = re.compile(
    r"\b(?:(?:do not|don['\u2019]?t|never) (?:(?:really|always|ever|even) )?(?:need|want|like|have|expect|ask)"
    r"|no need|needn['\u2019]?t)(?: (?:for )?you)?(?: to)?\s+$",
    re.IGNORECASE,
)


def is_forbidden(text: str, start: int) -> bool:
    """Return whether the words before an order say that it is not to be done.

    >>> said = "I don't need you to constantly tell me about updates."
    >>> is_forbidden(said, said.index("constantly")), is_forbidden("I want you to ask", 14)
    (True, False)
    """
    return _NOT_TO.search(text, 0, max(start, 0)) is not None


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


# The sentences of an event that its author says in their own voice.


_SENTENCE_CHARACTERS: Final = 600
"""Longer sentences are pasted text or run-ons, of which nothing is read."""
_PROSE_SENTENCES_MAX: Final = 256
_PROSE_JOINT: Final = re.compile(
    r",\s+(?:(?:and|but|so|because)\s+)?(?=(?:I|we|my|our)(?:['’](?:m|ve|d|ll|re))?\b|(?:can|could|would|will) you\b)"
)
_PROSE_BULLET: Final = re.compile(r"\s*(?:[-*\u2022\u2013]|\d{1,2}[.)])\s+")


def own_sentences(text: str, *, playing: bool = False) -> Iterator[TextSpan]:
    """Yield the sentences of a text that are wholly own prose, at most 256; see `voices.split_voices`."""
    return islice((span for span in _list_own(text, playing=playing) if _is_parsed(span)), _PROSE_SENTENCES_MAX)


def _list_own(text: str, *, playing: bool) -> Iterator[TextSpan]:
    passages = (passage for passage in split_voices(text, playing=playing) if passage.voice is Voice.OWN)
    passage = next(passages, None)
    for span in split_sentences(text):
        while passage is not None and passage.stop <= span.start:
            passage = next(passages, None)
        if passage is None:  # what follows is pasted
            return
        if passage.start <= span.start and span.stop <= passage.stop:
            bullet = _PROSE_BULLET.match(text, *span)
            own = span if bullet is None else TextSpan(bullet.end(), span.stop)
            yield from (own,) if _is_parsed(own) else _cut_run_on(text, own)


def _cut_run_on(text: str, span: TextSpan) -> Iterator[TextSpan]:
    """Cut a long sentence where its author begins anew: "…, and I …", "…, can you …"."""
    start = span.start
    for joint in _PROSE_JOINT.finditer(text, span.start, span.stop):
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
    if len(parsed) > _PROSE_SENTENCES_MAX:
        unread.append(TextSpan(parsed[_PROSE_SENTENCES_MAX].start, len(text)))
    elif len(text) > VOICE_CHARACTERS:
        unread.append(TextSpan(VOICE_CHARACTERS, len(text)))
    joined: list[TextSpan] = []
    for span in unread:  # a run of long sentences is one part
        if joined and not text[joined[-1].stop : span.start].strip():
            span = TextSpan(joined.pop().start, span.stop)  # noqa: PLW2901 - the same part
        joined.append(span)
    return joined


# The fallback extractor: keep the text verbatim, so that a failed extraction loses nothing.


_CONFIDENCE: Final = 0.3
_IMPORTANCE: Final = 0.3


def _cut(text: str) -> tuple[int, int]:
    """Return the bounds of the trimmed text, cut at a word boundary within the limit if possible."""
    start = len(text) - len(text.lstrip())
    stop = len(text.rstrip())
    if stop - start <= limits.VERBATIM_CHARACTERS:
        return start, stop
    stop = start + limits.VERBATIM_CHARACTERS
    space = text.rfind(" ", start + limits.VERBATIM_CHARACTERS // 2, stop)
    return start, space if space > 0 and not text[stop].isspace() else stop


def _speaker(event: Event) -> str:
    return "user" if event.role is Role.USER else event.speaker


class VerbatimExtractor:
    """Makes one provisional memory of low confidence, to be extracted again when the model is back (R-051).

    The assistant's text is kept as an event only.
    """

    def extract(self, turn: Turn) -> list[Claim]:
        """Return the beginning of the event as one provisional claim, or [] for blank text and the assistant."""
        event = turn.event
        start, stop = _cut(event.text)
        if event.role is Role.ASSISTANT or start >= stop:
            return []
        claim = Claim(
            text=event.text[start:stop],
            type=MemoryType.FACT,
            span=Span(event.id, start, stop),
            speaker=_speaker(event),
            confidence=_CONFIDENCE,
            importance=_IMPORTANCE,
            provisional=True,
            topic=event.topic,
            tags=event.tags,
        )
        return [claim]


_OPENING: Final = re.compile(
    r"^(?:(?:well|oh|so|and|but|yes|yeah|no|ok|okay|also|now|anyway|btw|by the way|actually|honestly)\b[,.!]? )+",
    re.IGNORECASE,
)
_POINTING: Final = re.compile(
    r"\b(?:it|its|this|these|those|they|them|their|he|she|him|his|hers?|there|here|ones?|such|so far|same|another"
    r"|others?|else|too|also|either|both|former|latter|that(?= (?:is|was|one|way|would|will)\b|[.,!]|$))\b",
    re.IGNORECASE,
)
_NAMING: Final = re.compile(r"\b(?i:my|our|the|an?) [a-z]|(?<=\s)[A-Z][a-z]")
"""What a later pronoun of the same sentence may refer to."""
_WONDERING: Final = re.compile(
    r"^(?:i|we) (?:\w+ )?(?:wonder|(?:am|are|was|were) (?:\w+ )?(?:wondering|curious|unsure|not sure)"
    r"|(?:want|need|would (?:like|love)|am trying) to (?:know|find out|figure out|understand|see|check)"
    r"|(?:do|did) not (?:\w+ )?(?:know|understand|remember)|have no idea)(?: out| about)?"
    r" (?:if|whether|what|which|when|where|who|whose|why|how)\b",
    re.IGNORECASE,
)
"""A question inside a statement: "I wonder where my keys are"."""


def stands_alone(sentence: str) -> bool:
    """Return whether a sentence is a statement that needs no other sentence.

    >>> stands_alone("The spare key is under the pot"), stands_alone("It is a drama series.")
    (True, False)
    """
    plain = _OPENING.sub("", open_contractions(sentence.strip()))
    if not plain or plain.endswith(("?", ":")) or _WONDERING.match(plain):
        return False
    return all(_NAMING.search(plain[: found.start()]) for found in _POINTING.finditer(plain))
