"""Normal forms of names, values and texts; equal forms mean the same.

They decide identity (slots, confirmation, tombstones), so a change here needs a new NORMALISER version. Tombstones
store the version that made them, and old versions stay available.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from functools import lru_cache
from typing import Final

from credenda.text.tokens import fold, guess_languages

NORMALISER: Final = 1
_SPACE: Final = re.compile(r"\s+")
_EDGE: Final = re.compile(r"^[\W_]+|[\W_]+$")
_ARTICLE: Final = re.compile(r"^(?:the|a|an|my|our)\s+")
_NOT_WORD: Final = re.compile(r"[^\w]+")
_PUNCTUATION: Final = re.compile(r"[^\w\s.+#%/@:-]|[.:-](?=\s|$)")
_CACHED: Final = 4_096
"""Number of cached normal forms: a decision compares the same hundred repeatedly."""
_DIGIT: Final = re.compile(r"\d")
_RELEASE: Final = re.compile(r"\bv(?=\d+[ .]\d)|^(?:number|nummer|nr) (?=\d)")
_GROUPED: Final = re.compile(r"(?<![\w.])\d{1,3}(?: \d{3}){1,5}(?![\w.])")
_SCALES: Final = {"k": 1_000, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_SCALED: Final = re.compile(r"(?<![\w.])(\d{1,12}(?:\.\d{1,6})?) ?(k|thousand|million|billion)\b")
_CURRENCIES: Final = {
    **dict.fromkeys(("us$", "$", "usd", "dollars", "dollar", "bucks", "buck"), "usd"),
    **dict.fromkeys(("€", "eur", "euros", "euro"), "eur"),
    **dict.fromkeys(("£", "gbp", "pounds", "pound", "quid"), "gbp"),
}
_FACTORS: Final = {"k": 3, "thousand": 3, "tausend": 3, "m": 6, "million": 6, "millionen": 6, "bn": 9, "billion": 9}
_NUMBER: Final = (
    r"(?P<{0}>[1-9]\d{{0,2}}(?:[., ']\d{{3}})+(?:[.,]\d{{1,2}})?|\d{{1,15}}(?:[.,]\d{{1,2}})?)(?![.,]?\d)"
    r"(?: ?(?P<{0}_scale>thousand|tausend|million|millionen|billion|bn|k|m)\b)?"
)
_UNIT: Final = "|".join(map(re.escape, _CURRENCIES))
_MONEY: Final = re.compile(
    rf"(?<!\w)(?P<unit>{_UNIT}) ?{_NUMBER.format('after')}"
    rf"|(?<![\w.,]){_NUMBER.format('before')} ?(?P<unit2>{_UNIT})(?!\w)"
)
_QUOTES: Final = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"}
)


def _fold(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()
    return _SPACE.sub(" ", plain).strip()


@lru_cache(maxsize=_CACHED)
def normalise_name(name: str) -> str:
    """Normalise an entity or scope: fold case, width, spaces and outer punctuation.

    >>> normalise_name("  The ACME  Project. ")
    'acme project'
    """
    return _ARTICLE.sub("", _EDGE.sub("", _fold(name)))


_OF_USER: Final = "user's "
_BEARER: Final = re.compile(r".*['\u2019]s (?:[^\W\d_][^\sA-Z]* )+?(?P<name>[A-Z].*)")
"""An entity that is named by what it is to somebody, and by its own name: "user's brother Sam"."""


def find_named_entities(name: str, entities: Iterable[str]) -> list[str]:
    """Return the entities that a name fits, in order: the whole name, the name as shown, or the bare name.

    >>> find_named_entities("Sam", ["user's brother Sam", "Ben's son Sam", "Samson"])
    ["Ben's son Sam", "user's brother Sam"]
    >>> find_named_entities("brother Sam", ["user's brother Sam", "Ben's son Sam"])
    ["user's brother Sam"]
    """
    asked = normalise_name(name).removeprefix(_OF_USER)
    spelled = {normalise_name(one): one for one in sorted(entities)}
    shown = [one for key, one in spelled.items() if asked in {key, key.removeprefix(_OF_USER)}]
    bare = (
        one for one in spelled.values() if (found := _BEARER.fullmatch(one)) and normalise_name(found["name"]) == asked
    )
    return sorted(shown or bare)


@lru_cache(maxsize=_CACHED)
def normalise_attribute(name: str) -> str:
    """Normalise an attribute to snake case.

    >>> normalise_attribute("Favourite colour")
    'favourite_colour'
    """
    return _NOT_WORD.sub("_", _fold(name)).strip("_")


@lru_cache(maxsize=_CACHED)
def normalise_value(value: str) -> str:
    """Normalise a value: fold case, articles and punctuation, keep digits and signs.

    >>> normalise_value("The  Morning!")
    'morning'
    """
    return _ARTICLE.sub("", _SPACE.sub(" ", _PUNCTUATION.sub(" ", _fold(value))).strip())


def normalise_text(text: str) -> str:
    """Normalise a sentence: lower case, single spaces, no punctuation (S-061).

    >>> normalise_text("I live in Linz.") == normalise_text("i  live in LINZ")
    True
    """
    return _SPACE.sub(" ", _PUNCTUATION.sub(" ", _fold(text))).strip()


@lru_cache(maxsize=_CACHED)
def _spell_amounts(key: str) -> str:
    """Write the numbers of a normal form in digits: "40k" is 40000, "v5.3" is 5.3, "number 7" is 7."""
    written = _GROUPED.sub(lambda found: found[0].replace(" ", ""), _RELEASE.sub("", key))
    return _SCALED.sub(_to_digits, written)


def _to_digits(found: re.Match[str]) -> str:
    amount = Decimal(found[1]) * _SCALES[found[2]]
    return str(int(amount)) if amount == int(amount) else found[0]


@lru_cache(maxsize=_CACHED)
def normalise_money(value: str) -> str | None:
    """Normalise a value with each amount of money in digits and its currency; None for a value without one.

    >>> normalise_money("$18,000 for everything"), normalise_money("18k dollars for everything"), normalise_money("18k")
    ('18000 usd for everything', '18000 usd for everything', None)
    """
    told, amounts = _MONEY.subn(_spell_money, _fold(value))
    return normalise_value(told) if amounts else None


def _spell_money(found: re.Match[str]) -> str:
    number, scale = found["after"] or found["before"], found["after_scale"] or found["before_scale"]
    digits, mark, cents = re.sub(r"[., '](?=\d{3})", "", number).replace(",", ".").partition(".")
    amount = Decimal(f"{digits}{mark}{cents}").scaleb(_FACTORS.get(scale or "", 0)).normalize()
    return f"{amount:f} {_CURRENCIES[found['unit'] or found['unit2']]}"


_NUMBER_ALONE: Final = re.compile(r"[+(]*\d(?:[\d\s()./-]*\d)?")
_OTHER_NUMBER: Final = re.compile(r"\d+\.\d+|\d{1,4}([./-])\d{1,2}\1\d{1,4}|(?:19|20)\d\d ?[-/] ?(?:19|20)?\d\d")
"""Decimals, days and spans of years, which are no number of a phone or an account."""
_NUMBER_DIGITS: Final = 6


def normalise_number(value: str) -> str | None:
    """Return the digits of a number of at least six, such as one of a phone or an account; None for another value.

    >>> normalise_number("07700 900-123"), normalise_number("2026-09-12"), normalise_number("2019-2023")
    ('07700900123', None, None)
    """
    plain = _fold(value)
    if _NUMBER_ALONE.fullmatch(plain) is None or _OTHER_NUMBER.fullmatch(plain):
        return None
    digits = re.sub(r"\D", "", plain)
    return digits if len(digits) >= _NUMBER_DIGITS else None


_DOSE: Final = re.compile(r"^\d[\d.,]*\s?(?:mg|mcg|\u00b5g|ug|iu|puffs?|tablets?|pills?|drops?|capsules?) of ")
"""How much of a medicine is taken, which one may name without."""


def is_same_value(one: str | None, other: str | None) -> bool:
    """Return whether two values are the same in normal form; an unknown value equals nothing (D-008).

    Amounts of money with a currency are compared by number and currency, long numbers by their digits.

    >>> is_same_value("40k", "40,000"), is_same_value("2 million", "2000000"), is_same_value("40k", "41k")
    (True, True, False)
    >>> is_same_value("number 12", "12"), is_same_value("number 12", "21"), is_same_value("12 rooms", "12")
    (True, False, False)
    >>> is_same_value("$18,000", "18000 dollars"), is_same_value("$18,000", "€18,000")
    (True, False)
    >>> is_same_value("40 mg of omeprazole", "omeprazole"), is_same_value("40 mg of omeprazole", "20 mg of omeprazole")
    (True, False)
    """
    if one is None or other is None:
        return False
    first, second = normalise_value(one), normalise_value(other)
    if _DIGIT.search(first) is None or _DIGIT.search(second) is None:
        return _DOSE.sub("", first) == _DOSE.sub("", second)
    money, others = normalise_money(one), normalise_money(other)
    if money is not None and others is not None:
        return money == others
    number = normalise_number(one)
    if number is not None and number == normalise_number(other):
        return True
    return first == second or _spell_amounts(first) == _spell_amounts(second)


# Looser normal forms for tombstones: one for singular and plural, one for the phrasings of a condition.


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


# Folding of invisible characters and of letters that look alike, for comparison with deleted text.


_SHAPES: Final = {
    "a": "\u0430\u0410\u03b1\u0391\u03ac\u0386\u0251\u1d00\u13aa",
    "b": "\u0412\u0392\u03b2\u0299",
    "c": "\u0441\u0421\u03f2\u03f9\u1d04\uabaf",
    "d": "\u0501\u1d05",
    "e": "\u0435\u0415\u0451\u0401\u03b5\u0395\u03ad\u0388\u1d07\u13ac",
    "g": "\u0261\u0581",
    "h": "\u04bb\u041d\u0397\u0570\u13bb",
    "i": "\u0456\u0406\u0457\u0407\u04c0\u0399\u03b9\u03af\u038a\u03ca\u0131\u0269\u026a",
    "j": "\u0458\u0408\u03f3\u0237\u1d0a",
    "k": "\u041a\u043a\u039a\u03ba\u1d0b\u13e6",
    "l": "\u04cf\u029f",
    "m": "\u041c\u039c\u1d0d\u13b7",
    "n": "\u03b7\u03ae\u039d\u0274\u0578",
    "o": "\u043e\u041e\u03bf\u039f\u03cc\u038c\u1d0f\u0585",
    "p": "\u0440\u0420\u03a1\u03c1\u1d18",
    "q": "\u051b",
    "r": "\u0280",
    "s": "\u0405\u0455\ua731\u13da",
    "t": "\u0422\u03a4\u03c4\u1d1b\u13a2",
    "u": "\u03c5\u03cd\u1d1c\u057d",
    "v": "\u0475\u0474\u03bd\u1d20",
    "w": "\u051d\u051c\u03c9\u1d21\u13b3",
    "x": "\u0445\u0425\u03c7\u03a7",
    "y": "\u0443\u0423\u04af\u04ae\u03a5\u03b3\u028f",
    "z": "\u0396\u1d22",
}
"""Letters of Cyrillic, Greek, Armenian and Cherokee, and small capitals, by the Latin letter that they look like.

