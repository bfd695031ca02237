"""Construction of a token counter from the user's choice: the estimate, a function, or a tokenizer's file."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from pathlib import Path
from typing import Final, cast

from credenda.errors import Invalid
from credenda.providers import tokens
from credenda.text.token_budget import ESTIMATE, TokenCounter

Tokenizer = str | Path | Callable[[str], int] | None
"""The user's choice: a path, a function from a text to its count, "estimate", or None for the setting."""

_PROBE: Final = "A short sentence about tea.\nEin zweiter Satz, 東京."
_NAME_CHARACTERS: Final = 64


def open_counter(choice: object) -> TokenCounter:
    """Return the token counter for a choice: "" and "estimate" are the estimate, others a function or a file.

    A function is tested with two texts; a file must exist, and is read at the first count. Raises `Invalid` for a
    function that does not return whole numbers, for a file that is missing or of an unknown kind, and for a file whose
    library is not installed.
    """
    if isinstance(choice, str | Path):
        if str(choice).strip() in {"", ESTIMATE.name}:
            return ESTIMATE

        return tokens.files.open_file_counter(Path(choice).expanduser())
    if not callable(choice):
        raise Invalid(
            "the given tokenizer cannot be used",
            why=f"a {type(choice).__name__} is neither a path nor a function",
            fix='give the path of a tokenizer.json or .tiktoken file, a function from a text to a count, or "estimate"',
        )
    name = getattr(choice, "__qualname__", None) or type(choice).__qualname__
    given = TokenCounter(
        "".join(one for one in str(name) if one.isprintable())[:_NAME_CHARACTERS],
        _wrap_counter(cast("Callable[[str], object]", choice)),
    )
    given.count("")
    if not given.count(_PROBE):
        raise Invalid("the given tokenizer cannot be used", why="it finds no token in a text of words", fix="mend it")
    return given


def _wrap_counter(function: Callable[[str], object]) -> Callable[[str], int]:
    """Check every count; exceptions of the function itself pass through to the caller."""

    def count(text: str) -> int:
        found = function(text)
        try:
            tokens = -1 if isinstance(found, bool) else index(cast("int", found))
        except TypeError:
            tokens = -1
        if tokens < 0:
            raise Invalid(
                "the given tokenizer cannot be used",
                why=f"it counted {str(found)[:_NAME_CHARACTERS]!r} tokens in a text",
                fix="let it return their number, a whole number from 0",
            )
        return tokens

    return count
