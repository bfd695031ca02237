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


def is_name_of_user(name: str, text: str) -> bool:
    """Return whether a note about the user says that this is their name, or begins it.

    >>> is_name_of_user("Ada Voss", "User's name is Ada Voss, 29, lives in Turku."), is_name_of_user("Ada", "Ada left.")
    (True, False)
    """
    if not name or not is_about_user(text):
        return False
    named = rf"\W{{0,3}}{USER}(?:(?:'s|\u2019s)? (?:full |first )?name)? is (?:called |named )?{re.escape(name)}\b"
    return re.match(named, text, re.IGNORECASE) is not None
