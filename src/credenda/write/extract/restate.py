"""Rewrite paraphrases, labels, fragments and stated changes to the canonical sentences of the patterns.

The tables are data (`data/retold.toml`, then `data/restate.toml`). Evidence quotes the original.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, NamedTuple

from credenda.model.attributes import load_attributes
from credenda.write.extract.lexicon import RECENT, lexicon, load_table, names
from credenda.write.extract.patterns import compile_macros
from credenda.write.extract.shapes import is_occupation

__all__ = ["restated"]

_WORD: Final = re.compile(r"[\w'-]+|:")
_MARKS: Final = " .!\u2026"
_ASKED: Final = re.compile(r"^(?:could|can|would|will|do|did)\b.*\?$", re.IGNORECASE)
_OPENING: Final = re.compile(r"\^(?:\((?:\?:|\?P<\w+>)(?P<words>\w+(?:\|\w+)*)\)|(?P<word>\w+)) ")
_INTRODUCTION: Final = re.compile(
    r"(?:(?:hi|hello|hey|hiya|yo|ok|okay|so|well|there|all|everyone)[,!.]? )*i am (?P<name>(?-i:[A-Z])[\w'-]+"
    r"(?: (?-i:[A-Z])[\w'-]+)?)(?:, (?P<age>\d{1,2})(?: years old| yo)?)?,(?: and(?: an?)?)?"
    r" (?P<role>(?!and\b|an?\b|the\b|my\b)[^,;:!?]{3,60})",
    re.IGNORECASE,
)
_TABLES: Final = ("retold", "restate")
_TIMES_MAX: Final = 3
_CHARACTERS_MAX: Final = 240
"""Longer sentences match no rule."""
_PIECES_MAX: Final = 5


@dataclass(frozen=True, slots=True)
class _Rule:
    """A rewrite: its position in the table, its pattern, and the canonical sentence.

    `noun`: the first word must not be an imperative, as in "Run the tests, always". `bare`: the captured text must have
    no verb after its first word, as in "Users live all over the world".
    """

    place: int
    opens: frozenset[str]
    also: frozenset[str]
    match: re.Pattern[str]
    target: str
    noun: bool
    bare: bool


def _slot_macro() -> str:
    """Return every noun that names a slot, the longest first."""
    words = {word for entry in load_attributes().values() for word in entry.words} | names().the_nouns
    return f"(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})"


class _Rules(NamedTuple):
    """The rules by a required word, those of an opening also by opening; and by a required first word."""

    anywhere: dict[str, list[_Rule]]
    opened: dict[tuple[str, str], list[_Rule]]
    first: dict[str, list[_Rule]]


@cache
def _rules() -> _Rules:
    """Load the rules of the tables, in their order."""
    anywhere: dict[str, list[_Rule]] = {}
    opened: dict[tuple[str, str], list[_Rule]] = {}
    first: dict[str, list[_Rule]] = {}
    slot = _slot_macro()
    listed = [
        (entry, table["macros"] | {"SLOT": slot}) for table in map(load_table, _TABLES) for entry in table["rule"]
    ]
    for place, (entry, macros) in enumerate(listed):
        rule = _Rule(
            place,
            _opens(entry["match"]),
            frozenset(entry.get("also", ())),
            compile_macros(entry["match"], macros),
            entry["to"],
            entry.get("noun", False),
            entry.get("bare", False),
        )
        for word in entry.get("words", ()):
            if not rule.opens:
                anywhere.setdefault(word, []).append(rule)
            for opening in rule.opens:
                opened.setdefault((word, opening), []).append(rule)
        for word in entry.get("first", ()):
            first.setdefault(word, []).append(rule)
    return _Rules(anywhere, opened, first)


def _opens(match: str) -> frozenset[str]:
    """Return the possible first words of an expression; none if it does not limit them."""
    found = _OPENING.match(match)
    return frozenset() if found is None else frozenset((found["words"] or found["word"]).split("|"))


@cache
def _keys() -> frozenset[str]:
    anywhere, opened, first = _rules()
    listed = (*anywhere.values(), *opened.values(), *first.values())
    also = {word for rules in listed for rule in rules for word in rule.also}
    return frozenset(anywhere.keys() | {word for word, _ in opened} | first.keys() | also)


def _candidates(sentence: str) -> list[_Rule]:
    """Return the rules whose required words occur, in the order of the tables; mostly none."""
    words = _WORD.findall(sentence.lower())
    common = _keys().intersection(words)
    if not common:
        return []
    anywhere, opened, first = _rules()
    opening = words[0]
    listed = [*first.get(opening, ())]
    for word in common:
        if word in anywhere:
            listed += anywhere[word]
        if (word, opening) in opened:
            listed += opened[word, opening]
    if not listed:
        return []
    found = {rule.place: rule for rule in listed if not (rule.also and rule.also.isdisjoint(common))}
    return [found[place] for place in sorted(found)]


@lru_cache(maxsize=RECENT)
def _restated(sentence: str) -> str | None:
    """Apply the first matching rule, and once more to its result; None without one."""
    said, outcome = sentence, None
    for _ in range(_TIMES_MAX):
        plain = said.rstrip(_MARKS)
        if plain.endswith("?") and _ASKED.match(plain):
            plain = plain.rstrip("?")
        found = next((made for rule in _candidates(plain) if (made := _made(rule, plain)) is not None), None)
        if found is None:
            break
        said = outcome = found
    return outcome


def _made(rule: _Rule, plain: str) -> str | None:
    found = rule.match.match(plain)
    if found is None or (rule.noun and _orders(plain)) or (rule.bare and _tells(found["v"])):
        return None
    return found.expand(rule.target)


def _tells(phrase: str) -> bool:
    words = phrase.lower().split(" ")
    return words[-1] == "all" or any(word in lexicon().forms for word in words[1:])


def _orders(sentence: str) -> bool:
    form = lexicon().forms.get(sentence.split(" ", 1)[0].lower())
    return form is not None and "base" in form.kinds


def _introduce(plain: str) -> str:
    """Return the sentences of "I am NAME, AGE, OCCUPATION"; "" for another text."""
    found = _INTRODUCTION.fullmatch(plain)
    if found is None or not is_occupation(found["role"]):
        return ""
    age = f"i am {found['age']}, " if found["age"] else ""
    article = "an" if found["role"][0].lower() in "aeiou" else "a"
    return f"i am {found['name']}, {age}i am {article} {found['role']}"


def restated(sentence: str) -> str:
    """Rewrite a sentence to its canonical form; return it unchanged if no rule matches.

    >>> restated("Coffee over tea, every time.")
    'i prefer Coffee over tea'
    >>> restated("I am Ada, 34, nurse in Leeds")
    'i am Ada, i am 34, i am a nurse in Leeds'
    >>> restated("Married, two kids.")
    'i am Married, i have two kids'
    """
    if len(sentence) > _CHARACTERS_MAX:
        return sentence
    if introduction := _introduce(sentence.rstrip(_MARKS)):
        return introduction
    said = _restated(sentence.rstrip(_MARKS))
    if said is not None or "," not in sentence:
        return sentence if said is None else said
    first, *others = sentence.split(", ", _PIECES_MAX)
    opened = _restated(first)
    return sentence if opened is None else ", ".join([opened, *(_restated(one) or one for one in others)])
