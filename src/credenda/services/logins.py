"""Log a person in to the pages of a server: a link that works once, and the session that it begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from credenda.clock import HOUR_US, SECOND_US
from credenda.errors import Unauthenticated
from credenda.model.member import Member
from credenda.model.server_secret import SecretKind
from credenda.services.server_secrets import draw, find_secret
from credenda.storage.tokens import SecretStore

__all__ = [
    "LINK_LIFETIME_US",
    "SESSION_LIFETIME_US",
    "Login",
    "begin_session",
    "begin_session_of_member",
    "choose_memory",
    "end_session",
    "find_login",
    "issue_link",
    "log_in",
]

LINK_LIFETIME_US: Final = 600 * SECOND_US
SESSION_LIFETIME_US: Final = 12 * HOUR_US
_MEMORY: Final = "memory"
_ISSUER: Final = "issuer"
_SUBJECT: Final = "subject"


@dataclass(frozen=True, slots=True)
class Login:
    """A person who is logged in, the secret of the session, and the user whose memory it shows: "" for the own one.

    `issuer` knows the person; "" for a person of this server.
    """

    person: str
    secret: str
    memory: str = ""
    issuer: str = ""


def issue_link(store: SecretStore, person: str, now_us: int) -> str:
    """Issue the secret of a link with which a person can log in once, within ten minutes."""
    drawn = draw(SecretKind.LINK, person, now_us, LINK_LIFETIME_US, data={})
    store.add_secret(drawn.stored)
    return drawn.text


def log_in(store: SecretStore, text: str, now_us: int) -> Login:
    """Begin a session with the secret of a link, which is used up; raises `Unauthenticated`."""
    link = find_secret(store, SecretKind.LINK, text)
    if link is not None and link.is_valid_at(now_us):
        drawn = draw(SecretKind.SESSION, link.user, now_us, SESSION_LIFETIME_US, data={})
        if store.spend_secret(link.digest, now_us, successors=[drawn.stored]):
            return Login(link.user, drawn.text)
    why = "it is wrong, older than ten minutes, or was used before"
    raise Unauthenticated("this login link does not work", why=why, fix="make another: credenda login-link")


def begin_session(store: SecretStore, person: str, now_us: int) -> Login:
    """Begin a session of a person who has proved who it is."""
    drawn = draw(SecretKind.SESSION, person, now_us, SESSION_LIFETIME_US, data={})
    store.add_secret(drawn.stored)
    return Login(person, drawn.text)


def begin_session_of_member(store: SecretStore, member: Member, now_us: int) -> Login:
    """Begin a session of a person whom another issuer knows; erasing the memory that the person uses ends it."""
    data = {_ISSUER: member.issuer, _SUBJECT: member.subject}
    drawn = draw(SecretKind.SESSION, member.user, now_us, SESSION_LIFETIME_US, data=data)
    store.add_secret(drawn.stored)
    return Login(member.subject, drawn.text, member.user, member.issuer)


def choose_memory(store: SecretStore, login: Login, memory: str, now_us: int) -> Login:
    """Go on with another session of the same person, for the memory of another user; raises `Unauthenticated`.

    Whether the person may use that memory is decided with each call, by its members.
    """
    drawn = draw(SecretKind.SESSION, login.person, now_us, SESSION_LIFETIME_US, data={_MEMORY: memory})
    session = find_secret(store, SecretKind.SESSION, login.secret)
    if session is None or not store.spend_secret(session.digest, now_us, successors=[drawn.stored]):
        raise Unauthenticated("nobody is logged in", why="the session has ended", fix="log in")
    return Login(login.person, drawn.text, memory)


def find_login(store: SecretStore, text: str, now_us: int, *, issuer: str = "") -> Login | None:
    """Return the login of a session; None for one that is unknown, expired or ended, or that another issuer began.

    A subject of an issuer may have the name of a person of this server, and is somebody else.
    """
    session = find_secret(store, SecretKind.SESSION, text)
    if session is None or not session.is_valid_at(now_us) or session.data.get(_ISSUER, "") != issuer:
        return None
    if issuer:
        return Login(session.data[_SUBJECT], text, session.user, issuer)
    return Login(session.user, text, session.data.get(_MEMORY, ""))


def end_session(store: SecretStore, login: Login, now_us: int) -> None:
    """End a session; repeating it does nothing."""
    session = find_secret(store, SecretKind.SESSION, login.secret)
    if session is not None:
        store.spend_secret(session.digest, now_us)
