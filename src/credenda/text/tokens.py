"""Search terms of a text: folded, without stop words, stemmed; bigrams in scripts without spaces between words.

Documents and queries pass through the same steps, so that folding applies to both. A change to any step needs a new
TOKENIZER, which invalidates index snapshots, and a migration that rebuilds the full-text index of each backend.

A query term may have several alternatives, separated by ALTERNATIVE: the stems of one word in each possible language. A
document with any of them matches the term.
"""

from __future__ import annotations

import importlib
import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, Protocol, cast

from credenda import limits

# Language detection for stemming, and stems in the detected language.


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


_TYPED: Final = frozenset("im ive dont cant thats its whats isnt didnt".split())  # noqa: SIM905
"""English as it is typed; "im" is German too."""


def guess_languages(words: Sequence[str], *, most: bool = False) -> tuple[str, ...]:
    """Return the likely languages of a text's folded words, the likeliest first; () for English.

    With `most`, only the languages with the most function words: one, or several that are level.

    >>> guess_languages("ich habe zwei katzen".split()), guess_languages("i met her in el paso".split())
    (('de',), ())
    >>> guess_languages("im tess".split()), guess_languages("ich bin im garten".split())
    ((), ('de',))
    """
    if DISTINCTIVE_WORDS.isdisjoint(words):
        return ()
    speakers = _index_function_words()
    votes: dict[str, int] = {}
    for word in words:
        for language in speakers.get(word, ()):
            votes[language] = votes.get(language, 0) + 1
    english = sum(word in get_function_words("en") or word in _TYPED for word in words)
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


# Words too common to distinguish texts, folded like the output of `text.tokens.fold`.


_ENGLISH_STOPWORDS: Final = """
a about above after again against all already also although always am among an and another any anybody anyone anything
are aren't around as at away back be became because become been before being below between both but by came can can't
cannot come could couldn't did didn't do does doesn't doing don't done down during each either else ever every everyone
everything few for from further get gets getting go goes going gonna gone got gotta had hadn't has hasn't have haven't
having he her here hers herself him himself his how however i i'd i'll i'm i've if in instead into is isn't it it'd
it'll it's its itself just kinda let let's lot lots made make makes making many maybe me might mine more most much must
my myself neither no nor not now of off on once one ones only onto or other others our ours ourselves out over own per
perhaps quite rather really same shall she should shouldn't since so some somebody someone something still such than
that that's the their theirs them themselves then there there's these they this those though through thus to too toward
towards under until up upon very via was wasn't we we'd we'll we're we've were weren't what what's whatever when where
where's whether which while who who's whoever whom whose why will with within without won't would wouldn't yet you you'd
you'll you're you've your yours yourself yourselves
ah aha haha hey hmm huh lol oh ok okay um wow yeah yep dont didnt doesnt isnt wasnt im ive thats whats
"""
_GERMAN: Final = """
aber als auch auf aus bei bin bis bist da dann das dass dein deine dem den der des dich dir doch du durch ein eine einem
einen einer eines er es habe haben ich ihm ihn ihr ihre im ist ja mein meine meinem meinen meiner mich mir mit nach
nicht noch nur oder sehr sein seine sich sie sind uber und uns unser vom von vor wenn werden wie wir wird zu zum zur
"""
_FRENCH: Final = """
au aux avec ce ces cet cette dans de du elle elles en est et etre il ils je la le les leur leurs lui mais mes moi mon
ne nos notre nous ou par pas plus pour qu que qui sa se ses sont sur ta te tes tu un une vos votre vous
"""
_SPANISH: Final = """
al como cual cuando del desde donde el ella ellos en es esta este esto estoy las lo los mas mi mis muy nada para pero
por porque que quien ser si sobre soy su sus tambien tengo tiene una unas unos y ya yo
"""
_PORTUGUESE: Final = """
ao aos da das dele dela dos ela ele eles em entao essa esse estou eu foi isso ja mais mas meu minha muito na nao nas nos
num numa os pela pelo porque quando sao sem seu sua tambem tem tenho uma umas uns voce voces
"""

STOP_WORDS: Final = frozenset(f"{_ENGLISH_STOPWORDS}{_GERMAN}{_FRENCH}{_SPANISH}{_PORTUGUESE}".split())


