"""Tell texts that the reader cannot read, because they are in another language than it was trained on. Pure."""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"[^\W\d_]+")
_ENGLISH: Final = frozenset(
    "a an and are at be been but by can did do does for from had has have he her his i if in is it"  # noqa: SIM905
    " its just me my no not of on or our she so than that the their them then there they this to too"
    " up us was we were what when which who will with would you your im ive dont".split()
)
_OTHERS: Final = frozenset(
    # German, Dutch, French, Spanish, Portuguese, Italian: their commonest words, but for those that are English too
    "ich bin ist und der das den dem ein eine einen einer nicht mit auf für wir sie mein meine habe"  # noqa: SIM905
    " meinen meinem meiner hat wohne bei seit aber auch sind war zu zum zur gegen ik het een niet van"
    " voor mijn wij zijn heb woon bij je suis est les des une pas avec pour nous vous mon ma mes dans sur qui que c'est"
    " ai elle chez depuis du au aux yo soy está los las una el la con por para mi mis muy pero vivo"
    " en es del al tengo más eu não uma com meu minha moro sou tenho na da dos das ao os um é já mas"
    " muito estou lo se et le jai cest sono il che non per mio mia abito lavoro ho gli della di".split()
)
_LEAST: Final = 2
_SURELY_OTHER: Final = frozenset({"ich", "mein", "meine", "meinen", "meinem", "meiner"})
"""Words about oneself that no English sentence has; one of them is enough."""


def is_english(text: str) -> bool:
    """Return whether a text may be English: most letters are Latin, and no other language has more of its small words.

    >>> is_english("flat in Tromsø now, (nurse, so nights)"), is_english("vegan, two cats")
    (True, True)
    >>> is_english("Ich fahre am 3. Mai nach Graz."), is_english("我妹妹住在上海")
    (False, False)
    """
    words = [word.casefold() for word in _WORD.findall(text.replace("'", "").replace("\u2019", ""))]
    letters = "".join(words)
    latin = sum(letter < "\u0250" for letter in letters)
    own, others = (sum(word in known for word in words) for known in (_ENGLISH, _OTHERS))
    enough = others >= _LEAST or not _SURELY_OTHER.isdisjoint(words)
    return 2 * latin >= len(letters) and not (enough and others > own)
