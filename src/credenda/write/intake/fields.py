"""Screen the fields around a text for secrets: labels, metadata, and whole drafts of memories. Pure.

A label (topic, speaker, tag, slot, reason) is masked like a text. An identifier (session, agent, message id, key) is
refused instead: see `secrets.check_identifier`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeVar, cast

from credenda.model.memory import Draft
from credenda.validation import replace_zeros
from credenda.write.intake.detectors import may_hold_secret
from credenda.write.intake.secrets import screen_secrets

__all__ = ["screen_draft", "screen_label", "screen_labels", "screen_metadata"]

_LABELS: Final = ("text", "entity", "value", "scope", "topic", "speaker")
L = TypeVar("L", bound="str | None")


def screen_label(label: L, policy: str) -> L:
    """Return a label with its secrets masked and without U+0000; raises `Invalid` under the policy reject."""
    return cast("L", screen_secrets(replace_zeros(str(label)), policy).text) if label else label


def screen_labels(labels: tuple[str, ...], policy: str) -> tuple[str, ...]:
    """Return labels with their secrets masked, each once."""
    return tuple(dict.fromkeys(screen_label(label, policy) for label in labels))


def screen_metadata(metadata: Mapping[str, object], policy: str) -> Mapping[str, object]:
    """Return metadata with the secrets of names and values masked at any depth.

    A value is screened together with its name, which may be what announces it.

    >>> screen_metadata({"login": {"password": "hunter2"}, "pin": 4821, "page": 3}, "mask")
    {'login': {'password': '[password removed]'}, 'pin': '[PIN removed]', 'page': 3}
    """
    if policy == "keep" or not metadata or not may_hold_secret(json.dumps(metadata, ensure_ascii=False)):
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
    """Return a draft with the secrets of its text, slot, tags and metadata masked."""
    if policy == "keep":
        return draft
    labels = {name: screen_label(getattr(draft, name), policy) for name in _LABELS}
    return replace(
        draft,
        **labels,
        tags=screen_labels(tuple(draft.tags), policy),
        metadata=screen_metadata(draft.metadata, policy),
    )
