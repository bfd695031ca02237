"""The detectors of secrets: a table of patterns (`data/secrets.toml`) with the conditions and checks of each. Pure.

A pattern is compiled when a text first fulfils its conditions, so that a process pays only for what it meets.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from string import digits
from typing import Any, Final, NamedTuple

from credenda.write.intake.secret_checks import CHECKS

__all__ = ["LONG_WORD", "NUMBER_DIGITS", "SECRET_WORDS", "find_secrets", "may_hold_secret"]

LONG_WORD: Final = 15
"""The length of the shortest key or token."""
NUMBER_DIGITS: Final = 4
"""Digits of the shortest number that a detector of numbers finds."""
SECRET_WORDS: Final = (
    "-----begin",
    "putty-user-key",
    "://",
    "</",
    "pass",
    "pw",
    "contrase",
    "senha",
    "parola",
    "hasło",
    "kennwort",
    "wachtwoord",
    "secret",
    "token",
    "key",
    "psk",
    "credential",
    "creds",
    "auth",
    "bearer",
    "cookie",
    "csrf",
    "sessid",
    "session",
    "connect.sid",
    "sid=",
    "log in",
    "login",
    "logged in",
    "logs in",
    "sign in",
    "signed in",
    "user name",
    "username",
    "admin",
    "curl",
    "mysql",
    "psql",
    "mongo",
    "smbclient",
    "identified",
    "seed",
    "recovery",
    "mnemonic",
    "wallet",
    "backup",
    "rescue",
    "emergency",
    "restore",
    "reset",
    "scratch",
    "einmal",
    "wiederherstellungs",
    "security",
    "sicherheitsfrage",
    "prüfziffer",
    "cvv",
    "cvc",
    "cvn",
    "card verif",
    "wifi",
    "wi-fi",
    "wlan",
    "router",
    "wpa",
    "hotspot",
)
"""Lower-case words: a text with a secret has one of them, a long word, or several digits."""
_PLACEHOLDER: Final = re.compile(r"\[[A-Za-z -]{1,40} removed\]")
_ANY_DIGIT: Final = re.compile(r"\d")
_RUN: Final = re.compile(r"\d(?:[ .-]?\d){3,400}")
_DIGITS: Final = digits.encode()


class _Shape(NamedTuple):
    """What the conditions of the detectors examine in a text."""

    lower: str
    longest: int
    digits: int
    run: int
    worded: bool


class _Detector(NamedTuple):
    name: str
    pattern: str
    check: Callable[[str], int]
    unless: str | None
    hints: tuple[str, ...]
    long: int
    digits: int
    run: int
    bare: bool

    def fits(self, shape: _Shape) -> bool:
        """Return whether a text fulfils the conditions of this detector."""
        if shape.longest < self.long or shape.digits < self.digits or shape.run < self.run:
            return False
        for word in self.hints:
            if word in shape.lower:
                return True
        return not self.hints

    def finds(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the start and stop of each secret."""
        for match in _compile(self.pattern).finditer(text):
            group = match.lastindex or 0
            part = match[group]
            if self.unless is not None and _compile(self.unless).match(part):
                continue
            size = self.check(part)
            if size:
                yield match.start(group), match.start(group) + size


_compile: Final = cache(re.compile)


@cache
def _load_detectors() -> tuple[_Detector, ...]:
    source = (files("credenda.write") / "data" / "secrets.toml").read_text("utf-8")
    rows: list[Mapping[str, Any]] = tomllib.loads(source)["secret"]
    return tuple(
        _Detector(
            name=row["name"],
            pattern=row["pattern"],
            check=CHECKS[row.get("check", "any")],
            unless=row.get("unless"),
            hints=tuple(row.get("hint", ())),
            long=row.get("long", 0),
            digits=row.get("digits", 0),
            run=row.get("run", 0),
            bare=row.get("bare", False),
        )
        for row in rows
    )


def find_secrets(text: str, *, bare: bool = True) -> list[tuple[int, int, str]]:
    """Return start, stop and kind of each secret, in order; without `bare` runs of digits alone are no card numbers."""
    shape = _measure(text)
    if shape is None:
        return []
    if "removed]" in text:
        text = _PLACEHOLDER.sub(lambda match: "\n" * len(match[0]), text)
    found: list[tuple[int, int, int, str]] = []
    for rank, one in _choose_detectors(shape):
        if (one.bare and not bare) or not one.fits(shape):
            continue
        found += ((start, rank, stop, one.name) for start, stop in one.finds(text))
    return [(start, stop, name) for start, _, stop, name in sorted(found)]


def _choose_detectors(shape: _Shape) -> Iterator[tuple[int, _Detector]]:
    """Yield the detectors, with their places in the table, whose main condition a text fulfils."""
    by_length, by_digits, by_word = _group_detectors()
    if shape.longest >= LONG_WORD:
        yield from by_length
    if shape.digits >= NUMBER_DIGITS:
        yield from by_digits
    if shape.worded:
        yield from by_word


@cache
def _group_detectors() -> tuple[list[tuple[int, _Detector]], ...]:
    groups: tuple[list[tuple[int, _Detector]], ...] = ([], [], [])
    for rank, one in enumerate(_load_detectors()):
        groups[0 if one.long else 1 if max(one.digits, one.run) >= NUMBER_DIGITS else 2].append((rank, one))
    return groups


def _measure(text: str) -> _Shape | None:
    """Measure a text; None if it has nothing that any detector needs, as most texts."""
    lower = text.casefold()
    longest = max(map(len, lower.split()), default=0)
    count = _count_digits(text)
    worded = any(map(lower.__contains__, SECRET_WORDS))
    if longest < LONG_WORD and count < NUMBER_DIGITS and not worded:
        return None
    runs = _RUN.findall(text) if count >= NUMBER_DIGITS else []
    return _Shape(lower, longest, count, max(map(_count_digits, runs), default=0), worded)


def may_hold_secret(text: str) -> bool:
    """Return whether a text needs the detectors at all.

    >>> may_hold_secret("The kettle is on."), may_hold_secret("The key is under the mat.")
    (False, True)
    """
    return _measure(text) is not None


def _count_digits(text: str) -> int:
    if text.isascii():
        return len(text) - len(text.encode().translate(None, _DIGITS))
    return len(_ANY_DIGIT.findall(text))
