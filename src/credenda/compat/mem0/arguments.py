"""Check mem0's arguments and convert them to Credenda's; each error says what to do instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final, cast

from credenda.clock import DAY_US, from_datetime, parse_time, to_datetime
from credenda.errors import Invalid
from credenda.validation import check_identity

__all__ = [
    "SHARED_USER",
    "check_entities",
    "check_entity",
    "check_limit",
    "check_memory_id",
    "check_memory_type",
    "choose_text",
    "choose_user",
    "filter_messages",
    "parse_expiry",
    "parse_timestamp",
]

SHARED_USER: Final = "_shared"
"""The user of memories for which only an agent or a run is named."""
_UNHEARD: Final = frozenset({"system", "developer"})
_PROCEDURE: Final = "procedural_memory"
_TOP: Final = 20


def check_entity(value: object, what: str) -> str | None:
    """Check the name of a user, agent or run; strip spaces around it, and refuse a blank name."""
    name = check_identity(value, what)
    if name is None and value is not None:
        raise Invalid(f"{what} is blank", why="an id cannot be empty", fix="give an id, or leave it out")
    return None if name is None else name.strip()


def check_entities(user_id: str | None, agent_id: str | None, run_id: str | None) -> dict[str, str | None]:
    """Check all three names."""
    return {
        "user_id": check_entity(user_id, "user_id"),
        "agent_id": check_entity(agent_id, "agent_id"),
        "run_id": check_entity(run_id, "run_id"),
    }


def choose_user(named: Mapping[str, str | None]) -> str:
    """Return the user whose memory is meant: the named user, or the shared user if only an agent or a run is named."""
    if not any(named.values()):
        raise Invalid("whose memory?", why=f"none of {', '.join(named)} is given", fix='give user_id="…"')
    return named["user_id"] or SHARED_USER


def filter_messages(messages: object) -> list[object]:
    """Return the messages to store, without system messages, which are the prompt's own instructions."""
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    given = [cast("object", messages)] if isinstance(messages, Mapping) else messages
    if not isinstance(given, Sequence) or isinstance(given, bytes | bytearray):
        kind = type(given).__name__
        raise Invalid("messages must be text or a list", why=f"this is a {kind}", fix='give [{"role", "content"}, …]')
    return [message for message in cast("Sequence[object]", given) if _read_role(message) not in _UNHEARD]


def _read_role(message: object) -> object:
    role = cast("Mapping[str, Any]", message).get("role") if isinstance(message, Mapping) else None
    return role.casefold() if isinstance(role, str) else role


def parse_timestamp(timestamp: object) -> datetime | str | None:
    """Parse the time of the messages: seconds since 1970, a datetime or RFC 3339."""
    if isinstance(timestamp, bool) or (
        timestamp is not None and not isinstance(timestamp, int | float | str | datetime)
    ):
        what = f"timestamp cannot be a {type(timestamp).__name__}"
        raise Invalid(what, fix="give seconds since 1970, a datetime or RFC 3339 text")
    if isinstance(timestamp, int | float):
        try:
            return to_datetime(round(timestamp * 1_000_000))
        except (OverflowError, ValueError) as error:
            raise Invalid(f"timestamp cannot be {timestamp!r}", why="no such time", fix="give seconds") from error
    return timestamp


def parse_expiry(expiration_date: object) -> datetime | None:
    """Parse the expiry: the last valid day, or the exact time."""
    if expiration_date is None:
        return None
    if isinstance(expiration_date, datetime):
        return to_datetime(from_datetime(expiration_date))
    if not isinstance(expiration_date, str | date):
        what = f"expiration_date cannot be a {type(expiration_date).__name__}"
        raise Invalid(what, fix="give a day like 2026-12-31")
    text = str(expiration_date).strip()
    moment_us = parse_time(text)
    return to_datetime(moment_us + DAY_US if _is_day(text) else moment_us)


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def check_memory_type(memory_type: str | None) -> str | None:
    """Parse mem0's `memory_type`; it has one value."""
    if memory_type not in {None, _PROCEDURE}:
        raise Invalid(f"{memory_type!r} is not a memory_type", fix=f"give {_PROCEDURE!r}, or leave it out")
    return None if memory_type is None else "procedure"


def check_limit(top_k: object, limit: object, *, most: int | None) -> int:
    """Parse the number of results; `limit` is the older name."""
    if top_k is not None and limit is not None:
        raise Invalid("top_k and limit are given", why="they are the same", fix="keep top_k")
    wanted = top_k if top_k is not None else limit if limit is not None else _TOP
    if not isinstance(wanted, int) or isinstance(wanted, bool) or wanted < 0 or (most is not None and wanted > most):
        bound = "0 or more" if most is None else f"from 0 to {most}"
        raise Invalid(f"top_k cannot be {wanted!r}", why=f"it is {bound}", fix="leave it out for 20")
    return wanted


def check_memory_id(memory_id: object) -> str:
    """Check that an id is a string."""
    if not isinstance(memory_id, str):
        why = f"it is a {type(memory_id).__name__}"
        raise Invalid("an id must be text", why=why, fix="copy an id from search or get_all")
    return memory_id.strip()


def choose_text(text: object, data: object) -> str:
    """Return the new text of a memory; `data` is the older name of `text`."""
    if (text is None) == (data is None):
        raise Invalid(
            "the new text of the memory is unclear", why="exactly one of text and data is needed", fix="give text"
        )
    said = data if text is None else text
    if not isinstance(said, str) or not said.strip():
        raise Invalid("text must contain words", why="it is blank or not text", fix="give the new text of the memory")
    return said
