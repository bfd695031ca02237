"""Clean values: cut at the next clause, remove small words, extract scope and replaced value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from credenda.model.claim import UpdateKind
from credenda.write.extract.lexicon import RECENT, lexicon, load_table
from credenda.write.extract.patterns import in_lower_case

__all__ = [
    "Value",
    "clean_value",
    "corrected_value",
    "day_first",
    "is_rewording",
    "leading_scope",
    "left_for",
    "only_day",
    "split_list",
    "take_company",
    "take_days",
    "take_purpose",
    "take_rather",
    "take_scope",
    "until_day",
]

_TRIMS_MAX: Final = 6
_ITEM_WORDS_MAX: Final = 4
_SCOPE_WORDS_MAX: Final = 4
_ARTICLE: Final = re.compile(r"^(?!(?-i:A) \d+$)(?:an?|some)\s+(?=\S)", re.IGNORECASE)
"""An article; "A 4" is a name and no article."""
_THE: Final = re.compile(r"^(?:the|my|our|an?)\s+", re.IGNORECASE)
_SHARED: Final = frozenset({"pollen", "hair", "fur", "dander", "milk", "dust", "nuts", "fruit", "fruits", "products"})
_ITEMS: Final = re.compile(r"\s*,\s*(?:(?:and|or|plus)\s+)?|\s+(?:and|or|&|plus)\s+")
_REWORDING: Final = re.compile(
    r"(?:i mean|i guess|or rather|at least|actually|enfin|plutôt|c'est-à-dire|beziehungsweise|bzw\.?|besser gesagt|also"
    r"|o sea|mejor dicho|quer dizer|ou melhor|ou seja)\b",
    re.IGNORECASE,
)
"""What opens other words for the item before, and no further item: "gluten, enfin intolérante"."""
_NOW: Final = re.compile(r"\bnow\b|\bas of today\b|\binstead\b|\bthese days\b|\bnowadays\b", re.IGNORECASE)
_ON: Final = re.compile(r"^(?:on|in|at|by|for) ", re.IGNORECASE)
_OPEN: Final = re.compile(r"\b(?:my|the|an?|our|his|her|their|of|for|to|by|with|about)\s*$", re.IGNORECASE)
_EDGES: Final = " ,.;:!?\"'\u2026"


@dataclass(slots=True, kw_only=True)
class Value:
    """A value during cleaning: `text` without its article, `raw` with it, its replaced value and its scope."""

    text: str
    raw: str = ""
    prior: str | None = None
    scope: str | None = None
    move: UpdateKind = UpdateKind.STATE


@cache
def _tails() -> dict[str, re.Pattern[str]]:
    table = load_table("tails")
    single = {name: text for name, text in table.items() if isinstance(text, str)}
    scope = {f"scope_{name}": text for name, text in table["scope"].items()}
    return {name: re.compile(text, re.IGNORECASE) for name, text in (single | scope).items()}


def _trim(value: Value, literals: tuple[str, ...], *, dated: bool) -> bool:
    """Remove one small word or date from the end; False without one."""
    value.text = value.text.strip(_EDGES)
    if found := _tails()["dated_tail" if dated else "tail"].search(value.text):
        if _NOW.search(found[0]):
            value.move = UpdateKind.CHANGE
        value.text = value.text[: found.start()]
        return True
    for literal in literals:
        if value.text.endswith(literal) and value.text != literal:
            value.text = value.text.removesuffix(literal)
            return True
    return False


def _contrast(value: Value) -> None:
    """Split "not X", "instead of X" and "not X but Y"."""
    if found := _tails()["contrast"].match(value.text):
        value.text, value.prior, value.move = found["value"], found["prior"].strip(_EDGES), UpdateKind.CORRECT
    elif found := _tails()["instead"].match(value.text):
        value.text, value.prior = found["value"], found["prior"].strip(_EDGES)


def clean_value(text: str, literals: list[str], *, dated: bool = False) -> Value:
    """Clean a value.

    `literals` are the dates of the clause; they are removed from the end unless the value is a date.
    """
    done = _cleaned(text, () if dated else tuple(literals), dated)
    return Value(text=done.text, raw=done.raw, prior=done.prior, move=done.move)


def _cut(text: str) -> str:
    """Cut a value where another clause begins; a lower-case check excludes most values."""
    shape = _tails()["cut"]
    whole = text.isascii() and in_lower_case(shape).search(text.lower()) is None
    return text if whole else shape.sub("", text)


@lru_cache(maxsize=RECENT)
def _cleaned(text: str, literals: tuple[str, ...], dated: bool) -> Value:  # noqa: FBT001 - only ever called above
    value = Value(text=_tails()["aside"].sub("", text.strip(_EDGES)))
    value.text = _cut(value.text)
    for _ in range(_TRIMS_MAX):
        if not _trim(value, literals, dated=dated):
            break
    _contrast(value)
    if value.prior is not None:
        value.text = _tails()["aside"].sub("", value.text.strip(_EDGES))
    value.text = _tails()["head"].sub("", value.text.strip(_EDGES))
    value.raw = value.text
    value.text = _ARTICLE.sub("", value.text)
    return value


def take_purpose(value: Value) -> None:
    """Remove "to get better" from the end of a used or played thing."""
    value.text = _tails()["purpose"].sub("", value.text).strip(_EDGES)


def only_day(value: Value, literals: list[str]) -> None:
    """Reduce a value to its day and hour: "with Ana on 3 May at 10, by phone" is "3 May at 10"."""
    for literal in literals:
        at = value.text.find(literal)
        if at >= 0:
            hour = _tails()["hour"].match(value.text, at + len(literal))
            value.text = value.text[at : hour.end() if hour else at + len(literal)]
            value.text = _ON.sub("", value.text)
            return


def until_day(value: Value, literals: list[str]) -> None:
    """Cut a past action before its day: "went to a gala yesterday and met …" is "went to a gala"."""
    places = [at for literal in literals if (at := value.text.find(literal)) > 0 and not _OPEN.search(value.text[:at])]
    if places:
        value.text = value.text[: min(places)].strip(_EDGES)


def corrected_value(text: str, *, corrects: bool) -> tuple[str, str] | None:
    """Parse "it is Split, not Zagreb" and "not Zagreb but Split" as a value and the value that it replaces."""
    found = load_clause("it_is").match(text) or (load_clause("bare_not").match(text) if corrects else None)
    if found is None:
        return None
    value, prior = found["value"] or found["value2"], found["prior"] or found["prior2"]
    plain = _ARTICLE.sub("", value.strip(_EDGES)), _ARTICLE.sub("", prior.strip(_EDGES))
    short = all(0 < len(one.split()) <= _ITEM_WORDS_MAX for one in plain)
    return plain if short else None


@cache
def load_clause(name: str) -> re.Pattern[str]:
    """Compile one expression of the clause table."""
    return re.compile(load_table("tails")["clauses"][name], re.IGNORECASE)


def left_for(text: str) -> tuple[str, str] | None:
    """Parse "I left Ghent for Antwerp" as a value and the value that it replaces; memories tell its slot."""
    if not text.lower().startswith(("i ", "we ")):
        return None
    found = load_clause("left_for").match(text)
    return None if found is None else (found["value"], found["prior"])


def take_rather(value: Value) -> None:
    """Parse the rest of "(not) X but Y" as Y in place of X."""
    if found := _tails()["but"].match(value.text):
        value.prior, value.move = _ARTICLE.sub("", found["prior"].strip(_EDGES)), UpdateKind.CORRECT
        value.raw = found["value"].strip(_EDGES)
        value.text = _ARTICLE.sub("", value.raw)


def take_company(value: Value) -> None:
    """Remove additions from a place or employer: "with my wife", "as a nurse", "for two years"."""
    value.text = _tails()["company"].sub("", value.text).strip(_EDGES)
    value.raw = _tails()["company"].sub("", value.raw).strip(_EDGES)


def _scope_name(preposition: str, phrase: str) -> str | None:
    """Return the normalised name of a scope, or None if the phrase is no scope after this preposition."""
    preposition = preposition.lower()
    tails = _tails()
    if preposition in {"whenever", "while"}:
        preposition = "when"
    if preposition == "for":
        fits = tails["scope_for_not"].match(phrase) is None
    elif preposition in {"at", "in", "on", "when", "during", "with"}:
        fits = tails[f"scope_{preposition}"].match(phrase) is not None
    else:
        fits = False
    fits = fits and phrase.count(" ") < _SCOPE_WORDS_MAX
    return _THE.sub("", phrase).strip(_EDGES).casefold() if fits else None


def take_scope(value: Value) -> None:
    """Move "for Python", "at work", "in chat" from the end of a value to its scope."""
    if found := _tails()["scope_end"].match(value.text):
        scope = _scope_name(found["prep"], found["scope"])
        if scope is not None:
            value.text, value.scope = found["value"].strip(_EDGES), scope
            value.raw = value.text


def take_days(value: Value) -> None:
    """Move recurring days from the end of an hour to its scope: "10 on Saturdays", "nine at weekends"."""
    if found := _tails()["hour_on_days"].match(value.text):
        value.text, value.scope = found["value"], found["scope"].casefold()


def leading_scope(text: str) -> tuple[str | None, str]:
    """Remove a scope from the start of a clause: "For Python, I prefer black"."""
    if found := _tails()["scope_start"].match(text):
        scope = _scope_name(found["prep"], found["scope"])
        if scope is not None:
            return scope, found["rest"]
    return None, text


def day_first(text: str) -> str:
    """Rewrite "meetings in the morning" as "morning meetings", so that both are one value."""
    found = _tails()["scope_day_end"].match(text)
    if found is None or " " in found["value"].strip() or not found["value"].endswith("s"):
        return text
    return f"{found['day'].lower().removesuffix('s')} {found['value']}"


def is_rewording(item: str) -> bool:
    """Return whether an item of a list says the one before in other words."""
    return _REWORDING.match(item) is not None


def split_list(text: str, *, apart: bool = False) -> list[str]:
    """Split "German, English and Croatian" into its items; a value with a long item stays whole.

    `apart`: each item is independent, unless the last noun is clearly shared, as in "tree and grass pollen".
    """
    items = [_ARTICLE.sub("", item.strip(_EDGES)) for item in _ITEMS.split(text)]
    items = [item for item in items if item and not is_rewording(item)]
    if not all(map(str.isdigit, items)):
        items = [item for item in items if not item.isdigit()]  # "Spanish, 3." is no third language
    if not items:
        return [text]
    if len(items) == 1 and items[0] != text:
        return items
    if len(items) == 1 or any(len(item.split()) > _ITEM_WORDS_MAX for item in items):
        return [text]
    if _is_one_thing(items) and not (apart and items[-1].split()[-1] not in _SHARED):
        return [text]
    return items


def _is_one_thing(items: list[str]) -> bool:
    """Return whether "and" joins words of one item: "rock and pop music", "improving roads and schools"."""
    gerunds = [item.split(" ")[0].endswith("ing") for item in items]
    if gerunds[0] and not all(gerunds):
        return True
    first, last = items[0], items[-1]
    if lexicon().category(first) is not None:
        return False
    return items == [first, last] and first.islower() and last.islower() and " " not in first and " " in last
