"""Text that every encoding can hold."""

from __future__ import annotations

__all__ = ["join_surrogates"]


def join_surrogates(text: str) -> str:
    r"""Join halves of characters that belong together and replace those left alone, which UTF-8 cannot hold.

    >>> whole_characters("tea \ud83c\udf75 \ud800") == "tea \U0001f375 \ufffd"
    True
    """
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
