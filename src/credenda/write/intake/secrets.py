"""Screen messages before they are journaled: mask secrets and detect instruction-like text. Pure."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from credenda.errors import Invalid

__all__ = [
    "CARD_DIGITS",
    "LONG_WORD",
    "ORDER_WORDS",
    "SECRET_WORDS",
    "Screened",
    "is_instruction_like",
    "screen_secrets",
]

_LUHN_MODULUS: Final = 10
_NINE: Final = 9
LONG_WORD: Final = 15
"""Shorter words contain no secret without a hint word."""
CARD_DIGITS: Final = 13
"""Digits of the shortest card number."""
_DIGITS: Final = re.compile(rf"\d(?:[ -]?\d){{{CARD_DIGITS - 1}}}")
SECRET_WORDS: Final = (
    "-----begin",
    "://",
    "passw",
    "passphrase",
    "passcode",
    "contrase",
    "mot de passe",
    "senha",
    "secret",
    "token",
    "key",
)
"""Lower-case hint words; every text that announces a secret contains one."""
ORDER_WORDS: Final = (
    "instruct",
    "prompt",
    "rule",
    "message",
    "context",
    "you must",
    "you are now",
    "reveal",
    "mention",
    "inform",
    "tell",
    "<",
    "[",
)
"""Lower-case hint words; every instruction-like text contains one."""
_ORDERS: Final = re.compile(
    r"(?i)\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|all)\b[^.\n]{0,40}"
    r"\b(?:instructions?|prompts?|rules?|messages?|context)\b"
    r"|\byou (?:must|are) now\b[^.\n]{0,60}\b(?:assistant|developer|admin|unrestricted|jailbroken)\b"
    r"|\b(?:do not|don't|never) (?:tell|mention|reveal|inform)\b[^.\n]{0,40}\b(?:user|anyone|human)\b"
    r"|<\|?(?:system|im_start|assistant)\|?>|\[/?INST\]"
)


@dataclass(frozen=True, slots=True)
class _Secret:
    name: str
    pattern: re.Pattern[str]
    group: int
    unless: re.Pattern[str] | None
    luhn: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """A text after screening, and the kinds of secrets that were masked in it."""

    text: str
    masked: tuple[str, ...] = ()


@cache
def _load_secrets() -> tuple[_Secret, ...]:
    source = (files("credenda.write") / "data" / "secrets.toml").read_text("utf-8")
    return tuple(
        _Secret(
            name=entry["name"],
            pattern=re.compile(entry["pattern"]),
            group=entry.get("group", 0),
            unless=re.compile(entry["unless"]) if "unless" in entry else None,
            luhn=entry.get("checksum") == "luhn",
        )
        for entry in tomllib.loads(source)["secret"]
    )


def _has_valid_checksum(digits: str) -> bool:
    """Verify the card checksum of ISO/IEC 7812-1."""
    total = 0
    for place, digit in enumerate(int(sign) for sign in reversed(digits) if sign.isdigit()):
        doubled = digit * 2 if place % 2 else digit
        total += doubled - _NINE if doubled > _NINE else doubled
    return total % _LUHN_MODULUS == 0


def _find_secrets(text: str) -> Iterable[tuple[int, int, str]]:
    for secret in _load_secrets():
        for match in secret.pattern.finditer(text):
            part = match[secret.group]
            if (secret.unless and secret.unless.match(part)) or (secret.luhn and not _has_valid_checksum(part)):
                continue
            yield match.start(secret.group), match.end(secret.group), secret.name


def _may_hold_secret(text: str) -> bool:
    """Return whether the text has a hint of a secret; most texts skip the patterns."""
    lower = text.casefold()
    hinted = any(map(lower.__contains__, SECRET_WORDS)) or _DIGITS.search(text) is not None
    return hinted or max(map(len, lower.split()), default=0) >= LONG_WORD


def screen_secrets(text: str, policy: str) -> Screened:
    """Apply the secrets policy: keep the text, mask its secrets, or reject it with `Invalid`.

    >>> screen_secrets("my password is hunter2!", "mask").text
    'my password is [password removed]'
    """
    if policy == "keep" or not _may_hold_secret(text):
        return Screened(text=text)
    spans = sorted(_find_secrets(text))
    if not spans:
        return Screened(text=text)
    names = tuple(dict.fromkeys(name for _, _, name in spans))
    if policy == "reject":
        raise Invalid(
            f"this text contains a secret ({names[0]})",
            why="secrets_policy is reject",
            fix="take it out, or set secrets_policy to mask",
        )
    pieces: list[str] = []
    done = 0
    for start, stop, name in spans:
        if start >= done:
            pieces += (text[done:start], f"[{name} removed]")
        done = max(done, stop)
    return Screened(text="".join(pieces) + text[done:], masked=names)


def is_instruction_like(text: str) -> bool:
    """Return whether a text gives instructions to a model that reads it."""
    lower = text.casefold()
    return any(map(lower.__contains__, ORDER_WORDS)) and _ORDERS.search(text) is not None
