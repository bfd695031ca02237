"""The language of a text, by a library that is loaded only where the words leave a doubt."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import Any, Final, cast

from credenda.text.tokens import fold, get_function_words

_WORD: Final = re.compile(r"[^\W\d_]+")
_SPOKEN: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_ENGLISH: Final = frozenset(
    "the and my i'm im ive you with have this that they their would what when which who from our don't dont can't"  # noqa: SIM905
    " because about just there then".split()
)
"""Words that are frequent in English and in no other language of Latin letters."""
_ENOUGH: Final = 8
"""One of these among so many words tells English."""
_LATIN_END: Final = "\u0250"
_CANDIDATES: Final = ("en", "de", "es", "fr", "pt", "it", "nl", "sv")
_SURE: Final = 0.9
"""Probability from which a text is not English: of 3,000 English messages of `training/` three sentences in French
and one foreign name reach it."""
_CHARACTERS: Final = 2_000
"""The beginning of a text tells its language."""


def find_language(text: str, before: str = "") -> str:
    """Return the code of the language of a message, "" for other scripts.

    Another language has a function word of its own; a short answer may be in that of the message before.

    >>> find_language("flat in Troms\u00f8 now, (nurse, so nights)"), find_language("vegan, two cats")
    ('en', 'en')
    >>> find_language("Ich fahre am 3. Mai nach Graz."), find_language("\u6211\u59b9\u59b9\u4f4f\u5728\u4e0a\u6d77")
    ('de', '')
    """
    text = text[:_CHARACTERS].lower().replace("\u2019", "'")
    words = _WORD.findall(text)
    letters = "".join(words)
    if 2 * sum(letter < _LATIN_END for letter in letters) < len(letters):
        return ""
    if not words or _ENOUGH * sum(word in _ENGLISH for word in _SPOKEN.findall(text)) >= len(words):
        return "en"
    said, english = {fold(word) for word in words}, get_function_words("en")
    is_other = any((said & get_function_words(code)) - english for code in _CANDIDATES if code != "en")
    if not is_other and not (before and said.isdisjoint(english)):
        return "en"  # whatever the library says
    language, share = cast("tuple[str, float]", _load().classify(text))
    own = language != "en" and bool((said & get_function_words(language)) - english)  # "works at Société Générale"
    if own and share >= _SURE and len(words) > 1:
        return language
    answers = before and said.isdisjoint(english) and find_language(before) == language
    return language if answers else "en"


@cache
def _load() -> Any:  # noqa: ANN401 - the library has no types
    langid = import_module("py3langid.langid")  # half a second of a core
    found = langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
    found.set_languages(list(_CANDIDATES))
    return found