TOKENIZER: Final = 2
ALTERNATIVE: Final = "|"
_DOCUMENT_LANGUAGES: Final = 2
"""Number of languages of a text whose stems are indexed: a short text may fit two similar ones."""
_Cut = Callable[[str], list[str]]
_MEMO_TERMS: Final = 32_768
"""Number of cached word analyses: about 8 MB when full, shared by all tenants of the process."""

RUNS: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e"  # Thai
    "\u0e81-\u0ece"  # Lao
    "\u1000-\u103f\u1050-\u109f"  # Burmese
    "\u1780-\u17d3"  # Khmer
    "\u3005\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana and iteration marks
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uac00-\ud7a3"  # Hangul: spaces separate phrases there, and particles attach to the words
)
"""Characters of scripts that are split into overlapping bigrams, as the inside of a regex class."""

_RUN: Final = re.compile(f"[{RUNS}]+")
_HIRAGANA: Final = "\u3041-\u309f"
_KATAKANA: Final = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_UNIT: Final = re.compile(f"[{_HIRAGANA}]+|[{_KATAKANA}]+|[^{_HIRAGANA}{_KATAKANA}]+")
"""Japanese changes its script at word boundaries: stems are in Han, endings and particles in Hiragana."""
_KANA: Final = re.compile(f"[{_HIRAGANA}]")
_ENDINGS: Final = """
です ます した して いる いた ない なか った って から まで より との には では とは へは のは のが んで いで
いま きま りま みま しま せん でい てい すか すよ すね たい たか かっ くて ので のに にな なり なっ こと もの
する され れた れて れる あり ある あっ だっ でし たの るの られ えま ちま ちゃ じゃ だよ だね よね んだ いの
うに うか わた たし
"""
_KANA_ENDINGS: Final = frozenset(_ENDINGS.split())
"""Pairs of Hiragana that are endings or particles and name nothing."""
# Vowel signs of these scripts are marks, which \w excludes: a word would be split at each of them.
_INDIC: Final = "\u0900-\u0963\u0966-\u0dff"
_LETTERS: Final = rf"(?:[^\W_]|[{_INDIC}])++"
_INNER: Final = r"[.@'\u2019,:]"
_SUFFIX: Final = r"(?:\+\+|\#(?![^\W_]))?+"
_CHUNK_ASCII: Final = re.compile(rf"[a-z0-9]++(?:[.@',:][a-z0-9]++)*+{_SUFFIX}")
_CHUNK: Final = re.compile(rf"{_LETTERS}(?:{_INNER}{_LETTERS})*+{_SUFFIX}")
_SCRIPT_WORD: Final = re.compile(r"[\u0370-\u06ff\u0900-\u0dff\u1f00-\u1fff]+(?:[\u0300-\u036f]+[\u0370-\u06ff]*)*")
_PART: Final = re.compile(rf"{_LETTERS}{_SUFFIX}")
# The breve of й stays: without it и and й are one letter, and Russian endings are no longer recognised.
_ACCENTS: Final = re.compile(
    "(?:[\u0300-\u0305\u0307-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u064b-\u065f\u0670]|(?<!\u0438)\u0306)+"
)
_ELIDED: Final = "l d j m n s t c qu jusqu lorsqu un dell all nell sull dall quell"
_ELISIONS: Final = frozenset(_ELIDED.split())
"""The part before an apostrophe in French and Italian, which does not belong to the next word."""
_ORDINAL: Final = re.compile(r"(\d+)(?:st|nd|rd|th)")
_VERSION: Final = re.compile(r"v?\d+(?:[.:]\d+)+")
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


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
    """Return the search terms of a text in reading order, with repeats.

    >>> tokenize("The C++ builds were running on k8s v2.1")
    ['c++', 'build', 'run', 'k8s', 'v2.1']
    >>> tokenize("我喜欢茶")
    ['我喜', '喜欢', '欢茶']
    """
    return _split_terms(fold(text), _cut_pairs)[0]


