"""Passwords with which persons log in to the pages of a server; only an Argon2 hash of each is stored.

The hash is the data of a secret that is found by the name of its person and the number of the password. A new password
uses up the one before in the same transaction, so that never two are valid.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

from credenda.clock import DAY_US
from credenda.errors import Conflict, Invalid, NotFound, Unauthenticated
from credenda.lazy import import_on_use
from credenda.model.server_secret import SecretKind, ServerSecret
from credenda.services.logins import Login, begin_session
from credenda.storage.tokens import SecretStore

if TYPE_CHECKING:
    import argon2
else:
    argon2 = import_on_use("argon2")

__all__ = ["CHARACTERS_LEAST", "CHARACTERS_MOST", "log_in_by_password", "remove_password", "set_password"]

CHARACTERS_LEAST: Final = 10
CHARACTERS_MOST: Final = 1_024
_LASTING_US: Final = 100 * 366 * DAY_US
_HASH: Final = "argon2"
_ALIKE: Final = "$argon2id$v=19$m=65536,t=3,p=4$MDEyMzQ1Njc4OWFiY2RlZg$0000000000000000000000000000000000000000000"
"""A hash that no password has: a person without a password takes as long to refuse as one with another."""


def set_password(store: SecretStore, person: str, password: str, now_us: int) -> None:
    """Set the password of a person in the place of the one before; raises `Invalid` for one of a wrong length."""
    if not CHARACTERS_LEAST <= len(password) <= CHARACTERS_MOST:
        why = f"a password has {CHARACTERS_LEAST} to {CHARACTERS_MOST:,} characters"
        raise Invalid("this password cannot be used", why=why, fix="choose a longer one: a few words do")
    present, digest = _find_present(store, person)
    added = ServerSecret(
        digest=digest,
        kind=SecretKind.PASSWORD,
        user=person,
        created_us=now_us,
        expires_us=now_us + _LASTING_US,
        data={_HASH: argon2.PasswordHasher().hash(password)},
    )
    if present is None:
        store.add_secret(added)
    elif not store.spend_secret(present.digest, now_us, successors=[added]):
        raise Conflict("the password was just changed", why="by someone else", fix="try again")


def remove_password(store: SecretStore, person: str, now_us: int) -> None:
    """Remove the password of a person, who then logs in by a link alone; raises `NotFound` without one."""
    present, _ = _find_present(store, person)
    if present is None or not store.spend_secret(present.digest, now_us):
        raise NotFound(f"{person[:64]} has no password", fix="set one with `credenda password`")


def log_in_by_password(store: SecretStore, person: str, password: str, now_us: int) -> Login:
    """Begin a session with a password; raises `Unauthenticated`, as slowly, for a wrong one and for no such person."""
    present, _ = _find_present(store, person)
    stored = present.data.get(_HASH, "") if present is not None else _ALIKE
    try:
        argon2.PasswordHasher().verify(stored, password[:CHARACTERS_MOST])
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        why = "the name or the password is wrong"
        raise Unauthenticated("you are not logged in", why=why, fix="try again, or ask for a login link") from None
    return begin_session(store, person, now_us)


def _find_present(store: SecretStore, person: str) -> tuple[ServerSecret | None, bytes]:
    """Return the valid password of a person, if any, and the digest under which the next one is stored."""
    number = 0
    while (found := store.find_secret(_make_digest(person, number))) is not None:
        number += 1
        if found.used_us is None:
            return found, _make_digest(person, number)
    return None, _make_digest(person, number)


def _make_digest(person: str, number: int) -> bytes:
    return sha256(f"credenda password {number}\n{person}".encode("utf-8", "replace")).digest()
