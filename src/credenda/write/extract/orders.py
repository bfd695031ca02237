"""The matter of a standing order, and whether two of them can be followed together. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final, NamedTuple

from credenda.text.tokens import fold, tokenize
from credenda.write.extract.voices import lexicon, load_table

INSTRUCTION: Final = "instruction"
"""The attribute of standing orders."""
_LANGUAGE: Final = "language"
_SPOKEN: Final = "spoken_language"
_CACHED: Final = 512
_WORD: Final = re.compile(r"[^\W\d_]+")
_CLAUSE: Final = re.compile(r"[,;.!?:]+\s|\b(?:but|instead)\b")
_NOT: Final = re.compile(
    r"\b(?:no|not|never|stop|without|less|quit|avoid|forget|nicht|kein\w*)\b|n't\b|\bno longer\b", re.IGNORECASE
)
_LIFTED: Final = re.compile(
    r"\b(?:you|u) (?:can|may|could) (?:now |just )?stop\b|\bno (?:need|longer)\b|\bneedn't\b"
    r"|\b(?:any ?more|any longer)\b|(?:n't|\bnot|\bnever) (?:need|have|required) to\b"
    r"|\b(?:you|u) (?:can|may) (?:\w+ ){1,6}?again\b"
    r"|\bforget (?:about |what i said |what i told you |the |my |that )",
    re.IGNORECASE,
)
"""Words that take an order back, and give no other one."""
_IN_LANGUAGE: Final = re.compile(
    r"(?:(?:\b(?:in|to|speak|speaking|use|using|no more)\s+(?:only |plain |simple )?)|^\W*(?:please,? )?)$",
    re.IGNORECASE,
)
_TEXTS: Final = re.compile(r"\b(?:translat\w*|learn\w*|practi[sc]\w*|spell\w*|words?)\b", re.IGNORECASE)
_CONDITION: Final = re.compile(
    r"\b(?:when|whenever|if|unless|while|except|only for|this (?:once|time|one))\b", re.IGNORECASE
)
_DIRECTIVE: Final = re.compile(
    r"\W*(?:(?:actually|please|ok(?:ay)?|now|no|sorry|hey|and|but|then|from now on|in future|instead|again)[,.!]*\s+)*"
    r"(?:you (?:can|may|could|should|don't|no longer|needn't)|(?:can|could|would) you|i'd (?:like|prefer)"
    r"|i (?:want you|would like|would prefer)|let's|go|switch|use|using|speak|talk|write|answer|reply|respond|keep|make"
    r"|be|give|say|stop|don't|do not|no more|no need|never|always|back to|forget)\b",
    re.IGNORECASE,
)
_PLEASE: Final = re.compile(r"\b(?:please|from now on|again|instead)\W*$", re.IGNORECASE)
_STANDING: Final = re.compile(r"\b(?:please|from now on|again|instead|back)\b", re.IGNORECASE)


class Order(NamedTuple):
    """A standing order: the poles of matters that it wants and rejects, and its other words.

    `act` has all its words but those of a denial, `rest` those that no matter has.
    """

    wants: frozenset[tuple[str, str]]
    rejects: frozenset[tuple[str, str]]
    act: frozenset[str]
    rest: frozenset[str]
    denied: bool
    lifts: bool
    conditional: bool


@cache
def _load_matters() -> tuple[frozenset[str], Mapping[tuple[str, str], re.Pattern[str]]]:
    table = load_table("matters")
    poles = {(name, pole): text for name, row in table["matter"].items() for pole, text in row.items()}
    return frozenset(tokenize(table["filler"])), {one: re.compile(text) for one, text in poles.items()}


@lru_cache(maxsize=_CACHED)
def read_order(text: str) -> Order:
    """Read the matters of an order.

    >>> read_order("No more short answers, be detailed").wants, read_order("you can stop answering in French").lifts
    (frozenset({('length', 'long')}), True)
    """
    filler, _ = _load_matters()
    said = fold(text.replace("\u2019", "'"))
    wants, rejects, left = set[tuple[str, str]](), set[tuple[str, str]](), ""
    for clause in _CLAUSE.split(said):
        for pole, start, stop in _find_poles(clause):
            denied = _NOT.search(clause[:start])
            (rejects if denied else wants).add(pole)
            clause = clause[:start] + " " * (stop - start) + clause[stop:]  # noqa: PLW2901 - the same clause
        left += f"{clause} "
    return Order(
        frozenset(wants),
        frozenset(rejects),
        frozenset(tokenize(_NOT.sub(" ", said))) - filler,
        frozenset(tokenize(left)) - filler,
        denied=_NOT.search(said) is not None,
        lifts=_LIFTED.search(said) is not None,
        conditional=_CONDITION.search(said) is not None,
    )


def _find_poles(clause: str) -> list[tuple[tuple[str, str], int, int]]:
    found = [(pole, *one.span()) for pole, sign in _load_matters()[1].items() for one in sign.finditer(clause)]
    if _TEXTS.search(clause):
        return found
    spoken = (one for one in _WORD.finditer(clause) if lexicon().category(one[0]) == _SPOKEN)
    told = (one for one in spoken if _IN_LANGUAGE.search(clause[: one.start()]))
    return [*found, *(((_LANGUAGE, one[0]), *one.span()) for one in told)]


def is_opposed(new: Order, held: Order) -> bool:
    """Return whether an order takes the place of another one: both are about the same, and cannot both be followed."""
    if new.conditional or held.conditional:
        return False
    if new.denied != held.denied and new.act and new.act == held.act:
        return True
    if new.rest != held.rest:
        return False
    if new.rejects & held.wants or new.wants & held.rejects:
        return True
    matters = {name for name, _ in new.wants} & {name for name, _ in held.wants}
    return any({pole for pole in new.wants if pole[0] == one}.isdisjoint(held.wants) for one in matters)


def is_lifted(new: Order, held: Order) -> bool:
    """Return whether an order is taken back by words that give no other: "you can stop answering in French"."""
    if not new.lifts or {name for name, _ in new.wants} & {name for name, _ in held.wants - new.wants}:
        return False
    told = new.wants | new.rejects
    same = new.act == held.act or (new.rest == held.rest and told & (held.wants | held.rejects))
    return bool(same and (new.act or told))


def is_repeated(new: Order, held: Order) -> bool:
    """Return whether an order gives another one in other words, and says no more: "English please"."""
    same = (new.wants, new.rejects, new.rest) == (held.wants, held.rejects, held.rest)
    return same and not new.rest and bool(new.wants or new.rejects) and not (new.conditional or held.conditional)


def is_bare_order(sentence: str) -> bool:
    """Return whether a sentence tells how to answer, and nothing else: it can take the place of a standing order.

    >>> is_bare_order("please go back to English"), is_bare_order("I speak English")
    (True, False)
    """
    said = sentence.replace("\u2019", "'")
    order = read_order(said)
    if order.rest or order.conditional or not (order.wants or order.rejects):
        return False
    if said.rstrip().endswith("?") and _STANDING.search(said) is None:
        return False
    return (_DIRECTIVE.match(said) or _PLEASE.search(said)) is not None
