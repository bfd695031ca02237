"""Looser normal forms for tombstones: one for singular and plural, one for the phrasings of a condition.

They decide only which statements match a deletion, in English, German, French, Spanish and Portuguese. They fold only
number and articles, never gender or derivation: "hijo" and "hija" are two persons, "university" is no "universe". A
change here needs a new version of FORMS.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from credenda.text.languages import guess_languages
from credenda.text.normalize import normalise_text, normalise_value
from credenda.text.tokens import fold

__all__ = [
    "FORMS",
    "detect_language",
    "find_condition_forms",
    "fold_plural",
    "fold_plural_everywhere",
    "list_condition_terms",
]

FORMS: Final = 2
"""The version of these forms, as `normal.NORMALISER` counts them."""
_MEMO_WORDS: Final = 4_096
_LETTERS_MIN: Final = 3
_WORD: Final = re.compile(r"[^\W_]+")
_PAIR: Final = re.compile(r"(?<![aeiouq])([aou])e")
"""An umlaut written out: "Erdnuesse"."""
_Rules = tuple[tuple[str, str], ...]
_ENDINGS: Final[dict[str, _Rules]] = {
    "en": (
        (r"ies?$", "y"),
        (r"oes?$", "o"),
        (r"(?<=ch|sh|ss)es$|(?<=[xz])es$", ""),
        (r"(?<![sui])s$", ""),
        (r"(?<=ch|sh|ss)e$|(?<=[xz])e$", ""),
    ),
    "de": (
        (r"innen$", "in"),
        (r"(?<=e[lr])n$|en$|e$", ""),
        (r"(?<=[io])s$", ""),
    ),
    "fr": ((r"(?<!e)aux$", "al"), (r"(?<=[eo]u|au)x$", ""), (r"(?<!s)s$", "")),
    "es": ((r"ces$", "z"), (r"(?<=[^aeiou])es?$", ""), (r"(?<=[aeiou])s$", ""), (r"(?<=[^aeiou])e$", "")),
    "pt": (
        (r"[oa]es$", "ao"),
        (r"ns$", "m"),
        (r"(?<=[aeou])is$", "l"),
        (r"(?<=[rz])es$", ""),
        (r"(?<=[aeiou])s$", ""),
    ),
}
"""Plural endings by language, folded, with their singulars; each rule applies once, in order.

