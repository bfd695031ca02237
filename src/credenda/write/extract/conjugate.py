"""Conjugation of German, French, Spanish and Portuguese verbs, and of their English translations. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from credenda.write.extract.lexicon import lexicon

__all__ = ["Form", "conjugated", "inflected"]

_PERSONS: Final[tuple[int, ...]] = (1, 2, 3, 4, 6)
"""I, you, he or she, we, they; 0 for none."""
_PRESENT: Final = {
    "es": {"ar": "o as a amos an", "er": "o es e emos en", "ir": "o es e imos en"},
    "pt": {"ar": "o as a amos am", "er": "o es e emos em", "ir": "o es e imos em", "or": "o es e omos em"},
}
_PAST: Final = {
    "es": {"ar": "é aste ó amos aron", "er": "í iste ió imos ieron", "ir": "í iste ió imos ieron"},
    "pt": {
        "ar": "ei aste ou ámos aram",
        "er": "i este eu emos eram",
        "ir": "i iste iu imos iram",
        "or": "i este ôs omos eram",
    },
}
_WOULD: Final = {"es": "ía ías ía íamos ían", "pt": "ia ias ia íamos iam", "fr": "ais ais ait ions aient"}
_WILL: Final = {"es": "é ás á emos án", "pt": "ei ás á emos ão", "fr": "ai as a ons ont"}
_FRENCH: Final = "e es e ons ent"
_UNGLUED: Final = ("be", "ver", "er", "ent", "zer", "emp", "ge", "über", "unter", "ab\x00")
"""Prefixes of German verbs whose participle has no "ge"."""
_MODALS: Final = frozenset({"can", "must", "should", "may", "will"})
_PERSONLESS: Final = frozenset({"infinitive", "order", "to", "participle", "gerund"})
_PAST_OF: Final = {"can": "could", "must": "had to", "should": "should", "may": "might", "will": "would"}


class Form(NamedTuple):
    """The features of a verb form: English verb, person (0 for none), tense, and whether it takes "to be".

    `base` begins with "@" if the experiencer is in the dative.
    """

    base: str
    person: int
    tense: str
    moved: bool = False


def conjugated(language: str, base: str, spec: str) -> Iterator[tuple[str, str, Form]]:
    """Yield every form of a verb with its infinitive, in the notation of the tables."""
    head, *rest = spec.split(" ")
    if language == "de":
        yield from _german(base, head, rest)
        return
    infinitive = head.replace("_", " ")
    forms = _french(head, rest) if language == "fr" else _southern(language, head, rest)
    for shown, person, tense in forms:
        tail = infinitive.partition(" ")[2]
        yield f"{shown} {tail}".strip(), infinitive, Form(base, person, tense, "+" in rest)


def _german(base: str, head: str, rest: list[str]) -> Iterator[tuple[str, str, Form]]:
    prefix, _, stemmed = head.rpartition("/")
    infinitive = prefix + stemmed
    stem = stemmed.removesuffix("en") if stemmed.endswith("en") else stemmed.removesuffix("n")
    glued = stemmed.startswith(_UNGLUED) or stemmed.endswith("ieren")
    weak = [f"{stem}e", f"{stem}t", f"{stem}te", f"{stem}t" if glued else f"ge{stem}t"]
    one, three, past, participle = rest[:4] if rest else weak
    told = [(one, 1, "present"), (three, 3, "present"), (stemmed, 4, "present"), (past, 1, "past"), (past, 3, "past")]
    told += [(f"{past}n" if past.endswith("e") else f"{past}en", 4, "past"), (f"{three[:-1]}st", 2, "present")]
    if one.endswith("e"):
        told.append((one[:-1], 2, "order"))
    separated = f"\x00{prefix}" if prefix else ""
    for shown, person, tense in told:
        yield f"{shown}{separated}", infinitive, Form(base, person, tense)
        if prefix:
            yield f"{prefix}{shown}", infinitive, Form(base, person, tense)
    yield infinitive, infinitive, Form(base, 0, "infinitive")
    yield f"{prefix}{participle}", infinitive, Form(base, 0, "participle")
    if prefix:
        yield f"{prefix}zu{stemmed}", infinitive, Form(base, 0, "to")


def _french(head: str, rest: list[str]) -> Iterator[tuple[str, int, str]]:
    cells = [one for one in rest if "=" not in one and one != "+"]
    settings = dict(one.split("=", 1) for one in rest if "=" in one)
    stem = head[:-2]
    told = dict(zip(_PERSONS, (stem + one for one in _FRENCH.split()), strict=True))
    done = f"{stem}é"
    if cells:
        told |= dict(zip((1, 3, 4, 6), cells, strict=False))
        told[2] = cells[0]
        done = cells[4] if len(cells) > 4 else done  # noqa: PLR2004
    for person, shown in told.items():
        yield shown, person, "present"
    we = told[4].removesuffix("ons") if told[4] != "sommes" else "ét"
    future = settings.get("f", head.removesuffix("e"))
    for endings, stems, tense in (
        (_WOULD["fr"], we, "was"),
        (_WOULD["fr"], future, "would"),
        (_WILL["fr"], future, "will"),
    ):
        for person, ending in zip(_PERSONS, endings.split(), strict=True):
            yield stems + ending, person, tense
    yield head, 0, "infinitive"
    for ending in ("", "e", "s", "es"):
        yield done + ending, 0, "participle"
    yield f"{we}ant", 0, "gerund"
    if not cells:
        yield f"{stem}ez", 2, "present"
    elif told[4].endswith("ons"):
        yield f"{we}ez", 2, "present"


def _southern(language: str, head: str, rest: list[str]) -> Iterator[tuple[str, int, str]]:
    verb, _, _ = head.partition("_")
    verb = verb.removesuffix("se") if verb.endswith("rse") else verb
    settings = dict(one.split("=", 1) for one in rest if "=" in one)
    strong = next((one[1:] for one in rest if one.startswith("~")), None)
    stem, kind = verb[:-2], verb[-2:].replace("ô", "o").replace("í", "i")
    if kind not in _PRESENT[language]:
        return
    told: dict[int, str] = dict(zip(_PERSONS, (stem + one for one in _PRESENT[language][kind].split()), strict=True))
    if strong is not None:
        told |= {at: strong + told[at][len(stem) :] for at in (1, 2, 3, 6)}
    past: dict[int, str] = dict(zip(_PERSONS, (stem + one for one in _PAST[language][kind].split()), strict=True))
    for at, key in ((1, "1s"), (2, "2s"), (3, "3s"), (4, "1p"), (6, "3p")):
        told[at] = settings.get(key, told[at])
    for at, key in ((1, "p1"), (3, "p3"), (6, "p6")):
        past[at] = settings.get(key, past[at])
    yield from ((shown, person, "present") for person, shown in told.items())
    yield from ((shown, person, "past") for person, shown in past.items())
    yield from _later(language, verb, told[1], past[6], settings)
    yield from _personless(language, verb, kind, settings)


def _later(  # noqa: PLR0917 - a row of forms, in the order of the grammar
    language: str, verb: str, one: str, many: str, settings: Mapping[str, str]
) -> Iterator[tuple[str, int, str]]:
    """Yield the imperfect, conditional, future and subjunctive forms."""
    kind = verb[-2:].replace("ô", "o").replace("í", "i")
    stem = verb[:-2]
    if language == "es":
        was = "aba abas aba ábamos aban" if kind == "ar" else _WOULD["es"]
    else:
        was = "ava avas ava ávamos avam" if kind == "ar" else _WOULD["pt"]
    first = settings.get("i")
    for person, ending in zip(_PERSONS, was.split(), strict=True):
        shown = (
            stem + ending
            if first is None
            else first + {2: "s", 4: "mos", 6: "n" if language == "es" else "m"}.get(person, "")
        )
        yield shown, person, "was"
    future = settings.get("f", verb.replace("ô", "o"))
    for endings, tense in ((_WOULD[language], "would"), (_WILL[language], "will")):
        yield from ((future + end, person, tense) for person, end in zip(_PERSONS, endings.split(), strict=True))
    vowel = "e" if kind == "ar" else "a"
    be = settings.get("s", _soft(one.removesuffix("o") if one.endswith("o") else stem, vowel))
    be = be if be.endswith(("a", "e", "á", "é")) else be + vowel
    for person, ending in ((1, ""), (2, "s"), (3, ""), (4, "mos"), (6, "n" if language == "es" else "m")):
        yield be + ending, person, "be"
    were = many.removesuffix("ron") if language == "es" else many.removesuffix("ram")
    ends = ("ra", "ran", "ramos") if language == "es" else ("sse", "ssem", "ssemos")
    yield from ((were + end, person, "were") for person, end in zip((1, 6, 4), ends, strict=True))


def _personless(language: str, verb: str, kind: str, settings: Mapping[str, str]) -> Iterator[tuple[str, int, str]]:
    """Yield the forms without a person."""
    stem = verb[:-2]
    yield verb, 0, "infinitive"
    done = settings.get("pp", stem + ("ado" if kind == "ar" else "ído" if stem.endswith(("a", "e")) else "ido"))
    yield from ((done[:-1] + end, 0, "participle") for end in ("o", "a", "os", "as"))
    yield stem + ("ando" if kind == "ar" else "iendo" if language == "es" else f"{kind[0]}ndo"), 0, "gerund"


def _soft(stem: str, vowel: str) -> str:
    """Keep the sound of a stem before "e": toco, toque; pago, pague."""
    if vowel == "e":
        for hard, soft in (("c", "qu"), ("g", "gu"), ("z", "c"), ("ç", "c")):
            if stem.endswith(hard):
                return stem[: -len(hard)] + soft
    return stem


@cache
def _english() -> Mapping[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for word, form in lexicon().forms.items():
        for kind in form.kinds:
            found.setdefault((form.base, kind), word)
    return found


def _part(base: str, kind: str) -> str:
    """Inflect the first word of an English verb phrase; another word stays unchanged."""
    first, _, rest = base.partition(" ")
    shown = "been" if (first, kind) == ("be", "participle") else "being" if (first, kind) == ("be", "gerund") else None
    if shown is None:
        shown = _english().get((first, kind)) or (_regular(first, kind) if first.isascii() else first)
    return f"{shown} {rest}".strip()


def _regular(base: str, kind: str) -> str:
    if kind == "third":
        return f"{base}es" if base.endswith(("s", "sh", "ch", "x", "z")) else f"{base}s"
    stem = base.removesuffix("e")
    return f"{stem}ing" if kind == "gerund" else f"{stem}ed"


def inflected(base: str, person: int, tense: str, denied: str = "") -> str:
    """Inflect an English verb for person and tense, and negate it by "not", "no longer" or "never".

    >>> inflected("live", 1, "present", "not"), inflected("move", 3, "past"), inflected("be", 1, "present", "no longer")
    ('do not live', 'moved', 'am no longer')
    """
    first, _, rest = base.partition(" ")
    if tense in _PERSONLESS:
        return _without_person(base, tense, denied)
    if first in _MODALS:
        shown = _PAST_OF[first] if tense in {"past", "was", "would", "were"} else first
        return " ".join(filter(None, (shown, denied, rest)))
    if tense in {"will", "would"}:
        return " ".join(filter(None, (tense, denied, base)))
    if first == "be":
        return " ".join(filter(None, (_being(person, tense), denied, rest)))
    past = tense in {"past", "was", "were"}
    if denied == "not":
        return f"{'did' if past else 'does' if person == 3 else 'do'} not {base}"  # noqa: PLR2004
    shown = _part(base, "past") if past else _part(base, "third") if person == 3 else base  # noqa: PLR2004
    return f"{denied} {shown}".strip()


def _without_person(base: str, tense: str, denied: str) -> str:
    match tense:
        case "to":
            said = f"to {base}"
        case "participle" | "gerund":
            said = _part(base, tense)
        case _:
            said, denied = base, "do not" if denied == "not" else denied
    return f"{denied} {said}".strip()


def _being(person: int, tense: str) -> str:
    if tense == "were" or (tense in {"past", "was"} and person not in {1, 3}):
        return "were"
    if tense in {"past", "was"}:
        return "was"
    return {1: "am", 3: "is"}.get(person, "are")
