"""Classify a sentence that no pattern matches: keep it, keep it as uncertain, or skip it.

A linear classifier over cheap features of a sentence: its words, their classes and their sequence. The weights are in
`data/worth.tsv`, fitted by `benchmarks/fit_worth.py` on the project's own sentences; the word classes are in
`data/worth_words.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import pairwise, repeat
from math import exp
from typing import Final, NamedTuple

from credenda.write.extract.lexicon import RECENT, lexicon, load_table, load_weights, names

__all__ = ["LABELS", "SCALE", "Worth", "signs_of", "worth_of"]

LABELS: Final = ("skip", "fact", "preference", "decision", "procedure", "plan", "supposition")
"""The classes: nothing, four kinds of memory, and two kinds of uncertain statements."""
_TOKEN: Final = re.compile(r"[\w'-]+|[?!:;,=+%\u20ac$]")
_TOKENS_MAX: Final = 40
_LENGTHS: Final = (3, 5, 8, 12, 18, 26)
_ENDINGS: Final = (("ing", "ING"), ("ed", "ED"), ("ly", "LY"), ("s", "PL"))
_WHOSE: Final = ("me", "my", "-")
_SIGN: Final = re.compile(r"(?P<kind>[owbpc]:|(?:me|my|-|\?)&)(?P<rest>.+)")
_FIELD: Final = 24
_HALF: Final = 1 << (_FIELD - 1)
SCALE: Final = 20.0
"""Weights are integers in units of one twentieth of a logit."""


class Worth(NamedTuple):
    """The probability of each label, in the order of `LABELS`; sums to 1."""

    shares: tuple[float, ...]

    @property
    def kept(self) -> float:
        """The probability of a fact, a preference, a decision or a procedure."""
        return sum(self.shares[1:5])

    @property
    def unsure(self) -> float:
        """The probability of a plan or a supposition."""
        return sum(self.shares[5:])

    @property
    def kind(self) -> str:
        """The most probable kind of memory."""
        return max(LABELS[1:5], key=lambda label: self.shares[LABELS.index(label)])

    @property
    def planned(self) -> bool:
        """Whether a plan is more probable than a supposition."""
        return self.shares[5] >= self.shares[6]


class _Word(NamedTuple):
    """A listed word: its symbol in a skeleton, its classes, and its base if it is a verb."""

    shape: str
    classes: tuple[str, ...]
    base: str | None


class _Parts(NamedTuple):
    """A sentence prepared for features; `about` are the classes of its words, `pairs` their sequence."""

    words: set[str]
    bases: set[str]
    about: set[str]
    pairs: set[tuple[str, str]]
    whose: str
    asks: bool
    others: tuple[str, ...]


@cache
def _known() -> Mapping[str, _Word]:
    """Return every listed word and every verb form; the first class of a word is its symbol."""
    listed: dict[str, dict[str, None]] = {}
    for name, words in load_table("worth_words")["classes"].items():
        for word in words.split():
            listed.setdefault(word, {})[name] = None
    for name, words in (("kin", names().kin), ("role", names().roles)):
        for word in words:
            listed.setdefault(word, {})[name] = None
    forms = lexicon().forms
    found: dict[str, _Word] = {}
    for word in listed.keys() | forms.keys():
        form = forms.get(word)
        classes = tuple(listed.get(word, ())) or ("V" + min(form.kinds) if form is not None else "x",)
        found[word] = _Word(classes[0], classes, None if form is None else form.base)
    return found


def _shape(token: str, word: str) -> str:
    """Return the symbol of an unlisted word: a number, a name, an ending."""
    if not token[0].isalpha():
        return "NUM" if token[0].isdigit() else token
    if token[0].isupper():
        return "CAP"
    if any(map(str.isdigit, token)):
        return "NUM"
    return next((name for ending, name in _ENDINGS if word.endswith(ending)), "x")


def _parts(text: str) -> _Parts:
    tokens = _TOKEN.findall(text)[:_TOKENS_MAX]
    known = _known()
    words = [token.lower() for token in tokens]
    skeleton = ["^"]
    bases: set[str] = set()
    about: set[str] = set()
    for token, word in zip(tokens, words, strict=True):
        found = known.get(word)
        if found is None:
            shape = _shape(token, word)
            about.add(shape)
        else:
            shape = found.shape
            about.update(found.classes)
            if found.base is not None:
                bases.add(found.base)
        skeleton.append(shape)
    asks = skeleton[-1] == "?"
    opening = (f"1:{words[0]}", f"{skeleton[1]} .. {skeleton[-1]}") if words else ()
    skeleton.append("$")
    others = ("*", f"n{sum(map(len(tokens).__ge__, _LENGTHS))}", " ".join(skeleton[:4]), *opening)
    whose = "me" if "me" in about else "my" if "my" in about else "-"
    return _Parts(set(words), bases, about, set(pairwise(skeleton)), whose, asks, others)


def signs_of(text: str) -> set[str]:
    """Return the features of a sentence, as named in `data/worth.tsv`.

    The sentence has straight quotes and expanded contractions.
    """
    parts = _parts(text)
    signs = {f"o:{one}" for one in parts.others}
    signs.update(f"w:{word}" for word in parts.words)
    signs.update(f"b:{base}" for base in parts.bases)
    signs.update(f"p:{first} {second}" for first, second in parts.pairs)
    signs.update(f"c:{name}" for name in parts.about)
    signs.update(f"{parts.whose}&{name}" for name in parts.about)
    if parts.asks:
        signs.update(f"?&{name}" for name in parts.about)
    return signs


class _Weights(NamedTuple):
    """Weights by feature; those of all labels are packed into one integer, so that one sum adds them all."""

    words: Mapping[str, int]
    bases: Mapping[str, int]
    pairs: Mapping[tuple[str, str], int]
    about: Mapping[str, Mapping[str, int]]
    asks: Mapping[str, int]
    others: Mapping[str, int]


@cache
def _weights() -> _Weights:
    tables: dict[str, dict[str, int]] = {}
    for sign, *numbers in load_weights("worth").rows:
        found = _SIGN.match(sign)
        if found is not None:
            packed = sum(int(number) << (_FIELD * at) for at, number in enumerate(numbers))
            tables.setdefault(found["kind"], {})[found["rest"]] = packed
    classes = tables["c:"]
    about = {
        whose: {name: classes.get(name, 0) + beside.get(name, 0) for name in classes.keys() | beside.keys()}
        for whose in _WHOSE
        for beside in (tables.get(f"{whose}&", {}),)
    }
    pairs = {
        (first, second): number for pair, number in tables["p:"].items() for first, _, second in (pair.partition(" "),)
    }
    return _Weights(tables["w:"], tables["b:"], pairs, about, tables.get("?&", {}), tables["o:"])


@lru_cache(maxsize=RECENT)
def worth_of(text: str) -> Worth:
    """Classify one sentence with straight quotes and expanded contractions."""
    parts, weights = _parts(text), _weights()
    packed = sum(map(weights.words.get, parts.words, repeat(0)))
    packed += sum(map(weights.bases.get, parts.bases, repeat(0)))
    packed += sum(map(weights.pairs.get, parts.pairs, repeat(0)))
    packed += sum(map(weights.about[parts.whose].get, parts.about, repeat(0)))
    packed += sum(map(weights.others.get, parts.others, repeat(0)))
    if parts.asks:
        packed += sum(map(weights.asks.get, parts.about, repeat(0)))
    logits: list[float] = []
    for _ in LABELS:
        low = ((packed + _HALF) & (2 * _HALF - 1)) - _HALF
        logits.append(low / SCALE)
        packed = (packed - low) >> _FIELD
    top = max(logits)
    shares = [exp(logit - top) for logit in logits]
    total = sum(shares)
    return Worth(tuple(share / total for share in shares))
