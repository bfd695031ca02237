"""Language detection for stemming, and stems in the detected language.

The script alone identifies Russian, Greek, Arabic and the like; their words are stemmed in any text. Languages in Latin
letters are detected by their function words, which even a short sentence has; a text without any counts as English.
Stems of such a language carry its code, so that a German stem never matches an English text.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final, Protocol, cast

__all__ = [
    "DISTINCTIVE_WORDS",
    "LANGUAGES",
    "get_function_words",
    "guess_languages",
    "stem",
    "stem_by_script",
    "tag_stems",
]

LANGUAGES: Final = {
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "pt": "portuguese",
    "it": "italian",
    "nl": "dutch",
    "sv": "swedish",
    "tr": "turkish",
}
"""Code of each language in Latin letters, and the name of its Snowball stemmer."""

_MEMO_WORDS: Final = 16_384
"""Number of cached stems: about 4 MB when full, shared by all tenants of the process."""
_SCRIPTS: Final = (
    ("russian", re.compile("[\u0400-\u052f]+")),
    ("greek", re.compile("[\u0370-\u03ff\u1f00-\u1fff]+")),
    ("arabic", re.compile("[\u0620-\u06d3\u06fa-\u06ff]+")),
    ("hindi", re.compile("[\u0900-\u097f]+")),
    ("tamil", re.compile("[\u0b80-\u0bff]+")),
    ("armenian", re.compile("[\u0531-\u0587]+")),
)
_HEBREW: Final = re.compile("[\u05d5\u05d4\u05d1\u05db\u05dc\u05de\u05e9]([\u05d0-\u05ea]{3,})")
"""A Hebrew word that may begin with one of the prefix letters for "and, the, in, as, to, from, that"."""

_WORDS: Final = {
    "de": """
        aber als am an auch auf aus bei beim bin bis bist da dann das dass dein deine dem den der des dich die dir
        doch du durch ein eine einem einen einer eines er es fur gern habe haben hast hat hatte hier ich ihm ihn
        ihr ihre im ins ist ja jeden jetzt kann kein keine keinen man mein meine meinem meinen meiner mich mir mit
        nach nicht noch nur oder sehr seit sein seine sich sie sind so uber um und uns unser unsere vom von vor
        wann war waren warum was welche welchen welcher welches wenn wer werden wie wir wird wo wollen wurde zu
        zum zur zwei
    """,
    "fr": """
        ai ais ait as au aux avec avons avez c'est ce ces cet cette comme d dans de des du elle elles en est et
        etais etait etre eu il ils j je l la le les leur leurs lui ma mais me mes moi mon n ne nos notre nous on
        ont ou par pas plus pour qu quand que quel quelle quelles quels qui sa se ses sont suis sur ta te tes
        toujours tu un une vos votre vous y j'ai j'etais n'ai n'est d'un d'une l'a s'est qu'il qu'elle
    """,
    "es": """
        al algo como con cual cuando cuanto de del desde donde el ella ellas ellos en era es esa ese eso esta
        estaba estan este esto estoy fue ha han hay he hoy la las le les lo los mas me mi mis muy nada no nos
        nuestra nuestro o para pero por porque que quien se ser si sin sobre son soy su sus tambien te tengo tiene
        tu un una unas unos y ya yo
    """,
    "pt": """
        a ao aos as ate com como da das de dela dele do dos e ela elas ele eles em entao era essa esse esta estava
        estou eu foi ha isso ja lhe mais mas me meu meus minha minhas muito na nao nas no nos num numa o onde os
        ou para pela pelo por porque qual quando que quem sao se sem ser seu sua tambem tem tenho um uma umas uns
        voce voces
    """,
    "it": """
        abbiamo ad ai al alla alle anche avevo c'e che chi ci come con da dal dalla dei del della delle di dove e
        ed era erano gli hai hanno ho i il in io la le lei li lo loro lui ma mi mia mie miei mio molto ne nel
        nella nelle non nostra nostro o per perche piu quale quali quando quella quello questa questo se sei si
        sono su sua suo ti tra tu un una uno
    """,
    "nl": """
        aan al als bij dan dat de deze die dit door een en er ge geen gisteren haar had heb hebben heeft het hij
        hoe hun ik in is jaar je jij jouw kan maar me mee met mijn naar niet nog nu of om onder onze ook op over
        te toen tot twee uit van veel voor waar wanneer waren wat we welk welke werd wie wij wil worden wordt zal
        ze zich zij zijn zo
    """,
    "sv": """
        alla att av blev bli de dem den denna det detta dig din ditt du efter eller en ett fran for ha han har hon
        hos hur i icke inte ja jag kan man med mig min mina mitt nar nu och om oss pa sa sig sin som till under
        upp ut vad var vara vart vi vid vill ar
    """,
    "tr": """
        ama ben benim bir biz bizim bu cok da daha de degil diye en gibi hangi hic icin ile ise kadar kim ki mi mu
        ne neden nerede o olan olarak onun sen senin siz su var ve veya ya yok
    """,
}
_ENGLISH: Final = """
a about after all am an and any are as at be because been before but by can could day did do does for from get go
had has have he her him his how i i'm if in into is it its just like me my new no not now of on one or our out over
said she should so some than that the their them then there they this to too two up us was we were what when where
which who will with would you your
"""
_ALSO_ENGLISH: Final = """
ad alle also ami at ate bang ben bin biz come con dag den di die dig din do door dove ed efter era est fur ha hat
hay her het hon hoy i ich icke in la las le les ma man me men met mi mine mit mot mu na nada non nota o on os over
pa par pas per plus pour sa se sei ser sin so son sua sur te ten till tu tun un under up van var ve vi via vid war
we y ya
"""
"""Function words of other languages that English texts also contain as words or names: alone they prove nothing."""


DISTINCTIVE_WORDS: Final = frozenset(" ".join(_WORDS.values()).split()) - frozenset(
    f"{_ENGLISH} {_ALSO_ENGLISH}".split()
)
"""Function words that English texts hardly ever contain; a text without any of them counts as English."""


class _Stemmer(Protocol):
    """The part of PyStemmer that we use; the library ships no stubs."""

    def stemWord(self, word: str) -> str: ...  # noqa: N802  (the library's name)


class _StemmerFactory(Protocol):
    """The library's constructor; `maxCacheSize` 0 turns off its own cache, because we cache the results."""

    def __call__(self, algorithm: str, maxCacheSize: int) -> _Stemmer: ...  # noqa: N803  (the library's name)


