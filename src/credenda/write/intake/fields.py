"""Screen the fields around a text: labels, metadata, and whole drafts of memories. Pure.

A label (topic, speaker, tag, slot, reason) is cut and masked like a text. An identifier (session, agent, message id,
key) is refused instead: see `secrets.check_identifier`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeVar, cast

from credenda.errors import Invalid
from credenda.model.memory import Draft
from credenda.private import cut_private_fields
from credenda.validation import replace_zeros
from credenda.write.intake.detectors import may_hold_secret
from credenda.write.intake.secrets import screen_secrets

__all__ = ["make_private_error", "require_label", "screen_draft", "screen_label", "screen_labels", "screen_metadata"]

_OPTIONAL: Final = ("entity", "value", "scope", "topic")
L = TypeVar("L", bound="str | None")


def screen_label(label: L, policy: str) -> L:
    """Return a label without private parts and U+0000 and with its secrets masked; "" for one that is private.

    Raises `Invalid` under the policy reject.
    """
    return cast("L", screen_secrets(replace_zeros(str(label)), policy).text) if label else label


def require_label(label: L, what: str, policy: str) -> L:
    """Return a label as `screen_label` does; raises `Invalid` for one that is private as a whole."""
    screened = screen_label(label, policy)
    if (label or "").strip() and not (screened or "").strip():
        raise make_private_error(what)
    return screened


def make_private_error(what: str) -> Invalid:
    """Make the error for an input of which nothing may be written."""
    return Invalid(
        f"{what} is private as a whole",
        why="private text is never written, and nothing else is there",
        fix="put what may be kept outside of the private tags",
    )


def screen_labels(labels: tuple[str, ...], policy: str) -> tuple[str, ...]:
    """Return labels as `screen_label` does, each once, without those that are private."""
    return tuple(dict.fromkeys(shown for label in labels if (shown := screen_label(label, policy))))


def screen_metadata(metadata: Mapping[str, object], policy: str) -> Mapping[str, object]:
    """Return metadata without private parts and with the secrets of names and values masked, at any depth.

    A value is screened together with its name, which may be what announces it.

    >>> screen_metadata({"login": {"password": "hunter2"}, "pin": 4821, "page": 3}, "mask")
    {'login': {'password': '[password removed]'}, 'pin': '[PIN removed]', 'page': 3}
    """
    if not metadata:
        return metadata
    body = json.dumps(metadata, ensure_ascii=False)
    if "<" in body:
        metadata = cast("Mapping[str, object]", cut_private_fields(metadata))
    if policy == "keep" or not may_hold_secret(body):
        return metadata
    return {screen_secrets(name, policy).text: _screen_value(name, value, policy) for name, value in metadata.items()}


def _screen_value(name: str, value: object, policy: str) -> object:
    match value:
        case bool() | float() | None:
            return value
        case str() | int():
            return _screen_scalar(name, value, policy)
        case list():
            return [_screen_value(name, one, policy) for one in cast("list[object]", value)]
        case Mapping():
            return screen_metadata(cast("Mapping[str, object]", value), policy)
        case _:
            return value


def _screen_scalar(name: str, value: str | int, policy: str) -> object:
    text = str(value)
    screened = screen_secrets(text, policy)
    if screened.masked:
        return screened.text
    announced = f"{name}: "
    together = screen_secrets(announced + text, policy)
    hidden = bool(together.masked) and together.text.startswith(announced)
    return together.text.removeprefix(announced) if hidden else value


def screen_draft(draft: Draft, policy: str) -> Draft:
    """Return a draft without private parts and with the secrets of its text, slot, tags and metadata masked.

    Raises `Invalid` for a draft whose text is private as a whole.
    """
    optional = {name: screen_label(getattr(draft, name), policy) or None for name in _OPTIONAL}
    return replace(
        draft,
        text=require_label(draft.text, "the memory", policy),
        speaker=screen_label(draft.speaker, policy),
        **optional,
        tags=screen_labels(tuple(draft.tags), policy),
        metadata=screen_metadata(draft.metadata, policy),
    )