def extract_document_terms(text: str) -> list[str]:
    """Return the index terms of a document: those of `tokenize`, and further forms.

    The last character of each run is a term of its own, so that every character begins a term. A text that is not
    English also has the stems of its detected language.

    >>> extract_document_terms("喝茶"), extract_document_terms("Ich habe Katzen")
    (['喝茶', '茶'], ['katzen', 'katz0de'])
    """
    terms, chunks = _split_terms(fold(text), _cut_pairs_and_last)
    if DISTINCTIVE_WORDS.isdisjoint(chunks):
        return terms
    for language in guess_languages(chunks, most=True)[:_DOCUMENT_LANGUAGES]:
        terms += tag_stems(_select_latin_words(chunks), language)
    return terms


def extract_question_terms(text: str) -> list[str]:
    """Return the distinct terms of a query like `extract_query_terms`, each with its alternatives in other languages.

    A query without a function word may be in any language; one with English function words only is English.

    >>> extract_question_terms("Welche Katzen habe ich?"), extract_question_terms("Which cats do I have?")
    (['katzen|katz0de'], ['cat'])
    """
    _, chunks = _split_terms(fold(text), _cut_pairs)
    words = [part for chunk in chunks for part in chunk.split("'")]
    languages = guess_languages(chunks)
    if not languages and get_function_words("en").isdisjoint(words):
        languages = tuple(LANGUAGES)
        silent = frozenset[str]()
    else:
        silent = get_function_words(languages[0]) if languages else frozenset[str]()
    if not languages:
        return extract_query_terms(text)
    known = {
        _analyse(word)[0]: ALTERNATIVE.join(dict.fromkeys([_analyse(word)[0], *_stem_in_languages(word, languages)]))
        for word in _select_latin_words(chunks)
        if _analyse(word)
    }
    unsaid = {term for word in chunks if word in silent for term in _analyse(word)}
    terms = extract_query_terms(text)
    said = [term for term in terms if term not in unsaid] or terms
    return [known.get(term, term) for term in said]


def _stem_in_languages(word: str, languages: tuple[str, ...]) -> list[str]:
    return [term for language in languages for term in tag_stems([word], language)]


def extract_query_terms(text: str) -> list[str]:
    """Return the distinct terms of a query, in order, at most `limits.QUERY_TERMS`.

    A query of stop words alone keeps them ("who is it?"), for engines that index every word.

    >>> extract_query_terms("Which tea does Ana like, which tea?")
    ['tea', 'ana', 'like']
    """
    terms = tokenize(text) or _CHUNK.findall(fold(text))
    return list(dict.fromkeys(terms))[: limits.QUERY_TERMS]


def space_runs(text: str) -> str:
    """Return a text whose runs are spaced bigrams; the rest is unchanged."""
    return text if text.isascii() else _space_run(text, _cut_pairs)


def segment_query(text: str) -> str:
    """Return a query for a full-text index that splits at spaces: runs become spaced bigrams, the rest is unchanged.

    Words in a script of their own are stemmed, because that index does not stem them.

    >>> segment_query("Tokyo 東京都 2024")
    'Tokyo  東京 京都  2024'
    """
    return text if text.isascii() else _segment(text, _cut_pairs)


def segment_document(text: str) -> str:
    """Return a document like `segment_query`, with the further forms of `extract_document_terms`."""
    body = text if text.isascii() else _segment(text, _cut_pairs_and_last)
    folded = fold(text)
    chunks = (_CHUNK_ASCII if folded.isascii() else _CHUNK).findall(folded)
    stems = [
        term
        for language in guess_languages(chunks, most=True)[:_DOCUMENT_LANGUAGES]
        for term in tag_stems(_select_latin_words(chunks), language)
    ]
    return f"{body} {' '.join(stems)}" if stems else body


def _segment(text: str, cut: _Cut) -> str:
    return _SCRIPT_WORD.sub(lambda word: stem_by_script(fold(word[0])) or word[0], _space_run(text, cut))


def _space_run(text: str, cut: _Cut) -> str:
    return _RUN.sub(lambda run: f" {' '.join(cut(unicodedata.normalize('NFKC', run[0])))} ", text)


def is_run(term: str) -> bool:
    """Return whether a term is of a script that is split into bigrams.

    >>> is_run("茶"), is_run("tea")
    (True, False)
    """
    return _RUN.fullmatch(term) is not None


