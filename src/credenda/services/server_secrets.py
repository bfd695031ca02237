"""Draw, store and find short-lived secrets.

The text of a secret is `credenda_KIND_RANDOM`, with 256 random bits. Only the SHA-256 of the whole text is stored, by
which it is found: nothing is compared that could be measured.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Final, NamedTuple

from credenda.ids import draw_secret
from credenda.model.server_secret import SecretKind, ServerSecret
from credenda.storage.tokens import SecretStore

__all__ = ["DrawnSecret", "draw", "find_secret", "hash_secret"]

_TEXT: Final = re.compile(r"credenda_([a-z]+)_[A-Za-z0-9_-]{43}")


class DrawnSecret(NamedTuple):
    """The text of a new secret, and the row to store."""

    text: str
    stored: ServerSecret


def draw(
    kind: SecretKind, user: str, now_us: int, lifetime_us: int, *, token_id: str = "", data: Mapping[str, str]
) -> DrawnSecret:
    """Draw a secret of a user that is valid for a time; nothing is stored yet."""
    text = f"credenda_{kind}_{draw_secret()}"
    ends_us = now_us + lifetime_us
    stored = ServerSecret(
        digest=hash_secret(text),
        kind=kind,
        user=user,
        token_id=token_id,
        created_us=now_us,
        expires_us=ends_us,
        data=data,
    )
    return DrawnSecret(text, stored)


def find_secret(store: SecretStore, kind: SecretKind, text: str) -> ServerSecret | None:
    """Return the secret of a text, valid or not; None for one that is unknown or of another kind."""
    found = _TEXT.fullmatch(text)
    if found is None or found[1] != kind:
        return None
    secret = store.find_secret(hash_secret(text))
    return secret if secret is not None and secret.kind is kind else None


def hash_secret(text: str) -> bytes:
    """Return the SHA-256 under which a secret is stored."""
    return sha256(text.encode("utf-8", "replace")).digest()
