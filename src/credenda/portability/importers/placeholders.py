"""Remove the placeholders of deleted text from imported texts: they are not content."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, cast

from credenda.errors import Invalid
from credenda.private import cut_private
from credenda.text.blanks import REMOVED
from credenda.text.normalize import normalise_text
from credenda.write.forget.event_fields import is_label
from credenda.write.forget.scope import BLANK

__all__ = ["remove_placeholders", "remove_placeholders_in_fields", "require_content"]

_PLACEHOLDER: Final = re.compile(rf"{re.escape(REMOVED)}|{BLANK}(?:[{BLANK} \t]*{BLANK})?")
_SPACES: Final = re.compile(r"(?<=\S)[ \t]{2,}(?=\S)")


def remove_placeholders(text: str) -> str:
    r"""Remove the placeholders from a text, and lines that consist only of them and a label.

    >>> remove_placeholders("I live in Linz. [deleted]\nAna: \u2588\u2588\u2588 \u2588\u2588\nBen: tea")
    'I live in Linz.\nBen: tea'
    """
    if _PLACEHOLDER.search(text) is None:
        return text
    lines: list[str] = []
    for line in text.split("\n"):
        left = _PLACEHOLDER.sub("", line)
        if left == line:
            lines.append(line)
        elif normalise_text(left) and not is_label(left.strip()):
            lines.append(_SPACES.sub(" ", left).rstrip())
    return "\n".join(lines).strip("\n")


def require_content(text: str) -> str:
    """Return a text without placeholders; raise `Invalid` if it consists only of them, or of private text."""
    if text.strip() and not cut_private(text):
        raise Invalid("a line is private as a whole", fix="put what may be kept outside of the private tags")
    left = remove_placeholders(text)
    if left != text and not normalise_text(left):
        raise Invalid("a line contains only the placeholder of deleted text", fix="remove the line")
    return left


def remove_placeholders_in_fields(fields: Mapping[str, object]) -> dict[str, object]:
    """Remove the values that contain placeholders, at any depth."""
    return {name: _clean(value) for name, value in fields.items() if not _is_placeholder(value)}


def _clean(value: object) -> object:
    if isinstance(value, Mapping):
        return remove_placeholders_in_fields(cast("Mapping[str, object]", value))
    if isinstance(value, list | tuple):
        return [_clean(one) for one in cast("list[object]", value) if not _is_placeholder(one)]
    return value


def _is_placeholder(value: object) -> bool:
    return isinstance(value, str) and _PLACEHOLDER.search(value) is not None
