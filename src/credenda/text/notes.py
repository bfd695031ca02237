"""Recognise a note about the user, which an agent or another program wrote in its own words."""

from __future__ import annotations

import re
from typing import Final

USER: Final = r"(?:the |this )?user"
"""Expression for the subject of a note."""
_CHARACTERS: Final = 400
_ABOUT: Final = re.compile(rf"^\W{{0,3}}{USER}(?:'s|\u2019s)?\s", re.IGNORECASE)


def is_about_user(text: str) -> bool:
    """Return whether a short text begins with the user as its subject; nobody writes so of themselves.

    >>> is_about_user("The user is allergic to nuts."), is_about_user("I am allergic to nuts.")
    (True, False)
    """
    return len(text) <= _CHARACTERS and _ABOUT.match(text) is not None
