"""Tag the verbs of a French, Spanish or Portuguese clause. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from credenda.write.extract.glossary import Item
from credenda.write.extract.southern_clause import DENIALS, Clause, done_of

__all__ = ["settle"]

_WEAK: Final = frozenset({"la", "le", "les", "l'", "lo", "los", "las", "leur", "nos", "o", "a", "os", "as", "en", "y"})
"""Articles that are pronouns before a verb."""
_FINITE: Final = ("present", "past", "was", "will", "would", "be", "were")
_MAY_BE: Final = frozenset({("pt", "e"), ("pt", "esta"), ("es", "esta"), ("fr", "a")})
"""Words that are verbs only with a missing accent, or if no other word of the clause is one."""
_NEVER: Final = frozenset({"a", "as", "da", "para", "sobre", "entre", "nos", "su", "sin", "de"})
_SMALL: Final = DENIALS | {"det", "prep", "conj", "subject", "clitic", "adv", "than"}


def settle(clause: Clause) -> None:
    """Decide whether each possible verb is one."""
    items = clause.items
    for at, item in enumerate(items):
        before = items[at - 1] if at else None
        after = items[at + 1] if at + 1 < len(items) else None
        if item.verb and before is not None and (item.source[0].isupper() or _is_noun(items, at)):
            item.tag, item.english = "x", item.source
        if item.source.lower() == "se" and clause.language == "pt" and (before is None or before.tag == "conj"):
            item.tag, item.english = "conj", "if"
        if not item.forms or item.verb or item.tag == "x":
            continue
        if _is_verb(clause, item, before, after):
            item.tag = "verb"
            item.english = item.forms[0].base
    for at, item in enumerate(items[:-1]):
        weak = item.source.lower() in _WEAK and item.tag in {"det", "prep", "conj", "adv", "clitic"}
        following = items[at + 1]
        if weak and following.of(*_FINITE) and not (at and items[at - 1].tag == "prep"):
            item.tag = "clitic"


def _is_noun(items: Sequence[Item], at: int) -> bool:
    """Return whether a possible verb is a noun, because an article or a preposition precedes it."""
    item, before = items[at], items[at - 1]
    if before.tag not in {"det", "prep"} or item.of("infinitive") is not None:
        return False
    if before.tag == "prep":
        return item.of("participle") is None and item.of("gerund") is None and before.source.lower() not in _WEAK
    weak = before.source.lower() in _WEAK
    return not (weak and at > 1 and items[at - 2].tag in {"subject", *DENIALS, "clitic", "x", "noun", "kin"})


def _is_verb(clause: Clause, item: Item, before: Item | None, after: Item | None) -> bool:
    """Return whether a possible verb is one."""
    if item.source[0].isupper() and before is not None:
        return False
    known = _is_known_verb(clause, item, before, after)
    if known is not None:
        return known
    if item.tag in _SMALL:
        return False
    if before is None:
        return clause.language != "fr" or after is None or not after.verb
    if before.tag in {"det", "prep", "adj"}:
        return any(one.tense == "infinitive" for one in item.forms) and item.tag not in {"noun", "kin"}
    return item.tag != "adj"


def _is_known_verb(clause: Clause, item: Item, before: Item | None, after: Item | None) -> bool | None:
    """Decide about words that are mostly no verbs; None for all others."""
    key = (clause.language, item.source.lower())
    if key == ("fr", "a") and after is not None and done_of(after) is not None and after.source.lower() != "plus":
        return True
    if key in _MAY_BE:
        return before is not None and before.tag not in {"prep", "conj", "subject"} and not _has_verb(clause, item)
    if key[1] in {"como", "cómo"}:
        opens = before is None or before.tag in DENIALS or before.tag == "subject"
        return key[0] == "es" and opens and after is not None and not after.verb
    if key[1] in _NEVER:
        return False
    if item.sure and item.forms[0].base == "be":
        return before is None or before.tag != "prep"
    return True if item.sure and (before is None or before.tag not in {"det", "prep"}) else None


def _has_verb(clause: Clause, item: Item) -> bool:
    others = [one for one in clause.items if one is not item]
    return any(one.verb or (one.forms and one.tag in {"noun", "x"}) for one in others)
