"""Public ids: short, readable, and invalid in any other tenant.

Inside a tenant events, memories, changes, contests and jobs are numbered 1, 2, 3 …; their public ids are like
`m42-3fa9c2`: a letter for the kind, the number, and the tenant's tag. The tag is random and unique in a store, so an id
of another tenant is recognised without a look-up.

The only module that draws random numbers.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final

from credenda.errors import Invalid, LimitExceeded, NotFound

_TAG_HEX: Final = "0123456789abcdef"
_TAG_END: Final = "0123456789"
_TAG_DRAWS: Final = 1_000
"""Of 10,485,760 tags, so many draws miss the free ones once in 20,000 times while one in a hundred is free."""
_ID: Final = re.compile(r"([emckj])([1-9][0-9]{0,17})-([0-9a-f]{6})")


class IdKind(StrEnum):
    """The kind of row that an id names; the value is its first letter."""

    EVENT = "e"
    MEMORY = "m"
    CHANGE = "c"
    CONTEST = "k"
    JOB = "j"


_NAMES: Final = {kind: f"{'an' if kind is IdKind.EVENT else 'a'} {kind.name.lower()}" for kind in IdKind}
_SHOWN: Final = ("event or memory", "`list` or `search`")
_LISTS: Final = {
    IdKind.EVENT: ("event", "`search` or `why`"),
    IdKind.MEMORY: ("memory", "`list` or `search`"),
    IdKind.CHANGE: ("change", "`why` or `changes`"),
    IdKind.CONTEST: ("contest", "`contests`"),
    IdKind.JOB: ("job", "`jobs`"),
}
"""The name of each kind, and the operations that show ids of it; `_SHOWN` where an id may be of either kind."""
_ENDING: Final = 7
"""Characters of the dash and the tag."""
_DIGITS: Final = 18
_KINDS: Final = {kind.value: kind for kind in IdKind}
"""A look-up costs a fifth of an enumeration call, and a search reads some forty ids."""


def draw_tag() -> str:
    """Draw a tenant tag: five hex characters and a digit, so that no stemmer can shorten it."""
    return "".join(secrets.choice(_TAG_HEX) for _ in range(5)) + secrets.choice(_TAG_END)


def draw_unused_tag(claim: Callable[[str], bool]) -> str:
    """Draw a tag that no tenant of a store has; `claim` says whether a tag is free, and may reserve it.

    Raises `LimitExceeded` when (almost) all tags are in use.
    """
    for _ in range(_TAG_DRAWS):
        tag = draw_tag()
        if claim(tag):
            return tag
    raise LimitExceeded(
        "this database takes no new user",
        why=f"{_TAG_DRAWS:,} endings of ids were drawn, and all of them belong to other users",
        fix="erase users that are not needed, or keep new ones in another database; nothing was stored",
    )


def draw_key() -> bytes:
    """Draw a tenant's key for keyed hashes: 32 random bytes."""
    return secrets.token_bytes(32)


def draw_request_id() -> str:
    """Draw the id of a request: 16 hex characters."""
    return secrets.token_hex(8)


def draw_secret() -> str:
    """Draw the secret part of a token: 256 random bits, as 43 characters."""
    return secrets.token_urlsafe(32)


def draw_fraction() -> float:
    """Return a random number in [0, 1), for jitter."""
    return secrets.randbelow(1 << 30) / (1 << 30)


def format_id(kind: IdKind, number: int, tag: str) -> str:
    """Format a public id, e.g. `m42-3fa9c2`."""
    return kind + f"{number}-{tag}"  # a kind is its letter; reading its value costs as much as all the rest


def parse_id(text: str, tag: str, wanted: IdKind | None = None) -> tuple[IdKind, int]:
    """Parse a public id of the tenant with this tag; an error names the places where ids of the wanted kind are.

    Raises `NotFound` for a malformed id and for one of another tenant, which look the same; `Invalid` for a value that
    is not text.
    """
    kinds, places = _SHOWN if wanted is None else _LISTS[wanted]
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise Invalid("an id must be text", why=f"it is a {type(text).__name__}", fix=f"copy an id from {places}")
    found = _ID.fullmatch(text.strip())
    if found is None or found[3] != tag:
        raise NotFound(
            f"nothing here is called {text[:64]!r}",
            why=f"no {kinds} of this user has that id",
            fix=f"copy an id from {places}",
        )
    return _KINDS[found[1]], int(found[2])


def parse_serial(text: str) -> int:
    """Parse the number of an id from this process, without checks."""
    return int(text[1 : text.index("-")])


def parse_id_numbers(ids: Iterable[str], kind: IdKind, tag: str) -> list[int]:
    """Parse public ids that must be of one kind; raises `NotFound` otherwise."""
    return list(map(int, extract_id_digits(list(ids), kind, tag)))


def extract_id_digits(ids: Sequence[str], kind: IdKind, tag: str) -> list[str]:
    """Return the numbers of public ids as strings; raises `NotFound` as `parse_id_numbers` does.

    >>> extract_id_digits(["m42-3fa9c2", "m7-3fa9c2"], IdKind.MEMORY, "3fa9c2")
    ['42', '7']
    """
    try:
        row = ",".join(ids)
    except TypeError:  # not all of them are texts
        row = ""
    if _compile_row_pattern(kind, tag).fullmatch(row):
        digits = row[1:-_ENDING].split(f"-{tag},{kind.value}")
        if len(digits) == len(ids):
            return digits
    return [str(parse_id_number(text, kind, tag)) for text in ids]


@lru_cache(maxsize=64)
def _compile_row_pattern(kind: IdKind, tag: str) -> re.Pattern[str]:
    """Compile a pattern of ids of one kind and tenant separated by commas: matching them together takes a third."""
    one = f"{kind.value}[1-9][0-9]{{0,{_DIGITS - 1}}}-{re.escape(tag)}" if len(tag) == _ENDING - 1 else "(?!)"
    return re.compile(f"{one}(?:,{one})*")


def parse_id_number(text: str, kind: IdKind, tag: str) -> int:
    """Parse a public id that must be of one kind; raises `NotFound` otherwise."""
    # The exact form that we write comes first: a search reads some forty.
    if not isinstance(text, str) or text[:1] != kind or text[-_ENDING:] != f"-{tag}":  # pyright: ignore[reportUnnecessaryIsInstance]
        plain = None
    else:
        digits = text[1:-_ENDING]
        well = digits.isascii() and digits.isdecimal() and digits[0] != "0" and len(digits) <= _DIGITS
        plain = int(digits) if well else None
    if plain is not None:
        return plain
    found, number = parse_id(text, tag, kind)
    if found is not kind:
        raise NotFound(
            f"{text!r} does not name {_NAMES[kind]}",
            why=f"it names {_NAMES[found]}",
            fix=f"give an id that begins with {kind.value!r}",
        )
    return number