They also change words that are the same in both numbers, and singulars that end like plurals: both forms only have to
give the same result, which need not be a word.
"""
_RULES: Final = {code: [(re.compile(rule), to) for rule, to in rules] for code, rules in _ENDINGS.items()}
_IRREGULAR: Final = {
    "en": "mice mouse children child men man women woman people person feet foot teeth tooth geese goose wives wife "
    "knives knife leaves leaf loaves loaf halves half wolves wolf lice louse oxen ox fungi fungus cacti cactus "
    "viruses virus buses bus sinuses sinus",
    "de": "eier ei kinder kind rinder rind huhner huhn hauser haus bucher buch manner mann lammer lamm krauter kraut",
    "fr": "yeux oeil",
    "es": "",
    "pt": "",
}
_SINGULAR: Final = {
    code: dict(zip(words.split()[::2], words.split()[1::2], strict=True)) for code, words in _IRREGULAR.items()
}
_ARTICLES: Final = {
    code: frozenset(words.split())
    for code, words in {
        "en": "the a an my our some any",
        "de": "der die das den dem des ein eine einen einem einer mein meine meinen",
        "fr": "le la les l un une des du de d mon ma mes",
        "es": "el la los las un una unos unas mi mis",
        "pt": "o a os as um uma uns umas meu minha meus minhas",
    }.items()
}
_CONDITIONS: Final = {
    "allergy": r"allerg(?:y|ies|ic)|(?P<a>[^\W_]*?)allergi(?:e|en|ker|kerin|sch|sche|scher)|allergies?|allergiques?"
    r"|alergias?|alergic[oa]s?",
    "intolerance": r"(?P<i>[^\W_]*?)intoleran(?:t|te|tes|ts|z|ce|ces|cia|cias)",
    "diabetes": r"diabet(?:es|ic|iker|ikerin|e|ique|iques|ic[oa]s?)",
    "asthma": r"as(?:th)?m(?:a|e|atic|atiker|atikerin|atiques?|atic[oa]s?)",
    "epilepsy": r"epilep(?:sy|tic|sie|tiker|tikerin|tiques?|sia|tic[oa]s?)",
    "dyslexia": r"(?:dy|di|le)s?lexi(?:a|c|e|ques?|c[oa]s?)",
}
"""Nouns and adjectives of a condition, folded; a German compound also names its cause."""
_TOLD_CHARACTERS: Final = 400
"""A longer text states more than one condition: its set of words would mean nothing."""
_MAYBE: Final = re.compile("all?[eé]rg|int[oó]l[eé]r[aâ]n|diab[eéè]t|as(?:th)?m|[eé]pil[eé]p|lexi")
"""A substring of every name of a condition, in the normal form of a text: it rules out most texts."""
_NAMED: Final = [(name, re.compile(rule)) for name, rule in _CONDITIONS.items()]
_TERMS: Final = {
    "allergy": "allergy allergic allergie allergisch allergiker allergique alergia alergico alergica",
    "intolerance": "intolerance intolerant intoleranz intolerancia intolerante",
    "diabetes": "diabetes diabetic diabetiker diabete diabetique diabetico diabetica",
    "asthma": "asthma asthmatic asthmatiker asthme asthmatique asma asmatico asmatica",
    "epilepsy": "epilepsy epileptic epilepsie epileptiker epileptique epilepsia epileptico epileptica",
    "dyslexia": "dyslexia dyslexic dyslexie dyslexique dislexia dislexico dislexica",
}
_COMPOUNDS: Final = {
    "allergy": "allergie allergien allergiker allergikerin allergisch",
    "intolerance": "intoleranz intolerant",
}
_SILENT: Final = {
    code: frozenset(words.split())
    for code, words in {
        "en": "m am is s have has ve got suffer suffers suffering from to of with severe severely bad badly strong "
        "strongly mild mildly serious seriously very really quite also still known highly unfortunately sadly",
        "de": "bin ist habe hab hat leide leidet reagiere reagiert an gegen auf unter stark starke schwer schwere "
        "leicht leichte heftig heftige sehr leider auch ziemlich",
        "fr": "suis ai est a au aux souffre contre tres severe severement grave gravement fort forte fortement aussi "
        "malheureusement",
        "es": "es tiene sufre padece a al de del contra muy severa fuerte grave gravemente tambien",
        "pt": "e tem sofre a ao aos as de do dos da das contra muito severa forte grave gravemente tambem",
    }.items()
}
"""Words that connect a condition with its person, or only tell its severity."""
_SELF: Final = {
    "en": frozenset({"i", "my"}),
    "de": frozenset({"ich", "meine"}),
    "fr": frozenset({"je", "j", "mon"}),
    "es": frozenset({"yo", "soy", "tengo", "sufro", "padezco"}),
    "pt": frozenset({"eu", "sou", "tenho", "sofro"}),
}
"""First-person words; two of these languages mark the person on the verb."""


def detect_language(text: str) -> str:
    """Detect the language of a text among those folded here; "" for any other."""
    words = _WORD.findall(fold(text))
    found = guess_languages(words, most=True)
    if found:
        return found[0] if found[0] in _RULES else ""
    return next((code for code in _RULES if code != "en" and not _SELF[code].isdisjoint(words)), "en")


def fold_plural(value: str, language: str) -> str:
    """Fold a value to a form that singular and plural share, without articles.

    >>> fold_plural("the peanuts", "en"), fold_plural("Erdnüsse", "de"), fold_plural("nueces", "es")
    ('peanut', 'erdnuss', 'nuez')
    """
    words = _fold_accents(normalise_value(value), language).split()
    kept = [word for word in words if word not in _ARTICLES[language]] or words
    return " ".join(_fold_word(word, language) for word in kept)


def fold_plural_everywhere(value: str) -> set[str]:
    """Return the forms of a value in every language."""
    return {fold_plural(value, language) for language in _RULES}


def find_condition_forms(text: str) -> set[str]:
    """Return the conditions that a sentence states, in normal form; nothing for questions and other sentences.

    >>> find_condition_forms("I'm allergic to peanuts.") & find_condition_forms("I have a severe peanut allergy")
    {'+allergy +self peanut'}
    >>> find_condition_forms("My sister is allergic to peanuts.") & find_condition_forms("I'm allergic to peanuts.")
    set()
    """
    key = normalise_text(text)
    if (
        len(key) > _TOLD_CHARACTERS
        or "?" in text
        or not _MAYBE.search(key)
        or not any(_match_condition(word, "en") for word in _split_words(key, "en"))
    ):
        return set()
    return {" ".join(sorted(_find_conditions(_split_words(key, language), language))) for language in _RULES}


def list_condition_terms(text: str) -> list[str]:
    """Return search terms for other sentences about the conditions of a text, in all languages.

    >>> list_condition_terms("Ich habe eine Erdnussallergie")[:2], list_condition_terms("I like tea")
    (['allergy', 'allergic'], [])
    """
    forms = find_condition_forms(text)
    words = {word for form in forms for word in form.split()}
    terms: list[str] = []
    for name, spelled in _TERMS.items():
        if f"+{name}" in words:
            terms += spelled.split()
            compounds = _COMPOUNDS.get(name, "").split()
            terms += sorted(f"{word}{end}" for word in words if word.isalpha() for end in compounds)
    return terms


def _find_conditions(words: list[str], language: str) -> set[str]:
    found: set[str] = set()
    for word in words:
        if word in _SELF[language]:
            found.add("+self")
        elif word not in _SILENT[language] and word not in _ARTICLES[language]:
            found |= _match_condition(word, language) or {_fold_word(word, language)}
    return found


def _match_condition(word: str, language: str) -> set[str]:
    for name, rule in _NAMED:
        named = rule.fullmatch(word)
        if named is not None:
            causes = (named[part] for part in ("a", "i") if part in rule.groupindex and named[part])
            return {f"+{name}", *(_fold_word(cause, language) for cause in causes)}
    return set()


def _split_words(key: str, language: str) -> list[str]:
    return _WORD.findall(_fold_accents(key, language))


def _fold_accents(key: str, language: str) -> str:
    """Fold accents, ligatures and German umlauts that are written out."""
    plain = fold(key).replace("\u0153", "oe")
    return _PAIR.sub(r"\1", plain) if language == "de" else plain


@lru_cache(maxsize=_MEMO_WORDS)
def _fold_word(word: str, language: str) -> str:
    """Fold a word to the form that its singular and its plural share."""
    first, dash, last = word.rpartition("-")
    if dash:
        return f"{first}-{_fold_word(last, language)}"
    known = _SINGULAR[language].get(word)
    if known is not None or not word.isalpha():  # "C++" and "v2s" are spelled one way
        return known or word
    for rule, to in _RULES[language]:
        shorter = rule.sub(to, word)
        word = shorter if len(shorter) >= _LETTERS_MIN else word
    return word
