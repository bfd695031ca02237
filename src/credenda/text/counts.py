"""Numbers with their nouns, for reports in English. Pure."""

from __future__ import annotations

from typing import Final

_AFTER: Final = (" of ", " without ", " with ", " that ", " in ", " by ", " for ", " from ", " to ", " or ")
"""What follows the noun in the name of a kind: "messages without words"."""
_PLURALS: Final = ("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("sses", "ss"), ("s", "")
"""Endings of plurals with those of their singulars; the first that fits counts."""


_VERBS: Final = {"is": "are", "was": "were"}


def count_noun(count: int, noun: str, verb: str = "") -> str:
    """Return a number with its noun, and with a verb if there is one, both given in the singular.

    >>> count_noun(1, "job"), count_noun(2, "memory"), count_noun(1_000, "entry", "is"), count_noun(2, "row", "waits")
    ('1 job', '2 memories', '1,000 entries are', '2 rows wait')
    """
    if count == 1:
        return f"1 {noun} {verb}".rstrip()
    return f"{count:,} {_make_plural(noun)} {_VERBS.get(verb, verb.removesuffix('s'))}".rstrip()


def count_kind(count: int, kind: str) -> str:
    """Return a number with the name of a kind of things, which is given in the plural.

    >>> count_kind(1, "messages without words"), count_kind(3, "empty blocks"), count_kind(1, "memories of other users")
    ('1 message without words', '3 empty blocks', '1 memory of other users')
    """
    if count != 1:
        return f"{count:,} {kind}"
    end = min((at for at in map(kind.find, _AFTER) if at >= 0), default=len(kind))
    noun, rest = kind[:end], kind[end:]
    for plural, singular in _PLURALS:
        if noun.endswith(plural):
            noun = noun.removesuffix(plural) + singular
            break
    return f"1 {noun}{rest}"


def _make_plural(noun: str) -> str:
    noun, of, rest = noun.partition(" of ")
    if of:
        return f"{_make_plural(noun)}{of}{rest}"
    if " or " in noun:
        return " or ".join(map(_make_plural, noun.split(" or ")))
    if noun.endswith("y") and noun[-2:-1] not in set("aeiou"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("ch", "sh", "x", "ss")) else f"{noun}s"
