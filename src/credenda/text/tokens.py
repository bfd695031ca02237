"""Text as search terms: folded, without stop words, stemmed; bigrams where a script puts no spaces between words.

Documents and queries pass through the same steps, so whatever is folded here is folded on both sides. A change to any
step needs a new TOKENIZER: indexes remember the version they were made with and are rebuilt when it differs.
"""

from __future__ import annotations

import importlib
import re
import unicodedata
from functools import lru_cache
from typing import Final, Protocol, cast

from credenda import limits
from credenda.text.stopwords import STOP_WORDS

__all__ = ["RUNS", "TOKENIZER", "fold", "query_terms", "segment", "tokenize"]

TOKENIZER: Final = 1
_MEMO_WORDS: Final = 32_768
"""Words whose analysis is remembered: about 8 MB when full, shared by all tenants of the process."""

RUNS: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e"  # Thai
    "\u0e81-\u0ece"  # Lao
    "\u1000-\u103f\u1050-\u109f"  # Burmese
    "\u1780-\u17d3"  # Khmer
    "\u3005\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana and iteration marks
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uac00-\ud7a3"  # Hangul: spaces separate phrases there, and particles cling to the words
)
"""Characters of scripts that are read as overlapping bigrams, as the inside of a regex class."""

_RUN: Final = re.compile(f"[{RUNS}]+")
# Vowel signs of these scripts are marks, which \w leaves out: a word would fall apart at each of them.
_INDIC: Final = "\u0900-\u0963\u0966-\u0dff"
_LETTERS: Final = rf"(?:[^\W_]|[{_INDIC}])++"
_INNER: Final = r"[.@'\u2019,:]"
_SUFFIX: Final = r"(?:\+\+|\#(?![^\W_]))?+"
_CHUNK_ASCII: Final = re.compile(rf"[a-z0-9]++(?:[.@',:][a-z0-9]++)*+{_SUFFIX}")
_CHUNK: Final = re.compile(rf"{_LETTERS}(?:{_INNER}{_LETTERS})*+{_SUFFIX}")
_PART: Final = re.compile(rf"{_LETTERS}{_SUFFIX}")
_ACCENTS: Final = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u064b-\u065f\u0670]+")
_ORDINAL: Final = re.compile(r"(\d+)(?:st|nd|rd|th)")
_VERSION: Final = re.compile(r"v?\d+(?:[.:]\d+)+")
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


class _Stemmer(Protocol):
    """The part of PyStemmer that is used; it ships no stubs."""

    def stemWord(self, word: str) -> str: ...  # noqa: N802  (the library's name)


class _StemmerFactory(Protocol):
    """The library's constructor; `maxCacheSize` 0 turns off its own cache, since results are remembered here."""

    def __call__(self, algorithm: str, maxCacheSize: int) -> _Stemmer: ...  # noqa: N803  (the library's name)


@lru_cache(maxsize=1)
def _english() -> _Stemmer:
    make = cast("_StemmerFactory", importlib.import_module("Stemmer").Stemmer)
    return make("english", 0)


def fold(text: str) -> str:
    """Fold case, width and accents: "Café" and "CAFE" become "cafe". Vowel marks that carry meaning stay.

    >>> fold("Ｃａｆé Müller")
    'cafe muller'
    """
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", apart))


def tokenize(text: str) -> list[str]:
    """Return the search terms of a text in reading order, repeats kept.

    >>> tokenize("The C++ builds were running on k8s v2.1")
    ['c++', 'build', 'run', 'k8s', 'v2.1']
    >>> tokenize("我喜欢茶")
    ['我喜', '喜欢', '欢茶']
    """
    folded = fold(text)
    if folded.isascii():
        return _words(folded, _CHUNK_ASCII)
    terms: list[str] = []
    done = 0
    for run in _RUN.finditer(folded):
        terms += _words(folded[done : run.start()], _CHUNK)
        terms += _bigrams(run[0])
        done = run.end()
    return terms + _words(folded[done:], _CHUNK)


def query_terms(text: str) -> list[str]:
    """Return the distinct terms of a question, first come first, at most `limits.QUERY_TERMS`.

    A question of nothing but stop words keeps them ("who is it?"), for engines that index every word.

    >>> query_terms("Which tea does Ana like, which tea?")
    ['tea', 'ana', 'like']
    """
    terms = tokenize(text) or _CHUNK.findall(fold(text))
    return list(dict.fromkeys(terms))[: limits.QUERY_TERMS]


def segment(text: str) -> str:
    """Return the text for a full-text index that knows only spaces: runs become spaced bigrams, the rest stays.

    >>> segment("Tokyo 東京都 2024")
    'Tokyo  東京 京都  2024'
    """
    if text.isascii():
        return text
    return _RUN.sub(lambda run: f" {' '.join(_bigrams(unicodedata.normalize('NFKC', run[0])))} ", text)


def _bigrams(run: str) -> list[str]:
    """Cut a run into overlapping pairs; a single character stays as it is."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _words(folded: str, pattern: re.Pattern[str]) -> list[str]:
    terms: list[str] = []
    for chunk in pattern.findall(folded):
        terms += _analyse(chunk)
    return terms


@lru_cache(maxsize=_MEMO_WORDS)
def _analyse(chunk: str) -> tuple[str, ...]:
    """Turn one chunk into its terms: mostly one stem, none for a stop word, whole and parts for compounds."""
    plain = chunk.replace("\u2019", "'")
    if plain in STOP_WORDS:
        return ()
    if _GROUPED.fullmatch(plain):
        return (plain.replace(",", ""),)
    if _VERSION.fullmatch(plain):
        return (plain,)
    if "'" in plain and not _has_any(plain, ".@,:"):
        return _apostrophe(plain)
    if _has_any(plain, ".@,:"):
        return _compound(plain)
    return (_stem(plain),)


def _has_any(text: str, characters: str) -> bool:
    return any(character in text for character in characters)


def _apostrophe(word: str) -> tuple[str, ...]:
    """Drop a possessive or clitic: "ana's" is "ana", "we'll" nothing; other apostrophes close up ("obrien")."""
    head, _, tail = word.rpartition("'")
    bare = head if tail in {"s", "ll", "re", "ve", "d", "m"} else word
    return () if bare in STOP_WORDS else (_stem(bare.replace("'", "")),)


def _compound(chunk: str) -> tuple[str, ...]:
    """Index a name with inner marks ("ana@example.com", "node.js") as a whole and by its parts.

    A comma or colon without a space separates words only.
    """
    terms: list[str] = []
    for piece in re.split("[,:]", chunk):
        if "." in piece or "@" in piece:
            terms.append(piece)
            terms += (term for part in _PART.findall(piece) for term in _analyse(part))
        else:
            terms += _analyse(piece)
    return tuple(terms)


def _stem(word: str) -> str:
    """Stem an English-looking word (Snowball English); numbers lose leading zeros and ordinal endings."""
    if word.isascii() and word.isalpha():
        return _english().stemWord(word)
    ordinal = _ORDINAL.fullmatch(word)
    digits = ordinal[1] if ordinal else word
    return digits.lstrip("0") or "0" if digits.isdigit() else word
