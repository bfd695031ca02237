"""The signature of a sentence, independent of wording: content stems, negation, owner and tense. Pure."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final

from credenda.text.singular_plural import fold_plural
from credenda.write.extract.clauses import open_contractions, straighten
from credenda.write.extract.lexicon import lexicon
from credenda.write.extract.restate import restated
from credenda.write.extract.spoken import fluent

__all__ = ["Sense", "Table", "plainly", "sense", "table"]

_TOKEN: Final = re.compile(r"[^\W_](?:[\w+#]|[.:'&/-](?=\w))*")
_NEGATIONS: Final = frozenset({"not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "cannot"})
_PAST: Final = frozenset({"was", "were", "did", "had", "used"})
_SELF: Final = {"i": "i", "my": "my", "mine": "my", "me": "me", "we": "we", "our": "our", "ours": "our", "us": "us"}
_ROLES: Final = (frozenset({"i"}), frozenset({"we"}), frozenset({"my"}), frozenset({"our"}), frozenset({"me", "us"}))
_CACHED: Final = 1_024
_AGENT: Final = re.compile(r"(?P<stem>\w{3,}?)(?:e?r|or)s?")
_BEING: Final = frozenset({"am", "is", "are"})
_JOINED: Final = frozenset({"is", "are", "am", "be", "been", "being", "has", "have", "get", "gets"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The word lists and rules of `data/again.toml`."""

    light: frozenset[str]
    making: frozenset[str]
    moving: frozenset[str]
    movable: frozenset[str]
    times: frozenset[str]
    families: Mapping[str, str]
    antonyms: Mapping[str, str]
    numbers: Mapping[str, str]
    ways: tuple[tuple[re.Pattern[str], str], ...]
    asked: frozenset[str]
    groups: tuple[frozenset[str], ...]
    statements: tuple[frozenset[str], ...]
    beside: frozenset[str]
    begins: frozenset[str]
    never: frozenset[str]
    makes_other: frozenset[str]
    animals: frozenset[str]
    things: re.Pattern[str]
    named: re.Pattern[str]
    plural: re.Pattern[str]
    opposite: tuple[frozenset[str], ...]


