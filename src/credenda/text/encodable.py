"""Text that every encoding can represent."""

from __future__ import annotations

__all__ = ["join_surrogates"]


def join_surrogates(text: str) -> str:
    r"""Join surrogate pairs and replace single surrogates, which UTF-8 cannot encode.

    >>> join_surrogates("tea \ud83c\udf75 \ud800") == "tea \U0001f375 \ufffd"
    True
    """
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