def _split_terms(folded: str, cut: _Cut) -> tuple[list[str], list[str]]:
    """Return the terms of a folded text, and its chunks outside of runs."""
    if folded.isascii():
        chunks: list[str] = _CHUNK_ASCII.findall(folded)
        return _analyse_chunks(chunks), chunks
    terms: list[str] = []
    chunks = []
    done = 0
    for run in _RUN.finditer(folded):
        found = _CHUNK.findall(folded[done : run.start()])
        terms += _analyse_chunks(found)
        chunks += found
        terms += cut(run[0])
        done = run.end()
    found = _CHUNK.findall(folded[done:])
    return terms + _analyse_chunks(found), chunks + found


def _cut_pairs(run: str) -> list[str]:
    """Cut a run into overlapping pairs, in Japanese within each stretch of one script; a single character stays."""
    if not _KANA.search(run):
        return _cut_bigrams(run)
    pairs: list[str] = []
    for unit in _UNIT.findall(run):
        found = _cut_bigrams(unit)
        silent = _KANA.match(unit) and (len(unit) == 1 or _KANA_ENDINGS.issuperset(found))
        pairs += () if silent else (pair for pair in found if pair not in _KANA_ENDINGS)
    return pairs or _cut_bigrams(run)


def _cut_pairs_and_last(run: str) -> list[str]:
    """Cut a run like `_cut_pairs`, and end each stretch with its last character."""
    terms: list[str] = []
    for unit in _UNIT.findall(run):
        pairs = _cut_pairs(unit)
        terms += pairs if len(unit) == 1 else [*pairs, unit[-1]]
    return terms


def _cut_bigrams(run: str) -> list[str]:
    """Cut a run into overlapping pairs; a single character stays."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _select_latin_words(chunks: list[str]) -> list[str]:
    """Return the words in Latin letters among the chunks, without elided prefixes."""
    plain = (chunk.replace("\u2019", "'") for chunk in chunks)
    words = (_strip_elision(chunk) for chunk in plain)
    return [word for word in words if word.isalpha() and word < "\u0250"]


def _strip_elision(word: str) -> str:
    head, apostrophe, tail = word.partition("'")
    return tail if apostrophe and head in _ELISIONS and tail else word


def _analyse_chunks(chunks: list[str]) -> list[str]:
    return list(chain.from_iterable(map(_analyse, chunks)))


@lru_cache(maxsize=_MEMO_TERMS)
def _analyse(chunk: str) -> tuple[str, ...]:
    """Convert one chunk to terms: mostly one stem, none for a stop word, whole and parts for compounds."""
    plain = chunk.replace("\u2019", "'")
    if plain in STOP_WORDS:
        return ()
    if _GROUPED.fullmatch(plain):
        return (plain.replace(",", ""),)
    if _VERSION.fullmatch(plain):
        return (plain,)
    if "'" in plain and not _has_any(plain, ".@,:"):
        return _strip_apostrophe(plain)
    if _has_any(plain, ".@,:"):
        # Index a name with inner marks ("ana@example.com", "node.js") as a whole and by its parts.
        terms: list[str] = []
        for piece in re.split("[,:]", plain):
            if "." in piece or "@" in piece:
                terms.append(piece)
                terms += (term for part in _PART.findall(piece) for term in _analyse(part))
            else:
                terms += _analyse(piece)
        return tuple(terms)
    return (_stem(plain),)


def _has_any(text: str, characters: str) -> bool:
    return any(character in text for character in characters)


def _strip_apostrophe(word: str) -> tuple[str, ...]:
    """Remove a possessive, clitic or elision: "ana's" is "ana", "l'hotel" "hotel"; others are joined ("obrien")."""
    bare = _strip_elision(word)
    if bare != word:
        return () if bare in STOP_WORDS else (_stem(bare.replace("'", "")),)
    head, _, tail = word.rpartition("'")
    bare = head if tail in {"s", "ll", "re", "ve", "d", "m"} else word
    return () if bare in STOP_WORDS else (_stem(bare.replace("'", "")),)


def _stem(word: str) -> str:
    """Stem a word as English, or by its script (Snowball); numbers lose leading zeros and ordinal endings."""
    if word.isascii() and word.isalpha():
        return stem(word)
    ordinal = _ORDINAL.fullmatch(word)
    digits = ordinal[1] if ordinal else word
    if digits.isdigit():
        return digits.lstrip("0") or "0"
    return stem_by_script(word) or word