Taken from the single-letter entries of Unicode's confusables (UTS 39) whose target is a Latin letter.
"""
_NEAR: Final = {
    "b": "\u0432\u044c",
    "h": "\u043d",
    "m": "\u043c",
    "n": "\u043f",
    "o": "\u03c3",
    "r": "\u0433",
    "t": "\u0442",
    "u": "\u0438",
    "w": "\u0461",
    "z": "\u03b6",
}
"""Letters that resemble a Latin letter less: they count only inside a word that has a Latin letter."""
_LATIN_OF: Final = str.maketrans({letter: latin for latin, letters in _SHAPES.items() for letter in letters})
_NEAR_LATIN: Final = str.maketrans({letter: latin for latin, letters in _NEAR.items() for letter in letters})
_UNSEEN: Final = frozenset({"Cf", "Cc", "Co", "Cn"})
"""Categories of characters that show nothing of their own: controls, private and unassigned ones."""
_MARKS: Final = frozenset({"Mn", "Me"})
_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5")
"""Letters and symbols without a shape."""


def fold_lookalikes(text: str) -> str:
    r"""Fold what only looks the same: remove unseen characters and accents, and write Latin look-alikes in Latin.

    A word is written in Latin if it has a Latin letter, or if every letter of it looks like a Latin one and other words
    of the text are Latin. A word with a letter of its own script stays as it is.

    >>> fold_lookalikes("pea\u200bnuts"), fold_lookalikes("\u0440\u0435anuts")
    ('peanuts', 'peanuts')
    """
    if text.isascii():
        return text
    plain = _remove_unseen(unicodedata.normalize("NFKC", text))
    latin = any(map(_is_latin, plain))
    return _WORD.sub(lambda found: _to_latin(found[0], latin=latin), plain)


def _remove_unseen(text: str) -> str:
    """Remove unseen characters, and marks on Latin, Greek and Cyrillic letters; other scripts keep their marks."""
    kept: list[str] = []
    for letter in unicodedata.normalize("NFD", text):
        kind = unicodedata.category(letter)
        if (
            kind in _MARKS
            and kept
            and not ("\ufe00" <= letter <= "\ufe0f" or "\U000e0100" <= letter <= "\U000e01ef")
            and not _is_unmarked(kept[-1])
        ) or not (letter in _FILLERS or kind in _MARKS or (kind in _UNSEEN and not letter.isspace())):
            kept.append(letter)
    return unicodedata.normalize("NFC", "".join(kept))


@lru_cache(maxsize=_CACHED)
def _is_unmarked(letter: str) -> bool:
    """Return whether marks after a character are left out: it is Latin, or no letter at all."""
    if not letter.isalpha():
        return unicodedata.category(letter) not in _MARKS
    return _is_latin(letter) or unicodedata.name(letter, "").startswith(("CYRILLIC", "GREEK"))


@lru_cache(maxsize=_CACHED)
def _to_latin(word: str, *, latin: bool) -> str:
    if word.isascii():
        return word
    written = word.translate(_LATIN_OF)
    if any(map(_is_latin, word)):
        return written.translate(_NEAR_LATIN)
    own = any(letter.isalpha() and not _is_latin(letter) for letter in written)
    return written if latin and not own else word


@lru_cache(maxsize=_CACHED)
def _is_latin(letter: str) -> bool:
    return letter.isalpha() and (letter.isascii() or unicodedata.name(letter, "").startswith("LATIN"))


# Text that every encoding can represent.


def join_surrogates(text: str) -> str:
    r"""Join surrogate pairs and replace single surrogates, which UTF-8 cannot encode.

    >>> join_surrogates("tea \ud83c\udf75 \ud800") == "tea \U0001f375 \ufffd"
    True
    """
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