@lru_cache(maxsize=32)
def _open_stemmer(name: str) -> _Stemmer:
    make = cast("_StemmerFactory", importlib.import_module("Stemmer").Stemmer)
    return make(name, 0)


def stem(word: str, name: str = "english") -> str:
    """Stem a folded word by Snowball's rules for a language."""
    return _open_stemmer(name).stemWord(word)


def stem_by_script(word: str) -> str | None:
    """Stem a folded word whose script identifies its language; None for any other.

    >>> stem_by_script("велосипеды"), stem_by_script("garden")
    ('велосипед', None)
    """
    for name, letters in _SCRIPTS:
        if letters.fullmatch(word):
            return stem(word, name)
    hebrew = _HEBREW.fullmatch(word)
    return None if hebrew is None else hebrew[1]


@lru_cache(maxsize=32)
def get_function_words(language: str) -> frozenset[str]:
    """Return the function words of a language, folded."""
    return frozenset((_ENGLISH if language == "en" else _WORDS[language]).split())


@lru_cache(maxsize=1)
def _index_function_words() -> dict[str, tuple[str, ...]]:
    """Return for each function word the languages that have it; words shared with English alone prove nothing."""
    found: dict[str, list[str]] = {}
    for language in LANGUAGES:
        for word in get_function_words(language):
            found.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in found.items()}


def guess_languages(words: Sequence[str], *, most: bool = False) -> tuple[str, ...]:
    """Return the likely languages of a text's folded words, the likeliest first; () for English.

    With `most`, only the languages with the most function words: one, or several that are level.

    >>> guess_languages("ich habe zwei katzen".split()), guess_languages("i met her in el paso".split())
    (('de',), ())
    """
    if DISTINCTIVE_WORDS.isdisjoint(words):
        return ()
    speakers = _index_function_words()
    votes: dict[str, int] = {}
    for word in words:
        for language in speakers.get(word, ()):
            votes[language] = votes.get(language, 0) + 1
    english = sum(word in get_function_words("en") for word in words)
    likely = [language for language, count in votes.items() if count > english]
    likely.sort(key=lambda language: -votes[language])
    return tuple(language for language in likely if not most or votes[language] == votes[likely[0]])


def tag_stems(words: Collection[str], language: str) -> list[str]:
    """Return the stems of a language's words with its code, without function words.

    >>> tag_stems(["ich", "habe", "katzen"], "de")
    ['katz0de']
    """
    silent = get_function_words(language)
    return [_tag_stem(word, language) for word in words if word not in silent]


@lru_cache(maxsize=_MEMO_WORDS)
def _tag_stem(word: str, language: str) -> str:
    return f"{stem(word, LANGUAGES[language])}0{language}"