@cache
def table() -> Table:
    """Load the table; cached."""
    read: dict[str, Any] = tomllib.loads(files("credenda.write").joinpath("data", "again.toml").read_text("utf-8"))
    tens = {word: str(10 * (place + 2)) for place, word in enumerate(read["numbers"]["tens"].split())}
    closer = read["closer"]
    return Table(
        light=frozenset(read["light"].split()),
        making=frozenset(read["making"].split()),
        moving=frozenset(read["moving"].split()),
        movable=frozenset(read["movable"].split()),
        times=frozenset(read["times"].split()),
        families={word: name for name, words in read["families"].items() for word in (name, *words.split())},
        antonyms=read["antonyms"],
        numbers={word: str(place) for place, word in enumerate(read["numbers"]["words"].split())} | tens,
        ways=tuple((re.compile(one["from"]), one["to"]) for one in read["way"]),
        asked=frozenset(read["instruction"]["light"].split()),
        groups=tuple(frozenset(one) for one in read["alike"]["groups"]),
        statements=tuple(frozenset(one) for one in read["alike"]["statements"]),
        beside=frozenset(closer["beside"].split()),
        begins=frozenset(closer["begins"].split()),
        never=frozenset(closer["never"].split()),
        makes_other=frozenset(closer["makes_other"].split()),
        animals=frozenset(closer["animals"].split()),
        things=re.compile(closer["things"], re.IGNORECASE),
        named=re.compile(closer["named"]),
        plural=re.compile(closer["plural"]),
        opposite=tuple(frozenset(one) for one in read["alike"]["opposite"]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sense:
    """The signature of a sentence.

    `matters` are the common stems of its content words, in order; `made` those stated by a noun derived from a verb
    ("teacher", "rehearsals"), with `doing` an agent noun. `who` is the role of the speaker, "" for none. `moving`: the
    sentence states a change or a temporary state.
    """

    matters: tuple[str, ...]
    made: frozenset[str]
    doing: bool
    denies: bool
    past: bool
    who: str
    moving: bool

    @property
    def bag(self) -> Counter[str]:
        """The content stems in any order."""
        return Counter(self.matters)


def plainly(text: str) -> str:
    """Expand the contractions of a sentence."""
    return open_contractions(fluent(straighten(text))).strip(" .!\u2026")


@lru_cache(maxsize=_CACHED)
def sense(text: str, *, asks: bool = False) -> Sense:
    """Compute the signature of a sentence; `asks`: it is a standing instruction.

    >>> sense("I teach the trumpet.").bag == sense("I'm a trumpet teacher.").bag
    True
    """
    words = table()
    plain = restated(plainly(text)).lower().strip(" .!\u2026")
    for found, to in words.ways:
        plain = found.sub(to, plain)
    tokens = _TOKEN.findall(plain)
    light = words.light | words.asked if asks else words.light
    matters: list[str] = []
    made: set[str] = set(words.movable | words.times)
    denials, doing = 0, False
    for place, token in enumerate(tokens):
        if token in _NEGATIONS:
            denials += 1
        elif token in words.antonyms:
            denials += 1
            matters.append(words.antonyms[token])
        elif token not in light:
            matter, derived = _matter(token)
            matters.append(matter)
            doer = derived == "doer" and _is_one(tokens, place)
            suffered = _is_suffered(tokens, place)
            if doer or suffered or derived == "doing" or (_is_verb(token) and _made_of(tokens, place)):
                made.add(matter)
                doing = doing or doer
            elif derived == "doer":
                matters[-1] = fold_plural(token, "en")
    selves = {_SELF[token] for token in tokens if token in _SELF}
    role = next((min(one & selves) for one in _ROLES if one & selves), "")
    return Sense(
        matters=tuple(matters),
        made=frozenset(made),
        doing=doing,
        denies=denials % 2 == 1,
        past=any(token in _PAST or _is_past(tokens, place) for place, token in enumerate(tokens)),
        who="" if asks else role,
        moving=not (words.moving - light).isdisjoint(tokens),
    )


@lru_cache(maxsize=4_096)
def _matter(token: str) -> tuple[str, str]:
    """Return the common stem of a word, and whether it is an agent or action noun of that stem."""
    words, forms = table(), lexicon().forms
    bare = token.removesuffix("'s")
    if bare in words.numbers:
        return words.numbers[bare], ""
    family = words.families.get(bare)
    form = forms.get(bare)
    if family is not None:
        agent = _AGENT.fullmatch(bare) is not None and form is None and bare != family
        noun = form is None and bare != family and family in forms and not bare.endswith("ing")
        return family, "doer" if agent else "doing" if noun else ""
    if form is not None:
        return words.families.get(form.base, form.base), ""
    found = _AGENT.fullmatch(bare)
    if found is not None:
        for stem in (found["stem"], f"{found['stem']}e", found["stem"][:-1]):
            if stem in forms and "base" in forms[stem].kinds:
                return words.families.get(stem, stem), "doer"
    if bare.endswith(("days", "ss")):
        return bare, ""
    single = fold_plural(bare, "en")
    return words.families.get(single, single), ""


def _is_verb(token: str) -> bool:
    form = lexicon().forms.get(token)
    return form is not None and "base" in form.kinds


def _is_past(tokens: list[str], place: int) -> bool:
    """Return whether a word is a past tense; the same form after "is" or "has" is not."""
    form = lexicon().forms.get(tokens[place])
    if form is None or "past" not in form.kinds or "base" in form.kinds:
        return False
    return place == 0 or tokens[place - 1] not in _JOINED


def _is_one(tokens: list[str], place: int) -> bool:
    """Return whether a sentence calls somebody an agent: "I'm a teacher", but not "my teacher"."""
    owned = any(token in _SELF and token not in {"i", "we"} for token in tokens[max(0, place - 3) : place])
    return not owned and not _BEING.isdisjoint(tokens[:place])


def _is_suffered(tokens: list[str], place: int) -> bool:
    """Return whether a sentence is passive without an agent: "logs are written as JSON"."""
    form = lexicon().forms.get(tokens[place])
    done = form is not None and "participle" in form.kinds and "base" not in form.kinds
    return done and place > 0 and tokens[place - 1] in {"is", "are"} and "by" not in tokens[place:]


def _made_of(tokens: list[str], place: int) -> bool:
    """Return whether a noun stands for an action: "gets a tag"."""
    return place > 1 and tokens[place - 1] in {"a", "an"} and tokens[place - 2] in table().making
