"""The dictionary of four languages with English translations, from `data/gloss_*.toml`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Final, NamedTuple

from credenda.text.languages import DISTINCTIVE_WORDS, get_function_words
from credenda.write.extract.conjugate import Form, conjugated
from credenda.write.extract.lexicon import lexicon, load_table

__all__ = ["LANGUAGES", "Entry", "Glossary", "Item", "english_words", "folded", "glossary", "itemised", "tells"]

LANGUAGES: Final = ("de", "fr", "es", "pt")
_FUNCTION: Final = frozenset(
    {"subject", "clitic", "det", "prep", "conj", "neg", "longer", "never", "no", "ne", "than", "q"}
)
_ORDINAL: Final = (
    r"\d{1,2}\.(?= (?:auf|bis|und|januar|jänner|februar|märz|maerz|april|mai|juni|juli|august|september|oktober"
    r"|november|dezember)\b)"
)
_TOKEN: Final = re.compile(
    rf"{_ORDINAL}|https?://\S+|[\w.+-]+@[\w-]+\.\w+|\d[\w.,:/%-]*\w|\d"
    r"|(?:[cdjlmnst]|qu|jusqu|lorsqu)'(?=\w)|\w+(?:['-]\w+)*|[^\w\s]",
    re.IGNORECASE,
)
_ENCLITIC: Final = re.compile(
    r"^(?P<verb>\w+)-(?:me|te|se|nos|lhes?|l?[oa]s?|n[oa]|moi|toi|nous|vous|les?|lui|tu|je|il|elle|on|ce|t-il|t-elle)$"
)
_SPANISH_TAIL: Final = re.compile(
    r"^(?P<verb>\w{2,}?[aeiourndz])(?P<tail>(?:me|te|se|nos)(?:l[oa]s?)?|l[oaes]{1,2}s?)$"
)
_WORD: Final = re.compile(r"\w+")
_MARKS: Final = str.maketrans("äàáâãåçèéêëìíîïñòóôõöùúûüýÿ", "aaaaaaceeeeiiiinooooouuuuyy") | {
    ord("ß"): "ss",
    ord("œ"): "oe",
}
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_LENGTH_MAX: Final = 6


class Entry(NamedTuple):
    """The translation of a phrase: its words, their kind, and the index of its verb (-1: none)."""

    english: str
    tag: str
    verb: int = -1
    infinitive: str = ""


@dataclass(slots=True)
class Item:
    """A piece of a sentence: its span, its translation, its kind, and its possible verb forms.

    `sure`: spelled exactly as a verb, and as another word only without an accent. `tail`: pronouns joined to a verb.
    """

    start: int
    stop: int
    source: str
    english: str
    tag: str
    forms: tuple[Form, ...] = ()
    tail: str = ""
    sure: bool = False

    @property
    def verb(self) -> bool:
        """Whether it is tagged as a verb."""
        return self.tag == "verb"

    def of(self, *tenses: str) -> Form | None:
        """Return the first of its forms in one of these tenses."""
        return next((one for one in self.forms if one.tense in tenses), None) if self.verb else None


@dataclass(slots=True)
class Glossary:
    """Words, verb forms and phrases of one language, with and without accents."""

    language: str
    words: dict[str, Entry] = field(default_factory=dict[str, Entry])
    bare: dict[str, Entry] = field(default_factory=dict[str, Entry])
    verbs: dict[str, list[tuple[str, Form]]] = field(default_factory=dict[str, list[tuple[str, Form]]])
    bare_verbs: dict[str, list[tuple[str, Form]]] = field(default_factory=dict[str, list[tuple[str, Form]]])
    phrases: dict[str, list[tuple[tuple[str, ...], Entry]]] = field(
        default_factory=dict[str, list[tuple[tuple[str, ...], Entry]]]
    )

    def word(self, token: str) -> Entry | None:
        """Look a word up; accents may be missing."""
        return self.words.get(token) or self.bare.get(folded(token))

    def forms(self, token: str) -> list[tuple[str, Form]]:
        """Look up the forms of a verb, each with its infinitive; accents may be missing."""
        exact, bare = self.verbs.get(token, []), self.bare_verbs.get(folded(token), [])
        return [*exact, *(one for one in bare if one not in exact)] if token.isascii() else exact or bare

    def knows(self, token: str) -> bool:
        """Return whether a token is a word or a form of the language."""
        return self.word(token) is not None or bool(self.forms(token))


def folded(text: str) -> str:
    """Return a text in lower case without accents.

    >>> folded("Früher"), folded("não")
    ('fruher', 'nao')
    """
    return text.lower() if text.isascii() else text.lower().translate(_MARKS)


def _spellings(text: str, language: str) -> tuple[str, ...]:
    """Return the spellings of a text without accents; umlauts have two."""
    if text.isascii() or language != "de":
        return (folded(text),)
    return folded(text), folded(text.lower().translate(_UMLAUTS))


def _rows(table: str) -> Iterator[tuple[str, list[str]]]:
    for line in table.strip().splitlines():
        english, *cells = (one.strip() for one in line.split("|"))
        yield english, cells


def _alternatives(phrase: str) -> Iterator[tuple[str, ...]]:
    """Expand a phrase: `a|b c` is "a c" and "b c"; an underscore is a space."""
    for chosen in product(*(one.split("|") for one in phrase.split(" "))):
        yield tuple(" ".join(chosen).replace("_", " ").replace("'", "' ").replace("  ", " ").strip().split(" "))


@cache
def glossary(language: str) -> Glossary:
    """Load the glossary of one language (some 80 ms); cached."""
    found, column = Glossary(language), LANGUAGES.index(language)
    for keys, entry in (*_phrases(language), *_words(column)):
        _add_phrase(found, keys, entry)
    for base, spec in _cells(load_table("gloss_verbs")["verbs"], column):
        for shown, infinitive, form in conjugated(language, base, spec):
            _add_form(found, shown, infinitive, form)
    for key in [one for one in (*found.verbs, *found.bare_verbs) if "\x00" in one]:
        for table in (found.verbs, found.bare_verbs):
            table.setdefault(key.partition("\x00")[0], table.get(key, []))
    for listed in found.phrases.values():
        listed.sort(key=lambda one: -len(one[0]))
    return found


def _phrases(language: str) -> Iterator[tuple[tuple[str, ...], Entry]]:
    for line in load_table("gloss_phrases")[language].strip().splitlines():
        source, _, english = line.partition(" = ")
        tag, _, said = english.rpartition(": ")
        for keys in _alternatives(source):
            verb = next((at for at, key in enumerate(keys) if key.startswith("<")), -1)
            yield keys, Entry(said, tag or "say", verb, folded(keys[verb][1:-1]) if verb >= 0 else "")


def _words(column: int) -> Iterator[tuple[tuple[str, ...], Entry]]:
    for tag, table in load_table("gloss_words").items():
        for english, source in _cells(table, column):
            yield next(_alternatives(source)), Entry(english, tag)


def _cells(table: str, column: int) -> Iterator[tuple[str, str]]:
    """Yield the English of each row with each of its translations."""
    for english, cells in _rows(table):
        listed = cells[column].split(",") if column < len(cells) else ()
        yield from ((english, one.strip()) for one in listed if one.strip())


def _add_word(found: Glossary, word: str, entry: Entry) -> None:
    found.words.setdefault(word.lower(), entry)
    for spelling in _spellings(word, found.language):
        found.bare.setdefault(spelling, entry)


def _add_phrase(found: Glossary, keys: tuple[str, ...], entry: Entry) -> None:
    if len(keys) == 1 and entry.verb < 0:
        _add_word(found, keys[0], entry)
        return
    spelled = {tuple(map(folded, keys))}
    if found.language == "de":
        spelled.add(tuple(folded(one.lower().translate(_UMLAUTS)) for one in keys))
    for one in spelled:
        found.phrases.setdefault(one[0], []).append((one, entry))


def _add_form(found: Glossary, shown: str, infinitive: str, form: Form) -> None:
    if " " in shown:
        head, _, tail = shown.partition(" ")
        keys = (folded(head), *map(folded, tail.split(" ")))
        found.phrases.setdefault(keys[0], []).append((keys, Entry(form.base, f"form:{form.person}:{form.tense}")))
        return
    word, _, parted = shown.lower().partition("\x00")
    key = f"\x00{parted}" if parted else ""
    found.verbs.setdefault(word + key, []).append((infinitive, form))
    for spelling in _spellings(word, found.language):
        listed = found.bare_verbs.setdefault(spelling + key, [])
        if (infinitive, form) not in listed:
            listed.append((infinitive, form))


@cache
def english_words() -> frozenset[str]:
    """Return the words that indicate no other language, because English has them."""
    listed = {word for words in load_table("worth_words")["classes"].values() for word in words.split()}
    own = listed.difference(*(glossary(language).words for language in LANGUAGES)) - DISTINCTIVE_WORDS
    known = lexicon()
    given = {word for word in _WORD.findall(" ".join(_given()).lower()) if word not in DISTINCTIVE_WORDS}
    more = load_table("gloss_english")["words"].split()
    return (
        get_function_words("en")
        | own
        | given
        | known.forms.keys()
        | known.adverbs.keys()
        | known.attributes.keys()
        | set(more)
    )


def _given() -> Iterator[str]:
    """Yield all English text of the tables."""
    for table in (*load_table("gloss_words").values(), load_table("gloss_verbs")["verbs"]):
        yield from (english for english, _ in _rows(table))


@cache
def tells() -> Mapping[str, frozenset[str]]:
    """Return the languages of each word that English lacks; words in lower case without accents."""
    found: dict[str, set[str]] = {}
    english = english_words()
    for language in LANGUAGES:
        known = glossary(language)
        keys = {*known.words, *known.bare, *known.verbs, *known.bare_verbs}
        for key in keys:
            if "\x00" not in key and key not in english and (len(key) > 1 or not key.isascii()):
                found.setdefault(key, set()).add(language)
    return {word: frozenset(languages) for word, languages in found.items()}


def _tokens(sentence: str, known: Glossary) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    for one in _TOKEN.finditer(sentence):
        start, stop, text = one.start(), one.end(), one[0].lower()
        parted = (
            _ENCLITIC.match(text) if "-" in text and known.language in {"fr", "pt"} and not known.knows(text) else None
        )
        if parted is not None:
            middle = start + len(parted["verb"])
            found += [(start, middle, parted["verb"]), (middle + 1, stop, text[len(parted["verb"]) + 1 :])]
            continue
        found.append((start, stop, text))
    return found


def itemised(sentence: str, known: Glossary) -> list[Item]:
    """Split a sentence into the longest known phrases and words, and unknown ones."""
    tokens = _tokens(sentence, known)
    keys = [_keys(text, known) for _, _, text in tokens]
    found: list[Item] = []
    at = 0
    while at < len(tokens):
        length, entry = _longest(keys, at, known)
        start, stop = tokens[at][0], tokens[at + length - 1][1]
        source = sentence[start:stop]
        if entry is None:
            found.append(_single((start, stop), source, tokens[at][2], known))
        elif entry.verb >= 0:
            forms = tuple(
                form._replace(base=entry.english)
                for verb, form in known.forms(tokens[at + entry.verb][2])
                if folded(verb) == entry.infinitive
            )
            tag = "verb" if entry.tag == "v" else entry.tag
            found.append(Item(start, stop, source, entry.english, tag, forms))
        elif entry.tag.startswith("form:"):
            found.append(Item(start, stop, source, entry.english, "verb", _forms(entry)))
        elif entry.tag == "v":
            found.append(
                Item(start, stop, source, entry.english, "verb", (Form(entry.english, 0, "participle", moved=True),))
            )
        else:
            found.append(Item(start, stop, source, entry.english, entry.tag))
        at += length
    return found


def _keys(token: str, known: Glossary) -> tuple[str, ...]:
    """Return the keys that a token may match in a phrase: its letters, then the verbs of which it is a form.

    A tuple, because of two phrases of one length the first key's is chosen: a set's order changes with the hash seed.
    """
    return tuple(dict.fromkeys((folded(token), *(f"<{folded(infinitive)}>" for infinitive, _ in known.forms(token)))))


def _longest(keys: Sequence[Sequence[str]], at: int, known: Glossary) -> tuple[int, Entry | None]:
    best: tuple[int, Entry | None] = (1, None)
    for key in keys[at]:
        for phrase, entry in known.phrases.get(key, ()):
            size = len(phrase)
            if size <= best[0] and best[1] is not None:
                break
            if size <= len(keys) - at and all(one in keys[at + step] for step, one in enumerate(phrase)):
                best = (size, entry)
                break
    return best


def _order(known: Glossary, verb: str) -> tuple[Form, ...]:
    """Return the forms of a verb with a joined pronoun: "ponme", "responderle"."""
    forms = tuple(form for _, form in known.forms(verb))
    word = known.word(verb)
    return forms if forms or word is None or not word.tag.startswith("form:") else _forms(word)


def _forms(entry: Entry) -> tuple[Form, ...]:
    """Return the forms of an entry that names person and tense; person 0 matches any."""
    _, person, tense = entry.tag.split(":")
    persons = (1, 3, 4, 2) if person == "0" and tense in {"were", "present", "past"} else (int(person),)
    return tuple(Form(entry.english, one, tense) for one in persons)


def _single(place: tuple[int, int], source: str, token: str, known: Glossary) -> Item:
    """Look one token up: as a word, as a verb form, or as both."""
    start, stop = place
    word = known.word(token)
    forms = tuple(form for _, form in known.forms(token))
    tail = ""
    if word is None and not forms and known.language == "es":
        parted = _SPANISH_TAIL.match(folded(token))
        forms = _order(known, parted["verb"]) if parted else ()
        tail = parted["tail"] if parted and forms else ""
    if known.language == "de" and token.startswith("lieblings"):
        kind = known.word(token.removeprefix("lieblings"))
        return Item(
            start, stop, source, f"favourite {kind.english if kind else token.removeprefix('lieblings')}", "noun"
        )
    if not token[0].isalnum():
        return Item(start, stop, source, source, "mark")
    if len(token) > 1 and source.isupper() and start and known.language != "de":
        return Item(start, stop, source, source, "x")
    if word is None:
        return Item(
            start, stop, source, source, "verb" if forms else "number" if token[0].isdigit() else "x", forms, tail
        )
    if word.tag.startswith("form:"):
        return Item(start, stop, source, word.english, "verb", _forms(word))
    sure = token not in known.words and token in known.verbs
    return Item(start, stop, source, word.english, word.tag, forms, sure=sure)
