"""Text that coding agents add to a user's messages, in the transcripts of several programs."""

from __future__ import annotations

import re
from typing import Final

_WRAPPED: Final = re.compile(
    r"\s*<([a-z]+(?:[_ -][a-z]+)+|instructions|skill|image|proposed)(?:\s[^<>]{0,300})?>.*</\1>\s*",
    re.DOTALL | re.IGNORECASE,
)
"""A text that is a block of context as a whole: `<environment_context>…</environment_context>`."""
_OPENINGS: Final = ("# AGENTS.md instructions", "<user_instructions>", "<environment_context>", "<turn_aborted>")
_REQUEST: Final = re.compile(r"\A# Context from my IDE setup:.*?^## My request for Codex:\s*", re.DOTALL | re.MULTILINE)
_FILES: Final = re.compile(r"\n--- Content from referenced files ---.*", re.DOTALL)
_COMMAND: Final = re.compile(r"\s*(?:/[a-z][\w:-]*(?:\s[^\n]*)?|\?)\s*")
"""A slash command; a path such as `/etc/hosts` is none."""


def cut_program_text(text: str) -> str:
    r"""Return the words of a person in a block of a message; "" if a program wrote it, or it is a slash command.

    >>> cut_program_text("<environment_context>\n<cwd>/x</cwd></environment_context>"), cut_program_text("/quit")
    ('', '')
    >>> cut_program_text("/etc/hosts is wrong")
    '/etc/hosts is wrong'
    """
    if text.lstrip().startswith(_OPENINGS) or _WRAPPED.fullmatch(text) or _COMMAND.fullmatch(text):
        return ""
    return _FILES.sub("", _REQUEST.sub("", text)).strip()
