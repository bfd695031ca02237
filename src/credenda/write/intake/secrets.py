"""Screen texts before they are journaled: cut private parts, mask secrets, detect instruction-like text. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from credenda.errors import Invalid
from credenda.private import cut_private, has_private
from credenda.write.intake.detectors import find_secrets

__all__ = ["ORDER_WORDS", "Screened", "check_identifier", "is_instruction_like", "screen_secrets"]

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
_HEX: Final = re.compile(r"[0-9a-fA-F-]{16,128}\Z")
"""Hashes and UUIDs, which are most identifiers and no secrets."""
_NAMES: Final = 1_024
_ORDERS: Final = re.compile(
    r"(?i)\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|all)\b[^.\n]{0,40}"
    r"\b(?:instructions?|prompts?|rules?|messages?|context)\b"
    r"|\byou (?:must|are) now\b[^.\n]{0,60}\b(?:assistant|developer|admin|unrestricted|jailbroken)\b"
    r"|\b(?:do not|don't|never) (?:tell|mention|reveal|inform)\b[^.\n]{0,40}\b(?:user|anyone|human)\b"
    r"|<\|?(?:system|im_start|assistant)\|?>|\[/?INST\]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Screened:
    """A text after screening, and the kinds of secrets that were masked in it."""

    text: str
    masked: tuple[str, ...] = ()


def screen_secrets(text: str, policy: str) -> Screened:
    """Cut private parts, then apply the secrets policy: keep the text, mask its secrets, or reject it with `Invalid`.

    >>> screen_secrets("my password is hunter2!", "mask").text
    'my password is [password removed]'
    """
    text = cut_private(text)
    spans = [] if policy == "keep" else find_secrets(text)
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


def check_identifier(name: str, what: str, policy: str) -> str:
    """Return an identifier without private parts and secrets; raises `Invalid` otherwise.

    Without them it would name something else.
    """
    if has_private(name):
        raise Invalid(
            f"the {what} contains private text",
            why="it is stored as it is, and an identifier cannot be cut",
            fix="use another identifier, such as a hash of it",
        )
    kind = None if policy == "keep" or _HEX.match(name) else _find_kind(name)
    if kind is not None:
        raise Invalid(
            f"the {what} contains a secret ({kind})",
            why="it is stored as it is, and an identifier cannot be masked",
            fix="use another identifier, such as a hash of it, or set secrets_policy to keep",
        )
    return name


@lru_cache(maxsize=_NAMES)
def _find_kind(name: str) -> str | None:
    """Return the kind of the first secret in an identifier; cached, because sessions and agents recur."""
    return next((kind for _, _, kind in find_secrets(name, bare=False)), None)


def is_instruction_like(text: str) -> bool:
    """Return whether a text gives instructions to a model that reads it."""
    lower = text.casefold()
    return any(map(lower.__contains__, ORDER_WORDS)) and _ORDERS.search(text) is not None
