"""From what a user asked for to what counts tokens: the estimate, a function of the program, or a tokenizer's file."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from pathlib import Path
from typing import Final, cast

from credenda.errors import Invalid
from credenda.text.token_budget import ESTIMATE, TokenCounter

__all__ = ["Tokenizer", "open_counter"]

Tokenizer = str | Path | Callable[[str], int] | None
"""What a user may give: a path, a function from a text to its count, "estimate", or None for the setting."""

_PROBE: Final = "A short sentence about tea.\nEin zweiter Satz, 東京."
_NAME_CHARACTERS: Final = 64


def open_counter(choice: object) -> TokenCounter:
    """Return what counts tokens: for "" and "estimate" the estimate, for a function itself, for a path that file.

    A function is tried on two texts; a file is looked for, and read at the first count. Raises `Invalid` for a function
    that gives no whole numbers, for a file that is not there or of no known kind, and for one whose library is not
    installed.
    """
    if isinstance(choice, str | Path):
        if str(choice).strip() in {"", ESTIMATE.name}:
            return ESTIMATE
        from credenda.providers.tokens.files import open_file_counter

        return open_file_counter(Path(choice).expanduser())
    if not callable(choice):
        raise Invalid(
            "the tokenizer given cannot be used",
            why=f"a {type(choice).__name__} is neither a path nor a function",
            fix='give the path of a tokenizer.json or .tiktoken file, a function from a text to a count, or "estimate"',
        )
    given = TokenCounter(_get_name(choice), _wrap_counter(cast("Callable[[str], object]", choice)))
    given.count("")
    if not given.count(_PROBE):
        raise Invalid("the tokenizer given cannot be used", why="it finds no token in a text of words", fix="mend it")
    return given


def _get_name(function: object) -> str:
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return "".join(one for one in str(name) if one.isprintable())[:_NAME_CHARACTERS]


def _wrap_counter(function: Callable[[str], object]) -> Callable[[str], int]:
    """Let nothing through that is no count; what the function itself raises goes to whoever asked."""

    def count(text: str) -> int:
        found = function(text)
        try:
            tokens = -1 if isinstance(found, bool) else index(cast("int", found))
        except TypeError:
            tokens = -1
        if tokens < 0:
            raise Invalid(
                "the tokenizer given cannot be used",
                why=f"it counted {str(found)[:_NAME_CHARACTERS]!r} tokens in a text",
                fix="let it return how many there are, a whole number from 0",
            )
        return tokens

    return count
